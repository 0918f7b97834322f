//! Reads the few settings of a repository and its user that affect how files are read.
//!
//! All other settings are ignored: many of them name programs. Values are accepted only if they are
//! one of a few known words.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::config_file;
use crate::git::includes::{IncludeContext, expanded};
use crate::git::object::Format;
use crate::git::repository::{Repository, bounded};
use crate::git::runner::{Git, PendingAnswer};
use crate::host::files;

/// Larger configuration or rule files are ignored.
const LARGEST: u64 = 4 << 20;

/// Limits on nested includes.
const MOST_INCLUDED: usize = 100;
const DEEPEST: usize = 10;

/// Where the user's git configuration is.
#[derive(Debug, Clone, Default)]
pub(crate) struct User {
    pub(crate) home: Option<PathBuf>,
    pub(crate) config: Option<PathBuf>,
    /// The system-wide configuration.
    pub(crate) system: Option<PathBuf>,
}

impl User {
    fn config_dir(&self) -> Option<PathBuf> {
        Some(self.config.clone().or_else(|| Some(self.home.as_ref()?.join(".config")))?.join("git"))
    }

    /// Lowest precedence first.
    fn files(&self) -> Vec<PathBuf> {
        let own = self.home.as_ref().map(|home| home.join(".gitconfig"));
        let config = self.config_dir().map(|dir| dir.join("config"));
        [self.system.clone(), config, own].into_iter().flatten().collect()
    }
}

/// Where the git at `program` looks for the system-wide configuration.
pub(crate) fn of_system(program: &Path) -> Option<PathBuf> {
    match program.parent()?.parent()? {
        prefix if [Path::new("/"), Path::new("/usr")].contains(&prefix) => Some("/etc/gitconfig".into()),
        prefix => Some(prefix.join("etc/gitconfig")),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) format: Option<Format>,
    /// Whether the executable bit is meaningful.
    pub(crate) file_mode: bool,
    /// Whether symbolic links are supported.
    pub(crate) links: bool,
    /// Settings to pass to git.
    pub(crate) told: Vec<String>,
}

/// Reads the settings of the repository and the user. Unreadable files are skipped.
pub(crate) fn read(git: &Git, repository: &Repository, user: &User, until: Duration) -> Settings {
    let own = repository.common.join("config");
    let of_tree = repository.dir.join("config.worktree");
    let users = user.files().into_iter().map(|file| (ConfigScope::User, file));
    let files = users.chain([(ConfigScope::Repository, own), (ConfigScope::WorkTree, of_tree)]);
    // All files are read at once and applied in order.
    let asked: Vec<(ConfigScope, PathBuf, ConfigValues)> = files
        .filter(|(_, file)| is_plain(file))
        .map(|(whose, file)| (whose, file.clone(), ConfigValues::by(&file, git, repository, until)))
        .collect();
    let mut reader = Reader {
        git,
        until,
        left: MOST_INCLUDED,
        place: IncludeContext {
            repository,
            home: user.home.as_deref(),
            branch: repository.head().branch,
            urls: OnceCell::new(),
        },
    };
    let ignore = user.config_dir().map(|dir| dir.join("ignore")).filter(|file| is_plain(file));
    let mut settings =
        Settings { format: Some(Format::Sha1), file_mode: true, links: true, told: Vec::new() };
    let (mut autocrlf, mut eol, mut excludes) = (None, None, ignore);
    let mut attributes = user.config_dir().map(|dir| dir.join("attributes"));
    // Settings about the comparison of names.
    let mut bits = BTreeMap::new();
    // Without `extensions.worktreeConfig`, git ignores the file.
    let mut counts_of_tree = false;
    for (whose, file, output) in asked {
        if whose == ConfigScope::WorkTree && !counts_of_tree {
            continue;
        }
        for (key, value) in reader.with_included(output.pairs(), &file, whose, 0) {
            // Git ignores the case of these words.
            let word = value.to_ascii_lowercase();
            let no = matches!(word.as_str(), "false" | "0" | "no" | "off" | "");
            match (key.as_str(), word.as_str(), whose) {
                ("extensions.objectformat", "sha1", ConfigScope::Repository) => {
                    settings.format = Some(Format::Sha1)
                }
                ("extensions.objectformat", "sha256", ConfigScope::Repository) => {
                    settings.format = Some(Format::Sha256);
                }
                ("extensions.objectformat", _, ConfigScope::Repository) => settings.format = None,
                ("extensions.worktreeconfig", _, ConfigScope::Repository) => counts_of_tree = !no,
                ("core.filemode", ..) => settings.file_mode = !no,
                ("core.symlinks", ..) => settings.links = !no,
                ("core.autocrlf", "true" | "false" | "input", _) => autocrlf = Some(word),
                ("core.ignorecase" | "core.precomposeunicode", ..) => drop(bits.insert(key, !no)),
                ("core.eol", "lf" | "crlf" | "native", _) => eol = Some(word),
                ("core.excludesfile", _, ConfigScope::User) => {
                    excludes = expanded(&value, user.home.as_deref(), None)
                }
                ("core.excludesfile", ..) => {
                    if let Some(copy) = copied(&value, repository, git) {
                        excludes = Some(copy);
                    }
                }
                ("core.attributesfile", _, ConfigScope::User) => {
                    attributes = expanded(&value, user.home.as_deref(), None)
                }
                _ => {}
            }
        }
    }
    settings.told.extend(bits.into_iter().map(|(key, is_set)| format!("{key}={is_set}")));
    settings.told.extend(autocrlf.map(|value| format!("core.autocrlf={value}")));
    settings.told.extend(eol.map(|value| format!("core.eol={value}")));
    for (name, file) in [("core.excludesFile", excludes), ("core.attributesFile", attributes)] {
        let file = file.filter(|file| is_plain(file)).and_then(|file| Some(file.to_str()?.to_owned()));
        settings.told.extend(file.map(|file| format!("{name}={file}")));
    }
    settings
}

