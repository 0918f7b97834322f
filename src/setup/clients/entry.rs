//! Reads, writes and removes one entry of a configuration file, and changes nothing else in it.

use std::ops::Range;

use serde::Serialize;
use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table};

use crate::setup::clients::table::{Format, Setting};
use crate::setup::clients::yaml;
use crate::setup::jsonc::{self, Layout, Object};

const BOM: char = '\u{feff}';

impl Setting {
    /// The entry in `text`, if it is there.
    pub(super) fn read(&self, text: &str) -> Result<Option<Value>, String> {
        let plain = text.trim_start_matches(BOM);
        if plain.trim().is_empty() {
            return Ok(None);
        }
        match self.format {
            Format::Json => member(text, self.at)?.map(|(_, found)| found.value(text)).transpose(),
            Format::JsonList => {
                let item: Value = serde_json::from_str(self.entry).map_err(|error| error.to_string())?;
                let list = member(text, self.at)?.map(|(_, found)| found.value(text)).transpose()?;
                Ok(list.filter(|list| list.as_array().is_some_and(|list| list.contains(&item))).map(|_| item))
            }
            Format::Toml => {
                let all: Value = toml::from_str(plain)
                    .map_err(|error: toml::de::Error| on_line(plain, error.message(), error.span()))?;
                Ok(self.at.iter().try_fold(&all, |value, key| value.get(key)).cloned())
            }
            Format::YamlList => yaml::read(text, self.at[0]),
            Format::Whole => Ok(Some(text.into())),
        }
    }

    /// The text with this entry, in place of the one that is there.
    pub(super) fn put(&self, text: &str, entry: &Value) -> Result<String, String> {
        let existing = self.read(text)?;
        let after = match self.format {
            _ if existing.as_ref() == Some(entry) => return Ok(text.to_owned()),
            Format::Json => put_json(text, self.at, entry)?,
            Format::JsonList => put_in_list(text, self.at, entry)?,
            Format::Toml => {
                edit_toml(text, |document| put_toml(document, self.at, entry, existing.as_ref()))?
            }
            Format::YamlList => yaml::put(text, self.at[0], entry)?,
            Format::Whole => entry.as_str().unwrap_or_default().to_owned(),
        };
        match self.read(&after)? {
            Some(read) if read == *entry => Ok(after),
            _ => Err(format!("`{}` is written in a way that cannot be changed here", self.at.join("."))),
        }
    }

    /// The text without the entry, and without the empty containers around it that `original` does not have.
    pub(super) fn remove(&self, text: &str, original: &str) -> Result<String, String> {
        match self.format {
            Format::Json => remove_json(text, self.at, original),
            Format::JsonList => {
                let at: Vec<&str> = self.at.iter().copied().chain([self.entry]).collect();
                remove_json(text, &at, original)
            }
            Format::Toml => edit_toml(text, |document| {
                let parent = document.get_mut(self.at[0]).and_then(Item::as_table_like_mut);
                parent.map(|parent| parent.remove(self.at[1]));
                Ok(())
            }),
            Format::YamlList => yaml::remove(text, self.at[0]),
            Format::Whole => Ok(text.to_owned()),
        }
    }
}

/// The member that `at` leads to, with the object or array it is in.
fn member(text: &str, at: &[&str]) -> Result<Option<(Object, jsonc::Member)>, String> {
    let mut parent = jsonc::parse(text)?;
    for (depth, key) in at.iter().enumerate() {
        let Some(found) = parent.member(key)?.cloned() else { return Ok(None) };
        if depth + 1 == at.len() {
            return Ok(Some((parent, found)));
        }
        parent = found.object.or(found.array).ok_or_else(|| format!("`{key}` is not an object"))?;
    }
    Ok(None)
}

fn put_json(text: &str, at: &[&str], value: &Value) -> Result<String, String> {
    let text = if text.trim_start_matches(BOM).trim().is_empty() { "{\n}\n" } else { text };
    if let Some((_, found)) = member(text, at)? {
        return match (&found.object, value) {
            _ if found.value(text)? == *value => Ok(text.to_owned()),
            (Some(object), Value::Object(fields)) => {
                let below = |key| [at, &[key]].concat();
                let gone = object.members.iter().filter(|one| !fields.contains_key(&one.key));
                let text = gone
                    .map(|one| one.key.as_str())
                    .try_fold(text.to_owned(), |text, key| remove_json(&text, &below(key), &text))?;
                fields.iter().try_fold(text, |text, (key, value)| put_json(&text, &below(key), value))
            }
            _ => Ok(jsonc::edited(text, vec![(found.value, value.to_string())])),
        };
    }
    let mut parent = jsonc::parse(text)?;
    let mut keys = at.iter();
    for key in keys.by_ref() {
        let Some(found) = parent.member(key)?.cloned() else {
            let nested = keys.rev().fold(value.clone(), |value, key| {
                Value::Object(Map::from_iter([((*key).to_owned(), value)]))
            });
            let edits = parent.insert(text, key, &|layout| written(&nested, layout));
            return Ok(jsonc::edited(text, edits));
        };
        parent = found.object.ok_or_else(|| format!("`{key}` is not an object"))?;
    }
    Ok(text.to_owned())
}

