//! Whether a program is asked something or does something: an answer of no is an exit code like any
//! other, and no failure.

use super::halfway::may_be_refused;
use super::work::{Done, Work};
use crate::evidence::shell::Step;

impl Done {
    /// Whether the step at `at` does something that can fail in a way worth telling.
    pub(super) fn does(&self, at: usize) -> bool {
        self.works[at].is_some() && !asks(&self.command.steps[at])
    }

    /// What is to be done again where one of `steps` failed.
    pub(super) fn to_do_of(&self, steps: &[usize]) -> Vec<Work> {
        let does = steps.iter().filter(|at| self.does(**at));
        does.filter_map(|at| self.works[*at].clone()).collect()
    }
}

/// Whether a step only looks, or does what hardly matters.
pub(super) fn asks(step: &Step) -> bool {
    let args: Vec<&str> = step.args().iter().map(String::as_str).collect();
    let program = step.program();
    if step.words.is_empty() {
        return false;
    }
    let verb = verb_of(step);
    let looks = match program {
        "cargo" => CARGO.contains(&verb),
        // What else it fails of it says, and much is mended by other words of its.
        "git" => !may_be_refused(step),
        "npm" | "pnpm" | "yarn" | "bun" => PACKAGES.contains(&verb),
        "pip" | "pip3" | "poetry" | "gem" | "conda" | "apt" | "brew" => PACKAGES.contains(&verb),
        "uv" => args.starts_with(&["pip"]) && args.get(1).is_some_and(|verb| PACKAGES.contains(verb)),
        "go" => matches!(verb, "env" | "list" | "doc"),
        "make" | "gmake" => args.iter().any(|arg| matches!(*arg, "-q" | "--question" | "-n" | "--dry-run")),
        _ if is_of_containers(step) => !CONTAINERS.contains(&verb),
        "patch" => args.contains(&"--dry-run"),
        name if name.starts_with("python") && args.starts_with(&["-m", "json.tool"]) => true,
        name if name.starts_with("python") && args.starts_with(&["-m", "pip"]) => {
            args.get(2).is_some_and(|verb| PACKAGES.contains(verb))
        }
        name => ASKING.contains(&name) || name.starts_with(|c: char| c.is_ascii_digit()) || !step.may_write(),
    };
    looks || is_of_itself(step)
}

/// `node --version`, `app --help`
fn is_of_itself(step: &Step) -> bool {
    const WORDS: [&str; 7] = ["--version", "-V", "version", "-version", "--help", "-h", "help"];
    let is_asked = |arg: &String| matches!(arg.as_str(), "--version" | "--help");
    // What is of the project may mean anything by a letter.
    let is_own = step.words.first().is_some_and(|word| word.contains('/'));
    let is_known = matches!(
        step.program(),
        "node" | "npm" | "npx" | "yarn" | "pnpm" | "bun" | "ruby" | "php" | "perl" | "gcc"
    );
    match step.args() {
        [one] if one == "-v" => is_known && !is_own,
        [one] if !is_own => WORDS.contains(&one.as_str()),
        args => args.iter().any(is_asked),
    }
}

fn verb_of(step: &Step) -> &str {
    step.args().iter().find(|arg| !arg.starts_with(['-', '+'])).map_or("", String::as_str)
}

/// Whether git is told to do something, which it says that it could not.
pub(super) fn changes_history(step: &Step) -> bool {
    const VERBS: [&str; 15] = [
        "add",
        "am",
        "apply",
        "checkout",
        "cherry-pick",
        "clone",
        "commit",
        "fetch",
        "merge",
        "pull",
        "push",
        "rebase",
        "revert",
        "stash",
        "switch",
    ];
    VERBS.contains(&step.git_verb())
}

/// Whether a step asks, and what it says of that is its answer as well.
pub(super) fn is_question(step: &Step) -> bool {
    let asks_git = !changes_history(step) && GIT.contains(&step.git_verb());
    let does = |arg: &String| CONTAINERS.contains(&arg.as_str());
    let asks_containers = is_of_containers(step) && !step.args().iter().any(does);
    asks_git || asks_containers || (step.program() != "git" && is_of_itself(step))
}

