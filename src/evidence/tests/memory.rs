//! What the settings of folders say, kept while one command is read: all its steps see the same files.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::packages::Packages;
use super::settings::Ini;

#[derive(Debug, Default)]
pub(super) struct Memory {
    /// What pytest is told, by folder; `Err` where that cannot be read.
    pub(super) inis: Known<Result<Option<Ini>, ()>>,
    /// What cargo does where no package is named, by folder.
    pub(super) packages: Known<Option<Packages>>,
}

#[derive(Debug)]
pub(super) struct Known<T>(Mutex<HashMap<String, T>>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Known<T> {
    /// What a folder says, read where that was not yet.
    pub(super) fn of(&self, folder: &str, read: impl FnOnce() -> T) -> T {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(folder.to_owned()).or_insert_with(read).clone()
    }
}
