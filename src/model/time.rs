//! A moment of the wall clock, to the millisecond.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Milliseconds since the epoch; RFC 3339 in UTC wherever it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timestamp(i64);

impl Timestamp {
    pub(crate) const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub(crate) fn as_millis(self) -> i64 {
        self.0
    }

    /// Milliseconds from `earlier` to here; zero when the clock was set back.
    pub(crate) fn millis_since(self, earlier: Timestamp) -> u64 {
        u64::try_from(self.0 - earlier.0).unwrap_or(0)
    }

    /// The stamp a run id begins with: `2026-11-15_093000123`.
    pub(crate) fn run_stamp(self) -> String {
        let (civil, millis) = self.civil();
        format!("{}{millis:03}", civil.strftime("%Y-%m-%d_%H%M%S"))
    }

    fn civil(self) -> (jiff::civil::DateTime, i64) {
        // Both bounds are valid moments, so the clamp makes the conversion total.
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

    /// Reads RFC 3339, in whatever zone.
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
}
