//! Why something failed: the first error of a cascade, and where it is.
//!
//! From commands that failed and from what the agent reports in its own format;
//! never from its prose. One file a format; each reads the lines once, in order.

mod again;
mod asks;
mod behind;
mod blame;
mod branch;
mod c;
mod cargo;
mod codes;
mod collect;
mod diagnose;
mod failing;
mod go;
mod java;
mod jest;
mod lint;
mod loudness;
mod masked;
mod node;
mod place;
mod proven;
mod python;
mod rust;
mod said;
mod signs;
mod tap;
mod template;
mod thrown;
mod tsc;
mod unheard;
mod verdict;
mod whereabouts;
mod work;

#[cfg(test)]
pub(super) use collect::left_by;
pub(crate) use collect::{ErrorEvidence, Errors};
pub(crate) use place::Location;
