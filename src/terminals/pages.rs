//! All of a part, however long it is: page by page, in constant memory, and
//! without a look at what comes before it.

use std::io;
use std::ops::ControlFlow;

use super::TerminalError;
use super::read::{Ask, Forward, Part, Reader, WORK};
use super::segments::{Form, Segment};

/// Of one page, in characters.
const ROOM: usize = 64 << 10;

impl Reader {
    /// Hands over all of `part`: its text without secrets, or, where it is wanted
    /// raw, its bytes as they are. Tells why later bytes cannot be had.
    pub(crate) fn pages(
        &self,
        part: Part,
        form: Form,
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<&str>, TerminalError> {
        let failed = |source| self.failed(source);
        let (mut from, mut lines) = match part {
            Part::Head(lines) => (0, lines),
            Part::Tail(lines) => (self.start_of_tail(lines, form).map_err(failed)?, u64::MAX),
            Part::All => (0, u64::MAX),
            Part::Since(moment) => (self.since(moment).map_err(failed)?, u64::MAX),
            Part::From(offset) => (offset.min(self.length), u64::MAX),
        };
        loop {
            self.will_begin(from).map_err(failed)?;
            let ask = Ask { part, form, room: ROOM };
            let Forward { text, bytes, ended, cut } = self.forward(from, lines, &ask).map_err(failed)?;
            match form {
                Form::Plain => each(self.shown(&text, &bytes, form).map_err(failed)?.as_bytes()),
                Form::Raw => self.copy(bytes.clone(), each)?,
            }
            if !cut {
                return Ok(self.bytes.damage.as_deref());
            }
            (from, lines) = (bytes.end, lines - ended);
        }
    }

    /// Where the last `lines` lines begin, as they are shown.
    fn start_of_tail(&self, lines: u64, form: Form) -> io::Result<u64> {
        if lines == 0 {
            return Ok(self.length);
        }
        // Near the end first: most often it is there, and nothing before has to be unpacked.
        let near = self.length.saturating_sub(WORK);
        self.will_begin(near)?;
        let mut start = self.start_of_last(lines, near)?;
        if start == near && near > 0 {
            self.will_begin(0)?;
            start = self.start_of_last(lines, 0)?;
        }
        // What moves to another line makes two of one.
        let (mut ended, mut is_open) = (0, false);
        self.segments(start..self.length, form, &mut |segment: Segment| {
            ended += u64::from(segment.ends_line);
            is_open = !segment.ends_line;
            ControlFlow::Continue(())
        })?;
        let mut over = (ended + u64::from(is_open)).saturating_sub(lines);
        if over > 0 {
            self.segments(start..self.length, form, &mut |segment: Segment| {
                start = segment.bytes.end;
                over -= u64::from(segment.ends_line);
                if over == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
        }
        Ok(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::joined::Stretch;
    use crate::model::Timestamp;

    fn reader(text: &str) -> Reader {
        let stretch = Stretch::Text(text.as_bytes().to_vec());
        Reader::over("t".into(), vec![stretch], Timestamp::from_millis(0), None).unwrap()
    }

    fn read(reader: &Reader, part: Part, form: Form) -> String {
        let mut bytes = Vec::new();
        reader.pages(part, form, &mut |page| bytes.extend_from_slice(page)).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_part_longer_than_a_page_is_whole() {
        let line = |number: u64| format!("line {number} of an output of usual length, 0123456789\n");
        let text: String = (1..=9000).map(line).collect();
        let reader = reader(&text);
        for form in [Form::Plain, Form::Raw] {
            for lines in [0, 1, 2000, 8999, 9000, 20_000] {
                let head: String = (1..=lines.min(9000)).map(line).collect();
                let tail: String = (9001 - lines.min(9000)..=9000).map(line).collect();
                assert!(read(&reader, Part::Head(lines), form) == head, "{form:?} {lines}");
                assert!(read(&reader, Part::Tail(lines), form) == tail, "{form:?} {lines}");
            }
            assert!(read(&reader, Part::All, form) == text);
            let from = text.find("line 5000 ").unwrap();
            assert!(read(&reader, Part::From(from as u64), form) == text[from..]);
        }
    }

    #[test]
    fn a_tail_is_counted_as_it_is_shown() {
        // Moving up ends a line without a line feed.
        let reader = reader("a\r\nb\x1b[Ac\x1b[Ad\r\ne");
        assert_eq!(read(&reader, Part::All, Form::Plain).lines().count(), 5);
        for (lines, text) in [(1, "e"), (2, "d\ne"), (3, "c\nd\ne")] {
            assert_eq!(read(&reader, Part::Tail(lines), Form::Plain).replace(' ', ""), text);
        }
    }

    #[test]
    fn a_tail_may_begin_far_from_the_end() {
        let text = "0123456789abcde\n".repeat((WORK as usize + (1 << 20)) / 16);
        let lines = text.len() as u64 / 16;
        let reader = reader(&text);
        for less in [1, 1000] {
            let tail = read(&reader, Part::Tail(lines - less), Form::Raw);
            assert_eq!(tail.len() as u64, (lines - less) * 16);
        }
    }

    /// What this thread has read of files.
    #[cfg(target_os = "linux")]
    fn bytes_read() -> u64 {
        let told = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        told.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn no_page_costs_more_than_the_one_before() {
        let text = "0123456789abcde\n".repeat(1 << 18);
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        let written = Timestamp::from_millis(0);
        let reader = Reader::over("t".into(), vec![Stretch::File(file)], written, None).unwrap();
        for part in [Part::All, Part::Head(u64::MAX), Part::Tail(u64::MAX)] {
            let before = bytes_read();
            assert!(read(&reader, part, Form::Plain) == text);
            let read = bytes_read() - before;
            assert!(read < 6 * text.len() as u64, "{part:?}: {read}");
        }
    }
}
