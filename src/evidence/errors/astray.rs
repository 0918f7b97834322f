//! Work that was not begun, since the way to it or to what it writes does not lead anywhere: `cd nowhere && make`,
//! `make > nowhere/log`.

use super::diagnose::Found;
use super::failing;
use super::work::{Done, Work};
use crate::evidence::lines::lines;
use crate::evidence::shell::{Step, base_name};

/// What a shell says more often than this is not followed.
const MOST_LINES: usize = 100;

impl Done {
    /// What a shell says of that, and what is to be done in its place.
    pub(super) fn astray(&self, root: &str, text: &str) -> Option<(Found, Vec<Work>)> {
        let may_be = |step: &Step| matches!(step.program(), "cd" | "pushd") || !step.writes.is_empty();
        if !self.command.steps.iter().any(may_be) {
            return None;
        }
        let mut told = lines(text).filter(|line| is_of_shell(line)).take(MOST_LINES);
        let (words, works) =
            told.find_map(|line| self.not_gone(&line).or_else(|| self.not_written(root, &line)))?;
        Some((failing::vague("error", &words), works))
    }

    /// `bash: line 1: cd: nowhere: No such file or directory`, where something was to be done there.
    fn not_gone(&self, line: &str) -> Option<(String, Vec<Work>)> {
        let (name, said) = ["cd", "pushd"]
            .iter()
            .find_map(|name| Some((*name, line.split_once(&format!(": {name}: "))?.1)))?;
        let place =
            said.rsplit_once(": ").map(|(place, _)| place).or_else(|| said.strip_prefix("can't cd to "))?;
        let leads = |step: &Step| {
            let is_it = |to: &String| to == place || to.contains(['$', '~']);
            step.program() == name && !step.silent && step.args().last().is_some_and(is_it)
        };
        let at = self.command.steps.iter().position(leads)?;
        let behind = &self.command.steps[at + 1..];
        let waiting = behind.iter().take_while(|step| step.and || step.piped).count();
        // Another way was thought of.
        if behind.get(waiting).is_some_and(|step| step.or) {
            return None;
        }
        let steps: Vec<usize> = (at + 1..=at + waiting).collect();
        let after = || self.works[at + 1 + waiting..].iter().flatten();
        // It is done elsewhere in the same line.
        if self.to_do_of(&steps).iter().all(|lost| after().any(|work| work.is_kin_of(lost))) {
            return None;
        }
        let works: Vec<Work> =
            self.to_do_of(&steps).into_iter().map(|work| Work::Elsewhere(Box::new(work))).collect();
        (!works.is_empty()).then(|| (format!("{name}: {said}"), works))
    }

    /// `bash: line 1: nowhere/log: No such file or directory`, of a file that something was to be written to.
    fn not_written(&self, root: &str, line: &str) -> Option<(String, Vec<Work>)> {
        const REASONS: [&str; 5] = [
            "No such file or directory",
            "Permission denied",
            "Is a directory",
            "Not a directory",
            "Read-only file system",
        ];
        let (before, reason) = line.rsplit_once(": ").filter(|(_, reason)| REASONS.contains(reason))?;
        let (_, file) = before.rsplit_once(": ")?;
        let writes = |step: &Step| step.writes.iter().any(|written| written == file);
        let at = self.command.steps.iter().position(writes)?;
        if self.command.steps.get(at + 1).is_some_and(|next| next.or) {
            return None;
        }
        let work = self.works[at].clone().filter(|_| self.does(at));
        let work = work.or_else(|| Some(Work::Writes(self.places(root).swap_remove(at).file(file))))?;
        Some((format!("{file}: {reason}"), vec![work]))
    }
}

/// `/bin/bash: line 1: `, `sh: 1: `
fn is_of_shell(line: &str) -> bool {
    let Some((name, rest)) = line.split_once(": ") else { return false };
    matches!(base_name(name), "bash" | "sh" | "dash" | "zsh") && rest.contains(": ")
}

