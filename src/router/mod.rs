//! Understands a request in plain words: what is to be done, and with which task. Pure.
//!
//! The words are data (`words.txt`). A request is about tasks only if a whole sentence of it is; everything else is
//! work for an agent. The router knows no files, no clock and no registry: tasks and times are arguments.

mod grammar;
mod intent;
mod lex;
mod resolve;
mod route;
mod words;
mod work;

pub(crate) use intent::{Control, Intent, Selector, Verb, Which};
pub(crate) use resolve::{Candidate, Purpose, Resolution, resolve};
pub(crate) use route::{Hints, Operation, route};
pub(crate) use work::Work;

#[cfg(test)]
#[path = "../../tests/router/requests.rs"]
mod requests;
