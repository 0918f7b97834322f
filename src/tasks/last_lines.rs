//! The last lines of what a run printed, or of what its agent did: enough to
//! see whether it gets on.

use crate::agents;
use crate::model::{Request, Stdout, TaskId, Timestamp};
use crate::runs::RunDir;
use crate::tasks::{Context, Excerpt, Snapshot, Transcript, stream};

const MOST: usize = 5;
const LONGEST: usize = 200;
/// Where they are looked for.
const END: u64 = 8 << 10;

impl Snapshot {
    /// The same, with the last lines of every run that has begun.
    pub(crate) fn with_last_lines(self, context: &Context) -> Self {
        let running = self.running.iter().map(|view| (&view.row.id, of(&view.dir, view.request.as_ref())));
        let finished = self.finished.iter().map(|row| {
            let dir = context.dir(&row.run_id);
            // What cannot be read is told where one task is asked for.
            let request = dir.read_request().ok().flatten();
            (&row.id, of(&dir, request.as_ref()))
        });
        let last_lines: Vec<(TaskId, Vec<String>)> =
            running.chain(finished).map(|(id, lines)| (id.clone(), lines)).collect();
        Self { last_lines: Some(last_lines), ..self }
    }

    /// `None` where nobody asked for them.
    pub(crate) fn last_lines_of(&self, id: &TaskId) -> Option<Vec<String>> {
        let all = self.last_lines.as_ref()?;
        Some(all.iter().find(|(one, _)| one == id).map(|(_, lines)| lines.clone()).unwrap_or_default())
    }
}

/// Of the stream that was written to last, for two have no common order; of an
/// agent that tells events, those as people read them.
fn of(dir: &RunDir, request: Option<&Request>) -> Vec<String> {
    let (stdout, stderr) = (dir.stdout(), dir.stderr());
    let written =
        |path| stream::open_at(path, Stdout::Text).map_or(Timestamp::from_millis(0), |it| it.written);
    if let Some(request) = request.filter(|_| dir.events().exists()) {
        let done = lines(&Excerpt::of_last_events(&dir.events(), Transcript::of(request), END));
        return if done.is_empty() { lines(&Excerpt::tail(&stderr, END)) } else { done };
    }
    let (first, second) =
        if written(&stderr) > written(&stdout) { (stderr, stdout) } else { (stdout, stderr) };
    let printed = lines(&Excerpt::tail(&first, END));
    if printed.is_empty() { lines(&Excerpt::tail(&second, END)) } else { printed }
}

fn lines(excerpt: &Excerpt) -> Vec<String> {
    // The first line of a tail says how much is left out.
    let printed = excerpt.text.lines().skip(usize::from(excerpt.cut));
    let mut last: Vec<&str> = printed.filter(|line| !line.trim().is_empty()).collect();
    last.drain(..last.len().saturating_sub(MOST));
    last.into_iter().map(|line| agents::cut(line.trim_end(), LONGEST)).collect()
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
