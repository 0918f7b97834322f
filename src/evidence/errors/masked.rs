//! Failures that the exit code of a command does not tell, or tells without a word: it is that of another
//! step, or all that there is.

use super::asks::{asks, changes_history, imports, is_one_liner};
use super::codes;
use super::complaints::{complains, is_complaint, would_complain};
use super::diagnose::{Diagnosis, Found, diagnose};
use super::failing;
use super::halfway::{may_be_refused, refused, says_why};
use super::said::Speakers;
use super::signs::sign;
use super::template::last_line;
use super::thrown;
use super::work::{Done, Work, starts_others, stops_at_failure};
use crate::evidence::shell::{End, Step, base_name, is_variable};
use crate::evidence::tests::shown_files;

/// What those end with that are asked something and say no, or do not understand.
const ANSWERS: [i64; 6] = [1, 2, 126, 127, 128, 129];
/// What ends with these was ended by somebody, or had nobody left who reads it.
const ENDED: [i64; 4] = [124, 130, 141, 143];

/// What shows lines that it reads.
const PASSING: [&str; 20] = [
    "awk", "cat", "column", "cut", "egrep", "fgrep", "fold", "gawk", "grep", "head", "less", "more", "nl",
    "rg", "sed", "sort", "tail", "tee", "ts", "uniq",
];

impl Done {
    /// What was found to have failed, or else what failed without being heard of, with what is to be done again
    /// because of that.
    pub(super) fn or_unheard(
        &self,
        found: Option<Found>,
        exit_code: Option<i64>,
        text: &str,
    ) -> (Option<Found>, Option<Vec<Work>>) {
        match found {
            _ if self.had_no_reader(text) || self.is_only_tried(exit_code) => (None, None),
            Some(found) => (Some(found), None),
            None => exit_code.and_then(|code| self.unheard(code, text)).unzip(),
        }
    }

    fn unheard(&self, code: i64, text: &str) -> Option<(Found, Vec<Work>)> {
        let others = codes::without_own_words(&self.command, text);
        let succeeded = if code == 0 { codes::printed(&self.command, text) } else { Vec::new() };
        self.by_printed_code(text, &others)
            .or_else(|| self.by_exit_code(code, &others))
            .or_else(|| self.by_last_words(code, &others, &succeeded))
            .or_else(|| self.died(code, &others, &succeeded))
            .or_else(|| self.not_begun(code, &others, &succeeded))
    }

    /// `make; echo "exit $?"`, `make || echo failed`
    fn by_printed_code(&self, text: &str, others: &str) -> Option<(Found, Vec<Work>)> {
        codes::failed(&self.command, text).into_iter().find_map(|(steps, code)| {
            let is_known = match code {
                Some(code) => self.is_of_work(&steps, code, others),
                None => !self.has_question(&steps, text) && !steps.iter().any(|at| self.is_probe(*at)),
            };
            let works = self.to_do_of(&steps);
            (is_known && !works.is_empty()).then(|| (self.reason(&steps, code, others), works))
        })
    }

    /// A program that ended badly, whatever it said.
    fn by_exit_code(&self, code: i64, text: &str) -> Option<(Found, Vec<Work>)> {
        let stops = self.command.steps.iter().any(stops_at_failure);
        let all = || (0..self.command.steps.len()).collect();
        let steps = match self.command.blamed_at_end() {
            Some(steps) if !stops => steps,
            Some(_) | None => all(),
        };
        let steps = match steps.as_slice() {
            [at] => codes::passed_on(&self.command, *at).unwrap_or(steps),
            _ => steps,
        };
        // It did not get to where it was to work.
        let is_lost = |line: &str| line.contains(": cd: ") || line.contains(": pushd: ");
        let is_known = code > 0 && !self.ends_itself(code) && self.is_of_work(&steps, code, text);
        let works = self.to_do_of(&steps);
        let is_told = is_known && !works.is_empty() && !text.lines().any(is_lost);
        is_told.then(|| {
            let own: Vec<&Step> = self.speakers_of(&steps);
            let found = sign(text, &own, !self.shows_other_text()).filter(|_| !self.may_show_a_log());
            let is_alone = self.command.steps.iter().filter(|step| !is_silent(step)).count() == 1;
            let found =
                found.or_else(|| refused(&own, text, is_alone)).or_else(|| self.complaint(&steps, text));
            (found.unwrap_or_else(|| self.ended_with(&steps, code)), works)
        })
    }

