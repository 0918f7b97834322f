//! The lines under which test runners tell of one test: an error belongs to the nearest above it.

/// More are not told apart.
const MOST: usize = 1000;
const LONGEST: usize = 500;
/// Titles of mocha are nested, but not without end.
const DEEPEST: usize = 50;

#[derive(Debug, Default)]
pub(super) struct Headings {
    /// With the lines that they stand in.
    list: Vec<(usize, String)>,
    /// Tests by the threads that panicked: each speaks for its own line only.
    threads: Vec<(usize, String)>,
    /// Whether the line before was a rule of unittest.
    ruled: bool,
    /// The titles of mocha so far, from the outermost in.
    titles: Option<Vec<String>>,
}

impl Headings {
    pub(super) fn line(&mut self, at: usize, line: &str) {
        let is_rule = line.len() >= 70 && line.bytes().all(|byte| byte == b'=');
        let ruled = std::mem::replace(&mut self.ruled, is_rule);
        let told = ruled.then(|| of_unittest(line)).flatten().or_else(|| heading(line)).map(str::to_owned);
        let told = told.or_else(|| self.of_mocha(line));
        let thread = thread(line).map(str::to_owned);
        for (list, name) in [(&mut self.list, told), (&mut self.threads, thread)] {
            if let Some(name) = name.filter(|name| name.len() <= LONGEST && list.len() < MOST) {
                list.push((at, name));
            }
        }
    }

    /// Whose an error may be that begins in the line `at`, the likeliest first.
    pub(super) fn above(&self, at: usize) -> Vec<String> {
        let thread = self.threads.iter().find(|(of, _)| *of == at);
        // Beyond the last that is known, it may be another's.
        let is_known = self.list.len() < MOST;
        let heading = self.list.iter().rev().find(|(of, _)| *of <= at).filter(|_| is_known);
        thread.into_iter().chain(heading).map(|(_, name)| name.clone()).collect()
    }

    /// `  1) sums`, and then titles further in, of which the last ends in a colon.
    fn of_mocha(&mut self, line: &str) -> Option<String> {
        let bare = line.trim();
        let title = match &self.titles {
            Some(titles) if !bare.is_empty() && titles.len() < DEEPEST => bare,
            _ => {
                self.titles = None;
                let (number, title) = bare.split_once(") ").filter(|_| line.starts_with("  "))?;
                number.parse::<u64>().ok()?;
                title
            }
        };
        let titles = self.titles.get_or_insert_default();
        titles.push(title.trim_end_matches(':').to_owned());
        title.ends_with(':').then(|| self.titles.take().unwrap_or_default().join(" > "))
    }
}

/// `FAIL: test_a (t.A.test_a)`
fn of_unittest(line: &str) -> Option<&str> {
    ["FAIL: ", "ERROR: ", "UNEXPECTED SUCCESS: "].iter().find_map(|head| line.strip_prefix(head))
}

fn heading(line: &str) -> Option<&str> {
    let bare = line.trim_start();
    of_pytest(line)
        // `---- tests::a stdout ----`
        .or_else(|| line.strip_prefix("---- ")?.strip_suffix(" ----")?.rsplit_once(' ').map(|(name, _)| name))
        // jest and vitest
        .or_else(|| line.strip_prefix("  ● "))
        .or_else(|| line.strip_prefix(" FAIL  "))
        .or_else(|| of_go(bare))
        .or_else(|| of_node(bare))
        .or_else(|| of_nextest(bare))
}

/// `____ TestA.test_b ____`, `__ ERROR at setup of test_b __`, `FAILED a.py::test_b - assert 1 == 2`
fn of_pytest(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")) {
        let name = rest.split_once(" - ").map_or(rest, |(name, _)| name);
        return name.contains(".py").then_some(name);
    }
    let name = line.strip_prefix('_')?.strip_suffix('_')?.trim_matches('_');
    let name = name.strip_prefix(' ')?.strip_suffix(' ')?;
    let whole = ["ERROR at setup of ", "ERROR at teardown of ", "ERROR collecting "];
    let name = whole.iter().find_map(|head| name.strip_prefix(head)).unwrap_or(name);
    // `_ _ _ _` stands between the calls that led to an error.
    name.contains(|c: char| c.is_alphanumeric()).then_some(name)
}

