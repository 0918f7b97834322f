//! Which part of the tests a command asked for.

use super::Framework;
use super::dialect::{Dialect, REPORTS, Words, dialect};
use super::left_alone::LeftAlone;
use super::memory::Memory;
use super::packages::Packages;
use super::places::{Origin, below, is_elsewhere, is_in, moved};
use super::printed::handed_on;
use super::pythons::{is_discovery, without_here};
use super::relation::is_path;
use super::settings::{Settings, Way};
use super::ways::only_shows;
use super::words::{lists, unbundled};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(super) framework: Framework,
    /// Where it ran, as far as the command itself says.
    pub(super) directory: String,
    pub(super) packages: Packages,
    /// Targets of a package; none is every one that is tested without being named.
    pub(super) targets: Vec<String>,
    /// Files, folders, modules or patterns of packages; none is whatever is found without.
    pub(super) places: Vec<String>,
    /// What leaves tests out.
    pub(super) filters: Vec<String>,
    /// What else may change the choice.
    pub(super) modes: Vec<String>,
    /// How they are run, where one may fail of that.
    pub(super) runs: Vec<String>,
    /// The same, where one may pass of it.
    pub(super) eases: Vec<String>,
    /// The command, where what it asks for cannot be told.
    pub(super) unclear: Option<String>,
    /// Whether it ran in no part of the checkout that the run works in.
    pub(super) elsewhere: bool,
    /// Whether it ran on files that others took the place of, as those that were there before.
    pub(super) other_tree: bool,
    /// Of several runs that one command made, which.
    pub(super) part: usize,
    /// Whether the framework is not known.
    pub(super) any_framework: bool,
    /// Whether it is a loop of which each turn asks for some, in one directory.
    pub(super) by_turns: bool,
    /// What the project's own files say of the choice.
    pub(super) settings: Settings,
    /// What a script says that it runs.
    pub(super) alias: Option<Box<Scope>>,
}

impl Scope {
    pub(crate) fn new(framework: Framework, directory: &str, args: &[String]) -> Self {
        let mut scope = Self::empty(framework, directory);
        let whole = args.join(" ");
        let is_list = |arg: &String| framework == Framework::Pytest && arg.starts_with('@');
        // What a shell or a file puts in its place is not known here.
        if args.iter().any(is_list)
            || args.iter().any(|arg| arg.contains(['$', '`', '*', '{']))
            || directory.contains(['$', '`', '*'])
        {
            scope.unclear = Some(whole);
            return scope;
        }
        let dialect = dialect(framework);
        let is_cargo = matches!(framework, Framework::CargoTest | Framework::Nextest);
        let discovers = is_discovery(framework, args);
        let words = unbundled(dialect, &without_here(framework, args));
        let mut args = words.iter().map(String::as_str).peekable();
        while let Some(arg) = args.next() {
            let (key, own) = arg.split_once('=').map_or((arg, None), |(key, value)| (key, Some(value)));
            let next = args.peek().copied().filter(|_| own.is_none());
            // Some need no value.
            let beside = next.filter(|next| !next.starts_with('-'));
            if arg == "--" {
            } else if !arg.starts_with('-') || arg == "-" {
                scope.add_word(dialect, arg);
            } else if is_cargo && matches!(arg, "--workspace" | "--all") {
                scope.packages = Packages::All;
            } else if is_cargo && matches!(key, "-p" | "--package") {
                scope.packages.add(own.or(next).unwrap_or_default());
                args.next_if(|_| own.is_none());
            } else if is_cargo && matches!(key, "-F" | "--features") {
                scope.add_features(own.or(next).unwrap_or_default());
                args.next_if(|_| own.is_none());
            } else if scope.takes_ease(key, own.or(beside))
                || lists(dialect.shown_beside, key, own.or(beside))
                || REPORTS.contains(&key)
            {
                args.next_if(|next| Some(*next) == beside);
            } else if lists(dialect.shown, key, own) || dialect.shown.contains(&arg) {
            } else if lists(dialect.run_beside, key, own.or(beside)) {
                scope.runs.push([key, own.or(beside).unwrap_or_default()].join(" "));
                args.next_if(|next| Some(*next) == beside);
            } else if lists(dialect.run, key, own) {
                scope.runs.push(arg.to_owned());
            } else if own.is_none() && dialect.filter_beside.contains(&arg) {
                scope.filters.push(format!("{arg} {}", args.next().unwrap_or_default()));
            } else if dialect.filter.contains(&key) || dialect.filter_beside.contains(&key) {
                scope.filters.push(arg.to_owned());
            } else if own.is_none() && dialect.target_beside.contains(&arg) {
                scope.targets.push(format!("{arg} {}", args.next().unwrap_or_default()));
            } else if dialect.target.contains(&arg) {
                scope.targets.push(arg.to_owned());
            } else {
                scope.modes.push(arg.to_owned());
                // The next word may be its value, and then it chooses nothing.
                if beside.is_some() {
                    scope.unclear = Some(whole.clone());
                }
            }
        }
        scope.compare_runs();
        // Where it looks, not what it runs: modules below have other names then.
        if discovers && !scope.places.is_empty() {
            scope.unclear = Some(format!("discover {}", scope.places.join(" ")));
        }
        for list in [&mut scope.targets, &mut scope.places, &mut scope.filters, &mut scope.modes] {
            list.sort();
            list.dedup();
        }
        scope
    }

