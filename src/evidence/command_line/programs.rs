//! What is known about programs by name: which ones only start others, only read, only report status, or let
//! git change the tree.

use crate::evidence::command_line::Step;

/// Programs that run the command after their options, and which of those options take a value.
const WRAPPERS: &[(&str, &[&str])] = &[
    ("bunx", &["-p", "--package"]),
    ("command", &[]),
    ("cross-env", &[]),
    ("doas", &["-u"]),
    ("dotenv", &["-e", "-f"]),
    ("env", &["-u", "--unset", "-C", "--chdir"]),
    ("exec", &["-a"]),
    ("ionice", &["-c", "-n"]),
    ("nice", &["-n"]),
    ("nohup", &[]),
    ("npx", &["-p", "--package"]),
    ("nyc", &["-r", "--reporter"]),
    ("c8", &["-r", "--reporter"]),
    ("pnpx", &[]),
    ("setsid", &[]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("sudo", &["-u", "-g"]),
    ("time", &["-f", "-o"]),
    ("uvx", &["--from", "--with", "--python", "-p"]),
    ("xargs", &["-n", "-P", "-I", "-L", "-d", "-a"]),
    ("xvfb-run", &["-s", "-n"]),
];

/// Wrappers with a subcommand: `uv run PROGRAM`.
const RUNNERS: &[(&str, &[&str], &[&str])] = &[
    ("bundle", &["exec"], &[]),
    ("conda", &["run"], &["-n", "-p"]),
    ("hatch", &["run"], &[]),
    ("npm", &["exec", "x"], &["-p", "--package"]),
    ("pdm", &["run"], &[]),
    ("pipenv", &["run"], &[]),
    ("pnpm", &["exec", "dlx"], &["--filter", "-C", "--dir", "-F"]),
    ("poetry", &["run"], &["-C", "--directory"]),
    ("rye", &["run"], &[]),
    ("uv", &["run"], &["--with", "--python", "-p", "--group", "--extra", "--package", "--directory"]),
    ("yarn", &["exec", "dlx"], &["--cwd"]),
];

const KEYWORDS: [&str; 17] = [
    "case", "do", "done", "elif", "else", "esac", "eval", "fi", "for", "function", "if", "then", "until",
    "while", "!", "{", "}",
];

/// Programs that print or prepare something: their failure alone does not matter.
const LOOKS: [&str; 66] = [
    ":", "[", "[[", "ag", "awk", "basename", "cat", "cd", "chmod", "column", "cut", "date", "df", "diff",
    "dirname", "du", "echo", "env", "exit", "export", "false", "fd", "file", "find", "grep", "egrep",
    "fgrep", "head", "hostname", "id", "jq", "kill", "less", "ls", "mkdir", "more", "nl", "pkill", "popd",
    "printenv", "printf", "ps", "pushd", "pwd", "read", "readlink", "realpath", "rg", "rm", "sed", "seq",
    "sleep", "sort", "source", "stat", "tail", "tee", "test", "touch", "tr", "tree", "true", "type", "uniq",
    "wc", "which",
];

/// Programs that print existing text.
const SHOWS: [&str; 26] = [
    "ag",
    "awk",
    "bat",
    "cat",
    "curl",
    "cut",
    "echo",
    "egrep",
    "fgrep",
    "git",
    "grep",
    "head",
    "jq",
    "journalctl",
    "less",
    "more",
    "nl",
    "printf",
    "rg",
    "sed",
    "sort",
    "strings",
    "tac",
    "tail",
    "xmllint",
    "zcat",
];

/// Git commands that change nothing.
const GIT_LOOKS: [&str; 16] = [
    "blame",
    "branch",
    "cat-file",
    "config",
    "describe",
    "diff",
    "fetch",
    "grep",
    "log",
    "ls-files",
    "reflog",
    "remote",
    "rev-parse",
    "show",
    "status",
    "tag",
];

/// Git commands that print the content of files or commits.
const GIT_SHOWS: [&str; 6] = ["blame", "cat-file", "diff", "grep", "log", "show"];

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// The words from the program on, without keywords, variables and wrappers.
pub(super) fn bare(mut words: Vec<String>) -> Vec<String> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if matches!(word.as_str(), "for" | "case" | "function") {
            return Vec::new();
        }
        if KEYWORDS.contains(&word.as_str()) || is_assignment(word) {
            at += 1;
        } else {
            let Some(next) = past_wrapper(&words, at) else { break };
            at = next;
        }
    }
    let mut rest = words.split_off(at.min(words.len()));
    // `coverage run` takes a Python module or script.
    if rest.len() > 2 && base_name(&rest[0]) == "coverage" && rest[1] == "run" {
        let from = rest[2..].iter().position(|word| word == "-m" || !word.starts_with('-'));
        rest.drain(1..2 + from.unwrap_or(0));
        rest[0] = "python".to_owned();
    }
    rest
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn past_wrapper(words: &[String], at: usize) -> Option<usize> {
    let name = base_name(&words[at]);
    if name == "timeout" {
        return Some(past_options(words, at + 1, &["-s", "--signal", "-k", "--kill-after"]) + 1);
    }
    // It prints where a program is and does not run it.
    if name == "command" && words.get(at + 1).is_some_and(|word| matches!(word.as_str(), "-v" | "-V")) {
        return None;
    }
    if let Some((_, valued)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
        let next = past_options(words, at + 1, valued);
        return (next < words.len()).then_some(next);
    }
    let (_, verbs, valued) = RUNNERS.iter().find(|(runner, _, _)| *runner == name)?;
    let verb = past_options(words, at + 1, valued);
    let known = words.get(verb).is_some_and(|word| verbs.contains(&word.as_str()));
    known.then(|| past_options(words, verb + 1, valued)).filter(|next| *next < words.len())
}

