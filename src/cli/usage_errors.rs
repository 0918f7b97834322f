//! What the parser of arguments complains of, as the one line and the hint
//! that every error has.

use std::ffi::OsString;
use std::net::AddrParseError;
use std::num::{ParseFloatError, ParseIntError};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::print;
use crate::failure::{Code, Exit, Failure};
use crate::reply::Category;

/// Whether it is no complaint but what was asked for: help, or the version.
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

/// `delegator help run` as `delegator run --help`.
pub(super) fn asks_for_help(mut args: Vec<OsString>) -> Vec<OsString> {
    if args.get(1).is_some_and(|verb| verb == "help") {
        args.remove(1);
        args.push("--help".into());
    }
    args
}

/// Bad input that no use case ever saw.
pub(super) fn bad(message: impl Into<String>, hint: impl Into<String>) -> Failure {
    Failure::new(Code::Validation, Exit::BadInput, message, Some(hint.into()))
}

/// What is refused, of the command `verb`.
pub(super) fn failure(error: &clap::Error, verb: &str) -> Failure {
    let given = |kind: ContextKind| error.get(kind).map(words).unwrap_or_default().join(" ");
    let argument = given(ContextKind::InvalidArg);
    // `--agent <AGENT>` is `--agent` to a reader, and `[NAME]` is `NAME`.
    let name = argument.split_whitespace().next().unwrap_or_default();
    let name = name.trim_end_matches("...").trim_matches(['[', ']', '<', '>']);
    let help = match verb {
        "" => "`delegator --help` lists the commands, `delegator run --help` the options of one".to_owned(),
        verb => format!("`delegator {verb} --help` lists what it takes"),
    };
    match error.kind() {
        ErrorKind::InvalidValue if given(ContextKind::InvalidValue).is_empty() => {
            bad(format!("`{name}` needs a value"), known(error).unwrap_or(help))
        }
        ErrorKind::InvalidValue => {
            let message = format!("unknown value `{}` for `{name}`", given(ContextKind::InvalidValue));
            bad(message, known(error).unwrap_or(help))
        }
        ErrorKind::UnknownArgument if !argument.starts_with('-') => {
            let hint = match verb {
                "terminal" => {
                    "a command goes after `--`, as in `delegator terminal -- ls -l`; `terminal list` and `terminal read` look at what was recorded".to_owned()
                }
                _ => help,
            };
            bad(format!("unexpected argument `{argument}`"), hint)
        }
        ErrorKind::UnknownArgument => {
            let dashes = match verb {
                "run" | "resume" => {
                    "words that begin with `-` and belong to the task go after `--`; the value of an option is written with `=`, as in `--alias=-x`".to_owned()
                }
                _ => format!("{help}; a value that begins with `-` is written with `=`, as in `--grep=-v`"),
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
                Some((why, hint)) => bad(format!("`{value}` is no value for `{name}`: {why}"), hint),
                None => {
                    let why = source.map(|why| format!(": {why}")).unwrap_or_default();
                    bad(format!("`{value}` is no value for `{name}`{why}"), usage(error))
                }
            }
        }
        _ => bad(first_line(error), help),
    }
}

/// What was not understood, in words, and what would be.
fn expected(why: &(dyn std::error::Error + 'static), name: &str) -> Option<(&'static str, String)> {
    if why.is::<ParseFloatError>() {
        Some(("not a number", format!("give seconds, for example `{name} 900`")))
    } else if why.is::<ParseIntError>() {
        Some(("not a whole number", format!("for example `{name} 20`")))
    } else if why.is::<AddrParseError>() {
        Some((
            "not an address with a port",
            format!("for example `{name} 127.0.0.1:8765`, or port 0 for any"),
        ))
    } else {
        None
    }
}

/// The nearest name, and all there are.
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
    // The nearest of them comes last.
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

/// How the command is written, without its long list of options.
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

/// Which command is meant; empty where there is none.
pub(super) fn verb(args: &[OsString]) -> &str {
    let words = args.iter().skip(1).filter_map(|arg| arg.to_str());
    words.take_while(|arg| *arg != "--").find(|arg| !arg.starts_with('-')).unwrap_or_default()
}

/// Whose reply it will be, as a client of the server would call it. Known
/// before the arguments are parsed, because a refusal is a reply too.
pub(super) fn tool(args: &[OsString]) -> (&'static str, Category) {
    match verb(args) {
        "run" | "demo" => ("delegate_run", Category::ExecutionAck),
        "resume" => ("delegate_resume", Category::ExecutionAck),
        "status" => ("delegate_status", Category::StatusSnapshot),
        "wait" => ("delegate_wait", Category::WaitResult),
        "results" => ("delegate_results", Category::ResultSet),
        "inspect" => ("inspect_output", Category::RegistryInfo),
        "cancel" => ("delegate_cancel", Category::RegistryInfo),
        "cleanup" => ("_codex_cleanup_registry", Category::RegistryInfo),
        "pin" => ("pin", Category::RegistryInfo),
        "logs" => ("logs", Category::RegistryInfo),
        "terminal" => ("get_terminal_output", Category::RegistryInfo),
        "setup" => ("setup", Category::RegistryInfo),
        "doctor" => ("doctor", Category::RegistryInfo),
        "schema" => ("schema", Category::RegistryInfo),
        _ => ("delegator", Category::RegistryInfo),
    }
}
