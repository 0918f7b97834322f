//! Parses JSON with comments and trailing commas, as used for editor settings, and inserts or
//! removes members without changing anything else.

use std::ops::Range;

use serde_json::Value;

const DEEPEST: usize = 100;

/// An object and its position in the text; or an array, whose members have their own text as their key.
#[derive(Debug, Clone)]
pub(super) struct Object {
    kind: Kind,
    /// Positions of the braces or brackets.
    open: usize,
    close: usize,
    pub(super) members: Vec<Member>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    Array,
}

#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) key: String,
    start: usize,
    pub(super) value: Range<usize>,
    /// If the value is an object.
    pub(super) object: Option<Object>,
    /// If the value is an array.
    pub(super) array: Option<Object>,
    comma: Option<usize>,
}

/// A range of the text and its replacement.
pub(super) type Edit = (Range<usize>, String);

/// Parses a text that is one object.
pub(super) fn parse(text: &str) -> Result<Object, String> {
    let mut scanner = Scanner { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } };
    scanner.skip()?;
    let object = match scanner.peek() {
        Some(b'{') => scanner.object(0)?,
        _ => return Err(scanner.expected("`{`")),
    };
    scanner.skip()?;
    if scanner.at < text.len() { Err(scanner.expected("the end")) } else { Ok(object) }
}

/// Applies the edits, which must not overlap.
pub(super) fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let mut result = text.to_owned();
    for (range, replacement) in edits.into_iter().rev() {
        result.replace_range(range, &replacement);
    }
    result
}

impl Member {
    /// The value, without its comments.
    pub(super) fn value(&self, text: &str) -> Result<Value, String> {
        let raw = || serde_json::from_str(&text[self.value.clone()]).map_err(|error| error.to_string());
        match (&self.object, &self.array) {
            (Some(object), _) => {
                let fields = object.members.iter().map(|one| Ok((one.key.clone(), one.value(text)?)));
                fields.collect::<Result<_, String>>().map(Value::Object)
            }
            (None, Some(array)) => {
                array.members.iter().map(|one| one.value(text)).collect::<Result<_, _>>().map(Value::Array)
            }
            (None, None) => raw(),
        }
    }
}

impl Object {
    /// The member of this name. An error if there are several.
    pub(super) fn member(&self, key: &str) -> Result<Option<&Member>, String> {
        let mut found = self.members.iter().filter(|member| member.key == key);
        let first = found.next();
        if found.next().is_some() { Err(format!("`{key}` occurs twice")) } else { Ok(first) }
    }

    /// Appends a member. `write` formats its value for the layout, which is `None` if everything is
    /// on one line.
    pub(super) fn insert(
        &self,
        text: &str,
        key: &str,
        write: &dyn Fn(Option<&Layout>) -> String,
    ) -> Vec<Edit> {
        let name = match self.kind {
            Kind::Object => format!("{}: ", Value::from(key)),
            Kind::Array => String::new(),
        };
        let Some(layout) = self.layout(text) else {
            let member = format!("{name}{}", write(None));
            return match self.members.last() {
                None => vec![(self.open + 1..self.close, format!(" {member} "))],
                Some(last) => vec![(
                    last.comma.map_or(last.value.end..last.value.end, |comma| comma..comma + 1),
                    format!(", {member}"),
                )],
            };
        };
        let line = format!("{}{}{name}{}", layout.newline, layout.indent, write(Some(&layout)));
        let Some(last) = self.members.last() else {
            let place = self.end_of_content(text);
            return vec![(place..self.close, format!("{line}{}{}", layout.newline, layout.outer))];
        };
        let place = self.end_of_content(text);
        match last.comma {
            Some(_) => vec![(place..place, format!("{line},"))],
            None if place == last.value.end => vec![(place..place, format!(",{line}"))],
            None => vec![(last.value.end..last.value.end, ",".to_owned()), (place..place, line)],
        }
    }

    /// Removes a member, with its line if it has one to itself.
    pub(super) fn remove(&self, text: &str, key: &str) -> Vec<Edit> {
        let Some(at) = self.members.iter().position(|member| member.key == key) else { return Vec::new() };
        let member = &self.members[at];
        let mut end = member.comma.map_or(member.value.end, |comma| comma + 1);
        let line_start = text[..member.start].rfind('\n').map_or(0, |at| at + 1);
        let mut start = member.start;
        let alone_before = text[line_start..start].trim().is_empty();
        let rest = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
        if alone_before && text[end..rest].trim().is_empty() && line_start > self.open {
            (start, end) = (line_start, rest.min(self.close));
        }
        let mut edits = vec![(start..end, String::new())];
        // The member before it is now the last one.
        if member.comma.is_none()
            && let Some(comma) = at.checked_sub(1).and_then(|before| self.members[before].comma)
        {
            edits.push((comma..comma + 1, String::new()));
        }
        edits
    }

