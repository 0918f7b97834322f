//! Summarizes a whole file: counts, times, repeated lines and JSON shape.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use crate::inspect::{JsonSummary, Longest, RepeatedLine, Summary};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FileSummary {
    lines: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_line: Option<LongestLine>,
    /// Lines with a word such as `error`, `failed` or `panic`, in any meaning.
    error_count: u64,
    /// Lines with `warn` or `warning`.
    warning_count: u64,
    /// From the lines that begin with a time, as written there.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_timestamp: Option<String>,
    /// Lines that differ only in numbers, most frequent first.
    repeated_lines: Vec<Repeated>,
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<Json>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LongestLine {
    line_number: u64,
    bytes: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Repeated {
    /// The first such line, or its beginning.
    line: String,
    line_number: u64,
    count: u64,
    /// Whether `count` is exact; otherwise it is a lower bound.
    exact: bool,
    #[serde(skip)]
    is_cut: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Json {
    /// Types, names and lengths.
    shape: String,
    documents: u64,
    /// Lines that are not JSON.
    spoiled_lines: u64,
    #[serde(skip)]
    is_cut: bool,
}

impl FileSummary {
    pub(super) fn of(summary: Summary) -> Self {
        let repeated = |repeated: RepeatedLine| {
            let RepeatedLine { line, line_number, is_cut, count, is_exact } = repeated;
            Repeated { line, line_number, count, exact: is_exact, is_cut }
        };
        Self {
            lines: summary.lines,
            bytes: summary.bytes,
            longest_line: summary
                .longest_line
                .map(|Longest { line, bytes }| LongestLine { line_number: line, bytes }),
            error_count: summary.error_lines,
            warning_count: summary.warning_lines,
            first_timestamp: summary.first_timestamp,
            last_timestamp: summary.last_timestamp,
            repeated_lines: summary.repeated.into_iter().map(repeated).collect(),
            json: summary.json.map(|JsonSummary { shape, is_cut, documents, spoiled_lines }| Json {
                shape,
                documents,
                spoiled_lines,
                is_cut,
            }),
        }
    }

    /// How to read what was cut.
    pub(super) fn rest(&self) -> Option<String> {
        let cut = self.repeated_lines.iter().find(|repeated| repeated.is_cut);
        let line = cut.map(|Repeated { line_number, .. }| {
            format!(
                "lines ending in … are cut; read one in full with the range {line_number} to {line_number}"
            )
        });
        let is_deep = self.json.as_ref().is_some_and(|json| json.is_cut);
        let shape = is_deep
            .then(|| "the shape is cut; use a JSON path such as $.* or $[0] to see deeper levels".to_owned());
        let rest: Vec<String> = line.into_iter().chain(shape).collect();
        (!rest.is_empty()).then(|| rest.join("; "))
    }

    /// One line per fact.
    pub(super) fn write(&self, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "lines: {}\nbytes: {}", self.lines, self.bytes);
        if let Some(longest) = &self.longest_line {
            let _ = writeln!(text, "longest_line: {} bytes in line {}", longest.bytes, longest.line_number);
        }
        let _ = writeln!(text, "error_count: {}\nwarning_count: {}", self.error_count, self.warning_count);
        if let (Some(first), Some(last)) = (&self.first_timestamp, &self.last_timestamp) {
            let _ = writeln!(text, "first_timestamp: {first}\nlast_timestamp: {last}");
        }
        for Repeated { line, line_number, count, exact, .. } in &self.repeated_lines {
            let least = if *exact { "" } else { "at least " };
            let _ = writeln!(
                text,
                "repeated_line: {least}{count} lines differ only in numbers; the first is line {line_number}: {line}"
            );
        }
        if let Some(json) = &self.json {
            let _ = writeln!(
                text,
                "json: {} documents, {} lines that are not JSON\nshape: {}",
                json.documents, json.spoiled_lines, json.shape
            );
        }
    }
}
