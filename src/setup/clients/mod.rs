//! Registers the server in the configuration of MCP clients, and takes it out again.
//!
//! Only files are read and written: no client's own program is started. Before a file is changed, its text is kept in our
//! home, so that an undo restores it to the byte if nobody has changed it since. If somebody has, only our entry is
//! taken out.

mod entry;
mod record;
mod table;
mod yaml;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use similar::TextDiff;

use crate::host::{Env, Home, HomeError, env, paths};
use crate::setup::{Backup, Change, Directory, SetupAction, SetupError, missing_directories, text_of};
use record::Record;
pub(crate) use table::{CLIENTS, Client};
use table::{Format, Setting};

/// The change to one file of a client.
#[derive(Debug)]
pub(crate) struct FileChange {
    pub(crate) change: Change,
    /// What is changed, as `diff -u` shows it.
    pub(crate) diff: String,
}

/// Where entries come from and where backups go.
#[derive(Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) env: &'a Env,
    /// The path of our own program.
    pub(crate) program: &'a Path,
    records: PathBuf,
}

impl<'a> Surroundings<'a> {
    pub(crate) fn new(env: &'a Env, program: &'a Path) -> Result<Self, HomeError> {
        Ok(Self { env, program, records: Home::locate(env)?.join("setup") })
    }
}

/// Prepares the changes to all files of one client.
pub(crate) fn client(
    client: &Client,
    around: &Surroundings<'_>,
    action: SetupAction,
) -> Result<Vec<FileChange>, SetupError> {
    let one = |setting: &Setting| {
        let file = setting.file(around.env).ok_or(SetupError::NoHome)?;
        let before = text_of(&file)?;
        let not_understood = |why| SetupError::NotUnderstood { path: file.clone(), why };
        let record = Record::of(&around.records, client.name, &file);
        let change = match action {
            SetupAction::SetUp => set_up(setting, around, file.clone(), before.as_deref(), &record),
            SetupAction::Undo => undo(setting, file.clone(), before.as_deref(), &record),
        };
        let change = change.map_err(not_understood)?;
        let after = if change.is_none() { before.as_deref() } else { change.after.as_deref() };
        let diff = diff(before.as_deref().unwrap_or_default(), after.unwrap_or_default());
        Ok(FileChange { change, diff })
    };
    client.settings.iter().map(one).collect()
}

/// What a person would write by hand: each file, and its text if nothing else were in it.
pub(crate) fn by_hand(
    client: &Client,
    around: &Surroundings<'_>,
) -> Result<Vec<(PathBuf, String)>, SetupError> {
    let one = |setting: &Setting| {
        let file = setting.file(around.env).ok_or(SetupError::NoHome)?;
        let text = setting.wanted(around).and_then(|entry| setting.put("", &entry));
        let text = text.map_err(|why| SetupError::NotUnderstood { path: file.clone(), why })?;
        Ok((file, text))
    };
    client.settings.iter().map(one).collect()
}

fn set_up(
    setting: &Setting,
    around: &Surroundings<'_>,
    file: PathBuf,
    before: Option<&str>,
    record: &Record,
) -> Result<Change, String> {
    let text = before.unwrap_or_default();
    let existing = setting.read(text)?;
    let wanted = setting.wanted(around)?;
    let is_program = |name: &str| {
        let on_path = || paths::find_program(name, around.env.get("PATH")?);
        paths::is_program(Path::new(name)) || on_path().is_some()
    };
    let entry = merged(existing.as_ref(), &wanted, is_program);
    if existing.as_ref() == Some(&entry) {
        return Ok(Change::none(file));
    }
    let after = setting.put(text, &entry)?;
    let what = setting.described();
    let step = if existing.is_some() { format!("completed {what}") } else { format!("added {what}") };
    let missing = missing_directories(&file);
    // What an undo restores: never a text with an entry that an earlier setup wrote.
    let original = match before {
        Some(text) => record.original_of(setting, text)?,
        None => None,
    };
    let directories = record.directories(before.is_none()).max(missing);
    Ok(Change {
        backup: Some(Backup::Write(
            record.path().to_owned(),
            record.written(&file, original, &after, directories),
        )),
        after: Some(after),
        directory: if missing > 0 { Directory::Made } else { Directory::Stays },
        steps: vec![step],
        ..Change::none(file)
    })
}

