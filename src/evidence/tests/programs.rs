//! Programs that execute something of one's own: an interpreter with a file, a
//! script, a task of a build tool. They may run tests, or print anything at all.

use crate::evidence::shell::{Step, base_name};

/// Whether what a step executes may be anything.
pub(super) fn is_any(step: &Step) -> bool {
    executed(step).is_some_and(|what| !shows(base_name(what)) && !shows(step.program()))
}

/// The name of what a step executes.
fn executed(step: &Step) -> Option<&str> {
    let program = step.program();
    let args = step.args();
    Some(match program {
        "make" | "gmake" | "just" | "task" | "rake" | "invoke" | "inv" | "mage" | "ninja" => {
            args.iter().find(|arg| !arg.starts_with('-')).map_or("", String::as_str)
        }
        "npm" | "pnpm" | "yarn" | "bun" if matches!(first(args), "run" | "run-script") => {
            args.get(1).map_or("", String::as_str)
        }
        "cargo" | "go" | "deno" if first(args) == "run" => args.get(1).map_or("", String::as_str),
        "node" | "nodejs" | "tsx" | "ts-node" | "bun" | "ruby" | "perl" | "php" | "lua" | "bash" | "sh"
        | "zsh" | "dash" | "pypy3" | "py" => file(args)?,
        _ if program.starts_with("python") => file(args)?,
        _ if step.words.first().is_some_and(|word| word.contains('/')) => program,
        _ => return None,
    })
}

fn first(args: &[String]) -> &str {
    args.first().map_or("", String::as_str)
}

/// The file that an interpreter is given; code on its command line or from a pipe is none.
fn file(args: &[String]) -> Option<&str> {
    let first = args.iter().map(String::as_str).find(|arg| !is_switch(arg))?;
    (!first.starts_with('-')).then_some(first)
}

/// An option after which a file may still follow.
fn is_switch(arg: &str) -> bool {
    let code = ["-c", "-e", "-E", "-m", "-n", "-p", "-pe", "-ne", "-r", "-s", "-", "--eval", "--print"];
    arg.starts_with('-') && !code.contains(&arg) && !arg.starts_with("--eval=")
}

/// Whether a name says that it shows what is there already.
fn shows(name: &str) -> bool {
    const WORDS: [&str; 25] = [
        "cat", "display", "dump", "echo", "fixture", "fixtures", "grep", "head", "history", "inspect",
        "last", "latest", "list", "log", "logs", "parse", "print", "replay", "report", "result", "results",
        "show", "summary", "tail", "view",
    ];
    words_of(name).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// The words of a name, which stand apart by a sign or a capital letter.
pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphabetic() || (lower && c.is_ascii_uppercase()) {
            words.push(String::new());
        }
        lower = c.is_ascii_lowercase();
        if c.is_ascii_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use crate::evidence::shell::Command;

    fn is_any(line: &str) -> bool {
        Command::parse(line).steps.last().is_some_and(super::is_any)
    }

    #[test]
    fn what_executes_may_run_tests() {
        for line in [
            "python3 ut.py",
            "python3 -u -B ut.py -v",
            "node x.mjs",
            "sh run.sh",
            "./run.sh",
            "t/basic.t",
            "perl t/basic.t",
            "make",
            "make -j4 all",
            "npm run unit-all",
            "cargo run",
        ] {
            assert!(is_any(line), "{line}");
        }
    }

    #[test]
    fn what_shows_text_runs_none() {
        for line in [
            "cat a.py",
            "python3 -c 'print(1)'",
            "python3 - <a.py",
            "node -e 'x()'",
            "node -p x",
            "ruby -e 'x'",
            "perl -ne print a.log",
            "python3 -m json.tool",
            "python3 show.py",
            "node print.js",
            "./tools/show-latest",
            "./catLog.sh",
            "make logs",
            "npm run report",
            "npm install",
            "bash",
            "less a.t",
            "git show",
        ] {
            assert!(!is_any(line), "{line}");
        }
    }
}
