//! Reads all of a part, whatever its length, page by page in constant memory.

use std::io;
use std::ops::ControlFlow;

use crate::terminals::TerminalError;
use crate::terminals::part_request::PartSelector;
use crate::terminals::read::{Forward, PartRequest, Reader, WORK};
use crate::terminals::segments::{Segment, TextForm};

/// Characters per page.
const ROOM: usize = 64 << 10;

impl Reader {
    /// Calls `each` with all of `part`: redacted text, or the raw bytes. Returns why later bytes
    /// are missing, if any are.
    pub(crate) fn pages(
        &self,
        part: PartSelector,
        form: TextForm,
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<&str>, TerminalError> {
        let failed = |source| self.failed(source);
        let (mut from, mut lines) = match part {
            PartSelector::Head(lines) => (0, lines),
            PartSelector::Tail(lines) => (self.start_of_tail(lines, form).map_err(failed)?, u64::MAX),
            PartSelector::All => (0, u64::MAX),
            PartSelector::Since(moment) => (self.since(moment).map_err(failed)?, u64::MAX),
            PartSelector::From(offset) => (offset.min(self.length), u64::MAX),
        };
        loop {
            self.will_begin(from).map_err(failed)?;
            let ask = PartRequest { part, form, room: ROOM };
            let Forward { text, bytes, ended, cut, more } =
                self.forward(from, lines, &ask).map_err(failed)?;
            match form {
                TextForm::Plain => each(self.shown(&text, &bytes, form).map_err(failed)?.as_bytes()),
                // Raw output includes an incomplete end.
                TextForm::Raw if !more && ended < lines => self.copy(bytes.start..self.length, each)?,
                TextForm::Raw => self.copy(bytes.clone(), each)?,
            }
            if !cut {
                return Ok(self.bytes.damage.as_deref());
            }
            (from, lines) = (bytes.end, lines - ended);
        }
    }

    /// Where the last `lines` displayed lines begin.
    fn start_of_tail(&self, lines: u64, form: TextForm) -> io::Result<u64> {
        if lines == 0 {
            return Ok(self.length);
        }
        // Search near the end first: usually the start is there, and nothing before it must be
        // decompressed.
        let near = self.length.saturating_sub(WORK);
        self.will_begin(near)?;
        let mut start = self.start_of_last(lines, near)?;
        if start == near && near > 0 {
            self.will_begin(0)?;
            start = self.start_of_last(lines, 0)?;
        }
        // Cursor movement to another line displays one line as two.
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
#[path = "../../tests/terminal/read_all_tests.rs"]
mod tests;
