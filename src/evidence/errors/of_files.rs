//! Files that are not what they should be: one that could not be written, or that a program which reads its form
//! could not read. What mends that is whatever writes or reads the same file.

use super::codes::printed as succeeded;
use super::collect::Errors;
use super::diagnose::{Diagnosis, Found};
use super::place::Location;
use super::work::{Done, Work};
use crate::evidence::lines::lines;
use crate::evidence::scan::Scan;
use crate::evidence::shell::{End, Step};
use crate::evidence::tests::{Walk, below, moved};
use crate::model::Change;

/// Where a step ran, as seen from the run's directory.
#[derive(Debug)]
pub(super) struct Place<'r> {
    root: &'r str,
    directory: String,
}

impl Place<'_> {
    pub(super) fn file(&self, name: &str) -> String {
        below(self.root, &moved(&self.directory, name))
    }
}

impl Done {
    /// Where each step ran.
    pub(super) fn places<'r>(&self, root: &'r str) -> Vec<Place<'r>> {
        let mut walk = Walk::default();
        let place = |step: &Step| {
            walk.follow(step);
            Place { root, directory: walk.here.clone() }
        };
        self.command.steps.iter().map(place).collect()
    }

    /// What a program says of a file that is not in the form that it reads.
    pub(super) fn misread(&self, root: &str, text: &str) -> Option<(Found, Vec<Work>)> {
        let at = self.command.steps.iter().position(|step| !read_by(step).is_empty())?;
        let (step, place) = (&self.command.steps[at], self.places(root).swap_remove(at));
        let files: Vec<String> = read_by(step).into_iter().map(|file| place.file(file)).collect();
        let (number, (row, column, words)) =
            lines(text).enumerate().find_map(|(at, line)| Some((at, complaint(step, &line)?)))?;
        let place = match files.as_slice() {
            [file] => Location::new(file, row, column),
            _ => None,
        };
        let errors = vec![Diagnosis::new(number, "parse error", &words, place)];
        let works = files.into_iter().map(Work::Reads).collect();
        Some((Found { errors, count: 1, ..Found::default() }, works))
    }

    /// The files that it is known to have written, or to have read in their form.
    fn files_done(&self, root: &str, text: &str) -> Vec<Work> {
        let (places, told) = (self.places(root), succeeded(&self.command, text));
        let mut done = Vec::new();
        for (at, (step, place)) in self.command.steps.iter().zip(&places).enumerate() {
            let went_well = told.contains(&at) || self.command.end_of(at, &told) == End::Succeeded;
            if !went_well && !self.would_be_heard(at, text) {
                continue;
            }
            let is_heard = step.writes.is_empty() || (step.silent && step.writes.len() == 1);
            let read = if is_heard { read_by(step) } else { Vec::new() };
            if !read.is_empty() && !lines(text).any(|line| complaint(step, &line).is_some()) {
                done.extend(read.into_iter().map(|file| Work::Reads(place.file(file))));
            }
            let puts = matches!(step.program(), "cp" | "install" | "mv" | "rsync" | "tee" | "touch");
            let given = step.args().iter().filter(|_| puts);
            done.extend(step.writes.iter().chain(given).map(|file| Work::Writes(place.file(file))));
        }
        done
    }
}

impl Errors {
    /// What a command did with files that failures are about.
    pub(super) fn note_files(&mut self, line: &str, done: &Done, exit_code: Option<i64>, text: &str) {
        let is_of_file = |work: &Work| matches!(work, Work::Reads(_) | Work::Writes(_));
        if exit_code != Some(0) || !self.failures.iter().any(|failure| failure.works.iter().any(is_of_file)) {
            return;
        }
        let files = done.files_done(self.directory.trim_end_matches('/'), text);
        self.settle_all(Some(line), |failure| failure.works.iter().all(|work| files.contains(work)));
    }

    /// The agent wrote these itself.
    pub(super) fn note_changes(&mut self, changes: &[Change]) {
        let root = self.directory.trim_end_matches('/').to_owned();
        let is_written = |work: &Work| {
            let is_it = |file: &String| changes.iter().any(|change| below(&root, &change.path) == *file);
            matches!(work, Work::Writes(file) if is_it(file))
        };
        self.settle_all(None, |failure| !failure.works.is_empty() && failure.works.iter().all(is_written));
    }
}

