//! JUnit's XML, which most runners can write.
//!
//! Elements are read one after the other without building a tree, because a document may be cut anywhere. A
//! `<` never occurs inside a tag, so every byte is read once.

use memchr::memchr;
use memchr::memmem::find;

use crate::evidence::tests::tally::Tally;

/// The counts of all test cases; `None` without a suite.
pub(in crate::evidence::tests) fn read(text: &str) -> Option<Tally> {
    let mut found = Found::default();
    let mut rest = text;
    while let Some(at) = memchr(b'<', rest.as_bytes()) {
        rest = &rest[at + 1..];
        if let Some(hidden) = ["![CDATA[", "!--"].iter().find(|opening| rest.starts_with(**opening)) {
            let closing = if *hidden == "!--" { "-->" } else { "]]>" };
            let Some(end) = find(rest.as_bytes(), closing.as_bytes()) else { break };
            rest = &rest[end + closing.len()..];
            continue;
        }
        let tag = &rest[..tag_end(rest)];
        let closed = rest.as_bytes().get(tag.len()) == Some(&b'>');
        rest = &rest[tag.len()..];
        if closed {
            found.element(tag);
        }
    }
    found.tally()
}

/// Where a tag ends: at a `>` outside attribute values.
fn tag_end(tag: &str) -> usize {
    let mut quote = None;
    let end = tag.bytes().position(|byte| match (quote, byte) {
        (_, b'<') | (None, b'>') => true,
        (None, b'"' | b'\'') => {
            quote = Some(byte);
            false
        }
        (Some(open), _) => {
            quote = quote.filter(|_| open != byte);
            false
        }
        (None, _) => false,
    });
    end.unwrap_or(tag.len())
}

#[derive(Debug, Default)]
struct Found {
    tally: Tally,
    suites: u64,
    depth: u64,
    /// The open test case: its name and its result.
    case: Option<(String, Verdict)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    Skipped,
}

impl Found {
    fn element(&mut self, tag: &str) {
        let alone = tag.ends_with('/');
        let name = tag.trim_end_matches('/').split_ascii_whitespace().next().unwrap_or_default();
        match name {
            "testsuites" | "testsuite" => {
                self.suites += 1;
                if self.depth == 0 {
                    self.add_time(tag);
                }
                self.depth += u64::from(!alone);
            }
            "/testsuites" | "/testsuite" => self.depth = self.depth.saturating_sub(1),
            "testcase" if self.suites > 0 => {
                self.end_case();
                self.case = Some((case_name(tag), Verdict::Passed));
                if alone {
                    self.end_case();
                }
            }
            "/testcase" => self.end_case(),
            "failure" | "error" => self.judge(Verdict::Failed),
            "skipped" => self.judge(Verdict::Skipped),
            _ => {}
        }
    }

    fn add_time(&mut self, tag: &str) {
        let seconds = attribute(tag, "time").and_then(|time| time.parse::<f64>().ok());
        if let Some(seconds) = seconds.filter(|seconds| *seconds >= 0.0) {
            let sum = self.tally.duration_ms.unwrap_or(0).saturating_add((seconds * 1000.0).round() as u64);
            self.tally.duration_ms = Some(sum);
        }
    }

    fn judge(&mut self, said: Verdict) {
        if let Some((_, verdict)) = &mut self.case
            && *verdict != Verdict::Failed
        {
            *verdict = said;
        }
    }

    fn end_case(&mut self) {
        match self.case.take() {
            None => {}
            Some((_, Verdict::Passed)) => self.tally.passed += 1,
            Some((_, Verdict::Skipped)) => self.tally.skipped += 1,
            Some((name, Verdict::Failed)) => {
                self.tally.failed += 1;
                self.tally.failing.add(&name);
            }
        }
    }

    fn tally(mut self) -> Option<Tally> {
        self.tally.cut = self.depth > 0 || self.case.is_some();
        self.end_case();
        (self.suites > 0).then_some(self.tally)
    }
}

fn case_name(tag: &str) -> String {
    let name = attribute(tag, "name").unwrap_or_default();
    match attribute(tag, "classname").filter(|class| !class.is_empty()) {
        Some(class) => unescaped(&format!("{class}.{name}")),
        None => unescaped(name),
    }
}

/// The value of an attribute, as written.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = tag;
    loop {
        let (before, after) = rest.split_once('=')?;
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, next) = after[1..].split_once(quote)?;
        if before.split_ascii_whitespace().next_back() == Some(name) {
            return Some(value);
        }
        rest = next;
    }
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain.push_str(before);
        // No entity name is longer.
        let end = after.bytes().take(10).position(|byte| byte == b';');
        let entity = end.and_then(|end| Some((entity(&after[..end])?, &after[end + 1..])));
        plain.push(entity.map_or('&', |(c, _)| c));
        rest = entity.map_or(after, |(_, next)| next);
    }
    plain + rest
}

/// `lt`, `#10`, `#x22`: the text between `&` and `;`.
fn entity(name: &str) -> Option<char> {
    let number = match name.strip_prefix('#') {
        Some(digits) => match digits.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => digits.parse(),
        },
        None => {
            return match name {
                "lt" => Some('<'),
                "gt" => Some('>'),
                "quot" => Some('"'),
                "apos" => Some('\''),
                "amp" => Some('&'),
                _ => None,
            };
        }
    };
    // A name is one line.
    number.ok().and_then(char::from_u32).map(|c| if c.is_control() { ' ' } else { c })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_have_brackets_of_its_own() {
        let text =
            "<testsuite><testcase name=\"x > y\"><failure message='a > \"b\"'/></testcase></testsuite>";
        let tally = read(text).unwrap();
        assert_eq!(
            (tally.failed, tally.failing.into_list(), tally.cut),
            (1, vec!["x > y".to_owned()], false)
        );
    }

    #[test]
    fn a_name_is_read_as_it_was() {
        assert_eq!(unescaped("a &#x22;b&quot; &lt;&#10;&#39; & &no; &amp;lt;"), "a \"b\" < ' & &no; &lt;");
    }
}
