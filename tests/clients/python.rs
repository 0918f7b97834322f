//! The official Python SDK, in both of its lines and all of its ways to connect.

use crate::story;
use crate::world::World;

#[test]
fn the_python_sdk_finds_out_the_newest_revision() {
    check("auto", "2026-07-28");
}

#[test]
fn the_python_sdk_can_be_told_the_newest_revision() {
    check("2026-07-28", "2026-07-28");
}

#[test]
fn the_python_sdk_shakes_hands_as_before() {
    check("legacy", "2025-11-25");
}

#[test]
fn the_older_python_sdk_shakes_hands() {
    let world = World::new();
    let received = world.python("python-sdk-1", "python_1.py", &[]).ended(0).json();
    story::check(&world, &received, "2025-11-25");
}

fn check(mode: &str, protocol: &str) {
    let world = World::new();
    let received = world.python("python-sdk", "python_2.py", &[mode]).ended(0).json();
    story::check(&world, &received, protocol);
}