    /// Of a script or a loop: only the same command is known to ask for the same.
    pub(super) fn of_script(framework: Framework, directory: &str, command: &str) -> Self {
        Self { unclear: Some(command.to_owned()), ..Self::empty(framework, directory) }
    }

    /// Of a loop whose turns ask for tests of their own: a name means the same as without it.
    pub(super) fn of_turns(framework: Framework, directory: &str, command: &str) -> Self {
        Self { by_turns: true, ..Self::of_script(framework, directory, command) }
    }

    fn empty(framework: Framework, directory: &str) -> Self {
        Self {
            framework,
            directory: directory.to_owned(),
            packages: Packages::Default,
            targets: Vec::new(),
            places: Vec::new(),
            filters: Vec::new(),
            modes: Vec::new(),
            runs: Vec::new(),
            eases: Vec::new(),
            unclear: None,
            elsewhere: false,
            other_tree: false,
            part: 0,
            any_framework: false,
            by_turns: false,
            settings: Settings::default(),
            alias: None,
        }
    }

    /// The same, as the `part`th of several runs of one command.
    pub(super) fn part(&self, framework: Framework, part: usize) -> Self {
        let mut of_part = Self { framework, part, ..self.clone() };
        // What a script hands on may only say how tests are run and shown.
        let (script, words) = of_part.unclear.as_deref().map_or(("", None), handed_on);
        let words = words.map(|words| words.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>());
        if let Some(asked) =
            words.map(|words| Self::new(framework, "", &words)).filter(|asked| !asked.is_filtered())
        {
            (of_part.unclear, of_part.runs) = (Some(script.to_owned()), asked.runs);
            of_part.eases = asked.eases;
        }
        of_part
    }

    /// The same script, whatever it runs.
    pub(super) fn of_any_framework(self) -> Self {
        Self { any_framework: true, ..self }
    }

    pub(super) fn is_of_any_framework(&self) -> bool {
        self.any_framework
    }

    fn add_word(&mut self, dialect: &Dialect, word: &str) {
        match dialect.words {
            // Looking for tests is what it does without a word.
            Words::Places if self.framework == Framework::Unittest && word == "discover" => {}
            Words::Filters | Words::Patterns => self.filters.push(word.to_owned()),
            Words::Places => {
                let place = if word == "." { word } else { word.strip_prefix("./").unwrap_or(word) };
                self.places.push(place.trim_end_matches('/').to_owned());
            }
            Words::Packages => self.places.push(word.trim_end_matches('/').to_owned()),
        }
    }

    /// The same, where variables and options of other programs were given with it.
    pub(crate) fn with_context(mut self, context: &[String]) -> Self {
        let context = self.without_eases(context.iter().filter(|word| !only_shows(word)).collect());
        if let Some(unclear) = &mut self.unclear {
            context.iter().for_each(|word| *unclear = format!("{word} {unclear}"));
        }
        self.modes.extend(context.into_iter().cloned());
        self.modes.sort();
        self
    }

