//! Lists the commands that failed, and whether the same line passed later.

use crate::evidence::{EarlierError, EarlierErrors};
use crate::progress::inner_command;
use crate::text::plain;

/// Short enough that a line is never cut before the command that succeeded.
const LONGEST_COMMAND: usize = 50;
const LONGEST_MESSAGE: usize = 60;
/// A text shows this many items of a list, plus the line that counts the rest.
const MOST: usize = 4;

/// The first failed commands, and how many more there are.
pub(super) fn lines(errors: &EarlierErrors) -> Vec<String> {
    let more = errors.list.len().saturating_sub(MOST) + errors.left_out;
    let more = (more > 0).then(|| format!("{more} more in evidence.json"));
    errors.list.iter().take(MOST).map(line).chain(more).collect()
}

/// `` `make` failed: no rule; passed later ``
fn line(error: &EarlierError) -> String {
    let shown = |command: &str| plain::line(inner_command(command), LONGEST_COMMAND);
    let later = match (&error.succeeded_since, &error.tree_moved_by) {
        (Some(_), _) if error.same_command => "passed later".to_owned(),
        // Written by older versions.
        (Some(since), _) => format!("`{}` succeeded after it", shown(since)),
        (None, Some(by)) => format!("passed only after `{}`", shown(by)),
        (None, None) if error.unknown_since => "ran again, result unknown".to_owned(),
        (None, None) => "not run again".to_owned(),
    };
    let message = plain::line(&error.error_message, LONGEST_MESSAGE);
    format!("`{}` failed: {message}; {later}", shown(&error.command))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(since: Option<&str>, count: usize) -> EarlierErrors {
        let error = EarlierError {
            command: "/bin/bash -lc 'pytest -q'".to_owned(),
            error_message: "assert 1 == 2".to_owned(),
            error_type: None,
            succeeded_since: since.map(str::to_owned),
            same_command: since == Some("/bin/bash -lc 'pytest -q'"),
            tree_moved_by: None,
            unknown_since: false,
        };
        EarlierErrors { list: vec![error; count], left_out: 2 }
    }

    #[test]
    fn a_line_says_what_failed_and_what_became_of_it() {
        let told = |since| lines(&errors(since, 1)).swap_remove(0);
        let failed = "`pytest -q` failed: assert 1 == 2; ";
        assert_eq!(told(Some("/bin/bash -lc 'pytest -q'")), format!("{failed}passed later"));
        assert_eq!(told(Some("bash -lc 'pytest'")), format!("{failed}`pytest` succeeded after it"));
        assert_eq!(told(None), format!("{failed}not run again"));
        let mut moved = errors(None, 1);
        moved.list[0].tree_moved_by = Some("bash -lc 'git stash'".into());
        assert_eq!(lines(&moved)[0], format!("{failed}passed only after `git stash`"));
        let mut unknown = errors(None, 1);
        unknown.list[0].unknown_since = true;
        assert_eq!(lines(&unknown)[0], format!("{failed}ran again, result unknown"));
    }

    #[test]
    fn what_succeeded_is_in_the_line_however_long_it_is() {
        let mut errors = errors(Some(&"pytest -k 'a'".repeat(20)), 1);
        errors.list[0].command = "make all ".repeat(20);
        errors.list[0].error_message = "no such thing ".repeat(20);
        let told = lines(&errors).swap_remove(0);
        assert!(told.chars().count() <= 200 && told.ends_with(" succeeded after it"), "{told}");
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let told = lines(&errors(None, MOST + 1));
        assert_eq!((told.len(), told[MOST].as_str()), (MOST + 1, "3 more in evidence.json"));
        assert!(lines(&EarlierErrors::default()).is_empty());
    }
}
