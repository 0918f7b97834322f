//! What git leaves half done: files that it could not put together, told until that is concluded or given up;
//! and what it does not do because somebody else says no.

use super::collect::Errors;
use super::diagnose::{Diagnosis, Found};
use super::failure::Failure;
use super::whereabouts::Whereabouts;
use super::work::{Done, Work};
use crate::evidence::lines::lines;
use crate::evidence::shell::Step;

const MOST_FILES: usize = 20;

impl Done {
    /// The files that git could not put together, and what concludes that. Whatever became of the exit code,
    /// nobody else says it in these words.
    pub(super) fn conflict(&self, text: &str) -> Option<(Found, Work)> {
        let at = self.command.steps.iter().position(|step| joins(step) && !step.silent)?;
        let found = conflicts(text)?;
        let is_of_series = text.contains("git rebase --continue") || text.contains("git am --continue");
        let by: &[&str] = match self.command.steps[at].git_verb() {
            "am" | "rebase" => &["am", "rebase"],
            "pull" if is_of_series => &["rebase"],
            "stash" => &["add", "checkout", "commit", "merge", "reset", "restore", "rm", "stash", "switch"],
            _ => &["am", "cherry-pick", "commit", "merge", "pull", "rebase", "reset", "revert", "switch"],
        };
        Some((found, Work::HalfDone(by)))
    }

    /// `git merge a || git merge --abort`: whether the same line ends what git left half done.
    pub(super) fn concludes_itself(&self, half: &Work) -> bool {
        let Work::HalfDone(verbs) = half else { return false };
        let joined = self.command.steps.iter().position(joins).unwrap_or_default();
        let after = self.command.steps.iter().skip(joined + 1);
        let is_dry = |step: &&Step| step.args().iter().any(|arg| arg == "--dry-run");
        !self.failed && after.filter(|step| !is_dry(step)).any(|step| verbs.contains(&step.git_verb()))
    }
}

impl Errors {
    /// What git left half done is told beside whatever else failed.
    pub(super) fn note_conflict(&mut self, line: &str, conflict: (Found, Work), done: &Done) {
        let (mut found, half) = conflict;
        let (root, origin, is_there) = (&self.directory, &self.origin, self.is_there);
        Whereabouts { root, origin, done, is_there }.tell(&mut found);
        let failure = Failure::inside(line, found);
        match done.concludes_itself(&half) {
            true => self.earlier.add(failure.earlier(Some(line))),
            false => self.keep(failure.of(vec![half])),
        }
    }
}

/// Whether git is to put two states of files together.
fn joins(step: &Step) -> bool {
    match step.git_verb() {
        "am" | "cherry-pick" | "merge" | "pull" | "rebase" | "revert" => true,
        "stash" => step.args().iter().any(|arg| matches!(arg.as_str(), "apply" | "pop")),
        _ => false,
    }
}

/// `CONFLICT (content): Merge conflict in a.py`
fn conflicts(text: &str) -> Option<Found> {
    let mut found = Found::default();
    let mut gave_up = None;
    for (at, line) in lines(text).enumerate() {
        if let Some((_, words)) = line.strip_prefix("CONFLICT (").and_then(|rest| rest.split_once("): ")) {
            found.count += 1;
            if found.errors.len() < MOST_FILES {
                found.errors.push(Diagnosis::new(at, "merge conflict", words, None));
                let file = words.strip_prefix("Merge conflict in ").or_else(|| words.split(' ').next());
                found.files.extend(file.map(str::to_owned));
            }
        } else if line.starts_with("Automatic merge failed; ") {
            gave_up = Some(Diagnosis::new(at, "merge conflict", &line, None));
        }
    }
    if let Some(gave_up) = gave_up.filter(|_| found.errors.is_empty()) {
        (found.count, found.is_vague) = (1, true);
        found.errors.push(gave_up);
    }
    (!found.errors.is_empty()).then_some(found)
}

