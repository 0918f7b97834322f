//! Recognizes which test framework a step starts, or which script may start one.

use crate::evidence::command_line::{CommandLine, Step, base_name};
use crate::evidence::tests::Framework;

/// What a step starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Runs {
    /// A framework by name, with its own arguments.
    Framework(Framework, Vec<String>),
    /// A script with a test-like name: only its output shows which framework it runs.
    Script,
}

/// Whether a line starts tests by name: a framework, or a script with a test-like name.
pub(super) fn names_tests(line: &CommandLine) -> bool {
    line.steps.iter().any(|step| recognise(step).is_some())
}

pub(super) fn recognise(step: &Step) -> Option<Runs> {
    // `jest@29`, as `npx` accepts it.
    let program = step.program().split('@').next().unwrap_or_default();
    let args: Vec<&str> = step.args().iter().map(String::as_str).collect();
    let framework = |framework, from: usize| of_framework(framework, &args, from);
    match program {
        "cargo" => match cargo(&args) {
            Some((kind, from)) => framework(kind, from),
            None => (args.contains(&"xtask") && script(step, &args)).then_some(Runs::Script),
        },
        "cargo-nextest" => framework(Framework::Nextest, 2),
        "pytest" | "py.test" | "py.test-3" | "pytest-3" => framework(Framework::Pytest, 0),
        "nose2" => framework(Framework::Unittest, 0),
        "jest" => framework(Framework::Jest, 0),
        "react-scripts" if args.first() == Some(&"test") => framework(Framework::Jest, 1),
        "vitest" => match args.first() {
            Some(&"bench" | &"list" | &"init" | &"typecheck") => None,
            Some(&"run" | &"watch" | &"dev") => framework(Framework::Vitest, 1),
            _ => framework(Framework::Vitest, 0),
        },
        "mocha" | "_mocha" => framework(Framework::Mocha, 0),
        "go" if args.first() == Some(&"test") && !args.contains(&"-c") => framework(Framework::Go, 1),
        "go" if args.first() == Some(&"-C") && args.get(2) == Some(&"test") => framework(Framework::Go, 3),
        // For these, `-v` prints the version.
        "tap" | "ava" | "bats" if args.contains(&"-v") => None,
        "tap" | "tape" | "ava" | "bats" | "prove" | "pg_prove" => framework(Framework::Tap, 0),
        "mvn" | "mvnw" | "gradle" | "gradlew" if script(step, &args) => framework(Framework::Junit, 0),
        "node" | "tsx" if args.contains(&"--test") => framework(Framework::Node, 0),
        name if name.starts_with("python") || name == "pypy3" || name == "py" => match module(&args) {
            Some(("pytest", from)) => framework(Framework::Pytest, from),
            Some(("unittest" | "nose2", from)) => framework(Framework::Unittest, from),
            Some(_) => None,
            None if args.first() == Some(&"manage.py") && args.get(1) == Some(&"test") => {
                framework(Framework::Unittest, 2)
            }
            None => script(step, &args).then_some(Runs::Script),
        },
        "docker" | "podman" | "docker-compose" | "nerdctl" => in_container(step.args()),
        _ => script(step, &args).then_some(Runs::Script),
    }
}

/// Options with which no test runs.
const ONLY_ASKS: [&str; 16] = [
    "--help",
    "-h",
    "--version",
    "-V",
    "--collect-only",
    "--co",
    "--fixtures",
    "--markers",
    "--setup-plan",
    "--listTests",
    "--showConfig",
    "--no-run",
    "--list",
    "--dry-run",
    "-list",
    "--clearCache",
];

fn of_framework(framework: Framework, args: &[&str], from: usize) -> Option<Runs> {
    let asks = args.iter().any(|arg| ONLY_ASKS.contains(arg));
    let args = args.get(from..).unwrap_or_default();
    (!asks).then(|| Runs::Framework(framework, args.iter().map(|arg| (*arg).to_owned()).collect()))
}

/// The framework of a `cargo` command, and where its own arguments begin.
fn cargo(args: &[&str]) -> Option<(Framework, usize)> {
    let valued = ["-C", "-Z", "--manifest-path", "--config", "--color"];
    let is_value = |at: usize| at > 0 && valued.contains(&args[at - 1]);
    let verb = (0..args.len()).find(|at| !args[*at].starts_with(['+', '-']) && !is_value(*at))?;
    match (args[verb], args.get(verb + 1).copied()) {
        ("test" | "t" | "tarpaulin", _) => Some((Framework::CargoTest, verb + 1)),
        ("nextest", Some("run" | "r")) => Some((Framework::Nextest, verb + 2)),
        ("miri" | "llvm-cov" | "hack", Some("test")) => Some((Framework::CargoTest, verb + 2)),
        ("miri" | "llvm-cov" | "hack", Some("nextest")) => Some((Framework::Nextest, verb + 2)),
        _ => None,
    }
}

