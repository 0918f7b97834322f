//! Technologies as data: the files that give them away, and the scripts that prepare a container for them.

use std::fs;
use std::path::Path;

/// One way in which projects of a technology are built.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TechStack {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// A file in the root of such a project; `*.x` is any file that ends in `.x`. Without one, the rest of its kind.
    marker: Option<&'static str>,
    /// For a new container.
    pub(super) setup: &'static str,
    /// For a cached container.
    pub(super) maintenance: &'static str,
    /// What shows that the container is fit for work.
    pub(super) check: &'static str,
    pub(super) variables: &'static [(&'static str, &'static str)],
}

const fn stack(
    name: &'static str,
    title: &'static str,
    marker: Option<&'static str>,
    [setup, maintenance, check]: [&'static str; 3],
    variables: &'static [(&'static str, &'static str)],
) -> TechStack {
    TechStack { name, title, marker, setup, maintenance, check, variables }
}

const NODE: &[(&str, &str)] = &[("CI", "true")];
const PYTHON: &[(&str, &str)] = &[("PYTHONUNBUFFERED", "1"), ("PIP_DISABLE_PIP_VERSION_CHECK", "1")];
const DOTNET: &[(&str, &str)] = &[("DOTNET_CLI_TELEMETRY_OPTOUT", "1"), ("DOTNET_NOLOGO", "1")];

/// The first whose marker exists is taken; of a kind, the one without a marker is last.
const STACKS: &[TechStack] = &[
    stack(
        "rust",
        "Rust",
        Some("Cargo.toml"),
        ["cargo fetch\ncargo build --all-targets", "cargo fetch", "cargo test"],
        &[("CARGO_TERM_COLOR", "never")],
    ),
    stack(
        "go",
        "Go",
        Some("go.mod"),
        ["go mod download\ngo build ./...", "go mod download", "go test ./..."],
        &[],
    ),
    stack(
        "node",
        "Node.js with pnpm",
        Some("pnpm-lock.yaml"),
        ["corepack enable\npnpm install --frozen-lockfile", "pnpm install --frozen-lockfile", "pnpm test"],
        NODE,
    ),
    stack(
        "node",
        "Node.js with Yarn",
        Some("yarn.lock"),
        [
            "corepack enable\nyarn install --immutable || yarn install --frozen-lockfile",
            "yarn install",
            "yarn test",
        ],
        NODE,
    ),
    stack(
        "node",
        "Node.js with Bun",
        Some("bun.lock"),
        ["bun install --frozen-lockfile", "bun install --frozen-lockfile", "bun test"],
        NODE,
    ),
    stack("node", "Node.js", Some("package-lock.json"), ["npm ci", "npm ci", "npm test"], NODE),
    stack(
        "python",
        "Python with uv",
        Some("uv.lock"),
        ["pip install uv\nuv sync --frozen", "uv sync --frozen", "uv run pytest"],
        PYTHON,
    ),
    stack(
        "python",
        "Python with Poetry",
        Some("poetry.lock"),
        [
            "pip install poetry\npoetry install --no-interaction",
            "poetry install --no-interaction",
            "poetry run pytest",
        ],
        PYTHON,
    ),
    stack(
        "python",
        "Python",
        Some("requirements.txt"),
        ["pip install -r requirements.txt", "pip install -r requirements.txt", "python -m pytest"],
        PYTHON,
    ),
    stack(
        "python",
        "Python",
        Some("pyproject.toml"),
        ["pip install -e .", "pip install -e .", "python -m pytest"],
        PYTHON,
    ),
    stack(
        "python",
        "Python",
        Some("setup.py"),
        ["pip install -e .", "pip install -e .", "python -m pytest"],
        PYTHON,
    ),
    stack(
        "java",
        "Java with Maven",
        Some("pom.xml"),
        ["mvn -B -q dependency:go-offline", "mvn -B -q dependency:go-offline", "mvn -B test"],
        &[],
    ),
    stack(
        "java",
        "Java with Gradle",
        Some("build.gradle"),
        ["./gradlew --no-daemon assemble", "./gradlew --no-daemon assemble", "./gradlew --no-daemon test"],
        &[],
    ),
    stack(
        "java",
        "Java or Kotlin with Gradle",
        Some("build.gradle.kts"),
        ["./gradlew --no-daemon assemble", "./gradlew --no-daemon assemble", "./gradlew --no-daemon test"],
        &[],
    ),
    stack("ruby", "Ruby", Some("Gemfile"), ["bundle install", "bundle install", "bundle exec rake"], &[]),
    stack(
        "php",
        "PHP",
        Some("composer.json"),
        ["composer install --no-interaction", "composer install --no-interaction", "vendor/bin/phpunit"],
        &[],
    ),
    stack(
        "dotnet",
        ".NET",
        Some("*.sln"),
        ["dotnet restore\ndotnet build --no-restore", "dotnet restore", "dotnet test"],
        DOTNET,
    ),
    stack(
        "dotnet",
        ".NET",
        Some("*.csproj"),
        ["dotnet restore\ndotnet build --no-restore", "dotnet restore", "dotnet test"],
        DOTNET,
    ),
    stack(
        "elixir",
        "Elixir",
        Some("mix.exs"),
        ["mix deps.get\nmix compile", "mix deps.get", "mix test"],
        &[],
    ),
    stack(
        "swift",
        "Swift",
        Some("Package.swift"),
        ["swift build", "swift package resolve", "swift test"],
        &[],
    ),
    stack(
        "cpp",
        "C or C++ with CMake",
        Some("CMakeLists.txt"),
        ["cmake -B build\ncmake --build build", "cmake --build build", "ctest --test-dir build"],
        &[],
    ),
    stack("node", "Node.js", Some("package.json"), ["npm install", "npm install", "npm test"], NODE),
    stack("make", "a language with a Makefile", Some("Makefile"), ["make", "make", "make test"], &[]),
    stack(
        "other",
        "a technology that its files do not tell",
        None,
        [
            "# install what the project needs",
            "# bring dependencies up to date",
            "the command that runs the tests",
        ],
        &[],
    ),
];

/// Other words for a technology.
const ALIASES: &[(&str, &str)] = &[
    ("nodejs", "node"),
    ("javascript", "node"),
    ("typescript", "node"),
    ("js", "node"),
    ("ts", "node"),
    ("py", "python"),
    ("golang", "go"),
    ("kotlin", "java"),
    ("jvm", "java"),
    ("csharp", "dotnet"),
    ("c#", "dotnet"),
    (".net", "dotnet"),
    ("c", "cpp"),
    ("c++", "cpp"),
];

pub(super) fn names() -> Vec<&'static str> {
    let mut names = Vec::new();
    STACKS.iter().for_each(|stack| {
        if !names.contains(&stack.name) {
            names.push(stack.name)
        }
    });
    names
}

