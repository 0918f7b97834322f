//! The words with which programs come to a bad end, where none of them names a place: of make, npm, a shell,
//! or of the program itself.

use super::diagnose::{Diagnosis, Found};
use super::said::{message, not_there, own};
use crate::evidence::lines::lines;
use crate::evidence::shell::{Step, base_name, unread};

/// How far from the end a program still speaks of what it ended with.
const LAST_LINES: usize = 3;

/// What one of `steps`, which may have failed, says of that. `at_end` where nobody spoke after it.
pub(super) fn sign(text: &str, steps: &[&Step], at_end: bool) -> Option<Found> {
    let programs: Vec<&str> = steps.iter().map(|step| step.program()).collect();
    let programs = [programs, companions(steps)].concat();
    let tells_all = steps.iter().any(|step| is_tool(step));
    let may_die = steps.iter().any(|step| !step.limited);
    let mut best: Option<Sign> = None;
    // What is an error only where it is said at last.
    let mut last: Option<Sign> = None;
    let mut count = 0;
    for line in lines(text).filter(|line| !line.trim().is_empty()) {
        count += 1;
        let sign = |rank: Rank, words: &str| Sign { rank, at: count, words: words.to_owned() };
        let certain = npm(&line)
            .map(|words| sign(Rank::Npm, words))
            .or_else(|| message(&line).filter(|_| tells_all).map(|words| sign(Rank::Error, words)))
            .or_else(|| missing(&line, &programs).map(|words| sign(Rank::Own, words)))
            .or_else(|| unread(&line).map(|words| sign(Rank::Own, words)))
            .or_else(|| {
                own(&line, &programs).filter(|words| is_grave(words)).map(|words| sign(Rank::Own, words))
            })
            .or_else(|| apt(&line, &programs).map(|words| sign(Rank::Own, words)))
            .or_else(|| not_a_script(&line, steps).map(|words| sign(Rank::Own, words)))
            .or_else(|| died(&line).filter(|_| may_die).map(|words| sign(Rank::Died, words)))
            .or_else(|| made(&line).map(|words| sign(Rank::Made, words)))
            .or_else(|| gave_up(&line).map(|words| sign(Rank::GaveUp, words)))
            .or_else(|| is_of_npm(&line).then(|| sign(Rank::NpmLog, "npm ended with an error")));
        if let Some(certain) = certain {
            best = Some(best.filter(|best| best.rank <= certain.rank).unwrap_or(certain));
        }
        let perhaps = message(&line).map(|words| sign(Rank::Error, words));
        last = perhaps.or_else(|| node(&line).map(|words| sign(Rank::Node, words))).or(last);
    }
    let last = last.filter(|last| at_end && last.at + LAST_LINES > count);
    let Sign { rank, at, words } = match (best, last) {
        (Some(best), Some(last)) if last.rank < best.rank => last,
        (best, last) => best.or(last)?,
    };
    let (is_vague, is_bare) = (rank != Rank::Error, matches!(rank, Rank::Made | Rank::Node | Rank::NpmLog));
    let errors = vec![Diagnosis::new(at, "error", &words, None)];
    Some(Found { errors, count: 1, is_vague, is_bare, ..Found::default() })
}

#[derive(Debug)]
struct Sign {
    rank: Rank,
    /// How many lines there were up to it.
    at: usize,
    words: String,
}

/// Whose words say most, in that order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Error,
    Own,
    Npm,
    Died,
    GaveUp,
    Made,
    Node,
    NpmLog,
}

/// `make[1]: *** [Makefile:3: all] Error 1`
fn made(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(": *** ")?;
    let name = name.split('[').next().unwrap_or(name);
    let aside = ["Waiting for unfinished jobs", "Deleting "];
    (matches!(name, "make" | "gmake") && !aside.iter().any(|head| rest.starts_with(head))).then_some(line)
}

/// What npm says once it failed; the rest of that is about its log.
fn npm(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("npm error ").or_else(|| line.strip_prefix("npm ERR! "));
    let details =
        ["code ", "errno ", "syscall ", "path ", "dest ", "A complete log ", "    ", "To see a list", "  "];
    let own = rest.filter(|rest| !details.iter().any(|head| rest.starts_with(head)));
    // Those that run scripts in its place.
    let bare = line.trim_start();
    let failed = bare.starts_with("error Command failed with ") || bare.starts_with("ELIFECYCLE ");
    own.or_else(|| failed.then_some(bare))
}

fn is_of_npm(line: &str) -> bool {
    line.starts_with("npm error") || line.starts_with("npm ERR!")
}

