//! What a script of a package runs: `npm run lint` is `eslint .` where the package says so; and what a target of
//! make makes.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::makefiles::Makefile;
use crate::evidence::calls::{Call, Here};
use crate::evidence::project;
use crate::evidence::shell::Command;

/// Nobody writes a manifest that is longer.
const LONGEST: u64 = 64 << 10;

/// The manifests of the folders that a command runs in, each read once.
#[derive(Debug, Default)]
pub(super) struct Manifests {
    known: HashMap<String, Option<Value>>,
    makefiles: HashMap<String, Option<Makefile>>,
}

impl Manifests {
    /// What `call` runs in the end, where that is one program and nothing else.
    pub(super) fn meant(&mut self, call: &Call, here: &Here) -> Option<Call> {
        if let Some(targets) = call.targets() {
            return Some(call.with_targets(self.makefile(here)?.made(targets)));
        }
        let (name, words) = call.script()?;
        let scripts = self.of(here)?.get("scripts")?;
        let is_alone = ["pre", "post"].iter().all(|around| scripts.get(format!("{around}{name}")).is_none());
        let command = Command::parse(scripts.get(name)?.as_str().filter(|_| is_alone)?);
        let is_clear = command.is_clear();
        let [mut step] = <[_; 1]>::try_from(command.steps).ok()?;
        let is_bare = step.context.is_empty() && step.input.is_empty() && !step.repeats && !step.background;
        step.words.extend(words.iter().cloned());
        (is_clear && is_bare).then(|| Call::new(&step, here))
    }

    fn makefile(&mut self, here: &Here) -> Option<&Makefile> {
        let text = |name| project::text(Path::new(here.root), here.directory, name, LONGEST).ok()?;
        let read = || ["GNUmakefile", "makefile", "Makefile"].into_iter().find_map(text);
        let read = || read().map(|text| Makefile::read(&text));
        self.makefiles.entry(here.directory.to_owned()).or_insert_with(read).as_ref()
    }

    fn of(&mut self, here: &Here) -> Option<&Value> {
        let read = || {
            let text = project::text(Path::new(here.root), here.directory, "package.json", LONGEST);
            serde_json::from_str(&text.ok()??).ok()
        };
        self.known.entry(here.directory.to_owned()).or_insert_with(read).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_manifest_is_read_once_for_all_steps_of_a_command() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        fs::create_dir(dir.path().join("web")).unwrap();
        let write = |folder: &str, script: &str| {
            let text = format!(r#"{{"scripts": {{"lint": "{script}"}}}}"#);
            fs::write(dir.path().join(folder).join("package.json"), text).unwrap();
        };
        let call = |line: &str| Call::new(&Command::parse(line).steps[0], &Here { root, directory: "" });
        let mut manifests = Manifests::default();
        let mut meant = |directory| manifests.meant(&call("npm run lint"), &Here { root, directory });
        write("", "eslint .");
        assert_eq!(meant(""), Some(call("eslint .")));
        write("", "tsc");
        write("web", "tsc");
        assert_eq!((meant(""), meant("web")), (Some(call("eslint .")), Some(call("tsc"))));
        assert_eq!(
            Manifests::default().meant(&call("npm run lint"), &Here { root, directory: "" }),
            Some(call("tsc"))
        );
    }
}
