//! Every recorded output, read as tests and as errors: one snapshot a recording.
//!
//! Beside them texts that talk about tests without being a test run, and bytes
//! that mean nothing.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::commands::{CommandEnd, CommandOutcome, LedgerEntry, Printed, judge};
use super::screen_lines::HANDED_OUT;
use super::tests::TestRun;
use crate::model::ItemStatus;

#[derive(Clone)]
struct Recording {
    name: String,
    command: String,
    exit_code: Option<i64>,
    text: String,
}

impl Recording {
    /// `$ command`, `exit code`, then the output as it was.
    fn parse(name: &str, whole: &str) -> Self {
        let (command, rest) = whole.split_once('\n').unwrap();
        let (exit, text) = rest.split_once('\n').unwrap();
        Self {
            name: name.to_owned(),
            command: command.strip_prefix("$ ").expect("a command").to_owned(),
            exit_code: exit.strip_prefix("exit ").expect("an exit code").parse().ok(),
            text: text.to_owned(),
        }
    }

    fn tests(&self) -> Vec<TestRun> {
        read(&self.command, self.exit_code, &self.text)
    }

    fn entry(&self, root: &str) -> LedgerEntry {
        entry(&self.command, self.exit_code, &self.text, root)
    }
}

/// What is entered of a command that ran in `root`.
fn entry(line: &str, exit_code: Option<i64>, text: &str, root: &str) -> LedgerEntry {
    let end = CommandEnd {
        number: 1,
        item: "1",
        line,
        directory: root,
        root,
        started_at: None,
        ended_at: None,
        exit_code,
        status: if exit_code == Some(0) { ItemStatus::Completed } else { ItemStatus::Failed },
    };
    judge(&end, Printed { text, is_whole: true, span: None })
}

pub(super) fn read(line: &str, exit_code: Option<i64>, text: &str) -> Vec<TestRun> {
    entry(line, exit_code, text, "/home/dev/project").tests
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

fn recordings(folder: &str) -> Vec<Recording> {
    let read = |path: &PathBuf| {
        Recording::parse(path.file_stem().unwrap().to_str().unwrap(), &fs::read_to_string(path).unwrap())
    };
    files(folder).iter().map(read).collect()
}

/// The texts of one file, each under `=== what it is`.
fn talk(file: &str) -> Vec<Recording> {
    let path =
        files("talk").into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == file)).unwrap();
    let whole = fs::read_to_string(path).unwrap();
    let mut texts: Vec<(String, String)> = Vec::new();
    for line in whole.split('\n') {
        match line.strip_prefix("=== ").filter(|title| !title.ends_with("===")) {
            Some(title) => texts.push((title.to_owned(), String::new())),
            None => {
                let text = &mut texts.last_mut().unwrap().1;
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    texts.iter().map(|(title, text)| Recording::parse(title, text)).collect()
}

fn snapshots(check: impl FnOnce()) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(check);
}

#[test]
fn recorded_test_runs_are_read_as_recorded() {
    let all = recordings("runs");
    assert!(all.len() >= 60, "only {} recordings", all.len());
    snapshots(|| {
        for recording in &all {
            let mut told = format!("$ {}\n", recording.command);
            for run in recording.tests() {
                writeln!(told, "{}", serde_json::to_string(&run).unwrap()).unwrap();
            }
            insta::assert_snapshot!(format!("runs__{}", recording.name), told);
        }
    });
}

/// Whatever is missing at the end of a run that failed: its counts are those of the whole, or are said not to be.
#[test]
fn a_recorded_run_that_was_cut_off_is_not_called_complete() {
    let mut untold = Vec::new();
    for recording in recordings("runs").iter().filter(|recording| recording.exit_code != Some(0)) {
        let whole = recording.tests();
        for (at, _) in recording.text.match_indices('\n') {
            let text = recording.text[..=at].to_owned();
            let cut = Recording { text, ..recording.clone() };
            let is_told = |run: &TestRun| {
                !run.complete || whole.iter().any(|whole| whole.complete && whole.counts == run.counts)
            };
            if !cut.tests().iter().all(is_told) {
                untold.push(format!("{} at {at} of {}", recording.name, recording.text.len()));
            }
        }
    }
    // go's events have no last one: after a package, no other may have been to come.
    assert_eq!(untold, ["go_json at 3976 of 5027"]);
}

#[test]
fn a_recorded_run_is_the_same_in_colour() {
    // No document has colours in it.
    for recording in recordings("runs").iter().filter(|recording| !recording.text.contains("<testsuite")) {
        let coloured = |line: &str| match line.split_once(' ') {
            Some((first, rest)) => format!("\u{1b}[1;31m{first}\u{1b}[0m \u{1b}[38;5;8m{rest}\u{1b}[m\n"),
            None => format!("\u{1b}[32m{line}\u{1b}[39m\n"),
        };
        let text: String = recording.text.lines().map(coloured).collect();
        let in_colour = Recording { text, ..recording.clone() };
        let told = |recording: &Recording| {
            let runs = recording.tests();
            runs.into_iter()
                .map(|run| (run.framework, run.counts, run.failing, run.complete))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(&in_colour), told(recording), "{}", recording.name);
    }
}

#[test]
fn recorded_failures_are_explained_as_recorded() {
    let all = recordings("errors");
    assert!(all.len() >= 40, "only {} recordings", all.len());
    let project = tempfile::tempdir().unwrap();
    let root = project.path().join("project");
    snapshots(|| {
        for recording in &all {
            // What is named is there.
            let _ = fs::remove_dir_all(&root);
            fs::create_dir_all(&root).unwrap();
            let text = recording.text.replace("/home/dev/project", root.to_str().unwrap());
            let words = text.split(|c: char| c.is_whitespace() || "()\"',:[]".contains(c));
            for file in
                words.filter(|word| word.contains('.') && !word.starts_with('/') && !word.contains(".."))
            {
                let file = root.join(file);
                let _ = file.parent().map(fs::create_dir_all);
                let _ = fs::write(file, "");
            }
            for file in ["B.java", "src/Main.java", "src/main/java/com/example/App.java"] {
                let file = root.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, "").unwrap();
            }
            let entry = entry(&recording.command, recording.exit_code, &text, root.to_str().unwrap());
            let told = serde_json::json!({ "outcome": entry.outcome, "hides": entry.hides, "first_error": entry.first_error });
            let told = serde_json::to_string_pretty(&told)
                .unwrap()
                .replace(root.to_str().unwrap(), "/home/dev/project");
            insta::assert_snapshot!(
                format!("errors__{}", recording.name),
                format!("$ {}\n{told}\n", recording.command)
            );
        }
    });
}

