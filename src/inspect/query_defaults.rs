//! A query as the tool and the command accept it. Every parameter is optional; this module sets the defaults
//! for both.

use serde::Deserialize;

use crate::inspect::{Ask, Case, InspectError, Mode, Pattern};

const LINES: u64 = 50;
const CONTEXT: usize = 3;
const MATCHES: usize = 50;
/// The limits of parameters. What does not fit into one answer is read with its cursor, so these only catch
/// mistakes.
pub(crate) const MOST_CONTEXT: u16 = 1_000;
pub(crate) const MOST_MATCHES: u32 = 100_000;

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Question {
    pub(crate) mode: Option<ModeName>,
    pub(crate) lines: Option<u64>,
    pub(crate) start_line: Option<u64>,
    pub(crate) end_line: Option<u64>,
    pub(crate) pattern: Option<String>,
    pub(crate) context_lines: Option<usize>,
    /// Also the number of values.
    pub(crate) max_matches: Option<usize>,
    #[serde(default)]
    pub(crate) case_sensitive: bool,
    pub(crate) json_path: Option<String>,
    pub(crate) cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModeName {
    Head,
    Tail,
    Range,
    Grep,
    Summary,
}

impl ModeName {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Tail => "tail",
            Self::Range => "range",
            Self::Grep => "grep",
            Self::Summary => "summary",
        }
    }
}

impl Question {
    /// The complete query, with space for this many characters.
    pub(crate) fn ask(&self, room: usize) -> Result<Ask, InspectError> {
        let cursor = self.cursor.as_deref().map(str::parse).transpose()?;
        let mode = match &self.json_path {
            Some(path) => self.select(path)?,
            None => self.mode()?,
        };
        Ok(Ask { mode, cursor, room })
    }

    fn select(&self, path: &str) -> Result<Mode, InspectError> {
        if self.mode.is_some_and(|mode| mode != ModeName::Head) {
            return Err(InspectError::PathAlone);
        }
        self.refuse_idle("json_path", &["lines", "max_matches"])?;
        let lines = self.lines.map(|lines| usize::try_from(lines).unwrap_or(usize::MAX));
        let max_values = self.max_matches.or(lines).unwrap_or(MATCHES);
        Ok(Mode::Select { path: path.parse()?, max_values })
    }

    fn mode(&self) -> Result<Mode, InspectError> {
        let implied = match (&self.pattern, self.start_line.or(self.end_line)) {
            (Some(_), _) => ModeName::Grep,
            (None, Some(_)) => ModeName::Range,
            (None, None) => ModeName::Head,
        };
        let mode = self.mode.unwrap_or(implied);
        let used: &[&str] = match mode {
            ModeName::Head | ModeName::Tail => &["lines"],
            ModeName::Range => &["lines", "start_line", "end_line"],
            // Some clients send it always; that is harmless.
            ModeName::Grep => &["lines", "pattern", "context_lines", "max_matches", "case_sensitive"],
            ModeName::Summary => &["lines"],
        };
        self.refuse_idle(mode.as_str(), used)?;
        let lines = self.lines.unwrap_or(LINES);
        match mode {
            ModeName::Head => Ok(Mode::Head { lines }),
            ModeName::Tail => Ok(Mode::Tail { lines }),
            ModeName::Summary => Ok(Mode::Summary),
            ModeName::Range => self.range(lines),
            ModeName::Grep => self.grep(),
        }
    }

    fn range(&self, lines: u64) -> Result<Mode, InspectError> {
        let start = self.start_line.unwrap_or(1);
        let end = self.end_line.unwrap_or(start.saturating_add(lines.saturating_sub(1)));
        if end < start { Err(InspectError::Backwards) } else { Ok(Mode::Range { start, end }) }
    }

    fn grep(&self) -> Result<Mode, InspectError> {
        let pattern = self.pattern.as_deref().ok_or(InspectError::NoPattern)?;
        let case = if self.case_sensitive { Case::Kept } else { Case::Ignored };
        Ok(Mode::Grep {
            pattern: Pattern::new(pattern, case)?,
            context: self.context_lines.unwrap_or(CONTEXT),
            max_matches: self.max_matches.unwrap_or(MATCHES),
        })
    }

    /// A parameter that would change nothing was meant for another mode.
    fn refuse_idle(&self, mode: &'static str, used: &[&str]) -> Result<(), InspectError> {
        let given = [
            ("pattern", self.pattern.is_some()),
            ("context_lines", self.context_lines.is_some()),
            ("max_matches", self.max_matches.is_some()),
            ("start_line", self.start_line.is_some()),
            ("end_line", self.end_line.is_some()),
        ];
        match given.into_iter().find(|(name, given)| *given && !used.contains(name)) {
            Some((name, _)) => Err(InspectError::Idle { name, mode }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: serde_json::Value, expected: &str) {
        let question: Question = serde_json::from_value(given.clone()).unwrap();
        let answer = match question.ask(100) {
            Ok(ask) => format!("{:?}", ask.mode),
            Err(error) => error.to_string(),
        };
        assert_eq!(answer, expected, "{given}");
    }

    #[test]
    fn what_is_left_out_is_the_same_for_everybody() {
        use serde_json::json;
        check(json!({}), "Head { lines: 50 }");
        check(json!({ "mode": "tail", "lines": 3 }), "Tail { lines: 3 }");
        check(json!({ "start_line": 5 }), "Range { start: 5, end: 54 }");
        check(json!({ "end_line": 5 }), "Range { start: 1, end: 5 }");
        check(json!({ "pattern": "a" }), r#"Grep { pattern: Pattern("a"), context: 3, max_matches: 50 }"#);
        check(json!({ "mode": "summary" }), "Summary");
        for most in ["lines", "max_matches"] {
            let path: super::super::JsonPath = "$.a".parse().unwrap();
            let expected = format!("{:?}", Mode::Select { path, max_values: 7 });
            check(json!({ "json_path": "$.a", most: 7 }), &expected);
        }
    }

    #[test]
    fn what_would_change_nothing_is_refused() {
        use serde_json::json;
        check(json!({ "mode": "head", "pattern": "a" }), "`pattern` does not apply to mode `head`");
        check(json!({ "pattern": "a", "start_line": 5 }), "`start_line` does not apply to mode `grep`");
        check(json!({ "json_path": "$", "pattern": "a" }), "`pattern` does not apply to mode `json_path`");
        check(
            json!({ "json_path": "$", "mode": "tail" }),
            "`json_path` cannot be combined with other parameters",
        );
        check(json!({ "mode": "grep" }), "`pattern` is missing");
        check(json!({ "start_line": 5, "end_line": 4 }), "`end_line` is before `start_line`");
    }
}
