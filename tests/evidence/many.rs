//! Many files at once: none is lost, and what it costs does not grow with them
//! more than it must.

use serde_json::json;

use crate::world::World;

const SOME: &str = "seq 40 >long; seq 100 140 >other; echo s >small; git add -A; git commit -qm first";

#[test]
fn what_is_kept_of_many_files_is_a_few() {
    let world = World::new(SOME);
    world.shell("mkdir new; cd new; for i in $(seq 3000); do echo $i >$i; done");
    let root = world.env.root().display();
    let done = world.check(&format!(
        "find {root} -path '*/tree/*' -type f >../side/kept; echo more >>new/7; rm new/8; mv new/9 new/nine"
    ));
    let kept = std::fs::read_to_string(world.env.side().join("kept")).unwrap();
    assert!(kept.lines().count() < 20, "{kept}");
    assert_eq!(done.change("new/7")["lines_added"], 1);
    assert_eq!(done.change("new/nine")["old_path"], "new/9");
}

/// Most of what is new can have been nothing else, and some can.
#[test]
fn new_files_beside_others_that_are_gone() {
    let world = World::new(SOME);
    let done = world.check(
        "mkdir new; cd new; for i in $(seq 2000); do echo $i >$i; done; : >empty; printf 'no end' >no-end; \
         printf 'a\\0b\\n' >binary; ln -s nowhere link; printf 'one\\r\\ntwo\\r\\n' >crlf; seq 4000 >large; \
         sed 's/^7$/seven/' ../long >longer; rm ../long; cp ../other .; rm ../other",
    );
    assert_eq!(done.change("new/longer")["kind"], "renamed");
    assert_eq!(done.change("new/large")["lines_added"], 4000);
    assert_eq!(done.change("new/binary").get("lines_added"), None);
    let all = world.shell("git add -A; git diff --cached -M --numstat | awk '$1 != \"-\" { a += $1; r += $2 } END { print a, r }'");
    let [added, removed] = all.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{all}") };
    let number = |text: &str| text.parse::<u64>().unwrap();
    let expected = json!({ "files": 2008, "lines_added": number(added), "lines_removed": number(removed) });
    assert_eq!(done.files()["totals"], expected);
}

#[test]
fn an_attribute_says_what_has_lines() {
    let world = World::new(&format!(
        "{SOME}; echo '*.t diff\n*.b -diff' >.gitattributes; git add -A; git commit -qm two"
    ));
    let done = world.check("printf 'a\\0b\\nc\\n' >x.t; printf 'a\\nb\\n' >y");
    assert_eq!(done.change("x.t")["lines_added"], 2);
}
