//! Resolves which file a caller wants to inspect, and opens it.
//!
//! Only artifacts of runs, captures, and terminal recordings can be inspected. A path is split into names,
//! each name is validated, and the file is opened below the home by these names.

use crate::reading;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::context::missing_output;
use crate::context::{Context, TaskError};
use crate::host::Home;
use crate::host::MultiFileReader;
use crate::host::{BeneathError, open_beneath};
use crate::host::{LineIndex, line_index};
use crate::ledger::{Gap, MayBeMissing, output_stream};
use crate::model::{RunId, RunResult, TaskId, TerminalId};
use crate::runs::{ArtifactName, RunDir};
use crate::storage;
use crate::terminals::{self, TerminalError};

/// Longer than any of our paths.
const LONGEST_PATH: usize = 4096;
/// A run's output files, the best first. Those after the transcript are for runs of older versions.
const USUAL: [&str; 4] = ["transcript.log", "stdout.log", "events.jsonl", "stderr.log"];

/// What a caller wants to inspect.
#[derive(Debug)]
pub(crate) enum InspectTarget {
    /// An artifact of a task; without a name, its output.
    Task {
        reference: String,
        artifact: Option<String>,
    },
    File(String),
}

/// An open file and where it belongs.
#[derive(Debug)]
pub(crate) struct OpenTarget {
    pub(crate) file: MultiFileReader,
    /// How many bytes were left out of its middle.
    pub(crate) dropped: u64,
    pub(crate) index: Option<LineIndex>,
    pub(crate) path: PathBuf,
    pub(crate) task: Option<TaskId>,
    pub(crate) artifact: Option<ArtifactName>,
    /// The run is still going, so the file may grow.
    pub(crate) live: bool,
    /// If no file was named: the run's other output files and their sizes.
    pub(crate) beside: Vec<(&'static str, u64)>,
}

pub(crate) fn open(context: &Context, of: &InspectTarget) -> Result<OpenTarget, TaskError> {
    // A task's name never looks like a terminal's id.
    if let InspectTarget::Task { reference, artifact: None } = of
        && let Ok(id) = reference.parse::<TerminalId>()
    {
        return recorded(&context.home, reference, &id);
    }
    match of {
        InspectTarget::Task { reference, artifact } => {
            let row = match reading::view::find(context, reference) {
                // It may be the name of a terminal, or the beginning of its id.
                Err(missing @ TaskError::NotFound(_)) if artifact.is_none() => {
                    return match terminals::find(&context.home, reference.trim(), None) {
                        Ok(terminal) => recorded(&context.home, reference, &terminal.id),
                        Err(TerminalError::NotFound(_)) => Err(missing),
                        Err(error) => Err(error.into()),
                    };
                }
                found => found?,
            };
            let dir = context.dir(&row.run_id);
            let there = || dir.artifacts().into_iter().map(|(name, _)| name.to_string()).collect();
            let missing = |name: &str| {
                let (task, there): (TaskId, Vec<String>) = (row.id.clone(), there());
                // A missing run directory does not explain a file that the run never had.
                match missing_output(&row, &dir).filter(|_| artifact.is_none() || there.is_empty()) {
                    Some(why) => TaskError::MissingOutput { task, why },
                    None => TaskError::NoArtifact { task, name: name.to_owned(), there },
                }
            };
            let (name, beside) = match artifact {
                Some(given) => (ArtifactName::parse(given).ok_or_else(|| missing(given))?, Vec::new()),
                None => usual(context, &row.run_id).ok_or_else(|| missing(USUAL[0]))?,
            };
            match run_file(context, &row.run_id, &name) {
                Ok(source) => {
                    Ok(OpenTarget { live: !row.state.is_final(), task: Some(row.id), beside, ..source })
                }
                Err(TaskError::NoOutput(_)) => Err(missing(name.as_str())),
                Err(error) => Err(error),
            }
        }
        InspectTarget::File(given) => match place(&context.home, given)? {
            InspectablePath::Capture(name) => kept(&context.home, given, &["captures", &name]),
            InspectablePath::Terminal(id) => recorded(&context.home, given, &id),
            InspectablePath::Run(run, name) => {
                let source = run_file(context, &run, &name)?;
                let row = reading::view::find(context, run.as_str()).ok();
                let live = row.as_ref().is_some_and(|row| !row.state.is_final());
                Ok(OpenTarget { task: row.map(|row| row.id), live, ..source })
            }
        },
    }
}

/// A file that can be inspected, as validated names.
#[derive(Debug, PartialEq, Eq)]
enum InspectablePath {
    Run(RunId, ArtifactName),
    Capture(String),
    Terminal(TerminalId),
}

/// Parses the path `given` without looking at the disk.
fn place(home: &Home, given: &str) -> Result<InspectablePath, TaskError> {
    let outside = || TaskError::OutsideHome(given.to_owned());
    if given.len() > LONGEST_PATH || given.chars().any(char::is_control) {
        return Err(outside());
    }
    let path = Path::new(given);
    let below = match path.strip_prefix(home.root()) {
        Ok(below) => below,
        Err(_) if path.is_relative() => path,
        Err(_) => return Err(outside()),
    };
    let mut names = Vec::new();
    for part in below.components() {
        match part {
            Component::Normal(name) => names.push(name.to_str().ok_or_else(outside)?),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
                return Err(outside());
            }
        }
    }
    let known = match names.as_slice() {
        ["runs", run, name] => {
            run.parse().ok().zip(ArtifactName::parse(name)).map(|(run, name)| InspectablePath::Run(run, name))
        }
        ["captures", name] if storage::is_capture_name(name) => {
            Some(InspectablePath::Capture((*name).to_owned()))
        }
        ["terminals", id, terminals::OUTPUT | terminals::PACKED] => {
            id.parse().ok().map(InspectablePath::Terminal)
        }
        _ => None,
    };
    known.ok_or_else(|| TaskError::NotInspectable(given.to_owned()))
}

