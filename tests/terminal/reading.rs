//! `delegator terminal list` and `read`: what was recorded, read in pieces.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::recording;
use crate::support::env::{PATIENCE, TestEnv, finish};
use crate::window::Window;

/// Records a script under a name.
#[track_caller]
fn record(env: &TestEnv, name: &str, script: &str) {
    env.expect(0, &["terminal", "--name", name, "--", "sh", "-c", script]);
}

#[track_caller]
fn read(env: &TestEnv, args: &[&str]) -> String {
    env.expect(0, &[&["terminal", "read"], args].concat()).stdout
}

/// The document, which must fit its schema.
#[track_caller]
fn document(env: &TestEnv, args: &[&str]) -> Value {
    let document = env.json(&[&["terminal"], args, &["--json"]].concat());
    let schema =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/registry_info.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}: {document:#}");
    document
}

#[test]
fn a_part_is_read_by_lines_with_or_without_escapes() {
    let env = TestEnv::new();
    record(&env, "lines", "for i in 1 2 3 4 5; do printf '\\033[3%dmline %d\\033[0m\\n' $i $i; done");
    assert_eq!(read(&env, &["lines", "--head", "2"]), "line 1\nline 2\n");
    assert_eq!(read(&env, &["lines", "--tail", "2"]), "line 4\nline 5\n");
    assert_eq!(read(&env, &["--all"]), "line 1\nline 2\nline 3\nline 4\nline 5\n");
    assert_eq!(read(&env, &[]), read(&env, &["--all"]));
    assert_eq!(read(&env, &["--tail", "1", "--raw"]), "\u{1b}[35mline 5\u{1b}[0m\r\n");
    let data = &document(&env, &["read", "lines", "--head", "2"])["data"];
    assert_eq!(
        (&data["truncated"], &data["end_line"], &data["total_lines"]),
        (&json!(false), &json!(2), &json!(5))
    );
    let cursor = data["cursor"].as_str().unwrap();
    assert_eq!(data["next"], json!(format!("there is more: call again with cursor `{cursor}`")));
    assert_eq!(read(&env, &["lines", "--cursor", cursor]), "line 3\nline 4\nline 5\n");
    let data = &document(&env, &["read", "lines", "--tail", "2"])["data"];
    assert_eq!(data["next"], "end of the output");
    assert_eq!(
        (&data["start_line"], &data["end_line"], &data["total_lines"]),
        (&json!(4), &json!(5), &json!(5))
    );
    assert_eq!(
        (&data["mode"], &data["truncated"], &data["exit_status"]),
        (&json!("tail"), &json!(false), &json!(0))
    );
    let listed = document(&env, &["list"]);
    assert_eq!(listed["data"]["active"], listed["data"]["terminals"][0]["terminal_id"]);
    let text = env.expect(0, &["terminal", "list"]).stdout;
    assert!(text.contains("lines") && text.contains("ended (exit 0)"), "{text}");
}

#[test]
fn at_a_terminal_the_prompt_that_comes_next_begins_a_line() {
    let env = TestEnv::new();
    record(&env, "prompt", "printf 'one\\n$ '");
    assert_eq!(read(&env, &["prompt"]), "one\n$ ");
    let mut window = Window::open(&env, &["read", "prompt"]);
    window.expect(0);
    assert_eq!(window.text(), "one\r\n$ \r\n");
}

#[test]
fn of_two_with_one_name_the_live_one_is_meant() {
    let env = TestEnv::new();
    let mut window = Window::open(&env, &["--name", "one", "--", "sh", "-c", "echo first; read line"]);
    window.await_text("first");
    record(&env, "one", "echo second");
    assert_eq!(read(&env, &["one"]), "first\n");
    assert_eq!(read(&env, &[]), "second\n");
    window.type_in("\r");
    window.expect(0);
    record(&env, "one", "echo third");
    assert_eq!(read(&env, &["one"]), "third\n");
}

#[test]
fn a_terminal_is_pinned_by_its_name_or_the_beginning_of_its_id() {
    let env = TestEnv::new();
    record(&env, "one", "echo one");
    let recording = recording::only(&env);
    for reference in ["one", &recording.id()[..10], recording.id()] {
        let said = env.expect(0, &["pin", reference]).stdout;
        assert!(said.contains(recording.id()) && recording.file("pin").exists(), "{said}");
        let listed = env.expect(0, &["terminal", "list"]).stdout;
        assert!(listed.contains("ended (exit 0), pinned"), "{listed}");
        assert_eq!(document(&env, &["list"])["data"]["terminals"][0]["pinned"], true);
        env.expect(0, &["pin", "--undo", reference]);
        assert!(!recording.file("pin").exists());
    }
    record(&env, "two", "echo two");
    let ran = env.expect(2, &["pin", "term-"]);
    assert!(ran.stderr.contains("could be any of term-"), "{ran:?}");
}

