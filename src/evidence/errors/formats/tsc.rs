//! The TypeScript compiler, in its plain and its pretty form.

use crate::evidence::errors::diagnose::{Diagnosis, Format};
use crate::evidence::errors::place::Location;
use crate::evidence::line_scanner::Scan;

#[derive(Debug)]
pub(in crate::evidence::errors) struct Tsc;

impl Format for Tsc {
    fn line(&mut self, at: usize, line: &str) -> Option<Diagnosis> {
        let placed = plain(line).or_else(|| pretty(line)).map(|(place, rest)| (Some(place), rest));
        // A configuration error has no place.
        let (place, rest) = placed.or_else(|| line.starts_with("error TS").then_some((None, line)))?;
        let (code, message) = rest.strip_prefix("error ")?.split_once(": ")?;
        let is_code = code.starts_with("TS") && code[2..].bytes().all(|byte| byte.is_ascii_digit());
        is_code.then(|| Diagnosis::new(at, &format!("compile error {code}"), message, place))
    }

    fn end(&mut self) -> Option<Diagnosis> {
        None
    }
}

/// `src/a.ts(12,5): error TS2322: …`
fn plain(line: &str) -> Option<(Location, &str)> {
    let (place, rest) = line.split_once("): ")?;
    let (file, numbers) = place.rsplit_once('(')?;
    let mut scan = Scan::new(numbers);
    let row = scan.number()?;
    scan.text(",")?;
    let column = scan.number()?;
    scan.end()?;
    Some((Location::new(file, row, Some(column))?, rest))
}

/// `src/a.ts:12:5 - error TS2322: …`
fn pretty(line: &str) -> Option<(Location, &str)> {
    let (place, rest) = Location::leading(line)?;
    Some((place, rest.strip_prefix(" - ")?))
}
