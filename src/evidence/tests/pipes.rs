//! What the pipes behind a test run let through of what it printed.

use super::Framework;
use super::forms::first_lines;
use crate::evidence::shell::Step;

/// One program between the tests and whoever reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Through {
    /// So many lines of the beginning.
    First(usize),
    /// So many lines of the end.
    Last(usize),
    /// Lines that it chooses; whether the summaries of these frameworks are all among them.
    Chosen { cargo: bool, go: bool, mocha: bool },
    /// Words of its own.
    Rewritten,
}

impl Through {
    /// Lines of which nothing is known.
    const NONE: Self = Self::Chosen { cargo: false, go: false, mocha: false };

    /// What a step does to what it reads; `None` where all of it comes through.
    pub(super) fn of(step: &Step) -> Option<Self> {
        let args: Vec<&str> = step.args().iter().map(String::as_str).collect();
        let chosen = Self::NONE;
        Some(match step.program() {
            "tee" | "cat" | "ts" | "less" | "more" | "bat" | "batcat" => return None,
            "head" => Self::First(first_lines(step).unwrap_or(0)),
            "tail" => Self::Last(last_lines(&args)),
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" => grep(&args),
            "sed" => match sed_chooses(&args) {
                Some(true) => sed_first(&args).map_or(chosen, Self::First),
                Some(false) => return None,
                None => Self::Rewritten,
            },
            // A condition without an action prints the lines that it holds for.
            "awk" | "gawk" if args.len() == 1 && !args[0].contains('{') => chosen,
            "tr" if args == ["-d", "\\r"] => return None,
            "cut" if args.first().is_some_and(|arg| is_cut_at_end(arg)) => chosen,
            // What reads a log and prints nothing of it, or only a number.
            "true" | ":" | "wc" | "cksum" | "md5sum" | "sha256sum" => chosen,
            _ => Self::Rewritten,
        })
    }

    /// Whether a summary may be missing where there may be several of them; `lines` is
    /// how many came through.
    pub(super) fn may_hide(self, framework: Framework, lines: usize) -> bool {
        match self {
            Self::First(all) | Self::Last(all) => lines >= all,
            Self::Chosen { cargo, go, mocha } => match framework {
                Framework::CargoTest => !cargo,
                Framework::Go => !go,
                Framework::Mocha => !mocha,
                _ => true,
            },
            Self::Rewritten => true,
        }
    }

    /// Whether some of the lines may be missing.
    pub(super) fn may_drop(self, lines: usize) -> bool {
        match self {
            Self::First(all) | Self::Last(all) => lines >= all,
            Self::Chosen { .. } | Self::Rewritten => true,
        }
    }
}

/// Whether the last words of what a step reads come through it; `lines` is how many came out at the
/// end.
pub(crate) fn keeps_the_end(step: &Step, lines: usize) -> bool {
    match Through::of(step) {
        None | Some(Through::Last(_)) => true,
        Some(first @ Through::First(_)) => !first.may_drop(lines),
        Some(Through::Chosen { .. } | Through::Rewritten) => false,
    }
}

/// Whether the first words of what a step reads may not come through it, and the last do.
pub(crate) fn drops_the_beginning(step: &Step, lines: usize) -> bool {
    Through::of(step).is_some_and(|through| matches!(through, Through::Last(_)) && through.may_drop(lines))
}

/// How many lines `tail` lets through; 0 where that cannot be told.
fn last_lines(args: &[&str]) -> usize {
    // `+3` is the rest from the third line on.
    let digits = |text: &str| text.parse().ok().filter(|_| !text.starts_with('+')).unwrap_or(0);
    match args {
        [] => 10,
        ["-n" | "--lines", lines, ..] => digits(lines),
        [one, ..] => match one.strip_prefix("--lines=").or_else(|| one.strip_prefix("-n")) {
            Some(lines) => digits(lines),
            // A file, or an option of another kind.
            None => one.strip_prefix('-').map_or(10, digits),
        },
    }
}

