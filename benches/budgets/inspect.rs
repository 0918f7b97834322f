//! The cost of reading a long output in parts, compared with `rg`, `tail`, `head` and `wc`.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Effort;
use crate::figures::{Budget, Samples, Table};
use crate::machine::{self, millis};
use crate::world::{DELEGATOR, World};

const RG: &str = "rg";
const SHORT: u64 = 1 << 20;
/// In three lines of the log.
const RARE: &str = "needle-7f3a";
/// In one line of a thousand.
const FREQUENT: &str = "error";
const NEVER: &str = "no-such-thing";
/// Also part of `[redacted:token]`, which may replace a secret in any line.
const IN_MARK: &str = "token";
/// Part of every mark.
const IN_MARKS: &str = "redacted";

/// A task that printed a log, and the log file.
struct Kept {
    task: String,
    file: PathBuf,
}

pub fn measure(effort: Effort, table: &mut Table) {
    let world = World::new("max_stream_bytes = 17179869184\n");
    let log = log(effort.log_bytes);
    let long = keep(&world, &format!("cat '{}'", log.display()));
    let short = keep(&world, &format!("head -c {SHORT} '{}'", log.display()));
    let file = long.file.to_str().unwrap();
    table.section(&format!("inspecting a log of {} MiB that a run printed", effort.log_bytes >> 20));

    let edges = format!(r"\b{RARE}\b");
    let searches = [
        ("rare match", RARE, "0"),
        ("frequent match, the first 1,000", FREQUENT, "0"),
        ("no match", NEVER, "0"),
        ("rare match with 3 lines around it", RARE, "3"),
        ("rare match, edges of words (`\\b`)", &edges, "0"),
        ("frequent match, edges of words, the first 1,000", r"\berror\b", "0"),
        ("no match, brackets (`\\[error\\]`)", r"\[error\]", "0"),
        ("no match, could be in one mark (`token`)", IN_MARK, "0"),
        ("no match, could be in all marks (`redacted`)", IN_MARKS, "0"),
    ];
    for (what, pattern, around) in searches {
        // Both stop after this many matches.
        let options = ["-m", "1000", "-C", around];
        let ours = [&[DELEGATOR, "inspect", &long.task, "--grep", pattern], &options[..]].concat();
        let rg = [&[RG, "--no-config", "-n", "-i", "-e", pattern], &options[..], &[file]].concat();
        against(&world, effort, table, &format!("grep, {what}"), &ours, ("rg -i", &rg), Budget::AtMost(1.5));
    }

    for (mode, program) in [("--head", "/usr/bin/head"), ("--tail", "/usr/bin/tail")] {
        let ours = |kept: &Kept| {
            vec![DELEGATOR.to_owned(), "inspect".into(), kept.task.clone(), mode.into(), "50".into()]
        };
        let (of_long, of_short) = (ours(&long), ours(&short));
        let of_long: Vec<&str> = of_long.iter().map(String::as_str).collect();
        let of_short: Vec<&str> = of_short.iter().map(String::as_str).collect();
        let name = mode.trim_start_matches('-');
        let theirs = [program, "-n", "50", file];
        against(
            &world,
            effort,
            table,
            &format!("{name} of 50 lines"),
            &of_long,
            (name, &theirs),
            Budget::None,
        );
        against(
            &world,
            effort,
            table,
            &format!("{name} of 50 lines"),
            &of_long,
            ("1 MiB", &of_short),
            Budget::AtMost(2.0),
        );
    }

    let lines = count_lines(&log);
    let range = format!("{}:{lines}", lines - 49);
    let argv = [DELEGATOR, "inspect", &long.task, "--range", &range];
    let with_index = median(&world, effort, &argv);
    table.row("range of the last 50 lines, by the line index", with_index, "ms", Budget::None);
    let index = PathBuf::from(format!("{file}.lines"));
    let kept = fs::read(&index).expect("a long output has an index of its lines");
    fs::remove_file(&index).unwrap();
    table.row("range of the last 50 lines, by counting", median(&world, effort, &argv), "ms", Budget::None);
    fs::write(&index, kept).unwrap();

    let ours = [DELEGATOR, "inspect", &long.task, "--summary"];
    against(
        &world,
        effort,
        table,
        "summary",
        &ours,
        ("wc -l", &["/usr/bin/wc", "-l", file]),
        Budget::AtMost(5.0),
    );

    let mut peak = Samples::default();
    for mode in [
        &["--grep", NEVER][..],
        &["--grep", r"\S+q$"],
        &["--grep", IN_MARKS],
        &["--tail", "50"],
        &["--range", &range],
        &["--summary"],
    ] {
        peak.add(anonymous(&world, &[&[DELEGATOR, "inspect", &long.task], mode].concat()));
    }
    table.row("anonymous memory, the most of all modes", peak.max(), "MiB", Budget::AtMost(32.0));
}

