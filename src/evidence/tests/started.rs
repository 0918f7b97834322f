//! What one step of a command starts, if it runs tests: a framework by its name,
//! a task or script that runs tests by its own, or a program that may do so.

use super::Framework;
use super::programs;
use super::ways::{is_easing, only_shows};
use crate::evidence::calls::{Call, Here};
use crate::evidence::shell::{Step, base_name};

#[derive(Debug)]
pub(crate) enum Started {
    Framework(Framework, Vec<String>),
    /// It may run any framework: only its output tells.
    Script,
    /// It may do anything: only the whole output of a test run tells.
    Program,
}

/// What a step starts, if it may run tests.
pub(crate) fn started(step: &Step) -> Option<Started> {
    by_name(step).or_else(|| programs::is_any(step).then_some(Started::Program))
}

/// What a step starts that runs tests by its name.
fn by_name(step: &Step) -> Option<Started> {
    let program = step.program();
    // `jest@29`, as `npx` takes it.
    let program = program.split('@').next().unwrap_or(program);
    let args: Vec<&str> = step.args().iter().map(String::as_str).collect();
    let framework = |framework, from: usize| of_framework(framework, &args, from);
    match program {
        "cargo" => match cargo(&args) {
            // Of another package than the one here.
            Some((kind, _))
                if args.iter().any(|arg| matches!(*arg, "-C" | "--manifest-path" | "--config")) =>
            {
                framework(kind, 0)
            }
            Some((kind, from)) => framework(kind, from),
            None if args.contains(&"xtask") => script(step, &args),
            None => None,
        },
        "cargo-nextest" => framework(Framework::Nextest, 2),
        "pytest" | "py.test" | "py.test-3" | "pytest-3" => framework(Framework::Pytest, 0),
        "nose2" => framework(Framework::Unittest, 0),
        "jest" => framework(Framework::Jest, 0),
        "react-scripts" if args.first() == Some(&"test") => framework(Framework::Jest, 1),
        "vitest" => match args.first() {
            Some(&"bench" | &"list" | &"init" | &"typecheck") => None,
            // Which tests have to do with a file is not in its name: the word stays.
            Some(&"run" | &"watch" | &"dev") => framework(Framework::Vitest, 1),
            _ => framework(Framework::Vitest, 0),
        },
        "mocha" | "_mocha" => framework(Framework::Mocha, 0),
        "go" if args.first() == Some(&"test") && !args.contains(&"-c") => framework(Framework::Go, 1),
        "go" if args.first() == Some(&"-C") && args.get(2) == Some(&"test") => framework(Framework::Go, 0),
        // To these it is the question for their version.
        "tap" | "ava" | "bats" if args.contains(&"-v") => None,
        "tap" | "tape" | "ava" | "bats" | "prove" | "pg_prove" => framework(Framework::Tap, 0),
        "node" | "tsx" if args.contains(&"--test") => framework(Framework::Node, 0),
        name if name.starts_with("python") || name == "pypy3" || name == "py" => match module(&args) {
            Some(("pytest", from)) => of_module(Framework::Pytest, &args, from),
            Some(("unittest" | "nose2", from)) => of_module(Framework::Unittest, &args, from),
            Some(_) => None,
            None if args.first() == Some(&"manage.py") && args.get(1) == Some(&"test") => {
                framework(Framework::Unittest, 2)
            }
            None => None,
        },
        _ => script(step, &args),
    }
}

fn of_framework(framework: Framework, args: &[&str], from: usize) -> Option<Started> {
    let asks = args.iter().any(|arg| ONLY_ASKS.contains(arg));
    let args = args.get(from..).unwrap_or_default();
    (!asks).then(|| Started::Framework(framework, args.iter().map(|arg| (*arg).to_owned()).collect()))
}

/// The same as a module, with what Python itself is told that tests may pass or fail of.
fn of_module(framework: Framework, args: &[&str], from: usize) -> Option<Started> {
    let Some(Started::Framework(framework, own)) = of_framework(framework, args, from) else { return None };
    let mut told = Vec::new();
    let mut options = args[..from].iter();
    while let Some(option) = options.next() {
        match option.strip_prefix("-W") {
            Some("") => {
                told.extend(["-W".to_owned(), options.next().copied().unwrap_or_default().to_owned()])
            }
            Some(value) => told.extend(["-W".to_owned(), value.to_owned()]),
            None if matches!(*option, "-O" | "-OO") => told.push("--python=-O".to_owned()),
            None => {}
        }
    }
    told.extend(own);
    Some(Started::Framework(framework, told))
}

/// Options after which no test runs.
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

