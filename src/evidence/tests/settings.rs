//! What the settings of a project add to what a command asks for.

use std::path::Path;

use super::Framework;
use crate::host::files;

/// Where mocha looks for its settings, here and in every folder above.
const OF_MOCHA: [&str; 7] = [
    ".mocharc.js",
    ".mocharc.cjs",
    ".mocharc.mjs",
    ".mocharc.yaml",
    ".mocharc.yml",
    ".mocharc.json",
    ".mocharc.jsonc",
];

/// Nobody writes more than this into one.
const LONGEST: u64 = 64 << 10;

/// Whether files are named there that run beside those that a command names.
pub(super) fn name_files(framework: Framework, directory: &Path) -> bool {
    framework == Framework::Mocha
        && directory.ancestors().any(|folder| {
            let text = |name: &str| files::head(&folder.join(name), LONGEST).unwrap_or_default();
            OF_MOCHA.iter().any(|name| has_key(&text(name), "spec")) || {
                let package = text("package.json");
                has_key(&package, "mocha") && has_key(&package, "spec")
            }
        })
}

/// `spec:`, `"spec":` or `'spec' :`, in whatever language.
fn has_key(text: &[u8], key: &str) -> bool {
    let text = String::from_utf8_lossy(text);
    text.split(key).skip(1).any(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
}
