//! What a command is for, and which failures a success of it mends.

use crate::evidence::shell::{Command, Step};
use crate::evidence::tests::{
    Framework, Origin, Relation, Scope, Started, Walk, below, moved, read, started,
};

/// One thing that a command does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Work {
    /// Builds with cargo, and more or less with what was built.
    Cargo {
        shows: Shows,
        scope: Scope,
    },
    Tests(Scope),
    /// Any other program, with all of its words, where it ran.
    Program {
        words: Vec<String>,
        context: Vec<String>,
        directory: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shows {
    Builds,
    Passes,
}

/// A command, seen from the directory that commands start in.
#[derive(Debug)]
pub(super) struct Done {
    command: Command,
    /// The work of each step, where it does some.
    works: Vec<Option<Work>>,
    /// Where the steps ran that do some; `None` where that cannot be told.
    pub(super) directory: Option<String>,
}

impl Done {
    pub(super) fn new(line: &str, root: &str, origin: &Origin) -> Self {
        let command = Command::parse(line);
        let mut walk = Walk::default();
        let mut places: Vec<String> = Vec::new();
        let mut works = Vec::new();
        for step in &command.steps {
            walk.follow(step);
            let directory = below(root, &walk.here);
            let work = Work::of(step, &directory, origin);
            if work.is_some() {
                places.push(below(root, &moved(&directory, own_directory(step).unwrap_or("."))));
            }
            works.push(work);
        }
        places.dedup();
        let known =
            |place: &String| !place.contains(['$', '~', '`', '*']) && !place.contains("..") && place != "-";
        let directory = match places.as_slice() {
            [] => Some(String::new()),
            [one] if known(one) && (!command.unbalanced || one.is_empty()) => Some(one.clone()),
            _ => None,
        };
        Self { command, works, directory }
    }

    /// The programs that do more than look: what they say may be a reason.
    pub(super) fn programs(&self) -> Vec<&str> {
        self.command.steps.iter().filter(|step| step.may_write()).map(Step::program).collect()
    }

    /// Whether it did nothing that could fail in a way worth telling.
    pub(super) fn is_idle(&self) -> bool {
        self.works.iter().all(Option::is_none)
    }

    /// Whether it did the same more than once: what failed first may have been mended.
    pub(super) fn repeats_itself(&self) -> bool {
        let works: Vec<&Work> = self.works.iter().flatten().collect();
        works.iter().enumerate().any(|(at, work)| works[..at].contains(work))
    }

    pub(super) fn shows_other_text(&self) -> bool {
        self.command.steps.iter().any(|step| step.shows_stored_text() && !step.piped && !step.silent)
    }

    /// Whether its exit code is that of tests.
    pub(super) fn ends_with_tests(&self) -> bool {
        let piped = self.command.steps.iter().rev().take_while(|step| step.piped).count();
        let last = self.works.iter().rev().nth(if self.command.pipefail { piped } else { 0 });
        matches!(
            last.and_then(Option::as_ref),
            Some(Work::Tests(_) | Work::Cargo { shows: Shows::Passes, .. })
        ) || self.command.steps.last().is_some_and(|step| matches!(started(step), Some(Started::Script)))
    }

    /// Whether its exit code is not that of the work.
    pub(super) fn hides_exit(&self) -> bool {
        self.command.steps.last().is_some_and(|step| step.piped) && !self.command.pipefail
    }

    pub(super) fn works(&self) -> Vec<Work> {
        self.works.iter().flatten().cloned().collect()
    }

    /// What an exit of 0 shows to have succeeded: the last step, and those that had
    /// to succeed before it. `text` is what was printed.
    pub(super) fn proven(&self, line: &str, text: &str) -> Vec<&Work> {
        let through_pipes = self.command.pipefail || !self.hides_exit() || is_clean(line, text);
        let mut proven = Vec::new();
        for (step, work) in self.command.steps.iter().zip(&self.works).rev() {
            proven.extend(work.as_ref());
            let goes_on = step.and || (step.piped && through_pipes);
            if !goes_on {
                break;
            }
        }
        proven
    }
}

/// Whether what went through a pipe tells of no failure: tests that passed, or
/// nothing that has a word of one.
fn is_clean(line: &str, text: &str) -> bool {
    let runs = read(line, Some(0), text);
    if !runs.is_empty() {
        return runs.iter().all(|run| run.counts.is_some_and(|counts| counts.failed == 0));
    }
    let text = text.to_ascii_lowercase();
    !["error", "fail", "panic", "traceback"].iter().any(|word| text.contains(word))
}

impl Work {
    fn of(step: &Step, directory: &str, origin: &Origin) -> Option<Self> {
        let args = step.args();
        match step.program() {
            "" | "cd" | "pushd" | "popd" | "set" | "export" | "source" | "." | "echo" | "printf" | "true"
            | "false" | "exit" | "test" | "[" | "mkdir" | "sleep" | "tee" | "timeout" => return None,
            "cargo" => {
                let verb = args.iter().position(|arg| !arg.starts_with(['+', '-']))?;
                let (shows, from) = match (args[verb].as_str(), args.get(verb + 1).map(String::as_str)) {
                    ("build" | "b" | "check" | "c" | "clippy" | "run" | "r" | "rustc", _) => {
                        (Shows::Builds, 1)
                    }
                    ("test" | "t", _) => (Shows::Passes, 1),
                    ("nextest", Some("run" | "r")) => (Shows::Passes, 2),
                    _ => return Self::program(step, directory),
                };
                // What stands behind `--` is for the program that is run.
                let args: Vec<String> = args[verb + from..].to_vec();
                let own = match shows {
                    Shows::Builds => args.split(|arg| arg == "--").next().unwrap_or_default(),
                    Shows::Passes => args.as_slice(),
                };
                let scope = Scope::new(Framework::CargoTest, directory, own).with_context(&step.context);
                return Some(Self::Cargo { shows, scope: scope.seen_from(origin) });
            }
            _ if step.shows_stored_text() => return None,
            _ => {}
        }
        match started(step) {
            Some(Started::Framework(framework, args)) => {
                let scope = Scope::new(framework, directory, &args).with_context(&step.context);
                Some(Self::Tests(scope.seen_from(origin)))
            }
            Some(Started::Script | Started::Program) | None => Self::program(step, directory),
        }
    }

    fn program(step: &Step, directory: &str) -> Option<Self> {
        let words =
            step.words.iter().filter(|word| !matches!(word.as_str(), "-q" | "-v" | "--quiet" | "--verbose"));
        let (context, directory) = (step.context.clone(), directory.to_owned());
        Some(Self::Program { words: words.cloned().collect(), context, directory })
    }

    /// Whether a success of this shows that what failed does not fail any more.
    pub(super) fn mends(&self, failed: &Work) -> bool {
        let at_least = |a: &Scope, b: &Scope| matches!(a.relation(b), Relation::Same | Relation::Covers);
        match (self, failed) {
            (Self::Cargo { shows, scope }, Self::Cargo { shows: needed, scope: of }) => {
                shows >= needed && at_least(scope, of)
            }
            (Self::Tests(scope), Self::Tests(of)) => at_least(scope, of),
            (Self::Program { .. }, Self::Program { .. }) => self == failed,
            _ => false,
        }
    }
}

/// The directory that a program is told to work in: `make -C web`.
fn own_directory(step: &Step) -> Option<&str> {
    let options: &[&str] = match step.program() {
        "make" | "gmake" | "ninja" | "git" | "go" => &["-C"],
        "npm" => &["--prefix"],
        "pnpm" => &["-C", "--dir"],
        "yarn" => &["--cwd"],
        _ => return None,
    };
    let args = step.args();
    let at = args.iter().position(|arg| options.contains(&arg.as_str()))?;
    args.get(at + 1).map(String::as_str)
}
