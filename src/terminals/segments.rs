//! Cuts a recording into pieces of text that each come from bytes of their own:
//! whoever goes on after one sees what follows it, whole.

use std::ops::{ControlFlow, Range};

use crate::text::{End, Strip};

const ESCAPE: u8 = 0x1b;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Without escape sequences.
    Plain,
    /// As the terminal was sent it.
    Raw,
}

/// Text that was completed at once, and where it came from.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) text: String,
    pub(super) bytes: Range<u64>,
    pub(super) ends_line: bool,
}

/// Cuts a stream of bytes into segments.
pub(super) struct Cutter {
    form: Form,
    strip: Strip,
    raw: Vec<u8>,
    start: u64,
    at: u64,
    /// The last place that reading could begin at anew.
    between: u64,
}

impl Cutter {
    pub(super) fn new(form: Form, start: u64) -> Self {
        Self { form, strip: Strip::default(), raw: Vec::new(), start, at: start, between: start }
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
            // An escape ends whatever it stands in, and begins anew.
            if byte == ESCAPE {
                self.between = self.at;
            }
            self.at += 1;
            let end = match self.form {
                Form::Plain => self.strip.step(byte),
                Form::Raw => self.keep(byte),
            };
            if self.form == Form::Raw || self.strip.is_between() {
                self.between = self.at;
            }
            if let Some(end) = end {
                let mut text = self.taken();
                if self.form == Form::Plain && end != End::Long {
                    text.push('\n');
                }
                each(self.segment(text, self.at, end != End::Long))?;
            }
        }
        ControlFlow::Continue(())
    }

    fn keep(&mut self, byte: u8) -> Option<End> {
        const LONGEST: usize = 1024;
        self.raw.push(byte);
        match byte {
            b'\n' => Some(End::Line),
            // Not in the middle of a character.
            _ if self.raw.len() >= LONGEST && (byte < 0x80 || self.raw.len() >= LONGEST + 4) => {
                Some(End::Long)
            }
            _ => None,
        }
    }

    fn taken(&mut self) -> String {
        match self.form {
            Form::Plain => self.strip.take(),
            Form::Raw => String::from_utf8_lossy(&std::mem::take(&mut self.raw)).into_owned(),
        }
    }

    fn segment(&mut self, text: String, end: u64, ends_line: bool) -> Segment {
        Segment { text, bytes: std::mem::replace(&mut self.start, end)..end, ends_line }
    }

    /// What no line feed has ended yet. A sequence or a character that is not
    /// complete is left for the next time.
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