    /// The same scope, named from the root of the checkout that commands start in.
    pub(crate) fn seen_from(mut self, origin: &Origin) -> Self {
        self.alias = self.alias.map(|alias| Box::new(alias.seen_from(origin)));
        let root = origin.root.as_str();
        self.directory = origin.below(&self.directory);
        let mut away = 0;
        let mut unclear = false;
        for place in &mut self.places {
            let is_name = match self.framework {
                Framework::Go => !is_path(place),
                Framework::Unittest => !place.contains('/') && !place.ends_with(".py"),
                _ => false,
            };
            // It is looked for from where the command runs.
            if is_name {
                away += usize::from(is_elsewhere(root, &self.directory));
                continue;
            }
            // What stands inside of a file is no path.
            let (path, inside) = place.split_at(place.find("::").unwrap_or(place.len()));
            let path = below(root, &moved(&self.directory, path));
            away += usize::from(is_elsewhere(root, &path));
            let here = match self.directory.as_str() {
                "" => Some(path.as_str()),
                directory => path.strip_prefix(directory).and_then(|rest| match rest {
                    "" => Some(""),
                    rest => rest.strip_prefix('/'),
                }),
            };
            *place = match (self.framework, here) {
                // Named from the root: wherever it ran, a file is the same.
                (Framework::Pytest, _) => format!("{path}{inside}"),
                (Framework::Go, Some("")) => ".".to_owned(),
                (Framework::Go, Some(here)) => format!("./{here}"),
                (Framework::Unittest, Some(here)) if !here.starts_with('/') => {
                    here.trim_end_matches(".py").replace('/', ".")
                }
                (_, Some("")) => ".".to_owned(),
                (_, Some(here)) => here.to_owned(),
                (_, None) => {
                    unclear = true;
                    path
                }
            };
        }
        self.elsewhere = match self.places.len() {
            0 => is_elsewhere(root, &self.directory),
            all => away == all,
        };
        if !self.elsewhere && (unclear || away > 0) {
            self.unclear = Some(self.places.join(" "));
        }
        if !root.is_empty() && !self.elsewhere && self.unclear.is_none() {
            self.look_at_settings(root, origin.memory.as_deref());
        }
        self.places.sort();
        self.places.dedup();
        self
    }

    /// What the project says of tests that are not named.
    fn look_at_settings(&mut self, root: &str, memory: Option<&Memory>) {
        let way = |places| Way { root: root.as_ref(), directory: &self.directory, places, memory };
        let mut found = Ok(Vec::new());
        if self.framework == Framework::Pytest && self.places.is_empty() {
            found = way(&[]).test_paths();
            let paths = found.iter().flatten();
            self.places = paths.map(|path| below(root, &moved(&self.directory, path))).collect();
        }
        let mut settings = way(&self.places).settings(self.framework);
        settings.own_rules |= found.is_err();
        settings.names_places = found.is_ok_and(|found| !found.is_empty());
        if self.framework == Framework::Pytest {
            let directory = self.directory.as_str();
            self.filters.retain(|option| match LeftAlone::by_option(root, directory, option) {
                Some(rule) => {
                    settings.left_alone.push(rule);
                    false
                }
                None => true,
            });
            settings.left_alone.sort();
            settings.left_alone.dedup();
        }
        if settings.filters.is_empty() {
            settings.filters = std::mem::take(&mut self.settings.filters);
        }
        self.settings = settings;
    }

    /// The same, where tests were left out though nothing in the command asks for that.
    pub(super) fn leaving_out_some(mut self) -> Self {
        // What is not looked into was not found either.
        let by_choice = self.filters.iter().any(|filter| !filter.starts_with("--ignore"));
        if !by_choice && self.unclear.is_none() {
            self.settings.filters = vec!["deselected".to_owned()];
        }
        self
    }

