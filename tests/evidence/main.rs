//! What a run is said to have changed, held against real git in real
//! repositories; and that looking at them changes and starts nothing.

#![allow(clippy::disallowed_methods, reason = "tests start programs and read clocks of their own")]
#![allow(clippy::unwrap_used, reason = "a surprise should panic")]

mod commands;
mod commits;
mod edits;
mod hostile;
mod inside;
mod line_ends;
mod lost;
mod many;
mod odd;
mod oracle;
mod outside;
mod overlap;
mod pipes;
mod replies;
mod reports;
mod repositories;
mod rules;
mod settings;
mod sparse;
mod stale;
mod trees;
mod worktrees;
mod worktrees_protect;
mod world;

#[allow(dead_code, reason = "shared with other test targets, which use other parts")]
#[path = "../support"]
mod support {
    pub mod checker;
    pub mod env;
    pub mod installed;
    pub mod journal;
    pub mod kill;
}
