//! One program can be called in many ways: what of its words says what it does, and what only how it
//! is found, how much it tells, or how easily it succeeds.

mod code;
mod here;
mod manners;
mod meaning;
mod reach;

pub(crate) use here::Here;

use super::shell::{Git, Step, base_name};
use super::tests::is_easing;
use manners::{Manner, Meaning, PLAIN, manner};
use reach::Reach;

/// Longer calls are taken word by word.
const MOST_WORDS: usize = 1000;
const MOST_ASKED: usize = 200;

/// What a program was asked to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// In the one way that all of its ways have in common.
    words: Vec<String>,
    /// What it is done to, where that can be a part of it.
    asked: Vec<String>,
    reach: Reach,
    /// What lets it fail where it would succeed without.
    demands: Vec<String>,
    /// What lets it succeed where it would fail without.
    eases: Vec<String>,
}

impl Call {
    pub(crate) fn new(step: &Step, here: &Here) -> Self {
        let mut call = Self::default();
        let Some(first) = step.words.first() else { return call };
        let program = name(first, here);
        let mut args = without_own(&program, step.args());
        let program = match call.take_interpreter(program, &mut args, here).as_str() {
            "compileall" => "py_compile".to_owned(),
            other => other.to_owned(),
        };
        match tool_of_package(&program, &args) {
            Some(at) => call.take_args(args[at].clone(), &args[at + 1..], here),
            None => call.take_args(program, &args, here),
        }
        call.eases.extend(step.context.iter().filter(|word| is_easing(word)).cloned());
        call.demands.sort();
        call.eases.sort();
        call
    }

    /// Whether a success of this shows that `failed` does not fail any more.
    pub(crate) fn covers(&self, failed: &Self) -> bool {
        let are_in = |some: &[String], all: &[String]| some.iter().all(|word| all.contains(word));
        let is_held = |inner: &String| self.asked.iter().any(|outer| self.reach.holds(outer, inner));
        self.words == failed.words
            && self.asked.is_empty() == failed.asked.is_empty()
            && failed.asked.iter().all(is_held)
            && are_in(&failed.demands, &self.demands)
            && are_in(&self.eases, &failed.eases)
    }

    /// What `make` is to make.
    pub(crate) fn targets(&self) -> Option<&[String]> {
        (self.words.as_slice() == ["make"]).then_some(&self.asked)
    }

    /// The same of each thing by itself that it is done to.
    pub(crate) fn each(&self) -> Vec<Self> {
        self.asked.iter().map(|one| self.with_targets(vec![one.clone()])).collect()
    }

    /// The same of other targets.
    pub(crate) fn with_targets(&self, asked: Vec<String>) -> Self {
        Self { asked, ..self.clone() }
    }

