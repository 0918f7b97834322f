//! `go test`: one line per package; with `-v` one per test, with `-json` one per event.

use serde_json::Value;

use crate::evidence::line_scanner::Scan;
use crate::evidence::tests::tally::{Names, Tally};
use crate::evidence::tests::{Parser, Unit};

#[derive(Debug, Default)]
pub(in crate::evidence::tests) struct Go {
    tests: Counts,
    packages: Counts,
    /// `None` if everything was cached or nothing was built.
    took_ms: Option<u64>,
    names: Names,
    /// Whether every test is named, including passed ones.
    verbose: bool,
    /// Tests that began and did not end.
    open: u64,
    panicked: bool,
    /// Whether the last line reports a failure: that is the last line of a list of packages.
    failed: bool,
    /// Whether packages were given by name or pattern.
    of_a_list: bool,
    /// Whether it printed events instead.
    in_json: bool,
    /// The packages by name.
    sum: Tally,
}

#[derive(Debug, Default)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Go {
    pub(in crate::evidence::tests) fn new(of_a_list: bool) -> Self {
        Self { of_a_list, ..Self::default() }
    }

    /// Whether something failed and the line that ends a failed run is missing.
    fn is_unended(&self) -> bool {
        let packages = self.packages.passed + self.packages.failed + self.packages.skipped;
        let has_failed = self.packages.failed + self.tests.failed > 0 || self.names.len() > 0;
        let has_last_line = !self.in_json && (self.of_a_list || packages > 1);
        has_failed && has_last_line && !self.failed
    }
}

impl Parser for Go {
    fn line(&mut self, line: &str) {
        if line.starts_with('{') {
            self.event(line);
        } else if line.starts_with("=== RUN ") {
            self.verbose = true;
            self.open += 1;
        } else if let Some((verdict, name)) = test(line) {
            self.test(verdict, name);
        } else if let Some(found) = package(line) {
            let name = line.split('\t').nth(1).unwrap_or_default().split(" [").next().unwrap_or_default();
            self.failed = false;
            self.package(name, found);
        } else if line == "FAIL" {
            self.failed = true;
        } else if line.starts_with("panic: ") {
            self.panicked = true;
        }
    }

    fn end(self: Box<Self>) -> Vec<Tally> {
        let hides_failed = self.failed && self.packages.failed == 0;
        let said = hides_failed.then(|| "tests failed".to_owned());
        if self.packages.passed + self.packages.failed + self.packages.skipped == 0 {
            let failing = self.names;
            let part = Tally { said, failing, ..Tally::partly_seen() };
            return hides_failed.then_some(part).into_iter().collect();
        }
        let cut = self.panicked || self.open > 0 || self.is_unended();
        let (counts, unit) = match self.verbose {
            true => (self.tests, Unit::Tests),
            false => (self.packages, Unit::Packages),
        };
        vec![Tally {
            passed: counts.passed,
            failed: counts.failed,
            skipped: counts.skipped,
            unit,
            duration_ms: self.took_ms,
            failing: self.names,
            cut,
            unknown: self.sum.unknown || hides_failed,
            said,
            ..self.sum
        }]
    }
}

impl Go {
    fn test(&mut self, verdict: &str, name: &str) {
        self.open = self.open.saturating_sub(1);
        match verdict {
            "PASS" => self.tests.passed += 1,
            "SKIP" => self.tests.skipped += 1,
            _ => {
                self.tests.failed += 1;
                self.names.add(name);
            }
        }
    }

    fn package(&mut self, name: &str, package: Package<'_>) {
        self.sum.add_source(name.to_owned());
        if let Package::Passed(Some(took)) | Package::Failed { took: Some(took), .. } = package {
            self.took_ms = Some(self.took_ms.unwrap_or(0).saturating_add(took));
        }
        match package {
            Package::Passed(_) => self.packages.passed += 1,
            Package::Failed { name, took } => {
                self.packages.failed += 1;
                // It was not built, so no test of it has a name.
                if took.is_none() {
                    self.names.add(name);
                }
            }
            Package::WithoutTests => self.packages.skipped += 1,
        }
    }

    fn event(&mut self, line: &str) {
        let Ok(Value::Object(event)) = serde_json::from_str(line) else { return };
        let field = |name: &str| event.get(name).and_then(Value::as_str);
        let (Some(action), Some(package)) = (field("Action"), field("Package")) else { return };
        self.in_json = true;
        match (action, field("Test")) {
            ("run", Some(_)) => {
                self.verbose = true;
                self.open += 1;
            }
            ("pass", Some(name)) => self.test("PASS", name),
            ("skip", Some(name)) => self.test("SKIP", name),
            ("fail", Some(name)) => self.test("FAIL", name),
            (ended @ ("pass" | "fail" | "skip"), None) => {
                let seconds = event.get("Elapsed").and_then(Value::as_f64).unwrap_or(0.0);
                let took = (seconds * 1000.0).round() as u64;
                let found = match ended {
                    "pass" => Package::Passed(Some(took)),
                    "fail" => Package::Failed { name: package, took: Some(took) },
                    _ => Package::WithoutTests,
                };
                self.package(package, found);
            }
            _ => {}
        }
    }
}

/// `    --- FAIL: TestSum/negative (0.00s)`
fn test(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix("--- ")?;
    let (verdict, rest) = rest.split_once(": ")?;
    let (name, took) = rest.rsplit_once(" (")?;
    let mut scan = Scan::new(took);
    scan.seconds()?;
    scan.text("s)")?;
    scan.end()?;
    matches!(verdict, "PASS" | "FAIL" | "SKIP").then_some((verdict, name))
}

enum Package<'a> {
    /// With its duration, unless the result was cached.
    Passed(Option<u64>),
    Failed {
        name: &'a str,
        took: Option<u64>,
    },
    /// It has no tests, or none that were asked for.
    WithoutTests,
}

/// `ok`, the package and the time, separated by tabs.
fn package(line: &str) -> Option<Package<'_>> {
    let mut scan = Scan::new(line);
    match scan.either(&["ok  \t", "FAIL\t", "?   \t"])? {
        "ok  \t" => {
            scan.until("\t")?;
            let took = match scan.text("(cached)") {
                Some(()) => None,
                None => {
                    let took = scan.seconds()?;
                    scan.text("s")?;
                    Some(took)
                }
            };
            let none = scan.rest().contains("[no tests to run]");
            Some(if none { Package::WithoutTests } else { Package::Passed(took) })
        }
        "FAIL\t" => {
            if let Some((name, reason)) = scan.rest().split_once(" [") {
                return reason.ends_with("failed]").then_some(Package::Failed { name, took: None });
            }
            let name = scan.until("\t")?;
            let took = scan.seconds()?;
            scan.text("s")?;
            scan.end()?;
            Some(Package::Failed { name, took: Some(took) })
        }
        _ => scan.rest().ends_with("\t[no test files]").then_some(Package::WithoutTests),
    }
}