    /// As options that are always given: which of them leave tests out, and whether they may change
    /// what is found.
    pub(super) fn as_options(&self) -> (Vec<String>, bool) {
        let finds = |option: &String| {
            ["--lf", "--last-failed", "--sw", "--stepwise"].iter().any(|name| option.starts_with(name))
        };
        let (finding, leaving): (Vec<String>, Vec<String>) = self.filters.iter().cloned().partition(finds);
        (leaving, !finding.is_empty() || !self.places.is_empty() || self.unclear.is_some())
    }

    /// Where it ran, where that is not the checkout that the run works in.
    pub(super) fn elsewhere(&self) -> Option<&str> {
        if self.other_tree {
            return Some("another tree of it");
        }
        self.elsewhere.then(|| match self.places.first() {
            Some(place) if !self.directory.starts_with('/') => place.as_str(),
            _ => self.directory.as_str(),
        })
    }

    /// The same, seen to be in one of these checkouts.
    pub(super) fn apart_from(mut self, checkouts: &[String]) -> Self {
        self.alias = self.alias.map(|alias| Box::new(alias.apart_from(checkouts)));
        let is_there = |path: &String| checkouts.iter().any(|checkout| is_in(path, checkout));
        let by_places = self.framework == Framework::Pytest && !self.places.is_empty();
        self.elsewhere |= match by_places {
            true => self.places.iter().all(is_there),
            false => is_there(&self.directory),
        };
        self
    }

    /// The command, where it is a script or something else that cannot be told.
    pub(super) fn script(&self) -> Option<&str> {
        self.unclear.as_deref()
    }

    pub(crate) fn is_of_pytest(&self) -> bool {
        self.framework == Framework::Pytest
    }

    pub(crate) fn is_of(&self, framework: Framework) -> bool {
        self.framework == framework
    }

    /// Whether only some tests were asked for.
    pub(super) fn is_filtered(&self) -> bool {
        let Self { packages, targets, places, filters, modes, unclear, .. } = self;
        *packages != Packages::Default
            || unclear.is_some()
            || [targets, places, filters, modes].iter().any(|list| !list.is_empty())
    }

    /// Whether one target of a package was asked for by its name.
    pub(super) fn is_one_target(&self) -> bool {
        matches!(self.targets.as_slice(), [one] if one.starts_with("--test ") || one.starts_with("--bin "))
    }

    /// Whether both ran in one directory, so that a name means the same in both.
    pub(super) fn is_beside(&self, other: &Scope) -> bool {
        self.directory == other.directory
    }

    /// The name that a test has here which is called `full` from the root.
    pub(super) fn name_here(&self, full: &str) -> String {
        let below = full.strip_prefix(self.directory.as_str()).and_then(|rest| rest.strip_prefix('/'));
        below.filter(|_| self.framework == Framework::Pytest).unwrap_or(full).to_owned()
    }