    /// All that it says, in one line.
    pub(crate) fn told(&self) -> String {
        let ways = self.demands.iter().chain(&self.eases);
        ways.chain(&self.words).chain(&self.asked).map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// The name of what runs.
    pub(crate) fn program(&self) -> &str {
        self.words.first().map_or("", |word| base_name(word))
    }

    /// What git is told to do; `None` where this is another program.
    pub(crate) fn git_verb(&self) -> Option<&str> {
        match self.words.as_slice() {
            [program, verb, ..] if program == "git" => Some(verb),
            _ => None,
        }
    }

    /// Whether it only tells what it would do.
    pub(crate) fn is_dry(&self) -> bool {
        self.words.iter().chain(&self.asked).chain(&self.eases).any(|word| word == "--dry-run")
    }

    /// The script of a package that it runs, and what that is handed on.
    pub(crate) fn script(&self) -> Option<(&str, &[String])> {
        match self.words.as_slice() {
            [program, name, rest @ ..] if matches!(program.as_str(), "npm" | "pnpm" | "yarn") => {
                let rest = rest.strip_prefix(&["--".to_owned()]).unwrap_or(rest);
                (!name.starts_with('-')).then_some((name, rest))
            }
            _ => None,
        }
    }

    /// `python3 -u a.py` is `./a.py`, and `python3 -m mypy` is `mypy`: what runs then.
    fn take_interpreter(&mut self, program: String, args: &mut Vec<String>, here: &Here) -> String {
        let Some(interpreter) = manner(&program, "").filter(|manner| manner.interprets) else {
            return program;
        };
        let mut rest = args.as_slice();
        let mut taken = Self::default();
        while let Some((meaning, count)) = interpreter.meaning(rest) {
            taken.note(meaning, &rest[..count]);
            rest = &rest[count..];
        }
        let (program, rest) = match rest {
            [m, module, rest @ ..] if m == "-m" && manner(module, first(rest)).is_some() => {
                (module.clone(), rest)
            }
            [file, rest @ ..] if file.contains("node_modules/") => (name(file, here), rest),
            [file, rest @ ..] if !file.starts_with('-') => (here.program(file), rest),
            // A module, or code.
            [option, ..] if matches!(option.as_str(), "-" | "-c" | "-e" | "-m") => (program, rest),
            _ => return program,
        };
        self.demands.append(&mut taken.demands);
        self.eases.append(&mut taken.eases);
        *args = rest.to_vec();
        // What is not for a file is for itself.
        let own = manner(&program, "").filter(|_| is_interpreter(&program));
        if let Some(name) = own.and_then(|manner| manner.alias(first(args))) {
            args[0] = name.to_owned();
        }
        program
    }

    fn take_args(&mut self, program: String, args: &[String], here: &Here) {
        let known = manner(&program, first(args)).filter(|manner| !manner.interprets);
        let manner = known.filter(|_| args.len() <= MOST_WORDS).unwrap_or(&PLAIN);
        self.reach = manner.reach;
        self.words.push(program);
        let apart = if manner.clusters { taken_apart(args) } else { Vec::new() };
        let mut rest = if manner.clusters { apart.as_slice() } else { args };
        // The next word may be the value of an option, and then it is not what it is done to.
        let mut is_value = manner.has_verb();
        while let Some(word) = rest.first() {
            if let Some((meaning, count)) = manner.meaning(rest) {
                self.note(meaning, &rest[..count]);
                rest = &rest[count..];
                continue;
            }
            // What follows is for another program.
            if word == "--" && manner.hands_on {
                self.words.extend(rest.iter().filter(|_| rest.len() > 1).cloned());
                break;
            }
            let is_option = word.starts_with('-');
            let is_asked = manner.reach != Reach::Words
                && !(is_option || is_value || manner.reach == Reach::Targets && word.contains('='));
            let list = if is_asked { &mut self.asked } else { &mut self.words };
            list.push(if manner.names { here.name(word) } else { here.word(word) });
            is_value = is_option && !word.contains('=');
            rest = &rest[1..];
        }
        self.settle(manner);
    }

    /// Leaves out what means nothing more, adds what it does without a word, and calls what has two
    /// names by one.
    fn settle(&mut self, manner: &Manner) {
        self.words.pop_if(|last| last == "--");
        match self.words.get(1).and_then(|word| manner.alias(word)) {
            Some("") if self.words.len() > 2 => drop(self.words.remove(1)),
            Some(name) if !name.is_empty() => self.words[1] = name.to_owned(),
            _ => {}
        }
        let is_more = self.asked.len() > 1;
        self.asked.retain(|word| word != "clean" || !is_more || self.reach != Reach::Targets);
        // So many are not looked for one by one.
        if self.asked.len() > MOST_ASKED {
            self.words.append(&mut self.asked);
            return;
        }
        match self.reach {
            Reach::Words if self.words.len() == 1 => self.words.extend(manner.implied.map(str::to_owned)),
            Reach::Words => {}
            _ if self.asked.is_empty() => self.asked.extend(manner.implied.map(str::to_owned)),
            _ => {}
        }
    }

    fn note(&mut self, meaning: Meaning, words: &[String]) {
        let said = || words.join(" ").replace('=', " ");
        match meaning {
            Meaning::Shown => {}
            Meaning::Demand => self.demands.push(said()),
            Meaning::Ease => self.eases.push(said()),
        }
    }
}

fn is_interpreter(program: &str) -> bool {
    manner(program, "").is_some_and(|manner| manner.interprets)
}

/// The same words, each option of one letter by itself.
fn taken_apart(args: &[String]) -> Vec<String> {
    let letters = |arg: &String| match arg.strip_prefix('-').filter(|rest| !rest.starts_with('-')) {
        Some(letters) if !letters.is_empty() => letters.chars().map(|letter| format!("-{letter}")).collect(),
        _ => vec![arg.clone()],
    };
    args.iter().flat_map(letters).collect()
}

fn first(args: &[String]) -> &str {
    args.first().map_or("", String::as_str)
}

/// The first word of a program that is no option.
pub(crate) fn verb(step: &Step) -> &str {
    step.args().iter().find(|arg| !arg.starts_with('-')).map_or("", String::as_str)
}

/// Where the tool stands that a package manager runs: `yarn tsc`.
fn tool_of_package(program: &str, args: &[String]) -> Option<usize> {
    const TOOLS: [&str; 6] = ["eslint", "prettier", "stylelint", "tsc", "tsx", "vue-tsc"];
    let is_word = |at: &usize| !matches!(args[*at].as_str(), "-s" | "--silent" | "run");
    let at = (0..args.len()).find(is_word)?;
    (matches!(program, "pnpm" | "yarn") && TOOLS.contains(&args[at].as_str())).then_some(at)
}

/// The name of a program, wherever it was found and whatever it is called there.
fn name(word: &str, here: &Here) -> String {
    let is_file = word.contains('/') || word.ends_with(".py");
    let found = if is_file { here.program(word) } else { word.to_owned() };
    let (place, base) = found.rsplit_once('/').unwrap_or(("", &found));
    let parent = place.rsplit_once('/').map_or("", |(above, _)| base_name(above));
    let is_installed = match base_name(place) {
        "bin" | "sbin" | ".bin" if found.contains("node_modules/") => true,
        "bin" | "sbin" => place.starts_with('/') || parent.contains("env"),
        _ => false,
    };
    match base {
        "gradlew" => return "gradle".to_owned(),
        "mvnw" => return "mvn".to_owned(),
        _ if !place.is_empty() && !is_installed => return found,
        _ => {}
    }
    match base {
        "python3" | "py" => "python",
        "nodejs" => "node",
        "apt" => "apt-get",
        "gmake" => "make",
        "pip3" => "pip",
        "sh" | "zsh" | "dash" => "bash",
        other => other,
    }
    .to_owned()
}

/// The options by which a program is told to work elsewhere: `make -C web`.
fn directory_options(program: &str) -> &'static [&'static str] {
    match program {
        "make" | "gmake" => &["-C", "--directory"],
        "ninja" | "go" => &["-C"],
        "npm" => &["--prefix"],
        "pnpm" => &["-C", "--dir"],
        "yarn" => &["--cwd"],
        "tsc" | "vue-tsc" => &["-p", "--project"],
        _ => &[],
    }
}