fn put_in_list(text: &str, at: &[&str], item: &Value) -> Result<String, String> {
    let Some((_, list)) = (if text.trim().is_empty() { None } else { member(text, at)? }) else {
        return put_json(text, at, &Value::from(vec![item.clone()]));
    };
    let array = list.array.ok_or_else(|| format!("`{}` is not a list", at.join(".")))?;
    Ok(jsonc::edited(text, array.insert(text, "", &|layout| written(item, layout))))
}

fn remove_json(text: &str, at: &[&str], original: &str) -> Result<String, String> {
    let mut at = at;
    let Some((mut parent, _)) = member(text, at)? else { return Ok(text.to_owned()) };
    while let [above @ .., _] = at
        && !above.is_empty()
        && parent.members.len() == 1
        && member(original, above).ok().flatten().is_none()
        && let Some((container, _)) = member(text, above)?
    {
        (at, parent) = (above, container);
    }
    let key = at.last().copied().unwrap_or_default();
    Ok(jsonc::edited(text, parent.remove(text, key)))
}

/// A value as JSON in the layout of the object around it.
fn written(value: &Value, layout: Option<&Layout>) -> String {
    let Some(layout) = layout else { return value.to_string() };
    let mut bytes = Vec::new();
    let pretty = serde_json::ser::PrettyFormatter::with_indent(layout.unit.as_bytes());
    let made = value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, pretty));
    let text = made.ok().and_then(|()| String::from_utf8(bytes).ok()).unwrap_or_else(|| value.to_string());
    text.replace('\n', &format!("{}{}", layout.newline, layout.indent))
}

fn on_line(text: &str, message: &str, span: Option<Range<usize>>) -> String {
    let at = span.map_or(0, |span| text.floor_char_boundary(span.start));
    format!("{message} on line {}", text[..at].matches('\n').count() + 1)
}

/// The library writes plain newlines and no byte order mark; the file keeps its own.
fn edit_toml(
    text: &str,
    edit: impl FnOnce(&mut DocumentMut) -> Result<(), String>,
) -> Result<String, String> {
    let plain = text.trim_start_matches(BOM);
    let lines = plain.replace("\r\n", "\n");
    let mut document: DocumentMut = lines
        .parse()
        .map_err(|error: toml_edit::TomlError| on_line(&lines, error.message(), error.span()))?;
    edit(&mut document)?;
    let mut after = document.to_string();
    if plain.contains("\r\n") {
        after = after.replace('\n', "\r\n");
    }
    Ok(format!("{}{after}", &text[..text.len() - plain.len()]))
}

fn put_toml(
    document: &mut DocumentMut,
    at: &[&str],
    entry: &Value,
    existing: Option<&Value>,
) -> Result<(), String> {
    let [parent, name] = at else { return Err("two keys lead to the entry".to_owned()) };
    let is_table = |key: &str| format!("`{key}` is not a table");
    // What ends the file is a comment on what stands above it, and has to stay there.
    let mut end = document.trailing().as_str().unwrap_or_default().to_owned();
    if !end.is_empty() && !end.ends_with('\n') {
        end.push('\n');
    }
    let is_empty = document.is_empty() && end.is_empty();
    let mut servers = Table::new();
    servers.set_implicit(true);
    let servers = document.entry(parent).or_insert(Item::Table(servers));
    let servers = servers.as_table_like_mut().ok_or_else(|| is_table(parent))?;
    let is_new = !servers.contains_key(name);
    let mut table = Table::new();
    table.set_position(Some(isize::MAX));
    table.decor_mut().set_prefix(if is_empty { String::new() } else { format!("{end}\n") });
    let ours = servers.entry(name).or_insert(Item::Table(table));
    let is_last = is_new && ours.is_table();
    let ours = ours.as_table_like_mut().ok_or_else(|| is_table(name))?;
    let fields = entry.as_object().ok_or_else(|| is_table(name))?;
    let gone: Vec<String> =
        ours.iter().map(|(key, _)| key.to_owned()).filter(|key| !fields.contains_key(key)).collect();
    for key in gone {
        ours.remove(&key);
    }
    for (key, value) in fields {
        if existing.and_then(|existing| existing.get(key)) != Some(value) {
            ours.insert(key, Item::Value(toml_value(value)));
        }
    }
    if is_last {
        document.set_trailing("");
    }
    Ok(())
}

fn toml_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| number.as_f64().unwrap_or_default().into(), toml_edit::Value::from)
        }
        Value::Array(items) => items.iter().map(toml_value).collect::<Array>().into(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (key.clone(), toml_value(value)));
            fields.collect::<InlineTable>().into()
        }
        Value::String(text) => text.as_str().into(),
        Value::Null => "".into(),
    }
}