    /// Whether the exit code may be one that the command itself chose, or the opposite of what a step came to.
    fn ends_itself(&self, code: i64) -> bool {
        let chosen = |at: usize| {
            let step = &self.command.steps[at];
            let is_exit = matches!(step.program(), "exit" | "return");
            is_exit && step.args().first().and_then(|arg| arg.parse().ok()) == Some(code)
        };
        // `|| exit 1`, `if ! make; then exit 1; fi`
        let passes_on = |at: usize| {
            let step = &self.command.steps[at];
            step.or || step.arm.is_some_and(|arm| codes::goes_wrong_in(&self.command, arm))
        };
        let mut exits = (0..self.command.steps.len()).filter(|at| chosen(*at)).peekable();
        match exits.peek() {
            Some(_) => !exits.all(passes_on),
            None => self.command.negates,
        }
    }

    /// What programs say whose exit code is lost.
    fn by_last_words(&self, code: i64, text: &str, succeeded: &[usize]) -> Option<(Found, Vec<Work>)> {
        let repeats = self.repeats_itself();
        let went_well = || code == 0 && self.command.needs(|at| self.works[at].is_some());
        if self.may_show_a_log() || (repeats && went_well()) {
            return None;
        }
        let is_test = |at: usize| matches!(self.works[at], Some(Work::Tests(_)));
        let is_open = |at: &usize| !is_test(*at) && self.is_unproven(*at, code, succeeded);
        let unproven: Vec<usize> = (0..self.command.steps.len()).filter(is_open).collect();
        let seen: Vec<usize> = unproven.iter().copied().filter(|at| self.is_seen(*at)).collect();
        // What goes elsewhere is what a program prints; what it dies of is seen all the same.
        let is_whole = !seen.is_empty();
        let heard = || unproven.iter().copied().filter(|at| self.is_heard(*at)).collect();
        let steps: Vec<usize> = if is_whole { seen } else { heard() };
        let speakers: Vec<&Step> = self.speakers_of(&steps);
        let at_end = self.speaks_last(*steps.last()?)
            && is_whole
            && speakers.iter().all(|step| step.writes.is_empty())
            && !self.loops()
            && !self.shows_other_text();
        let has_tests = !self.tests().is_empty();
        let runs = |step: &&Step| thrown::may_throw(step) || starts_others(step);
        let may_throw = speakers.iter().any(runs);
        let went_on = at_end && !thrown::ends_node(text);
        let told =
            || diagnose(text, &Speakers::default()).filter(|found| is_bad_end(found, may_throw && !went_on));
        let is_last = self.is_last_shown(*steps.last()?);
        let last = || thrown::last_words(&self.command, text, is_last).filter(|_| may_throw);
        // Of what was tried again, it is the end that counts.
        let told = || if repeats { None } else { told() };
        let found = if has_tests { None } else { told().or_else(last) };
        let found = found.or_else(|| sign(text, &speakers, at_end && !has_tests).filter(|_| !repeats));
        let found = found.or_else(|| self.complaint(&steps, text).filter(|_| is_whole && !has_tests))?;
        let works = |steps: &[usize]| steps.iter().filter_map(|at| self.works[*at].clone()).collect();
        let speaks = |at: &usize| may_say(&self.command.steps[*at], &found);
        let own: Vec<usize> = steps.iter().copied().filter(speaks).collect();
        let works: Vec<Work> = works(if own.is_empty() { &steps } else { &own });
        Some((found, works))
    }

