//! Measures the performance budgets, each beside a reference in the same run.
//!
//! `cargo bench --bench budgets` prints one table; `-- --quick` takes fewer samples, `-- submit
//! wake` runs only those parts. A missed budget is printed but is no failure, because figures
//! depend on the machine.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads clocks and opens databases itself")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a benchmark prints, and has nobody to report errors to"
)]

mod agent;
mod capture;
mod codex;
mod crowd;
mod disk;
mod end;
mod figures;
mod files;
mod inspect;
mod machine;
mod memory;
mod serve;
mod skills;
mod status;
mod submit;
mod wake;
mod world;

use std::time::Duration;

use figures::Table;

/// The number of measurements.
#[derive(Debug, Clone, Copy)]
struct Effort {
    submits: usize,
    wakes: usize,
    looks: usize,
    /// Files in the larger repository.
    tree: usize,
    flood_bytes: u64,
    stream_bytes: u64,
    log_bytes: u64,
    reads: usize,
    /// How long to wait for the disk.
    patience: Duration,
}

const FULL: Effort = Effort {
    submits: 300,
    wakes: 100,
    looks: 100,
    tree: 100_000,
    flood_bytes: 1 << 30,
    stream_bytes: 3_000_000_000,
    log_bytes: 1 << 30,
    reads: 11,
    // Longer than freed inodes are examined.
    patience: Duration::from_secs(10 * 60),
};
const QUICK: Effort = Effort {
    submits: 40,
    wakes: 20,
    looks: 20,
    tree: 5_000,
    flood_bytes: 256 << 20,
    stream_bytes: 600_000_000,
    log_bytes: 256 << 20,
    reads: 5,
    patience: Duration::ZERO,
};

type Part = fn(Effort, &mut Table);

const PARTS: [(&str, Part); 12] = [
    ("submit", submit::measure),
    ("crowd", crowd::measure),
    ("serve", serve::measure),
    ("memory", memory::measure),
    ("wake", wake::measure),
    ("capture", capture::measure),
    ("end", end::measure),
    ("codex", codex::measure),
    ("status", status::measure),
    ("files", files::measure),
    ("inspect", inspect::measure),
    ("skills", skills::measure),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if agent::plays(&args) {
        return;
    }
    let effort = if args.iter().any(|arg| arg == "--quick") { QUICK } else { FULL };
    let wanted: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    machine::adopt_orphans();
    let mut table = Table::begin();
    for (name, measure) in PARTS {
        if wanted.is_empty() || wanted.iter().any(|wanted| *wanted == name) {
            measure(effort, &mut table);
        }
    }
    table.end();
    world::remove_all();
}
