//! Opens the database. No other module does.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::host::Home;
use crate::host::files;
use crate::registry::file_identity;
use crate::registry::file_identity::RegistryFiles;
use crate::registry::{migrations, rebuild, recreate};

/// The first version without the bug that could lose the write-ahead log.
const OLDEST_SQLITE: i32 = 3_051_003;

#[derive(Debug)]
pub(crate) struct Registry {
    pub(super) connection: Connection,
    home: Home,
    /// How long results are kept, as configured.
    pub(crate) kept_for: Duration,
    /// The open files, whatever their paths lead to later.
    files: RegistryFiles,
    was_replaced: bool,
}

/// Reported once if the files were replaced while in use.
const REPLACED: &str = "the registry's files were removed or replaced by another program while they were in use; they were \
     reopened, and every run that has a directory is listed";

/// The log size in bytes above which it is checkpointed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogSize {
    /// For a process that has finished its work: four runs.
    Short = 60 * 4120,
    /// For a process that would otherwise have to read the log.
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
    #[error("the run directories in `{}` could not be listed", path.display())]
    Runs {
        path: PathBuf,
        #[source]
        source: io::Error,
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
    /// Opens the registry and creates or migrates it if needed. A new registry in a home with runs
    /// is filled from their directories.
    pub(crate) fn open(home: &Home, kept_for: Duration) -> Result<Self, RegistryError> {
        if rusqlite::version_number() < OLDEST_SQLITE {
            return Err(RegistryError::OldLibrary(rusqlite::version()));
        }
        if recreate::is_whole(&home.registry()) {
            return Self::connect(home, kept_for);
        }
        let _making = recreate::exclusive(home)?;
        // Another process may have created it meanwhile.
        if !recreate::is_whole(&home.registry()) {
            recreate::make(home, kept_for)?;
        }
        Self::connect(home, kept_for)
    }

    /// Opens the existing files.
    fn connect(home: &Home, kept_for: Duration) -> Result<Self, RegistryError> {
        let path = home.registry();
        let has_log = fs::metadata(file_identity::log(&path)).is_ok_and(|log| log.len() > 0);
        let open = || -> Result<_, RegistryError> {
            let connection = connect(&path).map_err(|error| at(&path, error))?;
            // Checked before anything is changed: a file of a newer version is left as it is.
            check_version(&path, version(&connection).map_err(|error| at(&path, error))?)?;
            configure(&connection).map_err(|error| at(&path, error))?;
            let found = version(&connection).map_err(|error| at(&path, error))?;
            // The log exists from here on.
            Ok((connection, found))
        };
        let ((connection, found), files) = file_identity::opened(&path, open)?;
        let mut registry = Self { connection, home: home.clone(), kept_for, files, was_replaced: false };
        if !has_log {
            // Sync the directory before the log has content, so that its name is on disk. Our
            // SQLite is built not to do this, because it would in every process.
            let _ = files::sync_dir(home.root());
        }
        registry.migrate(found)?;
        registry.checkpoint_log(LogSize::Long);
        Ok(registry)
    }

    /// Whether this is the registry of `home` in the current format; a newer program may have
    /// migrated it.
    pub(crate) fn is_of(&self, home: &Home) -> bool {
        self.home.root() == home.root()
            && version(&self.connection).is_ok_and(|found| found == migrations::VERSION)
    }

    /// Reopens the files if they were removed or replaced; nobody else would see what is written to
    /// the old ones. Returns whether it did.
    pub(crate) fn reopen_if_replaced(&mut self) -> Result<bool, RegistryError> {
        let path = self.home.registry();
        if !self.was_moved(&path) {
            return Ok(false);
        }
        let _making = recreate::exclusive(&self.home)?;
        let now = RegistryFiles::of(&path).map_err(|error| recreate::failed(&path, error))?;
        // If one of the two is still ours, it does not match the other. SQLite would also let a new
        // connection to our database use the old log's index.
        if now.database == self.files.database || now.log == self.files.log || !recreate::is_whole(&path) {
            recreate::make(&self.home, self.kept_for)?;
        }
        *self = Self { was_replaced: true, ..Self::connect(&self.home, self.kept_for)? };
        Ok(true)
    }

    /// Reports once that the files were replaced.
    pub(crate) fn take_replaced_notice(&mut self) -> Option<&'static str> {
        std::mem::take(&mut self.was_replaced).then_some(REPLACED)
    }

    /// The error if the files are replaced again and again.
    pub(super) fn replaced_repeatedly(&self) -> RegistryError {
        file_identity::replaced_repeatedly(&self.home.registry())
    }

    /// The identity of the open files.
    pub(crate) fn files(&self) -> RegistryFiles {
        self.files
    }

    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    /// A failing disk does not count as a replacement.
    fn was_moved(&self, path: &Path) -> bool {
        RegistryFiles::of(path).is_ok_and(|now| now != self.files)
    }

    /// The file that grows with every commit.
    pub(crate) fn log(&self) -> PathBuf {
        file_identity::log(&self.home.registry())
    }

    /// Checkpoints and truncates the log if it is long and nobody else uses it. SQLite's automatic
    /// checkpoint does not truncate, so the next process to open the registry alone would read the
    /// log again.
    pub(crate) fn checkpoint_log(&mut self, length: LogSize) {
        let is_long = fs::metadata(self.log()).is_ok_and(|log| log.len() > length as u64);
        // A failure does no harm: the log still holds everything.
        let without_waiting = |connection: &mut Connection| {
            connection.busy_handler(Some(|_| false))?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        };
        // Not into a replaced file, or while somebody copies it.
        if is_long && !self.was_moved(&self.home.registry()) {
            let _ = without_waiting(&mut self.connection);
            let _ = self.connection.busy_handler(Some(wait_a_little));
        }
    }

    /// Runs `work` in an IMMEDIATE transaction, so that what it reads is still valid when it
    /// writes.
    pub(super) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        self.reopen_if_replaced()?;
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
            // Another process may have migrated it meanwhile.
            let found = version(transaction)?;
            migrations::apply(transaction, found)?;
            if found == 0 {
                rebuild::fill(transaction, &self.home, self.kept_for)?;
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

/// Runs `work` in an IMMEDIATE transaction.
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
    // No other code may open this file: closing any descriptor of it drops the locks of the whole
    // process. It exists already and is private; log and index inherit its mode.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(wait_a_little))?;
    Ok(connection)
}

fn configure(connection: &Connection) -> Result<(), rusqlite::Error> {
    use_write_ahead_log(connection)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "journal_size_limit", 4 << 20)?;
    // Most processes run one transaction: a checkpoint whenever the last of them exits would cost
    // more than the work itself.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(())
}

/// Sets the persistent journal mode. If two processes do this to a new file at once, SQLite reports
/// "busy" to one of them without calling its handler.
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

/// Sleeps 0.3 to 1.8 ms, about ten seconds in all. SQLite's own back-off is unfair: whoever has
/// waited longest sleeps longest.
pub(super) fn wait_a_little(attempt: i32) -> bool {
    let jitter =
        (std::process::id().wrapping_mul(2_654_435_761).wrapping_add(attempt as u32 * 40_503)) % 1500;
    std::thread::sleep(Duration::from_micros(300 + u64::from(jitter)));
    attempt < 10_000
}

pub(super) fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Classifies an error that concerns the whole file.
pub(super) fn at(path: &Path, source: rusqlite::Error) -> RegistryError {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => RegistryError::Damaged { path, source },
        Some(ErrorCode::DiskFull) => RegistryError::Full(source),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => RegistryError::Busy(source),
        _ => RegistryError::Unusable { path, source },
    }
}
