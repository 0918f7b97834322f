//! Reads one line from left to right, piece by piece.
//!
//! No regular expressions: there are many supervisors, they must stay small, and every line has one form.

#[derive(Debug, Clone, Copy)]
pub(crate) struct Scan<'a> {
    rest: &'a str,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(line: &'a str) -> Self {
        Self { rest: line }
    }

    pub(crate) fn text(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    /// One of `texts`: the first that matches.
    pub(crate) fn either<'t>(&mut self, texts: &[&'t str]) -> Option<&'t str> {
        texts.iter().copied().find(|text| self.text(text).is_some())
    }

    pub(crate) fn spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest[..digits].parse().ok()?;
        self.rest = &self.rest[digits..];
        Some(number)
    }

    /// `1.25` as 1250: a number of seconds in milliseconds.
    pub(crate) fn seconds(&mut self) -> Option<u64> {
        let length = self.rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let seconds: f64 = self.rest[..length].parse().ok()?;
        self.rest = &self.rest[length..];
        Some((seconds * 1000.0).round() as u64)
    }

    /// The text before `text`; both are consumed.
    pub(crate) fn until(&mut self, text: &str) -> Option<&'a str> {
        let (before, after) = self.rest.split_once(text)?;
        self.rest = after;
        Some(before)
    }

    /// The text before the last `text`; both are consumed.
    pub(crate) fn until_last(&mut self, text: &str) -> Option<&'a str> {
        let (before, after) = self.rest.rsplit_once(text)?;
        self.rest = after;
        Some(before)
    }

    pub(crate) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Succeeds if only spaces are left.
    pub(crate) fn end(&self) -> Option<()> {
        self.rest.trim_end().is_empty().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_in_order_and_to_its_end() {
        let read = |line| {
            let mut scan = Scan::new(line);
            scan.text("Ran ")?;
            let count = scan.number()?;
            scan.either(&[" tests in ", " test in "])?;
            let took = scan.seconds()?;
            scan.text("s")?;
            scan.end().map(|()| (count, took))
        };
        assert_eq!(read("Ran 12 tests in 0.25s "), Some((12, 250)));
        assert_eq!(read("Ran 1 test in 3s"), Some((1, 3000)));
        for other in ["Ran 12 tests in 0.25s flat", "Ran tests in 1s", "ran 1 test in 1s", "Ran 1 test in .s"]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn a_number_too_large_is_none() {
        assert_eq!(Scan::new("99999999999999999999999").number(), None);
    }
}
