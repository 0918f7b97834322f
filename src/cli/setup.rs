//! `delegator setup`: makes VS Code or a shell record every new terminal, and undoes that; or shows the guide to GitHub.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::cli::invocation::Call;
use crate::cli::usage_errors;
use crate::context::TaskError;
use crate::failure::{Exit, Failure};
use crate::host::paths;
use crate::reply::{GitHubSetup, RegistryMeta, SetupReply};
use crate::setup::{self, SetupAction, Shell};
use crate::tasks::github_setup;

#[derive(Debug, Args)]
pub(super) struct Setup {
    #[command(subcommand)]
    target: Target,
}

#[derive(Debug, Subcommand)]
enum Target {
    /// Record every new terminal of VS Code
    Vscode {
        #[command(flatten)]
        how: How,
        /// Change this settings file instead, such as that of VSCodium
        #[arg(long, value_name = "FILE")]
        settings: Option<PathBuf>,
    },
    /// Record every interactive shell by changing its start-up file
    Shell {
        #[command(flatten)]
        how: How,
        /// Shell to set up: bash, zsh or fish [default: yours]
        #[arg(long, value_parser = ["bash", "zsh", "fish"], hide_possible_values = true)]
        shell: Option<String>,
    },
    /// Show how to give Codex Cloud access to a repository on GitHub; changes nothing
    Github {
        /// `owner/name` or an address [default: the remote of this checkout]
        #[arg(long)]
        repository: Option<String>,
        /// What the project is written in [default: by its files]
        #[arg(long, value_name = "NAME")]
        tech_stack: Option<String>,
    },
}

#[derive(Debug, Args)]
struct How {
    /// Undo the setup
    #[arg(long)]
    undo: bool,
    /// Show what would be changed without changing it
    #[arg(long)]
    dry_run: bool,
}

impl Setup {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let failed = |error| Failure::from(TaskError::from(error));
        let way = |how: &How| if how.undo { SetupAction::Undo } else { SetupAction::SetUp };
        let program = program(call)?;
        let (how, target, change, undo) = match self.target {
            Target::Vscode { how, settings } => {
                let at = settings.as_ref().map(|file| format!(" --settings {}", file.display()));
                let change = setup::vscode(&call.env, settings, &program, way(&how)).map_err(failed)?;
                (how, "vscode", change, format!("delegator setup vscode --undo{}", at.unwrap_or_default()))
            }
            Target::Github { repository, tech_stack } => {
                let context = call.open_to_look()?;
                let guide = github_setup::guide(&context, repository.as_deref(), tech_stack.as_deref())?;
                let (meta, data) = GitHubSetup::of(guide);
                let next = data.next();
                call.answer_with(meta, data, next, |data| data.guide.clone())?;
                return Ok(Exit::Done);
            }
            Target::Shell { how, shell } => {
                let of = shell.as_ref().map(|shell| format!(" --shell {shell}")).unwrap_or_default();
                let shell = shell.as_deref().and_then(Shell::named);
                let change = setup::shell(&call.env, shell, &program, way(&how)).map_err(failed)?;
                (how, "shell", change, format!("delegator setup shell --undo{of}"))
            }
        };
        let data = SetupReply::of(target, &change, way(&how), undo);
        if !how.dry_run {
            change.make().map_err(failed)?;
        }
        let meta = RegistryMeta { dry_run: Some(how.dry_run), ..RegistryMeta::default() };
        call.answer(meta, data, |data| data.text(how.dry_run))?;
        Ok(Exit::Done)
    }
}

/// The path to write into settings: the name on `PATH` if it leads here, because an update keeps it, or else
/// the current path.
fn program(call: &Call) -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().map_err(|error| {
        usage_errors::bad("the path of this program is unknown", format!("call it by its path: {error}"))
    })?;
    let same = |path: &Path| {
        let which = |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
        which(path).is_some() && which(path) == which(&own)
    };
    let named = call.env.get("PATH").and_then(|path| paths::find_program("delegator", path));
    Ok(named.filter(|path| same(path)).unwrap_or(own))
}
