//! The errors that an output tells of, whatever wrote them.

use super::place::Location;
use super::{c, go, java, node, python, rust, tap, tsc};
use crate::evidence::lines::lines;
use crate::progress::plain;

const MOST_ERRORS: usize = 20;
const LONGEST_MESSAGE: usize = 300;

/// One error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Diagnosis {
    /// `compile error E0308`, `TypeError`, `panic`.
    pub(super) kind: String,
    pub(super) message: String,
    pub(super) place: Option<Location>,
    /// What the tool itself says to do.
    pub(super) advice: Option<String>,
    /// The line of the output that it begins in.
    pub(super) at: usize,
}

impl Diagnosis {
    pub(super) fn new(at: usize, kind: &str, message: &str, place: Option<Location>) -> Self {
        let kind = plain::line(kind, LONGEST_MESSAGE);
        Self { kind, message: plain::line(message, LONGEST_MESSAGE), place, advice: None, at }
    }
}

impl Diagnosis {
    /// The same, where `make` said that it works in `directory`.
    fn from(mut self, directory: Option<&String>) -> Self {
        if let (Some(place), Some(directory)) = (&mut self.place, directory)
            && !place.file.starts_with('/')
        {
            place.file = format!("{directory}/{}", place.file);
        }
        self
    }
}

/// What one output tells.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The first of them, in the order of the output.
    pub(super) errors: Vec<Diagnosis>,
    /// How many there are in all.
    pub(super) count: u64,
}

/// Reads the lines of one output for one format.
pub(super) trait Format {
    /// Reads one line and hands over the error that is complete with it.
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis>;

    /// The error that the end of the output completes.
    fn end(&mut self) -> Option<Diagnosis>;
}

/// All errors of an output, those of a known place before anything else; `None` where nothing says why.
pub(super) fn diagnose(text: &str) -> Option<Found> {
    let mut formats: [(Box<dyn Format>, Found); 8] = [
        (Box::new(rust::Rust::default()), Found::default()),
        (Box::new(tsc::Tsc), Found::default()),
        (Box::new(c::C), Found::default()),
        (Box::new(go::Go::default()), Found::default()),
        (Box::new(java::Java::default()), Found::default()),
        (Box::new(python::Python::default()), Found::default()),
        (Box::new(node::Node::default()), Found::default()),
        (Box::new(tap::Tap::default()), Found::default()),
    ];
    let mut entered: Vec<String> = Vec::new();
    let mut plain_error = None;
    for (at, line) in lines(text).enumerate() {
        for (format, found) in &mut formats {
            let error = format.line(at, &line);
            error.into_iter().for_each(|error| found.add(error.from(entered.last())));
        }
        follow(&line, &mut entered);
        if plain_error.is_none() {
            plain_error = plain_message(&line).map(|message| Diagnosis::new(at, "error", message, None));
        }
    }
    let mut all = Found::default();
    for (format, found) in &mut formats {
        format.end().into_iter().for_each(|error| found.add(error.from(entered.last())));
        all.count += found.count;
        all.errors.append(&mut found.errors);
    }
    all.errors.sort_by_key(|error| error.at);
    all.errors.truncate(MOST_ERRORS);
    if all.errors.is_empty() {
        all.errors.extend(plain_error);
        all.count = all.errors.len() as u64;
    }
    (!all.errors.is_empty()).then_some(all)
}

impl Found {
    fn add(&mut self, error: Diagnosis) {
        self.count += 1;
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(error);
        }
    }
}

/// `make[1]: Entering directory '/home/dev/shop/web'`
fn follow(line: &str, entered: &mut Vec<String>) {
    if !line.starts_with("make") && !line.starts_with("gmake") {
        return;
    }
    if let Some((_, directory)) = line.split_once(": Entering directory ") {
        entered.push(directory.trim_matches(['\'', '`']).to_owned());
    } else if line.contains(": Leaving directory ") {
        entered.pop();
    }
}

/// What a program says of its own accord, without a place.
fn plain_message(line: &str) -> Option<&str> {
    let heads = ["error: ", "Error: ", "ERROR: ", "fatal: "];
    // Programs of Python name themselves first.
    let is_name =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" ._-".contains(&byte));
    let named = || line.split_once(": error: ").filter(|(name, _)| is_name(name)).map(|(_, text)| text);
    let message = heads.iter().find_map(|head| line.strip_prefix(head)).or_else(named)?;
    let usage = message.starts_with("usage: ");
    (!message.trim().is_empty() && !usage && !is_echo(message)).then_some(message)
}

/// What only says that something before it failed.
pub(super) fn is_echo(message: &str) -> bool {
    const ECHOES: [&str; 9] = [
        "could not compile",
        "aborting due to",
        "test failed, to rerun",
        "doctest failed, to rerun",
        "test run failed",
        "process didn't exit successfully",
        "build failed",
        "recipe ",
        "Recipe ",
    ];
    let counted = message.contains(" target failed") || message.contains(" targets failed");
    counted || ECHOES.iter().any(|echo| message.starts_with(echo))
}

/// The name of an error with its message: `TypeError: x is not a function`.
///
/// A name has no space, and says that it names an error.
pub(super) fn named(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (name, message) = line.split_once(": ").unwrap_or((line.strip_suffix(':').unwrap_or(line), ""));
    let bare = name.split_once(" [").map_or(name, |(bare, _)| bare);
    let word = bare.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '$'));
    let ends = ["Error", "Exception", "Failure", "Interrupt", "Exit", "Fault"];
    let last = bare.rsplit(['.', '$']).next().unwrap_or(bare);
    let named =
        word && last.starts_with(|c: char| c.is_uppercase()) && ends.iter().any(|end| last.ends_with(end));
    named.then_some((name, message))
}
