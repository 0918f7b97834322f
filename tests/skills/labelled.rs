//! Sixty tasks, and which of forty skills fits each. The scoring was tuned on those with even numbers; what must
//! hold is measured on the others.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::model::{Selection, SkillsRequest};
use crate::skills::{Library, Places, discover, select};

#[derive(Debug, Deserialize)]
struct Labelled {
    task: String,
    /// Absent if none of them fits.
    skill: Option<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/skills")
}

/// The skills, as if they were those of a user.
fn library(base: &Path) -> Library {
    let home = base.join("agent");
    std::fs::create_dir_all(&home).expect("a directory");
    std::os::unix::fs::symlink(folder().join("library"), home.join("skills")).expect("a link");
    let places = Places { cwd: base.to_owned(), codex_home: Some(home), ..Places::default() };
    discover(&places, &SkillsRequest::default(), &base.join("cache"))
}

fn tasks() -> Vec<Labelled> {
    let lines = std::fs::read_to_string(folder().join("tasks.jsonl")).expect("the tasks");
    lines.lines().map(|line| serde_json::from_str(line).expect("a task")).collect()
}

#[test]
fn the_intended_skill_is_chosen_and_nothing_for_other_tasks() {
    let temp = tempfile::tempdir().unwrap();
    let library = library(temp.path());
    assert_eq!((library.skills.len(), library.warnings.len()), (40, 0), "{:?}", library.warnings);
    let tasks = tasks();
    assert_eq!(tasks.len(), 60);
    let [mut fitting, mut found, mut other, mut quiet, mut chosen] = [0; 5];
    for Labelled { task, skill } in tasks.into_iter().skip(1).step_by(2) {
        let Selection { selected_skills, .. } = select(&library, &SkillsRequest::default(), &task);
        let names: Vec<&str> = selected_skills.iter().map(|skill| skill.name.as_str()).collect();
        match skill {
            Some(intended) => {
                fitting += 1;
                found += usize::from(names.contains(&intended.as_str()));
                chosen += names.len();
            }
            None => {
                other += 1;
                quiet += usize::from(names.is_empty());
            }
        }
    }
    assert_eq!((fitting, other), (20, 10));
    assert!(found * 100 >= fitting * 95, "{found} of {fitting} intended skills were chosen");
    assert!(quiet * 100 >= other * 90, "nothing was chosen for {quiet} of {other} tasks that fit none");
    assert!(chosen <= fitting + fitting / 4, "{chosen} skills for {fitting} tasks");
}
