//! What a client can ask for in the revision of the protocol that it speaks.

use rmcp::ErrorData;
use rmcp::model::{PaginatedRequestParams, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};

use crate::mcp::protocol::refused_methods::refused;
use crate::reply::line;

/// The client speaks the revision without sessions.
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

/// The client can poll: it says so with this very request, in the revision that
/// knows of it.
pub(crate) fn takes_tasks(context: &RequestContext<RoleServer>) -> bool {
    is_modern(context) && context.client_capabilities().is_some_and(|able| able.supports_tasks())
}

/// What is offered. Revision 2025-03-26 alone has batches, which nobody sends:
/// it is left out rather than half spoken.
pub(crate) fn offered() -> Vec<ProtocolVersion> {
    let known = ProtocolVersion::KNOWN_VERSIONS.iter();
    known.filter(|version| **version != ProtocolVersion::V_2025_03_26).cloned().collect()
}

/// What a client that asked for `wanted` is offered instead, where there is
/// something better than the newest: one that speaks 2025-03-26 may know nothing
/// newer, and knows the revision before.
pub(crate) fn instead_of(wanted: &ProtocolVersion) -> Option<ProtocolVersion> {
    (*wanted == ProtocolVersion::V_2025_03_26).then_some(ProtocolVersion::V_2024_11_05)
}

/// Refuses a cursor: every list is one page, so none was ever handed out.
pub(crate) fn check_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    let Some(cursor) = request.and_then(|request| request.cursor) else { return Ok(()) };
    let message = format!("no page has the cursor `{}`; the whole list comes without one", line(&cursor, 80));
    Err(ErrorData::invalid_params(message, None))
}

/// What sessions do not have is unknown to them.
pub(crate) fn check_modern(context: &RequestContext<RoleServer>, method: &str) -> Result<(), ErrorData> {
    if is_modern(context) { Ok(()) } else { Err(refused(method)) }
}
