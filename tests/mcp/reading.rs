//! What a resource says, and what is no resource.

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::TestEnv;

#[test]
fn list_task_and_artifact_are_what_the_tools_answer() {
    let env = TestEnv::new();
    let task = env.submit_with(&["--alias", "greet"], "echo hello; echo oops >&2");
    env.await_final(&task.task_id);
    for era in [Era::Session, Era::Stateless] {
        let mut client = Client::new(&env, era);
        let (list, about) = client.read("delegator://tasks");
        let list: Value = serde_json::from_str(&list).unwrap();
        assert_eq!(about["mimeType"], "application/json");
        assert_eq!(list["tool_category"], "status_snapshot");
        assert_eq!(list["data"]["recently_completed"][0]["task_id"], json!(task.task_id));

        for name in [&task.task_id, "greet", &task.task_id.to_uppercase()] {
            let (result, about) = client.read(&format!("delegator://tasks/{name}"));
            let result: Value = serde_json::from_str(&result).unwrap();
            assert_eq!(about["mimeType"], "application/json");
            assert_eq!(
                (&result["tool_category"], &result["data"]["state"]),
                (&json!("result_set"), &json!("completed"))
            );
        }

        let (text, about) = client.read(&format!("delegator://tasks/{}/stderr.log", task.task_id));
        assert_eq!((text.as_str(), &about["mimeType"]), ("oops\n", &json!("text/plain")));
        assert_eq!(about["_meta"]["delegator/path"], json!(env.run_dir(&task.run_id).join("stderr.log")));
        assert_eq!(about["_meta"]["delegator/written_by"], "agent");
        let (text, about) = client.read(&format!("delegator://tasks/{}/result.json", task.task_id));
        assert_eq!(about["mimeType"], "application/json");
        serde_json::from_str::<Value>(&text).unwrap();
    }
}

#[test]
fn reading_a_resource_leaves_it_unread() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let task = client.replay("quick --instant");
    env.await_final(&task);
    let unread = |client: &mut Client| {
        let params = json!({ "name": "delegate_status", "arguments": {} });
        let status = client.result("tools/call", params);
        status["structuredContent"]["data"]["recently_completed"][0]["unread"].clone()
    };
    assert_eq!(unread(&mut client), true);
    for end in ["", "/result.json", "/events.jsonl"] {
        client.read(&format!("delegator://tasks/{task}{end}"));
    }
    client.read("delegator://tasks");
    assert_eq!(unread(&mut client), true);
    client.result("tools/call", json!({ "name": "delegate_results", "arguments": { "task_id": task } }));
    assert_eq!(unread(&mut client), false);
}

#[test]
fn of_a_long_artifact_both_ends_come_and_where_the_rest_is() {
    let env = TestEnv::new();
    let task = env.submit("seq 1 200000");
    env.await_final(&task.task_id);
    let mut client = Client::new(&env, Era::Stateless);
    let (text, about) = client.read(&format!("delegator://tasks/{}/stdout.log", task.task_id));
    assert!(text.chars().count() < 20_000, "{}", text.len());
    assert!(text.starts_with("1\n2\n3\n") && text.ends_with("\n199999\n200000\n"));
    let path = env.run_dir(&task.run_id).join("stdout.log");
    assert!(text.contains(path.to_str().unwrap()), "where the rest is");
    let meta = &about["_meta"];
    assert_eq!(meta["delegator/truncated"], true);
    assert_eq!(meta["delegator/size"], json!(std::fs::metadata(&path).unwrap().len()));
}

#[test]
fn what_is_no_text_is_shown_without_what_moves_a_terminal() {
    let env = TestEnv::new();
    let task = env.submit(r"printf 'a\377b\033[31mred\033[0m\000\n'");
    env.await_final(&task.task_id);
    let mut client = Client::new(&env, Era::Session);
    let (text, _) = client.read(&format!("delegator://tasks/{}/stdout.log", task.task_id));
    assert_eq!(text, "a\u{fffd}bred\n");
}

#[test]
fn secrets_stay_in_their_files() {
    let env = TestEnv::new();
    // In two halves: this file is no secret.
    let token = ["ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
    let filler = "x".repeat(30_000);
    // Once in plain sight, once where the text is cut.
    let task = env.submit(&format!("printf '{token}\\n'; printf '{filler}{token}{filler}\\n'"));
    env.await_final(&task.task_id);
    let mut client = Client::new(&env, Era::Session);
    for end in ["", "/stdout.log", "/request.json", "/result.json", "/command.json"] {
        let (text, _) = client.read(&format!("delegator://tasks/{}{end}", task.task_id));
        assert!(!text.contains(&token[4..12]), "{end}");
    }
    let listed = client.result("resources/list", json!({})).to_string();
    assert!(!listed.contains(&token[4..12]), "the list");
}

#[test]
fn nothing_but_the_artifacts_of_a_run_can_be_read() {
    let env = TestEnv::new();
    let task = env.submit("sleep 60").task_id;
    // A planted link leads nowhere.
    let run = env.submit("true");
    env.await_final(&run.task_id);
    let stdout = env.run_dir(&run.run_id).join("stdout.log");
    std::fs::remove_file(&stdout).unwrap();
    std::os::unix::fs::symlink(env.registry(), &stdout).unwrap();
    let base = format!("delegator://tasks/{task}");
    let wrong = [
        format!("{base}/../../registry.db"),
        format!("{base}/%2e%2e/%2e%2e/registry.db"),
        format!("{base}/..%2f..%2fregistry.db"),
        format!("{base}/env.json"),
        format!("{base}/run.lock"),
        format!("{base}/ctl.sock"),
        format!("{base}/registry.db"),
        format!("{base}//etc/passwd"),
        format!("{base}/etc/passwd"),
        format!("{base}/{}", env.registry().display()),
        format!("{base}/request.json\n"),
        format!("{base}/request.json%00"),
        format!("{base}\n"),
        format!("{base}%0a"),
        "delegator://tasks/../registry.db".into(),
        "delegator://tasks/..%2fregistry.db".into(),
        "delegator://tasks/%2e%2e".into(),
        "delegator://tasks/".into(),
        "delegator://tasks/T-local-000000000000".into(),
        "delegator://tasks/T-local-000000000000/stdout.log".into(),
        "delegator://registry.db".into(),
        "file:///etc/passwd".into(),
        env.registry().display().to_string(),
        String::new(),
        format!("{base}/last_message.json"),
    ];
    for (era, code) in [(Era::Session, -32002), (Era::Stateless, -32602)] {
        let mut client = Client::new(&env, era);
        for uri in &wrong {
            let (found, message) = client.error("resources/read", json!({ "uri": uri }));
            assert_eq!(found, code, "{uri}: {message}");
            assert!(message.starts_with("no resource `"), "{message}");
            assert!(!message.contains('\n'), "{message}");
        }
        let uri = format!("delegator://tasks/{}/stdout.log", run.task_id);
        let (_, message) = client.error("resources/read", json!({ "uri": uri }));
        assert!(message.contains("not a readable file"), "{message}");
    }
    env.expect(0, &["cancel", &task]);
}
