//! The real test runners, red and then green: what was seen to pass is not told to fail.

#![allow(clippy::disallowed_methods, reason = "tests start programs and read the environment themselves")]

use std::fs;

use super::runners::{Project, installed};

/// Puts `new` in the place of `old`.
fn mend(project: &Project, file: &str, old: &str, new: &str) {
    let path = project.dir.path().join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(old), "{text}");
    fs::write(path, text.replace(old, new)).unwrap();
}

#[test]
fn a_test_of_node_is_mended_where_it_passes_by_its_name() {
    for programs in [vec![], vec![installed("node")]] {
        for form in ["spec", "tap"] {
            let project = Project::new("node", &programs);
            let line = format!("node --test --test-reporter={form}");
            let red = project.run(&line);
            mend(&project, "sample.test.js", "1 + 1, 3", "1 + 2, 3");
            let other = project.run(&format!("{line} --test-name-pattern adds"));
            let named = project.run(&format!("{line} --test-name-pattern=breaks"));
            let (failing, error) = project.left(&[&red]);
            assert_eq!((failing.as_slice(), error.is_some()), (&["breaks".to_owned()][..], true));
            assert_eq!(project.left(&[&red, &other]).0, failing, "{}", other.text);
            assert_eq!(project.left(&[&red, &other, &named]), (Vec::new(), None), "{}", named.text);
        }
    }
}

#[test]
fn a_very_quiet_pytest_mends_what_failed_in_it() {
    let project = Project::new("python", &[installed("pytest")]);
    let lines = ["python -m pytest -qq", "python -m pytest -q"];
    let red = lines.map(|line| project.run(line));
    mend(&project, "test_sample.py", "1 + 1, 3", "1 + 2, 3");
    mend(&project, "test_sample.py", "raise KeyError(\"missing\")", "pass");
    let quiet = project.run(lines[0]);
    for red in &red {
        assert_eq!(project.left(&[red]).0.len(), 2, "{}", red.text);
        assert_eq!(project.left(&[red, &quiet]), (Vec::new(), None), "{}", quiet.text);
    }
}

#[test]
fn what_clippy_denied_is_told_by_its_last_line_and_mended_by_a_wider_look() {
    let project = Project::new("cargo", &[]);
    let file = project.dir.path().join("src/lib.rs");
    fs::write(&file, "pub fn one() -> i32 {\n    return 1;\n}\n").unwrap();
    let red = project.run("cargo clippy --workspace -- -D warnings 2>&1 | tail -2");
    fs::write(&file, "pub fn one() -> i32 {\n    1\n}\n").unwrap();
    let narrow = project.run("cargo clippy --lib -- -D warnings");
    let wide = project.run("cargo clippy --workspace --all-features -- -D warnings");
    let told = Some("could not compile `sample` (lib) due to 1 previous error".to_owned());
    assert_eq!(project.left(&[&red]), (Vec::new(), told.clone()), "{}", red.text);
    assert_eq!(project.left(&[&red, &narrow]), (Vec::new(), told), "{}", narrow.text);
    assert_eq!(project.left(&[&red, &wide]), (Vec::new(), None), "{}", wide.text);
}

#[test]
fn failures_without_names_are_mended_by_parts_that_are_the_whole() {
    let project = Project::new("python", &[installed("pytest")]);
    let other = project.dir.path().join("test_other.py");
    fs::write(&other, "def test_one(): pass\n").unwrap();
    let whole = project.run("python -m pytest -q --no-summary | tail -1");
    mend(&project, "test_sample.py", "1 + 1, 3", "1 + 2, 3");
    mend(&project, "test_sample.py", "raise KeyError(\"missing\")", "pass");
    let [part, rest] =
        ["test_sample.py", "test_other.py"].map(|file| project.run(&format!("python -m pytest -q {file}")));
    let told = Some("2 tests failed".to_owned());
    assert_eq!(project.left(&[&whole]).1, told, "{}", whole.text);
    assert_eq!(project.left(&[&whole, &part]).1, told, "{}", part.text);
    assert_eq!(project.left(&[&whole, &part, &rest]).1, None, "{}", rest.text);
    // As many tests as before, and a file that was in no part.
    fs::write(project.dir.path().join("test_new.py"), "def test_new(): pass\n").unwrap();
    let new = project.run("python -m pytest -q test_new.py");
    assert_eq!(project.left(&[&whole, &part, &new]).1, told, "{}", new.text);
}