/// The module that `python -m` runs, and where its arguments begin.
fn module<'a>(args: &[&'a str]) -> Option<(&'a str, usize)> {
    let is_value = |at: usize| at > 0 && matches!(args[at - 1], "-X" | "-W");
    let starts = |at: &usize| matches!(args[*at], "-m" | "-c") || !args[*at].starts_with('-');
    let at = (0..args.len()).find(|at| starts(at) && !is_value(*at))?;
    (args[at] == "-m").then(|| Some((*args.get(at + 1)?, at + 2))).flatten()
}

/// The command inside a container: the first words that start tests by name.
fn in_container(args: &[String]) -> Option<Runs> {
    let runs = args.iter().position(|arg| matches!(arg.as_str(), "run" | "exec"))?;
    (runs + 1..args.len()).find_map(|at| {
        let line = CommandLine::parse(&args[at..].join(" "));
        let step = line.steps.first().filter(|step| !matches!(step.program(), "docker" | "test"))?;
        recognise(step)
    })
}

/// Whether a task of a build tool, or a script, runs tests, by its name.
fn script(step: &Step, args: &[&str]) -> bool {
    let program = step.program();
    let words: Vec<&str> = args.iter().copied().filter(|arg| !arg.starts_with('-')).collect();
    let named = || words.iter().any(|word| tests_by_name(word));
    match program {
        "npm" | "pnpm" | "yarn" | "bun" => package_script(&words),
        "tox" | "nox" | "ctest" | "gotestsum" | "phpunit" => true,
        "make" | "gmake" | "just" | "task" | "rake" | "invoke" | "inv" | "mage" | "ninja" | "nx"
        | "turbo" | "lerna" | "bazel" | "meson" | "composer" | "hatch" | "pdm" | "rye" | "cargo" | "moon"
        | "wireit" => named(),
        "gradle" | "gradlew" | "mvn" | "mvnw" | "sbt" | "ant" => {
            named() || words.iter().any(|word| matches!(*word, "build" | "install" | "package"))
        }
        "bash" | "sh" | "zsh" | "dash" | "source" | "." | "python" | "python3" | "node" | "tsx" | "ruby"
        | "perl" | "php" => {
            // Code on the command line is not a file.
            let is_code = args.iter().any(|arg| matches!(*arg, "-c" | "-e" | "-p" | "-r" | "-" | "--eval"));
            !is_code && words.first().is_some_and(|file| tests_by_name(base_name(file)))
        }
        "deno" => words.first() == Some(&"test"),
        _ => {
            let own = step.words.first().is_some_and(|word| word.contains('/'));
            own && (tests_by_name(program) || words.first() == Some(&"test"))
        }
    }
}

/// `npm test`, `pnpm -r run test:unit`, `yarn jest`.
fn package_script(words: &[&str]) -> bool {
    match words {
        [] | ["add" | "install" | "i" | "ci", ..] => false,
        ["test" | "t" | "tst" | "it" | "cit" | "install-test", ..] => true,
        words => words
            .iter()
            .take(4)
            .any(|word| tests_by_name(word) || matches!(*word, "jest" | "vitest" | "mocha")),
    }
}

/// Whether a name says that it runs tests: `test:unit` and `runTests`, but not `latest` or `inspect`.
fn tests_by_name(name: &str) -> bool {
    const WORDS: [&str; 12] = [
        "test", "tests", "testing", "spec", "specs", "check", "checks", "verify", "coverage", "ci", "unit",
        "pytest",
    ];
    const SHOWS: [&str; 6] = ["log", "logs", "print", "report", "show", "summary"];
    let words = words_of(name);
    let has = |those: &[&str]| words.iter().any(|word| those.contains(&word.as_str()));
    !has(&SHOWS) && (name.contains("e2e") || has(&WORDS))
}

/// The words of a name, separated by punctuation or capital letters.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphabetic() || (lower && c.is_ascii_uppercase()) {
            words.push(String::new());
        }
        lower = c.is_ascii_lowercase();
        if c.is_ascii_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::test_rows;

    #[test]
    fn what_a_command_line_starts_is_known_by_its_words() {
        for [expected, line] in
            test_rows::<[String; 2]>(include_str!("../../../tests/runners/command_lines.jsonl"))
        {
            let steps = CommandLine::parse(&line).steps;
            let told: Vec<&str> = steps
                .iter()
                .filter_map(recognise)
                .map(|runs| match runs {
                    Runs::Framework(framework, _) => framework.as_str(),
                    Runs::Script => "script",
                })
                .collect();
            assert_eq!(told.join(" + "), expected, "{line}");
        }
    }
}
