//! The only place that runs git.
//!
//! After an agent ran, its tree is hostile, and a repository's configuration can start programs:
//! monitors, filters, hooks, helpers. Git therefore never sees the user's `.git`. It gets a
//! directory of ours with our configuration that only borrows the objects, a copy of the index, and
//! a clean environment. Dangerous options are disabled explicitly even if they are off by default.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::object::Format;
use crate::git::stall_guards::StallGuard;
use crate::host::files;
use crate::host::paths;
use crate::host::{BoundedRun, BoundedRunError};

/// Maximum size of an answer; the names of a million files fit.
const MOST: usize = 128 << 20;

/// Usual places of git, searched before `PATH`: we must not run anything that an agent could have
/// written.
const USUAL: [&str; 4] = ["/usr/local/bin", "/usr/bin", "/opt/homebrew/bin", "/bin"];

const OPTIONS: &[&str] = &[
    "--no-pager",
    "--no-optional-locks",
    "--no-replace-objects",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.splitIndex=false",
    "-c",
    "core.commitGraph=false",
    "-c",
    "core.safecrlf=false",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "core.bigFileThreshold=32m",
    "-c",
    "protocol.allow=never",
    "-c",
    "credential.helper=",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "submodule.recurse=false",
];

/// What git writes for us is private.
const PRIVATE: [&str; 2] = ["-c", "core.sharedRepository=0600"];

/// Runs git on the user's own repository, whose directory is `dir`. Only for commands that must change it and that
/// start no program that its configuration names: hooks and monitors are off, and none of them filters a file.
pub(super) fn ask_repository(
    program: &Path,
    dir: &Path,
    args: &[&OsStr],
    until: Duration,
) -> Result<Vec<u8>, BoundedRunError> {
    let args: Vec<OsString> =
        OPTIONS.iter().map(OsStr::new).chain(args.iter().copied()).map(OsStr::to_owned).collect();
    let run = BoundedRun::begin(
        program,
        &args,
        dir,
        &environment(dir, Path::new("/dev/null")),
        Vec::new(),
        until,
        MOST,
    )?;
    PendingAnswer { talk: run, stalls: StallGuard::new(dir, dir) }.finish()
}

/// The whole environment of git, with `home` in place of the user's.
fn environment<'a>(dir: &'a Path, home: &'a Path) -> [(&'static str, &'a OsStr); 15] {
    let text = OsStr::new;
    [
        ("GIT_DIR", dir.as_os_str()),
        ("GIT_CONFIG_NOSYSTEM", text("1")),
        ("GIT_CONFIG_GLOBAL", text("/dev/null")),
        ("GIT_ATTR_NOSYSTEM", text("1")),
        ("GIT_OPTIONAL_LOCKS", text("0")),
        ("GIT_NO_REPLACE_OBJECTS", text("1")),
        ("GIT_NO_LAZY_FETCH", text("1")),
        ("GIT_ALLOW_PROTOCOL", text("")),
        ("GIT_TERMINAL_PROMPT", text("0")),
        ("GIT_ASKPASS", text("/bin/false")),
        ("GIT_PAGER", text("cat")),
        ("HOME", home.as_os_str()),
        ("XDG_CONFIG_HOME", home.as_os_str()),
        ("PATH", text("/usr/bin:/bin")),
        ("LC_ALL", text("C.UTF-8")),
    ]
}

/// Git, with a directory of ours as its repository.
#[derive(Debug)]
pub(crate) struct Git {
    program: PathBuf,
    /// Used in place of `.git`.
    dir: PathBuf,
    /// The object directory of the user's repository.
    borrowed: PathBuf,
    /// Settings from the user's configuration about reading files.
    settings: Vec<String>,
}

impl Git {
    /// Finds a git that nobody with write access to `writable` could have placed.
    pub(crate) fn find(path: Option<&OsStr>, writable: &[&Path]) -> Option<PathBuf> {
        Self::find_beside(&USUAL, path, writable)
    }

