//! Which test frameworks a command line starts.
//!
//! A command whose output is in part the text of a file, a history or a search
//! is not believed: nobody could say which lines a test run printed.

use super::Framework;
use super::scope::Scope;
use crate::evidence::shell::{Command, Step, base_name};

#[derive(Debug)]
pub(super) struct Detected {
    pub(super) kind: Kind,
    /// Whether the command's exit code is that of the tests.
    pub(super) owns_exit: bool,
    /// Whether only a part of the output was let through.
    pub(super) filtered: bool,
    /// Whether tests may have run more than once.
    pub(super) loops: bool,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// Frameworks by name, each with what it was asked for and how often it was started.
    Direct(Vec<(Framework, Scope, usize)>),
    /// A script that may have run any: only its output tells.
    Script(Scope),
}

enum Started {
    Framework(Framework, Vec<String>),
    Script(Vec<String>),
}

pub(super) fn detect(line: &str) -> Option<Detected> {
    let command = Command::parse(line);
    let mut direct: Vec<(Framework, Scope, usize)> = Vec::new();
    let mut script = None;
    let mut directory = String::new();
    let mut written: Vec<&str> = Vec::new();
    let (mut filtered, mut last, mut in_tests) = (false, None, false);
    for (at, step) in command.steps.iter().enumerate() {
        if step.program() == "cd" {
            directory = step.args().first().cloned().unwrap_or_default();
        }
        let started = started(step);
        in_tests = started.is_some() || (in_tests && step.piped);
        if in_tests {
            written.extend(step.writes.iter().map(String::as_str));
            if step.program() == "tee" {
                written.extend(step.args().iter().map(String::as_str));
            }
        }
        match started {
            Some(Started::Framework(framework, args)) => {
                let scope = Scope::new(&directory, &args);
                match direct.iter_mut().find(|(known, _, _)| *known == framework) {
                    Some((_, known, times)) => {
                        // Two parts in one command: neither alone says what ran.
                        if *known != scope {
                            *known = Scope::new(&directory, &[line.to_owned()]);
                        }
                        *times += 1;
                    }
                    None => direct.push((framework, scope, 1)),
                }
                last = Some(at);
            }
            Some(Started::Script(args)) => {
                script = Some(Scope::new(&directory, &args));
                last = Some(at);
            }
            None if in_tests => filtered |= lets_only_some_through(step),
            None if shows_other_text(step, &written) => return None,
            None if step.shows_stored_text() => filtered |= lets_only_some_through(step),
            None => {}
        }
    }
    let last = last?;
    let after = &command.steps[last + 1..];
    let owns_exit = after.is_empty() || (command.pipefail && after.iter().all(|step| step.piped));
    let kind = match script {
        // Beside a script, even a named framework may have been run by it too.
        Some(scope) => Kind::Script(scope),
        None => Kind::Direct(direct),
    };
    Some(Detected { kind, owns_exit, filtered, loops: command.loops })
}

/// What a step starts, if it runs tests.
fn started(step: &Step) -> Option<Started> {
    let program = step.program();
    // `jest@29`, as `npx` takes it.
    let program = program.split('@').next().unwrap_or(program);
    let args: Vec<&str> = step.args().iter().map(String::as_str).collect();
    let framework = |framework, from: usize| {
        let asks = args.iter().any(|arg| ONLY_ASKS.contains(arg));
        let args = args.get(from..).unwrap_or_default();
        (!asks).then(|| Started::Framework(framework, args.iter().map(|arg| (*arg).to_owned()).collect()))
    };
    match program {
        "cargo" => match cargo(&args) {
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
            Some(&"run" | &"watch" | &"dev" | &"related") => framework(Framework::Vitest, 1),
            _ => framework(Framework::Vitest, 0),
        },
        "mocha" | "_mocha" => framework(Framework::Mocha, 0),
        "go" if args.first() == Some(&"test") => framework(Framework::Go, 1),
        "tap" | "tape" | "ava" | "bats" | "prove" | "pg_prove" => framework(Framework::Tap, 0),
        "node" | "tsx" if args.contains(&"--test") => framework(Framework::Node, 0),
        name if name.starts_with("python") || name == "pypy3" || name == "py" => match module(&args) {
            Some(("pytest", from)) => framework(Framework::Pytest, from),
            Some(("unittest" | "nose2", from)) => framework(Framework::Unittest, from),
            Some(_) => None,
            None if args.first() == Some(&"manage.py") && args.get(1) == Some(&"test") => {
                framework(Framework::Unittest, 2)
            }
            None => script(step, &args),
        },
        _ => script(step, &args),
    }
}

