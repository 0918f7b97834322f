//! The tests that Node's runner lists one by one, each with the groups that it is in.

use super::{failed, is_file, passed};

/// Deeper than this is no group of tests.
const DEEPEST: usize = 50;

/// Reads either form: groups open before what they hold and are told once more after it, with `▶`
/// and indentation, or with `# Subtest: ` as TAP has it.
#[derive(Debug, Default)]
pub(in crate::evidence::tests) struct Listed {
    open: Vec<Group>,
    /// Whether the lines are those of an explanation in TAP.
    explains: bool,
    /// Whether the list is over: those that failed are told again.
    over: bool,
}

/// What is told to begin: a group, or in TAP also a test.
#[derive(Debug)]
struct Group {
    depth: usize,
    name: String,
    has_tests: bool,
}

/// A test with no tests inside.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::evidence::tests) struct Test {
    /// The names of the groups around it.
    pub(in crate::evidence::tests) groups: String,
    pub(in crate::evidence::tests) name: String,
    pub(in crate::evidence::tests) passed: bool,
}

impl Listed {
    pub(in crate::evidence::tests) fn line(&mut self, line: &str) -> Option<Test> {
        let bare = line.trim_start();
        let depth = line.len() - bare.len();
        self.over |= line == "✖ failing tests:";
        self.explains = match bare {
            "---" => true,
            "..." => false,
            _ => self.explains,
        };
        if self.over || self.explains {
            return None;
        }
        if let Some(name) = bare.strip_prefix("# Subtest: ").or_else(|| bare.strip_prefix("▶ ")) {
            self.open.retain(|group| group.depth < depth);
            if self.open.len() < DEEPEST {
                self.open.push(Group { depth, name: name.trim_end().to_owned(), has_tests: false });
            }
            return None;
        }
        let (name, passed) = match (passed(bare), failed(bare)) {
            (Some(name), _) => (name, true),
            (None, Some(name)) => (name, false),
            (None, None) => return None,
        };
        let is_group =
            self.open.iter().any(|group| group.depth == depth && group.name == name && group.has_tests);
        self.open.retain(|group| group.depth < depth);
        self.open.iter_mut().for_each(|group| group.has_tests = true);
        // A file in which no test fits a filter passes as such.
        let is_bare_file = depth == 0 && is_file(name);
        let groups = self.open.iter().map(|group| group.name.as_str()).collect::<Vec<_>>().join(" > ");
        (!is_group && !is_bare_file).then(|| Test { groups, name: name.to_owned(), passed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str, bool)]) {
        let mut listed = Listed::default();
        let found: Vec<Test> = text.lines().filter_map(|line| listed.line(line)).collect();
        let told: Vec<(&str, &str, bool)> =
            found.iter().map(|test| (test.groups.as_str(), test.name.as_str(), test.passed)).collect();
        assert_eq!(told, expected);
    }

    const ALL: [(&str, &str, bool); 6] = [
        ("", "adds", true),
        ("", "breaks", false),
        ("group", "inner breaks", false),
        ("group > deep", "adds", true),
        ("parent", "child", true),
        ("", "other", true),
    ];

    #[test]
    fn tests_are_told_with_their_groups_in_both_forms() {
        check(
            "✔ adds (0.8ms)\n✖ breaks (0.7ms)\n▶ group\n  ✖ inner breaks (0.1ms)\n  ▶ deep\n    ✔ adds (1.6ms)\n    ﹣ later (0.1ms) # SKIP\n    ✔ soon (0.08ms) # TODO\n  ✔ deep (2.2ms)\n✖ group (2.9ms)\n▶ parent\n  ✔ child (0.6ms)\n✔ parent (2.0ms)\n✔ other (0.1ms)\n✔ test/b.test.js (58.9ms)\nℹ tests 9\n\n✖ failing tests:\n\ntest at a.js:4:1\n✖ breaks (0.7ms)\n",
            &ALL,
        );
        check(
            "TAP version 13\n# Subtest: adds\nok 1 - adds\n  ---\n  duration_ms: 0.7\n  ...\n# Subtest: breaks\nnot ok 2 - breaks\n  ---\n  error: |-\n    ok 1 - quoted\n  ...\n# Subtest: group\n    # Subtest: inner breaks\n    not ok 1 - inner breaks\n    # Subtest: deep\n        # Subtest: adds\n        ok 1 - adds\n        # Subtest: later\n        ok 2 - later # SKIP\n        1..2\n    ok 2 - deep\n    1..2\nnot ok 3 - group\n# Subtest: parent\n    # Subtest: child\n    ok 1 - child\n    1..1\nok 4 - parent\n# ok 9 - printed\n# Subtest: other\nok 5 - other\n1..5\n",
            &ALL,
        );
    }

    #[test]
    fn a_test_may_be_called_as_the_group_around_it() {
        check("▶ x\n  ✔ x (1ms)\n✔ x (2ms)\n", &[("x", "x", true)]);
        check(
            "# Subtest: x\n    # Subtest: x\n    ok 1 - x\n    1..1\nok 1 - x\n# Subtest: x\nok 2 - x\n",
            &[("x", "x", true), ("", "x", true)],
        );
    }
}
