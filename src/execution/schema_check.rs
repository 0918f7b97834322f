//! Validates answers against callers' schemas, in a separate process.
//!
//! Validation may take years or all memory, and no inspection of a schema can rule that out for every answer.
//! So nobody else validates: the process that does has limits enforced by the kernel, and the process that
//! waits can end it. The result is sealed with the run; the same answer is never validated again.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::TaskError;
use crate::host::{BoundedRun, BoundedRunError, OnSilence};
use crate::host::{clock, paths, rlimits};
use crate::model::schema_expansion;
use crate::model::{FailureCode, Fault, Limit, StopReason};
use crate::supervisor::{Control, ControlOrder};
use crate::text::cut;

/// The hidden command that validates.
pub(crate) const VERB: &str = "check-schema";

/// The limits of one check. Schemas written by people take a few milliseconds.
const CPU: Duration = Duration::from_secs(5);
const MEMORY: u64 = 1 << 30;
/// On a busy machine, the same computing takes longer.
const LONGEST: Duration = Duration::from_secs(30);
/// How often the waiting process checks whether to stop waiting.
const LOOK: Duration = Duration::from_millis(100);

/// Long enough for a person; the whole text stays in the run directory.
const LONGEST_REASON: usize = 300;
const LONGEST_FINDING: usize = 64 << 10;

/// How Rust's own allocator begins its last words.
const OUT_OF_MEMORY: &str = "memory allocation of ";

const KEPT: &str = "the unchanged answer is in `last_message.json`";

#[derive(Debug, Serialize, Deserialize)]
struct Question<'a> {
    schema: Value,
    /// The answer's text. Absent if only the schema is checked.
    answer: Option<std::borrow::Cow<'a, str>>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Finding {
    Fits,
    NotASchema(String),
    Unfit(String),
}

/// Rejects an invalid schema, or one that needs too much time or memory.
pub(crate) fn check_schema(schema: &Value) -> Result<(), TaskError> {
    schema_expansion::check(schema)?;
    let question = Question { schema: schema.clone(), answer: None };
    match ask(&question, &mut |_| Ok(LOOK)) {
        Ok(Finding::Fits) => Ok(()),
        Ok(Finding::NotASchema(why) | Finding::Unfit(why)) => Err(TaskError::BadSchema(why)),
        Err(error) => match excess(&error) {
            Some(excess) => Err(TaskError::CostlySchema(excess)),
            None => Err(TaskError::UncheckedSchema(error)),
        },
    }
}

/// Why the run fails because of this answer, if it does. The run's hard limit passes at `hard_at`.
pub(crate) fn check_answer(
    schema: &Value,
    answer: &str,
    control: &mut dyn Control,
    hard_at: Option<Duration>,
) -> Option<StopReason> {
    let mut stop = None;
    let mut care = |_| {
        stop = ordered(control);
        if hard_at.is_some_and(|at| clock::monotonic() >= at) {
            stop.get_or_insert(StopReason::Limit(Limit::Hard));
        }
        if stop.is_some() { Err("the run ends".to_owned()) } else { Ok(LOOK) }
    };
    let found = ask(&Question { schema: schema.clone(), answer: Some(answer.into()) }, &mut care);
    let fault = |message: String, hint: String| {
        Some(StopReason::Fault(Fault::new(FailureCode::Schema, message).hint(hint)))
    };
    match found {
        _ if stop.is_some() => stop,
        Ok(Finding::Fits) => None,
        Ok(Finding::Unfit(why)) => fault(
            format!("the answer does not fit `output_schema`: {}", cut(&why, LONGEST_REASON)),
            format!("{KEPT}; resume the thread and ask for the shape again"),
        ),
        Ok(Finding::NotASchema(why)) => fault(
            format!("`output_schema` is not a schema: {}", cut(&why, LONGEST_REASON)),
            "give a self-contained JSON Schema".to_owned(),
        ),
        Err(error) => {
            let (why, hint) = match excess(&error) {
                Some(excess) => (excess, format!("{KEPT}; give a simpler JSON Schema")),
                None => (error.to_string(), KEPT.to_owned()),
            };
            fault(format!("the answer could not be checked against `output_schema`: {why}"), hint)
        }
    }
}

/// The run is asked to end. No processes below it are left that could ask for anything else.
fn ordered(control: &mut dyn Control) -> Option<StopReason> {
    match control.receive()? {
        ControlOrder::Stop(reason) => Some(reason),
        ControlOrder::Pump | ControlOrder::Answer(_) => None,
    }
}

