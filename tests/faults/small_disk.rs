//! A file system of a few megabytes, seen by one test alone.

use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Set inside the test's own mount namespace.
const INSIDE: &str = "FAULTS_MOUNT_NAMESPACE";

/// Whether this is the inner run of the test `name`. The outer one starts the
/// inner one in a mount namespace of its own, where nothing has to be undone.
pub fn inside(name: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    // SAFETY: a system call without arguments.
    let namespaces = if unsafe { libc::geteuid() } == 0 { "-m" } else { "-rm" };
    let mut command = Command::new("/usr/bin/unshare");
    command.arg(namespaces).arg(std::env::current_exe().unwrap()).args([name, "--exact", "--nocapture"]);
    let status = command.env(INSIDE, "1").status().unwrap();
    assert!(status.success(), "the inner run failed");
    false
}

/// Gone, with everything on it, when it is dropped.
pub struct SmallDisk {
    root: TempDir,
}

impl SmallDisk {
    /// Mounts `size` bytes of memory.
    pub fn mount(size: u64) -> SmallDisk {
        let root = tempfile::Builder::new().prefix("small-disk-").tempdir().unwrap();
        let at = c_path(root.path());
        let data = CString::new(format!("size={size},mode=0700")).unwrap();
        let kind = c"tmpfs";
        // SAFETY: all strings end in a null byte and outlive the call.
        let mounted =
            unsafe { libc::mount(kind.as_ptr(), at.as_ptr(), kind.as_ptr(), 0, data.as_ptr().cast()) };
        assert_eq!(mounted, 0, "{}", std::io::Error::last_os_error());
        SmallDisk { root }
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Fills it up to the last `leave` bytes.
    pub fn fill(&self, leave: u64) {
        self.free();
        let mut file = OpenOptions::new().append(true).create(true).open(self.filler()).unwrap();
        let page = vec![0; 4096];
        while free_bytes(self.root()) > leave && file.write_all(&page).is_ok() {}
    }

    /// Gives back what [`fill`](Self::fill) took.
    pub fn free(&self) {
        let _ = fs::remove_file(self.filler());
    }

    fn filler(&self) -> PathBuf {
        self.root().join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let at = c_path(self.root());
        // SAFETY: the path ends in a null byte and outlives the call.
        unsafe { libc::umount2(at.as_ptr(), libc::MNT_DETACH) };
    }
}

fn c_path(path: &Path) -> CString {
    CString::new(path.to_str().unwrap()).unwrap()
}

fn free_bytes(path: &Path) -> u64 {
    let path = c_path(path);
    // SAFETY: the path ends in a null byte, and the structure is a valid place
    // for the kernel to write to.
    let stat = unsafe {
        let mut stat: libc::statvfs = std::mem::zeroed();
        assert_eq!(libc::statvfs(path.as_ptr(), &mut stat), 0);
        stat
    };
    stat.f_bavail * stat.f_frsize
}
