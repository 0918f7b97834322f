//! Shows the progress of a wait: one line rewritten in place on a terminal, an occasional new line elsewhere.

use std::time::Duration;

use unicode_width::UnicodeWidthStr;

use crate::cli::print;
use crate::cli::table::drawn;
use crate::host::Env;
use crate::host::{clock, terminal};
use crate::model::{Phase, State, Timestamp};
use crate::reading::View;
use crate::reply::{Eta, brief, duration};
use crate::tasks::NextObservation;

/// How often to redraw the line while nothing happens, because it counts seconds.
const TICK: Duration = Duration::from_secs(1);

/// Columns that the current activity gets before other parts are shortened.
const MOST_KEPT: usize = 24;

/// How much of a wait to show.
#[derive(Debug, Clone, Copy)]
pub(super) enum Show {
    Nothing,
    /// Without a terminal, at most one line in this interval.
    Progress {
        every: Duration,
    },
}

#[derive(Debug)]
pub(super) struct Live {
    show: Show,
    /// Whether the terminal can redraw a line.
    draws: bool,
    drawn: bool,
    told: Key,
    told_at: Option<Duration>,
}

/// What must change before a new line is printed.
type Key = (State, Phase);

impl Live {
    pub(super) fn new(show: Show, env: &Env) -> Self {
        let draws = env.text("TERM") != Some("dumb");
        // Nobody needs to be told that it starts.
        Self { show, draws, drawn: false, told: (State::Working, Phase::Starting), told_at: None }
    }

    /// Shows the state of the tasks and returns when to update it.
    pub(super) fn show(&mut self, views: &[View]) -> NextObservation {
        let Show::Progress { every } = self.show else { return NextObservation::OnChange };
        let Some(open) = views.iter().find(|view| !view.state().is_final()) else {
            return NextObservation::OnChange;
        };
        let line = Line::of(views, open, clock::now());
        match terminal::stderr_width().filter(|_| self.draws) {
            Some(width) => {
                // Leave one column free: some terminals wrap when the last one is used.
                let width = width.saturating_sub(1);
                print::note_part(&format!("\r{}\u{1b}[K", drawn(&line.within(width), width)));
                self.drawn = true;
                NextObservation::Within(TICK)
            }
            None => self.tell(&line.whole(), key(open), every),
        }
    }

    fn tell(&mut self, text: &str, key: Key, every: Duration) -> NextObservation {
        let now = clock::monotonic();
        let next = self.told_at.map_or(Duration::ZERO, |at| at + every);
        // The result itself shows the end.
        if key == self.told || key.1 == Phase::Finished {
            return NextObservation::OnChange;
        }
        if now < next {
            return NextObservation::Within(next - now);
        }
        print::note(text);
        self.told = key;
        self.told_at = Some(now);
        NextObservation::OnChange
    }

    /// Clears the line.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            print::note_part("\r\u{1b}[K");
        }
    }
}

fn key(view: &View) -> Key {
    (view.state(), view.progress.as_ref().map_or(Phase::Starting, |progress| progress.phase))
}

/// The parts of the progress line.
#[derive(Debug, Default)]
struct Line {
    /// How many of several tasks have ended.
    others: Option<String>,
    id: String,
    elapsed: String,
    /// Progress so far, in a few words.
    brief: Option<String>,
    eta: Option<Eta>,
    /// The current activity.
    what: String,
}

impl Line {
    fn of(views: &[View], open: &View, now: Timestamp) -> Self {
        let since = open.row.started_at.unwrap_or(open.row.created_at);
        let what = match (open.state(), &open.progress) {
            (State::Pending, _) => "waiting in the queue",
            (_, Some(progress)) => progress.activity.as_str(),
            (_, None) => "starting",
        };
        let ended = views.iter().filter(|view| view.state().is_final()).count();
        Self {
            others: (views.len() > 1).then(|| format!("{ended} of {} done ", views.len())),
            id: open.row.id.to_string(),
            elapsed: seconds(now.millis_since(since)),
            brief: open.progress.as_ref().and_then(brief).map(|brief| format!(" {brief}")),
            eta: Eta::of(open, now),
            what: what.to_owned(),
        }
    }

    fn whole(&self) -> String {
        let left = self.eta.as_ref().map(Eta::line);
        self.joined(Some(&self.id), left)
    }

    /// Drops parts until the current activity has room: first the source of the time estimate, then the
    /// estimate, then the id of the task, which was printed when it started.
    fn within(&self, width: usize) -> String {
        let short = || self.eta.as_ref().map(Eta::short);
        let all = [
            self.whole(),
            self.joined(Some(&self.id), short()),
            self.joined(Some(&self.id), None),
            self.joined(None, None),
        ];
        let cut = self.what.width().saturating_sub(MOST_KEPT);
        let fits = |line: &&String| line.width() - cut <= width;
        all.iter().find(fits).unwrap_or(&all[all.len() - 1]).clone()
    }

    fn joined(&self, id: Option<&str>, left: Option<String>) -> String {
        let left = left.map(|left| format!(" {left}"));
        let what = format!(" {}", self.what);
        let parts = [self.others.as_deref(), id, Some(&self.elapsed), self.brief.as_deref(), left.as_deref()];
        parts.into_iter().flatten().chain([what.as_str()]).collect::<Vec<_>>().join(" ")
    }
}

/// Rounds to whole seconds, so that the line does not flicker.
fn seconds(millis: u64) -> String {
    if millis < 60_000 { format!("{}s", millis / 1000) } else { duration(millis) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(width: usize, expected: &str) {
        let line = Line {
            id: "T-local-abcdefghijkm".to_owned(),
            elapsed: "5s".to_owned(),
            brief: Some(" 33%, 1 of 3 steps".to_owned()),
            eta: Some(Eta::new(20, 65, 5)),
            what: "running: cargo test --workspace".to_owned(),
            ..Line::default()
        };
        assert_eq!(drawn(&line.within(width), width), expected);
    }

    #[test]
    fn what_goes_on_is_the_last_to_give_way() {
        let id = "T-local-abcdefghijkm 5s  33%, 1 of 3 steps";
        let what = "running: cargo test --workspace";
        check(120, &format!("{id}  20 s to 1m05s left, based on 5 earlier runs  {what}"));
        check(100, &format!("{id}  20 s to 1m05s left  {what}"));
        check(75, &format!("{id}  {what}"));
        check(60, "5s  33%, 1 of 3 steps  running: cargo test --workspace");
        check(30, "5s  33%, 1 of 3 steps  runnin…");
    }
}
