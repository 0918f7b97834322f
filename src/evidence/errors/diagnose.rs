//! Finds the errors in an output, whichever tool printed them.

use crate::evidence::errors::formats::{c, go, java, jest, lint, node, python, rust, tap, tsc};
use crate::evidence::errors::place::Location;
use crate::evidence::errors::program_message::{Said, Speakers};
use crate::evidence::errors::test_verdict::Verdict;
use crate::evidence::screen_lines::lines;
use crate::text::plain;

const MOST_ERRORS: usize = 20;
const LONGEST_MESSAGE: usize = 300;
/// If calls come from more files than this, looking for the project's own is not worthwhile.
const MOST_FRAMES: usize = 64;

/// One error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Diagnosis {
    /// `compile error E0308`, `TypeError`, `panic`.
    pub(super) kind: String,
    pub(super) message: String,
    pub(super) place: Option<Location>,
    /// The calls that led to it, innermost first, until the project's own file is found among them. Of
    /// several in one file, the first.
    pub(super) frames: Vec<Location>,
    /// The directory that `make` reported to work in.
    pub(super) entered: Option<String>,
    /// What the tool itself suggests.
    pub(super) advice: Option<String>,
    /// The line of the output that it begins in.
    pub(super) at: usize,
}

impl Diagnosis {
    pub(super) fn new(at: usize, kind: &str, message: &str, place: Option<Location>) -> Self {
        let kind = plain::line(kind, LONGEST_MESSAGE);
        let message = plain::line(message, LONGEST_MESSAGE);
        Self { kind, message, place, frames: Vec::new(), entered: None, advice: None, at }
    }

    /// Adds another call that led to it.
    pub(super) fn add_frame(&mut self, frame: Location) {
        let is_known = |known: &Location| known.file == frame.file;
        if self.frames.len() < MOST_FRAMES && !self.frames.iter().any(is_known) {
            self.frames.push(frame);
        }
    }

    /// Whether the tool points at the exact place to fix.
    pub(super) fn is_fixed_in_place(&self) -> bool {
        self.kind.starts_with("compile error") || self.kind.starts_with("lint error")
    }

    /// Whether its file is named as `go test` does, without a directory.
    pub(super) fn is_of_go_test(&self) -> bool {
        self.kind == go::OF_TEST && self.place.as_ref().is_some_and(|place| place.has_end(&[".go"]))
    }

    /// The same error, in the directory that `make` reported.
    fn read_in(mut self, directory: Option<&String>) -> Self {
        self.entered = directory.cloned();
        if let (Some(place), Some(directory)) = (&mut self.place, directory)
            && !place.file.starts_with('/')
        {
            place.file = format!("{directory}/{}", place.file);
        }
        self
    }
}

/// The errors of one output.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The first errors, in the order of the output.
    pub(super) errors: Vec<Diagnosis>,
    /// How many there are in total.
    pub(super) count: u64,
}

/// Reads the lines of one output for one format.
pub(super) trait Format {
    /// Reads one line and returns the error that it completes.
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis>;

    /// Returns the error that the end of the output completes.
    fn end(&mut self) -> Option<Diagnosis>;
}

/// All errors of an output, those with a place first; `None` if nothing explains the failure. `speakers` are
/// the programs whose own messages count.
pub(super) fn diagnose(text: &str, speakers: &Speakers<'_>) -> Option<Found> {
    let mut formats: [(Box<dyn Format>, Found); 10] = [
        (Box::new(rust::Rust::default()), Found::default()),
        (Box::new(tsc::Tsc), Found::default()),
        (Box::new(c::C), Found::default()),
        (Box::new(go::Go::default()), Found::default()),
        (Box::new(java::Java::default()), Found::default()),
        (Box::new(python::Python::default()), Found::default()),
        (Box::new(node::Node::default()), Found::default()),
        (Box::new(jest::Jest::default()), Found::default()),
        (Box::new(tap::Tap::default()), Found::default()),
        (Box::new(lint::Lint::default()), Found::default()),
    ];
    let mut entered: Vec<String> = Vec::new();
    let mut said = Said::new(speakers);
    let mut verdict = Verdict::default();
    let mut died = python::Died::default();
    let mut before = Found::default();
    for (at, line) in lines(text).enumerate() {
        for (format, found) in &mut formats {
            let error = format.line(at, &line);
            error.into_iter().for_each(|error| found.add(error.read_in(entered.last())));
        }
        if let Some(package) = go::failed_package(&line) {
            formats.iter_mut().for_each(|(_, found)| found.are_of_package(package));
        }
        follow(&line, &mut entered);
        said.line(at, &line);
        died.line(at, &line);
        if verdict.begins(at, &line) {
            formats.iter_mut().for_each(|(_, found)| found.set_aside(at, &mut before));
        }
    }
    // An error that a program caught earlier is not the one that ended it.
    let died = died.of().filter(|_| speakers.programs.len() == 1 && verdict.began.is_none());
    let mut all = Found::default();
    for (format, found) in &mut formats {
        format.end().into_iter().for_each(|error| found.add(error.read_in(entered.last())));
        // An error still open when the runner began to list failures ended after that.
        verdict.began.or(died).into_iter().for_each(|at| found.set_aside(at, &mut before));
        all.count += found.count;
        all.errors.append(&mut found.errors);
    }
    if all.errors.is_empty() {
        all = before;
    }
    all.errors.sort_by_key(|error| error.at);
    all.errors.truncate(MOST_ERRORS);
    if all.errors.is_empty() {
        all.errors.extend(said.first());
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

    /// The errors of the `go test` package that is reported now.
    fn are_of_package(&mut self, package: &str) {
        for error in self.errors.iter_mut().filter(|error| error.is_of_go_test()) {
            if let Some(place) = error.place.as_mut().filter(|place| !place.file.contains('/')) {
                place.file = format!("{package}/{}", place.file);
            }
        }
    }

    /// What passing tests print is not the reason if the failed ones are listed after it.
    fn set_aside(&mut self, at: usize, before: &mut Found) {
        let is_told = |error: &Diagnosis| error.at >= at || error.kind.starts_with("compile error");
        let (told, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.errors).into_iter().partition(is_told);
        self.count -= others.len() as u64;
        self.errors = told;
        others.into_iter().for_each(|error| before.add(error));
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

/// Messages that only say that something before them failed.
pub(super) fn is_echo(message: &str) -> bool {
    const ECHOES: [&str; 10] = [
        "could not compile",
        "aborting due to",
        "test failed, to rerun",
        "doctest failed, to rerun",
        "test run failed",
        "process didn't exit successfully",
        "build failed",
        "ld returned ",
        "recipe ",
        "Recipe ",
    ];
    let counted = message.contains(" target failed") || message.contains(" targets failed");
    counted || ECHOES.iter().any(|echo| message.starts_with(echo))
}

/// An error's name and message: `TypeError: x is not a function`.
///
/// A name has no space and says that it is an error.
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
