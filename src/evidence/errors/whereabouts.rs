//! Which file a place is in, as seen from the run's directory.
//!
//! A place that may be another file is none. Of what a script started, it is not known
//! where that worked: only what is there is told.

use super::diagnose::{Diagnosis, Found};
use super::frames::Frames;
use super::node;
use super::place::Location;
use super::work::Done;
use crate::evidence::tests::{Origin, below, moved};

pub(super) struct Whereabouts<'a> {
    /// The run's directory, with a slash at its end.
    pub(super) root: &'a str,
    pub(super) origin: &'a Origin,
    pub(super) done: &'a Done,
    /// Whether a file is below a directory.
    pub(super) is_there: fn(&str, &str) -> bool,
}

impl Whereabouts<'_> {
    /// Names the files of all errors.
    pub(super) fn tell(&self, found: &mut Found) {
        let Found { errors, shown, files, .. } = found;
        files.retain(|file| (self.is_there)(self.root, file));
        let mut frames = Frames::new(self, shown);
        for error in errors {
            error.place = match error.place.clone() {
                Some(place) => self.told(error, place, shown),
                None => frames.own(error),
            };
        }
    }

    fn told(&self, error: &Diagnosis, mut place: Location, shown: &[String]) -> Option<Location> {
        let compiled = error.is_fixed_in_place() || error.kind == "link error";
        if let Some(below) = place.file.strip_prefix(self.root) {
            place.file = below.to_owned();
        } else if !place.file.starts_with('/') {
            let directory = self.done.directory.as_deref()?;
            place.file = match (error.is_of_go_test(), self.done.runs_a_script()) {
                (true, _) => self.of_package(&place.file, directory),
                (false, true) => self.of_script(&place, directory, shown),
                (false, false) if !compiled && place.has_end(node::ENDS) => {
                    self.of_a_project_around(&place.file, directory)
                }
                (false, false) => below_root(&place, directory).map(|file| self.below(&file)),
            }?;
        }
        // What else came to grief is not where to look; a compiler means what it says.
        (compiled || place.is_own()).then_some(place)
    }

    fn of_script(&self, place: &Location, directory: &str, shown: &[String]) -> Option<String> {
        // rustc names files from the root of the workspace, wherever that is.
        let workspace = place.has_end(&[".rs"]).then(String::new);
        let places = went(directory, shown).chain(workspace);
        self.the_one(places.map(|from| moved(&from, &place.file)))
    }

    /// jest names files from the root of the project, which may be further up.
    fn of_a_project_around(&self, file: &str, directory: &str) -> Option<String> {
        let above = directory.match_indices('/').map(|(at, _)| &directory[..at]);
        self.the_one(above.chain(["", directory]).map(|from| moved(from, file)))
    }

    /// go names a file without its directory; behind the path of its package, where that is known.
    fn of_package(&self, file: &str, directory: &str) -> Option<String> {
        let (_, base) = file.rsplit_once('/').unwrap_or(("", file));
        if let Some(package) = self.done.go_package() {
            return Some(self.below(&moved(&moved(directory, package), base)));
        }
        // The module has a name of its own, which a directory may be called as well.
        let parts = file.match_indices('/').map(|(at, _)| &file[at + 1..]);
        let parts = parts.chain(file.contains('/').then_some(file));
        self.the_one(parts.map(|part| moved(directory, part)))
    }

    /// The one of some files that is there.
    pub(super) fn the_one(&self, files: impl Iterator<Item = String>) -> Option<String> {
        let mut there: Vec<String> = files
            .map(|file| self.below(&file))
            .filter(|file| !file.starts_with('/') && (self.is_there)(self.root, file))
            .collect();
        there.sort();
        there.dedup();
        <[String; 1]>::try_from(there).ok().map(|[one]| one)
    }

    fn below(&self, file: &str) -> String {
        below(self.root.trim_end_matches('/'), file)
    }
}

/// Where a script was started, and where it says that it went.
pub(super) fn went(directory: &str, shown: &[String]) -> impl Iterator<Item = String> {
    [directory.to_owned()].into_iter().chain(shown.iter().map(move |to| moved(directory, to)))
}

/// The file of a place that is named as seen from `directory`.
fn below_root(place: &Location, directory: &str) -> Option<String> {
    match directory {
        "" => Some(place.file.clone()),
        // rustc names files from the root of the workspace, wherever that is.
        _ if place.has_end(&[".rs"]) => place
            .file
            .strip_prefix(directory)
            .filter(|rest| rest.starts_with('/'))
            .map(|_| place.file.clone()),
        _ => Some(format!("{directory}/{}", place.file)),
    }
}

impl Done {
    /// The directory of the one package whose tests go runs.
    fn go_package(&self) -> Option<&str> {
        let mut of_go = self.command.steps.iter().filter(|step| step.program() == "go");
        let step = of_go.next().filter(|_| of_go.next().is_none())?;
        one_package(step.args())
    }
}

/// The directory of the one package that `go test` is asked for.
fn one_package(args: &[String]) -> Option<&str> {
    const ALONE: [&str; 10] =
        ["-v", "-race", "-cover", "-short", "-failfast", "-json", "-x", "-a", "-n", "-benchmem"];
    let from = args.iter().position(|arg| arg == "test").filter(|at| *at == 0)?;
    let mut packages = Vec::new();
    let mut is_value = false;
    for arg in args[from + 1..].iter().map(String::as_str).take_while(|arg| *arg != "-args") {
        let is_path = arg == "." || arg.starts_with("./");
        if arg.starts_with('-') {
            is_value = !arg.contains('=') && !ALONE.contains(&arg);
        } else if is_path || !std::mem::take(&mut is_value) {
            packages.push(arg);
        }
    }
    match packages.as_slice() {
        [] => Some("."),
        [one] if one.starts_with('.') && !one.contains("...") => Some(one),
        _ => None,
    }
}
