//! Pairs of command lines: which later one does the same work as one that failed, and which looks
//! like it and does another.

use std::fs;

use super::proofs::{PASSED, PYTEST, TRACE, left};
use super::{Changed, Gathered};
use crate::model::Timestamp;

/// What a program prints that fails.
fn red_of(line: &str) -> (i64, &'static str) {
    match line {
        _ if line.contains("pytest") => (1, PYTEST),
        _ if line.contains("cargo test") => (101, CARGO),
        _ if line.contains("cargo fmt") => {
            (1, "Diff in /home/dev/shop/src/a.rs:1:\n-fn  a() {}\n+fn a() {}\nError: no\n")
        }
        _ if line.contains("cargo r") => (101, "thread 'main' panicked at src/main.rs:4:5:\nno settings\n"),
        _ if line.contains("cargo") => (101, BROKEN),
        _ if line.contains("python") || line.contains(".py") => (1, TRACE),
        _ if line.contains("make") => (2, MAKE),
        _ => (1, "Error: no such thing\n"),
    }
}

fn green_of(line: &str) -> &'static str {
    match line {
        _ if line.contains("pytest") => PASSED,
        _ if line.contains("cargo test") => {
            "     Running unittests src/lib.rs (target/a-01)\n\nrunning 2 tests\ntest b ... ok\ntest a ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n"
        }
        _ => "",
    }
}

const MAKE: &str = "gcc -c a.c\na.c:1:5: error: expected ';'\nmake: *** [Makefile:2: all] Error 1\n";
const BROKEN: &str = "error[E0308]: mismatched types\n --> src/a.rs:2:5\n\nerror: could not compile `a` (lib) due to 1 previous error\n";
const CARGO: &str = "     Running unittests src/lib.rs (target/a-01)\n\nrunning 2 tests\ntest b ... ok\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\n\nthread 'a' panicked at src/lib.rs:3:9:\nno\n\n\nfailures:\n    a\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\nerror: test failed, to rerun pass `--lib`\n";

/// Whether an error of `red` is left after `green`; of tests, whether they are told to fail as well.
fn mends(green: &str, red: &str) -> Result<bool, String> {
    let (code, text) = red_of(red);
    let (_, is_told) = left(&[(red, code, text)]);
    if !is_told {
        return Err(format!("`{red}` is not told at all"));
    }
    let (failing, has_error) = left(&[(red, code, text), (green, 0, green_of(green))]);
    if !failing.is_empty() && !has_error {
        return Err(format!("`{red}`, `{green}`: no error, but {failing:?}"));
    }
    Ok(!has_error)
}

/// How two command lines lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pair {
    /// Each mends the other.
    Same,
    /// The first mends the second, and the second not the first.
    More,
    /// Neither mends the other.
    Apart,
}

use Pair::{Apart, More, Same};

