//! Sends progress notifications during a wait: at most one a second, at least one every ten seconds, with rising
//! numbers.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::host::clock;
use crate::mcp::protocol::tool_call::Observer;
use crate::model::{Phase, State};
use crate::reading::View;
use crate::reply::{Eta, brief, duration, title, words};
use crate::tasks::NextObservation;

const AT_MOST: Duration = Duration::from_secs(1);
const AT_LEAST: Duration = Duration::from_secs(10);

/// Makes the callback that a wait calls with its tasks. It sends a line when something changed, and ends the
/// wait once the answer is not `wanted`.
pub(crate) fn observer(
    lines: UnboundedSender<String>,
    wanted: impl Fn(Duration) -> bool + Send + 'static,
) -> Observer {
    let mut last: Option<(Duration, String)> = None;
    Box::new(move |views| {
        let now = clock::monotonic();
        if !wanted(now) {
            return NextObservation::NoMore;
        }
        let (what, line) = line(views);
        let wait = last.as_ref().map_or(Duration::ZERO, |(at, before)| due(*before != what, now - *at));
        if wait.is_zero() {
            // The client no longer listens.
            let _ = lines.send(line);
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

    #[test]
    fn a_change_is_told_after_a_second_and_no_change_after_ten() {
        let seconds = Duration::from_secs;
        assert_eq!(due(true, Duration::from_millis(400)), Duration::from_millis(600));
        assert_eq!(due(true, seconds(1)), Duration::ZERO);
        assert_eq!(due(false, seconds(1)), seconds(9));
        assert_eq!(due(false, seconds(11)), Duration::ZERO);
    }
}
