//! Which test frameworks a command line starts.
//!
//! A command whose output is in part the text of a file, a history or a search ran
//! them all the same: which lines a test run printed is another question.

use super::Framework;
use super::dialect::REPORTS;
use super::forms::{self, Form};
use super::pipes::Through;
use super::places::{Walk, moved};
use super::scope::Scope;
use super::settled::{Settled, settled};
use super::shown::Shown;
use super::started::{Started, identity, may_change_files, started};
use super::turns::{Turns, turns};
use crate::evidence::calls::own_directory;
use crate::evidence::shell::{Command, Step};

#[derive(Debug, Clone)]
pub(super) struct Detected {
    /// In the order in which they are written.
    pub(super) starts: Vec<Start>,
    /// Whether the command's exit code is that of the last.
    pub(super) owns_exit: bool,
    /// What stands between the tests and what is seen of them.
    pub(super) pipes: Vec<Through>,
    /// Whether what the tests printed was shown once more.
    pub(super) shown_again: bool,
    /// What was shown beside them that they did not print.
    pub(super) shown: Shown,
    /// Whether all that follows the last of them ran only if it succeeded.
    pub(super) and_then: bool,
    /// Whether what one of them printed went to a file, or nowhere.
    pub(super) hidden: bool,
    /// Whether something ran after tests that may print anything.
    pub(super) beside: bool,
    /// Whether what starts them may have been passed over.
    pub(super) branches: bool,
    /// Whether a failure before the last of them may have kept it from running.
    pub(super) may_be_kept_from: bool,
    /// Whether some ran beside others: which of them printed what cannot be told.
    pub(super) at_once: bool,
    /// What an exit code of 0 says of them all.
    pub(super) settled: Settled,
}

/// One start of a framework, or of a script.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub(super) runs: Runs,
    pub(super) scope: Scope,
    /// Whether it may have run any number of times.
    pub(super) repeats: bool,
    /// Where each time it ran others, by what.
    pub(super) turns: Option<Turns>,
    /// Whether it waited for a success of the one before, and of all between.
    pub(super) waits: bool,
    /// Whether it began as soon as those before it were over.
    pub(super) begins_at_once: bool,
    /// Whether nothing of what it prints is seen by itself.
    pub(super) is_hidden: bool,
    /// Whether nobody shows later on where its output went to.
    pub(super) is_unseen: bool,
    /// Whether the same command does something after it.
    pub(super) is_followed: bool,
    /// Whether files may be changed by that.
    pub(super) goes_on: bool,
    /// Whether it ends at a failure, by its own options.
    pub(super) stops_early: bool,
    /// Whether the last that it says would be that something failed.
    pub(super) tells_at_its_end: bool,
    /// The form that its output was asked for in.
    pub(super) form: Form,
    /// Which step of its command it is.
    pub(super) at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    Framework(Framework),
    /// A script that may run any: only its output tells.
    Any,
    /// A program that may do anything: only the whole output of a test run tells.
    Perhaps,
}

impl Start {
    /// Whether this is `other`, of the same command.
    pub(super) fn is(&self, other: &Start) -> bool {
        self.at == other.at
    }

    pub(super) fn is_of(&self, framework: Framework) -> bool {
        self.runs == Runs::Framework(framework)
    }
}

