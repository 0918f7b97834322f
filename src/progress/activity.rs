//! The wording of the line that says what a run is doing.

use crate::text::plain;

const LONGEST: usize = 120;

pub(super) const STARTING: &str = "starting";
pub(super) const THINKING: &str = "thinking";
pub(super) const ANSWERING: &str = "answering";
pub(super) const FINISHED: &str = "finished";

pub(super) fn running(command: &str) -> String {
    labelled("running", inner_command(command))
}

pub(super) fn using(tool: &str) -> String {
    labelled("using", tool)
}

pub(super) fn editing(files: usize) -> String {
    if files == 1 { "editing 1 file".to_owned() } else { format!("editing {files} files") }
}

pub(super) fn retrying(message: &str) -> String {
    labelled("retrying", message)
}

pub(super) fn asking(text: &str) -> String {
    labelled("asking", text)
}

pub(super) fn failed(message: &str) -> String {
    labelled("failed", message)
}

/// A label and foreign text, cleaned and shortened to one line.
pub(super) fn labelled(what: &str, text: &str) -> String {
    let room = LONGEST - what.len() - 2;
    format!("{what}: {}", plain::line(text, room))
}

/// The command inside a shell call: `cargo test` for `/bin/bash -lc 'cargo test'`.
pub(crate) fn inner_command(command: &str) -> &str {
    let Some((shell, rest)) = command.split_once(' ') else { return command };
    let name = shell.rsplit('/').next().unwrap_or(shell);
    let flag = rest.split_once(' ').filter(|_| matches!(name, "sh" | "bash" | "zsh" | "dash"));
    let Some(("-c" | "-lc", script)) = flag else { return command };
    let script = script.trim();
    let quoted = |quote: char| script.strip_prefix(quote).and_then(|script| script.strip_suffix(quote));
    quoted('\'').or_else(|| quoted('"')).unwrap_or(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, expected: &str) {
        assert_eq!(running(command), expected);
    }

    #[test]
    fn the_shell_around_a_command_is_not_shown() {
        check("/bin/bash -lc 'cargo test'", "running: cargo test");
        check("bash -lc \"make all\"", "running: make all");
        check("/usr/bin/zsh -c ls", "running: ls");
    }

    #[test]
    fn other_commands_are_shown_as_they_are() {
        check("cargo test", "running: cargo test");
        check("bash script.sh x", "running: bash script.sh x");
        check("ls", "running: ls");
    }

    #[test]
    fn a_line_is_short_and_plain() {
        check("printf '\u{1b}[31m'\necho \u{202e}x", "running: printf '' echo x");
        let long = running(&"é".repeat(500));
        assert_eq!(long.chars().count(), LONGEST);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn one_file_is_not_files() {
        assert_eq!([editing(1), editing(3)], ["editing 1 file", "editing 3 files"]);
    }
}
