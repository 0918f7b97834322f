//! A crash at each system call of something, and the account of which calls
//! were reached.
//!
//! One run for each call is killed there, all of them in one home, so that
//! damage adds up. Damage also leads a run astray, and then it does not come to
//! the call that was meant: that one is looked for again in a home as fresh as
//! the one in which it was recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Mutex;

use crate::crash::{crash, with_each};
use crate::sample::sample;
use crate::scene::Scene;
use crate::support::env::Ran;
use crate::support::strace::{Place, Point};

/// How often a call is looked for in fresh homes.
pub const TRIES: usize = 12;
/// How many calls share a fresh home: as its registry grows, it takes other
/// calls to read it.
const TOGETHER: usize = 6;
/// So many of the calls that are made by chance may never be met again.
const BY_CHANCE: usize = 5;

/// Calls that change nothing: a crash at one of them leaves what a crash at the call before it leaves. How often
/// they are made depends on how long others hold the database, so one in `QUIET_PART` may never be met again.
const QUIET: [&str; 6] = ["clock_nanosleep", "getdents64", "getpid", "newfstatat", "read", "statx"];
const QUIET_PART: usize = 10;

/// What is done, and crashed while it is done.
pub struct Deed {
    pub what: &'static str,
    pub scene: fn() -> Scene,
    /// How many of it at once, in one home.
    pub at_once: usize,
    /// The call after which it lets a process that it started get ahead, in
    /// fresh homes. How far that one has come decides what is to be seen of it.
    pub yields_after: Option<&'static str>,
    /// Does it once.
    pub act: fn(&Scene, Run<'_>),
    pub is_of_interest: fn(&Point) -> bool,
}

/// Runs a command behind whatever it puts before it.
pub type Run<'a> = &'a mut dyn FnMut(&dyn Fn(&[&str]) -> Command) -> Ran;

/// The calls of a run.
type Calls = BTreeMap<Place, Point>;

impl Deed {
    /// Crashes it at each of its calls. None may be left out, and nothing lost.
    #[track_caller]
    pub fn crash_at_each_call(&self) {
        let account = Account { deed: self, reached: Mutex::default() };
        let one = self.record(&(self.scene)());
        let shared = (self.scene)();
        shared.release();
        // The second time, fewer others are in the way.
        for _ in 0..2 {
            let strike = |point: &&Point| drop(account.strike(&shared, point, &[]));
            with_each(&account.missed(&one), self.at_once, strike);
        }
        // What a single run has done is chance, such as one more turn of a loop
        // that waits; what every run does is none.
        let runs = [one, self.record(&(self.scene)()), self.record(&(self.scene)())];
        let runs_with = |place: &Place| runs.iter().filter(|run| run.contains_key(place)).count();
        let mut calls: Calls =
            runs.iter().flatten().map(|(place, point)| (place.clone(), point.clone())).collect();
        let recorded = calls.len();
        let wanted = |point: &Point| if quiet(point) { 3 } else { 2 };
        calls.retain(|place, point| runs_with(place) >= wanted(point));
        let by_chance = recorded - calls.len();
        let led_astray = account.missed(&calls).len();
        for _ in 0..TRIES {
            let missed = account.missed(&calls);
            let some: Vec<&[&Point]> = missed.chunks(TOGETHER).collect();
            with_each(&some, 2, |few| account.look_for(few));
        }
        let missed = account.missed(&calls);
        let kinds: BTreeSet<&str> = calls.values().map(|point| point.call.as_str()).collect();
        let (what, all, crashed, kinds) = (self.what, calls.len(), calls.len() - missed.len(), kinds.len());
        println!(
            "{what}: points={all}, crashed={crashed}, kinds of calls={kinds}, \
             led astray at first={led_astray}, made by chance={by_chance}"
        );
        missed.iter().for_each(|point| println!("{what}: not met again: {point}"));
        shared.phase.close(what);
        let (quiet, loud): (Vec<&Point>, Vec<&Point>) = missed.into_iter().partition(|point| quiet(point));
        let left_out = loud.iter().filter(|point| runs_with(&point.place) == runs.len()).count();
        assert_eq!(left_out, 0, "calls that every run makes were not reached");
        assert!(loud.len() <= BY_CHANCE, "{} calls were not met again", loud.len());
        assert!(quiet.len() <= all / QUIET_PART, "{} of {all} calls were not met again", quiet.len());
    }

    fn record(&self, scene: &Scene) -> Calls {
        let mut points = Vec::new();
        (self.act)(scene, &mut |command| {
            let (ran, calls) = scene.phase.calls_of(|tracer| command(&behind(tracer, &self.yielding())));
            points = calls;
            ran
        });
        scene.rest();
        points.retain(self.is_of_interest);
        sample(&mut points);
        points.into_iter().map(|point| (point.place.clone(), point)).collect()
    }

    /// What strace is told to let others get ahead.
    fn yielding(&self) -> Vec<String> {
        let slow = |call: &str| vec!["-e".to_owned(), format!("inject={call}:delay_exit=100ms")];
        self.yields_after.map(slow).unwrap_or_default()
    }
}

fn quiet(point: &Point) -> bool {
    QUIET.contains(&point.call.as_str())
}

/// Puts options into what comes before a command, if anything does.
fn behind<'a>(tracer: &[&'a str], options: &'a [String]) -> Vec<&'a str> {
    let (program, rest) = tracer.split_at(tracer.len().min(1));
    let options = options.iter().filter(|_| !rest.is_empty()).map(String::as_str);
    program.iter().copied().chain(options).chain(rest.iter().copied()).collect()
}

/// Which calls were reached.
struct Account<'a> {
    deed: &'a Deed,
    reached: Mutex<BTreeSet<Place>>,
}

impl Account<'_> {
    fn missed<'a>(&self, calls: &'a Calls) -> Vec<&'a Point> {
        let reached = self.reached.lock().unwrap();
        calls.iter().filter(|(place, _)| !reached.contains(place)).map(|(_, point)| point).collect()
    }

    /// Does it once, and kills it. Returns where that was, be it the point that
    /// was meant or another.
    fn strike(&self, scene: &Scene, point: &Point, options: &[String]) -> Option<Place> {
        let mut at = None;
        (self.deed.act)(scene, &mut |command| {
            let crash = crash(&scene.phase, point, |tracer| command(&behind(tracer, options)));
            at = crash.at;
            crash.ran
        });
        let place = at?.place;
        self.reached.lock().unwrap().insert(place.clone());
        Some(place)
    }

    /// Looks for some calls again, in a home of their own.
    fn look_for(&self, points: &[&Point]) {
        let scene = (self.deed.scene)();
        let now = self.deed.record(&scene);
        for meant in points.iter().filter_map(|point| now.get(&point.place)) {
            let mut aim = meant.clone();
            // How many calls it takes to read about other processes depends on
            // them. One that was struck too early or too late tells by how many.
            for _ in 0..3 {
                let at = self.strike(&scene, &aim, &self.deed.yielding());
                scene.rest();
                let Some(struck) = at.filter(|at| *at != meant.place).and_then(|at| now.get(&at)) else {
                    break;
                };
                aim.nth = (aim.nth + meant.nth).saturating_sub(struck.nth).max(1);
            }
        }
        scene.phase.reckon();
    }
}
