//! What is kept of captures and terminals, for how long, and in which form.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::normalized_output::fits;
use crate::support::env::{PATIENCE, Submitted, TestEnv, finish, wait_for};
use crate::support::kept::{LARGE, age, capture, content, hold, id, name, names, packed, terminal, versions};
use crate::support::kill;

#[track_caller]
fn cleaned(env: &TestEnv, args: &[&str]) -> Value {
    let document = env.json(&[&["cleanup", "--json"], args].concat());
    fits("registry_info", &document);
    document["data"].clone()
}

/// A run that is over, and everybody who had to do with it gone: whoever ends
/// first in a home cleans it up.
#[track_caller]
fn finished(env: &TestEnv, task: &str) -> Submitted {
    let submitted = env.submit(task);
    env.await_final(&submitted.task_id);
    wait_for("the supervisor to go", PATIENCE, || kill::supervisors(env.home()).is_empty().then_some(()));
    submitted
}

/// The figures of one kind, by name.
#[track_caller]
fn check(data: &Value, kind: &str, expected: &[(&str, u64)]) {
    for (figure, number) in expected {
        assert_eq!(data["storage"][kind][figure], json!(number), "{kind}.{figure}: {:#}", data["storage"]);
    }
}

fn size(paths: &[&std::path::Path]) -> u64 {
    paths.iter().map(|path| fs::metadata(path).unwrap().len()).sum()
}

#[test]
fn what_has_been_kept_long_enough_goes_and_the_figures_are_exact() {
    let env = TestEnv::new();
    let old = [capture(env.home(), 1, 7000, 25), terminal(env.home(), 1, 9000, 24)];
    let young = [capture(env.home(), 2, 6000, 23), terminal(env.home(), 2, 5000, 23)];
    let before = names(env.home());
    let rest = 19; // of a terminal, beside its output

    let data = cleaned(&env, &["--dry-run"]);
    check(&data, "captures", &[("count", 2), ("file_count", 2), ("total_bytes", 13_000), ("expired", 1)]);
    check(&data, "captures", &[("removed", 0), ("pinned", 0), ("live", 0), ("bytes_saved", 0)]);
    check(&data, "terminals", &[("count", 2), ("file_count", 8), ("total_bytes", 14_000 + 2 * rest)]);
    check(&data, "terminals", &[("expired", 1), ("removed", 0), ("live", 0)]);
    assert_eq!(data["storage"]["captures"]["retention_hours"], json!(24.0));
    assert_eq!(data["storage"]["runs"]["retention_hours"], json!(720.0));
    assert_eq!(data["summary"], "would remove 0 old runs, would remove 1 capture, would remove 1 terminal");
    let after: Vec<String> = names(env.home()).into_iter().filter(|one| before.contains(one)).collect();
    assert_eq!(after, before, "a dry run removes nothing");

    let data = cleaned(&env, &[]);
    check(&data, "captures", &[("count", 1), ("file_count", 1), ("total_bytes", 6000), ("expired", 1)]);
    check(&data, "captures", &[("removed", 1), ("compressed", 0), ("bytes_saved", 7000)]);
    check(&data, "terminals", &[("count", 1), ("file_count", 4), ("total_bytes", 5000 + rest)]);
    check(&data, "terminals", &[("removed", 1), ("bytes_saved", 9000 + rest)]);
    let oldest = data["storage"]["captures"]["oldest_file"].as_str().unwrap();
    assert!(oldest.starts_with("20") && oldest.ends_with('Z'), "{oldest}");
    let freed = 16_000 + rest;
    let told = format!(
        "removed 0 old runs and 0 abandoned submissions, removed 1 capture, removed 1 terminal, {freed} bytes freed"
    );
    assert_eq!(data["summary"], json!(told));
    assert!(old.iter().all(|path| !path.exists()) && young.iter().all(|path| path.exists()));

    let data = cleaned(&env, &[]);
    check(&data, "captures", &[("count", 1), ("removed", 0), ("bytes_saved", 0)]);
}

#[test]
fn the_age_is_the_operators() {
    let env = TestEnv::new();
    let old = capture(env.home(), 1, 10, 30);
    env.configure("output_retention_hours = 48\n");
    check(&cleaned(&env, &["--older-than", "0"]), "captures", &[("count", 1), ("expired", 0)]);
    env.configure("output_retention_hours = 29\n");
    check(&cleaned(&env, &[]), "captures", &[("count", 0), ("removed", 1)]);
    assert!(!old.exists());
    env.configure("output_retention_hours = 0\n");
    let refused = env.expect(6, &["cleanup"]);
    assert!(refused.stderr.contains("`output_retention_hours` of 0"), "{}", refused.stderr);
}

