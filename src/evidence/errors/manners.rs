//! How the programs that a project is built and checked with are called.
//!
//! An entry may end with a mark: `-W*` is all that begins so, `--color=` has a value, `-o_` has one that
//! may follow at once, `-j?` may have a number, `--pretty~` a word for yes or no. One with a space is an
//! option with just this value.

/// What a word of a call says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// How much is told, or where what was made is put.
    Shown,
    /// What else lets it fail.
    Demand,
    /// What lets it succeed more easily.
    Ease,
}

#[derive(Debug)]
pub(super) struct Manner {
    tools: &'static [&'static str],
    /// The first word, where that decides.
    verbs: &'static [&'static str],
    pub(super) shown: &'static [&'static str],
    pub(super) demands: &'static [&'static str],
    pub(super) eases: &'static [&'static str],
    /// What it does where it is told nothing else.
    pub(super) implied: &'static [&'static str],
    /// First words that mean the same; nothing where one can be left out.
    pub(super) aliases: &'static [(&'static str, &'static str)],
    /// Whether it runs the file that it is given.
    pub(super) interprets: bool,
    /// Whether a bare word is a name, and no file.
    pub(super) names: bool,
    /// Whether what stands behind `--` is for another program.
    pub(super) hands_on: bool,
}

const PLAIN: Manner = Manner {
    tools: &[],
    verbs: &[],
    shown: &[],
    demands: &[],
    eases: &[],
    implied: &[],
    aliases: &[],
    interprets: false,
    names: false,
    hands_on: false,
};

pub(super) fn manner(tool: &str, verb: &str) -> Option<&'static Manner> {
    let fits = |manner: &&Manner| {
        manner.tools.contains(&tool) && (manner.verbs.is_empty() || manner.verbs.contains(&verb))
    };
    MANNERS.iter().find(fits)
}

impl Manner {
    /// How many words the verb is.
    pub(super) fn verb_words(&self) -> usize {
        usize::from(!self.verbs.is_empty())
    }
}