/// Copies the repository's ignore rules and attributes as they are now: an agent may change them.
pub(crate) fn copy_rules(repository: &Repository, git: &Git) {
    for name in ["info/exclude", "info/attributes"] {
        if let Ok(bytes) = bounded(&repository.common.join(name), 1 << 20) {
            let _ = files::write_in_place(git.file(name), bytes);
        }
    }
}

/// Copies the ignore file that a repository names within itself.
fn copied(named: &str, repository: &Repository, git: &Git) -> Option<PathBuf> {
    let file = Some(repository.root.join(named)).filter(|file| is_within(file, repository))?;
    let copy = git.file("info/named-exclude");
    files::write_in_place(&copy, bounded(&file, 1 << 20).ok()?).ok()?;
    Some(copy)
}

/// Whether a file belongs to the repository, after following links.
fn is_within(file: &Path, repository: &Repository) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let holds = |dir: &Path| real(file).zip(real(dir)).is_some_and(|(file, dir)| file.starts_with(dir));
    holds(&repository.root) || holds(&repository.common)
}

/// Lowest precedence first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConfigScope {
    User,
    Repository,
    /// Of one worktree, as in a sparse checkout.
    WorkTree,
}

/// Follows includes.
struct Reader<'a> {
    git: &'a Git,
    until: Duration,
    left: usize,
    place: IncludeContext<'a>,
}

impl Reader<'_> {
    /// The settings of `file`, with those of included files in place.
    fn with_included(
        &mut self,
        pairs: Vec<(String, String)>,
        file: &Path,
        whose: ConfigScope,
        depth: usize,
    ) -> Vec<(String, String)> {
        let repository = self.place.repository;
        // An agent may write to the repository's configuration, which must not reveal other files.
        let may_read =
            |file: &PathBuf| is_plain(file) && (whose == ConfigScope::User || is_within(file, repository));
        let mut all = Vec::new();
        for (key, value) in pairs {
            let urls = || urls(self.git, repository, self.until);
            match self.place.included(&key, &value, file, urls).filter(may_read) {
                Some(file) if depth < DEEPEST && self.left > 0 => {
                    self.left -= 1;
                    let mut pairs = ConfigValues::by(&file, self.git, repository, self.until).pairs();
                    // Extensions count only in the repository's own file.
                    pairs.retain(|(key, _)| !key.starts_with("extensions."));
                    all.extend(self.with_included(pairs, &file, whose, depth + 1));
                }
                Some(_) | None => all.push((key, value)),
            }
        }
        all
    }
}

/// The URLs of the repository's remotes.
fn urls(git: &Git, repository: &Repository, until: Duration) -> Vec<String> {
    let config = Some(repository.common.join("config")).filter(|file| is_plain(file));
    let asked = config.and_then(|file| list(git, &file, repository, until));
    let is_url = |(key, _): &(String, String)| key.starts_with("remote.") && key.ends_with(".url");
    ConfigValues::Asked(asked.map(Box::new))
        .pairs()
        .into_iter()
        .filter(is_url)
        .map(|(_, value)| value)
        .collect()
}

/// The content of one configuration file.
enum ConfigValues {
    Known(Vec<(String, String)>),
    Asked(Option<Box<PendingAnswer>>),
}

