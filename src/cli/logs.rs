//! `delegator logs`: shows what a run printed or did, once or continuously.

use crate::execution;
use crate::tasks;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::growing_file::Source;
use crate::cli::invocation::Call;
use crate::cli::{interrupt, print};
use crate::context::{Context, MissingOutput, TaskError};
use crate::failure::{Exit, Failure};
use crate::host::Watch;
use crate::host::clock;
use crate::reading::{self, Excerpt, View};
use crate::reply::{Log, RegistryMeta, Stream};
use crate::text::plain;

/// The most output that one JSON document holds.
const LONGEST: usize = 64 << 10;
/// How often to check whether the run is still alive.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub(super) struct Logs {
    id: String,
    /// Follow the output until the run ends
    #[arg(short, long)]
    follow: bool,
    /// Show standard error only
    #[arg(long)]
    stderr: bool,
    /// Show the raw events of the agent
    #[arg(long, conflicts_with = "stderr")]
    events: bool,
    /// Start with the last N lines
    #[arg(long, value_name = "N")]
    tail: Option<usize>,
}

impl Logs {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let mut context = call.open_to_look()?;
        let row = reading::find(&context, &self.id)?;
        let view = tasks::view_task(&mut context, row)?;
        let mut source = self.source(&view)?;
        if call.json {
            return self.document(call, &mut context, view, &mut source);
        }
        let mut any = false;
        let mut show = |bytes: &[u8]| {
            any = true;
            print::bytes(bytes);
        };
        if self.follow {
            if let Some(why @ MissingOutput::Queued) = view.missing_output() {
                print::note(&format!("delegator: {why}"));
            }
            follow(&mut context, &view, &mut source, &mut show)?;
        } else {
            source.once(&mut show);
        }
        match (any, view.state().is_final()) {
            (true, _) => {}
            // `--tail 0` shows nothing, so an empty result needs no note.
            (false, _) if self.tail == Some(0) && !source.is_empty() => {}
            (false, is_final) => {
                // With `--follow`, the note was printed at the beginning.
                let why = view.missing_output().filter(|why| !self.follow || *why != MissingOutput::Queued);
                let nothing = if is_final || self.follow {
                    "the run printed nothing"
                } else {
                    "the run has printed nothing so far"
                };
                print::note(&why.map_or_else(|| nothing.to_owned(), |why| why.to_string()));
            }
        }
        for damaged in &view.damaged {
            print::note(&format!("warning: {}", plain::text(damaged)));
        }
        Ok(Exit::Done)
    }

    fn stream(&self) -> Stream {
        match (self.stderr, self.events) {
            (true, _) => Stream::Stderr,
            (false, true) => Stream::Events,
            (false, false) => Stream::Output,
        }
    }

    fn source(&self, view: &View) -> Result<Source, Failure> {
        let raw = |path| Source::new(path, self.tail);
        let dir = &view.dir;
        let emits_events = view.row.agent.abilities().emits_events();
        Ok(match (self.stream(), emits_events) {
            (Stream::Stderr, _) => raw(dir.stderr()),
            (Stream::Events, true) => raw(dir.events()),
            (Stream::Events, false) => {
                return Err(TaskError::Unsupported { agent: view.row.agent, field: "events" }.into());
            }
            (Stream::Output, _) => raw(dir.transcript()),
        })
    }

    /// The end of the output, as one document.
    fn document(
        self,
        call: &Call,
        context: &mut Context,
        view: View,
        source: &mut Source,
    ) -> Result<Exit, Failure> {
        let mut kept = Vec::new();
        let mut total: u64 = 0;
        let mut keep = |bytes: &[u8]| {
            total += bytes.len() as u64;
            kept.extend_from_slice(bytes);
            if kept.len() > 2 * LONGEST {
                kept.drain(..kept.len() - LONGEST);
            }
        };
        let view = if self.follow {
            follow(context, &view, source, &mut keep)?;
            let row = reading::find(context, view.row.id.as_str())?;
            tasks::view_task(context, row)?
        } else {
            source.once(&mut keep);
            view
        };
        let cut = total > LONGEST as u64;
        let text = String::from_utf8_lossy(&kept[kept.len().saturating_sub(LONGEST)..]);
        let excerpt = Excerpt { text: plain::printed(&text), total_bytes: total, cut };
        let files = vec![source.path().to_owned()];
        let data = Log::of(&view, self.stream(), excerpt, files);
        print::document(&call.envelope(RegistryMeta::default(), data)?);
        Ok(Exit::Done)
    }
}

/// Prints new output whenever a file grows, until the run has ended.
fn follow(
    context: &mut Context,
    view: &View,
    source: &mut Source,
    each: &mut dyn FnMut(&[u8]),
) -> Result<(), Failure> {
    let id = &view.row.id;
    interrupt::ends_the_wait(&format!(
        "unless it has ended, the run goes on: `delegator logs -f {id}` shows the rest"
    ));
    let mut watch = Watch::new();
    if view.dir.path().exists() {
        watch.add(view.dir.path()).map_err(TaskError::write(view.dir.path()))?;
    }
    let mut unwatched: Vec<PathBuf> = vec![source.path().to_owned()];
    let (mut look_at, mut is_told) = (Duration::ZERO, false);
    loop {
        // Watch before reading, so that anything written in between wakes us.
        unwatched.retain(|path| watch.add(path).is_err());
        source.read(each);
        if view.dir.result().exists() && !reading::is_alive(&view.dir) {
            break;
        }
        // If its supervisor died, only we can seal the run.
        if clock::monotonic() >= look_at {
            look_at = clock::monotonic() + LOOK;
            context.unless_busy(execution::pump)?;
            if reading::find(context, id.as_str())?.state.is_final() {
                break;
            }
            if !is_told && crate::ledger::has_separate_end(source.path()) {
                is_told = true;
                print::note(&format!(
                    "delegator: the output exceeded `max_stream_bytes`; its last part follows when the run ends; \
                     `delegator logs {id} --tail 20` shows its current end"
                ));
            }
        }
        watch.sleep(LOOK);
    }
    source.rest(each);
    Ok(())
}
