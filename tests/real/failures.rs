//! Runs that do not get there: each says so, with the reason its agent gave.

use serde_json::{Value, json};

use crate::env::{TestEnv, document};
use crate::model::task;

/// Runs a scenario that has to fail, checks the code and the words of the reason, and gives all that is known of it.
fn check(scenario: &str, arguments: &Value, code: &str, reason: &str) -> Value {
    let env = TestEnv::new();
    let run = env.run(&[], &task(scenario, arguments)).ended(1);
    assert_eq!(run["status"], "failed");
    assert!(run["error"].as_str().is_some_and(|error| error.contains(reason)), "{run:#}");
    let results = env.results(&run);
    assert_eq!(results["state"], "failed");
    let context = &results["metadata"]["error_context"];
    assert_eq!(context["code"], code, "{context:#}");
    assert!(context["error_message"].as_str().is_some_and(|text| text.contains(reason)), "{context:#}");
    // Once, and at once: nobody repeats what the provider refused.
    assert_eq!(env.requests().len(), 1);
    context.clone()
}

#[test]
fn a_refused_request_gives_the_providers_words() {
    let body = json!({ "error": { "message": "No such tool: teleport", "type": "invalid_request_error" } });
    check("status", &json!({ "code": 400, "body": body }), "TOOL_ERROR", "No such tool: teleport");
}

#[test]
fn too_many_requests_is_a_rate_limit() {
    let context = check("status", &json!({ "code": 429 }), "RATE_LIMITED", "429");
    assert_eq!(context["retryable"], true, "{context:#}");
}

#[test]
fn a_used_up_plan_is_a_rate_limit() {
    let body =
        json!({ "error": { "type": "usage_limit_reached", "message": "used up", "plan_type": "pro" } });
    check("status", &json!({ "code": 429, "body": body }), "RATE_LIMITED", "usage limit");
}

#[test]
fn a_quota_that_is_used_up_will_not_do_the_next_time_either() {
    let body =
        json!({ "error": { "code": "insufficient_quota", "message": "You exceeded your current quota" } });
    let context = check("status", &json!({ "code": 429, "body": body }), "RATE_LIMITED", "uota");
    assert_eq!(context["retryable"], false, "{context:#}");
}

#[test]
fn a_key_that_is_refused_is_a_fault_of_the_account() {
    let body = json!({ "error": { "message": "Incorrect API key provided", "code": "invalid_api_key" } });
    check("status", &json!({ "code": 401, "body": body }), "AUTH", "401");
}

#[test]
fn a_server_error_is_the_agents_failure() {
    check("status", &json!({ "code": 500 }), "TOOL_ERROR", "high demand");
}

#[test]
fn a_response_that_breaks_off_is_the_agents_failure() {
    let arguments = json!({ "code": "server_error", "message": "the model fell over" });
    check("failed", &arguments, "TOOL_ERROR", "the model fell over");
}

#[test]
fn a_key_that_was_not_handed_over_does_not_reach_the_agent() {
    let env = TestEnv::new();
    let task = task("plain", &json!({}));
    let run = env.delegator(&["run", "--agent", "codex", "--wait", "--json", &task]).ended(1);
    assert_eq!(run["status"], "failed");
    assert!(run["error"].as_str().is_some_and(|error| error.contains("FAKE_KEY")), "{run:#}");
    assert_eq!(env.results(&run)["metadata"]["error_context"]["code"], "AUTH");
    assert!(env.requests().is_empty());
}

/// Codex itself would wait for ever.
#[test]
fn a_provider_that_never_answers_is_ended_by_the_idle_limit() {
    let env = TestEnv::new();
    let run = env.run(&["--idle", "3"], &task("hang", &json!({}))).ended(1);
    assert_eq!(run["status"], "failed");
    assert_eq!(env.requests().len(), 1, "the request has to have been made");
    assert_eq!(document(&run, "result.json")["outcome"]["state"], "timed_out");

    let results = env.results(&run);
    assert_eq!(results["state"], "timeout");
    let context = &results["metadata"]["error_context"];
    assert_eq!(context["timeout_type"], "idle", "{context:#}");
}
