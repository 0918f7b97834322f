//! Tracebacks, syntax errors, and pytest's report of a failure.

use crate::evidence::errors::diagnose::{Diagnosis, Format, named};
use crate::evidence::errors::place::Location;
use crate::evidence::line_scanner::Scan;

#[derive(Debug, Default)]
pub(in crate::evidence::errors) struct Python {
    /// Where a traceback or a syntax error began, and its indentation.
    began: Option<(usize, usize)>,
    /// The innermost place in the project.
    place: Option<Location>,
    /// What pytest marks with `E`: its line, type and message.
    marked: Option<(usize, Option<String>, String)>,
    /// Whether a bar stands before the lines of an exception group.
    group: bool,
}

impl Format for Python {
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis> {
        let inside = line.trim_start().strip_prefix("| ").filter(|_| self.group);
        let line = inside.unwrap_or(line);
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        if bare == "+ Exception Group Traceback (most recent call last):" {
            (self.began, self.place, self.group) = (Some((at, 0)), None, true);
            return None;
        }
        // pytest's next test, or the end of the tests.
        if line.starts_with("____") || line.starts_with("====") {
            let told = self.end();
            self.place = None;
            return told;
        }
        if bare == "Traceback (most recent call last):" {
            (self.began, self.place) = (Some((at, indent)), None);
            return None;
        }
        if let Some((place, called)) = frame(bare) {
            // A syntax error has one place and no calls.
            if self.began.is_none() && !called {
                self.began = Some((at, indent.saturating_sub(2)));
            }
            self.place = Some(place).filter(Location::is_own).or(self.place.take());
            return None;
        }
        if let Some(mark) = line.strip_prefix("E  ") {
            if self.marked.is_none() {
                let (kind, message) =
                    named(mark).map_or((None, mark), |(kind, text)| (Some(kind.to_owned()), text));
                self.marked = Some((at, kind, message.trim().to_owned()));
            }
            return None;
        }
        if let Some((began, depth)) = self.began {
            if bare.is_empty() || indent > depth {
                return None;
            }
            (self.began, self.group) = (None, false);
            let place = self.place.take();
            let (kind, message) = raised(bare)?;
            return Some(Diagnosis::new(began, kind, message, place));
        }
        let (place, rest) = Location::leading(line).filter(|(place, _)| place.has_end(&[".py"]))?;
        let told = rest.strip_prefix(':')?.trim_start();
        // A call that led there, in either form.
        if told.is_empty() || told.starts_with("in ") {
            self.place = Some(place).filter(Location::is_own).or(self.place.take());
            return None;
        }
        let (marked, kind, message) = self.marked.take()?;
        let inner = self.place.take();
        let place = Some(place).filter(Location::is_own).or(inner);
        let named = told.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
        // A one-line report of a test repeats the error.
        let again = told.ends_with(&message);
        let kind = kind.or_else(|| if named { Some(told.to_owned()) } else { asserted(&message) });
        (named || again).then(|| Some(Diagnosis::new(marked, last_name(&kind?), &message, place))).flatten()
    }

    /// In the short form, and before any test ran, only the calls are printed.
    fn end(&mut self) -> Option<Diagnosis> {
        let (at, kind, message) = self.marked.take()?;
        let kind = kind.or_else(|| asserted(&message))?;
        Some(Diagnosis::new(at, last_name(&kind), &message, Some(self.place.take()?)))
    }
}

/// The traceback that ended a program, and those that led to it.
#[derive(Debug, Default)]
pub(in crate::evidence::errors) struct Died {
    began: Option<usize>,
    /// Whether the next traceback belongs to the same chain.
    chained: bool,
    open: bool,
    /// Whether its last line is the last one so far.
    ended: bool,
}

impl Died {
    pub(in crate::evidence::errors) fn line(&mut self, at: usize, line: &str) {
        if line == "Traceback (most recent call last):" {
            if !std::mem::take(&mut self.chained) {
                self.began = Some(at);
            }
            (self.open, self.ended) = (true, false);
        } else if line.starts_with("During handling of the above exception, another")
            || line.starts_with("The above exception was the direct cause")
        {
            self.chained = true;
        } else if self.open && !line.trim().is_empty() && !line.starts_with(' ') {
            (self.open, self.ended) = (false, raised(line).is_some());
        } else if !self.open && !line.trim().is_empty() {
            (self.ended, self.chained) = (false, false);
        }
    }

    /// The line that it begins in.
    pub(in crate::evidence::errors) fn of(&self) -> Option<usize> {
        self.began.filter(|_| self.ended)
    }
}

/// pytest's report of a plain `assert`.
fn asserted(message: &str) -> Option<String> {
    message.starts_with("assert ").then(|| "AssertionError".to_owned())
}

fn last_name(kind: &str) -> &str {
    kind.rsplit('.').next().unwrap_or(kind)
}

/// `File "a.py", line 3, in main`: the place, and whether it is a call.
pub(in crate::evidence::errors) fn frame(line: &str) -> Option<(Location, bool)> {
    let mut scan = Scan::new(line);
    scan.text("File \"")?;
    let file = scan.until("\", line ")?;
    let row = scan.number()?;
    let called = scan.text(", in ").is_some();
    Some((Location::new(file, row, None)?, called))
}

/// The last line of a traceback. Any name counts, because error classes have arbitrary names.
pub(in crate::evidence::errors) fn raised(line: &str) -> Option<(&str, &str)> {
    let (kind, message) = line.split_once(": ").unwrap_or((line, ""));
    let word = !kind.is_empty() && kind.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
    word.then(|| (last_name(kind), message))
}