/// Where such an option of a program stands, how many words it has, and where it leads.
fn own(program: &str, args: &[String]) -> Option<(usize, usize, String)> {
    let options = directory_options(program);
    let until = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let found = args[..until].iter().enumerate().find_map(|(at, arg)| {
        options.iter().find_map(|option| match arg.strip_prefix(option)? {
            "" => args.get(at + 1).map(|to| (at, 2, to.as_str())),
            rest if option.starts_with("--") => rest.strip_prefix('=').map(|to| (at, 1, to)),
            rest => Some((at, 1, rest)),
        })
    });
    let (at, count, to) = found?;
    let to = match to.strip_suffix("tsconfig.json") {
        Some("") => ".",
        Some(folder) => folder,
        // Another file of settings.
        None if to.ends_with(".json") => return None,
        None => to,
    };
    Some((at, count, to.to_owned()))
}

/// The directory that a program is told to work in.
pub(crate) fn own_directory(step: &Step) -> Option<String> {
    match step.git() {
        Some(git) => git.directory(),
        None => own(step.program(), step.args()).map(|(_, _, to)| to),
    }
}

/// Whether it names files as seen from there.
pub(crate) fn names_from_own_directory(step: &Step) -> bool {
    !matches!(step.program(), "tsc" | "vue-tsc")
}

/// The words of a program, without where it works, and without what git is told of itself.
fn without_own(program: &str, args: &[String]) -> Vec<String> {
    if program == "git" {
        return Git::of(args).words();
    }
    let mut args = args.to_vec();
    if let Some((at, count, _)) = own(program, &args) {
        args.drain(at..at + count);
    }
    args
}
