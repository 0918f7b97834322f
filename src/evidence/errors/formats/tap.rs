//! Failed tests that Node's runner and vitest report as TAP.

use crate::evidence::errors::diagnose::{Diagnosis, Format};
use crate::evidence::errors::place::Location;

#[derive(Debug, Default)]
pub(in crate::evidence::errors) struct Tap {
    open: Option<Block>,
}

/// The lines between `---` and `...` after a failed test.
#[derive(Debug, Default)]
struct Block {
    at: usize,
    indent: usize,
    /// The key whose deeper-indented lines follow.
    key: String,
    location: Option<Location>,
    frame: Option<Location>,
    message: String,
    name: String,
    code: String,
    failure: String,
}

impl Format for Tap {
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis> {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        if bare == "---" {
            self.open = Some(Block { at, indent, ..Block::default() });
            return None;
        }
        let block = self.open.as_mut()?;
        if bare == "..." && indent == block.indent {
            return self.open.take().and_then(Block::diagnosis);
        }
        block.line(bare, indent);
        None
    }

    /// A block without an end may be anything.
    fn end(&mut self) -> Option<Diagnosis> {
        None
    }
}

impl Block {
    fn line(&mut self, bare: &str, indent: usize) {
        if indent > self.indent {
            let nested = |key: &str| bare.strip_prefix(key).map(|value| value.trim_matches('"').to_owned());
            match self.key.as_str() {
                // vitest indents these one level deeper.
                "error" if bare.starts_with("name: ") => self.name = nested("name: ").unwrap_or_default(),
                "error" if bare.starts_with("message: ") => {
                    self.message = nested("message: ").unwrap_or_default()
                }
                "error" if self.message.is_empty() => self.message = bare.to_owned(),
                "stack" if self.frame.is_none() => self.frame = frame(bare).filter(Location::is_own),
                _ => {}
            }
            return;
        }
        let Some((key, value)) = bare.split_once(": ").or_else(|| bare.split_once(':')) else { return };
        self.key = key.to_owned();
        let value = value.trim().trim_matches('\'');
        match key {
            "at" => {
                self.location = Location::of(value.trim_matches('"'));
                self.failure = "vitest".to_owned();
            }
            "location" => self.location = Location::of(value),
            "error" if !value.starts_with('|') && !value.is_empty() => self.message = value.to_owned(),
            "name" => self.name = value.to_owned(),
            "code" => self.code = value.to_owned(),
            "failureType" => self.failure = value.to_owned(),
            _ => {}
        }
    }

    fn diagnosis(self) -> Option<Diagnosis> {
        // A failed subtest was reported there.
        if self.failure.is_empty() || self.failure == "subtestsFailed" || self.message.is_empty() {
            return None;
        }
        let kind = [self.name, self.code].into_iter().find(|word| !word.is_empty());
        let kind = kind.unwrap_or_else(|| "test failure".to_owned());
        Some(Diagnosis::new(self.at, &kind, &self.message, self.frame.or(self.location)))
    }
}

/// `TestContext.<anonymous> (file:///home/dev/a.test.js:4:10)`
fn frame(line: &str) -> Option<Location> {
    let place =
        line.strip_suffix(')').and_then(|line| line.rsplit_once('(')).map_or(line, |(_, place)| place);
    let place = place.strip_prefix("async ").unwrap_or(place);
    Location::of(place.strip_prefix("file://").unwrap_or(place)).filter(|place| place.column.is_some())
}
