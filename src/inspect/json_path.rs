//! Paths to values in a document: the part of JSONPath that can be followed while the document is read once.

use crate::text;
use std::fmt;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::inspect::InspectError;
use crate::inspect::json_scanner::Kind;

/// The maximum number of steps: each has a bit in a set.
const MOST_STEPS: usize = 60;
const LONGEST: usize = 2 << 10;
const KNOWN: &str = "supported are `$`, `.name`, `['name']`, `[0]`, `[1:3]`, `[*]`, `.*` and `..name`";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonPath(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Member(String),
    /// A range of elements; the end is exclusive.
    Elements(u64, u64),
    /// Every member and element.
    All,
    /// Members with this name, at any depth.
    Below(String),
}

/// The steps taken to reach a value, as bits: it may be reached in several ways, each with a different number
/// of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Taken(u64);

/// A value's position in its parent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    Member(&'a str),
    Element(u64),
}

impl JsonPath {
    /// At the document itself.
    pub(super) fn start(&self) -> Taken {
        Taken(1)
    }

    /// At a value inside one that `taken` reached.
    pub(super) fn step(&self, taken: Taken, place: Place<'_>) -> Taken {
        let mut next = 0;
        for (at, step) in self.0.iter().enumerate().filter(|(at, _)| taken.0 >> at & 1 == 1) {
            let is_taken = match (step, place) {
                (Step::Member(name) | Step::Below(name), Place::Member(member)) => name == member,
                (Step::Elements(from, upto), Place::Element(number)) => (*from..*upto).contains(&number),
                (Step::All, _) => true,
                (Step::Member(_) | Step::Below(_), Place::Element(_))
                | (Step::Elements(..), Place::Member(_)) => false,
            };
            next |= u64::from(is_taken) << (at + 1);
            next |= u64::from(matches!(step, Step::Below(_))) << at;
        }
        Taken(next)
    }

    pub(super) fn is_end(&self, taken: Taken) -> bool {
        taken.0 >> self.0.len() & 1 == 1
    }
}

impl Taken {
    pub(super) fn is_nowhere(self) -> bool {
        self.0 == 0
    }
}

impl FromStr for JsonPath {
    type Err = InspectError;

    fn from_str(text: &str) -> Result<Self, InspectError> {
        let refuse = |why: String| InspectError::Path(format!("{why}; {KNOWN}"));
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(refuse(format!("it is longer than {LONGEST} bytes")));
        }
        let mut rest = match text.strip_prefix('$') {
            Some(rest) => rest,
            // People omit it.
            None if text.starts_with(['.', '[']) => text,
            None => return Err(refuse("it does not begin with `$`".to_owned())),
        };
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) =
                step(rest).ok_or_else(|| refuse(format!("`{}` is not understood", text::line(rest, 40))))?;
            steps.push(step);
            rest = after;
        }
        if steps.len() > MOST_STEPS {
            return Err(refuse(format!("it has more than {MOST_STEPS} steps")));
        }
        Ok(Self(steps))
    }
}

/// The first step of a path, and the rest of it.
fn step(text: &str) -> Option<(Step, &str)> {
    if let Some(rest) = text.strip_prefix("..") {
        let (name, rest) = if rest.starts_with('[') { quoted(rest)? } else { bare(rest)? };
        return Some((Step::Below(name), rest));
    }
    if let Some(rest) = text.strip_prefix(".*").or_else(|| text.strip_prefix("[*]")) {
        return Some((Step::All, rest));
    }
    if let Some(rest) = text.strip_prefix('.') {
        let (name, rest) = bare(rest)?;
        return Some((Step::Member(name), rest));
    }
    if text.starts_with("['") || text.starts_with("[\"") {
        let (name, rest) = quoted(text)?;
        return Some((Step::Member(name), rest));
    }
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    let number = |text: &str, absent: u64| match text.trim() {
        "" => Some(absent),
        digits if digits.bytes().all(|c| c.is_ascii_digit()) => digits.parse().ok(),
        // Positions counted from the end are known only at the end.
        _ => None,
    };
    let elements = match inside.split_once(':') {
        Some((from, upto)) => Step::Elements(number(from, 0)?, number(upto, u64::MAX)?),
        None if inside.trim().is_empty() => return None,
        None => {
            let number = number(inside, 0)?;
            Step::Elements(number, number.saturating_add(1))
        }
    };
    Some((elements, rest))
}

fn bare(text: &str) -> Option<(String, &str)> {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@')))
        .unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_owned(), &text[end..]))
}

/// `['name']`, in which `\` escapes the next character.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut chars = text.strip_prefix('[')?.chars();
    let quote = chars.next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut name = String::new();
    loop {
        match chars.next()? {
            '\\' => name.push(chars.next()?),
            c if c == quote => break,
            c => name.push(c),
        }
    }
    Some((name, chars.as_str().strip_prefix(']')?))
}

impl Display for Kind {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Kind::Object => "object",
            Kind::Array => "array",
            Kind::String => "string",
            Kind::Number => "number",
            Kind::Bool => "boolean",
            Kind::Null => "null",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::test_rows;

    #[test]
    fn paths_are_read() {
        let member = |name: &str| Step::Member(name.into());
        for (text, steps) in [
            ("$", vec![]),
            ("$.a.b-c", vec![member("a"), member("b-c")]),
            (".a", vec![member("a")]),
            ("$['a b'][\"c'd\"]['e\\'f']", vec![member("a b"), member("c'd"), member("e'f")]),
            (
                "$[0][2:5][:3][4:]",
                vec![
                    Step::Elements(0, 1),
                    Step::Elements(2, 5),
                    Step::Elements(0, 3),
                    Step::Elements(4, u64::MAX),
                ],
            ),
            ("$.*[*]..x", vec![Step::All, Step::All, Step::Below("x".into())]),
        ] {
            assert_eq!(text.parse::<JsonPath>().unwrap(), JsonPath(steps), "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_with_what_is() {
        let rows = include_str!("../../tests/data/bad_json_paths.jsonl");
        for [text, why] in test_rows::<[String; 2]>(rows) {
            let error = text.parse::<JsonPath>().unwrap_err().to_string();
            assert_eq!(error, format!("invalid path: {why}; {KNOWN}"));
        }
        assert!("$.a".repeat(100).parse::<JsonPath>().is_err());
        assert!(format!("${}", ".a".repeat(61)).parse::<JsonPath>().is_err());
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read(text in r#"\$[\[\].*'":a0-9\\$-]{0,20}"#) {
            let _ = text.parse::<JsonPath>();
        }
    }
}