#[test]
fn a_terminal_is_inspected_by_its_name_or_the_beginning_of_its_id() {
    let env = TestEnv::new();
    record(&env, "one", "echo first; echo second");
    let recording = recording::only(&env);
    for reference in ["one", &recording.id()[..10], recording.id()] {
        assert!(
            env.expect(0, &["inspect", reference, "--tail", "1"]).stdout.contains("second"),
            "{reference}"
        );
    }
    for (code, args) in [(3, &["inspect", "two"][..]), (3, &["inspect", "one", "stdout.log"])] {
        let ran = env.expect(code, args);
        assert!(ran.stderr.contains("no task"), "{ran:?}");
    }
    record(&env, "two", "echo two");
    let ran = env.expect(2, &["inspect", "term-"]);
    assert!(ran.stderr.contains("could be any of term-"), "{ran:?}");
}

#[test]
fn what_came_since_a_moment_is_found() {
    let env = TestEnv::new();
    let script = "echo early; touch one; until [ -e two ]; do sleep 0.02; done; echo late; read line";
    let mut window = Window::open(&env, &["--", "sh", "-c", script]);
    window.await_text("early");
    recording::await_file(&env.work().join("one"));
    let first = recording::only(&env).times()[0].millis;
    // Two entries of the index are at least so far apart.
    let between = first + 200;
    crate::support::env::wait_for("time to pass", PATIENCE, || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        (now as u64 > between).then_some(())
    });
    fs::write(env.work().join("two"), "").unwrap();
    window.await_text("late");
    let moment = moment(between);
    assert_eq!(read(&env, &["--since", &moment]), "late\n");
    assert_eq!(read(&env, &["--since", "1h"]), "early\nlate\n");
    assert_eq!(read(&env, &["--since", "0s"]).replace("late\n", ""), "");
    // A cursor gives what came after a reply.
    let data = document(&env, &["read"])["data"].clone();
    assert_eq!((&data["live"], &data["content"]), (&json!(true), &json!("early\nlate\n")));
    window.type_in("typed\r");
    window.expect(0);
    let rest = document(&env, &["read", "--cursor", data["cursor"].as_str().unwrap()]);
    assert_eq!(rest["data"]["content"], "typed\n");
}

/// RFC 3339 of so many milliseconds.
fn moment(millis: u64) -> String {
    let mut command = Command::new("date");
    command.args([
        "-u",
        "-d",
        &format!("@{}.{:03}", millis / 1000, millis % 1000),
        "+%Y-%m-%dT%H:%M:%S.%3NZ",
    ]);
    finish(command, PATIENCE).stdout.trim().to_owned()
}

#[test]
fn a_long_recording_is_read_in_pieces_that_fit_and_are_all_of_it() {
    let env = TestEnv::new();
    record(&env, "long", "seq 1 200000");
    let expected: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    assert_eq!(read(&env, &["long", "--all"]), expected);
    assert_eq!(read(&env, &["long", "--all", "--raw"]), expected.replace('\n', "\r\n"));
    let mut whole = String::new();
    let mut next = vec!["--all".to_owned()];
    loop {
        let args: Vec<&str> = ["read", "long"].into_iter().chain(next.iter().map(String::as_str)).collect();
        let data = document(&env, &args)["data"].clone();
        let content = data["content"].as_str().unwrap();
        assert!(content.len() <= 64 << 10);
        whole.push_str(content);
        if data["truncated"] == false {
            assert_eq!(data["end_line"], 200_000);
            break;
        }
        next = vec!["--cursor".to_owned(), data["cursor"].as_str().unwrap().to_owned()];
    }
    assert_eq!(whole, expected);
    let lines = |numbers: std::ops::RangeInclusive<u32>| -> String {
        numbers.map(|number| format!("{number}\n")).collect()
    };
    assert!(read(&env, &["long", "--tail", "100000"]) == lines(100_001..=200_000));
    assert!(read(&env, &["long", "--head", "50000"]) == lines(1..=50_000));
    assert!(
        read(&env, &["long", "--tail", "50000", "--raw"]) == lines(150_001..=200_000).replace('\n', "\r\n")
    );
    let data = &document(&env, &["read", "long", "--tail", "100000"])["data"];
    assert_eq!((&data["truncated"], &data["end_line"]), (&json!(true), &json!(200_000)));
    assert!(data["content"].as_str().unwrap().ends_with("\n199999\n200000\n"));
}

