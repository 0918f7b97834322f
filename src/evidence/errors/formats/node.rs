//! JavaScript errors with their stack, as printed by Node, jest, mocha and vitest.

use crate::evidence::errors::diagnose::{Diagnosis, Format, named};
use crate::evidence::errors::place::Location;

#[derive(Debug, Default)]
pub(in crate::evidence::errors) struct Node {
    open: Option<Diagnosis>,
    /// How many lines the open one has waited for a frame.
    waited: usize,
    frames: bool,
    /// The place that Node prints before the error.
    stopped: Option<Location>,
    /// Whether jest is about to print why a file could not run.
    suite: bool,
    /// Whether the innermost call is Node's own: a file could not be parsed.
    unread: bool,
}

/// A comparison and some code may stand between an error and its stack.
const LONGEST_WAIT: usize = 60;

impl Format for Node {
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis> {
        let bare = line.trim();
        // mocha's heading for a file, or a required file, that could not be loaded.
        let thrown = bare.strip_prefix("Exception during run: ").or_else(|| line.strip_prefix("✖ ERROR: "));
        let bare = thrown.unwrap_or(bare);
        if let Some(place) = frame(bare) {
            if !self.frames {
                self.unread = bare.contains("(node:internal/");
            }
            self.frames = true;
            if let Some(open) = &mut self.open
                && open.place.is_none()
            {
                open.place = place.filter(Location::is_own);
            }
            return None;
        }
        if bare.starts_with("... ") {
            return None;
        }
        if bare == "● Test suite failed to run" {
            self.suite = true;
            return self.end();
        }
        // The cause is the reason, not the error that it led to.
        if let Some((kind, message)) = bare.strip_prefix("[cause]: ").and_then(named) {
            let first = self.open.take()?.at;
            self.open = Some(Diagnosis::new(first, kind, message, None));
            (self.frames, self.waited) = (false, 0);
            return None;
        }
        if let Some((kind, message)) = named(bare.strip_prefix("Uncaught ").unwrap_or(bare))
            && !kind.contains('.')
        {
            let before = self.end();
            self.suite = false;
            // The code of a plain error is more specific than its name.
            let kind =
                kind.split_once(" [").map_or(kind, |(name, _)| if name == "Error" { kind } else { name });
            self.open = Some(Diagnosis::new(at, kind, message, None));
            self.waited = 0;
            return before;
        }
        // A thrown value has no name here.
        if self.suite && !bare.is_empty() {
            self.suite = false;
            self.open = Some(Diagnosis::new(at, "test suite failure", bare, None));
            self.waited = 0;
            return None;
        }
        let stops = Location::of(bare).filter(|place| place.column.is_none() && place.has_end(ENDS));
        if thrown.is_some() && stops.is_none() {
            let before = self.end();
            self.open = Some(Diagnosis::new(at, "test suite failure", bare, None));
            // It is an error with or without a stack.
            (self.frames, self.waited) = (true, 0);
            return before;
        }
        // jest prints the expectation instead of a name.
        if self.open.is_none() && bare.starts_with("expect(") && bare.contains(").") {
            self.open = Some(Diagnosis::new(at, "assertion failure", bare, None));
            self.waited = 0;
            return None;
        }
        if self.open.is_none() {
            self.stopped = stops.or(self.stopped.take());
        }
        self.waited += 1;
        let over = self.frames || self.waited > LONGEST_WAIT;
        if over { self.end() } else { None }
    }

    /// Without a stack it may be from any language.
    fn end(&mut self) -> Option<Diagnosis> {
        let frames = std::mem::take(&mut self.frames);
        let mut open = self.open.take().filter(|_| frames)?;
        // The place is what could not be parsed; the calls only led there.
        open.place = match (open.kind.as_str(), self.stopped.take()) {
            ("SyntaxError", Some(stopped)) if self.unread => Some(stopped),
            (_, stopped) => open.place.or(stopped),
        };
        Some(open)
    }
}

pub(in crate::evidence::errors) const ENDS: &[&str] =
    &[".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".vue", ".svelte"];

/// `at main (/a/b.js:3:9)`, or `❯ b.test.js:9:38`. A frame may have no readable place.
pub(in crate::evidence::errors) fn frame(line: &str) -> Option<Option<Location>> {
    let text = line.strip_prefix("at ").or_else(|| line.strip_prefix("❯ "))?;
    let text = text.trim_end_matches(" {");
    let place = match text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        Some((_, place)) => place,
        None => text.rsplit(' ').next().unwrap_or(text),
    };
    let place = place.strip_prefix("file://").unwrap_or(place);
    // `node:internal/…` contains a colon itself.
    if place.starts_with("node:") || place == "<anonymous>" || place == "native" {
        return Some(None);
    }
    Location::of(place).filter(|place| place.column.is_some()).map(Some)
}