impl Work {
    /// Whether this is the same kind of work, wherever it is done.
    pub(super) fn is_kin_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cargo { .. }, Self::Cargo { .. }) | (Self::Tests(_), Self::Tests(_)) => true,
            (Self::Program { call, .. }, Self::Program { call: of, .. }) => call.program() == of.program(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::errors::left_by;

    const GONE: &str = "/bin/bash: line 1: cd: web: No such file or directory\n";

    #[track_caller]
    fn check(commands: &[(&str, i64, &str)], expected: Option<&str>) {
        let left = left_by(commands).map(|(_, message)| message);
        assert_eq!(left.as_deref(), expected, "{commands:?}");
    }

    #[test]
    fn what_was_to_be_done_where_there_is_nothing_is_to_be_done_somewhere() {
        let told = Some("cd: web: No such file or directory");
        for (work, other, green) in [
            ("make", "python3 app.py", "make"),
            ("make -j4 2>&1 | tail -5", "npm ci", "make -C api"),
            ("pytest -q", "make", "pytest -q"),
            ("cargo build", "make", "cargo build"),
            ("python3 app.py", "python3 other.py", "python3 app.py"),
            ("npm ci && npm run build", "make", "npm ci && npm run build"),
        ] {
            let line = format!("cd web && {work}");
            let red = (line.as_str(), 1, GONE);
            check(&[red], told);
            check(&[red, (other, 0, "")], told);
            check(&[red, ("mkdir web", 0, "")], told);
            for before in ["", "cd api && ", "cd web && "] {
                let passed = if work.contains("pytest") { "1 passed in 0.01s\n" } else { "" };
                check(&[red, (&format!("{before}{green}"), 0, passed)], None);
            }
        }
        check(&[("cat a.py && cd web && pytest -q", 1, &format!("x = 1\n{GONE}"))], told);
        check(&[("cd $DIR && make; ls", 0, &format!("{GONE}Makefile\n"))], told);
        check(
            &[("set -e; pushd web && make", 1, &GONE.replace(": cd:", ": pushd:"))],
            Some("pushd: web: No such file or directory"),
        );
        check(&[("cd web && make", 2, "sh: 1: cd: can't cd to web\n")], Some("cd: can't cd to web"));
    }

    #[test]
    fn a_look_where_there_is_nothing_is_none() {
        for (line, code) in [
            ("cd web", 1),
            ("cd web && ls", 1),
            ("cd web && cat a.py | head -3", 1),
            ("cd web && git log", 1),
            ("cd web; ls", 0),
            ("cd web && make || echo none", 0),
            ("(cd web && make); (cd api && make)", 0),
            ("cat log", 0),
        ] {
            check(&[(line, code, GONE)], None);
        }
    }

    #[test]
    fn what_could_not_be_written_is_told_until_it_is() {
        let said = "/bin/bash: line 1: out/a.txt: No such file or directory\n";
        let told = Some("out/a.txt: No such file or directory");
        for line in [
            "echo x > out/a.txt",
            "cat > out/a.txt <<E\nx\nE",
            "printf x >> out/a.txt",
            "mkdir -p src && echo x > out/a.txt",
            "echo x > out/a.txt; ls",
        ] {
            let red = (line, 1, said);
            check(&[red], told);
            check(&[red, ("mkdir out", 0, "")], told);
            check(&[red, ("echo x > other/a.txt", 0, "")], told);
            for green in [
                "mkdir -p out && echo y > out/a.txt",
                "cp a out/a.txt",
                "cd out && echo x > a.txt",
                "echo x | tee ./out/a.txt",
                "echo x > /home/dev/project/out/a.txt",
            ] {
                check(&[red, (green, 0, "")], None);
            }
        }
        // What ran is what is to be run again.
        let red = ("make > out/a.txt", 1, said);
        check(&[red], told);
        check(&[red, ("make > /tmp/log", 0, "")], None);
        check(&[red, ("touch out/a.txt", 0, "")], told);
        for line in ["echo x > out/a.txt || true", "cat out/a.txt", "ls > list.txt"] {
            check(&[(line, 0, said)], None);
        }
    }
}
