//! How long a command took, where it is asked for that: the words of nobody, behind the last ones of what ran.

use std::borrow::Cow;

/// What was printed, without what `time` says at the end.
pub(super) fn without_times<'t>(command: &str, text: &'t str) -> Cow<'t, str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !command.split(|c| !is_part(c)).any(|word| word == "time") {
        return Cow::Borrowed(text);
    }
    let mut is_listed = false;
    let mut is_others = |line: &&str| {
        is_listed = line.starts_with('\t') && (is_listed || line.starts_with("\tCommand being timed: "));
        !is_listed && !is_time(line.trim_end())
    };
    Cow::Owned(text.split_inclusive('\n').filter(|line| is_others(line)).collect())
}

/// `real\t0m0.051s`, `user 0.02`, and the two lines of the program of that name.
fn is_time(line: &str) -> bool {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | 'm' | 's');
    let of_shell = ["real", "user", "sys"].iter().any(|name| {
        let taken = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(['\t', ' ']));
        taken.is_some_and(|taken| !taken.is_empty() && taken.chars().all(is_number))
    });
    of_shell
        || line.contains("elapsed ") && line.contains("user ") && line.contains("system ")
        || line.ends_with("swaps") && line.contains("inputs+") && line.contains("outputs (")
        || line.starts_with("Command exited with non-zero status ")
}
