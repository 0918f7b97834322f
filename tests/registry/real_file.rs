//! The registry against a real file.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::Value;

use super::*;
use crate::agents::testing::{request, resumed};
use crate::host::Home;
use crate::host::Lock;
use crate::host::{Env, env};
use crate::model::{
    AgentName, Event, FailureCode, Fault, KillLevel, Outcome, POLL_FREQUENCY_MS, PlanStep, Request, RunId,
    RunResult, Slots, State, TaskId, Timestamp, WorkKind,
};
use crate::progress::Reducer;
use crate::runs::{RunDir, StartRecord};

struct Fixture {
    _dir: tempfile::TempDir,
    home: Home,
    registry: Registry,
}

const NOW: Timestamp = Timestamp::from_millis(1_000);
const KEPT_FOR: Duration = Duration::from_secs(60);

fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("home");
    let home = Home::open(&Env::of(&[(env::HOME, root.to_str().unwrap())])).unwrap();
    let registry = Registry::open(&home, KEPT_FOR).unwrap();
    Fixture { _dir: dir, home, registry }
}

fn numbered(number: u8, key: Option<&str>) -> Request {
    Request {
        task_id: TaskId::from_random([number; 8]),
        run_id: RunId::from_parts("2026-11-15_093000123", [number; 6]),
        idempotency_key: key.map(str::to_owned),
        ..request()
    }
}

impl Fixture {
    fn lock(&self, run: &RunId) -> Option<Lock> {
        Lock::take(&RunDir::at(self.home.run(run)).lock()).unwrap()
    }

    fn submit(&mut self, request: &Request, limit: u32) -> Submitted {
        let dir = RunDir::at(self.home.run(&request.run_id));
        if !dir.path().exists() {
            dir.create().unwrap();
            dir.write_request(request).unwrap();
        }
        let lock = self.lock(&request.run_id).unwrap();
        let slots = Slots { local: limit, cloud: 1 };
        self.registry.submit(Submission { request, lock, slots, same_within: None }).unwrap()
    }

    fn claim(&mut self, limit: u32) -> Option<TaskId> {
        let home = self.home.clone();
        let take = |row: &Row| Lock::take(&RunDir::at(home.run(&row.run_id)).lock()).unwrap();
        let slots = Slots { local: limit, cloud: 1 };
        self.registry.claim(slots, NOW, take).unwrap().map(|claimed| claimed.row.id)
    }

    fn finish(&mut self, request: &Request, attempt: u32, outcome: Outcome) -> bool {
        let result = RunResult::bare(request.task_id.clone(), request.run_id.clone(), attempt, outcome, NOW);
        let seen = self.registry.task(&request.task_id).unwrap().unwrap().attempt;
        self.registry.finish(&result, seen).unwrap()
    }

    fn state(&self, request: &Request) -> State {
        self.registry.task(&request.task_id).unwrap().unwrap().state
    }
}

#[test]
fn a_task_is_claimed_where_there_is_room_and_waits_where_there_is_none() {
    let mut fixture = fixture();
    let (first, second) = (numbered(1, None), numbered(2, None));
    let held = fixture.submit(&first, 1);
    assert!(matches!(held, Submitted::Claimed { attempt: 1, .. }));
    assert!(matches!(fixture.submit(&second, 1), Submitted::Queued));
    assert_eq!((fixture.state(&first), fixture.state(&second)), (State::Working, State::Pending));
    assert_eq!(fixture.claim(1), None, "the slot is taken");
    assert!(fixture.finish(&first, 1, Outcome::Completed));
    assert_eq!(fixture.claim(1), Some(second.task_id));
}

