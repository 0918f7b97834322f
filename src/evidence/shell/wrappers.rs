//! What stands before the program that a command is about.

use std::collections::HashSet;

use super::{base_name, pipefail};

/// Programs that run the one after their options, and which of those options
/// have a value beside them.
const WRAPPERS: &[(&str, &[&str])] = &[
    ("bunx", &["-p", "--package"]),
    ("builtin", &[]),
    ("c8", &["-r", "--reporter"]),
    ("caffeinate", &[]),
    ("command", &[]),
    ("cross-env", &[]),
    ("doas", &["-u"]),
    ("dotenv", &["-e", "-f"]),
    ("env", &["-u", "--unset", "-C", "--chdir"]),
    ("exec", &["-a"]),
    ("ionice", &["-c", "-n"]),
    ("nice", &["-n"]),
    ("nohup", &[]),
    ("npx", &["-p", "--package", "--prefix", "-w", "--workspace"]),
    ("nyc", &["-r", "--reporter"]),
    ("parallel", &["-j", "--jobs"]),
    ("pnpx", &[]),
    ("setsid", &[]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("sudo", &["-u", "-g"]),
    ("time", &["-f", "-o"]),
    ("unbuffer", &[]),
    ("uvx", &["--from", "--with", "--python", "-p"]),
    ("xargs", &["-n", "-P", "-I", "-L", "-d", "-a"]),
    ("xvfb-run", &["-s", "-n"]),
];

/// The same with a word of their own between: `uv run PROGRAM`.
const RUNNERS: &[(&str, &[&str], &[&str])] = &[
    ("bun", &["x"], &[]),
    ("bundle", &["exec"], &[]),
    ("conda", &["run"], &["-n", "-p"]),
    ("hatch", &["run"], &[]),
    ("mise", &["exec", "x"], &[]),
    ("npm", &["exec", "x"], &["-p", "--package", "--prefix", "-w"]),
    ("pdm", &["run"], &[]),
    ("pipenv", &["run"], &[]),
    ("pixi", &["run"], &["-e"]),
    ("pnpm", &["exec", "dlx"], &["--filter", "-C", "--dir", "-F"]),
    ("poetry", &["run"], &["-C", "--directory"]),
    ("rye", &["run"], &[]),
    ("uv", &["run"], &["--with", "--python", "-p", "--group", "--extra", "--package", "--directory"]),
    ("yarn", &["exec", "dlx"], &["--cwd"]),
];

const KEYWORDS: [&str; 10] = ["do", "then", "else", "if", "elif", "while", "until", "!", "{", "}"];

/// Whether what stands before the program starts it any number of times.
fn repeats(before: &[String]) -> bool {
    let has = |names: &[&str]| before.iter().any(|word| names.contains(&base_name(word)));
    has(&["xargs", "parallel"])
        || (has(&["npm", "pnpm", "yarn"])
            && has(&["-r", "--recursive", "--workspaces", "-ws", "--filter", "-F", "workspaces"]))
}

/// A program without what stands before it.
#[derive(Debug, Default)]
pub(super) struct Bare {
    pub(super) words: Vec<String>,
    /// What of that may change what the program does.
    pub(super) context: Vec<String>,
    /// Whether the program may run more than once.
    pub(super) repeats: bool,
    /// Whether it has a limit of time.
    pub(super) limited: bool,
    /// Whether nobody waits for it.
    pub(super) detached: bool,
    /// Whether it sets a variable, if nothing else.
    pub(super) sets: bool,
}

pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// The words from the program on, keywords, assignments and wrappers removed.
pub(super) fn removed(mut words: Vec<String>) -> Bare {
    let mut at = 0;
    let mut context = Vec::new();
    while let Some(word) = words.get(at) {
        let word = word.as_str();
        if KEYWORDS.contains(&word) || is_assignment(word) {
            context.extend(assignments(&words[at..=at]));
            at += 1;
            continue;
        }
        if matches!(word, "for" | "fi" | "done" | "case" | "esac") {
            return Bare::default();
        }
        let Some(next) = past_wrapper(&words, at) else { break };
        context.extend(told_by(&words[at..next.min(words.len())]));
        at = next;
    }
    let rest = words.split_off(at.min(words.len()));
    let repeats = repeats(&words);
    let limited = words.iter().any(|word| base_name(word) == "timeout");
    let detached = is_detached(&words);
    let sets = words.iter().any(|word| is_assignment(word));
    let rest = match rest.as_slice() {
        // What is measured is a program of Python.
        [program, run, args @ ..] if base_name(program) == "coverage" && run == "run" => {
            let from = args.iter().position(|word| word == "-m" || !word.starts_with('-'));
            let args = &args[from.unwrap_or(args.len())..];
            ["python".to_owned()].into_iter().chain(args.iter().cloned()).collect()
        }
        _ => rest,
    };
    Bare { words: rest, context, repeats, limited, detached, sets }
}

/// `docker run -d`
fn is_detached(before: &[String]) -> bool {
    let asks = |word: &String| {
        let letters =
            word.strip_prefix('-').filter(|letters| letters.bytes().all(|c| c.is_ascii_lowercase()));
        word == "--detach" || letters.is_some_and(|letters| letters.contains('d'))
    };
    before.iter().any(|word| is_container(base_name(word))) && before.iter().any(asks)
}

fn is_container(name: &str) -> bool {
    matches!(name, "docker" | "podman" | "docker-compose" | "nerdctl")
}

/// Variables that change how a program is found, what it shows or whom it takes to read that, not what it does.
const HARMLESS: [&str; 37] = [
    "CARGO_BUILD_JOBS",
    "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE",
    "CARGO_TARGET_DIR",
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "FORCE_COLOR",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOTMPDIR",
    "HOME",
    "LANG",
    "LC_ALL",
    "LINES",
    "NODE_NO_WARNINGS",
    "NODE_PATH",
    "NO_COLOR",
    "PAGER",
    "PATH",
    "PIP_CACHE_DIR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "PYTHONWARNINGS",
    "PY_COLORS",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TMPDIR",
    "UV_CACHE_DIR",
    "XDG_CACHE_HOME",
];

/// Whether a variable changes nothing that a program does.
pub(super) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name)
}