impl Found {
    /// Whether it is what git says of a commit that it could not put on top of others.
    pub(super) fn is_of_series(&self) -> bool {
        const HEADS: [&str; 4] =
            ["could not apply ", "could not revert ", "Failed to merge in ", "patch failed"];
        let first = self.errors.first().map_or("", |first| first.message.as_str());
        HEADS.iter().any(|head| first.starts_with(head))
    }
}

/// What else is to be done again where git left something half done.
pub(super) fn without_git(mut works: Vec<Work>) -> Vec<Work> {
    works.retain(|work| !matches!(work, Work::Program { call, .. } if call.git_verb().is_some()));
    works
}

/// Whether git has something to do that others may refuse, or that it cannot do, without a word for an error.
pub(super) fn may_be_refused(step: &Step) -> bool {
    const VERBS: [&str; 7] = ["am", "cherry-pick", "commit", "merge", "pull", "rebase", "revert"];
    VERBS.contains(&step.git_verb()) && !step.args().iter().any(|arg| arg == "--dry-run")
}

/// Whether git says that there is nothing to do, which is no failure, or that it is half done, which is told
/// as that.
pub(super) fn says_why(text: &str) -> bool {
    const WORDS: [&str; 5] = [
        "nothing to commit",
        "nothing added to commit",
        "no changes added to commit",
        "CONFLICT (",
        "Automatic merge failed; ",
    ];
    lines(text).any(|line| WORDS.iter().any(|words| line.starts_with(words)))
}

