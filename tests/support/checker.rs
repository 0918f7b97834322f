//! Detects lost tasks and other violations.
//!
//! Uses three independent sources: the journal of acknowledged tasks, the side files in which fake
//! agents record what they did, and the process list. Compares the registry and the run directories
//! with them, without any of delegator's code.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::journal::Entries;

/// The results. Each violation also has a line that describes it.
#[derive(Debug, Default)]
pub struct Figures {
    pub submissions: usize,
    pub rows: usize,
    pub starts: usize,
    pub lost: BTreeSet<String>,
    pub duplicated: BTreeSet<String>,
    pub left: BTreeSet<i32>,
    pub wrong: Vec<String>,
}

/// The relevant columns of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub id: String,
    pub run_id: String,
    pub attempt: i64,
    pub state: String,
    pub code: Option<String>,
    pub alias: Option<String>,
}

impl Row {
    pub fn is_final(&self) -> bool {
        matches!(self.state.as_str(), "completed" | "failed" | "cancelled" | "timed_out")
    }
}

impl Figures {
    pub fn nothing_wrong(&self) -> bool {
        self.wrong.is_empty()
    }

    fn lost(&mut self, task: &str, how: impl fmt::Display) {
        self.lost.insert(task.to_owned());
        self.wrong.push(format!("lost: {task}: {how}"));
    }

    fn duplicated(&mut self, task: &str, how: impl fmt::Display) {
        self.duplicated.insert(task.to_owned());
        self.wrong.push(format!("duplicated: {task}: {how}"));
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { submissions, rows, starts, lost, duplicated, left, wrong } = self;
        let (lost, duplicated, left, wrong) = (lost.len(), duplicated.len(), left.len(), wrong.len());
        write!(
            f,
            "submissions={submissions}, rows={rows}, agent starts={starts}, lost={lost}, \
             duplicated finals={duplicated}, processes left={left}, wrong={wrong}"
        )
    }
}

/// Reads the rows of a registry without changing it.
pub fn rows(registry: &Path) -> rusqlite::Result<Vec<Row>> {
    let connection = open(registry)?;
    let mut statement =
        connection.prepare("SELECT id, run_id, attempt, state, code, alias FROM tasks ORDER BY seq")?;
    let row = |row: &rusqlite::Row<'_>| {
        Ok(Row {
            id: row.get(0)?,
            run_id: row.get(1)?,
            attempt: row.get(2)?,
            state: row.get(3)?,
            code: row.get(4)?,
            alias: row.get(5)?,
        })
    };
    statement.query_map([], row)?.collect()
}

