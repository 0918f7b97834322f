//! Everything passes through unchanged: keys, sizes, signals, bytes, statuses.

use std::fs;
use std::os::fd::AsRawFd;
use std::time::Instant;

use crate::recording::{self, inner_pid};
use crate::support::env::{PATIENCE, TestEnv, finish, wait_for};
use crate::support::kill;
use crate::window::Window;

const SHELL: &[&str] = &["--", "bash", "--norc", "--noprofile"];

/// A window with a shell whose prompt is `$ `, and which has shown it.
fn shell(env: &TestEnv) -> Window {
    let mut command = env.command(&[&["terminal"], SHELL].concat());
    command.env("PS1", "ready> ").env("TERM", "xterm");
    let mut window = Window::with(command, 80, 24);
    window.await_text("ready> ");
    window
}

#[test]
fn an_exit_status_is_the_programs_own() {
    let env = TestEnv::new();
    let mut window = shell(&env);
    window.type_in("exit 7\r");
    window.expect(7);
    let meta = recording::only(&env).meta();
    assert_eq!(meta["exit"], serde_json::json!({ "code": 7 }));
    let mut killed = Window::open(&env, &["--", "sh", "-c", "kill -KILL $$"]);
    killed.expect(128 + libc::SIGKILL);
    let mut missing = Window::open(&env, &["--", "no-such-program"]);
    missing.expect(127);
    assert!(missing.text().contains("failed to start `no-such-program`"), "{}", missing.text());
    // What is there and is no program is told apart, as shells do.
    let mut no_program = Window::open(&env, &["--", "/tmp"]);
    no_program.expect(126);
    assert_eq!(recording::all(&env).len(), 2, "of what never began nothing is kept");
}

#[test]
fn ctrl_c_ends_what_runs_and_not_the_shell_and_jobs_stop_and_go_on() {
    let env = TestEnv::new();
    let mut window = shell(&env);
    let shell = inner_pid(&recording::only(&env));
    // In the foreground, and waiting: what has its name has begun.
    let child = |name: &str| {
        wait_for(name, PATIENCE, || {
            let stat = |pid: &i32| fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            kill::all().into_iter().find(|pid| {
                let stat = stat(pid);
                let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
                stat.contains(&format!("({name})"))
                    && fields[1] == shell.to_string()
                    && fields[2] == fields[5]
            })
        })
    };
    window.type_in("sleep 1000\r");
    child("sleep");
    window.type_in("\u{3}");
    window.await_times("ready> ", 2);
    window.type_in("echo status=$?\r");
    window.await_text("status=130");
    window.type_in("sleep 2000\r");
    let sleep = child("sleep");
    window.type_in("\u{1a}");
    window.await_text("Stopped");
    assert_eq!(kill::state(sleep), Some(b'T'));
    window.type_in("fg\r");
    wait_for("it to go on", PATIENCE, || (kill::state(sleep) == Some(b'S')).then_some(()));
    child("sleep");
    window.type_in("\u{3}");
    window.type_in("exit 0\r");
    window.expect(0);
}

#[test]
fn a_program_sees_the_size_of_the_window_and_every_new_one() {
    let env = TestEnv::new();
    let script = "trap 'stty size' WINCH; stty size; while ! [ -e go ]; do sleep 0.02; done";
    let mut window = Window::with(env.command(&["terminal", "--", "sh", "-c", script]), 91, 31);
    window.await_text("31 91\r\n");
    window.resize(120, 40);
    window.await_text("40 120\r\n");
    let inner = fs::File::open(format!("/proc/{}/fd/0", inner_pid(&recording::only(&env)))).unwrap();
    // SAFETY: a structure of integers that the call fills in.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        assert_eq!(libc::ioctl(inner.as_raw_fd(), libc::TIOCGWINSZ, &mut size), 0);
        size
    };
    assert_eq!((size.ws_xpixel, size.ws_ypixel), (9 * 120, 18 * 40));
    drop(inner);
    fs::write(env.work().join("go"), "").unwrap();
    window.expect(0);
    let recording = recording::only(&env);
    let sizes: Vec<(u16, u16)> = recording.times().iter().map(|one| (one.columns, one.rows)).collect();
    assert_eq!((sizes[0], *sizes.last().unwrap()), ((91, 31), (120, 40)), "{sizes:?}");
    let meta = recording.meta();
    assert_eq!((meta["columns"].as_u64(), meta["rows"].as_u64()), (Some(91), Some(31)));
}

