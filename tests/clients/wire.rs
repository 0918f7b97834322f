//! What was said on one connection, as the tap recorded it.

use std::fs;
use std::path::Path;

use serde_json::Value;

pub struct Wire {
    /// What the client wrote, message by message.
    pub client: Vec<Value>,
    /// What the server wrote.
    pub server: Vec<Value>,
}

/// A call of a tool and what came of it.
#[derive(Debug)]
pub struct Call {
    pub tool: String,
    pub id: Value,
    pub params: Value,
    /// Absent where the client gave up first.
    pub result: Option<Value>,
}

impl Wire {
    pub fn all(directory: &Path) -> Vec<Wire> {
        let files = fs::read_dir(directory).expect("the recordings").flatten().map(|entry| entry.path());
        let mut inputs: Vec<_> =
            files.filter(|file| file.extension().is_some_and(|kind| kind == "in")).collect();
        inputs.sort_by_key(|file| fs::metadata(file).and_then(|data| data.created()).ok());
        inputs
            .iter()
            .map(|file| Wire { client: read(file), server: read(&file.with_extension("out")) })
            .collect()
    }

    /// The revision that was spoken: the one agreed on, else the one that every request names.
    pub fn protocol(&self) -> &str {
        let agreed = self.server.iter().find_map(|message| message["result"]["protocolVersion"].as_str());
        let named = "io.modelcontextprotocol/protocolVersion";
        let named = || self.client.iter().find_map(|message| message["params"]["_meta"][named].as_str());
        agreed.or_else(named).unwrap_or("none")
    }

    /// The tools as they were listed, where somebody asked.
    pub fn tools(&self) -> Option<&Value> {
        let results = self.server.iter().map(|message| &message["result"]);
        results.into_iter().find(|result| result["tools"].is_array())
    }

    pub fn calls(&self) -> Vec<Call> {
        let requests = self.client.iter().filter(|message| message["method"] == "tools/call");
        let call = |request: &Value| Call {
            tool: request["params"]["name"].as_str().unwrap_or_default().to_owned(),
            id: request["id"].clone(),
            params: request["params"].clone(),
            result: self.answer_to(&request["id"]).map(|answer| answer["result"].clone()),
        };
        requests.map(call).collect()
    }

    /// The progress that was sent for a call, oldest first.
    pub fn progress(&self, call: &Call) -> Vec<f64> {
        let token = &call.params["_meta"]["progressToken"];
        let sent = self.server.iter().filter(|message| message["method"] == "notifications/progress");
        let sent = sent.map(|message| &message["params"]).filter(|params| params["progressToken"] == *token);
        sent.filter_map(|params| params["progress"].as_f64()).collect()
    }

    fn answer_to(&self, id: &Value) -> Option<&Value> {
        self.server.iter().find(|message| message.get("method").is_none() && message["id"] == *id)
    }
}

/// Everything on the connection has to be a message, and on a line of its own.
fn read(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let message = |line: &str| {
        let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    };
    text.lines().map(message).collect()
}
