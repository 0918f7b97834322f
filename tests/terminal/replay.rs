//! Replayed into another terminal emulator, a recording gives the screen that
//! the terminal showed. The terminal is tmux, the emulator is `vt100`; neither
//! knows of the other, or of us.

use std::fs;
use std::num::NonZeroU16;

use crate::recording::{self, Recording};
use crate::support::env::{PATIENCE, TestEnv, wait_for};
use crate::tmux::Tmux;

/// A screen: the text, and how each visible character looks.
#[derive(Debug, PartialEq)]
struct Shown {
    lines: Vec<String>,
    looks: Vec<(u16, u16, String)>,
}

fn number(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}

fn shown(screen: &vt100::Screen, columns: u16, rows: u16) -> Shown {
    let lines = screen.rows(0, columns).map(|line| line.trim_end().to_owned()).collect();
    let mut looks = Vec::new();
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.contents().trim().is_empty()) else {
            continue;
        };
        let look = (
            cell.fgcolor(),
            cell.bgcolor(),
            cell.bold(),
            cell.underline(),
            cell.inverse(),
            cell.italic(),
            cell.dim(),
        );
        looks.push((row, column, format!("{}: {look:?}", cell.contents())));
    }
    Shown { lines, looks }
}

/// What the recording gives, played from its beginning in windows of the sizes
/// it names.
fn replayed(recording: &Recording, columns: u16, rows: u16) -> Shown {
    let bytes = recording.output();
    let times = recording.times();
    let mut emulator = vt100::Parser::new(number(times[0].rows), number(times[0].columns), 0);
    for (at, moment) in times.iter().enumerate() {
        emulator.screen_mut().set_size(number(moment.rows), number(moment.columns));
        let end = times.get(at + 1).map_or(bytes.len(), |next| next.offset as usize);
        emulator.process(&bytes[moment.offset as usize..end]);
    }
    shown(emulator.screen(), columns, rows)
}

/// What tmux shows.
fn seen(tmux: &Tmux<'_>, columns: u16, rows: u16) -> Shown {
    let mut emulator = vt100::Parser::new(number(rows), number(columns), 0);
    let lines = tmux.coloured();
    emulator.process(lines.trim_end_matches('\n').replace('\n', "\r\n").as_bytes());
    shown(emulator.screen(), columns, rows)
}

#[track_caller]
fn check(tmux: &Tmux<'_>, recording: &Recording, columns: u16, rows: u16) {
    let (theirs, ours) = (seen(tmux, columns, rows), replayed(recording, columns, rows));
    assert_eq!(ours.lines, theirs.lines);
    assert!(theirs.looks.len() > 10, "{theirs:?}");
    for (ours, theirs) in ours.looks.iter().zip(&theirs.looks) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.looks.len(), theirs.looks.len());
}

/// Draws the whole screen, and again at every new size; `q` ends it.
const FULL_SCREEN: &str = r#"
import curses, sys

def main(screen):
    curses.use_default_colors()
    for pair in range(1, 7):
        curses.init_pair(pair, pair, -1 if pair % 2 else 7)
    pad = 0
    while True:
        rows, columns = screen.getmaxyx()
        screen.erase()
        screen.box()
        for row in range(1, rows - 2):
            look = curses.color_pair(row % 7) | [0, curses.A_BOLD, curses.A_UNDERLINE, curses.A_REVERSE][row % 4]
            screen.addstr(row, 2 + row % 5, f"row {row} of {rows} \u00e9\u4efb\u52a1"[: columns - 12], look)
        screen.addstr(rows - 2, 2, f"READY {columns}x{rows} pad {pad}", curses.A_BOLD)
        screen.move(0, 0)
        screen.refresh()
        key = screen.getch()
        if key == ord("q"):
            return
        if key == ord("s"):
            screen.scrollok(True)
            screen.setscrreg(3, rows - 5)
            for _ in range(4):
                screen.scroll(1)
            screen.scrollok(False)
            screen.addstr(rows - 2, 2, "SCROLLED" + " " * 20, curses.A_REVERSE)
            screen.refresh()
            key = screen.getch()
        pad += 1

curses.wrapper(main)
"#;