#[test]
fn the_cloud_has_slots_and_a_line_of_its_own() {
    let mut fixture = fixture();
    let cloud = |number| Request { work: WorkKind::Hosted, ..numbered(number, None) };
    let (far, later_far) = (cloud(1), cloud(2));
    let (near, later_near) = (numbered(3, None), numbered(4, None));
    assert!(matches!(fixture.submit(&far, 1), Submitted::Claimed { .. }));
    assert!(matches!(fixture.submit(&later_far, 1), Submitted::Queued), "the cloud is full");
    assert!(matches!(fixture.submit(&near, 1), Submitted::Claimed { .. }), "nobody waits for this machine");
    assert!(matches!(fixture.submit(&later_near, 1), Submitted::Queued));
    assert_eq!(fixture.claim(1), None);
    assert!(fixture.finish(&near, 1, Outcome::Completed));
    assert_eq!(fixture.claim(1), Some(later_near.task_id.clone()), "the first in its line");
    assert!(fixture.finish(&far, 1, Outcome::Completed));
    assert_eq!(fixture.claim(0), Some(later_far.task_id), "no slot on this machine is needed");
}

#[test]
fn nobody_overtakes_those_who_wait() {
    let mut fixture = fixture();
    let requests: Vec<_> = (1..=4).map(|number| numbered(number, None)).collect();
    for request in &requests {
        assert!(matches!(fixture.submit(request, 0), Submitted::Queued));
    }
    let late = numbered(9, None);
    assert!(
        matches!(fixture.submit(&late, 2), Submitted::Queued),
        "a free slot belongs to the first in line"
    );
    assert_eq!(fixture.claim(2), Some(requests[0].task_id.clone()));
    assert_eq!(fixture.claim(2), Some(requests[1].task_id.clone()));
    assert_eq!(fixture.claim(2), None);
}

#[test]
fn a_task_whose_lock_is_held_is_passed_over() {
    let mut fixture = fixture();
    let (first, second) = (numbered(1, None), numbered(2, None));
    fixture.submit(&first, 0);
    fixture.submit(&second, 0);
    let cancelling = fixture.lock(&first.run_id);
    assert_eq!(fixture.claim(1), Some(second.task_id));
    drop(cancelling);
}

#[test]
fn the_lock_of_a_waiting_task_is_free_as_soon_as_it_can_be_seen() {
    let mut fixture = fixture();
    let request = numbered(1, None);
    fixture.submit(&request, 0);
    assert!(fixture.lock(&request.run_id).is_some());
}

#[test]
fn a_final_state_is_written_once() {
    let mut fixture = fixture();
    let request = numbered(1, None);
    let _held = fixture.submit(&request, 1);
    assert!(fixture.finish(&request, 1, Outcome::Cancelled { reason: None }));
    assert!(!fixture.finish(&request, 1, Outcome::Completed));
    assert_eq!(fixture.state(&request), State::Cancelled);
}

#[test]
fn an_earlier_attempt_cannot_put_a_later_one_back_and_the_sealed_record_wins() {
    let mut fixture = fixture();
    let request = numbered(1, None);
    drop(fixture.submit(&request, 1));
    let row = fixture.registry.task(&request.task_id).unwrap().unwrap();
    assert!(fixture.registry.return_to_queue(&row, NOW).unwrap());
    assert_eq!(fixture.claim(1), Some(request.task_id.clone()));
    assert!(!fixture.registry.return_to_queue(&row, NOW).unwrap());
    assert!(fixture.finish(&request, 1, Outcome::Completed));
    assert!(!fixture.finish(&request, 2, Outcome::Cancelled { reason: None }));
}

#[test]
fn a_row_that_was_claimed_again_is_not_finished_by_who_saw_it_before() {
    let mut fixture = fixture();
    let request = numbered(1, None);
    drop(fixture.submit(&request, 1));
    let before = fixture.registry.task(&request.task_id).unwrap().unwrap();
    assert!(fixture.registry.return_to_queue(&before, NOW).unwrap());
    assert_eq!(fixture.claim(1), Some(request.task_id.clone()));
    let (task, run) = (request.task_id.clone(), request.run_id.clone());
    let result = RunResult::bare(task, run, before.attempt, Outcome::Completed, NOW);
    assert!(!fixture.registry.finish(&result, before.attempt).unwrap());
    assert_eq!(fixture.state(&request), State::Working);
    // Its result counts all the same for whoever has read the current row.
    assert!(fixture.registry.finish(&result, before.attempt + 1).unwrap());
    assert_eq!(fixture.state(&request), State::Completed);
}

