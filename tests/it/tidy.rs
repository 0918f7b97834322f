//! Checks the project's style rules that the compiler does not know.

use std::fs;
use std::path::{Path, PathBuf};

/// Each module uses only those before it.
const LAYERS: [&str; 33] = [
    "model",
    "redact",
    "text",
    "host",
    "git",
    "config",
    "environments",
    "supervisor",
    "runs",
    "registry",
    "terminals",
    "setup",
    "agents",
    "skills",
    "prompts",
    "progress",
    "inspect",
    "storage",
    "evidence",
    "ledger",
    "router",
    "context",
    "reading",
    "worktrees",
    "execution",
    "submit",
    "tasks",
    "autopilot",
    "requests",
    "failure",
    "reply",
    "mcp",
    "cli",
];

/// The files and folders allowed in the root.
const ROOT: [&str; 23] = [
    ".cargo",
    ".ci",
    ".config",
    ".git",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "benches",
    "clippy.toml",
    "docs",
    "examples",
    "fuzz",
    "rustfmt.toml",
    "schemas",
    "scripts",
    "src",
    "tests",
];

const LONGEST_FILE: usize = 400;
/// The lines of all of `src`, of its folder `evidence`, and of any other of its folders.
const BUDGETS: [usize; 3] = [92_000, 8_000, 9_000];
const EMPTY_WORDS: [&str; 5] = ["Manager", "Helper", "Util", "Handler", "Service"];

/// A source file: its path below `src`, its whole text, and its text before the tests.
struct Source {
    path: String,
    whole: String,
    code: String,
}

impl Source {
    /// The folder or file directly below `src` that contains it.
    fn layer(&self) -> &str {
        self.path.split('/').next().unwrap_or_default().trim_end_matches(".rs")
    }
}

#[test]
fn a_layer_uses_only_those_above_it() {
    let rank = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    check(|source| {
        let own = match source.layer() {
            "main" | "lib" => return Vec::new(),
            layer => rank(layer).unwrap_or_else(|| panic!("`{layer}` is missing in `LAYERS`")),
        };
        // Assumes one layer per `use`; a group would hide the others.
        let below = |name: &&str| name.is_empty() || rank(name).is_some_and(|used| used > own);
        source
            .code
            .split("crate::")
            .skip(1)
            .map(word)
            .filter(below)
            .map(|name| format!("uses `crate::{name}`"))
            .collect()
    });
}

#[test]
fn a_file_is_one_idea() {
    check(|source| {
        let lines = source.code.lines().count();
        (lines > LONGEST_FILE).then(|| format!("has {lines} lines before its tests")).into_iter().collect()
    });
}

#[test]
fn the_source_keeps_its_budget_of_lines() {
    let src = root().join("src");
    let [all, of_evidence, of_another] = BUDGETS;
    let total = lines_below(&src);
    assert!((1..all).contains(&total), "{total} lines in all");
    for layer in LAYERS {
        let (lines, most) =
            (lines_below(&src.join(layer)), if layer == "evidence" { of_evidence } else { of_another });
        assert!((1..=most).contains(&lines), "{lines} lines in `{layer}`");
    }
}

#[test]
fn a_file_opens_with_what_it_is_for() {
    check(|source| if source.whole.starts_with("//! ") { Vec::new() } else { vec!["has no `//!`".into()] });
}

#[test]
fn what_leaves_a_server_passes_one_funnel() {
    check(|source| match source.layer() {
        "mcp" => found(source, &["crate::redact"]),
        _ => Vec::new(),
    });
}

#[test]
fn nobody_prints_but_the_command_line() {
    check(|source| match source.layer() {
        "cli" => Vec::new(),
        _ => found(source, &["println!(", "print!(", "dbg!("]),
    });
}

#[test]
fn nothing_is_unwrapped_outside_tests() {
    check(|source| found(source, &[".unwrap()"]));
}

