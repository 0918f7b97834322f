//! What the files of a project say of the tests that run without being named.
//!
//! Only what lies on the way to the tests is read, and only its beginning. What
//! cannot be understood may say anything.

use std::path::Path;

use toml::Table;

use super::Framework;
use super::held::Held;
use super::left_alone::{LeftAlone, of_conftest};
use super::memory::Memory;
use super::packages::{self, Packages};
use super::places::{below, is_known, moved};
use super::scope::Scope;
use crate::evidence::project::{self, Unread};
use crate::evidence::shell::Command;

/// Nobody writes settings that are longer.
const LONGEST: u64 = 256 << 10;
/// Folders on the way that are looked into.
const MOST_FOLDERS: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// What leaves tests out without being asked to.
    pub(super) filters: Vec<String>,
    /// Whether folders may hold other tests than their files' names tell.
    pub(super) own_rules: bool,
    /// What is found only where it is named, in order.
    pub(super) left_alone: Vec<LeftAlone>,
    /// Whether files of other names are tests as well as `test_*.py`.
    pub(super) more_files: bool,
    /// What of the places is found where none is given; `None` where names tell.
    pub(super) found: Option<Held>,
    /// Whether a place is a package: unittest does not run what is in it.
    pub(super) packages: bool,
    /// Whether the places are those that it names, and none was asked for.
    pub(super) names_places: bool,
    /// Of cargo, what it does where no package is named.
    pub(super) unnamed: Option<Packages>,
}

/// Where to look: the root of a checkout, and what a command asked for as named from there.
pub(super) struct Way<'a> {
    pub(super) root: &'a Path,
    pub(super) directory: &'a str,
    pub(super) places: &'a [String],
    /// What was read of the same checkout before, where that still counts.
    pub(super) memory: Option<&'a Memory>,
}

