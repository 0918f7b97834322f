//! A script whose last word is a complaint of a program that it ran: `cat: a: No such file or directory`. What
//! follows it in the command line says nothing, or what can be told from that.

use super::complaints::would_complain;
use super::diagnose::{Diagnosis, Found};
use super::said::own;
use super::signs::is_grave;
use super::template::last_line;
use super::work::{Done, Work, starts_others};
use crate::evidence::shell::Step;

impl Done {
    /// What a script came to whose exit code is lost.
    pub(super) fn by_closing_words(&self, text: &str, succeeded: &[usize]) -> Option<(Found, Vec<Work>)> {
        if self.may_show_a_log() || self.repeats_itself() || self.loops() {
            return None;
        }
        let steps = self.command.steps.as_slice();
        let at = steps.iter().rposition(starts_others)?;
        let is_seen = self.is_unproven(at, 0, succeeded) && self.is_seen(at);
        let after = steps.iter().enumerate().skip(at + 1);
        let is_last = after.clone().all(|(at, step)| {
            step.piped || step.or || is_brief(step) || prints_nothing(step) || self.shows_own_text(at, step)
        });
        let text = without_brief(text, after.clone().any(|(_, step)| is_brief(step)));
        let words = complaint(last_line(&text)).filter(|_| is_seen && is_last)?;
        let errors = vec![Diagnosis::new(0, "error", words, None)];
        let found = Found { errors, count: 1, is_vague: true, ..Found::default() };
        Some((found, vec![self.works[at].clone()?]))
    }
}

/// What a program of the system says that fails.
fn complaint(line: &str) -> Option<&str> {
    let (name, _) = line.split_once(": ")?;
    let speaks = would_complain(&Step::of(vec![name.to_owned()]));
    own(line, &[name]).filter(|words| speaks && is_grave(words))
}

fn prints_nothing(step: &Step) -> bool {
    step.silent || step.sets().is_some() || matches!(step.program(), "true" | ":" | "exit" | "cd" | "wait")
}

/// Whether git tells in short what is changed.
fn is_brief(step: &Step) -> bool {
    let has = |names: &[&str]| step.args().iter().any(|arg| names.contains(&arg.as_str()));
    match step.git_verb() {
        "diff" => has(&["--stat", "--shortstat", "--name-only", "--name-status"]),
        "status" => has(&["--short", "-s", "--porcelain"]),
        _ => false,
    }
}

/// An output without the lines of that.
fn without_brief(text: &str, is_there: bool) -> String {
    let is_mark = |c: char| matches!(c, ' ' | 'M' | 'A' | 'D' | 'R' | 'C' | 'U' | '?' | '!');
    let is_brief = |line: &str| {
        let is_status = line.chars().take(2).all(is_mark) && line.chars().nth(2) == Some(' ');
        is_status || line.starts_with(' ') && (line.contains(" | ") || line.contains(" changed"))
    };
    text.split_inclusive('\n').filter(|line| !is_there || !is_brief(line)).collect()
}

#[cfg(test)]
mod tests {
    use crate::evidence::errors::left_by;

    #[test]
    fn what_is_computed_is_no_part_of_what_a_program_says() {
        let broken = "*** Error compiling './b.py'...\n  File \"./b.py\", line 1\n    def g(:\n          ^\nSyntaxError: invalid syntax\n\n";
        let line = "START=$(date +%s); python3 -m compileall -q .; echo took $(( $(date +%s) - START ))s";
        let left = left_by(&[(line, 0, &format!("{broken}took 0s\n"))]);
        assert_eq!(left.map(|(kind, _)| kind).as_deref(), Some("SyntaxError"));
        assert_eq!(left_by(&[(line, 0, "took 0s\n")]), None);
        let line = "echo \"--- run\"; python3 app.py; echo \"--- rc=$?\"";
        let left = left_by(&[(line, 0, "--- run\nit went wrong\n--- rc=1\n")]);
        assert_eq!(left.map(|(_, message)| message).as_deref(), Some("exited with code 1"));
        assert_eq!(left_by(&[(line, 0, "--- run\nfine\n--- rc=0\n")]), None);
        let perl = "Global symbol \"$y\" requires explicit package name at a.pl line 2.\nExecution of a.pl aborted due to compilation errors.\nend\n";
        assert!(left_by(&[("echo start; perl -w a.pl; echo end", 0, perl)]).is_some());
    }

    #[test]
    fn what_a_script_complains_of_at_last_is_what_it_came_to() {
        let said = "cat: conf/a.ini: No such file or directory\n";
        let told = Some(("error".to_owned(), "conf/a.ini: No such file or directory".to_owned()));
        let changed = format!("{said} a.sh | 2 +-\n 1 file changed, 1 insertion(+)\n");
        for (line, text) in [
            ("sh build.sh; git diff --stat", said),
            ("sh build.sh; git diff --stat", changed.as_str()),
            ("./build.sh; git status --short", &format!("{said} M a.sh\n?? b\n")),
            ("bash build.sh 2>&1 | tail -n 40", said),
            ("./build.sh 2>&1 || true", said),
            ("./build.sh || true", &format!("step 1\n{said}")),
            ("sh build.sh > out.log 2>&1; tail -30 out.log", said),
            ("make 2>&1 | tail -3", said),
            ("out=$(./build.sh 2>&1); echo \"$out\"", said),
        ] {
            assert_eq!(left_by(&[(line, 0, text)]), told, "{line}");
            assert_eq!(left_by(&[(line, 0, text), (line, 0, "built\n")]), None, "{line}");
            assert_eq!(
                left_by(&[(line, 0, text), ("bash ./build.sh", 0, "built\n")]).is_some(),
                line.starts_with("make"),
                "{line}"
            );
        }
        for (line, text) in [
            ("sh build.sh; git diff --stat", format!("{said}built\n")),
            ("sh build.sh && git diff --stat", said.to_owned()),
            ("sh build.sh; ls", said.to_owned()),
            ("sh build.sh; cat conf/a.ini", said.to_owned()),
            ("sh build.sh; git diff --stat", "cat: said nothing of it\n".to_owned()),
            ("sh build.sh > out.log 2>&1; cat conf/a.ini", said.to_owned()),
            ("cat conf/a.ini || true", said.to_owned()),
        ] {
            assert_eq!(left_by(&[(line, 0, &text)]), None, "{line}");
        }
    }
}
