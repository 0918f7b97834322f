//! What a program died of whose calls begin in the file that the command runs: nobody else's do, whatever is
//! shown beside it, and whoever waits for it.

use super::diagnose::{Found, diagnose};
use super::python;
use super::said::Speakers;
use super::work::{Done, Work};
use crate::evidence::shell::{End, Step, base_name};
use crate::evidence::tests::shown_files;

/// So many are looked at in one command.
pub(super) const MOST_STEPS: usize = 16;

impl Done {
    /// The first step that is known to have died, though nothing says what it ended with.
    pub(super) fn died(&self, code: i64, text: &str, succeeded: &[usize]) -> Option<(Found, Vec<Work>)> {
        if self.repeats_itself() || self.may_show_its_log() {
            return None;
        }
        let is_open = |at: usize| {
            let may_be = code != 0 || self.command.end_of(at, succeeded) != End::Succeeded;
            // Where nobody speaks after it, what follows is its own, and then it went on.
            may_be && !self.speaks_last(at) && !self.has_another_way(at)
        };
        let dies = |at: usize| {
            let work = self.works[at].clone().filter(|_| is_open(at) && self.is_seen(at))?;
            let from = dies_from(&self.command.steps[at], text)?;
            let found = diagnose(&text[from..], &Speakers::default()).filter(|found| !found.is_vague)?;
            Some((found, vec![work]))
        };
        let runs = |at: &usize| Runs::of(&self.command.steps[*at]).is_some();
        (0..self.works.len()).filter(runs).take(MOST_STEPS).find_map(dies)
    }

    /// Whether something is shown in which the same program may have died another time.
    fn may_show_its_log(&self) -> bool {
        let mut steps = self.command.steps.iter().enumerate();
        steps.any(|(at, step)| {
            let shows = step.shows_stored_text() && !step.piped && !step.silent;
            shows && !self.shows_own_text(at, step) && shows_logs(step)
        })
    }
}

fn shows_logs(step: &Step) -> bool {
    const PARTS: [&str; 5] = ["log", "err", "crash", "trace", "dump"];
    let is_log = |file: &str| {
        let name = base_name(file).to_ascii_lowercase();
        file.contains(['*', '$']) || name.ends_with(".out") || PARTS.iter().any(|part| name.contains(part))
    };
    match step.program() {
        "docker" | "gh" | "glab" | "journalctl" | "kubectl" | "podman" => true,
        // It is asked of what runs, and what that dies of is not an answer.
        "curl" | "wget" | "git" => false,
        _ => shown_files(step).any(is_log),
    }
}

/// Where in an output the last words of a step begin.
fn dies_from(step: &Step, text: &str) -> Option<usize> {
    match Runs::of(step)? {
        Runs::Python => {
            let others = [("-c", "<string>"), ("-m", "<frozen runpy>"), ("-", "<stdin>")];
            python_from(script(step, &others)?, text)
        }
        Runs::Node => {
            let others = [("-e", "[eval]"), ("--eval", "[eval]"), ("-p", "[eval]"), ("-", "[stdin]")];
            node_from(script(step, &others)?, text)
        }
        Runs::Native => {
            let is_panic = |line: &str| line.starts_with("thread 'main' ") && line.contains("panicked at ");
            begins(text).find(|(_, line)| is_panic(line)).map(|(from, _)| from)
        }
    }
}

/// In what words a program dies.
enum Runs {
    Python,
    Node,
    Native,
}

impl Runs {
    fn of(step: &Step) -> Option<Self> {
        let program = step.program();
        let is_own = step.words.first().is_some_and(|word| word.contains('/'));
        let ends = |ends: &[&str]| ends.iter().any(|end| program.ends_with(end));
        match program {
            "cargo" => {
                step.args().iter().any(|arg| matches!(arg.as_str(), "run" | "r")).then_some(Self::Native)
            }
            "node" | "nodejs" => Some(Self::Node),
            _ if program.starts_with("python") || ends(&[".py"]) => Some(Self::Python),
            _ if ends(&[".js", ".mjs", ".cjs"]) => Some(Self::Node),
            _ => is_own.then_some(Self::Native),
        }
    }
}

/// Each line with where it begins.
fn begins(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |from, line| {
        *from += line.len();
        Some((*from - line.len(), line.trim_end()))
    })
}

/// The first call of a traceback is in the file itself, and so is what is no code in it.
fn python_from(file: &str, text: &str) -> Option<usize> {
    let frame = |line: &str| {
        let (place, is_call) = python::frame(line.trim_start())?;
        (base_name(&place.file) == file).then_some(is_call)
    };
    let is_head = |from: usize, line: &str| match line {
        "Traceback (most recent call last):" => text[from..].lines().nth(1).and_then(frame).is_some(),
        line => line.starts_with("  File ") && frame(line) == Some(false),
    };
    begins(text).find(|(from, line)| is_head(*from, line)).map(|(from, _)| from)
}

/// Node says where it stopped, which may be in any file or in its own code, then why, and at last what it is.
fn node_from(file: &str, text: &str) -> Option<usize> {
    let is_head = |line: &str| {
        let Some((place, row)) = line.rsplit_once(':') else { return false };
        let is_row = !row.is_empty() && row.bytes().all(|byte| byte.is_ascii_digit());
        is_row && ["/", "file://", "node:", "["].iter().any(|head| place.starts_with(head))
    };
    let from = begins(text).find(|(_, line)| is_head(line))?.0;
    let end = text[from..].find("\nNode.js v")?;
    text[from..from + end].contains(file).then_some(from)
}

