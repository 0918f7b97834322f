//! How long a write waits while another process holds the registry's write lock.

use crate::registry::connection::wait_a_little;
use crate::registry::{Registry, RegistryError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// About ten seconds: somebody wants this very write.
    Usual,
    /// About a tenth of a second: whoever comes next can do it as well.
    Brief,
}

impl Registry {
    pub(crate) fn set_patience(&mut self, patience: Patience) -> Result<(), RegistryError> {
        let handler: fn(i32) -> bool = match patience {
            Patience::Usual => wait_a_little,
            Patience::Brief => |attempt| attempt < 100 && wait_a_little(attempt),
        };
        Ok(self.connection.busy_handler(Some(handler))?)
    }
}
