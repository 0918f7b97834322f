//! Counts that a command had written to files as JUnit's XML, and did not print.
//!
//! Anybody may have put anything where a report should be. Only plain files of the checkout count, with
//! no link on the way, and only those written while the command ran: an older one is of other tests.

use std::collections::HashSet;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::detect::{Detected, Runs, Start, detect};
use super::dialect::REPORTS;
use super::forms::{any_set, may_stop_early};
use super::kept::CLOCKS_APART_MS;
use super::places::{self, Origin, Walk, is_known, moved};
use super::tally::Tally;
use super::{Framework, Reading, TestRun, junit};
use crate::evidence::refused::without_refused;
use crate::evidence::shell::{Command, Step};
use crate::host::beneath::{self, BeneathError};
use crate::model::Timestamp;

/// Of all reports of one command.
const MOST_BYTES: u64 = 16 << 20;
const MOST_FILES: usize = 500;
/// What is looked at to find them, in folders that lie no deeper than this.
const MOST_ENTRIES: usize = 20_000;
const DEEPEST: usize = 32;
/// Of names that are no plain file, each of which takes a moment to be sure of.
const MOST_REFUSALS: usize = 64;

/// Options whose value has the file of a report, where that is one of several: `mochaFile=report.xml`.
const OF_REPORTER: [&str; 3] = ["--reporter-options", "--reporter-option", "-O"];
/// No line without one of these words has a report.
const MARKS: [&str; 4] = ["junit", "mochaFile=", "mvn", "gradle"];

/// The reports of a command that ran from one moment to another.
pub(super) struct Reports<'a> {
    origin: &'a Origin,
    began: Timestamp,
    ended: Timestamp,
    bytes_left: u64,
    entries_left: usize,
    refusals_left: usize,
    /// Those that were read.
    taken: HashSet<PathBuf>,
    /// Whether one would be of several starts: the last of them wrote it.
    is_shared: bool,
}

/// There is more than is read, or a report that is broken: what ran is not known from it.
struct Unclear;

impl<'a> Reports<'a> {
    pub(super) fn new(origin: &'a Origin, began: Timestamp, ended: Timestamp) -> Self {
        Self {
            origin,
            began,
            ended,
            bytes_left: MOST_BYTES,
            entries_left: MOST_ENTRIES,
            refusals_left: MOST_REFUSALS,
            taken: HashSet::new(),
            is_shared: false,
        }
    }

    /// The `runs` of a command, by what it printed, and by reports where it printed no counts.
    pub(super) fn added_to(
        mut self,
        mut runs: Vec<TestRun>,
        command: &str,
        exit_code: Option<i64>,
        text: &str,
    ) -> Vec<TestRun> {
        let line = without_refused(command, text);
        // What began when it ended was read at once, or nobody knows when it ran.
        let is_known = self.began < self.ended && !self.origin.root.is_empty();
        if !is_known || !MARKS.iter().any(|mark| line.contains(mark)) {
            return runs;
        }
        let Some(detected) = detect(&line) else { return runs };
        // What scripts printed may be of any start, so of one that has a report as well.
        let is_anyones = |run: &TestRun| run.counts.is_some() && run.scope.script().is_some();
        if detected.starts.len() > 1 && runs.iter().any(is_anyones) {
            return runs;
        }
        let counted: HashSet<usize> =
            runs.iter().filter(|run| run.counts.is_some()).map(|run| run.step).collect();
        let Some(Found { tallies, is_all }) = self.find(&detected, &line, &counted) else { return runs };
        // What was seen without counts may be of those that have no report.
        if is_all {
            runs.retain(|run| run.counts.is_some());
        }
        let last = detected.starts.last().map(|start| start.at);
        // Nothing stands between the tests and what they wrote.
        let bare = Detected { pipes: Vec::new(), beside: false, hidden: false, ..detected.clone() };
        let reading = Reading { detected: &bare, command: &line, exit_code, text: "" };
        runs.extend(tallies.into_iter().map(|(start, tally)| {
            let (framework, scope) = match start.runs {
                Runs::Framework(framework) => (framework, start.scope.clone()),
                Runs::Any | Runs::Perhaps => (Framework::Junit, start.scope.part(Framework::Junit, 0)),
            };
            reading.run(framework, start, &scope, tally, last == Some(start.at))
        }));
        runs.sort_by_key(|run| run.step);
        runs
    }

