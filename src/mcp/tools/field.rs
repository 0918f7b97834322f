//! Declares the fields of a tool once. Both the schema that clients see and the parsing of their arguments follow
//! from it.
//!
//! Models are careless about types and spellings, so parsing is lenient: `null` is absent, `"3"` and `3.0` are 3,
//! `taskId` is `task_id`. An unknown field is refused with the nearest known name.

use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::mcp::protocol::refused;
use crate::text::plain;

/// One argument of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// Other accepted names, besides the camel case of `name`.
    pub(crate) also: &'static [&'static str],
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// Accepted, but not in the schema.
    hidden: bool,
    /// The description in the schema.
    pub(crate) about: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Text,
    Texts,
    Flag,
    Integer {
        least: i64,
        most: i64,
    },
    /// Any positive number, such as seconds.
    Number,
    Choice(&'static [&'static str]),
    /// An object of rarely used fields. Only the description names them, because every client pays for a schema.
    Rare(&'static [Field]),
    /// Any JSON object, passed on unchanged.
    Object,
    /// A number, accepted for old callers, without effect.
    Ignored,
    /// Either an object with these fields or one of these words.
    ObjectOr(&'static [Field], &'static [&'static str]),
}

impl Field {
    pub(crate) const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, also: &[], kind, required: false, hidden: false, about }
    }

    /// The same field under another name.
    pub(crate) const fn called(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    pub(crate) const fn hidden(self) -> Self {
        Self { hidden: true, ..self }
    }

    pub(crate) const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    pub(crate) const fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || camel(self.name) == name || self.also.contains(&name)
    }
}

/// `first` and then `second`, `N` fields in all.
pub(crate) const fn joined<const N: usize>(first: &[Field], second: &[Field]) -> [Field; N] {
    assert!(N == first.len() + second.len());
    let mut all = [second[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() { first[at] } else { second[at - first.len()] };
        at += 1;
    }
    all
}

/// Which fields a schema shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The common fields, for models.
    Common,
    /// Every field, for people.
    Whole,
}

/// The JSON Schema of an object with these fields, simple enough for every client: no references, unions, or
/// formats.
pub(crate) fn schema(fields: &[Field], detail: Detail) -> Map<String, Value> {
    let mut properties = Map::new();
    for field in fields.iter().filter(|field| !field.hidden) {
        properties.insert(field.name.to_owned(), property(field, detail));
    }
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema.insert("additionalProperties".into(), false.into());
    schema
}

fn property(field: &Field, detail: Detail) -> Value {
    let mut property = match field.kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Integer { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Ignored => json!({ "type": "number" }),
        Kind::Number => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Kind::Choice(words) => json!({ "type": "string", "enum": words }),
        Kind::Object => json!({ "type": "object" }),
        Kind::Rare(_) if detail == Detail::Common => json!({ "type": "object" }),
        Kind::Rare(fields) | Kind::ObjectOr(fields, _) => Value::Object(schema(fields, detail)),
    };
    if let Some(property) = property.as_object_mut()
        && !field.about.is_empty()
    {
        property.insert("description".into(), field.about.into());
    }
    property
}

/// Parses a client's arguments: renames each field to its own name and checks its kind.
pub(crate) fn read(fields: &[Field], given: Map<String, Value>) -> Result<Map<String, Value>, Failure> {
    let mut read = Map::new();
    for (name, value) in given {
        let Some(field) = fields.iter().find(|field| field.is_called(&name)) else {
            return Err(unknown(fields, &name));
        };
        if value.is_null() {
            continue;
        }
        if matches!(field.kind, Kind::Ignored) {
            of_kind(field, value)?;
            continue;
        }
        if let Some(stray) = misplaced(fields, field, &value) {
            let hint = format!("put it beside `{}`, not inside", field.name);
            return Err(refused(format!("unknown field `{}` in `{}`", short(stray), field.name), hint)
                .about("reason", "unknown_field")
                .about("field", short(stray)));
        }
        if read.insert(field.name.to_owned(), of_kind(field, value)?).is_some() {
            let twice = format!("`{}` is given twice", field.name);
            let hint = format!("keep one spelling of `{}`", field.name);
            return Err(of_field(field.name, "given_twice", refused(twice, hint)));
        }
    }
    match fields.iter().find(|field| field.required && !read.contains_key(field.name)) {
        Some(missing) => {
            let said =
                refused(format!("`{}` is missing", missing.name), format!("add it: {}", missing.about));
            Err(of_field(missing.name, "missing", said))
        }
        None => Ok(read),
    }
}

