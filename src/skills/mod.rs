//! Skills: folders with a `SKILL.md` that tells an agent how a kind of work is done here.
//!
//! Finds them, reads what they say of themselves, and chooses those that fit a task. Their bodies are used for
//! ranking and go nowhere else.

mod cache;
mod discover;
mod front_matter;
// Beside the tasks and skills that it reads.
#[cfg(test)]
#[path = "../../tests/skills/labelled.rs"]
mod labelled;
mod rank;
mod roots;
mod select;
mod terms;

pub(crate) use discover::{Library, RootSummary, Skill, discover};
pub(crate) use roots::Places;
pub(crate) use select::select;
