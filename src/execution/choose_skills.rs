//! Chooses the skills of a run and records them, before its prompt is written.

use std::io;

use serde_json::json;

use crate::model::{Request, Selection};
use crate::runs::RunDir;
use crate::skills::{self, Library, Places};

/// The chosen skills; `None` for an agent that is told of none. Writes both records, also if nothing was found.
pub(super) fn choose(
    dir: &RunDir,
    request: &Request,
    environment: &[(String, String)],
) -> io::Result<Option<Selection>> {
    if !request.agent.abilities().reads_skills {
        return Ok(None);
    }
    let variable = |wanted: &str| {
        let value = environment.iter().find(|(name, value)| name == wanted && !value.is_empty());
        value.map(|(_, value)| value.into())
    };
    let places = Places {
        cwd: request.cwd.clone(),
        git_root: request.git_root.clone(),
        home: variable("HOME"),
        codex_home: variable("CODEX_HOME"),
    };
    let library = skills::discover(&places, &request.skills, &dir.skills_cache());
    let selection = skills::select(&library, &request.skills, &request.task);
    dir.write_record(&dir.skills_index(), &index(&library))?;
    dir.write_record(&dir.selected_skills(), &selection)?;
    Ok(Some(selection))
}

fn index(library: &Library) -> serde_json::Value {
    let root = |root: &skills::RootSummary| json!({ "path": root.path, "origin": root.origin, "skills": root.skills });
    json!({
        "version": 1,
        "roots": library.roots.iter().map(root).collect::<Vec<_>>(),
        "skills": library.skills.iter().map(skills::Skill::entry).collect::<Vec<_>>(),
        "warnings": library.warnings,
    })
}
