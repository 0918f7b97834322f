//! A terminal by somebody else (tmux), whose screen can be looked at.

use std::path::PathBuf;
use std::process::Command;

use crate::support::env::{PATIENCE, TestEnv, finish, wait_for};

pub struct Tmux<'a> {
    env: &'a TestEnv,
    socket: PathBuf,
}

impl<'a> Tmux<'a> {
    /// With `delegator terminal` in it, of this size.
    pub fn open(env: &'a TestEnv, columns: u16, rows: u16, args: &[&str]) -> Tmux<'a> {
        let tmux = Tmux { env, socket: env.root().join("tmux") };
        let size = [columns.to_string(), rows.to_string()];
        let settings =
            ["set", "-g", "status", "off", ";", "set", "-g", "default-terminal", "screen-256color", ";"];
        let begin = ["new-session", "-d", "-x", &size[0], "-y", &size[1], "--"];
        let program = [env!("CARGO_BIN_EXE_delegator"), "terminal"];
        tmux.ask(
            &["-f", "/dev/null"],
            &[&["start-server", ";"], &settings[..], &begin[..], &program[..], args].concat(),
        );
        tmux
    }

    fn ask(&self, options: &[&str], words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        self.env.settle_in(&mut command);
        command.env("PS1", "$ ").arg("-S").arg(&self.socket).args(["-u"]).args(options).args(words);
        let ran = finish(command, PATIENCE);
        assert_eq!(ran.code, Some(0), "{words:?}: {ran:?}");
        ran.stdout
    }

    pub fn type_in(&self, keys: &str) {
        self.ask(&[], &["send-keys", "-l", "--", keys]);
    }

    pub fn press(&self, key: &str) {
        self.ask(&[], &["send-keys", "--", key]);
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.ask(&[], &["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    /// The lines of the screen.
    pub fn screen(&self) -> String {
        self.ask(&[], &["capture-pane", "-p"])
    }

    /// The lines of the screen, with their colours as escape sequences.
    pub fn coloured(&self) -> String {
        self.ask(&[], &["capture-pane", "-p", "-e"])
    }

    #[track_caller]
    pub fn await_text(&self, text: &str) {
        let mut last = String::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_for(&format!("{text:?} in tmux"), PATIENCE, || {
                last = self.screen();
                last.contains(text).then_some(())
            });
        }));
        assert!(found.is_ok(), "{text:?} is not on the screen:\n{last}");
    }
}
