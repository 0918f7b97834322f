//! Recorded terminals, in real ones: what a person sees and what is kept of it.

#![allow(clippy::disallowed_methods, reason = "tests start programs and read clocks of their own")]
#![allow(clippy::unwrap_used, reason = "a surprise should panic")]

mod endings;
mod nesting;
mod other_shells;
mod passing;
mod reading;
mod recording;
mod replay;
mod setup;
mod setup_clients;
mod startup;
mod tmux;
mod trouble;
mod window;

#[allow(dead_code, reason = "shared with other test targets, which use other parts")]
#[path = "../support"]
mod support {
    pub mod checker;
    pub mod env;
    pub mod journal;
    pub mod kill;
}