/// The files that a step reads in a form that it knows.
fn read_by(step: &Step) -> Vec<&str> {
    let args: Vec<&str> = step.args().iter().map(String::as_str).collect();
    let is_tool = step.program().starts_with("python") && args.starts_with(&["-m", "json.tool"]);
    let named: Vec<&str> = match step.program() {
        // Its first word is what it looks for.
        "jq" => args.iter().filter(|arg| !arg.starts_with('-')).skip(1).copied().collect(),
        "xmllint" => args.iter().filter(|arg| !arg.starts_with('-')).copied().collect(),
        _ if is_tool => args[2..].iter().filter(|arg| !arg.starts_with('-')).take(1).copied().collect(),
        _ => return Vec::new(),
    };
    let is_file = |file: &&str| file.contains('.') && !file.contains([' ', '$', '*', '(']);
    let read = step.input.iter().filter_map(|input| input.strip_prefix("< ").or(input.strip_prefix("cat ")));
    let files = if named.is_empty() { read.collect() } else { named };
    files.into_iter().filter(is_file).collect()
}

/// What a step says of a file that it could not read: the row, the column, and why.
fn complaint(step: &Step, line: &str) -> Option<(u64, Option<u64>, String)> {
    let number = |text: &str| Scan::new(text).number();
    match step.program() {
        // `parse error: Expected another key-value pair at line 1, column 10`
        "jq" => {
            let said = line.strip_prefix("jq: ").unwrap_or(line).strip_prefix("parse error: ")?;
            let (words, place) = said.rsplit_once(" at line ").unwrap_or((said, ""));
            let column = place.split_once(" column ").and_then(|(_, column)| number(column));
            Some((number(place).unwrap_or(1), column, words.to_owned()))
        }
        // `bad.xml:3: parser error : Opening and ending tag mismatch`
        "xmllint" => {
            let (place, words) = Location::leading(line)?;
            let words = words.strip_prefix(": parser error : ")?;
            Some((place.line, place.column, words.to_owned()))
        }
        // `Expecting value: line 1 column 9 (char 8)`
        _ => {
            let (words, place) = line.strip_suffix(')')?.rsplit_once(": line ")?;
            let (row, place) = place.split_once(" column ")?;
            let (column, _) = place.split_once(" (char ")?;
            Some((number(row)?, number(column), words.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Origin;
    use crate::model::{ChangeKind, Event, ItemStatus};

    const JQ: &str = "parse error: Expected another key-value pair at line 3, column 10\n";
    const TOOL: &str = "Expecting property name enclosed in double quotes: line 3 column 10 (char 9)\n";
    const XML: &str =
        "web/a.xml:3: parser error : Opening and ending tag mismatch: b line 2 and a\n</a>\n    ^\n";

    fn errors(commands: &[(&str, i64, &str)]) -> Errors {
        let root = "/home/dev/project";
        let mut errors = Errors::where_all_is_there(root, Origin::new(root, root));
        commands.iter().for_each(|(line, code, text)| errors.note_command(line, Some(*code), text));
        errors
    }

    fn is_left(commands: &[(&str, i64, &str)]) -> bool {
        errors(commands).finish(None).is_some()
    }

    #[test]
    fn what_is_not_in_its_form_is_told_with_its_place() {
        for (line, code, text, words) in [
            ("jq . web/a.json", 2, JQ, "Expected another key-value pair"),
            (
                "jq . web/a.json",
                5,
                "jq: parse error: Expected value at line 3, column 10\n",
                "Expected value",
            ),
            ("cd web && jq -e .b a.json", 2, JQ, "Expected another key-value pair"),
            ("jq empty ./web/a.json && echo valid", 2, JQ, "Expected another key-value pair"),
            ("jq . web/a.json 2>&1 | tail -3", 0, JQ, "Expected another key-value pair"),
            (
                "jq . web/a.json >/dev/null && echo ok || echo bad",
                0,
                &format!("{JQ}bad\n"),
                "Expected another key-value pair",
            ),
            ("cat web/a.json | jq .", 2, JQ, "Expected another key-value pair"),
            ("jq . < web/a.json", 2, JQ, "Expected another key-value pair"),
            ("python3 -m json.tool web/a.json", 1, TOOL, "Expecting property name enclosed in double quotes"),
            (
                "python3 -m json.tool < web/a.json > /dev/null",
                1,
                TOOL,
                "Expecting property name enclosed in double quotes",
            ),
        ] {
            let told = errors(&[(line, code, text)]).finish(None).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(
                (told.error_message.as_str(), told.failed_files.as_slice()),
                (words, &["web/a.json".to_owned()][..]),
                "{line}"
            );
            assert_eq!(
                (told.error_locations[0].line, told.error_locations[0].column),
                (3, Some(10)),
                "{line}"
            );
            for green in [
                "jq . web/a.json",
                "python3 -m json.tool web/a.json",
                "cat web/a.json | jq .a",
                "cd web && jq empty a.json",
                "jq . web/a.json | head",
            ] {
                assert!(!is_left(&[(line, code, text), (green, 0, "{}\n")]), "{line}, {green}");
            }
            for other in [
                "jq . web/b.json",
                "cat web/a.json",
                "jq . a.json",
                "python3 -m json.tool web/b.json",
                "touch web/a.json",
            ] {
                assert!(is_left(&[(line, code, text), (other, 0, "{}\n")]), "{line}, {other}");
            }
            assert!(is_left(&[(line, code, text), ("jq . web/a.json | head", 0, JQ)]), "{line}");
        }
        let told = errors(&[("xmllint --noout web/a.xml", 1, XML)]).finish(None).unwrap();
        assert_eq!(told.error_message, "Opening and ending tag mismatch: b line 2 and a");
        assert!(!is_left(&[("xmllint --noout web/a.xml", 1, XML), ("xmllint --noout web/a.xml", 0, "")]));
    }

    #[test]
    fn what_is_asked_of_a_file_is_no_failure_of_it() {
        for (line, code, text) in [
            ("jq . none.json", 2, "jq: error: Could not open file none.json: No such file or directory\n"),
            ("jq -e .b a.json", 1, "null\n"),
            ("jq '.a[' a.json", 3, "jq: error: syntax error, unexpected $end\njq: 1 compile error\n"),
            ("curl -s localhost | jq .", 2, JQ),
            ("echo no | jq .", 2, JQ),
            ("cat notes.txt", 0, JQ),
        ] {
            assert!(!is_left(&[(line, code, text)]), "{line}");
        }
    }

    #[test]
    fn what_the_agent_wrote_is_written() {
        let said = "/bin/bash: line 1: out/a.txt: No such file or directory\n";
        for (path, is_left) in [("/home/dev/project/out/a.txt", false), ("/home/dev/project/out/b.txt", true)]
        {
            let mut errors = errors(&[("echo x > out/a.txt", 1, said)]);
            let changes = vec![Change { path: path.to_owned(), kind: ChangeKind::Add }];
            errors.note_event(&Event::Edited {
                item: "1".to_owned(),
                changes,
                status: ItemStatus::Completed,
            });
            let (left, earlier) = errors.told(None);
            assert_eq!((left.is_some(), earlier.list.len()), (is_left, usize::from(!is_left)), "{path}");
        }
    }

    #[test]
    fn a_file_is_read_where_that_is_known_to_have_gone_well() {
        let red = ("python3 -m json.tool c.json", 1, TOOL);
        for (line, text, is_red) in [
            ("python3 -m json.tool c.json", "{}\n", false),
            ("python3 -m json.tool c.json >/dev/null", "", false),
            ("python3 -m json.tool c.json >/dev/null && echo valid || echo invalid", "valid\n", false),
            ("python3 -m json.tool c.json >/dev/null 2>&1 && echo valid || echo invalid", "invalid\n", true),
            ("python3 -m json.tool c.json >/dev/null 2>&1; true", "", true),
            ("python3 -m json.tool c.json &>/dev/null; echo \"rc=0\"", "rc=0\n", true),
            ("! python3 -m json.tool c.json >/dev/null 2>&1", "", true),
            ("if false; then python3 -m json.tool c.json; fi", "", true),
            ("[ -f nope ] && python3 -m json.tool c.json; true", "", true),
        ] {
            assert_eq!(is_left(&[red, (line, 0, text)]), is_red, "{line}");
        }
    }
}
