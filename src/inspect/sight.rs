//! What a pattern can see of a line, which decides how the line is searched.
//!
//! The bytes of a file are searched before anything is redacted, and only what
//! matches there is looked at as it is shown. That must not tell of secrets: a
//! pattern that matches the line as it is shown whatever the secret is, and its
//! bytes only where the secret has a certain letter, would ask for that letter.
//! `^[^q]*$` does, and so does `=q|=\[redacted`. So it is found out whether a
//! match can touch what stands in place of a secret.
//!
//! The edges of words are a match's neighbours and may be a secret's ends: in
//! the bytes of a line with a secret they are not asked for (`=\B` would tell
//! what it begins with), only in what is shown of it.

use regex::bytes::Regex;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Capture, Class, Dot, Hir, HirKind, Look, LookSet};

use super::pattern::Case;
use crate::redact;

/// The ends of every mark.
const BRACKETS: [char; 2] = ['[', ']'];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// No match touches a mark: where the line that is shown matches, its
    /// bytes do, too.
    Text,
    /// Lines with secrets have to be looked at as they are shown.
    Marks,
    /// The ends of a text are meant, which a line is here: all have to be.
    EveryLine,
}

impl Sight {
    /// Of a pattern that was compiled before.
    pub(super) fn of(pattern: &str, case: Case) -> Self {
        // Whatever is not understood may see everything.
        let Some(hir) = parse(pattern, case) else { return Self::EveryLine };
        let looks = hir.properties().look_set();
        if looks.contains(Look::Start) || looks.contains(Look::End) {
            return Self::EveryLine;
        }
        if is_blind(&without_edges(&hir)) { Self::Text } else { Self::Marks }
    }
}

/// The pattern without the edges of words, if it asks for any: it matches
/// wherever the pattern does, whatever stands beside.
pub(super) fn loosened(pattern: &str, case: Case) -> Option<String> {
    let hir = parse(pattern, case)?;
    hir.properties().look_set().contains_word().then(|| without_edges(&hir).to_string())
}

fn parse(pattern: &str, case: Case) -> Option<Hir> {
    let mut parser = ParserBuilder::new();
    parser.case_insensitive(case == Case::Ignored).multi_line(true).crlf(true).utf8(false);
    parser.build().parse(pattern).ok()
}

fn without_edges(hir: &Hir) -> Hir {
    let all = |parts: &[Hir]| parts.iter().map(without_edges).collect();
    match hir.kind() {
        HirKind::Look(look) if LookSet::singleton(*look).contains_word() => Hir::empty(),
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
        HirKind::Capture(capture) => {
            let Capture { index, name, sub } = capture;
            Hir::capture(Capture { index: *index, name: name.clone(), sub: Box::new(without_edges(sub)) })
        }
        HirKind::Repetition(repetition) => Hir::repetition(repetition.with(without_edges(&repetition.sub))),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
    }
}

/// Whether no match can touch a mark but by passing over it. What is between
/// two parts of a pattern that `.*` keeps apart may be anything, also a secret.
fn is_blind(hir: &Hir) -> bool {
    if is_gap(hir) {
        return true;
    }
    if !has_gap(hir) {
        return cannot_match_marks(hir);
    }
    match hir.kind() {
        HirKind::Concat(parts) => parts.split(is_gap).all(|run| {
            if run.iter().any(has_gap) {
                run.iter().all(is_blind)
            } else {
                run.is_empty() || cannot_match_marks(&Hir::concat(run.to_vec()))
            }
        }),
        HirKind::Alternation(parts) => parts.iter().all(is_blind),
        HirKind::Capture(capture) => is_blind(&capture.sub),
        HirKind::Repetition(repetition) => is_blind(&repetition.sub),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

/// `.*` or `.+`: as good over a secret as over what is shown for it.
fn is_gap(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(repetition) => {
            let is_any = *repetition.sub == Hir::dot(Dot::AnyCharExceptCRLF);
            is_any && repetition.min <= 1 && repetition.max.is_none()
        }
        HirKind::Capture(capture) => is_gap(&capture.sub),
        _ => false,
    }
}

fn has_gap(hir: &Hir) -> bool {
    is_gap(hir)
        || match hir.kind() {
            HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(has_gap),
            HirKind::Capture(capture) => has_gap(&capture.sub),
            HirKind::Repetition(repetition) => has_gap(&repetition.sub),
            HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
        }
}

/// A match that goes over an end of a mark has its bracket in it, and any other
/// is inside of the mark.
fn cannot_match_marks(hir: &Hir) -> bool {
    let is_inside = |regex: Regex| redact::marks().any(|mark| regex.is_match(mark.as_bytes()));
    !has_bracket(hir) && Regex::new(&hir.to_string()).is_ok_and(|regex| !is_inside(regex))
}

fn has_bracket(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.iter().any(|byte| BRACKETS.contains(&char::from(*byte))),
        HirKind::Class(Class::Unicode(class)) => {
            let has = |bracket: &char| {
                class.ranges().iter().any(|range| (range.start()..=range.end()).contains(bracket))
            };
            BRACKETS.iter().any(has)
        }
        HirKind::Class(Class::Bytes(class)) => {
            let has = |bracket: &char| {
                class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&(*bracket as u8)))
            };
            BRACKETS.iter().any(has)
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(has_bracket),
        HirKind::Capture(capture) => has_bracket(&capture.sub),
        HirKind::Repetition(repetition) => has_bracket(&repetition.sub),
        HirKind::Empty | HirKind::Look(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(patterns: &[&str], expected: Sight) {
        for pattern in patterns {
            assert_eq!(Sight::of(pattern, Case::Ignored), expected, "{pattern}");
        }
    }

    #[test]
    fn most_patterns_see_text_alone() {
        check(&["error", "needle-7f3a", "^2026-01", r"exit code [1-9]\d*$"], Sight::Text);
        check(&["error.*timeout", "(warn|error): .+", "(?:a7.*b7|x9)+", ".*"], Sight::Text);
        check(&[r"took \d+ ms", r"\w+Error\b"], Sight::Text);
    }

    #[test]
    fn what_could_ask_for_a_letter_sees_marks() {
        check(
            &[
                "a",
                "^[^q]*$",
                r"=q|=\[redacted",
                "token=.{40}$",
                r"\S+",
                "key",
                "foo.*a",
                "",
                "a*",
                "redacted",
                "(b.*)*c",
                "^.*$",
            ],
            Sight::Marks,
        );
    }

    #[test]
    fn the_edges_of_words_are_asked_for_in_what_is_shown() {
        for (pattern, loose) in [
            ("a7", None),
            (r"x=\B", Some("(?:x=)")),
            (r"^(?:a7\b|x9)+$", Some("(?:(?mR:^)(?:(?:a7)|(?:x9))+(?mR:$))")),
        ] {
            assert_eq!(loosened(pattern, Case::Kept).as_deref(), loose, "{pattern}");
        }
        check(&[r"x=\B", r"\berror\b", r".*\b"], Sight::Text);
        // What is left of these matches anything.
        check(&[r"\b", r"\B", r"\bred\b"], Sight::Marks);
    }

    #[test]
    fn the_ends_of_a_text_are_those_of_a_line() {
        check(&[r"\Aerror", r"x\z"], Sight::EveryLine);
    }
}