/// The first output file that is not empty, and the other ones that are not empty.
fn usual(context: &Context, run: &RunId) -> Option<(ArtifactName, Vec<(&'static str, u64)>)> {
    let dir = context.dir(run);
    let length = |name: &str| std::fs::symlink_metadata(dir.file(name)).map_or(0, |found| found.len());
    let mut printed: Vec<(&str, u64)> = USUAL.into_iter().map(|name| (name, length(name))).collect();
    printed.retain(|(_, length)| *length > 0);
    let name = match printed.is_empty() {
        true => USUAL.into_iter().find(|name| dir.file(name).exists())?,
        false => printed.remove(0).0,
    };
    // The transcript includes both streams of a command.
    if name == USUAL[0] {
        let is_command = dir.stdout().exists();
        printed.retain(|(other, _)| *other == "stderr.log" && !is_command);
    }
    Some((ArtifactName::parse(name)?, printed))
}

fn run_file(context: &Context, run: &RunId, name: &ArtifactName) -> Result<OpenTarget, TaskError> {
    let (home, path) = (&context.home, context.dir(run).file(name.as_str()));
    let open = |path: &Path| plain(home, path, &path.display().to_string());
    let (stretches, gap) = output_stream::open_artifact(&path, name, open)?;
    let dropped = gap.map_or_else(|| dropped(&context.dir(run), name), |gap| gap.dropped);
    let source = source(home, path, MultiFileReader::of(stretches), gap)?;
    Ok(OpenTarget { artifact: Some(name.clone()), dropped, ..source })
}

/// The bytes that the run's result says were left out.
fn dropped(dir: &RunDir, name: &ArtifactName) -> u64 {
    let of: fn(&RunResult) -> u64 = match name.as_str().trim_end_matches(".gz") {
        "stdout.log" | "events.jsonl" => |result| result.stdout.dropped_bytes,
        "stderr.log" => |result| result.stderr.dropped_bytes,
        _ => return 0,
    };
    dir.read_result().ok().flatten().as_ref().map_or(0, of)
}

fn recorded(home: &Home, given: &str, id: &TerminalId) -> Result<OpenTarget, TaskError> {
    kept(home, given, &["terminals", id.as_str(), terminals::OUTPUT])
}

/// Opens a capture, which may have been compressed since its name was given out.
fn kept(home: &Home, given: &str, names: &[&str]) -> Result<OpenTarget, TaskError> {
    let path: PathBuf = names.iter().fold(home.root().to_owned(), |path, name| path.join(name));
    let plain = path.to_str().and_then(|path| path.strip_suffix(".gz")).map_or(path.clone(), PathBuf::from);
    let mut compressed = plain.clone().into_os_string();
    compressed.push(".gz");
    // Cleanup may be replacing one file with the other right now.
    for path in [plain.as_path(), Path::new(&compressed)] {
        match opened(home, path, given) {
            Err(TaskError::NoOutput(_)) => {}
            found => return found,
        }
    }
    opened(home, &plain, given)
}

fn opened(home: &Home, path: &Path, given: &str) -> Result<OpenTarget, TaskError> {
    let file = plain(home, path, given)?;
    source(home, path.to_owned(), MultiFileReader::whole(file), None)
}

fn source(
    home: &Home,
    path: PathBuf,
    file: io::Result<MultiFileReader>,
    gap: Option<Gap>,
) -> Result<OpenTarget, TaskError> {
    let file = file.map_err(|source| TaskError::Unreadable { path: path.clone(), source })?;
    let index = open_beneath::open(home.root(), &line_index::sidecar_path(below(home, &path)))
        .ok()
        .map(LineIndex::read);
    // The index covers the current end of the stream, which may differ from the one we opened.
    let index = match gap {
        Some(gap) => index.map(|index| index.within(gap.at)),
        None => index,
    };
    Ok(OpenTarget {
        file,
        dropped: 0,
        index,
        path,
        task: None,
        artifact: None,
        live: false,
        beside: Vec::new(),
    })
}

fn plain(home: &Home, path: &Path, given: &str) -> Result<File, TaskError> {
    open_beneath::open(home.root(), below(home, path)).map_err(|error| match error {
        BeneathError::Missing => TaskError::NoOutput(given.to_owned()),
        BeneathError::Outside => TaskError::OutsideHome(given.to_owned()),
        BeneathError::Link | BeneathError::NotAFile => TaskError::NotAPlainFile(given.to_owned()),
        BeneathError::Unreadable(source) => TaskError::Unreadable { path: path.to_owned(), source },
    })
}

fn below<'a>(home: &Home, path: &'a Path) -> &'a Path {
    path.strip_prefix(home.root()).unwrap_or(path)
}

