//! Where a test runner begins to tell which tests failed.

use crate::evidence::lines::lines;

/// What comes before is what tests printed, those that passed among them.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) began: Option<usize>,
    /// Whether the line before was a rule of unittest.
    rule: bool,
}

impl Verdict {
    /// Whether it begins with this line.
    pub(super) fn begins(&mut self, at: usize, line: &str) -> bool {
        let is_rule = line.len() >= 70 && line.bytes().all(|byte| byte == b'=');
        let ruled = std::mem::replace(&mut self.rule, is_rule);
        if self.began.is_some() {
            return false;
        }
        let pytest =
            line.starts_with("====") && [" FAILURES ", " ERRORS "].iter().any(|head| line.contains(head));
        let unittest = ruled && (line.starts_with("FAIL: ") || line.starts_with("ERROR: "));
        let jest = line.starts_with("  ● ") && !line.ends_with("Console");
        let vitest = ["⎯ Failed Tests ", "⎯ Failed Suites ", "⎯ Unhandled Errors "]
            .iter()
            .any(|head| line.contains(head));
        let mocha = line.strip_suffix(" failing").is_some_and(|count| count.trim().parse::<u64>().is_ok());
        let begins =
            pytest || unittest || jest || vitest || mocha || matches!(line, "failures:" | "✖ failing tests:");
        if begins {
            self.began = Some(at);
        }
        begins
    }
}

/// An output from where failed tests are told of.
pub(super) fn told_from(text: &str) -> Option<&str> {
    let mut verdict = Verdict::default();
    let (at, head) = lines(text).enumerate().find(|(at, line)| verdict.begins(*at, line))?;
    // The rule above a head of unittest belongs to it.
    let is_below_a_rule = head.starts_with("FAIL: ") || head.starts_with("ERROR: ");
    let at = at - usize::from(is_below_a_rule);
    let from: usize = text.split_inclusive('\n').take(at).map(str::len).sum();
    Some(&text[from..])
}

#[cfg(test)]
mod tests {
    use crate::evidence::errors::left_by;

    #[test]
    fn the_first_test_that_failed_is_told_whatever_hides_the_exit_code() {
        let (rule, line) = ("=".repeat(70), "-".repeat(70));
        let failed = |head: &str, error: &str| {
            format!(
                "{rule}\n{head}\n{line}\nTraceback (most recent call last):\n  File \"test_a.py\", line 4, in f\n    x\n{error}\n\n"
            )
        };
        let first = failed("ERROR: test_1 (test_a.T.test_1)", "KeyError: 'first'");
        let second = failed("FAIL: test_2 (test_a.T.test_2)", "AssertionError: second");
        let text =
            format!("EF\n{first}{second}{line}\nRan 2 tests in 0.001s\n\nFAILED (failures=1, errors=1)\n");
        for (command, code, end) in [
            ("python3 -m unittest", 1, ""),
            ("python3 -m unittest; echo $?", 0, "1\n"),
            ("python3 -m unittest || true", 0, ""),
            ("python3 -m unittest 2>&1 | tail -40", 0, ""),
        ] {
            let left = left_by(&[(command, code, &format!("{text}{end}"))]);
            assert_eq!(left, Some(("KeyError".to_owned(), "'first'".to_owned())), "{command}");
        }
    }
}