/// Those of some words that set a variable which may matter.
pub(super) fn assignments(words: &[String]) -> Vec<String> {
    let matters = |word: &&String| {
        is_assignment(word) && !is_harmless(word.split_once('=').map_or("", |(name, _)| name))
    };
    words.iter().filter(matters).cloned().collect()
}

/// What the words of a wrapper say of where and how the program runs.
fn told_by(words: &[String]) -> Vec<String> {
    let name = words.first().map_or("", |word| base_name(word));
    if is_container(name) {
        return words.to_vec();
    }
    // A list from a file.
    if name == "xargs" {
        let beside = words.windows(2).filter(|pair| matches!(pair[0].as_str(), "-a" | "--arg-file"));
        let joined = words.iter().filter(|word| word.starts_with("--arg-file=")).cloned();
        return beside.map(|pair| pair.join(" ")).chain(joined).collect();
    }
    let places = ["env", "dotenv", "npx", "bunx", "pnpx"];
    if !places.contains(&name) && !RUNNERS.iter().any(|(runner, _, _)| *runner == name) {
        return Vec::new();
    }
    let mut told = Vec::new();
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--"
            | "-y"
            | "--yes"
            | "-q"
            | "--quiet"
            | "-s"
            | "--silent"
            | "--no"
            | "--no-install"
            | "--frozen"
            | "--locked"
            | "--no-sync"
            | "--offline"
            | "--all-extras"
            | "--no-capture-output" => {}
            "--with" | "--extra" | "--group" => drop(rest.next()),
            // What it is found in.
            "-p" | "--package" if name == "npx" => drop(rest.next()),
            word if RUNNERS.iter().any(|(_, verbs, _)| verbs.contains(&word)) => {}
            word => told.push(word.to_owned()),
        }
    }
    told
}

/// What `find -exec` runs, once or for each that it found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) words: Vec<String>,
    /// What it looks for.
    pub(super) by: String,
    /// Whether it succeeds whatever becomes of them.
    pub(super) forgives: bool,
}

pub(super) fn run_by_find(words: &[String]) -> Option<Found> {
    let from = words.iter().position(|word| matches!(word.as_str(), "-exec" | "-execdir" | "-ok"))?;
    let is_end = |word: &&String| matches!(word.as_str(), ";" | "+");
    let (by, rest) = words.split_at(from);
    let inner: Vec<String> = rest[1..].iter().take_while(|word| !is_end(word)).cloned().collect();
    let forgives = rest.get(inner.len() + 1).is_none_or(|end| end != "+");
    (base_name(words.first()?) == "find").then(|| Found { words: inner, by: by.join(" "), forgives })
}

