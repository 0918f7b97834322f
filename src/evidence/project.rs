//! The files of a checkout that say how it is built and tested, and no others: a name that leads out of it,
//! and a link, are not followed.

use std::io::Read;
use std::path::Path;

use crate::host::beneath::{self, BeneathError};

/// There is a file, and it cannot be read, or is not to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unread;

/// The text of a file in a folder of the checkout, where it has less than `longest` bytes; `None` where
/// there is none.
pub(crate) fn text(root: &Path, folder: &str, name: &str, longest: u64) -> Result<Option<String>, Unread> {
    let file = match beneath::open(root, &Path::new(folder).join(name)) {
        Ok(file) => file,
        Err(BeneathError::Missing) => return Ok(None),
        // Another file is where the folder would be.
        Err(BeneathError::Link) if !root.join(folder).is_dir() => return Ok(None),
        Err(_) => return Err(Unread),
    };
    let mut bytes = Vec::new();
    file.take(longest).read_to_end(&mut bytes).map_err(|_| Unread)?;
    match (bytes.len() as u64) < longest {
        true => String::from_utf8(bytes).map(Some).map_err(|_| Unread),
        false => Err(Unread),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_what_is_in_the_checkout_is_read() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(dir.path().join("web")).unwrap();
        for folder in [dir.path(), &dir.path().join("web"), other.path()] {
            fs::write(folder.join("a.toml"), "a = 1").unwrap();
        }
        symlink(other.path(), dir.path().join("away")).unwrap();
        symlink(other.path().join("a.toml"), dir.path().join("link.toml")).unwrap();
        let read = |folder: &str, name: &str| text(dir.path(), folder, name, 6);
        let there = Ok(Some("a = 1".to_owned()));
        assert_eq!((read("", "a.toml"), read("web", "a.toml")), (there.clone(), there));
        for (folder, name) in [("", "b.toml"), ("gone", "a.toml"), ("a.toml", "a.toml")] {
            assert_eq!(read(folder, name), Ok(None), "{folder} {name}");
        }
        let away = other.path().to_str().unwrap();
        for (folder, name) in [("away", "a.toml"), ("", "link.toml"), (away, "a.toml"), ("web/..", "a.toml")]
        {
            assert_eq!(read(folder, name), Err(Unread), "{folder} {name}");
        }
        assert_eq!(text(dir.path(), "", "a.toml", 5), Err(Unread));
    }
}
