//! Which part of a recording to read.

use crate::model::Timestamp;
use crate::terminals::TerminalError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartSelector {
    Head(u64),
    Tail(u64),
    All,
    Since(Timestamp),
    /// Continue where an earlier part ended.
    From(u64),
}

impl PartSelector {
    /// Continues from a cursor of an earlier reply.
    pub(crate) fn after(cursor: &str) -> Result<PartSelector, TerminalError> {
        let offset = cursor.strip_prefix('b').and_then(|digits| digits.parse().ok());
        offset.map(PartSelector::From).ok_or_else(|| TerminalError::BadCursor(cursor.to_owned()))
    }

    /// Since this RFC 3339 time, or since a duration before `now`.
    pub(crate) fn since(moment: &str, now: Timestamp) -> Result<PartSelector, TerminalError> {
        let text = moment.trim();
        let moment = ago(text, now).or_else(|| text.parse().ok());
        moment.map(PartSelector::Since).ok_or_else(|| TerminalError::BadMoment(text.to_owned()))
    }
}

/// A duration before now: `90s`, `10m`, `2h` or `1d`.
fn ago(text: &str, now: Timestamp) -> Option<Timestamp> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let millis = match unit {
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let number: u32 = number.parse().ok()?;
    Some(Timestamp::from_millis(now.as_millis() - i64::from(number) * millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_may_be_told_by_how_long_ago_it_was() {
        let now = Timestamp::from_millis(10_000_000);
        for (text, millis) in
            [("90s", 9_910_000), (" 10m ", 9_400_000), ("2h", 2_800_000), ("1970-01-01T00:00:01Z", 1000)]
        {
            assert_eq!(
                PartSelector::since(text, now).unwrap(),
                PartSelector::Since(Timestamp::from_millis(millis)),
                "{text}"
            );
        }
        for bad in ["", "s", "-1s", "10", "é", "99999999999d"] {
            assert!(PartSelector::since(bad, now).is_err(), "{bad}");
        }
    }
}
