//! Splits a recording into segments of text with their byte ranges. Reading can continue after any
//! segment.

use std::ops::{ControlFlow, Range};

use crate::text::{EscapeStripper, PieceEnd};

const ESCAPE: u8 = 0x1b;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextForm {
    /// Without escape sequences.
    Plain,
    /// As sent to the terminal.
    Raw,
}

/// Text that became complete, and the bytes it came from.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) text: String,
    pub(super) bytes: Range<u64>,
    pub(super) ends_line: bool,
}

/// Splits a stream of bytes into segments.
pub(super) struct SegmentSplitter {
    form: TextForm,
    strip: EscapeStripper,
    raw: Vec<u8>,
    start: u64,
    at: u64,
    /// The last position at which reading could start again.
    between: u64,
}

impl SegmentSplitter {
    pub(super) fn new(form: TextForm, start: u64) -> Self {
        Self { form, strip: EscapeStripper::default(), raw: Vec::new(), start, at: start, between: start }
    }

    pub(super) fn set_width(&mut self, columns: u16) {
        self.strip.set_width(columns);
    }

    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(Segment) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for &byte in bytes {
            // An escape character ends any sequence and starts a new one.
            if byte == ESCAPE {
                self.between = self.at;
            }
            self.at += 1;
            let end = match self.form {
                TextForm::Plain => self.strip.step(byte),
                TextForm::Raw => self.keep(byte),
            };
            if self.form == TextForm::Raw || self.strip.is_between() {
                self.between = self.at;
            }
            if let Some(end) = end {
                let mut text = self.taken();
                if self.form == TextForm::Plain && end != PieceEnd::Long {
                    text.push('\n');
                }
                each(self.segment(text, self.at, end != PieceEnd::Long))?;
            }
        }
        ControlFlow::Continue(())
    }

    fn keep(&mut self, byte: u8) -> Option<PieceEnd> {
        const LONGEST: usize = 1024;
        self.raw.push(byte);
        match byte {
            b'\n' => Some(PieceEnd::Line),
            // Do not cut inside a character.
            _ if self.raw.len() >= LONGEST && (byte < 0x80 || self.raw.len() >= LONGEST + 4) => {
                Some(PieceEnd::Long)
            }
            _ => None,
        }
    }

    fn taken(&mut self) -> String {
        match self.form {
            TextForm::Plain => self.strip.take(),
            TextForm::Raw => String::from_utf8_lossy(&std::mem::take(&mut self.raw)).into_owned(),
        }
    }

    fn segment(&mut self, text: String, end: u64, ends_line: bool) -> Segment {
        Segment { text, bytes: std::mem::replace(&mut self.start, end)..end, ends_line }
    }

    /// The text after the last line feed. An incomplete sequence or character is left for the next
    /// read.
    pub(super) fn finish(mut self) -> Option<Segment> {
        if let Err(error) = std::str::from_utf8(&self.raw)
            && error.error_len().is_none()
        {
            self.between -= (self.raw.len() - error.valid_up_to()) as u64;
            self.raw.truncate(error.valid_up_to());
        }
        let text = self.taken();
        let end = self.between.max(self.start);
        (!text.is_empty() || end > self.start).then(|| self.segment(text, end, false))
    }
}
