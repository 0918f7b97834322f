//! What looks print behind the work: known by its form, it is left out where the last words of that are looked
//! for.

use super::masked::is_silent;
use super::work::Done;
use crate::evidence::shell::Step;

impl Done {
    /// The output up to where the step at `at` and those before it had spoken; `None` where that is not known.
    pub(super) fn spoken_by<'t>(&self, at: usize, text: &'t str) -> Option<&'t str> {
        let mut left = text.trim_end();
        for (at, step) in self.command.steps.iter().enumerate().skip(at + 1).rev() {
            let speaks_for_it = step.piped || self.shows_own_text(at, step);
            if speaks_for_it || step.silent || (is_silent(step) && !step.background) {
                continue;
            }
            let is_own = form(step)?;
            while let Some(line) =
                left.lines().next_back().filter(|line| line.trim().is_empty() || is_own(line))
            {
                left = left[..left.len() - line.len()].trim_end_matches(['\n', '\r']);
            }
        }
        Some(left)
    }

    /// Whether what is seen at the end is what the step at `at` said at last: `make > log 2>&1 || tail log`.
    pub(super) fn is_last_shown(&self, at: usize) -> bool {
        let mut after = self.command.steps.iter().enumerate().skip(at + 1);
        let is_last = after.all(|(at, step)| is_quiet(step) || self.shows_own_text(at, step));
        is_last && !self.loops() && !self.shows_other_text()
    }

    /// Whether what follows the step at `at` prints nothing but what it reads.
    pub(super) fn speaks_last(&self, at: usize) -> bool {
        self.command.steps[at + 1..].iter().all(is_quiet)
    }
}

/// Whether a step prints nothing but what it reads.
fn is_quiet(step: &Step) -> bool {
    step.piped || (is_silent(step) && !step.background)
}

/// Whether a line is one of those that a look prints.
fn form(step: &Step) -> Option<fn(&str) -> bool> {
    let has = |names: &[&str]| step.args().iter().any(|arg| names.contains(&arg.as_str()));
    match (step.program(), step.git_verb()) {
        (_, "diff") if has(&["--stat"]) => Some(is_stat),
        (_, "status") if has(&["--short", "-s", "--porcelain", "-sb"]) => Some(is_short_status),
        (_, "status") => Some(is_status),
        (_, "log") if has(&["--oneline"]) => Some(is_commit),
        ("ls", _) => Some(is_listed),
        ("pwd", _) => Some(|line| line.starts_with('/') && !line.contains(": ")),
        _ => None,
    }
}

/// ` src/a.rs | 2 +-`, ` 1 file changed, 1 insertion(+)`
fn is_stat(line: &str) -> bool {
    line.starts_with(' ') && (line.contains(" | ") || line.contains(" changed, "))
}

/// `?? a.txt`
fn is_short_status(line: &str) -> bool {
    let is_mark = |byte: &u8| b" MADRCTU?!#".contains(byte);
    line.len() > 3 && line.as_bytes()[..2].iter().all(is_mark) && line.as_bytes()[2] == b' '
}

fn is_status(line: &str) -> bool {
    const HEADS: [&str; 11] = [
        "\t",
        "  (use ",
        "On branch ",
        "HEAD detached ",
        "Your branch ",
        "Changes ",
        "Untracked files:",
        "Unmerged paths:",
        "nothing to commit",
        "nothing added to commit",
        "no changes added to commit",
    ];
    HEADS.iter().any(|head| line.starts_with(head))
}

