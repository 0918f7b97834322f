//! Holds the router against labelled requests (`requests.tsv`), and any text against what must hold of every text.
//!
//! Rules are written on the development half alone; the other half measures them.

use std::time::Duration;

use proptest::prelude::*;

use crate::router::grammar::{Clause, meanings};
use crate::router::intent::{Only, parse};
use crate::router::lex::{LOOKED_AT, tokens};
use crate::router::words::Words;
use crate::router::{Control, Hints, Intent, Operation, Selector, Verb, Which, Work, route};

const REQUESTS: &str = include_str!("requests.tsv");
/// The share of the measured half that must be read as labelled.
const ACCURACY: f64 = 0.97;

struct Labelled {
    operation: &'static str,
    details: Vec<&'static str>,
    text: String,
}

fn labelled() -> impl Iterator<Item = Labelled> {
    REQUESTS.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut parts = line.splitn(3, '\t');
        let mut next = || parts.next().unwrap_or_else(|| panic!("{line}"));
        let (operation, details, text) = (next(), next(), next());
        let details = details.split(',').filter(|detail| *detail != "-").collect();
        Labelled { operation, details, text: text.replace("\\n", "\n").replace("\\t", "\t") }
    })
}

/// Whether the text belongs to the half on which rules are written: the first bit of its FNV-1a hash.
fn is_for_development(text: &str) -> bool {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash >> 63 == 0
}

fn is_alias(word: &str) -> bool {
    word == "nightly"
}

fn read(text: &str) -> Intent {
    parse(text, &is_alias)
}

fn operation(intent: &Intent) -> &'static str {
    match intent {
        Intent::Control(control) => match control.verb {
            Verb::Check => "check",
            Verb::Environments => "environments",
            Verb::Wait => "wait",
            Verb::Cancel => "cancel",
            Verb::Results => "results",
            Verb::Setup => "setup",
            Verb::Cleanup => "cleanup",
            Verb::Choice => "choice",
        },
        Intent::Work(work) if work.resume.is_some() => "resume",
        Intent::Work(_) => "run",
        Intent::Help | Intent::Yes | Intent::Nothing => "none",
    }
}

/// Whether the intent has exactly what a detail says.
fn has(intent: &Intent, detail: &str) -> bool {
    let work = Work::default();
    let work = if let Intent::Work(work) = intent { work } else { &work };
    let selector = match intent {
        Intent::Control(control) => control.selector.clone(),
        Intent::Work(work) => work.resume.clone().unwrap_or_default(),
        Intent::Help | Intent::Yes | Intent::Nothing => Selector::default(),
    };
    match detail.split_once('=') {
        Some(("id", id)) => selector.which == Which::Named(vec![id.to_owned()]),
        Some(("nth", number)) => selector.which == Which::Nth(number.parse().unwrap()),
        _ => match detail {
            "all" => selector.which == Which::All,
            "latest" => selector.which == Which::Latest,
            "then" => matches!(intent, Intent::Control(Control { then: Some(_), .. })),
            "cloud" => work.in_cloud == Some(true),
            "local" => work.in_cloud == Some(false),
            "worktree" => work.in_worktree,
            "claude" | "gemini" => work.agent == Some(detail),
            "every" => work.on_every_agent,
            "after" => work.after.is_some(),
            "full" => work.sandbox == Some("danger-full-access"),
            other => panic!("unknown detail `{other}`"),
        },
    }
}

/// What the intent has although no label says so.
fn has_more(intent: &Intent, details: &[&str]) -> bool {
    let options = ["then", "cloud", "local", "worktree", "claude", "gemini", "every", "after", "full"];
    options.iter().any(|option| !details.contains(option) && has(intent, option))
}

fn is_right(one: &Labelled) -> bool {
    let intent = read(&one.text);
    operation(&intent) == one.operation
        && one.details.iter().all(|detail| has(&intent, detail))
        && !has_more(&intent, &one.details)
}

/// The share of right answers in one half, with every miss printed.
fn accuracy(of_development: bool) -> f64 {
    let (mut right, mut all) = (0.0, 0.0);
    for one in labelled().filter(|one| is_for_development(&one.text) == of_development) {
        all += 1.0;
        if is_right(&one) {
            right += 1.0;
        } else {
            println!("{} {:?}: {:?}\n    {:?}", one.operation, one.details, one.text, read(&one.text));
        }
    }
    println!("{right} of {all}");
    right / all
}

