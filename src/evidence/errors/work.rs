//! What a command is for.

use super::asks::is_question;
use super::cargo::{Called, Shows};
use super::diagnose::Found;
use super::said::Speakers;
use super::scripts::Manifests;
use super::turns::turns as each_turn;
use crate::evidence::calls::{Call, Here, names_from_own_directory, own_directory};
use crate::evidence::shell::{Command, Step, is_variable};
use crate::evidence::tests::{
    Framework, Origin, Scope, Started, Walk, below, is_easing, moved, only_shows, shown_files, started,
};
use crate::evidence::trees::Does;

/// One thing that a command does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Work {
    /// Builds with cargo, and more or less with what was built.
    Cargo {
        shows: Shows,
        scope: Scope,
    },
    Tests(Scope),
    /// What git could not put together, with the words for it that conclude this.
    HalfDone(&'static [&'static str]),
    /// Something that was to be done where there is nothing: it may be done anywhere.
    Elsewhere(Box<Work>),
    /// A file that is to be written, or to be read in its form.
    Writes(String),
    Reads(String),
    /// Any other program, with what it was asked for, where it ran.
    Program {
        call: Call,
        /// What that runs in the end, where it is a script of a package.
        meant: Option<Call>,
        /// What it reads.
        input: Vec<String>,
        context: Vec<String>,
        directory: String,
    },
}

/// A command, seen from the directory that commands start in.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) line: String,
    pub(super) command: Command,
    /// The work of each step, where it does some.
    pub(super) works: Vec<Option<Work>>,
    /// The same of each turn of a loop, where one is known to do another.
    pub(super) turns: Vec<Vec<Work>>,
    /// Where the steps ran that do some; `None` where that cannot be told.
    pub(super) directory: Option<String>,
    /// Whether it ended with a code of failure.
    pub(super) failed: bool,
}

