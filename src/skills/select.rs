//! Chooses the skills for a task. Pure.

use crate::model::{Selection, SkillEntry, SkillsMode, SkillsRequest};
use crate::skills::discover::{Library, Skill};
use crate::skills::rank::{Ranked, rank};

/// How many skills that were not chosen are told.
const MOST_PASSED_OVER: usize = 5;

/// Chooses for `task`, which is empty if the run only continues.
pub(crate) fn select(library: &Library, ask: &SkillsRequest, task: &str) -> Selection {
    let none = Selection {
        version: Selection::VERSION,
        mode: ask.mode,
        max_skills: ask.max,
        threshold: None,
        selected_skills: Vec::new(),
        passed_over: Vec::new(),
        warnings: Vec::new(),
    };
    match ask.mode {
        SkillsMode::None => none,
        SkillsMode::Explicit => by_name(library, &ask.names, none),
        SkillsMode::Auto if task.trim().is_empty() => {
            let warning = "no skills were chosen, because there is no new task to choose them for";
            Selection { mode: SkillsMode::None, warnings: vec![warning.to_owned()], ..none }
        }
        SkillsMode::Auto => by_relevance(library, task, none),
    }
}

/// The named ones, in the order of their names. Of several with the same name, the first: the repository's.
fn by_name(library: &Library, names: &[String], none: Selection) -> Selection {
    let mut selection = none;
    for name in names {
        match library.skills.iter().find(|skill| is_called(skill, name)) {
            Some(skill) if selection.selected_skills.iter().any(|chosen| chosen.path == skill.path) => {}
            Some(skill) => selection.selected_skills.push(skill.entry()),
            None => selection.warnings.push(format!("no skill is named `{}`", name.trim().escape_debug())),
        }
    }
    selection
}

fn is_called(skill: &Skill, name: &str) -> bool {
    skill.name.to_lowercase() == name.trim().to_lowercase()
}

fn by_relevance(library: &Library, task: &str, none: Selection) -> Selection {
    // A skill of the same name as an earlier one is hidden by it.
    let mut names = std::collections::HashSet::new();
    let skills: Vec<&Skill> =
        library.skills.iter().filter(|skill| names.insert(skill.name.to_lowercase())).collect();
    let ranking = rank(&skills.iter().map(|skill| &skill.terms).collect::<Vec<_>>(), task);
    let entry = |ranked: Ranked| SkillEntry {
        score: Some((ranked.score * 100.0).round() / 100.0),
        matched: ranked.matched,
        ..skills[ranked.skill].entry()
    };
    let relevant = ranking.skills.iter().filter(|ranked| ranked.score >= ranking.threshold).count();
    let chosen = relevant.min(none.max_skills);
    let mut entries = ranking.skills.into_iter().map(entry);
    Selection {
        threshold: Some((ranking.threshold * 100.0).round() / 100.0),
        selected_skills: entries.by_ref().take(chosen).collect(),
        passed_over: entries.take(MOST_PASSED_OVER).collect(),
        ..none
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SkillOrigin;
    use crate::skills::terms::Terms;

    fn skill(name: &str, about: &str, origin: SkillOrigin) -> Skill {
        let terms = Terms::of(name, about, "");
        let path = format!("/{}/{name}/SKILL.md", origin.as_str()).into();
        Skill { name: name.into(), description: Some(about.into()), origin, path, terms }
    }

    fn library() -> Library {
        let skills = vec![
            skill("PDF-forms", "Fill PDF forms of this project", SkillOrigin::Repo),
            skill("pdf-forms", "Fill any PDF forms", SkillOrigin::Global),
            skill("pdf-merge", "Merge PDF documents into one", SkillOrigin::Global),
            skill("charts", "Draw charts of numbers", SkillOrigin::Global),
        ];
        Library { skills, ..Library::default() }
    }

    #[track_caller]
    fn check(ask: SkillsRequest, task: &str, chosen: &[&str], warnings: usize) -> Selection {
        let selection = select(&library(), &ask, task);
        let paths: Vec<&str> =
            selection.selected_skills.iter().map(|skill| skill.path.to_str().unwrap()).collect();
        assert_eq!(paths, chosen, "{selection:?}");
        assert_eq!(selection.warnings.len(), warnings, "{selection:?}");
        selection
    }

    fn named(names: &[&str]) -> SkillsRequest {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        SkillsRequest { mode: SkillsMode::Explicit, names, ..SkillsRequest::default() }
    }

    #[test]
    fn a_name_means_the_repositorys_skill_in_any_case() {
        check(
            named(&["pdf-FORMS", "charts", " PDF-forms "]),
            "",
            &["/repo/PDF-forms/SKILL.md", "/global/charts/SKILL.md"],
            0,
        );
        let selection = check(named(&["chart"]), "draw a chart", &[], 1);
        assert_eq!(selection.warnings, ["no skill is named `chart`"]);
        check(named(&[]), "draw a chart", &[], 0);
    }

    #[test]
    fn the_relevant_ones_are_chosen_best_first_up_to_the_maximum() {
        let task = "fill in the PDF forms, then merge them";
        let auto = SkillsRequest::default;
        let selection = check(auto(), task, &["/repo/PDF-forms/SKILL.md", "/global/pdf-merge/SKILL.md"], 0);
        assert!(selection.selected_skills[0].score > selection.threshold && selection.threshold.is_some());
        let selection = check(SkillsRequest { max: 1, ..auto() }, task, &["/repo/PDF-forms/SKILL.md"], 0);
        assert_eq!(selection.passed_over[0].name, "pdf-merge");
        check(SkillsRequest { max: 0, ..auto() }, task, &[], 0);
        check(auto(), "rename a variable", &[], 0);
    }

    #[test]
    fn nothing_to_do_and_nothing_wanted_choose_nothing() {
        let selection = check(SkillsRequest::default(), "  ", &[], 1);
        assert_eq!(selection.mode, SkillsMode::None);
        check(SkillsRequest { mode: SkillsMode::None, ..SkillsRequest::default() }, "draw charts", &[], 0);
    }
}
