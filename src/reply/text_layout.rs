//! The text of a reply in three parts: the facts about a run, what it printed, and the closing lines. The
//! closing lines are kept however long the rest is.

use std::fmt;
use std::fmt::{Display, Formatter, Write};

use serde_json::Value;

use crate::redact;
use crate::reply::fit::fit_text;
use crate::reply::fit::tail_fields;
use crate::storage::StoredCapture;
use crate::text::fence;

#[derive(Debug)]
pub(crate) struct Page {
    pub(super) before: String,
    /// Also in the structured content.
    pub(super) sections: Vec<Section>,
    /// A notice, and what to do next.
    pub(super) after: String,
}

/// Something longer, shown before the closing lines.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) body: String,
}

/// A text whose last lines may say what to do next.
impl From<String> for Page {
    fn from(text: String) -> Self {
        let (before, after) = text.split_at(next_at(&text));
        Self { before: before.to_owned(), sections: Vec::new(), after: after.to_owned() }
    }
}

const NEXT: &str = "next: ";

/// Where the last lines begin that say what to do next; the end of the text if none does.
fn next_at(text: &str) -> usize {
    let calls = text.split_inclusive('\n').rev().take_while(|line| line.starts_with(NEXT));
    text.len() - calls.map(str::len).sum::<usize>()
}

impl Page {
    pub(super) fn redacted(self) -> Self {
        let clean = |text: &str| redact::text(text).into_owned();
        let section = |one: Section| Section { title: one.title, body: clean(&one.body) };
        Self {
            before: clean(&self.before),
            sections: self.sections.into_iter().map(section).collect(),
            after: clean(&self.after),
        }
    }

    /// Adds where to read the rest of a field, before what to do next.
    pub(super) fn point(&mut self, name: &str, captured: &StoredCapture) {
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            line,
            "full_output_file: {} ({name}: {} lines, {} bytes)",
            captured.path.display(),
            captured.lines,
            captured.bytes
        );
        self.after.insert_str(next_at(&self.after), &line);
    }

    /// The space for a run's output and events in a text of `limit` characters.
    pub(super) fn room(&self, limit: usize) -> usize {
        let frames: usize = self.sections.iter().map(Section::frame).sum();
        let free = limit.saturating_sub(frames + self.after.chars().count());
        free.saturating_sub(self.before.chars().count()).max(free / 2)
    }

    /// The text with the sections as `structured` has them, in `limit` characters.
    pub(super) fn beside(mut self, structured: &Value, limit: usize) -> String {
        for section in &mut self.sections {
            if let Some(body) = tail_fields::shown_body(structured, section.title) {
                section.body = body;
            }
        }
        let sections: String = self.sections.iter().map(ToString::to_string).collect();
        let lengths = [&self.before, &sections, &self.after].map(|part| part.chars().count());
        let (all, left) = (lengths.iter().sum(), limit.saturating_sub(lengths[2]));
        let before = fit_text(&self.before, left.saturating_sub(lengths[1]), all);
        let told = format!("{before}{sections}");
        format!("{}{}", fit_text(&told, left, all), self.after)
    }
}

impl Section {
    /// Its size without the body.
    fn frame(&self) -> usize {
        self.title.len() + 2 * fence(&self.body).len() + 5
    }
}

/// Nothing that was printed can be mistaken for a line of the reply.
impl Display for Section {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let fence = fence(&self.body);
        writeln!(f, "{}:\n{fence}\n{}\n{fence}", self.title, self.body.trim_end())
    }
}

/// The whole text.
impl Display for Page {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.before)?;
        self.sections.iter().try_for_each(|section| section.fmt(f))?;
        f.write_str(&self.after)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(before: usize, body: &str) -> Page {
        Page {
            before: "some words\n".repeat(before),
            sections: vec![Section { title: "stdout", body: body.to_owned() }],
            after: "notice: 1 unread\nnext: read on\n".to_owned(),
        }
    }

    #[test]
    fn a_text_ends_in_its_last_lines_however_long_the_rest_is() {
        for before in [1, 50, 5_000] {
            let page = page(before, "one\ntwo\n");
            let text = page.beside(&json!({ "output": { "stdout": "… (4 bytes left out)\ntwo\n" } }), 400);
            let end = "stdout:\n```\n… (4 bytes left out)\ntwo\n```\nnotice: 1 unread\nnext: read on\n";
            assert!(text.ends_with(end) && text.chars().count() <= 400, "{text}");
            let all = 11 * before + end.chars().count();
            assert_eq!(text.contains(&format!("… (cut: {all} characters in all)\n")), before > 1, "{text}");
        }
    }

    #[test]
    fn half_of_a_text_is_for_what_was_printed_and_whatever_is_left() {
        let frame = "stdout:\n```\n\n```\nnotice: 1 unread\nnext: read on\n".chars().count();
        assert_eq!(page(1, "x").room(400), 400 - frame - "some words\n".len());
        assert_eq!(page(5_000, "x").room(400), (400 - frame) / 2);
    }

    #[test]
    fn only_the_last_line_is_the_next_step() {
        let split = |text: &str| {
            let Page { before, after, .. } = Page::from(text.to_owned());
            (before, after)
        };
        assert_eq!(split("a\nnext: b\n"), ("a\n".to_owned(), "next: b\n".to_owned()));
        assert_eq!(split("a\nnext: b\nc\n"), ("a\nnext: b\nc\n".to_owned(), String::new()));
        assert_eq!(split(""), (String::new(), String::new()));
    }
}
