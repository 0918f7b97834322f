//! Finds a program that can keep a client's command in its sandbox.
//!
//! A program is accepted only after a trial with the very sandbox that is wanted: a process inside tries to
//! get out and reports that it could not. Results are not cached, because the next request may have another
//! configuration.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agents::JailedCommand;
use crate::config::Config;
use crate::context::TaskError;
use crate::host::EmptyDirCleanup;
use crate::host::Env;
use crate::host::{BoundedRun, BoundedRunError};
use crate::host::{Home, clock, paths};
use crate::model::{Jail, JailKind, Sandbox};
use crate::submit::program::codex_program;
use crate::submit::protected_paths::PROTECTED_DIRS;
use crate::submit::write_bounds::real;

/// How long a program may take to set up a sandbox and finish the trial.
const TRIAL: Duration = Duration::from_secs(20);
const LONGEST_ANSWER: usize = 64 << 10;

/// What the process inside prints if there was no way out.
const HELD: &str = "held";

/// The sandbox that is wanted.
#[derive(Debug)]
pub(crate) struct JailRequest<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) sandbox: Sandbox,
}

/// The first program whose sandbox holds.
pub(crate) fn find_jail(
    env: &Env,
    config: &Config,
    home: &Home,
    wanted: &JailRequest<'_>,
    environment: &[(String, String)],
) -> Result<Jail, TaskError> {
    let own = paths::own_program().map_err(TaskError::write("/proc/self/exe"))?;
    let bwrap = || env.get("PATH").and_then(|path| paths::find_program("bwrap", path));
    let candidates = [
        ("codex sandbox", JailKind::Codex, codex_program(env, config).ok()),
        ("bwrap", JailKind::Bwrap, bwrap()),
    ];
    let (mut reasons, mut trial) = (Vec::new(), None);
    for (name, kind, program) in candidates {
        let Some(program) = program else {
            reasons.push(format!("`{name}` is not installed"));
            continue;
        };
        let jail = around(kind, program, env, home, wanted);
        match try_jail(&jail, &own, wanted, environment) {
            Ok(()) => return Ok(jail),
            Err(reason) => {
                reasons.push(format!("`{name}`: {reason}"));
                trial = reason.program();
            }
        }
    }
    Err(TaskError::NoJail { why: reasons.join("; "), trial })
}

fn around(kind: JailKind, program: PathBuf, env: &Env, home: &Home, wanted: &JailRequest<'_>) -> Jail {
    let hidden = real(home.root());
    let above = wanted.cwd.parent().map(Path::to_owned);
    let outside = [Some("/".into()), Some("/tmp".into()), Some(hidden.clone()), env.path("HOME"), above];
    let mut protected: Vec<PathBuf> = PROTECTED_DIRS.iter().map(|name| wanted.cwd.join(name)).collect();
    // The files that control git, by whatever path they are reached.
    protected.extend(elsewhere(wanted.cwd));
    let writes = wanted.sandbox > Sandbox::ReadOnly;
    let (kept, missing) =
        protected.into_iter().filter(|_| writes).partition(|path| path.symlink_metadata().is_ok());
    let outside =
        outside.into_iter().flatten().filter(|path| !writes || !real(path).starts_with(wanted.cwd)).collect();
    Jail { kind, program, hidden, kept, missing, outside }
}

/// The repository of a directory whose `.git` is a pointer file, if a command could reach it too.
fn elsewhere(cwd: &Path) -> Option<PathBuf> {
    let git = cwd.join(".git");
    let named = std::fs::read_to_string(&git).ok().and_then(|text| {
        let path = text.lines().find_map(|line| line.strip_prefix("gitdir:"))?.trim().to_owned();
        Some(real(&cwd.join(path)))
    });
    let linked = || git.is_symlink().then(|| real(&git));
    named.or_else(linked).filter(|path| path.starts_with(cwd))
}

/// Why a program's sandbox was not accepted.
#[derive(Debug, thiserror::Error)]
enum TrialError {
    #[error("a path is not valid UTF-8")]
    OddPath,
    /// The process inside found a way out, and says which.
    #[error("{0}")]
    Leaks(String),
    #[error(transparent)]
    Program(#[from] BoundedRunError),
}

impl TrialError {
    fn program(self) -> Option<BoundedRunError> {
        match self {
            TrialError::Program(error) => Some(error),
            TrialError::OddPath | TrialError::Leaks(_) => None,
        }
    }
}

/// Starts the sandbox and tests it from the inside.
fn try_jail(
    jail: &Jail,
    own: &Path,
    wanted: &JailRequest<'_>,
    environment: &[(String, String)],
) -> Result<(), TrialError> {
    let cell = JailedCommand { jail, own, cwd: wanted.cwd, sandbox: wanted.sandbox };
    let Some(args) = cell.arguments(&[]) else { return Err(TrialError::OddPath) };
    let leftover_dirs = EmptyDirCleanup::expect(wanted.cwd, &jail.missing);
    let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
    let environment: Vec<(&str, &OsStr)> =
        environment.iter().map(|(name, value)| (name.as_str(), OsStr::new(value))).collect();
    let until = clock::monotonic() + TRIAL;
    let trial =
        BoundedRun::begin(&jail.program, &args, wanted.cwd, &environment, Vec::new(), until, LONGEST_ANSWER);
    let said = trial.and_then(|trial| trial.finish_with(&mut |_| Ok(TRIAL)));
    leftover_dirs.clear();
    let (said, _) = said?;
    let said = String::from_utf8_lossy(&said);
    if said.trim() == HELD { Ok(()) } else { Err(TrialError::Leaks(said.trim().chars().take(300).collect())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_that_is_only_named_is_found_where_it_can_be_reached() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = real(dir.path());
        std::fs::create_dir(cwd.join("kept")).unwrap();
        assert_eq!(elsewhere(&cwd), None);
        std::fs::write(cwd.join(".git"), "gitdir: kept\n").unwrap();
        assert_eq!(elsewhere(&cwd), Some(cwd.join("kept")));
        std::fs::write(cwd.join(".git"), "gitdir: /srv/other\n").unwrap();
        assert_eq!(elsewhere(&cwd), None);
        std::fs::remove_file(cwd.join(".git")).unwrap();
        std::os::unix::fs::symlink("kept", cwd.join(".git")).unwrap();
        assert_eq!(elsewhere(&cwd), Some(cwd.join("kept")));
    }
}
