//! Settings, variables, limits, and names that a request brings along.

use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::world::World;

fn with(client: &mut Client, options: Value) -> Reply {
    client.call("delegate_run", json!({ "task": "look", "options": options }))
}

#[test]
fn a_setting_is_known_to_the_letter_or_refused() {
    let world = World::new();
    let mut client = world.client();
    for key in [
        "model",
        "model_verbosit",
        "model_verbosityx",
        "model_verbosity.x",
        "x.model_verbosity",
        " model_verbosity",
        "model_verbosity ",
        "\"model_verbosity\"",
        "'model_verbosity'",
        "MODEL_VERBOSITY",
        "model-verbosity",
        "model_verbos\u{456}ty",
        "model_verbosity\u{200b}",
        "\u{202e}model_verbosity",
        "model_verbosity\n",
        "model_verbosity\u{1b}[0m",
        "notify",
        "",
    ] {
        let reply = with(&mut client, json!({ "config_overrides": [format!("{key}=high")] }));
        reply.refused("VALIDATION", "is not allowed", "`config_override_keys`");
    }
    with(&mut client, json!({ "config_overrides": ["model_verbosity"] })).refused(
        "VALIDATION",
        "not of the form",
        "plain values",
    );
    world.untouched();
}

#[test]
fn what_starts_programs_is_refused_even_where_the_operator_lists_it() {
    let keys = [
        "notify",
        "mcp_servers.x.command",
        "model_provider",
        "model_providers.x.base_url",
        "openai_base_url",
        "sandbox_mode",
        "sandbox_workspace_write.network_access",
        "projects",
        "hooks",
        "shell_environment_policy.inherit",
        "profile",
        "profiles.x.sandbox_mode",
        "default_permissions",
        "permissions.x.network.enabled",
        "features.use_legacy_landlock",
        " notify",
        "\"notify\"",
        "notify ",
    ];
    let world = World::configured(&format!("config_override_keys = {keys:?}\n"));
    let mut client = world.client();
    for key in keys {
        let reply = with(&mut client, json!({ "config_overrides": [format!("{key}=true")] }));
        reply.refused("VALIDATION", "is not allowed", "never allowed");
    }
    world.untouched();
}

#[test]
fn a_value_is_nothing_but_a_value() {
    let world = World::new();
    let mut client = world.client();
    for value in [
        "[\"sh\", \"-c\", \"id\"]",
        "{ a = 1 }",
        "1\nnotify = [\"sh\"]",
        "\"a\"\n[mcp_servers.x]\ncommand = \"sh\"",
        "1979-05-27",
    ] {
        let reply = with(&mut client, json!({ "config_overrides": [format!("model_verbosity={value}")] }));
        reply.refused("VALIDATION", "not of the form", "only plain values");
    }
    world.untouched();
    // What is no TOML is text, whatever it looks like.
    let odd = ["a]", "}", "a\"b'c", "[\"sh\"", "{", "\"\"\"", "'''", "x\" notify=\"y", "a\nb", "a # b", "\\"];
    for value in odd {
        let reply = with(&mut client, json!({ "config_overrides": [format!("model_verbosity={value}")] }));
        world.arguments(&reply);
        let command = world.run_file(&reply.task(), "command.json");
        let setting = command["args"].as_array().unwrap().iter().filter_map(Value::as_str);
        let mut settings = setting.filter_map(|arg| arg.strip_prefix("model_verbosity="));
        let read: toml::Table = toml::from_str(&format!("x = {}", settings.next().unwrap())).unwrap();
        assert_eq!(read, toml::Table::from_iter([("x".to_owned(), value.into())]));
    }
}

#[test]
fn a_variable_is_handed_over_only_where_the_operator_lists_it() {
    let world = World::new();
    let mut command = world.delegator(&["serve"]);
    command.env("SECRET", "s3cr3t-value").env("SECRET_TWO", "other");
    let mut client = Client::connect(command, None);
    for name in ["SECRET", "secret", "SECRE*", "SECRET=x", "PATH", "DELEGATOR_HOME", "DELEGATOR_RUNS", ""] {
        with(&mut client, json!({ "env_from": [name] })).refused(
            "VALIDATION",
            "may not be handed",
            "`env_allow`",
        );
    }
    world.untouched();
    world.configure("env_allow = [\"SECRET\"]\n");
    with(&mut client, json!({ "env_from": ["SECRET", "SECRET_TWO"] })).refused(
        "VALIDATION",
        "SECRET_TWO",
        "`env_allow`",
    );
    world.untouched();
    let plain = with(&mut client, json!({ "dedupe": false }));
    world.arguments(&plain);
    let given = with(&mut client, json!({ "env_from": ["SECRET"] }));
    world.arguments(&given);
    let seen = |task: &str| world.run_file(task, "command.json")["env_names"].to_string();
    assert!(!seen(&plain.task()).contains("SECRET"));
    assert!(seen(&given.task()).contains("\"SECRET\"") && !seen(&given.task()).contains("SECRET_TWO"));
}

