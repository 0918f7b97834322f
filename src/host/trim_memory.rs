//! Returns unneeded memory to the system.

/// Drops this program's code and constants from memory; pages that are used again are reloaded from
/// the page cache.
///
/// For a process that now mostly sleeps, unused code is most of its memory.
pub(crate) fn release_program() {
    #[cfg(target_os = "linux")]
    for (start, length) in unwritten(&std::fs::read_to_string("/proc/self/smaps").unwrap_or_default()) {
        // SAFETY: these pages are mapped from files and were never written to, so the next use maps
        // the same bytes again.
        unsafe { libc::madvise(start as *mut libc::c_void, length, libc::MADV_DONTNEED) };
    }
}

/// Returns freed memory to the system; the allocator would otherwise keep much of it.
pub(crate) fn release_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: asks the allocator to return pages that nothing points into.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Start and length of the file mappings that were never written to. Relocated data and code that a
/// debugger changed are anonymous memory and do not count.
fn unwritten(smaps: &str) -> Vec<(usize, usize)> {
    let range = |line: &str| {
        let mut fields = line.split_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let may_be = matches!(fields.next()?, "r-xp" | "r--p")
            && fields.nth(3).is_some_and(|path| path.starts_with('/'));
        let start = usize::from_str_radix(start, 16).ok().filter(|_| may_be)?;
        Some((start, usize::from_str_radix(end, 16).ok()?.checked_sub(start)?))
    };
    let is_header = |line: &str| line.split_whitespace().next().is_some_and(|first| !first.ends_with(':'));
    let mut found = Vec::new();
    let mut mapping = None;
    for line in smaps.lines() {
        if is_header(line) {
            mapping = range(line);
        } else if line.split_whitespace().eq(["Anonymous:", "0", "kB"]) {
            found.extend(mapping.take());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_file_still_has_is_released() {
        let mapping = |line: &str, anonymous: u32| {
            format!("{line}\nRss: 8 kB\nAnonymous: {anonymous} kB\nVmFlags: rd\n")
        };
        let smaps = [
            mapping("55d0-55f0 r--p 00000000 fe:00 12 /usr/bin/delegator", 0),
            mapping("55f0-5600 r-xp 00020000 fe:00 12 /usr/bin/delegator", 0),
            mapping("5600-5680 r--p 00030000 fe:00 12 /usr/bin/delegator", 308),
            mapping("5680-5700 rw-p 00038000 fe:00 12 /usr/bin/delegator", 0),
            mapping("6000-6100 rw-s 00000000 fe:00 13 /home/registry.db-shm", 0),
            mapping("7ff0-7ff8 r-xp 00000000 00:00 0 [vdso]", 0),
            mapping("7f00-7f80 r-xp 00000000 00:00 0", 0),
        ];
        assert_eq!(unwritten(&smaps.concat()), [(0x55d0, 0x20), (0x55f0, 0x10)]);
    }

    #[test]
    fn the_program_goes_on_without_what_it_released() {
        release_program();
        assert!(unwritten(&std::fs::read_to_string("/proc/self/smaps").unwrap()).len() > 1);
    }
}
