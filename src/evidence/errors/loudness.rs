//! Words of a program that do not change what it does.

use crate::evidence::shell::Step;

/// The words of a program, without those that only say how much it shall tell.
pub(super) fn without_loudness(step: &Step) -> Vec<String> {
    let loudness: &[&str] = match (step.program(), step.args().first().map_or("", String::as_str)) {
        ("pip" | "pip3" | "mypy" | "ruff" | "black" | "isort", _)
        | ("cargo", "doc" | "fetch" | "fmt" | "install" | "package" | "publish" | "update" | "vendor") => {
            &["-q", "-v", "--quiet", "--verbose"]
        }
        ("go", "build" | "generate" | "install" | "vet") => &["-v"],
        ("npm" | "pnpm" | "yarn", _) => &["-s", "--silent"],
        ("make" | "gmake", _) => &["-s", "--silent", "-k", "--keep-going", "--no-print-directory", "V=1"],
        _ => &[],
    };
    // What a tool finds to be wrong it also puts right, if asked.
    let ways: &[&str] = match (step.program(), step.args().first().map_or("", String::as_str)) {
        (
            "black" | "isort" | "prettier" | "eslint" | "ruff" | "biome" | "stylelint" | "gofmt" | "rustfmt",
            _,
        ) => &["--check", "--check-only", "-c", "--fix", "--write", "-w", "--diff", "--apply"],
        ("cargo", "fmt") => &["--", "--check", "--all"],
        _ => &[],
    };
    let loudness = [loudness, ways].concat();
    let mut words: Vec<String> =
        step.words.iter().filter(|word| !loudness.contains(&word.as_str())).cloned().collect();
    if matches!(step.program(), "make" | "gmake") {
        drop_jobs(&mut words);
    }
    words
}

/// How many things make does at once: `-j`, `-j4`, `-j 4`.
fn drop_jobs(words: &mut Vec<String>) {
    let is_count = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
    while let Some(at) = words.iter().position(|word| word.starts_with("-j") || word.starts_with("--jobs")) {
        let has_count = words[at] == "-j" && words.get(at + 1).is_some_and(is_count);
        words.drain(at..=at + usize::from(has_count));
    }
}