#[test]
fn what_is_large_is_compressed_and_comes_out_as_it_went_in() {
    let env = TestEnv::new();
    let large = capture(env.home(), 1, LARGE, 2);
    let just_not = capture(env.home(), 2, LARGE - 1, 2);
    let recorded = terminal(env.home(), 1, 3 * LARGE, 2).join("output.log");
    let written = fs::metadata(&large).unwrap().modified().unwrap();
    let before = size(&[&large, &just_not]);
    check(&cleaned(&env, &["--dry-run"]), "captures", &[("compressible", 1), ("compressed", 0)]);

    let data = cleaned(&env, &[]);
    let after = size(&[&packed(&large), &just_not]);
    check(&data, "captures", &[("count", 2), ("file_count", 2), ("total_bytes", after), ("compressed", 1)]);
    check(&data, "captures", &[("bytes_saved", before - after), ("removed", 0)]);
    check(&data, "terminals", &[("count", 1), ("file_count", 4), ("compressed", 1)]);
    assert_eq!(versions(&large), (None, Some(content(1, LARGE))));
    assert_eq!(versions(&just_not), (Some(content(2, LARGE - 1)), None));
    assert_eq!(versions(&recorded), (None, Some(content(1, 3 * LARGE))));
    assert_eq!(fs::metadata(packed(&large)).unwrap().modified().unwrap(), written);

    let names_before = names(env.home());
    check(&cleaned(&env, &[]), "captures", &[("compressed", 0), ("compressible", 0), ("total_bytes", after)]);
    assert_eq!(names(env.home()), names_before);

    // Compressed or not, its time comes.
    age(&packed(&large), 24);
    check(&cleaned(&env, &[]), "captures", &[("count", 1), ("removed", 1)]);
    assert_eq!(versions(&large), (None, None));
}

#[test]
fn nothing_is_compressed_where_that_is_not_wanted() {
    let env = TestEnv::new();
    env.configure("compress_large = false\n");
    let large = capture(env.home(), 1, LARGE, 2);
    check(&cleaned(&env, &[]), "captures", &[("compressible", 0), ("compressed", 0)]);
    assert_eq!(versions(&large), (Some(content(1, LARGE)), None));
}

#[test]
fn a_live_terminal_is_left_alone_until_it_ends() {
    let env = TestEnv::new();
    let (old, large) = (terminal(env.home(), 1, 100, 30), terminal(env.home(), 2, LARGE, 2));
    let held = [&old, &large].map(|dir| hold(&dir.join("lock")));
    let before = names(&env.home().join("terminals"));
    let data = cleaned(&env, &[]);
    check(
        &data,
        "terminals",
        &[("count", 2), ("live", 2), ("expired", 0), ("removed", 0), ("compressed", 0)],
    );
    assert_eq!(names(&env.home().join("terminals")), before);
    drop(held);
    let data = cleaned(&env, &[]);
    check(&data, "terminals", &[("count", 1), ("live", 0), ("removed", 1), ("compressed", 1)]);
    assert!(!old.exists());
    assert_eq!(versions(&large.join("output.log")), (None, Some(content(2, LARGE))));
}

