//! Turns errors of the argument parser into a message and a hint, like every other error.

use std::ffi::OsString;
use std::net::AddrParseError;
use std::num::{ParseFloatError, ParseIntError};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::print;
use crate::failure::{Code, Exit, Failure};
use crate::reply::Category;

/// Whether this is not an error but the answer to `--help` or `--version`.
pub(super) fn is_answer(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

pub(super) fn answer(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        print::note(text.trim_end());
        return ExitCode::from(Exit::BadInput as u8);
    }
    print::out(&text);
    ExitCode::from(Exit::Done as u8)
}

/// Rewrites `delegator help run` to `delegator run --help`.
pub(super) fn asks_for_help(mut args: Vec<OsString>) -> Vec<OsString> {
    if args.get(1).is_some_and(|verb| verb == "help") {
        args.remove(1);
        args.push("--help".into());
    }
    args
}

/// An error for invalid input that never reached a use case.
pub(super) fn bad(message: impl Into<String>, hint: impl Into<String>) -> Failure {
    Failure::new(Code::Validation, Exit::BadInput, message, Some(hint.into()))
}

/// The error of the command `verb`.
pub(super) fn failure(error: &clap::Error, verb: &str) -> Failure {
    let given = |kind: ContextKind| error.get(kind).map(words).unwrap_or_default().join(" ");
    let argument = given(ContextKind::InvalidArg);
    // Show `--agent <AGENT>` as `--agent`, and `[NAME]` as `NAME`.
    let name = argument.split_whitespace().next().unwrap_or_default();
    let name = name.trim_end_matches("...").trim_matches(['[', ']', '<', '>']);
    let help = match verb {
        "" => "`delegator --help` lists the commands, `delegator run --help` the options of one".to_owned(),
        verb => format!("`delegator {verb} --help` lists its options"),
    };
    match error.kind() {
        ErrorKind::InvalidValue if given(ContextKind::InvalidValue).is_empty() => {
            bad(format!("`{name}` needs a value"), known(error).unwrap_or(help))
        }
        ErrorKind::InvalidValue => {
            let message = format!("invalid value `{}` for `{name}`", given(ContextKind::InvalidValue));
            bad(message, known(error).unwrap_or(help))
        }
        ErrorKind::UnknownArgument if !argument.starts_with('-') => {
            let hint = match verb {
                "terminal" => {
                    "a command goes after `--`, as in `delegator terminal -- ls -l`; `terminal list` and `terminal read` show recordings".to_owned()
                }
                _ => help,
            };
            bad(format!("unexpected argument `{argument}`"), hint)
        }
        ErrorKind::UnknownArgument => {
            let dashes = match verb {
                "run" | "resume" => {
                    "put words of the task that begin with `-` after `--`; write such a value of an option with `=`, as in `--alias=-x`".to_owned()
                }
                _ => format!("{help}; write a value that begins with `-` with `=`, as in `--grep=-v`"),
            };
            let hint = suggested(error, ContextKind::SuggestedArg);
            bad(format!("unknown option `{argument}`"), hint.unwrap_or(dashes))
        }
        ErrorKind::InvalidSubcommand => {
            let hint = suggested(error, ContextKind::SuggestedSubcommand);
            let message = format!("unknown command `{}`", given(ContextKind::InvalidSubcommand));
            bad(message, hint.unwrap_or_else(|| "`delegator --help` lists the commands".to_owned()))
        }
        ErrorKind::MissingRequiredArgument => bad(format!("`{name}` is missing"), usage(error)),
        ErrorKind::ArgumentConflict => bad(
            format!("`{name}` cannot be used with `{}`", given(ContextKind::PriorArg)),
            "leave one of them out",
        ),
        ErrorKind::ValueValidation => {
            let value = given(ContextKind::InvalidValue);
            let source = std::error::Error::source(error);
            match source.and_then(|why| expected(why, name)) {
                Some((why, hint)) => bad(format!("invalid value `{value}` for `{name}`: {why}"), hint),
                None => {
                    let why = source.map(|why| format!(": {why}")).unwrap_or_default();
                    bad(format!("invalid value `{value}` for `{name}`{why}"), usage(error))
                }
            }
        }
        _ => bad(first_line(error), help),
    }
}

