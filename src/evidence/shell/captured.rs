//! `out=$(make 2>&1)`: what a program prints goes into a variable as it would into a file, and is shown where
//! somebody prints that.

use super::step::Step;

/// Where variables lie among the files: nothing of the project is there.
const PLACE: &str = "/dev/$";

/// An assignment of what programs print.
#[derive(Debug)]
pub(super) struct Captured {
    /// What stands for the variable.
    pub(super) file: String,
    /// The commands.
    pub(super) text: String,
}

/// What a step puts into a variable, where that is of commands that do more than look.
pub(super) fn captured(step: &Step) -> Option<Captured> {
    let (name, value) = step.sets().filter(|_| step.words.is_empty())?.split_once('=')?;
    let bracketed = value.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
    let quoted = || value.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    let inner = bracketed.filter(|inner| is_one(inner)).or_else(quoted)?;
    let does = |part: &str| {
        let words = part.split_whitespace().map(str::to_owned).collect();
        let step = Step::of(words);
        step.may_write() && step.program() != "mktemp"
    };
    let is_known = !inner.starts_with('(') && !inner.contains('`');
    let does = is_known && inner.split(['|', '&', ';', '\n', '(', ')']).any(does);
    does.then(|| Captured { file: format!("{PLACE}{name}"), text: inner.to_owned() })
}

/// Whether a bracket that is closed was opened inside of it.
fn is_one(inner: &str) -> bool {
    let mut open = 0_i64;
    inner.chars().all(|c| {
        open += i64::from(c == '(') - i64::from(c == ')');
        open >= 0
    })
}

/// What a program prints is not seen but where the file is shown.
pub(super) fn write_into(step: &mut Step, file: &str) {
    step.silent = true;
    if !step.writes.iter().any(|other| other == file) {
        step.writes.push(file.to_owned());
    }
}

/// Which of these variables is printed by a program that is told so.
pub(super) fn shown<'a>(words: &[String], mut files: impl Iterator<Item = &'a str>) -> Option<usize> {
    let (program, args) = words.split_first()?;
    let options = args.iter().take_while(|arg| matches!(arg.as_str(), "-e" | "-n" | "-ne" | "-en")).count();
    let word = match (program.as_str(), &args[options..]) {
        ("echo", [word]) => word,
        ("printf", [format, word]) if matches!(format.as_str(), "%s" | "%s\\n") => word,
        _ => return None,
    };
    let name = word.strip_prefix('$')?.trim_start_matches('{').trim_end_matches('}');
    files.position(|file| file.strip_prefix(PLACE) == Some(name))
}
