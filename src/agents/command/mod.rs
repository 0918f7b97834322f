//! The `command` agent: runs a shell command line in the background and keeps its output. No model
//! is involved.
//!
//! The shell is always `/bin/sh`, so that a task means the same for everybody. A user's command
//! runs as it is, a client's command in a sandbox (`jail`); the caller has decided which it is.

mod jail;

use std::path::PathBuf;
use std::time::Duration;

use crate::agents::{
    Abilities, Agent, AgentEnd, AgentFiles, AgentPlan, Edits, ParsedLine, Probe, ProbeAnswer, Program,
    Reader, TaskText, Verdict, signal_name,
};
use crate::model::{
    CommandSpec, Exit, FailureCode, Fault, Jail, Request, Sandbox, Signal, SignalTarget, Stdin, Stdout, Stop,
    WorkKind,
};
use crate::text::cut;

pub(crate) use jail::JailedCommand;

const SHELL: &str = "/bin/sh";
const GRACE: Duration = Duration::from_secs(5);
const LONGEST_LINE: usize = 200;
/// What helps if a sandbox for reading refused something.
const ASK_TO_WRITE: &str = "request the sandbox `workspace-write` to change files";
/// Error messages caused by a sandbox.
const REFUSALS: [&str; 2] = ["Read-only file system", "Operation not permitted"];

/// Message and exit code of `delegator confined` if the sandbox leaks.
pub(crate) const SANDBOX_LEAK_PREFIX: &str = "delegator: the sandbox does not hold: ";
pub(crate) const SANDBOX_LEAK_EXIT: u8 = 125;

pub(crate) struct Command;

pub(super) const ABILITIES: Abilities = Abilities {
    work: WorkKind::Child,
    task: TaskText::CommandLine,
    program: Program::Shell,
    resumes: false,
    needs_git: false,
    has_own_sandbox: false,
    environment: &[],
    edits: Edits::Unreported,
    keeps_rollouts: false,
    reads_skills: false,
};

impl Agent for Command {
    fn probes(&self, _request: &Request) -> Vec<Probe> {
        Vec::new()
    }

    fn command(
        &self,
        request: &Request,
        _: &str,
        _: &AgentFiles,
        _: &[ProbeAnswer],
    ) -> Result<AgentPlan, Fault> {
        // A command line may begin with a dash.
        let args = ["-c", "--", &request.task];
        let (program, args) = match &request.jail {
            None => (PathBuf::from(SHELL), args.map(str::to_owned).to_vec()),
            Some(jail) => (jail.program.clone(), jailed(request, jail, &args)?),
        };
        let spec = CommandSpec {
            program,
            args,
            cwd: request.cwd.clone(),
            env: Vec::new(),
            stdin: Stdin::Text(String::new()),
            stdout: Stdout::Text,
            // A shell does not forward signals to its children.
            stop: Stop { signal: Signal::Terminate, reach: SignalTarget::Group, grace: GRACE },
            on_orphaned: Signal::Kill,
        };
        // A sandbox may leave an empty directory in place of a missing path.
        let leftover_dirs = request.jail.as_ref().map(|jail| jail.missing.clone()).unwrap_or_default();
        Ok(AgentPlan { spec, warnings: Vec::new(), agent_version: None, leftover_dirs })
    }

    fn reader(&self, request: &Request, _prompt: &str) -> Box<dyn Reader> {
        Box::new(CommandReader { jail: request.jail.is_some().then_some(request.sandbox) })
    }
}

fn jailed(request: &Request, jail: &Jail, args: &[&str]) -> Result<Vec<String>, Fault> {
    let cell = JailedCommand { jail, own: &request.program, cwd: &request.cwd, sandbox: request.sandbox };
    let command: Vec<&str> = std::iter::once(SHELL).chain(args.iter().copied()).collect();
    cell.arguments(&command).ok_or_else(|| {
        Fault::new(FailureCode::Spawn, "a path is not valid UTF-8").hint("rename the directory")
    })
}

/// Plain output has no events; only the end is judged.
struct CommandReader {
    /// The sandbox of a client's command; `None` for a user's own.
    jail: Option<Sandbox>,
}