impl ConfigValues {
    fn by(file: &Path, git: &Git, repository: &Repository, until: Duration) -> Self {
        let plain = bounded(file, LARGEST).ok().and_then(|bytes| config_file::plain(&bytes));
        plain.map_or_else(|| Self::Asked(list(git, file, repository, until).map(Box::new)), Self::Known)
    }

    fn pairs(self) -> Vec<(String, String)> {
        match self {
            Self::Known(pairs) => pairs,
            Self::Asked(talk) => {
                let output = talk.and_then(|talk| talk.finish().ok()).unwrap_or_default();
                output.split(|&byte| byte == 0).filter_map(pair).collect()
            }
        }
    }
}

/// Lists one configuration file without following includes.
fn list(git: &Git, file: &Path, repository: &Repository, until: Duration) -> Option<PendingAnswer> {
    let args = ["config", "--no-includes", "-z", "--list", "--file"].map(OsStr::new);
    let args: Vec<&OsStr> = args.into_iter().chain([file.as_os_str()]).collect();
    git.begin(&args, &repository.root, &git.file("no-index"), Vec::new(), until).ok()
}

fn pair(record: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(record).ok()?;
    // Git prints section and key in lower case, subsections unchanged.
    let (key, value) = text.split_once('\n').unwrap_or((text, "true"));
    Some((key.to_owned(), value.to_owned()))
}

/// Refuses pipes, which would block.
fn is_plain(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= LARGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::clock;

    #[test]
    fn what_holds_for_all_users_is_where_their_git_looks() {
        let at = |program: &str| of_system(Path::new(program)).unwrap().to_str().unwrap().to_owned();
        assert_eq!(at("/usr/bin/git"), "/etc/gitconfig");
        assert_eq!(at("/bin/git"), "/etc/gitconfig");
        assert_eq!(at("/usr/local/bin/git"), "/usr/local/etc/gitconfig");
        assert_eq!(at("/opt/homebrew/bin/git"), "/opt/homebrew/etc/gitconfig");
    }

    #[test]
    fn a_file_of_settings_without_end_names_no_remote() {
        let dir = tempfile::tempdir().unwrap();
        let (home, own) = (dir.path().join("home"), dir.path().join("own"));
        for path in [&home, &own, &dir.path().join("git")] {
            fs::create_dir(path).unwrap();
        }
        let condition = "[includeIf \"hasconfig:remote.*.url:https://example.org/**\"]\n\tpath = more\n";
        fs::write(home.join(".gitconfig"), condition).unwrap();
        fs::write(home.join("more"), "[core]\n\teol = crlf\n").unwrap();
        let repository = Repository { root: own.clone(), dir: own.clone(), common: own.clone() };
        let program = Git::find(None, &[]).unwrap();
        let git = Git::settle(program, &dir.path().join("git"), Format::Sha1, &own).unwrap();
        let user = User { home: Some(home), config: None, system: None };
        let told = |more: usize| {
            let config = format!("[remote \"o\"]\n\turl = https://example.org/a\n#{}\n", "x".repeat(more));
            fs::write(own.join("config"), config).unwrap();
            read(&git, &repository, &user, clock::monotonic() + Duration::from_secs(60)).told
        };
        assert_eq!(told(0), ["core.eol=crlf"]);
        assert_eq!(told(5 << 20), [] as [&str; 0]);
    }

    #[test]
    fn the_users_word_is_stronger_than_that_for_all_users() {
        let dir = tempfile::tempdir().unwrap();
        let (system, home) = (dir.path().join("system"), dir.path().join("home"));
        for path in [&home, &dir.path().join("own")] {
            fs::create_dir(path).unwrap();
        }
        let own = dir.path().join("own");
        let repository = Repository { root: own.clone(), dir: own.clone(), common: own.clone() };
        let git = Git::settle("/nowhere/git".into(), &own, Format::Sha1, &own).unwrap();
        let user = User { home: Some(home.clone()), config: None, system: Some(system.clone()) };
        let told = || read(&git, &repository, &user, Duration::MAX).told;
        fs::write(&system, "[core]\n\tautocrlf = true\n\teol = crlf\n").unwrap();
        assert_eq!(told(), ["core.autocrlf=true", "core.eol=crlf"]);
        fs::write(home.join("more"), "[core]\n\tautocrlf = input\n").unwrap();
        fs::write(home.join(".gitconfig"), "[include]\n\tpath = more\n\tpath = .gitconfig\n").unwrap();
        assert_eq!(told(), ["core.autocrlf=input", "core.eol=crlf"], "one that names itself comes to an end");
    }
}