#[test]
fn a_name_says_what_a_thing_is() {
    check(|source| {
        let lines = source.code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let names = lines.filter_map(declared);
        let empty = |name: &&str| EMPTY_WORDS.iter().any(|empty| name.contains(empty));
        names.filter(empty).map(|name| format!("declares `{name}`")).collect()
    });
}

#[test]
fn the_root_holds_nothing_a_newcomer_does_not_need() {
    let ignored = fs::read_to_string(root().join(".gitignore")).unwrap();
    let ignored: Vec<&str> = ignored.lines().map(|line| line.trim_start_matches('/')).collect();
    for entry in fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            ROOT.contains(&name.as_str()) || ignored.contains(&name.as_str()),
            "`{name}` does not belong in the root"
        );
    }
}

/// Collects the `complaints` about every source file and fails if there are any.
#[track_caller]
fn check(complaints: impl Fn(&Source) -> Vec<String>) {
    let all = sources();
    assert!(all.len() > 50, "no source files found");
    let told = |source: &Source| {
        complaints(source).into_iter().map(|what| format!("src/{}: {what}", source.path)).collect()
    };
    let complaints: Vec<String> = all.iter().flat_map::<Vec<_>, _>(told).collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

fn found(source: &Source, forbidden: &[&str]) -> Vec<String> {
    let code = source.code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let has = |line: &str| forbidden.iter().copied().find(|call| line.contains(call));
    code.filter_map(|(at, line)| Some(format!("line {} has `{}`", at + 1, has(line)?))).collect()
}

/// The name of the type that a line declares, if it declares one.
fn declared(line: &str) -> Option<&str> {
    ["struct ", "enum ", "trait ", "type "].iter().find_map(|kind| Some(word(line.split_once(kind)?.1)))
}

/// The first word of `text`.
fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All source files, except modules that exist only for tests.
fn sources() -> Vec<Source> {
    let mut all = Vec::new();
    let mut open = vec![root().join("src")];
    while let Some(dir) = open.pop() {
        let entries = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
        let (dirs, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
        let tests = tests_of(&dir);
        open.extend(dirs.into_iter().filter(|dir| !tests.contains(&stem(dir))));
        let rust = files.into_iter().filter(|file| file.extension().is_some_and(|kind| kind == "rs"));
        all.extend(rust.filter(|file| !tests.contains(&stem(file))).map(|file| read(&file)));
    }
    all
}

/// The lines of every source file below `dir`.
fn lines_below(dir: &Path) -> usize {
    let lines = |path: PathBuf| match path.is_dir() {
        true => lines_below(&path),
        false => fs::read_to_string(path).unwrap().lines().count(),
    };
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir() || path.extension().is_some_and(|kind| kind == "rs")).map(lines).sum()
}

/// The modules in `dir` that exist only for tests or fuzzing.
fn tests_of(dir: &Path) -> Vec<String> {
    let contents = [dir.join("mod.rs"), dir.with_extension("rs")]
        .map(|file| fs::read_to_string(file).unwrap_or_default());
    let contents = contents.concat();
    let marks = ["#[cfg(test)]\n", "#[cfg(any(test, fuzzing))]\n"];
    let marked = marks.iter().flat_map(|mark| contents.split(mark).skip(1));
    let declared = marked.filter_map(|rest| rest.lines().next()?.split_once("mod "));
    declared.map(|(_, name)| name.trim_end_matches(';').to_owned()).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(file: &Path) -> Source {
    let whole = fs::read_to_string(file).unwrap();
    let code = whole.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
    let path = file.strip_prefix(root().join("src")).unwrap().to_string_lossy().into_owned();
    Source { path, whole, code }
}

#[test]
fn the_code_map_lists_every_folder_in_the_order_of_the_layers() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let map = text.split_once("## Code map").unwrap().1.split_once("Beside it").unwrap().0;
    let listed: Vec<&str> =
        map.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("/`")).map(|row| row.0).collect();
    assert_eq!(listed, LAYERS);
}
