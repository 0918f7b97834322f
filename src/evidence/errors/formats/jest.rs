//! Failed tests in jest whose message is all there is: jest does not name a plain `Error`, or a thrown value
//! that is not one. Errors with a name are read like Node's.

use crate::evidence::errors::diagnose::{Diagnosis, Format, named};
use crate::evidence::errors::formats::node::frame;
use crate::evidence::errors::place::Location;

#[derive(Debug, Default)]
pub(in crate::evidence::errors) struct Jest {
    awaits: Awaits,
    open: Option<Diagnosis>,
    /// Whether a stack was seen: without one the text may be anything.
    frames: bool,
}

/// What the next non-empty line is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Awaits {
    #[default]
    Nothing,
    Why,
    /// The error's cause.
    Cause,
    /// A test's own message beside a comparison.
    Message,
    /// A configuration error, up to an empty line.
    Settings,
}

impl Format for Jest {
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis> {
        let bare = line.trim();
        let indent = line.len() - line.trim_start().len();
        if let Some(title) = line.strip_prefix("  ● ") {
            let read_elsewhere = matches!(title, "Console" | "Test suite failed to run");
            return self.begin(if read_elsewhere { Awaits::Nothing } else { Awaits::Why });
        }
        if line == "● Validation Error:" {
            return self.begin(Awaits::Settings);
        }
        if bare.is_empty() {
            let is_told = self.awaits == Awaits::Settings && self.open.is_some();
            return if is_told { self.begin(Awaits::Nothing) } else { None };
        }
        // The next file, or the summary.
        if indent == 0 {
            return self.begin(Awaits::Nothing);
        }
        match self.awaits {
            Awaits::Settings => self.add_setting(at, bare),
            awaits => {
                self.awaits = Awaits::Nothing;
                match awaits {
                    Awaits::Why => self.open = why(at, bare, indent),
                    Awaits::Cause => self.take_cause(bare),
                    Awaits::Message => self.replace_message(bare),
                    Awaits::Nothing | Awaits::Settings => self.inside(bare, indent),
                }
            }
        }
        None
    }

    fn end(&mut self) -> Option<Diagnosis> {
        let frames = std::mem::take(&mut self.frames);
        self.open.take().filter(|_| frames)
    }
}

impl Jest {
    fn begin(&mut self, awaits: Awaits) -> Option<Diagnosis> {
        self.awaits = awaits;
        self.end()
    }

    fn inside(&mut self, bare: &str, indent: usize) {
        let Some(open) = &mut self.open else { return };
        if let Some(place) = frame(bare) {
            self.frames = true;
            if open.place.is_none() {
                open.place = place.filter(Location::is_own);
            }
        } else if indent == 4 {
            self.awaits = match bare {
                "Cause:" => Awaits::Cause,
                "Message:" if open.kind == COMPARED => Awaits::Message,
                _ => Awaits::Nothing,
            };
        }
    }

    /// The cause is the reason. One with a name is read like Node's errors.
    fn take_cause(&mut self, bare: &str) {
        let Some(open) = &mut self.open else { return };
        if named(bare).is_some() {
            self.open = None;
        } else if !bare.starts_with("thrown: ") && !is_code(bare) {
            *open = Diagnosis::new(open.at, &open.kind, bare, None);
        }
    }

    fn replace_message(&mut self, bare: &str) {
        if let Some(open) = &mut self.open {
            *open = Diagnosis::new(open.at, &open.kind, bare, None);
        }
    }

    fn add_setting(&mut self, at: usize, bare: &str) {
        // A message of jest itself has no stack.
        self.frames = true;
        let before = self.open.take();
        let at = before.as_ref().map_or(at, |before| before.at);
        let message = before.map_or(String::new(), |before| before.message + " ") + bare;
        self.open = Some(Diagnosis::new(at, "validation error", &message, None));
    }
}

const COMPARED: &str = "assertion failure";

/// The error of a failed test whose message is all there is.
fn why(at: usize, bare: &str, indent: usize) -> Option<Diagnosis> {
    // Node's format handles these.
    if named(bare).is_some() || bare.starts_with("expect(") {
        return None;
    }
    if is_code(bare) {
        return Some(Diagnosis::new(at, "Error", "", None));
    }
    let late = bare.strip_prefix("thrown: \"").filter(|text| text.starts_with("Exceeded timeout of "));
    let (kind, message) = match late {
        Some(late) => ("timeout", late.trim_end_matches('"')),
        None if bare.starts_with("thrown: ") => ("test failure", bare),
        None if bare.starts_with("assert") && bare.contains("(received") => (COMPARED, bare),
        None => ("Error", bare),
    };
    (indent == 4).then(|| Diagnosis::new(at, kind, message, None))
}

/// `> 2 | test("sums", () => {`
fn is_code(bare: &str) -> bool {
    let numbered = bare.strip_prefix("> ").unwrap_or(bare).trim_start();
    numbered.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(" |")
        && numbered.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(block: &str, expected: Option<(&str, &str, Option<u64>)>) {
        let text = format!("FAIL a.test.js\n  ● sums › adds\n\n{block}\n\nTests:       1 failed, 1 total\n");
        let mut jest = Jest::default();
        let mut found: Vec<Diagnosis> =
            text.lines().enumerate().filter_map(|(at, line)| jest.line(at, line)).collect();
        found.extend(jest.end());
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.kind.as_str(), one.message.as_str(), one.place.as_ref().map(|place| place.line)))
            .collect();
        assert_eq!(told, expected.into_iter().collect::<Vec<_>>(), "{block}");
    }

    const STACK: &str = "      at module.exports (src/price.js:1:36)\n      at Object.p (src/a.test.js:1:55)";

    #[test]
    fn a_plain_error_has_no_name() {
        check(&format!("    no price\n    for it\n\n{STACK}"), Some(("Error", "no price", Some(1))));
        check(&format!("    > 1 | x()\n        | ^\n\n{STACK}"), Some(("Error", "", Some(1))));
        check(&format!("    thrown: \"no\"\n\n{STACK}"), Some(("test failure", "thrown: \"no\"", Some(1))));
    }

    #[test]
    fn what_a_test_says_itself_is_said_beside_a_comparison() {
        let compared = "    assert(received)\n\n    Received:\n      false\n\n";
        check(&format!("{compared}{STACK}"), Some(("assertion failure", "assert(received)", Some(1))));
        check(
            &format!("{compared}    Message:\n      sums differ\n\n{STACK}"),
            Some(("assertion failure", "sums differ", Some(1))),
        );
    }

    #[test]
    fn a_cause_is_the_reason() {
        let inner = "    Cause:\n        inner\n\n          at f (src/b.js:7:1)";
        check(&format!("    outer\n\n{STACK}\n\n{inner}"), Some(("Error", "inner", Some(7))));
        // Read by its name.
        check(&format!("    outer\n\n{STACK}\n\n{}", inner.replace("inner", "TypeError: x")), None);
    }

    #[test]
    fn what_has_a_name_or_no_stack_is_read_by_others() {
        check(&format!("    TypeError: no\n\n{STACK}"), None);
        check(&format!("    expect(received).toBe(expected)\n\n{STACK}"), None);
        check("    a list\n\n    of things", None);
        check(&format!("a text\n\n{STACK}"), None);
    }
}
