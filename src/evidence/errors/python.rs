//! Tracebacks, syntax errors, and what pytest shows of a failure.

use super::diagnose::{Diagnosis, Format, named};
use super::place::Location;
use crate::evidence::scan::Scan;

#[derive(Debug, Default)]
pub(super) struct Python {
    /// Where a traceback or a syntax error began, and how far it is indented.
    began: Option<(usize, usize)>,
    /// The innermost place of the project.
    place: Option<Location>,
    /// What pytest marks with `E`: its line, kind and message.
    marked: Option<(usize, Option<String>, String)>,
}

impl Format for Python {
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis> {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        if bare == "Traceback (most recent call last):" {
            (self.began, self.place) = (Some((at, indent)), None);
            return None;
        }
        if let Some((place, called)) = frame(bare) {
            // A syntax error has one place, and no call that led there.
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
            self.began = None;
            let place = self.place.take();
            let (kind, message) = raised(bare)?;
            return Some(Diagnosis::new(began, kind, message, place));
        }
        let (place, rest) = Location::leading(line).filter(|(place, _)| place.has_end(&[".py"]))?;
        let told = rest.strip_prefix(':')?.trim_start();
        // A call that led there, in one form or the other.
        if told.is_empty() || told.starts_with("in ") {
            self.place = Some(place).filter(Location::is_own).or(self.place.take());
            return None;
        }
        let (marked, kind, message) = self.marked.take()?;
        let inner = self.place.take();
        let place = Some(place).filter(Location::is_own).or(inner);
        let named = told.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
        named.then(|| Diagnosis::new(marked, kind.as_deref().unwrap_or(told), &message, place))
    }

    /// An error before any test ran is marked, and has only the places that led to it.
    fn end(&mut self) -> Option<Diagnosis> {
        let (at, kind, message) = self.marked.take()?;
        Some(Diagnosis::new(at, kind.as_deref()?, &message, Some(self.place.take()?)))
    }
}

/// `File "a.py", line 3, in main`: the place, and whether it is a call.
fn frame(line: &str) -> Option<(Location, bool)> {
    let mut scan = Scan::new(line);
    scan.text("File \"")?;
    let file = scan.until("\", line ")?;
    let row = scan.number()?;
    let called = scan.text(", in ").is_some();
    Some((Location::new(file, row, None)?, called))
}

/// The line that ends a traceback. Any name will do: classes of errors are named freely.
fn raised(line: &str) -> Option<(&str, &str)> {
    let (kind, message) = line.split_once(": ").unwrap_or((line, ""));
    let word = !kind.is_empty() && kind.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
    word.then(|| (kind.rsplit('.').next().unwrap_or(kind), message))
}
