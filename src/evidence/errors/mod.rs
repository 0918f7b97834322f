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
mod closing;
mod codes;
mod collect;
mod complaints;
mod diagnose;
mod earlier;
mod failing;
mod failure;
mod fates;
mod go;
mod headings;
mod idle;
mod java;
mod jest;
mod lint;
mod makefiles;
mod masked;
mod mends;
mod node;
mod parts;
mod place;
mod proven;
mod python;
mod rust;
mod said;
mod scripts;
mod signs;
mod tap;
mod template;
mod thrown;
mod tsc;
mod turns;
mod unheard;
mod verdict;
mod whereabouts;
mod whose;
mod work;

#[cfg(test)]
pub(super) use collect::left_by;
pub(crate) use collect::{ErrorEvidence, Errors};
pub(crate) use earlier::{EarlierError, EarlierErrors};
pub(crate) use place::Location;
