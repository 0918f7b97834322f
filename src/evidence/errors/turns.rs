//! Programs that a loop or a list runs once for each word: what each of these times does.

use super::work::{Done, Work};
use crate::evidence::shell::{Command, Step};

/// Longer lists are not gone through.
const MOST_TURNS: usize = 32;

/// The same step, once for each word that is put into it.
pub(super) fn turns(command: &Command, step: &Step) -> Vec<Step> {
    match &command.turned {
        Some(name) if is_walked(command, name) => Vec::new(),
        Some(name) => by_loop(step, name),
        None if step.repeats => by_list(step).into_iter().collect(),
        None => Vec::new(),
    }
}

/// `for d in a b; do (cd $d && make); done`: where each turn is done is not told by its words.
fn is_walked(command: &Command, name: &str) -> bool {
    let moves = |step: &&Step| matches!(step.program(), "cd" | "pushd");
    let uses = |word: &String| filled(word, name, "") != *word;
    command.steps.iter().filter(moves).any(|step| step.args().iter().any(uses))
}

/// `for f in a b; do ./x $f; done`
fn by_loop(step: &Step, name: &str) -> Vec<Step> {
    let head = format!("for {name} in ");
    let Some(words) = step.context.iter().find_map(|said| said.strip_prefix(&head)) else {
        return Vec::new();
    };
    let words: Vec<&str> = words.split_whitespace().collect();
    let is_known = words.len() <= MOST_TURNS && !words.iter().any(|word| word.contains(['$', '`']));
    let turn = |value: &&str| {
        let mut step = step.clone();
        step.context.retain(|said| !said.starts_with(&head));
        step.words.iter_mut().for_each(|word| *word = filled(word, name, value));
        step
    };
    words.iter().filter(|_| is_known).map(turn).collect()
}

/// `ls *.py | xargs ./x`, `find . -name '*.py' -exec ./x {} +`
fn by_list(step: &Step) -> Option<Step> {
    let [list] = step.input.as_slice() else { return None };
    let words: Vec<&str> = list.split_whitespace().collect();
    let files = match words.as_slice() {
        ["ls" | "echo", files @ ..] => files.iter().map(|file| (*file).to_owned()).collect(),
        ["printf", "%s\\n", files @ ..] => files.iter().map(|file| (*file).to_owned()).collect(),
        ["find", folder, "-name", pattern] | ["find", folder, "-type", "f", "-name", pattern] => {
            let is_all = pattern.strip_prefix("*.").is_some_and(|end| !end.contains('*'));
            is_all.then(|| vec![(*folder).to_owned()])?
        }
        _ => return None,
    };
    let is_known = |file: &String| !file.starts_with('-') && !file.contains(['$', '`', '|']);
    let mut turn = step.clone();
    turn.input.clear();
    turn.repeats = false;
    turn.words.retain(|word| word != "{}");
    let is_plain = files.iter().all(is_known) && !files.is_empty();
    turn.words.extend(files);
    is_plain.then_some(turn)
}

/// A word with a value in the place of a name.
fn filled(word: &str, name: &str, value: &str) -> String {
    let word = word.replace(&format!("${{{name}}}"), value);
    let token = format!("${name}");
    let mut parts = word.split(&token);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_longer = part.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if is_longer {
            kept.push('$');
        }
        kept.push_str(if is_longer { name } else { value });
        kept.push_str(part);
    }
    kept
}

impl Done {
    /// The same works, each time of those that are done for each word by itself.
    pub(super) fn each_turn(&self, works: Vec<Work>) -> Vec<Work> {
        let turns = |work: &Work| {
            let at = self.works.iter().position(|own| own.as_ref() == Some(work))?;
            Some(self.turns[at].clone()).filter(|turns| !turns.is_empty())
        };
        let works = works.into_iter().flat_map(|work| turns(&work).unwrap_or_else(|| vec![work]));
        works.flat_map(Work::each).collect()
    }
}

impl Work {
    /// The same for each file by itself, where it is done to some.
    fn each(self) -> Vec<Self> {
        match &self {
            Self::Program { call, input, context, directory, .. } => {
                let each = call.each();
                let one = |call| Self::Program {
                    call,
                    meant: None,
                    input: input.clone(),
                    context: context.clone(),
                    directory: directory.clone(),
                };
                if (2..=MOST_TURNS).contains(&each.len()) {
                    each.into_iter().map(one).collect()
                } else {
                    vec![self]
                }
            }
            Self::Cargo { .. }
            | Self::Tests(_)
            | Self::HalfDone(_)
            | Self::Elsewhere(_)
            | Self::Writes(_)
            | Self::Reads(_) => vec![self],
        }
    }
}
