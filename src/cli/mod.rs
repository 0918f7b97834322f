//! Temporary command line, while the real one is being written.
#![allow(clippy::print_stdout, clippy::print_stderr, dead_code, unused_imports)]
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use crate::failure::Failure;
use crate::host::env::Env;
use crate::tasks::{self, Ask, Context, TaskError, Until};

pub(crate) fn run(args: Vec<OsString>) -> ExitCode {
    let args: Vec<String> = args.into_iter().map(|a| a.to_string_lossy().into_owned()).collect();
    match go(&args) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let failure = Failure::from(&error);
            eprintln!("delegator: {}", failure.message);
            if let Some(hint) = failure.hint {
                eprintln!("hint: {hint}");
            }
            ExitCode::from(failure.exit as u8)
        }
    }
}

fn go(args: &[String]) -> Result<u8, TaskError> {
    let env = Env::read();
    let has = |f: &str| args.iter().any(|a| a == f);
    let val = |f: &str| args.iter().position(|a| a == f).and_then(|i| args.get(i + 1)).cloned();
    match args.get(1).map(String::as_str) {
        Some("supervise") => {
            let fd = val("--lock-fd").and_then(|s| s.parse().ok()).unwrap_or(-1);
            let attempt = val("--attempt").and_then(|s| s.parse().ok()).unwrap_or(1);
            tasks::supervise(env, args[args.len() - 1].clone().into(), fd, attempt)?;
            Ok(0)
        }
        Some("run") => {
            let mut context = Context::open(env)?;
            let ask = Ask {
                task: args[args.len() - 1].clone(),
                agent: val("--agent").and_then(|a| a.parse().ok()),
                cwd: val("--cwd").map(Into::into),
                idempotency_key: val("--key"),
                env_from: val("--env").into_iter().collect(),
                sandbox: val("--sandbox").and_then(|a| a.parse().ok()),
                skip_git_repo_check: has("--skip-git-repo-check"),
                ..Ask::default()
            };
            let accepted = tasks::start(&mut context, ask)?;
            println!("{}", accepted.task_id);
            if has("--wait") {
                return finish(&mut context, accepted.task_id);
            }
            Ok(0)
        }
        Some("wait") => {
            let mut context = Context::open(env)?;
            let id = tasks::find(&context, &args[2])?.id;
            finish(&mut context, id)
        }
        Some("cancel") => {
            let mut context = Context::open(env)?;
            let c = tasks::cancel(&mut context, &args[2], None)?;
            println!("{:?}", c.view.state());
            Ok(0)
        }
        Some("status") => {
            let mut context = Context::open(env)?;
            let s = tasks::status(&mut context, None, 5)?;
            println!("running {} queued {} finished {}", s.running.len(), s.queued.len(), s.finished.len());
            Ok(0)
        }
        Some("cleanup") => {
            let mut context = Context::open(env)?;
            println!("{:?}", tasks::cleanup(&mut context, Default::default())?);
            Ok(0)
        }
        Some("doctor") => {
            for c in tasks::doctor(&env) {
                println!("{:?} {} {}", c.verdict, c.name, c.found);
            }
            Ok(0)
        }
        _ => Ok(2),
    }
}

fn finish(context: &mut Context, id: crate::model::TaskId) -> Result<u8, TaskError> {
    let w = tasks::wait(context, &[id], Until::All, Some(Duration::from_secs(60)), &mut |_| None)?;
    for v in w.views {
        println!(
            "{:?} {:?}",
            v.state(),
            v.result.map(|r| (r.summary, r.exit, r.warnings, r.processes_ended))
        );
    }
    Ok(0)
}