static MANNERS: &[Manner] = &[
    Manner {
        tools: &["python"],
        shown: &[
            "-u",
            "-B",
            "-q",
            "-X faulthandler",
            "-X utf8",
            "-W ignore*",
            "-W default*",
            "-W once*",
            "-W always*",
            "-Wignore*",
            "-Wdefault*",
            "-Wonce*",
            "-Walways*",
        ],
        demands: &["-W_", "-X dev", "-b", "-bb"],
        eases: &["-O", "-OO"],
        interprets: true,
        ..PLAIN
    },
    Manner {
        tools: &["node"],
        shown: &[
            "--enable-source-maps",
            "--no-deprecation",
            "--no-warnings",
            "--stack-trace-limit=*",
            "--trace-deprecation",
            "--trace-uncaught",
            "--trace-warnings",
        ],
        demands: &["--throw-deprecation"],
        eases: &["--max-old-space-size=*"],
        interprets: true,
        ..PLAIN
    },
    Manner {
        tools: &["bash"],
        shown: &["-x", "-v", "-l", "--login", "--norc", "--noprofile"],
        demands: &["-e", "-u", "-eu", "-ex", "-eux", "-o_", "-eo_", "-euo_"],
        interprets: true,
        ..PLAIN
    },
    Manner { tools: &["ruby", "perl"], shown: &["-w"], interprets: true, ..PLAIN },
    Manner { tools: &["php"], interprets: true, ..PLAIN },
    Manner {
        tools: &["make"],
        shown: &[
            "--always-make",
            "--debug*",
            "--jobs?",
            "--jobs=",
            "--keep-going",
            "--no-print-directory",
            "--output-sync*",
            "--print-directory",
            "--quiet",
            "--silent",
            "--trace",
            "-B",
            "-O*",
            "-f GNUmakefile",
            "-f Makefile",
            "-f makefile",
            "-j?",
            "-k",
            "-l?",
            "-s",
            "-w",
            "V=*",
            "VERBOSE=*",
        ],
        eases: &["-i", "--ignore-errors"],
        implied: &["all"],
        ..PLAIN
    },
    Manner { tools: &["ninja"], shown: &["-j?", "-k?", "-v", "--quiet"], ..PLAIN },
    Manner {
        tools: &["cmake"],
        shown: &["-j?", "--parallel?", "--verbose", "-v", "--log-level=", "-Wno-dev"],
        ..PLAIN
    },
    Manner {
        tools: &["npm", "pnpm", "yarn"],
        shown: &[
            "--color=",
            "--loglevel=",
            "--no-audit",
            "--no-color",
            "--no-fund",
            "--no-progress",
            "--no-update-notifier",
            "--prefer-offline",
            "--quiet",
            "--silent",
            "-q",
            "-s",
        ],
        eases: &["--force", "--if-present", "--legacy-peer-deps"],
        aliases: &[("run", ""), ("run-script", ""), ("i", "install"), ("t", "test")],
        names: true,
        hands_on: true,
        ..PLAIN
    },
    Manner { tools: &["bun"], shown: &["--silent"], names: true, ..PLAIN },
    Manner {
        tools: &["cc", "gcc", "clang", "c++", "g++", "clang++"],
        shown: &[
            "-MD",
            "-MF_",
            "-MMD",
            "-MP",
            "-MT_",
            "-O*",
            "-W*",
            "-fcolor-diagnostics",
            "-fdiagnostics*",
            "-g*",
            "-o_",
            "-pedantic",
            "-pipe",
        ],
        demands: &["-Werror*", "-pedantic-errors"],
        eases: &["-Wno-*", "-c", "-fpermissive", "-fsyntax-only", "-w"],
        ..PLAIN
    },
    Manner {
        tools: &["javac"],
        shown: &["-Xdiags*", "-Xlint*", "-d_", "-g*", "-nowarn", "-verbose"],
        demands: &["-Werror"],
        ..PLAIN
    },
    Manner {
        tools: &["rustc"],
        shown: &["--color=", "--error-format=", "-O", "-g", "-o_", "-v"],
        demands: &["--deny=", "--forbid=", "-D_", "-F_"],
        eases: &["--allow=", "--cap-lints=", "-A_"],
        ..PLAIN
    },
    Manner {
        tools: &["tsc", "vue-tsc"],
        shown: &[
            "--diagnostics",
            "--explainFiles",
            "--extendedDiagnostics",
            "--incremental~",
            "--listFiles",
            "--noEmit~",
            "--noErrorTruncation",
            "--preserveWatchOutput",
            "--pretty~",
            "--project .",
            "--project tsconfig.json",
            "-p .",
            "-p tsconfig.json",
        ],
        demands: &["--exactOptionalPropertyTypes", "--noImplicit*", "--noUn*", "--strict*"],
        eases: &["--noCheck", "--skipDefaultLibCheck", "--skipLibCheck"],
        ..PLAIN
    },
    Manner {
        tools: &["eslint", "stylelint"],
        shown: &[
            "--cache",
            "--cache-location=",
            "--color",
            "--debug",
            "--fix",
            "--format=",
            "--formatter=",
            "--no-color",
            "--output-file=",
            "--stats",
            "-f_",
            "-o_",
        ],
        demands: &["--max-warnings=", "--no-inline-config", "--report-unused-disable-directives*"],
        eases: &["--no-error-on-unmatched-pattern", "--pass-on-no-patterns", "--quiet"],
        implied: &["."],
        ..PLAIN
    },
    Manner {
        tools: &["prettier"],
        shown: &[
            "--cache",
            "--check",
            "--color",
            "--ignore-unknown",
            "--list-different",
            "--log-level=",
            "--loglevel=",
            "--no-color",
            "--write",
            "-c",
            "-l",
            "-u",
            "-w",
        ],
        ..PLAIN
    },
    Manner {
        tools: &["ruff"],
        verbs: &["check"],
        shown: &[
            "--cache-dir=",
            "--fix",
            "--no-cache",
            "--no-fix",
            "--output-file=",
            "--output-format=",
            "--quiet",
            "--show-fixes",
            "--silent",
            "--statistics",
            "--unsafe-fixes",
            "--verbose",
            "-n",
            "-o_",
            "-q",
            "-s",
            "-v",
        ],
        demands: &["--exit-non-zero-on-fix", "--extend-select="],
        eases: &[
            "--add-noqa",
            "--exclude=",
            "--exit-zero",
            "--extend-exclude=",
            "--extend-ignore=",
            "--ignore=",
            "--per-file-ignores=",
            "-e",
        ],
        implied: &["."],
        ..PLAIN
    },
    Manner {
        tools: &["ruff"],
        verbs: &["format"],
        shown: &["--check", "--diff", "--no-cache", "--quiet", "--verbose", "-n", "-q", "-v"],
        eases: &["--exclude="],
        implied: &["."],
        ..PLAIN
    },
    Manner { tools: &["ruff"], shown: &["--quiet", "--verbose", "-q", "-v"], ..PLAIN },
    Manner {
        tools: &["black"],
        shown: &["--check", "--color", "--diff", "--no-color", "--quiet", "--safe", "--verbose", "-q", "-v"],
        eases: &["--exclude=", "--extend-exclude=", "--fast", "--force-exclude="],
        ..PLAIN
    },
    Manner {
        tools: &["isort"],
        shown: &[
            "--check",
            "--check-only",
            "--color",
            "--df",
            "--diff",
            "--quiet",
            "--verbose",
            "-c",
            "-q",
            "-v",
        ],
        eases: &["--skip=", "--skip-glob=", "--extend-skip="],
        ..PLAIN
    },
    Manner {
        tools: &["mypy"],
        shown: &[
            "--cache-dir=",
            "--color-output",
            "--hide-*",
            "--incremental",
            "--install-types",
            "--junit-xml=",
            "--no-color-output",
            "--no-error-summary",
            "--no-incremental",
            "--no-pretty",
            "--non-interactive",
            "--pretty",
            "--quiet",
            "--show-*",
            "--verbose",
            "-q",
            "-v",
        ],
        demands: &[
            "--check-untyped-defs",
            "--disallow-*",
            "--enable-error-code=",
            "--extra-checks",
            "--no-implicit-*",
            "--strict",
            "--strict-*",
            "--warn-*",
        ],
        eases: &[
            "--allow-*",
            "--disable-error-code=",
            "--exclude=",
            "--follow-imports=",
            "--ignore-missing-imports",
            "--implicit-*",
            "--no-check-untyped-defs",
            "--no-strict*",
            "--no-warn*",
            "--skip-*",
        ],
        ..PLAIN
    },
    Manner {
        tools: &["flake8"],
        shown: &[
            "--benchmark",
            "--color=",
            "--count",
            "--format=",
            "--jobs=",
            "--output-file=",
            "--show-source",
            "--statistics",
            "--tee",
            "-j?",
            "-q",
            "-v",
        ],
        demands: &["--max-complexity="],
        eases: &[
            "--exclude=",
            "--exit-zero",
            "--extend-exclude=",
            "--extend-ignore=",
            "--ignore=",
            "--max-line-length=",
            "--per-file-ignores=",
        ],
        implied: &["."],
        ..PLAIN
    },
    Manner {
        tools: &["pylint"],
        shown: &[
            "--jobs=",
            "--output-format=",
            "--persistent=",
            "--reports=",
            "--score=",
            "--verbose",
            "-f_",
            "-j?",
            "-r_",
            "-s_",
            "-v",
        ],
        demands: &["--enable=", "--fail-on="],
        eases: &[
            "--disable=",
            "--errors-only",
            "--exit-zero",
            "--fail-under=",
            "--ignore=",
            "--ignore-paths=",
            "--ignore-patterns=",
            "-E",
            "-d_",
        ],
        ..PLAIN
    },
    Manner {
        tools: &["pyright", "basedpyright"],
        shown: &["--outputjson", "--stats", "--verbose"],
        demands: &["--warnings"],
        eases: &["--level=", "--skipunannotated"],
        implied: &["."],
        ..PLAIN
    },
    Manner {
        tools: &["pip"],
        shown: &[
            "--break-system-packages",
            "--disable-pip-version-check",
            "--no-cache-dir",
            "--no-color",
            "--no-input",
            "--progress-bar=",
            "--quiet",
            "--root-user-action=",
            "--user",
            "--verbose",
            "-q",
            "-qq",
            "-v",
        ],
        eases: &["--ignore-requires-python", "--no-deps"],
        names: true,
        ..PLAIN
    },
    Manner {
        tools: &["cargo"],
        verbs: &["fmt"],
        shown: &["--check", "--quiet", "--verbose", "-q", "-v"],
        demands: &["--all"],
        names: true,
        ..PLAIN
    },
    Manner {
        tools: &["cargo"],
        verbs: &["doc", "fetch", "install", "package", "publish", "update", "vendor"],
        shown: &["--color=", "--locked", "--open", "--quiet", "--verbose", "-j?", "-q", "-v"],
        eases: &["--allow-dirty", "--no-deps", "--no-verify"],
        names: true,
        hands_on: true,
        ..PLAIN
    },
    Manner { tools: &["cargo"], names: true, hands_on: true, ..PLAIN },
    Manner {
        tools: &["go"],
        verbs: &["build", "generate", "install", "vet"],
        shown: &["-a", "-o_", "-v", "-x"],
        demands: &["-race"],
        implied: &["."],
        names: true,
        ..PLAIN
    },
    Manner { tools: &["go", "deno"], names: true, ..PLAIN },
    Manner {
        tools: &["golangci-lint"],
        verbs: &["run"],
        shown: &["--color=", "--fix", "--out-format=", "--timeout=", "--verbose", "-v"],
        eases: &["--disable=", "--issues-exit-code=", "--new*"],
        implied: &["./..."],
        names: true,
        ..PLAIN
    },
    Manner {
        tools: &["mvn"],
        shown: &[
            "--batch-mode",
            "--errors",
            "--no-transfer-progress",
            "--quiet",
            "-B",
            "-T_",
            "-U",
            "-X",
            "-e",
            "-ntp",
            "-q",
        ],
        eases: &["-DskipTests*", "-Dmaven.test.*", "-fn"],
        ..PLAIN
    },
    Manner {
        tools: &["gradle"],
        shown: &[
            "--build-cache",
            "--console=",
            "--continue",
            "--daemon",
            "--debug",
            "--full-stacktrace",
            "--info",
            "--no-build-cache",
            "--no-daemon",
            "--offline",
            "--parallel",
            "--quiet",
            "--rerun-tasks",
            "--scan",
            "--stacktrace",
            "--warning-mode=",
            "-i",
            "-q",
            "-s",
        ],
        eases: &["-x_"],
        ..PLAIN
    },
    Manner {
        tools: &["docker", "podman"],
        verbs: &["build"],
        shown: &[
            "--force-rm",
            "--load",
            "--no-cache",
            "--progress=",
            "--pull",
            "--quiet",
            "--rm",
            "--tag=",
            "-q",
            "-t_",
        ],
        ..PLAIN
    },
    Manner { tools: &["terraform", "tofu"], shown: &["-compact-warnings", "-input=*", "-no-color"], ..PLAIN },
];
