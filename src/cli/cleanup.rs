//! `delegator cleanup`: removes what is past its retention time and shows what is kept.

use std::time::Duration;

use clap::Args;

use crate::cli::invocation::Call;
use crate::cli::table::table;
use crate::failure::{Exit, Failure};
use crate::host::clock;
use crate::reply;
use crate::tasks::{self, CleanupRequest};

#[derive(Debug, Args)]
pub(super) struct Cleanup {
    /// Show what would be removed without removing it
    #[arg(long)]
    dry_run: bool,
    /// Remove finished runs older than this [default: the configured age]
    #[arg(long, value_name = "HOURS", value_parser = hours)]
    older_than: Option<Duration>,
}

impl Cleanup {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open()?;
        let ask = CleanupRequest { older_than: self.older_than, dry_run: self.dry_run };
        let cleaned = tasks::cleanup(&mut context, ask)?;
        let (meta, data) = reply::Cleanup::of(&cleaned, ask, &context.config, clock::now());
        call.answer(meta, data, |data| {
            let ids = cleaned.found.iter().map(|id| format!("{id}\n"));
            ids.chain([format!("{}\n", data.summary), kept(data)]).collect()
        })?;
        Ok(if cleaned.busy { Exit::StillWorking } else { Exit::Done })
    }
}

fn kept(data: &reply::Cleanup) -> String {
    let head = ["KEPT", "COUNT", "BYTES", "PINNED", "LIVE", "FOR HOURS", "OLDEST"].map(str::to_owned);
    let rows = data.storage.kinds().map(|(name, stock)| {
        let numbers = [stock.count, stock.total_bytes, stock.pinned, stock.live].map(|it| it.to_string());
        let oldest = stock.oldest_file.map_or("-".to_owned(), |at| at.to_string());
        let hours = [stock.retention_hours.to_string(), oldest];
        [name.to_owned()].into_iter().chain(numbers).chain(hours).collect()
    });
    let rows: Vec<Vec<String>> = [head.into()].into_iter().chain(rows).collect();
    table(&rows, None)
}

fn hours(text: &str) -> Result<Duration, String> {
    let expected = || "expected a number of hours such as 24 or 0.5".to_owned();
    let number: f64 = text.parse().map_err(|_| expected())?;
    Duration::try_from_secs_f64(number * 3600.0).map_err(|_| expected())
}