impl Done {
    pub(super) fn new(line: &str, root: &str, origin: &Origin) -> Self {
        let mut command = Command::parse(line);
        command.steps.extend(command.cut.then(|| Step::unread(line)));
        let origin = &origin.of_one_command();
        let mut walk = Walk::default();
        let mut places: Vec<String> = Vec::new();
        let (mut works, mut turns, mut manifests) = (Vec::new(), Vec::new(), Manifests::default());
        for step in &command.steps {
            walk.follow(step);
            let directory = below(root, &walk.here);
            let own = |step: &Step| {
                below(root, &moved(&directory, &own_directory(step).unwrap_or_else(|| ".".to_owned())))
            };
            let mut of = |step: &Step| {
                Work::of(step, &directory, &Here { root, directory: &own(step) }, origin, &mut manifests)
            };
            let work = of(step);
            turns.push(each_turn(&command, step).iter().filter_map(of).collect());
            if work.is_some() {
                places.push(if names_from_own_directory(step) { own(step) } else { directory.clone() });
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
        Self { line: line.to_owned(), command, works, turns, directory, failed: false }
    }

    /// The same, as it ended.
    pub(super) fn ended(self, exit_code: Option<i64>) -> Self {
        Self { failed: exit_code.is_some_and(|code| code != 0), ..self }
    }

    /// The programs that do more than look: what they say may be a reason.
    pub(super) fn speakers(&self, exit_code: Option<i64>) -> Speakers<'_> {
        let programs = self.command.steps.iter().filter(|step| step.may_write()).map(Step::program).collect();
        Speakers { programs, lack_one: exit_code == Some(127) && self.runs_a_script() }
    }

    pub(super) fn starts(&self, program: &str) -> bool {
        self.command.steps.iter().any(|step| step.program() == program)
    }

    /// Whether a part of it starts programs of its own accord, wherever it likes.
    pub(super) fn runs_a_script(&self) -> bool {
        self.command.steps.iter().any(starts_others)
    }

    /// Whether it did nothing that could fail in a way worth telling.
    pub(super) fn is_idle(&self) -> bool {
        let does = |(step, work): (&Step, &Option<Work>)| work.is_some() && !is_question(step);
        !self.command.steps.iter().zip(&self.works).any(does)
    }

    /// Whether it did the same more than once: what failed first may have been mended.
    pub(super) fn repeats_itself(&self) -> bool {
        let both: Vec<(&Step, &Work)> = self
            .command
            .steps
            .iter()
            .zip(&self.works)
            .filter_map(|(step, work)| Some((step, work.as_ref()?)))
            .collect();
        // A program that is told something else does something else.
        let is_same = |a: &(&Step, &Work), b: &(&Step, &Work)| {
            a.1 == b.1 && (!matches!(a.1, Work::Program { .. }) || a.0.words == b.0.words)
        };
        both.iter().enumerate().any(|(at, one)| both[..at].iter().any(|other| is_same(one, other)))
    }

    /// Whether it may have done anything of it again and again.
    pub(super) fn loops(&self) -> bool {
        self.command.loops || self.command.steps.iter().any(|step| step.repeats)
    }

    /// Whether a part of it may have failed one time, and its end tells of another.
    pub(super) fn forgives(&self) -> bool {
        self.command.loops || self.command.steps.iter().any(|step| step.forgives)
    }

    pub(super) fn shows_other_text(&self) -> bool {
        let steps = self.command.steps.iter().enumerate();
        let mut shows = steps.filter(|(_, step)| step.shows_stored_text() && !step.piped && !step.silent);
        shows.any(|(at, step)| {
            !self.shows_own_text(at, step) && !self.feeds_what_failed(at) && !self.waits_for_what_failed(at)
        })
    }

    /// Whether a step is the end of a line that failed, and would have shown something had all before it
    /// succeeded: `make && cat out.log`.
    fn waits_for_what_failed(&self, at: usize) -> bool {
        self.failed && at > 0 && self.command.steps[at].and && at + 1 == self.command.steps.len()
    }

    /// Whether what a step shows went into the program that the whole line failed of: `cat a | ./x`.
    fn feeds_what_failed(&self, at: usize) -> bool {
        let is_read = self.command.steps[at + 1..].iter().all(|step| step.piped);
        self.failed && is_read && self.works[at + 1..].iter().any(Option::is_some)
    }

    /// Whether a step shows a file, and this command wrote all that is in it.
    pub(super) fn shows_own_text(&self, at: usize, step: &Step) -> bool {
        let before = || self.command.steps[..at].iter().zip(&self.works);
        let reads = |files: &[String]| step.args().iter().any(|arg| files.contains(arg));
        let is_own = before().any(|(step, work)| work.is_some() && reads(&step.writes));
        let is_older = before().any(|(step, work)| (work.is_none() || step.appends) && reads(&step.writes));
        let is_written = |file: &str| before().any(|(step, _)| step.writes.iter().any(|name| name == file));
        is_own && !is_older && shown_files(step).all(is_written)
    }

    /// Whether an error whose place was left out is of something that cargo did here.
    pub(super) fn may_have_said(&self, found: &Found) -> bool {
        let is_own_word = |work: &Work| matches!(work, Work::Cargo { .. }) && !work.is_program();
        found.is_cut_off() && (found.is_last_word_of_cargo() || self.works.iter().flatten().any(is_own_word))
    }

    /// Whether it runs tests or builds with `program`.
    pub(super) fn needs(&self, program: &str) -> bool {
        let both = self.command.steps.iter().zip(&self.works);
        both.filter(|(_, work)| matches!(work, Some(Work::Tests(_) | Work::Cargo { .. })))
            .any(|(step, _)| step.program() == program)
    }

    /// Whether its exit code is that of tests.
    pub(super) fn ends_with_tests(&self) -> bool {
        let piped = self.command.steps.iter().rev().take_while(|step| step.piped).count();
        let minds = self.command.steps.last().is_some_and(|step| step.minds);
        let last = self.works.iter().rev().nth(if minds { piped } else { 0 });
        matches!(
            last.and_then(Option::as_ref),
            Some(Work::Tests(_) | Work::Cargo { shows: Shows::Passes, .. })
        ) || self.command.steps.last().is_some_and(|step| matches!(started(step), Some(Started::Script)))
    }

    /// Whether its last step, pipes aside, is known to have begun: nothing that it waited for says
    /// in `text` that it failed, and all of that would.
    pub(super) fn reached_its_end(&self, text: &str) -> bool {
        let steps = self.command.steps.as_slice();
        let piped = steps.iter().rev().take_while(|step| step.piped).count();
        let Some((last, before)) = steps[..steps.len() - piped].split_last() else { return false };
        let stops = steps.iter().any(stops_at_failure);
        let mut waits = last.and || stops;
        for step in before.iter().rev() {
            if !waits {
                break;
            }
            let heads: &[&str] = if step.program() == "git" { &["fatal: ", "error: "] } else { &[] };
            let name = format!("{}: ", step.program());
            let complains =
                |line: &str| line.contains(&name) || heads.iter().any(|head| line.starts_with(head));
            if !tells_of_failure(step) || text.lines().any(complains) {
                return false;
            }
            waits = step.and || stops;
        }
        true
    }

    /// Whether a part of it may have been ended before it said anything.
    pub(super) fn is_limited(&self) -> bool {
        self.command.steps.iter().any(|step| step.limited)
    }

    /// Whether its exit code is not that of the work.
    pub(super) fn hides_exit(&self) -> bool {
        self.command.steps.last().is_some_and(|step| step.piped && !step.minds)
    }

    pub(super) fn works(&self) -> Vec<Work> {
        self.works.iter().flatten().cloned().collect()
    }

    /// What the step at `at` does that depends on the files that are there.
    pub(super) fn does_on_files(&self, at: usize) -> Does {
        match &self.works[at] {
            None => Does::Nothing,
            work if runs_tests(&self.command.steps[at], work) => Does::Tests,
            Some(_) => Does::Work,
        }
    }

    /// Those of them that are tests.
    pub(super) fn tests(&self) -> Vec<Work> {
        let both = self.command.steps.iter().zip(&self.works);
        both.filter(|(step, work)| runs_tests(step, work)).filter_map(|(_, work)| work.clone()).collect()
    }
}

impl Work {
    fn of(
        step: &Step,
        directory: &str,
        here: &Here,
        origin: &Origin,
        manifests: &mut Manifests,
    ) -> Option<Self> {
        let args = step.args();
        match step.program() {
            "" | "cd" | "pushd" | "popd" | "set" | "export" | "source" | "." | "echo" | "printf" | "true"
            | "false" | "exit" | "test" | "[" | "mkdir" | "sleep" | "tee" | "timeout" => return None,
            // They only look, whatever they come to.
            "find" if !step.may_write() => return None,
            "mktemp" => return None,
            _ if step.writes.iter().any(|file| is_variable(file)) && !step.may_write() => return None,
            "ls" | "pwd" | "date" | "which" | "type" | "command" | "wc" | "stat" | "seq" | "yes" | "read"
            | "mapfile" | "readarray" | "declare" | "typeset" | "local" | "readonly" | "unset" => {
                return None;
            }
            "cargo" => {
                let Some(called) = Called::new(args, directory) else {
                    return Self::program(step, here, manifests);
                };
                let Called { mut shows, words, directory } = called;
                if let Shows::Runs(words) = &mut shows {
                    words.extend(step.input.iter().cloned());
                }
                let scope = Scope::new(Framework::CargoTest, &directory, &words).with_context(&step.context);
                return Some(Self::Cargo { shows, scope: scope.seen_from(origin) });
            }
            _ if step.shows_stored_text() => return None,
            _ => {}
        }
        match started(step) {
            Some(Started::Framework(framework, args)) => {
                // What comes from elsewhere are words as well.
                let from = if step.repeats { step.input.as_slice() } else { &[] };
                let around = [&step.context, from].concat();
                let scope = Scope::new(framework, directory, &args).with_context(&around);
                Some(Self::Tests(scope.seen_from(origin)))
            }
            Some(Started::Script | Started::Program) | None => Self::program(step, here, manifests),
        }
    }

