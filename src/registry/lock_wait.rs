//! How long a write waits for the registry's write lock.

use crate::registry::connection::wait_a_little;
use crate::registry::{Registry, RegistryError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockPatience {
    /// About ten seconds: the caller needs this write.
    Usual,
    /// About a tenth of a second: another process can do it instead.
    Brief,
}

impl Registry {
    pub(crate) fn set_patience(&mut self, patience: LockPatience) -> Result<(), RegistryError> {
        let handler: fn(i32) -> bool = match patience {
            LockPatience::Usual => wait_a_little,
            LockPatience::Brief => |attempt| attempt < 100 && wait_a_little(attempt),
        };
        Ok(self.connection.busy_handler(Some(handler))?)
    }
}