#[test]
fn how_long_runs_took_is_known_by_project_and_agent() {
    let mut fixture = fixture();
    for number in 1..=4 {
        let request = numbered(number, None);
        let _held = fixture.submit(&request, 9);
        let outcome = if number < 4 { Outcome::Completed } else { Outcome::Cancelled { reason: None } };
        let bare = RunResult::bare(request.task_id, request.run_id, 1, outcome, NOW);
        let result = RunResult { started_at: Some(Timestamp::from_millis(400)), ..bare };
        assert!(fixture.registry.finish(&result, 1).unwrap());
    }
    let project = request().project().to_string_lossy().into_owned();
    let run_durations = |project: &str, agent, most| {
        fixture.registry.run_durations(project, agent, None, most).unwrap().len()
    };
    let of_line =
        |line| fixture.registry.run_durations(&project, AgentName::Codex, Some(line), 9).unwrap().len();
    assert_eq!((of_line(&request().task), of_line("another line")), (3, 0));
    assert_eq!(
        (run_durations(&project, AgentName::Codex, 9), run_durations(&project, AgentName::Codex, 2)),
        (3, 2)
    );
    assert_eq!(
        (run_durations(&project, AgentName::Command, 9), run_durations("/elsewhere", AgentName::Codex, 9)),
        (0, 0)
    );
}

#[test]
fn a_key_gives_the_same_task_for_the_same_request_and_refuses_another() {
    let mut fixture = fixture();
    let first = numbered(1, Some("k"));
    let _held = fixture.submit(&first, 1);
    match fixture.submit(&numbered(2, Some("k")), 1) {
        Submitted::Existing(row) => assert_eq!(row.id, first.task_id),
        other => panic!("{other:?}"),
    }
    let other_task = Request { task: "something else".into(), ..numbered(3, Some("k")) };
    assert!(matches!(fixture.submit(&other_task, 1), Submitted::Conflict(_)));
    let other_project = Request { git_root: Some("/home/dev/other".into()), ..numbered(4, Some("k")) };
    assert!(matches!(fixture.submit(&other_project, 9), Submitted::Claimed { .. }));
}