fn ask(question: &Question<'_>, care: OnSilence<'_>) -> Result<Finding, BoundedRunError> {
    let input = serde_json::to_vec(question).map_err(|error| BoundedRunError::Broken(error.into()))?;
    let own = paths::own_image().map_err(BoundedRunError::Start)?;
    let until = clock::monotonic() + LONGEST;
    let talk =
        BoundedRun::begin(&own, &[OsString::from(VERB)], Path::new("/"), &[], input, until, LONGEST_FINDING)?;
    let (said, _) = talk.finish_with(care)?;
    serde_json::from_slice(&said).map_err(|error| BoundedRunError::Broken(error.into()))
}

/// Which limit the validating process exceeded, if that is why it failed.
fn excess(error: &BoundedRunError) -> Option<String> {
    match error {
        BoundedRunError::Slow => {
            Some(format!("validation takes too long (more than {} s)", LONGEST.as_secs()))
        }
        BoundedRunError::Failed { status, complaint } => {
            let is_killed = matches!(status.signal(), Some(libc::SIGXCPU | libc::SIGKILL));
            (is_killed || complaint.contains(OUT_OF_MEMORY)).then(|| {
                format!(
                    "validation takes too much time or memory (more than {} s of CPU time, or {} MiB)",
                    CPU.as_secs(),
                    MEMORY >> 20
                )
            })
        }
        BoundedRunError::Start(_)
        | BoundedRunError::Broken(_)
        | BoundedRunError::TooMuch
        | BoundedRunError::GivenUp(_) => None,
    }
}

/// The process that validates: reads a question and writes the finding.
pub(crate) fn answer_question(input: &mut dyn std::io::Read) -> std::io::Result<Vec<u8>> {
    rlimits::limit_self(CPU, MEMORY)?;
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let question: Question<'_> = serde_json::from_slice(&bytes)?;
    Ok(serde_json::to_vec(&find(&question))?)
}

fn find(question: &Question<'_>) -> Finding {
    let bounded = |why: String| cut(&why, 2 * LONGEST_REASON);
    let validator = match jsonschema::validator_for(&question.schema) {
        Ok(validator) => validator,
        Err(error) => return Finding::NotASchema(bounded(error.to_string())),
    };
    let Some(answer) = &question.answer else { return Finding::Fits };
    match serde_json::from_str(answer) {
        Err(_) if answer.is_empty() => Finding::Unfit("it is empty".into()),
        Err(_) => Finding::Unfit("it is not JSON".into()),
        Ok(answer) => match validator.validate(&answer) {
            Ok(()) => Finding::Fits,
            Err(error) => Finding::Unfit(bounded(format!("{error} at `{}`", error.instance_path()))),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: Value, answer: Option<&str>, expected: &str) {
        let found = find(&Question { schema, answer: answer.map(Into::into) });
        assert!(format!("{found:?}").starts_with(expected), "{found:?}");
    }

    #[test]
    fn the_callers_schema_decides_over_the_callers_answer() {
        let schema =
            json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
        check(schema.clone(), None, "Fits");
        check(schema.clone(), Some(r#"{"n":1}"#), "Fits");
        check(
            schema.clone(),
            Some(r#"{"n":"one"}"#),
            r#"Unfit("\"one\" is not of type \"integer\" at `/n`")"#,
        );
        check(schema.clone(), Some("not json at all"), "Unfit(\"it is not JSON\")");
        check(schema, Some(""), "Unfit(\"it is empty\")");
    }

    #[test]
    fn a_schema_that_is_none_is_the_callers_fault() {
        check(json!({ "type": 7 }), Some("1"), "NotASchema");
        check(json!({ "$ref": "https://example.com/a.json" }), None, "NotASchema");
    }

    #[test]
    fn only_a_limit_is_called_one() {
        let ended = |raw: i32, complaint: &str| {
            let status = std::process::ExitStatus::from_raw(raw);
            excess(&BoundedRunError::Failed { status, complaint: complaint.to_owned() }).is_some()
        };
        assert!(ended(libc::SIGXCPU, "") && ended(libc::SIGKILL, ""));
        assert!(ended(libc::SIGABRT, "memory allocation of 1073741824 bytes failed\n"));
        assert!(
            !ended(libc::SIGSEGV, "") && !ended(libc::SIGABRT, "stack overflow") && !ended(256, "a panic")
        );
        assert!(excess(&BoundedRunError::Slow).is_some());
        assert!(excess(&BoundedRunError::Start(std::io::ErrorKind::NotFound.into())).is_none());
    }
}