    fn program(step: &Step, here: &Here, manifests: &mut Manifests) -> Option<Self> {
        let is_test = matches!(started(step), Some(Started::Script));
        let matters = |word: &&String| !(is_easing(word) || is_test && only_shows(word));
        let context = step.context.iter().filter(matters).cloned().collect();
        let directory = here.directory.to_owned();
        let input = step.input.iter().filter_map(|input| here.input(input)).collect();
        let call = Call::new(step, here);
        let meant = manifests.meant(&call, here);
        Some(Self::Program { call, meant, input, context, directory })
    }

    /// What cargo does before anything else of it, as far as `shows`.
    pub(super) fn build(&self, shows: Shows) -> Option<Self> {
        match self {
            Self::Cargo { scope, .. } => Some(Self::Cargo { shows, scope: scope.clone() }),
            _ => None,
        }
    }

    /// Whether cargo runs a program of the project.
    pub(super) fn is_program(&self) -> bool {
        matches!(self, Self::Cargo { shows: Shows::Runs(_), .. })
    }

    /// Whether cargo builds, and then runs no test.
    pub(super) fn is_build(&self) -> bool {
        matches!(
            self,
            Self::Cargo {
                shows: Shows::Checks | Shows::Builds | Shows::BuildsTests | Shows::Lints(_) | Shows::Runs(_),
                ..
            }
        )
    }

