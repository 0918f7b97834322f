//! Explains why a method is refused, and what to use instead.

use rmcp::ErrorData;
use rmcp::model::ErrorCode;

use crate::reply::line;

/// The error for a method that the client's revision does not have here.
pub(crate) fn refused(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, why(method), None)
}

/// Adds the reason to an error of the protocol library, whose message is only the name of the method.
pub(crate) fn explain(error: &mut ErrorData) {
    if error.code == ErrorCode::METHOD_NOT_FOUND && !error.message.contains(' ') {
        error.message = why(&error.message).into();
    }
}

/// Why `method` is refused. Some methods exist only in some revisions.
fn why(method: &str) -> String {
    let reason = match method {
        "tasks/get" | "tasks/update" | "tasks/cancel" => {
            "needs revision 2026-07-28; call the tool `delegate_wait` instead"
        }
        "tasks/list" | "tasks/result" => "is not supported; call `delegate_status` or `delegate_results`",
        "subscriptions/listen" => "needs revision 2026-07-28; use `resources/subscribe`",
        "resources/subscribe" | "resources/unsubscribe" => {
            "is not in revision 2026-07-28; use `subscriptions/listen`"
        }
        "ping" => "is not in revision 2026-07-28, which has no sessions",
        "logging/setLevel" => "is not supported: this server sends no log messages",
        "sampling/createMessage" | "elicitation/create" | "roots/list" => {
            "is a request that servers send to clients"
        }
        name if name.starts_with("notifications/") => "is a notification: send it without an `id`",
        name => {
            let known = "this server has tools, resources, prompts and completions";
            return format!("unknown method `{}`; {known}", line(name, 80));
        }
    };
    format!("`{method}` {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_gets_a_reason_and_a_reason_stays() {
        let mut error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "ping", None);
        explain(&mut error);
        assert!(error.message.contains("2026-07-28"), "{error:?}");
        let told = error.clone();
        explain(&mut error);
        assert_eq!(error, told);
    }
}