/// The file that an interpreter is told to run, or what its calls begin in otherwise.
fn script<'a>(step: &'a Step, others: &[(&str, &'static str)]) -> Option<&'a str> {
    if step.program().contains('.') && step.words.first().is_some_and(|word| word.contains('/')) {
        return Some(step.program());
    }
    let first = step
        .args()
        .iter()
        .find(|arg| *arg == "-" || !arg.starts_with('-') || others.iter().any(|(name, _)| arg == name));
    match first {
        Some(arg) => {
            Some(others.iter().find(|(name, _)| arg == name).map_or(base_name(arg), |(_, file)| file))
        }
        None => others.iter().find(|(name, _)| *name == "-" && !step.input.is_empty()).map(|(_, file)| *file),
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::errors::left_by;

    const PYTHON: &str = "start\nTraceback (most recent call last):\n  File \"/home/dev/project/a.py\", line 4, in <module>\n    main()\n  File \"/home/dev/project/lib.py\", line 2, in main\n    raise ValueError(\"bad input\")\nValueError: bad input\n";
    const NODE: &str = "/home/dev/project/server.js:2\nconsole.log(x.port);\n              ^\n\nTypeError: no port\n    at Object.<anonymous> (/home/dev/project/server.js:2:15)\n    at node:internal/main/run_main_module:28:49\n\nNode.js v20.20.2\n";
    const LOADED: &str = "node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module './x'\nRequire stack:\n- /home/dev/project/server.js\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)\n    at node:internal/main/run_main_module:28:49 {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2\n";
    const PANIC: &str = "\nthread 'main' (12) panicked at src/main.rs:4:5:\nno settings\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";

    #[track_caller]
    fn check(line: &str, code: i64, text: &str, expected: Option<&str>) {
        let left = left_by(&[(line, code, text)]).map(|(_, message)| message);
        assert_eq!(left.as_deref(), expected, "{line}\n{text}");
    }

    #[test]
    fn what_died_is_told_whatever_is_shown_after_it() {
        for after in
            ["cat out.txt", "head -3 README.md", "git diff", "git log -3", "grep -n a out.txt", "jq . a.json"]
        {
            let shown = |text: &str| format!("{text}hello\nworld\n");
            for (program, text, told) in [
                ("python3 a.py", PYTHON, "bad input"),
                ("./a.py", PYTHON, "bad input"),
                ("python3 -u ./a.py --fast", PYTHON, "bad input"),
                ("node server.js", NODE, "no port"),
                ("node --trace-warnings server.js", NODE, "no port"),
                ("./target/debug/app", PANIC, "no settings"),
            ] {
                for between in ["; ", " || true; ", " 2>&1; ls; "] {
                    check(&format!("{program}{between}{after}"), 0, &shown(text), Some(told));
                }
                let line = format!("{program}; {after}");
                let mended = [(line.as_str(), 0, &*shown(text)), (program, 0, "")];
                assert_eq!(left_by(&mended), None, "{line}");
                check(&line, 0, "hello\nworld\n", None);
            }
        }
    }

    #[test]
    fn what_died_elsewhere_died_of_what_was_run() {
        let module = "Traceback (most recent call last):\n  File \"<frozen runpy>\", line 198, in _run_module_as_main\n  File \"/home/dev/project/app/__main__.py\", line 1, in <module>\n    raise ValueError(\"bad input\")\nValueError: bad input\nx\n";
        let syntax = "  File \"/home/dev/project/a.py\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\nx\n";
        let esm = "file:///home/dev/project/b.mjs:1\nexport const x = () => { throw new Error(\"no\") };\n                               ^\n\nError: no\n    at x (file:///home/dev/project/b.mjs:1:32)\n    at file:///home/dev/project/a.mjs:2:1\n\nNode.js v20.20.2\nx\n";
        check("python3 -m app; cat o.txt", 0, module, Some("bad input"));
        check("python3 a.py; cat o.txt", 0, syntax, Some("invalid syntax"));
        check("node a.mjs; cat o.txt", 0, esm, Some("no"));
        check("python3 b.py; cat o.txt", 0, syntax, None);
        check("node c.mjs; cat o.txt", 0, esm, None);
    }

    #[test]
    fn what_dies_in_the_background_is_told() {
        let asked = "sleep 1; curl -s localhost:3000";
        for (program, text, told) in [
            ("node server.js", NODE, "no port"),
            ("node server.js", LOADED, "Cannot find module './x'"),
            ("python3 a.py", PYTHON, "bad input"),
            ("./target/debug/app", PANIC, "no settings"),
        ] {
            check(&format!("{program} & {asked}"), 7, text, Some(told));
            check(&format!("{program} & PID=$!; {asked}; kill $PID"), 1, text, Some(told));
            let line = format!("{program} & PID=$!; {asked}; kill $PID 2>/dev/null; true");
            check(&line, 0, text, Some(told));
            assert_eq!(left_by(&[(&line, 0, text), (&line, 0, "hi\n")]), None, "{line}");
            check(&line, 0, "hi\n", None);
        }
    }

    #[test]
    fn what_is_stored_may_be_of_another_time() {
        for line in [
            "python3 a.py; cat crash.log",
            "python3 a.py; tail -20 errors.txt",
            "python3 a.py; docker logs web",
            "python3 a.py; grep -A9 Traceback *.txt",
            "python3 b.py; cat out.txt",
            "python3 a.py && cat out.txt",
            "cat out.txt",
        ] {
            check(line, 0, &format!("fine\n{PYTHON}went on\n"), None);
        }
        // A page may tell of a request that failed.
        let page = "Traceback (most recent call last):\n  File \"/usr/lib/python3/flask/app.py\", line 9, in wsgi\n    f()\n  File \"/home/dev/project/a.py\", line 4, in f\n    g()\nValueError: bad input\n";
        check("python3 a.py & sleep 1; curl -s localhost:5000", 0, page, None);
    }
}
