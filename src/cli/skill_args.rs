//! The options that say which skills a run may use.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::model::SkillsMode;
use crate::submit::StartRequest;

#[derive(Debug, Args)]
pub(super) struct SkillArgs {
    /// How skills are chosen: `auto` (by relevance to the task), `explicit` (by name), or `none` [default: auto]
    #[arg(long, alias = "mode", value_parser = mode(), hide_possible_values = true)]
    skills_mode: Option<SkillsMode>,
    /// Use exactly these skills, by name; separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    skills: Vec<String>,
    /// The most skills to choose automatically [default: 6]
    #[arg(long, alias = "max", value_name = "N")]
    max_skills: Option<usize>,
    /// Leave out the skills of the repository
    #[arg(long)]
    no_repo_skills: bool,
    /// Leave out your own skills
    #[arg(long)]
    no_global_skills: bool,
}

impl SkillArgs {
    /// `ask` with these options.
    pub(super) fn apply(self, ask: StartRequest) -> StartRequest {
        StartRequest {
            skills_mode: self.skills_mode,
            skills: self.skills,
            max_skills: self.max_skills,
            include_repo_skills: Some(!self.no_repo_skills),
            include_global_skills: Some(!self.no_global_skills),
            ..ask
        }
    }
}

fn mode() -> impl TypedValueParser<Value = SkillsMode> {
    let modes = [SkillsMode::Auto, SkillsMode::Explicit, SkillsMode::None];
    PossibleValuesParser::new(SkillsMode::NAMES)
        .map(move |name| modes.into_iter().find(|mode| mode.as_str() == name).unwrap_or_default())
}
