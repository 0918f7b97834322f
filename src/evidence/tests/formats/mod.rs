//! The output formats of test runners, one file each. Each reads the lines once, in order, and knows nothing
//! about commands.

pub(super) mod cargo;
pub(super) mod go;
pub(super) mod jest;
pub(super) mod junit;
pub(super) mod jvm;
pub(super) mod mocha;
pub(super) mod nextest;
pub(super) mod node;
pub(super) mod pytest;
pub(super) mod tap;
pub(super) mod unittest;
pub(super) mod vitest;
