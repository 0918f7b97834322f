//! What failed in a run before something succeeded, one line each.

use crate::evidence::{EarlierError, EarlierErrors};
use crate::progress::{inner_command, plain};

/// Short enough that no line is cut before it says what succeeded.
const LONGEST_COMMAND: usize = 50;
const LONGEST_MESSAGE: usize = 60;
/// With the line that counts the others, a text shows as many of a list.
const MOST: usize = 4;

/// The first of them, and how many there are beside.
pub(super) fn lines(errors: &EarlierErrors) -> Vec<String> {
    let more = errors.list.len().saturating_sub(MOST) + errors.left_out;
    let more = (more > 0).then(|| format!("{more} more in evidence.json"));
    errors.list.iter().take(MOST).map(line).chain(more).collect()
}

/// `` `make` failed: no rule; `make all` succeeded after it ``: whether that was the same, a reader can see.
fn line(error: &EarlierError) -> String {
    let shown = |command: &str| plain::line(inner_command(command), LONGEST_COMMAND);
    let since = match &error.succeeded_since {
        Some(_) if error.same_command => "the same succeeded after it".to_owned(),
        Some(since) => format!("`{}` succeeded after it", shown(since)),
        None if error.without_changes => "the run's changes were put aside then".to_owned(),
        None => "its tests were seen to pass after it".to_owned(),
    };
    let message = plain::line(&error.error_message, LONGEST_MESSAGE);
    format!("`{}` failed: {message}; {since}", shown(&error.command))
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
            without_changes: false,
        };
        EarlierErrors { list: vec![error; count], left_out: 2, ..EarlierErrors::default() }
    }

    #[test]
    fn a_line_says_what_failed_and_what_succeeded_after_it() {
        let told = |since| lines(&errors(since, 1)).swap_remove(0);
        let failed = "`pytest -q` failed: assert 1 == 2; ";
        assert_eq!(told(Some("/bin/bash -lc 'pytest -q'")), format!("{failed}the same succeeded after it"));
        assert_eq!(
            told(Some("bash -lc 'git stash; pytest'")),
            format!("{failed}`git stash; pytest` succeeded after it")
        );
        assert_eq!(told(None), format!("{failed}its tests were seen to pass after it"));
        let mut aside = errors(None, 1);
        aside.list[0].without_changes = true;
        assert_eq!(lines(&aside)[0], format!("{failed}the run's changes were put aside then"));
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
