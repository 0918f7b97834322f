//! Files that git keeps with other line ends than they have here, or in another
//! encoding: what is told of them is what git finds.

use crate::world::{Done, World};

/// Files with both bytes at the ends of their lines, committed as they are. They
/// are older than the index: git would read younger ones once more.
const CRLF: &str = "seq 1 100 | sed 's/$/\\r/' >w.bat; seq 1 9 >plain; touch -d '1 hour ago' *; git add -A; git commit -qm first";

/// Every way in which git may be asked to keep plain line ends where it finds some.
const AUTO: [&str; 4] = [
    "git config core.autocrlf input",
    "git config core.autocrlf true",
    "git config --global core.autocrlf input",
    "echo '* text=auto' >.gitattributes; git add .gitattributes; git commit -qm attributes",
];

fn lines(done: &Done, path: &str) -> (u64, u64) {
    let change = done.change(path);
    (change["lines_added"].as_u64().unwrap(), change["lines_removed"].as_u64().unwrap())
}

#[test]
fn a_file_that_git_has_with_both_bytes_keeps_them() {
    for auto in AUTO {
        for script in
            ["printf 'one more\\r\\n' >>w.bat", "printf 'one more\\r\\n' >>w.bat; git commit -qam more"]
        {
            let world = World::new(&format!("{CRLF}; {auto}"));
            let done = world.check(script);
            assert_eq!(lines(&done, "w.bat"), (1, 0), "{auto}: {:#}", done.evidence);
        }
        let world = World::new(&format!("{CRLF}; {auto}; printf 'mine\\r\\n' >>w.bat"));
        assert_eq!(lines(&world.check("printf 'one more\\r\\n' >>w.bat"), "w.bat"), (1, 0), "{auto}");
        assert_eq!(world.check("touch w.bat").kinds(), [], "{auto}");
    }
}

#[test]
fn a_file_that_git_is_told_to_keep_plain_is_kept_plain() {
    for attributes in ["*.bat text", "*.bat eol=crlf", "*.bat eol=lf", "*.bat crlf"] {
        let world = World::new(&format!(
            "{CRLF}; echo '{attributes}' >.gitattributes; git add .gitattributes; git commit -qm attributes"
        ));
        world.check("printf 'one more\\r\\n' >>w.bat; printf 'a\\r\\nb\\r\\n' >new.bat");
    }
    let world = World::new(&format!("{CRLF}; git config core.autocrlf input"));
    let done = world.check("printf 'a\\r\\nb\\r\\n' >new.bat; sed 's/$/\\r/' plain >p; cat p >plain; rm p");
    assert_eq!(done.kinds(), [("added".into(), "new.bat".into())], "{:#}", done.evidence);
}

/// What the index says decides, and the agent may change that alone.
#[test]
fn files_that_are_made_plain_in_the_index_alone_are_told() {
    for auto in AUTO {
        let world = World::new(&format!("{CRLF}; {auto}"));
        let done = world.check("git add --renormalize .; git commit -qm plain");
        assert_eq!(lines(&done, "w.bat"), (100, 100), "{auto}: {:#}", done.evidence);
        assert_eq!(world.check("touch w.bat").kinds(), [], "{auto}");
    }
    let world = World::new(CRLF);
    let done =
        world.check("echo '* text=auto' >.gitattributes; git add --renormalize .; git commit -qm plain");
    assert_eq!(lines(&done, "w.bat"), (100, 100), "{:#}", done.evidence);
    let world = World::new(&format!("{CRLF}; git config core.autocrlf input"));
    world.check("git rm -q --cached w.bat; printf 'n\\r\\n' >>w.bat");
}

/// Text in encodings that do not show by their first bytes.
const ENCODED: &str = r"
echo '*.iso working-tree-encoding=ISO-8859-1' >.gitattributes
echo '*.le working-tree-encoding=UTF-16LE' >>.gitattributes
echo '*.bom working-tree-encoding=UTF-16' >>.gitattributes
printf '\344pfel\nb\344ume\n' >a.iso
seq 9 | iconv -f UTF-8 -t UTF-16LE >a.le
seq 9 | iconv -f UTF-8 -t UTF-16 >a.bom
touch -d '1 hour ago' *; git add -A; git commit -qm first";

#[test]
fn a_file_in_another_encoding_is_compared_as_git_keeps_it() {
    let world = World::new(ENCODED);
    assert_eq!(world.check("touch a.*").kinds(), []);
    let done = world.check("printf '\\374ber\\n' >>a.iso; printf 'n\\0\\n\\0' >>a.le");
    assert_eq!((lines(&done, "a.iso"), lines(&done, "a.le")), ((1, 0), (1, 0)), "{:#}", done.evidence);
    // What was changed before is kept in that form as well.
    let done = world.check("printf '\\344\\n' >>a.iso; printf 'm\\0\\n\\0' >>a.le; (cat a.bom; printf 'x\\0\\n\\0') >b; cat b >a.bom; rm b");
    assert_eq!(lines(&done, "a.bom"), (1, 0), "{:#}", done.evidence);
    let done = world.check("git mv a.iso b.iso; mv a.le b.le; git commit -qam moved");
    let told = [("renamed".into(), "b.iso".into()), ("renamed".into(), "b.le".into())];
    assert_eq!(done.kinds(), told, "{:#}", done.evidence);
    world.check("printf '\\344\\n' >new.iso");
    let world = World::new("printf '\\344pfel\\n' >a.iso; git add -A; git commit -qm first");
    world.check("echo '*.iso working-tree-encoding=ISO-8859-1' >.gitattributes; printf '\\344\\n' >>a.iso");
}

#[test]
fn words_that_git_puts_into_a_file_are_no_change() {
    let world = World::new(
        "echo '* ident' >.gitattributes; printf 'a $Id$\\nb\\n' >a; git add -A; git commit -qm first; rm a; git checkout -q a",
    );
    assert_eq!(world.check("touch a").kinds(), []);
    let done = world.check("echo more >>a");
    assert_eq!(lines(&done, "a"), (1, 0), "{:#}", done.evidence);
}

#[test]
fn a_large_file_with_other_line_ends_that_was_only_touched_is_no_change() {
    let world = World::new(
        "echo '*.txt eol=crlf' >.gitattributes; yes 'a line of some length, with both bytes at its end' | head -c 17000000 >a.txt; \
         git add -A; git commit -qm first; rm a.txt; git checkout -q a.txt; \
         touch -d '1 hour ago' a.txt; git update-index -q --refresh",
    );
    assert_eq!(world.check("touch a.txt").kinds(), []);
    let done = world.run("printf 'more\\r\\n' >>a.txt");
    assert_eq!(done.kinds(), [("modified".into(), "a.txt".into())], "{:#}", done.evidence);
}
