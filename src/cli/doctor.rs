//! `delegator doctor`: checks this machine and prints one row per check.

use clap::Args;

use crate::cli::invocation::Call;
use crate::cli::table::table;
use crate::config::{Config, KEYS, Key};
use crate::failure::{Exit, Failure};
use crate::reply::{Diagnosis, Keys, Rebuilt, RegistryMeta};
use crate::tasks;

#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Print every configuration key with its default and meaning
    #[arg(long)]
    config: bool,
    /// Repair the registry from the run directories; replace it if it is damaged
    #[arg(long, conflicts_with = "config")]
    rebuild: bool,
}

impl Doctor {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        if self.config {
            let data = Keys::of(Config::locate(&call.env), KEYS);
            let meta = RegistryMeta { count: Some(KEYS.len()), ..RegistryMeta::default() };
            call.answer(meta, data, as_file)?;
            return Ok(Exit::Done);
        }
        if self.rebuild {
            let data = Rebuilt::of(&tasks::rebuild(&call.env)?);
            call.answer(RegistryMeta::default(), data, |data| format!("{}\n", data.message))?;
            return Ok(Exit::Done);
        }
        let data = Diagnosis::of(tasks::doctor(&call.env));
        let exit = if data.healthy { Exit::Done } else { Exit::Machine };
        let meta = RegistryMeta { count: Some(data.checks.len()), ..RegistryMeta::default() };
        call.answer(meta, data, rows)?;
        Ok(exit)
    }
}

fn rows(data: &Diagnosis) -> String {
    let mut rows = Vec::new();
    for check in &data.checks {
        rows.push(vec![check.verdict.to_owned(), check.name.to_owned(), check.found.clone()]);
        rows.extend(
            check.hint.as_ref().map(|hint| vec![String::new(), String::new(), format!("hint: {hint}")]),
        );
    }
    // Nothing is cut, because a diagnosis needs the whole text.
    table(&rows, None)
}

/// A configuration file that sets every key to its default.
fn as_file(data: &Keys) -> String {
    let file = data.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
    let line = |key: &Key| {
        let value = if key.default.is_empty() { String::new() } else { format!(" {}", key.default) };
        format!("# {}\n# {} ={value}\n\n", key.meaning, key.name)
    };
    let keys: String = KEYS.iter().map(line).collect();
    format!("# {file}\n# Every key, with its default.\n\n{}\n", keys.trim_end())
}
