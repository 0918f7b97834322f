//! Directories and files as they are named from the root of a run.

use std::sync::Arc;

use super::memory::Memory;
use crate::evidence::shell::Step;

/// Where the steps of a command run, as far as it says.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) here: String,
    before: String,
    pushed: Vec<String>,
    /// The shells that are open, and where each began.
    shells: Vec<(usize, String)>,
}

impl Walk {
    /// Follows a step that leads elsewhere.
    pub(crate) fn follow(&mut self, step: &Step) {
        let same = self.shells.iter().zip(&step.shells).take_while(|((a, _), b)| a == *b).count();
        if let Some((_, began)) = self.shells.drain(same..).next() {
            self.here = began;
        }
        self.shells.extend(step.shells[same..].iter().map(|shell| (*shell, self.here.clone())));
        let to = step.args().iter().map(String::as_str).find(|arg| *arg == "-" || !arg.starts_with('-'));
        let next = match (step.program(), to) {
            ("cd", Some("-")) => self.before.clone(),
            ("cd", to) => moved(&self.here, to.map_or("~", from_here)),
            ("pushd", Some(to)) => {
                self.pushed.push(self.here.clone());
                moved(&self.here, to)
            }
            // Whatever was there before the command.
            ("popd" | "pushd", _) => self.pushed.pop().unwrap_or_else(|| "-".to_owned()),
            _ => return,
        };
        self.before = std::mem::replace(&mut self.here, next);
    }
}

/// A path without a shell's name for where it is: `$PWD/web`.
fn from_here(path: &str) -> &str {
    let names = ["$PWD", "${PWD}", "$(pwd)", "`pwd`"];
    match names.iter().find_map(|name| path.strip_prefix(name)) {
        Some("") => ".",
        Some(rest) => rest.strip_prefix('/').filter(|rest| !rest.is_empty()).unwrap_or(path),
        None => path,
    }
}

/// A path without `.` and `..`, as far as its words tell. What a shell puts in
/// the place of a word is left as it is.
fn cleaned(path: &str) -> String {
    if !is_known(path) {
        return path.to_owned();
    }
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match (part, parts.last()) {
            ("..", Some(last)) if *last != ".." => drop(parts.pop()),
            ("..", None) if absolute => {}
            _ => parts.push(part),
        }
    }
    format!("{}{}", if absolute { "/" } else { "" }, parts.join("/"))
}

/// Whether a path says by itself where it leads.
pub(super) fn is_known(path: &str) -> bool {
    path != "-" && !path.starts_with(['~', '-']) && !path.contains(['$', '`', '*'])
}

/// A path as it is named from `root`; one that is not below it is absolute.
pub(crate) fn below(root: &str, path: &str) -> String {
    let mut path = cleaned(path);
    if (path == ".." || path.starts_with("../")) && !root.is_empty() {
        path = cleaned(&format!("{root}/{path}"));
    }
    match path.strip_prefix(root).filter(|_| !root.is_empty()) {
        Some("") => String::new(),
        Some(rest) if rest.starts_with('/') => rest[1..].to_owned(),
        _ => path,
    }
}

/// Where the commands of a run start, and the checkout that they start in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin {
    /// The root of the checkout: all places are named from here.
    pub(super) root: String,
    /// Where commands start, as it is named from there.
    start: String,
    /// What its settings say, while one command is read.
    pub(super) memory: Option<Arc<Memory>>,
}

impl Origin {
    pub(crate) fn new(cwd: &str, checkout: &str) -> Self {
        let (cwd, checkout) = (cwd.trim_end_matches('/'), checkout.trim_end_matches('/'));
        let start = below(checkout, cwd);
        match start.starts_with('/') {
            // No part of it: then all that is known is where commands start.
            true => Self { root: cwd.to_owned(), ..Self::default() },
            false => Self { root: checkout.to_owned(), start, memory: None },
        }
    }

    /// The same, where the root is called by another name.
    pub(super) fn called(&self, root: String) -> Self {
        Self { root, start: self.start.clone(), memory: None }
    }

    /// The same for one command: what its steps have settings for is read once.
    pub(crate) fn of_one_command(&self) -> Self {
        Self { memory: Some(Arc::default()), ..self.clone() }
    }

    /// A path as commands name it, named from the root.
    pub(crate) fn below(&self, path: &str) -> String {
        below(&self.root, &moved(&self.start, path))
    }
}

/// Whether a path named from `root` leads elsewhere: neither below it nor to what holds it.
pub(super) fn is_elsewhere(root: &str, path: &str) -> bool {
    let holds = path == "/" || root.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    !root.is_empty() && path.starts_with('/') && !holds
}

/// Another name of `root`, where `place` is below it by that name.
pub(super) fn other_name(root: &str, place: &str) -> Option<String> {
    let real = std::fs::canonicalize(place).ok()?;
    let below = real.strip_prefix(std::fs::canonicalize(root).ok()?).ok()?.to_str()?.to_owned();
    match below.as_str() {
        "" => Some(place.to_owned()),
        below => place.strip_suffix(below)?.strip_suffix('/').map(str::to_owned),
    }
}

/// Where `to` leads from a directory.
pub(crate) fn moved(from: &str, to: &str) -> String {
    let anew = from.is_empty() || to.starts_with(['/', '~', '$', '-']);
    if anew { to.to_owned() } else { format!("{from}/{to}") }
}

/// Whether `path` is `directory` or below it.
pub(crate) fn is_in(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_has_many_names() {
        for (path, expected) in [
            ("", ""),
            (".", ""),
            ("/home/dev/shop/", ""),
            ("/home/dev/shop/web", "web"),
            ("./web/../api/", "api"),
            ("../shop/web", "web"),
            ("../base", "/home/dev/base"),
            ("..", "/home/dev"),
            ("/home/dev/shop2", "/home/dev/shop2"),
            ("$HOME/../x", "$HOME/../x"),
            ("~/x/..", "~/x/.."),
        ] {
            assert_eq!(below("/home/dev/shop", path), expected, "{path}");
        }
        assert_eq!(below("", "../a"), "../a");
    }

    #[test]
    fn a_way_back_is_followed() {
        use crate::evidence::shell::Command;
        for (line, expected) in [
            ("cd web; cd -", ""),
            ("cd -P web && cd api", "web/api"),
            ("pushd web; pushd api; popd", "web"),
            ("pushd web; popd", ""),
            ("popd", "-"),
            ("cd", "~"),
            ("cd web; cd $PWD/api", "web/api"),
            ("cd web; cd $PWD", "web/."),
            ("cd $PWDX", "$PWDX"),
            ("ls web", ""),
            ("(cd web && ls); ls", ""),
            ("(cd web); (cd api; (cd x); ls)", "api"),
            ("bash -c 'cd web && ls'; ls", ""),
            ("cd web; bash -lc 'cd api; ls'", "web/api"),
        ] {
            let mut walk = Walk::default();
            Command::parse(line).steps.iter().for_each(|step| walk.follow(step));
            assert_eq!(walk.here, expected, "{line}");
        }
    }

    #[test]
    fn what_holds_the_root_is_not_elsewhere() {
        let elsewhere = |path| is_elsewhere("/home/dev/shop", path);
        assert!(elsewhere("/home/dev/base") && elsewhere("/tmp") && elsewhere("/home/dev/sho"));
        assert!(!elsewhere("/home/dev") && !elsewhere("/") && !elsewhere("web") && !elsewhere(""));
        assert!(!is_elsewhere("", "/tmp"));
    }
}
