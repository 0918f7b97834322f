//! Finds where a test runner begins to list failed tests.

/// Earlier lines are what tests printed, including passing ones.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) began: Option<usize>,
    /// Whether the previous line was one of unittest's rules.
    rule: bool,
}

impl Verdict {
    /// Whether the list begins with this line.
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
