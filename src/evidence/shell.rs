//! The programs that a command line starts, and what becomes of their output.
//!
//! Enough of a shell's grammar to tell a test run from a text about one; what
//! is beyond it (functions, substitutions) is left as words that match nothing.

mod lex;
mod wrappers;

use lex::Token;

/// A longer command is a document in disguise.
const LONGEST_COMMAND: usize = 64 * 1024;
const MOST_STEPS: usize = 200;
/// How deep `bash -c "bash -c …"` is followed.
const DEEPEST: usize = 4;

/// One program with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// Without assignments and wrappers such as `env`, `timeout` or `npx`.
    pub(crate) words: Vec<String>,
    /// Whether it reads what the step before it prints.
    pub(crate) piped: bool,
    /// Files that its output goes to.
    pub(crate) writes: Vec<String>,
    /// Whether it writes after what a file held before.
    pub(crate) appends: bool,
    /// Whether nothing of its standard output is left to be seen.
    pub(crate) silent: bool,
    /// Whether it may run more than once, each time with words from elsewhere.
    pub(crate) repeats: bool,
    /// Whether it runs only after a success of the step before.
    pub(crate) and: bool,
    /// Whether it runs only after a failure of the step before.
    pub(crate) or: bool,
    /// What was said before the program that may change what it does: variables, and
    /// options of what runs it.
    pub(crate) context: Vec<String>,
    /// The shells that it runs in, outermost first: each has a directory of its own.
    pub(crate) shells: Vec<usize>,
    /// Whether what follows does not wait for it.
    pub(crate) background: bool,
    /// Whether `timeout` ends it when it takes too long.
    pub(crate) limited: bool,
}

impl Step {
    /// The name of the program, without its directory.
    pub(crate) fn program(&self) -> &str {
        self.words.first().map_or("", |word| base_name(word))
    }