impl Reader for CommandReader {
    fn line(&mut self, _line: &[u8]) -> ParsedLine {
        ParsedLine::default()
    }

    fn verdict(&self, end: &AgentEnd) -> Verdict {
        let (result, summary) = match self.leak(end) {
            Some(fault) => (Err(fault.clone()), fault.message),
            None => (
                if end.exit.succeeded() { Ok(()) } else { Err(fault(end.exit, &end.stderr_tail)) },
                exit_and_last_line(end),
            ),
        };
        Verdict {
            result,
            summary,
            answer: None,
            unchecked: None,
            warnings: self.refused(end).into_iter().collect(),
            thread_id: None,
            model: None,
            usage: None,
            usage_total: None,
        }
    }
}

impl CommandReader {
    /// The command was not started because the sandbox leaks.
    fn leak(&self, end: &AgentEnd) -> Option<Fault> {
        let told = end.stderr_tail.lines().rev().find_map(|line| line.strip_prefix(SANDBOX_LEAK_PREFIX))?;
        let leaked = self.jail.is_some() && end.exit == Exit::Code(SANDBOX_LEAK_EXIT.into());
        leaked.then(|| {
            Fault::new(
                FailureCode::Sandbox,
                format!("the sandbox does not hold: {}", cut(told, LONGEST_LINE)),
            )
            .hint("`delegator doctor` shows the sandbox for client commands")
        })
    }
}

impl CommandReader {
    /// A script may continue after a refused operation and succeed.
    fn refused(&self, end: &AgentEnd) -> Option<String> {
        let sandbox = self.jail?;
        let line = end.stderr_tail.lines().find(|line| REFUSALS.iter().any(|word| line.contains(word)))?;
        let hint = if line.contains(".git/") {
            "`.git` stays read-only in every sandbox, so commit yourself when it is done"
        } else if sandbox == Sandbox::ReadOnly {
            ASK_TO_WRITE
        } else {
            "only the working directory is writable"
        };
        let line = cut(line.trim(), LONGEST_LINE);
        Some(format!("in the sandbox `{sandbox}`, an operation was refused: {line} ({hint})"))
    }
}

/// Whether a warning says that a wider sandbox would have allowed something.
pub(crate) fn tells_of_refusal(warning: &str) -> bool {
    warning.contains(ASK_TO_WRITE)
}

/// The exit status and the last line of output.
fn exit_and_last_line(end: &AgentEnd) -> String {
    let how = match end.exit {
        Exit::Code(code) => format!("exit {code}"),
        Exit::Signal(signal) => signal_name(signal),
    };
    match last_line(end) {
        last if last.is_empty() => how,
        last => format!("{how}: {}", cut(&last, LONGEST_LINE)),
    }
}

/// The last line of standard output; of standard error if the command failed or printed nothing
/// else.
fn last_line(end: &AgentEnd) -> String {
    let output = end.last_line.trim();
    let error = end.last_error.trim();
    let is_error = output.is_empty() || (!end.exit.succeeded() && !error.is_empty());
    if is_error { error } else { output }.to_owned()
}