fn is_of_containers(step: &Step) -> bool {
    matches!(step.program(), "docker" | "podman" | "kubectl" | "nerdctl" | "docker-compose")
}

/// Whether a step is a line of code among the words of a command: what it ends with is its answer.
pub(super) fn is_one_liner(step: &Step) -> bool {
    let name = step.program();
    // To others it is to look at a file.
    let is_code = |arg: &String| match arg.as_str() {
        "-c" => name.starts_with("python"),
        arg => matches!(arg, "-e" | "--eval" | "-p" | "--print" | "-pe" | "-ne"),
    };
    let runs_code = name.starts_with("python")
        || matches!(name, "node" | "nodejs" | "ruby" | "perl" | "php" | "deno" | "bun");
    runs_code && step.args().first().is_some_and(is_code)
}

/// `python3 -c 'import yaml'`: whether a step is only asked whether something is there.
pub(super) fn imports(step: &Step) -> bool {
    let heads = ["import ", "from ", "require(", "print("];
    let looks = |part: &str| heads.iter().any(|head| part.trim().starts_with(head));
    let code = step.args().get(1).filter(|_| is_one_liner(step));
    code.is_some_and(|code| code.split(';').all(looks))
}

/// Programs that are asked something and answer by their exit code, and those that only put in place what
/// others work with, such as `mv`, `rm` and `mount`: what fails for want of that says so itself.
const ASKING: [&str; 50] = [
    "apt-cache",
    "arch",
    "bc",
    "builtin",
    "cal",
    "chmod",
    "chown",
    "cksum",
    "command",
    "compgen",
    "cp",
    "declare",
    "dpkg",
    "dpkg-query",
    "env",
    "expr",
    "fuser",
    "hash",
    "jobs",
    "killall",
    "ldd",
    "let",
    "ln",
    "locale",
    "look",
    "man",
    "mktemp",
    "mount",
    "mv",
    "mysqladmin",
    "nm",
    "nvidia-smi",
    "objdump",
    "open",
    "pg_isready",
    "pkill",
    "readelf",
    "redis-cli",
    "rm",
    "rmdir",
    "rpm",
    "screen",
    "seq",
    "service",
    "systemctl",
    "tmux",
    "touch",
    "tr",
    "xdg-open",
    "yes",
];

const CARGO: [&str; 9] =
    ["audit", "info", "locate-project", "metadata", "outdated", "pkgid", "search", "tree", "version"];

/// What those that keep packages are asked.
const PACKAGES: [&str; 32] = [
    "audit", "bin", "check", "config", "doctor", "explain", "freeze", "fund", "get", "help", "index", "info",
    "inspect", "list", "ll", "ls", "outdated", "ping", "policy", "prefix", "query", "root", "search", "show",
    "view", "which", "whoami", "why", "cache", "la", "leaves", "deps",
];

/// What git is asked.
const GIT: [&str; 24] = [
    "blame",
    "branch",
    "cat-file",
    "check-ignore",
    "config",
    "describe",
    "diff",
    "for-each-ref",
    "grep",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "name-rev",
    "reflog",
    "remote",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
    "symbolic-ref",
];

/// What those that run containers do; anything else is asked of them.
const CONTAINERS: [&str; 10] =
    ["apply", "build", "buildx", "compose", "create", "exec", "pull", "push", "run", "up"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::shell::Command;

    #[test]
    fn git_is_asked_or_told_whatever_it_is_told_of_itself() {
        for own in ["", "-C web ", "-c a.b=c ", "--no-pager -C web ", "--git-dir x "] {
            let is = |is: fn(&Step) -> bool, line: &str| {
                let command = Command::parse(&format!("git {own}{line}"));
                is(&command.steps[0])
            };
            assert!(is(changes_history, "push") && is(changes_history, "commit -m x"), "{own}");
            assert!(is(is_question, "log") && !is(changes_history, "log"), "{own}");
            assert!(!is(is_question, "push") && !is(is_question, "commit -C HEAD"), "{own}");
        }
    }

    #[test]
    fn what_is_asked_is_listed_in_order() {
        assert!(ASKING.is_sorted() && GIT.is_sorted() && CARGO.is_sorted() && CONTAINERS.is_sorted());
    }
}
