//! Updates the estimated end of a run while it goes on. Uses points in time, so that the record
//! stays valid for later readers.

use std::time::Duration;

use crate::model::{Eta, Timestamp};
use crate::progress::eta;

#[derive(Debug)]
pub(crate) struct EtaTracker {
    took: Vec<Duration>,
    started: Timestamp,
    eta: Option<Eta>,
}

impl EtaTracker {
    /// For a run that starts now; earlier runs `took` this long.
    pub(crate) fn new(took: Vec<Duration>, now: Timestamp) -> Self {
        Self { took, started: now, eta: None }
    }

    /// Updates the estimate. Returns whether it changed because an earlier run would be over by
    /// now.
    pub(crate) fn changes(&mut self, now: Timestamp) -> bool {
        let elapsed = Duration::from_millis(now.millis_since(self.started));
        let at = |left: Duration| {
            let millis = i64::try_from(left.as_millis()).unwrap_or(i64::MAX);
            Timestamp::from_millis(now.as_millis().saturating_add(millis))
        };
        let found = eta(&self.took, elapsed).map(|found| Eta {
            earliest: at(found.low),
            latest: at(found.high),
            samples: found.samples,
        });
        std::mem::replace(&mut self.eta, found) != found
    }

    pub(crate) fn eta(&self) -> Option<Eta> {
        self.eta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_changes_only_when_another_run_was_over_by_now() {
        let at = Timestamp::from_millis;
        let took = [10, 20, 30, 40, 50].map(Duration::from_secs).to_vec();
        let mut outlook = EtaTracker::new(took, at(1_000));
        let told = |outlook: &EtaTracker| {
            let Eta { earliest, latest, samples } = outlook.eta()?;
            Some((earliest.as_millis(), latest.as_millis(), samples))
        };
        assert!(outlook.changes(at(1_000)));
        assert_eq!(told(&outlook), Some((21_000, 41_000, 5)));
        assert!(!outlook.changes(at(1_001)) && !outlook.changes(at(10_999)));
        assert!(outlook.changes(at(11_000)));
        assert_eq!(told(&outlook), Some((21_000, 51_000, 4)));
        assert!(outlook.changes(at(40_000)));
        assert_eq!(told(&outlook), None);
        assert!(!outlook.changes(at(90_000)));
    }

    #[test]
    fn without_others_nothing_is_known() {
        assert!(!EtaTracker::new(Vec::new(), Timestamp::from_millis(0)).changes(Timestamp::from_millis(5)));
    }
}
