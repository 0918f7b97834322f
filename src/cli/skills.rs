//! `delegator skills`: lists the skills that were found, and shows which of them a task would get.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;

use crate::cli::invocation::Call;
use crate::cli::print;
use crate::cli::skill_args::SkillArgs;
use crate::cli::table::table;
use crate::failure::{Exit, Failure};
use crate::reply::{ScoredSkill, Skill, SkillChoice, SkillList};
use crate::submit::StartRequest;
use crate::tasks::skills;

#[derive(Debug, Args)]
pub(super) struct Skills {
    /// Show which skills would be chosen for this task, and why
    #[arg(long = "for", value_name = "TASK")]
    task: Option<String>,
    /// Directory that the run would work in [default: the current one]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    args: SkillArgs,
}

impl Skills {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let context = call.open_to_look()?;
        let ask = self.args.apply(StartRequest::default());
        ask.check_skills()?;
        let found = skills::find(&context, self.dir.as_deref(), &ask.skills(), self.task.as_deref())?;
        let (meta, data) = SkillList::of(&found);
        call.answer(meta, data, shown)?;
        Ok(Exit::Done)
    }
}

fn shown(data: &SkillList) -> String {
    let mut text = match &data.selection {
        Some(choice) => choice_text(choice),
        None if data.skills.is_empty() => "no skills were found\n".to_owned(),
        None => listed(["NAME", "FROM", "DESCRIPTION", "PATH"], data.skills.iter().map(row)),
    };
    let of_choice = data.selection.iter().flat_map(|choice| &choice.warnings);
    for warning in of_choice.chain(&data.warnings) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "warning: {warning}");
    }
    text
}

fn row(skill: &Skill) -> Vec<String> {
    let description = skill.description.clone().unwrap_or_else(|| "-".to_owned());
    vec![skill.name.clone(), skill.origin.to_owned(), description, skill.path.display().to_string()]
}

fn choice_text(choice: &SkillChoice) -> String {
    let needed = choice.threshold.map(|threshold| format!(" (a score of {threshold:.2} is needed)"));
    let mut text = match choice.chosen.is_empty() {
        true => format!("no skill would be chosen{}\n", needed.unwrap_or_default()),
        false => format!("chosen{}:\n{}", needed.unwrap_or_default(), scored(&choice.chosen)),
    };
    if !choice.passed_over.is_empty() {
        let _ = write!(text, "\nnot chosen:\n{}", scored(&choice.passed_over));
    }
    text
}

fn scored(skills: &[ScoredSkill]) -> String {
    let row = |scored: &ScoredSkill| {
        let score = scored.score.map_or_else(|| "-".to_owned(), |score| format!("{score:.2}"));
        let path = scored.skill.path.display().to_string();
        vec![
            scored.skill.name.clone(),
            scored.skill.origin.to_owned(),
            score,
            scored.matched.join(", "),
            path,
        ]
    };
    listed(["NAME", "FROM", "SCORE", "MATCHED WORDS", "PATH"], skills.iter().map(row))
}

fn listed<const N: usize>(head: [&str; N], rows: impl Iterator<Item = Vec<String>>) -> String {
    let head = head.map(str::to_owned).to_vec();
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>(), print::width())
}
