//! Several tasks under one coordinator: a plan of jobs, each submitted when those it comes after have completed.

mod aggregate;
mod branches;
mod cancel_jobs;
mod coordinate;
mod decide;
mod job_request;
mod planner;
mod schedule;

pub(crate) use coordinate::coordinate;
