//! The conformance suite calls tools, prompts and resources of its own by
//! name. Where the server has one that does the same, that one is asked for
//! instead, so that it is the product that is judged.

use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::support::env::TestEnv;

pub struct StandIns<'a> {
    env: &'a TestEnv,
    /// The alias of a task that has ended.
    ended: OnceLock<String>,
}

impl StandIns<'_> {
    pub fn new(env: &TestEnv) -> StandIns<'_> {
        StandIns { env, ended: OnceLock::new() }
    }

    /// Puts ours in the place of the suite's, where there is one.
    pub fn replace(&self, message: &mut Value) {
        let params = &message["params"];
        let replaced = match message["method"].as_str().unwrap_or_default() {
            "tools/call" => self.tool(params),
            "prompts/get" => self.prompt(params),
            "completion/complete" => self.completion(params),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => self.resource(params),
            _ => None,
        };
        let Some(Value::Object(replaced)) = replaced else { return };
        for (name, value) in replaced {
            message["params"][name] = value;
        }
    }

    fn tool(&self, params: &Value) -> Option<Value> {
        let (tool, arguments) = match params["name"].as_str()? {
            // Whoever only wants to be asked something has no other stand-in: nothing of ours asks.
            "test_simple_text" | "greet" | "test_reconnection" | "confirm_delete" => {
                ("delegate_status", json!({}))
            }
            "test_error_handling" => ("delegate_results", json!({"task_id": "T-local-000000000000"})),
            "slow_compute" => {
                let seconds = params["arguments"]["seconds"].as_u64().unwrap_or(0);
                let task = self.env.submit(&format!("sleep {seconds}")).task_id;
                if seconds == 0 {
                    self.env.await_final(&task);
                }
                ("delegate_wait", json!({"task_id": task}))
            }
            "failing_job" => {
                let task = self.env.submit("sleep 1; exit 1").task_id;
                ("delegate_wait", json!({"task_id": task}))
            }
            "test_tool_with_progress" => {
                let ran = self.env.expect(0, &["run", "--agent", "replay", "--json", "fix-test"]);
                let started: Value = serde_json::from_str(&ran.stdout).unwrap();
                ("delegate_wait", json!({"task_id": started["task_id"]}))
            }
            _ => return None,
        };
        Some(json!({"name": tool, "arguments": arguments}))
    }

    fn prompt(&self, params: &Value) -> Option<Value> {
        let given = &params["arguments"];
        match params["name"].as_str()? {
            "test_simple_prompt" => Some(json!({"name": "review", "arguments": {"what": "the last commit"}})),
            "test_prompt_with_arguments" => {
                Some(json!({"name": "review", "arguments": {"what": given["arg1"], "focus": given["arg2"]}}))
            }
            _ => None,
        }
    }

    fn completion(&self, params: &Value) -> Option<Value> {
        let typed = &params["argument"]["value"];
        (params["ref"]["name"] == "test_prompt_with_arguments").then(|| {
            json!({"ref": {"type": "ref/prompt", "name": "review"}, "argument": {"name": "focus", "value": typed}})
        })
    }

    fn resource(&self, params: &Value) -> Option<Value> {
        let uri = match params["uri"].as_str()? {
            "test://static-text" => "delegator://tasks".to_owned(),
            "test://template/123/data" => format!("delegator://tasks/{}/stdout.log", self.ended()),
            "test://watched-resource" => format!("delegator://tasks/{}", self.ended()),
            _ => return None,
        };
        Some(json!({ "uri": uri }))
    }

    fn ended(&self) -> &str {
        self.ended.get_or_init(|| {
            let alias = "prints-123";
            let task = self.env.submit_with(&["--alias", alias], "echo 123").task_id;
            self.env.await_final(&task);
            alias.to_owned()
        })
    }
}