    /// The end of the last member or comment.
    fn end_of_content(&self, text: &str) -> usize {
        self.open + 1 + text[self.open + 1..self.close].trim_end().len()
    }

    /// The layout of the object's lines; `None` if it has only one.
    fn layout(&self, text: &str) -> Option<Layout> {
        let inside = &text[self.open..self.close];
        if !inside.contains('\n') && !self.members.is_empty() {
            return None;
        }
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indent_at = |at: usize| {
            let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
            let blank = text[line..at].len() - text[line..at].trim_start().len();
            text[line..line + blank].to_owned()
        };
        let outer = indent_at(self.open);
        let own = self.members.first().map(|member| indent_at(member.start));
        let unit =
            own.as_ref().and_then(|own| own.strip_prefix(outer.as_str())).filter(|unit| !unit.is_empty());
        let unit = unit.unwrap_or("    ").to_owned();
        let indent = own.unwrap_or_else(|| format!("{outer}{unit}"));
        Some(Layout { newline, indent, outer, unit })
    }
}

#[derive(Debug)]
pub(super) struct Layout {
    pub(super) newline: &'static str,
    /// Indentation of the members.
    pub(super) indent: String,
    /// Indentation of the closing brace.
    outer: String,
    /// One level of indentation.
    pub(super) unit: String,
}

