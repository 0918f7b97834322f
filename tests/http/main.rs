//! The server over HTTP: real requests to the built binary, over loopback.

#![allow(clippy::disallowed_methods, reason = "tests start programs and read the clock themselves")]
#![allow(clippy::unwrap_used, reason = "a surprise should panic")]

mod client;
mod conformance;
mod door;
mod limits;
mod peer;
mod proxy;
mod server;
mod sessions;
mod stand_ins;
mod start;
mod story;

#[allow(dead_code, reason = "shared with other test targets, which use other parts")]
#[path = "../support"]
mod support {
    pub mod advertised;
    pub mod checker;
    pub mod env;
    pub mod facts;
    pub mod inspected;
    pub mod installed;
    pub mod journal;
    pub mod kill;
    pub mod lines;
    pub mod said;
}