/// `--- FAIL: TestA/b (0.00s)`, `=== RUN   TestA`
fn of_go(bare: &str) -> Option<&str> {
    let ended = ["--- FAIL: ", "--- PASS: ", "--- SKIP: "].iter().find_map(|head| bare.strip_prefix(head));
    let goes_on = ["=== RUN ", "=== NAME ", "=== CONT "].iter().find_map(|head| bare.strip_prefix(head));
    ended.and_then(|rest| rest.rsplit_once(" (")).map(|(name, _)| name).or(goes_on.map(str::trim))
}

/// `✖ a (1.2ms)`, `not ok 1 - a`
fn of_node(bare: &str) -> Option<&str> {
    if let Some(rest) = bare.strip_prefix("✖ ").or_else(|| bare.strip_prefix("✔ ")) {
        return rest.strip_suffix("ms)")?.rsplit_once(" (").map(|(name, _)| name);
    }
    let rest = bare.strip_prefix("not ok ").or_else(|| bare.strip_prefix("ok "))?;
    let (number, name) = rest.split_once(" - ")?;
    number.parse::<u64>().ok().map(|_| name)
}

/// `FAIL [   0.009s] (1/2) shop tests::a`
fn of_nextest(bare: &str) -> Option<&str> {
    let (how, rest) = bare.split_once(" [")?;
    let (_, name) = rest.split_once("s] ")?;
    let name = match name.strip_prefix('(') {
        Some(rest) => rest.split_once(") ")?.1,
        None => name,
    };
    let is_how =
        !how.is_empty() && how.bytes().all(|byte| byte.is_ascii_uppercase() || b" +-".contains(&byte));
    is_how.then(|| name.trim())
}

/// `thread 'tests::a' (12) panicked at src/lib.rs:5:14:`
fn thread(line: &str) -> Option<&str> {
    let (name, rest) = line.trim_start().strip_prefix("thread '")?.split_once('\'')?;
    rest.contains("panicked at ").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut headings = Headings::default();
        text.lines().enumerate().for_each(|(at, line)| headings.line(at, line));
        assert_eq!(headings.above(text.lines().count() - 1), expected, "{text}");
    }

    #[test]
    fn each_runner_has_a_heading_of_its_own() {
        check("_____ test_a _____\nE  x", &["test_a"]);
        check("_ TestA.test_b[1-2] _\nE  x\n_ _ _ _ _ _\nE  x", &["TestA.test_b[1-2]"]);
        check("___ ERROR at setup of test_a ___\nE  x", &["test_a"]);
        check("FAILED a.py::x - assert 1 == 2", &["a.py::x"]);
        check(&format!("{}\nFAIL: test_a (t.A.test_a)\nx", "=".repeat(70)), &["test_a (t.A.test_a)"]);
        check("---- src/lib.rs - f (line 3) stdout ----\nx", &["src/lib.rs - f (line 3)"]);
        check("thread 'tests::a' (12) panicked at src/lib.rs:5:14:", &["tests::a"]);
        check("        FAIL [   0.009s] (1/2) shop tests::a\nx", &["shop tests::a"]);
        check("  ● outer › a\n\n    x", &["outer › a"]);
        check(" FAIL  b.test.js > outer > b\nx", &["b.test.js > outer > b"]);
        check("  1) outer\n       inner\n         a:\n     x", &["outer > inner > a"]);
        check("✖ b (2.62ms)\n  x", &["b"]);
        check("    not ok 2 - b\n  x", &["b"]);
        check("=== RUN   TestA\n    a_test.go:5: x", &["TestA"]);
        check("--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n        x", &["TestA/b"]);
        check("ERROR: nothing of a test\n  x\n__init__\nFAIL: x", &[]);
    }
}
