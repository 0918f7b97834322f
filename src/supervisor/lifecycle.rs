//! Decides when a run is asked to stop, when it is killed, and when it has ended. Pure: time and
//! all events are arguments.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::{Limit, Limits, StopReason};

/// Time to wait for the end of output after the exit: the pipe may still hold the last output, or a
/// grandchild may hold the pipe.
const DRAIN: Duration = Duration::from_secs(2);

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// The agent produced output.
    Activity,
    CommandStarted(String),
    CommandEnded(String),
    /// The agent's turn is over: commands that it left running no longer count.
    TurnEnded,
    /// Somebody asked for the run to end.
    Stop(StopReason),
    /// The agent's own process has ended.
    Exited,
    /// Both output streams are at their end.
    Closed,
    Tick,
}

/// What to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Ask the agent to end.
    Stop,
    /// Kill it and everything below it.
    Kill,
    /// The run is over.
    Finish,
}

/// One run from start to end. All times are from one monotonic clock.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    limits: Limits,
    grace: Duration,
    started: Duration,
    active: Duration,
    commands: HashMap<String, Duration>,
    stopping: Option<Stopping>,
    exited: Option<Duration>,
    closed: bool,
}

#[derive(Debug)]
struct Stopping {
    reason: StopReason,
    since: Duration,
    killed: bool,
}

impl Lifecycle {
    pub(crate) fn new(limits: Limits, grace: Duration, now: Duration) -> Self {
        Self {
            limits,
            grace,
            started: now,
            active: now,
            commands: HashMap::new(),
            stopping: None,
            exited: None,
            closed: false,
        }
    }

    /// Advances the state and returns what to do, if anything.
    pub(crate) fn step(&mut self, input: Input, now: Duration) -> Option<Action> {
        match input {
            Input::Activity => self.active = now,
            Input::CommandStarted(item) => {
                self.active = now;
                self.commands.entry(item).or_insert(now);
            }
            Input::CommandEnded(item) => {
                self.active = now;
                self.commands.remove(&item);
            }
            Input::TurnEnded => {
                self.active = now;
                self.commands.clear();
            }
            Input::Exited => self.exited = self.exited.or(Some(now)),
            Input::Closed => self.closed = true,
            Input::Stop(reason) => return self.stop(reason, now),
            Input::Tick => {}
        }
        self.due(now)
    }

    /// The first reason is recorded; a run that has ended already has none.
    fn stop(&mut self, reason: StopReason, now: Duration) -> Option<Action> {
        if self.stopping.is_some() || self.exited.is_some() {
            return self.due(now);
        }
        self.stopping = Some(Stopping { reason, since: now, killed: false });
        Some(Action::Stop)
    }

    fn due(&mut self, now: Duration) -> Option<Action> {
        if let Some(exited) = self.exited {
            // Do not wait for the output of a run that is being stopped: whoever still holds the
            // pipe is about to be killed too.
            let over = self.closed || self.stopping.is_some() || now >= exited + DRAIN;
            return over.then_some(Action::Finish);
        }
        if let Some(stopping) = &mut self.stopping {
            let kill = !stopping.killed && now >= stopping.since + self.grace;
            stopping.killed |= kill;
            return kill.then_some(Action::Kill);
        }
        let (limit, _) = self.deadlines().into_iter().flatten().find(|(_, at)| now >= *at)?;
        self.stop(StopReason::Limit(limit), now)
    }

    /// When each limit would end the run, in the current state.
    fn deadlines(&self) -> [Option<(Limit, Duration)>; 3] {
        let oldest = self.commands.values().min();
        let idle = self.limits.idle.filter(|_| self.commands.is_empty());
        [
            self.limits.hard.map(|limit| (Limit::Hard, self.started + limit)),
            self.limits.command.zip(oldest).map(|(limit, since)| (Limit::Command, *since + limit)),
            idle.map(|limit| (Limit::Idle, self.active + limit)),
        ]
    }

