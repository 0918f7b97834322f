//! Builds the command line of a Codex run.
//!
//! Every setting is always given: a resumed thread inherits neither sandbox nor model nor
//! directory, and the user's configuration must not decide them.

use std::time::Duration;

use crate::agents::codex::cli_options::{CliOptions, parse_version};
use crate::agents::codex::recursion_guard;
use crate::agents::{AgentFiles, AgentPlan, DecidedBy, Probe, ProbeAnswer};
use crate::model::{
    CommandSpec, FailureCode, Fault, Request, Resumed, Sandbox, Signal, SignalTarget, Stdin, Stdout, Stop,
};

/// Marks our threads. Codex stores it and passes it to the servers that a run calls, which lets us
/// recognise nested calls.
const THREAD_SOURCE: &str = "delegator";

/// Options without which a run cannot be followed or limited.
const ESSENTIAL: [&str; 5] = ["--json", "--sandbox", "--config", "--output-schema", "--output-last-message"];

/// When interrupted, Codex ends its commands itself; most take far less.
const GRACE: Duration = Duration::from_secs(5);

pub(super) fn probes(request: &Request) -> Vec<Probe> {
    let ask = |args: &[&str], decided_by| Probe {
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        decided_by,
    };
    let mut servers = ask(&["mcp", "list", "--json"], DecidedBy::Configuration);
    // The list depends on trust settings, so ask with the same ones: Codex refuses to start if a
    // server is disabled that the run does not know.
    if let Ok(untrusted) = recursion_guard::untrusted(request) {
        servers.args.extend(["-c".to_owned(), untrusted]);
    }
    let program = DecidedBy::Program;
    vec![ask(&["--version"], program), ask(&["exec", "--help"], program), servers]
}

pub(super) fn plan(
    request: &Request,
    prompt: &str,
    files: &AgentFiles,
    findings: &[ProbeAnswer],
) -> Result<AgentPlan, Fault> {
    let answer = |index: usize| findings.get(index).and_then(|finding| finding.stdout.as_deref());
    let agent_version = answer(0).and_then(parse_version);
    let offers = CliOptions::new(answer(1));
    if let Some(missing) = ESSENTIAL.into_iter().find(|option| !offers.has(option)) {
        return Err(too_old(missing, agent_version.as_deref()));
    }

    let mut line = Arguments { args: Vec::new(), warnings: Vec::new(), offers };
    if !line.offers.known() {
        line.warnings
            .push("could not ask Codex for its options; assuming that it supports all of them".to_owned());
    } else if agent_version.is_none() {
        line.warnings.push("this Codex does not report its version".to_owned());
    }
    // The run starts in the directory itself, because its path may lead elsewhere by then.
    line.add(["exec", "--json", "-s", request.sandbox.as_str()]);
    if request.skip_git_repo_check {
        line.offered("--skip-git-repo-check", None, "a run outside git will be refused");
    }
    line.offered(
        "--thread-source",
        Some(THREAD_SOURCE),
        "runs started from this one are not recognised by its thread",
    );
    // Without a network, Codex would retry for ever.
    line.set("features.unbounded_connection_retries=false");
    line.set(recursion_guard::untrusted(request)?);
    line.turn_us_off(answer(2));
    // The percentage of progress comes from the agent's plan.
    line.set("tools.update_plan.enabled=true");
    if let Some(model) = &request.model {
        line.add(["-m", model]);
    }
    if let Some(effort) = &request.reasoning_effort {
        line.set(format!("model_reasoning_effort={}", toml::Value::from(effort.as_str())));
    }
    for (key, value) in &request.config_overrides {
        line.set(format!("{key}={value}"));
    }
    line.reach(request);
    for dir in &request.add_dirs {
        line.offered("--add-dir", Some(recursion_guard::utf8(dir)?), "the directory cannot be written to");
    }
    line.add([
        "--output-schema",
        recursion_guard::utf8(&files.schema)?,
        "-o",
        recursion_guard::utf8(&files.last_message)?,
    ]);
    // Options of `exec` are not allowed after `resume`, so it comes last.
    if let Some(Resumed { thread_id, .. }) = &request.resume {
        line.add(["resume", thread_id.as_str()]);
    }
    // The prompt is sent by standard input: as an argument it would be visible in process lists and
    // could be taken for an option.
    line.add(["-"]);

    let spec = CommandSpec {
        program: request.program.clone(),
        args: line.args,
        cwd: request.cwd.clone(),
        env: Vec::new(),
        stdin: Stdin::Text(prompt.to_owned()),
        stdout: Stdout::Events,
        stop: Stop { signal: Signal::Interrupt, reach: SignalTarget::Process, grace: GRACE },
        // The only signal on which Codex ends its commands too.
        on_orphaned: Signal::Interrupt,
    };
    // An interrupted sandbox leaves its empty mount points behind.
    let leftover_dirs = [".agents", ".aws", ".codex"].map(|name| request.cwd.join(name)).to_vec();
    Ok(AgentPlan { spec, warnings: line.warnings, agent_version, leftover_dirs })
}

