//! Which terminals were recorded, which of them live, and which one is meant.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::host::files;
use crate::host::{Home, paths};
use crate::model::{Exit, TerminalId, Timestamp};
use crate::terminals::TerminalError;
use crate::terminals::compressed_reader::stored;
use crate::terminals::file_names::{META, OUTPUT, PIN, TIMES, is_live};
use crate::terminals::meta::Meta;
use crate::terminals::read::Reader;

/// One recorded terminal, as it is now.
#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    pub(crate) id: TerminalId,
    pub(crate) name: Option<String>,
    pub(crate) command: Vec<String>,
    /// Where its shell stands, as far as that is known.
    pub(crate) cwd: PathBuf,
    pub(crate) started_at: Timestamp,
    /// When it was last written to.
    pub(crate) last_activity: Timestamp,
    pub(crate) bytes: u64,
    pub(crate) life: Life,
    /// Why its later bytes are missing.
    pub(crate) incomplete: Option<String>,
    /// It is kept whatever its age.
    pub(crate) pinned: bool,
    dir: PathBuf,
    project: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Live,
    /// With the status that a shell would give.
    Ended {
        at: Timestamp,
        status: Option<i32>,
    },
    /// The recorder was killed, and nobody wrote down the end.
    Lost,
}

impl Terminal {
    fn at(dir: PathBuf) -> io::Result<Self> {
        let meta = Meta::read(&dir)?;
        // Nobody else's words decide which directory this is.
        if dir.file_name() != Some(meta.terminal_id.as_str().as_ref()) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // First whether it lives: what ends in between has written its end.
        let live = is_live(&dir);
        let meta = if live { meta } else { Meta::read(&dir)? };
        let life = match (live, meta.ended_at) {
            (true, _) => Life::Live,
            (false, Some(at)) => Life::Ended { at, status: meta.exit.map(Exit::status) },
            (false, None) => Life::Lost,
        };
        let output = stored(&dir).and_then(|output| output.measure());
        let (bytes, written) =
            output.map_or((0, None), |(bytes, found)| (bytes, Some(files::modified(&found))));
        Ok(Self {
            id: meta.terminal_id,
            name: meta.name,
            command: meta.command,
            cwd: meta.pid.filter(|_| live).and_then(standing).unwrap_or(meta.cwd),
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

    /// The recording itself.
    pub(crate) fn file(&self) -> PathBuf {
        self.dir.join(OUTPUT)
    }

    pub(crate) fn is_live(&self) -> bool {
        self.life == Life::Live
    }

    /// Whether it was started in this project, or stands in it now.
    pub(crate) fn is_of(&self, project: &Path) -> bool {
        self.project == project || root_of(&self.cwd) == project
    }

    /// Opens the recording, to read one part of it after another.
    pub(crate) fn open(&self) -> Result<Reader, TerminalError> {
        let bytes = stored(&self.dir).and_then(|output| output.open(&self.dir));
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

/// Where a process stands. Of the program in a live terminal: nobody has taken
/// over its number, since its parent is there and has not collected it.
fn standing(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// What terminals are listed by, as tasks are.
pub(super) fn root_of(dir: &Path) -> PathBuf {
    paths::git_root(dir).unwrap_or_else(|| dir.to_owned())
}

/// Every terminal, of this project where one is given, the last written to first.
pub(crate) fn list(home: &Home, project: Option<&Path>) -> Vec<Terminal> {
    let entries = fs::read_dir(home.terminals()).into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<TerminalId>().ok());
    // One that cannot be read is being made, or being removed.
    let all = ids.filter_map(|id| Terminal::at(home.terminals().join(id.as_str())).ok());
    let mut all: Vec<Terminal> =
        all.filter(|terminal| project.is_none_or(|project| terminal.is_of(project))).collect();
    all.sort_by_key(|terminal| std::cmp::Reverse((terminal.last_activity, terminal.started_at)));
    all
}

/// The one that was last written to.
pub(crate) fn active(home: &Home, project: Option<&Path>) -> Result<Terminal, TerminalError> {
    let none = || TerminalError::None { project: project.map(Path::to_owned) };
    list(home, project).into_iter().next().ok_or_else(none)
}

/// The one with this id wherever it is; else the one whose id begins so or that
/// is called so, among those of the project.
pub(crate) fn find(home: &Home, reference: &str, project: Option<&Path>) -> Result<Terminal, TerminalError> {
    let missing = || TerminalError::NotFound(reference.to_owned());
    if let Ok(id) = reference.parse::<TerminalId>() {
        return Terminal::at(home.terminals().join(id.as_str())).map_err(|_| missing());
    }
    let mut all = list(home, project);
    // Of several with one name, the one that lives; else the one last written to.
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

/// Whether the terminal of this id is there and being recorded.
pub(super) fn is_recorded(home: &Home, id: &TerminalId) -> bool {
    let dir = home.terminals().join(id.as_str());
    is_live(&dir) && dir.join(META).exists()
}
