//! `delegator status`: shows running, queued and recently finished tasks.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::invocation::Call;
use crate::cli::print;
use crate::cli::table::{drawn, table};
use crate::failure::{Exit, Failure, Voice};
use crate::model::State;
use crate::reading;
use crate::reply::{StatusSnapshot, duration};
use crate::tasks;
use crate::text::plain;

/// On narrower terminals, a line shows only the task's text.
const WIDE: usize = 100;
/// On narrower terminals, a line does not show the duration either.
const NARROW: usize = 60;
const LONGEST_PROJECT: usize = 20;
/// The title of a resumed task without a text of its own.
const CONTINUE: &str = "(continue)";

#[derive(Debug, Args)]
pub(super) struct Status {
    /// Show only this task
    id: Option<String>,
    /// Show the tasks of all projects
    #[arg(long, conflicts_with = "id")]
    all: bool,
    /// Show at most this many finished tasks
    #[arg(long, value_name = "N", default_value_t = 5, conflicts_with = "id")]
    limit: u32,
    /// Show the last 5 lines of every run
    #[arg(short, long)]
    verbose: bool,
}

impl Status {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open_to_look()?;
        let project = if self.all { None } else { Some(context.project()) };
        let snapshot = match &self.id {
            Some(id) => tasks::status_of(&mut context, id)?,
            None => tasks::status(&mut context, project.clone(), self.limit)?,
        };
        let snapshot = if self.verbose { snapshot.with_last_lines(&context) } else { snapshot };
        let (meta, data) = StatusSnapshot::of(&snapshot, context.config.retention_age(), Voice::Shell);
        let next = data.next();
        call.answer_with(meta, data, next, |data| match self.id {
            Some(_) => detail(data),
            None => list(data, project),
        })?;
        Ok(Exit::Done)
    }
}

fn list(data: &StatusSnapshot, project: Option<PathBuf>) -> String {
    let place = match project {
        None => "anywhere".to_owned(),
        Some(gone) if gone.as_os_str().is_empty() => "in this directory, which no longer exists".to_owned(),
        Some(project) => format!("in {}", plain::line(&project.display().to_string(), usize::MAX)),
    };
    let counts = &data.summary;
    if counts.running + counts.queued + counts.recently_completed + data.more_ended == 0 {
        return format!(
            "no tasks {place}\n`delegator run` starts one, `delegator status --all` lists those of all projects\n"
        );
    }
    let width = print::width();
    let lines = rows(data);
    let last: Vec<String> = lines.iter().map(|line| last_lines(&line.last, width)).collect();
    let rows: Vec<Vec<String>> = lines.into_iter().map(|line| line.into_cells(width)).collect();
    let rows = table(&rows, width);
    let rows: String = rows.lines().zip(last).map(|(row, last)| format!("{row}\n{last}")).collect();
    let ended = counts.recently_completed;
    let more = match data.more_ended {
        0 => String::new(),
        more => {
            let least = if more >= reading::MAX_FINISHED_COUNTED as usize { "at least " } else { "" };
            format!(" ({least}{more} more: `--limit {}`)", ended + more)
        }
    };
    let counts =
        format!("{} running, {} queued, {ended} finished{more}, {place}", counts.running, counts.queued);
    format!("{rows}{counts}\n{}", warnings(data))
}

struct Line {
    task: String,
    state: String,
    time: String,
    agent: String,
    what: String,
    now: String,
    /// For one line of a list.
    project: Option<String>,
    /// The last lines of output, if asked for.
    last: Vec<String>,
}

impl Line {
    fn into_cells(self, width: Option<usize>) -> Vec<String> {
        let wide = width.is_none_or(|width| width >= WIDE);
        let cells = match width {
            Some(..NARROW) => vec![self.task, self.state],
            Some(NARROW..WIDE) => vec![self.task, self.state, self.time],
            Some(WIDE..) | None => vec![self.task, self.state, self.time, self.agent],
        };
        let now = wide.then_some(self.now);
        cells.into_iter().chain(self.project).chain([self.what]).chain(now).collect()
    }
}

