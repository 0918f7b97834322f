//! One program of a command line: what it is told, and what that does.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::base_name;

/// One program with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// Without assignments and wrappers such as `env`, `timeout` or `npx`.
    pub(crate) words: Vec<String>,
    /// Whether it reads what the step before it prints.
    pub(crate) piped: bool,
    /// Whether a failure of what it reads from is the pipeline's.
    pub(crate) minds: bool,
    /// What it reads: files, texts, and the words of what is piped into it.
    pub(crate) input: Vec<String>,
    /// Documents of its line, by their number, until their text is known.
    pub(super) documents: Vec<usize>,
    /// The first step of what is piped into it, or into the group that it is in.
    pub(super) fed_from: Option<usize>,
    /// Files that its output goes to.
    pub(crate) writes: Vec<String>,
    /// Whether it writes after what a file held before.
    pub(crate) appends: bool,
    /// Whether nothing of its standard output is left to be seen.
    pub(crate) silent: bool,
    /// Whether what it dies of is seen all the same: `out=$(make)`.
    pub(crate) dies_aloud: bool,
    /// Whether it may run more than once, each time with words from elsewhere.
    pub(crate) repeats: bool,
    /// Whether a failure of one of these times is nobody's: `find -exec … \;`.
    pub(crate) forgives: bool,
    /// Whether it runs only after a success of the step before.
    pub(crate) and: bool,
    /// Whether it runs only after a failure of the step before.
    pub(crate) or: bool,
    /// What was said before the program that may change what it does: variables, and
    /// options of what runs it.
    pub(crate) context: Vec<String>,
    /// What it sets, where it does nothing else.
    pub(super) sets: Option<String>,
    /// The shells that it runs in, outermost first: each has a directory of its own.
    pub(crate) shells: Vec<usize>,
    /// Whether what follows does not wait for it.
    pub(crate) background: bool,
    /// Whether `timeout` ends it when it takes too long.
    pub(crate) limited: bool,
    /// Which part of the one `if` of its line it is in.
    pub(crate) arm: Option<Arm>,
}

/// A part of an `if`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arm {
    If,
    Then,
    Else,
}

impl Step {
    pub(crate) fn of(words: Vec<String>) -> Self {
        Self { words, ..Self::default() }
    }

    /// What stands for the part of a line that was not read: a script, the same one in the same line only.
    pub(crate) fn unread(line: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        Self::of(vec!["sh".to_owned(), format!("unread-{:x}", hasher.finish())])
    }

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
                let verb = self.git_verb();
                let counts = self
                    .args()
                    .iter()
                    .any(|arg| matches!(arg.as_str(), "--stat" | "--name-only" | "--quiet"));
                matches!(verb, "log" | "show" | "diff" | "grep" | "blame" | "format-patch") && !counts
                    || (verb == "stash"
                        && self.args().iter().any(|arg| matches!(arg.as_str(), "show" | "list")))
            }
            "docker" | "kubectl" | "podman" => self.args().iter().any(|arg| arg == "logs"),
            _ => false,
        }
    }

    /// Whether it ends with a failure whenever it runs.
    pub(super) fn surely_fails(&self) -> bool {
        match (self.program(), self.args()) {
            ("false", _) => true,
            // Of what stands before `||`, which failed.
            ("exit" | "return", []) => self.or,
            ("exit" | "return", [code]) if code == "$?" => self.or,
            ("exit" | "return", [code]) => code.parse::<u64>().is_ok_and(|code| code % 256 != 0),
            _ => false,
        }
    }

    /// The assignment that it is, where it is nothing else.
    pub(crate) fn sets(&self) -> Option<&str> {
        self.sets.as_deref()
    }

    /// Whether it hardly fails, and says so where it does.
    pub(crate) fn only_prepares(&self) -> bool {
        matches!(self.program(), "cd" | "pushd" | "export" | "set" | "echo" | "source" | "." | "sleep")
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
            "git" => !GIT_LOOKING.contains(&self.git_verb()),
            "cargo" => has(&["--fix"]) || !matches!(verb, "build" | "b" | "check" | "c" | "clippy" | "doc"),
            "docker" | "kubectl" | "podman" => !self.shows_stored_text(),
            _ => !program.is_empty() && !LOOKING.contains(&program),
        }
    }
}

/// Programs that change no file, whatever they are told.
const LOOKING: [&str; 124] = [
    ":",
    "[",
    "[[",
    "ack",
    "ag",
    "apropos",
    "basename",
    "bat",
    "batcat",
    "break",
    "cat",
    "cd",
    "cloc",
    "cmp",
    "column",
    "comm",
    "continue",
    "cut",
    "date",
    "df",
    "diff",
    "dig",
    "dirname",
    "du",
    "echo",
    "egrep",
    "exa",
    "exit",
    "export",
    "eza",
    "false",
    "fd",
    "fdfind",
    "fgrep",
    "file",
    "finger",
    "fold",
    "free",
    "getent",
    "grep",
    "head",
    "help",
    "hexdump",
    "host",
    "hostname",
    "htop",
    "id",
    "ifconfig",
    "iostat",
    "ip",
    "journalctl",
    "jq",
    "kill",
    "last",
    "less",
    "local",
    "locate",
    "ls",
    "lsblk",
    "lscpu",
    "lsof",
    "lspci",
    "md5sum",
    "more",
    "nc",
    "ncat",
    "netstat",
    "nl",
    "nproc",
    "nslookup",
    "od",
    "paste",
    "pgrep",
    "pidof",
    "ping",
    "plocate",
    "popd",
    "printenv",
    "printf",
    "ps",
    "pstree",
    "pushd",
    "pwd",
    "read",
    "readlink",
    "realpath",
    "return",
    "rg",
    "scc",
    "set",
    "sha1sum",
    "sha256sum",
    "shift",
    "sleep",
    "source",
    "ss",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "tokei",
    "top",
    "tput",
    "trap",
    "tree",
    "true",
    "tty",
    "type",
    "ulimit",
    "umask",
    "uname",
    "uniq",
    "unset",
    "uptime",
    "vmstat",
    "wait",
    "wc",
    "whereis",
    "which",
    "whoami",
    "xmllint",
    "xxd",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::shell::Command;

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
}
