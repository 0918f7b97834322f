//! The time to find 10,000 skills and to choose among them.

use std::fs;

use crate::Effort;
use crate::figures::{Budget, Samples, Table};
use crate::machine::millis;
use crate::world::{DELEGATOR, World};

const SKILLS: usize = 10_000;
const SUBJECTS: [&str; 8] =
    ["invoices", "deployments", "charts", "translations", "certificates", "queues", "tutorials", "telemetry"];
const VERBS: [&str; 5] = ["Review", "Generate", "Migrate", "Explain", "Repair"];

pub fn measure(effort: Effort, table: &mut Table) {
    let world = World::new("");
    fill(&world);
    let cache = world.scratch("home/skills.cache");
    let argv = [DELEGATOR, "skills", "--for", "Repair the queues of topic t4711"];
    let shown = world.output(&argv);
    assert!(shown.contains("subject-4711"), "`delegator skills` does not find the skill: {shown:.2000}");
    let (mut version, mut cold, mut cached) = (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..effort.looks / 4 {
        version.add(millis(world.time(&[DELEGATOR, "--version"]).0));
        let _ = fs::remove_file(&cache);
        cold.add(millis(world.time(&argv).0));
        cached.add(millis(world.time(&argv).0));
    }
    assert!(cache.exists(), "nothing was cached");
    table.section("skills (choosing among 10,000, without the start of the program)");
    table.row("cold, p50", cold.median() - version.median(), "ms", Budget::AtMost(200.0));
    table.row("cached, p50", cached.median() - version.median(), "ms", Budget::None);
}

/// As many of the user's skills, of usual length.
fn fill(world: &World) {
    let root = world.scratch("user/.codex/skills");
    for at in 0..SKILLS {
        let (subject, verb) = (SUBJECTS[at % SUBJECTS.len()], VERBS[at / 8 % VERBS.len()]);
        let dir = root.join(format!("subject-{at}"));
        fs::create_dir_all(&dir).unwrap();
        let step = format!("- Look at the {subject} first, then {verb} what is part of topic {at}.\n");
        let text = format!(
            "---\nname: subject-{at}\ndescription: {verb} the {subject} of topic t{at}\n---\n\n# Steps\n\n{}",
            step.repeat(15)
        );
        fs::write(dir.join("SKILL.md"), text).unwrap();
    }
}
