//! What a step sets for those that follow it: variables, words of the shell, what a file says.

use std::collections::BTreeSet;
use std::ops::Bound;

use super::base_name;
use super::step::Step;
use super::wrappers::{assignments, is_harmless};

/// In words that are the same only where it sets the same.
pub(super) fn set_by(step: &Step) -> Vec<String> {
    let args = step.args();
    let all = || [&step.words[..], &step.input].concat().join(" ");
    match step.program() {
        "export" | "declare" | "typeset" | "local" | "readonly" => assignments(args),
        "set" => positional(args).map(|words| format!("set -- {}", words.join(" "))).into_iter().collect(),
        "source" | "." => {
            args.first().filter(|file| !only_finds(file)).map(|file| said(file)).into_iter().collect()
        }
        "read" | "mapfile" | "readarray" => vec![all()],
        "unset" => {
            let names = args.iter().filter(|arg| !arg.starts_with('-') && !is_harmless(arg));
            names.map(|name| format!("unset {name}")).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
thread_local! {
    /// How many bytes of words this thread has looked for variables in.
    static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The variables that the words of a line name, by what follows their `$`: each word is looked at once.
#[derive(Debug, Default)]
pub(super) struct Named {
    names: BTreeSet<String>,
    /// How much of what was said is among them.
    said: usize,
}

impl Named {
    /// No name is longer, as far as it is compared.
    const LONGEST: usize = 64;

    fn start(name: &str) -> &str {
        &name[..name.floor_char_boundary(Self::LONGEST)]
    }

    fn note<'a>(&mut self, words: impl IntoIterator<Item = &'a String>) {
        for word in words {
            #[cfg(test)]
            LOOKED_AT.set(LOOKED_AT.get() + word.len());
            for (at, _) in word.match_indices('$') {
                let name = &word[at + 1..];
                let name = Self::start(name.strip_prefix('{').unwrap_or(name));
                if !self.names.contains(name) {
                    self.names.insert(name.to_owned());
                }
            }
        }
    }

    fn note_said(&mut self, said: &[String]) {
        self.note(&said[self.said.min(said.len())..]);
        self.said = said.len();
    }

    /// What a step prints is nothing that matters to those behind it.
    pub(super) fn note_step(&mut self, step: &Step) {
        self.note_of([step], step.words.iter().chain(&step.input).chain(&step.writes));
    }

    /// Words of some steps, unless all that these do is print.
    pub(super) fn note_of<'a, 'b>(
        &mut self,
        steps: impl IntoIterator<Item = &'b Step>,
        words: impl IntoIterator<Item = &'a String>,
    ) {
        if !steps.into_iter().all(|step| matches!(step.program(), "echo" | "printf")) {
            self.note(words);
        }
    }

    fn has(&self, name: &str) -> bool {
        let start = Self::start(name);
        let mut after = self.names.range::<str, _>((Bound::Included(start), Bound::Unbounded));
        after.next().is_some_and(|first| first.starts_with(start))
    }
}

/// Those of what was said before a step that may matter to it, where `named` is named before it. Where nothing
/// uses the words of a loop, each of its turns does the same.
pub(super) fn around<'a>(step: &Step, said: &'a [String], named: &mut Named) -> Vec<&'a String> {
    named.note_said(said);
    let mut own = Named::default();
    own.note(step.words.iter().chain(&step.input).chain(&step.writes));
    let is_used = |name: &str| !step.documents.is_empty() || own.has(name) || named.has(name);
    let turned = |said: &str| Some(said.strip_prefix("for ")?.split_once(" in ")?.0.to_owned());
    let name = |said: &str| turned(said).or_else(|| own_name(said));
    said.iter().filter(|said| name(said).is_none_or(|name| is_used(&name))).collect()
}

/// The name of a variable that matters to a command itself only, as far as its name and its value tell: `rc=$?`.
fn own_name(said: &str) -> Option<String> {
    let (name, value) = said.split_once('=').filter(|(name, _)| !name.contains(' '))?;
    let looks = ["$?", "$SECONDS", "$(date", "$(mktemp", "$(pwd", "${PIPESTATUS"];
    let is_own = name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit());
    (is_own || looks.iter().any(|head| value.trim_matches('"').starts_with(head))).then(|| name.to_owned())
}

fn said(file: &str) -> String {
    format!("source {}", file.strip_prefix("./").unwrap_or(file))
}

/// The words that `set` puts in the place of the shell's own.
fn positional(args: &[String]) -> Option<&[String]> {
    let mut rest = args;
    while let [arg, more @ ..] = rest {
        if arg == "--" {
            return Some(more);
        }
        if !arg.starts_with(['-', '+']) {
            return Some(rest);
        }
        let has_value = usize::from(arg.ends_with('o')).min(more.len());
        rest = &more[has_value..];
    }
    None
}

/// Whether a file only says where programs are: that of a virtual environment, or of a tool.
fn only_finds(file: &str) -> bool {
    const PROFILES: [&str; 9] = [
        ".bash_profile",
        ".bashrc",
        ".profile",
        ".zshrc",
        "asdf.sh",
        "conda.sh",
        "nvm.sh",
        "profile",
        "sdkman-init.sh",
    ];
    let name = base_name(file);
    name == "activate"
        || name.starts_with("activate.")
        || file.ends_with(".cargo/env")
        || PROFILES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::super::Command;
    use super::LOOKED_AT;

    /// What the last step of a line runs with.
    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let command = Command::parse(line);
        assert_eq!(command.steps.last().unwrap().context, expected, "{line}");
    }

    #[test]
    fn a_word_is_looked_at_as_often_in_a_long_line_as_in_a_short_one() {
        let looked_at = |count: usize| {
            let set: String = (0..count).map(|at| format!("v{at}=$(true $v{at}); ")).collect();
            LOOKED_AT.set(0);
            Command::parse(&format!("{set}python3 app.py; echo $v1"));
            LOOKED_AT.get()
        };
        let (few, many) = (looked_at(15), looked_at(150));
        assert!((1..=15).contains(&(many / few)), "{few} bytes, {many} bytes");
    }

    #[test]
    fn what_was_set_before_holds_for_what_follows() {
        check("export A=1 B=2; make", &["A=1", "B=2"]);
        check("declare -x A=1; make", &["A=1"]);
        check("set -- a b; make", &["set -- a b"]);
        check("set a b; make", &["set -- a b"]);
        check("set -e; set -euo pipefail; set -o errexit; set +x; make", &[]);
        check("set -e -- a; make", &["set -- a"]);
        check(". ./env.sh; make", &["source env.sh"]);
        check("source .env && make", &["source .env"]);
        check("source .venv/bin/activate && . ~/.cargo/env && source ~/.nvm/nvm.sh && make", &[]);
        check("read A < a; make", &["read A < a"]);
        check("unset A PATH; make", &["unset A"]);
        check("START=$(date +%s); rc=$?; n=3; make", &[]);
        check("START=$(date +%s); n=3; make $START ${n}", &["START=$(date +%s)", "n=3"]);
        check("N=3; make", &["N=3"]);
        check("for i in 1 2; do make", &[]);
        check("for i in 1 2; do make $i", &["for i in 1 2"]);
        check("for i in 1 2; do A=${i}; make $A", &["for i in 1 2", "A=${i}"]);
        check("for i in a b; do echo $i; make", &[]);
        check("for i in a b; do cd $i; make", &["for i in a b"]);
    }
}
