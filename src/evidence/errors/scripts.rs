//! What a script of a package runs: `npm run lint` is `eslint .` where the package says so.

use std::path::Path;

use serde_json::Value;

use crate::evidence::calls::{Call, Here};
use crate::evidence::shell::Command;
use crate::host::files;

/// Nobody writes a manifest that is longer.
const LONGEST: u64 = 64 << 10;

/// What `call` runs in the end, where that is one program and nothing else.
pub(super) fn meant(call: &Call, here: &Here) -> Option<Call> {
    let (name, words) = call.script()?;
    let path = Path::new(here.root).join(here.directory).join("package.json");
    let bytes = files::head(&path, LONGEST).ok().filter(|bytes| (bytes.len() as u64) < LONGEST)?;
    let manifest: Value = serde_json::from_slice(&bytes).ok()?;
    let scripts = manifest.get("scripts")?;
    let is_alone = ["pre", "post"].iter().all(|around| scripts.get(format!("{around}{name}")).is_none());
    let command = Command::parse(scripts.get(name)?.as_str().filter(|_| is_alone)?);
    let is_clear = command.is_clear();
    let [mut step] = <[_; 1]>::try_from(command.steps).ok()?;
    let is_bare = step.context.is_empty() && step.input.is_empty() && !step.repeats && !step.background;
    step.words.extend(words.iter().cloned());
    (is_clear && is_bare).then(|| Call::new(&step, here))
}
