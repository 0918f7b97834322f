//! A wall-clock time in milliseconds.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Milliseconds since the epoch; written as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timestamp(i64);

impl Timestamp {
    /// The beginning of 2026. This program is younger, so earlier times come from a clock that was
    /// not set.
    pub(crate) const EARLIEST: Timestamp = Timestamp(1_767_225_600_000);

    pub(crate) const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub(crate) fn as_millis(self) -> i64 {
        self.0
    }

    /// Milliseconds since `earlier`; zero if the clock was set back.
    pub(crate) fn millis_since(self, earlier: Timestamp) -> u64 {
        u64::try_from(self.0 - earlier.0).unwrap_or(0)
    }

    /// The time `millis` later.
    pub(crate) fn later(self, millis: u64) -> Timestamp {
        Self(self.0.saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)))
    }

    /// Whether something of this time is `age` old. False if the time is implausible.
    pub(crate) fn is_past(self, age: Duration, now: Timestamp) -> bool {
        let is_known = self >= Self::EARLIEST;
        age.is_zero() || (is_known && u128::from(now.millis_since(self)) >= age.as_millis())
    }

    /// The stamp at the start of a run id: `2026-11-15_093000123`.
    pub(crate) fn run_stamp(self) -> String {
        let (civil, millis) = self.civil();
        format!("{}{millis:03}", civil.strftime("%Y-%m-%d_%H%M%S"))
    }

    /// The stamp in the name of a capture: `2026-11-15T09-30-00`.
    pub(crate) fn capture_stamp(self) -> String {
        self.civil().0.strftime("%Y-%m-%dT%H-%M-%S").to_string()
    }

    fn civil(self) -> (jiff::civil::DateTime, i64) {
        // Clamped to valid values, so the conversion cannot fail.
        let clamped = self.0.clamp(0, 253_402_300_799_000);
        let moment = jiff::Timestamp::from_millisecond(clamped).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        (jiff::tz::Offset::UTC.to_datetime(moment), clamped % 1000)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (civil, millis) = self.civil();
        write!(f, "{}.{millis:03}Z", civil.strftime("%Y-%m-%dT%H:%M:%S"))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;

    /// Parses RFC 3339 in any time zone.
    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        Ok(Self(text.parse::<jiff::Timestamp>()?.as_millisecond()))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_and_read_back() {
        let at = Timestamp::from_millis(1_794_735_000_123);
        assert_eq!(at.to_string(), "2026-11-15T09:30:00.123Z");
        assert_eq!(at.run_stamp(), "2026-11-15_093000123");
        let json = serde_json::to_string(&at).unwrap();
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), at);
    }

    #[test]
    fn a_clock_set_back_gives_no_negative_duration() {
        assert_eq!(Timestamp::from_millis(5).millis_since(Timestamp::from_millis(9)), 0);
    }

    #[test]
    fn what_is_older_than_this_program_is_of_no_known_age() {
        let now = Timestamp::EARLIEST.later(60_000);
        let minute = Duration::from_secs(60);
        assert!(Timestamp::EARLIEST.is_past(minute, now));
        assert!(!Timestamp::EARLIEST.later(1).is_past(minute, now));
        assert!(!Timestamp::from_millis(0).is_past(minute, now));
        assert!(Timestamp::from_millis(0).is_past(Duration::ZERO, now), "whatever its age");
    }
}
