//! Asks an agent's program what must be known before its command line can be built.
//!
//! Answers that depend only on the program are cached in a file of the home, and are valid as long as the
//! program's file is unchanged. A script is asked every time, because it is unknown what it starts.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::agents::{DecidedBy, Probe, ProbeAnswer};
use crate::host::spawn;
use crate::host::{Durability, files};
use crate::model::Request;

/// How long the installed program may take to answer one question.
const ASK: Duration = Duration::from_secs(10);
/// Answers are cached for this many programs, the most recent ones.
const MOST_PROGRAMS: usize = 4;
const LONGEST_ANSWER: usize = 64 << 10;
const LONGEST_FILE: u64 = 1 << 20;

/// Answers `probes` while `meanwhile` runs. Each question takes the program tens of milliseconds, so all are
/// asked at once. No thread is left when this returns.
pub(crate) fn ask_all<T>(
    probes: &[Probe],
    request: &Request,
    cwd: &Path,
    environment: &[(String, String)],
    kept: &Path,
    meanwhile: impl FnOnce() -> T,
) -> (Vec<ProbeAnswer>, T) {
    if probes.is_empty() {
        return (Vec::new(), meanwhile());
    }
    let identity = Identity::of(&request.program);
    let known = identity.as_ref().and_then(|identity| Kept::read(kept).of(identity)).unwrap_or_default();
    let ask = |probe: &Probe| spawn::ask(&request.program, &probe.args, cwd, environment, ASK).ok();
    let (findings, done) = std::thread::scope(|scope| {
        let answer = |probe| match known.answer(probe) {
            Some(answer) => Ok(answer.to_owned()),
            None => Err(scope.spawn(move || ask(probe))),
        };
        let asked: Vec<_> = probes.iter().map(answer).collect();
        let done = meanwhile();
        let finding = |answer: Result<String, std::thread::ScopedJoinHandle<'_, Option<String>>>| {
            ProbeAnswer { stdout: answer.map_or_else(|asked| asked.join().unwrap_or(None), Some) }
        };
        (asked.into_iter().map(finding).collect::<Vec<_>>(), done)
    });
    let told = Answers::of(probes, &findings);
    // If the program was replaced meanwhile, either version may have answered.
    if let Some(identity) =
        identity.filter(|one| told != known && Identity::of(&request.program).as_ref() == Some(one))
    {
        // Without a cache the program is asked again.
        let _ = Kept::read(kept).with(identity, told).write(kept);
    }
    (findings, done)
}

/// Identifies a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    path: PathBuf,
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    /// `None` for a script.
    fn of(path: &Path) -> Option<Self> {
        let mut file = File::open(path).ok()?;
        let mut begins = [0; 2];
        file.read_exact(&mut begins).ok().filter(|()| begins != *b"#!")?;
        let found = file.metadata().ok()?;
        Some(Self {
            path: path.to_owned(),
            device: found.dev(),
            inode: found.ino(),
            bytes: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }
}

/// A program's answers, by its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Answers(Vec<(Vec<String>, String)>);

impl Answers {
    /// The answers that may be cached.
    fn of(probes: &[Probe], findings: &[ProbeAnswer]) -> Self {
        let kept = |(probe, finding): (&Probe, &ProbeAnswer)| {
            let stdout = finding.stdout.as_ref().filter(|stdout| stdout.len() <= LONGEST_ANSWER)?;
            (probe.decided_by == DecidedBy::Program).then(|| (probe.args.clone(), stdout.clone()))
        };
        Self(probes.iter().zip(findings).filter_map(kept).collect())
    }

    fn answer(&self, probe: &Probe) -> Option<&str> {
        let found =
            self.0.iter().find(|(args, _)| probe.decided_by == DecidedBy::Program && *args == probe.args);
        found.map(|(_, stdout)| stdout.as_str())
    }
}

/// The cache file, most recent program first.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    programs: Vec<(Identity, Answers)>,
}

impl Kept {
    /// A damaged or oversized file counts as empty.
    fn read(path: &Path) -> Self {
        let bytes = files::head(path, LONGEST_FILE).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn of(self, identity: &Identity) -> Option<Answers> {
        self.programs.into_iter().find(|(known, _)| known == identity).map(|(_, answers)| answers)
    }

    fn with(mut self, identity: Identity, answers: Answers) -> Self {
        self.programs.retain(|(known, _)| known.path != identity.path);
        self.programs.insert(0, (identity, answers));
        self.programs.truncate(MOST_PROGRAMS);
        self
    }

    fn write(&self, path: &Path) -> std::io::Result<()> {
        files::write(path, &serde_json::to_vec(self)?, Durability::Whole)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn identity(name: usize, inode: u64) -> Identity {
        let path = PathBuf::from(format!("/bin/{name}"));
        Identity { path, device: 1, inode, bytes: 2, modified: (3, 4), changed: (5, 6) }
    }

    fn answers(text: &str) -> Answers {
        Answers(vec![(vec!["--version".to_owned()], text.to_owned())])
    }

    #[test]
    fn the_last_programs_are_kept_each_once() {
        let mut kept = Kept::default();
        for name in 0..6 {
            kept = kept.with(identity(name, 1), answers("old"));
        }
        kept = kept.with(identity(4, 2), answers("new"));
        let names: Vec<&Path> = kept.programs.iter().map(|(known, _)| known.path.as_path()).collect();
        assert_eq!(names, ["/bin/4", "/bin/5", "/bin/3", "/bin/2"].map(Path::new));
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("kept");
        kept.write(&file).unwrap();
        assert_eq!(Kept::read(&file), kept);
        assert_eq!(Kept::read(&file).of(&identity(4, 1)), None);
        assert_eq!(kept.of(&identity(4, 2)), Some(answers("new")));
    }

    #[test]
    fn a_damaged_file_holds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("kept");
        for damaged in ["", "{", "[]", r#"{"programs":[[{},[]]]}"#] {
            fs::write(&file, damaged).unwrap();
            assert_eq!(Kept::read(&file), Kept::default(), "{damaged}");
        }
        assert_eq!(Kept::read(&dir.path().join("none")), Kept::default());
    }

    #[test]
    fn a_script_has_no_identity_and_another_file_has_another() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("program");
        fs::write(&program, "#!/bin/sh\n").unwrap();
        assert_eq!(Identity::of(&program), None);
        fs::write(&program, "\x7fELF").unwrap();
        let before = Identity::of(&program).unwrap();
        assert_eq!(Identity::of(&program), Some(before.clone()));
        fs::write(dir.path().join("new"), "\x7fELF").unwrap();
        fs::rename(dir.path().join("new"), &program).unwrap();
        assert_ne!(Identity::of(&program), Some(before));
    }
}