    /// What reports say of the starts that are not among `counted`; `None` where it cannot be told which
    /// report is whose.
    fn find<'d>(
        &mut self,
        detected: &'d Detected,
        line: &str,
        counted: &HashSet<usize>,
    ) -> Option<Found<'d>> {
        let mut found = Found { tallies: Vec::new(), is_all: true };
        let mut walk = Walk::default();
        let mut starts = detected.starts.iter().peekable();
        for (at, step) in Command::parse(line).steps.iter().enumerate() {
            walk.follow(step);
            let Some(start) = starts.next_if(|start| start.at == at) else { continue };
            if counted.contains(&at) {
                continue;
            }
            // It did not begin, nor did what waits for it.
            if start.waits && found.tallies.last().is_some_and(|(_, tally)| tally.ends_red()) {
                break;
            }
            match self.tally(self.place(step, &walk.here), step.args()) {
                Some(_) if start.repeats || self.is_shared => return None,
                Some(tally) => found.tallies.push((start, tally)),
                None if matches!(start.runs, Runs::Framework(_)) => return None,
                None => found.is_all = false,
            }
        }
        Some(found).filter(|found| !found.tallies.is_empty())
    }

    /// Where a step leaves its reports, as far as it is told.
    fn place(&self, step: &Step, here: &str) -> Place {
        let below = |path: &str| self.below(&moved(here, path));
        let tool = match step.program() {
            "mvn" | "mvnw" => Some(Tool::Maven),
            "gradle" | "gradlew" => Some(Tool::Gradle),
            _ => None,
        };
        if let Some((tool, folder)) = tool.zip(below("")) {
            return Place::Below(folder, tool);
        }
        let file = value(step.args(), &REPORTS).or_else(|| file_of_mocha(step.args()));
        // What ctest names is in the directory that it works in.
        let there =
            value(step.args(), &["--test-dir"]).zip(file.as_deref()).map(|(dir, file)| moved(&dir, file));
        Place::OneOf(there.into_iter().chain(file).filter_map(|file| below(&file)).collect())
    }

    /// A path as it is named from the root of the checkout, where it is below that.
    fn below(&self, path: &str) -> Option<PathBuf> {
        let mut found = self.origin.below(path);
        if found.starts_with('/')
            && let Some(root) = places::other_name(&self.origin.root, &found)
        {
            found = self.origin.called(root).below(path);
        }
        (is_known(&found) && !found.starts_with('/')).then(|| PathBuf::from(found))
    }

    /// What the reports of one start say; `None` where there is none of them.
    fn tally(&mut self, place: Place, args: &[String]) -> Option<Tally> {
        let unclear = || Tally { unknown: true, cut: true, ..Tally::default() };
        let (files, most, stops_early) = match place {
            Place::OneOf(files) => (files, 1, may_stop_early(args)),
            Place::Below(folder, tool) => {
                let root = Path::new(&self.origin.root);
                let Ok(files) = tool.reports(root, &folder, &mut self.entries_left) else {
                    return Some(unclear());
                };
                let stops_early = tool.stops_early(args, &folder, &files);
                (files, usize::MAX, stops_early)
            }
        };
        let mut found = Vec::new();
        for file in files {
            match self.read(file) {
                Ok(tally) => found.extend(tally),
                Err(Unclear) => return Some(unclear()),
            }
            if found.len() == most {
                break;
            }
        }
        if found.is_empty() {
            return None;
        }
        // However many files they are, it is one run.
        let mut tally = Tally { more: 0, last_is_red: None, ..Tally::sum(found) };
        // A failure may have kept other tests from running. A report does not say so.
        tally.cut |= tally.failed > 0 && stops_early;
        Some(tally)
    }

    /// What one report says; `None` where there is none that the command wrote.
    fn read(&mut self, path: PathBuf) -> Result<Option<Tally>, Unclear> {
        let file = match beneath::open(Path::new(&self.origin.root), &path) {
            Ok(file) => file,
            Err(BeneathError::NotAFile) => {
                self.refusals_left = self.refusals_left.checked_sub(1).ok_or(Unclear)?;
                return Ok(None);
            }
            Err(_) => return Ok(None),
        };
        let Ok(found) = file.metadata() else { return Ok(None) };
        let written = found.mtime().saturating_mul(1000).saturating_add(found.mtime_nsec() / 1_000_000);
        let (from, to) = (self.began.as_millis(), self.ended.as_millis());
        if written < from.saturating_sub(CLOCKS_APART_MS) || written > to.saturating_add(CLOCKS_APART_MS) {
            return Ok(None);
        }
        self.is_shared |= !self.taken.insert(path);
        if self.taken.len() > MOST_FILES {
            return Err(Unclear);
        }
        let mut bytes = Vec::new();
        file.take(self.bytes_left + 1).read_to_end(&mut bytes).map_err(|_| Unclear)?;
        self.bytes_left = self.bytes_left.checked_sub(bytes.len() as u64).ok_or(Unclear)?;
        let tally = junit::read(&String::from_utf8_lossy(&bytes));
        tally.filter(|tally| !tally.cut).map(Some).ok_or(Unclear)
    }
}

