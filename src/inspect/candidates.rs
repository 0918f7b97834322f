//! Which lines of a chunk have to be looked at as they are shown: those that
//! match by ripgrep's engine over their bytes, and those where that tells
//! nothing.

use std::io;
use std::ops::Range;

use grep_matcher::LineTerminator;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::Pattern;
use super::sight::Sight;
use crate::redact;

/// What terminals hide begins with it. A match may go across.
pub(super) const ESCAPE: u8 = 0x1b;
/// So many are collected before they are looked at.
const MOST: usize = 8 << 10;
/// How far a private key may reach.
const KEY: usize = 64 << 10;

pub(super) struct Candidates {
    searcher: Searcher,
    /// How far what comes next may be inside of a private key.
    key: usize,
}

impl Candidates {
    /// For chunks that follow one another from `offset` on.
    pub(super) fn new(offset: u64) -> Self {
        let searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .line_number(false)
            .binary_detection(BinaryDetection::none())
            .bom_sniffing(false)
            .build();
        Self { searcher, key: if offset > 0 { KEY } else { 0 } }
    }

    /// Lines, with their breaks, and up to where that is all of them. `chunk`
    /// is of whole lines.
    pub(super) fn find(&mut self, pattern: &Pattern, chunk: &[u8]) -> io::Result<(Vec<Range<usize>>, usize)> {
        let mut found = Lines { chunk, lines: Vec::new(), searched: chunk.len() };
        let is_key = pattern.sight == Sight::Marks && self.is_near_key(chunk);
        if is_key || pattern.sight == Sight::EveryLine {
            found.add([0].into_iter().chain(memchr_iter(b'\n', chunk).map(|at| at + 1)));
        } else {
            let mut matched = Matched(Vec::new());
            let matcher = pattern.loose.as_deref().unwrap_or(&pattern.matcher);
            self.searcher.search_slice(matcher, chunk, &mut matched)?;
            found.add(matched.0.into_iter());
            if pattern.loose.is_some() {
                found.lines.retain(|line| matches_or_hides(pattern, &chunk[line.clone()]));
            }
            found.add(memchr_iter(ESCAPE, chunk));
            if pattern.sight == Sight::Marks {
                found.add(redact::suspects(chunk));
            }
        }
        let Lines { mut lines, searched, .. } = found;
        self.key = self.key.saturating_sub(searched);
        lines.retain(|line| line.end <= searched);
        lines.sort_by_key(|line| line.start);
        lines.dedup();
        Ok((lines, searched))
    }

    fn is_near_key(&mut self, chunk: &[u8]) -> bool {
        let has_key = memmem::find(chunk, b"PRIVATE KEY").is_some();
        if has_key {
            self.key = chunk.len() + KEY;
        }
        self.key > 0
    }
}

/// Lines of a chunk that were collected so far.
struct Lines<'a> {
    chunk: &'a [u8],
    lines: Vec<Range<usize>>,
    /// Up to where there are all of them.
    searched: usize,
}

impl Lines<'_> {
    /// Adds the lines that these positions are in, which come in order.
    fn add(&mut self, positions: impl Iterator<Item = usize>) {
        let (mut added, mut done) = (0, 0);
        for at in positions {
            if at >= self.searched {
                break;
            }
            if at < done {
                continue;
            }
            let line = line_around(self.chunk, at);
            done = line.end;
            self.lines.push(line);
            added += 1;
            if added == MOST {
                self.searched = self.searched.min(done);
                break;
            }
        }
    }
}

/// Of a line that matches but for what stands beside the match: whether that
/// fits as well, or may be a secret, of which this must not depend.
fn matches_or_hides(pattern: &Pattern, line: &[u8]) -> bool {
    pattern.earliest_end(line, 0).is_some()
        || redact::suspects(line).next().is_some()
        || memmem::find(line, b"PRIVATE KEY").is_some()
}

fn line_around(chunk: &[u8], at: usize) -> Range<usize> {
    let start = memrchr(b'\n', &chunk[..at]).map_or(0, |before| before + 1);
    let end = memchr(b'\n', &chunk[at..]).map_or(chunk.len(), |length| at + length + 1);
    start..end
}

/// Where the lines begin that match.
struct Matched(Vec<usize>);

impl Sink for &mut Matched {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.0.push(found.absolute_byte_offset() as usize);
        Ok(self.0.len() < MOST)
    }
}
