//! Reads every recorded stream with its adapter and compares events, progress and verdict with a
//! snapshot per recording.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;

use crate::agents::codex::Codex;
use crate::agents::testing::{request, resumed};
use crate::agents::{Agent, AgentEnd, Verdict};
use crate::model::{Counters, Event, Exit, Fault, Progress, Request, Timestamp, Usage};
use crate::progress::Reducer;

#[test]
fn codex_streams_are_read_and_judged_as_recorded() {
    let streams = streams(folder());
    check("codex", &streams, Recorded::load, |name| match name {
        "resume_basic" => resumed("01a1de18-e185-7850-bd49-27a1844ec993", Some(used(1200))),
        "recommended_resume" => resumed("01a1de30-1645-7453-9eef-5d9e7d2c3868", None),
        "resume_badname" | "resume_unknown" => resumed("11111111-2222-7333-8444-555555555555", None),
        "conc_b" => resumed("01a1de19-519c-75d3-8590-daed00d5fe15", None),
        _ => request(),
    });
    assert!(streams.len() >= 48, "only {} recordings", streams.len());
}

#[test]
fn shipped_recordings_are_read_and_judged_as_recorded() {
    let streams = streams(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/agents/replay/recordings"));
    check("replay", &streams, Recorded::play, |_| request());
    assert!(streams.len() >= 3, "{streams:?}");
}

fn used(input_tokens: u64) -> Usage {
    Usage { input_tokens, ..Usage::default() }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/codex")
}

fn streams(folder: PathBuf) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).expect("the recordings are part of the repository");
    let mut streams: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    streams.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    streams.sort();
    streams
}

fn check(kind: &str, streams: &[PathBuf], load: fn(&Path) -> Recorded, request_for: fn(&str) -> Request) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for stream in streams {
            let name = stream.file_stem().and_then(|name| name.to_str()).unwrap();
            let recorded = load(stream);
            let read = read(&request_for(name), &recorded);
            read.agrees_with(&recorded, name);
            insta::assert_snapshot!(format!("{kind}__{name}"), read.render());
        }
    });
}

fn counters(progress: &Progress) -> [u64; 7] {
    let Counters { events, messages, commands, commands_failed, files_changed, tool_calls, retries } =
        progress.counters;
    [events, messages, commands, commands_failed, files_changed, tool_calls, retries]
}

/// A recording: its output, and its exit status if known.
struct Recorded {
    stdout: Vec<u8>,
    stderr: String,
    status: Option<i32>,
}

impl Recorded {
    fn load(stream: &Path) -> Self {
        let beside = |end: &str| fs::read_to_string(stream.with_extension(end)).ok();
        Self {
            stdout: fs::read(stream).unwrap(),
            stderr: beside("stderr").unwrap_or_default(),
            status: beside("rc").map(|status| status.trim().parse().expect("a number")),
        }
    }

    /// Loads a recording in the format of `replay`: each line has a time and a stream.
    fn play(stream: &Path) -> Self {
        let (mut stdout, mut stderr, mut status) = (String::new(), String::new(), None);
        for line in fs::read_to_string(stream).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| line[name].as_str().map(|text| format!("{text}\n")).unwrap_or_default();
            stdout += &text("out");
            stderr += &text("err");
            status = status.or(line["exit"].as_i64());
        }
        let status = Some(status.map_or(0, |code| i32::try_from(code).expect("an exit code")));
        Self { stdout: stdout.into_bytes(), stderr, status }
    }

    fn exit(&self) -> Exit {
        match self.status {
            Some(signal @ ..0) => Exit::Signal(-signal),
            Some(code) => Exit::Code(code),
            None => Exit::Code(0),
        }
    }
}

struct Read {
    events: Vec<Event>,
    /// Activity and percentage, whenever they changed.
    progress: Vec<(String, Option<u8>)>,
    /// The progress after each event.
    positions: Vec<Progress>,
    /// The progress at the end of the stream.
    end: Progress,
    verdict: Verdict,
    abort: Option<Fault>,
}

fn read(request: &Request, recorded: &Recorded) -> Read {
    let mut reader = Codex.reader(request, "");
    let mut reducer = Reducer::new();
    let (mut events, mut progress, mut abort) = (Vec::new(), Vec::new(), None);
    let mut positions = vec![reducer.snapshot()];
    for line in recorded.stdout.split(|byte| *byte == b'\n') {
        let reading = reader.line(line);
        abort = abort.or(reading.abort);
        for event in reading.events {
            reducer.apply(&event, Timestamp::from_millis(0));
            let now = reducer.snapshot();
            let shown = (now.activity.clone(), now.percent);
            positions.push(now);
            if progress.last() != Some(&shown) {
                progress.push(shown);
            }
            events.push(event);
        }
    }
    reducer.finish();
    let end = reducer.snapshot();
    let verdict = reader.verdict(&AgentEnd {
        exit: recorded.exit(),
        stderr_tail: recorded.stderr.clone(),
        last_line: String::new(),
        last_error: String::new(),
        last_message: None,
    });
    Read { events, progress, positions, end, verdict, abort }
}