impl Way<'_> {
    /// All folders from the root to the tests.
    fn folders(&self) -> Vec<String> {
        let mut folders = vec![String::new()];
        let paths = self.places.iter().map(|place| place.split("::").next().unwrap_or_default());
        for path in std::iter::once(self.directory).chain(paths).filter(|path| is_below(path)) {
            let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
            for folder in ends.map(|end| &path[..end]) {
                if folders.len() < MOST_FOLDERS && !folders.iter().any(|known| known == folder) {
                    folders.push(folder.to_owned());
                }
            }
        }
        folders
    }

    /// The text of a file of the project; `Err` where there is one that cannot be read.
    fn text(&self, folder: &str, name: &str) -> Result<Option<String>, ()> {
        project::text(self.root, folder, name, LONGEST).map_err(|Unread| ())
    }

    pub(super) fn settings(&self, framework: Framework) -> Settings {
        match framework {
            Framework::Pytest => self.of_pytest(),
            Framework::Mocha => Settings { own_rules: self.mocha_has_rules(), ..Settings::default() },
            Framework::Unittest => self.of_unittest(),
            Framework::CargoTest | Framework::Nextest => {
                let read = || packages::default_of(&self.text(self.directory, "Cargo.toml").ok()??);
                let unnamed = match self.memory {
                    Some(memory) => memory.packages.of(self.directory, read),
                    None => read(),
                };
                Settings { unnamed, ..Settings::default() }
            }
            _ => Settings::default(),
        }
    }

    fn of_pytest(&self) -> Settings {
        let mut settings = Settings::default();
        for folder in self.folders() {
            match self.ini(&folder) {
                Ok(None) => {}
                Ok(Some(ini)) => self.apply(ini, &mut settings),
                Err(()) => settings.own_rules = true,
            }
            match self.text(&folder, "conftest.py") {
                Ok(None) => {}
                Ok(Some(text)) => {
                    settings.left_alone.extend(of_conftest(&self.root.to_string_lossy(), &folder, &text));
                    if text.contains("deselect") || text.contains("items[:]") {
                        settings.filters.push("conftest.py".to_owned());
                    }
                }
                Err(()) => settings.left_alone.push(LeftAlone::Below(folder)),
            }
        }
        settings.filters.sort();
        settings.filters.dedup();
        settings.left_alone.sort();
        settings.left_alone.dedup();
        settings
    }

    fn apply(&self, ini: Ini, settings: &mut Settings) {
        let root = self.root.to_string_lossy();
        let mut others = Vec::new();
        let mut options = ini.options.into_iter();
        while let Some(mut option) = options.next() {
            if matches!(option.as_str(), "--ignore" | "--ignore-glob") {
                option = format!("{option} {}", options.next().unwrap_or_default());
            }
            match LeftAlone::by_option(&root, self.directory, &option) {
                Some(rule) => settings.left_alone.push(rule),
                None => others.push(option),
            }
        }
        let (leaves_out, finds) = Scope::new(Framework::Pytest, "", &others).as_options();
        settings.own_rules |= ini.has_rules || finds;
        settings.more_files |= ini.more_files;
        settings.filters.extend(leaves_out);
        settings.left_alone.extend(ini.folders.iter().map(|word| LeftAlone::folder(word)));
    }

    /// Where pytest looks in `directory` if it is not told: none where that is everywhere below.
    pub(super) fn test_paths(&self) -> Result<Vec<String>, ()> {
        let Some(ini) = self.ini(self.directory)? else { return Ok(Vec::new()) };
        let root = self.root.to_string_lossy();
        let is_here = |path: &String| {
            !path.contains(['?', '[']) && is_below(&below(&root, &moved(self.directory, path)))
        };
        if !ini.paths.iter().all(is_here) {
            return Err(());
        }
        let there = |path: &&String| self.root.join(self.directory).join(path).exists();
        Ok(ini.paths.iter().filter(there).cloned().collect())
    }

    fn ini(&self, folder: &str) -> Result<Option<Ini>, ()> {
        match self.memory {
            Some(memory) => memory.inis.of(folder, || self.read_ini(folder)),
            None => self.read_ini(folder),
        }
    }

    /// The settings that count in a folder: of several files the first.
    fn read_ini(&self, folder: &str) -> Result<Option<Ini>, ()> {
        for name in [
            "pytest.toml",
            ".pytest.toml",
            "pytest.ini",
            ".pytest.ini",
            "pyproject.toml",
            "tox.ini",
            "setup.cfg",
        ] {
            let Some(text) = self.text(folder, name)? else { continue };
            let found = match name {
                "pytest.ini" | ".pytest.ini" => Some(Ini::of_lines(&text, "[pytest]").unwrap_or_default()),
                "tox.ini" => Ini::of_lines(&text, "[pytest]"),
                "setup.cfg" => Ini::of_lines(&text, "[tool:pytest]"),
                _ => Ini::of_toml(&text.parse().map_err(drop)?),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Whether settings of mocha choose tests. They may be in any folder above.
    fn mocha_has_rules(&self) -> bool {
        let above = Way { places: &[], ..*self };
        let names = [
            ".mocharc.js",
            ".mocharc.cjs",
            ".mocharc.mjs",
            ".mocharc.yaml",
            ".mocharc.yml",
            ".mocharc.jsonc",
            ".mocharc.json",
        ];
        above.folders().iter().any(|folder| {
            let chooses = |text: &str| {
                let words =
                    ["spec", "ignore", "exclude", "grep", "recursive", "extension", "file", "extends"];
                let is_key = |rest: &str| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':');
                words
                    .iter()
                    .any(|word| text.match_indices(word).any(|(at, _)| is_key(&text[at + word.len()..])))
            };
            let by_file = names.iter().any(|name| match self.text(folder, name) {
                Ok(text) => text.is_some_and(|text| chooses(&text)),
                Err(()) => true,
            });
            let in_package = match self.text(folder, "package.json") {
                Ok(Some(text)) => serde_json::from_str::<serde_json::Value>(&text)
                    .map_or(true, |package| chooses(&package["mocha"].to_string())),
                Ok(None) => false,
                Err(()) => true,
            };
            by_file || in_package
        })
    }

    /// unittest looks for `test*.py` in packages below.
    fn of_unittest(&self) -> Settings {
        let mut all = Vec::new();
        let mut packages = false;
        for place in self.places {
            let mut path = self.root.join(self.directory);
            let mut found = Held::Perhaps;
            for part in place.split('.') {
                if path.join(format!("{part}.py")).is_file() {
                    found = if part.starts_with("test") { Held::Surely } else { Held::Not };
                    break;
                }
                path.push(part);
                if !path.join("__init__.py").is_file() {
                    break;
                }
            }
            packages |= path.is_dir() && found == Held::Perhaps;
            all.push(found);
        }
        let same = all.first().copied().filter(|first| all.iter().all(|found| found == first));
        Settings { found: Some(same.unwrap_or(Held::Perhaps)), packages, ..Settings::default() }
    }
}

/// What pytest is told by a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Ini {
    paths: Vec<String>,
    options: Vec<String>,
    /// Folders that it is told not to look into.
    folders: Vec<String>,
    /// Whether it is told what files are tests.
    has_rules: bool,
    /// Whether `test_*.py` are among those files.
    more_files: bool,
}

