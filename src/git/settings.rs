//! The few settings of a repository and its user that say how files are read.
//!
//! Everything else in a configuration is left alone: most of it names programs.
//! Values are taken only where they are one of a few known words.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::config_file;
use super::object::Format;
use super::repository::{Repository, bounded};
use super::runner::{Git, Question};
use crate::host::files;

/// No file of settings or rules is longer.
const LARGEST: u64 = 4 << 20;

/// Where the user's own configuration is.
#[derive(Debug, Clone, Default)]
pub(crate) struct User {
    pub(crate) home: Option<PathBuf>,
    pub(crate) config: Option<PathBuf>,
}

impl User {
    fn config_dir(&self) -> Option<PathBuf> {
        Some(self.config.clone().or_else(|| Some(self.home.as_ref()?.join(".config")))?.join("git"))
    }

    /// Weakest first.
    fn files(&self) -> Vec<PathBuf> {
        let own = self.home.as_ref().map(|home| home.join(".gitconfig"));
        [self.config_dir().map(|dir| dir.join("config")), own].into_iter().flatten().collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) format: Option<Format>,
    /// Whether the executable bit means something here.
    pub(crate) file_mode: bool,
    /// Whether a link can be one here.
    pub(crate) links: bool,
    /// To be told to git.
    pub(crate) told: Vec<String>,
}

/// Reads what the repository and the user say. What cannot be read says nothing.
pub(crate) fn read(git: &Git, repository: &Repository, user: &User, until: Duration) -> Settings {
    let own = repository.common.join("config");
    let of_tree = repository.dir.join("config.worktree");
    let users = user.files().into_iter().map(|file| (Whose::User, file));
    let files = users.chain([(Whose::Repository, own), (Whose::WorkTree, of_tree)]);
    // All at once; what they say is put together in order.
    let asked: Vec<(Whose, Said)> = files
        .filter(|(_, file)| is_plain(file))
        .map(|(whose, file)| (whose, Said::by(&file, git, repository, until)))
        .collect();
    let ignore = user.config_dir().map(|dir| dir.join("ignore")).filter(|file| is_plain(file));
    let mut settings =
        Settings { format: Some(Format::Sha1), file_mode: true, links: true, told: Vec::new() };
    let (mut autocrlf, mut eol, mut excludes) = (None, None, ignore);
    let mut attributes = user.config_dir().map(|dir| dir.join("attributes"));
    // How names are compared.
    let mut bits = BTreeMap::new();
    // Unless the repository says so, git does not know of such a file.
    let mut counts_of_tree = false;
    for (whose, said) in asked {
        if whose == Whose::WorkTree && !counts_of_tree {
            continue;
        }
        for (key, value) in said.pairs() {
            // Git takes its words in any case.
            let word = value.to_ascii_lowercase();
            let no = matches!(word.as_str(), "false" | "0" | "no" | "off" | "");
            match (key.as_str(), word.as_str(), whose) {
                ("extensions.objectformat", "sha1", Whose::Repository) => {
                    settings.format = Some(Format::Sha1)
                }
                ("extensions.objectformat", "sha256", Whose::Repository) => {
                    settings.format = Some(Format::Sha256);
                }
                ("extensions.objectformat", _, Whose::Repository) => settings.format = None,
                ("extensions.worktreeconfig", _, Whose::Repository) => counts_of_tree = !no,
                ("core.filemode", ..) => settings.file_mode = !no,
                ("core.symlinks", ..) => settings.links = !no,
                ("core.autocrlf", "true" | "false" | "input", _) => autocrlf = Some(word),
                ("core.ignorecase" | "core.precomposeunicode", ..) => drop(bits.insert(key, !no)),
                ("core.eol", "lf" | "crlf" | "native", _) => eol = Some(word),
                ("core.excludesfile", _, Whose::User) => excludes = expanded(&value, user),
                ("core.attributesfile", _, Whose::User) => attributes = expanded(&value, user),
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

/// Copies what the repository ignores, and how it reads files, beside its tree.
/// As it is now: an agent may write there.
pub(crate) fn copy_rules(repository: &Repository, git: &Git) {
    for name in ["info/exclude", "info/attributes"] {
        if let Ok(bytes) = bounded(&repository.common.join(name), 1 << 20) {
            let _ = files::put(git.file(name), bytes);
        }
    }
}

/// Weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    User,
    Repository,
    /// Of one of its working trees: a sparse checkout has one.
    WorkTree,
}

/// What one file of settings says.
enum Said {
    Known(Vec<(String, String)>),
    Asked(Option<Box<Question>>),
}

impl Said {
    fn by(file: &Path, git: &Git, repository: &Repository, until: Duration) -> Self {
        let plain = bounded(file, LARGEST).ok().and_then(|bytes| config_file::plain(&bytes));
        plain.map_or_else(|| Self::Asked(list(git, file, repository, until).map(Box::new)), Self::Known)
    }

    fn pairs(self) -> Vec<(String, String)> {
        match self {
            Self::Known(pairs) => pairs,
            Self::Asked(talk) => {
                let said = talk.and_then(|talk| talk.finish().ok()).unwrap_or_default();
                said.split(|&byte| byte == 0).filter_map(pair).collect()
            }
        }
    }
}

/// Lists one file of settings, without any other that it names.
fn list(git: &Git, file: &Path, repository: &Repository, until: Duration) -> Option<Question> {
    let args = ["config", "--no-includes", "-z", "--list", "--file"].map(OsStr::new);
    let args: Vec<&OsStr> = args.into_iter().chain([file.as_os_str()]).collect();
    git.begin(&args, &repository.root, &git.file("no-index"), Vec::new(), until).ok()
}

fn pair(record: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(record).ok()?;
    let (key, value) = text.split_once('\n').unwrap_or((text, "true"));
    Some((key.to_ascii_lowercase(), value.to_owned()))
}

fn expanded(value: &str, user: &User) -> Option<PathBuf> {
    match value.strip_prefix("~/") {
        Some(rest) => Some(user.home.as_ref()?.join(rest)),
        None => Some(PathBuf::from(value)).filter(|path| path.is_absolute()),
    }
}

/// Nobody waits for a pipe.
fn is_plain(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= LARGEST)
}