impl Layout {
    /// The layout of a nested object whose members start at `indent`.
    pub(super) fn at(&self, indent: String) -> Layout {
        Layout { newline: self.newline, outer: self.indent.clone(), unit: self.unit.clone(), indent }
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expected(&self, what: &str) -> String {
        let line = self.text[..self.text.floor_char_boundary(self.at)].matches('\n').count() + 1;
        format!("{what} was expected on line {line}")
    }

    /// Skips blanks and comments.
    fn skip(&mut self) -> Result<(), String> {
        loop {
            let rest = &self.text[self.at..];
            let length = match rest.as_bytes() {
                [b' ' | b'\t' | b'\r' | b'\n', ..] => 1,
                [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
                // The star that opens a comment does not close it.
                [b'/', b'*', ..] => match rest[2..].find("*/") {
                    Some(end) => end + 4,
                    None => return Err(self.expected("`*/`")),
                },
                _ => return Ok(()),
            };
            self.at += length;
        }
    }

    fn object(&mut self, depth: usize) -> Result<Object, String> {
        let open = self.at;
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        loop {
            self.skip()?;
            match self.peek() {
                Some(b'}') => break,
                Some(b'"') if members.last().is_none_or(|last| last.comma.is_some()) => {}
                _ if members.last().is_some_and(|last| last.comma.is_none()) => {
                    return Err(self.expected("`,` or `}`"));
                }
                _ => return Err(self.expected("a name or `}`")),
            }
            let start = self.at;
            let key = self.string()?;
            self.skip()?;
            if self.peek() != Some(b':') {
                return Err(self.expected("`:`"));
            }
            self.at += 1;
            self.skip()?;
            members.push(self.member(Some((key, start)), depth)?);
        }
        let close = self.at;
        self.at += 1;
        Ok(Object { kind: Kind::Object, open, close, members })
    }

    /// The value of a member and the comma after it. An element of an array has no key before it.
    fn member(&mut self, key: Option<(String, usize)>, depth: usize) -> Result<Member, String> {
        let from = self.at;
        let (mut object, mut array) = (None, None);
        match self.peek() {
            _ if depth >= DEEPEST => return Err(self.expected("less depth")),
            Some(b'{') => object = Some(self.object(depth + 1)?),
            Some(b'[') => array = Some(self.array(depth + 1)?),
            _ => self.scalar()?,
        }
        let value = from..self.at;
        let (key, start) = key.unwrap_or_else(|| (self.text[value.clone()].to_owned(), from));
        self.skip()?;
        let comma = (self.peek() == Some(b',')).then_some(self.at);
        self.at += usize::from(comma.is_some());
        Ok(Member { key, start, value, object, array, comma })
    }

    fn scalar(&mut self) -> Result<(), String> {
        match self.peek() {
            Some(b'"') => drop(self.string()?),
            _ => {
                let word = self.text[self.at..].bytes();
                let length =
                    word.take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
                let word = &self.text[self.at..self.at + length];
                if serde_json::from_str::<Value>(word).is_err() {
                    return Err(self.expected("a value"));
                }
                self.at += length;
            }
        }
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Result<Object, String> {
        let open = self.at;
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        loop {
            self.skip()?;
            if self.peek() == Some(b']') {
                let close = self.at;
                self.at += 1;
                return Ok(Object { kind: Kind::Array, open, close, members });
            }
            if members.last().is_some_and(|last| last.comma.is_none()) {
                return Err(self.expected("`,` or `]`"));
            }
            members.push(self.member(None, depth)?);
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        loop {
            match bytes.get(end) {
                Some(b'\\') => end += 2,
                Some(b'"') => break,
                Some(b'\n') | None => return Err(self.expected("`\"`")),
                Some(_) => end += 1,
            }
        }
        let read = self.text.get(self.at..=end).and_then(|quoted| serde_json::from_str(quoted).ok());
        match read {
            Some(string) => {
                self.at = end + 1;
                Ok(string)
            }
            None => Err(self.expected("a string")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, inserted: &str, removed: &str) {
        let object = parse(text).unwrap();
        let with = edited(text, object.insert(text, "new", &|_| "1".to_owned()));
        assert_eq!(with, inserted);
        parse(&with).unwrap();
        let without = edited(&with, parse(&with).unwrap().remove(&with, "new"));
        assert_eq!(without, removed);
    }

    #[test]
    fn a_member_goes_in_at_the_end_and_comes_out_again() {
        let plain = "{\n  \"a\": 1\n}\n";
        check(plain, "{\n  \"a\": 1,\n  \"new\": 1\n}\n", plain);
        let trailing = "{\n\t\"a\": [1, 2,],\n}\n";
        check(trailing, "{\n\t\"a\": [1, 2,],\n\t\"new\": 1,\n}\n", trailing);
        let commented = "// top\n{\n    \"a\": {}, // of a\n    \"b\": \"x//y\" // of b\n    // last\n}";
        let with =
            "// top\n{\n    \"a\": {}, // of a\n    \"b\": \"x//y\", // of b\n    // last\n    \"new\": 1\n}";
        check(commented, with, commented);
        let windows = "\u{feff}{\r\n  \"a\": 1\r\n}\r\n";
        check(windows, "\u{feff}{\r\n  \"a\": 1,\r\n  \"new\": 1\r\n}\r\n", windows);
        check("{\"a\": 1}", "{\"a\": 1, \"new\": 1}", "{\"a\": 1 }");
        check("{}", "{\n    \"new\": 1\n}", "{\n}");
        check("{ /*/ slash */ }", "{ /*/ slash */\n    \"new\": 1\n}", "{ /*/ slash */\n}");
        check("{ /* nothing */ }", "{ /* nothing */\n    \"new\": 1\n}", "{ /* nothing */\n}");
    }

    #[test]
    fn members_are_found_with_their_values() {
        let text = "{\"a\\u0062\": {\"c\": [true, null, -1.5e3, {\"d\": \"}\"}]}, \"e\": \"\\\"\"}";
        let object = parse(text).unwrap();
        assert_eq!(object.member("ab").unwrap().unwrap().object.as_ref().unwrap().members[0].key, "c");
        assert_eq!(&text[object.member("e").unwrap().unwrap().value.clone()], "\"\\\"\"");
        assert!(object.member("x").unwrap().is_none());
        assert!(parse("{\"a\": 1, \"a\": 2}").unwrap().member("a").is_err());
    }

    #[test]
    fn what_is_not_understood_is_refused_with_its_line() {
        for (bad, line) in [
            ("", 1),
            ("[]", 1),
            ("{\n\"a\" 1}", 2),
            ("{\n\n\"a\": 1 \"b\": 2}", 3),
            ("{\"a\": tru}", 1),
            ("{\"a\": 1", 1),
            ("{\"a\": 1} x", 1),
            ("{/* }", 1),
            ("{\"a\n\": 1}", 1),
            ("{\"a\": [1 2]}", 1),
        ] {
            let why = parse(bad).unwrap_err();
            assert!(why.ends_with(&format!("line {line}")), "{bad:?}: {why}");
        }
        assert!(parse(&"{\"a\":".repeat(5000)).is_err());
    }
}