    /// Searches `usual` before `path`.
    fn find_beside(usual: &[&str], path: Option<&OsStr>, writable: &[&Path]) -> Option<PathBuf> {
        let listed = path.map(std::env::split_paths).into_iter().flatten();
        let safe = |dir: &PathBuf| {
            let real = fs::canonicalize(dir).unwrap_or_else(|_| dir.clone());
            dir.is_absolute()
                && !writable.iter().any(|place| dir.starts_with(place) || real.starts_with(place))
        };
        let mut dirs = usual.iter().map(PathBuf::from).chain(listed.filter(safe));
        dirs.find_map(|dir| Some(dir.join("git")).filter(|file| paths::is_program(file)))
    }

    /// The git that the user runs. We never run it, but trust the system configuration beside it,
    /// so it must not lie in `writable` either.
    pub(crate) fn own(path: Option<&OsStr>, writable: &[&Path]) -> Option<PathBuf> {
        Self::find_beside(&[], path, writable)
    }

    /// Prepares `dir` as a repository without references or remotes that reads its objects from
    /// `objects`.
    pub(crate) fn settle(program: PathBuf, dir: &Path, format: Format, objects: &Path) -> io::Result<Self> {
        for part in ["objects", "objects/info", "refs", "info"] {
            files::ensure_dir(&dir.join(part))?;
        }
        let version = match format {
            Format::Sha1 => "[core]\n\trepositoryformatversion = 0\n\tbare = false\n".to_owned(),
            Format::Sha256 => "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\
                               [extensions]\n\tobjectformat = sha256\n"
                .to_owned(),
        };
        files::write_in_place(dir.join("config"), version)?;
        files::write_in_place(dir.join("HEAD"), "ref: refs/heads/none\n")?;
        let git = Self { program, dir: dir.to_owned(), borrowed: objects.to_owned(), settings: Vec::new() };
        git.borrow_objects()?;
        Ok(git)
    }

    /// Makes the user's objects and those that git wrote for us readable.
    fn borrow_objects(&self) -> io::Result<()> {
        let mut places = quoted_line(&self.borrowed);
        if self.written().is_dir() {
            places.extend(quoted_line(&self.written()));
        }
        files::write_in_place(self.dir.join("objects/info/alternates"), places)
    }

    /// Where git writes objects for us.
    fn written(&self) -> PathBuf {
        self.dir.join("written")
    }

    /// Adds the setting `name=value`. The caller must make sure that it is safe.
    pub(crate) fn set(&mut self, setting: String) {
        self.settings.push(setting);
    }

    pub(crate) fn settings(&self) -> &[String] {
        &self.settings
    }

    /// Starts git in `work_tree` with `index`, without waiting for its answer.
    pub(crate) fn begin(
        &self,
        args: &[&OsStr],
        work_tree: &Path,
        index: &Path,
        input: Vec<u8>,
        until: Duration,
    ) -> Result<PendingAnswer, BoundedRunError> {
        self.begin_in(&self.objects(), args, work_tree, index, input, until)
    }

    /// Like [`begin`](Self::begin), with another object directory.
    fn begin_in(
        &self,
        objects: &Path,
        args: &[&OsStr],
        work_tree: &Path,
        index: &Path,
        input: Vec<u8>,
        until: Duration,
    ) -> Result<PendingAnswer, BoundedRunError> {
        let settings = self.settings.iter().flat_map(|setting| ["-c", setting.as_str()]);
        let args: Vec<OsString> = OPTIONS
            .iter()
            .copied()
            .chain(PRIVATE)
            .chain(settings)
            .map(OsStr::new)
            .chain(args.iter().copied())
            .map(OsStr::to_owned)
            .collect();
        let places = [
            ("GIT_WORK_TREE", work_tree.as_os_str()),
            ("GIT_INDEX_FILE", index.as_os_str()),
            ("GIT_OBJECT_DIRECTORY", objects.as_os_str()),
        ];
        let environment = [environment(&self.dir, &self.dir).as_slice(), &places].concat();
        let talk = BoundedRun::begin(&self.program, &args, work_tree, &environment, input, until, MOST)?;
        Ok(PendingAnswer { talk, stalls: StallGuard::new(work_tree, &self.borrowed) })
    }

