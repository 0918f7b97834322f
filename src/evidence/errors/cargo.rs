//! What cargo does, and what a success of it shows.

use super::diagnose::{Found, diagnose};
use super::said::Speakers;
use super::work::Work;
use crate::evidence::tests::moved;

const COULD_NOT: &str = "error: could not compile `";

/// What a success of cargo shows. All of these build first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shows {
    /// That it compiles; whether it can be linked is not known.
    Checks,
    Builds,
    /// All that tests need: `cargo test --no-run`.
    BuildsTests,
    /// That nothing is denied, by these words.
    Lints(Vec<String>),
    /// That the program runs, with these words.
    Runs(Vec<String>),
    Passes,
}

impl Shows {
    /// By its verb, with those of its words that choose what is built.
    pub(super) fn of<'a>(verb: &str, words: &'a [String]) -> Option<(Self, &'a [String])> {
        // What stands behind `--` is for the program that is run.
        let (own, behind) = match words.iter().position(|word| word == "--") {
            Some(at) => (&words[..at], words[at + 1..].to_vec()),
            None => (words, Vec::new()),
        };
        Some(match (verb, words.first().map(String::as_str)) {
            ("check" | "c", _) => (Self::Checks, own),
            ("build" | "b", _) => (Self::Builds, own),
            ("rustc", _) if behind.is_empty() => (Self::Builds, own),
            ("clippy", _) => (Self::Lints(levels(&behind)), own),
            ("run" | "r", _) => (Self::Runs(behind), own),
            ("test" | "t", _) => (Self::Passes, words),
            ("nextest", Some("run" | "r")) => (Self::Passes, &words[1..]),
            _ => return None,
        })
    }

    /// Whether tests are built with it.
    pub(super) fn has_tests(&self) -> bool {
        matches!(self, Self::BuildsTests | Self::Passes)
    }

    /// Whether `other` succeeds as well where this does, in the same scope.
    pub(super) fn implies(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Checks) => true,
            (Self::Builds | Self::BuildsTests | Self::Runs(_) | Self::Passes, Self::Builds) => true,
            (Self::BuildsTests | Self::Passes, Self::BuildsTests) => true,
            (Self::Lints(own), Self::Lints(others)) => {
                let loosens =
                    |word: &&String| ["-A", "-W", "--cap"].iter().any(|head| word.starts_with(head));
                let more = own.iter().filter(|word| !others.contains(word));
                others.iter().all(|word| own.contains(word)) && !more.clone().any(|word| loosens(&word))
            }
            (Self::Runs(own), Self::Runs(others)) => own == others,
            (Self::Passes, Self::Passes) => true,
            _ => false,
        }
    }
}

/// What cargo was asked for.
pub(super) struct Called {
    pub(super) shows: Shows,
    /// What chooses what is built.
    pub(super) words: Vec<String>,
    /// Where the package is.
    pub(super) directory: String,
}

impl Called {
    /// `None` where it does something else. It is told `args` in `directory`.
    pub(super) fn new(args: &[String], directory: &str) -> Option<Self> {
        const VALUED: [&str; 3] = ["--color", "--config", "-Z"];
        let is_value = |at: usize| at > 0 && VALUED.contains(&args[at - 1].as_str());
        let verb = (0..args.len()).find(|at| !args[*at].starts_with(['+', '-']) && !is_value(*at))?;
        let (mut shows, words) = Shows::of(&args[verb], &args[verb + 1..])?;
        let (mut words, mut directory) = (words.to_vec(), directory.to_owned());
        if shows == Shows::Passes && words.iter().any(|word| word == "--no-run") {
            shows = Shows::BuildsTests;
            words.truncate(words.iter().position(|word| word == "--").unwrap_or(words.len()));
            words.retain(|word| word != "--no-run");
        }
        // What it changes, it looks at again.
        const CHANGES: [&str; 4] = ["--fix", "--allow-dirty", "--allow-staged", "--allow-no-vcs"];
        words.retain(|word| !matches!(shows, Shows::Lints(_)) || !CHANGES.contains(&word.as_str()));
        // Another compiler may take what this one does not.
        let compiler = args.first().and_then(|arg| arg.strip_prefix('+')).filter(|name| *name != "stable");
        if let Some(name) = compiler.filter(|_| shows != Shows::Passes) {
            words.insert(0, format!("--toolchain={name}"));
        }
        // What is run stays where it is.
        if !matches!(shows, Shows::Runs(_))
            && let Some((at, count, package)) = manifest(&words)
        {
            words.drain(at..at + count);
            directory = moved(&directory, &package);
        }
        Some(Self { shows, words, directory })
    }
}

/// `--manifest-path web/Cargo.toml`: where it stands, how many words it has, and where it leads.
fn manifest(words: &[String]) -> Option<(usize, usize, String)> {
    let (at, rest) =
        words.iter().enumerate().find_map(|(at, word)| Some((at, word.strip_prefix("--manifest-path")?)))?;
    let (count, path) = match rest {
        "" => (2, words.get(at + 1)?.as_str()),
        rest => (1, rest.strip_prefix('=')?),
    };
    let package = path.strip_suffix("Cargo.toml")?.trim_end_matches('/');
    let package = match package {
        "" if path.starts_with('/') => "/",
        "" => ".",
        package => package,
    };
    Some((at, count, package.to_owned()))
}

