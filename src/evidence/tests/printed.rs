//! What an output tells of single tests: which of them passed, and which failed.
//!
//! Only of tests that are asked for: an output may name any number of them.

use std::collections::BTreeSet;

use super::Framework;
use super::detect::{Detected, detect};
use super::dialect::dialect;
use super::node::Listed;
use super::words::unbundled;
use crate::evidence::lines::lines;
use crate::evidence::scan::Scan;

/// More than this is no list of tests.
const MOST: usize = 2000;

/// One test as an output tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    /// The binary or file that it is in, where its name does not say so.
    pub(super) home: String,
    pub(super) name: String,
    pub(super) passed: bool,
}

/// What is told of the tests `wanted`, and how many passed by name at all; nothing where others may
/// have printed it.
pub(super) fn told(
    framework: Framework,
    command: &str,
    text: &str,
    wanted: &BTreeSet<&str>,
) -> (Vec<Told>, u64) {
    if wanted.is_empty() || !detect(command).is_some_and(|found| is_of_tests(&found, framework, command)) {
        return (Vec::new(), 0);
    }
    let mut reader = Reader::new(framework);
    let (mut found, mut listed) = (Vec::<Told>::new(), 0);
    for line in lines(text) {
        let Some((name, passed)) = reader.line(&line) else { continue };
        listed += u64::from(passed);
        if wanted.contains(name.as_str()) {
            found.push(Told { home: reader.home.clone(), name, passed });
        }
        if found.len() > MOST {
            return (Vec::new(), 0);
        }
    }
    (found, listed)
}

/// Whether what a command prints is its tests' alone, and nothing that they print themselves.
pub(super) fn is_of_tests(detected: &Detected, framework: Framework, command: &str) -> bool {
    let shown = ["--nocapture", "--no-capture", "--show-output", "-s", "--capture=no"];
    let words: Vec<String> = command.split([' ', '\'', '"']).map(str::to_owned).collect();
    let prints = unbundled(dialect(framework), &words).iter().any(|word| shown.contains(&word.as_str()));
    !detected.shown.any && !detected.beside && !detected.at_once && !prints
}

#[derive(Debug)]
pub(super) struct Reader {
    framework: Framework,
    home: String,
    /// The groups around a test, and how far each is indented.
    titles: Vec<(usize, String)>,
    /// Whether lines are those of the list of tests, and not what a test that failed had printed.
    is_list: bool,
    of_node: Listed,
}

impl Reader {
    pub(super) fn new(framework: Framework) -> Self {
        let (home, titles, of_node) = (String::new(), Vec::new(), Listed::default());
        Self { framework, home, titles, is_list: true, of_node }
    }

    /// The test that a line tells of, and whether it passed.
    pub(super) fn line(&mut self, line: &str) -> Option<(String, bool)> {
        match self.framework {
            Framework::CargoTest => self.cargo(line),
            Framework::Pytest => self.pytest(line),
            Framework::Jest => self.jest(line),
            Framework::Mocha => self.mocha(line),
            Framework::Nextest => {
                let (kind, rest) = line.trim_start().split_once(" [")?;
                let (_, name) = rest.split_once("] ")?;
                let name = name.trim_start();
                let name = if name.starts_with('(') { name.split_once(") ")?.1 } else { name };
                matches!(kind, "PASS" | "FAIL").then(|| (name.to_owned(), kind == "PASS"))
            }
            Framework::Unittest => {
                let (name, end) = line.rsplit_once(" ... ")?;
                matches!(end, "ok" | "FAIL" | "ERROR").then(|| (name.to_owned(), end == "ok"))
            }
            Framework::Vitest => {
                let bare = line.trim_start();
                let passed = bare.strip_prefix("✓ ");
                let test = passed.or_else(|| bare.strip_prefix("× "))?;
                let (name, took) = test.rsplit_once(' ')?;
                (took.ends_with("ms") && name.contains(" > ")).then(|| (name.to_owned(), passed.is_some()))
            }
            // Names have no groups, and a group may have one of the same name as another.
            Framework::Node => {
                let test = self.of_node.line(line)?;
                self.home = test.groups;
                Some((test.name, test.passed))
            }
            Framework::Go | Framework::Junit | Framework::Tap => None,
        }
    }

    fn cargo(&mut self, line: &str) -> Option<(String, bool)> {
        let bare = line.trim_start();
        if bare.len() < line.len() && (bare.starts_with("Running ") || bare.starts_with("Doc-tests ")) {
            (self.home, self.is_list) = (bare.to_owned(), true);
        }
        self.is_list &= line != "failures:";
        let test = line.strip_prefix("test ").filter(|_| self.is_list && !self.home.is_empty())?;
        let (name, end) = test.rsplit_once(" ... ")?;
        let name = name.strip_suffix(" - should panic").unwrap_or(name);
        matches!(end, "ok" | "FAILED").then(|| (name.to_owned(), end == "ok"))
    }

