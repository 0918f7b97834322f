//! Rules for secrets recognised by their names: `OPENAI_API_KEY=…`, `password: …`, `"token": "…"`.
//!
//! The name decides what the value must look like: unusual for a password, long and random for a
//! key or token.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::Regex;

use crate::redact::name_suffixes::addition;
use crate::redact::plausibility::{self, ValueForm};
use crate::redact::rules::compile;

/// Endings of names of secrets, in lower case.
pub(super) const ENDINGS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "pass",
    "secret",
    "credential",
    "credentials",
    "token",
    "key",
    "key_base",
    "auth",
    "_pat",
];

/// Kinds of secrets that a name can indicate.
pub(super) const KINDS: &[&str] = &["password", "secret", "api-key", "token"];

/// Keys of these are secret; cache keys, table keys and the like are not.
const SECRET_KEYS: &[&str] = &[
    "api",
    "secret",
    "access",
    "private",
    "auth",
    "account",
    "encryption",
    "signing",
    "master",
    "service",
    "shared",
    "subscription",
    "admin",
    "deploy",
    "hmac",
    "session",
    "license",
    "app",
    "application",
    "integration",
    "storage",
    "write",
];
/// Tokens of these may be UUIDs.
const UUID_TOKENS: &[&str] = &["auth", "snyk", "railway", "codecov", "postmark", "server"];
/// Commands that set a variable whose value follows after a space.
const SETTERS: &[&str] = &["export", "set", "setenv", "declare", "ENV"];
/// Tokens of these are handles or words of a language.
const OPEN_TOKENS: &[&str] = &[
    "page",
    "next",
    "previous",
    "continuation",
    "continue",
    "sync",
    "cursor",
    "delta",
    "resume",
    "cancel",
    "cancellation",
    "progress",
    "confirm",
    "confirmation",
    "stop",
    "eos",
    "bos",
    "pad",
    "mask",
    "last",
    "first",
    "current",
];

