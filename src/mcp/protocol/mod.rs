//! The MCP protocol apart from the tools: messages, clients, waits, resources, subscriptions.

pub(crate) mod client;
pub(crate) mod completion;
pub(crate) mod delivery;
pub(crate) mod describe;
pub(crate) mod dispatch;
pub(crate) mod follow_tasks;
#[cfg(any(test, fuzzing))]
#[path = "../../../tests/mcp/fuzz_edge.rs"]
pub(crate) mod fuzz_edge;
pub(crate) mod learned_patience;
pub(crate) mod message_filter;
pub(crate) mod polled_waits;
pub(crate) mod progress_notices;
pub(crate) mod prompts;
pub(crate) mod read_receipts;
pub(crate) mod refused_methods;
pub(crate) mod request_id_scan;
pub(crate) mod resource_address;
pub(crate) mod resource_text;
pub(crate) mod resources;
pub(crate) mod revision;
pub(crate) mod server;
pub(crate) mod server_state;
pub(crate) mod stdin_lines;
pub(crate) mod subscriptions;
pub(crate) mod tool_call;
pub(crate) mod unknown_tool;

pub(crate) use delivery::{Delivery, Known};
pub(crate) use message_filter::Gate;
pub(crate) use read_receipts::Read;
pub(crate) use request_id_scan::Scan;
pub(crate) use server::Server;
pub(crate) use server_state::{MOST_CALLS, Shared};
pub(crate) use stdin_lines::Input;
pub(crate) use tool_call::{Call, Reply, arguments, failure, parsed, refused};
