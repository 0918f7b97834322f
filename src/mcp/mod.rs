//! The MCP server: the tools, the protocol around them, and HTTP.

mod http;
pub(crate) mod protocol;
mod serve;
pub(crate) mod tools;

pub(crate) use http::{Ended, listen};
pub(crate) use serve::serve;
