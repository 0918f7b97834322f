//! Saves long texts of a reply as files and shortens them in place. The object around a text says where the
//! file is, how long it is, and how to read it.

use serde_json::{Map, Value, json};

use crate::model::InlineLimits;
use crate::reply::fit::budget;
use crate::storage::StoredCapture;

/// Saves a text and returns its file; `None` if it cannot be saved.
pub(crate) type Keep<'a> = &'a dyn Fn(&str) -> Option<StoredCapture>;

/// Objects with these names hold parts of files that the reply names already.
const EXCERPTS: [&str; 2] = ["output", "partial_results"];

/// Saves every text in `value` longer than `inline` and leaves its beginning in place. Returns the saved
/// texts with their names.
pub(crate) fn capture(value: &mut Value, inline: InlineLimits, keep: Keep) -> Vec<(String, StoredCapture)> {
    let mut all = Vec::new();
    match value {
        Value::Object(members) => {
            let mut kept = Vec::new();
            for (name, member) in members
                .iter_mut()
                .filter(|(name, member)| !member.is_object() || !EXCERPTS.contains(&name.as_str()))
            {
                within(name, member, inline, keep, &mut kept, &mut all);
            }
            for (name, captured) in kept {
                tell(members, &name, &captured);
                all.push((name, captured));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| all.extend(capture(item, inline, keep))),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    all
}

/// Visits one member. Texts in a list belong to the object around the list.
fn within(
    name: &str,
    member: &mut Value,
    inline: InlineLimits,
    keep: Keep,
    kept: &mut Vec<(String, StoredCapture)>,
    all: &mut Vec<(String, StoredCapture)>,
) {
    match member {
        Value::String(text) => {
            if let Some(end) = inline.end(text)
                && let Some(captured) = keep(text)
            {
                *text = budget::shortened(text, end);
                kept.push((name.to_owned(), captured));
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                within(&format!("{name}[{at}]"), item, inline, keep, kept, all);
            }
        }
        Value::Object(_) => all.extend(capture(member, inline, keep)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Puts a capture's fields beside the text, or below `captured` by the text's name if those field names are
/// taken.
fn tell(around: &mut Map<String, Value>, name: &str, captured: &StoredCapture) {
    let path = captured.path.display();
    let message = format!(
        "the full {name} is in a file: read it in pieces with inspect_output {{\"file_path\": \"{path}\"}}"
    );
    let Value::Object(told) = json!({
        "full_output_file": path.to_string(),
        "total_lines": captured.lines,
        "total_bytes": captured.bytes,
        "content_type": captured.content_type.as_str(),
        "message": message,
    }) else {
        return;
    };
    if told.keys().any(|key| around.contains_key(key)) {
        let more = around.entry("captured").or_insert_with(|| json!({}));
        if let Value::Object(more) = more {
            more.insert(name.to_owned(), Value::Object(told));
        }
    } else {
        around.extend(told);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::path::PathBuf;

    use super::*;
    use crate::inspect::ContentType;

    const INLINE: InlineLimits = InlineLimits { chars: 50, lines: 3 };

    /// What becomes of `given`, and what was kept of it.
    fn captured(mut given: Value) -> (Value, Vec<String>) {
        let kept = RefCell::new(Vec::new());
        let keep = |text: &str| {
            kept.borrow_mut().push(text.to_owned());
            let number = kept.borrow().len();
            let lines = text.lines().count() as u64;
            let path = PathBuf::from(format!("/home/captures/{number}"));
            Some(StoredCapture { path, lines, bytes: text.len() as u64, content_type: ContentType::Text })
        };
        capture(&mut given, INLINE, &keep);
        (given, kept.into_inner())
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        for text in ["x".repeat(50), "a\nb\nc\n".into(), "a\nb\nc".into(), String::new()] {
            let given = json!({ "data": { "summary": text } });
            assert_eq!(captured(given.clone()), (given, Vec::new()));
        }
    }

    #[test]
    fn a_long_text_is_cut_and_the_object_around_it_says_where_it_is() {
        let long = "some words ".repeat(10);
        let (value, kept) = captured(json!({ "status": "ok", "data": { "summary": long, "n": 1 } }));
        assert_eq!(kept, [long]);
        let data = &value["data"];
        assert!(data["summary"].as_str().unwrap().ends_with('…'));
        assert!(data["summary"].as_str().unwrap().chars().count() <= 50);
        assert_eq!(
            (&data["full_output_file"], &data["total_lines"], &data["total_bytes"], &data["content_type"]),
            (&json!("/home/captures/1"), &json!(1), &json!(110), &json!("text"))
        );
        assert!(data["message"].as_str().unwrap().contains("inspect_output"));
        assert_eq!(value.get("full_output_file"), None);
    }

    #[test]
    fn many_short_lines_are_long_as_well() {
        let (value, kept) = captured(json!({ "summary": "a\nb\nc\nd" }));
        assert_eq!((&value["summary"], kept.len()), (&json!("a\nb\nc\n…"), 1));
    }

    #[test]
    fn several_long_texts_of_one_object_are_told_apart() {
        let long = "y".repeat(60);
        let (value, kept) =
            captured(json!({ "a": long, "b": [1, long], "c": { "message": "own", "d": long } }));
        assert_eq!(kept.len(), 3);
        assert_eq!(value["full_output_file"], "/home/captures/1");
        assert!(value["captured"]["b[1]"]["full_output_file"].is_string());
        assert_eq!(value["c"]["message"], "own");
        assert!(value["c"]["captured"]["d"]["full_output_file"].is_string());
    }

    #[test]
    fn an_excerpt_of_a_file_is_left_as_it_is() {
        let given = json!({ "output": { "stdout": "x".repeat(60) } });
        assert_eq!(captured(given.clone()), (given, Vec::new()));
    }

    #[test]
    fn what_cannot_be_kept_is_not_cut() {
        let mut value = json!({ "summary": "z".repeat(100) });
        let before = value.clone();
        assert!(capture(&mut value, INLINE, &|_| None).is_empty());
        assert_eq!(value, before);
    }
}
