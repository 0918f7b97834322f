//! Gives back memory that is not needed for a while.

/// Drops this program's own code from memory. What runs next is read again
/// from the page cache, page by page.
///
/// For a process that has done its work and now mostly sleeps: the code it
/// will not come to for an hour is most of what it holds.
pub(crate) fn release_code() {
    #[cfg(target_os = "linux")]
    for (start, length) in code(&std::fs::read_to_string("/proc/self/maps").unwrap_or_default()) {
        // SAFETY: code is mapped from files and never written to, so that
        // dropping a page loses nothing: the next use maps the same bytes again.
        unsafe { libc::madvise(start as *mut libc::c_void, length, libc::MADV_DONTNEED) };
    }
}

/// Gives back what was freed: the allocator keeps much of it otherwise, as if
/// as much were needed again soon.
pub(crate) fn release_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: asks the allocator to return pages that nothing points into.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Where code is mapped from a file: start and length. What could have been
/// written to, relocations included, is not among it.
fn code(maps: &str) -> Vec<(usize, usize)> {
    let range = |line: &str| {
        let mut fields = line.split_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let is_code = fields.next()? == "r-xp" && fields.nth(3).is_some_and(|path| path.starts_with('/'));
        let start = usize::from_str_radix(start, 16).ok().filter(|_| is_code)?;
        Some((start, usize::from_str_radix(end, 16).ok()?.checked_sub(start)?))
    };
    maps.lines().filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_that_comes_from_a_file_is_released() {
        let maps = "55d0-55f0 r--p 00000000 fe:00 12 /usr/bin/delegator\n\
                    55f0-5600 r-xp 00020000 fe:00 12 /usr/bin/delegator\n\
                    5600-5700 rw-p 00030000 fe:00 12 /usr/bin/delegator\n\
                    7ff0-7ff8 r-xp 00000000 00:00 0 [vdso]\n\
                    7f00-7f80 r-xp 00000000 00:00 0\n";
        assert_eq!(code(maps), [(0x55f0, 0x10)]);
    }

    #[test]
    fn the_program_goes_on_without_what_it_released() {
        release_code();
        assert!(code(&std::fs::read_to_string("/proc/self/maps").unwrap()).len() > 1);
    }
}