/// `bash: line 1: 4711 Segmentation fault      ./app`
fn died(line: &str) -> Option<&str> {
    const ENDS: [&str; 7] = [
        "Segmentation fault",
        "Aborted",
        "Bus error",
        "Illegal instruction",
        "Floating point exception",
        "Trace/breakpoint trap",
        "Killed",
    ];
    let bare = line.strip_suffix(" (core dumped)").unwrap_or(line);
    if ENDS[..6].contains(&bare) {
        return Some(line);
    }
    let (shell, rest) = line.split_once(": line ")?;
    let (row, rest) = rest.split_once(": ")?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (id, rest) = rest.trim_start().split_once(' ')?;
    let rest = rest.trim_start();
    let is_end = ENDS.iter().any(|end| rest.starts_with(end));
    (is_end && is_number(row) && is_number(id) && !shell.contains(' ')).then_some(rest)
}

/// What a shell says of one of `programs` that is not there.
fn missing<'l>(line: &'l str, programs: &[&str]) -> Option<&'l str> {
    let (program, words) = not_there(line)?;
    programs.contains(&program).then_some(words)
}

/// What a compiler runs.
fn companions(steps: &[&Step]) -> Vec<&'static str> {
    let compiles =
        |step: &&Step| matches!(step.program(), "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++");
    if steps.iter().any(compiles) { vec!["ld", "collect2", "cc1", "cc1plus", "as"] } else { Vec::new() }
}

/// `bash: build.sh: No such file or directory`, of a shell that is given a file.
fn not_a_script<'l>(line: &'l str, steps: &[&Step]) -> Option<&'l str> {
    let (name, words) = line.split_once(": ")?;
    let is_it = |step: &&Step| {
        matches!(step.program(), "bash" | "sh" | "dash" | "zsh")
            && step.program() == base_name(name)
            && step.args().iter().any(|arg| words.contains(arg.as_str()))
    };
    (steps.iter().any(is_it) && is_grave(words)).then_some(words)
}

/// `E: Unable to locate package x`
fn apt<'l>(line: &'l str, programs: &[&str]) -> Option<&'l str> {
    let asked = programs.iter().any(|name| matches!(*name, "apt" | "apt-get"));
    line.strip_prefix("E: ").filter(|_| asked)
}

/// What those that build say at their end.
fn gave_up(line: &str) -> Option<&str> {
    const HEADS: [&str; 14] = [
        "Can't open perl script ",
        "Build failed",
        "BUILD FAILED",
        "build failed",
        "Build FAILED",
        "error during build",
        "Failed to compile",
        "Compilation failed",
        "compilation terminated",
        "ERROR in ",
        "FAILURE: Build failed",
        "ninja: build stopped: ",
        "CMake Error",
        "FAILED: ",
    ];
    // `FAILED: 0`
    let ends = [" aborted due to compilation errors.", " had compilation errors."];
    if line.starts_with("error: aborting due to ") || ends.iter().any(|end| line.ends_with(end)) {
        return Some(line);
    }
    let tells = |rest: &str| !rest.trim_start_matches([':', ' ']).starts_with(|c: char| c.is_ascii_digit());
    HEADS.iter().find_map(|head| line.strip_prefix(head)).is_some_and(tells).then_some(line)
}

/// What Node ends with where nobody caught an exception.
fn node(line: &str) -> Option<&str> {
    let version = line.strip_prefix("Node.js v")?;
    version
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some("Node.js ended with an exception that nobody caught")
}

/// Whether what a program says under its own name is why it ended.
pub(super) fn is_grave(words: &str) -> bool {
    const GRAVE: [&str; 16] = [
        "bad option",
        "illegal option",
        "cannot ",
        "can't ",
        "could not ",
        "couldn't ",
        "error",
        "failed",
        "fatal",
        "invalid",
        "no module named",
        "no such file",
        "not found",
        "permission denied",
        "unknown option",
        "unrecognized",
    ];
    let words = words.to_ascii_lowercase();
    GRAVE.iter().any(|word| words.contains(word))
}

/// Whether a step runs one of those that speak of an error only where they end with it.
fn is_tool(step: &Step) -> bool {
    const TOOLS: [&str; 37] = [
        "ar",
        "as",
        "black",
        "c++",
        "cargo",
        "cc",
        "clang",
        "clang++",
        "cmake",
        "docker",
        "dotnet",
        "eslint",
        "flake8",
        "g++",
        "gcc",
        "git",
        "go",
        "gradle",
        "javac",
        "kotlinc",
        "ld",
        "mvn",
        "mypy",
        "ninja",
        "npm",
        "pip",
        "pip3",
        "pnpm",
        "poetry",
        "ruff",
        "rustc",
        "rustfmt",
        "sqlite3",
        "terraform",
        "tsc",
        "uv",
        "yarn",
    ];
    TOOLS.contains(&step.program())
}
