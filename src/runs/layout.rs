//! The paths of the files in a run directory.

use std::path::{Path, PathBuf};

use crate::model::RunId;
use crate::runs::artifact_names::ArtifactName;

/// In the home.
pub(crate) const SKILLS_CACHE: &str = "skills.cache";

/// One run's directory.
#[derive(Debug, Clone)]
pub(crate) struct RunDir {
    path: PathBuf,
}

impl RunDir {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.file("run.lock")
    }

    pub(crate) fn request(&self) -> PathBuf {
        self.file("request.json")
    }

    pub(crate) fn env(&self) -> PathBuf {
        self.file("env.json")
    }

    pub(crate) fn started(&self) -> PathBuf {
        self.file("started.json")
    }

    pub(crate) fn progress(&self) -> PathBuf {
        self.file("progress.json")
    }

    pub(crate) fn result(&self) -> PathBuf {
        self.file("result.json")
    }

    pub(crate) fn events(&self) -> PathBuf {
        self.file("events.jsonl")
    }

    pub(crate) fn stdout(&self) -> PathBuf {
        self.file("stdout.log")
    }

    /// For `command` runs: when each byte of the transcript arrived.
    pub(crate) fn times(&self) -> PathBuf {
        self.file("transcript.log.times")
    }

    /// What a person would have seen of the run.
    pub(crate) fn transcript(&self) -> PathBuf {
        self.file("transcript.log")
    }

    /// For `command` runs: which bytes of the transcript belong to which stream.
    pub(crate) fn transcript_streams(&self) -> PathBuf {
        self.file("transcript.log.streams")
    }

    /// The ledger: one line per finished command.
    pub(crate) fn commands(&self) -> PathBuf {
        self.file("commands.jsonl")
    }

    pub(crate) fn stderr(&self) -> PathBuf {
        self.file("stderr.log")
    }

    /// For hosted work: the job, as far as the service is known to have it.
    pub(crate) fn remote(&self) -> PathBuf {
        self.file("remote.json")
    }

    /// For hosted work: the changes that an attempt made, as a diff. The first has number 1.
    pub(crate) fn changes(&self, attempt: u32) -> PathBuf {
        if attempt == 1 { self.file("changes.diff") } else { self.file(&format!("changes-{attempt}.diff")) }
    }

    /// For coordinators: the jobs, and the tasks that they became.
    pub(crate) fn plan(&self) -> PathBuf {
        self.file("plan.json")
    }

    /// For autopilot: whether the task was worth several runs, and why.
    pub(crate) fn autopilot_decision(&self) -> PathBuf {
        self.file("autopilot_decision.json")
    }

    /// For autopilot: the plan as it was made.
    pub(crate) fn autopilot_plan(&self) -> PathBuf {
        self.file("autopilot_plan.json")
    }

    /// For autopilot: what the jobs reported, put together.
    pub(crate) fn autopilot_aggregate(&self) -> PathBuf {
        self.file("autopilot_aggregate.json")
    }

    /// For coordinators: a link to the directory of each job's run, named after the job.
    pub(crate) fn subruns(&self) -> PathBuf {
        self.file("subruns")
    }

    /// Where the programs of hosted work are called, because they write into their directory.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.file("scratch")
    }

    /// Where our git works for the worktree of the run.
    pub(crate) fn worktree_scratch(&self) -> PathBuf {
        self.file("worktree")
    }

    /// What the operator's setup of the worktree printed.
    pub(crate) fn worktree_setup_log(&self) -> PathBuf {
        self.file("worktree_setup.log")
    }

    /// The files that the last `apply` replaced and wrote, in `old` and `new`.
    pub(crate) fn applied(&self) -> PathBuf {
        self.file("applied")
    }

    pub(crate) fn last_message(&self) -> PathBuf {
        self.file("last_message.json")
    }

    pub(crate) fn schema(&self) -> PathBuf {
        self.file("subagent_output.schema.json")
    }

    pub(crate) fn prompt(&self) -> PathBuf {
        self.file("subagent_prompt.txt")
    }

    /// The skills that were found, and those that were chosen for the task.
    pub(crate) fn skills_index(&self) -> PathBuf {
        self.file("skills_index.json")
    }

    pub(crate) fn selected_skills(&self) -> PathBuf {
        self.file("selected_skills.json")
    }

    pub(crate) fn supervisor_log(&self) -> PathBuf {
        self.file("supervisor.log")
    }

    /// Tells the supervisor to stop if its socket cannot be reached.
    pub(crate) fn detached(&self) -> PathBuf {
        self.file("detached")
    }

    pub(crate) fn cancel(&self) -> PathBuf {
        self.file("cancel")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.file("ctl.sock")
    }

    /// Marks a run that is kept regardless of its age.
    pub(crate) fn pin(&self) -> PathBuf {
        self.file("pin")
    }

    /// Contains an empty file for every run inside this one, named after it.
    pub(crate) fn inner(&self) -> PathBuf {
        self.file("inner")
    }

    /// What the run was observed to have done.
    pub(crate) fn evidence(&self) -> PathBuf {
        self.file("evidence.json")
    }

    /// The snapshot of the tree, during the run.
    pub(crate) fn tree(&self) -> PathBuf {
        self.file("tree")
    }

    /// Contains an empty file for every run that used the checkout at the same time, named after
    /// it.
    pub(crate) fn overlapped(&self) -> PathBuf {
        self.file("overlapped")
    }

    /// The home that contains the run.
    pub(crate) fn home(&self) -> &Path {
        let runs = self.path.parent().unwrap_or(&self.path);
        runs.parent().unwrap_or(runs)
    }

    /// Where the runs of a home register the checkouts that they use.
    pub(crate) fn checkouts(&self) -> PathBuf {
        self.path.parent().unwrap_or(&self.path).with_file_name("checkouts")
    }

    /// Where the home records the durations of runs, by project and agent.
    pub(crate) fn history(&self) -> PathBuf {
        self.path.parent().unwrap_or(&self.path).with_file_name("history")
    }

    /// Where the home caches what agent programs reported about themselves.
    pub(crate) fn agent_answers(&self) -> PathBuf {
        self.history().with_file_name("agent-answers.json")
    }

    /// Where the home caches the skills of large collections.
    pub(crate) fn skills_cache(&self) -> PathBuf {
        self.home().join(SKILLS_CACHE)
    }

    /// The directory of another run in the same home.
    pub(crate) fn of(&self, run: &RunId) -> RunDir {
        Self::at(self.path.with_file_name(run.as_str()))
    }

    /// Disk space that is released if the disk is full, so that the result can still be written.
    pub(crate) fn reserve(&self) -> PathBuf {
        self.file("reserve")
    }

    /// The artifacts that exist.
    pub(crate) fn artifacts(&self) -> Vec<(ArtifactName, PathBuf)> {
        let there = |name: ArtifactName| {
            let path = self.file(name.as_str());
            path.is_file().then_some((name, path))
        };
        ArtifactName::fixed().filter_map(there).chain(self.command_outputs()).collect()
    }

    /// The output files of commands, as older versions wrote them.
    pub(crate) fn command_outputs(&self) -> Vec<(ArtifactName, PathBuf)> {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        let named = entries.filter_map(|entry| {
            let name =
                ArtifactName::parse(entry.file_name().to_str()?).filter(|name| name.item().is_some())?;
            Some((name, entry.path()))
        });
        let mut found: Vec<_> = named.collect();
        found.sort_by(|(one, _), (other, _)| one.order().cmp(&other.order()));
        found
    }
}
