//! The summaries that Maven and Gradle print themselves.

use crate::evidence::line_scanner::Scan;
use crate::evidence::tests::Parser;
use crate::evidence::tests::tally::{Names, Tally};

#[derive(Debug, Default)]
pub(in crate::evidence::tests) struct Jvm {
    /// One per Maven module, or Gradle's only one.
    found: Vec<Tally>,
    names: Names,
}

impl Parser for Jvm {
    fn line(&mut self, line: &str) {
        let bare = line.trim_start();
        let level = ["[INFO] ", "[ERROR] ", "[WARNING] "].iter().find_map(|level| bare.strip_prefix(level));
        let bare = level.unwrap_or(bare);
        if let Some(tally) = maven(bare).or_else(|| gradle(bare)) {
            self.found.push(Tally { failing: std::mem::take(&mut self.names), ..tally });
        } else if let Some(name) = bare.strip_suffix(" FAILED").filter(|name| name.contains(" > ")) {
            self.names.add(name);
        } else if let Some(name) = failed_of_maven(bare) {
            self.names.add(name);
        }
    }

    fn end(self: Box<Self>) -> Vec<Tally> {
        if self.found.is_empty() { Vec::new() } else { vec![Tally::sum(self.found)] }
    }
}

/// `Tests run: 7, Failures: 1, Errors: 0, Skipped: 2`, with nothing after it: the line of a class goes on
/// with its time.
fn maven(line: &str) -> Option<Tally> {
    let mut scan = Scan::new(line);
    let mut counts = [0; 4];
    for (count, word) in counts.iter_mut().zip(["Tests run: ", ", Failures: ", ", Errors: ", ", Skipped: "]) {
        scan.text(word)?;
        *count = scan.number()?;
    }
    scan.end()?;
    let [run, failures, errors, skipped] = counts;
    let failed = failures.checked_add(errors)?;
    let passed = run.checked_sub(failed)?.checked_sub(skipped)?;
    Some(Tally { passed, failed, skipped, ..Tally::default() })
}

/// `5 tests completed, 1 failed, 1 skipped`, which Gradle prints if a test failed.
fn gradle(line: &str) -> Option<Tally> {
    let mut scan = Scan::new(line);
    let all = scan.number()?;
    scan.either(&[" tests completed, ", " test completed, "])?;
    let failed = scan.number()?;
    scan.text(" failed")?;
    let skipped = if scan.text(", ").is_some() { scan.number()? } else { 0 };
    let passed = all.checked_sub(failed)?.checked_sub(skipped)?;
    Some(Tally { passed, failed, skipped, ..Tally::default() })
}

/// `AppTest.adds:12 expected: <2> but was: <3>`, below `Failures:`; or with its duration.
fn failed_of_maven(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(" -- Time elapsed: ")?;
    (rest.ends_with("FAILURE!") || rest.ends_with("ERROR!"))
        .then_some(name)
        .filter(|name| !name.contains("Tests run"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(u64, u64, u64)]) {
        let mut parser = Box::new(Jvm::default());
        text.lines().for_each(|line| parser.line(line));
        let told: Vec<_> = parser.end().iter().map(|one| (one.passed, one.failed, one.skipped)).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn the_last_line_of_maven_counts_and_those_of_classes_do_not() {
        let class =
            "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in a.AppTest\n";
        check(
            &format!(
                "{class}[INFO] Results:\n[INFO]\n[ERROR] Tests run: 7, Failures: 1, Errors: 1, Skipped: 2\n"
            ),
            &[(3, 2, 2)],
        );
        check(class, &[]);
    }

    #[test]
    fn gradle_tells_of_tests_where_one_failed() {
        check("AppTest > adds() FAILED\n\n5 tests completed, 1 failed, 1 skipped\n", &[(3, 1, 1)]);
    }
}
