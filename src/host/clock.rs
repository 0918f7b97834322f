//! The one clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::model::Timestamp;

/// The wall clock, for display and for the registry. Never for liveness.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// Time since boot, suspend included, so that a limit holds over a closed lid.
pub(crate) fn monotonic() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(seconds, nanos)
}
