//! The last line that a running command has printed, for observers.

use crate::redact;
use crate::text::plain;

/// Both together fit into an activity that is cut to a title.
const LONGEST: usize = 36;
const LONGEST_ACTIVITY: usize = 30;

#[derive(Debug, Default)]
pub(crate) struct LastOutputLine {
    last: String,
}

impl LastOutputLine {
    /// Whether the line has changed.
    pub(crate) fn changes(&mut self, printed: &str) -> bool {
        let now = last_line(printed).unwrap_or_default();
        let changed = now != self.last;
        self.last = now;
        changed
    }

    /// `running: make all (last line: phase 2 of 6)`.
    pub(crate) fn after(&self, activity: &str) -> String {
        if self.last.is_empty() {
            return activity.to_owned();
        }
        format!("{} (last line: {})", plain::line(activity, LONGEST_ACTIVITY), self.last)
    }
}

/// The last line with something to show. If only a part of the output is known, lines at its end may belong
/// to a private key that began earlier.
fn last_line(printed: &str) -> Option<String> {
    let shown = plain::redacted(printed);
    let end = redact::open_key_at_end(shown.trim_end()).unwrap_or(shown.len());
    plain::last_of(&shown[..end]).map(|line| plain::line(line, LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(printed: &str, expected: &str) {
        let mut line = LastOutputLine::default();
        assert_eq!(line.changes(printed), expected.contains("last line"));
        assert_eq!(line.after("running: make"), expected);
        assert!(!line.changes(printed));
    }

    #[test]
    fn the_last_line_that_shows_something_is_told() {
        check("", "running: make");
        check("phase 1\nphase 2 of 6\n\n \u{1b}[0m\n", "running: make (last line: phase 2 of 6)");
        check("10%\r20%\r30%\n", "running: make (last line: 30%)");
    }

    #[test]
    fn it_is_short_plain_and_without_secrets() {
        check("\u{1b}[31mred\u{7}\u{202e} x\n", "running: make (last line: red x)");
        let token = format!("ghp_{}", "Ab3".repeat(12));
        let mut line = LastOutputLine::default();
        line.changes(&format!("{} {token} {}\n", "x".repeat(30), "y".repeat(300)));
        let told = line.after(&format!("running: {}", "é".repeat(500)));
        assert!(!told.contains("Ab3") && told.chars().count() <= 80, "{told}");
    }
    #[test]
    fn no_line_of_a_private_key_is_told() {
        let line = "MIIEpAIBAAKCAQEAx7Bq9ZkT3mXw5Rc1VnY8dLf2Gs6Hj4Ep0UoKx7iQ2bWz8Nt5\n";
        for lines in [1, 3, 200] {
            let open = format!("-----BEGIN RSA PRIVATE KEY-----\n{}", line.repeat(lines));
            check(&open, "running: make (last line: [redacted:private-key])");
            check(&format!("{open}{}", &line[..20]), "running: make (last line: [redacted:private-key])");
        }
        check(&format!("linking.\n{}", line.repeat(3)), "running: make (last line: linking.)");
        check(
            "linking.\nsrc/components/widgets/index\n",
            "running: make (last line: src/components/widgets/index)",
        );
        check(&line.repeat(9), "running: make");
    }

    #[test]
    fn colours_hide_no_private_key() {
        let lines = "MIIEpAIBAAKCAQEAx7Bq9ZkT3mXw5Rc1VnY8dLf2Gs6Hj4Ep0UoKx7iQ2bWz8Nt5\n".repeat(3);
        for begins in
            ["\u{1b}[01;31mBEGIN\u{1b}[m\u{1b}[K RSA PRIVATE", "BEGIN RSA \u{1b}[31mPRIVATE\u{1b}[0m"]
        {
            let printed = format!("-----{begins} KEY-----\n{lines}");
            check(&printed, "running: make (last line: [redacted:private-key])");
        }
    }
}
