//! `delegator inspect` at a shell: every kind of file, in every mode, and the
//! same as a document.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use crate::normalized_output::fits;
use crate::support::env::{PATIENCE, TestEnv, wait_for};

/// A finished run that printed what `command` does.
fn ran(env: &TestEnv, command: &str) -> String {
    let task = env.submit(command).task_id;
    env.await_final(&task);
    task
}

#[track_caller]
fn printed(env: &TestEnv, args: &[&str]) -> String {
    env.expect(0, &[&["inspect"], args].concat()).stdout
}

#[track_caller]
fn document(env: &TestEnv, args: &[&str]) -> Value {
    let document = env.json(&[&["inspect"], args, &["--json"]].concat());
    fits("registry_info", &document);
    document["data"].clone()
}

fn numbers(range: std::ops::RangeInclusive<u32>) -> String {
    range.map(|number| format!("{number}\n")).collect()
}

#[test]
fn a_document_has_the_lines_and_where_they_are() {
    let env = TestEnv::new();
    let task = ran(&env, "seq 1 2000");
    for (args, mode, start, end) in [
        (&["--head", "10"][..], "head", 1, 10),
        (&["--tail", "20"], "tail", 1981, 2000),
        (&["--range", "100:120"], "range", 100, 120),
    ] {
        let data = document(&env, &[&[task.as_str()], args].concat());
        assert_eq!(
            (&data["mode"], &data["start_line"], &data["end_line"], &data["total_lines"]),
            (&json!(mode), &json!(start), &json!(end), &json!(2000))
        );
        assert_eq!(data["content"].as_str().unwrap(), numbers(start..=end).trim_end());
        assert_eq!(data["matches"], Value::Null);
        assert!(data["file_path"].as_str().unwrap().ends_with("/transcript.log"), "{data:#}");
        assert_eq!(printed(&env, &[&[task.as_str()], args].concat()), numbers(start..=end));
    }
}

#[test]
fn a_search_takes_case_and_a_most_and_goes_on_from_a_cursor() {
    let env = TestEnv::new();
    let task = ran(&env, "seq 1 300 | sed 's/^4[0-9]$/& Error/'");
    assert_eq!(
        printed(&env, &[&task, "--grep", "error", "-m", "2", "-C", "0"]),
        "40:40 Error\n41:41 Error\n"
    );
    let ran = env.expect(0, &["inspect", &task, "--grep", "error", "--case-sensitive"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.contains("nothing found")), ("", true), "{ran:?}");
    let first = document(&env, &[&task, "--grep", "error", "-m", "3", "-C", "1"]);
    assert_eq!((&first["match_count"], &first["mode"]), (&json!(3), &json!("grep")));
    assert_eq!(
        first["matches"][0],
        json!({ "line_number": 40, "match": "40 Error", "context_before": ["39"], "context_after": ["41 Error"] })
    );
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = document(&env, &[&task, "--grep", "error", "--cursor", cursor]);
    let lines: Vec<u64> =
        rest["matches"].as_array().unwrap().iter().map(|one| one["line_number"].as_u64().unwrap()).collect();
    assert_eq!(lines, (43..=49).collect::<Vec<_>>());
}

#[test]
fn every_line_of_jsonl_is_asked_for_a_value_and_a_summary_tells_the_shape() {
    let env = TestEnv::new();
    let task = ran(&env, r#"for i in 1 2 3; do echo "{\"id\":$i,\"of\":{\"name\":\"n$i\"}}"; done"#);
    assert_eq!(printed(&env, &[&task, "--json-path", "$.of.name"]), "\"n1\"\n\"n2\"\n\"n3\"\n");
    let data = document(&env, &[&task, "--json-path", "$.id"]);
    assert_eq!((&data["content"], &data["value_lines"]), (&json!("1\n2\n3"), &json!([1, 2, 3])));
    let data = document(&env, &[&task, "--summary"]);
    assert_eq!(
        (&data["mode"], &data["content_type"], &data["summary"]["lines"]),
        (&json!("summary"), &json!("jsonl"), &json!(3))
    );
    assert!(data["summary"]["json"]["shape"].as_str().unwrap().contains("name"), "{data:#}");
}

#[test]
fn captures_recordings_and_outputs_of_commands_are_inspected_plain_or_compressed() {
    let env = TestEnv::new();
    let text: String = (1..=5000).map(|number| format!("line {number}\n")).collect();
    env.expect(0, &["terminal", "--name", "t", "--", "seq", "-f", "line %g", "5000"]);
    let terminal =
        env.json(&["terminal", "read", "t", "--json"])["data"]["file_path"].as_str().unwrap().to_owned();
    let id = terminal.rsplit('/').nth(1).unwrap().to_owned();
    assert_eq!(printed(&env, &[&id, "--range", "77:77"]), "line 77\n");
    let captures = env.home().join("captures");
    fs::create_dir(&captures).unwrap();
    let capture = captures.join(format!("tool-delegate_wait-{}.txt", "1b".repeat(16))).display().to_string();
    fs::write(&capture, &text).unwrap();
    let check = |file: &str| {
        assert_eq!(printed(&env, &["--file", file, "--head", "2"]).replace('\r', ""), "line 1\nline 2\n");
        assert_eq!(printed(&env, &["--file", file, "--tail", "1"]).replace('\r', ""), "line 5000\n");
        assert_eq!(printed(&env, &["--file", file, "--range", "77:77"]).replace('\r', ""), "line 77\n");
        assert_eq!(
            printed(&env, &["--file", file, "--grep", "line 4321", "-C", "0"]).replace('\r', ""),
            "4321:line 4321\n"
        );
        assert!(printed(&env, &["--file", file, "--summary"]).contains("lines: 5000\n"));
    };
    for file in [&terminal, &capture] {
        check(file);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&fs::read(file).unwrap()).unwrap();
        fs::write(format!("{file}.gz"), packed.finish().unwrap()).unwrap();
        fs::remove_file(file).unwrap();
        check(file);
        check(&format!("{file}.gz"));
    }
}

#[test]
fn a_run_that_goes_on_is_looked_into() {
    let env = TestEnv::new();
    let task = env.submit("seq 1 100; until [ -e go ]; do sleep 0.02; done; echo over").task_id;
    wait_for("its lines", PATIENCE, || {
        let ran = env.run(&["inspect", &task, "--tail", "2"]);
        (ran.stdout == "99\n100\n").then_some(())
    });
    fs::write(env.work().join("go"), "").unwrap();
    env.await_final(&task);
    assert_eq!(printed(&env, &[&task, "--tail", "1"]), "over\n");
}