#[test]
fn a_compressed_recording_is_read_as_far_as_it_goes() {
    let env = TestEnv::new();
    record(&env, "long", "seq 1 200000");
    let parts =
        [&["--all"][..], &["--head", "3"], &["--tail", "3"], &["--all", "--raw"], &["--cursor", "b99999"]];
    let plain: Vec<String> = parts.iter().map(|part| read(&env, part)).collect();
    let plain_document = document(&env, &["read", "--tail", "3"])["data"].clone();
    let output = recording::only(&env).file("output.log");
    let mut gzip = Command::new("gzip");
    gzip.arg(&output);
    assert_eq!(finish(gzip, PATIENCE).code, Some(0));
    let packed: Vec<String> = parts.iter().map(|part| read(&env, part)).collect();
    assert!(packed == plain);
    let data = document(&env, &["read", "--tail", "3"])["data"].clone();
    for name in ["content", "start_line", "end_line", "total_lines", "total_bytes", "cursor"] {
        assert_eq!(data[name], plain_document[name], "{name}");
    }
    // Half of it is as good as half of a plain one.
    let packed = output.with_extension("log.gz");
    let bytes = fs::read(&packed).unwrap();
    fs::write(&packed, &bytes[..bytes.len() / 2]).unwrap();
    let ran = env.expect(0, &["terminal", "read", "--all"]);
    assert!(
        ran.stdout.starts_with("1\n2\n3\n") && ran.stdout.lines().count() > 10_000,
        "{}",
        ran.stdout.len()
    );
    assert!(ran.stderr.contains("damaged"), "{}", ran.stderr);
    let data = document(&env, &["read", "--head", "3"])["data"].clone();
    assert_eq!(data["content"], "1\n2\n3\n");
    assert!(data["incomplete"].as_str().is_some_and(|why| why.contains("damaged")), "{data:#}");
}