/// `a1b2c3d Say more`
fn is_commit(line: &str) -> bool {
    let name = line.split(' ').next().unwrap_or(line);
    (7..=12).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `-rw-r--r-- 1 dev dev 12 Jan  1 12:00 a.txt`, or names alone.
fn is_listed(line: &str) -> bool {
    let is_long = line.starts_with("total ")
        || line.get(1..4).is_some_and(|mode| mode.contains("r") && !mode.contains(|c| !"rwx-".contains(c)));
    is_long || !line.contains(' ')
}

#[cfg(test)]
mod tests {
    use crate::evidence::errors::left_by;

    const SAID: &str = "cat: conf/settings.ini: No such file or directory\n";

    #[test]
    fn the_last_words_of_a_script_are_told_whatever_looks_follow() {
        for (after, shown) in [
            ("git diff --stat", ""),
            ("git diff --stat", " src/a.rs | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n"),
            ("git status --short", "?? conf/\n M build.sh\n"),
            (
                "git status",
                "On branch main\nUntracked files:\n  (use \"git add <file>...\")\n\tconf/\n\nnothing added to commit\n",
            ),
            ("git log --oneline -2", "a1b2c3d Say more\n0a1b2c3 First\n"),
            ("ls", "Makefile\nbuild.sh\n"),
            ("ls -la", "total 8\n-rw-r--r-- 1 dev dev 12 Jan  1 12:00 a b.txt\n"),
            ("ls; git status --short", "build.sh\n?? conf/\n"),
            ("pwd", "/home/dev/project\n"),
            ("true", ""),
            ("echo done", "done\n"),
        ] {
            for script in ["sh build.sh", "./build.sh", "make", "npm run build"] {
                for before in ["", "checking\n"] {
                    let line = format!("{script}; {after}");
                    let red = format!("{before}{SAID}{shown}");
                    let left = left_by(&[(&line, 0, &red)]).map(|(_, message)| message);
                    assert_eq!(left.as_deref(), Some(SAID.trim_end()), "{line}");
                    assert_eq!(left_by(&[(&line, 0, &red), (script, 0, "built\n")]), None, "{line}");
                    assert_eq!(
                        left_by(&[(&line, 0, &red), (&line, 0, &format!("built\n{shown}"))]),
                        None,
                        "{line}"
                    );
                    // It went on.
                    let on = format!("{before}{SAID}all is built\n{shown}");
                    assert_eq!(left_by(&[(&line, 0, &on)]), None, "{line}");
                }
            }
        }
    }

    #[test]
    fn the_last_words_of_a_script_are_told_wherever_they_went_first() {
        for line in [
            "sh build.sh 2>&1 | tail -n 40",
            "sh build.sh 2>&1 || true",
            "sh build.sh 2>&1 | cat",
            "sh build.sh > out.log 2>&1; tail -30 out.log",
            "out=$(sh build.sh 2>&1); echo \"$out\"",
        ] {
            let left = left_by(&[(line, 0, SAID)]).map(|(_, message)| message);
            assert_eq!(left.as_deref(), Some(SAID.trim_end()), "{line}");
            assert_eq!(left_by(&[(line, 0, SAID), (line, 0, "built\n")]), None, "{line}");
            assert_eq!(left_by(&[(line, 0, SAID), ("bash ./build.sh", 0, "built\n")]), None, "{line}");
        }
    }

    #[test]
    fn what_a_look_says_of_itself_is_no_scripts() {
        for (line, text) in [
            ("make; ls nothing", "fine\nls: cannot access 'nothing': No such file or directory\n"),
            ("sh build.sh; cat conf/settings.ini", SAID),
            ("sh build.sh && ls", SAID),
            ("sh build.sh > out.log 2>&1; cat conf/settings.ini", SAID),
            ("cat conf/settings.ini || true", SAID),
            ("sh build.sh; ./other", SAID),
            ("ls nothing; sh build.sh", "ls: cannot access 'nothing': No such file or directory\n"),
            ("sh build.sh; git diff --stat", "warning: no such file: not found here\n"),
            ("sh build.sh; git diff --stat", "Total: 5\n"),
            ("./clean.sh 2>&1 | tail -3", "rm: cannot remove 'out': No such file or directory\n"),
        ] {
            assert_eq!(left_by(&[(line, 0, text)]), None, "{line}");
        }
    }
}