fn open(registry: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(registry, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    Ok(connection)
}

/// Checks a home in which everything should have ended.
pub fn check(home: &Path, journal: &Path) -> Figures {
    let mut figures = Figures::default();
    if let Err(error) = look(home, journal, &mut figures) {
        figures.wrong.push(format!("could not look: {error}"));
    }
    figures
}

fn look(home: &Path, journal: &Path, figures: &mut Figures) -> Result<(), Box<dyn std::error::Error>> {
    let entries = Entries::read(journal)?;
    let registry = home.join("registry.db");
    let verdict: String = open(&registry)?.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    if verdict != "ok" {
        figures.wrong.push(format!("the registry is damaged: {verdict}"));
    }
    let rows = rows(&registry)?;
    let dirs = requests(&home.join("runs"))?;
    figures.submissions = entries.acknowledged.len();
    figures.rows = rows.len();
    promises(&entries, &rows, home, figures);
    for row in &rows {
        one_end(row, home, &entries, figures);
        agent(row, home, entries.side.as_deref(), figures)?;
    }
    directories(&dirs, &rows, home, figures);
    processes(&rows, figures)?;
    private(home, figures)?;
    Ok(())
}

/// Every acknowledged task exists, and only one for each key.
fn promises(entries: &Entries, rows: &[Row], home: &Path, figures: &mut Figures) {
    let mut keys: BTreeMap<&str, &str> = BTreeMap::new();
    for promise in &entries.acknowledged {
        if !rows.iter().any(|row| row.id == promise.task_id && row.run_id == promise.run_id) {
            figures.lost(&promise.task_id, "acknowledged, and no row");
        }
        let request = home.join("runs").join(&promise.run_id).join("request.json");
        let asked = json(&request).and_then(|asked| Some(asked.get("task_id")?.as_str()?.to_owned()));
        if asked.as_ref() != Some(&promise.task_id) {
            figures.lost(&promise.task_id, "acknowledged, and no request of it in its directory");
        }
        if let Some(key) = &promise.key {
            let first = *keys.entry(key).or_insert(&promise.task_id);
            if first != promise.task_id {
                figures.duplicated(&promise.task_id, format!("the key {key} had given {first}"));
            }
        }
    }
}

/// A task has one final state, which everybody reports.
fn one_end(row: &Row, home: &Path, entries: &Entries, figures: &mut Figures) {
    if !row.is_final() {
        figures.lost(&row.id, format!("it never ended: {}", row.state));
        return;
    }
    let dir = home.join("runs").join(&row.run_id);
    let result = json(&dir.join("result.json")).unwrap_or_default();
    let sealed = result.pointer("/outcome/state").and_then(Value::as_str);
    match sealed {
        None => figures.lost(&row.id, format!("{} without a sealed result", row.state)),
        Some(sealed) if sealed != row.state => {
            figures.duplicated(&row.id, format!("sealed as {sealed}, listed as {}", row.state));
        }
        Some(_) if result.get("task_id").and_then(Value::as_str) != Some(&row.id) => {
            figures.duplicated(&row.id, "its result is another task's");
        }
        Some(_) if result.get("attempt").and_then(Value::as_i64) != Some(row.attempt) => {
            figures.wrong.push(format!("{}: sealed and listed attempts differ", row.id));
        }
        Some(_) => {}
    }
    for (_, told) in entries.finals.iter().filter(|(task, told)| *task == row.id && *told != row.state) {
        figures.duplicated(&row.id, format!("told as {told}, now {}", row.state));
    }
    if dir.join("env.json").exists() {
        figures.wrong.push(format!("{}: its environment is still on the disk", row.id));
    }
}

/// What the agent recorded: how often it was started and what it printed.
fn agent(row: &Row, home: &Path, side: Option<&Path>, figures: &mut Figures) -> io::Result<()> {
    let Some(side) = side else { return Ok(()) };
    let dir = home.join("runs").join(&row.run_id);
    let request = json(&dir.join("request.json")).unwrap_or_default();
    let work = request.get("work").and_then(Value::as_str);
    if work == Some("coordinator") {
        // It has no agent. Its jobs have rows of their own.
        return Ok(());
    }
    let starts =
        bytes(&side.join(format!("{}.starts", row.run_id)))?.iter().filter(|&&byte| byte == b'\n').count();
    figures.starts += starts;
    if starts > 1 {
        figures.duplicated(&row.id, format!("its agent was started {starts} times"));
    }
    if starts as i64 > row.attempt {
        figures.wrong.push(format!("{}: {starts} starts in {} attempts", row.id, row.attempt));
    }
    if row.state == "completed" && starts == 0 {
        figures.wrong.push(format!("{}: completed without a start", row.id));
    }
    if work == Some("hosted") {
        // What a call printed is gone if its supervisor was killed meanwhile.
        return Ok(());
    }
    let printed = bytes(&side.join(format!("{}.stdout", row.run_id)))?;
    let mut kept = bytes(&dir.join("stdout.log"))?;
    kept.extend(bytes(&dir.join("events.jsonl"))?);
    let result = json(&dir.join("result.json")).unwrap_or_default();
    let whole = result.pointer("/stdout/dropped_bytes").and_then(Value::as_u64) == Some(0);
    if whole && !printed.starts_with(&kept) {
        figures.wrong.push(format!("{}: what was kept is no beginning of what was printed", row.id));
    }
    if whole && row.state == "completed" && kept.len() < printed.len() {
        let text = format!("{}: {} bytes kept of {} printed", row.id, kept.len(), printed.len());
        figures.wrong.push(text);
    }
    Ok(())
}

/// A directory belongs to one task, and no agent runs without a row.
fn directories(dirs: &[(PathBuf, Value)], rows: &[Row], home: &Path, figures: &mut Figures) {
    let mut owners: BTreeMap<&str, &Path> = BTreeMap::new();
    for (dir, request) in dirs {
        let Some(task) = request.get("task_id").and_then(Value::as_str) else { continue };
        if let Some(first) = owners.insert(task, dir) {
            figures.duplicated(task, format!("{} and {} are both its", first.display(), dir.display()));
        }
        let known = rows.iter().any(|row| home.join("runs").join(&row.run_id) == *dir);
        if !known && dir.join("started.json").exists() {
            figures.wrong.push(format!("{}: started without a row", dir.display()));
        }
    }
}

/// No process of a finished run is alive.
fn processes(rows: &[Row], figures: &mut Figures) -> io::Result<()> {
    let ended: BTreeMap<&str, &Row> =
        rows.iter().filter(|row| row.is_final()).map(|row| (row.run_id.as_str(), row)).collect();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        // It has ended, or is not ours to read.
        let Ok(environment) = fs::read(entry.path().join("environ")) else { continue };
        let marks =
            environment.split(|&byte| byte == 0).filter_map(|entry| entry.strip_prefix(b"DELEGATOR_RUNS="));
        for run in marks.flat_map(|value| value.split(|&byte| byte == b':')) {
            let run = String::from_utf8_lossy(run);
            if let Some(row) = ended.get(run.as_ref()).filter(|_| !is_zombie(pid)) {
                figures.left.insert(pid);
                figures.wrong.push(format!("left: {}: process {pid} outlived it", row.id));
            }
        }
    }
    Ok(())
}

fn is_zombie(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X', 'x']))
}

/// All directories and files are private.
fn private(path: &Path, figures: &mut Figures) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    if found.is_symlink() {
        // The run of a plan's job. Links have no mode of their own.
        let target = fs::read_link(path)?;
        let is_run = target.strip_prefix("../..").is_ok_and(|run| run.components().count() == 1);
        if !is_run || path.parent().is_none_or(|dir| !dir.ends_with("subruns")) {
            figures.wrong.push(format!("{}: a link to {}", path.display(), target.display()));
        }
        return Ok(());
    }
    let (mode, wanted) = (found.permissions().mode() & 0o777, if found.is_dir() { 0o700 } else { 0o600 });
    if mode != wanted {
        figures.wrong.push(format!("{}: mode {mode:o} instead of {wanted:o}", path.display()));
    }
    if found.is_dir() {
        for entry in fs::read_dir(path)?.flatten() {
            match private(&entry.path(), figures) {
                // Supervisors that have just finished still clean up.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other?,
            }
        }
    }
    Ok(())
}

fn requests(runs: &Path) -> io::Result<Vec<(PathBuf, Value)>> {
    let dirs = fs::read_dir(runs)?.flatten().map(|entry| entry.path());
    Ok(dirs.filter_map(|dir| Some((dir.clone(), json(&dir.join("request.json"))?))).collect())
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The bytes of a file; empty if it does not exist.
fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other,
    }
}