    /// When to call [`step`](Self::step) with a tick if nothing else happens.
    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        if let Some(exited) = self.exited {
            return Some(if self.stopping.is_some() { exited } else { exited + DRAIN });
        }
        match &self.stopping {
            Some(stopping) if stopping.killed => None,
            Some(stopping) => Some(stopping.since + self.grace),
            None => self.deadlines().into_iter().flatten().map(|(_, at)| at).min(),
        }
    }

    /// Why the run was stopped, if it was.
    pub(crate) fn into_reason(self) -> Option<StopReason> {
        self.stopping.map(|stopping| stopping.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        idle: Some(Duration::from_secs(10)),
        hard: Some(Duration::from_secs(100)),
        command: Some(Duration::from_secs(30)),
    };

    fn check(inputs: &[(u64, Input)], actions: &[(u64, Action)], reason: Option<StopReason>) {
        let mut lifecycle = Lifecycle::new(LIMITS, Duration::from_secs(5), Duration::ZERO);
        let mut seen = Vec::new();
        for (second, input) in inputs {
            let action = lifecycle.step(input.clone(), Duration::from_secs(*second));
            seen.extend(action.map(|action| (*second, action)));
        }
        assert_eq!(seen, actions);
        assert_eq!(lifecycle.into_reason(), reason);
    }

    fn cancelled() -> StopReason {
        StopReason::Cancelled { reason: None }
    }

    fn command(item: &str) -> Input {
        Input::CommandStarted(item.to_owned())
    }

    #[test]
    fn a_run_ends_when_both_exit_and_end_of_output_are_in() {
        check(&[(1, Input::Exited), (2, Input::Closed)], &[(2, Action::Finish)], None);
        check(&[(1, Input::Closed), (2, Input::Exited)], &[(2, Action::Finish)], None);
    }

    #[test]
    fn a_grandchild_holding_the_pipe_cannot_hold_the_run() {
        check(&[(5, Input::Exited), (6, Input::Tick), (7, Input::Tick)], &[(7, Action::Finish)], None);
    }

    #[test]
    fn silence_ends_a_run_and_signs_of_life_do_not() {
        check(
            &[(9, Input::Activity), (18, Input::Tick), (19, Input::Tick)],
            &[(19, Action::Stop)],
            Some(StopReason::Limit(Limit::Idle)),
        );
    }

    #[test]
    fn a_running_command_is_not_silence_but_has_a_limit_of_its_own() {
        check(
            &[(1, command("a")), (20, Input::Tick), (30, Input::Tick), (31, Input::Tick)],
            &[(31, Action::Stop)],
            Some(StopReason::Limit(Limit::Command)),
        );
    }

    #[test]
    fn the_idle_clock_starts_again_when_the_command_ends() {
        let ended = Input::CommandEnded("a".to_owned());
        check(
            &[(1, command("a")), (20, ended), (29, Input::Tick), (30, Input::Tick)],
            &[(30, Action::Stop)],
            Some(StopReason::Limit(Limit::Idle)),
        );
    }

    #[test]
    fn a_command_left_open_by_a_finished_turn_counts_no_more() {
        check(
            &[(1, command("a")), (2, Input::TurnEnded), (12, Input::Tick)],
            &[(12, Action::Stop)],
            Some(StopReason::Limit(Limit::Idle)),
        );
    }

    #[test]
    fn activity_does_not_move_the_hard_limit() {
        let mut inputs: Vec<_> = (1..100).map(|second| (second, Input::Activity)).collect();
        inputs.push((100, Input::Activity));
        check(&inputs, &[(100, Action::Stop)], Some(StopReason::Limit(Limit::Hard)));
    }

    #[test]
    fn who_does_not_stop_in_time_is_killed_once() {
        check(
            &[(1, Input::Stop(cancelled())), (5, Input::Tick), (6, Input::Tick), (9, Input::Tick)],
            &[(1, Action::Stop), (6, Action::Kill)],
            Some(cancelled()),
        );
    }

    #[test]
    fn the_first_reason_to_stop_is_the_one_recorded() {
        check(
            &[(10, Input::Tick), (11, Input::Stop(cancelled())), (12, Input::Exited)],
            &[(10, Action::Stop), (12, Action::Finish)],
            Some(StopReason::Limit(Limit::Idle)),
        );
    }

    #[test]
    fn a_cancel_after_the_exit_changes_nothing() {
        check(
            &[(1, Input::Exited), (1, Input::Stop(cancelled())), (2, Input::Closed)],
            &[(2, Action::Finish)],
            None,
        );
    }

    #[test]
    fn the_next_deadline_is_the_nearest_that_counts() {
        let at = Duration::from_secs;
        let mut lifecycle = Lifecycle::new(LIMITS, at(5), at(0));
        assert_eq!(lifecycle.next_deadline(), Some(at(10)));
        lifecycle.step(command("a"), at(3));
        assert_eq!(lifecycle.next_deadline(), Some(at(33)));
        lifecycle.step(Input::Stop(cancelled()), at(4));
        assert_eq!(lifecycle.next_deadline(), Some(at(9)));
        lifecycle.step(Input::Tick, at(9));
        assert_eq!(lifecycle.next_deadline(), None);
        lifecycle.step(Input::Exited, at(10));
        assert_eq!(lifecycle.next_deadline(), Some(at(10)));
    }
}