/// Why git did not do the last of `steps`: in the words of a hook, which come last, or in its own, which come
/// first where it `is_alone` in saying something.
pub(super) fn refused(steps: &[&Step], text: &str, is_alone: bool) -> Option<Found> {
    let step = steps.last().filter(|step| may_be_refused(step))?;
    let aside = |line: &str| {
        ["hint: ", "husky - ", "Auto-merging "].iter().any(|head| line.starts_with(head))
            || line.trim().is_empty()
    };
    let mut told = lines(text).enumerate().filter(|(_, line)| !aside(line));
    let (at, words) = if step.git_verb() == "commit" || !is_alone { told.last() } else { told.next() }?;
    let errors = vec![Diagnosis::new(at, "error", &words, None)];
    Some(Found { errors, count: 1, is_vague: true, ..Found::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::errors::left_by;
    use crate::evidence::tests::Origin;

    const MERGED: &str = "Auto-merging web/app.py\nCONFLICT (content): Merge conflict in web/app.py\nCONFLICT (modify/delete): b.py deleted in HEAD and modified in a.  Version a of b.py left in tree.\nAutomatic merge failed; fix conflicts and then commit the result.\n";

    fn errors(commands: &[(&str, i64, &str)]) -> Errors {
        let root = "/home/dev/project";
        let mut errors = Errors::where_all_is_there(root, Origin::new(root, root));
        commands.iter().for_each(|(line, code, text)| errors.note_command(line, Some(*code), text));
        errors
    }

    #[test]
    fn a_conflict_is_told_with_its_files() {
        let told = errors(&[("git merge a", 1, MERGED)]).finish(None).unwrap();
        assert_eq!(told.error_type.as_deref(), Some("merge conflict"));
        assert_eq!(told.error_message, "Merge conflict in web/app.py");
        assert_eq!(told.failed_files, ["web/app.py", "b.py"]);
        assert_eq!(told.suggestions, ["1 more error follows it in the output of `git merge a`"]);
    }

    #[test]
    fn what_was_given_up_is_an_earlier_error() {
        for line in ["git merge a || git merge --abort", "git merge --no-commit a; git merge --abort"] {
            let (left, earlier) = errors(&[(line, 0, MERGED)]).told(None);
            assert_eq!((left, earlier.list.len()), (None, 1), "{line}");
        }
        let (left, earlier) = errors(&[("git merge a", 1, MERGED), ("git merge --abort", 0, "")]).told(None);
        assert_eq!((left, earlier.list.len()), (None, 1));
        assert!(left_by(&[("git merge a || git merge --abort", 128, MERGED)]).is_some());
    }

    #[test]
    fn what_fails_because_of_it_is_told_after_it() {
        let broken = "  File \"web/app.py\", line 1\n    <<<<<<< HEAD\n    ^^\nSyntaxError: invalid syntax\n";
        let both = format!("{MERGED}{broken}");
        let line = ("git merge a; python3 web/app.py", 1, both.as_str());
        assert_eq!(left_by(&[line]).unwrap().1, "Merge conflict in web/app.py");
        assert_eq!(left_by(&[line, ("git commit -am x", 0, "")]).unwrap().1, "invalid syntax");
        assert_eq!(left_by(&[line, ("git commit -am x", 0, ""), ("python3 web/app.py", 0, "")]), None);
    }

    #[test]
    fn what_git_is_not_asked_to_join_is_none() {
        for (line, code) in [
            ("cat merge.log", 0),
            ("git merge-tree --write-tree main a", 1),
            ("git log -p", 0),
            ("git diff", 0),
            ("git stash list", 0),
            ("git merge a >/dev/null", 1),
        ] {
            assert_eq!(left_by(&[(line, code, MERGED)]), None, "{line}");
        }
    }

    #[test]
    fn what_git_has_nothing_to_do_for_is_no_failure() {
        let clean = "On branch main\nnothing to commit, working tree clean\n";
        for line in [
            "git commit -m x",
            "git add -A && git commit -m x",
            "git commit -m x; echo \"exit $?\"",
            "git commit -m x || echo none",
        ] {
            let text = format!("{clean}{}", if line.contains("echo") { "exit 1\nnone\n" } else { "" });
            assert_eq!(left_by(&[(line, 1, &text)]), None, "{line}");
            assert_eq!(left_by(&[(line, 0, &text)]), None, "{line}");
        }
        let told = |line: &str, text: &str| left_by(&[(line, 1, text)]).map(|(_, message)| message);
        assert_eq!(told("git commit -m x", "checking\nno tests\n").as_deref(), Some("no tests"));
        assert_eq!(
            told("git merge x", "merge: x - not something we can merge\n").as_deref(),
            Some("merge: x - not something we can merge")
        );
        assert_eq!(told("git commit --dry-run", "On branch main\n"), None);
    }

    #[test]
    fn a_push_is_mended_by_one_that_came_through() {
        let refused = ("git push", 1, "error: failed to push some refs to 'x'\n");
        for line in ["git push", "git push -u origin main", "git pull --rebase && git push -q"] {
            assert_eq!(left_by(&[refused, (line, 0, "")]), None, "{line}");
        }
        assert!(left_by(&[refused, ("git pull", 0, "")]).is_some());
        assert!(left_by(&[refused, ("git push --dry-run", 0, "")]).is_some());
    }

    #[test]
    fn what_is_only_tried_concludes_nothing() {
        for (line, is_left) in [
            ("git commit -qam x", false),
            ("git commit -qam x --dry-run", true),
            ("git commit --dry-run || true", true),
            ("git merge --abort", false),
        ] {
            let left = left_by(&[("git merge a", 1, MERGED), (line, 0, "")]);
            assert_eq!(left.is_some(), is_left, "{line}");
        }
    }

    #[test]
    fn what_is_shown_before_it_is_not_gits_word() {
        let said = "merge: nobranch - not something we can merge\n";
        for (before, shown) in [
            ("cat a.py", "import sys\nprint(1)\n"),
            ("ls", "a.py\nb.py\n"),
            ("git log --oneline -1", "59f2ba7 first\n"),
            ("head -3 a.py", "import sys\n"),
        ] {
            let line = format!("{before}; git merge nobranch");
            let left = left_by(&[(&line, 1, &format!("{shown}{said}"))]);
            assert_eq!(
                left.map(|(_, message)| message).as_deref(),
                Some("merge: nobranch - not something we can merge"),
                "{line}"
            );
        }
    }
}