    /// What a script says at last of a file or a program that it could not do without.
    fn complaint(&self, steps: &[usize], text: &str) -> Option<Found> {
        let at = steps.iter().copied().rfind(|at| starts_others(&self.command.steps[*at]))?;
        let last = last_line(self.spoken_by(at, text)?);
        let names = |step: &Step| last.contains(&format!("{}: ", step.program())) && !starts_others(step);
        let is_alone = |at: usize, step: &Step| {
            let passes_on = step.piped && shown_files(step).next().is_none() || self.shows_own_text(at, step);
            !step.words.is_empty() && !passes_on
        };
        let mut others = self.command.steps.iter().enumerate();
        let is_others = others.any(|(at, step)| is_alone(at, step) && names(step));
        // What the shell of the command says itself is of the script where it names that.
        let own = last.split_once("bash: line ").and_then(|(_, said)| said.split_once(": "));
        let is_of_script = own.is_none_or(|(_, said)| said.starts_with(&self.command.steps[at].words[0]));
        (is_complaint(last) && !is_others && is_of_script).then(|| failing::vague("error", last))
    }

    /// Whether all that a program died of is that nobody reads on: `./list | head -3`.
    pub(super) fn had_no_reader(&self, text: &str) -> bool {
        let last = last_line(text);
        let is_of_pipe = last.contains("Broken pipe") || last.contains("EPIPE");
        let stops = |step: &Step| step.piped && matches!(step.program(), "head" | "grep" | "sed");
        is_of_pipe && self.command.steps.iter().any(stops)
    }

    /// Why one of `steps` failed, which is known.
    fn reason(&self, steps: &[usize], code: Option<i64>, text: &str) -> Found {
        let is_alone = !(0..self.works.len()).any(|at| self.does(at) && !steps.contains(&at));
        let speakers = self.speakers_of(steps);
        let told = || diagnose(text, &self.speakers(code)).or_else(|| thrown::at_the_end(text, self));
        let told = if is_alone { told() } else { None };
        let told = told.or_else(|| sign(text, &speakers, is_alone && !self.shows_other_text()));
        let told = told.or_else(|| self.complaint(steps, text)).filter(|_| !self.may_show_a_log());
        told.unwrap_or_else(|| match code {
            Some(code) => self.ended_with(steps, code),
            None => failing::bare("error", "failed, and did not say why"),
        })
    }

    fn ended_with(&self, steps: &[usize], code: i64) -> Found {
        let is_test = |at: &usize| self.works[*at].as_ref().is_some_and(Work::is_tests);
        let mut fail = steps.iter().filter(|at| !hardly_fails(&self.command.steps[**at])).peekable();
        match fail.peek().is_some() && fail.all(is_test) {
            _ if code == 124 => failing::took_too_long(),
            true => failing::ended_with(code),
            false => failing::bare("error", &format!("exited with code {code}")),
        }
    }

    fn speakers_of(&self, steps: &[usize]) -> Vec<&Step> {
        steps.iter().filter(|at| self.works[**at].is_some()).map(|at| &self.command.steps[*at]).collect()
    }

    /// Whether the exit code of one of `steps` says that work failed.
    fn is_of_work(&self, steps: &[usize], code: i64, text: &str) -> bool {
        let is_limited = || steps.iter().any(|at| self.command.steps[*at].limited);
        let is_answer = || code == 1 && self.command.computes;
        let is_answer =
            || is_answer() || code < 126 && steps.iter().any(|at| is_one_liner(&self.command.steps[*at]));
        let is_slow = || code == 124 && steps.iter().any(|at| self.is_too_slow(*at, text));
        let is_ended = (ENDED.contains(&code) && !is_slow()) || (code == 137 && is_limited());
        let is_asked = ANSWERS.contains(&code) && self.has_question(steps, text);
        let found_none = code == 5 && self.to_do_of(steps).iter().all(Work::is_tests);
        !is_ended && !is_asked && !is_answer() && !found_none
    }

    /// Whether one of `steps` is asked something that may be answered with no, and may have been: nobody
    /// who would have said so did.
    fn has_question(&self, steps: &[usize], text: &str) -> bool {
        let is_told = steps.iter().any(|at| may_be_refused(&self.command.steps[*at])) && says_why(text);
        let may_have_failed = |step: &Step| !would_complain(step) || complains(step, text);
        let is_question = |at: &usize| {
            let step = &self.command.steps[*at];
            let is_asked = !self.does(*at) && !hardly_fails(step) && may_have_failed(step);
            is_asked || (is_told && may_be_refused(step))
        };
        steps.iter().any(is_question)
    }

