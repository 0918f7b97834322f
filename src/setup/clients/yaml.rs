//! One named element of a list at the top of a YAML file: read from the parser's events, changed by whole lines.

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};
use serde_json::{Map, Value};

const NAME: &str = "delegator";
/// What Continue wants of every file.
const HEAD: &str = "name: Local Config\nversion: 1.0.0\nschema: v1\n";
const DEEPEST: usize = 100;

/// Lines of the list, counted from 0.
#[derive(Debug)]
struct List {
    key_line: usize,
    /// Indentation of its dashes.
    indent: usize,
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    value: Value,
    /// The line of its dash, and the one after its last one.
    first: usize,
    end: usize,
}

pub(super) fn read(text: &str, key: &str) -> Result<Option<Value>, String> {
    let list = list(text, key)?;
    Ok(list.and_then(|list| list.items.into_iter().map(|item| item.value).find(is_ours)))
}

pub(super) fn put(text: &str, key: &str, entry: &Value) -> Result<String, String> {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let found = list(text, key)?;
    let indent = found.as_ref().map_or(2, |list| list.indent);
    let mut new = element(entry, indent, newline);
    let (at, removed) = match &found {
        None => {
            new = format!("{key}:{newline}{new}");
            if text.trim().is_empty() {
                new.insert_str(0, HEAD);
            }
            (lines.len(), 0)
        }
        Some(list) => match list.items.iter().find(|item| is_ours(&item.value)) {
            Some(ours) => (ours.first, ours.end - ours.first),
            None => (list.items.last().map_or(list.key_line + 1, |last| last.end), 0),
        },
    };
    if lines[..at].last().is_some_and(|line| !line.ends_with('\n')) {
        new.insert_str(0, newline);
    }
    lines.splice(at..at + removed, [new.as_str()]);
    Ok(lines.concat())
}

/// Without its key, if nothing else is in the list.
pub(super) fn remove(text: &str, key: &str) -> Result<String, String> {
    let Some(list) = list(text, key)? else { return Ok(text.to_owned()) };
    let Some(ours) = list.items.iter().find(|item| is_ours(&item.value)) else { return Ok(text.to_owned()) };
    let first = if list.items.len() == 1 { list.key_line } else { ours.first };
    let lines = text.split_inclusive('\n').enumerate();
    Ok(lines.filter(|(at, _)| !(first..ours.end).contains(at)).map(|(_, line)| line).collect())
}

fn is_ours(item: &Value) -> bool {
    item["name"] == NAME
}

/// The fields of an entry, each on a line. JSON is YAML, too.
fn element(entry: &Value, indent: usize, newline: &str) -> String {
    let fields = entry.as_object().into_iter().flatten().enumerate();
    let line = |(at, (key, value)): (usize, (&String, &Value))| {
        let dash = if at == 0 { '-' } else { ' ' };
        format!("{:indent$}{dash} {key}: {}{newline}", "", plain(value))
    };
    fields.map(line).collect()
}

/// A word without quotes, as people write it.
fn plain(value: &Value) -> String {
    match value.as_str() {
        Some(word)
            if word.starts_with(['/', 'd'])
                && word.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c)) =>
        {
            word.to_owned()
        }
        _ => value.to_string(),
    }
}

/// The list under `key`; `None` if there is no such key.
fn list(text: &str, key: &str) -> Result<Option<List>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut events = Events { parser: Parser::new_from_str(text) };
    loop {
        match events.next()?.0 {
            Event::MappingStart(..) => break,
            Event::StreamEnd => return Ok(None),
            Event::Scalar(text, ..) if text.is_empty() => return Ok(None),
            Event::Scalar(..) | Event::SequenceStart(..) => {
                return Err("the file is not a list of keys".to_owned());
            }
            _ => {}
        }
    }
    loop {
        let (event, span) = events.next()?;
        if event == Event::MappingEnd {
            return Ok(None);
        }
        let is_key = matches!(&event, Event::Scalar(text, ..) if text == key);
        if !is_key {
            events.value(event, 0)?;
            let (event, _) = events.next()?;
            events.value(event, 0)?;
            continue;
        }
        let key_line = span.start.line() - 1;
        let (event, span) = events.next()?;
        if matches!(&event, Event::Scalar(text, ScalarStyle::Plain, ..) if text.is_empty() || text == "~") {
            return Ok(Some(List { key_line, indent: 2, items: Vec::new() }));
        }
        // The parser's place of a list differs with its indentation: look at the first line below the key.
        let is_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let below = lines.iter().copied().skip(key_line + 1).find(is_content).unwrap_or_default();
        let is_block = span.start.line() - 1 > key_line && below.trim_start().starts_with('-');
        if !matches!(event, Event::SequenceStart(..)) || !is_block {
            return Err(format!("`{key}` on line {} is not a list with one dash a line", key_line + 1));
        }
        let indent = below.len() - below.trim_start().len();
        let is_dash = |line: &str| {
            line.len() > indent && line[..indent].trim().is_empty() && line[indent..].starts_with('-')
        };
        let mut items: Vec<Item> = Vec::new();
        loop {
            let (event, span) = events.next()?;
            if event == Event::SequenceEnd {
                break;
            }
            let mut first = span.start.line() - 1;
            while first > key_line
                && !lines.get(first).is_some_and(|line| line.is_char_boundary(indent) && is_dash(line))
            {
                first -= 1;
            }
            let value = events.value(event, 0)?;
            items.push(Item { value, first, end: 0 });
        }
        let next: Vec<usize> = items.iter().skip(1).map(|item| item.first).collect();
        for (at, item) in items.iter_mut().enumerate() {
            item.end = next.get(at).copied().unwrap_or_else(|| end_of_item(&lines, item.first, indent));
        }
        return Ok(Some(List { key_line, indent, items }));
    }
}