#[test]
fn a_limit_is_a_number_of_seconds_that_can_be_kept() {
    let world = World::new();
    let mut client = world.client();
    for seconds in [json!(0), json!(-1), json!("-5"), json!("NaN"), json!("inf"), json!(1e300), json!([1])] {
        for name in ["idle_s", "hard_s", "command_s"] {
            with(&mut client, json!({ "timeout": { name: seconds } })).refused("VALIDATION", "", "");
        }
    }
    with(&mut client, json!({ "timeout": "never" })).refused("VALIDATION", "cannot be", "quick");
    with(&mut client, json!({ "max_tokens_total": 5 })).refused("UNSUPPORTED", "not supported", "leave out");
    world.untouched();
}

#[test]
fn a_name_holds_nothing_that_cannot_be_seen() {
    let world = World::new();
    let mut client = world.client();
    let odd = [
        "a\u{1b}[31mb",
        "a\u{7}",
        "a\u{202e}b",
        "a\u{2066}b",
        "a\u{200b}",
        "a\nb",
        "a\u{0}",
        "a\u{9b}2J",
        "\u{e0041}",
    ];
    for name in odd {
        for field in ["alias", "model", "reasoning_effort", "idempotency_key"] {
            with(&mut client, json!({ field: name })).refused("VALIDATION", "", "");
        }
        let reply = client.call("delegate_run", json!({ "task": "look", "role": name }));
        reply.refused("VALIDATION", "`role`", "printable");
    }
    with(&mut client, json!({ "model": "--dangerously-bypass-approvals-and-sandbox" })).refused(
        "VALIDATION",
        "`model`",
        "",
    );
    // Nor the beginning of one, which would stand for another task from then on.
    for alias in ["T-local-0123456789ab", "T-local-0123", "t-LOCAL-0", "T-local", "T-cloud-01"] {
        with(&mut client, json!({ "alias": alias })).refused(
            "VALIDATION",
            "is not a valid alias",
            "look like an id",
        );
    }
    world.untouched();
}

#[test]
fn a_refusal_repeats_nothing_that_acts_on_a_screen() {
    let world = World::new();
    let mut client = world.client();
    let odd = "x\u{1b}]0;owned\u{7}\u{202e}\u{9b}2J\ny";
    let run = |client: &mut Client, arguments: Value| client.call("delegate_run", arguments);
    run(&mut client, json!({ "task": "look", "cwd": odd })).refused("VALIDATION", "does not exist", "");
    run(&mut client, json!({ "task": "look", odd: 1 })).refused("VALIDATION", "unknown field", "");
    run(&mut client, json!({ "task": "look", "sandbox": odd })).refused("VALIDATION", "cannot be", "");
    with(&mut client, json!({ "config_overrides": [odd] })).refused("VALIDATION", "not of the form", "");
    with(&mut client, json!({ "env_from": [odd] })).refused("VALIDATION", "may not be handed", "");
    with(&mut client, json!({ "output_schema": { "type": odd } })).refused("VALIDATION", "not a valid", "");
    for tool in ["delegate_status", "delegate_results", "delegate_cancel", "delegate_wait"] {
        client.call(tool, json!({ "task_id": odd })).refused("NOT_FOUND", "no task", "");
    }
    client.call("delegate_resume", json!({ "thread_id": odd })).refused("NOT_FOUND", "thread id", "");
    world.untouched();
}

#[test]
fn a_request_has_a_size() {
    let world = World::new();
    let mut client = world.client();
    let many = vec!["model_verbosity=1"; 65];
    with(&mut client, json!({ "config_overrides": many })).refused("VALIDATION", "65 entries", "shorten");
    with(&mut client, json!({ "add_dirs": vec!["below"; 65] })).refused(
        "VALIDATION",
        "65 entries",
        "shorten",
    );
    with(&mut client, json!({ "env_from": ["X".repeat(5000)] })).refused(
        "VALIDATION",
        "`env_from` is 5000",
        "",
    );
    with(&mut client, json!({ "alias": "a".repeat(201) })).refused("VALIDATION", "`alias` is 201", "");
    let schema = json!({ "description": "x".repeat(300_000) });
    with(&mut client, json!({ "output_schema": schema })).refused(
        "VALIDATION",
        "`output_schema` is",
        "shorten",
    );
    let remote = json!({ "$ref": "file:///etc/passwd" });
    with(&mut client, json!({ "output_schema": remote })).refused(
        "VALIDATION",
        "not a valid JSON Schema",
        "",
    );
    let long = json!({ "task": "x".repeat((1 << 20) + 1) });
    client.call("delegate_run", long).refused("VALIDATION", "the limit is 1048576", "into a file");
    world.untouched();
}