    /// Like [`begin`](Self::begin), but waits for the answer.
    pub(crate) fn ask(
        &self,
        args: &[&OsStr],
        work_tree: &Path,
        index: &Path,
        input: Vec<u8>,
        until: Duration,
    ) -> Result<Vec<u8>, BoundedRunError> {
        self.begin(args, work_tree, index, input, until)?.finish()
    }

    /// Like [`begin`](Self::begin), for commands that write objects. Git sees no other objects,
    /// because it would update the times of existing ones, and the user's must not be touched.
    pub(crate) fn begin_to_write(
        &self,
        args: &[&OsStr],
        work_tree: &Path,
        index: &Path,
        input: Vec<u8>,
        until: Duration,
    ) -> Result<PendingAnswer, BoundedRunError> {
        files::ensure_dir(&self.written())
            .and_then(|()| self.borrow_objects())
            .map_err(BoundedRunError::Start)?;
        self.begin_in(&self.written(), args, work_tree, index, input, until)
    }

    /// Asks about objects only; needs no working tree or index.
    pub(crate) fn ask_objects(
        &self,
        args: &[&str],
        input: Vec<u8>,
        until: Duration,
    ) -> Result<Vec<u8>, BoundedRunError> {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        self.ask(&args, &self.dir, &self.dir.join("no-index"), input, until)
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.dir.join("objects")
    }

    /// The path of `name` in our repository directory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

/// A running git whose answer is outstanding.
#[derive(Debug)]
pub(crate) struct PendingAnswer {
    talk: BoundedRun,
    stalls: StallGuard,
}

impl PendingAnswer {
    /// The answer, if git succeeded.
    pub(crate) fn finish(self) -> Result<Vec<u8>, BoundedRunError> {
        self.finish_both().map(|(output, _)| output)
    }

    /// The answer and the beginning of git's stderr, if git succeeded.
    pub(crate) fn finish_both(self) -> Result<(Vec<u8>, String), BoundedRunError> {
        let Self { talk, mut stalls } = self;
        talk.finish_with(&mut |silent| stalls.on_silence(silent))
    }

    /// What git printed, and whether it succeeded.
    pub(crate) fn finish_anyhow(self) -> (Vec<u8>, Result<(), BoundedRunError>) {
        let Self { talk, mut stalls } = self;
        talk.finish_anyhow(&mut |silent| stalls.on_silence(silent))
    }
}

/// A path in git's quotes as a line of a file.
fn quoted_line(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let mut line = quoted(path.as_os_str().as_bytes());
    line.push(b'\n');
    line
}

/// A path in git's quotes, which allow any byte.
pub(crate) fn quoted(path: &[u8]) -> Vec<u8> {
    let mut line = vec![b'"'];
    for &byte in path {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', byte]),
            b' '..=b'~' => line.push(byte),
            _ => line.extend(format!("\\{byte:03o}").into_bytes()),
        }
    }
    line.push(b'"');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_can_be_told_in_a_line() {
        assert_eq!(quoted(b"a b"), b"\"a b\"");
        assert_eq!(quoted(b"-\n\"\\\xff"), b"\"-\\012\\\"\\\\\\377\"");
    }

    /// A directory, and one in it that has a program called git.
    fn with_a_git() -> (tempfile::TempDir, PathBuf) {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("venv/bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("git"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
        (dir, bin)
    }

    #[test]
    fn a_git_below_a_place_that_is_written_to_is_not_taken() {
        let (dir, bin) = with_a_git();
        let found = |writable: &[&Path]| Git::find_beside(&[], Some(bin.as_os_str()), writable);
        assert_eq!(found(&[]), Some(bin.join("git")));
        assert_eq!(found(&[dir.path()]), None);
    }

    #[test]
    fn the_users_own_git_is_none_that_a_run_could_have_written() {
        let (dir, bin) = with_a_git();
        assert_eq!(Git::own(Some(bin.as_os_str()), &[]), Some(bin.join("git")));
        assert_eq!(Git::own(Some(bin.as_os_str()), &[dir.path()]), None);
        let up = "../".repeat(std::env::current_dir().unwrap().components().count());
        let relative = Path::new(&up).join(bin.strip_prefix("/").unwrap());
        assert!(relative.join("git").exists());
        assert_eq!(Git::own(Some(relative.as_os_str()), &[]), None);
    }
}
