//! A cleanup that comes while somebody submits, at every step that the
//! submitter takes on the disk: what it has begun is its own.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::phase::Phase;
use crate::stop_at_syscall;
use crate::support::agent::playing;
use crate::support::env::acknowledged;
use crate::support::strace::Point;

/// What a submission does with its note and its directory, from the first to
/// the last. While it is at the registry nobody else can look, only wait.
/// They are learned in a home of their own.
pub fn steps() -> Vec<Point> {
    let phase = &Phase::new();
    phase.submit("true");
    let points = phase.points(&["run", "--agent", "command", "--json", "true"]);
    let about_the_note = |point: &Point| point.text.contains("/unsettled/");
    let first = points.iter().position(about_the_note).expect("a note is made");
    let last = points.iter().rposition(about_the_note).expect("a note is taken away");
    points[first..=last].iter().filter(|point| is_a_step(phase, &point.text)).cloned().collect()
}

/// Whether a call is about a note or a run directory.
pub fn is_a_step(phase: &Phase, call: &str) -> bool {
    ["unsettled/", "runs/"].iter().any(|dir| call.contains(phase.env.home().join(dir).to_str().unwrap()))
}

/// Every file of runs that no row tells of, and every note.
fn unsettled(phase: &Phase) -> BTreeSet<String> {
    let known: BTreeSet<String> = phase.rows().into_iter().map(|row| row.run_id).collect();
    let mut found = BTreeSet::new();
    for dir in [phase.env.home().join("runs"), phase.env.home().join("unsettled")] {
        for path in fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if known.contains(path.file_name().unwrap().to_str().unwrap()) {
                continue;
            }
            let files = fs::read_dir(&path).into_iter().flatten().flatten();
            found.extend(files.map(|file| file.path().display().to_string()));
            found.insert(path.display().to_string());
        }
    }
    found
}

/// Removes every finished run; returns the document.
fn clean(phase: &Phase) -> Value {
    phase.env.json(&["cleanup", "--older-than", "0", "--json"])
}

fn number(document: &Value, pointer: &str) -> u64 {
    document.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer}: {document:#}"))
}

#[test]
fn a_cleanup_leaves_alone_what_a_live_submitter_has_begun() {
    let phase = Phase::new();
    let task = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let args = ["run", "--agent", "command", "--json", &task];
    let points = steps();
    let (mut held, mut with_values) = (0, 0);
    for point in &points {
        phase.settle();
        clean(&phase);
        // Not entered into the journal: the cleanup is to remove it.
        let old = phase.env.submit(&task);
        phase.settle();
        let submitter = stop_at_syscall::at(&phase, point, |tracer| phase.env.command_under(tracer, &args));
        // How often it locks and syncs the registry before is not the same every time.
        let Some(submitter) = submitter else { continue };
        if !is_a_step(&phase, &submitter.call) {
            submitter.go_on();
            continue;
        }
        let before = unsettled(&phase);
        let cleaned = clean(&phase);
        assert_eq!(number(&cleaned, "/data/old_tasks/deleted"), 1, "{point}: {cleaned:#}");
        assert_eq!(number(&cleaned, "/data/abandoned_directories"), 0, "{point}: {cleaned:#}");
        let after = unsettled(&phase);
        let gone: Vec<_> = before.difference(&after).collect();
        // A note that is not locked yet may go: its writer makes another.
        let begun = before.iter().any(|path| path.contains("/runs/"));
        assert!(gone.is_empty() || !begun, "at {point} the cleanup took away {gone:#?}");
        held += 1;
        with_values += usize::from(before.iter().any(|path| path.ends_with("/env.json")));

        let ran = submitter.go_on();
        assert_eq!(ran.code, Some(0), "{point}: {}{}", ran.stdout, ran.stderr);
        let submitted = acknowledged(&ran.stdout).unwrap_or_else(|| panic!("{point}: {}", ran.stdout));
        assert_eq!(phase.env.await_final(&submitted.task_id), "completed", "{point}");
        let starts = phase.env.side().join(format!("{}.starts", submitted.run_id));
        assert_eq!(fs::read_to_string(starts).unwrap().lines().count(), 1, "{point}");
        assert_eq!(unsettled(&phase), BTreeSet::new(), "{point}: the note is taken away");
        assert!(!phase.env.run_dir(&old.run_id).exists(), "{point}: the old one is gone");
    }
    println!(
        "cleanup beside a submitter: held={held} of {}, with values on disk={with_values}",
        points.len()
    );
    assert!(with_values >= 3 && held >= 8, "hardly a submitter was held while it had something to lose");
    phase.close("cleanup beside a submitter");
}