/// A top-level field that was put inside the object of rare ones, which have other names.
fn misplaced<'a>(fields: &[Field], field: &Field, value: &'a Value) -> Option<&'a str> {
    let Kind::Rare(members) = field.kind else { return None };
    let known = |fields: &[Field], name: &str| fields.iter().any(|one| !one.hidden && one.is_called(name));
    let stray = |name: &&String| !members.iter().any(|one| one.is_called(name)) && known(fields, name);
    value.as_object()?.keys().find(stray).map(String::as_str)
}

fn of_kind(field: &Field, value: Value) -> Result<Value, Failure> {
    let name = field.name;
    let wrong = |what: &str| {
        let said = refused(format!("`{name}` is {}, not {what}", kind_of(&value)), format!("give {what}"));
        Err(of_field(name, "bad_value", said))
    };
    let outside = |number: String, least: i64, most: i64| {
        let outside = format!("`{name}` is {number}, outside {least} to {most}");
        let hint = format!("give a whole number from {least} to {most}");
        of_field(name, "bad_value", refused(outside, hint))
    };
    match field.kind {
        Kind::Text => match value {
            Value::String(_) => Ok(value),
            _ => wrong("a string"),
        },
        Kind::Texts => match value {
            Value::String(one) => Ok(json!([one])),
            Value::Array(items) if items.iter().all(Value::is_string) => Ok(Value::Array(items)),
            _ => wrong("a list of strings"),
        },
        Kind::Flag => match &value {
            Value::Bool(_) => Ok(value),
            Value::String(word) if word == "true" => Ok(true.into()),
            Value::String(word) if word == "false" => Ok(false.into()),
            _ => wrong("true or false"),
        },
        Kind::Integer { least, most } => match integer(&value) {
            Some(number) if (least..=most).contains(&number) => Ok(number.into()),
            Some(number) => Err(outside(number.to_string(), least, most)),
            None => match beyond(&value) {
                Some(number) => Err(outside(number, least, most)),
                None => wrong("a whole number"),
            },
        },
        Kind::Number => match number(&value) {
            Some(number) if number > 0.0 && number.is_finite() => Ok(number.into()),
            Some(number) => {
                Err(refused(format!("`{name}` is {number}, not above zero"), "give a number above zero"))
            }
            None => wrong("a number"),
        },
        Kind::Choice(words) => match value.as_str() {
            Some(word) if words.contains(&word) => Ok(value),
            Some(word) => Err(unknown_word(name, word, words)),
            None => wrong("a string"),
        },
        Kind::Object => match value {
            Value::Object(_) => Ok(value),
            _ => wrong("an object"),
        },
        Kind::Rare(fields) => match value {
            Value::Object(members) => read(fields, members).map(Value::Object),
            _ => wrong("an object"),
        },
        Kind::ObjectOr(fields, words) => match value {
            Value::Object(members) => read(fields, members).map(Value::Object),
            Value::String(word) if words.contains(&word.as_str()) => Ok(word.into()),
            Value::String(word) => Err(unknown_word(name, &word, words).or_object(fields)),
            _ => {
                let said = refused(format!("`{name}` is {}, not an object", kind_of(&value)), "");
                Err(of_field(name, "bad_value", said.or_object(fields)))
            }
        },
        Kind::Ignored => match number(&value) {
            Some(_) => Ok(Value::Null),
            None => wrong("a number"),
        },
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok().or_else(|| whole(text.trim().parse().ok()?)),
        _ => None,
    }
}

