//! The formats of tools' errors, one file each. Each reads the lines once, in order, and knows nothing about
//! commands.

pub(super) mod c;
pub(super) mod go;
pub(super) mod java;
pub(super) mod jest;
pub(super) mod lint;
pub(super) mod node;
pub(super) mod python;
pub(super) mod rust;
pub(super) mod tap;
pub(super) mod tsc;
