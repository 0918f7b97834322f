//! How the programs that a project is built and checked with are called.
//!
//! An entry may end with a mark: `-W*` is all that begins so, `--color=` has a value, `-o_` has one that
//! may follow at once, `-j?` may have a number, `--pretty~` a word for yes or no. `-X+utf8` is an option
//! with just this value beside it.

use super::reach::Reach;

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
    /// Lists of entries.
    pub(super) shown: &'static str,
    pub(super) demands: &'static str,
    pub(super) eases: &'static str,
    /// What it is done to where it is told nothing else.
    pub(super) implied: Option<&'static str>,
    pub(super) reach: Reach,
    /// First words that mean the same; nothing where one can be left out.
    pub(super) aliases: &'static [(&'static str, &'static str)],
    /// Whether it runs the file that it is given.
    pub(super) interprets: bool,
    /// Whether a bare word is a name, and no file.
    pub(super) names: bool,
    /// Whether what stands behind `--` is for another program.
    pub(super) hands_on: bool,
    /// Whether options of one letter may stand together: `-rf`.
    pub(super) clusters: bool,
}

pub(super) static PLAIN: Manner = OTHER;

const OTHER: Manner = Manner {
    tools: &[],
    verbs: &[],
    shown: "",
    demands: "",
    eases: "",
    implied: None,
    reach: Reach::Words,
    aliases: &[],
    interprets: false,
    names: false,
    hands_on: false,
    clusters: false,
};

/// What keeps packages of node, and runs their scripts.
const NPM: Manner = Manner {
    shown: "--color= --loglevel= --no-audit --no-color --no-fund --no-progress --no-update-notifier \
        --prefer-offline --quiet --silent -q -s",
    eases: "--force --if-present --legacy-peer-deps",
    aliases: &[("run", ""), ("run-script", ""), ("i", "install"), ("t", "test")],
    names: true,
    hands_on: true,
    ..OTHER
};

pub(super) fn manner(tool: &str, verb: &str) -> Option<&'static Manner> {
    let fits = |manner: &&Manner| {
        manner.tools.contains(&tool) && (manner.verbs.is_empty() || manner.verbs.contains(&verb))
    };
    MANNERS.iter().find(fits)
}

impl Manner {
    /// Whether its first word is what it does.
    pub(super) fn has_verb(&self) -> bool {
        !self.verbs.is_empty()
    }
}

