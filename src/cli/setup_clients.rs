//! `delegator setup [CLIENT...]`: registers the server with MCP clients after showing the change, and undoes that.

use std::path::Path;

use crate::cli::invocation::Call;
use crate::cli::{print, usage_errors};
use crate::context::TaskError;
use crate::failure::{Exit, Failure};
use crate::host::Home;
use crate::reply::{ClientSetup, RegistryMeta};
use crate::setup::{self, CLIENTS, Client, FileChange, SetupAction, SetupError, Surroundings};

/// How far a call may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    OnlyLook,
    Asked,
    Given,
}

pub(super) fn run(
    call: &Call,
    names: &[String],
    program: &Path,
    action: SetupAction,
    consent: Consent,
) -> Result<Exit, Failure> {
    let around = Surroundings::new(&call.env, program).map_err(TaskError::from)?;
    let chosen = chosen(call, names, action)?;
    let plan = || -> Vec<(&'static Client, Result<Vec<FileChange>, SetupError>)> {
        let all = chosen.iter().map(|client| (*client, setup::client(client, &around, action)));
        // Nobody asked about those that were never set up.
        let is_shown = |plan: &Result<Vec<FileChange>, SetupError>| {
            !names.is_empty()
                || action == SetupAction::SetUp
                || plan.as_ref().map_or(true, |plan| plan.iter().any(|file| !file.change.is_none()))
        };
        all.filter(|(_, plan)| is_shown(plan)).collect()
    };
    let words: String = names.iter().map(|name| format!(" {name}")).collect();
    let undo = format!("delegator setup{words} --undo");
    let mut planned = plan();
    let mut data = ClientSetup::of(&planned, action, undo.clone());
    let will_write = data.changed && consent != Consent::OnlyLook;
    let is_asked = will_write && consent == Consent::Asked;
    if is_asked {
        let ask = || {
            print::out(&data.text());
            print::confirmed("Make these changes?")
        };
        match if call.json { None } else { ask() } {
            Some(true) => {}
            Some(false) => {
                print::out("nothing was changed\n");
                return Ok(Exit::Done);
            }
            None => {
                let hint = "add `--yes` to make the changes, or `--dry-run` to look at them";
                return Err(usage_errors::bad("nothing was changed: there is no terminal to ask on", hint));
            }
        }
        // A client may have written its file meanwhile.
        planned = plan();
        data = ClientSetup::of(&planned, action, undo);
    }
    if will_write {
        Home::open(&call.env).map_err(TaskError::from)?;
        for file in planned.iter().filter_map(|(_, plan)| plan.as_ref().ok()).flatten() {
            file.change.make().map_err(TaskError::from)?;
        }
    }
    let exit = if data.has_problems() { Exit::BadInput } else { Exit::Done };
    let meta = RegistryMeta { dry_run: Some(consent == Consent::OnlyLook), ..RegistryMeta::default() };
    call.answer(meta, data, |data| {
        let text = if is_asked { String::new() } else { data.text() };
        match (will_write, data.changed) {
            (true, _) => text + &data.outcome(),
            (false, true) => text + "dry run: nothing was written\n",
            (false, false) => text,
        }
    })?;
    Ok(exit)
}

/// Prints what to write by hand for these clients, or for all of them.
pub(super) fn print(call: &Call, names: &[String], program: &Path) -> Result<Exit, Failure> {
    let around = Surroundings::new(&call.env, program).map_err(TaskError::from)?;
    let chosen = CLIENTS.iter().filter(|client| names.is_empty() || is_named(client, names));
    let texts = chosen.map(|client| Ok((client, setup::by_hand(client, &around)?)));
    let texts: Vec<_> = texts.collect::<Result<_, SetupError>>().map_err(TaskError::from)?;
    call.answer(RegistryMeta::default(), ClientSetup::by_hand(texts), ClientSetup::text)?;
    Ok(Exit::Done)
}

/// The clients that are meant. An undo looks at those that are gone, too.
fn chosen(call: &Call, names: &[String], action: SetupAction) -> Result<Vec<&'static Client>, Failure> {
    let found = |client: &&Client| action == SetupAction::Undo || client.is_found(&call.env);
    let chosen: Vec<&Client> =
        CLIENTS.iter().filter(|client| names.is_empty() || is_named(client, names)).filter(found).collect();
    let missing = CLIENTS
        .iter()
        .find(|client| is_named(client, names) && !chosen.iter().any(|other| other.name == client.name));
    let error = match missing {
        Some(client) => SetupError::NoClient { title: client.title, signs: client.signs(&call.env) },
        None if chosen.is_empty() => SetupError::NoClients,
        None => return Ok(chosen),
    };
    Err(TaskError::from(error).into())
}

fn is_named(client: &Client, names: &[String]) -> bool {
    names.iter().any(|name| name == client.name)
}
