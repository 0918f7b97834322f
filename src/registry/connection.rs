//! The one database opener.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::host::Home;
use crate::host::files;
use crate::registry::file_identity;
use crate::registry::file_identity::Identity;
use crate::registry::{migrations, rebuild, recreate};

/// The first version without the bug that could lose a write-ahead log.
const OLDEST_SQLITE: i32 = 3_051_003;

#[derive(Debug)]
pub(crate) struct Registry {
    pub(super) connection: Connection,
    home: Home,
    /// The files that it has open, whatever their names lead to later.
    files: Identity,
    was_replaced: bool,
}

/// What to tell when the files were found to be others while they were in use.
const REPLACED: &str = "the registry's files were removed or replaced by somebody else while they were in use; they were opened \
     anew, and every run that has a directory is there";

/// From which length on the log is folded, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// By one whose work is done and whom nobody waits for: four runs.
    Short = 60 * 4120,
    /// By one that would have to read it otherwise.
    Long = 600 * 4120,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum RegistryError {
    #[error("the registry `{}` was written by a newer version (format {found}, this one knows {known})", path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("the registry `{}` is damaged", path.display())]
    Damaged {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error("the registry is damaged")]
    Corrupt(#[source] rusqlite::Error),
    #[error("the disk is full")]
    Full(#[source] rusqlite::Error),
    #[error("the registry `{}` could not be opened", path.display())]
    Unusable {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error("the registry is busy")]
    Busy(#[source] rusqlite::Error),
    #[error("the registry refused")]
    Sql(#[source] rusqlite::Error),
    #[error("SQLite {0} has a bug that loses data")]
    OldLibrary(&'static str),
}

impl From<rusqlite::Error> for RegistryError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => RegistryError::Full(error),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => RegistryError::Busy(error),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => RegistryError::Corrupt(error),
            _ => RegistryError::Sql(error),
        }
    }
}

impl Registry {
    /// Opens the registry, making or migrating it where needed. A new one in a
    /// home that already has runs is filled from their directories.
    pub(crate) fn open(home: &Home) -> Result<Self, RegistryError> {
        if rusqlite::version_number() < OLDEST_SQLITE {
            return Err(RegistryError::OldLibrary(rusqlite::version()));
        }
        if recreate::is_whole(&home.registry()) {
            return Self::connect(home);
        }
        let _making = recreate::exclusive(home)?;
        // Somebody else may have done it since we looked.
        if !recreate::is_whole(&home.registry()) {
            recreate::make(home)?;
        }
        Self::connect(home)
    }

    /// Opens the files that are there.
    fn connect(home: &Home) -> Result<Self, RegistryError> {
        let path = home.registry();
        let has_log = fs::metadata(file_identity::log(&path)).is_ok_and(|log| log.len() > 0);
        let connection = connect(&path).map_err(|error| at(&path, error))?;
        // Looked at before anything is set: a file of the future stays as it is.
        check_version(&path, version(&connection).map_err(|error| at(&path, error))?)?;
        configure(&connection).map_err(|error| at(&path, error))?;
        let found = version(&connection).map_err(|error| at(&path, error))?;
        // The log is open from here on.
        let files = Identity::of(&path).map_err(|error| recreate::failed(&path, error))?;
        let mut registry = Self { connection, home: home.clone(), files, was_replaced: false };
        if !has_log {
            // Before anything is in it, so that one that has something has its name
            // on disk. SQLite is built not to do this: it would in every process.
            let _ = files::sync_dir(home.root());
        }
        registry.migrate(found)?;
        registry.fold(Length::Long);
        Ok(registry)
    }

    /// Whether this is a registry of `home` that this program knows: a newer one may have changed it.
    pub(crate) fn is_of(&self, home: &Home) -> bool {
        self.home.root() == home.root()
            && version(&self.connection).is_ok_and(|found| found == migrations::VERSION)
    }

    /// Opens the files anew if somebody has removed or replaced them: what is read
    /// and written here is in nobody else's registry then. Returns whether.
    pub(crate) fn renew(&mut self) -> Result<bool, RegistryError> {
        let path = self.home.registry();
        if !self.was_moved(&path) {
            return Ok(false);
        }
        let _making = recreate::exclusive(&self.home)?;
        let now = Identity::of(&path).map_err(|error| recreate::failed(&path, error))?;
        // Where one of the two is ours still, it does not fit the other; and SQLite would
        // let a new connection to our database join the index of the log that we have.
        if now.database == self.files.database || now.log == self.files.log || !recreate::is_whole(&path) {
            recreate::make(&self.home)?;
        }
        *self = Self { was_replaced: true, ..Self::connect(&self.home)? };
        Ok(true)
    }

    /// What happened to the files while they were in use, to be told once.
    pub(crate) fn take_notice(&mut self) -> Option<&'static str> {
        std::mem::take(&mut self.was_replaced).then_some(REPLACED)
    }

    /// Somebody replaces the files again and again.
    pub(super) fn keeps_moving(&self) -> RegistryError {
        let error = std::io::Error::other("somebody keeps removing or replacing it");
        recreate::failed(&self.home.registry(), error)
    }

    /// Which files it has open.
    pub(crate) fn files(&self) -> Identity {
        self.files
    }

    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    /// Only what is seen counts: a disk that does not answer has moved nothing.
    fn was_moved(&self, path: &Path) -> bool {
        Identity::of(path).is_ok_and(|now| now != self.files)
    }

    /// The file whose growth tells of every commit.
    pub(crate) fn log(&self) -> PathBuf {
        file_identity::log(&self.home.registry())
    }

    /// Folds the log into the file and empties it, if it is long and nobody is
    /// in the way. Whoever opens the registry alone reads the log from its
    /// beginning: what SQLite folds by itself stays there and is read again.
    pub(crate) fn fold(&mut self, length: Length) {
        let is_long = fs::metadata(self.log()).is_ok_and(|log| log.len() > length as u64);
        // Trouble with it is nobody's: the log holds all of it.
        let without_waiting = |connection: &mut Connection| {
            connection.busy_handler(Some(|_| false))?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        };
        // Into a file that is nobody's any more, or that somebody copies at this moment?
        if is_long && !self.was_moved(&self.home.registry()) {
            let _ = without_waiting(&mut self.connection);
            let _ = self.connection.busy_handler(Some(wait_a_little));
        }
    }

    /// Runs `work` in one IMMEDIATE transaction: it reads what it writes by.
    pub(super) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        self.renew()?;
        transact(&mut self.connection, work)
    }

    fn migrate(&mut self, found: i64) -> Result<(), RegistryError> {
        let path = self.home.registry();
        let classify = |error| match error {
            RegistryError::Sql(source) | RegistryError::Corrupt(source) => at(&path, source),
            other => other,
        };
        if found >= migrations::VERSION {
            return check_version(&path, found);
        }
        transact(&mut self.connection, |transaction| {
            // Somebody else may have done it since we looked.
            let found = version(transaction)?;
            migrations::apply(transaction, found)?;
            if found == 0 {
                rebuild::fill(transaction, &self.home)?;
            }
            Ok(())
        })
        .map_err(classify)
    }
}

