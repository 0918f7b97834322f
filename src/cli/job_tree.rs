//! Shows the jobs of a plan during a wait: a tree rewritten in place on a terminal, a line per change elsewhere.

use std::time::Duration;

use crate::cli::print;
use crate::cli::table::drawn;
use crate::host::{Env, terminal};
use crate::model::PlanStep;
use crate::reading::View;
use crate::redact;
use crate::tasks::NextObservation;
use crate::text::plain;

/// How often to look while nothing happens.
const TICK: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct JobTree {
    is_quiet: bool,
    /// Whether the terminal can redraw lines.
    draws: bool,
    /// How many lines are on the terminal.
    drawn: usize,
    told: Vec<String>,
}

impl JobTree {
    pub(super) fn new(env: &Env, is_quiet: bool) -> Self {
        Self { is_quiet, draws: env.text("TERM") != Some("dumb"), drawn: 0, told: Vec::new() }
    }

    /// Shows the jobs of the one task that is waited for, and returns when to update them.
    pub(super) fn show(&mut self, views: &[View]) -> NextObservation {
        let progress = views.first().and_then(|view| view.progress.as_ref());
        let Some(progress) = progress.filter(|_| !self.is_quiet) else { return NextObservation::OnChange };
        match terminal::stderr_width().filter(|_| self.draws) {
            Some(width) => {
                let width = width.saturating_sub(1);
                let steps = progress.steps.iter().map(line);
                let lines: Vec<String> = steps.chain([plain::text(&progress.activity)]).collect();
                self.clear();
                self.drawn = lines.len();
                let lines: String = lines.iter().map(|line| drawn(line, width) + "\n").collect();
                print::note_part(&redact::text(&lines));
                NextObservation::Within(TICK)
            }
            None => {
                let lines: Vec<String> = progress.steps.iter().map(line).collect();
                for line in lines.iter().filter(|line| !self.told.contains(line)) {
                    print::note(line);
                }
                self.told = lines;
                NextObservation::OnChange
            }
        }
    }

    /// Removes the tree: the report shows the jobs.
    pub(super) fn clear(&mut self) {
        let lines = std::mem::take(&mut self.drawn);
        if lines > 0 {
            print::note_part(&format!("\u{1b}[{lines}A\r\u{1b}[J"));
        }
    }
}

fn line(step: &PlanStep) -> String {
    format!("[{}] {}", if step.done { "x" } else { " " }, plain::text(&step.text))
}