#[test]
fn what_is_pinned_is_neither_removed_nor_compressed() {
    let env = TestEnv::new();
    let home = env.home();
    let run = finished(&env, "echo kept");
    let (old, large) = (capture(home, 1, 100, 99), capture(home, 2, LARGE, 2));
    let recorded = terminal(home, 1, LARGE, 99);
    let terminal_id = id(1);
    for (what, kind, called) in [
        (name(1).as_str(), "capture", name(1)),
        (large.to_str().unwrap(), "capture", name(2)),
        (&terminal_id, "terminal", id(1)),
        (&run.task_id, "run", run.task_id.clone()),
    ] {
        for changed in [true, false] {
            let document = env.json(&["pin", what, "--json"]);
            fits("registry_info", &document);
            let data = &document["data"];
            assert_eq!((&data["kind"], &data["id"]), (&json!(kind), &json!(called)), "{document:#}");
            assert_eq!((&data["pinned"], &data["changed"]), (&json!(true), &json!(changed)), "{document:#}");
        }
    }
    let status = env.expect(0, &["status", &run.task_id]);
    assert!(status.stdout.contains("\npinned: yes"), "{}", status.stdout);
    let before = names(home);
    let data = cleaned(&env, &["--older-than", "0"]);
    check(&data, "captures", &[("count", 2), ("pinned", 2), ("expired", 0), ("compressible", 0)]);
    check(&data, "terminals", &[("count", 1), ("file_count", 4), ("pinned", 1), ("expired", 0)]);
    check(&data, "runs", &[("count", 1), ("pinned", 1), ("expired", 0)]);
    assert_eq!(names(home), before);

    for what in [name(1), name(2), id(1), run.task_id.clone()] {
        env.expect(0, &["pin", "--undo", &what]);
    }
    let data = cleaned(&env, &["--older-than", "0"]);
    check(&data, "captures", &[("count", 1), ("pinned", 0), ("removed", 1), ("compressed", 1)]);
    check(&data, "terminals", &[("count", 0), ("removed", 1)]);
    check(&data, "runs", &[("count", 0), ("removed", 1), ("file_count", 0), ("total_bytes", 0)]);
    assert!(!old.exists() && !recorded.exists());
    // By the name that it was told by, or by the one that it has.
    for what in [large.display().to_string(), packed(&large).display().to_string()] {
        env.expect(0, &["pin", &what]);
        env.expect(0, &["pin", "--unpin", &what]);
    }
}

#[test]
fn the_oldest_runs_go_until_the_rest_fits_but_none_that_is_live_or_pinned() {
    let env = TestEnv::new();
    let runs = [1, 2, 3, 4].map(|number| finished(&env, &format!("head -c 100000 /dev/zero; echo {number}")));
    let live = env.submit("until [ -e go ]; do sleep 0.02; done");
    env.expect(0, &["pin", &runs[0].task_id]);
    // The live one and the pinned one, and one more.
    env.configure("retention_bytes = 550000\n");
    check(&cleaned(&env, &["--dry-run"]), "runs", &[("count", 5), ("expired", 2), ("removed", 0)]);
    check(&cleaned(&env, &[]), "runs", &[("count", 3), ("removed", 2), ("pinned", 1), ("live", 1)]);
    let there = |run: &Submitted| env.run_dir(&run.run_id).exists();
    assert_eq!(runs.each_ref().map(there), [true, false, false, true]);
    assert!(there(&live));
    fs::write(env.work().join("go"), "").unwrap();
    env.await_final(&live.task_id);
}

#[test]
fn whoever_ends_a_run_cleans_up_when_nobody_has_for_an_hour() {
    let env = TestEnv::new();
    finished(&env, "true");
    let (old, large) = (capture(env.home(), 1, 100, 25), capture(env.home(), 2, LARGE, 2));
    finished(&env, "true");
    assert!(old.exists(), "it has been an hour for nobody");
    age(&env.home().join("cleanup.lock"), 1);
    finished(&env, "true");
    assert!(!old.exists());
    assert_eq!(versions(&large), (None, Some(content(2, LARGE))));
}

#[test]
fn a_pinned_run_stays_pinned_in_a_registry_made_anew() {
    let env = TestEnv::new();
    let tasks = ["echo kept", "echo not"].map(|task| finished(&env, task));
    env.expect(0, &["pin", &tasks[0].task_id]);
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", env.registry().display()));
    }
    let data = cleaned(&env, &["--older-than", "0"]);
    check(&data, "runs", &[("count", 1), ("pinned", 1), ("removed", 1)]);
    env.expect(0, &["results", &tasks[0].task_id]);
}

#[test]
fn what_cannot_be_pinned_is_refused_with_a_hint() {
    let env = TestEnv::new();
    capture(env.home(), 1, 10, 1);
    fs::write(env.home().join("captures/notes.txt"), "").unwrap();
    symlink("/etc/passwd", env.home().join("captures").join(name(7))).unwrap();
    let outside = env.root().join(name(1));
    fs::write(&outside, "").unwrap();
    let foreign = name(7);
    let (id, up) = (id(1), format!("../captures/{}", name(1)));
    for what in
        ["nothing", &id, "notes.txt", &foreign, &up, outside.to_str().unwrap(), "", "/", "registry.db"]
    {
        let ran = env.expect(3, &["pin", what]);
        assert!(ran.stderr.contains("no task, capture or terminal"), "{what}: {}", ran.stderr);
        assert!(ran.stderr.contains("hint: give a task"), "{what}: {}", ran.stderr);
        let document = env.json(&["pin", "--json", what]);
        assert_eq!(document["error"]["code"], "NOT_FOUND", "{document:#}");
    }
    env.expect(2, &["pin"]);
    assert!(names(env.home()).iter().all(|name| !name.ends_with("pin")));
}

