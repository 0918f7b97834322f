//! Ids of tasks, runs, threads and terminals.
//!
//! Parsed once on input. An id is safe to use in a path, because its syntax allows neither
//! separators nor `..`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Crockford's base 32 in lower case, without letters that look like digits.
const BASE32: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not {expected}")]
pub(crate) struct BadId {
    given: String,
    expected: &'static str,
}

/// A task: `T-local-` and 12 letters or digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct TaskId(String);

/// A run and its directory: `YYYY-MM-DD_HHMMSSmmm_<12 hex>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct RunId(String);

/// An agent's conversation: a UUID for all known agents.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct ThreadId(String);

/// A recorded terminal: `term-` and 12 letters or digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct TerminalId(String);

/// 12 letters and digits from 60 random bits.
fn tail_of(bytes: [u8; 8]) -> String {
    let bits = u64::from_le_bytes(bytes);
    (0..12).map(|i| char::from(BASE32[(bits >> (i * 5)) as usize & 31])).collect()
}

fn is_tail(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|b| BASE32.contains(&b))
}

impl TaskId {
    const LOCAL: &'static str = "T-local-";
    const CLOUD: &'static str = "T-cloud-";

    pub(crate) fn from_random(bytes: [u8; 8]) -> Self {
        Self(format!("{}{}", Self::LOCAL, tail_of(bytes)))
    }

    /// The id of a task that a service runs.
    pub(crate) fn hosted_from_random(bytes: [u8; 8]) -> Self {
        Self(format!("{}{}", Self::CLOUD, tail_of(bytes)))
    }

    /// Whether a text starts like a task id.
    pub(crate) fn begins(text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        ["t-local", "t-cloud"].iter().any(|kind| lower.starts_with(kind))
    }

    pub(crate) fn is_hosted(&self) -> bool {
        self.0.starts_with(Self::CLOUD)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TaskId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let lower = text.to_ascii_lowercase();
        let parsed = [Self::LOCAL, Self::CLOUD].into_iter().find_map(|prefix| {
            let tail = lower.strip_prefix(&prefix.to_ascii_lowercase())?;
            is_tail(tail).then(|| Self(format!("{prefix}{tail}")))
        });
        match parsed {
            Some(id) => Ok(id),
            None => {
                Err(BadId { given: text.to_owned(), expected: "a task id such as `T-local-0a1b2c3d4e5f`" })
            }
        }
    }
}

impl TerminalId {
    const PREFIX: &'static str = "term-";

    pub(crate) fn from_random(bytes: [u8; 8]) -> Self {
        Self(format!("{}{}", Self::PREFIX, tail_of(bytes)))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TerminalId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let lower = text.to_ascii_lowercase();
        match lower.strip_prefix(Self::PREFIX) {
            Some(tail) if is_tail(tail) => Ok(Self(lower)),
            _ => Err(BadId { given: text.to_owned(), expected: "a terminal id such as `term-0a1b2c3d4e5f`" }),
        }
    }
}

impl RunId {
    /// From a UTC stamp (`2026-11-15_093000123`) and random bytes.
    pub(crate) fn from_parts(stamp: &str, random: [u8; 6]) -> Self {
        let hex: String = random.iter().map(|b| format!("{b:02x}")).collect();
        Self(format!("{stamp}_{hex}"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let shape = |(i, b): (usize, u8)| match i {
            4 | 7 => b == b'-',
            10 | 20 => b == b'_',
            21.. => b.is_ascii_digit() || (b'a'..=b'f').contains(&b),
            _ => b.is_ascii_digit(),
        };
        if text.len() == 33 && text.bytes().enumerate().all(shape) {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadId {
                given: text.to_owned(),
                expected: "a run id such as `2026-11-15_093000123_0a1b2c3d4e5f`",
            })
        }
    }
}

impl ThreadId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ThreadId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let shape = |(i, b): (usize, u8)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        };
        if text.len() == 36 && text.bytes().enumerate().all(shape) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(BadId { given: text.to_owned(), expected: "a thread id (a UUID)" })
        }
    }
}

macro_rules! id_text {
    ($($id:ty),*) => {$(
        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $id {
            type Error = BadId;

            fn try_from(text: String) -> Result<Self, BadId> {
                text.parse()
            }
        }

        impl From<$id> for String {
            fn from(id: $id) -> String {
                id.0
            }
        }
    )*};
}

id_text!(TaskId, RunId, ThreadId, TerminalId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_id_is_read_back_in_any_case() {
        let id = TaskId::from_random([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(id.as_str().len(), 20);
        assert_eq!(id.as_str().to_uppercase().parse(), Ok(id));
        let hosted = TaskId::hosted_from_random([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(hosted.as_str().to_uppercase().parse(), Ok(hosted));
        let terminal = TerminalId::from_random([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(terminal.as_str().len(), 17);
        assert_eq!(terminal.as_str().to_uppercase().parse(), Ok(terminal));
    }

    #[test]
    fn no_id_can_leave_its_directory() {
        for bad in [
            "",
            "..",
            "T-local-../../etc",
            "T-local-0a1b2c3d4e5f/",
            "T-fleet-0a1b2c3d4e5f",
            "T-local-0a1b2c3d4e5u",
        ] {
            assert!(bad.parse::<TaskId>().is_err(), "{bad}");
        }
        for bad in [
            "",
            "..",
            "term-",
            "term-../../../../",
            "term-0a1b2c3d4e5f/",
            "term-0a1b2c3d4e5u",
            "T-local-0a1b2c3d4e5f",
        ] {
            assert!(bad.parse::<TerminalId>().is_err(), "{bad}");
        }
        for bad in [
            "",
            "../../../../../../../../etc/passwd",
            "2026-11-15_093000123_0a1b2c3d4e5/",
            "2026-11-15_093000123_0A1B2C3D4E5F",
        ] {
            assert!(bad.parse::<RunId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_run_id_is_its_stamp_and_twelve_hex() {
        let id = RunId::from_parts("2026-11-15_093000123", [0xd2, 0x7c, 0xe1, 0xe8, 0x3f, 0xa1]);
        assert_eq!(id.as_str(), "2026-11-15_093000123_d27ce1e83fa1");
        assert_eq!(id.as_str().parse(), Ok(id));
    }

    #[test]
    fn a_thread_is_a_uuid_and_nothing_else() {
        assert!("01a1de11-e775-7fc2-8102-aec1425b9fd0".parse::<ThreadId>().is_ok());
        assert!("my-thread".parse::<ThreadId>().is_err());
        assert!("--last".parse::<ThreadId>().is_err());
    }
}
