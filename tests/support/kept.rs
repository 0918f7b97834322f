//! Creates captures and terminals of any age in a home.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flate2::read::GzDecoder;

/// Larger files are compressed.
pub const LARGE: usize = (1 << 20) + 1;

/// The name of a capture.
pub fn name(number: usize) -> String {
    format!("tool-delegate_results-{number:032x}.txt")
}

/// The id of a terminal.
pub fn id(number: usize) -> String {
    format!("term-{number:012}")
}

/// This many bytes in distinct lines.
pub fn content(number: usize, bytes: usize) -> Vec<u8> {
    let filling = "one of many words ".repeat(56);
    let mut text = String::with_capacity(bytes + 1024);
    let mut line = 0;
    while text.len() < bytes {
        text.push_str(&format!("{number}: line {line} {filling}\n"));
        line += 1;
    }
    text.truncate(bytes);
    text.into_bytes()
}

/// Writes a capture that was last written this many hours ago.
pub fn capture(home: &Path, number: usize, bytes: usize, hours: u64) -> PathBuf {
    let path = home.join("captures").join(name(number));
    write(&path, &content(number, bytes), hours);
    path
}

/// Writes a terminal of that age that is not being recorded.
pub fn terminal(home: &Path, number: usize, bytes: usize, hours: u64) -> PathBuf {
    let dir = home.join("terminals").join(id(number));
    write(&dir.join("output.log"), &content(number, bytes), hours);
    for (file, content) in [("lock", ""), ("meta.json", "{}\n"), ("times.idx", "0123456789abcdef")] {
        write(&dir.join(file), content.as_bytes(), hours);
    }
    dir
}

fn write(path: &Path, content: &[u8], hours: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    age(path, hours);
}

/// Sets the modification time of a file to this many hours ago.
pub fn age(path: &Path, hours: u64) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).unwrap();
}

/// Holds the lock of a file, like the recorder of a terminal.
pub fn hold(path: &Path) -> File {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap();
    // SAFETY: a structure of integers, for which zero is a valid value, and a
    // descriptor that is open.
    let taken = unsafe {
        let mut lock: libc::flock = std::mem::zeroed();
        lock.l_type = libc::F_WRLCK as libc::c_short;
        libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &lock)
    };
    assert_eq!(taken, 0, "{}", path.display());
    file
}

/// The existing versions of a file, plain and compressed. Panics if one is truncated.
pub fn versions(path: &Path) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    let packed = fs::read(packed(path)).ok().map(|bytes| {
        let mut whole = Vec::new();
        let mut decoder = GzDecoder::new(bytes.as_slice());
        decoder.read_to_end(&mut whole).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        whole
    });
    (fs::read(path).ok(), packed)
}

pub fn packed(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".gz");
    name.into()
}

/// Every name below `dir`, sorted.
pub fn names(dir: &Path) -> Vec<String> {
    let mut open = vec![dir.to_owned()];
    let mut found = Vec::new();
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            }
            found.push(entry.path().strip_prefix(dir).unwrap().to_str().unwrap().to_owned());
        }
    }
    found.sort();
    found
}