#[test]
fn requests_that_no_rule_was_written_for_are_understood() {
    assert!(labelled().count() >= 400);
    assert!(accuracy(false) >= ACCURACY);
}

#[test]
fn requests_that_rules_were_written_for_are_understood() {
    assert!(accuracy(true) >= 0.99);
}

#[test]
fn no_work_ends_removes_or_connects_anything() {
    for one in labelled().filter(|one| ["run", "resume"].contains(&one.operation)) {
        let read = operation(&read(&one.text));
        assert!(!["cancel", "cleanup", "setup"].contains(&read), "{:?}: {read}", one.text);
    }
}

/// Words of the tables in any order, which come closest to sentences.
fn almost_sentences() -> impl Strategy<Value = String> {
    let mut known: Vec<&str> = Words::shipped().symbols.keys().map(String::as_str).collect();
    known.sort_unstable();
    known.extend(["T-local-0a1b", "#2", "30s", ",", ".", "\n", "\"", "'", "nightly", "Ünïcode", "…"]);
    prop::collection::vec(prop::sample::select(known), 0..120).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_one_route(text in prop_oneof![any::<String>(), almost_sentences()]) {
        let hints = Hints::default();
        prop_assert_eq!(route(&text, &hints, &is_alias), route(&text, &hints, &is_alias));
        let (tokens, _) = tokens(&text);
        prop_assert!(tokens.len() <= 2 * LOOKED_AT);
        if let Intent::Work(work) = read(&text) {
            prop_assert!(work.resume.is_some() || text.contains(&work.task));
        }
    }

    #[test]
    fn hints_always_win(text in prop_oneof![any::<String>(), almost_sentences()], at in 0..Operation::NAMES.len()) {
        let hints = Hints {
            operation: Operation::named(Operation::NAMES[at]),
            in_cloud: Some(true),
            task: Some("T-local-0a1b".into()),
            limit: Some(Duration::from_secs(7)),
            ..Hints::default()
        };
        let named = Which::Named(vec!["T-local-0a1b".into()]);
        match route(&text, &hints, &is_alias).intent {
            Intent::Work(work) => {
                prop_assert_eq!(Operation::NAMES[at], "run");
                prop_assert_eq!(work.resume.map(|selector| selector.which), Some(named));
            }
            intent @ Intent::Control(_) => {
                prop_assert_eq!(operation(&intent), Operation::NAMES[at]);
                let Intent::Control(control) = intent else { unreachable!() };
                prop_assert_eq!((control.selector.which, control.limit), (named, Some(Duration::from_secs(7))));
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn the_effort_grows_with_the_number_of_words_and_no_faster(text in almost_sentences()) {
        let (tokens, _) = tokens(&text);
        let steps = |count: usize| {
            let (clause, meanings) = (&tokens[..count], meanings(&tokens[..count], &is_alias));
            let mut clause = Clause::of(&meanings).unwrap_or_else(|| panic!("{clause:?}"));
            clause.says();
            clause.steps
        };
        let count = tokens.len().min(60);
        if count > 0 {
            // Every part of every sentence, once for each word at most.
            prop_assert!(steps(count) <= 40_000 + 2_000 * count, "{} for {count}", steps(count));
        }
    }
}

#[test]
fn a_long_request_is_read_no_further_than_its_beginning() {
    let long = format!("cancel my task {}", "and more ".repeat(2_000));
    assert_eq!(operation(&read(&long)), "run");
    let then = format!("cancel my task, then {}", "fix it ".repeat(2_000));
    let Intent::Control(control) = read(&then) else { panic!("{then}") };
    assert!(control.then.is_some_and(|rest| rest.len() > 10_000));
}

#[test]
fn a_limit_and_an_adjective_are_read() {
    let limit = |text: &str| match read(text) {
        Intent::Control(control) => control.limit.map(|limit| limit.as_secs()),
        other => panic!("{text}: {other:?}"),
    };
    for (text, seconds) in [
        ("wait 30 seconds for my task", Some(30)),
        ("wait up to 5 minutes for it", Some(300)),
        ("wait at most 30s", Some(30)),
        ("wait 2h for my task", Some(7200)),
        ("wait for task 2", None),
    ] {
        assert_eq!(limit(text), seconds, "{text}");
    }
    let only = |text: &str| match read(text) {
        Intent::Control(control) => control.selector.only,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(only("show me the failed run"), Some(Only::Failed));
    assert_eq!(only("cancel the cloud task"), Some(Only::Cloud));
    assert_eq!(only("is my task running"), None);
}
