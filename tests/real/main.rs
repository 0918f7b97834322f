//! The built binary drives the real Codex, which talks to a scripted model.
//!
//! Nothing here is recorded or imitated but the model: the program, its sandbox, its threads and its processes are the
//! ones a user has. Every test gets a machine of its own (`env`), and leaves neither a process nor a change to the
//! user's Codex configuration behind, whatever it is about.

#![allow(clippy::disallowed_methods, reason = "tests start programs and read the clock themselves")]

mod answers;
mod autopilot;
mod cancel;
mod cloud;
mod env;
mod evidence;
mod failures;
mod golden;
mod guard;
#[path = "../support/installed.rs"]
mod installed;
#[path = "../support/model.rs"]
mod model;
mod processes;
mod progress;
mod resume;
mod skills;
mod worktrees;