/// Options after which no test runs.
const ONLY_ASKS: [&str; 14] = [
    "--help",
    "-h",
    "--version",
    "-V",
    "--collect-only",
    "--co",
    "--fixtures",
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
    let verb = args.iter().position(|arg| !arg.starts_with(['+', '-']))?;
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
    let at = args.iter().position(|arg| *arg == "-m" || !arg.starts_with('-'))?;
    (args[at] == "-m").then(|| Some((*args.get(at + 1)?, at + 2))).flatten()
}

/// A task of a build tool or a script that, by its name, runs tests.
fn script(step: &Step, args: &[&str]) -> Option<Started> {
    let program = step.program();
    let words: Vec<&str> = args.iter().copied().filter(|arg| !arg.starts_with('-')).collect();
    let named = || words.iter().any(|word| tests_by_name(word));
    let runs = match program {
        "npm" | "pnpm" | "yarn" | "bun" => return package_script(program, args),
        "tox" | "nox" | "ctest" | "gotestsum" => true,
        "make" | "gmake" | "just" | "task" | "rake" | "invoke" | "inv" | "mage" | "ninja" | "nx"
        | "turbo" | "lerna" | "bazel" | "meson" | "composer" | "hatch" | "pdm" | "rye" | "cargo" | "moon"
        | "wireit" => named(),
        "gradle" | "gradlew" | "mvn" | "mvnw" | "sbt" | "ant" => {
            named() || words.iter().any(|word| matches!(*word, "build" | "install" | "package"))
        }
        "bash" | "sh" | "zsh" | "dash" | "python" | "python3" | "node" | "perl" | "ruby" | "tsx"
        | "ts-node" | "deno" | "source" | "." => {
            words.first().is_some_and(|file| tests_by_name(base_name(file)))
        }
        _ => {
            let own = step.words.first().is_some_and(|word| word.contains('/'));
            own && (tests_by_name(program) || words.first() == Some(&"test"))
        }
    };
    // `make test` asks for all; what else is said may ask for less.
    let rest = words.iter().filter(|word| **word != "test").map(|word| (*word).to_owned());
    runs.then(|| Started::Script(rest.collect()))
}

/// `npm test`, `pnpm -r run test:unit`, `yarn jest`.
fn package_script(program: &str, args: &[&str]) -> Option<Started> {
    let valued = ["--filter", "-F", "-C", "--dir", "--cwd", "--prefix", "-w", "--workspace"];
    let is_value = |at: usize| at > 0 && valued.contains(&args[at - 1]);
    let words = args.iter().enumerate().filter(|(at, arg)| !arg.starts_with('-') && !is_value(*at));
    let words: Vec<&str> = words.map(|(_, arg)| *arg).collect();
    let rest =
        |from: usize| words.get(from..).unwrap_or_default().iter().map(|word| (*word).to_owned()).collect();
    match words.as_slice() {
        ["workspace", _, "test", ..] => Some(Started::Script(rest(1))),
        ["run" | "run-script" | "rum", "test", ..] => Some(Started::Script(rest(2))),
        ["run" | "run-script" | "rum", name, ..] if tests_by_name(name) => Some(Started::Script(rest(1))),
        ["test" | "t" | "tst" | "it" | "cit" | "install-test", ..] => Some(Started::Script(rest(1))),
        // Yarn, pnpm and bun run the programs of a project without a word between.
        [tool, ..] if program != "npm" => {
            let at = args.iter().position(|arg| arg == tool)?;
            let words = args[at..].iter().map(|arg| (*arg).to_owned()).collect();
            let own = matches!(*tool, "add" | "install" | "npm" | "pnpm" | "yarn" | "bun" | "run");
            let inner = Step { words, ..Step::default() };
            let direct = (!own).then(|| started(&inner)).flatten();
            direct.or_else(|| tests_by_name(tool).then(|| Started::Script(rest(0))))
        }
        _ => None,
    }
}

/// Whether a name of a task or script says that it runs tests.
fn tests_by_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let part = ["test", "spec", "check", "verify", "e2e", "coverage"].iter().any(|part| name.contains(part));
    part || name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| matches!(word, "ci" | "unit"))
}

/// Whether a step prints what no test of this command printed.
fn shows_other_text(step: &Step, written: &[&str]) -> bool {
    if step.silent {
        return false;
    }
    if matches!(step.program(), "echo" | "printf") {
        return step.args().iter().any(|text| looks_like_a_summary(text));
    }
    // It shows what the tests of this command wrote.
    let own = step.args().iter().any(|arg| written.contains(&arg.as_str()));
    step.shows_stored_text() && !own && !step.piped
}

fn looks_like_a_summary(text: &str) -> bool {
    let counts = text.bytes().any(|byte| byte.is_ascii_digit());
    let words = ["pass", "fail", "test", "total", "ok", "Ran"];
    counts && words.iter().any(|word| text.contains(word))
}

