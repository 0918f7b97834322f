//! Finds the id of a request in a line that does not parse, byte by byte and in constant memory.
//!
//! The line may be cut off, damaged, or too long to keep. The id is the member `id` of the outermost object,
//! wherever it is: many libraries write it last.

use serde_json::Value;

/// The longest name or id that is considered, quotes included.
const LONGEST: usize = 200;

#[derive(Debug, Default)]
pub(crate) struct Scan {
    depth: usize,
    /// Inside a string; whether the next character is escaped.
    string: Option<bool>,
    /// The most recent string or number of the outermost object.
    token: Vec<u8>,
    stage: Stage,
    found: Option<Value>,
}

/// The position in the outermost object.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    #[default]
    Name,
    /// After the colon of `id`, or of any other name.
    Id,
    Other,
}

impl Scan {
    pub(crate) fn of(line: &[u8]) -> Scan {
        let mut scan = Scan::default();
        scan.go_on(line);
        scan
    }

    /// Scans the next bytes.
    pub(crate) fn go_on(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.found.is_some() {
                return;
            }
            self.take(*byte);
        }
    }

    /// The id, at the end of the line.
    pub(crate) fn id(mut self) -> Option<Value> {
        self.end_number();
        self.found
    }

    fn take(&mut self, byte: u8) {
        if let Some(escaped) = self.string {
            self.keep(byte);
            self.string = match byte {
                b'\\' => Some(!escaped),
                b'"' if !escaped => None,
                _ => Some(false),
            };
            if self.string.is_none() && self.depth == 1 && self.stage == Stage::Id {
                self.settle();
            }
            return;
        }
        if self.depth == 1
            && self.stage == Stage::Id
            && matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
        {
            return self.keep(byte);
        }
        self.end_number();
        match byte {
            b'"' => {
                self.string = Some(false);
                if self.depth == 1 {
                    self.token.clear();
                }
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                if self.depth == 2 {
                    // An object or array is not a valid id.
                    self.token.clear();
                }
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' if self.depth == 1 => {
                self.stage = if self.token == b"\"id\"" { Stage::Id } else { Stage::Other };
                self.token.clear();
            }
            b',' if self.depth == 1 => {
                self.stage = Stage::Name;
                self.token.clear();
            }
            _ => {}
        }
    }

    fn keep(&mut self, byte: u8) {
        // Keep one byte beyond the limit, to detect a token that is too long.
        if self.depth == 1 && self.token.len() <= LONGEST {
            self.token.push(byte);
        }
    }

    fn end_number(&mut self) {
        let begun = self.token.first().is_some_and(|first| *first != b'"');
        if self.depth == 1 && self.stage == Stage::Id && begun {
            self.settle();
        }
    }

    /// Takes the value of `id` once it is complete.
    fn settle(&mut self) {
        let token = std::mem::take(&mut self.token);
        self.stage = Stage::Other;
        let value = serde_json::from_slice(&token).ok().filter(|_| token.len() <= LONGEST);
        self.found = value.filter(|value: &Value| value.is_string() || value.is_i64() || value.is_u64());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(line: &str, id: Option<Value>) {
        assert_eq!(Scan::of(line.as_bytes()).id(), id, "{line}");
    }

    #[test]
    fn the_id_of_the_outermost_object_is_found_wherever_it_stands() {
        check(r#"{"id":1,"method":"x"}"#, Some(json!(1)));
        check(
            r#"{"method":"x","params":{"id":2,"a":["id",{"id":3}]},"jsonrpc":"2.0","id" : "s\"\\" }"#,
            Some(json!("s\"\\")),
        );
        check(r#"{"a":"\"id\":4","b":"id","id":-5"#, Some(json!(-5)));
        check(r#"{"params":[[["#, None);
        check(r#"{"params":{"id":6}}"#, None);
        check(r#"{"id":900 broken"#, Some(json!(900)));
    }

    #[test]
    fn what_can_be_no_id_is_none() {
        for id in ["null", "true", "1.5", "{}", "[7]", "{\"id\":7}", "1e3", "--1", "\"open"] {
            check(&format!(r#"{{"id":{id}"#), None);
        }
        check(&format!(r#"{{"id":"{}"}}"#, "x".repeat(300)), None);
        check(&format!(r#"{{"id":{}}}"#, "1".repeat(300)), None);
    }

    #[test]
    fn a_long_line_takes_no_more_memory_than_a_short_one() {
        let mut scan = Scan::of(b"{\"params\":{\"x\":\"");
        for _ in 0..100 {
            scan.go_on(&[b'x'; 10_000]);
            scan.go_on(b"\",\"id\":9,\"y\":\"");
        }
        assert!(scan.token.capacity() < 1000);
        scan.go_on(b"\"},\"id\":10}");
        assert_eq!(scan.id(), Some(json!(10)));
    }

    proptest! {
        #[test]
        fn an_id_is_found_whatever_follows(number: i64, rest in "[^\\n]{0,40}") {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},{rest}");
            prop_assert_eq!(Scan::of(line.as_bytes()).id(), Some(json!(number)));
        }

        #[test]
        fn an_id_is_found_whatever_comes_before(id: String, text: String, at in 0..40_usize) {
            prop_assume!(json!(id).to_string().len() <= LONGEST);
            let line = format!("{{\"method\":{},\"params\":{{{}:[]}},\"id\":{}}}", json!(text), json!(text), json!(id));
            let (front, back) = line.as_bytes().split_at(at.min(line.len()));
            let mut scan = Scan::of(front);
            scan.go_on(back);
            prop_assert_eq!(scan.id(), Some(json!(id)));
        }
    }
}
