//! Reads a `SKILL.md`: the front matter, which says what the skill is, and the body.
//!
//! Only the scalars at the top of the front matter are read. Nothing is built from the rest, and an alias is not
//! followed, so a hostile file costs no more than its length.

use std::borrow::Cow;

use saphyr_parser::{Event, Parser};

use crate::text::plain;

const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1024;
/// A longer one is no front matter.
const LONGEST_FRONT_MATTER: usize = 16 << 10;

/// What a skill says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FrontMatter {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    /// `delegator_exclude: true`.
    pub(super) is_excluded: bool,
    /// Why it could not be read.
    pub(super) error: Option<String>,
}

/// The front matter and the body of a file.
pub(super) fn parse(text: &str) -> (FrontMatter, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match split(text) {
        Split::None => (FrontMatter::default(), text),
        Split::Unclosed => {
            let error = Some("the front matter has no end".to_owned());
            (FrontMatter { error, ..FrontMatter::default() }, text)
        }
        Split::At { yaml, body } => {
            let read = read(yaml)
                .unwrap_or_else(|error| FrontMatter { error: Some(error), ..FrontMatter::default() });
            (read, body)
        }
    }
}

enum Split<'a> {
    None,
    Unclosed,
    At { yaml: &'a str, body: &'a str },
}

fn split(text: &str) -> Split<'_> {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return Split::None };
    let mut at = first.len();
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") {
            return Split::At { yaml: &text[first.len()..at], body: &text[at + line.len()..] };
        }
        at += line.len();
        if at > LONGEST_FRONT_MATTER {
            break;
        }
    }
    Split::Unclosed
}

fn read(yaml: &str) -> Result<FrontMatter, String> {
    let mut found = FrontMatter::default();
    let mut depth = 0_usize;
    // Inside the top mapping: the key whose value comes next.
    let mut key: Option<Cow<'_, str>> = None;
    let mut is_key = true;
    for event in Parser::new_from_str(yaml) {
        let (event, _) =
            event.map_err(|error| plain::line(&format!("the front matter is not YAML: {error}"), 200))?;
        match event {
            Event::Scalar(text, ..) if depth == 1 && is_key => key = Some(text),
            Event::Scalar(text, ..) if depth == 1 => match key.take().as_deref() {
                Some("name") => found.name = one_line(&text, LONGEST_NAME),
                Some("description") => found.description = one_line(&text, LONGEST_DESCRIPTION),
                Some("delegator_exclude") => found.is_excluded = text.eq_ignore_ascii_case("true"),
                Some(_) | None => {}
            },
            Event::Scalar(..) | Event::SequenceStart(..) if depth == 0 => {
                return Err("the front matter is not a list of keys".to_owned());
            }
            Event::Alias(_) => {}
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                depth += 1;
                if depth == 1 {
                    // Its first scalar is a key.
                    continue;
                }
            }
            Event::MappingEnd | Event::SequenceEnd => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 1 {
            is_key = !is_key;
        }
    }
    Ok(found)
}

fn one_line(text: &str, most: usize) -> Option<String> {
    Some(plain::line(text, most)).filter(|line| !line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, name: Option<&str>, description: Option<&str>, body: &str) {
        let (read, rest) = parse(text);
        assert_eq!(read.error, None);
        assert_eq!((read.name.as_deref(), read.description.as_deref(), rest), (name, description, body));
    }

    #[test]
    fn name_and_description_are_read_in_every_style() {
        check("---\nname: a\ndescription: 'x: y'\n---\nbody", Some("a"), Some("x: y"), "body");
        check(
            "---\r\nname: a\r\ndescription: >\r\n  one\r\n  two\r\n---\r\n",
            Some("a"),
            Some("one two"),
            "",
        );
        check("\u{feff}---\n{name: a, other: [1, {b: c}], description: d}\n...\n", Some("a"), Some("d"), "");
        check("---\nmetadata:\n  name: inner\n  list: [a, b]\nname: outer\n---\n", Some("outer"), None, "");
        check("---\nbase: &b x\nother: *b\nname: n\n---\n", Some("n"), None, "");
        check("---\n? [complex, key]\n: v\nname: n\n---\n", Some("n"), None, "");
        check("---\n---\nbody", None, None, "body");
        check("# Just text\n---\n", None, None, "# Just text\n---\n");
        check("---\nname: ' '\ndescription: \"a\\u001b[31m\\u202eb\"\n---\n", None, Some("ab"), "");
    }

    #[test]
    fn a_broken_front_matter_is_told() {
        let deep = format!("---\na: {}\n---\n", "[".repeat(5000));
        for text in [
            "---\nname: a",
            "---\nname: [a\n---\n",
            "---\ndescription: use: this\n---\n",
            "---\njust words\n---\n",
            &deep,
        ] {
            let (read, _) = parse(text);
            assert!(read.error.is_some() && read.name.is_none(), "{text}: {read:?}");
        }
    }

    #[test]
    fn aliases_are_not_expanded() {
        let mut bomb = "---\na0: &a0 [x]\n".to_owned();
        for at in 1..60 {
            bomb += &format!("a{at}: &a{at} [{}]\n", vec![format!("*a{}", at - 1); 20].join(", "));
        }
        check(&(bomb + "name: n\n---\n"), Some("n"), None, "");
    }

    #[test]
    fn a_skill_can_hide() {
        assert!(parse("---\ndelegator_exclude: true\n---\n").0.is_excluded);
        assert!(!parse("---\ndelegator_exclude: false\n---\n").0.is_excluded);
        assert!(!parse("---\nx:\n  delegator_exclude: true\n---\n").0.is_excluded);
    }
}
