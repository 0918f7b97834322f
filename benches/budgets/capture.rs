//! How fast output is captured, and whether the supervisor's memory grows with it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::figures::{Budget, Samples, Table};
use crate::machine::{self, millis};
use crate::world::{World, wait_for};
use crate::{Effort, agent};

/// The length of Codex's longest line for a command.
const LINE: usize = 1_200_000;

pub fn measure(effort: Effort, table: &mut Table) {
    table.section("output of an agent kept on disk");
    flood(effort.flood_bytes, table);
    stream(effort.stream_bytes, table);
}

/// Plain output in short lines, compared with `cat > file`.
fn flood(bytes: u64, table: &mut Table) {
    let world = World::new("max_stream_bytes = 17179869184\n");
    let source = agent::part(&format!("flood {bytes}"));
    let file = world.scratch("copy");
    let copy = format!("({source}) | cat > '{}'", file.display());
    machine::settle();
    let (cat, ended) = world.time(&["/bin/sh", "-c", &copy]);
    assert_eq!(ended.code, Some(0), "`cat` failed");
    fs::remove_file(file).unwrap();
    machine::settle();
    world.submit("command", &source);
    machine::collect_all();
    let result = world.newest("result.json");
    assert_eq!(result["stdout"]["bytes"], bytes, "bytes are missing");
    let kept = result["duration_ms"].as_f64().unwrap();
    let rate = |ms: f64| bytes as f64 / 1e3 / ms;
    table.row("`cat > file`, 80-byte lines", rate(millis(cat)), "MB/s", Budget::None);
    table.row("a run of `command`, 80-byte lines, all kept", rate(kept), "MB/s", Budget::AtLeast(200.0));
}

/// A Codex stream in lines of 1.2 MB through `replay`, and the supervisor's memory meanwhile.
fn stream(bytes: u64, table: &mut Table) {
    let world = World::new("");
    let fifo = world.scratch("stream.jsonl");
    let path = fifo.to_str().unwrap();
    assert_eq!(world.time(&["/usr/bin/mkfifo", path]).1.code, Some(0), "mkfifo failed");
    machine::settle();
    world.submit("replay", &format!("{path} --instant"));
    let supervisor = world.newest("started.json")["supervisor_pid"].as_i64().unwrap();
    let supervisor = i32::try_from(supervisor).unwrap();
    let mut out = wait_for("the replay to open its file", || open(&fifo).ok());
    let began = machine::now();
    let line = command_line();
    let turns = bytes / line.len() as u64;
    let mut resident = Samples::default();
    let mut early = 0.0;
    out.write_all(b"{\"type\":\"thread.started\",\"thread_id\":\"019a8b3c-0000-7000-8000-000000000000\"}\n")
        .unwrap();
    for turn in 0..turns {
        out.write_all(line.as_bytes()).unwrap();
        if turn % (turns / 20).max(1) == 0 {
            resident.add(machine::mebibytes(supervisor, "status", "VmRSS").expect("a live supervisor"));
        }
        if turn == turns / 10 {
            early = machine::mebibytes(supervisor, "status", "VmHWM").expect("a live supervisor");
        }
    }
    let peak = machine::mebibytes(supervisor, "status", "VmHWM").expect("a live supervisor");
    out.write_all(b"{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}\n")
        .unwrap();
    drop(out);
    let took = millis(machine::now() - began);
    machine::collect_all();
    let result = world.newest("result.json");
    assert_eq!(result["outcome"]["state"], "completed", "the stream was not understood");
    let gigabytes = bytes as f64 / 1e9;
    table.row("Codex events of 1.2 MB through `replay`", bytes as f64 / 1e3 / took, "MB/s", Budget::None);
    table.row(
        &format!("supervisor over {gigabytes:.1} GB: resident, median"),
        resident.median(),
        "MiB",
        Budget::None,
    );
    table.row(&format!("supervisor over {gigabytes:.1} GB: resident, peak"), peak, "MiB", Budget::None);
    // One more line buffer may be allocated late; a thousandth of the output would be more.
    table.row("growth of the peak after the first tenth", peak - early, "MiB", Budget::AtMost(2.0));
}

/// A finished command with a long output.
fn command_line() -> String {
    let head = r#"{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"cat big","aggregated_output":""#;
    let tail = "\",\"exit_code\":0,\"status\":\"completed\"}}\n";
    let output = "a line of output, seventy-eight characters of it, and then an escaped break\\n";
    let text = output.repeat((LINE - head.len() - tail.len()) / output.len());
    format!("{head}{text}{tail}")
}

/// Opens a pipe for writing once it has a reader; writes then block as usual.
fn open(path: &Path) -> io::Result<File> {
    File::options().write(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    File::options().write(true).open(path)
}
