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
    }
}