    pub(crate) fn args(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Whether it shows text that it did not make.
    pub(crate) fn shows_stored_text(&self) -> bool {
        match self.program() {
            "sed" => !self.edits_in_place(),
            "cat" | "bat" | "batcat" | "less" | "more" | "head" | "tail" | "nl" | "tac" | "grep"
            | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "awk" | "gawk" | "cut" | "sort" | "uniq" | "jq"
            | "yq" | "strings" | "zcat" | "diff" | "curl" | "wget" | "gh" | "glab" | "journalctl"
            | "column" | "paste" | "fold" | "xmllint" => true,
            "git" => {
                let verb = self.args().iter().find(|arg| !arg.starts_with('-')).map(String::as_str);
                let counts = self
                    .args()
                    .iter()
                    .any(|arg| matches!(arg.as_str(), "--stat" | "--name-only" | "--quiet"));
                matches!(verb, Some("log" | "show" | "diff" | "grep" | "blame" | "format-patch")) && !counts
                    || (verb == Some("stash")
                        && self.args().iter().any(|arg| matches!(arg.as_str(), "show" | "list")))
            }
            "docker" | "kubectl" | "podman" => self.args().iter().any(|arg| arg == "logs"),
            _ => false,
        }
    }

    fn edits_in_place(&self) -> bool {
        self.args().iter().any(|arg| arg.starts_with("-i") || arg.starts_with("--in-place"))
    }

    /// Whether it may change files. What is not known to change none may.
    pub(crate) fn may_write(&self) -> bool {
        if self.writes.iter().any(|file| !file.starts_with("/dev/")) {
            return true;
        }
        let has = |wanted: &[&str]| self.args().iter().any(|arg| wanted.contains(&arg.as_str()));
        let verb = self.args().iter().find(|arg| !arg.starts_with(['-', '+'])).map_or("", String::as_str);
        let program = self.program();
        match program {
            "sed" | "awk" | "gawk" | "yq" => self.edits_in_place(),
            "sort" => has(&["-o"]) || self.args().iter().any(|arg| arg.starts_with("--output")),
            "curl" => self.args().iter().any(|arg| keeps_download(arg)),
            "find" => has(&["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls"]),
            "git" => !GIT_LOOKING.contains(&verb),
            "cargo" => has(&["--fix"]) || !matches!(verb, "build" | "b" | "check" | "c" | "clippy" | "doc"),
            "docker" | "kubectl" | "podman" => !self.shows_stored_text(),
            _ => !program.is_empty() && !LOOKING.contains(&program),
        }
    }
}

/// Programs that change no file, whatever they are told.
const LOOKING: [&str; 74] = [
    ":",
    "[",
    "[[",
    "ack",
    "ag",
    "basename",
    "bat",
    "batcat",
    "break",
    "cat",
    "cd",
    "cmp",
    "column",
    "continue",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "exit",
    "export",
    "false",
    "fgrep",
    "file",
    "fold",
    "grep",
    "head",
    "hostname",
    "id",
    "journalctl",
    "jq",
    "kill",
    "less",
    "local",
    "ls",
    "more",
    "nl",
    "paste",
    "popd",
    "printf",
    "ps",
    "pushd",
    "pwd",
    "read",
    "readlink",
    "realpath",
    "return",
    "rg",
    "set",
    "shift",
    "sleep",
    "source",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "trap",
    "true",
    "type",
    "ulimit",
    "umask",
    "uname",
    "uniq",
    "unset",
    "wait",
    "wc",
    "which",
    "whoami",
    "xmllint",
    "zcat",
];

/// What git is asked for that leaves the files as they are.
const GIT_LOOKING: [&str; 13] = [
    "add",
    "blame",
    "branch",
    "commit",
    "diff",
    "grep",
    "log",
    "ls-files",
    "push",
    "rev-parse",
    "show",
    "status",
    "tag",
];

/// `-o a`, `-sSLo a`, `--remote-name`: an option of `curl` that puts what it gets into a file.
fn keeps_download(arg: &str) -> bool {
    let short = arg.starts_with('-') && !arg.starts_with("--") && arg.contains(['o', 'O']);
    short || arg.starts_with("--output") || arg.starts_with("--remote-name")
}

/// A whole command line.
#[derive(Debug, Default)]
pub(crate) struct Command {
    pub(crate) steps: Vec<Step>,
    /// Whether a part of it may have run more than once.
    pub(crate) loops: bool,
    /// Whether a failure inside a pipeline is the pipeline's.
    pub(crate) pipefail: bool,
    /// Whether where a shell of its own begins and ends cannot be told.
    pub(crate) unbalanced: bool,
    /// The shells that are open now, and how many there were.
    shells: Vec<usize>,
    opened: usize,
    /// Whether it gives names of its own to commands.
    pub(crate) defines: bool,
    /// Whether a part of it may have been passed over without a failure.
    pub(crate) branches: bool,
    /// Whether that is by a word for it: `if`, `case`, a loop.
    pub(crate) chooses: bool,
    /// Whether a part of it succeeds where a program fails.
    pub(crate) negates: bool,
    /// Variables that it has set so far.
    assigned: Vec<String>,
    /// What each turn of its one loop sets anew.
    pub(crate) turned: Option<String>,
}

impl Command {
    pub(crate) fn parse(line: &str) -> Self {
        let mut command = Self::default();
        command.add(&line[..line.floor_char_boundary(LONGEST_COMMAND)], DEEPEST);
        command
    }

    fn add(&mut self, line: &str, deeper: usize) {
        let mut step = Step::default();
        let mut lexer = lex::Lexer::new(line);
        let (mut piped, mut and, mut or) = (false, false, false);
        loop {
            match lexer.next() {
                Some(Token::Word(word)) => step.words.push(word),
                Some(Token::Output { file, hides, appends }) => {
                    step.silent |= hides;
                    step.appends |= appends;
                    step.writes.push(file);
                }
                end => {
                    self.branches |= matches!(end, Some(Token::Or));
                    let ended = std::mem::take(&mut step);
                    let background = matches!(end, Some(Token::Background));
                    self.end_step(Step { piped, and, or, background, ..ended }, deeper);
                    match end {
                        Some(Token::Open) => self.open(),
                        Some(Token::Close) => self.unbalanced |= self.shells.pop().is_none(),
                        _ => {}
                    }
                    // What opens a shell says nothing of how its first step comes to run.
                    if !matches!(end, Some(Token::Open)) {
                        (piped, and) = (matches!(end, Some(Token::Pipe)), matches!(end, Some(Token::And)));
                        or = matches!(end, Some(Token::Or));
                    }
                    if end.is_none() || self.steps.len() >= MOST_STEPS {
                        return;
                    }
                }
            }
        }
    }