struct Arguments<'a> {
    args: Vec<String>,
    warnings: Vec<String>,
    offers: CliOptions<'a>,
}

impl Arguments<'_> {
    fn add<'b>(&mut self, args: impl IntoIterator<Item = &'b str>) {
        self.args.extend(args.into_iter().map(str::to_owned));
    }

    /// A setting `key=value` with the value in TOML.
    fn set(&mut self, setting: impl Into<String>) {
        self.args.extend(["-c".to_owned(), setting.into()]);
    }

    /// An option that some versions lack. If so, adds a warning with the consequence.
    fn offered(&mut self, option: &str, value: Option<&str>, without: &str) {
        if self.offers.has(option) {
            self.add([option].into_iter().chain(value));
        } else {
            self.warnings.push(format!("this Codex has no `{option}`: {without}"));
        }
    }

    fn turn_us_off(&mut self, list: Option<&str>) {
        match list.map(recursion_guard::servers_off) {
            Some(Ok(Some(off))) => self.set(off),
            Some(Ok(None)) => {}
            Some(Err(_)) | None => self.warnings.push(
                "could not read `codex mcp list --json`: this run may have access to delegator's own tools"
                    .to_owned(),
            ),
        }
    }

    /// Always given, so that the user's configuration cannot allow more.
    fn reach(&mut self, request: &Request) {
        match request.sandbox {
            Sandbox::WorkspaceWrite => {
                self.set(format!("sandbox_workspace_write.network_access={}", request.network));
                self.set("sandbox_workspace_write.writable_roots=[]");
                if !request.temporary {
                    self.set("sandbox_workspace_write.exclude_slash_tmp=true");
                    self.set("sandbox_workspace_write.exclude_tmpdir_env_var=true");
                }
            }
            Sandbox::ReadOnly if request.network => {
                self.warnings.push("Codex does not allow network access in `read-only` runs".to_owned());
            }
            Sandbox::ReadOnly | Sandbox::DangerFullAccess => {}
        }
    }
}

