//! The last lines of a run's output or transcript: enough to see whether it makes progress.

use crate::context::Context;
use crate::model::TaskId;
use crate::reading::excerpt::Excerpt;
use crate::reading::snapshot::Snapshot;
use crate::runs::RunDir;
use crate::text;

const MOST: usize = 5;
const LONGEST: usize = 200;
/// How much of the file's end is searched.
const END: u64 = 8 << 10;

impl Snapshot {
    /// Adds the last lines of every run that has started.
    pub(crate) fn with_last_lines(self, context: &Context) -> Self {
        let running = self.running.iter().map(|view| (&view.row.id, of(&view.dir)));
        let finished = self.finished.iter().map(|row| (&row.id, of(&context.dir(&row.run_id))));
        let last_lines: Vec<(TaskId, Vec<String>)> =
            running.chain(finished).map(|(id, lines)| (id.clone(), lines)).collect();
        Self { last_lines: Some(last_lines), ..self }
    }

    /// `None` if last lines were not asked for.
    pub(crate) fn last_lines_of(&self, id: &TaskId) -> Option<Vec<String>> {
        let all = self.last_lines.as_ref()?;
        Some(all.iter().find(|(one, _)| one == id).map(|(_, lines)| lines.clone()).unwrap_or_default())
    }
}

/// Last lines of the transcript or, if it is empty, of standard error.
fn of(dir: &RunDir) -> Vec<String> {
    let done = lines(&Excerpt::tail(&dir.transcript(), END));
    if done.is_empty() { lines(&Excerpt::tail(&dir.stderr(), END)) } else { done }
}

fn lines(excerpt: &Excerpt) -> Vec<String> {
    // The first line of a cut excerpt says how much is left out.
    let printed = excerpt.text.lines().skip(usize::from(excerpt.cut));
    let mut last: Vec<&str> = printed.filter(|line| !line.trim().is_empty()).collect();
    last.drain(..last.len().saturating_sub(MOST));
    last.into_iter().map(|line| text::cut(line.trim_end(), LONGEST)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, cut: bool, expected: &[&str]) {
        let excerpt = Excerpt { text: text.to_owned(), total_bytes: 0, cut };
        assert_eq!(lines(&excerpt), expected);
    }

    #[test]
    fn the_last_five_lines_that_say_anything() {
        check(
            "one\n\n  two\nthree\nfour\nfive  \n\nsix\n",
            false,
            &["  two", "three", "four", "five", "six"],
        );
        check("… (9 bytes left out)\nlast\n", true, &["last"]);
        check("\n \n", false, &[]);
        let long = format!("{}…", "é".repeat(LONGEST - 1));
        check(&"é".repeat(300), false, &[&long]);
    }
}