fn grep(args: &[&str]) -> Through {
    let short = |letter: char| {
        args.iter().any(|arg| arg.starts_with('-') && !arg.starts_with("--") && arg.contains(letter))
    };
    // Numbers, names and single words are not the lines.
    if ['c', 'o', 'l', 'L', 'q', 'm', 'r'].into_iter().any(short) {
        return Through::NONE;
    }
    let patterns: Vec<&str> = args.iter().copied().filter(|arg| !arg.starts_with('-')).collect();
    let alternatives = || patterns.iter().flat_map(|pattern| pattern.split('|'));
    let bare = |part: &str| part.trim_matches(['^', '\\', ' ', '(', ')', ':']).to_owned();
    if short('v') {
        let harmless = ["no test files", "[no test files]", "warning", "$"];
        let keeps = alternatives().all(|part| harmless.contains(&bare(part).as_str()));
        return Through::Chosen { cargo: keeps, go: keeps, mocha: keeps };
    }
    let cargo = alternatives().any(|part| bare(part) == "test result");
    // Each of its counts has a line.
    let mocha = alternatives().any(|part| ["fail", "failing"].contains(&bare(part).as_str()));
    Through::Chosen { cargo, go: false, mocha }
}

/// How many lines come first that are all it lets through: `sed -n 1,80p`, `sed 80q`.
fn sed_first(args: &[&str]) -> Option<usize> {
    match args {
        ["-n", range] => range.strip_prefix("1,")?.strip_suffix('p')?.parse().ok(),
        [last] => last.strip_suffix('q')?.parse().ok(),
        _ => None,
    }
}

/// Whether `sed` chooses lines, or (`Some(false)`) only takes colours away; `None` where it writes anew.
fn sed_chooses(args: &[&str]) -> Option<bool> {
    let script = args.iter().find(|arg| !arg.starts_with('-'))?;
    let colours = ["\\x1b", "\\x1B", "\\033", "\u{1b}", "\\e"].iter().any(|code| script.contains(code));
    if colours && script.starts_with("s/") && (script.ends_with("//g") || script.ends_with("//")) {
        return Some(false);
    }
    let chooses = script.starts_with(|c: char| c.is_ascii_digit() || c == '/' || c == '$')
        && script.ends_with(['p', 'd', 'q'])
        && !script.contains(['{', ';', '\n']);
    chooses.then_some(true)
}

/// `-c1-200`: what is left out is at the end of lines.
fn is_cut_at_end(arg: &str) -> bool {
    let range = arg.strip_prefix("-c").or_else(|| arg.strip_prefix("-b"));
    range.is_some_and(|range| range.starts_with("1-") || range.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::shell::Command;

    #[track_caller]
    fn check(expected: Option<Through>, lines: &[&str]) {
        for line in lines {
            let found = Command::parse(line).steps.last().and_then(Through::of);
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn what_comes_through_is_known_by_the_program() {
        let chosen = |cargo, go, mocha| Some(Through::Chosen { cargo, go, mocha });
        check(None, &["tee a.log", "cat", "sed 's/\\x1b\\[[0-9;]*m//g'", "tr -d '\\r'"]);
        check(Some(Through::Last(10)), &["tail", "tail a.log", "tail -n 10", "tail -10", "tail -n10"]);
        check(Some(Through::Last(0)), &["tail -f", "tail -n +3", "tail -c 100"]);
        check(Some(Through::First(5)), &["head -5", "sed 5q", "sed -n 1,5p", "sed -n '1,5p'"]);
        check(chosen(true, false, false), &["grep 'test result'", "grep -E '^test result:|FAILED'"]);
        check(
            chosen(false, false, true),
            &["grep -E 'passing|failing'", "grep -iE '(pass|fail)'", "grep -e passing -e failing"],
        );
        check(chosen(true, true, true), &["grep -v 'no test files'"]);
        check(
            chosen(false, false, false),
            &[
                "grep 'test result: ok'",
                "grep FAIL",
                "grep -v ok",
                "grep -c 'test result'",
                "sed -n '/passed/p'",
                "sed -n '2,5p'",
                "awk /passed/",
                "cut -c1-200",
            ],
        );
    }

    #[test]
    fn what_writes_anew_is_not_believed() {
        check(
            Some(Through::Rewritten),
            &["sed s/1/7/", "awk '{print 8}'", "perl -pe s/1/7/", "tr 1 7", "python3 -c x", "cut -c3-", "x"],
        );
    }

    #[test]
    fn an_end_that_is_long_enough_is_all() {
        let tail = Through::Last(20);
        assert!(!tail.may_drop(19) && tail.may_drop(20) && tail.may_hide(Framework::Jest, 20));
        let grep = Through::Chosen { cargo: true, go: false, mocha: false };
        assert!(!grep.may_hide(Framework::CargoTest, 5) && grep.may_hide(Framework::Go, 5));
    }
}