impl Ini {
    fn note(&mut self, key: &str, value: &[String]) {
        match key {
            "testpaths" => self.paths = value.iter().flat_map(|line| words(line)).collect(),
            "addopts" => self.options = value.iter().flat_map(|line| words(line)).collect(),
            "python_files" => {
                self.more_files = value.iter().flat_map(|line| words(line)).any(|word| word == "test_*.py");
                self.has_rules |= !self.more_files;
            }
            "norecursedirs" => self.folders = value.iter().flat_map(|line| words(line)).collect(),
            _ => {}
        }
    }

    /// A section of `key = value`, where a value goes on in lines that are indented.
    fn of_lines(text: &str, section: &str) -> Option<Self> {
        let mut lines = text.lines().skip_while(|line| line.trim() != section);
        lines.next()?;
        let mut values: Vec<(String, Vec<String>)> = Vec::new();
        for line in lines.take_while(|line| !line.starts_with('[')) {
            let bare = line.trim();
            if bare.starts_with(['#', ';']) {
                continue;
            }
            match (line.starts_with([' ', '\t']), values.last_mut(), bare.split_once(['=', ':'])) {
                (true, Some((_, value)), _) => value.push(bare.to_owned()),
                (_, _, Some((key, value))) => {
                    values.push((key.trim().to_owned(), vec![value.trim().to_owned()]));
                }
                _ => {}
            }
        }
        let mut ini = Self::default();
        values.iter().for_each(|(key, value)| ini.note(key, value));
        Some(ini)
    }

    fn of_toml(table: &Table) -> Option<Self> {
        let of_project = table.get("tool").and_then(|tool| tool.get("pytest"));
        let found =
            of_project.and_then(|pytest| pytest.get("ini_options")).or(of_project).or(table.get("pytest"));
        let mut ini = Self::default();
        for (key, value) in found?.as_table()? {
            let quoted = |word: &str| format!("'{word}'");
            let value = match value {
                toml::Value::Array(list) => list.iter().filter_map(|one| one.as_str()).map(quoted).collect(),
                other => vec![other.as_str().unwrap_or_default().to_owned()],
            };
            ini.note(key, &value);
        }
        Some(ini)
    }
}

/// Whether a path leads from the root to what is in it.
fn is_below(path: &str) -> bool {
    is_known(path) && !path.starts_with('/') && !path.split('/').any(|part| part == "..")
}

