//! The Go compiler, failed tests and panics.

use crate::evidence::errors::diagnose::{Diagnosis, Format};
use crate::evidence::errors::place::Location;

/// The type of a failure reported by a test, in a file named without its directory.
pub(in crate::evidence::errors) const OF_TEST: &str = "test failure";

#[derive(Debug, Default)]
pub(in crate::evidence::errors) struct Go {
    /// A panic, with its calls so far.
    panic: Option<Diagnosis>,
    /// Whether we are inside the lines of a failed test.
    failed_test: bool,
}

impl Format for Go {
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis> {
        if let Some(message) = line.strip_prefix("panic: ") {
            let before = self.end();
            self.panic = Some(Diagnosis::new(at, "panic", message, None));
            return before;
        }
        if let Some(panic) = &mut self.panic
            && let Some(frame) = line.strip_prefix('\t')
        {
            let (place, _) = Location::leading(frame).filter(|(place, _)| place.has_end(&[".go"]))?;
            panic.add_frame(place);
            return None;
        }
        // All goroutines are printed before go itself prints again.
        if ["FAIL", "ok  \t", "exit status "].iter().any(|word| line.starts_with(word)) {
            return self.end();
        }
        let bare = line.trim_start();
        let indented = bare.len() < line.len();
        if bare.starts_with("--- FAIL: ") || bare.starts_with("=== RUN ") {
            self.failed_test = true;
            return self.end();
        }
        let text = bare.strip_prefix("vet: ").unwrap_or(bare);
        let (place, rest) = Location::leading(text).filter(|(place, _)| place.has_end(&[".go"]))?;
        let message = rest.strip_prefix(": ")?;
        match (indented, place.column) {
            (true, None) if self.failed_test => Some(Diagnosis::new(at, OF_TEST, message, Some(place))),
            (false, Some(_)) => Some(Diagnosis::new(at, "compile error", message, Some(place))),
            _ => None,
        }
    }

    /// Other programs print `panic: ` too, but without calls.
    fn end(&mut self) -> Option<Diagnosis> {
        self.panic.take().filter(|panic| !panic.frames.is_empty())
    }
}

/// `FAIL example.com/shop/total 0.006s`, with tabs: the package of the tests reported before.
pub(in crate::evidence::errors) fn failed_package(line: &str) -> Option<&str> {
    let package = line.strip_prefix("FAIL\t")?.split(['\t', ' ']).next()?;
    (!package.is_empty()).then_some(package)
}
