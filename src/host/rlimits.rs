//! Limits the resources of this process through the kernel.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};

/// Limits this process to `cpu` of computing time and `memory` bytes.
pub(crate) fn limit_self(cpu: Duration, memory: u64) -> std::io::Result<()> {
    let at_most = |most| Rlimit { current: Some(most), maximum: Some(most) };
    setrlimit(Resource::Cpu, at_most(cpu.as_secs()))?;
    setrlimit(Resource::As, at_most(memory))?;
    // No core dump: hitting the limit is expected.
    setrlimit(Resource::Core, at_most(0))?;
    Ok(())
}
