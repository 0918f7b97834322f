//! Programs of the system that say so whenever they fail: where they said nothing, another failed.

use crate::evidence::shell::Step;

/// Whether a program is known to complain of whatever it fails of.
pub(super) fn would_complain(step: &Step) -> bool {
    // Where its words go elsewhere, nobody hears them.
    if step.silent || !step.writes.is_empty() {
        return false;
    }
    let may_be_silent = |arg: &String| matches!(arg.as_str(), "-q" | "--quiet" | "-s" | "--exit-code");
    match step.program() {
        "cat" | "chmod" | "chown" | "cp" | "cut" | "date" | "df" | "du" | "file" | "head" | "hostname"
        | "id" | "ln" | "ls" | "mkdir" | "mv" | "nl" | "pwd" | "rm" | "rmdir" | "sed" | "sort" | "stat"
        | "tail" | "touch" | "tr" | "tree" | "uname" | "uniq" | "wc" | "whoami" => true,
        "git" => {
            const VERBS: [&str; 12] = [
                "add", "branch", "checkout", "diff", "fetch", "init", "log", "restore", "rm", "show",
                "status", "switch",
            ];
            VERBS.contains(&step.git_verb())
                && !(step.git_verb() == "diff" && step.args().iter().any(may_be_silent))
        }
        _ => false,
    }
}

/// Whether one of these complains in `text`.
pub(super) fn complains(step: &Step, text: &str) -> bool {
    let name = step.program();
    // Compilers have errors, too.
    let only_looks = matches!(step.git_verb(), "branch" | "diff" | "init" | "log" | "show" | "status");
    let is_own = |line: &str| match name {
        "git" => line.starts_with("fatal: ") || (line.starts_with("error: ") && !only_looks),
        name => line.strip_prefix(name).is_some_and(|rest| rest.starts_with(": ")),
    };
    text.lines().any(|line| is_own(line) || (line.contains("bash: ") && line.contains(&format!(" {name}: "))))
}

/// `cat: a.ini: No such file or directory`, `./build.sh: line 3: x: command not found`
pub(super) fn is_complaint(line: &str) -> bool {
    const REASONS: [&str; 12] = [
        "Connection refused",
        "Directory not empty",
        "File exists",
        "Is a directory",
        "No space left on device",
        "No such file or directory",
        "Not a directory",
        "Operation not permitted",
        "Permission denied",
        "Read-only file system",
        "command not found",
        "not found",
    ];
    let Some((before, reason)) = line.rsplit_once(": ") else { return false };
    let speaker = before.split(": ").next().unwrap_or(before);
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "./_-+[]".contains(c);
    // What scripts pass over.
    let is_minor = matches!(speaker, "grep" | "kill" | "ls" | "mkdir" | "rm" | "rmdir" | "stat");
    let is_reason = REASONS.contains(&reason) || reason == "required file not found";
    is_reason && !is_minor && speaker != before && speaker.chars().all(is_name)
}

#[cfg(test)]
mod tests {
    use crate::evidence::errors::left_by;

    #[test]
    fn what_would_have_complained_did_not_fail() {
        let told = Some(("error".to_owned(), "exited with code 1".to_owned()));
        let said = "step 3 went wrong\n";
        for before in [
            "ls",
            "pwd",
            "date",
            "git status --short",
            "git add -A",
            "git diff --stat",
            "rm -f z",
            "cp a b",
            "mv a b",
            "touch q",
            "chmod +x fail.sh",
            "cat README.md",
        ] {
            for line in [format!("{before} && npm run lint"), format!("npm run lint && {before}")] {
                let left = left_by(&[(&line, 1, said)]);
                assert!(left.is_some(), "{line}");
                assert_eq!(left_by(&[(&line, 1, said), ("npm run lint", 0, "")]), None, "{line}");
            }
            assert_eq!(left_by(&[(&format!("{before} && npm run lint"), 1, "")]), told, "{before}");
        }
        // It complains, or may have said no without a word.
        assert_eq!(left_by(&[("ls nothing && npm run lint", 2, "ls: cannot access 'nothing'\n")]), None);
        assert_eq!(left_by(&[("grep -q x a && npm run lint", 1, "")]), None);
        assert_eq!(left_by(&[("readlink a && npm run lint", 1, "")]), None);
        assert_eq!(left_by(&[("git diff --quiet && npm run lint", 1, "")]), None);
    }

    #[test]
    fn an_error_of_a_compiler_is_not_gits() {
        let broken =
            "error[E0308]: mismatched types\n --> a.rs:1:26\n\nerror: aborting due to 1 previous error\n";
        for before in ["git status --short", "git log --oneline -3", "git diff --stat", "pwd && ls -la"] {
            let line = format!("{before} && rustc a.rs");
            assert!(left_by(&[(&line, 1, broken)]).is_some(), "{line}");
            assert_eq!(left_by(&[(&line, 1, broken), ("rustc a.rs", 0, "")]), None, "{line}");
        }
    }

    #[test]
    fn what_waits_for_a_failure_shows_nothing() {
        let thrown = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    1/0\nZeroDivisionError: division by zero\n";
        for shown in
            ["cat out.txt", "head README.md", "tail -5 app.log", "sed -n 1,5p a.csv", "grep x out.txt"]
        {
            let line = format!("python3 a.py && {shown}");
            let left = left_by(&[(&line, 1, thrown)]);
            assert_eq!(left.map(|(kind, _)| kind).as_deref(), Some("ZeroDivisionError"), "{line}");
            assert_eq!(left_by(&[(&line, 1, thrown), ("python3 a.py", 0, "")]), None, "{line}");
        }
        // It was shown, and what failed comes after it.
        assert_eq!(left_by(&[("cat log.txt && true", 0, thrown)]), None);
    }

    #[test]
    fn what_failed_without_a_known_word_is_not_mended_behind_a_pipe() {
        for text in ["step 3 went wrong\n", "a.js: line 3: unused variable\n", "schema is wrong\n"] {
            for behind in ["2>&1 | tail -20", "| head -50", "| cat", "2>&1 | tee log"] {
                let line = format!("./fail.sh {behind}");
                assert!(left_by(&[("./fail.sh", 1, text), (&line, 0, text)]).is_some(), "{line}: {text}");
            }
            assert_eq!(left_by(&[("./fail.sh", 1, text), ("./fail.sh", 0, "fine\n")]), None);
        }
        // What would have said so is heard.
        let made = "make: *** [Makefile:2: all] Error 1\n";
        assert_eq!(left_by(&[("make", 2, made), ("make 2>&1 | tail -5", 0, "cc a.c\n")]), None);
    }
}