    fn pytest(&mut self, line: &str) -> Option<(String, bool)> {
        if line.starts_with("====") {
            self.is_list = !line.contains(" FAILURES ") && !line.contains(" ERRORS ");
        }
        if !self.is_list {
            return None;
        }
        // `[gw0] [ 50%] PASSED a.py::x`, or `PASSED a.py::x` in a list at the end.
        let at_end = |word: &str| {
            let name = line.strip_prefix(word).or_else(|| {
                line.strip_prefix("[gw")
                    .and_then(|rest| rest.split_once("%] "))
                    .and_then(|(_, rest)| rest.strip_prefix(word))
            });
            name.map(|name| name.split(" - ").next().unwrap_or(name).trim().to_owned())
        };
        if let Some(name) = at_end("PASSED ") {
            return Some((name, true));
        }
        if let Some(name) = at_end("FAILED ").or_else(|| at_end("ERROR ")) {
            return Some((name, false));
        }
        let end = line
            .trim_end()
            .strip_suffix("%]")
            .and_then(|rest| rest.rsplit_once('['))
            .map_or(line, |(rest, _)| rest);
        let (name, word) = end.trim_end().rsplit_once(' ')?;
        matches!(word, "PASSED" | "FAILED" | "ERROR").then(|| (name.to_owned(), word == "PASSED"))
    }

    /// Tests stand below their groups, and those below the file.
    fn jest(&mut self, line: &str) -> Option<(String, bool)> {
        if let Some(file) = ["PASS ", "FAIL "].iter().find_map(|head| line.strip_prefix(head)) {
            self.home = file.split_once(" (").map_or(file, |(file, _)| file).trim().to_owned();
            self.titles.clear();
            self.is_list = true;
            return None;
        }
        if let Some(name) = line.strip_prefix("  ● ") {
            self.is_list = false;
            return Some((name.to_owned(), false)).filter(|_| !self.home.is_empty());
        }
        if !self.is_list || self.home.is_empty() {
            return None;
        }
        let (depth, test) = self.nested(line)?;
        let passed = test.strip_prefix("✓ ")?;
        let name =
            passed.rsplit_once(" (").filter(|(_, took)| took.ends_with(" ms)") || took.ends_with(" s)"));
        Some((self.below(depth, name.map_or(passed, |(name, _)| name), " › "), true))
    }

    fn mocha(&mut self, line: &str) -> Option<(String, bool)> {
        self.is_list &= !line.trim_end().ends_with(')') || !line.contains(" passing (");
        if !self.is_list {
            return None;
        }
        let (depth, test) = self.nested(line)?;
        let mut scan = Scan::new(&test);
        if scan.number().is_some() && scan.text(") ").is_some() {
            return Some((self.below(depth, scan.rest(), " > "), false));
        }
        let passed = test.strip_prefix("✔ ").or_else(|| test.strip_prefix("✓ "))?;
        let name = passed.rsplit_once(" (").filter(|(_, took)| took.ends_with("ms)"));
        Some((self.below(depth, name.map_or(passed, |(name, _)| name), " > "), true))
    }

    /// A line that is no test may be the title of those below it.
    fn nested(&mut self, line: &str) -> Option<(usize, String)> {
        let bare = line.trim_start();
        let depth = line.len() - bare.len();
        self.titles.retain(|(outer, _)| *outer < depth);
        let is_test = bare.starts_with(['✓', '✔', '✕', '○'])
            || bare.split_once(") ").is_some_and(|(number, _)| number.parse::<u64>().is_ok());
        if !is_test && depth > 0 && !bare.is_empty() && self.titles.len() < 50 {
            self.titles.push((depth, bare.trim_end().to_owned()));
        }
        is_test.then(|| (depth, bare.trim_end().to_owned()))
    }

    fn below(&self, depth: usize, name: &str, between: &str) -> String {
        let titles = self.titles.iter().filter(|(outer, _)| *outer < depth).map(|(_, title)| title.as_str());
        titles.chain([name]).collect::<Vec<_>>().join(between)
    }
}

/// Whether names of this framework say too little without the binary, file or groups they are in.
pub(super) fn is_home_needed(framework: Framework) -> bool {
    matches!(framework, Framework::CargoTest | Framework::Jest | Framework::Node)
}

/// The part of a script's words that says what it runs, and where; and what it hands on.
pub(super) fn handed_on(script: &str) -> (&str, Option<&str>) {
    if let Some((before, after)) = script.split_once(" -- ") {
        return (before, Some(after));
    }
    // These need no mark between.
    for named in ["yarn test", "pnpm test"] {
        if let Some(after) = script.strip_prefix(named).and_then(|rest| rest.strip_prefix(' ')) {
            return (named, Some(after));
        }
    }
    (script, None)
}
