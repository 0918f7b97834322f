//! The programs that a command line starts, and what becomes of their output.
//!
//! Enough of a shell's grammar to tell a test run from a text about one; what
//! is beyond it (functions, substitutions) is left as words that match nothing.

mod arms;
mod captured;
mod ends;
mod git;
mod kept;
mod lex;
mod parse;
mod pipefail;
mod step;
mod surroundings;
mod unread;
mod wrappers;

pub(crate) use captured::is_variable;
pub(crate) use ends::End;
pub(crate) use git::Git;
pub(crate) use step::{Arm, Step};
pub(crate) use unread::{is_unread, unread};

use ends::Tree;
use parse::Parser;

/// A longer command is a document in disguise.
const LONGEST_COMMAND: usize = 64 * 1024;

/// A whole command line.
#[derive(Debug, Default)]
pub(crate) struct Command {
    pub(crate) steps: Vec<Step>,
    /// Whether a part of it may have run more than once.
    pub(crate) loops: bool,
    /// Whether where a shell of its own begins and ends cannot be told.
    pub(crate) unbalanced: bool,
    /// Whether it gives names of its own to commands.
    pub(crate) defines: bool,
    /// Whether a part of it may have been passed over without a failure.
    pub(crate) branches: bool,
    /// Whether that is by a word for it: `if`, `case`, a loop.
    pub(crate) chooses: bool,
    /// Whether that depends on what a program comes to: `if`, `while`.
    pub(crate) picks: bool,
    /// Whether a part of it may be a sum: its words are none of a program then.
    pub(crate) computes: bool,
    /// Whether a part of it succeeds where a program fails.
    pub(crate) negates: bool,
    /// What each turn of its one loop sets anew.
    pub(crate) turned: Option<String>,
    /// Whether that has words to go through.
    pub(crate) turns_surely: bool,
    /// Whether it was not read to its end.
    pub(crate) cut: bool,
    /// Whether something in it may change what the rest means or whether it runs.
    unread: bool,
    /// How its steps belong together; `None` where that is not understood as a whole.
    tree: Option<Tree>,
    /// The same of one turn, where nothing but a loop over words stands in the way of that.
    turn: Option<Tree>,
}

