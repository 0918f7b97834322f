//! Tests of the text about a file: what is left to read, and any cursor that a client makes up.

use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::host::MultiFileReader;
use crate::inspect::{Case, InspectError, Pattern, Wanted, inspect};

fn of_file(found: Found, ask: &Ask) -> Inspection {
    let (path, beside) = ("f".into(), Vec::new());
    let inspected = Inspected { path, task: None, artifact: None, live: false, beside, found };
    Inspection::of(inspected, ask, Voice::Tools)
}

/// What is shown of a file for whatever cursor a client makes up.
fn text(content: &[u8], mode: Mode, cursor: &str) -> String {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    let ask = Ask { mode, cursor: Some(cursor.parse().unwrap()), room: 500 };
    match inspect(MultiFileReader::whole(file).unwrap(), None, &ask, Wanted::always()) {
        Err(InspectError::WrongCursor) => String::new(),
        found => of_file(found.unwrap(), &ask).text("t", None, &[]),
    }
}

fn grep(pattern: &str) -> Mode {
    Mode::Grep { pattern: Pattern::new(pattern, Case::Ignored).unwrap(), context: 3, max_matches: 9 }
}

#[test]
fn lines_are_numbered_as_far_as_numbers_go() {
    let shown = text(b"a\nb\nc\nd\n", grep("c"), "g4.1.0");
    assert!(shown.contains("\n1:c\n2-d\n"), "{shown}");
    let last = "3w5e11264sgsf";
    let shown = text(b"a\nb\nc", grep("a"), &format!("g0.{last}.0"));
    assert!(shown.contains(&format!("{}:a\n", u64::MAX)), "{shown}");
    let shown = text(b"a\nb", grep("z"), &format!("g{last}.{last}.{last}"));
    assert!(shown.contains("0 matches"), "{shown}");
}

#[test]
fn a_summary_that_was_cut_says_how_to_see_the_rest() {
    let of = |content: &str| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        let ask = Ask { mode: Mode::Summary, cursor: None, room: 500 };
        let found = inspect(MultiFileReader::whole(file).unwrap(), None, &ask, Wanted::always()).unwrap();
        of_file(found, &ask).text("t", None, &[])
    };
    let long = format!("once\n{0}\n{0}\n", "x".repeat(500));
    assert!(
        of(&long).contains("lines ending in … are cut; read one in full with the range 2 to 2\n"),
        "{}",
        of(&long)
    );
    assert!(of("short\nshort\n").contains("next: end of the content\n"));
}

#[test]
fn a_match_that_was_cut_says_how_to_see_the_rest() {
    let of = |content: &str, pattern: &str, context: usize, most: usize| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        let pattern = Pattern::new(pattern, Case::Ignored).unwrap();
        let ask = Ask { mode: Mode::Grep { pattern, context, max_matches: most }, cursor: None, room: 5000 };
        let found = inspect(MultiFileReader::whole(file).unwrap(), None, &ask, Wanted::always()).unwrap();
        let inspection = of_file(found, &ask);
        (inspection.truncated, inspection.text("t", None, &inspection.next("t", &Map::new())))
    };
    let x = "x".repeat(10_000);
    let (truncated, text) = of(&format!("a\n{x} NEEDLE1 {x} NEEDLE2 {x}\nb\n"), "needle", 1, 9);
    assert!(truncated && text.contains("read one in full with the range 2 to 2\n"), "{text}");
    let lines: String = (1..=500).map(|line| format!("line {line} {}\n", "y".repeat(200))).collect();
    let (truncated, text) = of(&lines, "line 250 ", 100, 9);
    assert!(
        truncated
            && text
                .contains("next: not all lines around line 250 fit; read them with the range 150 to 350\n"),
        "{text}"
    );
    let (_, text) = of(&lines, "line (250|400) ", 100, 9);
    assert!(text.contains("reads on; not all lines around line 250 fit"), "{text}");
    let (truncated, text) = of(&lines, "line 500 ", 3, 9);
    assert!(!truncated && text.contains("next: end of the content\n"), "{text}");
}

#[test]
fn what_is_left_is_told_in_text_and_structure() {
    let of = |mode: Mode, room: usize| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all((1..=40).map(|line| format!("line {line}\n")).collect::<String>().as_bytes()).unwrap();
        let ask = Ask { mode, cursor: None, room };
        let found = inspect(MultiFileReader::whole(file).unwrap(), None, &ask, Wanted::always()).unwrap();
        let inspection = of_file(found, &ask);
        let text = inspection.text("t", None, &inspection.next("t", &Map::new()));
        (inspection.remaining_lines, text.lines().last().unwrap().to_owned())
    };
    let check = |mode: Mode, room: usize, left: u64, next: &str| {
        let (remaining, last) = of(mode, room);
        assert_eq!(remaining, Some(left), "{last}");
        assert!(last.starts_with("next: ") && last.ends_with(next), "{last}");
    };
    check(Mode::Range { start: 5, end: 9 }, 500, 31, "31 lines left after the range, from line 10 on");
    check(Mode::Range { start: 5, end: 39 }, 500, 1, "1 line left after the range, from line 40 on");
    let (_, calls) = of(Mode::Range { start: 5, end: 9 }, 500);
    assert!(calls.starts_with("next: t {\"start_line\": 10} reads the lines that follow; "), "{calls}");
    check(Mode::Range { start: 5, end: 40 }, 500, 0, "end of the content");
    check(Mode::Range { start: 1, end: 40 }, 62, 31, "reads on (31 lines left)");
    check(Mode::Head { lines: 10 }, 500, 30, "reads on (30 lines left)");
    check(Mode::Tail { lines: 10 }, 500, 30, "reads on (30 lines left)");
}

fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..40, any::<u64>(), (0u64..9 << 20).prop_map(|back| u64::MAX - back)]
}

/// In base 36, as cursors have them.
fn number(mut number: u64) -> String {
    let mut digits = Vec::new();
    while number > 0 || digits.is_empty() {
        digits.insert(0, char::from_digit((number % 36) as u32, 36).unwrap());
        number /= 36;
    }
    digits.into_iter().collect()
}

proptest! {
    #[test]
    fn no_cursor_breaks_an_answer(
        content in "([a-c]{0,3}|\\{\"a\":[1,\"b\"]\\}|\n|\r\n){0,12}", which in 0usize..5,
        offset in numbers(), line in numbers(), skip in numbers(), end: u64,
    ) {
        let (way, mode) = match which {
            0 => ('f', Mode::Head { lines: 3 }),
            1 => ('b', Mode::Tail { lines: 3 }),
            2 => ('f', Mode::Range { start: 1, end }),
            3 => ('g', grep("a|$")),
            _ => ('s', Mode::Select { path: "$..a".parse().unwrap(), max_values: 2 }),
        };
        text(content.as_bytes(), mode, &format!("{way}{}.{}.{}", number(offset), number(line), number(skip)));
    }
}
