//! The state directory, the paths in it, and how programs and repositories are found.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::host::env::{self, Env};
use crate::host::files;
use crate::model::{HomeId, RunId, TaskHome};

/// The state directory: `$DELEGATOR_HOME`, or `delegator` in the XDG state directory.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    root: PathBuf,
    id: HomeId,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum HomeError {
    #[error("neither DELEGATOR_HOME nor HOME is set")]
    Unknown,
    #[error("`{}` is not an absolute path", .0.display())]
    Relative(PathBuf),
    #[error("HOME is `{}`, and there is no such directory", .0.display())]
    Nowhere(PathBuf),
    #[error("`{}` is not a directory", .0.display())]
    NotADirectory(PathBuf),
    #[error("`{}` belongs to another user (uid {owner})", root.display())]
    NotOurs { root: PathBuf, owner: u32 },
    #[error("`{}` is open to other users (mode {mode:o})", root.display())]
    TooOpen { root: PathBuf, mode: u32 },
    #[error("`{}` cannot be used", root.display())]
    Unusable {
        root: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl Home {
    /// The path of the home, whether or not it exists.
    pub(crate) fn locate(env: &Env) -> Result<PathBuf, HomeError> {
        let named = env.path(env::HOME);
        let state = || env.path("XDG_STATE_HOME").or_else(|| Some(env.path("HOME")?.join(".local/state")));
        let root = named.or_else(|| Some(state()?.join("delegator"))).ok_or(HomeError::Unknown)?;
        if root.is_absolute() { Ok(root) } else { Err(HomeError::Relative(root)) }
    }

    /// The user's home directory, if the path of our home depends on it.
    fn of_the_user(env: &Env) -> Option<PathBuf> {
        let named = env.path(env::HOME).or_else(|| env.path("XDG_STATE_HOME"));
        if named.is_some() { None } else { env.path("HOME") }
    }

    /// Opens the home, creating it if it does not exist.
    ///
    /// A directory that belongs to another user, or that others can enter, is refused, not
    /// repaired.
    pub(crate) fn open(env: &Env) -> Result<Home, HomeError> {
        let root = Self::locate(env)?;
        let unusable = |source| HomeError::Unusable { root: root.clone(), source };
        let found = match std::fs::metadata(&root) {
            Ok(found) => {
                check(&root, &found)?;
                found
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Do not create a home directory for a user who has none.
                if let Some(nowhere) = Self::of_the_user(env).filter(|user| !user.is_dir()) {
                    return Err(HomeError::Nowhere(nowhere));
                }
                create(&root).and_then(|()| std::fs::metadata(&root)).map_err(unusable)?
            }
            Err(error) => return Err(unusable(error)),
        };
        let home = Home { root: root.clone(), id: identity(&found) };
        files::ensure_dir(&home.runs()).map_err(unusable)?;
        Ok(home)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn id(&self) -> HomeId {
        self.id
    }

    /// The home as a task records it at submit.
    pub(crate) fn made_in(&self) -> TaskHome {
        TaskHome { path: self.root.clone(), id: self.id }
    }

    /// The original of this home, if this home is a copy of the one in which the task was `made`.
    ///
    /// A home that was moved or restored is no copy: its old path is empty or holds something else.
    /// Only the inode counts, because device numbers change at reboot.
    pub(crate) fn copied_from(&self, made: &TaskHome) -> Option<PathBuf> {
        let there = || identify(&made.path).is_some_and(|id| id.inode == made.id.inode && id != self.id);
        (made.id != self.id && there()).then(|| made.path.clone())
    }

    pub(crate) fn registry(&self) -> PathBuf {
        self.root.join("registry.db")
    }

    /// Held while the registry is created.
    pub(crate) fn registry_creation_lock(&self) -> PathBuf {
        self.root.join("registry.lock")
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// One directory for each recorded terminal.
    pub(crate) fn terminals(&self) -> PathBuf {
        self.root.join("terminals")
    }

    /// The token for HTTP clients.
    pub(crate) fn token(&self) -> PathBuf {
        self.root.join("http-token")
    }

    /// Notes about runs for which the directory or the row is missing.
    pub(crate) fn unsettled(&self) -> PathBuf {
        self.root.join("unsettled")
    }

    /// Long texts of replies, kept in full.
    pub(crate) fn captures(&self) -> PathBuf {
        self.root.join("captures")
    }

    /// The choices and confirmations that requests in plain words wait for.
    pub(crate) fn asked(&self) -> PathBuf {
        self.root.join("asked")
    }

    /// Held during a cleanup; its modification time is the time of the last one.
    pub(crate) fn cleanup_lock(&self) -> PathBuf {
        self.root.join("cleanup.lock")
    }

    /// Held by the one server that watches the queue.
    pub(crate) fn keeper_lock(&self) -> PathBuf {
        self.root.join("keeper.lock")
    }

    /// One directory for each patch of uncommitted work that is being made.
    /// The worktrees of runs.
    pub(crate) fn worktrees(&self) -> PathBuf {
        self.root.join("worktrees")
    }

    pub(crate) fn diffs(&self) -> PathBuf {
        self.root.join("diffs")
    }

    /// Environments that the list of a service has shown.
    pub(crate) fn seen_environments(&self) -> PathBuf {
        self.root.join("cloud-environments.json")
    }

    /// Clock readings of past cleanups.
    pub(crate) fn clock_observations(&self) -> PathBuf {
        self.root.join("clock.json")
    }

    /// Held while marks are set or unmarked runs are removed.
    pub(crate) fn marks_lock(&self) -> PathBuf {
        self.root.join("marks.lock")
    }

    pub(crate) fn run(&self, run: &RunId) -> PathBuf {
        self.runs().join(run.as_str())
    }
}

/// The identity of the directory `root`; `None` if it does not exist.
pub(crate) fn identify(root: &Path) -> Option<HomeId> {
    std::fs::metadata(root).ok().as_ref().map(identity)
}

fn identity(found: &std::fs::Metadata) -> HomeId {
    HomeId { device: found.dev(), inode: found.ino() }
}

fn check(root: &Path, found: &std::fs::Metadata) -> Result<(), HomeError> {
    let root = root.to_owned();
    if !found.is_dir() {
        return Err(HomeError::NotADirectory(root));
    }
    if found.uid() != own_uid() {
        return Err(HomeError::NotOurs { root, owner: found.uid() });
    }
    match found.mode() & 0o777 {
        mode if mode & 0o077 != 0 => Err(HomeError::TooOpen { root, mode }),
        _ => Ok(()),
    }
}

/// Whether this user may write to a file, or create files in a directory.
pub(crate) fn is_writable(path: &Path) -> bool {
    let wanted = match path.is_dir() {
        true => rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK,
        false => rustix::fs::Access::WRITE_OK,
    };
    rustix::fs::access(path, wanted).is_ok()
}

/// The effective user.
pub(crate) fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Creates parents with default permissions and the home for the owner only.
fn create(root: &Path) -> io::Result<()> {
    if let Some(parent) = root.parent() {
        std::fs::create_dir_all(parent)?;
    }
    files::ensure_dir(root)
}

/// The nearest directory at or above `start` that has a `.git`.
pub(crate) fn git_root(start: &Path) -> Option<PathBuf> {
    // `.git` is a file in worktrees and submodules; an empty directory is no repository.
    let is_root = |dir: &&Path| dir.join(".git").is_file() || dir.join(".git/HEAD").exists();
    start.ancestors().find(is_root).map(Path::to_owned)
}

/// A `.git` at or above `start` that cannot be read, and why.
pub(crate) fn unreadable_git(start: &Path) -> Option<(PathBuf, io::Error)> {
    let unreadable = |dir: &Path| {
        let git = dir.join(".git");
        let error = git.join("HEAD").try_exists().err().filter(|_| git.is_dir())?;
        Some((git, error))
    };
    start.ancestors().find_map(unreadable)
}

/// The path of this program, or of a newer version that replaced it.
pub(crate) fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe().map(|path| without_mark(path, Path::is_file))
}

/// This very program, even if its file was replaced or removed.
pub(crate) fn own_image() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { own_program() }
}

/// Removes the suffix that the kernel adds if the file of a program is gone.
fn without_mark(path: PathBuf, is_there: impl Fn(&Path) -> bool) -> PathBuf {
    let bare = path.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map(PathBuf::from);
    bare.filter(|bare| !is_there(&path) && is_there(bare)).unwrap_or(path)
}

/// Finds `program` in the directories of `path`, as a shell would.
pub(crate) fn find_program(program: &str, path: &std::ffi::OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(program))
        .find(|file| is_program(file))
}

pub(crate) fn is_program(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_program_that_was_replaced_is_the_one_in_its_place() {
        let check = |name: &str, there: &[&str], expected: &str| {
            let is_there = |path: &Path| there.iter().any(|there| Path::new(there) == path);
            assert_eq!(without_mark(name.into(), is_there), Path::new(expected));
        };
        check("/bin/d", &["/bin/d"], "/bin/d");
        check("/bin/d (deleted)", &["/bin/d"], "/bin/d");
        check("/bin/d (deleted)", &[], "/bin/d (deleted)");
        check("/bin/d (deleted)", &["/bin/d", "/bin/d (deleted)"], "/bin/d (deleted)");
    }

    #[test]
    fn the_home_is_named_or_the_state_directory() {
        let at = |pairs: &[(&str, &str)]| Home::locate(&Env::of(pairs)).ok();
        assert_eq!(at(&[(env::HOME, "/d"), ("HOME", "/h")]), Some("/d".into()));
        assert_eq!(at(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]), Some("/s/delegator".into()));
        assert_eq!(at(&[("HOME", "/h")]), Some("/h/.local/state/delegator".into()));
        assert_eq!(at(&[(env::HOME, "relative")]), None);
        assert_eq!(at(&[]), None);
    }

    #[test]
    fn a_home_that_others_can_enter_is_refused_and_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let env = Env::of(&[(env::HOME, dir.path().to_str().unwrap())]);
        assert!(matches!(Home::open(&env), Err(HomeError::TooOpen { mode: 0o755, .. })));
        assert_eq!(std::fs::metadata(dir.path()).unwrap().mode() & 0o777, 0o755);
    }

    #[test]
    fn a_copy_is_told_from_a_home_that_was_moved() {
        let dir = tempfile::tempdir().unwrap();
        let home = |name: &str| {
            Home::open(&Env::of(&[(env::HOME, dir.path().join(name).to_str().unwrap())])).unwrap()
        };
        let (original, other) = (home("original"), home("other"));
        let made = original.made_in();
        assert_eq!(original.copied_from(&made), None);
        assert_eq!(other.copied_from(&made), Some(original.root().to_owned()));
        let restarted = TaskHome { id: HomeId { device: made.id.device + 1, ..made.id }, ..made.clone() };
        assert_eq!(other.copied_from(&restarted), Some(original.root().to_owned()));
        assert_eq!(original.copied_from(&restarted), None);
        std::fs::rename(original.root(), dir.path().join("moved")).unwrap();
        assert_eq!(home("moved").copied_from(&made), None);
        assert_eq!(other.copied_from(&made), None, "nothing is there any more");
        std::fs::rename(other.root(), original.root()).unwrap();
        assert_eq!(home("original").copied_from(&made), None, "it is this one");
    }

    #[test]
    fn a_user_who_has_no_directory_gets_none() {
        let dir = tempfile::tempdir().unwrap();
        let nowhere = dir.path().join("nowhere");
        let env = Env::of(&[("HOME", nowhere.to_str().unwrap())]);
        assert!(matches!(Home::open(&env), Err(HomeError::Nowhere(told)) if told == nowhere));
        assert!(!nowhere.exists());
        std::fs::create_dir(&nowhere).unwrap();
        assert!(Home::open(&env).is_ok());
    }

    #[test]
    fn a_new_home_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("a/b");
        let home = Home::open(&Env::of(&[(env::HOME, root.to_str().unwrap())])).unwrap();
        assert_eq!(std::fs::metadata(home.root()).unwrap().mode() & 0o777, 0o700);
        assert_eq!(std::fs::metadata(home.runs()).unwrap().mode() & 0o777, 0o700);
    }
}
