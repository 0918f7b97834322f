//! mocha: counts, then each failure with its titles from the outermost inwards.

use crate::evidence::line_scanner::Scan;
use crate::evidence::tests::Parser;
use crate::evidence::tests::tally::{Summaries, Tally};

#[derive(Debug, Default)]
pub(in crate::evidence::tests) struct Mocha {
    summaries: Summaries,
    place: Place,
    /// How many failed, if the count of passed tests is missing.
    loose: Option<Tally>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Before,
    /// Directly after `N passing`, where the other counts are.
    Counts,
    /// After the line that ends them, if none passed: it may be the end of a text that was cut.
    Nothing,
    After,
    /// Inside the titles of a failure.
    Titles(Vec<String>),
}

/// Titles are nested, but not arbitrarily deep.
const DEEPEST: usize = 50;

impl Parser for Mocha {
    fn line(&mut self, line: &str) {
        if let Some((passed, took)) = passing(line) {
            self.summaries.push(Tally { passed, duration_ms: Some(took), ..Tally::default() });
            self.place = Place::Counts;
            return;
        }
        match &mut self.place {
            Place::Before => {
                if let Some((failed, "failing")) = count(line) {
                    self.loose = Some(Tally { failed, ..Tally::partly_seen() });
                } else if self.loose.is_none() && is_call(line) {
                    // The counts precede the failures, and may have been cut.
                    self.loose =
                        Some(Tally { said: Some("tests failed".to_owned()), ..Tally::partly_seen() });
                }
            }
            Place::Counts => match (count(line), self.summaries.last()) {
                (Some((count, "pending")), Some(last)) => last.skipped += count,
                (Some((count, "failing")), Some(last)) => last.failed += count,
                (_, Some(last)) if last.is_empty() && is_begun(line) => {
                    self.place = Place::Nothing;
                }
                _ => self.place = Place::After,
            },
            Place::Nothing => self.place = Place::After,
            Place::After => {
                if let Some(title) = failure(line) {
                    self.place = Place::Titles(Vec::new());
                    self.title(title);
                }
            }
            Place::Titles(_) if line.trim().is_empty() => self.place = Place::After,
            Place::Titles(_) => self.title(line.trim()),
        }
    }

    fn end(mut self: Box<Self>) -> Vec<Tally> {
        // The counts of failed and pending tests may be missing.
        if matches!(self.place, Place::Counts | Place::Nothing) {
            self.summaries.last().into_iter().for_each(|last| last.cut = true);
        }
        self.summaries.or(self.loose)
    }
}

impl Mocha {
    /// One title; the innermost ends in a colon.
    fn title(&mut self, title: &str) {
        let Place::Titles(titles) = &mut self.place else { return };
        titles.push(title.trim_end_matches(':').to_owned());
        if title.ends_with(':') {
            let name = titles.join(" > ");
            self.summaries.last().into_iter().for_each(|last| last.failing.add(&name));
            self.place = Place::After;
        } else if titles.len() > DEEPEST {
            self.place = Place::After;
        }
    }
}

/// Whether a line may be the beginning of a count.
fn is_begun(line: &str) -> bool {
    line.trim_start_matches(' ').chars().next().is_none_or(|first| first.is_ascii_digit())
}

/// `      at Context.<anonymous> (test/a.js:3:19)`: a frame of a failure's stack.
fn is_call(line: &str) -> bool {
    let bare = line.trim_start();
    let is_place = |rest: &str| rest.ends_with(')') && rest.contains(':') && rest.contains(" (");
    line.starts_with("      ") && bare.strip_prefix("at ").is_some_and(is_place)
}

/// `  3 passing (4ms)`
fn passing(line: &str) -> Option<(u64, u64)> {
    let mut scan = Scan::new(line);
    scan.text("  ")?;
    let count = scan.number()?;
    scan.text(" passing (")?;
    let number = scan.seconds()?;
    let took = match scan.either(&["ms)", "s)", "m)", "h)", "d)"])? {
        "ms)" => number / 1000,
        "s)" => number,
        "m)" => number.saturating_mul(60),
        "h)" => number.saturating_mul(3600),
        _ => number.saturating_mul(86400),
    };
    scan.end().map(|()| (count, took))
}

fn count(line: &str) -> Option<(u64, &str)> {
    let mut scan = Scan::new(line);
    scan.text("  ")?;
    let count = scan.number()?;
    scan.text(" ")?;
    Some((count, scan.rest().trim_end()))
}

/// `  1) sums`
fn failure(line: &str) -> Option<&str> {
    let mut scan = Scan::new(line);
    scan.text("  ")?;
    scan.spaces();
    scan.number()?;
    scan.text(") ")?;
    Some(scan.rest())
}
