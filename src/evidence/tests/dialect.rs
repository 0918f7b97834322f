//! What the arguments of each framework mean for the choice of tests.

mod script;

use script::{JEST, MOCHA, NODE, VITEST};

use super::Framework;

/// The options of one framework. One that is in no list may choose anything. An entry may ask for a
/// value: `-p no:cacheprovider`, or `-W ignore*` for all that begin so.
#[derive(Debug)]
pub(super) struct Dialect {
    /// Change how tests are shown, or only make them pass more easily.
    pub(super) shown: &'static [&'static str],
    /// The same, with a value as the next word.
    pub(super) shown_beside: &'static [&'static str],
    /// Change how tests are run: one may fail of it that passes without.
    pub(super) run: &'static [&'static str],
    pub(super) run_beside: &'static [&'static str],
    /// Leave tests out.
    pub(super) filter: &'static [&'static str],
    pub(super) filter_beside: &'static [&'static str],
    /// Choose targets of a package.
    pub(super) target: &'static [&'static str],
    pub(super) target_beside: &'static [&'static str],
    pub(super) words: Words,
    /// Short options that may share a word, and those of them that take a value.
    pub(super) flags: &'static str,
    pub(super) valued: &'static str,
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

/// Options whose value is the file of a report in JUnit's XML: no choice of tests, whoever reads them.
pub(super) const REPORTS: [&str; 5] =
    ["--junit-xml", "--junitfile", "--junitxml", "--log-junit", "--output-junit"];

const OTHER: Dialect = Dialect {
    shown: &["-v", "--verbose", "-q", "--quiet"],
    shown_beside: &["-j", "--jobs"],
    run: &[],
    run_beside: &[],
    filter: &[],
    filter_beside: &[],
    target: &[],
    target_beside: &[],
    words: Words::Places,
    flags: "",
    valued: "",
};

const CARGO: Dialect = Dialect {
    shown: &[
        "--color",
        "--fail-fast",
        "--frozen",
        "--ignore-rust-version",
        "--keep-going",
        "--locked",
        "--message-format",
        "--no-capture",
        "--no-fail-fast",
        "--nocapture",
        "--offline",
        "--quiet",
        "--show-output",
        "--timings",
        "--verbose",
        "-q",
        "-v",
    ],
    shown_beside: &["-j", "--jobs", "--test-threads", "--message-format", "--color", "--target-dir"],
    run: &["--release", "-r"],
    run_beside: &["--profile", "--cargo-profile"],
    filter: &[],
    filter_beside: &["--skip"],
    target: &["--lib", "--bins", "--doc"],
    target_beside: &["--test", "--bin"],
    words: Words::Filters,
    flags: "qv",
    valued: "j",
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
        "--show-progress",
        "--max-fail",
        "--no-tests",
        "--target-dir",
    ],
    run_beside: &["--profile", "-P", "--cargo-profile"],
    filter_beside: &["-E", "--filterset", "--filter-expr"],
    ..CARGO
};

const PYTEST: Dialect = Dialect {
    shown: &[
        "--cache-clear",
        "--capture",
        "--code-highlight",
        "--color",
        "--cov",
        "--cov-append",
        "--cov-branch",
        "--cov-config",
        "--cov-context",
        "--cov-report",
        "--disable-pytest-warnings",
        "--disable-warnings",
        "--durations",
        "--durations-min",
        "--exitfirst",
        "--failed-first",
        "--ff",
        "--force-short-summary",
        "--full-trace",
        "--instafail",
        "--log-file",
        "--maxfail",
        "--new-first",
        "--nf",
        "--no-cov",
        "--no-cov-on-fail",
        "--no-fold-skipped",
        "--no-header",
        "--no-showlocals",
        "--no-summary",
        "--quiet",
        "--self-contained-html",
        "--setup-show",
        "--show-capture",
        "--showlocals",
        "--tb",
        "--verbose",
        "--verbosity",
        "--xfail-tb",
        "-l",
        "-q",
        "-s",
        "-v",
        "-x",
    ],
    shown_beside: &[
        "--basetemp",
        "--capture",
        "--code-highlight",
        "--color",
        "--cov",
        "--cov-config",
        "--cov-context",
        "--cov-report",
        "--durations",
        "--durations-min",
        "--html",
        "--log-cli-format",
        "--log-cli-level",
        "--log-date-format",
        "--log-disable",
        "--log-file",
        "--log-file-level",
        "--log-format",
        "--log-level",
        "--maxfail",
        "--override-ini log_*",
        "--pythonwarnings ignore*",
        "--report-log",
        "--reruns",
        "--reruns-delay",
        "--rootdir .",
        "--show-capture",
        "--tb",
        "--verbosity",
        "-o log_*",
        "-p no:cacheprovider",
        "-p no:warnings",
        "-r",
        "-W always*",
        "-W default*",
        "-W ignore*",
        "-W once*",
    ],
    run: &["--strict", "--strict-config", "--strict-markers"],
    run_beside: &[
        "--asyncio-mode",
        "--cov-fail-under",
        "--dist",
        "--import-mode",
        "--maxprocesses",
        "--numprocesses",
        "--pythonwarnings",
        "--random-order-seed",
        "--randomly-seed",
        "--session-timeout",
        "--timeout",
        "--timeout-method",
        "-n",
        "-p",
        "-W",
    ],
    filter: &["--lf", "--last-failed", "--sw", "--stepwise", "--deselect", "--ignore", "--ignore-glob"],
    filter_beside: &["-k", "-m", "--deselect", "--ignore", "--ignore-glob"],
    target: &[],
    target_beside: &[],
    words: Words::Places,
    flags: "lqsvx",
    valued: "cknmoprW",
};

const UNITTEST: Dialect = Dialect {
    shown: &[
        "-v",
        "--verbose",
        "-q",
        "--quiet",
        "-f",
        "--failfast",
        "-b",
        "--buffer",
        "-c",
        "--catch",
        "--locals",
    ],
    shown_beside: &["--durations", "-W ignore*", "-W default*"],
    run: &[],
    run_beside: &["-W"],
    filter: &[],
    filter_beside: &["-k"],
    target: &[],
    target_beside: &[],
    words: Words::Places,
    flags: "bcfqv",
    valued: "k",
};

const GO: Dialect = Dialect {
    shown: &["-v", "-json", "-count=1", "-cover", "-covermode", "-coverpkg", "-coverprofile", "-failfast"],
    shown_beside: &["-covermode", "-coverpkg", "-coverprofile", "-p", "-parallel", "-count 1"],
    run: &["-asan", "-msan", "-race"],
    run_beside: &["-count", "-cpu", "-shuffle", "-timeout", "-vet"],
    filter: &["-short", "-run", "-skip"],
    filter_beside: &["-run", "-skip"],
    target: &[],
    target_beside: &[],
    words: Words::Packages,
    flags: "",
    valued: "",
};
