//! Why something failed: the first error of a cascade, and where it is.
//!
//! From commands that failed and from what the agent reports in its own format;
//! never from its prose. One file a format; each reads the lines once, in order.

mod again;
mod aside;
mod asks;
mod astray;
mod behind;
mod blame;
mod branch;
mod c;
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
mod frames;
mod go;
mod halfway;
mod headings;
mod idle;
mod java;
mod jest;
mod limits;
mod lint;
mod makefiles;
mod marked;
mod masked;
mod mends;
mod node;
mod not_begun;
mod of_files;
mod parts;
mod place;
mod proven;
mod python;
mod refusals;
mod rust;
mod said;
mod scripts;
mod signs;
mod tap;
mod template;
mod thrown;
mod timed;
mod tsc;
mod turns;
mod unheard;
mod verdict;
mod whereabouts;
mod whose;
mod work;

pub(super) use codes::printed as succeeded;
#[cfg(test)]
pub(super) use collect::left_by;
pub(crate) use collect::{ErrorEvidence, Errors};
pub(crate) use earlier::{EarlierError, EarlierErrors};
pub(crate) use place::Location;