pub(super) fn detect(line: &str) -> Option<Detected> {
    let command = Command::parse(line);
    // A name may mean anything.
    if command.defines {
        return None;
    }
    let mut starts: Vec<Start> = Vec::new();
    let mut walk = Walk::default();
    let mut written = Written::default();
    let (mut in_tests, mut shown_again, mut beside) = (false, false, false);
    let mut pipes = Vec::new();
    let mut shown = Shown::default();
    let only = only_program(&command);
    for (at, step) in command.steps.iter().enumerate() {
        walk.follow(step);
        let directory = walk.here.as_str();
        let started =
            started(step).filter(|started| !matches!(started, Started::Program) || only == Some(at));
        let shows_them = started.is_none() && step.shows_stored_text() && written.has(step);
        in_tests = started.is_some() || shows_them || (in_tests && step.piped);
        if in_tests {
            written.note(step);
        }
        let (mut stops_early, mut tells_at_its_end) = (false, false);
        let mut form = Form::Own;
        let mut by_turns = None;
        let (runs, mut scope) = match started {
            Some(Started::Framework(framework, args)) => {
                stops_early = forms::stops_early(framework, &args);
                // What goes on after a failure tells of it on another way.
                let goes_on = args.iter().any(|arg| arg == "--no-fail-fast");
                tells_at_its_end = !step.limited && (!goes_on || line.contains("2>&1"));
                form = forms::form(framework, &args);
                let variable = if step.repeats { Some("{}") } else { command.turned.as_deref() };
                by_turns = variable.and_then(|variable| turns(framework, directory, &args, variable));
                let scope = Scope::new(framework, directory, &args).with_context(&step.context);
                (Runs::Framework(framework), scope)
            }
            Some(started @ (Started::Script | Started::Program)) => {
                let is_named = matches!(started, Started::Script);
                let own = own_directory(step).map(|own| moved(directory, &own));
                let scope =
                    Scope::of_script(Framework::Tap, own.as_deref().unwrap_or(directory), &identity(step));
                (if is_named { Runs::Any } else { Runs::Perhaps }, scope)
            }
            None => {
                if shows_other_text(step, &written) {
                    shown.note(step, !starts.is_empty());
                    continue;
                }
                let is_kept = matches!(step.program(), "head" | "tail" | "cat" | "wc");
                if step.piped && !in_tests && !is_kept {
                    shown.note_rewritten();
                }
                shown_again |= step.shows_stored_text() && written.was_seen(step);
                if in_tests {
                    pipes.extend(Through::of(step));
                } else {
                    beside |= !starts.is_empty()
                        && !step.silent
                        && !step.shows_stored_text()
                        && !prints_no_summary(step);
                }
                continue;
            }
        };
        let repeats = step.repeats || command.loops;
        let elsewhere = command.unbalanced && !directory.is_empty();
        if repeats || elsewhere {
            let framework = match runs {
                Runs::Framework(framework) => framework,
                Runs::Any | Runs::Perhaps => Framework::Tap,
            };
            scope = match by_turns {
                Some(Turns::Asked) if !elsewhere => Scope::of_turns(framework, directory, line),
                _ => Scope::of_script(framework, "-", &format!("{at} {line}")),
            };
        }
        let before = starts.last().map_or(0, |start| start.at + 1);
        let waits = !starts.is_empty() && command.steps[before..=at].iter().all(|step| step.and);
        let begins_at_once = command.steps[before..at].iter().all(|step| step.piped || takes_no_time(step));
        starts.push(Start {
            runs,
            scope,
            repeats,
            turns: by_turns,
            waits,
            begins_at_once,
            is_hidden: false,
            is_unseen: false,
            is_followed: false,
            goes_on: false,
            stops_early,
            tells_at_its_end,
            form,
            at,
        });
    }
    let last = starts.last()?.at;
    // One of several may have mended what another found.
    if starts.len() > 1 {
        starts.iter_mut().for_each(|start| start.turns = None);
    }
    // It may have shown what it was thought to have run.
    if shown.any && starts.iter().any(|start| start.runs == Runs::Perhaps) {
        return None;
    }
    for start in &mut starts {
        let after = &command.steps[start.at + 1..];
        start.is_followed = after.iter().any(|step| !step.piped);
        let readers = after.iter().take_while(|step| step.piped);
        start.is_hidden = readers.chain([&command.steps[start.at]]).any(|step| step.silent);
        let own = &command.steps[start.at];
        let is_shown = |file: &String| after.iter().any(|step| step.args().contains(file));
        start.is_unseen = own.silent && !own.writes.iter().any(is_shown);
        start.goes_on = may_change_files(after);
    }
    let after = &command.steps[last + 1..];
    let owns_exit = after.iter().all(|step| step.minds) && !command.negates && !command.cut;
    let and_then = after.iter().all(|step| step.and);
    let hidden = !written.files.is_empty() || starts.iter().any(|start| command.steps[start.at].silent);
    let branches = command.branches;
    let may_be_kept_from = may_be_kept_from(&command.steps[..=last]);
    let at_once = starts.len() > 1 && starts.iter().any(|start| command.steps[start.at].background);
    let settled = settled(&command, &starts);
    Some(Detected {
        starts,
        owns_exit,
        pipes,
        shown_again,
        shown,
        and_then,
        hidden,
        beside,
        branches,
        may_be_kept_from,
        at_once,
        settled,
    })
}