fn too_old(missing: &str, version: Option<&str>) -> Fault {
    let which = version.map(|version| format!(" {version}")).unwrap_or_default();
    Fault::new(FailureCode::Spawn, format!("the installed Codex{which} has no `{missing}`"))
        .hint("update Codex: `npm install -g @openai/codex@latest`")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::agents::testing::{request, resumed};

    const HELP: &str = include_str!("../../../tests/corpus/codex/exec_help.txt");
    const OURS: &str = r#"[{"name":"delegator","enabled":true,"transport":{"type":"stdio","command":"delegator","args":["serve"]}}]"#;

    fn planned(request: &Request, help: &str, list: &str) -> Result<AgentPlan, Fault> {
        let files = AgentFiles {
            schema: PathBuf::from("/run/schema.json"),
            last_message: PathBuf::from("/run/last.json"),
        };
        let finding = |text: &str| ProbeAnswer { stdout: Some(text.to_owned()) };
        plan(request, "do it", &files, &[finding("codex-cli 0.166.0\n"), finding(help), finding(list)])
    }

    #[track_caller]
    fn check(request: &Request, help: &str, list: &str, expected: &str) {
        let plan = planned(request, help, list).unwrap();
        assert_eq!(plan.spec.args.join("\n"), expected.trim_end());
    }

    #[test]
    fn a_new_run_says_everything() {
        let mut request = request();
        request.sandbox = Sandbox::WorkspaceWrite;
        request.network = true;
        request.skip_git_repo_check = true;
        request.model = Some("gpt-6.1-sol".to_owned());
        request.reasoning_effort = Some("high".to_owned());
        request.config_overrides = vec![("model_verbosity".to_owned(), "\"low\"".to_owned())];
        request.add_dirs = vec![PathBuf::from("/srv/more")];
        check(&request, HELP, OURS, include_str!("../../../tests/agents/codex_new_run.args"));
    }

    #[test]
    fn a_resumed_run_says_the_same_before_its_thread() {
        check(
            &resumed("01a1de11-e775-7fc2-8102-aec1425b9fd0", None),
            HELP,
            "[]",
            include_str!("../../../tests/agents/codex_resumed_run.args"),
        );
    }

    #[test]
    fn temporary_directories_are_left_out_where_they_have_to_be() {
        let request = Request { sandbox: Sandbox::WorkspaceWrite, temporary: false, ..request() };
        let args = planned(&request, HELP, "[]").unwrap().spec.args;
        for setting in ["exclude_slash_tmp=true", "exclude_tmpdir_env_var=true", "network_access=false"] {
            assert!(args.contains(&format!("sandbox_workspace_write.{setting}")), "{args:?}");
        }
    }

    #[test]
    fn an_option_this_version_lacks_is_left_out_with_a_warning() {
        let plan = planned(&request(), &HELP.replace("--thread-source <", "--gone <"), "[]").unwrap();
        assert!(!plan.spec.args.iter().any(|arg| arg == "--thread-source" || arg == "delegator"));
        assert!(plan.warnings[0].starts_with("this Codex has no `--thread-source`"), "{:?}", plan.warnings);
    }

    #[test]
    fn a_version_without_an_essential_option_is_refused() {
        let fault = planned(&request(), &HELP.replace("--json", "--jsonl"), "[]").unwrap_err();
        assert_eq!(fault.code, FailureCode::Spawn);
        assert_eq!(fault.message, "the installed Codex 0.166.0 has no `--json`");
        assert!(fault.hint.unwrap().contains("update Codex"));
    }

    #[test]
    fn a_program_that_answers_nothing_is_tried_with_warnings() {
        let files = AgentFiles { schema: PathBuf::from("/s"), last_message: PathBuf::from("/m") };
        let plan = plan(&request(), "", &files, &[]).unwrap();
        assert_eq!(plan.warnings.len(), 2, "{:?}", plan.warnings);
        assert_eq!(plan.agent_version, None);
    }

    #[test]
    fn a_program_without_a_version_is_tried_with_a_warning() {
        let files = AgentFiles { schema: PathBuf::from("/s"), last_message: PathBuf::from("/m") };
        let findings =
            [None, Some(HELP), Some("[]")].map(|stdout| ProbeAnswer { stdout: stdout.map(str::to_owned) });
        let plan = plan(&request(), "", &files, &findings).unwrap();
        assert_eq!(plan.warnings, ["this Codex does not report its version"]);
    }

    #[test]
    fn the_prompt_is_no_argument() {
        let plan = planned(&request(), HELP, "[]").unwrap();
        assert_eq!(plan.spec.stdin, Stdin::Text("do it".to_owned()));
        assert!(!plan.spec.args.iter().any(|arg| arg == "do it"));
        assert_eq!(plan.agent_version.as_deref(), Some("0.166.0"));
    }

    #[test]
    fn servers_are_listed_under_the_terms_of_the_run() {
        let probes = probes(&request());
        assert_eq!(probes[2].args[..4], ["mcp", "list", "--json", "-c"]);
        assert!(probes[2].args[4].starts_with("projects="));
    }
}
