//! Every recorded output, read as tests and as errors: one snapshot a recording.
//!
//! Beside them texts that talk about tests without being a test run, and bytes
//! that mean nothing.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::errors::Errors;
use super::glimpses::after;
use super::lines::HANDED_OUT;
use super::tests::{Origin, TestRun, read, runs_tests};

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
    settings.set_snapshot_path("../../tests/corpus/snapshots");
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

/// Whether a file is in the project that failures were recorded in. Of Java, which names no directories, it
/// has these and no library; of anything else all that is named.
fn is_in_project(_: &str, file: &str) -> bool {
    const OF_JAVA: [&str; 5] = [
        "B.java",
        "src/Main.java",
        "src/main/java/com/example/App.java",
        "src/main/java/com/example/shop/Prices.java",
        "src/main/java/com/example/shop/Shop.java",
    ];
    !file.ends_with(".java") || OF_JAVA.contains(&file)
}

#[test]
fn recorded_failures_are_explained_as_recorded() {
    let all = recordings("errors");
    assert!(all.len() >= 40, "only {} recordings", all.len());
    snapshots(|| {
        for recording in &all {
            let root = "/home/dev/project";
            let mut errors = Errors::where_some_are_there(root, Origin::new(root, root), is_in_project);
            errors.note_command(&recording.command, recording.exit_code, &recording.text);
            let told = match errors.finish(None) {
                Some(evidence) => serde_json::to_string_pretty(&evidence).unwrap(),
                None => "nothing".to_owned(),
            };
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
        assert!(found.is_empty() || runs_tests(&text.command), "{}: {found:?}", text.name);
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

#[test]
fn a_program_that_may_be_anything_is_believed_as_the_runner_or_not_at_all() {
    let mut believed = 0;
    for recording in recordings("runs") {
        let own = recording.tests();
        for run in read("./x", recording.exit_code, &recording.text) {
            believed += 1;
            assert!(own.iter().any(|own| own.counts == run.counts), "{}: {run:?}", recording.name);
        }
    }
    assert!(believed >= 20, "only {believed}");
}

#[test]
fn the_texts_that_are_shown_would_be_summaries_of_a_test_run() {
    let believed =
        talk("shown").iter().filter(|text| !read("npm test", Some(1), &text.text).is_empty()).count();
    assert!(believed >= 25, "only {believed}: the commands were not what they were turned down for");
}

/// All frameworks for each of the questions that an exit code of 0 leaves open.
const MOST_PASSES: usize = 90;

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
        for command in ["npm test", "cargo test", "pytest", "./x"] {
            HANDED_OUT.set(0);
            read(command, Some(1), &text);
            assert!(HANDED_OUT.get() <= 11 * (text.len() + 1), "{opening:?}: {} bytes", HANDED_OUT.get());
        }
        HANDED_OUT.set(0);
        let mut errors =
            Errors::new("/home/dev/project", Origin::new("/home/dev/project", "/home/dev/project"));
        errors.note_command("npm run build", Some(1), &text);
        errors.finish(None);
        // Once for why it failed, and once for how it ended; its last lines for what a pipe would show of it.
        let most = 2 * (text.len() + 1) + 11 * 4096;
        assert!(HANDED_OUT.get() <= most, "{opening:?}: {} bytes", HANDED_OUT.get());
    }
}

/// Commands of which an exit code of 0 says little: their output is looked at for more.
const UNPROVEN: [&str; 6] = [
    "cargo test 2>&1 | tail -5",
    "cargo build 2>&1 | tail -3; cargo clippy | grep -c error",
    "npm test > a.log 2>&1; tail a.log",
    "npm test 2>&1 | grep Tests:",
    "pytest a; pytest b; echo $?",
    "./x | tail -3 && npx vitest run | tail -8",
];

#[test]
fn an_output_that_has_to_prove_a_success_is_read_in_a_fixed_number_of_passes() {
    let errors = || Errors::new("/home/dev/project", Origin::new("/home/dev/project", "/home/dev/project"));
    let failed = "error: test failed, to rerun pass `--lib`\nTests:       1 failed, 1 total\n";
    // As many as are told apart in one command.
    let many: String = (0..198).map(|at| format!("jest a{at}; ")).collect::<String>() + "true";
    for opening in OPENINGS {
        let text = opening.repeat(20_000 / opening.len());
        for command in UNPROVEN.into_iter().chain([many.as_str()]) {
            let mut errors = errors();
            // What is hidden in the end of a run is to be looked for as well.
            errors.note_command(command, Some(0), failed);
            HANDED_OUT.set(0);
            errors.note_command(command, Some(0), &text);
            errors.finish(None);
            let passes = HANDED_OUT.get() / (text.len() + 1);
            assert!(passes <= MOST_PASSES, "{opening:?} by `{command:.60}`: {passes}");
        }
    }
}

/// Quadratic work on so many lines would not end today.
#[test]
fn an_output_of_many_lines_that_has_to_prove_a_success_is_read_to_its_end() {
    let root = "/home/dev/project";
    for opening in ["a\n", "error: a\n"] {
        let text = opening.repeat(50_000);
        for command in &UNPROVEN[..2] {
            let mut errors = Errors::new(root, Origin::new(root, root));
            errors.note_command(command, Some(0), &text);
            errors.finish(None);
        }
    }
}

#[test]
fn an_output_of_nothing_but_line_ends_is_hardly_read() {
    let text = "\n".repeat(1_000_000);
    for (command, code) in [("python3 app.py; ./b.sh; make", 1), ("python3 app.py; ./b.sh; make | cat", 0)] {
        HANDED_OUT.set(0);
        let (_, errors) = after(&[(command, code, &text)]);
        assert_eq!(errors.is_some(), code == 1, "{command}");
        assert!(HANDED_OUT.get() <= text.len(), "`{command}`: {} bytes", HANDED_OUT.get());
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
        let mut errors = Errors::new("/home/dev/project", Origin::new("/home/dev/project", "/home/dev/project"));
        errors.note_command(command, code, &text);
        errors.finish(None);
    }

    #[test]
    fn no_command_makes_the_shell_reader_panic(command in any::<String>(), parts in prop::collection::vec(
        prop::sample::select(vec!["bash -lc", "'", "\"", "|", "&&", ">", "2>&1", "<<EOF", "\n", "$(", ")", "npx", "timeout", "cargo test", "\\"]), 0..20,
    )) {
        read(&command, Some(0), "");
        read(&parts.join(" "), Some(0), "");
    }

    #[test]
    fn no_line_of_shell_words_makes_a_reader_panic(words in prop::collection::vec(
        prop::sample::select(vec![
            "&&", "||", "|", "&", ";", "(", ")", "{", "}", "!", "for i in 1", "do", "done", "if", "then", "fi",
            "env", "nice", "time", "sudo", "exec", "exit 1", "cd .", "A=1", "A=$(", "$(", "`", "'", "\"", "$'",
            "<<EOF", "\nEOF\n", "\n", "<a", ">a", "bash -c './b || ./b -j1'", "./b", "./b -j1", "./b", "pytest",
        ]), 0..12,
    )) {
        let line = words.join(" ");
        let mut errors = Errors::new("/home/dev/project", Origin::new("/home/dev/project", "/home/dev/project"));
        for (code, text) in [(1, "Error: no\n"), (0, "built\n")] {
            read(&line, Some(code), text);
            errors.note_command(&line, Some(code), text);
        }
        errors.finish(None);
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
            for run in read(&recording.command, recording.exit_code, &damaged) {
                prop_assert!(run.failing.len() <= 50);
            }
            let mut errors = Errors::new("/home/dev/project", Origin::new("/home/dev/project", "/home/dev/project"));
            errors.note_command(&recording.command, Some(1), &damaged);
            errors.finish(None);
        }
    }
}