/// The text of a whole number that is too large for any field.
fn beyond(value: &Value) -> Option<String> {
    number(value).filter(|number| number.fract() == 0.0).map(|_| match value {
        Value::String(text) => short(text.trim()),
        value => short(&value.to_string()),
    })
}

fn whole(number: f64) -> Option<i64> {
    // Beyond 2^53 a float no longer identifies one integer.
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn unknown(fields: &[Field], name: &str) -> Failure {
    let shown =
        |fields: &'static [Field]| fields.iter().filter(|field| !field.hidden).map(|field| field.name);
    // A rare field at the top level is the most likely mistake.
    let inside = fields.iter().find_map(|field| match field.kind {
        Kind::Rare(members) => Some((field.name, members)),
        _ => None,
    });
    let names: Vec<&str> = fields.iter().filter(|field| !field.hidden).map(|field| field.name).collect();
    let rare: Vec<&str> = inside.into_iter().flat_map(|(_, members)| shown(members)).collect();
    let all = || names.iter().chain(&rare).copied();
    // `effort` is not similar to any name, but means `reasoning_effort`.
    let part = || all().find(|known| known.split('_').any(|word| word == name));
    let hint = match (inside, nearest(name, all()).or_else(part)) {
        (Some((object, members)), _) if members.iter().any(|member| member.is_called(name)) => {
            format!("put it inside `{object}`")
        }
        (Some((object, _)), Some(near)) if !names.contains(&near) => {
            format!("did you mean `{near}`, inside `{object}`?")
        }
        (_, Some(near)) => format!("did you mean `{near}`?"),
        (_, None) => format!("known: {}", names.join(", ")),
    };
    refused(format!("unknown field `{}`", short(name)), hint)
        .about("reason", "unknown_field")
        .about("field", short(name))
}

pub(crate) fn unknown_word(name: &str, word: &str, words: &[&'static str]) -> Failure {
    let hint = match nearest(word, words.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? Known: {}", words.join(", ")),
        None => format!("known: {}", words.join(", ")),
    };
    of_field(name, "bad_value", refused(format!("`{name}` cannot be `{}`", short(word)), hint))
}

/// Adds the reason, as one word, and the field to a failure.
fn of_field(name: &str, reason: &'static str, failure: Failure) -> Failure {
    failure.about("reason", reason).about("field", name)
}

trait OrObject {
    /// Adds to the hint that an object with these fields is also accepted.
    fn or_object(self, fields: &[Field]) -> Self;
}

impl OrObject for Failure {
    fn or_object(self, fields: &[Field]) -> Self {
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        let object = format!("give an object with {}", names.join(", "));
        let hint = self.hint.filter(|hint| !hint.is_empty()).map(|hint| format!("{hint}, or {object}"));
        Self { hint: Some(hint.unwrap_or(object)), ..self }
    }
}

/// The most similar known name.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = short(name).to_lowercase();
    let scored = known.map(|one| (strsim::jaro_winkler(&name, one), one));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.8).then_some(best.1)
}

/// The caller's text, cut and made safe to show.
fn short(word: &str) -> String {
    plain::line(word, 60)
}

