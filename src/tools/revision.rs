//! What a client can ask for in the revision of the protocol that it speaks.

use rmcp::ErrorData;
use rmcp::model::{ErrorCode, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};

use crate::reply::line;

/// The client speaks the revision without sessions.
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Whether a method that takes parameters exists in the client's revision.
pub(super) fn has_method(name: &str, modern: bool) -> bool {
    match name {
        "tools/call" | "tools/list" | "resources/read" | "prompts/get" | "completion/complete" => true,
        "tasks/get" | "tasks/update" | "tasks/cancel" | "subscriptions/listen" => modern,
        "resources/subscribe" | "resources/unsubscribe" => !modern,
        _ => false,
    }
}

/// The client can poll: it says so with this very request, in the revision that
/// knows of it.
pub(super) fn takes_tasks(context: &RequestContext<RoleServer>) -> bool {
    is_modern(context) && context.client_capabilities().is_some_and(|able| able.supports_tasks())
}

/// What sessions do not have is unknown to them.
pub(super) fn check_modern(context: &RequestContext<RoleServer>, method: &str) -> Result<(), ErrorData> {
    if is_modern(context) { Ok(()) } else { Err(unknown_method(method)) }
}

pub(super) fn unknown_method(name: &str) -> ErrorData {
    let name = line(name, 80);
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method `{name}`"), None)
}