fn fault(exit: Exit, stderr: &str) -> Fault {
    let code = match exit {
        Exit::Code(code) => code,
        Exit::Signal(signal) => {
            let message = format!("the command was ended by {}", signal_name(signal));
            return Fault::new(FailureCode::ToolError, message);
        }
    };
    let fault = Fault::new(FailureCode::ToolError, format!("the command ended with exit code {code}"));
    match code {
        126 => fault.hint("the shell found the program but could not run it: check that it is executable"),
        127 if stderr.contains("error while loading shared libraries") => {
            fault.hint("the program exists but a library it needs is missing: see its standard error")
        }
        127 => fault.hint("the shell did not find the program: check its name and the PATH of the run"),
        129..=159 => fault.hint(format!("a process of the command was ended by {}", signal_name(code - 128))),
        _ => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::testing::request;

    #[track_caller]
    fn check(exit: Exit, stdout: &str, stderr: &str, summary: &str, fault: Option<&str>) {
        let last_error = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let end = AgentEnd {
            exit,
            stderr_tail: stderr.to_owned(),
            last_line: stdout.to_owned(),
            last_error: last_error.to_owned(),
            last_message: None,
        };
        let verdict = Command.reader(&request(), "").verdict(&end);
        assert_eq!(verdict.summary, summary);
        assert_eq!(verdict.result.err().map(|fault| fault.message).as_deref(), fault);
    }

    #[test]
    fn success_is_told_by_status_and_last_line() {
        check(Exit::Code(0), "all 12 passed", "a warning\n", "exit 0: all 12 passed", None);
        check(Exit::Code(0), "", "only this\n\n", "exit 0: only this", None);
        check(Exit::Code(0), "", "", "exit 0", None);
    }

    #[test]
    fn failure_is_told_by_what_it_complained_of() {
        check(
            Exit::Code(2),
            "compiling",
            "boom\n",
            "exit 2: boom",
            Some("the command ended with exit code 2"),
        );
        check(
            Exit::Signal(15),
            "half",
            "",
            "signal 15 (SIGTERM): half",
            Some("the command was ended by signal 15 (SIGTERM)"),
        );
    }

    #[test]
    fn exit_codes_of_the_shell_itself_are_explained() {
        for (code, word) in [(126, "executable"), (127, "did not find"), (137, "SIGKILL")] {
            let hint = fault(Exit::Code(code), "").hint.unwrap();
            assert!(hint.contains(word), "{code}: {hint}");
        }
        assert_eq!(fault(Exit::Code(1), "").hint, None);
        let loader = "./x: error while loading shared libraries: liby.so: cannot open shared object file";
        assert!(fault(Exit::Code(127), loader).hint.unwrap().contains("library"));
    }

    #[test]
    fn only_a_jailed_command_can_have_met_a_leak() {
        let end = AgentEnd {
            exit: Exit::Code(125),
            stderr_tail: format!("warning\n{SANDBOX_LEAK_PREFIX}a TCP socket opens\n"),
            last_line: String::new(),
            last_error: String::new(),
            last_message: None,
        };
        let code = |jail| CommandReader { jail }.verdict(&end).result.unwrap_err().code;
        assert_eq!(code(Some(Sandbox::ReadOnly)), FailureCode::Sandbox);
        assert_eq!(code(None), FailureCode::ToolError);
    }

    #[test]
    fn what_a_sandbox_refused_is_a_warning_and_says_what_to_do() {
        let end = |stderr: &str| AgentEnd {
            exit: Exit::Code(0),
            stderr_tail: stderr.to_owned(),
            last_line: "done".into(),
            last_error: String::new(),
            last_message: None,
        };
        let file = end("sh: 1: cannot create x.txt: Read-only file system\n");
        let lock = end("fatal: Unable to create '/p/.git/index.lock': Read-only file system\n");
        let warned = |jail, end: &AgentEnd| CommandReader { jail }.verdict(end).warnings.join("\n");
        for (jail, end, said) in [
            (Sandbox::ReadOnly, &file, "cannot create x.txt: Read-only file system (request the sandbox"),
            (Sandbox::WorkspaceWrite, &file, "(only the working directory is writable)"),
            (Sandbox::WorkspaceWrite, &lock, "(`.git` stays read-only in every sandbox"),
        ] {
            assert!(warned(Some(jail), end).contains(said), "{}", warned(Some(jail), end));
        }
        assert_eq!(warned(None, &file), "", "nobody keeps a person's command in a sandbox");
        assert_eq!(warned(Some(Sandbox::ReadOnly), &end("a warning\n")), "");
    }

    #[test]
    fn the_task_is_one_argument_of_the_shell() {
        let mut request = request();
        request.task = "echo 'a b' && exit 3".to_owned();
        let files = AgentFiles { schema: PathBuf::new(), last_message: PathBuf::new() };
        let plan = Command.command(&request, "ignored", &files, &[]).unwrap();
        assert_eq!(plan.spec.program, PathBuf::from("/bin/sh"));
        assert_eq!(plan.spec.args, ["-c", "--", "echo 'a b' && exit 3"]);
        assert_eq!(plan.spec.stop.reach, SignalTarget::Group);
    }
}
