//! Which crash points are tried: all of them in the profile `full`, one in
//! twenty while working.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::SystemTime;

use crate::support::strace::Point;

const ONE_IN: u64 = 20;

/// Keeps the points that this run tries.
///
/// The seed is the day, so that a failure can be repeated and other points
/// have their turn tomorrow. `DELEGATOR_TEST_SEED` sets another one.
pub fn sample(points: &mut Vec<Point>) {
    if std::env::var("NEXTEST_PROFILE").is_ok_and(|profile| profile == "full") {
        return;
    }
    let seed = std::env::var("DELEGATOR_TEST_SEED").unwrap_or_else(|_| today().to_string());
    let is_kept = |point: &Point| {
        let mut hasher = DefaultHasher::new();
        (&seed, &point.place).hash(&mut hasher);
        hasher.finish().is_multiple_of(ONE_IN)
    };
    points.retain(is_kept);
    println!("a sample of the crash points: {} with DELEGATOR_TEST_SEED={seed}", points.len());
}

fn today() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400
}
