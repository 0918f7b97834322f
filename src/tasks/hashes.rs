//! The hashes of a run's files: made for each reply, but for large files, which it would have to wait for. Those are
//! made once, before the run is sealed.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::model::Hashed;
use crate::runs::{ArtifactName, RunDir};

const LARGEST_OF_A_REPLY: u64 = 64 << 20;

/// Of the files that no reply will hash. One that cannot be read has none.
pub(super) fn to_seal(dir: &RunDir) -> Vec<Hashed> {
    let measured = dir.artifacts().into_iter().map(|(name, path)| (name, length(&path), path));
    let large = measured.filter(|(_, bytes, _)| *bytes > LARGEST_OF_A_REPLY);
    let hashed = |(name, bytes, path): (ArtifactName, u64, PathBuf)| {
        Some(Hashed { name: name.as_str().to_owned(), bytes, sha256: hash(&path).ok()? })
    };
    large.filter_map(hashed).collect()
}

/// Of a file that may be among the `sealed` ones, where it is as long as it was then.
pub(super) fn of(name: &ArtifactName, path: &Path, sealed: &[Hashed]) -> Option<String> {
    let bytes = length(path);
    if bytes <= LARGEST_OF_A_REPLY {
        return hash(path).ok();
    }
    let known = sealed.iter().find(|one| one.name == name.as_str() && one.bytes == bytes);
    known.map(|one| one.sha256.clone())
}

pub(super) fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

fn hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 64 << 10];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => hasher.update(&chunk[..read]),
        }
    }
}