fn lets_only_some_through(step: &Step) -> bool {
    !matches!(step.program(), "tee" | "cat" | "ts" | "less" | "more" | "bat" | "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        let Some(detected) = detect(line) else { return "nothing".to_owned() };
        let kind = match detected.kind {
            Kind::Script(_) => "a script".to_owned(),
            Kind::Direct(list) => {
                let told = |(framework, _, times): &(Framework, Scope, usize)| {
                    if *times > 1 { format!("{framework:?} x{times}") } else { format!("{framework:?}") }
                };
                list.iter().map(told).collect::<Vec<_>>().join(" + ")
            }
        };
        let facts = [
            (!detected.owns_exit, ", other exit"),
            (detected.filtered, ", filtered"),
            (detected.loops, ", loops"),
        ];
        facts.iter().filter(|(holds, _)| *holds).fold(kind, |told, (_, fact)| told + fact)
    }

    #[track_caller]
    fn check(expected: &str, lines: &[&str]) {
        for line in lines {
            assert_eq!(told(line), expected, "{line}");
        }
    }

    #[test]
    fn frameworks_are_known_by_their_commands() {
        check(
            "CargoTest",
            &["cargo test", "cargo +nightly t -p a", "bash -lc 'cd x && RUST_LOG=1 cargo test a 2>&1'"],
        );
        check("Nextest", &["cargo nextest run", "cargo llvm-cov nextest", "timeout 60 cargo nextest r a"]);
        check(
            "Pytest",
            &[
                "pytest",
                "python3 -m pytest -q",
                "uv run --with x pytest",
                ".venv/bin/pytest a",
                "coverage run -m pytest",
            ],
        );
        check("Unittest", &["python -m unittest discover", "python manage.py test app"]);
        check(
            "Jest",
            &[
                "npx jest",
                "./node_modules/.bin/jest a",
                "yarn jest",
                "npx --yes jest@29 b",
                "pnpm --silent jest",
            ],
        );
        check("Vitest", &["vitest", "npx vitest run", "pnpm exec vitest run x", "bunx vitest"]);
        check("Mocha", &["npx mocha", "nyc mocha", "node_modules/.bin/_mocha a"]);
        check("Node", &["node --test", "node --import tsx --test a.ts"]);
        check("Go", &["go test ./...", "cd x; go test -v ./..."]);
        check("Tap", &["prove -v t/", "bats test", "npx tape a.js"]);
        check("CargoTest + Jest", &["cargo test && npx jest"]);
        check("Pytest x2", &["pytest a; pytest b"]);
    }

    #[test]
    fn scripts_are_known_by_their_names() {
        let scripts = [
            "npm test",
            "npm run test:unit",
            "pnpm -r test",
            "pnpm --filter web test",
            "yarn test",
            "make check",
            "./scripts/test",
            "just ci",
        ];
        check("a script", &scripts);
        check(
            "a script",
            &[
                "sh run-tests.sh",
                "./gradlew build",
                "mvn -q verify",
                "cargo xtask test",
                "./x.py test",
                "yarn workspace web test",
                "tox",
                "python tests/run.test.py",
            ],
        );
    }

    #[test]
    fn what_runs_no_tests_is_nothing() {
        check(
            "nothing",
            &[
                "",
                "ls",
                "cargo build",
                "npm run build",
                "npm install",
                "make",
                "node server.js",
                "go vet ./...",
            ],
        );
        check(
            "nothing",
            &[
                "cargo test --no-run",
                "pytest --collect-only",
                "jest --listTests",
                "vitest list",
                "cargo nextest list",
            ],
        );
        check(
            "nothing",
            &[
                "echo cargo test",
                "echo '5 passed'",
                "cat test.log",
                "grep -rn test src",
                "git log -p",
                "which pytest",
            ],
        );
        check(
            "nothing",
            &["cat tests/test_a.py", "sed -n 1,9p a.test.js", "vim test.sh", "rm -rf test", "# cargo test"],
        );
    }

    #[test]
    fn text_of_others_beside_tests_makes_both_unbelievable() {
        check(
            "nothing",
            &["cat old.log; cargo test", "cargo test; git log", "pytest || echo '5 passed in 1s'"],
        );
        check(
            "CargoTest",
            &["cat > a.rs <<E\nx\nE\ncargo test", "git diff --stat && cargo test", "cd a && cargo test"],
        );
        check("CargoTest, other exit", &["cargo test; echo \"exit $?\""]);
    }

    #[test]
    fn what_the_tests_wrote_is_theirs() {
        check(
            "CargoTest, other exit, filtered",
            &["cargo test > o.log 2>&1; tail -20 o.log", "cargo test 2>&1 | tail"],
        );
        check("CargoTest, other exit", &["cargo test 2>&1 | tee o.log"]);
        check(
            "CargoTest, filtered",
            &["set -o pipefail; cargo test | tail -5", "bash -o pipefail -c 'cargo test | tail'"],
        );
        check("CargoTest, other exit, loops", &["for i in 1 2; do cargo test; done; true"]);
    }
}