fn past_wrapper(words: &[String], at: usize) -> Option<usize> {
    let name = base_name(&words[at]);
    if name == "timeout" {
        return Some(past_options(words, at + 1, &["-s", "--signal", "-k", "--kill-after"]) + 1);
    }
    // It tells where a program is, and does not run it.
    if name == "command" && words.get(at + 1).is_some_and(|word| matches!(word.as_str(), "-v" | "-V")) {
        return None;
    }
    if let Some((_, valued)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
        return Some(past_options(words, at + 1, valued));
    }
    if is_container(name) {
        return past_container(words, at + 1);
    }
    let (_, verbs, valued) = RUNNERS.iter().find(|(runner, _, _)| *runner == name)?;
    let verb = past_options(words, at + 1, valued);
    let known = words.get(verb).is_some_and(|word| verbs.contains(&word.as_str()));
    known.then(|| past_options(words, verb + 1, valued))
}

/// `docker run --rm -v a:b IMAGE PROGRAM`, `docker compose exec SERVICE PROGRAM`.
fn past_container(words: &[String], at: usize) -> Option<usize> {
    const VALUED: &[&str] = &[
        "-e",
        "--env",
        "--env-file",
        "-f",
        "--file",
        "-h",
        "--hostname",
        "-l",
        "--label",
        "-m",
        "--memory",
        "--mount",
        "--name",
        "--network",
        "--net",
        "-p",
        "--publish",
        "--platform",
        "--user",
        "-u",
        "-v",
        "--volume",
        "-w",
        "--workdir",
        "--cpus",
        "--gpus",
        "--shm-size",
        "--ulimit",
        "--add-host",
        "--cap-add",
        "--security-opt",
        "--tmpfs",
        "--project-name",
        "--profile",
    ];
    let mut verb = past_options(words, at, VALUED);
    if words.get(verb).is_some_and(|word| word == "compose") {
        verb = past_options(words, verb + 1, VALUED);
    }
    let runs = words.get(verb).is_some_and(|word| matches!(word.as_str(), "run" | "exec"));
    // Its own program, where none is named, is not known.
    let program = past_options(words, verb + 1, VALUED) + 1;
    (runs && program < words.len() && !words.iter().any(|word| word.starts_with("--entrypoint")))
        .then_some(program)
}

/// Where the options that begin at `at` are over.
fn past_options(words: &[String], mut at: usize, valued: &[&str]) -> usize {
    while let Some(word) = words.get(at) {
        if word == "--" {
            return at + 1;
        }
        if !word.starts_with('-') || word.len() == 1 {
            return at;
        }
        at += if valued.contains(&word.as_str()) { 2 } else { 1 };
    }
    at
}

pub(super) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Of the head of a loop, the variable that each turn sets anew: `for f in a b`, `while read -r f`.
pub(super) fn turned(words: &[String]) -> Option<Option<&str>> {
    let words = words.iter().map(String::as_str);
    let words: Vec<&str> = words.skip_while(|word| matches!(*word, "do" | "then" | "else" | "{")).collect();
    let is_loop = matches!(words.first(), Some(&"for" | &"while" | &"until"));
    is_loop.then(|| match words.as_slice() {
        ["for", name, "in", values @ ..] => {
            let mut seen = HashSet::new();
            values.iter().all(|value| seen.insert(*value)).then_some(*name)
        }
        ["while", "read", options @ .., name] => {
            options.iter().all(|word| word.starts_with('-')).then_some(*name)
        }
        _ => None,
    })
}

/// Whether the head of a loop has words that are there: `for i in 1 2`.
pub(super) fn has_turns(words: &[String]) -> bool {
    let values = words.iter().skip_while(|word| *word != "in").skip(1);
    let is_there = |word: &String| !word.is_empty() && !word.contains(['$', '`']);
    words.iter().any(|word| word == "for") && values.clone().next().is_some() && values.clone().all(is_there)
}

/// What a shell is given as a word, and whether it minds a failure inside a pipeline.
#[derive(Debug)]
pub(super) struct Script<'a> {
    pub(super) text: &'a str,
    pub(super) minds: bool,
}

/// What `bash -lc SCRIPT` runs.
pub(super) fn inner_script(words: &[String]) -> Option<Script<'_>> {
    let (program, args) = words.split_first()?;
    if !matches!(base_name(program), "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish") {
        return None;
    }
    let mut takes_script = false;
    let mut at = 0;
    while let Some(word) = args.get(at).filter(|word| word.starts_with(['-', '+']) && word.len() > 1) {
        at += 1;
        if word == "--" {
            break;
        }
        if !word.starts_with("--") {
            takes_script |= word.contains('c');
            at += usize::from(word.ends_with(['o', 'O']));
        }
    }
    let text = args.get(at).filter(|_| takes_script)?;
    Some(Script { text, minds: pipefail::asked(&args[..at]) == Some(true) })
}