/// The last step that may do anything, where none runs tests by its name.
fn only_program(command: &Command) -> Option<usize> {
    let mut last = None;
    for (at, step) in command.steps.iter().enumerate() {
        match started(step) {
            Some(Started::Program) => last = Some(at),
            Some(Started::Framework(..) | Started::Script) => return None,
            None => {}
        }
    }
    last
}

/// Whether the last of these steps runs only where others did not fail.
fn may_be_kept_from(steps: &[Step]) -> bool {
    let Some((last, before)) = steps.split_last() else { return false };
    let mut waits = last.and;
    for step in before.iter().rev() {
        if !waits {
            return false;
        }
        if !step.only_prepares() {
            return true;
        }
        waits = step.and;
    }
    false
}

fn takes_no_time(step: &Step) -> bool {
    matches!(
        step.program(),
        "" | "."
            | "cd"
            | "echo"
            | "export"
            | "ls"
            | "mkdir"
            | "popd"
            | "printf"
            | "pushd"
            | "pwd"
            | "rm"
            | "set"
            | "source"
            | "touch"
            | "true"
            | "unset"
    )
}

/// Files that hold what the tests of this command printed.
#[derive(Debug, Default)]
struct Written<'a> {
    files: Vec<&'a str>,
    /// Those whose text was shown while it was written.
    seen: Vec<&'a str>,
    /// Those that hold more than that.
    older: Vec<&'a str>,
}

impl<'a> Written<'a> {
    fn note(&mut self, step: &'a Step) {
        let mut files: Vec<&str> = step.writes.iter().map(String::as_str).collect();
        files.extend(step.args().iter().filter_map(|arg| report_of(arg)));
        if step.program() == "tee" {
            let named = step.args().iter().map(String::as_str).filter(|arg| !arg.starts_with('-'));
            files.extend(named);
            self.seen.extend(&files);
        }
        if step.appends || (step.program() == "tee" && step.args().iter().any(|arg| arg == "-a")) {
            self.older.extend(&files);
        }
        self.files.extend(files);
    }

    /// Whether a step reads one of them, and none that holds more, nor any other.
    fn has(&self, step: &Step) -> bool {
        let named = |files: &[&str]| step.args().iter().any(|arg| files.contains(&arg.as_str()));
        let all = shown_files(step).all(|file| self.files.contains(&file));
        named(&self.files) && !named(&self.older) && all
    }

    fn was_seen(&self, step: &Step) -> bool {
        step.args().iter().any(|arg| self.seen.contains(&arg.as_str()))
    }
}

/// The file of `--junitxml=FILE`.
fn report_of(arg: &str) -> Option<&str> {
    arg.split_once('=').filter(|(option, _)| REPORTS.contains(option)).map(|(_, file)| file)
}

