//! Finds all skills below the roots.
//!
//! Links are followed, but no directory is entered twice and no file is read twice, whatever their names. What
//! cannot be read is a warning, never an error.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::panic;
use std::path::{Path, PathBuf};
use std::thread;

use crate::host::{clock, files};
use crate::model::{SkillEntry, SkillOrigin, SkillsRequest, Timestamp};
use crate::skills::cache::{Cache, CachedDir, CachedFile, Said, Stamp};
use crate::skills::front_matter;
use crate::skills::roots::{FileId, Places, Root, Roots};
use crate::skills::terms::Terms;
use crate::text::plain;

const FILE: &str = "SKILL.md";
/// Of a file, no more is read.
const LONGEST_READ: u64 = 64 << 10;
const DEEPEST: usize = 8;
const MOST_DIRS: usize = 100_000;
const MOST_WARNINGS: usize = 100;
/// Packages and git's own files hold no skills that anybody meant.
const NOT_ENTERED: [&str; 2] = [".git", "node_modules"];
/// Fewer directories are read faster than a cache.
const WORTH_CACHING: usize = 200;
/// How many directories make another thread worth starting.
const SHARE: usize = 64;

/// All skills that were found.
#[derive(Debug, Default)]
pub(crate) struct Library {
    /// The repository's first, nearest first; within a root by path.
    pub(crate) skills: Vec<Skill>,
    pub(crate) roots: Vec<RootSummary>,
    pub(crate) warnings: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct RootSummary {
    pub(crate) path: PathBuf,
    pub(crate) origin: SkillOrigin,
    pub(crate) skills: usize,
}

#[derive(Debug)]
pub(crate) struct Skill {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) origin: SkillOrigin,
    /// Its `SKILL.md`.
    pub(crate) path: PathBuf,
    pub(super) terms: Terms,
}

impl Skill {
    pub(crate) fn entry(&self) -> SkillEntry {
        SkillEntry {
            name: self.name.clone(),
            description: self.description.clone(),
            origin: self.origin,
            path: self.path.clone(),
            score: None,
            matched: Vec::new(),
        }
    }
}

/// A directory to look into.
#[derive(Debug)]
struct Place {
    path: String,
    root: usize,
}

/// A directory that was looked into.
struct Looked {
    id: FileId,
    stamp: Option<Stamp>,
    children: Vec<String>,
    has_skill: bool,
}

/// A `SKILL.md` that was read.
struct ReadFile {
    id: FileId,
    stamp: Option<Stamp>,
    said: Said,
}

/// Finds the skills that `ask` includes. `cache` is a file of our own, which need not exist.
pub(crate) fn discover(places: &Places, ask: &SkillsRequest, cache: &Path) -> Library {
    let roots = Roots::of(places, ask);
    let now = clock::now();
    let mut library = Library::default();
    let start =
        |(root, Root { path, .. }): (usize, &Root)| Some(Place { path: path.to_str()?.to_owned(), root });
    let mut frontier: Vec<Place> = roots.found.iter().enumerate().filter_map(start).collect();
    let mut known: Option<Cache> = None;
    let mut entered = HashSet::new();
    let mut fresh = Cache::default();
    let mut with_skill: Vec<Place> = Vec::new();
    for depth in 0..=DEEPEST {
        if known.is_none() && frontier.len() > WORTH_CACHING {
            known = Some(Cache::load(cache));
        }
        let old = known.as_ref();
        let looked = in_parallel(&frontier, |place| look(&place.path, old, now));
        let mut next = Vec::new();
        for (place, looked) in frontier.into_iter().zip(looked) {
            let looked = match looked {
                Ok(Some(looked)) => looked,
                Ok(None) => continue,
                Err(error) => {
                    library.warn(format!("`{}` cannot be read: {error}", place.path));
                    continue;
                }
            };
            let of_repo = roots.found[place.root].origin == SkillOrigin::Repo;
            if of_repo && roots.not_of_repo.contains(&looked.id) || !entered.insert(looked.id) {
                continue;
            }
            let Looked { stamp, children, has_skill, .. } = looked;
            let below = children
                .iter()
                .map(|child| Place { path: format!("{}/{child}", place.path), root: place.root });
            next.extend(below);
            if let Some(stamp) = stamp {
                fresh.dirs.insert(place.path.clone(), CachedDir { stamp, children, has_skill });
            }
            if has_skill {
                with_skill.push(place);
            }
        }
        if let Some(first) = next.first()
            && (entered.len() + next.len() > MOST_DIRS || depth == DEEPEST)
        {
            library.warn(format!(
                "not searched, because it is too deep or there are too many: `{}` and others",
                first.path
            ));
            break;
        }
        frontier = next;
    }
    let old = known.as_ref();
    let read = in_parallel(&with_skill, |place| read_file(&place.path, old, now));
    let mut found: BTreeMap<(usize, String), Skill> = BTreeMap::new();
    let mut seen = HashSet::new();
    for (Place { path: dir, root }, read) in with_skill.into_iter().zip(read) {
        let path = format!("{dir}/{FILE}");
        let ReadFile { id, stamp, said } = match read {
            Ok(read) => read,
            Err(error) => {
                library.warn(format!("`{path}` cannot be read: {error}"));
                continue;
            }
        };
        if let (Some(stamp), Some(_)) = (stamp, &known) {
            fresh.files.insert(path.clone(), CachedFile { stamp, said: said.clone() });
        }
        if let Some(error) = &said.error {
            library.warn(format!("`{path}`: {error}; it is named after its folder"));
        }
        // It stands in prompts, so it must be what it looks like.
        if plain::line(&path, usize::MAX) != path {
            library.warn(format!("`{path}` is left out: its path has characters that cannot be shown"));
        } else if !said.is_excluded && seen.insert(id) {
            let Said { name, description, terms, .. } = said;
            let origin = roots.found[root].origin;
            found.insert((root, path.clone()), Skill { name, description, origin, path: path.into(), terms });
        }
    }
    if let Some(known) = known {
        let paths: Vec<&str> = roots.found.iter().filter_map(|root| root.path.to_str()).collect();
        fresh.keep_elsewhere(&known, &paths);
        if known != fresh {
            // Without it, the next search takes longer.
            let _ = fresh.store(cache);
        }
    }
    for (at, Root { path, origin }) in roots.found.into_iter().enumerate() {
        let skills = found.keys().filter(|(root, _)| *root == at).count();
        library.roots.push(RootSummary { path, origin, skills });
    }
    library.skills = found.into_values().collect();
    library
}

