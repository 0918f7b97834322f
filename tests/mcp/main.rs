//! What the server offers beside its tools, asked for in plain JSON-RPC over
//! pipes: no library stands between the test and the wire.

#![allow(clippy::disallowed_methods, reason = "tests start programs and read the clock themselves")]
#![allow(clippy::unwrap_used, reason = "a surprise should panic")]

mod agreement;
mod captures;
mod cleaning;
mod client;
mod client_stops_reading;
mod codex;
mod commands;
mod completion;
mod database;
mod durable;
mod edge;
mod endings;
mod errors;
mod evidence;
mod generated_secrets;
mod inspecting;
mod keepers;
mod last_lines;
mod leaving;
mod listing;
mod locked;
mod opening;
mod parallel;
mod place;
mod polling;
mod primitives;
mod profiles;
mod prompts;
mod queue;
mod reading;
mod replies;
mod secrets;
mod stream_over_limit;
mod terminal;
mod token_cost;
mod unread;
mod updates;
mod watched;
mod working;
mod worktrees;

#[allow(dead_code, reason = "shared with other test targets, which use other parts")]
#[path = "../support"]
mod support {
    pub mod advertised;
    pub mod agent;
    pub mod checker;
    pub mod env;
    pub mod facts;
    pub mod inspected;
    pub mod journal;
    pub mod kept;
    pub mod kill;
    pub mod lines;
    pub mod said;
}
