//! The built binary and the house it lives in.

mod tidy;
