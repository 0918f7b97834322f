//! What clients are told of a tool before they ask anybody for approval.

use serde_json::{Value, json};

use crate::world::World;

/// `destructiveHint` and `openWorldHint` of a tool.
fn told(world: &World, tool: &str) -> (Value, Value) {
    let tools = world.client().tools();
    let tool = tools.iter().find(|one| one["name"] == tool).expect("the tool");
    (tool["annotations"]["destructiveHint"].clone(), tool["annotations"]["openWorldHint"].clone())
}

#[test]
fn a_start_is_called_harmless_only_where_it_is() {
    let world = World::new();
    let harmful = [
        "",
        "max_sandbox = \"danger-full-access\"\n",
        "max_sandbox = \"read-only\"\nallow_network = true\n",
        "allow_network = true\n",
        // What cannot be read allows what the defaults allow.
        "max_sandbox = \"nothing\"\n",
    ];
    for tool in ["delegate_run", "delegate_resume"] {
        for config in harmful {
            world.configure(config);
            assert_eq!(told(&world, tool), (true.into(), true.into()), "{config}");
        }
        for config in
            ["max_sandbox = \"read-only\"\n", "max_sandbox = \"read-only\"\ncommand_over_mcp = true\n"]
        {
            world.configure(config);
            assert_eq!(told(&world, tool), (false.into(), false.into()), "{config}");
        }
    }
}

#[test]
fn other_tools_say_the_same_whatever_the_configuration() {
    let world = World::new();
    for config in ["", "max_sandbox = \"read-only\"\n"] {
        world.configure(config);
        let tools = world.client().tools();
        let reads = |name: &str| {
            let tool = tools.iter().find(|one| one["name"] == name).expect("the tool");
            tool["annotations"]["readOnlyHint"] == true
        };
        assert!(["delegate_status", "delegate_wait", "delegate_results"].into_iter().all(reads));
        assert!(!["delegate_run", "delegate_resume", "delegate_cancel"].into_iter().any(reads));
        assert_eq!(told(&world, "delegate_cancel").0, true);
    }
}

/// What a model reads of the sandbox: in the schema of a start, and in the instructions.
fn told_of_the_sandbox(world: &World) -> (String, String) {
    let mut client = world.client();
    let tools = client.tools();
    let run = tools.iter().find(|one| one["name"] == "delegate_run").expect("the tool");
    let about = run["inputSchema"]["properties"]["sandbox"]["description"].as_str().unwrap();
    (about.to_owned(), client.instructions().to_owned())
}

#[test]
fn what_a_model_is_told_of_the_sandbox_is_what_a_run_gets() {
    let world = World::new();
    for sandbox in ["read-only", "workspace-write"] {
        world.configure(&format!("default_sandbox = \"{sandbox}\"\n"));
        let reply = world.client().call("delegate_run", json!({ "task": sandbox }));
        assert!(world.arguments(&reply).contains(&format!("-s\n{sandbox}\n")));
        let (about, instructions) = told_of_the_sandbox(&world);
        assert!(about.contains(&format!("Default: {sandbox}.")), "{about}");
        assert_eq!(instructions.contains("starts read-only"), sandbox == "read-only", "{instructions}");
    }
    world.configure("max_sandbox = \"read-only\"\n");
    let (about, instructions) = told_of_the_sandbox(&world);
    assert!(!(about + &instructions).contains("workspace-write"));
}
