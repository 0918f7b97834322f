//! Parses one line of Codex's stream, as far as it is used.
//!
//! Web searches contain the key `id` twice, which a derived parser refuses; here the last one
//! counts.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// The fields of an object that some event needs; others are skipped.
#[derive(Default)]
pub(super) struct Line {
    fields: Vec<(Key, Value)>,
    pub(super) item: Option<Box<Line>>,
    /// The output of a command.
    pub(super) output: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Changes,
    Command,
    Error,
    ExitCode,
    Id,
    Items,
    Message,
    Server,
    Status,
    Text,
    ThreadId,
    Tool,
    Type,
    Usage,
    Item,
    AggregatedOutput,
    Unused,
}

impl Line {
    /// Parses a line; `None` if it is not a JSON object.
    pub(super) fn parse(bytes: &[u8]) -> Option<Line> {
        // Most foreign lines are plain text: reject them without parsing.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return None;
        }
        serde_json::from_slice(bytes).ok()
    }

    /// The value of `key`; the last one if it occurs twice.
    pub(super) fn get(&self, key: Key) -> Option<&Value> {
        self.fields.iter().rev().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    pub(super) fn str(&self, key: Key) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// Moves a text out, since messages can be long. Empty if there is none.
    pub(super) fn take_text(&mut self, key: Key) -> String {
        let found = self.fields.iter_mut().rev().find(|(known, _)| *known == key);
        match found.map(|(_, value)| value.take()) {
            Some(Value::String(text)) => text,
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_))
            | None => String::new(),
        }
    }
}

impl Key {
    fn of(name: &str) -> Key {
        match name {
            "changes" => Key::Changes,
            "command" => Key::Command,
            "error" => Key::Error,
            "exit_code" => Key::ExitCode,
            "id" => Key::Id,
            "items" => Key::Items,
            "message" => Key::Message,
            "server" => Key::Server,
            "status" => Key::Status,
            "text" => Key::Text,
            "thread_id" => Key::ThreadId,
            "tool" => Key::Tool,
            "type" => Key::Type,
            "usage" => Key::Usage,
            "item" => Key::Item,
            "aggregated_output" => Key::AggregatedOutput,
            _ => Key::Unused,
        }
    }
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LineVisitor)
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Line;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
        let mut line = Line::default();
        while let Some(key) = map.next_key()? {
            match key {
                Key::Item => line.item = Some(map.next_value()?),
                Key::AggregatedOutput => {
                    line.output = map.next_value::<Option<String>>()?.unwrap_or_default()
                }
                Key::Unused => {
                    map.next_value::<IgnoredAny>()?;
                }
                Key::Changes
                | Key::Command
                | Key::Error
                | Key::ExitCode
                | Key::Id
                | Key::Items
                | Key::Message
                | Key::Server
                | Key::Status
                | Key::Text
                | Key::ThreadId
                | Key::Tool
                | Key::Type
                | Key::Usage => line.fields.push((key, map.next_value()?)),
            }
        }
        Ok(line)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;

        impl Visitor<'_> for KeyVisitor {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Key, E> {
                Ok(Key::of(name))
            }
        }

        deserializer.deserialize_identifier(KeyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, key: Key, expected: Option<&str>) {
        let parsed = Line::parse(line.as_bytes()).and_then(|line| line.str(key).map(str::to_owned));
        assert_eq!(parsed.as_deref(), expected);
    }

    #[test]
    fn the_last_of_two_equal_keys_wins() {
        check(r#"{"id":"item_0","type":"web_search","id":"ws_1"}"#, Key::Id, Some("ws_1"));
    }

    #[test]
    fn escapes_in_keys_and_values_are_read() {
        check(r#"{"\u0074ype":"a\n\"b\""}"#, Key::Type, Some("a\n\"b\""));
    }

    #[test]
    fn what_is_no_object_is_no_line() {
        for text in ["", "   ", "Reading prompt", "[1]", "null", "{", r#"{"type":"#, "\u{feff}{}"] {
            assert!(Line::parse(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn output_is_decoded() {
        let text = format!("-{}", "é\n".repeat(1000));
        let json = serde_json::json!({ "item": { "aggregated_output": text } }).to_string();
        assert_eq!(Line::parse(json.as_bytes()).unwrap().item.unwrap().output, text);
    }

    #[test]
    fn no_output_yet_is_no_error() {
        let line = Line::parse(br#"{"item":{"aggregated_output":null,"exit_code":null}}"#).unwrap();
        assert_eq!(line.item.unwrap().output, "");
    }
}
