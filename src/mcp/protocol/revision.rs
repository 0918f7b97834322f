//! Which methods exist in the client's revision of the protocol.

use rmcp::ErrorData;
use rmcp::model::{PaginatedRequestParams, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};

use crate::mcp::protocol::refused_methods::refused;
use crate::reply::line;

/// Whether the client speaks the revision without sessions.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Whether a method that takes parameters exists in the client's revision.
pub(crate) fn has_method(name: &str, modern: bool) -> bool {
    match name {
        "tools/call" | "tools/list" | "resources/read" | "prompts/get" | "completion/complete" => true,
        "tasks/get" | "tasks/update" | "tasks/cancel" | "subscriptions/listen" => modern,
        "resources/subscribe" | "resources/unsubscribe" => !modern,
        _ => false,
    }
}

/// Whether the client can poll a wait: it declares that in the request, in the revision that has it.
pub(crate) fn takes_tasks(context: &RequestContext<RoleServer>) -> bool {
    is_modern(context) && context.client_capabilities().is_some_and(|able| able.supports_tasks())
}

/// The supported revisions. 2025-03-26 is left out because it alone has batches, which no client sends.
pub(crate) fn offered() -> Vec<ProtocolVersion> {
    let known = ProtocolVersion::KNOWN_VERSIONS.iter();
    known.filter(|version| **version != ProtocolVersion::V_2025_03_26).cloned().collect()
}

/// The revision to offer to a client that asked for `wanted`, if not the newest: a client of 2025-03-26 may
/// know nothing newer, but knows the revision before it.
pub(crate) fn instead_of(wanted: &ProtocolVersion) -> Option<ProtocolVersion> {
    (*wanted == ProtocolVersion::V_2025_03_26).then_some(ProtocolVersion::V_2024_11_05)
}

/// Refuses a cursor: every list is one page, so the server never returns one.
pub(crate) fn check_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    let Some(cursor) = request.and_then(|request| request.cursor) else { return Ok(()) };
    let message = format!("unknown cursor `{}`; leave it out for the whole list", line(&cursor, 80));
    Err(ErrorData::invalid_params(message, None))
}

/// Refuses, in a session, a method that only the revision without sessions has.
pub(crate) fn check_modern(context: &RequestContext<RoleServer>, method: &str) -> Result<(), ErrorData> {
    if is_modern(context) { Ok(()) } else { Err(refused(method)) }
}
