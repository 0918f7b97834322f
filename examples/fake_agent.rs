//! A fake agent that plays a script, one step per line.
//!
//! `fake_agent SCRIPT` plays the file. Named `codex`, it answers delegator's probes like the real
//! one and plays the part of the prompt after a line `SCRIPT:`. Named `codex-deaf`, it ignores the
//! prompt.
//!
//! | step | what it does |
//! |---|---|
//! | `say TEXT`, `err TEXT`, `part TEXT` | prints a line, a line on standard error, a piece without newline |
//! | `bytes [HEX]` | prints bytes, by default some that are not UTF-8 |
//! | `flood N`, `line N` | prints N bytes of short lines, one line of N bytes |
//! | `turn TEXT` | prints the events of a whole Codex turn that answers TEXT |
//! | `touch FILE`, `await FILE` | makes a file, waits for one |
//! | `log FILE TEXT`, `env NAME FILE` | appends a line to a file, writes a variable's value to one |
//! | `pause MS`, `hang` | waits a while, waits for ever |
//! | `ignore TERM`, `close stdout` | does not end when asked to, closes its output |
//! | `spawn [KIND [FILE]]`, `daemon [FILE]`, `fork N [FILE]` | leaves processes behind, see `descendants` |
//! | `exit N` | ends |
//!
//! If `FAKE_SIDE` is set, it records its start, what it is about to print, and its end in that
//! directory, which delegator does not know. The checker relies on this record.

#![allow(clippy::disallowed_methods, reason = "an agent is a program of its own, not a part of ours")]
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an agent prints, and a broken script should show"
)]

#[path = "fake_agent/descendants.rs"]
mod descendants;
#[path = "fake_agent/side.rs"]
mod side;

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::exit;
use std::thread::sleep;
use std::time::Duration;

use side::Side;

const HELP: &str = include_str!("../tests/corpus/codex/exec_help.txt");

fn main() {
    let args: Vec<String> = env::args().collect();
    let name = Path::new(&args[0]).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let rest: Vec<&str> = args.iter().skip(1).map(String::as_str).collect();
    if !matches!(rest.as_slice(), ["exec", "--json", ..]) {
        Side::open().asked(&rest);
    }
    match (name.as_str(), rest.as_slice()) {
        ("codex" | "codex-deaf", ["--version", ..]) => println!("codex-cli 0.166.0"),
        ("codex" | "codex-deaf", ["exec", "--help", ..]) => print!("{HELP}"),
        ("codex" | "codex-deaf", ["mcp", "list", ..]) => println!("[]"),
        ("codex" | "codex-deaf", ["login", "status", ..]) => println!("Logged in using an API key"),
        ("codex", ["exec", ..]) => play(&scripted(&whole_prompt())),
        ("codex-deaf", ["exec", ..]) => play("turn deaf\nexit 0"),
        (_, ["refork", file]) => descendants::refork(Path::new(file)),
        (_, [script]) => {
            play(&fs::read_to_string(script).unwrap_or_else(|error| panic!("{script}: {error}")))
        }
        _ => panic!("usage: fake_agent SCRIPT"),
    }
}

fn whole_prompt() -> String {
    let mut prompt = String::new();
    io::stdin().read_to_string(&mut prompt).unwrap();
    prompt
}

/// The steps in a prompt. A prompt without a script is answered like a question.
fn scripted(prompt: &str) -> String {
    let mut lines = prompt.lines().skip_while(|line| line.trim() != "SCRIPT:").skip(1).peekable();
    if lines.peek().is_none() {
        return "turn nothing to do\nexit 0".to_owned();
    }
    lines.take_while(|line| line.trim() != "END").collect::<Vec<_>>().join("\n")
}

fn play(script: &str) {
    let mut agent = Agent { side: Side::open(), stdout: Some(io::stdout()) };
    agent.side.started();
    for step in script.lines().map(str::trim_start).filter(|line| !line.trim().is_empty()) {
        agent.take(step);
    }
    agent.end(0);
}

struct Agent {
    side: Side,
    stdout: Option<io::Stdout>,
}

