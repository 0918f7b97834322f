//! Independent MCP clients drive the built server.
//!
//! Each client is the real one, in the version that `scripts/clients` and `scripts/agents` pin; a client that is missing
//! fails its tests. Every connection is recorded (`wire`) and held against what is promised to all clients (`rules`);
//! the test itself says what this client is to make of it. Every test gets a machine of its own (`world`).

#![allow(clippy::disallowed_methods, reason = "tests start programs and read the clock themselves")]

mod claude;
mod codex;
mod gemini;
mod inspector;
#[path = "../support/installed.rs"]
mod installed;
#[allow(dead_code, unused_imports, reason = "shared with other test targets, which use other parts")]
#[path = "../support/model.rs"]
mod model;
#[allow(dead_code, reason = "shared with other test targets, which use other parts")]
#[path = "../real/processes.rs"]
mod processes;
mod python;
mod rules;
mod setup;
mod story;
mod typescript;
mod wire;
mod world;

#[allow(dead_code, reason = "shared with other test targets, which use other parts")]
#[path = "../support"]
mod support {
    pub mod advertised;
    pub mod facts;
    pub mod inspected;
    pub mod lines;
    pub mod said;
}
