//! What this process itself may use at most; the kernel sees to it.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};

/// Ends this process once it has computed for `cpu`, and lets it have no more than `memory` bytes.
pub(crate) fn bound(cpu: Duration, memory: u64) -> std::io::Result<()> {
    let at_most = |most| Rlimit { current: Some(most), maximum: Some(most) };
    setrlimit(Resource::Cpu, at_most(cpu.as_secs()))?;
    setrlimit(Resource::As, at_most(memory))?;
    // Its end is foreseen, and nobody is to look into it.
    setrlimit(Resource::Core, at_most(0))?;
    Ok(())
}
