//! Creates all new ids.

use crate::host::clock;
use crate::model::{RunId, TaskId, TerminalId};

/// No id can be created without random bytes.
#[derive(Debug, thiserror::Error)]
#[error("the system gave no random bytes")]
pub(crate) struct NoRandomness(#[from] getrandom::Error);

pub(crate) fn task_id() -> Result<TaskId, NoRandomness> {
    Ok(TaskId::from_random(random()?))
}

pub(crate) fn hosted_task_id() -> Result<TaskId, NoRandomness> {
    Ok(TaskId::hosted_from_random(random()?))
}

pub(crate) fn run_id() -> Result<RunId, NoRandomness> {
    Ok(RunId::from_parts(&clock::now().run_stamp(), random()?))
}

pub(crate) fn terminal_id() -> Result<TerminalId, NoRandomness> {
    Ok(TerminalId::from_random(random()?))
}

/// A UUID of version 4, for the envelope's `request_id`.
pub(crate) fn request_id() -> Result<String, NoRandomness> {
    let mut bytes: [u8; 16] = random()?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

/// 128 random bits in hexadecimal, for names that must not be guessable.
pub(crate) fn secret() -> Result<String, NoRandomness> {
    Ok(random::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// 256 random bits in hexadecimal, for credentials.
pub(crate) fn token() -> Result<String, NoRandomness> {
    Ok(random::<32>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// From -1 to 1, different every time. Without random bytes, 0.
pub(crate) fn jitter() -> f64 {
    random::<1>().map_or(0.0, |[byte]| f64::from(byte) / 127.5 - 1.0)
}

fn random<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