/// What was found of the starts of a command.
struct Found<'d> {
    tallies: Vec<(&'d Start, Tally)>,
    /// Whether all that ran without counts is among them.
    is_all: bool,
}

enum Place {
    /// The first that there is.
    OneOf(Vec<PathBuf>),
    /// Wherever a tool puts them below a folder.
    Below(PathBuf, Tool),
}

#[derive(Clone, Copy)]
enum Tool {
    Maven,
    Gradle,
}

impl Tool {
    /// All its reports below a folder, of modules as well, in the order of their names.
    fn reports(self, root: &Path, folder: &Path, left: &mut usize) -> Result<Vec<PathBuf>, Unclear> {
        let (mut found, mut open) = (Vec::new(), vec![(folder.to_owned(), 0)]);
        while let Some((folder, depth)) = open.pop() {
            let entries = match beneath::list(root, &folder, *left + 1) {
                Ok(entries) => entries,
                Err(BeneathError::Missing) => continue,
                Err(_) => return Err(Unclear),
            };
            *left = left.checked_sub(entries.len()).ok_or(Unclear)?;
            for (name, kind) in entries {
                let path = folder.join(name);
                match kind {
                    FileType::Directory if self.may_hold(&path) => {
                        if depth == DEEPEST {
                            return Err(Unclear);
                        }
                        open.push((path, depth + 1));
                    }
                    FileType::RegularFile if self.is_report(&path) => found.push(path),
                    _ => {}
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// Whether reports may be in a folder, or below it.
    fn may_hold(self, folder: &Path) -> bool {
        match (self, last_names(folder)) {
            (Self::Maven, [_, "target", name]) => matches!(name, "surefire-reports" | "failsafe-reports"),
            (Self::Gradle, [_, "build", name]) => name == "test-results",
            (Self::Gradle, ["build", "test-results", _]) => true,
            (Self::Maven, ["target", ..]) | (Self::Gradle, ["build", ..] | ["test-results", ..]) => false,
            // Sources, and what is no module of a project.
            (_, [_, "src", "main" | "test"] | [_, _, ".git" | ".gradle" | "node_modules"]) => false,
            _ => true,
        }
    }

    /// Whether a failure ends it before tests that are left: those of other modules, unless told to go on.
    fn stops_early(self, args: &[String], folder: &Path, reports: &[PathBuf]) -> bool {
        let (own, at_once, on): (_, &[&str], &[&str]) = match self {
            Self::Maven => (
                folder.join("target"),
                &["-Dsurefire.skipAfterFailureCount", "-Dfailsafe.skipAfterFailureCount"],
                &["-fn", "--fail-never", "-Dmaven.test.failure.ignore"],
            ),
            Self::Gradle => (folder.join("build"), &["--fail-fast"], &["--continue"]),
        };
        let any_others = reports.iter().any(|report| !report.starts_with(&own));
        any_set(at_once, args) || (any_others && !any_set(on, args))
    }

    fn is_report(self, file: &Path) -> bool {
        let is_xml = file.extension().is_some_and(|kind| kind == "xml");
        let folder = file.parent().map_or(["", "", ""], last_names);
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match (self, folder) {
            (Self::Maven, [_, "target", "surefire-reports" | "failsafe-reports"]) => {
                is_xml && name.starts_with("TEST-")
            }
            (Self::Gradle, ["build", "test-results", _]) => is_xml,
            _ => false,
        }
    }
}

/// The last three names of a path; an empty one where it has fewer.
fn last_names(path: &Path) -> [&str; 3] {
    let mut names = path.iter().rev().map(|name| name.to_str().unwrap_or_default());
    let mut next = || names.next().unwrap_or_default();
    let (last, second, third) = (next(), next(), next());
    [third, second, last]
}

/// The value of the last of these options, beside it or after `=`.
fn value(args: &[String], options: &[&str]) -> Option<String> {
    let beside = |at: usize| args.get(at + 1).filter(|_| options.contains(&args[at].as_str()));
    let own = |arg: &'_ String| {
        arg.split_once('=').filter(|(key, _)| options.contains(key)).map(|(_, value)| value.to_owned())
    };
    (0..args.len()).rev().find_map(|at| own(&args[at]).or_else(|| beside(at).cloned()))
}

fn file_of_mocha(args: &[String]) -> Option<String> {
    let values = value(args, &OF_REPORTER)?;
    values.split(',').find_map(|one| one.strip_prefix("mochaFile=")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, UNIX_EPOCH};

    use super::super::{Changed, TestResults, Tests};
    use super::*;
    use crate::host::clock;
    use crate::model::Event;

    const RED: &str = r#"<testsuite><testcase name="a"/><testcase name="b"><error/></testcase></testsuite>"#;
    const GREEN: &str = r#"<testsuite><testcase name="a"/><testcase name="b"/></testsuite>"#;

    /// A command: its words, its exit code, what it prints, and the reports that it writes.
    type Ran<'a> = (&'a str, i64, &'a str, &'a [(&'a str, &'a str)]);

    fn write(dir: &Path, name: &str, text: &str, at: u64) {
        fs::create_dir_all(dir.join(name).parent().unwrap()).unwrap();
        fs::write(dir.join(name), text).unwrap();
        let file = File::options().append(true).open(dir.join(name)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_millis(at)).unwrap();
    }

    /// Commands, each of a second, as they are read while they run, or all in the end.
    fn results(commands: &[Ran<'_>], in_the_end: bool) -> Option<TestResults> {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        let mut tests = Tests::new(Origin::new(root, root));
        let write_all = |at: usize| {
            let files = commands[at].3.iter();
            files.for_each(|(name, text)| write(dir.path(), name, text, 1000 * at as u64 + 1500));
        };
        if in_the_end {
            (0..commands.len()).for_each(write_all);
        }
        for (at, (line, code, text, _)) in commands.iter().enumerate() {
            let (item, command) = (at.to_string(), (*line).to_owned());
            let began = Timestamp::from_millis(1000 * at as i64 + 1000);
            tests.note_event(&Event::CommandStarted { item: item.clone(), command }, began);
            if !in_the_end {
                write_all(at);
            }
            let ended = Timestamp::from_millis(began.as_millis() + 900);
            tests.note_command(&item, line, Some(*code), text, ended);
        }
        tests.finish(Changed::Unknown)
    }

    /// Passed and failed as far as known, and whether that is all, whenever it is read.
    #[track_caller]
    fn check(commands: &[Ran<'_>], expected: (Option<u64>, Option<u64>, bool)) {
        for in_the_end in [false, true] {
            let told = results(commands, in_the_end).map(|told| (told.passed, told.failed, told.complete));
            assert_eq!(told.unwrap_or_default(), expected, "{commands:?} {in_the_end}");
        }
    }

    const NOTHING: (Option<u64>, Option<u64>, bool) = (None, None, false);

    #[test]
    fn each_start_has_its_own_report() {
        let (a, b) = ("pytest --junitxml=a.xml a >/dev/null", "pytest --junitxml b.xml b >/dev/null");
        let both: &[(&str, &str)] = &[("a.xml", RED), ("b.xml", GREEN)];
        check(&[(&format!("{a}; {b}"), 0, "", both)], (Some(3), Some(1), true));
        // What waits for tests that failed did not begin.
        check(&[(&format!("{a} && {b}"), 1, "", &both[..1])], (Some(1), Some(1), true));
        check(&[(&format!("{a}; {b}"), 1, "", &both[..1])], NOTHING);
        // The last one wrote it.
        let same = a.replace("a.xml", "b.xml");
        check(&[(&format!("{same}; {b}"), 0, "", &both[1..])], NOTHING);
        check(
            &[(
                "cd web && mvn test; cd .. && mvn test",
                0,
                "",
                &[("web/target/surefire-reports/TEST-a.xml", RED)],
            )],
            NOTHING,
        );
        check(&[("for i in 1 2; do pytest --junitxml=a.xml; done >/dev/null", 0, "", both)], NOTHING);
        // What else ran printed what it came to.
        let printed = "running 1 test\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        check(&[(&format!("cargo test; {b}"), 0, printed, both)], (Some(3), Some(0), true));
        // It may be what the report says as well.
        let printed = "==== 2 passed in 0.01s ====\n";
        for line in ["make check; tox -- --junitxml=b.xml", "pytest --junitxml=b.xml && make check"] {
            check(&[(line, 0, printed, both)], (Some(2), Some(0), true));
        }
    }

    #[test]
    fn a_report_is_of_the_command_that_wrote_it() {
        let line = "ctest --output-junit r.xml";
        let (red, green) = (&[("r.xml", RED)], &[("r.xml", GREEN)]);
        check(&[(line, 8, "", red), (line, 0, "", green)], (Some(2), Some(0), true));
        check(&[(line, 8, "", red), ("make", 0, "", &[])], (Some(1), Some(1), true));
        check(&[("make", 0, "", red), (line, 0, "", &[])], NOTHING);
        check(
            &[("ctest --test-dir out --output-junit r.xml", 8, "", &[("out/r.xml", RED)])],
            (Some(1), Some(1), true),
        );
        check(
            &[("mocha -R mocha-junit-reporter -O mochaFile=out/r.xml", 1, "", &[("out/r.xml", RED)])],
            (Some(1), Some(1), true),
        );
        check(&[("phpunit --log-junit r.xml", 0, "", green)], (Some(2), Some(0), true));
        // It failed of something that is no test.
        check(&[(line, 8, "", green)], (Some(2), Some(0), false));
    }

    /// By what it prints one time, and by its report another.
    #[test]
    fn the_same_script_ran_the_same_tests_however_they_are_known() {
        let (line, files): (&str, &[(&str, &str)]) = ("tox -- --junitxml=r.xml", &[("r.xml", GREEN)]);
        let quiet = format!("{line} >/dev/null");
        let printed = "==== 1 failed, 1 passed in 0.01s ====\n";
        check(&[(line, 1, printed, files), (&quiet, 0, "", files)], (Some(2), Some(0), true));
        check(&[(&quiet, 0, "", files), (line, 1, printed, &[])], (Some(1), Some(1), true));
    }

    #[test]
    fn where_times_are_not_known_nothing_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        write(dir.path(), "r.xml", RED, 0);
        let mut tests = Tests::new(Origin::new(root, root));
        let (line, at) = ("ctest --output-junit r.xml", Timestamp::from_millis(0));
        let (item, command) = ("1".to_owned(), line.to_owned());
        tests.note_event(&Event::CommandStarted { item, command }, at);
        tests.note_command("1", line, Some(8), "", at);
        tests.note_command("2", line, Some(8), "", Timestamp::from_millis(500));
        assert_eq!(tests.finish(Changed::Unknown), None);
    }

    #[test]
    fn a_part_of_what_was_printed_does_not_make_a_report_one() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        write(dir.path(), "r.xml", RED, 500);
        let mut tests = Tests::new(Origin::new(root, root));
        let line = "ctest --output-junit r.xml";
        tests.note_only_started("1", line, Timestamp::from_millis(400));
        tests.note_partly_seen("1", line, Some(8), "...", Timestamp::from_millis(600));
        let told = tests.finish(Changed::Unknown).unwrap();
        assert_eq!((told.failed, told.complete), (Some(1), true));
    }

    /// Which of them wrote what cannot be told.
    #[test]
    fn of_commands_that_run_at_the_same_time_no_report_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        write(dir.path(), "r.xml", RED, 600);
        let line = "ctest --output-junit r.xml";
        // Each begins where it is first named, and ends where it is again.
        for (order, expected) in [("1122", Some(1)), ("1212", None), ("1221", None), ("2112", None)] {
            let mut tests = Tests::new(Origin::new(root, root));
            for (nth, item) in order.chars().enumerate() {
                let at = Timestamp::from_millis(400 + 200 * nth as i64);
                let (command, item) = (if item == '1' { line } else { "make" }, item.to_string());
                if order.find(&item) == Some(nth) {
                    tests.note_event(&Event::CommandStarted { item, command: command.to_owned() }, at);
                } else {
                    tests.note_command(&item, command, Some(8), "", at);
                }
            }
            let failed = tests.finish(Changed::Unknown).and_then(|told| told.failed);
            assert_eq!(failed, expected, "{order}");
        }
    }

    #[test]
    fn where_a_failure_ends_the_tests_others_may_be_left() {
        let files: &[(&str, &str)] = &[
            ("r.xml", RED),
            ("target/surefire-reports/TEST-a.xml", RED),
            ("build/test-results/test/a.xml", RED),
        ];
        let modules: &[(&str, &str)] =
            &[("a/target/surefire-reports/TEST-a.xml", RED), ("a/build/test-results/test/a.xml", RED)];
        let green: &[(&str, &str)] = &[("r.xml", GREEN), ("a/target/surefire-reports/TEST-a.xml", GREEN)];
        for (line, files, complete) in [
            ("tox -- -x --junitxml=r.xml", files, false),
            ("tox -- -qx --junitxml=r.xml", files, false),
            ("tox -- --maxfail=0 --junitxml=r.xml", files, true),
            ("ctest --stop-on-failure --output-junit r.xml", files, false),
            ("phpunit --stop-on-failure --log-junit r.xml", files, false),
            ("phpunit --log-junit r.xml", files, true),
            ("mvn test", files, true),
            ("mvn -Dsurefire.skipAfterFailureCount=1 test", files, false),
            ("mvn test", modules, false),
            ("mvn -fae test", modules, false),
            ("mvn --fail-never test", modules, true),
            ("gradle test -x lint", files, true),
            ("gradle test", modules, false),
            ("gradle test --continue", modules, true),
        ] {
            check(&[(line, 1, "", files)], (Some(1), Some(1), complete));
        }
        check(&[("tox -- -x --junitxml=r.xml", 0, "", green)], (Some(2), Some(0), true));
        check(&[("mvn test", 0, "", green)], (Some(2), Some(0), true));
    }

    #[test]
    fn all_folders_of_modules_are_looked_at() {
        let deep = |depth: usize| format!("{}target/surefire-reports/TEST-a.xml", "a/".repeat(depth));
        for folder in ["src", "src/it/web", ".web", "main", "test/src"] {
            let name = format!("{folder}/target/surefire-reports/TEST-a.xml");
            check(&[("mvn test", 0, "", &[(&name, GREEN)])], (Some(2), Some(0), true));
        }
        for folder in ["src/main", "src/test", "web/src/test/a", "node_modules/a", ".git"] {
            let name = format!("{folder}/target/surefire-reports/TEST-a.xml");
            check(&[("mvn test", 0, "", &[(&name, GREEN)])], NOTHING);
        }
        check(&[("mvn test", 0, "", &[(&deep(DEEPEST - 2), GREEN)])], (Some(2), Some(0), true));
        let here = "target/surefire-reports/TEST-b.xml";
        check(&[("mvn test", 0, "", &[(&deep(DEEPEST - 1), GREEN), (here, GREEN)])], NOTHING);
    }

    /// Whoever fills folders with what is no report makes nobody wait.
    #[test]
    fn many_files_of_others_cost_little() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        write(dir.path(), "target/surefire-reports/TEST-0.xml", GREEN, 500);
        let name = |at: usize| dir.path().join(format!("target/surefire-reports/TEST-{at}.xml"));
        (1..5000).for_each(|at| fs::hard_link(name(0), name(at)).unwrap());
        let line = "mvn test; ".repeat(50);
        let mut tests = Tests::new(Origin::new(root, root));
        tests.note_only_started("1", &line, Timestamp::from_millis(400));
        let began = clock::monotonic();
        tests.note_command("1", &line, Some(0), "", Timestamp::from_millis(600));
        let took = clock::monotonic() - began;
        assert!(took < Duration::from_secs(15), "{took:?}");
        assert_eq!(tests.finish(Changed::Unknown).and_then(|told| told.passed), None);
    }

    #[test]
    fn more_reports_than_are_read_have_no_counts() {
        let names: Vec<String> =
            (0..=MOST_FILES).map(|at| format!("build/test-results/test/{at}.xml")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), GREEN)).collect();
        check(&[("gradle test", 0, "", &files[1..])], (Some(2 * MOST_FILES as u64), Some(0), true));
        check(&[("gradle test", 0, "", &files)], NOTHING);
    }
}
