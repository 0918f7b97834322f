//! Why something failed: the first error of a cascade, and where it is.
//!
//! From commands that failed and from what the agent reports in its own format;
//! never from its prose.

mod again;
mod aside;
mod asks;
mod astray;
mod behind;
mod blame;
mod branch;
mod cargo;
mod codes;
mod collect;
mod complaints;
mod diagnose;
mod died;
mod earlier;
mod failing;
mod failure;
mod fates;
mod formats;
mod frames;
mod halfway;
mod headings;
mod idle;
mod limits;
mod makefiles;
mod marked;
mod masked;
mod mends;
mod not_begun;
mod of_files;
mod parts;
mod place;
mod proven;
mod refusals;
mod said;
mod scripts;
mod signs;
mod template;
mod thrown;
mod timed;
mod turns;
mod unheard;
mod verdict;
mod whereabouts;
mod whose;
mod work;

use formats::{c, go, java, jest, lint, node, python, rust, tap, tsc};

pub(super) use codes::printed as succeeded;
#[cfg(test)]
pub(super) use collect::left_by;
pub(crate) use collect::{ErrorEvidence, Errors};
pub(crate) use earlier::{EarlierError, EarlierErrors};
pub(crate) use place::Location;