static MANNERS: &[Manner] = &[
    Manner {
        tools: &["python"],
        shown: "-u -B -q -X+faulthandler -X+utf8 -W+ignore* -W+default* -W+once* -W+always* -Wignore* \
            -Wdefault* -Wonce* -Walways*",
        demands: "-W_ -X+dev -b -bb",
        eases: "-O -OO",
        interprets: true,
        ..OTHER
    },
    Manner {
        tools: &["node"],
        shown: "--enable-source-maps --no-deprecation --no-warnings --stack-trace-limit=* \
            --trace-deprecation --trace-uncaught --trace-warnings",
        demands: "--throw-deprecation",
        eases: "--max-old-space-size=*",
        aliases: &[("-c", "--check"), ("-e", "--eval"), ("-p", "--print")],
        interprets: true,
        ..OTHER
    },
    Manner {
        tools: &["bash"],
        shown: "-x -v -l --login --norc --noprofile",
        demands: "-e -u -eu -ex -eux -o_ -eo_ -euo_",
        interprets: true,
        ..OTHER
    },
    Manner { tools: &["ruby", "perl"], shown: "-w", interprets: true, ..OTHER },
    Manner { tools: &["php"], interprets: true, ..OTHER },
    Manner {
        tools: &["make"],
        shown: "--always-make --debug* --jobs? --jobs= --keep-going --no-print-directory --output-sync* \
            --print-directory --quiet --silent --trace -B -O* -f+GNUmakefile -f+Makefile -f+makefile \
            -j? -k -kj? -l? -s -sj? -w V=* VERBOSE=*",
        eases: "-i --ignore-errors",
        implied: Some("all"),
        reach: Reach::Targets,
        ..OTHER
    },
    Manner { tools: &["ninja"], shown: "-j? -k? -v --quiet", ..OTHER },
    Manner { tools: &["cmake"], shown: "-j? --parallel? --verbose -v --log-level= -Wno-dev -S+.", ..OTHER },
    Manner { tools: &["npm", "pnpm"], ..NPM },
    Manner { tools: &["yarn"], implied: Some("install"), ..NPM },
    Manner { tools: &["py_compile", "compileall"], shown: "-f -q", reach: Reach::Places, ..OTHER },
    Manner {
        tools: &["rubocop"],
        shown: "--autocorrect* --display-* --format= --no-color --parallel -A -a -f_",
        implied: Some("."),
        reach: Reach::Places,
        ..OTHER
    },
    Manner { tools: &["dotnet"], shown: "--no-restore --nologo --verbosity= -nologo -v_", ..OTHER },
    Manner {
        tools: &["apt-get"],
        verbs: &["install"],
        shown: "--no-install-recommends --quiet --yes -q -qq -y",
        reach: Reach::Targets,
        ..OTHER
    },
    Manner {
        tools: &["rm"],
        shown: "--recursive -R -r -v",
        eases: "--force -f",
        clusters: true,
        reach: Reach::Targets,
        ..OTHER
    },
    Manner { tools: &["cp", "mv"], shown: "-R -a -f -p -r -rf -v", ..OTHER },
    // What goes on is of whatever was begun.
    Manner {
        tools: &["git"],
        verbs: &["am", "cherry-pick", "merge", "rebase", "revert"],
        shown: "--continue --no-edit --quiet --skip -q",
        implied: Some("."),
        reach: Reach::Places,
        ..OTHER
    },
    Manner {
        tools: &["git"],
        verbs: &["fetch", "pull", "push"],
        shown: "--all --ff --ff-only --force --force-with-lease* --no-rebase --no-tags --progress --prune \
            --quiet --rebase* --set-upstream --tags --verbose -f -q -u -v",
        eases: "--no-verify",
        implied: Some("."),
        reach: Reach::Anything,
        ..OTHER
    },
    Manner {
        tools: &["git"],
        verbs: &["commit"],
        shown: "--all --author= --date= --file= --message= --no-gpg-sign --quiet --signoff -F_ -a -am_ \
            -aqm_ -m_ -q -qam_ -qm_ -s -v",
        eases: "--allow-empty --allow-empty-message --no-verify -n",
        ..OTHER
    },
    Manner { tools: &["bun"], shown: "--silent", names: true, ..OTHER },
    Manner {
        tools: &["cc", "gcc", "clang", "c++", "g++", "clang++"],
        shown: "-MD -MF_ -MMD -MP -MT_ -O* -W* -fcolor-diagnostics -fdiagnostics* -g* -o_ -pedantic \
            -pipe",
        demands: "-Werror* -pedantic-errors",
        eases: "-Wno-* -c -fpermissive -fsyntax-only -w",
        ..OTHER
    },
    Manner {
        tools: &["javac"],
        shown: "-Xdiags* -Xlint* -d_ -g* -nowarn -verbose",
        demands: "-Werror",
        ..OTHER
    },
    Manner {
        tools: &["rustc"],
        shown: "--color= --edition= --error-format= -O -g -o_ -v",
        demands: "--deny= --forbid= -D_ -F_",
        eases: "--allow= --cap-lints= -A_",
        ..OTHER
    },
    Manner {
        tools: &["tsc", "vue-tsc"],
        shown: "--diagnostics --explainFiles --extendedDiagnostics --incremental~ --listFiles --noEmit~ \
            --noErrorTruncation --preserveWatchOutput --pretty~",
        demands: "--exactOptionalPropertyTypes --noImplicit* --noUn* --strict*",
        eases: "--noCheck --skipDefaultLibCheck --skipLibCheck",
        ..OTHER
    },
    Manner {
        tools: &["eslint", "stylelint"],
        shown: "--cache --cache-location= --color --debug --fix --format= --formatter= --no-color \
            --output-file= --stats -f_ -o_",
        demands: "--max-warnings= --no-inline-config --report-unused-disable-directives*",
        eases: "--no-error-on-unmatched-pattern --pass-on-no-patterns --quiet",
        implied: Some("."),
        reach: Reach::Places,
        ..OTHER
    },
    Manner {
        tools: &["prettier"],
        shown: "--cache --check --color --ignore-unknown --list-different --log-level= --loglevel= \
            --no-color --write -c -l -u -w",
        reach: Reach::Places,
        ..OTHER
    },
    Manner {
        tools: &["ruff"],
        verbs: &["check"],
        shown: "--cache-dir= --fix --no-cache --no-fix --output-file= --output-format= --quiet \
            --show-fixes --silent --statistics --unsafe-fixes --verbose -n -o_ -q -s -v",
        demands: "--exit-non-zero-on-fix --extend-select=",
        eases: "--add-noqa --exclude= --exit-zero --extend-exclude= --extend-ignore= --ignore= \
            --per-file-ignores= -e",
        implied: Some("."),
        reach: Reach::Places,
        ..OTHER
    },
    Manner {
        tools: &["ruff"],
        verbs: &["format"],
        shown: "--check --diff --no-cache --quiet --verbose -n -q -v",
        eases: "--exclude=",
        implied: Some("."),
        reach: Reach::Places,
        ..OTHER
    },
    Manner { tools: &["ruff"], shown: "--quiet --verbose -q -v", ..OTHER },
    Manner {
        tools: &["black"],
        shown: "--check --color --diff --no-color --quiet --safe --verbose -q -v",
        eases: "--exclude= --extend-exclude= --fast --force-exclude=",
        reach: Reach::Places,
        ..OTHER
    },
    Manner {
        tools: &["isort"],
        shown: "--check --check-only --color --df --diff --quiet --verbose -c -q -v",
        eases: "--skip= --skip-glob= --extend-skip=",
        reach: Reach::Places,
        ..OTHER
    },
    Manner {
        tools: &["mypy"],
        shown: "--cache-dir= --color-output --hide-* --incremental --install-types --junit-xml= \
            --no-color-output --no-error-summary --no-incremental --no-pretty --non-interactive \
            --pretty --quiet --show-* --verbose -q -v",
        demands: "--check-untyped-defs --disallow-* --enable-error-code= --extra-checks --no-implicit-* \
            --strict --strict-* --warn-*",
        eases: "--allow-* --disable-error-code= --exclude= --follow-imports= --ignore-missing-imports \
            --implicit-* --no-check-untyped-defs --no-strict* --no-warn* --skip-*",
        reach: Reach::Places,
        ..OTHER
    },
    Manner {
        tools: &["flake8"],
        shown: "--benchmark --color= --count --format= --jobs= --output-file= --show-source --statistics \
            --tee -j? -q -v",
        demands: "--max-complexity=",
        eases: "--exclude= --exit-zero --extend-exclude= --extend-ignore= --ignore= --max-line-length= \
            --per-file-ignores=",
        implied: Some("."),
        reach: Reach::Places,
        ..OTHER
    },
    Manner {
        tools: &["pylint"],
        shown: "--jobs= --output-format= --persistent= --reports= --score= --verbose -f_ -j? -r_ -s_ -v",
        demands: "--enable= --fail-on=",
        eases: "--disable= --errors-only --exit-zero --fail-under= --ignore= --ignore-paths= \
            --ignore-patterns= -E -d_",
        reach: Reach::Places,
        ..OTHER
    },
    Manner {
        tools: &["pyright", "basedpyright"],
        shown: "--outputjson --stats --verbose",
        demands: "--warnings",
        eases: "--level= --skipunannotated",
        implied: Some("."),
        reach: Reach::Places,
        ..OTHER
    },
    Manner {
        tools: &["pip"],
        verbs: &["install"],
        shown: "--break-system-packages --disable-pip-version-check --no-cache-dir --no-color --no-input \
            --progress-bar= --quiet --root-user-action= --user --verbose -q -qq -v",
        eases: "--ignore-requires-python --no-deps",
        reach: Reach::Targets,
        names: true,
        ..OTHER
    },
    Manner {
        tools: &["cargo"],
        verbs: &["fmt"],
        shown: "--check --quiet --verbose -q -v",
        demands: "--all",
        names: true,
        ..OTHER
    },
    Manner {
        tools: &["cargo"],
        verbs: &["doc", "fetch", "install", "package", "publish", "update", "vendor"],
        shown: "--color= --locked --open --quiet --verbose -j? -q -v",
        eases: "--allow-dirty --no-deps --no-verify",
        names: true,
        hands_on: true,
        ..OTHER
    },
    Manner { tools: &["cargo"], names: true, hands_on: true, ..OTHER },
    Manner {
        tools: &["go"],
        verbs: &["build", "generate", "install", "vet"],
        shown: "-a -o_ -v -x",
        demands: "-race",
        implied: Some("."),
        names: true,
        reach: Reach::Packages,
        ..OTHER
    },
    Manner { tools: &["go", "deno"], names: true, ..OTHER },
    Manner {
        tools: &["golangci-lint"],
        verbs: &["run"],
        shown: "--color= --fix --out-format= --timeout= --verbose -v",
        eases: "--disable= --issues-exit-code= --new*",
        implied: Some("./..."),
        names: true,
        reach: Reach::Packages,
        ..OTHER
    },
    Manner {
        tools: &["mvn"],
        shown: "--batch-mode --errors --no-transfer-progress --quiet -B -T_ -U -X -e -ntp -q",
        eases: "-DskipTests* -Dmaven.test.* -fn",
        reach: Reach::Targets,
        ..OTHER
    },
    Manner {
        tools: &["gradle"],
        shown: "--build-cache --console= --continue --daemon --debug --full-stacktrace --info \
            --no-build-cache --no-daemon --offline --parallel --quiet --rerun-tasks --scan \
            --stacktrace --warning-mode= -i -q -s",
        eases: "-x_",
        reach: Reach::Targets,
        ..OTHER
    },
    Manner {
        tools: &["docker", "podman"],
        verbs: &["build"],
        shown: "--force-rm --load --no-cache --progress= --pull --quiet --rm --tag= -q -t_",
        ..OTHER
    },
    Manner { tools: &["terraform", "tofu"], shown: "-compact-warnings -input=* -no-color", ..OTHER },
];