fn rows(data: &StatusSnapshot) -> Vec<Line> {
    let millis = |seconds: f64| (seconds * 1000.0).round() as u64;
    let named = |alias: &Option<String>, title: &str| {
        let title = if title.is_empty() { CONTINUE } else { title };
        match alias {
            Some(alias) => format!("[{alias}] {title}"),
            None => title.to_owned(),
        }
    };
    let running = data.tasks.iter().map(|task| Line {
        task: task.task_id.to_string(),
        state: task.state.to_owned(),
        time: duration(millis(task.elapsed_seconds)),
        agent: task.agent.to_string(),
        what: named(&task.alias, &task.title),
        now: task.progress.as_ref().map_or_else(
            || "starting".to_owned(),
            |progress| match progress.completed_steps.zip(progress.total_steps) {
                None => progress.current_activity.clone(),
                Some((done, all)) => {
                    let percent = progress.percent.map(|percent| format!("{percent}%, ")).unwrap_or_default();
                    format!("{}  {percent}{done}/{all} steps", progress.current_activity)
                }
            },
        ),
        project: task.project.as_deref().map(short),
        last: task.last_lines.clone().unwrap_or_default(),
    });
    let queued = data.queue.iter().map(|task| Line {
        task: task.task_id.to_string(),
        state: State::Pending.in_envelope().to_owned(),
        time: String::new(),
        agent: task.agent.to_string(),
        what: named(&task.alias, &task.title),
        now: task.waits(|position| format!("number {position} in the queue")),
        project: task.project.as_deref().map(short),
        last: Vec::new(),
    });
    let ended = data.recently_completed.iter().map(|task| Line {
        task: task.task_id.to_string(),
        state: task.state.to_owned(),
        time: duration(millis(task.duration_seconds)),
        agent: task.agent.to_string(),
        what: named(&task.alias, &task.title),
        now: task.summary.clone(),
        project: task.project.as_deref().map(short),
        last: task.last_lines.clone().unwrap_or_default(),
    });
    let lines: Vec<Line> = running.chain(queued).chain(ended).collect();
    let project = lines.iter().any(|line| line.project.is_some()).then(|| "PROJECT".to_owned());
    let head = ["TASK", "STATE", "TIME", "AGENT", "WHAT", "NOW"].map(str::to_owned);
    let [task, state, time, agent, what, now] = head;
    let last = Vec::new();
    std::iter::once(Line { task, state, time, agent, what, now, project, last }).chain(lines).collect()
}

/// The last lines of a task, indented below it.
fn last_lines(lines: &[String], width: Option<usize>) -> String {
    let width = width.unwrap_or(usize::MAX);
    lines.iter().map(|line| drawn(&format!("    | {line}"), width) + "\n").collect()
}

/// The name of a project: the last component of its path.
fn short(project: &Path) -> String {
    let name = project.file_name().map_or_else(|| project.to_string_lossy(), |name| name.to_string_lossy());
    plain::line(&name, LONGEST_PROJECT)
}

fn warnings(data: &StatusSnapshot) -> String {
    data.warnings.iter().map(|warning| format!("warning: {warning}\n")).collect()
}

/// Describes one task, one fact per line.
fn detail(data: &StatusSnapshot) -> String {
    let Some(line) = rows(data).into_iter().nth(1) else { return String::new() };
    let id = line.task.clone();
    let time = if line.time.is_empty() { String::new() } else { format!(" ({})", line.time) };
    let mut text = format!(
        "task_id: {id}\nstate: {}{time}\nagent: {}\nwhat: {}\nnow: {}\n",
        line.state, line.agent, line.what, line.now
    );
    if !line.last.is_empty() {
        text.push_str(&format!("last lines:\n{}", last_lines(&line.last, print::width())));
    }
    let ended = data.recently_completed.first();
    let running = data.tasks.first().and_then(|task| task.page.as_ref());
    if let Some(page) = running.or(ended.and_then(|task| task.page.as_ref())) {
        text.push_str(&format!("page: {page}\n"));
    }
    for (name, fact) in [("files", ended.map(|task| &task.files)), ("tests", ended.map(|task| &task.tests))] {
        if let Some(Some(fact)) = fact {
            text.push_str(&format!("{name}: {fact}\n"));
        }
    }
    if ended.is_some_and(|task| task.pinned) {
        text.push_str("pinned: yes, kept regardless of age\n");
    }
    if let Some(progress) = data.tasks.first().and_then(|task| task.progress.as_ref()) {
        if let Some(eta) = &progress.eta {
            text.push_str(&format!("eta: {}\n", eta.line()));
        }
        for step in &progress.steps {
            let mark = if step.done { "x" } else { " " };
            text.push_str(&format!("  [{mark}] {}\n", step.text));
        }
    }
    text.push_str(&warnings(data));
    let asks = data.tasks.first().and_then(|task| task.progress.as_ref()?.question.as_ref()).is_some();
    let next = match data.recently_completed.is_empty() {
        true if asks => format!("resume {id} \"...\""),
        true => format!("wait {id}"),
        false => format!("results {id}"),
    };
    text.push_str(&format!("next: `delegator {next}`\n"));
    text
}