/// Levels of lints, each in one word and one way: `--deny=warnings` is `-Dwarnings`, as is `-D warnings`.
fn levels(words: &[String]) -> Vec<String> {
    const LEVELS: [(&str, &str); 4] =
        [("--deny", "-D"), ("--forbid", "-F"), ("--warn", "-W"), ("--allow", "-A")];
    let mut words = words.iter();
    let mut levels = Vec::new();
    while let Some(word) = words.next() {
        let level = LEVELS.iter().find_map(|(long, short)| {
            let rest = word.strip_prefix(long).or_else(|| word.strip_prefix(short))?;
            Some((*short, rest.trim_start_matches('=')))
        });
        levels.push(match level {
            Some((short, "")) => {
                let lint = words.next().map(String::as_str).unwrap_or_default();
                format!("{short}{}", lint.replace('-', "_"))
            }
            Some((short, lint)) => format!("{short}{}", lint.replace('-', "_")),
            None => word.clone(),
        });
    }
    levels
}

/// What there is to be done again of `works` that failed with `text`: where cargo could not build,
/// a build shows as much as anything.
pub(super) fn to_do_again(works: Vec<Work>, text: &str) -> Vec<Work> {
    let is_broken = could_not_compile(text) && !is_denied(text);
    let may_be_lints = !all_have_codes(text);
    let shows = if needs_a_linker(text) { Shows::Builds } else { Shows::Checks };
    let build = |work: &Work| match work {
        Work::Cargo { shows: Shows::Lints(_), .. } if may_be_lints => None,
        Work::Cargo { shows: Shows::Passes | Shows::BuildsTests, .. } => None,
        // What it is told before it compiles anything, it is told as well where it only checks.
        Work::Cargo { shows: Shows::Builds, .. } => work.build(shows.clone()),
        work => work.build(shows.clone()).filter(|_| is_broken),
    };
    works.into_iter().map(|work| build(&work).unwrap_or(work)).collect()
}

/// Whether it failed of what a check does not do: link, and fill in what is generic.
fn needs_a_linker(text: &str) -> bool {
    const WORDS: [&str; 5] =
        ["linking with `", "linker `", "undefined reference to", "undefined symbol", "error[E0080]"];
    WORDS.iter().any(|word| text.contains(word))
}

/// Whether every error that rustc counts is there and has a code, which none of a lint has.
fn all_have_codes(text: &str) -> bool {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    let mut coded = 0;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix(COULD_NOT) {
            let package = rest.split('`').next().unwrap_or_default();
            let count = rest.split_once("due to ").and_then(|(_, count)| count.split(' ').next());
            let Some(count) = count.and_then(|count| count.parse::<usize>().ok()) else { return false };
            // A library and its tests have the same errors, which are told once.
            match counted.iter_mut().find(|(name, _)| *name == package) {
                Some((_, most)) => *most = count.max(*most),
                None => counted.push((package, count)),
            }
        } else if line.starts_with("error[E") || line.contains(": error[E") {
            coded += 1;
        } else if line.starts_with("error: ") || line.contains(": error: ") {
            return false;
        }
    }
    coded >= counted.iter().map(|(_, count)| *count).sum::<usize>()
}

/// Why one of `works` failed, where nothing else that ran can have printed that.
pub(super) fn failure(text: &str, works: &[Work]) -> Option<Found> {
    (!works.is_empty()).then_some(())?;
    let found = diagnose(text, &Speakers::default())?;
    let first = found.errors.first()?;
    let panicked = |line: &str| line.starts_with("thread 'main'") && line.contains(" panicked at ");
    // A program may print anything; without a place it is the compiler's where none was run.
    let is_head = found.is_cut_off() && !works.iter().any(Work::is_program);
    let is_told = found.is_of_a_compiler() || found.is_cut_off() || first.is_without_place();
    let is_of_build = is_head || (could_not_compile(text) && is_told);
    let is_of_program =
        works.iter().any(Work::is_program) && first.kind == "panic" && text.lines().any(panicked);
    (is_of_build || is_of_program).then_some(found)
}

/// What cargo says at its end of errors that may have been left out.
pub(super) fn could_not(line: &str) -> Option<&str> {
    line.strip_prefix("error: ").filter(|_| line.starts_with(COULD_NOT))
}

/// What a command that failed shows all the same: a program that panics, or a test, was built.
pub(super) fn built(works: &[Work], found: Option<&Found>, text: &str) -> Option<Work> {
    let [work] = works else { return None };
    let first = found.and_then(|found| found.errors.first())?;
    (first.kind == "panic" && !could_not_compile(text)).then(|| work.build(Shows::Builds)).flatten()
}

/// Whether something was not there, or not made use of: code that more features bring in may change that.
pub(super) fn may_lack_code(text: &str) -> bool {
    const CODES: [&str; 7] = ["E0405", "E0412", "E0425", "E0432", "E0433", "E0463", "E0599"];
    const WORDS: [&str; 4] = ["unused", "never used", "never read", "never constructed"];
    let is_missing = |line: &str| {
        let code = line.split_once("error[").and_then(|(_, rest)| rest.get(..5));
        code.is_some_and(|code| CODES.contains(&code))
    };
    let is_idle = |line: &str| line.contains("error: ") && WORDS.iter().any(|word| line.contains(word));
    text.lines().any(|line| is_missing(line) || is_idle(line))
}

pub(super) fn could_not_compile(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(COULD_NOT))
}

/// Whether what compiles by itself was denied.
fn is_denied(text: &str) -> bool {
    ["clippy::", "`-D ", "`#[deny(", "`#[forbid("].iter().any(|mark| text.contains(mark))
}