#[test]
fn a_hundred_texts_about_tests_are_no_test_run() {
    let (plain, shown) = (talk("plain"), talk("shown"));
    assert!(plain.len() + shown.len() >= 100, "only {} texts", plain.len() + shown.len());
    for text in plain.iter().chain(&shown) {
        let found = text.tests();
        // Where tests ran beside a text, nothing of the text is counted.
        let is_counted = |run: &TestRun| run.counts.is_some() || run.complete;
        assert!(!found.iter().any(is_counted), "{}: {found:?}", text.name);
    }
}

#[test]
fn texts_without_a_summary_are_none_whatever_printed_them() {
    for text in talk("plain") {
        let scripts = ["npm test", "bash -lc 'make test'", "./scripts/test 2>&1 | tail -50"];
        for command in scripts.iter().chain(&ANYTHING) {
            for exit_code in [Some(0), Some(1), None] {
                assert_eq!(read(command, exit_code, &text.text), [], "{} from `{command}`", text.name);
            }
        }
    }
}

/// Programs that may run tests, and may print anything.
const ANYTHING: [&str; 4] = ["./x", "python3 a.py", "cd web && node a.mjs", "make all"];

#[test]
fn a_summary_alone_is_no_test_run_of_a_program_that_may_print_anything() {
    for text in talk("shown") {
        for command in ANYTHING {
            assert_eq!(read(command, text.exit_code, &text.text), [], "{} from `{command}`", text.name);
        }
    }
}

#[test]
fn whole_test_runs_that_are_shown_are_none() {
    let shown = [
        "cat test.log",
        "git show HEAD:test.log",
        "grep -n . test.log",
        "sed -n 1,500p test.log",
        "curl -s localhost/log",
        "docker logs tests",
        "bash -lc 'less test.log'",
        "./show-log.sh",
        "python3 print_results.py",
        "python3 -c 'print(open(1).read())'",
        "node -e 'show()'",
        "npm run logs",
    ];
    for recording in recordings("runs") {
        for command in shown {
            let found = read(command, recording.exit_code, &recording.text);
            assert_eq!(found, [], "{} by `{command}`", recording.name);
        }
    }
}