    /// Whether cargo has nothing more to do after it says that it finished.
    pub(super) fn says_that_it_finished(&self) -> bool {
        matches!(
            self,
            Self::Cargo { shows: Shows::Checks | Shows::Builds | Shows::BuildsTests | Shows::Lints(_), .. }
        )
    }

    pub(super) fn is_tests(&self) -> bool {
        matches!(self, Self::Tests(_) | Self::Cargo { shows: Shows::Passes, .. })
    }

    /// Whether cargo builds this with features that it may have built `failed` without.
    pub(super) fn has_more_features(&self, failed: &Work) -> bool {
        match (self, failed) {
            (Self::Cargo { scope, .. }, Self::Cargo { scope: of, .. }) => scope.has_more_features(of),
            _ => false,
        }
    }
}

pub(super) fn runs_tests(step: &Step, work: &Option<Work>) -> bool {
    match work {
        Some(Work::Tests(_) | Work::Cargo { shows: Shows::Passes, .. }) => true,
        Some(Work::Program { .. }) => matches!(started(step), Some(Started::Script)),
        Some(_) | None => false,
    }
}

/// Whether a step starts programs that its words do not name.
pub(super) fn starts_others(step: &Step) -> bool {
    let own = step.words.first().is_some_and(|word| word.contains('/'));
    match started(step) {
        Some(Started::Framework(..)) => false,
        Some(Started::Script) => true,
        Some(Started::Program) | None => match step.program() {
            "make" | "gmake" | "just" | "task" | "rake" | "invoke" | "inv" | "mage" | "ninja" | "npm"
            | "pnpm" | "yarn" | "bun" => true,
            "bash" | "sh" | "zsh" | "dash" => !step.args().is_empty(),
            program => own && !program.starts_with("python") && program != "node",
        },
    }
}

/// Whether a step that fails says so under its name.
fn tells_of_failure(step: &Step) -> bool {
    let asks = |arg: &String| matches!(arg.as_str(), "--exit-code" | "--quiet" | "--check" | "-q" | "-s");
    let tells = match step.program() {
        "cd" | "pushd" | "popd" | "export" | "echo" | "printf" | "true" | "mkdir" | "sleep" | "cat"
        | "head" | "tail" | "nl" | "sed" | "ls" | "pwd" => true,
        "git" => step.shows_stored_text() && !step.args().iter().any(|arg| arg == "grep"),
        _ => false,
    };
    tells && step.writes.is_empty() && !step.silent && !step.args().iter().any(asks)
}

/// `set -e`, `set -euo pipefail`.
pub(super) fn stops_at_failure(step: &Step) -> bool {
    let asks = |arg: &String| arg == "errexit" || (arg.starts_with('-') && arg.contains('e'));
    step.program() == "set" && step.args().iter().any(asks)
}
