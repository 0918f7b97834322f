//! `registry_info` about something that was pinned or unpinned.

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
    /// Whether cleanups leave it alone from now on.
    pinned: bool,
    /// Whether this call changed that.
    changed: bool,
    /// The result in one line.
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
            (PinState::Pinned, true) => "pinned: no cleanup removes it",
            (PinState::Pinned, false) => "was already pinned",
            (PinState::Unpinned, true) => "no longer pinned: a cleanup removes it once it has expired",
            (PinState::Unpinned, false) => "was not pinned",
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
