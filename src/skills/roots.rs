//! The directories that hold skills.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::model::{SkillOrigin, SkillsRequest};

/// Where an agent looks for skills, below a directory of the repository or the user's own.
const IN_PROJECT: [&str; 2] = [".agents/skills", ".codex/skills"];

/// Device and inode.
pub(super) type FileId = (u64, u64);

/// What the places of skills depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// The working directory of the run, without links.
    pub(crate) cwd: PathBuf,
    pub(crate) git_root: Option<PathBuf>,
    /// The agent's `HOME`.
    pub(crate) home: Option<PathBuf>,
    /// The agent's `CODEX_HOME`.
    pub(crate) codex_home: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Root {
    pub(super) path: PathBuf,
    pub(super) origin: SkillOrigin,
}

/// The roots that exist, and which directories do not belong to a repository although a link in it leads there.
#[derive(Debug, Default)]
pub(super) struct Roots {
    /// The repository's first, nearest first.
    pub(super) found: Vec<Root>,
    pub(super) not_of_repo: HashSet<FileId>,
}

impl Roots {
    pub(super) fn of(places: &Places, ask: &SkillsRequest) -> Self {
        let global = places.global();
        let of_home = places.home.iter().flat_map(|home| IN_PROJECT.map(|below| home.join(below)));
        let top =
            places.git_root.as_deref().filter(|root| places.cwd.starts_with(root)).unwrap_or(&places.cwd);
        let not_of_repo: HashSet<FileId> = global
            .iter()
            .cloned()
            .chain(of_home)
            .chain(top.ancestors().map(Path::to_owned))
            .filter_map(|dir| id_of(&dir))
            .collect();
        let dirs = places.cwd.ancestors().take_while(|dir| dir.starts_with(top));
        let of_repo = dirs.flat_map(|dir| IN_PROJECT.map(|below| dir.join(below)));
        let is_repos = |dir: &PathBuf| id_of(dir).is_some_and(|id| !not_of_repo.contains(&id));
        let root = |origin| move |path| Root { path, origin };
        let mut found = Vec::new();
        if ask.include_repo {
            found.extend(of_repo.filter(is_repos).map(root(SkillOrigin::Repo)));
        }
        if ask.include_global {
            found.extend(global.into_iter().filter(|dir| dir.is_dir()).map(root(SkillOrigin::Global)));
        }
        Self { found, not_of_repo }
    }
}

impl Places {
    /// The user's own skills.
    fn global(&self) -> Vec<PathBuf> {
        let home = self.home.as_ref();
        let codex = self.codex_home.clone().or_else(|| Some(home?.join(".codex")));
        let agents = home.map(|home| home.join(".agents/skills"));
        codex.map(|codex| codex.join("skills")).into_iter().chain(agents).collect()
    }
}

/// The identity of a directory; `None` if it does not exist.
fn id_of(dir: &Path) -> Option<FileId> {
    fs::metadata(dir).ok().filter(fs::Metadata::is_dir).map(|found| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(places: &Places, ask: &SkillsRequest, base: &Path) -> Vec<String> {
        let roots = Roots::of(places, ask).found.into_iter();
        roots
            .map(|root| {
                format!("{} {}", root.origin.as_str(), root.path.strip_prefix(base).unwrap().display())
            })
            .collect()
    }

    #[test]
    fn roots_go_up_to_the_git_root_and_then_to_the_home() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for dir in [
            "home/.codex/skills",
            "home/.agents/skills",
            "home/work/.agents/skills",
            "home/work/repo/.codex/skills",
            "home/work/repo/a/.agents/skills",
            "home/work/repo/a/b",
        ] {
            fs::create_dir_all(base.join(dir)).unwrap();
        }
        let mut places = Places {
            cwd: base.join("home/work/repo/a/b"),
            git_root: Some(base.join("home/work/repo")),
            home: Some(base.join("home")),
            codex_home: None,
        };
        let all = [
            "repo home/work/repo/a/.agents/skills",
            "repo home/work/repo/.codex/skills",
            "global home/.codex/skills",
            "global home/.agents/skills",
        ];
        assert_eq!(names(&places, &SkillsRequest::default(), &base), all);
        let ask = SkillsRequest { include_repo: false, ..SkillsRequest::default() };
        assert_eq!(names(&places, &ask, &base), all[2..]);
        places.git_root = None;
        assert_eq!(names(&places, &SkillsRequest::default(), &base), all[2..]);
        // The home is a repository of its own; Codex has another home.
        places.cwd = base.join("home/work");
        places.git_root = Some(base.join("home"));
        places.codex_home = Some(base.join("elsewhere"));
        let ask = SkillsRequest::default();
        assert_eq!(
            names(&places, &ask, &base),
            ["repo home/work/.agents/skills", "global home/.agents/skills"]
        );
    }
}
