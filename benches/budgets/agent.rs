//! This program acting as an agent of a run.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use crate::{disk, machine};

const CHUNK: usize = 256 << 10;
const LINE: usize = 80;

/// Plays the part named by the arguments, if any.
pub fn plays(args: &[String]) -> bool {
    match args.first().map(String::as_str) {
        Some("flood") => flood(args[1].parse().unwrap()),
        Some("last-act") => last_act(&args[1], &args[2]),
        Some("flood-and-note") => {
            flood(args[1].parse().unwrap());
            fs::write(&args[2], machine::now().as_nanos().to_string()).unwrap();
        }
        Some("four-syncs") => {
            for half in 0..2 {
                disk::durable_file(Path::new(&args[1]), &format!("{}-{half}", std::process::id()));
            }
        }
        Some("--version" | "mcp" | "exec") => codex(args),
        _ => return false,
    }
    true
}

/// The command line with which a run plays `part`.
pub fn part(part: &str) -> String {
    format!("exec '{}' {part}", std::env::current_exe().unwrap().display())
}

/// Prints `bytes` bytes in lines.
fn flood(bytes: u64) {
    let line = [&[b'x'; LINE - 1][..], b"\n"].concat();
    let chunk = line.repeat(CHUNK / LINE);
    let mut out = File::from(io::stdout().as_fd().try_clone_to_owned().unwrap());
    let mut left = bytes;
    while left > 0 {
        let piece = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        out.write_all(&chunk[..piece]).unwrap();
        left -= piece as u64;
    }
}

/// Waits until somebody opens `go`, writes the time to `moment`, and ends.
fn last_act(go: &str, moment: &str) {
    let mut byte = [0];
    let _ = File::open(go).unwrap().read(&mut byte);
    fs::write(moment, machine::now().as_nanos().to_string()).unwrap();
}

/// Answers like Codex. A file beside the program can delay answers to probes, in milliseconds.
fn codex(args: &[String]) {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    if let ["exec", "--json", ..] = words[..] {
        io::copy(&mut io::stdin(), &mut io::sink()).unwrap();
        let thread = r#"{"type":"thread.started","thread_id":"019a8b3c-0000-7000-8000-000000000000"}"#;
        let message =
            r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"done"}}"#;
        let turn = r#"{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}"#;
        println!("{thread}\n{message}\n{turn}");
        return;
    }
    let delay = fs::read_to_string(std::env::current_exe().unwrap().with_file_name("delay"));
    let delay = delay.ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    std::thread::sleep(Duration::from_millis(delay));
    match words[..] {
        ["--version", ..] => println!("codex-cli 0.166.0"),
        ["exec", ..] => print!("{}", include_str!("../../tests/corpus/codex/exec_help.txt")),
        _ => println!("[]"),
    }
}
