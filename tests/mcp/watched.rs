//! A world with secrets of every kind in it, and all the ways to ask of it:
//! whatever is said is looked through for them.

use serde_json::{Value, json};

use crate::client::Client;
use crate::generated_secrets::{Secret, Watch, secrets};
use crate::support::env::TestEnv;

/// Where an agent may let a secret slip.
const PLACES: [&str; 9] =
    ["message", "command", "output", "file", "plan", "error", "tool", "stderr", "terminal"];

/// A world with secrets in it, and all that was heard of it.
pub struct World {
    pub env: TestEnv,
    pub client: Client,
    secrets: Vec<(&'static str, Vec<Secret>)>,
    watch: Watch,
    leaks: Vec<String>,
    /// How many answers had secrets that were taken out.
    marked: usize,
}

impl World {
    pub fn new() -> World {
        let env = TestEnv::new();
        // A key without end hides the rest of a text, which then says less than it should.
        let client = Client::of(&env, &["--tools", "all"], &[]).unjudged();
        let secrets: Vec<_> = PLACES.iter().map(|place| (*place, secrets(place))).collect();
        let all = secrets.iter().flat_map(|(place, all)| all.iter().map(|one| (*place, one)));
        let watch = Watch::for_all(all);
        World { env, client, secrets, watch, leaks: Vec::new(), marked: 0 }
    }

    pub fn of(&self, place: &str) -> &[Secret] {
        &self.secrets.iter().find(|(known, _)| *known == place).unwrap().1
    }

    /// All secrets of a place as one text.
    pub fn text(&self, place: &str) -> String {
        self.of(place).iter().map(|one| format!("{}\n", one.text)).collect()
    }

    pub fn note(&mut self, way: &str, said: &str) {
        assert!(!said.is_empty(), "{way} said nothing");
        self.marked += usize::from(said.contains("[redacted:"));
        let leaks = self.watch.leaks(said);
        self.leaks.extend(leaks.into_iter().map(|leak| format!("{way}: {leak}")));
    }

    /// Asks over the protocol, and looks at all that came meanwhile.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.client.begin(method, params.clone());
        let answer = self.client.answer(id);
        let heard = self.client.heard();
        let way = format!("{method} {params}");
        self.note(&way[..way.floor_char_boundary(160)], &heard);
        answer["result"].clone()
    }

    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "p" } }),
        )
    }

    /// Every part of an answer, by the cursor; how many there are.
    pub fn pages(&mut self, tool: &str, ask: &Value, cursor: &str) -> usize {
        let mut ask = ask.clone();
        for count in 1.. {
            let reply = self.call(tool, &ask);
            let data = &reply["structuredContent"]["data"];
            match data[cursor].as_str() {
                Some(next) if data["truncated"] != false => ask["cursor"] = json!(next),
                _ => return count,
            }
        }
        unreachable!("every page has a number")
    }

    /// Asks at the shell, for people and for programs.
    pub fn shell(&mut self, args: &[&str]) {
        for more in [&[][..], &["--json"]] {
            let args = [args, more].concat();
            let ran = self.env.run(&args);
            self.note(&args.join(" "), &format!("{}\n{}", ran.stdout, ran.stderr));
        }
    }

    #[track_caller]
    pub fn nothing_leaked(self) {
        self.expect_marked(10);
    }

    /// As [`nothing_leaked`](Self::nothing_leaked), of fewer answers.
    #[track_caller]
    pub fn expect_marked(self, least: usize) {
        let World { leaks, marked, .. } = self;
        assert!(marked >= least, "only {marked} answers were about secrets");
        assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
    }

    /// All that can be asked of a run.
    pub fn look_at(&mut self, task: &str) {
        self.call("delegate_wait", &json!({ "task_ids": [task] }));
        for more in [
            json!({}),
            json!({ "format": "json" }),
            json!({ "include_output": true, "include_events": true }),
            json!({ "include_output": true, "max_output_bytes": 2000, "format": "json" }),
        ] {
            let mut ask = more;
            ask["task_id"] = json!(task);
            let result = self.call("delegate_results", &ask);
            if let Some(file) = result["structuredContent"]["data"]["full_output_file"].as_str() {
                self.inspect(&json!({ "file_path": file }));
            }
        }
        for ask in [json!({}), json!({ "task_id": task }), json!({ "task_id": task, "format": "json" })] {
            self.call("delegate_status", &ask);
        }
        let of = json!({ "task_id": task });
        for (uri, name) in [
            ("delegator://tasks/{task_id}", "task_id"),
            ("delegator://tasks/{task_id}/{artifact}", "artifact"),
        ] {
            let argument = json!({ "name": name, "value": "" });
            let reference = json!({ "type": "ref/resource", "uri": uri });
            self.ask(
                "completion/complete",
                &json!({ "ref": reference, "argument": argument, "context": { "arguments": of } }),
            );
        }
        self.ask("resources/list", &json!({}));
        self.ask("resources/read", &json!({ "uri": "delegator://tasks" }));
        self.ask("resources/read", &json!({ "uri": format!("delegator://tasks/{task}") }));
        let results = self.call("delegate_results", &json!({ "task_id": task }));
        let artifacts = results["structuredContent"]["data"]["files"].as_array().unwrap().clone();
        assert!(artifacts.len() > 2, "{results}");
        for artifact in &artifacts {
            let artifact = artifact.as_str().unwrap_or_else(|| panic!("{artifact}"));
            self.ask("resources/read", &json!({ "uri": format!("delegator://tasks/{task}/{artifact}") }));
            self.inspect(&json!({ "task_id": task, "artifact": artifact }));
            for mode in [
                &["--head", "40"][..],
                &["--tail", "7"],
                &["--summary"],
                &["--grep", "a"],
                &["--json-path", "$..*"],
            ] {
                self.shell(&[&["inspect", task, artifact], mode].concat());
            }
        }
        self.shell(&["results", task]);
        self.shell(&["results", task, "--output"]);
        self.shell(&["wait", task]);
        self.shell(&["status"]);
        self.shell(&["status", task]);
    }

    /// One file in every way, and by patterns that would find its secrets.
    pub fn inspect(&mut self, of: &Value) {
        let middles: Vec<String> = self
            .secrets
            .iter()
            .flat_map(|(_, all)| all.iter().map(|one| one.middle()[..6].to_owned()))
            .collect();
        let with = |more: Value| {
            let mut ask = of.clone();
            ask.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            ask
        };
        for ask in [
            json!({ "mode": "head", "lines": 100 }),
            json!({ "mode": "tail", "lines": 5 }),
            json!({ "mode": "tail", "lines": 100 }),
            json!({ "mode": "range", "start_line": 2, "end_line": 9, "format": "json" }),
            json!({ "mode": "summary" }),
            json!({ "pattern": "key|[A-Z][a-z][0-9]", "context_lines": 2 }),
            json!({ "json_path": "$..*" }),
            json!({ "json_path": "$.item", "max_matches": 9 }),
        ] {
            self.call("inspect_output", &with(ask));
        }
        for some in middles.chunks(40) {
            let pattern = some.join("|");
            let ask = with(json!({ "mode": "grep", "pattern": pattern, "case_sensitive": true }));
            let found = self.call("inspect_output", &ask);
            // A part that is too short to be watched for is not found either.
            assert_ne!(found["isError"], true, "{of}: {found:#}");
            let data = &found["structuredContent"]["data"];
            if data["match_count"] != 0 {
                self.leaks.push(format!("grep in {of}: {}", data["matches"]));
            }
        }
    }
}