impl Read {
    /// Checks that the result agrees with the exit status and the last end of a turn, both
    /// determined without the adapter.
    fn agrees_with(&self, recorded: &Recorded, name: &str) {
        self.goes_forward(name);
        let Some(status) = recorded.status else { return };
        let text = String::from_utf8_lossy(&recorded.stdout);
        let mut ends = text.lines().filter(|line| {
            line.contains(r#""type":"turn.completed""#) || line.contains(r#""type":"turn.failed""#)
        });
        let completed = ends.next_back().is_some_and(|line| line.contains("turn.completed"));
        let expected = status == 0 && completed && self.abort.is_none();
        assert_eq!(self.verdict.result.is_ok(), expected, "{name}: {:?}", self.verdict);
    }

    /// Checks that no counter falls, that there is no percentage without a plan, and that there is
    /// always an activity line.
    fn goes_forward(&self, name: &str) {
        let planned = self.events.iter().position(|event| matches!(event, Event::Plan { .. }));
        for (at, pair) in self.positions.windows(2).enumerate() {
            let [before, now] = pair else { continue };
            assert!(before.percent <= now.percent, "{name}: percent fell after event {at}: {pair:?}");
            assert!(now.percent.is_none_or(|percent| percent < 100), "{name}: over before its end: {now:?}");
            assert!(now.percent.is_none() || planned.is_some_and(|planned| planned <= at), "{name}: {now:?}");
            let (counted, count) = (counters(before), counters(now));
            assert!(counted.iter().zip(count).all(|(before, now)| *before <= now), "{name}: {pair:?}");
            assert!(now.counters.commands_failed <= now.counters.commands, "{name}: {now:?}");
            assert!(!now.activity.is_empty() && !now.activity.contains('\n'), "{name}: {now:?}");
        }
    }

    fn render(&self) -> String {
        let mut text = String::from("events:\n");
        for event in &self.events {
            writeln!(text, "  {}", serde_json::to_string(event).unwrap()).unwrap();
        }
        text.push_str("progress:\n");
        for (activity, percent) in &self.progress {
            let percent = percent.map(|percent| format!(" ({percent} %)")).unwrap_or_default();
            writeln!(text, "  {activity}{percent}").unwrap();
        }
        let Progress { phase, percent, steps, .. } = &self.end;
        let done = steps.iter().filter(|step| step.done).count();
        let counted = serde_json::to_string(&self.end.counters).unwrap();
        writeln!(text, "at its end: {phase:?}, {percent:?}, {done} of {} steps, {counted}", steps.len())
            .unwrap();
        if let Some(fault) = &self.abort {
            writeln!(text, "abort: {}", fault_text(fault)).unwrap();
        }
        let verdict = &self.verdict;
        let outcome = verdict.result.as_ref().err().map_or_else(|| "completed".to_owned(), fault_text);
        writeln!(text, "verdict: {outcome}\n  summary: {}", verdict.summary).unwrap();
        let answer = verdict.answer.as_ref().map(|answer| serde_json::to_string(answer).unwrap());
        let usage = verdict.usage.map(|usage| serde_json::to_string(&usage).unwrap());
        let total = verdict.usage_total.map(|usage| serde_json::to_string(&usage).unwrap());
        let (thread, model) = (verdict.thread_id.clone(), verdict.model.clone());
        let facts =
            [("answer", answer), ("thread", thread), ("model", model), ("usage", usage), ("total", total)];
        for (name, fact) in facts.iter().filter_map(|(name, fact)| Some((name, fact.as_ref()?))) {
            writeln!(text, "  {name}: {fact}").unwrap();
        }
        for warning in &verdict.warnings {
            writeln!(text, "  warning: {warning}").unwrap();
        }
        text
    }
}

fn fault_text(fault: &Fault) -> String {
    let hint = fault.hint.as_ref().map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
    format!("{}: {}{hint}", fault.code.as_str(), fault.message)
}

fn events_of(lines: &[Vec<u8>]) -> Vec<Event> {
    let mut reader = Codex.reader(&request(), "");
    lines.iter().flat_map(|line| reader.line(line).events).collect()
}

/// The lines of several recorded Codex streams.
fn all_lines() -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    for name in ["todo", "web", "shell_fail", "patch", "err500_retry2", "mcp_structured", "collab_v1"] {
        let text = fs::read(folder().join(name).with_extension("jsonl")).unwrap();
        lines.extend(text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
    }
    lines
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(
        lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20),
        code in any::<i32>(),
        stderr in any::<String>(),
    ) {
        let mut reader = Codex.reader(&request(), "");
        for line in &lines {
            reader.line(line);
        }
        let end = AgentEnd { exit: Exit::Code(code), stderr_tail: stderr, last_line: String::new(), last_error: String::new(), last_message: None };
        prop_assert!(reader.verdict(&end).result.is_err());
    }

    #[test]
    fn no_damaged_line_makes_the_reader_panic(which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let lines = all_lines();
        let mut line = which.get(&lines).clone();
        if !line.is_empty() {
            let at = at.index(line.len());
            line[at] = byte;
            events_of(&[line.clone(), line[..at].to_vec()]);
        }
    }

    #[test]
    fn noise_between_lines_and_around_them_changes_nothing(
        noise in prop::collection::vec("[^\\{\r\n]{0,30}", 1..20),
        ends in prop::collection::vec("[ \t\r]{0,3}", 1..20),
    ) {
        let lines = all_lines();
        let mut noisy = Vec::new();
        for (i, line) in lines.iter().enumerate() {
            noisy.push(noise[i % noise.len()].clone().into_bytes());
            noisy.push([line.as_slice(), ends[i % ends.len()].as_bytes()].concat());
        }
        prop_assert_eq!(events_of(&noisy), events_of(&lines));
    }
}