/// What was expected instead, and a hint with an example.
fn expected(why: &(dyn std::error::Error + 'static), name: &str) -> Option<(&'static str, String)> {
    if why.is::<ParseFloatError>() {
        Some(("expected a number of seconds", format!("for example `{name} 900`")))
    } else if why.is::<ParseIntError>() {
        Some(("expected a whole number", format!("for example `{name} 20`")))
    } else if why.is::<AddrParseError>() {
        Some((
            "expected an address with a port",
            format!("for example `{name} 127.0.0.1:8765`; port 0 takes any free port"),
        ))
    } else {
        None
    }
}

/// A hint with the nearest valid name and all valid names.
fn known(error: &clap::Error) -> Option<String> {
    let all = words(error.get(ContextKind::ValidValue)?);
    if all.is_empty() {
        return None;
    }
    let all = format!("known: {}", all.join(", "));
    Some(match suggested(error, ContextKind::SuggestedValue) {
        Some(nearest) => format!("{nearest} {all}"),
        None => all,
    })
}

fn suggested(error: &clap::Error, kind: ContextKind) -> Option<String> {
    // The parser lists the nearest one last.
    let nearest = words(error.get(kind)?).pop()?;
    Some(format!("did you mean `{nearest}`?"))
}

fn words(value: &ContextValue) -> Vec<String> {
    match value {
        ContextValue::String(text) => vec![text.clone()],
        ContextValue::Strings(all) => all.clone(),
        other => vec![other.to_string()],
    }
}

/// The usage line of the command, without its options.
fn usage(error: &clap::Error) -> String {
    let text = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let line = text.lines().next().unwrap_or_default().trim_start_matches("Usage: ");
    if line.is_empty() {
        "`delegator --help` lists the commands".to_owned()
    } else {
        format!("usage: {line}")
    }
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// The command in `args`; empty if there is none.
pub(super) fn verb(args: &[OsString]) -> &str {
    let words = args.iter().skip(1).filter_map(|arg| arg.to_str());
    words.take_while(|arg| *arg != "--").find(|arg| !arg.starts_with('-')).unwrap_or_default()
}

/// The MCP tool whose reply this command gives. Needed before parsing, because a usage error is a reply too.
pub(super) fn tool(args: &[OsString]) -> (&'static str, Category) {
    match verb(args) {
        "run" | "demo" => ("delegate_run", Category::ExecutionAck),
        "autopilot" => ("delegate_autopilot", Category::ExecutionAck),
        "resume" => ("delegate_resume", Category::ExecutionAck),
        "status" => ("delegate_status", Category::StatusSnapshot),
        "wait" => ("delegate_wait", Category::WaitResult),
        "results" => ("delegate_results", Category::ResultSet),
        "inspect" => ("inspect_output", Category::RegistryInfo),
        "cancel" => ("delegate_cancel", Category::RegistryInfo),
        "apply" => ("delegate_apply", Category::RegistryInfo),
        "diff" => ("diff", Category::RegistryInfo),
        "discard" => ("discard", Category::RegistryInfo),
        "cleanup" => ("_codex_cleanup_registry", Category::RegistryInfo),
        "pin" => ("pin", Category::RegistryInfo),
        "logs" => ("logs", Category::RegistryInfo),
        "terminal" => ("get_terminal_output", Category::RegistryInfo),
        "setup" => ("setup", Category::RegistryInfo),
        "environments" => ("_codex_cloud_list_environments", Category::RegistryInfo),
        "skills" => ("skills", Category::RegistryInfo),
        "doctor" => ("doctor", Category::RegistryInfo),
        "schema" => ("schema", Category::RegistryInfo),
        _ => ("delegator", Category::RegistryInfo),
    }
}
