//! When queued tasks will start, as far as earlier runs tell.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::context::Context;
use crate::model::Timestamp;
use crate::progress::{eta, start_estimates};
use crate::reading::view::{durations, same_line};
use crate::registry::Row;

/// The time until each of `pending` starts, in their order; `working` are all tasks that run, `pending` all that wait.
pub(super) fn forecast(
    context: &Context,
    working: &[Row],
    pending: &[Row],
    now: Timestamp,
) -> Vec<Option<Duration>> {
    let mut history = History { context, known: HashMap::new() };
    let takes_slot = |row: &&Row| row.agent.abilities().work.takes_slot();
    let left: Vec<Option<Duration>> = working
        .iter()
        .filter(takes_slot)
        .map(|row| history.left(row, row.started_at.map_or(0, |started| now.millis_since(started))))
        .collect();
    let waiting: Vec<Option<Duration>> =
        pending.iter().filter(takes_slot).map(|row| history.left(row, 0)).collect();
    let slots = context.config.max_concurrent as usize;
    let mut starts = start_estimates(slots, &left, &waiting).into_iter();
    // What takes no slot waits for none.
    let starts_at_once = Some(Duration::ZERO);
    pending
        .iter()
        .map(|row| if takes_slot(&row) { starts.next().flatten() } else { starts_at_once })
        .collect()
}

/// The durations of earlier runs, read once for each kind.
struct History<'a> {
    context: &'a Context,
    known: HashMap<(PathBuf, &'static str, Option<String>), Vec<Duration>>,
}

impl History<'_> {
    /// How long such a run usually goes on after `elapsed_ms`.
    fn left(&mut self, row: &Row, elapsed_ms: u64) -> Option<Duration> {
        let Self { context, known } = self;
        let line = same_line(row.agent, &row.instruction).map(str::to_owned);
        let kind = (row.project.clone(), row.agent.as_str(), line);
        let took = known.entry(kind).or_insert_with(|| durations(context, row));
        let range = eta(took, Duration::from_millis(elapsed_ms))?;
        Some(range.low + (range.high - range.low) / 2)
    }
}
