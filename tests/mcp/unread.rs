//! Results that nobody has fetched are announced until somebody does.

use serde_json::json;

use crate::client::{Client, Era};
use crate::support::env::{PATIENCE, TestEnv, wait_for};

#[test]
fn a_client_that_lost_its_context_finds_its_work_again() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let first = client.replay("quick --instant");
    let second = client.replay("fails --instant");
    env.await_final(&first);
    env.await_final(&second);
    // A new client, which knows of nothing.
    let mut client = Client::new(&env, Era::Stateless);
    let status = client.call("delegate_status", json!({})).unwrap();
    let notice = status["meta"]["notice"].as_str().unwrap();
    assert!(notice.starts_with("2 finished runs unread: ") && notice.contains(&first), "{notice}");
    assert!(status["data"]["recently_completed"].as_array().unwrap().iter().all(|one| one["unread"] == true));
    // The command line and resources look without reading.
    env.expect(0, &["results", &first]);
    client.read(&format!("delegator://tasks/{first}"));
    let result = client.call("delegate_results", json!({ "task_id": first })).unwrap();
    assert_eq!(result["meta"]["notice"], format!("1 finished run unread: {second}"));
    let waited = client.call("delegate_wait", json!({ "task_id": second })).unwrap();
    assert_eq!(waited["meta"].get("notice"), None, "{waited}");
    let status = client.call("delegate_status", json!({})).unwrap();
    assert_eq!(status["meta"].get("notice"), None, "{status}");
    // A start that waits hands its result out, too; one that does not leaves it unread.
    let options = json!({ "agent": "replay", "dedupe": false });
    let report = client
        .call("delegate_run", json!({ "task": "quick --instant", "wait_ms": 20_000, "options": options }))
        .unwrap();
    assert_eq!((&report["status"], report.get("notice")), (&json!("completed"), None), "{report}");
}

#[test]
fn a_task_is_not_unread_to_whoever_cancelled_it() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1\n");
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let tasks = [(); 3].map(|()| client.replay("fix-test --speed 0.01"));
    let ended_elsewhere = client.replay("quick --instant");
    let [runs, waits, also_waits] = &tasks;
    for (task, tool) in
        [(waits, "delegate_cancel"), (also_waits, "_codex_local_cancel"), (runs, "delegate_cancel")]
    {
        let cancelled = client.call(tool, json!({ "task_id": task })).unwrap();
        assert_eq!(cancelled["data"]["state"], "cancelled", "{cancelled}");
    }
    env.await_final(&ended_elsewhere);
    let status = client.call("delegate_status", json!({})).unwrap();
    assert_eq!(status["meta"]["notice"], format!("1 finished run unread: {ended_elsewhere}"), "{status}");
    // A cancellation that came too late tells nothing of the result.
    client.call("delegate_cancel", json!({ "task_id": ended_elsewhere })).unwrap();
    let status = client.call("delegate_status", json!({})).unwrap();
    assert!(status["meta"]["notice"].is_string(), "{status}");
    // An acknowledgement is too short for names.
    let run = json!({ "task": "quick --instant", "options": { "agent": "replay" } });
    let started = client.call("delegate_run", run).unwrap();
    assert_eq!(started["notice"], "1 unread: delegate_status", "{started}");
}

#[test]
fn a_cleanup_names_the_unread_results_that_it_removes() {
    let env = TestEnv::new();
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let task = client.replay("quick --instant");
    env.await_final(&task);
    let mut clean = |dry_run: bool| {
        let ask = json!({ "old_threshold_hours": 0.000_000_1, "dry_run": dry_run });
        client.call("_codex_cleanup_registry", ask).unwrap()
    };
    for dry_run in [true, false] {
        let reply = clean(dry_run);
        let (data, told) = (&reply["data"], format!("1 old run (1 unread: {task})"));
        assert_eq!(
            (&data["old_tasks"]["unread"], &data["old_tasks"]["unread_task_ids"]),
            (&json!(1), &json!([task]))
        );
        assert!(data["summary"].as_str().unwrap().contains(&told), "{reply:#}");
        assert_eq!(reply["next"].as_array().map(Vec::len), Some(1));
    }
    let reply = clean(true);
    assert_eq!((reply["data"]["old_tasks"].get("unread"), &reply["next"]), (None, &json!([])), "{reply:#}");
}

#[test]
fn other_projects_are_not_announced() {
    let env = TestEnv::new();
    let other = env.root().join("other");
    std::fs::create_dir(&other).unwrap();
    let mut client = Client::in_directory(&env, &other, Era::Session);
    let task = client.replay("quick --instant");
    env.await_final(&task);
    let mut client = Client::new(&env, Era::Session);
    let options = json!({ "agent": "replay", "alias": "away" });
    let ask = json!({ "task": "quick --instant", "cwd": other, "options": options });
    let away = client.call("delegate_run", ask).unwrap();
    let told = format!("this task belongs to the project `{}`", other.display());
    assert!(away["warnings"][0].as_str().is_some_and(|warning| warning.starts_with(&told)), "{away:#}");
    client.call("delegate_wait", json!({ "task_id": away["task_id"] })).unwrap();
    client.call("delegate_wait", json!({ "task_id": "away" })).unwrap_err();
    let status = client.call("delegate_status", json!({})).unwrap();
    assert_eq!((status["meta"].get("notice"), &status["meta"]["total"]), (None, &json!(0)), "{status}");
    // Its id is a handle that works from anywhere.
    client.call("delegate_results", json!({ "task_id": task })).unwrap();
}

#[test]
fn a_result_that_a_client_has_not_read_is_not_removed_for_its_size() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let tasks = ["quick --instant", "fails --instant"].map(|recording| client.replay(recording));
    let own = env.submit("true").task_id;
    for task in tasks.iter().chain([&own]) {
        env.await_final(task);
    }
    env.configure("retention_bytes = 1\n");
    let retention = || {
        let document = env.json(&["doctor", "--json"]);
        let checks = document["data"]["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == "retention").map(|check| check["found"].to_string())
    };
    let removed = || env.json(&["cleanup", "--json"])["data"].clone();
    let first = removed();
    assert_eq!(first["old_tasks"]["task_ids"], json!([own]), "{first:#}");
    let kept = "bytes more than `retention_bytes`: results that MCP clients have not read";
    assert!(first["summary"].as_str().unwrap().contains(kept), "{first:#}");
    assert!(retention().unwrap().contains(kept));

    for task in &tasks {
        client.call("delegate_results", json!({ "task_id": task })).unwrap();
    }
    let gone = wait_for("the marks", PATIENCE, || {
        let data = removed();
        data["summary"].as_str().is_some_and(|told| !told.contains(kept)).then_some(data)
    });
    assert_eq!(gone["storage"]["runs"]["count"], 0, "{gone:#}");
    assert_eq!(retention(), None);
}
