//! Free disk space and the kind of file system.

use std::io;
use std::path::Path;

/// Bytes that this user may still write below `path`.
pub(crate) fn free_bytes(path: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// The name of the network file system at `path`, if it is on one. The registry's write-ahead log
/// needs memory shared on one host.
#[cfg(target_os = "linux")]
pub(crate) fn network_file_system(path: &Path) -> Option<&'static str> {
    let stat = rustix::fs::statfs(path).ok()?;
    match stat.f_type as u64 & 0xffff_ffff {
        0x6969 => Some("nfs"),
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => Some("smb"),
        0x0102_1997 => Some("9p"),
        0x6573_5546 => Some("fuse"),
        _ => None,
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn network_file_system(_path: &Path) -> Option<&'static str> {
    None
}
