//! Lists recorded terminals and finds one by reference.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::host::files;
use crate::host::{Home, paths};
use crate::model::{Exit, TerminalId, Timestamp};
use crate::terminals::TerminalError;
use crate::terminals::compressed_reader::find_stored;
use crate::terminals::file_names::{META, OUTPUT, PIN, TIMES, is_live};
use crate::terminals::meta::Meta;
use crate::terminals::read::Reader;

/// A recorded terminal in its current state.
#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    pub(crate) id: TerminalId,
    pub(crate) name: Option<String>,
    pub(crate) command: Vec<String>,
    /// The working directory of its shell, as far as known.
    pub(crate) cwd: PathBuf,
    pub(crate) started_at: Timestamp,
    /// When it was last written to.
    pub(crate) last_activity: Timestamp,
    pub(crate) bytes: u64,
    pub(crate) life: Liveness,
    /// Why later bytes are missing.
    pub(crate) incomplete: Option<String>,
    /// It is kept regardless of its age.
    pub(crate) pinned: bool,
    dir: PathBuf,
    project: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Liveness {
    Live,
    /// With the exit status as in a shell.
    Ended {
        at: Timestamp,
        status: Option<i32>,
    },
    /// The recorder was killed and recorded no end.
    Lost,
}

impl Terminal {
    fn at(dir: PathBuf) -> io::Result<Self> {
        let meta = Meta::read(&dir)?;
        // The directory must match the recorded id.
        if dir.file_name() != Some(meta.terminal_id.as_str().as_ref()) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // Check liveness first: a terminal that ends meanwhile has recorded its end.
        let live = is_live(&dir);
        let meta = if live { meta } else { Meta::read(&dir)? };
        let life = match (live, meta.ended_at) {
            (true, _) => Liveness::Live,
            (false, Some(at)) => Liveness::Ended { at, status: meta.exit.map(Exit::status) },
            (false, None) => Liveness::Lost,
        };
        let output = find_stored(&dir).and_then(|output| output.measure());
        let (bytes, written) =
            output.map_or((0, None), |(bytes, found)| (bytes, Some(files::modified(&found))));
        Ok(Self {
            id: meta.terminal_id,
            name: meta.name,
            command: meta.command,
            cwd: meta.pid.filter(|_| live).and_then(working_dir).unwrap_or(meta.cwd),
            started_at: meta.started_at,
            last_activity: written.unwrap_or(meta.started_at).max(meta.started_at),
            bytes,
            life,
            incomplete: meta.incomplete,
            pinned: dir.join(PIN).symlink_metadata().is_ok(),
            dir,
            project: meta.project,
        })
    }

    /// The recording.
    pub(crate) fn file(&self) -> PathBuf {
        self.dir.join(OUTPUT)
    }

    pub(crate) fn is_live(&self) -> bool {
        self.life == Liveness::Live
    }

    /// Whether it was started in this project or is in it now.
    pub(crate) fn is_of(&self, project: &Path) -> bool {
        self.project == project || root_of(&self.cwd) == project
    }

    /// Opens the recording for reading parts of it.
    pub(crate) fn open(&self) -> Result<Reader, TerminalError> {
        let bytes = find_stored(&self.dir).and_then(|output| output.open(&self.dir));
        let bytes = bytes.map_err(|source| {
            let is_link = source.raw_os_error() == Some(libc::ELOOP);
            match is_link || source.kind() == io::ErrorKind::InvalidInput {
                true => TerminalError::NotAPlainFile(self.file()),
                false => TerminalError::Read { id: self.id.to_string(), source },
            }
        })?;
        Ok(Reader::new(self.id.to_string(), bytes, files::open_in(&self.dir, TIMES).ok()))
    }
}

/// The working directory of the program in a live terminal. Its process id cannot be reused,
/// because its parent is alive and has not reaped it.
fn working_dir(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// The project that a terminal is listed under, as for tasks.
pub(super) fn root_of(dir: &Path) -> PathBuf {
    paths::git_root(dir).unwrap_or_else(|| dir.to_owned())
}

/// All terminals, or those of one project, most recently written first.
pub(crate) fn list(home: &Home, project: Option<&Path>) -> Vec<Terminal> {
    let entries = fs::read_dir(home.terminals()).into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<TerminalId>().ok());
    // An unreadable one is being created or removed.
    let all = ids.filter_map(|id| Terminal::at(home.terminals().join(id.as_str())).ok());
    let mut all: Vec<Terminal> =
        all.filter(|terminal| project.is_none_or(|project| terminal.is_of(project))).collect();
    all.sort_by_key(|terminal| std::cmp::Reverse((terminal.last_activity, terminal.started_at)));
    all
}

/// The terminal that was last written to.
pub(crate) fn active(home: &Home, project: Option<&Path>) -> Result<Terminal, TerminalError> {
    let none = || TerminalError::None { project: project.map(Path::to_owned) };
    list(home, project).into_iter().next().ok_or_else(none)
}

/// Finds a terminal by id anywhere, or by name or unique id prefix within the project.
pub(crate) fn find(home: &Home, reference: &str, project: Option<&Path>) -> Result<Terminal, TerminalError> {
    let missing = || TerminalError::NotFound(reference.to_owned());
    if let Ok(id) = reference.parse::<TerminalId>() {
        return Terminal::at(home.terminals().join(id.as_str())).map_err(|_| missing());
    }
    let mut all = list(home, project);
    // Of several with the same name, prefers the live one, then the one last written to.
    let named = |terminal: &&Terminal| terminal.name.as_deref() == Some(reference);
    let live = all.iter().filter(named).find(|terminal| terminal.is_live());
    if let Some(one) = live.or_else(|| all.iter().find(named)) {
        return Ok(one.clone());
    }
    let begins = reference.to_ascii_lowercase();
    all.retain(|terminal| begins.len() >= "term-".len() && terminal.id.as_str().starts_with(&begins));
    match all.len() {
        0 => Err(missing()),
        1 => Ok(all.swap_remove(0)),
        _ => Err(TerminalError::Ambiguous {
            reference: reference.to_owned(),
            candidates: all.iter().take(5).map(|terminal| terminal.id.to_string()).collect(),
        }),
    }
}

/// Whether the terminal exists and is being recorded.
pub(super) fn is_recorded(home: &Home, id: &TerminalId) -> bool {
    let dir = home.terminals().join(id.as_str());
    is_live(&dir) && dir.join(META).exists()
}