    /// `python3 -c 'import yaml' || echo none`, `psql -l >/dev/null 2>&1 || echo none`
    fn is_probe(&self, at: usize) -> bool {
        let step = &self.command.steps[at];
        let is_hidden = step.silent && step.writes.iter().any(|file| file == "/dev/null");
        is_one_liner(step)
            || (is_hidden && !starts_others(step) && !thrown::may_throw(step) && !self.is_build(at))
    }

    fn is_build(&self, at: usize) -> bool {
        let step = &self.command.steps[at];
        self.works[at].as_ref().is_some_and(|work| !matches!(work, Work::Program { .. })) || compiles(step)
    }

    /// Whether nothing shows that the step at `at` succeeded, and it would be seen that it did not.
    pub(super) fn is_unproven(&self, at: usize, code: i64, succeeded: &[usize]) -> bool {
        let step = &self.command.steps[at];
        let may_fail = self.works[at].is_some()
            && (!asks(step) || changes_history(step))
            && (!step.background || self.waits())
            && !(code == 0 && self.has_another_way(at));
        may_fail && (code != 0 || step.repeats || self.command.end_of(at, succeeded) != End::Succeeded)
    }

    /// `npm ci || npm install`: whether the same is done in another way where the step at `at` fails.
    pub(super) fn has_another_way(&self, at: usize) -> bool {
        let steps = &self.command.steps;
        let family =
            |step: &Step| match step.program().trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
                "npm" | "pnpm" | "yarn" | "bun" => "npm".to_owned(),
                "docker-compose" => "docker".to_owned(),
                name => name.to_owned(),
            };
        let next = steps.get(at + 1).filter(|next| next.or);
        next.is_some_and(|next| {
            let is_same = self.works[at + 1].is_some() && family(next) == family(&steps[at]);
            imports(&steps[at]) || (is_same && !next.args().iter().any(|arg| arg == "clean"))
        })
    }

    /// Whether what a step says of its errors is not put away.
    fn is_heard(&self, at: usize) -> bool {
        let step = &self.command.steps[at];
        step.writes.is_empty() || (step.silent && step.writes.len() == 1)
    }

    /// Whether what a step prints comes through what reads it, if not all of it; or is in a file that is shown.
    pub(super) fn is_seen(&self, at: usize) -> bool {
        let step = &self.command.steps[at];
        let is_open = (!step.silent || !step.writes.is_empty()) && self.shows_all_that_is_written_by(at);
        let lets_through = |at: &usize| PASSING.contains(&self.command.steps[*at].program());
        is_open && self.readers_of(at).iter().all(lets_through)
    }

    /// Whether the end of each file that a step writes is shown after it. What it says of errors goes into
    /// no variable by itself.
    pub(super) fn shows_all_that_is_written_by(&self, at: usize) -> bool {
        let after = &self.command.steps[at + 1..];
        let shows = |step: &Step| matches!(step.program(), "cat" | "tail" | "less" | "head" | "grep");
        let is_shown = |file: &String| after.iter().any(|step| shows(step) && step.args().contains(file));
        let step = &self.command.steps[at];
        step.writes.iter().filter(|file| !(step.dies_aloud && is_variable(file))).all(is_shown)
    }

    /// The steps that read what the one at `at` prints, as far as can be told.
    pub(super) fn readers_of(&self, at: usize) -> Vec<usize> {
        if self.command.is_clear() {
            return self.command.readers(at);
        }
        let piped = self.command.steps[at + 1..].iter().take_while(|step| step.piped).count();
        (at + 1..=at + piped).collect()
    }

    /// Whether a text is shown that may be of another time, and tell of failures as this one would.
    pub(super) fn may_show_a_log(&self) -> bool {
        let mut steps = self.command.steps.iter().enumerate();
        steps.any(|(at, step)| {
            let shows = step.shows_stored_text() && !step.piped && !step.silent && !reads_nothing(step);
            shows && !self.shows_own_text(at, step) && !shows_code(step)
        })
    }

    /// Whether what runs in the background is waited for, and not ended.
    fn waits(&self) -> bool {
        let has = |names: &[&str]| self.command.steps.iter().any(|step| names.contains(&step.program()));
        has(&["wait"]) && !has(&["kill", "pkill", "killall"])
    }
}

