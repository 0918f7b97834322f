//! What Codex is told of skills, and what is recorded of them.

use std::fs;

use serde_json::{Value, json};

use crate::env::{TestEnv, artifact, document, text};
use crate::model::task;

const BODY: &str = "Only the body says flamingo.";

fn skill(env: &TestEnv, dir: &str, name: &str, about: &str) {
    let dir = env.path(dir).join(name);
    fs::create_dir_all(&dir).expect("a directory");
    let text = format!("---\nname: {name}\ndescription: {about}\n---\n\n{BODY}\n");
    fs::write(dir.join("SKILL.md"), text).expect("a skill");
}

/// A machine with a skill in the repository and two of the user's.
fn env() -> TestEnv {
    let env = TestEnv::new();
    skill(&env, "repo/.agents/skills", "release-notes", "Write release notes from merged pull requests");
    skill(&env, "home/codex/skills", "release-notes", "Write release notes for anything");
    skill(&env, "home/codex/skills", "pdf-forms", "Fill the fields of PDF forms");
    env
}

fn names(run: &Value) -> Vec<(&str, &str)> {
    let skills = run["selected_skills"].as_array().expect("a list of skills");
    skills.iter().map(|skill| (text(skill, "name"), text(skill, "origin"))).collect()
}

/// What we told Codex: the last message of the request.
fn told(env: &TestEnv, request: usize) -> String {
    let input = env.requests()[request].body["input"].as_array().expect("a list").clone();
    input.last().expect("a message").to_string()
}

#[test]
fn a_skill_of_the_repository_that_fits_is_named_by_its_path() {
    let env = env();
    let ask = format!("Write the release notes for 2.0.\n{}", task("answer", &json!({ "value": "done" })));
    let run = env.run(&[], &ask).ended(0);
    assert_eq!(names(&run), [("release-notes", "repo")]);
    let path = env.repo(".agents/skills/release-notes/SKILL.md").display().to_string();
    let told = told(&env, 0);
    assert!(told.contains(&format!("release-notes: {path}")), "{told}");
    assert!(!told.contains("flamingo") && !told.contains("pdf-forms"), "{told}");
    assert!(!artifact(&run, "subagent_prompt.txt").contains("flamingo"));
    let selected = document(&run, "selected_skills.json");
    let chosen = &selected["selected_skills"][0];
    assert_eq!((&chosen["path"], &selected["mode"]), (&json!(path), &json!("auto")), "{selected}");
    assert!(chosen["score"].as_f64() > selected["threshold"].as_f64(), "{selected}");
    let index = document(&run, "skills_index.json");
    let of_us = |skill: &&Value| !text(skill, "path").contains("/.system/");
    assert_eq!(index["skills"].as_array().expect("a list").iter().filter(of_us).count(), 3, "{index}");
    let shown = env.delegator(&["results", text(&run, "task_id")]).stdout;
    assert_eq!(shown.lines().filter(|line| *line == "skills: release-notes (repo)").count(), 1, "{shown}");
}

#[test]
fn named_skills_are_used_and_a_wrong_name_is_a_warning() {
    let env = env();
    let flags = ["--skills", "PDF-Forms,unknown", "--no-repo-skills"];
    let run = env.run(&flags, &task("answer", &json!({ "value": "done" }))).ended(0);
    assert_eq!(names(&run), [("pdf-forms", "global")]);
    assert_eq!(run["warnings"][0], "no skill is named `unknown`", "{run:#}");
}

#[test]
fn a_task_that_fits_none_has_empty_records_and_continuing_chooses_none() {
    let env = env();
    let run = env.run(&[], &task("answer", &json!({ "value": "done" }))).ended(0);
    assert_eq!(names(&run), []);
    assert_eq!(document(&run, "selected_skills.json")["selected_skills"], json!([]));
    assert!(!told(&env, 0).contains("# Skills"));
    let args = ["resume", text(&run, "task_id"), "--env", "FAKE_KEY", "--wait", "--json"];
    let resumed = env.delegator(&args).json();
    assert_eq!(names(&resumed), []);
    let warnings = resumed["warnings"].to_string();
    assert!(warnings.contains("no skills were chosen"), "{resumed:#}");
}
