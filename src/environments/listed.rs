//! `environments.json` in the configuration directory: the environments that the user listed.
//!
//! The file is a list of rows, or an object with one in `environments`. What else is in it is kept.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::environments::{Environment, EnvironmentSource, EnvironmentsError};
use crate::host::{Env, files};
use crate::model::Timestamp;

/// A larger file is no list of environments.
const LARGEST: u64 = 1 << 20;

/// A row, with the field names of the file.
#[derive(Debug, Deserialize)]
struct ListedRow {
    id: String,
    name: Option<String>,
    repository: Option<String>,
    tech_stack: Option<String>,
    created_at: Option<Timestamp>,
}

/// What the user says of an environment to be listed.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewEnvironment {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) repository: Option<String>,
    pub(crate) tech_stack: Option<String>,
}

/// The path of the file, whether or not it exists.
pub(crate) fn locate(env: &Env) -> Option<PathBuf> {
    Some(Config::locate(env)?.with_file_name("environments.json"))
}

pub(super) fn read(path: &Path) -> Result<Vec<Environment>, EnvironmentsError> {
    let mut document = load(path)?;
    let rows = rows(path, &mut document)?;
    rows.iter().enumerate().map(|(at, row)| parsed(path, at, row)).collect()
}

/// Lists an environment.
pub(crate) fn add(
    path: &Path,
    new: &NewEnvironment,
    now: Timestamp,
) -> Result<Environment, EnvironmentsError> {
    let mut document = load(path)?;
    let rows = rows(path, &mut document)?;
    if position(rows, &new.id).is_some() {
        return Err(EnvironmentsError::Listed(new.id.clone()));
    }
    let fields = [
        ("id", Some(&new.id)),
        ("name", Some(new.name.as_ref().unwrap_or(&new.id))),
        ("repository", new.repository.as_ref()),
        ("tech_stack", new.tech_stack.as_ref()),
    ];
    let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
    let row: Map<String, Value> = given.chain([("created_at".to_owned(), json!(now))]).collect();
    let row = Value::Object(row);
    let added = parsed(path, rows.len(), &row)?;
    rows.push(row);
    save(path, &document)?;
    Ok(added)
}

/// Takes an environment out of the list. Returns what was said of it.
pub(crate) fn remove(path: &Path, id: &str) -> Result<Environment, EnvironmentsError> {
    let mut document = load(path)?;
    let rows = rows(path, &mut document)?;
    let at = position(rows, id)
        .ok_or_else(|| EnvironmentsError::NotListed { id: id.to_owned(), path: path.to_owned() })?;
    let removed = parsed(path, at, &rows[at])?;
    rows.remove(at);
    save(path, &document)?;
    Ok(removed)
}

fn load(path: &Path) -> Result<Value, EnvironmentsError> {
    let bytes = match files::head(path, LARGEST + 1) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(json!({ "version": 1, "environments": [] }));
        }
        Err(source) => return Err(EnvironmentsError::Unreadable { path: path.to_owned(), source }),
    };
    if bytes.len() as u64 > LARGEST {
        return Err(invalid(path, format!("it is larger than {LARGEST} bytes")));
    }
    serde_json::from_slice(&bytes).map_err(|error| invalid(path, error.to_string()))
}

fn rows<'d>(path: &Path, document: &'d mut Value) -> Result<&'d mut Vec<Value>, EnvironmentsError> {
    let rows = match document {
        Value::Array(rows) => Some(rows),
        Value::Object(fields) => fields.get_mut("environments").and_then(Value::as_array_mut),
        _ => None,
    };
    rows.ok_or_else(|| invalid(path, "expected `{\"environments\": [...]}`".into()))
}

fn parsed(path: &Path, at: usize, row: &Value) -> Result<Environment, EnvironmentsError> {
    let row =
        ListedRow::deserialize(row).map_err(|error| invalid(path, format!("row {}: {error}", at + 1)))?;
    if row.id.trim().is_empty() {
        return Err(invalid(path, format!("row {}: `id` is empty", at + 1)));
    }
    Ok(Environment {
        name: row.name.unwrap_or_else(|| row.id.clone()),
        id: row.id,
        repository: row.repository,
        tech_stack: row.tech_stack,
        created_at: row.created_at,
        source: EnvironmentSource::Listed,
    })
}

fn position(rows: &[Value], id: &str) -> Option<usize> {
    rows.iter().position(|row| row["id"] == id)
}

fn save(path: &Path, document: &Value) -> Result<(), EnvironmentsError> {
    let failed = |source| EnvironmentsError::Write { path: path.to_owned(), source };
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(failed)?;
    }
    files::replace_user_file(path, format!("{document:#}\n").as_bytes()).map_err(failed)
}

fn invalid(path: &Path, why: String) -> EnvironmentsError {
    EnvironmentsError::Invalid { path: path.to_owned(), why }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const NOW: Timestamp = Timestamp::EARLIEST;

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("environments.json");
        fs::write(&path, text).unwrap();
        (dir, path)
    }

    fn new(id: &str) -> NewEnvironment {
        NewEnvironment { id: id.into(), ..NewEnvironment::default() }
    }

    #[test]
    fn both_forms_of_the_file_are_read() {
        let row = r#"{"id": "env_a", "name": "A", "repository": "https://github.com/o/a",
                      "tech_stack": "python", "created_at": "2025-11-01T00:00:00Z"}"#;
        for text in [format!("[{row}]"), format!("{{\"environments\": [{row}], \"mine\": 1}}")] {
            let (_dir, path) = file(&text);
            let rows = read(&path).unwrap();
            assert_eq!((rows[0].id.as_str(), rows[0].tech_stack.as_deref()), ("env_a", Some("python")));
            assert_eq!(rows[0].created_at.unwrap().to_string(), "2025-11-01T00:00:00.000Z");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error_and_stays() {
        for text in
            ["{", "3", "{}", r#"[{"name": "no id"}]"#, r#"[{"id": ""}]"#, r#"[{"id": "a", "name": 1}]"#]
        {
            let (_dir, path) = file(text);
            assert!(matches!(read(&path), Err(EnvironmentsError::Invalid { .. })), "{text}");
            if read(&path).is_err() && text == "{" {
                assert!(add(&path, &new("x"), NOW).is_err());
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn what_is_added_and_removed_leaves_the_rest() {
        let (_dir, path) = file(r#"{"mine": 1, "environments": [{"id": "a", "note": "kept"}]}"#);
        add(&path, &new("b"), NOW).unwrap();
        assert!(matches!(add(&path, &new("b"), NOW), Err(EnvironmentsError::Listed(_))));
        remove(&path, "b").unwrap();
        assert!(matches!(remove(&path, "b"), Err(EnvironmentsError::NotListed { .. })));
        let left: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(left, json!({ "mine": 1, "environments": [{ "id": "a", "note": "kept" }] }));
    }

    #[test]
    fn the_first_one_makes_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("delegator/environments.json");
        assert_eq!(read(&path).unwrap(), []);
        add(&path, &new("a"), NOW).unwrap();
        assert_eq!(read(&path).unwrap()[0].name, "a");
    }
}
