//! Actions that the agent reports as refused by a sandbox or a policy.

use crate::evidence::commands::settle::LONGEST_COMMAND;
use crate::model::{Event, ItemStatus};
use crate::text::plain;

const MOST_NAMED: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Refusals {
    /// The first refusals, without duplicates.
    pub(super) list: Vec<String>,
    /// How many there were in total.
    pub(super) count: usize,
}

impl Refusals {
    pub(crate) fn note(&mut self, event: &Event) {
        let refused = match event {
            Event::CommandEnded { command, status: ItemStatus::Declined, .. } => {
                format!("the command `{command}`")
            }
            Event::Edited { changes, status: ItemStatus::Declined, .. } => {
                let files: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
                format!("a change of {}", files.join(", "))
            }
            Event::ToolEnded { tool, status: ItemStatus::Declined, .. } => format!("the tool `{tool}`"),
            _ => return,
        };
        self.count += 1;
        let refused = plain::line(&refused, LONGEST_COMMAND);
        if self.list.len() < MOST_NAMED && !self.list.contains(&refused) {
            self.list.push(refused);
        }
    }

    /// `2 actions were refused`
    pub(super) fn count_text(&self) -> String {
        match self.count {
            1 => "1 action was refused".to_owned(),
            count => format!("{count} actions were refused"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_the_first_are_named() {
        let mut refusals = Refusals::default();
        for number in 0..30 {
            let tool = format!("tool {}", number % 7);
            refusals.note(&Event::ToolEnded { item: String::new(), tool, status: ItemStatus::Declined });
        }
        assert_eq!((refusals.list.len(), refusals.count_text().as_str()), (5, "30 actions were refused"));
    }
}
