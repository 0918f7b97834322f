//! Tries to get more than the operator allows, by every way that a request offers.
//!
//! Raw JSON-RPC over pipes against the built binary (`client`), in a machine of its own (`world`). What is refused must
//! say what would allow it, and must leave nothing behind: no directory, no row. Beside each attack stands a request
//! that differs only in what is attacked, and passes. `codex` has the real one as the client.

#![allow(clippy::disallowed_methods, reason = "tests start programs and read the clock themselves")]
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "figures are printed; a surprise should panic")]

mod ceiling;
mod client;
mod codex;
mod commands;
mod guarded;
mod hints;
mod inside;
#[allow(dead_code, unused_imports, reason = "shared with other test targets, which use other parts")]
#[path = "../support/model.rs"]
mod model;
mod nested;
mod paths;
mod reach;
mod resume;
mod scope;
mod settings;
mod swapped;
mod world;

#[allow(dead_code, reason = "shared with other test targets, which use other parts")]
#[path = "../support"]
mod support {
    pub mod advertised;
    pub mod checker;
    pub mod facts;
    pub mod inspected;
    pub mod installed;
    pub mod journal;
    pub mod kill;
    pub mod lines;
    pub mod said;
}
