//! A long output is read as it comes. When its agent has ended, the answer does not wait for all of it to be read again.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::env::{PATIENCE, TestEnv, finish};
use crate::support::strace;

const LENGTH: u64 = 150_000_000;
/// As much may be read of the files of a run: the end of its output, which is kept apart beyond a limit.
const MOST: u64 = 20 << 20;

/// The bytes that any process read of the files below `home`, by the logs of strace, one for each process.
fn bytes_read(logs: &Path, home: &Path) -> u64 {
    let of_home = format!("<{}/", home.display());
    let read = |log: fs::DirEntry| -> u64 {
        let text = fs::read_to_string(log.path()).unwrap();
        let reads = text.lines().filter(|line| line.contains(&of_home));
        reads.filter_map(|line| line.rsplit_once(" = ")?.1.parse::<u64>().ok()).sum()
    };
    fs::read_dir(logs).unwrap().map(|log| read(log.unwrap())).sum()
}

/// Runs a command that prints for long, and waits for the report on it.
#[track_caller]
fn check(limit: u64) {
    let env = TestEnv::new();
    env.configure(&format!("max_stream_bytes = {limit}"));
    let logs = env.side();
    let log = logs.join("reads");
    let reads = "trace=read,readv,pread64,preadv,preadv2,copy_file_range,sendfile,splice";
    let tracer =
        [strace::PROGRAM, "-ff", "-qq", "-y", "-s", "0", "-o", log.to_str().unwrap(), "-e", reads, "--"];
    let task = format!("yes 'a line of a long output' | head -c {LENGTH}");
    let command = env.command_under(&tracer, &["run", "--agent", "command", "--wait", "--json", &task]);
    let ran = finish(command, PATIENCE);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    assert_eq!(report["status"], "completed", "{report:#}");
    let result = fs::read(Path::new(report["run_dir"].as_str().unwrap()).join("result.json")).unwrap();
    let result: Value = serde_json::from_slice(&result).unwrap();
    assert_eq!(result["stdout"]["bytes"], LENGTH);
    let read = bytes_read(&logs, env.home());
    assert!((1..=MOST).contains(&read), "{read} bytes of the run's own files were read");
}

#[test]
fn an_output_that_is_kept_whole_is_not_read_again() {
    check(16 << 30);
}

#[test]
fn of_an_output_beyond_its_limit_no_more_than_the_end_is_read_again() {
    check(128 << 20);
}
