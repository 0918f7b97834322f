//! `delegator schema`: prints the JSON Schemas of all replies and of tool inputs.

use std::collections::BTreeMap;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use serde_json::Value;

use crate::cli::{print, usage_errors};
use crate::failure::{Exit, Failure};
use crate::mcp::tools;
use crate::reply;

#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Print only this schema, or the one of this tool or command
    #[arg(value_parser = names(), hide_possible_values = true)]
    name: Option<String>,
    /// Print the schemas of tool inputs instead of replies
    #[arg(long)]
    input: bool,
}

impl Schema {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let all: BTreeMap<&str, Value> = if self.input {
            tools::names().filter_map(|name| Some((name, tools::input_schema(name)?))).collect()
        } else {
            reply::SCHEMAS.iter().filter_map(|one| Some((one.name, reply::schema(one.name)?))).collect()
        };
        let one = |name: &str| if self.input { tools::input_schema(name) } else { reply::schema(name) };
        match &self.name {
            None => print::document(&all),
            Some(name) => match one(name) {
                Some(schema) => print::document(&schema),
                None => {
                    let known = tools::names().collect::<Vec<_>>().join(", ");
                    return Err(usage_errors::bad(format!("no tool `{name}`"), format!("known: {known}")));
                }
            },
        }
        Ok(Exit::Done)
    }
}

fn names() -> PossibleValuesParser {
    let all =
        reply::SCHEMAS.iter().map(|one| PossibleValue::new(one.name).aliases(one.used_by.iter().copied()));
    PossibleValuesParser::new(all)
}