/// Compares two programs, alternating.
fn against(
    world: &World,
    effort: Effort,
    table: &mut Table,
    what: &str,
    ours: &[&str],
    (name, theirs): (&str, &[&str]),
    budget: Budget,
) {
    let (mut our_times, mut their_times) = (Samples::default(), Samples::default());
    for _ in 0..effort.reads {
        their_times.add(millis(world.time(theirs).0));
        our_times.add(millis(run(world, ours)));
    }
    table.row(what, our_times.median(), "ms", Budget::None);
    table.row(&format!("... `{name}`"), their_times.median(), "ms", Budget::None);
    table.row(
        &format!("... as a multiple of `{name}`"),
        our_times.median() / their_times.median(),
        "x",
        budget,
    );
}

fn median(world: &World, effort: Effort, argv: &[&str]) -> f64 {
    let mut times = Samples::default();
    for _ in 0..effort.reads {
        times.add(millis(run(world, argv)));
    }
    times.median()
}

fn run(world: &World, argv: &[&str]) -> Duration {
    let (took, ended) = world.time(argv);
    assert_eq!(ended.code, Some(0), "`{}` failed", argv.join(" "));
    took
}

/// The peak private memory of a program.
fn anonymous(world: &World, argv: &[&str]) -> f64 {
    let pid = world.start(argv);
    let mut most = Samples::default();
    most.add(0.0);
    // A process that has ended has no such line.
    while let Some(now) = machine::mebibytes(pid, "status", "RssAnon") {
        most.add(now);
        std::thread::sleep(Duration::from_micros(300));
    }
    machine::collect(pid);
    most.max()
}

/// Lets a run print, and waits until everything is captured.
fn keep(world: &World, command: &str) -> Kept {
    let task = world.submit("command", command).task;
    machine::collect_all();
    let file = world.runs().pop().unwrap().join("stdout.log");
    Kept { task, file }
}

/// A reproducible log, created once.
fn log(bytes: u64) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("inspected-{}.log", bytes >> 20));
    if fs::metadata(&path).is_ok_and(|found| found.len() >= bytes) {
        return path;
    }
    let mut file = BufWriter::with_capacity(1 << 20, File::create(&path).unwrap());
    let (mut written, mut number, mut random) = (0, 0_u64, 12345_u64);
    while written < bytes {
        number += 1;
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let some = random >> 33;
        let level = if number % 1000 == 0 { "ERROR" } else { ["INFO", "DEBUG", "WARN"][some as usize % 3] };
        let (hour, minute, second) = (number / 3_600_000 % 24, number / 60_000 % 60, number / 1000 % 60);
        let what = if number % 4_000_000 == 1_000_000 { RARE } else { "request" };
        let line = format!(
            "2026-01-02T{hour:02}:{minute:02}:{second:02}.{:03}Z {level} worker-{} {what} {some} handled in {} ms\n",
            number % 1000,
            some % 16,
            some % 977,
        );
        file.write_all(line.as_bytes()).unwrap();
        written += line.len() as u64;
    }
    file.into_inner().unwrap().sync_all().unwrap();
    path
}

fn count_lines(log: &Path) -> usize {
    let counted = std::process::Command::new("/usr/bin/wc").arg("-l").arg(log).output().unwrap();
    String::from_utf8(counted.stdout).unwrap().split_whitespace().next().unwrap().parse().unwrap()
}
