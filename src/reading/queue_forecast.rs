//! When queued tasks will start, as far as earlier runs tell.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::context::Context;
use crate::model::{Slot, Slots, Timestamp};
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
    let Slots { local, cloud } = context.config.slots();
    let mut of_kind = |slot: Slot, limit: u32| {
        let takes = |row: &&Row| slot_of(row) == Some(slot);
        let ran_ms = |row: &Row| row.started_at.map_or(0, |started| now.millis_since(started));
        let left: Vec<_> = working.iter().filter(takes).map(|row| history.left(row, ran_ms(row))).collect();
        let waiting: Vec<_> = pending.iter().filter(takes).map(|row| history.left(row, 0)).collect();
        start_estimates(limit as usize, &left, &waiting).into_iter()
    };
    let mut here = of_kind(Slot::Local, local);
    let mut there = of_kind(Slot::Cloud, cloud);
    let start = |row| match slot_of(row) {
        Some(Slot::Local) => here.next().flatten(),
        Some(Slot::Cloud) => there.next().flatten(),
        // What takes no slot waits for none.
        None => Some(Duration::ZERO),
    };
    pending.iter().map(start).collect()
}

/// What a task occupies or waits for.
pub(super) fn slot_of(row: &Row) -> Option<Slot> {
    row.agent.abilities().work.slot()
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
