//! Tests of Python, which unittest, pytest and a file of tests by itself may run: one test has a name in each.

use super::{Framework, Scope, TestRun};

impl TestRun {
    /// Whether pytest passed the test `name` that failed in unittest, or the other way round: all passed that
    /// this asks for, and that is among it.
    pub(super) fn mends_of_python(&self, old: &TestRun, name: &str) -> bool {
        let is_one_tree = self.scope.elsewhere().is_none() && old.scope.elsewhere().is_none();
        if !self.scope.is_of_python(&old.scope) || !is_one_tree || self.scope.lacks(&old.scope) {
            return false;
        }
        let named = match old.framework {
            Framework::Unittest => as_pytest(&old.scope.directory, name),
            _ => as_unittest(&self.scope.directory, &old.scope.full_name(name)),
        };
        named.is_some_and(|named| self.passed_all_that_hold(&named))
    }
}

impl Scope {
    /// Whether one is of unittest and the other of pytest, and neither of a script.
    pub(super) fn is_of_python(&self, other: &Self) -> bool {
        let pair = [self.framework, other.framework];
        let is_pair = pair.contains(&Framework::Unittest) && pair.contains(&Framework::Pytest);
        is_pair && self.unclear.is_none() && other.unclear.is_none()
    }

    /// The module that a file of tests is.
    fn own_module(&self) -> Option<String> {
        let file = self.script()?.split_ascii_whitespace().next()?;
        Some(file.strip_prefix("./").unwrap_or(file).strip_suffix(".py")?.replace('/', "."))
    }

    /// A test as unittest names it where it loads the file, which has no name where that is run by itself.
    pub(super) fn named_by_module(&self, name: &str) -> String {
        match self.own_module().filter(|_| name.contains("(__main__.")) {
            Some(module) => name.replace("(__main__.", &format!("({module}.")),
            None => name.to_owned(),
        }
    }

    /// Whether unittest finds the module of a test where it is not told where to look.
    pub(super) fn discovers(&self, id: &str) -> bool {
        let module = id.split('.').next().unwrap_or_default();
        self.places.is_empty() && id.split('.').count() == 3 && module.starts_with("test")
    }
}

/// `test_a (t.test_m.A.test_a)` as pytest names it: `t/test_m.py::A::test_a`.
fn as_pytest(directory: &str, name: &str) -> Option<String> {
    let inside = name.rsplit_once('(')?.1.strip_suffix(')')?;
    let (class, test) = inside.rsplit_once('.')?;
    let (module, class) = class.rsplit_once('.')?;
    let file = format!("{}.py", module.replace('.', "/"));
    let file = if directory.is_empty() { file } else { format!("{directory}/{file}") };
    Some(format!("{file}::{class}::{test}"))
}

/// The other way round. What has no class is no test of unittest.
fn as_unittest(directory: &str, name: &str) -> Option<String> {
    let here = match directory {
        "" => name,
        directory => name.strip_prefix(directory)?.strip_prefix('/')?,
    };
    let [file, class, test] = <[&str; 3]>::try_from(here.split("::").collect::<Vec<_>>()).ok()?;
    let module = file.strip_suffix(".py")?.replace('/', ".");
    (!test.contains('[')).then(|| format!("{test} ({module}.{class}.{test})"))
}

/// What a file of tests asks unittest for that is run by itself: `python3 t/test_m.py`.
pub(super) fn own_tests(script: &Scope) -> Option<Scope> {
    let module = script.own_module()?;
    let words = script.script()?.split_ascii_whitespace().skip(1);
    let asked = words.map(|word| match word.starts_with('-') {
        true => word.to_owned(),
        false => format!("{module}.{word}"),
    });
    let mut asked: Vec<String> = asked.collect();
    if asked.iter().all(|word| word.starts_with('-')) {
        asked.push(module);
    }
    Some(Scope::new(Framework::Unittest, &script.directory, &asked))
}

pub(super) fn is_discovery(framework: Framework, args: &[String]) -> bool {
    framework == Framework::Unittest && args.iter().any(|arg| arg == "discover")
}