/// Whether a step prints nothing but words of the command line, which are no part of what is looked at.
pub(super) fn is_silent(step: &Step) -> bool {
    const NAMES: [&str; 15] = [
        "", ":", "[", "[[", "cd", "echo", "exit", "export", "false", "printf", "set", "sleep", "test",
        "true", "wait",
    ];
    NAMES.contains(&step.program())
}

/// Whether an error with a place is why a program ended. What was thrown may have been caught where the program
/// went on, unless that is what others printed: `may_throw`.
fn is_bad_end(found: &Found, may_throw: bool) -> bool {
    let is_it = |first: &Diagnosis| {
        first.is_fixed_in_place() || first.kind == "link error" || (may_throw && first.kind != "error")
    };
    !found.is_vague && found.errors.first().is_some_and(is_it)
}

/// Whether an error may be of what a step runs, by what kind of error it is.
fn may_say(step: &Step, found: &Found) -> bool {
    let Some(first) = found.errors.first() else { return false };
    if first.is_fixed_in_place() || first.kind == "link error" {
        return compiles(step) || starts_others(step);
    }
    if first.message.starts_with("make") {
        return starts_others(step);
    }
    first.kind != "error" && (thrown::may_throw(step) || starts_others(step))
}

fn compiles(step: &Step) -> bool {
    const PROGRAMS: [&str; 11] =
        ["c++", "cargo", "cc", "clang", "clang++", "g++", "gcc", "go", "javac", "rustc", "tsc"];
    PROGRAMS.contains(&step.program())
}

/// Whether a step does nothing that an exit code would tell of.
fn hardly_fails(step: &Step) -> bool {
    let program = step.program();
    if matches!(program, "cd" | "pushd") && !step.writes.is_empty() {
        return false;
    }
    // What it reads is what may fail.
    let reads = || matches!(program, "cat" | "head" | "nl" | "sort" | "tail" | "tee" | "uniq" | "wc");
    step.only_prepares()
        || (step.piped && reads())
        || matches!(program, "" | "true" | ":" | "printf" | "mkdir" | "exit" | "return" | "wait")
}

/// `cat`, of what nobody writes.
fn reads_nothing(step: &Step) -> bool {
    let reads = matches!(step.program(), "cat" | "head" | "tail" | "nl" | "less" | "more" | "tac");
    reads && step.input.is_empty() && shown_files(step).next().is_none()
}

/// Whether a step shows changes, or files in which no program says how it ended.
fn shows_code(step: &Step) -> bool {
    const ENDS: [&str; 30] = [
        ".c", ".cc", ".cfg", ".cpp", ".css", ".go", ".h", ".hpp", ".html", ".ini", ".java", ".js", ".json",
        ".jsx", ".kt", ".lock", ".mjs", ".php", ".py", ".rb", ".rs", ".scss", ".sh", ".sql", ".svelte",
        ".toml", ".ts", ".tsx", ".vue", ".yml",
    ];
    let is_code = |file: &str| {
        ENDS.iter().any(|end| file.ends_with(end))
            || matches!(base_name(file), "Makefile" | "Dockerfile" | "CMakeLists.txt")
    };
    match step.program() {
        "git" => !step
            .args()
            .iter()
            .any(|arg| arg.contains(':') || arg.starts_with("--format") || arg.starts_with("--pretty")),
        "cat" | "head" | "tail" | "sed" | "nl" | "bat" | "less" | "more" => {
            let mut files = shown_files(step).peekable();
            files.peek().is_some() && files.all(is_code)
        }
        _ => false,
    }
}
