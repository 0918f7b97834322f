//! Whether a shell minds a failure inside a pipeline: `set -o pipefail`, while it holds.

/// What words of `set`, or options of a shell, make of it; `None` where they do not speak of it.
pub(super) fn asked(args: &[String]) -> Option<bool> {
    let mut asked = None;
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let Some(letters) = arg.strip_prefix(['-', '+']).filter(|letters| !letters.starts_with('-')) else {
            break;
        };
        if letters.ends_with('o') && args.next() == Some("pipefail") {
            asked = Some(arg.starts_with('-'));
        }
    }
    asked
}

/// How it stands in the shell that is being read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pipefail {
    /// Whether it holds whatever succeeded before.
    firm: bool,
    /// Whether it holds where all before it in this chain succeeded.
    here: bool,
}

impl Pipefail {
    /// In a new shell that was told so, or was not.
    pub(super) fn new(firm: bool) -> Self {
        Self { firm, here: firm }
    }

    /// Whether it holds for a pipe that stands here.
    pub(super) fn holds(self) -> bool {
        self.here
    }

    /// In a group that is entered here.
    pub(super) fn inside(self) -> Self {
        Self::new(self.here)
    }

    /// `set`, which runs only after a success of what stands before it where it `waits`.
    pub(super) fn set(&mut self, asked: bool, waits: bool) {
        self.here = asked;
        self.firm = asked && (self.firm || !waits);
    }

    /// What follows does not wait for a success any more.
    pub(super) fn end_chain(&mut self) {
        self.here = self.firm;
    }

    /// After a group that may not have run in this shell, or not at all; `before` is how it stood there.
    pub(super) fn doubt(&mut self, before: Self) {
        *self = Self::new(self.firm && before.firm);
    }
}
