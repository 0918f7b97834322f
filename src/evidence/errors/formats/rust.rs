//! rustc, in its long and short form, and panics.

use crate::evidence::errors::diagnose::{Diagnosis, Format, is_echo};
use crate::evidence::errors::place::Location;

#[derive(Debug, Default)]
pub(in crate::evidence::errors) struct Rust {
    open: Option<Diagnosis>,
    /// A panic whose message is on the next line.
    panic: bool,
}

impl Format for Rust {
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis> {
        if self.panic {
            self.panic = false;
            let mut panic = self.open.take()?;
            panic.message = Diagnosis::new(at, "", line, None).message;
            return Some(panic);
        }
        if let Some((kind, message)) = headed(line) {
            let before = self.end();
            self.open = Some(Diagnosis::new(at, &kind, message, None));
            return before;
        }
        if line.starts_with("warning") || line.is_empty() && self.has_advice() {
            return self.end();
        }
        if let Some((place, message)) = panicked(line) {
            let before = self.end();
            let panic = Diagnosis::new(at, "panic", message.unwrap_or_default(), Some(place));
            if message.is_some() {
                return before.or(Some(panic));
            }
            (self.open, self.panic) = (Some(panic), true);
            return before;
        }
        let bare = line.trim_start();
        if bare.len() == line.len() && !bare.starts_with("help: ") {
            return short(at, line);
        }
        let open = self.open.as_mut()?;
        if open.place.is_none()
            && let Some(place) = bare.strip_prefix("--> ")
        {
            open.place = Location::of(place);
        } else if open.advice.is_none()
            && let Some(help) = line.strip_prefix("help: ")
        {
            open.advice = Some(format!("rustc suggests: {}", Diagnosis::new(at, "", help, None).message));
        }
        None
    }

    /// Without a place it is a plain message, which other formats read.
    fn end(&mut self) -> Option<Diagnosis> {
        self.open.take().filter(|error| error.place.is_some())
    }
}

impl Rust {
    fn has_advice(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.advice.is_some())
    }
}

/// `error[E0308]: mismatched types`, or without the code.
fn headed(line: &str) -> Option<(String, &str)> {
    let rest = line.strip_prefix("error")?;
    if let Some(message) = rest.strip_prefix(": ") {
        return (!is_echo(message)).then(|| ("compile error".to_owned(), message));
    }
    let (code, message) = rest.strip_prefix('[')?.split_once("]: ")?;
    let is_code = code.starts_with('E') && code[1..].bytes().all(|byte| byte.is_ascii_digit());
    is_code.then(|| (format!("compile error {code}"), message))
}

/// The same, if it has a code.
pub(in crate::evidence::errors) fn coded(line: &str) -> Option<(String, &str)> {
    headed(line).filter(|(kind, _)| kind != "compile error")
}

/// `src/a.rs:2:5: error[E0308]: mismatched types`
fn short(at: usize, line: &str) -> Option<Diagnosis> {
    let (place, rest) = Location::leading(line).filter(|(place, _)| place.has_end(&[".rs"]))?;
    let (kind, message) = headed(rest.strip_prefix(": ")?)?;
    Some(Diagnosis::new(at, &kind, message, Some(place)))
}

/// `thread 'main' panicked at src/main.rs:4:5:`, or the older form with the message before the place.
fn panicked(line: &str) -> Option<(Location, Option<&str>)> {
    let rest = line.trim_start().strip_prefix("thread '")?;
    let (_, rest) = rest.split_once(" panicked at ")?;
    if let Some(old) = rest.strip_prefix('\'') {
        let (message, place) = old.rsplit_once("', ")?;
        return Some((Location::of(place)?, Some(message)));
    }
    Some((Location::of(rest.trim_end_matches(':'))?, None))
}