/// A failure of tests is one whatever hides the exit code, and no success is read out of a hidden one.
#[test]
fn a_red_summary_is_a_failure_and_a_hidden_exit_code_is_not_known() {
    for recording in
        recordings("runs").iter().filter(|recording| recording.tests().iter().any(TestRun::is_red))
    {
        assert_eq!(
            recording.entry("/home/dev/project").outcome,
            CommandOutcome::Failed,
            "{}",
            recording.name
        );
    }
    let entry = entry("pytest -q 2>&1 | tail -3", Some(0), "3 passed in 0.1s\n", "/w");
    assert_eq!(
        (entry.outcome, entry.exit_of.as_deref(), entry.hides.as_slice()),
        (CommandOutcome::Unknown, Some("tail"), &["pytest".to_owned()][..])
    );
    assert!(entry.tests[0].is_green());
}

/// What a hostile program may print: openings without an end, in every format.
const OPENINGS: [&str; 24] = [
    "<",
    "<testsuite ",
    "<!--",
    "<![CDATA[",
    "<testcase name=\"",
    "\u{1b}[",
    "\u{1b}]8;;",
    "\r",
    "(",
    ": ",
    "1:",
    ":1",
    "a.rs:1:1: error: ",
    "\tat a.b(",
    "failures:\n",
    "running 1 tests\n",
    "E  \n",
    "--- FAIL: ",
    "1..9\nok 1\n",
    "  1) a\n",
    "Summary [",
    "=== ",
    "ok 1 - a\n",
    "Traceback (most recent call last):\n",
];

#[test]
fn a_long_output_is_read_in_a_fixed_number_of_passes() {
    for opening in OPENINGS {
        let text = opening.repeat(100_000 / opening.len());
        for command in ["npm test", "cargo test", "pytest", "./x", "npm run build", "make | tail"] {
            HANDED_OUT.set(0);
            read(command, Some(1), &text);
            assert!(HANDED_OUT.get() <= 14 * (text.len() + 1), "{opening:?}: {} bytes", HANDED_OUT.get());
        }
    }
}

/// Quadratic work on this would not end today.
#[test]
fn a_line_without_end_is_read_to_its_end() {
    for opening in ["<a ", "<", "\"=", "' ", "bash -c '", "$(", ";"] {
        let text = opening.repeat(4_000_000 / opening.len());
        read("npm test", Some(0), &text);
        read(&text, Some(0), "");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(
        command in prop::sample::select(vec!["npm test", "cargo test", "pytest", "jest", "go test", "node --test", "bats a", "./x"]),
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        code in prop::option::of(any::<i64>()),
    ) {
        let text = String::from_utf8_lossy(&bytes);
        for counts in read(command, code, &text).iter().filter_map(|run| run.counts) {
            prop_assert_eq!(counts.total, counts.passed.saturating_add(counts.failed).saturating_add(counts.skipped));
        }
    }

    #[test]
    fn no_command_makes_the_shell_reader_panic(command in any::<String>(), parts in prop::collection::vec(
        prop::sample::select(vec!["bash -lc", "for i in 1", "{", "`", "$'", "'", "\"", "|", "&&", ">", "2>&1", "<<EOF", "\n", "$(", ")", "npx", "timeout", "cargo test", "\\"]), 0..20,
    )) {
        read(&command, Some(0), "");
        read(&parts.join(" "), Some(0), "");
    }

    #[test]
    fn damage_to_a_recording_makes_no_reader_panic(
        which in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
    ) {
        let all = recordings("runs");
        let recording = which.get(&all);
        let text = recording.text.as_bytes();
        if !text.is_empty() {
            let (from, to) = (from.index(text.len()), to.index(text.len()));
            let damaged = [&text[..from.min(to)], &text[from.max(to)..]].concat();
            let damaged = String::from_utf8_lossy(&damaged);
            for run in read(&recording.command, recording.exit_code, &damaged).iter().chain(&read(&recording.command, Some(1), &damaged)) {
                prop_assert!(run.failing.len() <= 50);
            }
        }
    }
}
