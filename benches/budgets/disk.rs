//! The cost of creating a file, which varies.
//!
//! After a large tree was removed, ext4 without a journal examines every inode freed in the last
//! minutes before it reuses one, so a new file takes twenty times as long. Measurements that create
//! files wait until that is over.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use crate::Effort;
use crate::figures::Samples;
use crate::machine::{self, millis};
use crate::world::World;

/// The disk is at rest if a new file takes less than this part of a `posix_spawn`.
const AT_REST: f64 = 0.1;
const LOOKS: usize = 20;
const PAUSE: Duration = Duration::from_secs(10);

/// Waits until new files are cheap. Returns the milliseconds for one.
pub fn at_rest(effort: Effort, world: &World) -> f64 {
    let began = machine::now();
    let mut round = 0;
    loop {
        let (file, spawn) = (new_file(&world.scratch(&format!("rest-{round}"))), bare_spawn(world));
        if file <= AT_REST * spawn || machine::now() - began >= effort.patience {
            return file;
        }
        if round == 0 {
            eprintln!("a new file takes {file:.2} ms, as after large removals: waiting until that is over");
        }
        std::thread::sleep(PAUSE);
        round += 1;
    }
}

/// Milliseconds to create a file in a new directory.
fn new_file(place: &Path) -> f64 {
    let mut samples = Samples::default();
    for number in 0..LOOKS {
        let directory = place.join(number.to_string());
        fs::create_dir_all(&directory).unwrap();
        let began = machine::now();
        File::create(directory.join("file")).unwrap();
        samples.add(millis(machine::now() - began));
    }
    samples.median()
}

fn bare_spawn(world: &World) -> f64 {
    let mut samples = Samples::default();
    (0..LOOKS).for_each(|_| samples.add(millis(world.time(&["/bin/true"]).0)));
    samples.median()
}

/// The minimum that a submission has to do.
pub fn durable_file(directory: &Path, name: &str) -> Duration {
    let (new, file) = (directory.join(format!("{name}.new")), directory.join(name));
    let began = machine::now();
    let mut writing = File::create(&new).unwrap();
    writing.write_all(&[b' '; 1500]).unwrap();
    writing.sync_all().unwrap();
    fs::rename(&new, &file).unwrap();
    File::open(directory).and_then(|dir| dir.sync_all()).unwrap();
    machine::now() - began
}
