//! Finds the lines of a chunk that must be checked in the form in which they are shown: those whose bytes
//! match in ripgrep's engine or contain the word, and those whose bytes are not conclusive.

use std::io;
use std::ops::Range;

use grep_matcher::LineTerminator;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use memchr::{memchr, memchr_iter, memmem, memrchr};

use crate::inspect::Pattern;
use crate::inspect::control_bytes::unlike_shown;
use crate::inspect::line_pieces::{goes_on, unredacted};
use crate::inspect::pattern_visibility::Sight;
use crate::inspect::private_keys::names_key;
use crate::redact::{self, SuspectFinder};

/// How many lines to collect before checking them.
const MOST: usize = 8 << 10;
/// The maximum extent of a private key.
const KEY: usize = 64 << 10;

pub(super) struct Candidates {
    searcher: Searcher,
    /// Prepared if secrets have to be found.
    suspects: Option<SuspectFinder>,
    /// How far the next bytes may be inside a private key.
    key: usize,
    /// Whether the next bytes may continue the previous line.
    continues: bool,
}

impl Candidates {
    /// For consecutive chunks from `offset` on.
    pub(super) fn new(offset: u64) -> Self {
        let searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .line_number(false)
            .binary_detection(BinaryDetection::none())
            .bom_sniffing(false)
            .build();
        let is_inside = offset > 0;
        Self { searcher, suspects: None, key: if is_inside { KEY } else { 0 }, continues: is_inside }
    }

    /// Candidate lines with their line breaks, and the position up to which all were found. `chunk` consists
    /// of whole lines. `after` is what follows: a private key may end there, and that is all it is used for.
    pub(super) fn find(
        &mut self,
        pattern: &Pattern,
        chunk: &[u8],
        after: &[u8],
    ) -> io::Result<(Vec<Range<usize>>, usize)> {
        let mut found = Lines { chunk, lines: Vec::new(), searched: chunk.len() };
        let is_key = pattern.sight == Sight::Marks && self.is_near_key(chunk, after);
        if is_key || pattern.sight == Sight::EveryLine {
            found.add([0].into_iter().chain(memchr_iter(b'\n', chunk).map(|at| at + 1)));
        } else {
            if let Some(word) = &pattern.word {
                found.add(word.lines(chunk));
            } else {
                let mut matched = Matched(Vec::new());
                let matcher = pattern.loose.as_deref().unwrap_or(&pattern.matcher);
                self.searcher.search_slice(matcher, chunk, &mut matched)?;
                found.add(matched.0.into_iter());
            }
            if pattern.loose.is_some() {
                found.lines.retain(|line| matches_or_hides(pattern, &chunk[line.clone()]));
            }
            let mut unlike = Lines { chunk, lines: Vec::new(), searched: found.searched };
            unlike.add(unlike_shown(chunk));
            if pattern.sight == Sight::Text {
                // No match touches a mark: a match that is shown was there before redaction.
                unlike.lines.retain(|line| pattern.may_match(unredacted(&chunk[line.clone()]).as_bytes(), 0));
            }
            found.lines.append(&mut unlike.lines);
            found.searched = unlike.searched;
            if pattern.sight == Sight::Marks {
                let suspects = self.suspects.get_or_insert_with(|| SuspectFinder::new(&pattern.kinds));
                found.add(suspects.find(chunk).into_iter());
                // A secret may have begun in the previous line.
                found.add(self.continues.then_some(0).into_iter());
                for goes_on in [&b"\\\n"[..], b"\\\r\n"] {
                    found.add(memmem::find_iter(chunk, goes_on).map(|at| at + goes_on.len()));
                }
            }
        }
        let Lines { mut lines, searched, .. } = found;
        self.key = self.key.saturating_sub(searched);
        self.continues = chunk[..searched].strip_suffix(b"\n").is_some_and(goes_on);
        lines.retain(|line| line.end <= searched);
        lines.sort_by_key(|line| line.start);
        lines.dedup();
        Ok((lines, searched))
    }

    /// Candidate lines of a chunk without knowing what precedes it; `None` if that matters, or if there are
    /// too many.
    pub(super) fn find_apart(
        &mut self,
        pattern: &Pattern,
        chunk: &[u8],
        after: &[u8],
    ) -> io::Result<Option<Vec<Range<usize>>>> {
        let is_near_key = || names_key(chunk) || names_key(after);
        if pattern.sight == Sight::EveryLine || pattern.sight == Sight::Marks && is_near_key() {
            return Ok(None);
        }
        (self.key, self.continues) = (0, true);
        let (lines, searched) = self.find(pattern, chunk, after)?;
        Ok((searched == chunk.len()).then_some(lines))
    }

    /// Whether the next lines may belong to a private key. That matters only if the pattern sees marks.
    pub(super) fn may_be_key(&self, pattern: &Pattern) -> bool {
        self.key > 0 && pattern.sight == Sight::Marks
    }

    /// Skips bytes that contain no key markers.
    pub(super) fn pass(&mut self, bytes: u64) {
        self.key = self.key.saturating_sub(usize::try_from(bytes).unwrap_or(usize::MAX));
        self.continues = true;
    }

    /// Records bytes that were searched elsewhere.
    pub(super) fn see(&mut self, bytes: &[u8]) {
        if names_key(bytes) {
            self.key = KEY;
        }
        self.continues = true;
    }

    fn is_near_key(&mut self, chunk: &[u8], after: &[u8]) -> bool {
        if names_key(chunk) {
            self.key = chunk.len() + KEY;
        }
        self.key > 0 || names_key(after)
    }
}

/// The lines of a chunk collected so far.
struct Lines<'a> {
    chunk: &'a [u8],
    lines: Vec<Range<usize>>,
    /// All lines up to here have been found.
    searched: usize,
}

impl Lines<'_> {
    /// Adds the lines at these positions, which must be ascending.
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

/// For a line that matches except for what stands beside the match: whether that matches too, or may be a
/// secret, on which the result must not depend.
fn matches_or_hides(pattern: &Pattern, line: &[u8]) -> bool {
    pattern.earliest_end(line, 0).is_some() || redact::suspects(line).next().is_some() || names_key(line)
}

fn line_around(chunk: &[u8], at: usize) -> Range<usize> {
    let start = memrchr(b'\n', &chunk[..at]).map_or(0, |before| before + 1);
    let end = memchr(b'\n', &chunk[at..]).map_or(chunk.len(), |length| at + length + 1);
    start..end
}

/// Where matching lines begin.
struct Matched(Vec<usize>);

impl Sink for &mut Matched {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.0.push(found.absolute_byte_offset() as usize);
        Ok(self.0.len() < MOST)
    }
}
