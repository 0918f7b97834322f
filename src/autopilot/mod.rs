//! Several tasks under one coordinator: a plan of jobs, each submitted when those it comes after have completed.

mod coordinate;
mod schedule;

pub(crate) use coordinate::coordinate;
