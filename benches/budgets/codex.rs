//! The cost of Codex's probes before a run. The probed program is this one, with a given delay.

use std::fs;
use std::path::Path;

use crate::Effort;
use crate::figures::{Budget, Samples, Table};
use crate::machine::{self, millis};
use crate::world::{DELEGATOR, World};

/// Time that the native Codex takes for an answer, and the one started by Node.
const DELAYS: [(&str, u64); 2] = [("13 ms", 13), ("75 ms", 75)];

const WRITES: &str = "workspace-write";
const SANDBOXES: [(&str, &str); 2] = [(WRITES, "may write"), ("read-only", "only reads")];

pub fn measure(effort: Effort, table: &mut Table) {
    let world = World::new("");
    let bin = world.scratch("bin");
    fs::create_dir(&bin).unwrap();
    let codex = bin.join("codex");
    fs::copy(std::env::current_exe().unwrap(), &codex).unwrap();
    world.configure(&format!("codex_path = \"{}\"\n", codex.display()));
    let repository = world.scratch("repository");
    let made = world.time(&["/usr/bin/env", "git", "init", "-q", repository.to_str().unwrap()]).1;
    assert_eq!(made.code, Some(0), "`git init` failed");
    for (sandbox, name) in SANDBOXES {
        let run = |delay: u64| {
            fs::write(bin.join("delay"), delay.to_string()).unwrap();
            run(&world, &repository, sandbox)
        };
        table.section(&format!(
            "a whole run of Codex that {name} and has nothing to do (three questions before it)"
        ));
        if sandbox == WRITES {
            // The first run asks all questions, and the answers are cached.
            table.row("first run, each question answered at once", run(0), "ms", Budget::None);
        }
        compare(effort, run, table);
    }
}

fn compare(effort: Effort, run: impl Fn(u64) -> f64, table: &mut Table) {
    let mut times = [(); 3].map(|()| Samples::default());
    for _ in 0..effort.looks {
        times[0].add(run(0));
        for (samples, (_, delay)) in times[1..].iter_mut().zip(DELAYS) {
            samples.add(run(delay));
        }
    }
    let at_once = times[0].median();
    table.row("later ones, each question answered at once, p50", at_once, "ms", Budget::None);
    for (samples, (name, delay)) in times[1..].iter().zip(DELAYS) {
        table.row(
            &format!("later ones, each answered after {name}, p50"),
            samples.median(),
            "ms",
            Budget::None,
        );
        // One question remains: the list of servers depends on settings. A run that writes asks it while
        // its tree is looked at; one that only reads has no such look, and its floor is the delay itself.
        let budget = if delay <= 20 { Budget::AtMost(10.0) } else { Budget::None };
        table.row("... more than where it is answered at once", samples.median() - at_once, "ms", budget);
    }
}

fn run(world: &World, repository: &Path, sandbox: &str) -> f64 {
    let repository = repository.to_str().unwrap();
    let agent = [DELEGATOR, "run", "--agent", "codex", "--sandbox", sandbox];
    let argv = [&agent[..], &["--cwd", repository, "--wait", "nothing"]].concat();
    let (took, ended) = world.time(&argv);
    assert_eq!(ended.code, Some(0), "`delegator run --agent codex` failed");
    machine::collect_all();
    millis(took)
}
