//! Which file somebody means who wants to look into it, and that file opened.
//!
//! Only what is meant to be looked into: the artifacts of runs, captures, and
//! recordings of terminals. A path is taken apart into the names it consists
//! of, each is looked up, and the file is opened below the home by these.

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

/// No path of ours is longer.
const LONGEST_PATH: usize = 4096;
/// What a run printed, the best first; those behind the transcript for runs of older programs.
const USUAL: [&str; 4] = ["transcript.log", "stdout.log", "events.jsonl", "stderr.log"];

/// What somebody wants to look into.
#[derive(Debug)]
pub(crate) enum Of {
    /// An artifact of a task; where none is named, its output.
    Task {
        reference: String,
        artifact: Option<String>,
    },
    File(String),
}

/// An open file, and whose it is.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) file: MultiFileReader,
    /// Bytes that were left out of its middle.
    pub(crate) dropped: u64,
    pub(crate) index: Option<LineIndex>,
    pub(crate) path: PathBuf,
    pub(crate) task: Option<TaskId>,
    pub(crate) artifact: Option<ArtifactName>,
    /// The run goes on, and there may be more in a moment.
    pub(crate) live: bool,
    /// Where no file was named: what else the run printed, and how many bytes of it.
    pub(crate) beside: Vec<(&'static str, u64)>,
}

pub(crate) fn open(context: &Context, of: &Of) -> Result<Source, TaskError> {
    // No task is called as a terminal is.
    if let Of::Task { reference, artifact: None } = of
        && let Ok(id) = reference.parse::<TerminalId>()
    {
        return recorded(&context.home, reference, &id);
    }
    match of {
        Of::Task { reference, artifact } => {
            let row = match reading::view::find(context, reference) {
                // A terminal may be meant by its name, or by the beginning of its id.
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
                // Of what it never had it is no excuse.
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
                    Ok(Source { live: !row.state.is_final(), task: Some(row.id), beside, ..source })
                }
                Err(TaskError::NoOutput(_)) => Err(missing(name.as_str())),
                Err(error) => Err(error),
            }
        }
        Of::File(given) => match place(&context.home, given)? {
            Place::Capture(name) => kept(&context.home, given, &["captures", &name]),
            Place::Terminal(id) => recorded(&context.home, given, &id),
            Place::Run(run, name) => {
                let source = run_file(context, &run, &name)?;
                let row = reading::view::find(context, run.as_str()).ok();
                let live = row.as_ref().is_some_and(|row| !row.state.is_final());
                Ok(Source { task: row.map(|row| row.id), live, ..source })
            }
        },
    }
}

/// A file that can be inspected, by the names it consists of.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Run(RunId, ArtifactName),
    Capture(String),
    Terminal(TerminalId),
}

/// Takes `given` apart. Nothing on the disk is looked at.
fn place(home: &Home, given: &str) -> Result<Place, TaskError> {
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
            run.parse().ok().zip(ArtifactName::parse(name)).map(|(run, name)| Place::Run(run, name))
        }
        ["captures", name] if storage::is_capture_name(name) => Some(Place::Capture((*name).to_owned())),
        ["terminals", id, terminals::OUTPUT | terminals::PACKED] => id.parse().ok().map(Place::Terminal),
        _ => None,
    };
    known.ok_or_else(|| TaskError::NotInspectable(given.to_owned()))
}

