//! What a limit of time ended: a failure of what has to come to an end by itself, and no failure of what is only
//! started to be looked at.

use super::asks::is_one_liner;
use super::diagnose::Found;
use super::failing::took_too_long;
use super::work::{Done, Work, runs_tests};
use crate::evidence::shell::Step;

impl Done {
    /// What an exit code of 124 says, where it is that of a `timeout` around something that should have ended.
    pub(super) fn too_slow(&self, text: &str) -> Option<Found> {
        for (at, step) in self.command.steps.iter().enumerate().rev() {
            if self.is_too_slow(at, text) {
                return Some(took_too_long());
            }
            if !(step.and || step.minds) {
                break;
            }
        }
        None
    }

    /// Whether a step that `timeout` ended should have come to an end before. What said nothing until then got
    /// nowhere; what spoke may have been a server.
    pub(super) fn is_too_slow(&self, at: usize, text: &str) -> bool {
        let (step, work) = (&self.command.steps[at], &self.works[at]);
        let by_cargo = matches!(work, Some(Work::Cargo { .. }));
        let runs = step.args().iter().any(|arg| matches!(arg.as_str(), "run" | "r"));
        let is_work = match work {
            _ if runs_tests(step, work) => true,
            _ if by_cargo => !runs,
            _ => {
                self.does(at)
                    && !serves(step)
                    && !is_one_liner(step)
                    && (builds(step) || text.trim().is_empty())
            }
        };
        step.limited && is_work
    }

    /// `timeout 5 npm start`: whether it was to be ended.
    pub(super) fn is_only_tried(&self, exit_code: Option<i64>) -> bool {
        exit_code == Some(124) && self.command.steps.iter().any(|step| step.limited && serves(step))
    }
}

/// Whether a step goes on until somebody ends it, by its words.
fn serves(step: &Step) -> bool {
    const NAMES: [&str; 8] = ["dev", "monitor", "preview", "repl", "serve", "start", "up", "watch"];
    const PARTS: [&str; 6] = ["server", "serve", "watch", "daemon", "listen", "worker"];
    let makes = matches!(step.program(), "make" | "gmake" | "just" | "task");
    step.words.iter().any(|word| {
        let word = word.to_ascii_lowercase();
        NAMES.contains(&word.as_str())
            || PARTS.iter().any(|part| word.contains(part))
            || (makes && word == "run")
    })
}

/// Whether a step makes something, and ends with that.
fn builds(step: &Step) -> bool {
    const PROGRAMS: [&str; 20] = [
        "c++", "cc", "clang", "clang++", "cmake", "g++", "gcc", "go", "gradle", "javac", "make", "mvn",
        "ninja", "npm", "pip", "pip3", "pnpm", "rustc", "tsc", "yarn",
    ];
    PROGRAMS.contains(&step.program())
}

#[cfg(test)]
mod tests {
    use crate::evidence::errors::left_by;

    #[test]
    fn what_should_have_ended_took_too_long() {
        let told = Some(("timeout".to_owned(), "`timeout` ended it: it took too long".to_owned()));
        for (line, text, green) in [
            ("timeout 1 python3 slow.py", "", "python3 slow.py"),
            ("timeout 1 python3 slow.py", "", "timeout 60 python3 slow.py"),
            ("cd . && timeout 1 ./slow", "\n", "./slow"),
            ("timeout 60 make", "cc -c a.c\n", "make"),
            ("timeout 60 npm run build", "> a@1.0.0 build\n> vite build\n", "npm run build"),
            ("timeout 60 cargo build", "   Compiling a v0.1.0\n", "cargo build"),
        ] {
            assert_eq!(left_by(&[(line, 124, text)]), told, "{line}");
            assert_eq!(left_by(&[(line, 124, text), (green, 0, "")]), None, "{line}");
            assert!(left_by(&[(line, 124, text), ("ls", 0, "")]).is_some(), "{line}");
        }
        let printed = ("timeout 1 python3 slow.py; echo \"exit $?\"", 0, "exit 124\n");
        assert_eq!(left_by(&[printed]), told);
        assert_eq!(left_by(&[printed, ("python3 slow.py", 0, "")]), None);
    }

    #[test]
    fn what_is_only_tried_is_to_be_ended() {
        for (line, text) in [
            ("timeout 5 node app.js", "listening on 3000\n"),
            ("timeout 5 node server.js", ""),
            ("timeout 5 npm start", "> a@1.0.0 start\n> node a.js\n"),
            ("timeout 5 make serve", "make: *** [Makefile:4: serve] Terminated\n"),
            ("timeout 5 npm run dev", "> a@1.0.0 dev\n"),
            ("timeout 5 cargo run", "   Compiling a v0.1.0\nready\n"),
            ("timeout 5 tail -f app.txt", ""),
            ("timeout 5 sleep 9", ""),
            ("timeout 5 python3 -m http.server", ""),
            ("timeout 1 node -e 'setInterval(() => {}, 1000)'", ""),
            ("make; exit 124", ""),
        ] {
            assert_eq!(left_by(&[(line, 124, text)]), None, "{line}");
        }
    }
}