#[track_caller]
fn check(pair: Pair, rows: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (first, second) in rows {
        for (green, red, expected) in [(first, second, pair != Apart), (second, first, pair == Same)] {
            match mends(green, red) {
                Ok(found) if found == expected => {}
                Ok(_) if expected => wrong.push(format!("`{red}` is not mended by `{green}`")),
                Ok(_) => wrong.push(format!("`{red}` is mended by `{green}`")),
                Err(why) => wrong.push(why),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_question_after_its_version_mends_nothing() {
    for (red, green) in [
        ("gcc -c a.c", "gcc --version"),
        ("tsc", "tsc --version"),
        ("eslint .", "eslint --version"),
        ("ruff check", "ruff --version"),
        ("black .", "black --version"),
        ("mypy src", "mypy --version"),
    ] {
        assert_eq!(mends(green, red), Ok(false), "{red}");
    }
}

#[test]
fn one_file_has_many_names() {
    check(
        Same,
        &[
            ("python3 app.py", "python3 ./app.py"),
            ("python3 app.py", "python app.py"),
            ("python3 app.py", "python3 /home/dev/shop/app.py"),
            ("python3 app.py", "python3 -u app.py"),
            ("python3 app.py", "python3 -B ./app.py"),
            ("python3 app.py", "./app.py"),
            ("python3 app.py", "/usr/bin/python3 app.py"),
            ("python3 app.py", "/usr/bin/env python3 app.py"),
            ("python3 app.py", ".venv/bin/python app.py"),
            ("python3 app.py", "PYTHONUNBUFFERED=1 python3 app.py"),
            ("python3 app.py --port 1", "python ./app.py --port 1"),
            ("python3 tools/app.py", "python3 ./tools/app.py"),
            ("python3 tools/app.py", "python3 tools//app.py"),
            ("cd web && python3 app.py", "cd web && python3 ./app.py"),
            ("cd web && python3 app.py", "cd ./web; python3 app.py"),
            ("cd web && python3 app.py", "cd /home/dev/shop/web && python3 /home/dev/shop/web/app.py"),
            ("cd web && python3 app.py", "(cd web && python3 app.py)"),
            ("cd web && python3 ../app.py", "cd web && python3 /home/dev/shop/app.py"),
            ("node x.js", "node ./x.js"),
            ("node x.js", "node /home/dev/shop/x.js"),
            ("node x.js", "/usr/local/bin/node x.js"),
            ("node x.js", "node --trace-warnings x.js"),
            ("node x.js", "node --enable-source-maps ./x.js"),
            ("node dist/x.js a", "node ./dist/x.js a"),
            ("bash run.sh", "sh run.sh"),
            ("bash run.sh", "./run.sh"),
            ("bash run.sh", "bash ./run.sh"),
            ("bash run.sh", "bash -x run.sh"),
            ("bash run.sh", "/home/dev/shop/run.sh"),
            ("bash run.sh a b", "./run.sh a b"),
            ("bash scripts/run.sh", "scripts/run.sh"),
            ("bash scripts/run.sh", "./scripts/run.sh"),
            ("ruby x.rb", "ruby ./x.rb"),
            ("perl x.pl", "perl ./x.pl"),
            ("./build", "/home/dev/shop/build"),
            ("./build a", "bash build a"),
            ("tsx src/x.ts", "npx tsx ./src/x.ts"),
        ],
    );
    check(
        Apart,
        &[
            ("python3 app.py", "python3 b.py"),
            ("python3 app.py", "python3 /home/dev/other/app.py"),
            ("python3 app.py", "cd web && python3 app.py"),
            ("python3 app.py", "python3 web/app.py"),
            ("cd web && python3 app.py", "python3 web/app.py"),
            ("python3 app.py", "python2 app.py"),
            ("python3.8 app.py", "python3.12 app.py"),
            ("python3 app.py", "python3 -m app"),
            ("python3 app.py", "python3 -c 'import app'"),
            ("python3 app.py", "python3 -m py_compile app.py"),
            ("python3 app.py", "python3 app.py --slow"),
            ("python3 app.py a", "python3 app.py b"),
            ("python3 app.py -u", "python3 app.py"),
            ("python3 app.py", "python3 -v app.py"),
            ("python3 app.py", "python3 -i app.py"),
            ("node x.js", "node --check x.js"),
            ("node x.js", "node -c x.js"),
            ("node x.js -c", "node x.js --check"),
            ("node x.js", "node y.js"),
            ("node x.js", "node -e x.js"),
            ("node x.js", "node --inspect-brk x.js"),
            ("node x.js", "node x.js --trace-warnings"),
            ("bash run.sh", "bash -n run.sh"),
            ("bash run.sh", "bash lib/run.sh"),
            ("bash run.sh", "bash run.sh a"),
            ("./run.sh", "./other.sh"),
            ("./run.sh", "run.sh"),
            ("echo x > a; ./build", "build"),
        ],
    );
}

#[test]
fn a_switch_that_eases_mends_nothing_without_it() {
    check(
        More,
        &[
            ("python3 app.py", "python3 -O app.py"),
            ("python3 app.py", "python3 -OO app.py"),
            ("python3 app.py", "PYTHONHASHSEED=0 python3 app.py"),
            ("python3 -W error app.py", "python3 app.py"),
            ("python3 -Werror app.py", "python3 app.py"),
            ("bash -e run.sh", "bash run.sh"),
            ("bash -eu run.sh", "./run.sh"),
            ("gcc -Werror -c a.c", "gcc -c a.c"),
            ("gcc a.c -o a", "gcc -c a.c"),
            ("gcc a.c", "gcc -fsyntax-only a.c"),
            ("gcc -c a.c", "gcc -fpermissive -c a.c"),
            ("tsc", "tsc --skipLibCheck"),
            ("tsc --noEmit", "npx tsc --noEmit --skipLibCheck"),
            ("tsc --strict", "tsc"),
            ("eslint .", "eslint . --quiet"),
            ("eslint . --max-warnings 0", "eslint ."),
            ("eslint . --max-warnings=0", "npx eslint"),
            ("mypy src", "mypy --ignore-missing-imports src"),
            ("mypy --strict src", "mypy src"),
            ("ruff check", "ruff check --exit-zero"),
            ("ruff check .", "ruff check --ignore E501 ."),
            ("cargo fmt --all", "cargo fmt"),
            ("cargo publish", "cargo publish --allow-dirty"),
            ("make", "make -i"),
            ("npm run build", "npm run build --if-present"),
            ("npm install", "npm install --legacy-peer-deps"),
        ],
    );
}

#[test]
fn how_a_tool_is_found_and_how_much_it_tells_changes_nothing() {
    check(
        Same,
        &[
            ("make", "make -j2"),
            ("make", "make -j 4"),
            ("make", "make -j$(nproc)"),
            ("make", "make -j"),
            ("make", "make all"),
            ("make", "make -s"),
            ("make", "make V=1"),
            ("make", "make VERBOSE=1"),
            ("make", "make -k"),
            ("make", "make -B"),
            ("make", "make --no-print-directory"),
            ("make", "make -f Makefile"),
            ("make", "gmake"),
            ("make build", "make -j8 build"),
            ("make build", "make build -j8"),
            ("make -C web", "cd web && make"),
            ("make -C web build", "(cd web && make build)"),
            ("make -Cweb", "make -C ./web"),
            ("make --directory=web", "make -C web"),
            ("npm run build", "npm run -s build"),
            ("npm run build", "npm run build --silent"),
            ("npm run build", "npm run-script build"),
            ("npm run build", "npm run build --"),
            ("npm run build", "npm --loglevel=error run build"),
            ("npm run build", "FORCE_COLOR=0 npm run build"),
            ("cd web && npm run build", "npm --prefix web run build"),
            ("cd web && npm run build", "npm run build --prefix web"),
            ("cd web && npm run build", "npm --prefix=./web run build"),
            ("cd web && npm run build", "(cd web && npm run build)"),
            ("cd web && pnpm build", "pnpm -C web build"),
            ("cd web && pnpm build", "pnpm --dir web run build"),
            ("cd web && yarn build", "yarn --cwd web build"),
            ("yarn build", "yarn run build"),
            ("pnpm build", "pnpm run build"),
            ("bun run build", "bun run --silent build"),
            ("npm install", "npm i"),
            ("npm install", "npm install --no-audit --no-fund"),
            ("npm ci", "npm ci --no-audit"),
            ("gcc -c a.c", "gcc -c ./a.c"),
            ("gcc -c a.c", "gcc -Wall -c a.c"),
            ("gcc -c a.c", "gcc -Wall -Wextra -g -c a.c -o /tmp/a.o"),
            ("gcc a.c -o a", "gcc a.c -o b"),
            ("gcc a.c -o a", "gcc -o a a.c"),
            ("gcc a.c", "gcc -O2 a.c -oa"),
            ("g++ -std=c++17 a.cpp", "g++ -std=c++17 -Wall a.cpp -o a"),
            ("clang -c a.c", "clang -c a.c -fdiagnostics-color=always"),
            ("tsc", "npx tsc"),
            ("tsc", "npx tsc --noEmit"),
            ("tsc", "./node_modules/.bin/tsc"),
            ("tsc", "node_modules/.bin/tsc --noEmit --pretty false"),
            ("tsc", "npx --no-install tsc -p ."),
            ("tsc", "npx tsc -p tsconfig.json"),
            ("tsc", "npx -p typescript tsc"),
            ("tsc", "pnpm exec tsc --noEmit"),
            ("tsc", "yarn tsc --noEmit"),
            ("tsc", "pnpm tsc"),
            ("tsc", "yarn -s run tsc"),
            ("tsc", "node node_modules/.bin/tsc"),
            ("tsc", "node ./node_modules/typescript/bin/tsc --noEmit"),
            ("eslint .", "yarn eslint ."),
            ("cd web && tsc", "cd web && npx tsc"),
            ("eslint .", "npx eslint ."),
            ("eslint .", "npx eslint"),
            ("eslint .", "npx eslint . --fix"),
            ("eslint src", "eslint ./src/ --format stylish --no-color"),
            ("eslint src", "eslint --cache src"),
            ("ruff check .", "ruff check"),
            ("ruff check .", "ruff check --fix ."),
            ("ruff check src", "ruff check ./src --output-format=concise"),
            ("ruff check .", "uvx ruff check"),
            ("ruff check .", "python -m ruff check ."),
            ("ruff format --check .", "ruff format ."),
            ("black --check .", "black ."),
            ("black --check --diff src", "black src"),
            ("isort --check-only .", "isort ."),
            ("isort --check --profile black .", "isort --profile black ."),
            ("prettier --check .", "npx prettier --write ."),
            ("prettier -c src", "prettier -w src"),
            ("mypy src", "python3 -m mypy src"),
            ("mypy src", "mypy --pretty --show-error-codes src/"),
            ("flake8", "python3 -m flake8"),
            ("pylint src", "python -m pylint src"),
            ("pip install -r a.txt", "python3 -m pip install -r a.txt"),
            ("pip install -r a.txt", "pip3 install -r ./a.txt"),
            ("cargo fmt --check", "cargo fmt"),
            ("cargo fmt --all -- --check", "cargo fmt --all"),
            ("cargo fmt --all --check", "cargo fmt --all -- --check"),
            ("cargo build", "cargo build --quiet"),
            ("cargo build", "cargo build -v"),
            ("cargo build", "cargo +stable build"),
            ("cargo build", "cargo --color never build"),
            ("cargo build", "cargo build --jobs 2"),
            ("cargo build", "cargo b"),
            ("cargo build", "cargo build --manifest-path Cargo.toml"),
            ("cd web && cargo build", "cargo build --manifest-path web/Cargo.toml"),
            ("cargo build", "RUST_BACKTRACE=1 cargo build"),
            ("cargo build", "CARGO_TERM_COLOR=always cargo build"),
            ("go build ./...", "go build -v ./..."),
            ("go vet ./...", "go vet -v ./..."),
            ("cd web && go build ./...", "go -C web build ./..."),
            ("go run main.go", "go run ./main.go"),
            ("go run .", "go run ./"),
            ("docker build .", "docker build -q ."),
            ("docker build .", "docker build ./"),
            ("docker build -t a .", "docker build . -t a"),
            ("cmake --build build", "cmake --build ./build -j4"),
            ("ninja -C build", "cd build && ninja"),
            ("mvn compile", "mvn -q compile"),
            ("mvn compile", "./mvnw -B compile"),
            ("gradle build", "./gradlew build --console=plain"),
            ("./gradlew build", "./gradlew build --stacktrace"),
        ],
    );
    check(
        Apart,
        &[
            ("npm run build", "pnpm build"),
            ("npm run build", "npm run lint"),
            ("npm run build", "npm run build -- --mode dev"),
            ("npm run build", "cd web && npm run build"),
            ("npm run build", "npm --prefix web run build"),
            ("npm run build", "npm run build -w api"),
            ("npm install", "npm ci"),
            ("npm install", "npm install left-pad"),
            ("npm install", "npm install -g"),
            ("yarn build", "yarn"),
            ("make", "make build"),
            ("make build", "make all"),
            ("make", "make -n"),
            ("make", "make -q"),
            ("make", "make -C web"),
            ("make", "make -f other.mk"),
            ("make", "make CC=clang"),
            ("make", "make DEBUG=1"),
            ("make clean", "make"),
            ("gcc -c a.c", "gcc -c b.c"),
            ("gcc -c a.c", "gcc -DX -c a.c"),
            ("gcc -c a.c", "gcc -Iinclude -c a.c"),
            ("gcc a.c", "gcc a.c -lm"),
            ("gcc a.c", "clang a.c"),
            ("gcc -std=c99 -c a.c", "gcc -std=c11 -c a.c"),
            ("gcc a.c b.c", "gcc a.c"),
            ("gcc -c a.c", "gcc -E a.c"),
            ("tsc", "tsc -p web"),
            ("tsc", "tsc a.ts"),
            ("tsc", "tsc --init"),
            ("tsc", "cd web && tsc"),
            ("tsc", "tsc --showConfig"),
            ("eslint .", "eslint . --no-eslintrc"),
            ("eslint .", "eslint . --rule 'a: off'"),
            ("ruff check", "ruff format"),
            ("ruff check", "ruff check --select E9"),
            ("cargo fmt", "cargo fmt -p a"),
            ("cargo build", "cargo build -p a"),
            ("cargo build", "cargo build --manifest-path web/Cargo.toml"),
            ("cargo build", "cargo fmt"),
            ("cargo build", "RUSTFLAGS='-A warnings' cargo build"),
            ("go build ./...", "go vet ./..."),
            ("go build cmd", "go build ./cmd"),
            ("pip install a", "pip install ./a"),
            ("pip install a", "pip install -e ."),
            ("docker build .", "docker build web"),
        ],
    );
}

#[test]
fn what_stands_around_a_program_changes_nothing_but_variables_do() {
    check(
        Same,
        &[
            ("python3 app.py", "python3 app.py 2>&1 | tail -5"),
            ("python3 app.py", "time python3 app.py"),
            ("python3 app.py", "timeout 60 python3 app.py"),
            ("python3 app.py", "nice -n 10 python3 app.py"),
            ("python3 app.py", "sudo python3 app.py"),
            ("python3 app.py", "nohup python3 app.py"),
            ("python3 app.py", "stdbuf -oL python3 app.py"),
            ("python3 app.py", "bash -lc 'python3 app.py'"),
            ("python3 app.py", "bash -c \"cd . && python3 app.py\""),
            ("python3 app.py", "uv run python app.py"),
            ("python3 app.py", "uv run app.py"),
            ("python3 app.py", "source .venv/bin/activate && python app.py"),
            ("python3 app.py", ". venv/bin/activate; python app.py"),
            ("python3 app.py", "source $HOME/.cargo/env && python3 app.py"),
            ("python3 app.py", "source ~/.bashrc; python3 app.py"),
            ("python3 app.py", "set -e; python3 app.py"),
            ("pytest", "source .venv/bin/activate && pytest"),
            ("pytest", "RUST_BACKTRACE=1 pytest"),
            ("cargo test", "RUST_BACKTRACE=1 cargo test"),
            ("cargo test", "source ~/.cargo/env && cargo test"),
            ("npm run build", "CI=1 npm run build"),
            ("python3 app.py", "env CI=true python3 app.py"),
            ("python3 app.py", "export CI=1; python3 app.py"),
            ("cargo build", "CI=true cargo build"),
        ],
    );
    check(Same, &[("npm test", "CI=1 npm test"), ("make test", "CI=true make test")]);
    check(
        Apart,
        &[
            ("python3 app.py", "env A=1 python3 app.py"),
            ("python3 app.py", "A=1 python3 app.py"),
            ("python3 app.py", "export A=1; python3 app.py"),
            ("python3 app.py", "declare -x A=1; python3 app.py"),
            ("python3 app.py", "typeset -x A=1; python3 app.py"),
            ("python3 app.py", ". ./env.sh; python3 app.py"),
            ("python3 app.py", "source env.sh && python3 app.py"),
            ("python3 app.py", "set -a; . .env; set +a; python3 app.py"),
            (". ./a.sh; python3 app.py", ". ./b.sh; python3 app.py"),
            ("pytest", ". ./env.sh; pytest"),
            ("pytest", "declare -x X=1; pytest"),
            ("pytest", "set -a; . .env; set +a; pytest"),
            ("cargo build", "export RUSTFLAGS='-A warnings' && cargo build"),
            ("cargo test", "RUSTFLAGS=-Awarnings cargo test"),
            ("npm run build", "NODE_ENV=test npm run build"),
            ("npm run build", "NODE_OPTIONS=--openssl-legacy-provider npm run build"),
        ],
    );
}

#[test]
fn what_is_read_is_a_part_of_what_is_done() {
    check(
        Apart,
        &[
            ("cat a | ./x -", "cat b | ./x -"),
            ("./x < a", "./x < b"),
            ("./x < a", "./x"),
            ("./x <<E\na\nE", "./x <<E\nb\nE"),
            ("./x <<< a", "./x <<< b"),
            ("set -- a; ./x \"$@\"", "set -- b; ./x \"$@\""),
            ("set -- a; ./x $1", "set -- b; ./x $1"),
            ("set a; ./x $1", "set b; ./x $1"),
            ("ls a | xargs ./x", "ls b | xargs ./x"),
            ("find a -name c | xargs ./x", "find b -name c | xargs ./x"),
            ("xargs -a a ./x", "xargs -a b ./x"),
            ("echo a | xargs -I{} ./x {}", "echo b | xargs -I{} ./x {}"),
            ("find a -exec ./x {} +", "find b -exec ./x {} +"),
            ("find a -name '*.py' -exec python3 {} \\;", "find b -name '*.py' -exec python3 {} \\;"),
            ("for f in a b; do ./x $f; done", "for f in c; do ./x $f; done"),
            ("F=a; ./x $F", "F=b; ./x $F"),
            ("read F < a; ./x $F", "read F < b; ./x $F"),
            ("echo a | while read f; do ./x $f; done", "echo b | while read f; do ./x $f; done"),
            ("mapfile -t F < a; ./x ${F[@]}", "mapfile -t F < b; ./x ${F[@]}"),
            ("parallel ./x ::: a b", "parallel ./x ::: c"),
            ("cat a | python3 -", "cat b | python3 -"),
            ("./x <(cat a)", "./x <(cat b)"),
            ("curl -s a | bash", "curl -s b | bash"),
            ("echo '{}' | node x.js", "echo '[]' | node x.js"),
            ("printf a | python3 app.py", "printf b | python3 app.py"),
            ("yes | ./x", "./x"),
        ],
    );
    check(
        Same,
        &[
            ("./x < a", "./x <a"),
            ("./x < a", "./x < ./a"),
            ("cat a | ./x -", "set -o pipefail; cat a | ./x - 2>&1 | tail"),
            ("set -- a; ./x \"$@\"", "set -- a && ./x \"$@\""),
            ("ls a | xargs ./x", "ls a | xargs ./x 2>&1"),
            ("ls a | xargs ./x", "ls a | xargs -n1 ./x"),
            ("find a -exec ./x {} +", "find a -exec ./x {} + && echo OK"),
            ("./x", "./x < /dev/null"),
        ],
    );
}

#[test]
fn other_switches_of_tests_may_change_what_they_come_to() {
    check(
        More,
        &[
            ("cargo test", "cargo test -- --test-threads=1"),
            ("cargo test", "cargo test -- --test-threads 1"),
            ("cargo test", "RUST_TEST_THREADS=1 cargo test"),
            ("pytest", "pytest -W ignore"),
            ("pytest", "pytest -p no:warnings"),
            ("pytest", "pytest -p no:randomly"),
            ("pytest", "PYTHONHASHSEED=0 pytest"),
            ("pytest", "pytest --reruns 2"),
            ("pytest -W error", "pytest"),
            ("python3 -m pytest", "python3 -O -m pytest"),
            ("python3 -W error -m pytest", "pytest"),
            ("python3 -Werror -m pytest", "pytest"),
        ],
    );
    check(
        Apart,
        &[
            ("cargo test", "cargo test --release"),
            ("pytest", "pytest --import-mode=importlib"),
            ("pytest", "A=1 pytest"),
        ],
    );
}

#[test]
fn a_check_proves_less_than_a_build_of_what_is_linked() {
    let linked = "error: linking with `cc` failed: exit status: 1\n  = note: undefined reference to `x'\n\nerror: could not compile `a` (bin \"a\") due to 1 previous error\n";
    let left = |red: &str, green: &str| left(&[("cargo build", 101, red), (green, 0, "")]).1;
    assert!(left(linked, "cargo check") && left(linked, "cargo clippy"));
    assert!(!left(linked, "cargo build") && !left(linked, "cargo test"));
    assert!(!left(BROKEN, "cargo check") && !left(BROKEN, "cargo clippy"));
}

#[test]
fn what_tests_are_built_of_is_built_where_they_pass() {
    let built = ("cargo test", green_of("cargo test"));
    for (red, (green, text), is_left) in [
        ("cargo check --tests", built, false),
        ("cargo build --tests", built, false),
        ("cargo test --no-run", built, false),
        ("cargo check --lib", built, false),
        ("cargo clippy --tests", built, false),
        ("cargo test --no-run", ("cargo test --no-run -q", ""), false),
        ("cargo check --tests", ("cargo test --no-run", ""), false),
        ("cargo build", ("cargo test --no-run", ""), false),
        ("cargo test --no-run", ("cargo build", ""), true),
        ("cargo check --all-targets", built, true),
        ("cargo check --benches", built, true),
        ("cargo check --tests", ("cargo test --lib", built.1), true),
        ("cargo check --tests", ("cargo check", ""), true),
        ("cargo check --tests --features a", built, true),
    ] {
        let found = left(&[(red, 101, BROKEN), (green, 0, text)]).1;
        assert_eq!(found, is_left, "{red}, {green}");
    }
    // What only builds runs no test.
    assert!(left(&[("cargo test", 101, CARGO), ("cargo test --no-run", 0, "")]).1);
}

#[test]
fn what_says_that_nothing_was_done_mends_nothing() {
    let red = red_of("make").1;
    for (said, expected) in [
        ("make: Nothing to be done for 'all'.\n", true),
        ("make: 'a.o' is up to date.\n", true),
        ("make[1]: Nothing to be done for `all'.\n", true),
        ("ninja: no work to do.\n", true),
        ("", false),
        ("gcc -c a.c\n", false),
        ("make[1]: Nothing to be done for 'docs'.\ngcc -c a.c\n", false),
    ] {
        let left = left(&[("make", 2, red), ("make", 0, said)]).1;
        assert_eq!(left, expected, "{said}");
    }
    // A code that is printed says no more of it.
    for (line, end) in [
        ("touch main; make; echo \"exit $?\"", "exit 0\n"),
        ("touch main && make && echo OK || echo NO", "OK\n"),
        ("echo building; make; rc=$?; echo \"rc=$rc\"", "rc=0\n"),
        ("time make", "\nreal\t0m0.051s\nuser\t0m0.032s\nsys\t0m0.008s\n"),
    ] {
        let idle = format!("make: Nothing to be done for 'all'.\n{end}");
        assert!(left(&[("make", 2, red), (line, 0, &idle)]).1, "{line}");
        let green = format!("gcc -c a.c\n{end}");
        assert!(!left(&[("make", 2, red), (line, 0, &green)]).1, "{line}");
    }
}

#[test]
fn what_fails_while_changes_are_put_aside_is_of_another_tree() {
    let red = red_of("make").1;
    let app = ("python3 app.py", 1, TRACE);
    for (commands, expected) in [
        (vec![("make", 0, ""), ("git stash; make; git stash pop", 2, red)], false),
        (vec![("git stash -q && make; git stash pop -q", 0, red)], false),
        (vec![("git stash", 0, ""), ("make", 2, red), ("git stash pop", 0, "")], false),
        (vec![("git stash push -u", 0, ""), ("make", 2, red), ("git stash apply", 0, "")], false),
        (vec![("git stash", 0, ""), ("make", 2, red)], true),
        (vec![("git stash list", 0, ""), ("make", 2, red), ("git stash pop", 0, "")], true),
        (vec![("git stash; make; git stash pop; python3 app.py", 1, TRACE)], true),
        (vec![app, ("git stash; make; git stash pop", 2, red)], true),
        (vec![app, ("git stash pop; python3 app.py", 0, "")], false),
        (vec![("git stash pop; make", 2, red)], true),
        (vec![("git stash; git stash pop; make", 2, red)], true),
    ] {
        assert_eq!(left(&commands).1, expected, "{commands:#?}");
    }
}

#[test]
fn a_chain_is_mended_by_its_parts() {
    let tsc = "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\n";
    let lines = |red: &str, text: &str, greens: &[&str]| {
        let first = [(red, 1, text)];
        let rest = greens.iter().map(|line| (*line, 0, ""));
        left(&first.into_iter().chain(rest).collect::<Vec<_>>()).1
    };
    let mut wrong = Vec::new();
    for (red, text, greens, is_left) in [
        // One after the other.
        ("tsc --noEmit && eslint .", tsc, &["tsc --noEmit", "eslint ."][..], false),
        ("tsc --noEmit && eslint .", tsc, &["eslint .", "ls", "tsc --noEmit"], false),
        ("./gen && ./x", "Error: no\n", &["./gen", "./x"], false),
        ("./gen && ./x", "Error: no\n", &["./x", "ls", "./gen"], false),
        ("./gen && ./x", "Error: no\n", &["./gen"], true),
        ("./gen && ./x", "Error: no\n", &["./x"], true),
        ("./gen && ./x", "Error: no\n", &["./gen", "./gen"], true),
        // Whose word it is, has failed; what stands after that did not run.
        ("tsc --noEmit && eslint .", tsc, &["tsc --noEmit"], false),
        ("tsc --noEmit && eslint .", tsc, &["eslint ."], true),
        ("gcc a.c -o a && ./a", "a.c:1:5: error: no\n", &["gcc a.c -o a"], false),
        ("./configure && make", MAKE, &["make"], false),
        ("./configure && make", MAKE, &["./configure"], true),
        ("./configure && make && make install", MAKE, &["make"], true),
        ("make && ./app", MAKE, &["make"], false),
        ("make && ./app", MAKE, &["./app"], true),
        ("make && ./app", "Error: no\n", &["./app"], false),
        ("make && ./app", "Error: no\n", &["make"], true),
        ("cargo fmt --check && ./x", "Error: no\n", &["./x"], true),
        ("python3 gen.py && make", TRACE, &["python3 gen.py"], false),
        ("python3 gen.py && make", TRACE, &["make"], true),
        ("python3 gen.py && make", MAKE, &["make"], false),
        (
            "tsc && node dist/a.js",
            "TypeError: no\n    at f (dist/a.js:1:1)\n\nNode.js v22.0.0\n",
            &["node dist/a.js"],
            false,
        ),
        ("tsc && node dist/a.js", tsc, &["node dist/a.js"], true),
        ("npm run lint && npm run build", "npm error code 1\nError: no\n", &["npm run build"], true),
        ("npm run build && ./deploy", "Error: no\nnpm error code 1\n", &["npm run build"], false),
        ("npm run build && ./deploy", "Error: no\n", &["npm run build"], true),
        (
            "cargo build && ./target/debug/a",
            "thread 'main' panicked at src/main.rs:4:5:\nno\n",
            &["./target/debug/a"],
            false,
        ),
        ("cargo build && ./target/debug/a", BROKEN, &["cargo build"], false),
        ("cargo build && ./target/debug/a", BROKEN, &["./target/debug/a"], true),
        // Nothing waited for it.
        ("tsc --noEmit; ./x", tsc, &["tsc --noEmit"], true),
        ("tsc --noEmit || ./x", tsc, &["tsc --noEmit"], true),
        ("gcc a.c -o a && ./a", "a.c:1:5: error: no\n", &["./a"], true),
        ("gcc a.c -o a && ./a", "a.c:1:5: error: no\n", &["gcc a.c -o a", "./a"], false),
        // What only prepares has no part in it.
        ("npm ci && npm run build", tsc, &["npm run build"], false),
        ("npm install && npm run build", tsc, &["npm install"], true),
        ("cd web && npm install --silent && npm run build", tsc, &["cd web && npm run build"], false),
        ("pip install -r a.txt && python3 app.py", TRACE, &["python3 app.py"], false),
        ("pip install -q -e . && python3 app.py", TRACE, &["pip install -e ."], true),
        ("mkdir -p out && cp a out/ && ./x", "Error: no\n", &["./x"], false),
        ("git pull && ./x", "Error: no\n", &["./x"], false),
        ("chmod +x x && ./x", "Error: no\n", &["./x"], false),
        ("rm -rf out && ./x", "Error: no\n", &["./x"], false),
        ("touch a && git add -A && ./x", "Error: no\n", &["./x"], false),
        ("sed -i s/a/b/ c && ./x", "Error: no\n", &["./x"], false),
        // Alone, or after the work, it is the work.
        ("npm ci", "npm ERR! no\nError: no\n", &["npm run build"], true),
        ("npm ci", "Error: no\n", &["npm ci"], false),
        ("./x && cp a b", "cp: cannot stat 'a': No such file or directory\n", &["./x"], true),
        ("npm ci && cp a b", "Error: no\n", &["cp a b"], true),
        ("npm ci; ./x", "Error: no\n", &["./x"], false),
        ("npm ci || ./x", "Error: no\n", &["./x"], true),
    ] {
        if !lines(red, text, &[]) {
            wrong.push(format!("`{red}` is not told at all"));
        }
        if lines(red, text, greens) != is_left {
            wrong.push(format!("`{red}`, {greens:?}: {}", !is_left));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_looks_at_more_looks_at_the_part_too() {
    check(
        More,
        &[
            ("ruff check .", "ruff check src"),
            ("ruff check", "ruff check src/a.py"),
            ("ruff check src", "ruff check src/a.py"),
            ("ruff check src tests", "ruff check ./src"),
            ("ruff check src", "ruff check src/a.py src/b.py"),
            ("ruff format .", "ruff format --check src/a.py"),
            ("eslint .", "eslint src/a.js"),
            ("eslint . --fix", "npx eslint src"),
            ("eslint --ext .ts src", "eslint --ext .ts src/a.ts"),
            ("mypy .", "mypy src"),
            ("mypy src", "mypy src/a.py"),
            ("black .", "black --check a.py"),
            ("isort --profile black .", "isort --profile black src"),
            ("flake8", "flake8 src"),
            ("prettier --write .", "prettier --check src/a.ts"),
            ("pylint src tests", "pylint src"),
            ("go build ./...", "go build"),
            ("go build ./...", "go build ./cmd/x"),
            ("go vet ./...", "go vet ./a/..."),
            ("make build test", "make build"),
            ("make build lint", "make lint -j4"),
            ("python3 -m py_compile a.py b.py", "python3 -m py_compile a.py"),
            ("rubocop", "bundle exec rubocop app/a.rb"),
            ("git rebase --continue", "git rebase main"),
            ("git cherry-pick --skip", "git cherry-pick abc123"),
            ("pip install a b", "pip install b"),
            ("apt-get install -y a b", "apt-get install a"),
            ("rm -r a b", "rm -r a"),
            ("rm -r out", "rm -rf out"),
            ("rm a", "rm -f ./a"),
            ("rm -v a b", "rm --force a"),
            ("cargo clippy --all-targets -- -D warnings", "cargo clippy"),
        ],
    );
    check(
        Same,
        &[
            ("make clean all", "make"),
            ("make clean build", "make build"),
            ("mvn clean install", "mvn install"),
            ("./gradlew clean build", "./gradlew build"),
            ("go build", "go build ."),
            ("go build -o bin/app .", "go build"),
            ("tsc -p web", "cd web && tsc"),
            ("npx tsc -p web/tsconfig.json --noEmit", "cd web && npx tsc"),
            ("tsc --project ./web", "tsc -p web"),
            ("git commit -m a", "git commit -qm 'a b'"),
            ("git add -A && git commit -m a", "git commit -am b"),
            ("git commit -m a", "git -c user.name=x -c user.email=y commit -m a"),
            ("git commit -m a", "git commit -F msg"),
            ("cargo clippy", "cargo clippy --fix --allow-dirty"),
            ("cargo run", "cargo run -q"),
            ("cargo run -- a", "cargo r --quiet -- a"),
            ("yarn", "yarn install"),
            ("cmake -B build", "cmake -S . -B build"),
            ("dotnet build", "dotnet build -v q --nologo"),
            ("python3 -m app", "python -u -m app"),
            ("python3 -c 'import x'", "python -c \"import x\""),
            ("python3 -m py_compile a.py", "python -m py_compile ./a.py"),
            ("python3 manage.py migrate", "./manage.py migrate"),
            ("bash -n run.sh", "sh -n ./run.sh"),
            ("node --check x.js", "node --check ./x.js"),
            ("node --check x.js", "node -c x.js"),
            ("node --eval 'f()'", "node -e 'f()'"),
            ("shellcheck a.sh", "shellcheck ./a.sh"),
            ("make && ./app", "make -j2 && ./app"),
            ("make clean && make", "make"),
            ("make clean && make -j2", "make -s"),
            ("cargo clean && cargo build", "cargo build"),
            ("command -v mypy >/dev/null && mypy src", "mypy src"),
            ("rm -r out", "rm -R ./out"),
            ("rm -rf out", "rm -fvr ./out"),
            ("cp a b", "cp -f a b"),
            ("apt-get install -y a", "sudo apt-get install -qq a"),
            ("apt install a", "apt-get install -y --no-install-recommends a"),
            ("git rebase --continue", "git rebase"),
            ("poetry run mypy src", "mypy src"),
            ("uv run mypy src", "mypy src"),
            ("npx --yes eslint .", "eslint ."),
            ("pnpm dlx prettier --check .", "prettier --check ."),
            ("time make", "make"),
            ("{ make; }", "make"),
            ("pushd web && make && popd", "cd web && make"),
            ("pip install -e .", "pip install -e ./"),
        ],
    );
    check(
        Apart,
        &[
            ("ruff check src", "ruff check tests"),
            ("ruff check --select F src", "ruff check --select E9 ."),
            ("ruff check src", "ruff format ."),
            ("eslint --ext .ts src", "eslint --ext .js ."),
            ("eslint src", "eslint --print-config ."),
            ("mypy src", "mypy -p src"),
            ("mypy src", "cd web && mypy ."),
            ("go build ./a", "go build ./b"),
            ("go build ./...", "go build cmd/x"),
            ("make build", "make test"),
            ("make clean", "make build"),
            ("mvn install", "mvn compile"),
            ("tsc -p web", "tsc"),
            ("tsc -p tsconfig.build.json", "tsc"),
            ("git commit -m a", "git commit --dry-run -m a"),
            ("git commit -m a", "git add -A"),
            ("git commit -m a", "git push"),
            ("git merge a", "git merge b"),
            ("git merge a", "git rebase a"),
            ("git rebase main", "git merge --continue"),
            ("pip install a", "pip install b"),
            ("pip install a", "pip uninstall a"),
            ("pip install -r a.txt", "pip install -r b.txt"),
            ("rm a", "rm b"),
            ("cp a b", "cp a c"),
            ("apt-get install a", "apt-get update"),
            ("cargo build", "cargo +nightly build"),
            ("cargo run --bin a", "cargo run --bin b"),
            ("cargo run -- a", "cargo run -- b"),
            ("cargo bench", "cargo build"),
            ("docker exec a make", "docker exec b make"),
            ("docker exec a make", "make"),
            ("pnpm --filter a build", "pnpm --filter b build"),
            ("pnpm -r build", "pnpm build"),
            ("psql -d a -f x", "psql -d b -f x"),
            ("make -C a", "make -C b"),
            ("bash <<E\n./a\nE", "bash <<E\n./b\nE"),
            ("python3 -m app", "python3 -m app2"),
            ("python3 -m py_compile a.py", "python3 -m py_compile b.py"),
            ("python3 app.py --config a", "python3 app.py --config b"),
            ("terraform plan", "terraform apply"),
            ("kubectl --context a apply -f x", "kubectl --context b apply -f x"),
            ("git commit -m a", "git commit --help"),
        ],
    );
    check(
        More,
        &[("git commit -m a", "git commit --no-verify -m a"), ("git commit -m a", "git commit -n -m a")],
    );
}

#[test]
fn what_is_done_twice_in_one_line_is_told_all_the_same() {
    let said = "Error: no such thing\n";
    for line in [
        "git commit -m a && git commit -m b",
        "git add a && git commit -m a && git add b && git commit -m b",
        "gcc a.c -o a && gcc a.c -o b",
        "docker build -t a . && docker build -t b .",
        "make && make V=1",
        "prettier --check . && prettier --write .",
    ] {
        assert!(left(&[(line, 1, said)]).1, "{line}");
        assert!(!left(&[(line, 1, said), (line, 0, "")]).1, "{line}");
    }
    let said = "find: cannot delete 'a': Permission denied\n";
    assert!(left(&[("find . -name a -delete", 1, said)]).1);
}

/// The tests that are told to fail, and whether an error is, after a script that failed and one that passed.
#[test]
fn a_script_of_tests_has_many_names_too() {
    let mut wrong = Vec::new();
    for (red, green, is_left) in [
        ("bash run-tests.sh", "./run-tests.sh", false),
        ("bash run-tests.sh", "sh ./run-tests.sh", false),
        ("./scripts/test.sh", "bash scripts/test.sh", false),
        ("make test", "make -s test", false),
        ("make test", "make -j2 test", false),
        ("make test", "make test V=1", false),
        ("make -C api test", "cd api && make test", false),
        ("python3 run_tests.py", "python ./run_tests.py", false),
        ("npm test", "npm run test", false),
        ("npm test", "npm t -s", false),
        ("npm --prefix api test", "cd api && npm test", false),
        ("bash run-tests.sh", "CI=1 bash run-tests.sh", false),
        ("npm test", "env CI=true npm t", false),
        ("make test", "make check", true),
        ("make test", "make -C api test", true),
        ("bash run-tests.sh a", "bash run-tests.sh b", true),
        ("bash run-tests.sh", "A=1 bash run-tests.sh", true),
        ("bash run-tests.sh < a", "bash run-tests.sh < b", true),
    ] {
        for (red, green) in [(red, green), (green, red)] {
            let (failing, has_error) = left(&[(red, 1, PYTEST), (green, 0, PASSED)]);
            if (!failing.is_empty(), has_error) != (is_left, is_left) {
                wrong.push(format!("`{red}`, `{green}`: {failing:?}, {has_error}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_script_of_a_package_is_what_it_runs() {
    let manifest = r#"{"scripts": {"lint": "eslint .", "types": "tsc --noEmit", "build": "tsc && vite build",
        "strict": "eslint . --max-warnings 0", "pretty": "prettier --check .", "prepretty": "x",
        "env": "NODE_ENV=test eslint ."}}"#;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("package.json"), manifest).unwrap();
    let is_left = |red: &str, green: &str| {
        let mut gathered = Gathered::new(dir.path(), dir.path());
        for (line, code, text) in [(red, 1, "Error: no such thing\n"), (green, 0, "")] {
            gathered.note_only_command(line, Some(code), text, true, Timestamp::from_millis(0));
        }
        gathered.finish(Changed::Unknown, None).1.is_some()
    };
    for (red, green, expected) in [
        ("npm run lint", "npx eslint .", false),
        ("npx eslint src", "npm run lint", false),
        ("npm run -s lint", "pnpm lint", false),
        ("npm run lint", "npm run strict", false),
        ("npm run strict", "npm run lint", true),
        ("npm run types", "npx tsc", false),
        ("npm run lint", "npm run lint -- --fix", false),
        ("npx eslint src", "npm run lint -- --quiet", true),
        ("npm run build", "npx vite build", true),
        ("npm run pretty", "npx prettier --check .", true),
        ("npm run env", "npx eslint .", true),
        ("npm run lint", "npm run types", true),
        ("npm run gone", "npx eslint .", true),
    ] {
        assert_eq!(is_left(red, green), expected, "{red}, {green}");
    }
    // The same line is the same, whatever the script says now.
    let mut gathered = Gathered::new(dir.path(), dir.path());
    gathered.note_only_command("npm run lint", Some(1), "Error: no\n", true, Timestamp::from_millis(0));
    fs::write(dir.path().join("package.json"), manifest.replace("eslint .", "eslint src --quiet")).unwrap();
    gathered.note_only_command("npm run lint", Some(0), "", true, Timestamp::from_millis(1));
    assert!(gathered.finish(Changed::Unknown, None).1.is_none());
}

#[test]
fn a_target_is_what_is_made_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let rules = "all: main lib\nmain: main.c\n\tgcc main.c\nlib:\n\tar x\nclean:\n\trm -f main\nonly: main\n";
    fs::write(dir.path().join("Makefile"), rules).unwrap();
    let is_left = |red: &str, green: &str| {
        let mut gathered = Gathered::new(dir.path(), dir.path());
        for (line, code, text) in [(red, 2, MAKE), (green, 0, "")] {
            gathered.note_only_command(line, Some(code), text, true, Timestamp::from_millis(0));
        }
        gathered.finish(Changed::Unknown, None).1.is_some()
    };
    for (red, green, expected) in [
        ("make main", "make", false),
        ("make main", "make -j2 all", false),
        ("make only", "make main", false),
        ("make main", "make only", false),
        ("make", "make main lib", false),
        ("make", "make main", true),
        ("make lib", "make main", true),
        ("make main", "make clean", true),
        ("make main", "make other", true),
        ("make main", "cd web && make", true),
        ("make main", "make -i", true),
        ("make main", "make -n", true),
    ] {
        assert_eq!(is_left(red, green), expected, "{red}, {green}");
    }
}

#[test]
fn what_else_is_the_same_call_and_what_is_not() {
    check(
        Same,
        &[
            ("make", "make -sj4"),
            ("make", "make -j4 -k"),
            ("make build", "make -C . build"),
            ("make", "(make)"),
            ("make", "bash -c make"),
            ("make", "bash -euo pipefail -c 'make'"),
            ("make", "sh -c 'cd . && make -j2'"),
            ("make", "make 2>&1"),
            ("make", "make >/dev/null 2>&1"),
            ("make", "make | cat"),
            ("make", "cd $PWD && make"),
            ("make", "cd \"$(pwd)\" && make"),
            ("cd web && make", "cd \"${PWD}/web\" && make"),
            ("make", "env make"),
            ("make", "command make"),
            ("make", "LC_ALL=C make"),
            ("python3 app.py", "python3 app.py > out.txt"),
            ("python3 app.py", "python3 app.py && echo ok"),
            ("python3 app.py", "set -e\ncd .\npython3 app.py"),
            ("python3 app.py", "python3 -X utf8 app.py"),
            ("python3 app.py", "poetry run python app.py"),
            ("python3 app.py", "pipenv run python app.py"),
            ("python3 src/app.py", "cd . && python src/app.py"),
            ("npm run build", "npm run build --no-color"),
            ("npm run build", "npm run build > build.log 2>&1"),
            ("npm run build", "time npm run build"),
            ("npm run build", "npm --silent run build"),
            ("npm ci", "npm ci --silent --no-progress"),
            ("pnpm install", "pnpm i"),
            ("pnpm install", "pnpm install --silent"),
            ("npx vite build", "./node_modules/.bin/vite build"),
            ("npx webpack", "node_modules/.bin/webpack"),
            ("cargo build", "cargo build --locked"),
            ("cargo build", "cargo build --offline"),
            ("cargo build", "cargo build --message-format short"),
            ("cargo build", "cargo build 2>&1"),
            ("cargo doc", "cargo doc --open"),
            ("go build ./...", "go build -v -o /tmp/x ./..."),
            ("mypy .", "mypy ."),
            ("mypy src", "python -m mypy src --no-error-summary"),
            ("ruff check", "ruff check -q --no-cache"),
            ("black .", "python -m black ."),
            ("docker compose build", "docker compose build"),
            ("./gradlew assemble", "./gradlew assemble --no-daemon -q"),
            ("mvn -q compile", "mvn -B -ntp compile"),
            ("javac -d out A.java", "javac -d out2 A.java"),
            ("rustc a.rs", "rustc a.rs -o b"),
            ("rustc a.rs", "rustc --edition 2021 a.rs"),
            ("rustc a.rs", "rustc --edition=2018 -O a.rs"),
            ("terraform validate", "terraform validate -no-color"),
            ("php a.php", "php ./a.php"),
            ("ruby a.rb", "bundle exec ruby a.rb"),
            ("deno run a.ts", "deno run a.ts"),
        ],
    );
    check(
        Apart,
        &[
            ("make", "cd web && make"),
            ("npm run build", "npm run build:dev"),
            ("npm run build", "npm run"),
            ("npm run build", "npm pkg get scripts.build"),
            ("npm ci", "npm ls"),
            ("cargo build", "cargo build --target x"),
            ("cargo doc", "cargo doc -p a"),
            ("npx vite build", "npx vite build web"),
            ("npx vite build", "npx vite"),
            ("mypy src", "mypy --python-version 3.8 src"),
            ("javac A.java", "javac B.java"),
            ("go build ./...", "GOOS=windows go build ./..."),
            ("docker build .", "docker build -f other ."),
            ("docker build .", "docker build --target x ."),
            ("pip install a", "pip download a"),
            ("php a.php", "php -l a.php"),
            ("ruby a.rb", "ruby -c a.rb"),
            ("node x.js", "NODE_OPTIONS=--x node x.js"),
            ("terraform plan", "terraform plan -target=x"),
        ],
    );
    // These show nothing of it.
    for (red, green) in [
        ("make", "make help"),
        ("python3 app.py", "python3 app.py | grep -q x || true"),
        ("python3 app.py", "echo python3 app.py"),
        ("python3 app.py", "cat app.py"),
        ("python3 app.py", "python3 app.py &"),
        ("cargo build", "cargo build || true"),
        ("cargo build", "cargo build; true"),
        ("python3 app.py", "timeout 1 python3 app.py || true"),
        ("npm run build", "cat package.json | grep build"),
        ("cargo build", "cargo build --help"),
    ] {
        assert_eq!(mends(green, red), Ok(false), "{red}, {green}");
    }
    // It would be heard.
    for green in ["python3 app.py || true", "python3 app.py; true"] {
        assert_eq!(mends(green, "python3 app.py"), Ok(true), "{green}");
    }
}

#[test]
fn what_gives_up_mends_nothing() {
    check(
        Apart,
        &[
            ("git merge --abort", "git merge main"),
            ("git merge --quit", "git merge main"),
            ("git rebase --abort", "git rebase main"),
            ("git -C . cherry-pick --abort", "git cherry-pick abc123"),
            ("rm -rf a b", "rm -r a"),
        ],
    );
}

#[test]
fn a_script_is_looked_up_in_the_project_alone() {
    let manifest = r#"{"scripts": {"lint": "eslint ."}}"#;
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir_all(dir.path().join("web")).unwrap();
    fs::create_dir_all(dir.path().join("linked")).unwrap();
    for folder in [other.path(), &dir.path().join("web")] {
        fs::write(folder.join("package.json"), manifest).unwrap();
    }
    let link = dir.path().join("linked/package.json");
    std::os::unix::fs::symlink(other.path().join("package.json"), link).unwrap();
    std::os::unix::fs::symlink(other.path(), dir.path().join("away")).unwrap();
    let name = other.path().file_name().unwrap().to_str().unwrap();
    for (folder, is_left) in [
        ("web", false),
        ("linked/../web", false),
        (other.path().to_str().unwrap(), true),
        (&format!("../{name}"), true),
        ("linked", true),
        ("away", true),
    ] {
        let mut gathered = Gathered::new(dir.path(), dir.path());
        for (line, code, text) in [("npm run lint", 1, "Error: no\n"), ("npx eslint .", 0, "")] {
            let line = format!("cd {folder} && {line}");
            gathered.note_only_command(&line, Some(code), text, true, Timestamp::from_millis(0));
        }
        assert_eq!(gathered.finish(Changed::Unknown, None).1.is_some(), is_left, "{folder}");
    }
}
