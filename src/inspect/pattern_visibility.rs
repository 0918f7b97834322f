//! Decides what a pattern can see of a line, and thereby how the line is searched.
//!
//! The bytes of a file are searched before redaction, and only matches are checked in shown form. That must
//! not reveal secrets: a pattern that matches the shown line for every secret, but its bytes only if the
//! secret contains a certain letter, would test for that letter. `^[^q]*$` does so, and `=q|=\[redacted`. So
//! this module determines whether a match can touch the mark that replaces a secret.
//!
//! Word edges depend on a match's neighbours, which may be the ends of a secret. They are not tested in the
//! bytes of a line with a secret (`=\B` would reveal what it begins with), only in its shown form.

use std::collections::BTreeSet;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Capture, Dot, Hir, HirKind, Look, LookSet};

use crate::inspect::pattern::Case;
use crate::inspect::pattern_overlap::Touch;
use crate::inspect::word_search::Word;
use crate::redact;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// No match touches a mark: if the shown line matches, so do its bytes.
    Text,
    /// Lines with secrets have to be checked in shown form.
    Marks,
    /// The pattern depends on the ends of the text, which is a line here: all lines have to be checked.
    EveryLine,
}

/// The kinds of secrets.
pub(super) type Kinds = BTreeSet<&'static str>;

impl Sight {
    /// For a compiled pattern: what it sees, and the kinds of secrets whose marks it may touch.
    pub(super) fn of(pattern: &str, case: Case) -> (Self, Kinds) {
        // A pattern that is not understood may see everything.
        let Some(hir) = parse(pattern, case) else { return (Self::EveryLine, all_kinds()) };
        let looks = hir.properties().look_set();
        if looks.contains(Look::Start) || looks.contains(Look::End) {
            return (Self::EveryLine, all_kinds());
        }
        let touched = touched(&without_edges(&hir));
        match touched.is_empty() {
            true => (Self::Text, touched),
            // The neighbours of a match may be a secret of any kind.
            false if looks.contains_word() => (Self::Marks, all_kinds()),
            false => (Self::Marks, touched),
        }
    }
}

pub(super) fn all_kinds() -> Kinds {
    redact::kinds().collect()
}

/// The pattern without its word edges, if it has any: it matches wherever the pattern does, whatever the
/// neighbours.
pub(super) fn loosened(pattern: &str, case: Case) -> Option<String> {
    let hir = parse(pattern, case)?;
    hir.properties().look_set().contains_word().then(|| without_edges(&hir).to_string())
}

/// The word that it matches apart from word edges, if it is one.
pub(super) fn word(pattern: &str, case: Case) -> Option<Word> {
    Word::of(&without_edges(&parse(pattern, case)?))
}

/// Whether it is a valid pattern on its own.
pub(super) fn is_understood(pattern: &str, case: Case) -> bool {
    parse(pattern, case).is_some()
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

/// The kinds whose marks a match can touch other than by skipping them. Text that `.*` leaves between two
/// parts of a pattern may be anything, also a secret.
fn touched(hir: &Hir) -> Kinds {
    if is_gap(hir) {
        return Kinds::new();
    }
    if !has_gap(hir) {
        return reached(hir);
    }
    let by_any = |parts: &[Hir]| parts.iter().flat_map(touched).collect();
    match hir.kind() {
        HirKind::Concat(parts) => parts
            .split(is_gap)
            .flat_map(|run| match run {
                [] => Kinds::new(),
                run if run.iter().any(has_gap) => by_any(run),
                run => reached(&Hir::concat(run.to_vec())),
            })
            .collect(),
        HirKind::Alternation(parts) => by_any(parts),
        HirKind::Capture(capture) => touched(&capture.sub),
        HirKind::Repetition(repetition) => touched(&repetition.sub),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => all_kinds(),
    }
}

/// `.*` or `.+`: matches a secret as well as its mark.
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

/// The kinds whose marks overlap a match.
fn reached(hir: &Hir) -> Kinds {
    let Some(touch) = Touch::new(hir) else { return all_kinds() };
    all_kinds().into_iter().filter(|kind| touch.reaches(&redact::mark(kind))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::test_rows;

    #[track_caller]
    fn check(patterns: &[&str], expected: Sight) {
        for pattern in patterns {
            assert_eq!(Sight::of(pattern, Case::Ignored).0, expected, "{pattern}");
        }
    }

    #[test]
    fn most_patterns_see_text_alone() {
        check(&["error", "needle-7f3a", "^2026-01", r"exit code [1-9]\d*$"], Sight::Text);
        check(&["error.*timeout", "(warn|error): .+", "(?:a7.*b7|x9)+", ".*"], Sight::Text);
        check(&[r"took \d+ ms", r"\w+Error\b"], Sight::Text);
        check(&[r"\[error\]", r"^\[\d+\] worker"], Sight::Text);
    }

    #[test]
    fn what_could_ask_for_a_letter_sees_marks() {
        let rows = include_str!("../../tests/data/patterns_seeing_marks.jsonl");
        test_rows::<[String; 1]>(rows).for_each(|[pattern]| check(&[&pattern], Sight::Marks));
    }

    #[test]
    fn some_marks_are_seen_and_others_are_not() {
        for (pattern, kinds) in [
            ("token", &["token"][..]),
            ("key", &["api-key", "private-key"]),
            ("hub.*pi-k", &["api-key", "github"]),
            (r"npm\]|x9", &["npm"]),
        ] {
            let (sight, seen) = Sight::of(pattern, Case::Ignored);
            assert_eq!(sight, Sight::Marks);
            for kind in kinds.iter().copied() {
                assert!(seen.contains(kind), "{pattern}: {kind}");
            }
            assert!(!seen.contains("aws"), "{pattern}");
        }
        for pattern in ["a", r"\[", r"token\b", "redacted"] {
            assert_eq!(Sight::of(pattern, Case::Ignored).1, all_kinds(), "{pattern}");
        }
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