/// Words without those that have unittest look where it does without a word: `discover -s .`
pub(super) fn without_here(framework: Framework, args: &[String]) -> Vec<String> {
    let is_here = |arg: &str| matches!(arg, "." | "./");
    let leads = |arg: &str| matches!(arg, "-s" | "--start-directory" | "-t" | "--top-level-directory");
    let is_left_out = |at: usize| {
        is_here(&args[at]) || (leads(&args[at]) && args.get(at + 1).is_some_and(|next| is_here(next)))
    };
    let all = (0..args.len()).filter(|at| !is_discovery(framework, args) || !is_left_out(*at));
    let start =
        |at: usize| args[at].strip_prefix("--start-directory=").filter(|_| is_discovery(framework, args));
    all.map(|at| start(at).unwrap_or(&args[at]).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use crate::evidence::proofs::left;

    const RULE: &str = "----------------------------------------------------------------------";

    /// Of three tests.
    fn unittest(module: &str, is_green: bool) -> String {
        let bar = "=".repeat(70);
        match is_green {
            true => format!("...\n{RULE}\nRan 3 tests in 0.001s\n\nOK\n"),
            false => format!(
                "F..\n{bar}\nFAIL: test_add ({module}.T.test_add)\n{RULE}\nTraceback (most recent call last):\n  File \"/home/dev/shop/test_app.py\", line 7, in test_add\n    self.assertEqual(add(1, 2), 3)\nAssertionError: -1 != 3\n\n{RULE}\nRan 3 tests in 0.001s\n\nFAILED (failures=1)\n"
            ),
        }
    }

    fn printed(line: &str, is_green: bool) -> String {
        match (line.contains("pytest"), is_green) {
            (true, true) => "...      [100%]\n3 passed in 0.01s\n".to_owned(),
            (true, false) => "F..      [100%]\n==== short test summary info ====\nFAILED test_app.py::T::test_add - AssertionError: -1 != 3\n1 failed, 2 passed in 0.02s\n".to_owned(),
            (false, is_green) => {
                let module = if line.contains("test_app.py") && !line.contains("-m") { "__main__" } else { "test_app" };
                unittest(module, is_green)
            }
        }
    }

    #[track_caller]
    fn check(red: &str, green: &str, is_mended: bool) {
        let (failed, passed) = (printed(red, false), printed(green, true));
        let (failing, has_error) = left(&[(red, 1, &failed), (green, 0, &passed)]);
        assert_eq!((failing.is_empty(), has_error), (is_mended, !is_mended), "{red}, {green}: {failing:?}");
    }

    #[test]
    fn a_file_of_tests_that_failed_is_told_whatever_its_exit_code_came_to() {
        for line in
            ["python3 test_app.py || true", "python3 test_app.py; ls", "python3 test_app.py 2>&1 | tail -40"]
        {
            let red = left(&[(line, 0, &unittest("__main__", false))]);
            assert_eq!(red, (vec!["test_add (__main__.T.test_add)".to_owned()], true), "{line}");
            let then = left(&[
                (line, 0, &unittest("__main__", false)),
                ("python3 -m unittest", 0, &unittest("", true)),
            ]);
            assert_eq!(then, (Vec::new(), false), "{line}");
        }
    }

    #[test]
    fn one_file_of_tests_is_run_in_many_ways() {
        let ways = [
            "python3 -m unittest test_app",
            "python3 -m unittest test_app.py",
            "python3 test_app.py",
            "python test_app.py -v",
            "pytest -q test_app.py",
        ];
        let all = [
            "python3 -m unittest",
            "python3 -m unittest discover",
            "python3 -m unittest discover -s . -v",
            "pytest -q",
        ];
        for (red, green) in
            ways.iter().chain(&all).flat_map(|red| ways.iter().chain(&all).map(move |green| (red, green)))
        {
            check(red, green, true);
        }
        for other in [
            "python3 -m unittest test_other",
            "python3 test_other.py",
            "python3 test_app.py T.test_sub",
            "pytest -q test_other.py",
            "cd web && pytest -q",
            "cd web && python3 -m unittest",
            "python3 -m unittest discover -s tests",
        ] {
            for red in ways.iter().chain(&all) {
                check(red, other, false);
            }
        }
    }
}