#[test]
fn every_key_and_every_byte_arrives_as_it_is() {
    let env = TestEnv::new();
    // Every byte but those that end the line; the program sees what was typed.
    let script = "stty raw -echo; printf 'go\\r\\n'; dd bs=1 count=255 2>/dev/null | od -An -v -tu1 -w255";
    let mut window = Window::open(&env, &["--", "sh", "-c", script]);
    window.await_text("go\r\n");
    let keys: Vec<u8> = (1..=255).collect();
    // SAFETY: they are sent as bytes, and looked at as nothing else.
    window.type_in(unsafe { std::str::from_utf8_unchecked(&keys) });
    window.expect(0);
    let text = window.text();
    let numbers: Vec<u8> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert_eq!(numbers, keys);
    let script = "stty raw; i=0; while [ $i -lt 256 ]; do printf \"\\\\$(printf %03o $i)\"; i=$((i+1)); done";
    let mut window = Window::open(&env, &["--name", "bytes", "--", "sh", "-c", script]);
    // What the outer terminal makes of it would hide a change: it makes nothing of it.
    window.expect(0);
    let bytes: Vec<u8> = (0..=255).collect();
    assert_eq!(window.seen, bytes);
    let kept = recording::all(&env).into_iter().find(|one| one.meta()["name"] == "bytes").unwrap();
    assert_eq!(kept.output(), bytes);
}

#[test]
fn the_terminal_is_given_back_as_it_was() {
    let env = TestEnv::new();
    let mut window = Window::open(&env, &["--", "sh", "-c", "echo begun; read line; exit 3"]);
    window.await_text("begun");
    let raw = window.settings();
    window.type_in("x\r");
    window.expect(3);
    let after = window.settings();
    assert_ne!(raw, after);
    let before = Window::with(env.command(&["schema", "error"]), 80, 24);
    assert_eq!(after, before.settings());
    drop(before);
    for signal in [libc::SIGTERM, libc::SIGHUP] {
        let mut window = Window::open(&env, &["--", "sh", "-c", "echo begun; exec sleep 1000"]);
        window.await_text("begun");
        kill::send(window.pid(), signal);
        window.expect(128 + libc::SIGHUP);
        assert_eq!(window.settings(), after, "signal {signal}");
    }
}