impl MayBeMissing for TaskError {
    fn is_missing(&self) -> bool {
        matches!(self, TaskError::NoOutput(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Env;
    use crate::text::test_rows;

    const RUN: &str = "2026-11-15_160053456_c36fb2817b1e";

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::of(&[("DELEGATOR_HOME", dir.path().join("home").to_str().unwrap())]);
        let home = Home::open(&env).unwrap();
        (dir, home)
    }

    #[test]
    fn what_can_be_inspected_is_known_by_its_names() {
        let (_dir, home) = home();
        let root = home.root().display().to_string();
        let run: RunId = RUN.parse().unwrap();
        let capture = format!("tool-delegate_results-{}.txt", "0a".repeat(16));
        for before in [format!("{root}/"), String::new(), format!("{root}//"), format!("{root}/./")] {
            let check = |rest: String, expected: InspectablePath| {
                assert_eq!(place(&home, &format!("{before}{rest}")).unwrap(), expected, "{before}{rest}");
            };
            let stdout = ArtifactName::parse("stdout.log").unwrap();
            check(format!("runs/{RUN}/stdout.log"), InspectablePath::Run(run.clone(), stdout));
            check(format!("captures/{capture}"), InspectablePath::Capture(capture.clone()));
            check(format!("captures/{capture}.gz"), InspectablePath::Capture(format!("{capture}.gz")));
            let terminal: TerminalId = "term-0a1b2c3d4e5f".parse().unwrap();
            for name in ["output.log", "output.log.gz"] {
                let place = InspectablePath::Terminal(terminal.clone());
                check(format!("terminals/term-0a1b2c3d4e5f/{name}"), place);
            }
        }
    }

    #[test]
    fn everything_else_is_refused_before_it_is_looked_for() {
        let (_dir, home) = home();
        let root = home.root().display().to_string();
        let rows = include_str!("../../tests/data/uninspectable.jsonl");
        for (path, private) in test_rows::<(String, bool)>(rows).chain([("a/".repeat(3000), false)]) {
            let path = path.replace("{home}", &root).replace("{run}", RUN);
            let refused = place(&home, &path);
            let known = matches!(refused, Err(TaskError::NotInspectable(_)));
            let outside = !private && matches!(refused, Err(TaskError::OutsideHome(_)));
            assert!(known || outside, "{path}: {refused:?}");
            if private {
                let refused = place(&home, &format!("{root}/{path}"));
                assert!(matches!(refused, Err(TaskError::NotInspectable(_))), "{path}: {refused:?}");
            }
        }
    }
}
