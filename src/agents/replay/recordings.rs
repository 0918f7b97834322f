//! The bundled recordings and their format.
//!
//! One JSON object per line: `{"at_ms":120,"out":"…"}` (or `"err"`) for a line of output at a time
//! since the start, `{"ask":"…"}` for a question that waits for an answer, and `{"exit":0}` at the end.

use serde::Deserialize;

const SHIPPED: [(&str, &str); 4] = [
    ("fix-test", include_str!("recordings/fix-test.jsonl")),
    ("quick", include_str!("recordings/quick.jsonl")),
    ("fails", include_str!("recordings/fails.jsonl")),
    ("asks", include_str!("recordings/asks.jsonl")),
];

/// A line of a recording.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Cue {
    Out {
        #[serde(default)]
        at_ms: u64,
        out: String,
    },
    Err {
        #[serde(default)]
        at_ms: u64,
        err: String,
    },
    Ask {
        #[serde(default)]
        at_ms: u64,
        ask: String,
    },
    Exit {
        #[serde(default)]
        at_ms: u64,
        exit: u8,
    },
}

impl Cue {
    /// `None` for a line in another format.
    pub(super) fn parse(line: &str) -> Option<Cue> {
        serde_json::from_str(line).ok()
    }

    pub(super) fn at_ms(&self) -> u64 {
        match self {
            Cue::Out { at_ms, .. }
            | Cue::Err { at_ms, .. }
            | Cue::Ask { at_ms, .. }
            | Cue::Exit { at_ms, .. } => *at_ms,
        }
    }
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name)
}

pub(super) fn named(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str) {
        let cues: Vec<Cue> = text.lines().map(|line| Cue::parse(line).expect(line)).collect();
        assert!(matches!(cues.last(), Some(Cue::Exit { .. })));
        assert!(cues.is_sorted_by_key(Cue::at_ms), "time runs backwards");
        for cue in &cues {
            if let Cue::Out { out, .. } = cue {
                assert!(serde_json::from_str::<serde_json::Value>(out).is_ok(), "{out}");
            }
        }
    }

    #[test]
    fn every_shipped_recording_is_whole() {
        for name in names() {
            check(named(name).unwrap());
        }
    }

    #[test]
    fn a_raw_stream_is_no_recording() {
        assert_eq!(Cue::parse(r#"{"type":"turn.started"}"#), None);
        assert_eq!(Cue::parse("text"), None);
    }
}
