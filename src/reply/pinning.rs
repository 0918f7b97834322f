//! `registry_info` about something that is kept whatever its age, or no longer.

use schemars::JsonSchema;
use serde::Serialize;

use crate::storage::PinState;
use crate::tasks::{Pinnable, Pinned};

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Pinning {
    #[schemars(extend("enum" = ["pin"]))]
    operation: &'static str,
    #[schemars(extend("enum" = ["run", "capture", "terminal"]))]
    kind: &'static str,
    /// The task's id, the capture's name, or the terminal's id.
    id: String,
    /// From now on no cleanup touches it.
    pinned: bool,
    /// It was not so before.
    changed: bool,
    /// All of this in one line.
    pub(crate) message: String,
}

impl Pinning {
    pub(crate) fn of(done: &Pinned, wanted: PinState) -> Self {
        let kind = match done.what {
            Pinnable::Run => "run",
            Pinnable::Capture => "capture",
            Pinnable::Terminal => "terminal",
        };
        let said = match (wanted, done.changed) {
            (PinState::Pinned, true) => "pinned: it is kept whatever its age",
            (PinState::Pinned, false) => "pinned before",
            (PinState::Unpinned, true) => "no longer pinned: it goes when its time is up",
            (PinState::Unpinned, false) => "not pinned before",
        };
        Self {
            operation: "pin",
            kind,
            id: done.name.clone(),
            pinned: wanted == PinState::Pinned,
            changed: done.changed,
            message: format!("{kind} {}: {said}", done.name),
        }
    }
}
