//! What the arguments of each framework mean for the choice of tests.

use super::Framework;

/// The options of one framework. One that is in no list may choose anything.
#[derive(Debug)]
pub(super) struct Dialect {
    /// Change how tests are run or shown, not which.
    pub(super) shown: &'static [&'static str],
    /// The same, with a value as the next word.
    pub(super) shown_beside: &'static [&'static str],
    /// Leave tests out.
    pub(super) filter: &'static [&'static str],
    pub(super) filter_beside: &'static [&'static str],
    /// Choose targets of a package.
    pub(super) target: &'static [&'static str],
    pub(super) target_beside: &'static [&'static str],
    pub(super) words: Words,
}

/// What a word that is no option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// A file, a folder or a module.
    Places,
    /// A pattern of packages.
    Packages,
    /// A part of a name.
    Filters,
    /// A pattern of files' paths.
    Patterns,
}

pub(super) fn dialect(framework: Framework) -> &'static Dialect {
    match framework {
        Framework::CargoTest => &CARGO,
        Framework::Nextest => &NEXTEST,
        Framework::Pytest => &PYTEST,
        Framework::Unittest => &UNITTEST,
        Framework::Jest => &JEST,
        Framework::Vitest => &VITEST,
        Framework::Mocha => &MOCHA,
        Framework::Node => &NODE,
        Framework::Go => &GO,
        Framework::Junit | Framework::Tap => &OTHER,
    }
}

const OTHER: Dialect = Dialect {
    shown: &["-v", "--verbose", "-q", "--quiet"],
    shown_beside: &["-j", "--jobs"],
    filter: &[],
    filter_beside: &[],
    target: &[],
    target_beside: &[],
    words: Words::Places,
};

const CARGO: Dialect = Dialect {
    shown: &[
        "--color",
        "--frozen",
        "--keep-going",
        "--locked",
        "--message-format",
        "--no-capture",
        "--no-fail-fast",
        "--nocapture",
        "--offline",
        "--quiet",
        "--release",
        "--show-output",
        "--verbose",
        "-q",
        "-v",
        "-vv",
    ],
    shown_beside: &["-j", "--jobs", "--test-threads", "--message-format", "--color", "--target-dir"],
    filter: &[],
    filter_beside: &["--skip"],
    target: &["--lib", "--bins", "--doc"],
    target_beside: &["--test", "--bin"],
    words: Words::Filters,
};

const NEXTEST: Dialect = Dialect {
    shown_beside: &[
        "-j",
        "--jobs",
        "--test-threads",
        "--color",
        "--retries",
        "--status-level",
        "--final-status-level",
        "--success-output",
        "--failure-output",
        "--target-dir",
    ],
    filter_beside: &["-E", "--filterset", "--filter-expr"],
    ..CARGO
};

const PYTEST: Dialect = Dialect {
    shown: &[
        "--capture",
        "--color",
        "--cov",
        "--cov-append",
        "--cov-branch",
        "--cov-config",
        "--cov-fail-under",
        "--cov-report",
        "--disable-warnings",
        "--durations",
        "--exitfirst",
        "--failed-first",
        "--ff",
        "--full-trace",
        "--junitxml",
        "--maxfail",
        "--no-cov",
        "--no-header",
        "--no-summary",
        "--quiet",
        "--showlocals",
        "--strict",
        "--strict-config",
        "--strict-markers",
        "--tb",
        "--verbose",
        "-l",
        "-q",
        "-qq",
        "-rA",
        "-ra",
        "-rf",
        "-rs",
        "-s",
        "-v",
        "-vv",
        "-vvv",
        "-x",
    ],
    shown_beside: &[
        "-n",
        "--numprocesses",
        "-p",
        "-r",
        "-W",
        "--asyncio-mode",
        "--capture",
        "--color",
        "--cov",
        "--cov-config",
        "--cov-fail-under",
        "--cov-report",
        "--dist",
        "--durations",
        "--import-mode",
        "--junitxml",
        "--log-cli-level",
        "--log-level",
        "--maxfail",
        "--tb",
        "--timeout",
    ],
    filter: &["--lf", "--last-failed", "--sw", "--stepwise", "--deselect", "--ignore", "--ignore-glob"],
    filter_beside: &["-k", "-m", "--deselect", "--ignore", "--ignore-glob"],
    target: &[],
    target_beside: &[],
    words: Words::Places,
};

const UNITTEST: Dialect = Dialect {
    shown: &["-v", "--verbose", "-q", "--quiet", "-f", "--failfast", "-b", "--buffer"],
    shown_beside: &[],
    filter: &[],
    filter_beside: &["-k"],
    target: &[],
    target_beside: &[],
    words: Words::Places,
};

const JEST: Dialect = Dialect {
    shown: &[
        "--bail",
        "--ci",
        "--color",
        "--colors",
        "--coverage",
        "--detectOpenHandles",
        "--forceExit",
        "--json",
        "--maxWorkers",
        "--no-cache",
        "--no-color",
        "--no-coverage",
        "--outputFile",
        "--passWithNoTests",
        "--runInBand",
        "--silent",
        "--verbose",
        "--watch",
        "--watchAll",
        "-b",
        "-i",
    ],
    shown_beside: &["-w"],
    filter: &[
        "--changedSince",
        "--lastCommit",
        "--onlyChanged",
        "--onlyFailures",
        "--testNamePattern",
        "--testPathPattern",
        "--testPathPatterns",
        "-f",
        "-o",
    ],
    filter_beside: &["-t", "--testNamePattern", "--testPathPattern", "--testPathPatterns"],
    target: &[],
    target_beside: &[],
    words: Words::Patterns,
};

const VITEST: Dialect = Dialect {
    shown: &[
        "--bail",
        "--coverage",
        "--no-color",
        "--no-coverage",
        "--outputFile",
        "--outputFile.json",
        "--passWithNoTests",
        "--reporter",
        "--run",
        "--silent",
        "--watch",
    ],
    shown_beside: &["--reporter"],
    filter: &["--changed", "--testNamePattern"],
    filter_beside: &["-t", "--testNamePattern"],
    target: &[],
    target_beside: &[],
    words: Words::Patterns,
};

const MOCHA: Dialect = Dialect {
    shown: &["--bail", "--color", "--colors", "--exit", "--forbid-only", "--no-color", "--reporter", "-b"],
    shown_beside: &[
        "-R",
        "--reporter",
        "-t",
        "--timeout",
        "--reporter-option",
        "--reporter-options",
        "-O",
        "-j",
    ],
    filter: &["--grep"],
    filter_beside: &["-g", "--grep", "-f", "--fgrep"],
    target: &[],
    target_beside: &[],
    words: Words::Places,
};

const NODE: Dialect = Dialect {
    shown: &["--test", "--test-reporter", "--test-reporter-destination", "--experimental-test-coverage"],
    shown_beside: &["--test-reporter", "--test-reporter-destination"],
    filter: &["--test-only", "--test-name-pattern", "--test-skip-pattern"],
    filter_beside: &["--test-name-pattern", "--test-skip-pattern"],
    target: &[],
    target_beside: &[],
    words: Words::Places,
};

const GO: Dialect = Dialect {
    shown: &["-v", "-json", "-race", "-count=1", "-cover", "-failfast", "-timeout"],
    shown_beside: &["-timeout", "-p", "-parallel"],
    filter: &["-short", "-run", "-skip"],
    filter_beside: &["-run", "-skip"],
    target: &[],
    target_beside: &[],
    words: Words::Packages,
};
