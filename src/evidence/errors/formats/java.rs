//! javac, Maven, the Kotlin compiler, and exceptions with their causes.

use crate::evidence::errors::diagnose::{Diagnosis, Format, named};
use crate::evidence::errors::place::Location;
use crate::evidence::line_scanner::Scan;

#[derive(Debug, Default)]
pub(in crate::evidence::errors) struct Java {
    open: Option<Diagnosis>,
    /// The calls that led to it; empty if none can be in a file of the project.
    calls: Vec<Option<Location>>,
    /// The calls of the exception that it caused.
    outer: Vec<Option<Location>>,
    /// How many lines the open one has waited for a frame.
    waited: usize,
}

/// A message may have several lines.
const LONGEST_MESSAGE: usize = 10;
/// The number of calls that Java prints by default.
const LONGEST_STACK: usize = 1024;

impl Format for Java {
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis> {
        if let Some(error) = compiled(at, line) {
            return Some(error);
        }
        let bare = line.trim_start();
        if let Some(frame) = bare.strip_prefix("at ").and_then(frame) {
            if self.open.is_some() && self.calls.len() < LONGEST_STACK {
                self.calls.push(frame);
            }
            self.waited = 0;
            return None;
        }
        // The cause is the reason, not the exception that it led to.
        if let Some((kind, message)) = bare.strip_prefix("Caused by: ").and_then(named) {
            let first = self.open.as_ref().map_or(at, |open| open.at);
            self.open = Some(Diagnosis::new(first, short(kind), message, None));
            self.outer = std::mem::take(&mut self.calls);
            return None;
        }
        if let Some(rest) = bare.strip_prefix("... ") {
            let same = rest.strip_suffix(" more").and_then(|count| count.parse().ok()).unwrap_or(0);
            self.calls.extend(self.outer.drain(self.outer.len().saturating_sub(same)..));
            self.calls.truncate(LONGEST_STACK);
            return None;
        }
        self.waited += 1;
        let header = bare.strip_prefix("Exception in thread ").and_then(|rest| rest.split_once("\" "));
        if let Some((kind, message)) = named(header.map_or(bare, |(_, rest)| rest))
            && kind.contains('.')
        {
            let before = self.end();
            self.open = Some(Diagnosis::new(at, short(kind), message, None));
            self.waited = 0;
            return before;
        }
        if self.waited > LONGEST_MESSAGE { self.end() } else { None }
    }

    fn end(&mut self) -> Option<Diagnosis> {
        let calls = std::mem::take(&mut self.calls);
        self.outer.clear();
        let mut open = self.open.take()?;
        calls.into_iter().flatten().for_each(|call| open.add_frame(call));
        Some(open).filter(|open| !open.frames.is_empty())
    }
}

/// A compiler error, which is one line.
fn compiled(at: usize, line: &str) -> Option<Diagnosis> {
    let (place, message) = if let Some(rest) = line.strip_prefix("[ERROR] ") {
        let (file, rest) = rest.split_once(":[")?;
        let mut scan = Scan::new(rest);
        let row = scan.number()?;
        scan.text(",")?;
        let column = scan.number()?;
        scan.text("] ")?;
        (Location::new(file, row, Some(column))?, scan.rest())
    } else if let Some(rest) = line.strip_prefix("e: ") {
        let (place, rest) = Location::leading(rest)?;
        (place, rest.trim_start_matches(':').trim_start())
    } else {
        let (place, rest) = Location::leading(line)?;
        (place, rest.strip_prefix(": error: ")?)
    };
    place
        .has_end(&[".java", ".kt", ".kts", ".scala"])
        .then(|| Diagnosis::new(at, "compile error", message, Some(place)))
}

/// `com.example.App.main(App.java:5)`: the place, its file relative to a source root. `None` for files that
/// are known not to belong to the project.
fn frame(text: &str) -> Option<Option<Location>> {
    let (method, place) = text.strip_suffix(')')?.rsplit_once('(')?;
    if matches!(place, "Native Method" | "Unknown Source" | "<generated>") {
        return Some(None);
    }
    let place = Location::of(place).filter(|place| place.has_end(&[".java", ".kt", ".scala", ".groovy"]))?;
    let method = method.rsplit('/').next().unwrap_or(method);
    let foreign = [
        "java.",
        "javax.",
        "jdk.",
        "sun.",
        "kotlin.",
        "scala.",
        "org.junit.",
        "org.gradle.",
        "org.apache.maven.",
    ];
    if foreign.iter().any(|package| method.starts_with(package)) {
        return Some(None);
    }
    let (class, _) = method.rsplit_once('.')?;
    let package = class.rsplit_once('.').map_or("", |(package, _)| package).replace('.', "/");
    let file = if package.is_empty() { place.file.clone() } else { format!("{package}/{}", place.file) };
    Some(Some(Location { file, ..place }))
}

fn short(kind: &str) -> &str {
    kind.rsplit('.').next().unwrap_or(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_causes_there_are_the_calls_are_no_more_than_java_tells_of() {
        let mut java = Java::default();
        java.line(0, "Exception in thread \"main\" a.b.SomeException: no luck");
        for _ in 0..4 {
            (0..LONGEST_STACK).for_each(|at| assert_eq!(java.line(at, "\tat a.B.f(B.java:1)"), None));
            java.line(0, "\t... 9999 more");
            assert_eq!(java.calls.len(), LONGEST_STACK);
            java.line(0, "Caused by: a.b.OtherException: no luck");
        }
    }
}
