//! Reads test counts that a command did not print but wrote as JUnit's XML to a file named in its line.
//!
//! Anyone may have put anything at that path. So only a plain file without links in its path counts, and only
//! if it was written while the command ran.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::evidence::command_line::{CommandLine, Step, cleaned};
use crate::evidence::tests::formats::junit;
use crate::evidence::tests::read::stops_early;
use crate::evidence::tests::recognise::{Runs, recognise};
use crate::evidence::tests::{Framework, TestRun};
use crate::host::open_beneath;
use crate::model::Timestamp;

const MOST_BYTES: u64 = 16 << 20;
/// File times are no finer.
const CLOCKS_APART_MS: i64 = 20;

const OPTIONS: [&str; 5] = ["--junitxml", "--junit-xml", "--output-junit", "--junitfile", "--log-junit"];
/// Options whose value contains the file among others: `mochaFile=report.xml`.
const OF_REPORTER: [&str; 3] = ["--reporter-options", "--reporter-option", "-O"];

/// Where and when a command ran.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ran<'a> {
    pub(crate) directory: &'a str,
    pub(crate) from: Option<Timestamp>,
    pub(crate) to: Option<Timestamp>,
    pub(crate) exit_code: Option<i64>,
}

/// The counts of the report that a line names, if it starts tests once.
pub(in crate::evidence) fn from_report(line: &CommandLine, ran: Ran<'_>) -> Option<TestRun> {
    let mut named = line.steps.iter().filter_map(|step| Some((recognise(step)?, file(step)?)));
    let (runs, file) = named.next().filter(|_| named.next().is_none() && !line.compound)?;
    let tally = read(ran, &directory(line, ran.directory)?, &file)?;
    let framework = match runs {
        Runs::Framework(framework, _) => framework,
        Runs::Script => Framework::Junit,
    };
    let stopped_early = tally.failed > 0 && line.steps.iter().any(stops_early);
    let is_complete = ran.exit_code.is_some() && !(stopped_early || tally.is_partial() || tally.unknown);
    Some(TestRun {
        framework,
        counts: tally.counts(),
        unit: tally.unit,
        duration_ms: tally.duration_ms,
        complete: is_complete,
        said: tally.said.clone(),
        failing: tally.failing.into_list(),
    })
}

/// The directory of the step that names a report, as far as `cd` shows.
fn directory(line: &CommandLine, start: &str) -> Option<String> {
    let mut here = Path::new(start).to_owned();
    let before = line.steps.iter().take_while(|step| file(step).is_none());
    for step in before.filter(|step| step.program() == "cd") {
        let there = step.args().first()?;
        if there.starts_with(['~', '-']) || there.contains(['$', '`']) {
            return None;
        }
        here.push(there);
    }
    Some(here.to_str()?.to_owned())
}

fn read(ran: Ran<'_>, directory: &str, file: &str) -> Option<super::Tally> {
    let root = Path::new(ran.directory);
    let path = cleaned(&Path::new(directory).join(file));
    let file = open_beneath::open(root, path.strip_prefix(root).ok()?).ok()?;
    let found = file.metadata().ok()?;
    let written = found.mtime().saturating_mul(1000).saturating_add(found.mtime_nsec() / 1_000_000);
    let (from, to) = (ran.from?.as_millis(), ran.to?.as_millis());
    let is_its_own = from < to && written >= from - CLOCKS_APART_MS && written <= to + CLOCKS_APART_MS;
    if !is_its_own || found.len() > MOST_BYTES || found.nlink() != 1 {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    junit::read(&String::from_utf8_lossy(&bytes)).filter(|tally| !tally.cut)
}

/// The report that a step names.
fn file(step: &Step) -> Option<String> {
    let args = step.args();
    let value = |options: &[&str]| {
        let beside = |at: usize| args.get(at + 1).filter(|_| options.contains(&args[at].as_str()));
        let own = |arg: &'_ String| {
            arg.split_once('=').filter(|(key, _)| options.contains(key)).map(|(_, value)| value.to_owned())
        };
        (0..args.len()).rev().find_map(|at| own(&args[at]).or_else(|| beside(at).cloned()))
    };
    let of_mocha = || {
        let values = value(&OF_REPORTER)?;
        values.split(',').find_map(|one| one.strip_prefix("mochaFile=")).map(str::to_owned)
    };
    value(&OPTIONS).or_else(of_mocha)
}