/// The first of the usual ones that is there and not empty, and the others that are.
fn usual(context: &Context, run: &RunId) -> Option<(ArtifactName, Vec<(&'static str, u64)>)> {
    let dir = context.dir(run);
    let length = |name: &str| std::fs::symlink_metadata(dir.file(name)).map_or(0, |found| found.len());
    let mut printed: Vec<(&str, u64)> = USUAL.into_iter().map(|name| (name, length(name))).collect();
    printed.retain(|(_, length)| *length > 0);
    let name = match printed.is_empty() {
        true => USUAL.into_iter().find(|name| dir.file(name).exists())?,
        false => printed.remove(0).0,
    };
    // The transcript has what both streams of a command have.
    if name == USUAL[0] {
        let is_command = dir.stdout().exists();
        printed.retain(|(other, _)| *other == "stderr.log" && !is_command);
    }
    Some((ArtifactName::parse(name)?, printed))
}

fn run_file(context: &Context, run: &RunId, name: &ArtifactName) -> Result<Source, TaskError> {
    let (home, path) = (&context.home, context.dir(run).file(name.as_str()));
    let open = |path: &Path| plain(home, path, &path.display().to_string());
    let (stretches, gap) = output_stream::open_artifact(&path, name, open)?;
    let dropped = gap.map_or_else(|| dropped(&context.dir(run), name), |gap| gap.dropped);
    let source = source(home, path, MultiFileReader::of(stretches), gap)?;
    Ok(Source { artifact: Some(name.clone()), dropped, ..source })
}

/// What the run itself noted, once it was over.
fn dropped(dir: &RunDir, name: &ArtifactName) -> u64 {
    let of: fn(&RunResult) -> u64 = match name.as_str().trim_end_matches(".gz") {
        "stdout.log" | "events.jsonl" => |result| result.stdout.dropped_bytes,
        "stderr.log" => |result| result.stderr.dropped_bytes,
        _ => return 0,
    };
    dir.read_result().ok().flatten().as_ref().map_or(0, of)
}

fn recorded(home: &Home, given: &str, id: &TerminalId) -> Result<Source, TaskError> {
    kept(home, given, &["terminals", id.as_str(), terminals::OUTPUT])
}

/// One that may have been compressed since somebody was told its name.
fn kept(home: &Home, given: &str, names: &[&str]) -> Result<Source, TaskError> {
    let path: PathBuf = names.iter().fold(home.root().to_owned(), |path, name| path.join(name));
    let plain = path.to_str().and_then(|path| path.strip_suffix(".gz")).map_or(path.clone(), PathBuf::from);
    let mut compressed = plain.clone().into_os_string();
    compressed.push(".gz");
    // A cleaner may be about to put the one in the place of the other.
    for path in [plain.as_path(), Path::new(&compressed)] {
        match opened(home, path, given) {
            Err(TaskError::NoOutput(_)) => {}
            found => return found,
        }
    }
    opened(home, &plain, given)
}

fn opened(home: &Home, path: &Path, given: &str) -> Result<Source, TaskError> {
    let file = plain(home, path, given)?;
    source(home, path.to_owned(), MultiFileReader::whole(file), None)
}

fn source(
    home: &Home,
    path: PathBuf,
    file: io::Result<MultiFileReader>,
    gap: Option<Gap>,
) -> Result<Source, TaskError> {
    let file = file.map_err(|source| TaskError::Unreadable { path: path.clone(), source })?;
    let index = open_beneath::open(home.root(), &line_index::sidecar_path(below(home, &path)))
        .ok()
        .map(LineIndex::read);
    // What it says of the end was written later, and the end may have been another.
    let index = match gap {
        Some(gap) => index.map(|index| index.within(gap.at)),
        None => index,
    };
    Ok(Source { file, dropped: 0, index, path, task: None, artifact: None, live: false, beside: Vec::new() })
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
            let check = |rest: String, expected: Place| {
                assert_eq!(place(&home, &format!("{before}{rest}")).unwrap(), expected, "{before}{rest}");
            };
            let stdout = ArtifactName::parse("stdout.log").unwrap();
            check(format!("runs/{RUN}/stdout.log"), Place::Run(run.clone(), stdout));
            check(format!("captures/{capture}"), Place::Capture(capture.clone()));
            check(format!("captures/{capture}.gz"), Place::Capture(format!("{capture}.gz")));
            let terminal: TerminalId = "term-0a1b2c3d4e5f".parse().unwrap();
            for name in ["output.log", "output.log.gz"] {
                let place = Place::Terminal(terminal.clone());
                check(format!("terminals/term-0a1b2c3d4e5f/{name}"), place);
            }
        }
    }

    #[test]
    fn everything_else_is_refused_before_it_is_looked_for() {
        let (_dir, home) = home();
        let root = home.root().display().to_string();
        for outside in [
            "/etc/passwd",
            "../x",
            "runs/../../etc/passwd",
            "captures/../../../etc/passwd",
            "",
            "/",
            "..",
            "~/x",
            "captures/a\nb",
            "captures/\u{1b}[2J",
            "file:///etc/passwd",
            "/proc/self/environ",
            &format!("{root}x/captures/y"),
            &format!("{root}/../etc"),
            &"a/".repeat(3000),
        ] {
            let refused = place(&home, outside);
            assert!(
                matches!(refused, Err(TaskError::OutsideHome(_) | TaskError::NotInspectable(_))),
                "{outside}: {refused:?}"
            );
        }
        for private in [
            "registry.db",
            "registry.db-wal",
            "http-token",
            "captures",
            "runs",
            "captures/x.txt",
            "captures/.swept",
            "captures/tool-x-0.txt.pin",
            "unsettled/x",
            "terminals/a/meta.json",
            "terminals/a_b/output.log",
            "terminals/abc/output.log",
            "terminals/term-abc123/output.log",
            "terminals/term-0a1b2c3d4e5f/times.idx",
            &format!("runs/{RUN}"),
            &format!("runs/{RUN}/env.json"),
            &format!("runs/{RUN}/run.lock"),
            &format!("runs/{RUN}/stdout.log.lines"),
            &format!("runs/{RUN}/inner/x"),
            "runs/x/stdout.log",
            &format!("runs/{RUN}/stdout.log/x"),
        ] {
            for given in [private.to_owned(), format!("{root}/{private}")] {
                let refused = place(&home, &given);
                assert!(matches!(refused, Err(TaskError::NotInspectable(_))), "{given}: {refused:?}");
            }
        }
    }
}
