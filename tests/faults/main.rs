//! Nothing lost: what happens when processes die, disks fill, and agents misbehave.
//!
//! Every test prints its figures. A test that kills or crashes ends with the
//! checker, which compares the registry and the run directories with what was
//! acknowledged and with what the fake agents say they did.

#![allow(clippy::disallowed_methods, reason = "tests start programs and read clocks of their own")]
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "figures are printed; a surprise should panic")]

mod bystanders;
mod checker;
mod claim;
mod cleaning;
mod cleanup;
mod coordinator;
mod copied;
mod crash;
mod crash_at_each_syscall;
mod crowd;
mod damage;
mod deleted;
mod descendants;
mod environment;
mod full_disk;
mod full_disk_at_exit;
mod groups;
mod half_committed;
mod hosted;
mod kills;
mod launch;
mod nested;
mod odd_agents;
mod output_schema;
mod pauses;
mod phase;
mod planted;
mod probes;
mod queue;
mod random_kills;
mod rebuild;
mod resume_crowd;
mod sample;
mod scene;
mod schema;
mod small_disk;
mod stop_at_syscall;
mod stopped_supervisor;
mod syscalls;
mod values;
mod windows;

#[allow(dead_code, reason = "shared with other test targets, which use other parts")]
#[path = "../support"]
mod support {
    pub mod agent;
    pub mod checker;
    pub mod env;
    pub mod journal;
    pub mod kept;
    pub mod kill;
    pub mod strace;
    pub mod tracer;
}
