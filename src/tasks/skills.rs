//! Finds the skills that a run in some directory would have, and those that would be chosen for a task.

use std::path::Path;

use crate::context::{Context, TaskError};
use crate::host::paths;
use crate::model::{Selection, SkillsRequest};
use crate::runs::SKILLS_CACHE;
use crate::skills::{self, Library, Places};
use crate::submit;

/// What was found, and what was chosen if there is a task.
#[derive(Debug)]
pub(crate) struct FoundSkills {
    pub(crate) library: Library,
    pub(crate) selection: Option<Selection>,
}

pub(crate) fn find(
    context: &Context,
    dir: Option<&Path>,
    ask: &SkillsRequest,
    task: Option<&str>,
) -> Result<FoundSkills, TaskError> {
    let cwd = submit::directory(&context.place, dir.unwrap_or(Path::new(".")))?;
    let places = Places {
        git_root: paths::git_root(&cwd),
        cwd,
        home: context.env.path("HOME"),
        codex_home: context.env.path("CODEX_HOME"),
    };
    let library = skills::discover(&places, ask, &context.home.root().join(SKILLS_CACHE));
    let selection = task.map(|task| skills::select(&library, ask, task));
    Ok(FoundSkills { library, selection })
}