#[test]
fn fifty_megabytes_come_whole_and_take_no_memory() {
    let env = TestEnv::new();
    let script = "seq 1 6700000; echo END; read line";
    let begun = Instant::now();
    let mut window = Window::open(&env, &["--", "sh", "-c", script]);
    let recording = recording::only(&env);
    window.await_text("END\r\n");
    let took = begun.elapsed();
    let status = fs::read_to_string(format!("/proc/{}/status", window.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim();
    let peak_kib: u64 = peak.trim_end_matches(" kB").parse().unwrap();
    let mut expected: String = (1..=6_700_000).map(|number| format!("{number}\r\n")).collect();
    expected.push_str("END\r\n");
    assert!(expected.len() > 50 << 20);
    assert!(window.seen == expected.as_bytes(), "the screen was sent something else");
    assert!(recording.output() == expected.as_bytes(), "something else was kept");
    println!(
        "burst: {:.1} MB in {:.2} s, {:.0} MB/s, peak {peak_kib} KiB",
        expected.len() as f64 / 1e6,
        took.as_secs_f64(),
        expected.len() as f64 / 1e6 / took.as_secs_f64()
    );
    // The program itself is a part of that.
    assert!(peak_kib < 32 << 10, "{peak}");
    let times = recording.times();
    assert!(times.len() >= 50 && times.windows(2).all(|pair| pair[0].millis <= pair[1].millis));
    for moment in times.iter().step_by(10) {
        let before = &expected.as_bytes()[..moment.offset as usize];
        assert_eq!(memchr::memchr_iter(b'\n', before).count() as u64, moment.lines);
    }
    window.type_in("\r");
    window.expect(0);
}

#[test]
fn a_slow_screen_slows_the_program_down_and_keys_still_get_through() {
    let env = TestEnv::new();
    let mut window = Window::open(&env, &["--", "yes", "no hurry"]);
    let recording = recording::only(&env);
    // Nobody reads: the program must come to a stop.
    let (mut size, mut same) = (0, 0);
    wait_for("the program to stand still", PATIENCE, || {
        let now = fs::metadata(recording.file("output.log")).map_or(0, |found| found.len());
        same = if now == size && now > 0 { same + 1 } else { 0 };
        size = now;
        (same > 40).then_some(())
    });
    assert!(size < 1 << 20, "{size} bytes ran ahead of the screen");
    window.type_in("\u{3}");
    window.expect(128 + libc::SIGINT);
    assert_eq!(window.seen, recording.output());
}

#[test]
fn what_is_no_terminal_will_do_as_well() {
    let env = TestEnv::new();
    let run = |script: &str| {
        let mut command = std::process::Command::new("sh");
        env.settle_in(&mut command);
        command.args(["-c", script, env!("CARGO_BIN_EXE_delegator")]);
        finish(command, PATIENCE)
    };
    let ran = run(r#"printf 'stty size; echo got $((40+2))\nexit 7\n' | "$0" terminal -- sh"#);
    assert_eq!(ran.code, Some(7), "{ran:?}");
    assert!(ran.stdout.contains("24 80\r\n") && ran.stdout.contains("got 42\r\n"), "{ran:?}");
    assert_eq!(ran.stderr, "");
    // Input that has ended has ended for everybody who reads, and a last line needs no end.
    let ran = run(r#"printf 'one\ntwo' | "$0" terminal -- sh -c 'cat; echo; echo first; cat; echo second'"#);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.ends_with("two\r\nfirst\r\nsecond\r\n"), "{ran:?}");
    let ran = run(r#"printf 'echo $((40+2))\n' | "$0" terminal -- bash --norc"#);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("42\r\n"), "{ran:?}");
    // Who takes keys one by one is told once, and not again and again: a second
    // time only where the first came just when it began to.
    let keys = "stty raw -echo; echo; sleep 1; dd bs=64 count=1 2>/dev/null | od -An -tu1";
    let ran = run(&format!(r#""$0" terminal -- sh -c '{keys}; stty sane' </dev/null"#));
    assert!(ran.stdout.matches(" 4").count() <= 2, "{ran:?}");
    // A reader that leaves ends the program, as a closed window does.
    let ran = run(r#""$0" terminal -- yes | head -n 1"#);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "y\r\n"), "{ran:?}");
}

#[test]
fn two_terminals_at_once_do_not_mix() {
    let env = TestEnv::new();
    let loud =
        |word: &str| format!("i=0; while [ $i -lt 2000 ]; do echo {word} $i; i=$((i+1)); done; read line");
    let mut windows: Vec<Window> = ["left", "right"]
        .iter()
        .map(|word| Window::open(&env, &["--name", word, "--", "sh", "-c", &loud(word)]))
        .collect();
    for (window, word) in windows.iter_mut().zip(["left", "right"]) {
        window.await_text(&format!("{word} 1999\r\n"));
    }
    let listed = env.json(&["terminal", "list", "--json"]);
    assert_eq!(listed["data"]["terminals"].as_array().map(Vec::len), Some(2));
    assert!(
        listed["data"]["terminals"].as_array().unwrap().iter().all(|one| one["live"] == true),
        "{listed:#}"
    );
    // The active one is the one last written to.
    for (at, word) in [(0, "left"), (1, "right"), (0, "left")] {
        windows[at].type_in("typed");
        let times = windows[at].text().matches("typed").count() + 1;
        windows[at].await_times("typed", times);
        let active = env.json(&["terminal", "read", "--json"]);
        assert_eq!(active["data"]["name"], word);
    }
    for (window, word) in windows.iter_mut().zip(["left", "right"]) {
        window.type_in("\r");
        window.expect(0);
        let kept = recording::all(&env).into_iter().find(|one| one.meta()["name"] == word).unwrap();
        assert_eq!(kept.output(), window.seen, "{word}");
    }
}
