//! The progress of a wait: one line rewritten in place on a terminal, a line
//! now and then where there is none.

use std::time::Duration;

use super::print;
use super::table::drawn;
use crate::host::env::Env;
use crate::host::{clock, terminal};
use crate::model::{Phase, State, Timestamp};
use crate::reply::{Eta, brief, duration};
use crate::tasks::{Look, View};

/// How often the line is drawn anew while nothing happens: it shows seconds.
const TICK: Duration = Duration::from_secs(1);

/// How much of a wait is shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Show {
    Nothing,
    /// Without a terminal, at most one line in this time.
    Progress {
        every: Duration,
    },
}

#[derive(Debug)]
pub(super) struct Live {
    show: Show,
    /// The terminal, where there is one, can draw a line anew.
    draws: bool,
    drawn: bool,
    told: Key,
    told_at: Option<Duration>,
}

/// What must change for a new line to be worth it.
type Key = (State, Phase);

impl Live {
    pub(super) fn new(show: Show, env: &Env) -> Self {
        let draws = env.text("TERM") != Some("dumb");
        // That it starts goes without saying.
        Self { show, draws, drawn: false, told: (State::Working, Phase::Starting), told_at: None }
    }

    /// Shows where the tasks are; says when it wants to look again.
    pub(super) fn show(&mut self, views: &[View]) -> Look {
        let Show::Progress { every } = self.show else { return Look::OnChange };
        let Some(open) = views.iter().find(|view| !view.state().is_final()) else { return Look::OnChange };
        let text = line(views, open, clock::now());
        match terminal::stderr_width().filter(|_| self.draws) {
            Some(width) => {
                // One column stays free: some terminals wrap when the last is used.
                print::note_part(&format!("\r{}\u{1b}[K", drawn(&text, width - 1)));
                self.drawn = true;
                Look::Within(TICK)
            }
            None => self.tell(&text, key(open), every),
        }
    }

    fn tell(&mut self, text: &str, key: Key, every: Duration) -> Look {
        let now = clock::monotonic();
        let next = self.told_at.map_or(Duration::ZERO, |at| at + every);
        // Its end is told by its result.
        if key == self.told || key.1 == Phase::Finished {
            return Look::OnChange;
        }
        if now < next {
            return Look::Within(next - now);
        }
        print::note(text);
        self.told = key;
        self.told_at = Some(now);
        Look::OnChange
    }

    /// Leaves the terminal as it was.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            print::note_part("\r\u{1b}[K");
        }
    }
}

fn key(view: &View) -> Key {
    (view.state(), view.progress.as_ref().map_or(Phase::Starting, |progress| progress.phase))
}

fn line(views: &[View], open: &View, now: Timestamp) -> String {
    let since = open.row.started_at.unwrap_or(open.row.created_at);
    let what = match (open.state(), &open.progress) {
        (State::Pending, _) => "waiting in the queue",
        (_, Some(progress)) => progress.activity.as_str(),
        (_, None) => "starting",
    };
    let brief = open.progress.as_ref().and_then(brief).map_or(String::new(), |brief| format!("  {brief}"));
    let ended = views.iter().filter(|view| view.state().is_final()).count();
    let others = if views.len() > 1 { format!("{ended} of {} done  ", views.len()) } else { String::new() };
    let left = Eta::of(open, now).map_or(String::new(), |eta| format!("  {}", eta.line()));
    // What is long comes last, where a narrow terminal cuts it.
    format!("{others}{} {}{brief}{left}  {what}", open.row.id, seconds(now.millis_since(since)))
}

/// Whole seconds: anything finer would only flicker.
fn seconds(millis: u64) -> String {
    if millis < 60_000 { format!("{}s", millis / 1000) } else { duration(millis) }
}