/// The files that a step shows, as far as its words tell them from numbers and patterns.
pub(crate) fn shown_files(step: &Step) -> impl Iterator<Item = &str> {
    let is_number = |arg: &str| arg.trim_start_matches('+').bytes().all(|byte| byte.is_ascii_digit());
    let patterns = match step.program() {
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "sed" | "awk" | "gawk" | "jq" | "yq"
        | "xmllint" => 1,
        _ => 0,
    };
    let words = step.args().iter().map(String::as_str);
    words.filter(move |arg| !arg.starts_with('-') && !is_number(arg)).skip(patterns)
}

/// Whether a step prints what no test of this command printed.
fn shows_other_text(step: &Step, written: &Written<'_>) -> bool {
    if step.silent {
        return false;
    }
    if matches!(step.program(), "echo" | "printf") {
        return step.args().iter().any(|text| looks_like_a_summary(text) || shows_a_file(text));
    }
    // What a pipe brings is the output of a test, or of what was looked at before.
    let reads_pipe = step.piped && !step.repeats;
    step.shows_stored_text() && !written.has(step) && !reads_pipe
}

fn looks_like_a_summary(text: &str) -> bool {
    let counts = text.bytes().any(|byte| byte.is_ascii_digit());
    let words = ["pass", "fail", "test", "total", "ok", "Ran"];
    counts && words.iter().any(|word| text.contains(word))
}

/// Whether a text has the output of another command in it that may be that of a test run.
fn shows_a_file(text: &str) -> bool {
    let inner = |from: &str, to: char| {
        let inside = text.split_once(from).and_then(|(_, rest)| rest.rsplit_once(to));
        inside.is_some_and(|(inside, _)| {
            let steps = Command::parse(inside).steps;
            steps.is_empty() || steps.iter().any(|step| step.shows_stored_text() || !prints_no_summary(step))
        })
    };
    inner("$(", ')') || inner("`", '`')
}

/// Programs that do not print what looks like a summary.
const WITHOUT_SUMMARY: [&str; 99] = [
    ".", ":", "[", "[[", "apt-get", "basename", "black", "break", "bun", "cargo", "cc", "cd", "chmod",
    "chown", "clang", "cmake", "cmp", "continue", "cp", "date", "dd", "df", "dirname", "docker", "du",
    "echo", "eslint", "exit", "export", "false", "file", "find", "g++", "gcc", "git", "go", "gofmt",
    "hostname", "id", "install", "isort", "javac", "kill", "ln", "local", "ls", "make", "mkdir", "mktemp",
    "mv", "mypy", "npm", "patch", "pip", "pip3", "pnpm", "poetry", "popd", "prettier", "printf", "ps",
    "pushd", "pwd", "read", "readlink", "realpath", "return", "rm", "rmdir", "rsync", "ruff", "rustc",
    "rustfmt", "sed", "set", "shift", "sleep", "source", "stat", "tar", "tee", "test", "touch", "trap",
    "true", "truncate", "tsc", "type", "ulimit", "umask", "uname", "unset", "unzip", "uv", "wait", "wc",
    "which", "whoami", "yarn",
];