    fn open(&mut self) {
        self.opened += 1;
        self.shells.push(self.opened);
    }

    fn end_step(&mut self, mut step: Step, deeper: usize) {
        let keyword = step.words.first().map_or("", String::as_str);
        if let Some(turned) = wrappers::turned(&step.words) {
            self.turned = turned.filter(|_| !self.loops).map(str::to_owned);
            self.loops = true;
        }
        self.negates |= step.words.iter().take(2).any(|word| word == "!");
        self.chooses |= matches!(keyword, "for" | "while" | "until" | "if" | "case");
        self.branches |= self.chooses;
        if matches!(step.program(), "set" | "bash") && step.words.iter().any(|word| word == "pipefail") {
            self.pipefail = true;
        }
        let first = step.words.first().map_or("", String::as_str);
        self.defines |= first.ends_with("()") || matches!(first, "function" | "alias");
        let wrappers::Bare { words, context, repeats, limited } = wrappers::removed(step.words);
        step.words = words;
        step.repeats |= repeats;
        step.limited |= limited;
        if step.words.is_empty() {
            self.assigned.extend(context.iter().cloned());
        } else if step.program() == "export" {
            self.assigned.extend(wrappers::assignments(step.args()));
        }
        step.context = self.assigned.iter().cloned().chain(context).collect();
        if let Some(inner) = wrappers::run_by_find(&step.words) {
            (step.words, step.repeats) = (inner, true);
        }
        match wrappers::inner_script(&step.words) {
            Some(script) if deeper > 0 => {
                let from = self.steps.len();
                self.open();
                let depth = self.shells.len();
                self.add(script, deeper - 1);
                self.unbalanced |= self.shells.len() < depth;
                self.shells.truncate(depth.saturating_sub(1));
                if let Some(first) = self.steps.get_mut(from) {
                    first.piped |= step.piped;
                    first.and |= step.and;
                    first.or |= step.or;
                }
                for inner in &mut self.steps[from..] {
                    inner.repeats |= step.repeats;
                    inner.silent |= step.silent;
                    inner.background |= step.background;
                    inner.limited |= step.limited;
                    inner.writes.extend(step.writes.iter().cloned());
                    inner.context.extend(step.context.iter().cloned());
                }
            }
            _ if step.words.is_empty() => {}
            _ => {
                step.shells.clone_from(&self.shells);
                self.steps.push(step);
            }
        }
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
        check("echo $(cargo test)", "echo $(cargo test)");
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
    fn what_is_not_known_to_change_nothing_may_change_files() {
        let writes = |line: &str| Command::parse(line).steps.iter().any(Step::may_write);
        for line in [
            "echo $?",
            "sed -n 3p a",
            "git commit -qam x",
            "git ls-files",
            "cargo clippy -- -D warnings",
            "ls >/dev/null",
            "find . -name a",
            "sort a | nl",
            "curl -s localhost",
            "docker logs a",
        ] {
            assert!(!writes(line), "{line}");
        }
        for line in [
            "echo x >a",
            "sed -i s/a/b/ a",
            "git stash",
            "cargo fmt",
            "cargo clippy --fix",
            "touch a",
            "echo x | tee a",
            "find . -name a -delete",
            "find . -name a -exec rm {} +",
            "curl -sSLo a localhost",
            "sort -o a a",
        ] {
            assert!(writes(line), "{line}");
        }
    }

    #[test]
    fn loops_and_pipefail_are_noticed() {
        let command = Command::parse("set -o pipefail; for i in 1 2; do cargo test | tail; done");
        assert!(command.loops && command.pipefail);
        assert!(!Command::parse("cargo test").loops);
    }
}
