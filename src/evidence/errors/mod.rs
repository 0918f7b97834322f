//! Why something failed: the first error of a cascade, and where it is.
//!
//! From commands that failed and from what the agent reports in its own format;
//! never from its prose. One file a format; each reads the lines once, in order.

mod again;
mod aside;
mod behind;
mod blame;
mod c;
mod cargo;
mod codes;
mod collect;
mod diagnose;
mod earlier;
mod failing;
mod failure;
mod go;
mod idle;
mod java;
mod jest;
mod lint;
mod mends;
mod node;
mod parts;
mod place;
mod proven;
mod python;
mod rust;
mod said;
mod scripts;
mod tap;
mod thrown;
mod tsc;
mod unheard;
mod verdict;
mod whereabouts;
mod whose;
mod work;

pub(crate) use collect::{ErrorEvidence, Errors};
pub(crate) use earlier::{EarlierError, EarlierErrors};
pub(crate) use place::Location;