/// How much of a value is examined to find its beginning.
const WINDOW: usize = 256;
/// What separates a name from its value: closing quote, operator, type and opening quote, possibly
/// escaped several times.
const BETWEEN: &str = r#"(?x)
    (?: \\{0,7} (?P<named> ["'`] ) \]? )?
    [\x20\t]{0,8}
    (?P<sign> => | := | ={1,3} |
        ,? [\x20\t]{0,8} \\{0,7} ["']? (?i:value) \\{0,7} ["']? [\x20\t]{0,8} [:=] |
        , | ; | \| | > | : (?: [\x20\t]{0,8} [&A-Za-z] [A-Za-z0-9_<>&.'\[\]\x20]{0,40} \x20 = )? )?
    [\x20\t]{0,8}
    (?: [bfru@]{0,2} (?P<open> \\{0,7} ["'`] ) )?"#;

/// What a name indicates about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameKind {
    Password,
    Secret,
    Key,
    Token,
    /// The value may be a UUID.
    UuidToken,
}

/// The value of the name that ends at `ending`, if it is secret.
pub(super) fn find(text: &str, ending: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let rest = &text[ending.end..];
    let (more, is_usual) = addition(&text[ending.clone()], rest);
    let rest = &rest[more..];
    if rest.starts_with(|c: char| c.is_alphanumeric() || "_-.(".contains(c)) {
        return None;
    }
    let name = NameKind::of(text, ending.clone())?;
    static COMPILED: OnceLock<Option<Regex>> = OnceLock::new();
    let window = &rest[..rest.floor_char_boundary(WINDOW)];
    let between = COMPILED.get_or_init(|| compile(BETWEEN)).as_ref()?.captures(window.as_bytes())?;
    let part = |name| between.name(name).and_then(|part| window.get(part.range()));
    let sign = part("sign").unwrap_or_default();
    let start = between.get(0)?.end();
    let open = part("open");
    // A table cell.
    let stop = sign.chars().next().filter(|sign| matches!(sign, ',' | ';' | '|') && open.is_none());
    let value = &window[start..start + length(&window[start..], open, stop)];
    let place = || LinePosition::of(text, &ending);
    let is_assigned = match sign {
        "" => {
            let is_given = || {
                let place = place();
                is_flag(text, ending.start)
                    || is_login(text, &ending, &window[start + value.len()..])
                    || place.is_set && (name != NameKind::Password || is_upper(&text[ending.clone()]))
                    || place.is_first && place.is_all_caps && name != NameKind::Password
            };
            part("named").is_none() && rest.starts_with([' ', '\t']) && is_given()
        }
        // Arguments of a call or program; plain lists have commas too.
        "," if part("named").is_some() && (name != NameKind::Password || is_flag(text, ending.start)) => true,
        // Cells of a row, without a space after the separator.
        "," | ";" => {
            let (place, is_close) = (place(), window[..start].trim_end().len() == start);
            is_close && place.is_column && place.is_all_caps && !is_all_caps(value)
        }
        "|" => {
            let place = place();
            place.is_cell && (name != NameKind::Password || place.is_all_caps && !is_all_caps(value))
        }
        // `<password>value`, but not the placeholder in `://<user>:<password>@host`.
        ">" => part("named").is_none() && !(value.starts_with('@') && text[..ending.start].ends_with(":<")),
        // `"name": "DB_PASSWORD", "value": "…"`. After a type, only a quoted value counts; anything
        // else is code.
        sign => sign.len() <= 3 || open.is_some(),
    };
    if !is_assigned {
        return None;
    }
    let variable =
        sign == "=" && start == sign.len() + open.map_or(0, str::len) && is_upper(&text[ending.clone()]);
    let writing = match open {
        Some(_) if variable => ValueForm::QuotedVariable,
        Some(_) => ValueForm::Quoted,
        None if variable => ValueForm::Variable,
        None => ValueForm::Bare,
    };
    let kind = if is_usual { name } else { name.said_more() }.judge(value, writing)?;
    let start = text.len() - rest.len() + start;
    Some((start..start + length(&text[start..], open, stop), kind))
}

/// The kind of secret of names with this ending.
pub(super) fn kind(ending: &str) -> &'static str {
    let is = |endings: &[&str]| endings.iter().any(|one| ending.eq_ignore_ascii_case(one));
    if is(&["token", "_pat"]) {
        "token"
    } else if is(&["key", "key_base"]) {
        "api-key"
    } else if is(&["secret", "credential", "credentials", "auth"]) {
        "secret"
    } else {
        "password"
    }
}

/// Whether a name containing position `at` is an option: `--db-password`.
fn is_flag(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
    let alone = before.is_empty() || before.ends_with(|c: char| c.is_whitespace() || "\"'`".contains(c));
    alone && text[before.len()..].starts_with("--")
}

/// Whether a `password` before its value is a `.netrc` entry: with a login in the same line, or
/// alone with its value.
fn is_login(text: &str, ending: &Range<usize>, after: &str) -> bool {
    let before = &text[..ending.start];
    let before = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let is_alone = before.trim().is_empty()
        && matches!(after.trim_start_matches([' ', '\t', '\r']).chars().next(), None | Some('\n'));
    &text[ending.clone()] == "password" && (is_alone || before.contains("login "))
}

/// The position of a name in its line.
struct LinePosition {
    /// After a command that sets it: `set -x NAME value`.
    is_set: bool,
    /// At the beginning.
    is_first: bool,
    /// In a table.
    is_cell: bool,
    /// At the beginning, or after cells of a row that are separated by commas or semicolons.
    is_column: bool,
    /// In capitals and of several words, like a variable.
    is_all_caps: bool,
}

impl LinePosition {
    fn of(text: &str, ending: &Range<usize>) -> Self {
        /// How much of the line is examined.
        const MOST: usize = 256;
        let from = text.floor_char_boundary(ending.start.saturating_sub(MOST));
        let text = &text[from..ending.end];
        let before =
            text[..ending.start - from].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let name = &text[before.len()..];
        let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
        let line = line.rsplit(r"\n").next().unwrap_or_default();
        let command = line
            .split([' ', '\t', '"', '\'', '`'])
            .rev()
            .find(|word| !word.is_empty() && !word.starts_with('-'));
        let is_first = line.trim_start().trim_start_matches('"').is_empty();
        Self {
            is_set: line.ends_with([' ', '\t']) && command.is_some_and(|word| SETTERS.contains(&word)),
            is_first,
            is_cell: is_first || line.trim_start().starts_with('|'),
            is_column: is_first || is_row(line),
            is_all_caps: is_all_caps(name),
        }
    }
}

/// `prod,eu,`
fn is_row(line: &str) -> bool {
    line.trim_end_matches('"').ends_with([',', ';'])
        && line.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-.,;\"".contains(&c))
}

fn is_upper(word: &str) -> bool {
    word.bytes().all(|c| c.is_ascii_uppercase())
}

fn is_all_caps(name: &str) -> bool {
    name.contains('_') && !name.contains(|c: char| c.is_ascii_lowercase())
}

/// The kind of secret of an object member, if it is one.
pub(super) fn member(name: &str, value: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let ends = |ending: &&str| lower.rfind(*ending).map(|start| start..start + ending.len());
    let endings = ENDINGS
        .iter()
        .filter_map(ends)
        .filter(|ending| addition(&name[ending.clone()], &name[ending.end..]).0 == name.len() - ending.end);
    let ending = endings.min_by_key(|ending| ending.start)?;
    let (_, is_usual) = addition(&name[ending.clone()], &name[ending.end..]);
    let name = NameKind::of(name, ending)?;
    if is_usual { name } else { name.said_more() }.judge(value, ValueForm::Quoted)
}

impl NameKind {
    fn of(text: &str, ending: Range<usize>) -> Option<Self> {
        let before = &text[..ending.start];
        let word = &text[ending];
        let owner = last_word(before);
        let apart = before.ends_with(['_', '-', '.'])
            || (word.starts_with('P') && before.ends_with(char::is_lowercase));
        let owned_by = |owners: &[&str]| owners.iter().any(|one| owner.ends_with(one));
        match word.to_ascii_lowercase().as_str() {
            "password" | "passwd" | "passphrase" | "pwd" => Some(NameKind::Password),
            // `pass` alone is a word; the value of `PWD` shows that it is a directory.
            "pass" => (apart && !owner.is_empty()).then_some(NameKind::Password),
            "secret" | "credential" | "credentials" => Some(NameKind::Secret),
            "auth" => (owner.is_empty() || before.ends_with('_')).then_some(NameKind::Secret),
            "token" if owned_by(UUID_TOKENS) => Some(NameKind::UuidToken),
            // A personal access token.
            "_pat" => Some(NameKind::Token),
            "token" => (!owned_by(OPEN_TOKENS)).then_some(NameKind::Token),
            "key" | "key_base" => owned_by(SECRET_KEYS).then_some(NameKind::Key),
            _ => None,
        }
    }

    /// For a name with an unknown suffix, which may be a setting.
    fn said_more(self) -> Self {
        if self == NameKind::Password { NameKind::Secret } else { self }
    }

    fn judge(self, value: &str, writing: ValueForm) -> Option<&'static str> {
        let (is_secret, kind) = match self {
            NameKind::Password => (plausibility::is_password(value, writing), "password"),
            NameKind::Secret => (plausibility::is_secret(value, writing, 12), "secret"),
            NameKind::Key => {
                (plausibility::is_secret(value, writing, 12) || plausibility::is_aws(value), "api-key")
            }
            NameKind::UuidToken => (plausibility::is_secret(value, writing, 12), "token"),
            NameKind::Token => {
                (plausibility::is_secret(value, writing, 12) && !plausibility::is_uuid(value), "token")
            }
        };
        is_secret.then_some(kind)
    }
}

/// The word before the last one of a name, in lower case: `api` in `myApiKey`.
fn last_word(before: &str) -> String {
    let before = before.strip_suffix(['_', '-', '.', ' ']).unwrap_or(before);
    let mut word = String::new();
    for c in before.chars().rev().take_while(char::is_ascii_alphabetic).take(16) {
        let hump = c.is_ascii_uppercase() && word.starts_with(|first: char| first.is_ascii_lowercase());
        word.insert(0, c);
        if hump {
            break;
        }
    }
    word.to_ascii_lowercase()
}

/// The length of the value at the start of `text`.
fn length(text: &str, open: Option<&str>, stop: Option<char>) -> usize {
    let end = |stop: &dyn Fn(char) -> bool| text.find(stop).unwrap_or(text.len());
    let Some(open) = open else {
        let run = &text[..end(&|c| c.is_whitespace() || stop == Some(c) || "\"'`<>\\".contains(c))];
        let run = &run[..next_assignment(run)];
        return run.trim_end_matches([',', ';', '.', ')', ']', '}']).len();
    };
    let quote = open.chars().next_back().unwrap_or('"');
    if open.len() > 1 {
        return end(&|c| c == quote || "\\\r\n".contains(c));
    }
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\r' | '\n' => return at,
            c if c == quote => return at,
            _ => {}
        }
    }
    text.len()
}

/// The start of the next assignment: `…&page=2`, `…;Server=x`.
fn next_assignment(run: &str) -> usize {
    let names = |rest: &str| {
        let name = rest.bytes().take_while(|c| c.is_ascii_alphanumeric() || b"_.-".contains(c)).count();
        name > 0 && rest[name..].starts_with(['=', ':'])
    };
    let found = run.match_indices(['&', ';', ',']).find(|(at, _)| names(&run[at + 1..]));
    found.map_or(run.len(), |(at, _)| at)
}