#[test]
fn who_comes_second_only_looks_and_says_so() {
    let env = TestEnv::new();
    let done = finished(&env, "true");
    let old = capture(env.home(), 1, 100, 99);
    let cleaning = hold(&env.home().join("cleanup.lock"));
    let ran = env.expect(4, &["cleanup", "--older-than", "0"]);
    assert!(ran.stdout.contains("\nanother cleanup is already running\nKEPT"), "{}", ran.stdout);
    let data = cleaned(&env, &["--older-than", "0"]);
    assert_eq!((&data["another_cleanup"], &data["old_tasks"]["deleted"]), (&json!(true), &json!(0)));
    check(&data, "captures", &[("count", 1), ("total_bytes", 100), ("expired", 1), ("removed", 0)]);
    check(&data, "runs", &[("count", 1), ("expired", 1), ("removed", 0)]);
    assert!(old.exists());
    // A look needs no lock, and neither does the mark of a run.
    assert_eq!(cleaned(&env, &["--dry-run"]).get("another_cleanup"), None);
    env.expect(0, &["pin", &done.task_id]);
    // That of a capture waits until nobody can be about to remove it, and no longer.
    let removing = hold(&env.home().join("marks.lock"));
    let mut pin = env.command(&["pin", &name(1)]).spawn().unwrap();
    assert!(pin.try_wait().unwrap().is_none());
    drop(removing);
    assert!(pin.wait().unwrap().success());
    drop(cleaning);
    check(&cleaned(&env, &[]), "captures", &[("count", 1), ("pinned", 1), ("removed", 0)]);
}

#[test]
fn what_others_left_unfinished_is_finished() {
    let env = TestEnv::new();
    let captures = env.home().join("captures");
    let both = capture(env.home(), 1, 100, 2);
    fs::write(packed(&both), "of an earlier time").unwrap();
    let aside = capture(env.home(), 2, 100, 2);
    fs::rename(&aside, captures.join(format!("{}.aside", name(2)))).unwrap();
    let dir = terminal(env.home(), 1, LARGE, 2);
    fs::rename(dir.join("output.log"), dir.join("output.log.aside")).unwrap();
    fs::write(dir.join("output.log.gz.tmp"), "half of it").unwrap();
    fs::rename(terminal(env.home(), 2, 10, 2), env.home().join("terminals").join(format!("{}.gone", id(2))))
        .unwrap();
    for (file, hours) in [(".gz.tmp", 0), (".pin", 0), (".12-0.tmp", 24), (".12-1.tmp", 23)] {
        let path = captures.join(format!("{}{file}", name(3)));
        fs::write(&path, "").unwrap();
        age(&path, hours);
    }
    let data = cleaned(&env, &[]);
    check(&data, "captures", &[("count", 2), ("file_count", 2), ("total_bytes", 200), ("removed", 0)]);
    check(&data, "terminals", &[("count", 1), ("compressed", 1), ("removed", 0)]);
    assert_eq!(names(&captures), [name(1), name(2), format!("{}.12-1.tmp", name(3))]);
    assert_eq!(versions(&both), (Some(content(1, 100)), None));
    assert_eq!(versions(&aside), (Some(content(2, 100)), None));
    assert_eq!(versions(&dir.join("output.log")), (None, Some(content(1, LARGE))));
    assert_eq!(names(&env.home().join("terminals")).len(), 5, "{:?}", names(&env.home().join("terminals")));
}

