//! A home in which the same thing can be done again and again, from the same
//! beginning.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;

use crate::phase::Phase;
use crate::support::agent::playing;

pub struct Scene {
    pub phase: Phase,
    pub task: String,
    limit: u32,
}

impl Scene {
    /// A new home, where a task was done before, and at rest. At most `limit`
    /// tasks run; their agents play `steps`, in which `GO` is the file that
    /// [`release`](Self::release) makes.
    pub fn new(limit: u32, steps: &[&str]) -> Scene {
        let phase = Phase::new();
        let go = go(&phase).display().to_string();
        let steps: Vec<String> = steps.iter().map(|step| step.replace("GO", &go)).collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let task = playing(&phase.env, "agent", &steps);
        phase.submit(&playing(&phase.env, "first", &["exit 0"]));
        let scene = Scene { phase, task, limit };
        scene.rest();
        scene
    }

    /// Lets agents go on that wait for it.
    pub fn release(&self) {
        fs::write(go(&self.phase), "").unwrap();
    }

    /// Everything ends, and agents wait again. The registry is one file: how
    /// much there is to read in its log would differ from time to time.
    pub fn rest(&self) {
        self.release();
        self.phase.settle();
        let registry = Connection::open(self.phase.env.registry()).unwrap();
        registry.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        drop(registry);
        fs::remove_file(go(&self.phase)).unwrap();
        self.phase.limit(self.limit);
    }
}

fn go(phase: &Phase) -> PathBuf {
    phase.env.work().join("go")
}