impl Library {
    fn warn(&mut self, warning: String) {
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.push(plain::line(&warning, 500));
        }
    }
}

/// Looks into a directory; `None` if it is none.
fn look(path: &str, cache: Option<&Cache>, now: Timestamp) -> io::Result<Option<Looked>> {
    let found = match fs::metadata(path) {
        Ok(found) if found.is_dir() => found,
        Ok(_) => return Ok(None),
        // A link that leads nowhere, or to itself.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let (id, stamp) = identify(&found, now);
    let cached = cache.and_then(|cache| cache.dirs.get(path)).filter(|cached| Some(cached.stamp) == stamp);
    if let Some(CachedDir { children, has_skill, .. }) = cached {
        return Ok(Some(Looked { id, stamp, children: children.clone(), has_skill: *has_skill }));
    }
    let (mut children, mut has_skill) = (Vec::new(), false);
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let kind = entry.file_type()?;
        if name == FILE {
            has_skill = true;
        } else if (kind.is_dir() || kind.is_symlink()) && !NOT_ENTERED.contains(&name.as_str()) {
            children.push(name);
        }
    }
    children.sort_unstable();
    Ok(Some(Looked { id, stamp, children, has_skill }))
}

/// Reads the `SKILL.md` of a directory.
fn read_file(dir: &str, cache: Option<&Cache>, now: Timestamp) -> io::Result<ReadFile> {
    let path = format!("{dir}/{FILE}");
    let (id, stamp) = identify(&fs::metadata(&path)?, now);
    let cached = cache.and_then(|cache| cache.files.get(&path)).filter(|cached| Some(cached.stamp) == stamp);
    if let Some(cached) = cached {
        return Ok(ReadFile { id, stamp, said: cached.said.clone() });
    }
    let bytes = files::head(Path::new(&path), LONGEST_READ)?;
    let text = String::from_utf8_lossy(&bytes);
    let (matter, body) = front_matter::parse(&text);
    let folder = || Path::new(dir).file_name().map(|name| plain::line(&name.to_string_lossy(), 64));
    let name = matter.name.or_else(folder).unwrap_or_default();
    let terms = Terms::of(&name, matter.description.as_deref().unwrap_or_default(), body);
    let said = Said {
        name,
        description: matter.description,
        is_excluded: matter.is_excluded,
        error: matter.error,
        terms,
    };
    Ok(ReadFile { id, stamp, said })
}

fn identify(found: &Metadata, now: Timestamp) -> (FileId, Option<Stamp>) {
    ((found.dev(), found.ino()), Stamp::settled(found, now))
}

/// Calls `each` with every item, on several threads if there are many. The order is kept.
fn in_parallel<T: Sync, R: Send>(items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let most = thread::available_parallelism().map_or(1, usize::from).min(8);
    let threads = (items.len() / SHARE).clamp(1, most);
    if threads == 1 {
        return items.iter().map(each).collect();
    }
    let each = &each;
    thread::scope(|scope| {
        let start = |part| scope.spawn(move || Iterator::map(<[T]>::iter(part), each).collect::<Vec<R>>());
        let started: Vec<_> = items.chunks(items.len().div_ceil(threads)).map(start).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, Vec<R>>| {
            thread.join().unwrap_or_else(|trouble| panic::resume_unwind(trouble))
        };
        started.into_iter().flat_map(join).collect()
    })
}

#[cfg(test)]
#[path = "../../tests/skills/discover_tests.rs"]
mod tests;