#[test]
fn a_task_is_found_by_anything_that_names_it_alone() {
    let mut fixture = fixture();
    let first = Request { alias: Some("tests".into()), ..numbered(1, None) };
    let second = numbered(2, None);
    fixture.submit(&first, 0);
    fixture.submit(&second, 0);
    let find = |text: &str| {
        fixture
            .registry
            .find(&TaskReference(text.to_owned()), "/home/dev/project", SearchScope::Everywhere)
            .unwrap()
    };
    let id = first.task_id.as_str();
    for text in [id, &id.to_uppercase(), &id[..12], &id[8..11], "tests", first.run_id.as_str()] {
        match find(text) {
            TaskMatch::One(row) => assert_eq!(row.id, first.task_id, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(matches!(find("2026-11-15"), TaskMatch::Several(rows) if rows.len() == 2));
    assert!(matches!(find("T-local"), TaskMatch::Several(rows) if rows.len() == 2));
    for text in ["", "nothing", "%", "T-local-%", "' OR 1=1 --"] {
        assert!(matches!(find(text), TaskMatch::None), "{text}");
    }
}

#[test]
fn an_alias_means_the_newest_of_this_project_and_never_one_of_several_others() {
    let mut fixture = fixture();
    let here = |number| Request { alias: Some("fix".into()), ..numbered(number, None) };
    let there = |number, root: &str| Request { git_root: Some(root.into()), ..here(number) };
    for request in [here(1), here(2), there(3, "/home/dev/b"), there(4, "/home/dev/c")] {
        fixture.submit(&request, 0);
    }
    let find = |project: &str| {
        fixture.registry.find(&TaskReference("fix".into()), project, SearchScope::Everywhere).unwrap()
    };
    assert!(matches!(find("/home/dev/project"), TaskMatch::One(row) if row.id == here(2).task_id));
    assert!(matches!(find("/home/dev/b"), TaskMatch::One(row) if row.id == here(3).task_id));
    assert!(matches!(find("/elsewhere"), TaskMatch::Several(rows) if rows.len() == 4));
}

#[test]
fn a_name_that_can_be_guessed_stays_in_its_project() {
    let mut fixture = fixture();
    let here = Request { alias: Some("fix".into()), ..numbered(1, None) };
    fixture.submit(&here, 0);
    let (id, run) = (here.task_id.as_str(), here.run_id.as_str());
    let find = |text: &str, project: &str| match fixture
        .registry
        .find(&TaskReference(text.to_owned()), project, SearchScope::Project)
        .unwrap()
    {
        TaskMatch::One(row) => row.id == here.task_id,
        TaskMatch::None => false,
        TaskMatch::Several(rows) => panic!("{rows:?}"),
    };
    for text in ["fix", "T", "T-local-", &id[..12], "2026-11-15", &run[..25]] {
        assert!(find(text, "/home/dev/project"), "{text}");
        assert!(!find(text, "/elsewhere"), "{text}");
    }
    assert!(find(id, "/elsewhere") && find(run, "/elsewhere"));
}

#[test]
fn a_lost_registry_is_filled_from_the_directories() {
    let mut fixture = fixture();
    let (ended, waiting) = (numbered(1, Some("k")), numbered(2, None));
    let held = fixture.submit(&ended, 1);
    fixture.submit(&waiting, 1);
    let outcome = Outcome::Completed;
    let result = RunResult::bare(ended.task_id.clone(), ended.run_id.clone(), 1, outcome, NOW);
    RunDir::at(fixture.home.run(&ended.run_id)).seal(&result).unwrap();
    drop(held);
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(Path::new(&format!("{}{suffix}", fixture.home.registry().display())));
    }
    fixture.registry = Registry::open(&fixture.home, KEPT_FOR).unwrap();
    assert_eq!((fixture.state(&ended), fixture.state(&waiting)), (State::Completed, State::Pending));
    assert!(matches!(fixture.submit(&numbered(3, Some("k")), 1), Submitted::Existing(_)), "keys hold on");
}

#[test]
fn run_directories_that_cannot_be_listed_are_not_none() {
    let Fixture { _dir, home, mut registry } = fixture();
    let runs = home.runs();
    std::fs::remove_dir(&runs).unwrap();
    assert_eq!(registry.differences().unwrap().runs_without_row, 0);
    std::fs::write(&runs, "").unwrap();
    assert!(matches!(registry.differences(), Err(RegistryError::Runs { .. })));
    assert!(matches!(registry.repair(), Err(RegistryError::Runs { .. })));
    std::fs::remove_file(home.registry()).unwrap();
    assert!(matches!(Registry::open(&home, KEPT_FOR), Err(RegistryError::Runs { .. })));
    assert!(!home.registry().exists(), "a registry without rows was created");
}

/// Creates a directory without a row, like a submitter that died.
fn stray(home: &Home, request: &Request) -> RunDir {
    let dir = RunDir::at(home.run(&request.run_id));
    dir.create().unwrap();
    dir.write_request(request).unwrap();
    dir
}

fn made_anew(fixture: &mut Fixture) {
    std::fs::remove_file(fixture.home.registry()).unwrap();
    fixture.registry = Registry::open(&fixture.home, KEPT_FOR).unwrap();
}

#[test]
fn a_run_whose_submitter_died_before_it_had_a_row_gets_none() {
    let mut fixture = fixture();
    let (died, acknowledged) = (numbered(1, Some("k")), numbered(2, Some("k")));
    stray(&fixture.home, &died);
    std::fs::create_dir(fixture.home.unsettled()).unwrap();
    let note = fixture.home.unsettled().join(died.run_id.as_str());
    drop(Lock::take_note(&note).unwrap());
    fixture.submit(&acknowledged, 0);
    made_anew(&mut fixture);
    let rows = fixture.registry.after(0, 9).unwrap();
    assert_eq!(rows.iter().map(|row| &row.id).collect::<Vec<_>>(), [&acknowledged.task_id]);
    // A submitter that is about to be told of the other run gets no row either.
    let held = Lock::take_note(&note).unwrap();
    made_anew(&mut fixture);
    assert_eq!(fixture.registry.after(0, 9).unwrap().len(), 1);
    drop(held);
}

/// Its submitter may have committed it and may answer at any moment.
#[test]
fn a_run_whose_submitter_is_at_it_gets_a_row_and_the_submitter_finds_it() {
    let mut fixture = fixture();
    let request = numbered(1, Some("k"));
    stray(&fixture.home, &request);
    std::fs::create_dir(fixture.home.unsettled()).unwrap();
    let note = fixture.home.unsettled().join(request.run_id.as_str());
    let held = Lock::take_note(&note).unwrap();
    made_anew(&mut fixture);
    assert_eq!(fixture.state(&request), State::Pending);
    assert!(matches!(fixture.submit(&request, 9), Submitted::Queued));
    assert_eq!(fixture.registry.count().unwrap(), 1);
    drop(held);
}

#[test]
fn of_two_runs_under_one_key_the_newer_keeps_it_and_the_other_never_starts() {
    let mut fixture = fixture();
    let requests = [1, 2, 3].map(|number| numbered(number, Some("k")));
    let dirs = requests.each_ref().map(|request| stray(&fixture.home, request));
    // The first one has started and is not changed.
    let outcome = Outcome::Completed;
    let result = RunResult::bare(requests[0].task_id.clone(), requests[0].run_id.clone(), 1, outcome, NOW);
    dirs[0].seal(&result).unwrap();
    made_anew(&mut fixture);
    let states = requests.each_ref().map(|request| fixture.state(request));
    assert_eq!(states, [State::Completed, State::Failed, State::Pending]);
    let again = fixture.submit(&numbered(4, Some("k")), 0);
    assert!(matches!(again, Submitted::Existing(row) if row.id == requests[2].task_id));
}

#[test]
fn both_sides_are_compared_and_mended_and_nothing_else_is_touched() {
    let mut fixture = fixture();
    let requests = [1, 2, 3, 4, 5].map(|number| numbered(number, None));
    for request in &requests {
        fixture.submit(request, 0);
    }
    let [fine, forgotten, waiting, ended, lost] = &requests;
    fixture.finish(fine, 0, Outcome::Completed);
    fixture.finish(ended, 0, Outcome::Completed);
    let fault = Fault::new(FailureCode::Lost, "gone");
    fixture.finish(lost, 0, Outcome::Failed { fault });
    let before = fixture.registry.task(&fine.task_id).unwrap();
    for without_run in [waiting, ended, lost] {
        std::fs::remove_dir_all(fixture.home.run(&without_run.run_id)).unwrap();
    }
    let forget = "DELETE FROM tasks WHERE id = ?1";
    fixture.registry.connection.execute(forget, [forgotten.task_id.as_str()]).unwrap();
    let found = |fixture: &Fixture| {
        let found = fixture.registry.differences().unwrap();
        (found.runs_without_row, found.rows_without_run.iter().map(|row| row.id.clone()).collect::<Vec<_>>())
    };
    assert_eq!(found(&fixture), (1, vec![waiting.task_id.clone(), ended.task_id.clone()]));
    // Pending tasks are ended by the caller, who can find their processes.
    assert_eq!(fixture.registry.repair().unwrap(), (1, 1));
    assert_eq!(found(&fixture), (0, vec![waiting.task_id.clone()]));
    assert_eq!(fixture.state(forgotten), State::Pending);
    assert_eq!(fixture.registry.task(&fine.task_id).unwrap(), before);
    assert_eq!(fixture.registry.repair().unwrap(), (0, 0));
}

/// As when only the database was copied, an outside program closed it last, or somebody deleted the
/// log.
#[test]
fn a_registry_without_its_log_is_completed_from_the_directories() {
    let mut fixture = fixture();
    fixture.submit(&numbered(1, None), 0);
    fixture.registry.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    fixture.registry.connection.execute("UPDATE tasks SET alias = 'kept'", []).unwrap();
    fixture.registry.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    fixture.submit(&numbered(2, None), 0);
    std::fs::remove_file(fixture.registry.log()).unwrap();
    // Two in one process, one after the other: neither joins the files that the first had open.
    assert!(fixture.registry.reopen_if_replaced().unwrap());
    assert!(!fixture.registry.reopen_if_replaced().unwrap());
    let other = Registry::open(&fixture.home, KEPT_FOR).unwrap();
    for registry in [&fixture.registry, &other] {
        let rows = registry.after(0, 9).unwrap();
        let aliases: Vec<_> = rows.iter().map(|row| row.alias.as_deref()).collect();
        assert_eq!(aliases, [Some("kept"), None]);
    }
    assert!(
        fixture.registry.take_replaced_notice().is_some()
            && fixture.registry.take_replaced_notice().is_none()
    );
}

#[test]
fn what_is_written_after_a_removal_is_in_the_new_registry() {
    for names in [&["-wal", "-shm"][..], &["-wal"], &[""], &["", "-wal", "-shm"]] {
        let mut fixture = fixture();
        fixture.submit(&numbered(1, None), 0);
        for suffix in names {
            std::fs::remove_file(format!("{}{suffix}", fixture.home.registry().display())).unwrap();
        }
        assert!(matches!(fixture.submit(&numbered(2, None), 9), Submitted::Queued), "one waits");
        let other = Registry::open(&fixture.home, KEPT_FOR).unwrap();
        assert_eq!(other.after(0, 9).unwrap().len(), 2, "{names:?}");
        drop(other);
        fixture.finish(&numbered(2, None), 0, Outcome::Completed);
        assert_eq!(
            Registry::open(&fixture.home, KEPT_FOR).unwrap().finished(None, 9).unwrap().len(),
            1,
            "{names:?}"
        );
    }
}

#[test]
fn a_thread_is_taken_by_one_task_at_a_time() {
    let mut fixture = fixture();
    let thread = "01a1de11-e775-7fc2-8102-aec1425b9fd0";
    let on_thread = |number| Request { resume: resumed(thread, None).resume, ..numbered(number, None) };
    assert!(matches!(fixture.submit(&on_thread(1), 0), Submitted::Queued));
    assert!(matches!(fixture.submit(&on_thread(2), 0), Submitted::Busy(_)));
    fixture.finish(&on_thread(1), 0, Outcome::Cancelled { reason: None });
    assert!(matches!(fixture.submit(&on_thread(3), 0), Submitted::Queued));
}

#[test]
fn a_registry_of_the_future_is_refused_untouched() {
    let fixture = fixture();
    fixture.registry.connection.pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(Registry::open(&fixture.home, KEPT_FOR), Err(RegistryError::Newer { found: 99, .. })));
}

#[test]
fn every_state_is_one_the_table_takes() {
    let mut fixture = fixture();
    let request = numbered(1, None);
    let _held = fixture.submit(&request, 1);
    for state in State::ALL {
        fixture.registry.connection.execute("UPDATE tasks SET state = ?1", [state]).unwrap();
        assert_eq!(fixture.state(&request), state);
    }
    assert!(fixture.registry.connection.execute("UPDATE tasks SET state = 'done'", []).is_err());
}

#[test]
fn names_are_offered_by_their_beginning_the_newest_first() {
    let mut fixture = fixture();
    for number in 0..3 {
        let alias = Some(if number == 0 { "Build".to_owned() } else { "check".to_owned() });
        fixture.submit(&Request { alias, ..numbered(number, None) }, 1);
    }
    let project = fixture.registry.after(0, 1).unwrap()[0].project.to_string_lossy().into_owned();
    let id = |number| numbered(number, None).task_id.to_string();
    let names = |beginning: &str, most| fixture.registry.names(&project, beginning, most).unwrap();
    assert_eq!(names("", 9), (vec![id(2), "check".into(), id(1), id(0), "Build".into()], 5));
    assert_eq!(names("t-LOCAL-", 2), (vec![id(2), id(1)], 3));
    assert_eq!(names("bu", 9), (vec!["Build".into()], 1));
    assert_eq!(names("%", 9), (vec![], 0));
    assert_eq!(fixture.registry.names("/elsewhere", "", 9).unwrap(), (vec![], 0));
}

/// Every process that opens the registry alone reads the whole log.
#[test]
fn a_log_that_one_process_after_another_writes_stays_short() {
    let Fixture { _dir, home, registry } = fixture();
    let log = registry.log();
    drop(registry);
    let length = || std::fs::metadata(&log).unwrap().len();
    let mut longest = 0;
    for number in 0..=u8::MAX {
        let registry = Registry::open(&home, KEPT_FOR).unwrap();
        let mut fixture = Fixture { _dir: tempfile::tempdir().unwrap(), home: home.clone(), registry };
        fixture.submit(&numbered(number, None), 0);
        longest = longest.max(length());
    }
    assert!(longest > LogSize::Long as u64 && longest < 2 * LogSize::Long as u64, "{longest}");
    let mut registry = Registry::open(&home, KEPT_FOR).unwrap();
    registry.checkpoint_log(LogSize::Short);
    assert_eq!(length(), 0);
    // Readers are not waited for.
    registry.connection.execute_batch("CREATE TABLE more (x)").unwrap();
    for _ in 0..60 {
        registry.connection.execute_batch("INSERT INTO more VALUES (zeroblob(4000))").unwrap();
    }
    let reader = Registry::open(&home, KEPT_FOR).unwrap();
    reader.connection.execute_batch("BEGIN; SELECT count(*) FROM tasks").unwrap();
    registry.connection.execute_batch("INSERT INTO more VALUES (1)").unwrap();
    registry.checkpoint_log(LogSize::Short);
    assert!(length() > 0);
    drop(reader);
    registry.checkpoint_log(LogSize::Short);
    assert_eq!(length(), 0);
    let count = "SELECT count(*) FROM tasks";
    let rows: u32 = registry.connection.query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 256);
}