impl Agent {
    fn take(&mut self, step: &str) {
        let (verb, rest) = step.split_once(' ').unwrap_or((step, ""));
        let (first, second) = rest.split_once(' ').unwrap_or((rest, ""));
        match verb {
            "say" => self.emit(format!("{rest}\n").as_bytes()),
            "err" => drop(io::stderr().write_all(format!("{rest}\n").as_bytes())),
            "part" => self.emit(rest.as_bytes()),
            "bytes" if rest.is_empty() => self.emit(b"\xff\xfe\x00caf\xc3\x28\x80\xed\xa0\x80\n"),
            "bytes" => self.emit(&unhex(rest)),
            "flood" => self.flood(number(rest)),
            "line" => self.emit(&[&vec![b'x'; number(rest)][..], b"\n"].concat()),
            "turn" => self.turn(rest),
            "touch" => fs::write(rest, b"").unwrap(),
            "await" => until(|| Path::new(rest).exists()),
            "log" => append(Path::new(first), format!("{second}\n").as_bytes()),
            "env" => fs::write(second, env::var(first).unwrap_or_default()).unwrap(),
            "pause" => sleep(Duration::from_millis(number(rest) as u64)),
            "hang" => descendants::hang(),
            "ignore" => descendants::ignore(signal_number(rest)),
            "close" => self.close(),
            "spawn" if rest.is_empty() => descendants::leave("holder", 1, None),
            "spawn" => descendants::leave(first, 1, file(second)),
            "daemon" => descendants::leave("daemon", 1, file(rest)),
            "fork" => descendants::leave("forks", number(first), file(second)),
            "exit" => self.end(number(rest) as i32),
            _ => panic!("unknown step `{step}`"),
        }
    }

    /// Records the bytes before delegator can see them, so that captured output is always a prefix
    /// of the record.
    fn emit(&mut self, bytes: &[u8]) {
        self.side.will_print(bytes);
        if let Some(stdout) = &mut self.stdout
            && stdout.write_all(bytes).and_then(|()| stdout.flush()).is_err()
        {
            exit(141);
        }
    }

    fn flood(&mut self, mut left: usize) {
        let chunk = b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n".repeat(1024);
        while left > 0 {
            let piece = left.min(chunk.len());
            self.emit(&chunk[..piece]);
            left -= piece;
        }
    }

    fn turn(&mut self, answer: &str) {
        let report = format!(
            r#"{{\"summary\":\"{answer}\",\"deliverables\":[],\"open_questions\":[],\"next_actions\":[],\"status\":\"completed\"}}"#
        );
        for line in [
            r#"{"type":"thread.started","thread_id":"0198f000-0000-7000-8000-000000000001"}"#.to_owned(),
            r#"{"type":"turn.started"}"#.to_owned(),
            format!(r#"{{"type":"item.completed","item":{{"id":"item_0","type":"agent_message","text":"{report}"}}}}"#),
            r#"{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":2}}"#.to_owned(),
        ] {
            self.emit(format!("{line}\n").as_bytes());
        }
    }

    fn close(&mut self) {
        self.stdout = None;
        // SAFETY: nothing of this process uses the descriptor any more.
        unsafe { libc::close(1) };
    }

    fn end(&mut self, code: i32) {
        self.side.ended();
        exit(code);
    }
}

/// Appends in one write, so that lines of several processes do not mix.
pub(crate) fn append(path: &Path, bytes: &[u8]) {
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened
        .and_then(|mut file| file.write_all(bytes))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

pub(crate) fn until(mut reached: impl FnMut() -> bool) {
    while !reached() {
        sleep(Duration::from_millis(2));
    }
}

fn file(name: &str) -> Option<&Path> {
    (!name.is_empty()).then(|| Path::new(name))
}

fn number(text: &str) -> usize {
    text.trim().parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let value = |digit: u8| (digit as char).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect()
}

fn signal_number(name: &str) -> i32 {
    match name {
        "TERM" => libc::SIGTERM,
        "INT" => libc::SIGINT,
        "HUP" => libc::SIGHUP,
        _ => panic!("unknown signal `{name}`"),
    }
}