/// A task of a build tool or a script that, by its name, runs tests.
fn script(step: &Step, args: &[&str]) -> Option<Started> {
    let program = step.program();
    let words: Vec<&str> = args.iter().copied().filter(|arg| !arg.starts_with('-')).collect();
    let named = || words.iter().any(|word| tests_by_name(word));
    let runs = match program {
        "npm" | "pnpm" | "yarn" | "bun" => return package_script(program, args),
        "tox" | "nox" | "ctest" | "gotestsum" | "phpunit" => true,
        "make" | "gmake" | "just" | "task" | "rake" | "invoke" | "inv" | "mage" | "ninja" | "nx"
        | "turbo" | "lerna" | "bazel" | "meson" | "composer" | "hatch" | "pdm" | "rye" | "cargo" | "moon"
        | "wireit" => named(),
        "gradle" | "gradlew" | "mvn" | "mvnw" | "sbt" | "ant" => {
            named() || words.iter().any(|word| matches!(*word, "build" | "install" | "package"))
        }
        "bash" | "sh" | "zsh" | "dash" | "source" | "." => {
            words.first().is_some_and(|file| tests_by_name(base_name(file)))
        }
        "deno" => words.first() == Some(&"test"),
        _ => {
            let own = step.words.first().is_some_and(|word| word.contains('/'));
            own && (tests_by_name(program) || words.first() == Some(&"test"))
        }
    };
    runs.then_some(Started::Script)
}

/// All that a script is asked for, however it is called: only what asks for the same is known to run
/// the same.
pub(super) fn identity(step: &Step) -> String {
    let context =
        step.context.iter().filter(|word| !is_easing(word) && !only_shows(word)).map(String::as_str);
    let call = Call::new(step, &Here::ANYWHERE).told();
    let input = step.input.iter().map(String::as_str);
    context.chain([call.as_str()]).chain(input).collect::<Vec<_>>().join(" ")
}

/// `npm test`, `pnpm -r run test:unit`, `yarn jest`.
fn package_script(program: &str, args: &[&str]) -> Option<Started> {
    let valued = ["--filter", "-F", "-C", "--dir", "--cwd", "--prefix", "-w", "--workspace"];
    let is_value = |at: usize| at > 0 && valued.contains(&args[at - 1]);
    let words = args.iter().enumerate().filter(|(at, arg)| !arg.starts_with('-') && !is_value(*at));
    let words: Vec<&str> = words.map(|(_, arg)| *arg).collect();
    match words.as_slice() {
        ["workspace", _, "test" | "jest" | "vitest" | "mocha", ..] => Some(Started::Script),
        ["run" | "run-script" | "rum", name, ..] if tests_by_name(name) => Some(Started::Script),
        ["test" | "t" | "tst" | "it" | "cit" | "install-test", ..] => Some(Started::Script),
        // Yarn, pnpm and bun run the programs of a project without a word between.
        [tool, ..] if program != "npm" => {
            let at = args.iter().position(|arg| arg == tool)?;
            let words = args[at..].iter().map(|arg| (*arg).to_owned()).collect();
            let own = matches!(*tool, "add" | "install" | "npm" | "pnpm" | "yarn" | "bun" | "run");
            let inner = Step::of(words);
            let direct = (!own).then(|| by_name(&inner)).flatten();
            // In other places, or in many of them.
            let here = args[..at].iter().all(|arg| matches!(*arg, "-s" | "--silent"));
            let direct = direct.map(|direct| if here { direct } else { Started::Script });
            direct.or_else(|| tests_by_name(tool).then_some(Started::Script))
        }
        _ => None,
    }
}

/// Whether a name of a task or script says that it runs tests: `test:unit`, `runTests`, and
/// not `latest` or `inspect`.
fn tests_by_name(name: &str) -> bool {
    const WORDS: [&str; 12] = [
        "test", "tests", "testing", "spec", "specs", "check", "checks", "verify", "coverage", "ci", "unit",
        "pytest",
    ];
    name.contains("e2e") || programs::words_of(name).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether what follows tests in their command may change files that they depend on.
pub(super) fn may_change_files(after: &[Step]) -> bool {
    let reading_them = after.iter().take_while(|step| step.piped).count();
    after.iter().enumerate().any(|(at, step)| {
        // A copy of what the tests print is theirs.
        let copies = at < reading_them && step.program() == "tee";
        let tests = matches!(started(step), Some(Started::Framework(..) | Started::Script));
        !tests && !copies && step.may_write()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_by_its_words() {
        for name in
            ["test", "test:unit", "run-tests.sh", "runTests", "check_all", "tests2", "e2e", "CI", "test.sh"]
        {
            assert!(tests_by_name(name), "{name}");
        }
        for name in
            ["show-latest", "inspect", "checkout", "fastest", "special", "contest", "attestation", "build"]
        {
            assert!(!tests_by_name(name), "{name}");
        }
    }
}
