//! What holds on every connection, whoever the client is.

use serde_json::Value;

use crate::support::advertised::Advertised;
use crate::wire::{Call, Wire};

#[track_caller]
pub fn check(wire: &Wire) {
    let advertised = wire.tools().map(Advertised::of);
    for call in wire.calls() {
        if let Some(result) = call.result.as_ref().filter(|result| result["resultType"] != "task") {
            let advertised = advertised.as_ref().unwrap_or_else(|| panic!("nobody asked for the tools"));
            advertised.check_reply(&call.tool, result);
        }
        rises(&wire.progress(&call), &call);
    }
    // What was polled for comes as the answer to something else.
    if let Some(advertised) = &advertised {
        wire.server.iter().for_each(|message| advertised.check(message));
    }
    stops_with_the_answer(wire);
    refuses_nothing(wire);
    if wire.protocol() == "2026-07-28" {
        asks_nothing(wire);
    }
}

#[track_caller]
pub fn rises(progress: &[f64], of: &Call) {
    assert!(progress.is_sorted_by(|a, b| a < b), "{} sent progress {progress:?}", of.tool);
}

/// Progress carries the token of a call that is not answered yet.
fn stops_with_the_answer(wire: &Wire) {
    let mut open: Vec<Call> = wire.calls();
    for message in &wire.server {
        if message["method"] == "notifications/progress" {
            let token = &message["params"]["progressToken"];
            let known = open.iter().any(|call| call.params["_meta"]["progressToken"] == *token);
            assert!(known, "progress for nobody: {message}");
        } else if message.get("method").is_none() {
            open.retain(|call| call.id != message["id"]);
        }
    }
}

/// Everything that real clients ask for is answered: what a tool cannot do is its result, not an error of the protocol.
fn refuses_nothing(wire: &Wire) {
    let errors: Vec<&Value> = wire.server.iter().filter(|message| message.get("error").is_some()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Since that revision only clients make requests.
fn asks_nothing(wire: &Wire) {
    let asks = |message: &&Value| message.get("method").is_some() && message.get("id").is_some();
    let asked: Vec<&Value> = wire.server.iter().filter(asks).collect();
    assert!(asked.is_empty(), "{asked:#?}");
}
