//! What is printed, made comparable: ids, times, and paths differ every time.

use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;

use crate::support::env::TestEnv;

/// The text without what is new in every run.
pub fn plain(env: &TestEnv, text: &str) -> String {
    let text = text.replace(&env.root().display().to_string(), "[ROOT]");
    let mut shown = String::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let (what, length) = known(rest).unwrap_or((&rest[..first.len_utf8()], first.len_utf8()));
        shown.push_str(what);
        rest = &rest[length..];
    }
    shown
}

/// What `text` begins with, if it is of those, and how long it is.
fn known(text: &str) -> Option<(&'static str, usize)> {
    let is = |pattern: &str| {
        let bytes = text.as_bytes().get(..pattern.len())?;
        let fits = |(&byte, wanted): (&u8, u8)| match wanted {
            b'9' => byte.is_ascii_digit(),
            b'?' => byte.is_ascii_alphanumeric(),
            other => byte == other,
        };
        bytes.iter().zip(pattern.bytes()).all(fits).then_some(pattern.len())
    };
    let id = || is("T-local-????????????").map(|length| ("T-local-[ID]--------", length));
    let run = || is("9999-99-99_999999999_????????????").map(|length| ("[RUN]", length));
    let time = || is("9.9 s").map(|length| ("0.0 s", length));
    id().or_else(run).or_else(time)
}

/// The document, which has to fit the shipped schema called `schema`.
#[track_caller]
pub fn fits(schema: &str, document: &Value) {
    let errors: Vec<String> =
        validator(schema).iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{schema}: {errors:#?}\n{document:#}");
    if document.get("tool_category").is_some() {
        let ok = document["status"] == "ok";
        let either = (document.get("data").is_some(), document.get("error").is_some());
        assert_eq!(either, (ok, !ok), "{document:#}");
    }
}

fn validator(schema: &str) -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schemas/{schema}.json"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

/// The value of `name: value` on a line of its own.
#[track_caller]
pub fn value<'a>(text: &'a str, name: &str) -> &'a str {
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    found.unwrap_or_else(|| panic!("no `{name}` in:\n{text}"))
}