#[test]
fn secrets_and_what_turns_text_around_stay_in_the_file() {
    let env = TestEnv::new();
    // In two halves: this file is no secret.
    let token = ["ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
    record(&env, "secret", &format!("echo pushed with {token}; printf 'a\\342\\200\\256b\\n'"));
    for args in [&["--all"][..], &["--tail", "9"], &["--json"], &["--json", "--raw"]] {
        let shown = read(&env, args);
        assert!(!shown.contains(&token[4..12]) && shown.contains("redacted"), "{shown}");
        assert_eq!(shown.contains('\u{202e}'), args.contains(&"--raw"));
    }
    assert!(read(&env, &["--all", "--raw"]).contains(&token), "the owner's bytes are as they came");
}

#[test]
fn what_ends_inside_of_a_sequence_or_a_character_is_read_to_its_end() {
    let env = TestEnv::new();
    for rest in ["\\303", "\\033[31", "\\033]0;make"] {
        record(&env, "cut", &format!("printf 'one\\ntail{rest}'"));
        for args in [&["--all"][..], &["--head", "5"], &["--tail", "2"], &["--since", "1h"], &[]] {
            assert_eq!(read(&env, args), "one\ntail", "{args:?} {rest}");
        }
        let data = document(&env, &["read", "--all"])["data"].clone();
        assert_eq!((&data["content"], &data["truncated"]), (&json!("one\ntail"), &json!(false)));
        assert_eq!(data["next"], "end of the output");
        assert_eq!(data["cursor"], json!(format!("b{}", data["total_bytes"])));
    }
}

/// Records what a screen is sent, which the command does not tell.
#[track_caller]
fn send(env: &TestEnv, name: &str, sent: &str) {
    fs::write(env.work().join("sent"), sent).unwrap();
    record(env, name, "cat sent");
}

#[test]
fn a_secret_with_colours_inside_it_is_a_secret() {
    let env = TestEnv::new();
    let rest = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
    // As `grep --color=always` does it.
    let coloured = format!("\u{1b}[01;31m\u{1b}[Kghp_\u{1b}[m\u{1b}[K{rest}");
    send(&env, "grep", &format!("a \u{1b}[1mb\u{1b}[m\nexport T={coloured}\nc\n"));
    for args in [&["--json"][..], &["--json", "--raw"], &["--all"]] {
        let shown = read(&env, args);
        assert!(!shown.contains(&rest[..8]) && shown.contains("redacted"), "{shown}");
    }
    let content = document(&env, &["read", "--raw"])["data"]["content"].clone();
    let expected = "a \u{1b}[1mb\u{1b}[m\r\nexport T=\u{1b}[01;31m\u{1b}[K[redacted:github]\r\nc\r\n";
    assert_eq!(content, expected);
}

#[test]
fn a_secret_with_characters_inside_it_that_nobody_sees_is_a_secret() {
    let env = TestEnv::new();
    let (first, rest) = ("A1b2C3", "d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    for unseen in ["\u{202e}", "\u{feff}", "\u{9b}1m"] {
        send(&env, "unseen", &format!("pass{unseen}word=hunter2xyz\nf ghp_{first}{unseen}{rest}\n"));
        let expected = "password=[redacted:password]\nf [redacted:github]\n";
        assert_eq!(read(&env, &[]), expected, "{unseen:?}");
        assert_eq!(document(&env, &["read"])["data"]["content"], expected, "{unseen:?}");
        let raw = document(&env, &["read", "--raw"])["data"]["content"].clone();
        let expected = format!("pass{unseen}word=[redacted:password]\r\nf [redacted:github]\r\n");
        assert_eq!(raw, expected, "{unseen:?}");
    }
}

#[test]
fn what_is_not_there_is_told_with_what_to_do() {
    let env = TestEnv::new();
    let ran = env.expect(3, &["terminal", "read"]);
    assert!(
        ran.stderr.contains("no terminal was recorded") && ran.stderr.contains("hint: `delegator terminal`")
    );
    assert!(env.expect(0, &["terminal", "list"]).stdout.contains("no terminal was recorded"));
    record(&env, "one", "true");
    record(&env, "two", "true");
    for (code, args) in [
        (3, &["read", "three"][..]),
        (3, &["read", "term-000000000000"]),
        (2, &["read", "term-"]),
        (3, &["read", "../../registry.db"]),
        (3, &["read", "/etc/passwd"]),
        (2, &["read", "--since", "yesterday"]),
        (2, &["read", "--cursor", "5"]),
        (2, &["read", "--head", "1", "--all"]),
        (2, &["list", "--raw"]),
        (2, &["--name", "a\u{7}b", "--", "true"]),
        (2, &["--json", "--", "true"]),
    ] {
        let ran = env.expect(code, &[&["terminal"], args].concat());
        assert!(ran.stderr.contains("hint: ") || ran.stdout.contains("\"hint\""), "{args:?}: {ran:?}");
    }
}

#[test]
fn nothing_but_a_recording_is_ever_read() {
    let env = TestEnv::new();
    record(&env, "mine", "echo mine");
    let recording = recording::only(&env);
    let secret = env.root().join("secret");
    fs::write(&secret, "not yours\n").unwrap();
    let output = recording.file("output.log");
    fs::remove_file(&output).unwrap();
    symlink(&secret, &output).unwrap();
    let told = "is not a regular file, or its path contains a symbolic link";
    let ran = env.expect(2, &["terminal", "read", "mine"]);
    assert!(!ran.stdout.contains("not yours") && ran.stderr.contains(told), "{ran:?}");
    fs::remove_file(&output).unwrap();
    let mut pipe = Command::new("mkfifo");
    pipe.arg(&output);
    assert_eq!(finish(pipe, PATIENCE).code, Some(0));
    let ran = env.expect(2, &["terminal", "read", "mine"]);
    assert!(ran.stderr.contains(told), "{ran:?}");
    // A directory that only has the name of one, and one that is a link.
    let terminals = env.home().join("terminals");
    symlink(&recording.0, terminals.join("term-000000000000")).unwrap();
    fs::create_dir(terminals.join("term-111111111111")).unwrap();
    fs::create_dir(terminals.join("term-222222222222")).unwrap();
    fs::copy(recording.file("meta.json"), terminals.join("term-222222222222/meta.json")).unwrap();
    fs::write(terminals.join("stray"), "").unwrap();
    for id in ["term-000000000000", "term-111111111111", "term-222222222222"] {
        env.expect(3, &["terminal", "read", id]);
    }
    let listed = document(&env, &["list"]);
    assert_eq!(listed["data"]["terminals"].as_array().map(Vec::len), Some(1), "{listed:#}");
}
