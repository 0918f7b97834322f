//! Linters: eslint, and ruff in its long and short form.

use crate::evidence::errors::diagnose::{Diagnosis, Format};
use crate::evidence::errors::place::Location;
use crate::evidence::line_scanner::Scan;

#[derive(Debug, Default)]
pub(in crate::evidence::errors) struct Lint {
    /// The file that eslint reports on.
    file: Option<String>,
    /// What ruff printed before the place: its line, rule and message.
    open: Option<(usize, String, String)>,
}

impl Format for Lint {
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis> {
        if let Some(place) = line.trim_start().strip_prefix("--> ") {
            let (began, rule, message) = self.open.take()?;
            return Some(Diagnosis::new(
                began,
                &format!("lint error {rule}"),
                &message,
                Some(Location::of(place)?),
            ));
        }
        self.open = ruled(line).map(|(rule, message)| (at, rule.to_owned(), message.to_owned()));
        if line.is_empty() {
            self.file = None;
        } else if is_script(line) {
            self.file = Some(line.to_owned());
        }
        let eslint = self.file.as_ref().and_then(|file| problem(file, line));
        let (place, rule, message) = match eslint {
            Some(found) => found,
            None => short(line)?,
        };
        Some(Diagnosis::new(at, format!("lint error {rule}").trim_end(), message, Some(place)))
    }

    fn end(&mut self) -> Option<Diagnosis> {
        None
    }
}

/// A line that consists only of a script's path.
fn is_script(line: &str) -> bool {
    let ends = [".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte"];
    !line.starts_with(' ') && !line.contains(": ") && ends.iter().any(|end| line.ends_with(end))
}

/// `  1:1  error    'foo' is not defined  no-undef`
fn problem<'a>(file: &str, line: &'a str) -> Option<(Location, &'a str, &'a str)> {
    let mut scan = Scan::new(line);
    scan.text("  ")?;
    scan.spaces();
    let row = scan.number()?;
    scan.text(":")?;
    let column = scan.number()?;
    scan.text("  ")?;
    scan.spaces();
    scan.text("error  ")?;
    let rest = scan.rest().trim();
    let (message, rule) = rest.rsplit_once("  ").unwrap_or((rest, ""));
    Some((Location::new(file, row, Some(column))?, rule.trim(), message.trim()))
}

/// `a.py:2:7: F821 Undefined name`
fn short(line: &str) -> Option<(Location, &str, &str)> {
    let (place, rest) = Location::leading(line).filter(|(place, _)| place.has_end(&[".py", ".pyi"]))?;
    let (rule, message) = ruled(rest.strip_prefix(": ")?)?;
    Some((place, rule, message))
}

/// `F821 [*] Undefined name`: the rule and the message.
fn ruled(line: &str) -> Option<(&str, &str)> {
    let (rule, message) = line.split_once(' ')?;
    let letters = rule.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = rule.len() - letters;
    let is_rule = (1..=4).contains(&letters)
        && (3..=4).contains(&digits)
        && rule[letters..].bytes().all(|byte| byte.is_ascii_digit());
    is_rule.then(|| (rule, message.strip_prefix("[*] ").unwrap_or(message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str, u64)]) {
        let mut lint = Lint::default();
        let found: Vec<Diagnosis> =
            text.lines().enumerate().filter_map(|(at, line)| lint.line(at, line)).collect();
        let told: Vec<(&str, &str, u64)> = found
            .iter()
            .map(|error| (error.kind.as_str(), error.message.as_str(), error.place.as_ref().unwrap().line))
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn rules_and_places_are_read_and_warnings_are_not() {
        check(
            "/a/l.js\n  1:1  error    'foo' is not defined  no-undef\n  2:5  warning  unused  no-unused\n\n  3:1  error  x  y\n",
            &[("lint error no-undef", "'foo' is not defined", 1)],
        );
        check("F821 Undefined name `x`\n --> r.py:2:7\n", &[("lint error F821", "Undefined name `x`", 2)]);
        check(
            "r.py:1:8: F401 [*] `os` imported\nr.py:1:8: note\n",
            &[("lint error F401", "`os` imported", 1)],
        );
    }
}
