//! The hashes of a run's files: made for each reply, but for large files, which it would have to wait for. Those are
//! made once, before the run is sealed. Runs that were sealed without them have what a reply can wait for.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::model::Hashed;
use crate::runs::{ArtifactName, RunDir};

/// What is larger is hashed once. A reply names up to some dozens of files.
const LARGEST_OF_EVERY_REPLY: u64 = 1 << 20;
const LARGEST_OF_A_REPLY: u64 = 64 << 20;

/// Of the files that are not to be hashed again and again. One that cannot be read has none.
pub(super) fn to_seal(dir: &RunDir) -> Vec<Hashed> {
    let measured = dir.artifacts().into_iter().map(|(name, path)| (name, length(&path), path));
    let large = measured.filter(|(_, bytes, _)| *bytes > LARGEST_OF_EVERY_REPLY);
    let hashed = |(name, bytes, path): (ArtifactName, u64, PathBuf)| {
        Some(Hashed { name: name.as_str().to_owned(), bytes, sha256: hash(&path).ok()? })
    };
    large.filter_map(hashed).collect()
}

/// Of a file that may be among the `sealed` ones, where it is as long as it was then.
pub(super) fn of(name: &ArtifactName, path: &Path, sealed: &[Hashed]) -> Option<String> {
    let bytes = length(path);
    match sealed.iter().find(|one| one.name == name.as_str() && one.bytes == bytes) {
        Some(known) => Some(known.sha256.clone()),
        None if bytes <= LARGEST_OF_A_REPLY => hash(path).ok(),
        None => None,
    }
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