impl Command {
    pub(crate) fn parse(line: &str) -> Self {
        let read = &line[..line.floor_char_boundary(LONGEST_COMMAND)];
        let command = Parser::parse(read);
        let is_whole = read.len() == line.len();
        Self { tree: command.tree.filter(|_| is_whole), cut: command.cut || !is_whole, ..command }
    }
}

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps in one line: `|` before what is piped, `>` before what is written.
    fn told(line: &str) -> String {
        let steps = Command::parse(line).steps;
        let told = |step: &Step| {
            let pipe = if step.piped { "| " } else { "" };
            let silent = if step.silent { " (silent)" } else { "" };
            let writes: String = step.writes.iter().map(|file| format!(" >{file}")).collect();
            format!("{pipe}{}{writes}{silent}", step.words.join(" "))
        };
        steps.iter().map(told).collect::<Vec<_>>().join("; ")
    }

    #[track_caller]
    fn check(line: &str, expected: &str) {
        assert_eq!(told(line), expected);
    }

    #[test]
    fn a_shell_is_seen_through() {
        check("/bin/bash -lc 'cd a && cargo test'", "cd a; cargo test");
        check(r#"sh -c "bash -c 'npm test' | tail -5""#, "npm test; | tail -5");
        check("bash -lc 'cargo test' > out.txt", "cargo test >out.txt (silent)");
        check("bash script.sh", "bash script.sh");
    }

    #[test]
    fn wrappers_and_assignments_are_removed() {
        check("CI=1 env -u A B=2 timeout -k 5 60 npx --yes jest@29 a", "jest@29 a");
        check("time nice -n 5 sudo -E uv run pytest -q", "pytest -q");
        check("poetry run python -m pytest", "python -m pytest");
        check("coverage run --branch -m pytest a", "python -m pytest a");
        check("npm exec -- mocha; pnpm exec vitest run; yarn dlx jest", "mocha; vitest run; jest");
        check("if ! cargo test; then echo no; fi", "cargo test; echo no");
        check("(cd a; ls)", "cd a; ls");
        check("find . | xargs -n 1 pytest", "find .; | pytest");
    }

    #[test]
    fn output_is_followed_into_files() {
        check("cargo test > a.log 2>&1; tail a.log", "cargo test >a.log (silent); tail a.log");
        check("cargo test 2>err.log", "cargo test >err.log");
        check("cargo test &> a.log", "cargo test >a.log (silent)");
        check("cargo test 2>&1 | tee a.log", "cargo test; | tee a.log");
    }

    #[test]
    fn quotes_comments_and_documents_are_no_commands() {
        check("echo 'a; cargo test' # cargo test", "echo a; cargo test");
        check("cat > t.py <<'EOF'\ncargo test\nEOF\npytest t.py", "cat >t.py (silent); pytest t.py");
        check("git commit -m \"$(cargo test)\"", "git commit -m $(cargo test)");
        check("grep \"a \\\" b\" c\\ d", "grep a \" b c d");
    }

    #[test]
    fn what_runs_any_number_of_times_is_noticed() {
        let repeats = |line: &str| Command::parse(line).steps.last().unwrap().repeats;
        for line in [
            "ls | xargs -n1 pytest -q",
            "find . -name 'test_*.py' -exec pytest {} \\;",
            "npm exec --workspaces -- vitest run",
            "pnpm -r exec jest",
            "ls | xargs sh -c 'pytest $1'",
        ] {
            assert!(repeats(line), "{line}");
        }
        assert!(!repeats("npm exec -- mocha") && !repeats("nyc -r text mocha"));
        check("find . -name a.log -exec cat {} +", "cat {}");
        assert!(Command::parse("pytest() { echo; }; pytest").defines);
        assert!(!Command::parse("echo 'a()'; pytest").defines);
    }

    #[test]
    fn loops_and_pipefail_are_noticed() {
        let command = Command::parse("set -o pipefail; for i in 1 2; do cargo test | tail; done");
        assert!(command.loops && command.steps.last().unwrap().minds);
        assert!(!Command::parse("cargo test").loops);
    }

    /// How many bytes are kept of a line.
    fn kept(command: &Command) -> usize {
        let words = |step: &Step| {
            let all = [&step.words, &step.input, &step.writes, &step.context];
            all.into_iter().flatten().map(String::len).sum::<usize>()
        };
        command.steps.iter().map(words).sum()
    }

    #[test]
    fn what_grows_with_each_step_has_an_end() {
        let steps = ["a"; 150].join("|");
        let long = "x".repeat(9000);
        let mut wrong = Vec::new();
        for line in [
            format!("{}make", "for;".repeat(2000)),
            format!("{}{steps}", "for;".repeat(2000)),
            format!("{}make", "export A=1 B=2 C=3;".repeat(150)),
            format!("A={long}; {steps}"),
            format!("A={long} bash -c '{steps}'"),
            format!("({steps}) <<E\n{long}\nE"),
            format!("cat {long} | {steps}"),
            format!("{}{steps}{}", "(".repeat(100), ")<a".repeat(100)),
            format!("{}ls{}", "{ ".repeat(100), "; }".repeat(100)),
            format!("({steps}) <{long}"),
            format!("echo {}a{}", "\"$(".repeat(100), ")\"".repeat(100)),
        ] {
            let command = Command::parse(&line);
            let is_bounded = command.unread && command.tree.is_none() && kept(&command) < 2 << 20;
            if !is_bounded {
                wrong.push(format!("{}: {}", line.get(..80).unwrap_or(&line), kept(&command)));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        let text = "x\n".repeat(20_000);
        for line in [
            format!("cat <<E | sort | python3 -\n{text}E"),
            format!("{}make", "export A=1;".repeat(20)),
            format!("{}ls{}", "(".repeat(20), ")".repeat(20)),
            format!("A={long} make && make test | tail"),
        ] {
            assert!(Command::parse(&line).is_clear(), "{}", line.get(..80).unwrap_or(&line));
        }
    }

    #[test]
    fn what_a_variable_holds_is_followed_as_a_file_is() {
        let held = "/dev/variable/out";
        let ran = format!("pytest -q >{held} (silent)");
        for line in ["out=$(pytest -q 2>&1)", "out=\"$(pytest -q)\"", "out=`pytest -q`", "{ out=$(pytest -q)"]
        {
            check(line, &ran);
            check(&format!("{line}; echo \"$out\" | tail -5"), &format!("{ran}; cat {held}; | tail -5"));
        }
        check("out=$(pytest -q); printf '%s\\n' \"${out}\"", &format!("{ran}; cat {held}"));
        check("out=$(pytest -q); tail -5 <<< \"$out\"", &format!("{ran}; tail -5 {held}"));
        check("out=$(pytest -q); echo \"$other $outs\"", &format!("{ran}; echo $other $outs"));
        check(
            "A=1 B=\"x $(make) $(ls)\"",
            "make >/dev/variable/A >/dev/variable/B (silent); ls >/dev/variable/A >/dev/variable/B (silent)",
        );
        check("echo \"$(make | tail -3)\" && ls", "make; | tail -3; | cat; ls");
        check(
            "export out=$(pytest -q); echo \"$out\"",
            &format!("pytest -q; | cat >{held} (silent); cat {held}"),
        );
        check("A=$((1 + 2)); B=${C:-1}; D=$(< a)", "; ;  >/dev/variable/D (silent)");
    }
}