/// The technology called `name`, as the project in `root` uses it, or else as it is used most.
pub(super) fn named(name: &str, root: &Path) -> Option<&'static TechStack> {
    let name = name.trim().to_ascii_lowercase();
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name.as_str(), |(_, name)| name);
    let of_it = || STACKS.iter().filter(|stack| stack.name == name);
    let files = files(root);
    of_it().find(|stack| stack.is_of(&files)).or_else(|| of_it().next_back())
}

/// What the files in `root` look like.
pub(super) fn detect(root: &Path) -> &'static TechStack {
    let files = files(root);
    STACKS.iter().find(|stack| stack.is_of(&files)).unwrap_or(&STACKS[STACKS.len() - 1])
}

impl TechStack {
    fn is_of(&self, files: &[String]) -> bool {
        self.marker.is_some_and(|marker| match marker.strip_prefix('*') {
            Some(end) => files.iter().any(|file| file.ends_with(end)),
            None => files.iter().any(|file| file == marker),
        })
    }
}

fn files(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(present: &[&str], asked: Option<&str>, name: &str, setup: &str) {
        let dir = tempfile::tempdir().unwrap();
        for file in present {
            fs::write(dir.path().join(file), "").unwrap();
        }
        let found = match asked {
            Some(asked) => named(asked, dir.path()).unwrap(),
            None => detect(dir.path()),
        };
        assert_eq!((found.name, found.setup.lines().last().unwrap()), (name, setup), "{present:?}");
    }

    #[test]
    fn files_give_a_technology_away() {
        check(&["Cargo.toml", "package.json"], None, "rust", "cargo build --all-targets");
        check(&["package.json", "pnpm-lock.yaml"], None, "node", "pnpm install --frozen-lockfile");
        check(&["package.json", "requirements.txt"], None, "python", "pip install -r requirements.txt");
        check(&["package.json", "Makefile"], None, "node", "npm install");
        check(&["Shop.sln"], None, "dotnet", "dotnet build --no-restore");
        check(&["notes.txt"], None, "other", "# install what the project needs");
    }

    #[test]
    fn a_named_technology_is_set_up_as_the_project_uses_it() {
        check(
            &["Cargo.toml", "yarn.lock"],
            Some("TypeScript"),
            "node",
            "yarn install --immutable || yarn install --frozen-lockfile",
        );
        check(&[], Some("node"), "node", "npm install");
        assert_eq!(named("cobol", Path::new("/")), None);
    }

    #[test]
    fn other_words_mean_a_technology_in_the_table() {
        for (alias, name) in ALIASES {
            assert!(names().contains(name) && !names().contains(alias), "{alias}");
        }
    }
}