#[test]
fn what_is_not_ours_is_not_touched_and_no_link_is_followed() {
    let env = TestEnv::new();
    let outside = env.root().join("outside");
    fs::create_dir_all(outside.join("terminal")).unwrap();
    for file in ["long.txt", "terminal/output.log", "terminal/lock"] {
        fs::write(outside.join(file), content(1, LARGE)).unwrap();
        age(&outside.join(file), 99);
    }
    let captures = env.home().join("captures");
    fs::create_dir(&captures).unwrap();
    symlink(outside.join("long.txt"), captures.join(name(1))).unwrap();
    fs::create_dir(captures.join(name(2))).unwrap();
    fs::write(captures.join("notes.txt"), content(2, LARGE)).unwrap();
    age(&captures.join("notes.txt"), 99);
    fs::create_dir(env.home().join("terminals")).unwrap();
    symlink(outside.join("terminal"), env.home().join("terminals").join(id(1))).unwrap();
    let inside = terminal(env.home(), 2, 10, 2);
    fs::remove_file(inside.join("output.log")).unwrap();
    symlink(outside.join("long.txt"), inside.join("output.log")).unwrap();
    let before = (names(&outside), names(&captures), names(&env.home().join("terminals")));
    let data = cleaned(&env, &[]);
    check(&data, "captures", &[("count", 0), ("removed", 0)]);
    check(&data, "terminals", &[("count", 1), ("removed", 0), ("compressed", 0)]);
    assert_eq!((names(&outside), names(&captures), names(&env.home().join("terminals"))), before);

    // The directory itself may be the link.
    fs::remove_dir_all(&captures).unwrap();
    fs::write(outside.join(name(1)), "theirs").unwrap();
    age(&outside.join(name(1)), 99);
    symlink(&outside, &captures).unwrap();
    check(&cleaned(&env, &[]), "captures", &[("count", 0), ("removed", 0)]);
    assert!(outside.join(name(1)).exists());
}

#[test]
fn a_recorded_terminal_reads_the_same_once_it_is_compressed() {
    let env = TestEnv::new();
    let go = env.side().join("go");
    let script = format!("seq 1 200000; touch {0}; while [ ! -e {0}.on ]; do sleep 0.01; done", go.display());
    let command = env.command(&["terminal", "--", "sh", "-c", &script]);
    let recorder = std::thread::spawn(move || finish(command, PATIENCE));
    wait_for("the output", PATIENCE, || go.exists().then_some(()));
    let data = cleaned(&env, &[]);
    check(&data, "terminals", &[("count", 1), ("live", 1), ("compressed", 0), ("compressible", 0)]);
    fs::write(env.side().join("go.on"), "").unwrap();
    assert_eq!(recorder.join().unwrap().code, Some(0));

    let read = |args: &[&str]| env.expect(0, &[&["terminal", "read"], args].concat()).stdout;
    let ways: [&[&str]; 3] = [&["--tail", "7"], &["--head", "3", "--json"], &["--all", "--raw"]];
    let facts = |text: String| match serde_json::from_str::<Value>(&text) {
        Ok(document) => document["data"].to_string(),
        Err(_) => text,
    };
    let before = ways.map(|way| facts(read(way)));
    let listed = env.json(&["terminal", "list", "--json"])["data"].clone();
    check(&cleaned(&env, &[]), "terminals", &[("count", 1), ("live", 0), ("compressed", 1)]);
    let dir = env.home().join("terminals").join(listed["terminals"][0]["terminal_id"].as_str().unwrap());
    assert!(dir.join("output.log.gz").exists() && !dir.join("output.log").exists());
    assert_eq!(ways.map(|way| facts(read(way))), before);
    assert_eq!(env.json(&["terminal", "list", "--json"])["data"], listed);
    let inspected =
        env.expect(0, &["inspect", "--file", dir.join("output.log").to_str().unwrap(), "--tail", "2"]);
    assert!(
        inspected.stdout.contains("199999") && inspected.stdout.contains("200000"),
        "{}",
        inspected.stdout
    );
}

#[test]
fn a_dry_run_says_what_is_stuck_and_leaves_it() {
    let env = TestEnv::new();
    let task = env.submit("sleep 60");
    let dir = env.run_dir(&task.run_id);
    let supervisor = wait_for("its start", PATIENCE, || {
        kill::supervisor_of(&dir).filter(|_| dir.join("started.json").exists())
    });
    kill::send(supervisor, libc::SIGKILL);
    wait_for("the supervisor to die", PATIENCE, || (!kill::alive(supervisor)).then_some(()));
    let data = cleaned(&env, &["--dry-run"]);
    let expected = json!({ "found": 1, "cleaned": 0, "task_ids": [task.task_id] });
    assert_eq!(data["stuck_tasks"], expected);
    assert_eq!(data["summary"], "would end 1 run whose supervisor has died; would remove 0 old runs");
    assert!(!dir.join("result.json").exists(), "a dry run ended it");
    let data = cleaned(&env, &[]);
    assert_eq!((&data["stuck_tasks"]["found"], &data["stuck_tasks"]["cleaned"]), (&json!(1), &json!(1)));
    assert!(
        data["summary"].as_str().unwrap().starts_with("ended 1 run whose supervisor had died; "),
        "{data:#}"
    );
    assert_eq!(env.await_final(&task.task_id), "failed");
}
