//! What a step sets for those that follow it: variables, words of the shell, what a file says.

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

/// Those of what was said before a step that may matter to it. Where nothing uses the words of a loop, each of
/// its turns does the same.
pub(super) fn around<'a>(step: &Step, said: &'a [String], before: &[Step]) -> Vec<&'a String> {
    let is_used = |name: &str| {
        let (plain, braced) = (format!("${name}"), format!("${{{name}"));
        let has = |word: &String| word.contains(&plain) || word.contains(&braced);
        let uses = |step: &Step| step.words.iter().chain(&step.input).chain(&step.writes).any(has);
        let prints = |step: &&Step| matches!(step.program(), "echo" | "printf");
        !step.documents.is_empty()
            || uses(step)
            || before.iter().filter(|step| !prints(step)).any(uses)
            || said.iter().any(has)
    };
    let turned = |said: &str| Some(said.strip_prefix("for ")?.split_once(" in ")?.0.to_owned());
    said.iter().filter(|said| turned(said).is_none_or(|name| is_used(&name))).collect()
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

    /// What the last step of a line runs with.
    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let command = Command::parse(line);
        assert_eq!(command.steps.last().unwrap().context, expected, "{line}");
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
        check("for i in 1 2; do make", &[]);
        check("for i in 1 2; do make $i", &["for i in 1 2"]);
        check("for i in 1 2; do A=${i}; make $A", &["for i in 1 2", "A=${i}"]);
        check("for i in a b; do echo $i; make", &[]);
        check("for i in a b; do cd $i; make", &["for i in a b"]);
    }
}