fn past_options(words: &[String], mut at: usize, valued: &[&str]) -> usize {
    while let Some(word) = words.get(at) {
        if word == "--" {
            return at + 1;
        }
        if !word.starts_with('-') && !is_assignment(word) {
            return at;
        }
        at += if valued.contains(&word.as_str()) { 2 } else { 1 };
    }
    at
}

/// The verb of a git command: `git -C a stash` is `stash`.
fn git_verb(step: &Step) -> Option<(&str, &[String])> {
    let args = step.args();
    let verb = past_options(args, 0, &["-C", "-c", "--git-dir", "--work-tree"]);
    (step.program() == "git").then(|| args.get(verb).map(|word| (word.as_str(), &args[verb + 1..]))).flatten()
}

pub(super) fn moves_tree(step: &Step) -> bool {
    let Some((verb, rest)) = git_verb(step) else { return false };
    let first = rest.first().map_or("", String::as_str);
    match verb {
        "stash" => !matches!(first, "list" | "show" | "drop" | "clear"),
        "worktree" => !matches!(first, "list" | "prune" | "lock" | "unlock"),
        // A new branch at the same commit.
        "checkout" | "switch" => !(matches!(first, "-b" | "-c" | "--create") && rest.len() == 2),
        "reset" | "restore" => true,
        _ => false,
    }
}

pub(super) fn only_looks(step: &Step) -> bool {
    match (step.program(), git_verb(step)) {
        ("git", Some((verb, rest))) => {
            GIT_LOOKS.contains(&verb) || (verb == "stash" && rest.first().is_some_and(|word| word == "list"))
        }
        ("sed", _) => !step.args().iter().any(|arg| arg.starts_with("-i") || arg == "--in-place"),
        ("find", _) => !step.args().iter().any(|arg| arg.starts_with("-exec") || arg == "-delete"),
        (program, _) => LOOKS.contains(&program) || step.args().iter().any(|arg| arg == "--version"),
    }
}

pub(super) fn may_write(step: &Step) -> bool {
    !only_looks(step) || matches!(step.program(), "chmod" | "mkdir" | "rm" | "source" | "tee" | "touch")
}

pub(super) fn only_asks(step: &Step) -> bool {
    match step.program() {
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "test" | "[" | "[[" | "diff" | "cmp" | "which"
        | "pgrep" | "command" | "type" | "jq" => true,
        "git" => match git_verb(step) {
            Some(("grep", _)) => true,
            Some((verb, rest)) => {
                verb == "diff"
                    && rest.iter().any(|arg| matches!(arg.as_str(), "--quiet" | "--exit-code" | "--no-index"))
            }
            None => false,
        },
        _ => false,
    }
}

pub(super) fn shows_text(step: &Step) -> bool {
    match step.program() {
        "git" => git_verb(step).is_some_and(|(verb, rest)| {
            GIT_SHOWS.contains(&verb) || (verb == "stash" && rest.first().is_some_and(|word| word == "show"))
        }),
        // A word or two of the agent's own are not a summary.
        "echo" | "printf" => {
            step.args().iter().any(|arg| arg.bytes().any(|byte| byte.is_ascii_digit()) || arg.contains("$("))
        }
        "docker" | "podman" | "kubectl" => step.args().iter().any(|arg| arg == "logs"),
        "python" | "python3" | "node" | "ruby" | "perl" => {
            step.args().iter().any(|arg| matches!(arg.as_str(), "-c" | "-e" | "-p" | "-ne"))
        }
        program => SHOWS.contains(&program),
    }
}
