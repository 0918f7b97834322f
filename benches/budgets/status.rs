//! The time to list tasks in a large registry.

use crate::Effort;
use crate::figures::{Budget, Samples, Table};
use crate::machine::{self, millis};
use crate::world::{DELEGATOR, World};

const TASKS: i64 = 100_000;

pub fn measure(effort: Effort, table: &mut Table) {
    let world = World::new("");
    world.submit("command", "true");
    machine::collect_all();
    fill(&world);
    let argv = [DELEGATOR, "status", "--json"];
    let shown = world.output(&argv);
    assert!(shown.contains("T-local-"), "`delegator status` shows nothing: {shown}");
    let (mut looks, mut version) = (Samples::default(), Samples::default());
    for _ in 0..effort.looks {
        version.add(millis(world.time(&[DELEGATOR, "--version"]).0));
        looks.add(millis(world.time(&argv).0));
    }
    table.section("a look at 100,000 tasks (`delegator status --json`)");
    table.row("the whole process, p50", looks.median(), "ms", Budget::None);
    let alone = looks.median() - version.median();
    table.row("without the start of the program, p50", alone, "ms", Budget::AtMost(5.0));
}

/// Copies the only finished task until there are enough.
fn fill(world: &World) {
    let registry = rusqlite::Connection::open(world.registry()).unwrap();
    let columns: Vec<String> = registry
        .prepare("SELECT name FROM pragma_table_info('tasks') WHERE name NOT IN ('seq', 'id', 'run_id', 'completed_at')")
        .and_then(|mut names| names.query_map([], |row| row.get(0))?.collect())
        .unwrap();
    let columns = columns.join(", ");
    let inserted = registry
        .execute(
            &format!(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
                 INSERT INTO tasks (id, run_id, completed_at, {columns})
                 SELECT printf('T-local-%012d', i), printf('2026-01-01_000000000_%012x', i), completed_at - i, {columns}
                 FROM n, tasks WHERE seq = 1"
            ),
            [TASKS - 1],
        )
        .unwrap();
    assert_eq!(inserted as i64, TASKS - 1);
}
