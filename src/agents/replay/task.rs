//! Parses the task of a replay: `fix-test`, `fix-test --instant`, `fix-test --speed 4`, or the path
//! of a file. Does not check whether the file exists.

use std::str::FromStr;

use crate::agents::replay::recordings;

/// A recording and its speed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Playback {
    pub(super) source: Source,
    pub(super) pace: Pace,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A bundled recording.
    Ours(&'static str),
    /// A user's file, relative to the working directory.
    File(String),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pace {
    /// Without pauses.
    Instant,
    /// This many times as fast as recorded.
    Times(f64),
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum BadRecording {
    #[error("there is no recording `{0}`")]
    Unknown(String),
    #[error("`{0}` is not a speed")]
    BadSpeed(String),
}

impl BadRecording {
    /// What to write instead.
    pub(crate) fn hint(&self) -> String {
        match self {
            BadRecording::Unknown(_) => {
                let names: Vec<String> = recordings::names().map(|name| format!("`{name}`")).collect();
                format!("recordings: {}, or a path to a `.jsonl` file", names.join(", "))
            }
            BadRecording::BadSpeed(_) => "a speed is a number above 0, such as `--speed 4`".to_owned(),
        }
    }
}

/// Whether a task is valid, so that it can be refused at submit.
pub(crate) fn check_task(task: &str) -> Result<(), BadRecording> {
    task.parse::<Playback>().map(|_| ())
}

/// Whether the task is a bundled recording.
pub(crate) fn is_shipped(task: &str) -> bool {
    task.parse::<Playback>().is_ok_and(|playback| matches!(playback.source, Source::Ours(_)))
}

impl Playback {
    /// The equivalent arguments of `play`.
    pub(super) fn into_args(self) -> Vec<String> {
        let source = match self.source {
            Source::Ours(name) => name.to_owned(),
            Source::File(path) => path,
        };
        match self.pace {
            Pace::Instant => vec![source, "--instant".to_owned()],
            Pace::Times(times) => vec![source, "--speed".to_owned(), times.to_string()],
        }
    }
}

impl FromStr for Playback {
    type Err = BadRecording;

    fn from_str(task: &str) -> Result<Self, BadRecording> {
        let task = task.trim();
        let (source, pace) = if let Some(source) = task.strip_suffix(" --instant") {
            (source, Pace::Instant)
        } else if let Some((source, times)) = task.rsplit_once(" --speed ") {
            let times = times.trim();
            let number = times.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
            (source, Pace::Times(number.ok_or_else(|| BadRecording::BadSpeed(times.to_owned()))?))
        } else {
            (task, Pace::Times(1.0))
        };
        let source = source.trim();
        let source = match recordings::names().find(|name| *name == source) {
            Some(name) => Source::Ours(name),
            None if source.contains('/') || source.ends_with(".jsonl") => Source::File(source.to_owned()),
            None => return Err(BadRecording::Unknown(source.to_owned())),
        };
        Ok(Playback { source, pace })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(task: &str, expected: Result<Playback, BadRecording>) {
        assert_eq!(task.parse(), expected);
        if let Ok(playback) = expected {
            assert_eq!(playback.clone().into_args().join(" ").parse(), Ok(playback));
        }
    }

    fn ours(pace: Pace) -> Result<Playback, BadRecording> {
        Ok(Playback { source: Source::Ours("fix-test"), pace })
    }

    #[test]
    fn a_task_names_a_recording_and_its_pace() {
        check("fix-test", ours(Pace::Times(1.0)));
        check(" fix-test  --instant ", ours(Pace::Instant));
        check("fix-test --speed 2.5", ours(Pace::Times(2.5)));
    }

    #[test]
    fn a_path_is_a_file_even_with_spaces() {
        let file =
            |path: &str| Ok(Playback { source: Source::File(path.to_owned()), pace: Pace::Times(1.0) });
        check("my streams/a b.jsonl", file("my streams/a b.jsonl"));
        check("./raw", file("./raw"));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        check("fix-tets", Err(BadRecording::Unknown("fix-tets".to_owned())));
        let bad = check_task("").unwrap_err();
        assert_eq!(bad.to_string(), "there is no recording ``");
        assert!(bad.hint().contains("`fix-test`") && bad.hint().contains("`quick`"), "{}", bad.hint());
    }

    #[test]
    fn a_speed_that_is_none_is_refused() {
        for speed in ["0", "-1", "fast", "inf", "NaN"] {
            check(&format!("quick --speed {speed}"), Err(BadRecording::BadSpeed(speed.to_owned())));
        }
    }
}