#[test]
fn a_turn_of_a_loop_that_failed_is_told_until_its_tests_pass() {
    let project = Project::new("python", &[installed("pytest")]);
    fs::write(project.dir.path().join("test_zero.py"), "def test_one(): pass\n").unwrap();
    let line = "for f in test_*.py; do python -m pytest -q $f; done";
    let red = project.run(line);
    mend(&project, "test_sample.py", "1 + 1, 3", "1 + 2, 3");
    mend(&project, "test_sample.py", "raise KeyError(\"missing\")", "pass");
    let whole = project.run("python -m pytest -q");
    let (failing, error) = project.left(&[&red]);
    assert_eq!((red.exit_code, failing.len(), error.as_deref()), (0, 2, Some("'missing'")), "{}", red.text);
    for green in [project.run(line), whole] {
        assert_eq!(project.left(&[&red, &green]), (Vec::new(), None), "{}", green.text);
    }
}

/// What is told after two tests failed, each in its own way, and the first of them passes.
#[track_caller]
fn check_the_other(project: &Project, files: &[(&str, &str)], [all, first]: [&str; 2], expected: &str) {
    files.iter().for_each(|(name, text)| project.write(name, text));
    let red = project.run(all);
    mend(project, files[0].0, "= 1;", "= 2;");
    let green = project.run(first);
    let (failing, error) = project.left(&[&red, &green]);
    let told = format!("{}\n{}", red.text, green.text);
    assert_eq!((green.exit_code, failing.len(), error.as_deref()), (0, 1, Some(expected)), "{told}");
}

#[test]
fn the_error_of_a_test_that_passes_since_is_not_that_of_another() {
    let read = "Cannot read properties of null (reading 'x')";
    let asserts = "const assert = require('node:assert');\nconst X = 1;\n";
    let (a, b) = (("a.test.js", "test('a', () => expect(X).toBe(2));"), "test('b', () => null.x);\n");
    let compare = "test('a', () => assert.strictEqual(X, 2));\n";
    let jest = Project::new("jest", &[installed("jest")]);
    let of_jest = format!("const X = 1;\n{}\n", a.1);
    let jest_files =
        [(a.0, of_jest.as_str()), ("b.test.js", b), ("sample.test.js", "test.skip('s', () => {});\n")];
    check_the_other(&jest, &jest_files, ["jest a b", "jest a.test.js"], read);
    let vitest = Project::of_vitest();
    let import = |text: &str| format!("import {{ test, expect }} from 'vitest';\n{text}");
    let (first, second) = (import(&of_jest), import(b));
    let vitest_files = [(a.0, first.as_str()), ("b.test.js", second.as_str())];
    check_the_other(&vitest, &vitest_files, ["vitest run a.test.js b.test.js", "vitest run a.test.js"], read);
    let node = Project::new("node", &[installed("node")]);
    let require = |text: &str| format!("const {{ test }} = require('node:test');\n{text}");
    let (first, second) = (require(&format!("{asserts}{compare}")), require(b));
    let node_files = [(a.0, first.as_str()), ("b.test.js", second.as_str())];
    let lines = ["node --test a.test.js b.test.js", "node --test a.test.js"];
    check_the_other(&node, &node_files, lines, read);
    let mocha = Project::new("mocha", &[installed("mocha")]);
    let first = format!("{asserts}describe('a', () => it('is', () => assert.strictEqual(X, 2)));\n");
    let second = "describe('b', () => it('is', () => null.x));\n";
    let mocha_files = [("a.test.js", first.as_str()), ("b.test.js", second)];
    check_the_other(&mocha, &mocha_files, ["mocha a.test.js b.test.js", "mocha a.test.js"], read);
}

#[test]
fn the_panic_of_a_test_that_passes_since_is_not_that_of_another() {
    let lib = "pub const X: u32 = 1;\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { assert_eq!(super::X, 2); }\n    #[test]\n    fn b() { Vec::<u32>::new()[3]; }\n}\n";
    let panic = "index out of bounds: the len is 0 but the index is 3";
    for lines in [
        ["cargo test --lib", "cargo test --lib tests::a"],
        ["cargo nextest run --lib", "cargo nextest run --lib tests::a"],
    ] {
        let project = Project::new("cargo", &[]);
        check_the_other(&project, &[("src/lib.rs", lib)], lines, panic);
    }
}
