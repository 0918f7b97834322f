//! `delegator environments`: lists the known environments of Codex Cloud, and edits the user's list of them.

use clap::{Args, Subcommand};

use crate::cli::invocation::Call;
use crate::cli::table::table;
use crate::environments::NewEnvironment;
use crate::failure::{Exit, Failure};
use crate::reply::{EnvironmentChange, EnvironmentList, RegistryMeta};
use crate::tasks::environments;

#[derive(Debug, Args)]
pub(super) struct Environments {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the environments that are known, and how
    #[command(visible_alias = "ls")]
    List,
    /// List an environment in `environments.json`
    Add(Add),
    /// Take an environment out of `environments.json`
    #[command(visible_alias = "rm")]
    Remove {
        #[arg(value_name = "ID")]
        id: String,
    },
}

#[derive(Debug, Args)]
struct Add {
    /// Its id: the end of the address of its settings page
    #[arg(value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    id: String,
    /// Name to call it by [default: the id]
    #[arg(long)]
    name: Option<String>,
    /// Repository that it checks out
    #[arg(long, value_name = "URL")]
    repository: Option<String>,
    /// What its project is written in, such as `node` or `python`
    #[arg(long, value_name = "NAME")]
    tech_stack: Option<String>,
}

impl Environments {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let context = call.open_to_look()?;
        match self.what.unwrap_or(What::List) {
            What::List => {
                let (meta, data) = EnvironmentList::of(&environments::list(&context)?);
                let next = data.next();
                call.answer_with(meta, data, next, shown)?;
            }
            What::Add(Add { id, name, repository, tech_stack }) => {
                let new = NewEnvironment { id, name, repository, tech_stack };
                let data = EnvironmentChange::added(&environments::add(&context, &new)?);
                call.answer(RegistryMeta::default(), data, EnvironmentChange::text)?;
            }
            What::Remove { id } => {
                let data = EnvironmentChange::removed(&environments::remove(&context, &id)?);
                call.answer(RegistryMeta::default(), data, EnvironmentChange::text)?;
            }
        }
        Ok(Exit::Done)
    }
}

fn shown(data: &EnvironmentList) -> String {
    if data.environments.is_empty() {
        return "no environment is known; `delegator environments add ID` lists one\n".to_owned();
    }
    let head = ["ID", "NAME", "STACK", "SOURCE", "REPOSITORY"].map(str::to_owned).to_vec();
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let rows = data.environments.iter().map(|row| {
        vec![
            row.id.clone(),
            row.name.clone(),
            or_dash(&row.tech_stack),
            row.source.to_owned(),
            or_dash(&row.repository),
        ]
    });
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    table(&rows, None)
}
