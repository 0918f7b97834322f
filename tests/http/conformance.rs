//! The official conformance suite, all of it that is for servers.
//!
//! Every check has to pass but those that `not_applicable.txt` lists, each
//! under its reason; a listed one that passes is as wrong as the other way round.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::proxy::Proxy;
use crate::server::Server;
use crate::stand_ins::StandIns;
use crate::support::env::{Ran, TestEnv, finish};
use crate::support::installed::installed;

const LIMIT: Duration = Duration::from_secs(240);

/// Scenario and check.
type Check = (String, String);

#[test]
fn a_server_of_2025_11_25_conforms() {
    println!("{}", check("2025-11-25"));
}

#[test]
fn a_server_of_2026_07_28_conforms() {
    println!("{}", check("2026-07-28"));
}

#[test]
fn a_server_with_extensions_conforms() {
    println!("{}", check("extension"));
}

/// Runs everything there is for that revision, and judges it.
#[track_caller]
fn check(revision: &str) -> String {
    let env = TestEnv::new();
    let proxy = Proxy::open();
    env.configure(&format!("http_origins = [\"http://{}\"]\nmax_concurrent = 50", proxy.address));
    let server = Server::start(&env);
    let stand_ins = StandIns::new(&env);
    let scenarios = scenarios(&env, revision);
    thread::scope(|scope| {
        let _stop = proxy.stop();
        scope.spawn(|| proxy.run(&server, &|message| stand_ins.replace(message)));
        let url = format!("http://{}/mcp", proxy.address);
        match revision {
            // Those have to be asked for by name.
            "extension" => scenarios
                .iter()
                .for_each(|name| drop(suite(&env, &["server", "--url", &url, "--scenario", name]))),
            _ => drop(suite(&env, &["server", "--url", &url, "--suite", "all", "--spec-version", revision])),
        }
    });
    let results = results(&env.root().join("out"));
    assert_eq!(results.keys().cloned().collect::<BTreeSet<_>>(), scenarios, "the scenarios that ran");
    let failed = not_passed(&results);
    let listed = not_applicable(revision);
    let passed = results.keys().filter(|name| !failed.keys().any(|(scenario, _)| scenario == *name)).count();
    let unexpected: Vec<_> = failed.iter().filter(|(check, _)| !listed.contains(*check)).collect();
    assert!(unexpected.is_empty(), "failed: {unexpected:#?}");
    let stale: Vec<_> = listed.iter().filter(|check| !failed.contains_key(*check)).collect();
    assert!(stale.is_empty(), "listed as not applicable, and yet not failed: {stale:#?}");
    let ended = |how: &str| results.values().flatten().filter(|check| check["status"] == how).count();
    format!(
        "{revision}: {} scenarios, {passed} passed whole; {} checks passed, {} not applicable, {} skipped by the suite",
        results.len(),
        ended("SUCCESS"),
        listed.len(),
        ended("SKIPPED"),
    )
}

/// What is not known to hold, and why. What was skipped shows nothing, and neither does a scenario without checks.
fn not_passed(results: &BTreeMap<String, Vec<Value>>) -> BTreeMap<Check, String> {
    let mut found = BTreeMap::new();
    for (scenario, checks) in results {
        if !checks.iter().any(|check| check["status"] == "SUCCESS" || is_open(check)) {
            found.insert((scenario.clone(), NOTHING.into()), "nothing was checked".into());
        }
        for check in checks.iter().filter(|check| is_open(check)) {
            let why = format!("{} {}", text(&check["status"]), text(&check["errorMessage"]));
            found.insert((scenario.clone(), text(&check["id"])), why);
        }
    }
    found
}

/// Stands for the checks of a scenario that has none.
const NOTHING: &str = "(nothing)";

fn is_open(check: &Value) -> bool {
    matches!(check["status"].as_str(), Some("FAILURE" | "WARNING" | "SKIPPED"))
}

#[test]
fn what_was_skipped_or_never_checked_does_not_count_as_passed() {
    let check = |id: &str, status: &str| json!({ "id": id, "status": status });
    let results = BTreeMap::from([
        ("passes".to_owned(), vec![check("a", "SUCCESS"), check("b", "INFO")]),
        ("fails".to_owned(), vec![check("c", "SUCCESS"), check("d", "FAILURE"), check("e", "WARNING")]),
        ("skips".to_owned(), vec![check("f", "SKIPPED")]),
        ("is empty".to_owned(), Vec::new()),
        ("only tells".to_owned(), vec![check("g", "INFO")]),
    ]);
    let found: Vec<_> = not_passed(&results).into_keys().collect();
    let expected =
        [("fails", "d"), ("fails", "e"), ("is empty", NOTHING), ("only tells", NOTHING), ("skips", "f")];
    assert_eq!(found, expected.map(|(scenario, check)| (scenario.to_owned(), check.to_owned())));
}

/// The scenarios that the suite has for that revision.
fn scenarios(env: &TestEnv, revision: &str) -> BTreeSet<String> {
    let listed = match revision {
        "extension" => suite(env, &["list", "--server"]),
        _ => suite(env, &["list", "--server", "--spec-version", revision]),
    };
    let lines = listed.stdout.lines().filter_map(|line| line.trim().strip_prefix("- ")?.split_once(" ["));
    let meant = lines.filter(|(_, of)| of.contains(revision));
    let names: BTreeSet<String> = meant.map(|(name, _)| name.to_owned()).collect();
    assert!(names.len() > 10, "{}", listed.stdout);
    names
}

fn suite(env: &TestEnv, args: &[&str]) -> Ran {
    let mut command = Command::new(installed("node"));
    env.settle_in(&mut command);
    command.arg(installed("conformance")).args(args);
    if args[0] == "server" {
        command.arg("--output-dir").arg(env.root().join("out"));
    }
    finish(command, LIMIT)
}

/// What the suite wrote down, by scenario.
fn results(out: &Path) -> BTreeMap<String, Vec<Value>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(out).expect("the results").flatten() {
        let name = entry.file_name().into_string().unwrap();
        // `server-`, the scenario, and the time.
        let scenario = name
            .strip_prefix("server-")
            .and_then(|name| name.get(..name.len() - "-2026-11-15T13-12-36-999Z".len()));
        let checks = fs::read(entry.path().join("checks.json")).expect("the checks");
        all.insert(scenario.expect("a scenario").to_owned(), serde_json::from_slice(&checks).unwrap());
    }
    all
}

/// The checks that the list excuses for that revision.
fn not_applicable(revision: &str) -> BTreeSet<Check> {
    let list = include_str!("not_applicable.txt").lines();
    let checks = list.filter_map(|line| line.strip_prefix("  ")).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [revisions, scenario, check] = words[..] else { panic!("not a check: {line:?}") };
        (revisions, (scenario.to_owned(), check.to_owned()))
    });
    checks
        .filter(|(revisions, _)| revisions.split(',').any(|one| one == revision))
        .map(|(_, check)| check)
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
