//! Everything that leaves for a client passes through here: it is redacted, long text is saved as files, the
//! rest is shortened to fit, and the reader is told where to find the whole.
//!
//! Tool replies and their errors pass through [`Funnel::pass`]. Text of resources, prompts, completions and
//! progress passes through [`words`] and [`line`].

use serde_json::{Map, Value};

use crate::model::InlineLimits;
use crate::redact;
use crate::reply::fit::budget::{self, Budget, Cut, Room};
use crate::reply::fit::capture::{Keep, capture};
use crate::reply::text_layout::Page;
use crate::text::plain;

/// How replies are prepared.
pub(crate) struct Funnel<'a> {
    /// Longer texts are saved as files.
    pub(crate) inline: InlineLimits,
    pub(crate) keep: Keep<'a>,
}

impl Funnel<'_> {
    /// For replies before any file can be saved.
    pub(crate) const KEEPS_NOTHING: Funnel<'static> = Funnel { inline: InlineLimits::ALL, keep: &|_| None };

    /// Prepares a reply for a client. Returns the text that goes with it.
    pub(crate) fn pass(&self, structured: &mut Value, page: Page, budget: Budget) -> String {
        redact::value(structured);
        let mut page = page.redacted();
        for (name, captured) in capture(structured, self.inline, self.keep) {
            page.point(&name, &captured);
        }
        // The notice about a cut must fit as well.
        let room = Room { chars: budget.chars - TOLD, shown: page.room(budget.chars) };
        if let Some(cut) = budget::fit(structured, room) {
            tell(structured, &cut);
        }
        page.beside(structured, budget.chars)
    }
}

/// Redacts text of others that is not part of a tool's reply.
pub(crate) fn words(text: &str) -> String {
    redact::text(text).into_owned()
}

/// Redacts text of others to one line of at most `most` characters.
pub(crate) fn line(text: &str, most: usize) -> String {
    plain::line(&redact::text(text), most)
}

/// Space for the notice about a cut.
const TOLD: usize = 300;

/// Adds a `notice` to the reply that it was cut, and where the rest is.
fn tell(structured: &mut Value, cut: &Cut) {
    let mut told = format!("shortened from {} characters", cut.chars_before);
    if names_a_file(structured) {
        told += ": the files named in the reply hold everything; read them with inspect_output";
    }
    let Some(root) = structured.as_object_mut() else { return };
    match root.get_mut("meta") {
        Some(Value::Object(meta)) => add_notice(meta, told),
        _ => add_notice(root, told),
    }
}

/// Whether the reply names a file with what was cut.
fn names_a_file(structured: &Value) -> bool {
    match structured {
        Value::Object(members) => members.iter().any(|(name, member)| match name.as_str() {
            "full_output_file" => member.is_string(),
            "artifacts" | "files" => member.as_array().is_some_and(|files| !files.is_empty()),
            _ => names_a_file(member),
        }),
        Value::Array(items) => items.iter().any(names_a_file),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn add_notice(fields: &mut Map<String, Value>, told: String) {
    let before = fields.get("notice").and_then(Value::as_str).map(|before| format!("{before}; "));
    fields.insert("notice".into(), format!("{}{told}", before.unwrap_or_default()).into());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::storage::StoredCapture;

    const PLAIN: Funnel<'static> = Funnel::KEEPS_NOTHING;

    fn said(text: &str) -> Page {
        Page::from(text.to_owned())
    }

    #[test]
    fn what_is_kept_has_no_secrets_and_is_named_before_the_next_step() {
        let secret = format!("ghp_{}", "Ab3".repeat(12));
        let keep = |text: &str| {
            assert!(!text.contains(&secret));
            Some(StoredCapture {
                path: "/c/1.txt".into(),
                lines: 1,
                bytes: text.len() as u64,
                content_type: crate::inspect::ContentType::Text,
            })
        };
        let funnel = Funnel { inline: InlineLimits { chars: 60, lines: 9 }, keep: &keep };
        let mut structured = json!({ "summary": format!("{secret} {}", "word ".repeat(20)) });
        let text = funnel.pass(&mut structured, said("tool\nsummary: x\nnext: read\n"), Budget::USUAL);
        assert!(structured["full_output_file"] == "/c/1.txt" && structured.get("notice").is_none());
        let bytes = &structured["total_bytes"];
        let expected = format!(
            "tool\nsummary: x\nfull_output_file: /c/1.txt (summary: 1 lines, {bytes} bytes)\nnext: read\n"
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn secrets_leave_neither_as_structure_nor_as_text() {
        let secret = format!("ghp_{}", "Ab3".repeat(12));
        let mut structured = json!({ "meta": {}, "data": { "summary": format!("pushed with {secret}") } });
        let text =
            PLAIN.pass(&mut structured, said(&format!("summary: pushed with {secret}\n")), Budget::USUAL);
        assert!(!structured.to_string().contains(&secret), "{structured}");
        assert!(!text.contains(&secret) && text.contains("redacted"), "{text}");
    }

    #[test]
    fn a_reply_that_is_too_long_is_cut_and_says_so() {
        let long = "word ".repeat(20_000);
        for budget in [Budget::USUAL, Budget::MOST] {
            let mut structured = json!({ "meta": { "notice": "1 unread" }, "data": { "output": long } });
            let text = PLAIN.pass(&mut structured, said(&long), budget);
            assert!(
                structured.to_string().chars().count() <= budget.chars
                    && text.chars().count() <= budget.chars
            );
            let notice = structured["meta"]["notice"].as_str().unwrap();
            assert!(notice.starts_with("1 unread; shortened from 100"), "{notice}");
        }
        let mut report = json!({ "summary": long });
        PLAIN.pass(&mut report, said(""), Budget::USUAL);
        assert!(report["notice"].as_str().unwrap().starts_with("shortened"));
    }

    #[test]
    fn a_reply_that_was_cut_speaks_of_files_only_where_it_names_some() {
        let long = "word ".repeat(20_000);
        for (rest, names_some) in [
            (json!({}), false),
            (json!({ "artifacts": [] }), false),
            (json!({ "artifacts": [{ "path": "/r/stdout.log" }] }), true),
            (json!({ "tasks": [{ "full_output_file": "/c/1.txt" }] }), true),
        ] {
            let mut report = json!({ "summary": long, "rest": rest });
            PLAIN.pass(&mut report, said(""), Budget::USUAL);
            let notice = report["notice"].as_str().unwrap();
            assert_eq!(notice.contains("files"), names_some, "{notice}");
        }
    }

    #[test]
    fn what_fits_is_left_alone() {
        let mut structured = json!({ "meta": {}, "data": { "summary": "all fine" } });
        let before = structured.clone();
        assert_eq!(
            PLAIN.pass(&mut structured, said("summary: all fine\n"), Budget::USUAL),
            "summary: all fine\n"
        );
        assert_eq!(structured, before);
    }
}