pub(super) fn check_version(path: &Path, found: i64) -> Result<(), RegistryError> {
    if found > migrations::VERSION {
        return Err(RegistryError::Newer { path: path.to_owned(), found, known: migrations::VERSION });
    }
    Ok(())
}

/// Runs `work` in one IMMEDIATE transaction.
pub(super) fn transact<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Connection) -> Result<T, RegistryError>,
) -> Result<T, RegistryError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let value = work(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn connect(path: &Path) -> Result<Connection, rusqlite::Error> {
    // Nobody else opens it, ever: whoever closes any descriptor of it drops the locks of
    // the whole process. It is there already, private, and gives its mode to log and index.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(wait_a_little))?;
    Ok(connection)
}

fn configure(connection: &Connection) -> Result<(), rusqlite::Error> {
    use_write_ahead_log(connection)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "journal_size_limit", 4 << 20)?;
    // Most processes live for one transaction: folding the log into the file
    // whenever the last of them ends would cost more than the work itself.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(())
}

/// Sets the mode that the file keeps. While two processes do it to a new file
/// at once, SQLite tells one of them "busy" without asking its handler.
fn use_write_ahead_log(connection: &Connection) -> Result<(), rusqlite::Error> {
    let mut attempt = 0;
    loop {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && wait_a_little(attempt) =>
            {
                attempt += 1;
            }
            other => return other,
        }
    }
}

/// Sleeps 0.3 to 1.8 ms, for about ten seconds in all. SQLite's own back-off
/// grows and is unfair: the one who waits longest sleeps longest.
pub(super) fn wait_a_little(attempt: i32) -> bool {
    let jitter =
        (std::process::id().wrapping_mul(2_654_435_761).wrapping_add(attempt as u32 * 40_503)) % 1500;
    std::thread::sleep(Duration::from_micros(300 + u64::from(jitter)));
    attempt < 10_000
}

pub(super) fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// What went wrong with the file as a whole.
pub(super) fn at(path: &Path, source: rusqlite::Error) -> RegistryError {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => RegistryError::Damaged { path, source },
        Some(ErrorCode::DiskFull) => RegistryError::Full(source),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => RegistryError::Busy(source),
        _ => RegistryError::Unusable { path, source },
    }
}