/// The words of a line, as a shell would see them.
fn words(line: &str) -> Vec<String> {
    let command = Command::parse(&format!("pytest {line}"));
    command.steps.first().map(|step| step.args().to_vec()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::{Changed, Origin, Tests};
    use super::*;
    use crate::model::Timestamp;

    /// A checkout with these files, and what two commands in it come to: passed and failed as far as
    /// known, and how many are told to fail.
    #[track_caller]
    fn check(
        files: &[(&str, &str)],
        runs: [(&str, u64, &[&str]); 2],
        expected: (Option<u64>, Option<u64>, usize),
    ) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let root = dir.path().to_str().unwrap();
        let mut tests = Tests::new(Origin::new(root, root));
        for (command, passed, failing) in runs {
            let (text, exit) = (printed(command, passed, failing), i64::from(!failing.is_empty()));
            tests.note_command("1", command, Some(exit), &text, Timestamp::from_millis(0));
        }
        let found = tests.finish(Changed::Unknown).unwrap();
        let told = (found.passed, found.failed, found.failed_tests.len());
        assert_eq!(told, expected, "`{}`, `{}` with {files:?}", runs[0].0, runs[1].0);
    }

    fn printed(command: &str, passed: u64, failing: &[&str]) -> String {
        let failed = failing.len() as u64;
        let list = |form: &dyn Fn(&str) -> String| failing.iter().map(|name| form(name)).collect::<String>();
        if command.contains("pytest") {
            let names = list(&|name| format!("FAILED {name} - assert 0\n"));
            format!("==== short test summary info ====\n{names}{failed} failed, {passed} passed in 0.1s\n")
        } else if command.contains("unittest") {
            let names = list(&|name| format!("FAIL: {name}\n"));
            let end = if failed > 0 { format!("FAILED (failures={failed})") } else { "OK".to_owned() };
            format!("{names}{}\nRan {} tests in 0.1s\n\n{end}\n", "-".repeat(70), passed + failed)
        } else if command.contains("mocha") {
            let names = list(&|name| format!("  1) {name}:\n"));
            format!("  {passed} passing (1ms)\n  {failed} failing\n\n{names}")
        } else {
            let names = list(&|name| format!("not ok 1 - {name}\n"));
            let (total, end) = (passed + failed, "cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 1");
            format!("{names}# tests {total}\n# suites 0\n# pass {passed}\n# fail {failed}\n# {end}\n")
        }
    }

    const API: &[&str] = &["api/test_api.py::test_api"];
    const SLOW: &[&str] = &["tests/test_t.py::test_slow"];
    const UNKNOWN: (Option<u64>, Option<u64>, usize) = (None, None, 1);

    #[test]
    fn pytest_without_a_word_is_where_its_settings_say() {
        let tests = ("tests/test_t.py", "");
        for settings in [
            ("pytest.ini", "[pytest]\ntestpaths = tests\n"),
            (
                "tox.ini",
                "[tox]\nx = 1\n[pytest]\naddopts = -q --tb short\ntestpaths =\n    tests\n    gone\n",
            ),
            ("setup.cfg", "[tool:pytest]\ntestpaths: tests\n[other]\ntestpaths = api\n"),
            ("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = [\n  'tests',\n]\n"),
        ] {
            let files = [settings, tests];
            let apart = (Some(2), Some(1), 1);
            check(&files, [("pytest -q api", 0, API), ("pytest -q", 2, &[])], apart);
            check(&files, [("cd api && pytest -q", 0, &["test_api.py::x"]), ("pytest -q", 2, &[])], apart);
            check(&files, [("pytest -q", 2, &[]), ("pytest -q api", 0, API)], apart);
            // What is there as ever.
            check(&files, [("pytest -q", 1, SLOW), ("pytest -q", 2, &[])], (Some(2), Some(0), 0));
            check(&files, [("pytest -q tests", 1, SLOW), ("pytest -q", 2, &[])], (Some(2), Some(0), 0));
            let narrow = "pytest -q tests/test_t.py::test_slow";
            check(&files, [("pytest -q", 1, SLOW), (narrow, 1, &[])], (Some(2), Some(0), 0));
        }
        for unknown in [
            "[pytest]\ntestpaths = t*\n",
            "[pytest]\naddopts = --ignore=api\n",
            "[pytest]\naddopts = --lf\n",
            "[pytest]\npython_files = t_*.py\n",
        ] {
            check(&[("pytest.ini", unknown)], [("pytest -q api", 0, API), ("pytest -q", 2, &[])], UNKNOWN);
        }
        // The usual files, and others.
        let more = ("pytest.ini", "[pytest]\npython_files = tests.py test_*.py *_tests.py\n");
        let all = (Some(2), Some(0), 0);
        check(&[more], [("pytest -q tests/test_t.py", 1, SLOW), ("pytest -q", 2, &[])], all);
        check(&[more], [("pytest -q tests", 1, SLOW), ("pytest -q", 2, &[])], all);
        let other: &[&str] = &["tests/t_test.py::x"];
        check(&[more], [("pytest -q tests/t_test.py", 0, other), ("pytest -q", 2, &[])], UNKNOWN);
        // A file that is called otherwise is only found where it is named.
        let login: &[&str] = &["e2e/check_login.py::test_login"];
        check(&[], [("pytest -q e2e/check_login.py", 0, login), ("pytest -q", 2, &[])], UNKNOWN);
        check(&[], [("pytest -q api", 0, API), ("pytest -q", 2, &[])], (Some(2), Some(0), 0));
    }

    #[test]
    fn what_pytest_leaves_alone_says_nothing_of_the_rest() {
        let all = (Some(2), Some(0), 0);
        let narrow = "pytest -q tests/test_t.py::test_slow";
        let web: &[&str] = &["web/test_w.py::test_w"];
        for settings in [
            ("pytest.ini", "[pytest]\naddopts = -ra --ignore=web\n"),
            ("pytest.ini", "[pytest]\naddopts = --ignore old --ignore ./web/\n"),
            ("pytest.ini", "[pytest]\naddopts = --ignore-glob=w*b\n"),
            ("pytest.ini", "[pytest]\naddopts = --ignore-glob=*/test_w.py --ignore-glob=web/*\n"),
            ("pytest.ini", "[pytest]\nnorecursedirs = .git w?b\n"),
            ("pytest.ini", "[pytest]\nnorecursedirs = shop/web\n"),
            ("pyproject.toml", "[tool.pytest.ini_options]\nnorecursedirs = ['web', 'old']\n"),
            ("conftest.py", "collect_ignore = ['setup.py', \"web\"]\n"),
            ("conftest.py", "import x\ncollect_ignore_glob = [\n    'w*',\n]\n"),
            ("web/conftest.py", "collect_ignore = ['test_w.py']\n"),
            ("web/conftest.py", "def pytest_ignore_collect(path): return True\n"),
            ("web/conftest.py", "collect_ignore = names()\n"),
        ] {
            let files = [settings];
            check(&files, [("pytest -q tests/test_t.py", 1, SLOW), ("pytest -q", 2, &[])], all);
            check(&files, [("pytest -q tests", 1, SLOW), ("pytest -q", 2, &[])], all);
            check(&files, [("pytest -q", 1, SLOW), (narrow, 1, &[])], all);
            let inside: &[&str] = &["test_t.py::test_slow"];
            check(&files, [("cd tests && pytest -q test_t.py", 1, inside), ("pytest -q", 2, &[])], all);
            // What it does not find still fails.
            check(&files, [("pytest -q web/test_w.py", 0, web), ("pytest -q", 2, &[])], UNKNOWN);
            check(
                &files,
                [("pytest -q web/test_w.py", 0, web), ("pytest -q tests", 2, &[])],
                (Some(2), Some(1), 1),
            );
        }
        // The same, told by the command.
        for whole in ["pytest -q --ignore=web", "pytest -q --ignore web --ignore old"] {
            check(&[], [("pytest -q tests/test_t.py", 1, SLOW), (whole, 2, &[])], all);
            check(&[], [("pytest -q tests", 1, SLOW), (whole, 2, &[])], all);
            check(&[], [(whole, 1, SLOW), (narrow, 1, &[])], all);
            check(&[], [(whole, 1, SLOW), ("pytest -q", 2, &[])], all);
            check(&[], [("pytest -q web/test_w.py", 0, web), (whole, 2, &[])], UNKNOWN);
            check(&[], [("pytest -q web", 0, web), (whole, 2, &[])], UNKNOWN);
            check(&[], [("pytest -q", 1, web), (whole, 1, &[])], (None, None, 1));
        }
        // What it is asked for, it looks into.
        let ignored = [("pytest.ini", "[pytest]\naddopts = --ignore=web\n")];
        check(&ignored, [("pytest -q web", 1, web), ("pytest -q", 2, &[])], UNKNOWN);
        check(&ignored, [("cd web && pytest -q", 1, &["test_w.py::x"]), ("pytest -q", 2, &[])], UNKNOWN);
        check(&ignored, [("pytest -q web/test_w.py", 0, web), ("pytest -q web", 2, &[])], all);
        // The same words name another folder elsewhere.
        let deep: &[&str] = &["tests/web/test_w.py::test_w"];
        let ignored = [("pytest.ini", "[pytest]\naddopts = --ignore=tests/web\n")];
        check(
            &ignored,
            [("cd tests && pytest -q", 1, &["web/test_w.py::x"]), ("pytest -q tests", 2, &[])],
            UNKNOWN,
        );
        check(&ignored, [("pytest -q tests/web", 1, deep), ("pytest -q tests", 2, &[])], UNKNOWN);
        // What is not written out may be anything, and so may what stands above.
        for conftest in [
            "collect_ignore = ['web']\nif x:\n    collect_ignore.append('tests')\n",
            "collect_ignore = ['web'] + more\n",
            "if x:\n    collect_ignore = ['tests']\n",
            "collect_ignore = [f'{x}']\n",
            "def pytest_collect_file(): ...\n",
        ] {
            let files = [("conftest.py", conftest)];
            check(&files, [("pytest -q tests/test_t.py", 1, SLOW), ("pytest -q", 2, &[])], UNKNOWN);
            // It was asked for by its name.
            check(&files, [("pytest -q", 1, SLOW), (narrow, 1, &[])], (None, None, 0));
        }
    }

    #[test]
    fn tests_that_settings_leave_out_since_have_not_passed() {
        for (name, text) in [
            ("pytest.ini", "[pytest]\naddopts = --ignore=tests\n"),
            ("pytest.ini", "[pytest]\nnorecursedirs = t*\n"),
            ("conftest.py", "collect_ignore = ['tests/test_t.py']\n"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().to_str().unwrap();
            let mut tests = Tests::new(Origin::new(root, root));
            let at = Timestamp::from_millis(0);
            tests.note_command("1", "pytest -q", Some(1), &printed("pytest", 2, SLOW), at);
            fs::write(dir.path().join(name), text).unwrap();
            tests.note_command("2", "pytest -q", Some(0), &printed("pytest", 2, &[]), at);
            assert_eq!(tests.finish(Changed::Unknown).unwrap().failed_tests, SLOW, "{text}");
        }
    }

    #[test]
    fn what_settings_leave_out_may_be_what_was_asked_for() {
        let settings = [("pytest.ini", "[pytest]\naddopts = -ra -m \"not slow\"\n")];
        check(&settings, [("pytest -q -m slow", 0, SLOW), ("pytest -q", 2, &[])], UNKNOWN);
        check(&settings, [("pytest -q -m slow tests", 0, SLOW), ("pytest -q tests", 2, &[])], UNKNOWN);
        check(
            &settings,
            [("pytest -q", 1, API), ("pytest -q api/test_api.py", 1, &[])],
            (Some(2), Some(0), 0),
        );
        let left_out = |red: &str, command: &str| {
            let mut tests = Tests::new(Origin::new("/nowhere", "/nowhere"));
            let at = Timestamp::from_millis(0);
            let failed = printed("pytest", 0, SLOW);
            tests.note_command("1", red, Some(1), &failed, at);
            tests.note_command("2", command, Some(0), "2 passed, 1 deselected in 0.1s\n", at);
            tests.finish(Changed::Unknown).unwrap().failed_tests.len()
        };
        let red = "pytest -q -m slow";
        assert_eq!((left_out(red, "pytest -q"), left_out(red, red)), (1, 0));
        assert_eq!(left_out("pytest -q -m slow --ignore=web", "pytest -q --ignore=web"), 1);
        // It was told meanwhile to leave some out: those that failed are among them, for all that is known.
        for line in ["pytest -q", "pytest", "python3 -m pytest tests"] {
            assert_eq!((left_out(line, line), left_out(line, "pytest -q")), (1, 1), "{line}");
        }
    }

    #[test]
    fn what_failed_last_and_passed_is_counted() {
        let two: &[&str] = &["tests/test_t.py::a", "tests/test_t.py::b"];
        check(&[], [("pytest -q", 3, two), ("pytest -q --lf", 2, &[])], (Some(5), Some(0), 0));
        check(&[], [("pytest -q", 3, two), ("pytest -q --lf", 1, &[])], (None, None, 2));
    }

    #[test]
    fn unittest_without_a_word_finds_what_is_called_a_test() {
        let files = [
            ("tests/__init__.py", ""),
            ("tests/test_a.py", ""),
            ("e2e/__init__.py", ""),
            ("e2e/login.py", ""),
            ("bare/test_b.py", ""),
        ];
        let failed: &[&str] = &["test_l (e2e.login.L.test_l)"];
        let (default, apart) = ("python3 -m unittest", (Some(1), Some(1), 1));
        for line in [
            "python3 -m unittest e2e.login",
            "python3 -m unittest e2e/login.py",
            "python3 -m unittest e2e.login.L",
        ] {
            check(&files, [(line, 0, failed), (default, 1, &[])], apart);
            check(&files, [(default, 1, &[]), (line, 0, failed)], apart);
        }
        for line in
            ["python3 -m unittest bare.test_b", "python3 -m unittest e2e", "python3 -m unittest discover e2e"]
        {
            check(&files, [(line, 0, failed), (default, 1, &[])], UNKNOWN);
        }
        let line = "python3 -m unittest tests.test_a.A.test_a";
        check(&files, [(line, 0, failed), (default, 1, &[])], (Some(1), Some(0), 0));
        check(&files, [(default, 0, failed), (default, 1, &[])], (Some(1), Some(0), 0));
    }

    #[test]
    fn node_and_mocha_without_a_word_look_into_their_folders() {
        let failed: &[&str] = &["login"];
        let apart = (Some(1), Some(1), 1);
        let taken = (Some(1), Some(0), 0);
        for (line, default) in [
            ("node --test e2e/login.mjs", "node --test"),
            ("npx mocha e2e/login.js", "npx mocha"),
            ("npx mocha e2e/", "npx mocha"),
        ] {
            check(&[], [(line, 0, failed), (default, 1, &[])], apart);
            check(&[], [(default, 1, &[]), (line, 0, failed)], apart);
        }
        for (line, default) in [
            ("node --test test/a.mjs", "node --test"),
            ("node --test a.test.js", "node --test"),
            ("mocha test/a.js", "mocha"),
            ("mocha test", "mocha"),
        ] {
            check(&[], [(line, 0, failed), (default, 1, &[])], taken);
        }
        check(&[], [("mocha test/unit/a.js", 0, failed), ("mocha", 1, &[])], UNKNOWN);
        for settings in [
            (".mocharc.json", "{\"spec\": \"e2e\"}"),
            (".mocharc.yml", "recursive: true\n"),
            ("package.json", "{\"mocha\": {\"ignore\": [\"test/a.js\"]}}"),
        ] {
            check(&[settings], [("mocha e2e/login.js", 0, failed), ("mocha", 1, &[])], UNKNOWN);
            check(&[settings], [("mocha test/a.js", 0, failed), ("mocha", 1, &[])], UNKNOWN);
            check(&[settings], [("mocha", 0, failed), ("mocha", 1, &[])], taken);
        }
        let others = ("package.json", "{\"devDependencies\": {\"mocha\": \"^11\"}, \"files\": []}");
        check(
            &[others, (".mocharc.yml", "reporter: spec\n")],
            [("mocha test/a.js", 0, failed), ("mocha", 1, &[])],
            taken,
        );
    }

    /// A pipe that nobody writes to, or a file without end, where settings should be.
    #[test]
    fn settings_that_cannot_be_read_may_say_anything() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap().to_owned();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("pytest.ini")).unwrap();
        let mut tests = Tests::new(Origin::new(&root, &root));
        let at = Timestamp::from_millis(0);
        tests.note_command("1", "pytest -q api", Some(1), &printed("pytest", 0, API), at);
        tests.note_command("2", "pytest -q", Some(0), &printed("pytest", 2, &[]), at);
        assert_eq!(tests.finish(Changed::Unknown).unwrap().failed_tests.len(), 1);
    }

    /// What is said outside of the checkout is not read, whatever leads there.
    #[test]
    fn settings_behind_a_link_may_say_anything() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(dir.path().join("tests")).unwrap();
        fs::write(other.path().join("pytest.ini"), "[pytest]\ntestpaths = tests\n").unwrap();
        std::os::unix::fs::symlink(other.path().join("pytest.ini"), dir.path().join("pytest.ini")).unwrap();
        let root = dir.path().to_str().unwrap().to_owned();
        let mut tests = Tests::new(Origin::new(&root, &root));
        let at = Timestamp::from_millis(0);
        tests.note_command("1", "pytest -q api", Some(1), &printed("pytest", 0, API), at);
        tests.note_command("2", "pytest -q", Some(0), &printed("pytest", 2, &[]), at);
        let told = tests.finish(Changed::Unknown).unwrap();
        assert_eq!((told.passed, told.failed, told.failed_tests.len()), UNKNOWN);
    }

    #[test]
    fn settings_are_read_once_while_one_command_is() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        let memory = Memory::default();
        let told = |memory| {
            let way = Way { root: dir.path(), directory: "", places: &[], memory };
            (way.settings(Framework::Pytest).filters, way.settings(Framework::CargoTest).unnamed)
        };
        write("pytest.ini", "[pytest]\naddopts = -m fast\n");
        write("Cargo.toml", "[workspace]\nmembers = ['a']\n");
        let first = told(Some(&memory));
        write("pytest.ini", "[pytest]\naddopts = -k slow\n");
        write("Cargo.toml", "[package]\nname = 'a'\n");
        assert_eq!(told(Some(&memory)), first);
        let (filters, unnamed) = told(None);
        assert!(filters != first.0 && unnamed != first.1);
    }
}
