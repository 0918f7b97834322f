//! javac, Maven, the Kotlin compiler, and exceptions with their causes.

use super::diagnose::{Diagnosis, Format, named};
use super::place::Location;
use crate::evidence::scan::Scan;

#[derive(Debug, Default)]
pub(super) struct Java {
    open: Option<Diagnosis>,
    /// How many lines the open one has waited for a frame.
    waited: usize,
}

/// Messages may have some lines.
const LONGEST_MESSAGE: usize = 10;

impl Format for Java {
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis> {
        if let Some(error) = compiled(at, line) {
            return Some(error);
        }
        let bare = line.trim_start();
        if let Some(frame) = bare.strip_prefix("at ").and_then(frame) {
            if let Some(open) = &mut self.open
                && open.place.is_none()
            {
                open.place = frame.1.then_some(frame.0);
            }
            self.waited = 0;
            return None;
        }
        // What it was caused by is the reason; where it came out is not.
        if let Some((kind, message)) = bare.strip_prefix("Caused by: ").and_then(named) {
            let first = self.open.as_ref().map_or(at, |open| open.at);
            self.open = Some(Diagnosis::new(first, short(kind), message, None));
            return None;
        }
        if bare.starts_with("... ") {
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
        self.open.take().filter(|open| open.place.is_some())
    }
}

/// An error of a compiler, which is one line.
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

/// `com.example.App.main(App.java:5)`: the place, and whether it is of the project.
fn frame(text: &str) -> Option<(Location, bool)> {
    let (method, place) = text.strip_suffix(')')?.rsplit_once('(')?;
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
    Some((place, !foreign.iter().any(|package| method.starts_with(package))))
}

fn short(kind: &str) -> &str {
    kind.rsplit('.').next().unwrap_or(kind)
}
