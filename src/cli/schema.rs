//! `delegator schema`: the JSON Schemas of all replies.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::print;
use crate::failure::{Exit, Failure};
use crate::reply;

#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Only the schema of this name, or of this tool or command
    #[arg(value_parser = names(), hide_possible_values = true)]
    name: Option<String>,
}

impl Schema {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        match self.name {
            Some(name) => print::document(&reply::schema(&name)),
            None => {
                let all = reply::SCHEMAS.iter().map(|one| (one.name.to_owned(), reply::schema(one.name)));
                print::document(&all.collect::<std::collections::BTreeMap<_, _>>());
            }
        }
        Ok(Exit::Done)
    }
}

fn names() -> PossibleValuesParser {
    let all =
        reply::SCHEMAS.iter().map(|one| PossibleValue::new(one.name).aliases(one.used_by.iter().copied()));
    PossibleValuesParser::new(all)
}
