//! `delegator cleanup`: removes what has been kept long enough.

use std::time::Duration;

use clap::Args;

use super::call::Call;
use crate::failure::{Exit, Failure};
use crate::host::clock;
use crate::reply;
use crate::tasks::{self, CleanupAsk};

#[derive(Debug, Args)]
pub(super) struct Cleanup {
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Remove finished runs of this age [default: the configured one]
    #[arg(long, value_name = "HOURS", value_parser = hours)]
    older_than: Option<Duration>,
}

impl Cleanup {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open()?;
        let ask = CleanupAsk { older_than: self.older_than, dry_run: self.dry_run };
        let cleaned = tasks::cleanup(&mut context, ask)?;
        let (meta, data) = reply::Cleanup::of(&cleaned, ask, context.config.retention_age(), clock::now());
        call.answer(meta, data, |data| {
            let ids = cleaned.found.iter().map(|id| format!("{id}\n"));
            ids.chain([format!("{}\n", data.summary)]).collect()
        })?;
        Ok(Exit::Done)
    }
}

fn hours(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "not a number of hours".to_owned())?;
    Duration::try_from_secs_f64(number * 3600.0).map_err(|_| "not a number of hours".to_owned())
}