impl Fixture {
    /// What another program reads in the row of `request`.
    fn columns<const N: usize>(&self, request: &Request, names: [&str; N]) -> [Value; N] {
        names.map(|name| {
            let query = format!("SELECT {name} FROM tasks WHERE id = ?1");
            self.registry.connection.query_row(&query, [request.task_id.as_str()], |row| row.get(0)).unwrap()
        })
    }

    fn description(&self, request: &Request) -> String {
        let [Value::Text(steps)] = self.columns(request, ["progress_steps"]) else { panic!("no progress") };
        let steps: serde_json::Value = serde_json::from_str(&steps).unwrap();
        steps["description"].as_str().unwrap().to_owned()
    }
}

/// A run that was started by the process 4711 and ended half way.
fn half_done(home: &Home, request: &Request) -> RunResult {
    let dir = RunDir::at(home.run(&request.run_id));
    dir.write_started(&StartRecord {
        version: 1,
        attempt: 1,
        started_at: Timestamp::from_millis(400),
        started_up_ms: None,
        supervisor_pid: 4711,
        boot_id: "boot".into(),
        kill_level: KillLevel::Marker,
        cgroup: None,
    })
    .unwrap();
    let mut progress = Reducer::new();
    let step = |text: &str, done| PlanStep { text: text.into(), done };
    progress.apply(&Event::Plan { steps: vec![step("look", true), step("fix", false)] }, NOW);
    progress.finish();
    let (task, run) = (request.task_id.clone(), request.run_id.clone());
    let bare = RunResult::bare(task, run, 1, Outcome::Cancelled { reason: None }, NOW);
    RunResult { progress: Some(progress.snapshot()), thread_id: Some("t".into()), ..bare }
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn other_programs_see_where_a_task_is() {
    let mut fixture = fixture();
    let request = numbered(1, None);
    fixture.submit(&request, 0);
    let [status, user, origin, poll] =
        fixture.columns(&request, ["status", "user_id", "origin", "poll_frequency_ms"]);
    assert_eq!((status, user, origin), (text("pending"), text("dev"), text("local")));
    assert_eq!(poll, Value::Integer(POLL_FREQUENCY_MS.into()));
    assert_eq!(fixture.description(&request), "waiting in the queue");
    fixture.claim(1);
    assert_eq!(fixture.columns(&request, ["status"]), [text("working")]);
    assert_eq!(fixture.description(&request), "starting");
    let row = fixture.registry.task(&request.task_id).unwrap().unwrap();
    fixture.registry.return_to_queue(&row, NOW).unwrap();
    assert_eq!(fixture.description(&request), "waiting in the queue");
}

#[test]
fn other_programs_see_how_a_task_ended_also_once_its_row_is_made_again() {
    let mut fixture = fixture();
    let request = numbered(1, None);
    let held = fixture.submit(&request, 1);
    let result = half_done(&fixture.home, &request);
    let seen = |fixture: &Fixture| {
        let names =
            ["status", "external_id", "last_event_at", "keep_alive_until", "thread_id", "progress_steps"];
        fixture.columns(&request, names)
    };
    assert!(fixture.registry.finish(&result, 1).unwrap());
    let ended = seen(&fixture);
    let (at, until) = (Value::Integer(1_000), Value::Integer(61_000));
    assert_eq!(ended[..5], [text("canceled"), text("4711"), at, until, text("t")]);
    let Value::Text(steps) = &ended[5] else { panic!("{ended:?}") };
    let steps: serde_json::Value = serde_json::from_str(steps).unwrap();
    assert_eq!(
        steps,
        serde_json::json!({
            "current": 1, "total": 2, "description": "finished", "percentage": 50,
            "steps": [{ "text": "look", "done": true }, { "text": "fix", "done": false }],
        })
    );
    RunDir::at(fixture.home.run(&request.run_id)).seal(&result).unwrap();
    drop(held);
    made_anew(&mut fixture);
    assert_eq!(seen(&fixture), ended);
}

#[test]
fn hosted_work_is_named_as_its_service_names_it() {
    let mut fixture = fixture();
    let request = Request { work: WorkKind::Hosted, ..numbered(1, None) };
    let _held = fixture.submit(&request, 1);
    let result = half_done(&fixture.home, &request);
    let dir = RunDir::at(fixture.home.run(&request.run_id));
    let remote =
        serde_json::json!({ "version": 1, "state": "submitted", "job": { "id": "task_e_1", "url": null } });
    dir.write_state(&dir.remote(), &remote).unwrap();
    assert!(fixture.registry.finish(&result, 1).unwrap());
    assert_eq!(fixture.columns(&request, ["origin", "external_id"]), [text("cloud"), text("task_e_1")]);
}
