//! Decides what a request asks for: hints first, then its words.

use std::time::Duration;

use crate::router::intent::{Control, Intent, Selector, Verb, Which, parse};
use crate::router::work::Work;

/// What the caller says beside the words. It always wins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hints {
    pub(crate) operation: Option<Operation>,
    /// `None` is `auto`.
    pub(crate) in_cloud: Option<bool>,
    pub(crate) task: Option<String>,
    pub(crate) limit: Option<Duration>,
    pub(crate) agent: Option<String>,
    pub(crate) env_id: Option<String>,
    pub(crate) sandbox: Option<String>,
}

/// The operations that a hint names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Run,
    Check,
    Wait,
    Cancel,
    Setup,
    Results,
    Cleanup,
}

impl Operation {
    pub(crate) const NAMES: [&str; 7] = ["run", "check", "wait", "cancel", "setup", "results", "cleanup"];

    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = [
            Operation::Run,
            Operation::Check,
            Operation::Wait,
            Operation::Cancel,
            Operation::Setup,
            Operation::Results,
            Operation::Cleanup,
        ];
        let at = Self::NAMES.iter().position(|known| *known == name)?;
        Some(all[at])
    }

    fn verb(self) -> Option<Verb> {
        match self {
            Operation::Run => None,
            Operation::Check => Some(Verb::Check),
            Operation::Wait => Some(Verb::Wait),
            Operation::Cancel => Some(Verb::Cancel),
            Operation::Setup => Some(Verb::Setup),
            Operation::Results => Some(Verb::Results),
            Operation::Cleanup => Some(Verb::Cleanup),
        }
    }
}

/// What a request asks for, and how that was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Route {
    pub(crate) intent: Intent,
    /// Where work runs, and why.
    pub(crate) in_cloud: bool,
    pub(crate) mode_reason: &'static str,
    /// From 0 to 1.
    pub(crate) confidence: f64,
    pub(crate) trace: Vec<String>,
}

/// Routes a request. The same request, hints and aliases always give the same route.
pub(crate) fn route(request: &str, hints: &Hints, is_alias: &dyn Fn(&str) -> bool) -> Route {
    let said = parse(request, is_alias);
    let mut trace = vec![format!("words: {}", describe(&said))];
    let certain = hints.operation.is_some() || hints.task.is_some();
    let confidence = match &said {
        _ if certain => 1.0,
        Intent::Control(Control { selector: Selector { which: Which::Named(_), .. }, .. }) => 1.0,
        Intent::Control(_) | Intent::Help | Intent::Yes | Intent::Nothing => 0.95,
        Intent::Work(work) if work.may_start_anew => 0.8,
        Intent::Work(_) => 0.9,
    };
    let intent = with_hints(request, said, hints);
    if certain {
        trace.push(format!("hints: {}", describe(&intent)));
    }
    let (in_cloud, mode_reason) = match &intent {
        Intent::Work(work) => mode(work, hints),
        Intent::Control(_) | Intent::Help | Intent::Yes | Intent::Nothing => (false, "the task's own"),
    };
    if let Intent::Work(_) = intent {
        trace.push(format!("mode: {} ({mode_reason})", if in_cloud { "cloud" } else { "local" }));
    }
    Route { intent, in_cloud, mode_reason, confidence, trace }
}

fn with_hints(request: &str, said: Intent, hints: &Hints) -> Intent {
    let named =
        hints.task.as_ref().map(|task| Selector { which: Which::Named(vec![task.clone()]), only: None });
    match (hints.operation.map(Operation::verb), said) {
        // The caller says that it is work: all of its words are.
        (Some(None), Intent::Control(_) | Intent::Help | Intent::Yes | Intent::Nothing) => {
            Intent::Work(Work { task: request.trim().to_owned(), resume: named, ..Work::default() })
        }
        (Some(None) | None, Intent::Work(work)) => Intent::Work(Work {
            resume: named.clone().or(work.resume),
            may_start_anew: work.may_start_anew && named.is_none(),
            ..work
        }),
        (Some(Some(verb)), Intent::Control(control)) => {
            let selector = named.unwrap_or(control.selector);
            Intent::Control(Control {
                verb,
                selector,
                limit: hints.limit.or(control.limit),
                then: control.then,
            })
        }
        (Some(Some(verb)), _) => {
            let selector = named.unwrap_or_default();
            Intent::Control(Control { verb, selector, limit: hints.limit, then: None })
        }
        (None, Intent::Control(control)) => {
            let selector = named.unwrap_or(control.selector);
            Intent::Control(Control { selector, limit: hints.limit.or(control.limit), ..control })
        }
        (None, other) => other,
    }
}

fn mode(work: &Work, hints: &Hints) -> (bool, &'static str) {
    match (hints.in_cloud, work.in_cloud) {
        (Some(cloud), _) => (cloud, "hints.mode"),
        (None, _) if hints.agent.as_deref() == Some("codex_cloud") => (true, "hints.agent"),
        (None, _) if hints.env_id.is_some() => (true, "hints.env_id"),
        (None, Some(cloud)) => (cloud, "the request says so"),
        (None, None) => (false, "nothing asks for the cloud"),
    }
}

fn describe(intent: &Intent) -> String {
    match intent {
        Intent::Control(control) => {
            let verb = match control.verb {
                Verb::Check => "check",
                Verb::Environments => "list environments",
                Verb::Wait => "wait",
                Verb::Cancel => "cancel",
                Verb::Results => "results",
                Verb::Setup => "setup",
                Verb::Cleanup => "cleanup",
                Verb::Choice => "choice",
            };
            let which = match &control.selector.which {
                Which::Named(names) => names.join(", "),
                Which::Nth(number) => format!("number {number}"),
                Which::Latest => "the latest task".to_owned(),
                Which::All => "all tasks".to_owned(),
                Which::Mine => "the obvious task".to_owned(),
            };
            match control.verb {
                Verb::Setup | Verb::Cleanup | Verb::Environments => verb.to_owned(),
                Verb::Check | Verb::Wait | Verb::Cancel | Verb::Results | Verb::Choice => {
                    format!("{verb} {which}")
                }
            }
        }
        Intent::Work(work) if work.resume.is_some() => "work that continues a thread".to_owned(),
        Intent::Work(_) => "work: no whole sentence about tasks".to_owned(),
        Intent::Help => "a question about the tool".to_owned(),
        Intent::Yes => "agreement, without what to".to_owned(),
        Intent::Nothing => "nothing to do".to_owned(),
    }
}
