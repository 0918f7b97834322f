//! Long texts of replies, kept whole as files so that they can be read in
//! pieces.

mod store;

pub(crate) use store::{Captured, Captures, is_name};
