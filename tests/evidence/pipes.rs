//! Something else than a file where git, or we, would read one. A pipe makes
//! whoever opens it wait; here nobody does, and nothing is lost by it.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::world::{Done, World};

const SOME: &str = "mkdir sub; seq 9 >a; echo b >sub/b; git add -A; git commit -qm first";

/// Less than what one git may take, which is what a pipe used to cost.
const SOON: Duration = Duration::from_secs(9);

#[track_caller]
fn soon(world: &World, script: &str) -> Done {
    let began = Instant::now();
    let done = world.run(script);
    assert!(began.elapsed() < SOON, "{script}: {:?}", began.elapsed());
    done
}

#[track_caller]
fn check(done: &Done, expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(kind, path)| (kind.to_string(), path.to_string())).collect();
    assert_eq!(done.kinds(), expected, "{:#}", done.evidence);
    assert_eq!(done.files().get("incomplete"), None, "{:#}", done.evidence);
}

#[test]
fn a_pipe_in_the_place_of_rules_is_no_rules() {
    let world = World::new(SOME);
    world.shell("mkfifo .gitignore sub/.gitignore .gitattributes sub/.gitattributes");
    let done = soon(&world, "echo x >>a; echo n >sub/new; printf 'one\\r\\n' >sub/crlf");
    check(&done, &[("modified", "a"), ("added", "sub/crlf"), ("added", "sub/new")]);
    assert_eq!(done.change("a")["lines_added"], 1);
}

#[test]
fn a_pipe_that_the_agent_leaves_hides_nothing() {
    let world = World::new(SOME);
    let done =
        soon(&world, "mkdir -p new/deep; mkfifo new/deep/.gitignore; echo evil >new/deep/evil; echo x >>a");
    check(&done, &[("modified", "a"), ("added", "new/deep/evil")]);
}

#[test]
fn pipes_among_the_repositorys_own_files_keep_nobody() {
    for file in [
        "info/exclude",
        "info/attributes",
        "logs/HEAD",
        "packed-refs",
        "FETCH_HEAD",
        "shallow",
        "commondir",
        "config.worktree",
        "objects/info/alternates",
    ] {
        let world = World::new(SOME);
        let done = soon(
            &world,
            &format!(
                "echo x >>a; git commit -qam two; mkdir -p .git/info .git/objects/info; rm -f .git/{file}; mkfifo .git/{file}"
            ),
        );
        check(&done, &[("modified", "a")]);
        assert_eq!(done.change("a")["lines_added"], 1, "{file}");
        assert_eq!(done.files()["commits"][0]["subject"], "two", "{file}: {:#}", done.evidence);
        // And the next one.
        check(&soon(&world, "echo y >>a"), &[("modified", "a")]);
    }
}

#[test]
fn a_pipe_for_a_head_or_an_index_is_told() {
    let world = World::new(SOME);
    let done = soon(&world, "rm .git/index; mkfifo .git/index; echo x >>a");
    assert_eq!(done.kinds(), [("modified".into(), "a".into())], "{:#}", done.evidence);
    assert!(done.files()["incomplete"][0].as_str().unwrap().contains("index"), "{:#}", done.evidence);
    let done = soon(&world, "echo y >>a");
    assert_eq!(done.files()["source"], "none");
    let world = World::new(SOME);
    let done = soon(&world, "rm .git/HEAD; mkfifo .git/HEAD; echo x >>a");
    check(&done, &[("modified", "a")]);
    assert_eq!(done.files()["after"], json!({}));
}

#[test]
fn directories_and_sockets_are_no_rules_either() {
    let world = World::new(SOME);
    world.shell(
        "mkdir .gitignore .gitattributes .gitmodules; python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"sub/.gitignore\")'",
    );
    let done = soon(&world, "echo x >>a; echo n >sub/new");
    check(&done, &[("modified", "a"), ("added", "sub/new")]);
}

/// So many rules for so many files that git would be busy for minutes.
#[test]
fn rules_that_nobody_can_follow_are_given_up_and_told() {
    let world = World::new(SOME);
    world.shell(
        "mkdir many; cd many; seq 1 4000 | xargs touch; seq 1 400000 | sed 's/.*/[0-8]*x&*y/' >.gitignore",
    );
    let done = soon(&world, "echo x >>a; echo n >sub/new; rm sub/b");
    assert_eq!(done.files()["source"], "git", "{:#}", done.evidence);
    assert_eq!(
        done.kinds(),
        [("modified".into(), "a".into()), ("deleted".into(), "sub/b".into())],
        "{:#}",
        done.evidence
    );
    let gaps = done.files()["incomplete"].as_array().unwrap();
    let told = |what: &str| gaps.iter().any(|gap| gap.as_str().unwrap().contains(what));
    assert!(told("the rules in `many/.gitignore` are too long"), "{gaps:#?}");
}
