//! Plays a recording: the hidden command `play`.
//!
//! Time and output are arguments. A recording in our format is played with its pauses; any other
//! file is printed at once.

use std::fs::File;
use std::io;
use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

use crate::agents::replay::reader::{Asked, Told};
use crate::agents::replay::recordings::{self, Cue};
use crate::agents::replay::task::{Pace, Playback, Source};

/// The exit code for bad arguments.
const USAGE: i32 = 2;
/// The exit code of a recording that was stopped while it waited for an answer.
const STOPPED: i32 = 130;

/// Plays what `args` name. Returns the recorded exit status.
pub(crate) fn play(
    args: &[String],
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    err: &mut dyn Write,
    sleep: &mut dyn FnMut(Duration),
) -> i32 {
    let playback: Playback = match args.join(" ").parse() {
        Ok(playback) => playback,
        Err(bad) => {
            // There is nobody left to tell if this fails.
            let _ = writeln!(err, "error: {bad}\nhint: {}", bad.hint());
            return USAGE;
        }
    };
    let played = match &playback.source {
        Source::Ours(name) => {
            let mut text = recordings::named(name).unwrap_or_default().as_bytes();
            perform(&mut text, playback.pace, input, out, err, sleep)
        }
        Source::File(path) => File::open(path)
            .and_then(|file| perform(&mut BufReader::new(file), playback.pace, input, out, err, sleep)),
    };
    played.unwrap_or_else(|error| {
        let _ = writeln!(err, "error: cannot play the recording: {error}");
        1
    })
}

fn perform(
    text: &mut dyn BufRead,
    pace: Pace,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    err: &mut dyn Write,
    sleep: &mut dyn FnMut(Duration),
) -> io::Result<i32> {
    let mut line = Vec::new();
    let mut clock_ms = 0;
    // A raw stream does not contain the exit status: its last turn decides.
    let mut status = 1;
    while read_line(text, &mut line)? {
        let cue = std::str::from_utf8(&line).ok().filter(|_| !is_raw(&line)).and_then(Cue::parse);
        let Some(cue) = cue else {
            if line.starts_with(br#"{"type":"turn."#) {
                status = i32::from(!line.starts_with(br#"{"type":"turn.completed""#));
            }
            line.push(b'\n');
            out.write_all(&line)?;
            continue;
        };
        pause(cue.at_ms().saturating_sub(clock_ms), pace, sleep);
        clock_ms = clock_ms.max(cue.at_ms());
        match cue {
            Cue::Out { out: text, .. } => say(out, &text)?,
            Cue::Err { err: text, .. } => say(err, &text)?,
            Cue::Ask { ask, .. } => {
                say(out, &serde_json::to_string(&Asked { question: ask })?)?;
                if !await_answer(input)? {
                    return Ok(STOPPED);
                }
            }
            Cue::Exit { exit, .. } => {
                out.flush()?;
                return Ok(i32::from(exit));
            }
        }
    }
    out.flush()?;
    Ok(status)
}

/// Waits for the answer to a question. Returns `false` if there will be none.
fn await_answer(input: &mut dyn BufRead) -> io::Result<bool> {
    let mut line = Vec::new();
    Ok(read_line(input, &mut line)? && serde_json::from_slice::<Told>(&line).is_ok())
}

/// Codex's lines begin with their type; do not parse them as our format.
fn is_raw(line: &[u8]) -> bool {
    line.starts_with(br#"{"type":"#)
}

fn read_line(text: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = text.read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(read > 0)
}

/// Flushes each line, because it has its own time.
fn say(sink: &mut dyn Write, text: &str) -> io::Result<()> {
    sink.write_all(text.as_bytes())?;
    sink.write_all(b"\n")?;
    sink.flush()
}

fn pause(ms: u64, pace: Pace, sleep: &mut dyn FnMut(Duration)) {
    match pace {
        Pace::Times(times) if ms > 0 => {
            sleep(Duration::from_millis(ms).div_f64(times.max(f64::MIN_POSITIVE)))
        }
        Pace::Times(_) | Pace::Instant => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Played {
        out: String,
        err: String,
        slept: Duration,
        status: i32,
    }

    fn played(task: &str) -> Played {
        let args: Vec<String> = task.split(' ').map(str::to_owned).collect();
        let (mut out, mut err, mut slept) = (Vec::new(), Vec::new(), Duration::ZERO);
        let status = play(&args, &mut io::empty(), &mut out, &mut err, &mut |pause| slept += pause);
        Played { out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap(), slept, status }
    }

    #[track_caller]
    fn check(task: &str, status: i32, slept: std::ops::RangeInclusive<u64>) {
        let played = played(task);
        assert_eq!(played.status, status, "{}", played.err);
        assert!(slept.contains(&(played.slept.as_millis() as u64)), "{:?}", played.slept);
    }

    #[test]
    fn recordings_end_as_they_did() {
        check("quick", 0, 0..=0);
        check("fix-test", 0, 5000..=8000);
        check("fails", 1, 500..=3000);
        check("asks", 130, 0..=0);
    }

    #[test]
    fn pauses_follow_the_pace() {
        check("fix-test --instant", 0, 0..=0);
        check("fix-test --speed 4", 0, 1250..=2000);
    }

    #[test]
    fn a_raw_stream_is_printed_as_it_is() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/codex");
        let played = played(&format!("{corpus}/todo.jsonl"));
        assert_eq!(played.out, std::fs::read_to_string(format!("{corpus}/todo.jsonl")).unwrap());
        check(&format!("{corpus}/err400.jsonl"), 1, 0..=0);
    }

    #[test]
    fn what_cannot_be_played_says_why() {
        let unknown = played("nosuch");
        assert_eq!((unknown.status, unknown.out.as_str()), (2, ""));
        assert!(
            unknown.err.contains("there is no recording `nosuch`\nhint: recordings: `fix-test`"),
            "{}",
            unknown.err
        );
        assert!(played("/no/such.jsonl").err.starts_with("error: cannot play the recording: "));
    }
}
