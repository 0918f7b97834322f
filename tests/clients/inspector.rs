//! The official Inspector on the command line: its lint of tool schemas, and calls.

use serde_json::{Value, json};

use crate::installed::installed;
use crate::story::list;
use crate::world::{Ran, World};

#[test]
fn the_inspector_finds_nothing_to_complain_of() {
    for era in ["legacy", "modern"] {
        let world = World::new();
        let told = inspect(&world, era, &["--method", "tools/list", "--strict"]).ended(0).json();
        assert!(list(&told["result"]["tools"]).len() >= 6, "{told:#}");
        // A field of a reply that may be null is the one thing it warns of and we keep: the seeds have it so.
        let findings = list(&told["schemaFindings"]).iter().flat_map(|tool| list(&tool["findings"]));
        let kept = |finding: &Value| finding["schema"] == "outputSchema" && finding["rule"] == "type-union";
        let findings: Vec<&Value> = findings.filter(|finding| !kept(finding)).collect();
        assert!(findings.is_empty(), "{findings:#?}");
        world.connections();
    }
}

#[test]
fn the_inspector_calls_a_tool() {
    for (era, protocol) in [("legacy", "2025-11-25"), ("modern", "2026-07-28"), ("auto", "2026-07-28")] {
        let world = World::new();
        let task = json!({ "task": "quick", "options": { "agent": "replay" }, "wait_ms": 20_000 });
        let ran = call(&world, era, "delegate_run", &task).ended(0);
        let report = &ran.json()["result"]["structuredContent"];
        assert_eq!(report["status"], "completed", "{ran}");
        assert_eq!(world.conversation().protocol(), protocol);
    }
}

/// Five is how it says that a tool reported an error.
#[test]
fn the_inspector_tells_an_error_from_an_answer() {
    let world = World::new();
    call(&world, "modern", "delegate_results", &json!({ "task_id": "T-local-000000000000" })).ended(5);
    world.connections();
}

fn call(world: &World, era: &str, tool: &str, arguments: &Value) -> Ran {
    let arguments = arguments.to_string();
    inspect(world, era, &["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments])
}

fn inspect(world: &World, era: &str, args: &[&str]) -> Ran {
    let mut command = world.command(installed("node"));
    command.arg(installed("inspector")).arg("--cli");
    // It hands over nothing of its own environment.
    for (name, value) in world.variables() {
        command.arg("-e").arg(format!("{name}={value}"));
    }
    command.args(world.server()).args(["--protocol-era", era, "--format", "json"]).args(args);
    world.run(&mut command)
}
