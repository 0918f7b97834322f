//! Whether an answer is still wanted.

use std::io;
use std::rc::Rc;

/// Checked for every part of a file that is read, so that a long search ends soon after its caller has gone.
#[derive(Clone)]
pub(crate) struct Wanted(Rc<dyn Fn() -> bool>);

#[derive(Debug, thiserror::Error)]
#[error("the answer is no longer wanted")]
struct Unwanted;

impl Wanted {
    /// Reads to the end in any case.
    pub(crate) fn always() -> Self {
        Self(Rc::new(|| true))
    }

    pub(crate) fn as_long_as(wanted: impl Fn() -> bool + 'static) -> Self {
        Self(Rc::new(wanted))
    }

    pub(super) fn check(&self) -> io::Result<()> {
        if (self.0)() { Ok(()) } else { Err(io::Error::other(Unwanted)) }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::host::MultiFileReader;
    use crate::inspect::reference_answers::{file, find, gzip};
    use crate::inspect::{Ask, InspectError, Mode, inspect};

    #[test]
    fn whatever_takes_long_ends_when_nobody_wants_it() {
        let content = b"a line of a long log\n".repeat(1 << 20);
        for stored in [content.clone(), gzip(&content)] {
            for mode in [
                find("no such thing", 0, 9),
                find(r"\Anothing", 0, 9),
                Mode::Summary,
                Mode::Range { start: 1 << 30, end: 1 << 30 },
                Mode::Select { path: "$.a".parse().unwrap(), max_values: 9 },
            ] {
                let asked = Rc::new(Cell::new(0));
                let count = Rc::clone(&asked);
                let wanted = Wanted::as_long_as(move || {
                    count.set(count.get() + 1);
                    count.get() < 5
                });
                let ask = Ask { mode, cursor: None, room: 1000 };
                let answer = inspect(MultiFileReader::whole(file(&stored)).unwrap(), None, &ask, wanted);
                assert!(matches!(answer, Err(InspectError::Read(_))), "{ask:?}");
                assert_eq!(asked.get(), 5, "{ask:?}");
            }
        }
    }
}