/// The line after the last one that is indented deeper than the dash. Comments and blank lines between are part of it.
fn end_of_item(lines: &[&str], first: usize, indent: usize) -> usize {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let rest = lines.iter().enumerate().skip(first + 1);
    let inside = rest.take_while(|(_, line)| line.trim().is_empty() || depth(line) > indent);
    inside.filter(|(_, line)| !line.trim().is_empty()).last().map_or(first, |(at, _)| at) + 1
}

struct Events<'a> {
    parser: Parser<'a, StrInput<'a>>,
}

impl<'a> Events<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), String> {
        match self.parser.next() {
            Some(Ok(found)) => Ok(found),
            Some(Err(error)) => Err(format!("{} on line {}", error.info(), error.marker().line())),
            None => Err("the file has no end".to_owned()),
        }
    }

    /// The value that begins with `event`.
    fn value(&mut self, event: Event<'a>, depth: usize) -> Result<Value, String> {
        if depth > DEEPEST {
            return Err("the file is nested too deeply".to_owned());
        }
        match event {
            Event::Scalar(text, ScalarStyle::Plain, ..) => {
                let read = serde_json::from_str(&text).ok().filter(|read: &Value| !read.is_string());
                Ok(read.unwrap_or_else(|| Value::from(&*text)))
            }
            Event::Scalar(text, ..) => Ok(Value::from(&*text)),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.next()?.0 {
                        Event::SequenceEnd => return Ok(Value::Array(items)),
                        event => items.push(self.value(event, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut fields = Map::new();
                loop {
                    let key = match self.next()?.0 {
                        Event::MappingEnd => return Ok(Value::Object(fields)),
                        event => self.value(event, depth + 1)?,
                    };
                    let (event, _) = self.next()?;
                    let value = self.value(event, depth + 1)?;
                    fields.insert(key.as_str().map_or_else(|| key.to_string(), str::to_owned), value);
                }
            }
            _ => Ok(Value::Null),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OURS: &str = "- name: delegator\n    command: /bin/delegator\n    args: [\"serve\"]\n";

    #[track_caller]
    fn check(before: &str, after: &str) {
        let entry = json!({ "name": "delegator", "command": "/bin/delegator", "args": ["serve"] });
        let made = put(before, "mcpServers", &entry).unwrap();
        assert_eq!(made, after);
        assert_eq!(read(&made, "mcpServers").unwrap(), Some(entry.clone()));
        assert_eq!(put(&made, "mcpServers", &entry).unwrap(), made);
    }

    #[test]
    fn an_element_is_added_after_the_others() {
        check("", &format!("{HEAD}mcpServers:\n  {OURS}"));
        check("name: x # why\nmodels: []", &format!("name: x # why\nmodels: []\nmcpServers:\n  {OURS}"));
        check("mcpServers:\nname: x\n", &format!("mcpServers:\n  {OURS}name: x\n"));
        let other = "mcpServers:\n  # first\n  - name: é\n    env:\n      A: b # of a\n";
        check(&format!("{other}\n# rest\nrules: [a]\n"), &format!("{other}  {OURS}\n# rest\nrules: [a]\n"));
        let flat = "mcpServers:\n- command: x\n  name: y\nversion: 1\n";
        let ours = OURS.replace("\n    ", "\n  ");
        check(flat, &flat.replace("version", &format!("{ours}version")));
    }

    #[test]
    fn an_element_is_replaced_and_removed_where_it_stands() {
        let text = "mcpServers:\n  - name: delegator\n    command: old\n  - name: b\n    command: c\n";
        check(text, &format!("mcpServers:\n  {OURS}  - name: b\n    command: c\n"));
        assert_eq!(remove(text, "mcpServers").unwrap(), "mcpServers:\n  - name: b\n    command: c\n");
        let alone = format!("a: 1\nmcpServers:\n  {OURS}b: 2\n");
        assert_eq!(remove(&alone, "mcpServers").unwrap(), "a: 1\nb: 2\n");
    }

    #[test]
    fn other_forms_are_refused() {
        for bad in ["mcpServers: []\n", "mcpServers: {a: b}\n", "- a\n", "a: [\n", "a: b: c\n"] {
            assert!(put(bad, "mcpServers", &json!({ "name": "delegator" })).is_err(), "{bad}");
        }
    }
}
