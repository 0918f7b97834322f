//! gcc, clang and the linker.

use crate::evidence::errors::diagnose::{Diagnosis, Format};
use crate::evidence::errors::place::Location;

#[derive(Debug)]
pub(in crate::evidence::errors) struct C;

impl Format for C {
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis> {
        if let Some((_, name)) = line.split_once(": undefined reference to ") {
            let place = line.split_once(": ").and_then(|(place, _)| Location::of(place));
            return Some(Diagnosis::new(at, "link error", &format!("undefined reference to {name}"), place));
        }
        let (place, rest) = Location::leading(line)?;
        let rest = rest.strip_prefix(": ")?;
        let message = rest.strip_prefix("error: ").or_else(|| rest.strip_prefix("fatal error: "))?;
        // Errors of the Java compiler look the same.
        (!place.has_end(&[".java"])).then(|| Diagnosis::new(at, "compile error", message, Some(place)))
    }

    fn end(&mut self) -> Option<Diagnosis> {
        None
    }
}
