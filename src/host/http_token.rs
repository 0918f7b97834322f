//! The token that HTTP clients must send. It is created once in a file of the owner's and read
//! again for each comparison, so that removing or replacing the file revokes it.

use std::fs;
use std::fs::OpenOptions;
use std::io;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use subtle::ConstantTimeEq;

use crate::host::ids::{self, NoRandomness};
use crate::host::{files, paths};

/// 256 bits in hexadecimal digits.
const DIGITS: usize = 64;

#[derive(Debug)]
pub(crate) struct Token {
    path: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("`{}` belongs to another user (uid {owner})", path.display())]
    NotOurs { path: PathBuf, owner: u32 },
    #[error("`{}` can be read by other users (mode {mode:o})", path.display())]
    TooOpen { path: PathBuf, mode: u32 },
    #[error("`{}` holds no token", .0.display())]
    NoToken(PathBuf),
    #[error("`{}` cannot be used", path.display())]
    Unusable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Random(#[from] NoRandomness),
}

impl Token {
    /// Opens the token in the file at `path`, creating it if there is none.
    ///
    /// A file that others own or can read is refused, not repaired: they may know the token
    /// already.
    pub(crate) fn open(path: &Path) -> Result<Token, TokenError> {
        let token = Token { path: path.to_owned() };
        match read(path) {
            Err(TokenError::Unusable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            found => return found.map(|_| token),
        }
        let line = format!("{}\n", ids::token()?);
        match files::create(path, line.as_bytes()) {
            Ok(()) => {}
            // Another server created it first: use that token.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(TokenError::Unusable { path: path.to_owned(), source }),
        }
        read(path).map(|_| token)
    }

    /// Whether `shown` equals the token in the file now. Compares in constant time.
    pub(crate) fn is(&self, shown: &[u8]) -> bool {
        read(&self.path).is_ok_and(|token| token.as_bytes().ct_eq(shown).into())
    }
}

fn read(path: &Path) -> Result<String, TokenError> {
    let unusable = |source| TokenError::Unusable { path: path.to_owned(), source };
    // Follow no link and do not block on a pipe.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(unusable)?;
    let found = file.metadata().map_err(unusable)?;
    check(path, &found)?;
    let mut text = String::new();
    file.take(DIGITS as u64 + 2).read_to_string(&mut text).map_err(unusable)?;
    let text = text.trim_end();
    if text.len() != DIGITS || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(TokenError::NoToken(path.to_owned()));
    }
    Ok(text.to_owned())
}

fn check(path: &Path, found: &fs::Metadata) -> Result<(), TokenError> {
    let path = path.to_owned();
    if !found.is_file() {
        return Err(TokenError::NoToken(path));
    }
    if found.uid() != paths::own_uid() {
        return Err(TokenError::NotOurs { path, owner: found.uid() });
    }
    match found.mode() & 0o777 {
        mode if mode & 0o077 != 0 => Err(TokenError::TooOpen { path, mode }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_token_is_made_once_and_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("http-token");
        let token = Token::open(&path).unwrap();
        let made = read(&path).unwrap();
        Token::open(&path).unwrap();
        assert_eq!((made.len(), &made), (DIGITS, &read(&path).unwrap()));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(token.is(made.as_bytes()));
        assert!(!token.is(b"") && !token.is(&made.as_bytes()[1..]));
        assert!(!format!("{token:?}").contains(&made));
    }

    #[test]
    fn a_token_is_valid_as_long_as_its_file_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("http-token");
        let token = Token::open(&path).unwrap();
        let first = read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(!token.is(first.as_bytes()) && !token.is(b""));
        Token::open(&path).unwrap();
        assert!(!token.is(first.as_bytes()) && token.is(read(&path).unwrap().as_bytes()));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(!token.is(fs::read_to_string(&path).unwrap().trim_end().as_bytes()));
    }

    #[track_caller]
    fn check(prepare: impl Fn(&Path), refused: impl Fn(&TokenError) -> bool) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("http-token");
        prepare(&path);
        let error = Token::open(&path).unwrap_err();
        assert!(refused(&error), "{error:?}");
    }

    #[test]
    fn a_file_that_others_may_read_is_refused_and_left_as_it_is() {
        let prepare = |path: &Path| {
            drop(Token::open(path).unwrap());
            fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap();
        };
        check(prepare, |error| matches!(error, TokenError::TooOpen { mode: 0o640, .. }));
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let private = |path: &Path, text: &str| {
            files::write(path, text.as_bytes(), files::Durability::Whole).unwrap();
        };
        let none = |error: &TokenError| matches!(error, TokenError::NoToken(_));
        check(|path| private(path, ""), none);
        check(|path| private(path, "secret"), none);
        check(|path| private(path, &"0".repeat(DIGITS + 1)), none);
        check(|path| fs::create_dir(path).unwrap(), none);
    }

    #[test]
    fn a_link_is_not_followed() {
        let prepare = |path: &Path| {
            let elsewhere = path.with_extension("elsewhere");
            drop(Token::open(&elsewhere).unwrap());
            symlink(elsewhere, path).unwrap();
        };
        check(prepare, |error| matches!(error, TokenError::Unusable { .. }));
    }
}