/// `task_id` as `taskId`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| {
        let mut letters = word.chars();
        let head = letters.next().map(|letter| letter.to_ascii_uppercase());
        head.into_iter().fold(text, |mut text, head| {
            text.push(head);
            text
        }) + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RARE: &[Field] =
        &[Field::new("model", Kind::Text, ""), Field::new("reasoning_effort", Kind::Text, "")];
    const FIELDS: &[Field] = &[
        Field::new("task_id", Kind::Text, "Which task.").required().also(&["id"]),
        Field::new("count", Kind::Integer { least: 1, most: 9 }, ""),
        Field::new("seconds", Kind::Number, ""),
        Field::new("names", Kind::Texts, ""),
        Field::new("quick", Kind::Flag, ""),
        Field::new("until", Kind::Choice(&["any", "all"]), ""),
        Field::new("options", Kind::Rare(RARE), "model"),
        Field::new("poll_interval_sec", Kind::Ignored, "").hidden(),
    ];

    fn reading(given: Value) -> Result<Value, (String, String)> {
        let Value::Object(given) = given else { panic!("an object") };
        read(FIELDS, given)
            .map(Value::Object)
            .map_err(|failure| (failure.message, failure.hint.unwrap_or_default()))
    }

    #[test]
    fn spellings_nulls_and_types_are_taken_generously() {
        let given = json!({
            "taskId": "T", "count": "3", "seconds": 2, "names": "one", "quick": "true",
            "until": "any", "options": { "model": null }, "poll_interval_sec": 5, "id": null
        });
        let read = reading(given).unwrap();
        assert_eq!(
            read,
            json!({ "task_id": "T", "count": 3, "seconds": 2.0, "names": ["one"], "quick": true, "until": "any", "options": {} })
        );
        assert_eq!(
            reading(json!({ "id": "T", "count": 3.0 })).unwrap(),
            json!({ "task_id": "T", "count": 3 })
        );
    }

    #[test]
    fn what_has_no_meaning_is_refused_with_the_nearest_name() {
        let hint = |given: Value| reading(given).unwrap_err();
        assert_eq!(
            hint(json!({ "task_idd": "T" })),
            ("unknown field `task_idd`".into(), "did you mean `task_id`?".into())
        );
        assert_eq!(hint(json!({ "model": "x" })).1, "put it inside `options`");
        for misspelt in ["modle", "Model", "model_name"] {
            assert_eq!(hint(json!({ misspelt: "x" })).1, "did you mean `model`, inside `options`?");
        }
        assert_eq!(hint(json!({ "effort": "x" })).1, "did you mean `reasoning_effort`, inside `options`?");
        assert_eq!(
            hint(json!({ "options": { "count": 3 } })),
            ("unknown field `count` in `options`".into(), "put it beside `options`, not inside".into())
        );
        assert!(hint(json!({ "options": { "zzz": 3 } })).1.contains("known: model"));
        assert_eq!(hint(json!({})), ("`task_id` is missing".into(), "add it: Which task.".into()));
        assert_eq!(hint(json!({ "task_id": 3 })).0, "`task_id` is a number, not a string");
        let ignored = json!({ "task_id": "T", "poll_interval_sec": "fast" });
        assert_eq!(hint(ignored).0, "`poll_interval_sec` is a string, not a number");
        assert_eq!(hint(json!({ "task_id": "T", "count": 10 })).0, "`count` is 10, outside 1 to 9");
        for large in [json!(9_223_372_036_854_775_808_u64), json!("9223372036854775808")] {
            let said = hint(json!({ "task_id": "T", "count": large })).0;
            assert_eq!(said, "`count` is 9223372036854775808, outside 1 to 9");
        }
        assert_eq!(hint(json!({ "task_id": "T", "count": 1e300 })).0, "`count` is 1e+300, outside 1 to 9");
        assert_eq!(
            hint(json!({ "task_id": "T", "count": 1.5 })).0,
            "`count` is a number, not a whole number"
        );
        assert_eq!(hint(json!({ "task_id": "T", "id": "U" })).0, "`task_id` is given twice");
        assert_eq!(hint(json!({ "task_id": "T", "until": "al" })).1, "did you mean `all`? Known: any, all");
    }

    #[test]
    fn a_schema_shows_common_fields_and_names_the_rare_ones() {
        let common = Value::Object(schema(FIELDS, Detail::Common));
        assert_eq!(common["properties"]["options"], json!({ "type": "object", "description": "model" }));
        assert_eq!(common["required"], json!(["task_id"]));
        assert_eq!(common["properties"].get("poll_interval_sec"), None);
        let whole = Value::Object(schema(FIELDS, Detail::Whole));
        assert_eq!(whole["properties"]["options"]["properties"]["model"]["type"], "string");
    }
}