    /// A test's name from the root, where its framework names files as seen from where it ran.
    pub(super) fn full_name(&self, name: &str) -> String {
        match self.framework {
            Framework::Pytest => {
                let (path, inside) = name.split_at(name.find("::").unwrap_or(name.len()));
                // No root is needed: what leads out of it stays as it is.
                format!("{}{inside}", below("", &moved(&self.directory, path)))
            }
            Framework::Unittest => self.named_by_module(name),
            _ => name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::relation::Relation;
    use super::*;

    fn scope(framework: Framework, line: &str) -> Scope {
        let (directory, args) = line.split_once("$ ").unwrap_or(("", line));
        Scope::new(
            framework,
            directory,
            &args.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>(),
        )
        .seen_from(&Origin::new("/home/dev/shop", "/home/dev/shop"))
    }

    #[track_caller]
    fn check(framework: Framework, relation: Relation, pairs: &[(&str, &str)]) {
        for (later, earlier) in pairs {
            let found = scope(framework, later).relation(&scope(framework, earlier));
            assert_eq!(found, relation, "`{later}` to `{earlier}`");
        }
    }

    #[test]
    fn how_tests_are_shown_does_not_change_which() {
        assert!(
            !scope(Framework::CargoTest, "-q --no-fail-fast -j 4 --color=always -- --nocapture")
                .is_filtered()
        );
        check(
            Framework::Pytest,
            Relation::Same,
            &[("-v test_a.py", "test_a.py --tb=short"), (".", ""), ("./t/", "t")],
        );
        check(Framework::Jest, Relation::Same, &[("--ci -i", "")]);
        check(Framework::Unittest, Relation::Same, &[("discover -v", "")]);
    }

    #[test]
    fn one_directory_has_many_names() {
        let seen = |directory: &str| {
            Scope::new(Framework::Go, directory, &[])
                .seen_from(&Origin::new("/home/dev/shop", "/home/dev/shop"))
        };
        for name in ["", ".", "./", "/home/dev/shop", "/home/dev/shop/"] {
            assert_eq!(seen(name), scope(Framework::Go, ""), "{name}");
        }
        for name in ["web", "./web", "web/", "/home/dev/shop/web"] {
            assert_eq!(seen(name), scope(Framework::Go, "web$ "), "{name}");
        }
        assert_ne!(seen("/home/dev/shop2"), scope(Framework::Go, ""));
    }

    #[test]
    fn a_file_holds_its_tests_and_a_folder_its_files() {
        let wider = [
            ("tests/test_a.py", "tests/test_a.py::test_x"),
            ("tests/test_a.py tests/test_b.py", "tests/test_a.py"),
            ("tests", "tests/test_a.py"),
            ("", "tests/test_a.py -k x"),
            ("test_a.py::test_x", "test_a.py::test_x[1]"),
            ("", "tests$ -q test_a.py"),
            ("tests$ ", "tests/test_a.py"),
        ];
        check(Framework::Pytest, Relation::Covers, &wider);
        check(Framework::Pytest, Relation::Within, &wider.map(|(wider, narrower)| (narrower, wider)));
        check(
            Framework::Pytest,
            Relation::Apart,
            &[("test_a.py", "test_b.py"), ("test_a.py::x", "test_a.py::y"), ("a$ ", "b$ ")],
        );
        check(
            Framework::Pytest,
            Relation::Unclear,
            &[
                ("test_a.py test_b.py", "test_b.py test_c.py"),
                ("-k x", "-k y"),
                ("test_a.py", "-k x"),
                ("--new x", ""),
                ("$F", "test_a.py"),
            ],
        );
        check(Framework::Unittest, Relation::Covers, &[("t.A", "t.A.test_x")]);
    }

    #[test]
    fn packages_are_told_apart_and_what_is_the_default_is_not_known() {
        let cargo = Framework::CargoTest;
        check(
            cargo,
            Relation::Covers,
            &[("-p api -p web", "-p api"), ("--workspace", "-p api"), ("--workspace", "")],
        );
        check(cargo, Relation::Covers, &[("", "x"), ("--lib --test a", "--lib"), ("-p a", "-p a --lib x")]);
        check(cargo, Relation::Within, &[("", "--workspace"), ("x", "")]);
        check(cargo, Relation::Apart, &[("-p a", "-p b"), ("--lib", "--test a"), ("a$ ", "b$ ")]);
        check(
            cargo,
            Relation::Unclear,
            &[
                ("", "-p a"),
                ("", "-- --ignored"),
                ("", "--features x"),
                ("x", "y"),
                ("", "web$ "),
                ("-p a -p b", "-p b -p c"),
            ],
        );
        check(Framework::Go, Relation::Covers, &[("./...", ""), ("./...", "./a"), ("./a/...", "./a/b")]);
        check(Framework::Go, Relation::Within, &[("", "./..."), ("-run X ./a", "./a")]);
        check(
            Framework::Go,
            Relation::Apart,
            &[("./a", "./b"), ("./...", "./testdata/x"), ("./a/...", "./a/_x"), ("./...", "./.x")],
        );
        check(Framework::Jest, Relation::Within, &[("-f", ""), ("a", "")]);
    }

    #[test]
    fn test_files_are_told_apart_by_their_names_and_patterns_are_not() {
        for runner in [Framework::Jest, Framework::Vitest] {
            check(
                runner,
                Relation::Apart,
                &[
                    ("src/m.test.js", "src/z.test.js"),
                    ("src/m.test.js src/n.spec.tsx", "./src/z.test.js"),
                    ("a/m.test.ts", "b/m.test.ts"),
                    ("m.test.js -t adds", "z.test.js"),
                    ("web$ m.test.js", "src/z.test.js"),
                    ("--silent m.test.js", "--coverage z.test.js"),
                ],
            );
            check(runner, Relation::Covers, &[("m.test.js z.test.js", "m.test.js")]);
            check(
                runner,
                Relation::Unclear,
                &[
                    ("m.test.js", "src/m.test.js"),
                    ("m.test.js", "z/am.test.js"),
                    ("/home/dev/shop/src/m.test.js", "src/m.test.js"),
                    ("src$ m.test.js", "src/m.test.js"),
                    ("./m.test.js", "src/m.test.js"),
                    ("m.test.js", "m.test.jsx"),
                    ("src/m.test.js", "m.test.jsx"),
                    ("m.test.ts", "m-test.ts"),
                    ("m.test.ts", "M.test.ts"),
                    ("m.test.js n.test.js", "n.test.js z.test.js"),
                    ("m.test.js -t adds", "m.test.js -t takes"),
                    // Patterns, folders, lines, and what only belongs to tests.
                    ("m.test.js", "src"),
                    ("m.test.js", "z"),
                    ("m.test.js", "z.test"),
                    ("m.test.js", "src/z.js"),
                    ("m.test.js", "(y|z).test.js"),
                    ("m.test.js", "[yz].test.js"),
                    ("m.test.js", "z?.test.js"),
                    ("m.test.js", "z.+.test.js"),
                    ("m.test.js", "z.test.js$"),
                    ("m.test.js", "z.test.js:12"),
                    ("m.test.js", ".test.js"),
                    ("m.test.js", "src/.test.js"),
                ],
            );
        }
        check(Framework::Jest, Relation::Unclear, &[("--findRelatedTests m.test.js", "z.test.js")]);
        // These take a file for itself.
        for runner in [Framework::Mocha, Framework::Node] {
            check(
                runner,
                Relation::Apart,
                &[("test/m.js", "test/z.js"), ("test/m.js", "m.js"), ("test/m.js", "test/m.jsx")],
            );
            check(runner, Relation::Same, &[("./test/m.js", "test/m.js")]);
            check(runner, Relation::Covers, &[("test", "test/m.js"), ("test/m.js z.js", "z.js")]);
            check(
                runner,
                Relation::Unclear,
                &[("test/*.js", "test/m.js"), ("test/m.js", "test/m.js test/z.js -g x")],
            );
        }
    }

    #[test]
    fn only_the_same_script_is_known_to_run_the_same() {
        let script = |line: &str| Scope::of_script(Framework::Jest, "", line);
        assert_eq!(script("npm").relation(&script("npm")), Relation::Same);
        assert_eq!(script("npm").relation(&script("make")), Relation::Unclear);
        assert_eq!(script("npm").relation(&script("npm").part(Framework::Jest, 1)), Relation::Unclear);
        assert_eq!(script("npm").relation(&scope(Framework::Jest, "")), Relation::Unclear);
        let (cargo, nextest) = (scope(Framework::CargoTest, ""), scope(Framework::Nextest, ""));
        assert_eq!(cargo.relation(&nextest), Relation::Unclear);
        assert_eq!(cargo.relation(&scope(Framework::Jest, "")), Relation::Apart);
    }

    #[test]
    fn a_test_is_known_to_be_asked_for_by_its_name() {
        let asks = |framework, line: &str, name: &str| scope(framework, line).asks_for(name);
        assert_eq!(asks(Framework::Pytest, "test_a.py::x", "test_a.py::x"), Some(true));
        assert_eq!(asks(Framework::Pytest, "test_a.py", "test_b.py::x"), Some(false));
        assert_eq!(asks(Framework::Pytest, "test_a.py -k x", "test_a.py::x"), None);
        assert_eq!(asks(Framework::CargoTest, "adds", "tests::adds_two"), Some(true));
        assert_eq!(asks(Framework::Jest, "adds", "adds"), None);
    }
}