fn prints_no_summary(step: &Step) -> bool {
    step.program().is_empty() || WITHOUT_SUMMARY.contains(&step.program())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        let Some(detected) = detect(line) else { return "nothing".to_owned() };
        let told = |start: &Start| match start.runs {
            Runs::Framework(one) => format!("{one:?}"),
            Runs::Any => "a script".to_owned(),
            Runs::Perhaps => "a program".to_owned(),
        };
        let kind = detected.starts.iter().map(told).collect::<Vec<_>>().join(" + ");
        let facts = [
            (!detected.owns_exit, ", other exit"),
            (!detected.pipes.is_empty(), ", filtered"),
            (detected.starts.iter().any(|start| start.repeats), ", loops"),
            (detected.shown_again, ", shown again"),
            (detected.beside, ", others beside"),
            (detected.shown.any, ", text beside"),
            (detected.starts.last().is_some_and(|start| start.goes_on), ", goes on"),
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
            &[
                "cargo test",
                "cargo +nightly t -p a",
                "cargo --manifest-path a/Cargo.toml test",
                "bash -lc 'cd x && RUST_LOG=1 cargo test a 2>&1'",
            ],
        );
        check("Nextest", &["cargo nextest run", "cargo llvm-cov nextest", "timeout 60 cargo nextest r a"]);
        check(
            "Pytest",
            &[
                "pytest",
                "python3 -m pytest -q",
                "python3 -X dev -m pytest",
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
        check(
            "Pytest",
            &[
                "docker run --rm -v .:/app -w /app python:3.12 pytest -q",
                "docker compose exec -T web python -m pytest",
                "podman run img pytest",
                "docker-compose run --rm web poetry run pytest",
            ],
        );
        check("a script", &["bundle exec rake test", "docker run img make test", "nox", "just test"]);
        check("nothing", &["docker run img", "docker build -t pytest .", "docker logs pytest"]);
        check("CargoTest + Jest", &["cargo test && npx jest"]);
        check("Pytest + Pytest", &["pytest a; pytest b"]);
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
            ],
        );
    }

    #[test]
    fn what_runs_no_tests_is_nothing() {
        check("nothing", &["", "ls", "cargo build", "npm install", "go vet ./..."]);
        check(
            "a program",
            &["npm run build", "make", "node server.js", "python3 ut.py", "cd a && sh run.sh"],
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
    fn text_of_others_beside_tests_does_not_hide_that_they_ran() {
        check("CargoTest, text beside", &["cat old.log; cargo test", "sed -n 1,9p a.rs && cargo test"]);
        check("CargoTest, other exit, text beside", &["cargo test; git log", "cargo test && git diff"]);
        check("Pytest, other exit, text beside", &["pytest || echo '5 passed in 1s'"]);
        check("nothing", &["cat old.log; ./tools/inspect", "git log; python3 x.py"]);
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

    #[test]
    fn stored_text_is_no_test_run() {
        check(
            "nothing",
            &[
                "python3 -c \"print(open('test.log').read())\"",
                "node -e \"console.log(require('fs').readFileSync('test.log','utf8'))\"",
                "ruby -e 'puts File.read(%q(spec.log))'",
                "python3 test_show.py",
                "./tools/show-latest",
                "./tools/inspect",
                "npm run inspect",
                "pytest() { echo '9 passed in 0.1s'; }; pytest",
            ],
        );
        check(
            "Pytest, other exit, text beside",
            &[
                "pytest -q; ls *.log | xargs cat",
                "pytest -q; find . -name test.log -exec cat {} +",
                "pytest -q; echo \"$(cat old.log)\"",
                "pytest -q; echo `cat old.log`",
            ],
        );
        check(
            "CargoTest, other exit, text beside",
            &["cargo test >> o.log 2>&1; cat o.log", "cargo test | tee -a o.log >/dev/null; cat o.log"],
        );
        check("Pytest, other exit", &["pytest -q; echo \"at $(date)\"", "ls | head; pytest -q; true"]);
        check("Pytest, other exit, others beside, goes on", &["pytest -q; ./show"]);
        check(
            "CargoTest, other exit, filtered, shown again",
            &["cargo test 2>&1 | tee o.log; tail -5 o.log"],
        );
        check("Pytest", &["sed -i s/a/b/ a.py; pytest -q"]);
    }

    #[test]
    fn what_a_command_does_after_its_tests_is_noticed() {
        check(
            "Pytest, other exit, goes on",
            &[
                "pytest; rm a.py",
                "pytest && git checkout .",
                "pytest; echo x >> a.py",
                "pytest; echo x | tee a.py",
                "pytest; sed -i s/a/b/ a.py",
            ],
        );
        check(
            "Pytest, other exit",
            &[
                "pytest; git status",
                "pytest; ls; sleep 3",
                "pytest; git add -A; git commit -m x",
                "pytest | tee a.log",
            ],
        );
    }
}
