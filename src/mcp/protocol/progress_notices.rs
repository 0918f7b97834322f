//! Sends progress notifications during a wait: at most one a second, at least one every ten seconds, with rising
//! numbers.

use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::sync::mpsc::UnboundedSender;

use crate::host::clock;
use crate::mcp::protocol::tool_call::Observer;
use crate::model::{Phase, State};
use crate::reading::View;
use crate::reply::{Eta, brief, duration, title, words};
use crate::tasks::NextObservation;

const AT_MOST: Duration = Duration::from_secs(1);
const AT_LEAST: Duration = Duration::from_secs(10);
const ALL: u8 = 100;

/// One notification, without the token of its request.
pub(crate) struct Notice {
    progress: f64,
    total: Option<f64>,
    line: String,
}

impl Notice {
    pub(crate) fn with_token(self, token: ProgressToken) -> ProgressNotificationParam {
        let Self { progress, total, line } = self;
        let mut param = ProgressNotificationParam::new(token, progress).with_message(line);
        param.total = total;
        param
    }
}

/// Makes the callback that a wait calls with its tasks. It sends a line when something changed, and ends the
/// wait once the answer is not `wanted`.
pub(crate) fn observer(
    notices: UnboundedSender<Notice>,
    wanted: impl Fn(Duration) -> bool + Send + 'static,
) -> Observer {
    let mut last: Option<(Duration, String)> = None;
    let mut rising = RisingProgress::default();
    Box::new(move |views| {
        let now = clock::monotonic();
        if !wanted(now) {
            return NextObservation::NoMore;
        }
        let (what, line) = line(views);
        let wait = last.as_ref().map_or(Duration::ZERO, |(at, before)| due(*before != what, now - *at));
        if wait.is_zero() {
            let percent = percent(views);
            if let Some(progress) = rising.next(percent) {
                // The client no longer listens.
                let _ = notices.send(Notice { progress, total: percent.map(|_| f64::from(ALL)), line });
            }
            last = Some((now, what));
        }
        // Often enough to notice that the answer is no longer wanted.
        NextObservation::Within(if wait.is_zero() { AT_MOST } else { wait.min(AT_MOST) })
    })
}

/// The time until the next notification may be sent, `since` the last one.
fn due(changed: bool, since: Duration) -> Duration {
    (if changed { AT_MOST } else { AT_LEAST }).saturating_sub(since)
}

/// The percentage of one task, by its agent's plan; of several tasks, the share that has ended.
fn percent(views: &[View]) -> Option<u8> {
    let done = views.iter().filter(|view| view.state().is_final()).count();
    match views {
        [open] if done == 0 => open.progress.as_ref()?.percent.map(|percent| percent.min(ALL - 1)),
        all => u8::try_from(done * usize::from(ALL) / all.len().max(1)).ok(),
    }
}

/// The numbers of one request's notifications, each larger than the one before, as the protocol requires.
///
/// The whole part is the percentage, 0 while none is known. The fraction rises a little each time and never reaches
/// 1, so that it leaves room for every later percentage.
#[derive(Debug, Default)]
struct RisingProgress {
    last: f64,
}

impl RisingProgress {
    /// `None` after 100, because nothing larger is true.
    fn next(&mut self, percent: Option<u8>) -> Option<f64> {
        /// So small that weeks of notifications fit between two percentages.
        const STEP: f64 = 1.0 / 65_536.0;
        if self.last >= f64::from(ALL) {
            return None;
        }
        let whole = f64::from(percent.unwrap_or(0)).max(self.last.floor());
        self.last = if whole > self.last { whole } else { self.last + (whole + 1.0 - self.last) * STEP };
        Some(self.last)
    }
}

/// The current activity, without and with the elapsed time.
pub(crate) fn line(views: &[View]) -> (String, String) {
    let done = views.iter().filter(|view| view.state().is_final()).count();
    let Some(open) = views.iter().find(|view| !view.state().is_final()) else {
        return ("done".into(), "done".into());
    };
    let activity = match (open.state(), &open.progress) {
        (State::Pending, _) => "waiting in the queue",
        (_, Some(progress)) => progress.activity.as_str(),
        (_, None) => "starting",
    };
    let so_far = open.progress.as_ref().and_then(brief).map_or(String::new(), |brief| format!(" ({brief})"));
    let others = if views.len() > 1 { format!("{done} of {} done; ", views.len()) } else { String::new() };
    // Redact here: commands may contain keys, and notifications do not pass through a reply.
    let what = words(&format!("{others}{}{so_far}", title(activity)));
    let since = open.row.started_at.unwrap_or(open.row.created_at);
    let now = clock::now();
    // The agent has ended, and its result is being written.
    let over = open.progress.as_ref().is_some_and(|progress| progress.phase == Phase::Finished);
    let left = Eta::of(open, now).filter(|_| !over).map_or(String::new(), |eta| format!(", {}", eta.line()));
    let line = format!("{what}, {}{left}", duration(now.millis_since(since)));
    (what, line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole parts of the numbers sent for these percentages, all of which rise.
    #[track_caller]
    fn check(percents: &[Option<u8>], expected: &[u8]) {
        let mut rising = RisingProgress::default();
        let sent: Vec<f64> = percents.iter().filter_map(|percent| rising.next(*percent)).collect();
        assert!(sent.iter().all(|number| *number > 0.0) && sent.is_sorted_by(|a, b| a < b), "{sent:?}");
        let whole: Vec<u8> = sent.iter().map(|number| number.floor() as u8).collect();
        assert_eq!(whole, expected);
    }

    #[test]
    fn the_numbers_rise_and_are_the_percentage_once_that_is_known() {
        check(&[None, None, Some(0), Some(0), Some(25), Some(25), Some(50)], &[0, 0, 0, 0, 25, 25, 50]);
        check(&[Some(1), Some(2), Some(3), Some(100)], &[1, 2, 3, 100]);
        // Of what was told once, nothing is taken back.
        check(&[Some(60), None, Some(40), Some(99), Some(99)], &[60, 60, 60, 99, 99]);
        check(&[None, Some(100), Some(100), None], &[0, 100]);
    }

    #[test]
    fn days_without_a_change_do_not_use_up_the_numbers() {
        let days = 3 * 24 * 60 * 60;
        check(&vec![Some(98); days], &vec![98; days]);
        let mut silent = vec![None; days];
        silent.push(Some(1));
        let mut expected = vec![0; days];
        expected.push(1);
        check(&silent, &expected);
    }

    #[test]
    fn a_change_is_told_after_a_second_and_no_change_after_ten() {
        let seconds = Duration::from_secs;
        assert_eq!(due(true, Duration::from_millis(400)), Duration::from_millis(600));
        assert_eq!(due(true, seconds(1)), Duration::ZERO);
        assert_eq!(due(false, seconds(1)), seconds(9));
        assert_eq!(due(false, seconds(11)), Duration::ZERO);
    }
}