fn undo(setting: &Setting, file: PathBuf, before: Option<&str>, record: &Record) -> Result<Change, String> {
    let (Some(kept), Some(text)) = (record.kept(), before) else { return Ok(Change::none(file)) };
    let (after, step) = if kept.is_as_left(text) {
        let step = match &kept.before {
            Some(_) => "restored the file exactly as it was",
            None => "removed the file, which contained nothing else",
        };
        (kept.before.clone(), step.to_owned())
    } else {
        let after = kept.without_entry(setting, text)?;
        let step = if after == text {
            format!("left the file as it is: {} was changed or removed since", setting.described())
        } else {
            format!("took out only {}: the file has changed since", setting.described())
        };
        (Some(after), step)
    };
    let directory = match after {
        None => Directory::Removed(kept.directories),
        Some(_) => Directory::Stays,
    };
    let backup = Some(Backup::Drop(record.path().to_owned()));
    Ok(Change { after, backup, directory, steps: vec![step], ..Change::none(file) })
}

impl Setting {
    /// The entry for this machine.
    fn wanted(&self, around: &Surroundings<'_>) -> Result<Value, String> {
        if self.format == Format::Whole {
            return Ok(self.entry.into());
        }
        let mut entry: Value = serde_json::from_str(self.entry).map_err(|error| error.to_string())?;
        let program = Value::from(around.program.to_string_lossy());
        let Some(fields) = entry.as_object_mut() else { return Ok(entry) };
        for value in fields.values_mut() {
            match value.as_str() {
                Some("$program") => *value = program.clone(),
                Some("$env") => *value = variables(around.env, &PLACES),
                Some("$env+key") => *value = variables(around.env, &PLACES_AND_KEY),
                _ => {}
            }
            if let Some(first) = value.get_mut(0).filter(|first| *first == "$program") {
                *first = program.clone();
            }
        }
        fields.retain(|_, value| !value.as_object().is_some_and(Map::is_empty));
        Ok(entry)
    }

    fn described(&self) -> String {
        match self.format {
            Format::Whole => "the skill `delegator`".to_owned(),
            Format::JsonList => format!("{} in `{}`", self.entry.replace('"', "`"), self.at.join(".")),
            Format::YamlList => format!("`delegator` in `{}`", self.at.join(".")),
            Format::Json | Format::Toml => format!("`{}`", self.at.join(".")),
        }
    }
}

/// Where this shell keeps tasks and settings, if not in the usual places. A client that does not pass these on would start
/// a server that knows no task of this shell.
const PLACES: [&str; 4] = ["CODEX_HOME", env::HOME, "XDG_CONFIG_HOME", "XDG_STATE_HOME"];
const PLACES_AND_KEY: [&str; 5] = ["CODEX_HOME", env::HOME, "XDG_CONFIG_HOME", "XDG_STATE_HOME", KEY];
/// Only its name is written: the client fills it in.
const KEY: &str = "CODEX_API_KEY";

/// Those of the variables that are set.
fn variables(env: &Env, names: &[&str]) -> Value {
    let value = |name: &str| {
        let value = env.text(name)?;
        Some(if name == KEY { format!("${name}") } else { value.to_owned() })
    };
    names.iter().filter_map(|name| Some(((*name).to_owned(), Value::from(value(name)?)))).collect()
}

/// The existing entry with what it lacks. What somebody has set stays, except for a program that does not exist.
fn merged(existing: Option<&Value>, wanted: &Value, is_program: impl Fn(&str) -> bool) -> Value {
    let (Some(Value::Object(mine)), Value::Object(fields)) = (existing, wanted) else {
        return wanted.clone();
    };
    let command = mine.get("command").map(|command| command.get(0).unwrap_or(command));
    let starts = command.and_then(Value::as_str).is_some_and(is_program);
    let mut all = mine.clone();
    for (key, value) in fields {
        let is_command = matches!(key.as_str(), "command" | "args");
        if (is_command && !starts) || (!is_command && !mine.contains_key(key)) {
            all.insert(key.clone(), value.clone());
        }
    }
    Value::Object(all)
}

fn diff(before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after).unified_diff().context_radius(2).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_somebody_set_stays_and_what_is_missing_is_added() {
        let wanted = json!({ "command": "/new/delegator", "args": ["serve"], "timeout": 600, "trust": true });
        let check = |existing: Value, expected: Value| {
            let is_program = |name: &str| name == "/mine/delegator";
            assert_eq!(merged(Some(&existing), &wanted, is_program), expected);
        };
        check(
            json!({ "command": "/mine/delegator", "args": ["serve", "--tools", "all"], "trust": false }),
            json!({ "command": "/mine/delegator", "args": ["serve", "--tools", "all"], "trust": false, "timeout": 600 }),
        );
        check(
            json!({ "command": "/gone/delegator", "args": ["old"], "timeout": 600, "trust": true }),
            wanted.clone(),
        );
        check(json!("text"), wanted.clone());
    }
}