/// Wherever it is on this machine.
fn python() -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::split_paths(&path).chain(["/usr/bin".into()]).map(|dir| dir.join("python3"));
    let found = |path: &std::path::PathBuf| {
        let asked = std::process::Command::new(path).args(["-c", "import curses"]).output();
        asked.is_ok_and(|answer| answer.status.success())
    };
    let found = named.filter(|path| !path.to_string_lossy().contains("shims")).find(found);
    found.expect("python3 with curses").display().to_string()
}

#[test]
fn a_full_screen_program_looks_the_same_also_after_a_resize() {
    let env = TestEnv::new();
    let script = env.work().join("full.py");
    fs::write(&script, FULL_SCREEN).unwrap();
    let tmux = Tmux::open(&env, 80, 24, &["--", "bash", "--norc", "--noprofile"]);
    tmux.await_text("$");
    let recording = recording::only(&env);
    tmux.type_in(&format!("clear; echo before; {} full.py", python()));
    tmux.press("Enter");
    tmux.await_text("READY 80x24");
    check(&tmux, &recording, 80, 24);
    tmux.type_in("s");
    tmux.await_text("SCROLLED");
    check(&tmux, &recording, 80, 24);
    tmux.type_in("x");
    tmux.await_text("READY 80x24 pad 1");
    for (columns, rows) in [(100, 30), (60, 20), (81, 25)] {
        tmux.resize(columns, rows);
        tmux.await_text(&format!("READY {columns}x{rows}"));
        check(&tmux, &recording, columns, rows);
    }
    tmux.type_in("q");
    // Back on the other screen.
    wait_for("the shell", PATIENCE, || (!tmux.screen().contains("READY")).then_some(()));
    tmux.type_in("clear; printf 'and \\033[1;32mafter\\033[0m, all is well\\n'");
    tmux.press("Enter");
    wait_for("the same screen", PATIENCE, || {
        let same = seen(&tmux, 81, 25) == replayed(&recording, 81, 25);
        (same && tmux.screen().contains("and after, all is well\n$")).then_some(())
    });
    tmux.type_in("exit 0");
    tmux.press("Enter");
    wait_for("the end", PATIENCE, || recording.meta().get("ended_at").is_some().then_some(()));
}

#[test]
fn colours_and_redrawn_lines_look_the_same() {
    let env = TestEnv::new();
    let script = r#"
        for i in 0 1 2 3 4 5 6 7; do printf '\033[3%dmfg%d\033[0m \033[4%dmbg%d\033[0m ' $i $i $i $i; done; echo
        for i in 16 52 99 123 200 231 240 255; do printf '\033[38;5;%dmc%d\033[0m ' $i $i; done; echo
        printf '\033[38;2;10;200;30mrgb\033[48;2;9;8;7mboth\033[0m \033[1mbold\033[22m \033[3mitalic\033[23m \033[4munder\033[24m \033[7minverse\033[27m \033[2mdim\033[0m\n'
        printf 'progress 10%%\rprogress 50%%\rprogress 100%%\n'
        printf 'typed wrog\b\b\brong\033[K right\n'
        printf 'a\tb\tc\n\033[5Cindented\033[2Dx\n'
        printf '%0100d\n' 7
        printf 'one\ntwo\nthree\033[A\033[A\rONE\033[B\033[B\n'
        printf '\033]0;a title\007\033]8;;http://example.org\033\\a link\033]8;;\033\\\n'
        printf '\303\251\344\273\273\345\212\241 \342\224\200\342\224\202\n'
        printf 'READY'; read line"#;
    let tmux = Tmux::open(&env, 80, 24, &["--", "sh", "-c", script]);
    tmux.await_text("READY");
    let recording = recording::only(&env);
    check(&tmux, &recording, 80, 24);
    // What is read back is what a person sees.
    let read = env.expect(0, &["terminal", "read", "--all"]).stdout;
    let screen = tmux.screen();
    for line in ["progress 100%", "typed wrong right", "a link"] {
        assert!(
            screen.lines().any(|one| one == line) && read.lines().any(|one| one == line),
            "{line}: {read}"
        );
    }
    assert!(!read.contains(['\u{1b}', '\r', '\u{7}']), "{read:?}");
    tmux.press("Enter");
    wait_for("the end", PATIENCE, || recording.meta().get("ended_at").is_some().then_some(()));
}
