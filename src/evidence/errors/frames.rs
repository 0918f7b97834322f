//! Which of the calls that led to an error is of the project, and in which file.
//!
//! Java names the package of a file and no directory: it is looked for where sources usually are. Go names whole
//! paths, and wherever its toolchain and its modules are, the project is where the run works. Where no call
//! is known to be of the project, there is no place to look at.

use std::collections::HashMap;

use super::diagnose::Diagnosis;
use super::place::Location;
use super::whereabouts::{Whereabouts, went};
use crate::evidence::tests::moved;

/// How many files of an output are looked for at most.
const MOST_LOOKS: usize = 96;

/// The calls of all errors of one output.
pub(super) struct Frames<'a> {
    whereabouts: &'a Whereabouts<'a>,
    shown: &'a [String],
    /// The files of Java that were looked for: where it was, as what, and what was found.
    known: HashMap<(Option<String>, String), Option<String>>,
    looks_left: usize,
}

impl<'a> Frames<'a> {
    pub(super) fn new(whereabouts: &'a Whereabouts<'a>, shown: &'a [String]) -> Self {
        Self { whereabouts, shown, known: HashMap::new(), looks_left: MOST_LOOKS }
    }

    /// The innermost call that is of the project.
    pub(super) fn own(&mut self, error: &mut Diagnosis) -> Option<Location> {
        let frames = std::mem::take(&mut error.frames);
        let toolchain = frames.iter().find_map(toolchain);
        frames.iter().find_map(|frame| match frame.has_end(&[".go"]) {
            true => self.of_go(frame, toolchain),
            false => {
                let file = self.of_java(&frame.file, error.entered.as_deref())?;
                Some(Location { file, ..frame.clone() })
            }
        })
    }

    fn of_go(&self, frame: &Location, toolchain: Option<&str>) -> Option<Location> {
        let Whereabouts { root, origin, .. } = self.whereabouts;
        let below = frame.file.strip_prefix(root);
        let named = origin.below(&frame.file);
        let is_here = below.is_some() || (frame.file.starts_with('/') && !named.starts_with('/'));
        let is_of_toolchain = toolchain.is_some_and(|toolchain| frame.file.starts_with(toolchain));
        // A folder of the module cache is called as its module, with the version.
        let is_of_module = named.contains("@v") || named.starts_with("vendor/") || named.contains("/vendor/");
        let is_own = is_here && !is_of_toolchain && !is_of_module && frame.is_own();
        is_own.then(|| Location { file: below.unwrap_or(&frame.file).to_owned(), ..frame.clone() })
    }

    fn of_java(&mut self, file: &str, entered: Option<&str>) -> Option<String> {
        let key = (entered.map(str::to_owned), file.to_owned());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = self.look(file, entered);
        self.known.insert(key, found.clone());
        found
    }

    fn look(&mut self, file: &str, entered: Option<&str>) -> Option<String> {
        let files = self.may_be(file, entered)?;
        self.looks_left = self.looks_left.checked_sub(files.len())?;
        self.whereabouts.the_one(files.into_iter())
    }

    /// What a file may be that is named by its package.
    fn may_be(&self, file: &str, entered: Option<&str>) -> Option<Vec<String>> {
        let done = self.whereabouts.done;
        let directory = done.directory.as_deref()?;
        let is_it =
            |arg: &&String| arg.strip_suffix(file).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        let args = done.command.steps.iter().flat_map(|step| step.args());
        let named: Vec<String> = args.filter(is_it).map(|arg| moved(directory, arg)).collect();
        if !named.is_empty() {
            return Some(named);
        }
        let places: Vec<String> = match entered {
            Some(entered) => vec![entered.to_owned()],
            None if done.runs_a_script() => went(directory, self.shown).collect(),
            None => vec![directory.to_owned()],
        };
        let sources = sources(file);
        let all = places.iter().flat_map(|place| sources.iter().map(move |source| moved(place, source)));
        Some(all.map(|from| moved(&from, file)).collect())
    }
}

/// Where the sources of a language are.
fn sources(file: &str) -> Vec<&'static str> {
    let own: &[&str] = match file.rsplit('.').next() {
        Some("kt") => &["src/main/kotlin", "src/test/kotlin"],
        Some("scala") => &["src/main/scala", "src/test/scala"],
        Some("groovy") => &["src/main/groovy", "src/test/groovy"],
        _ => &[],
    };
    // Other languages may lie beside Java.
    [&["", "src", "src/main/java", "src/test/java"], own].concat()
}

/// Where Go's own files are, if this is one of them.
fn toolchain(frame: &Location) -> Option<&str> {
    let own = ["runtime/panic.go", "testing/testing.go"];
    own.iter().find_map(|own| frame.file.strip_suffix(own)).filter(|src| src.ends_with("/src/"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::evidence::errors::{Errors, Location};
    use crate::evidence::tests::Origin;

    const FILES: [&str; 8] = [
        "src/main/java/com/example/App.java",
        "src/test/java/com/example/AppTest.java",
        "src/main/kotlin/web/Web.kt",
        "api/src/main/java/com/example/Api.java",
        "src/Tool.java",
        "tools/Tool.java",
        "Both.java",
        "src/Both.java",
    ];

    /// Where an error is told to be of a command in a checkout with these files, of a run that works in
    /// `start`. In what is printed, `/shop` is the checkout.
    #[track_caller]
    fn check(start: &str, command: &str, text: &str, expected: Option<(&str, u64)>) {
        let dir = tempfile::tempdir().unwrap();
        for file in FILES {
            let file = dir.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let checkout = dir.path().to_str().unwrap();
        let here = |text: &str| text.replace("/shop/", &format!("{checkout}/"));
        let root = format!("{checkout}/{start}");
        let mut errors = Errors::new(&root, Origin::new(&root, checkout));
        errors.note_command(command, Some(1), &here(text));
        let told = errors.finish(None).unwrap();
        let place = |(file, line): (&str, u64)| Location { file: here(file), line, column: None };
        assert_eq!(told.error_locations, expected.map(place).into_iter().collect::<Vec<_>>());
        // What is not below the run's directory is no file of it.
        let files = expected.map(|(file, _)| file).filter(|file| !file.starts_with('/'));
        assert_eq!(told.failed_files, files.into_iter().collect::<Vec<_>>());
        assert_eq!(told.suggestions.len(), told.failed_files.len());
    }

    /// An exception with the calls that led to it.
    fn thrown(frames: &[&str]) -> String {
        let frames: String = frames.iter().map(|frame| format!("\tat {frame}\n")).collect();
        format!("Exception in thread \"main\" a.b.SomeException: no luck\n{frames}")
    }

    const JACKSON: &str = "com.fasterxml.jackson.core.JsonParser._constructError(JsonParser.java:2418)";

    #[test]
    fn a_call_of_a_library_is_not_where_to_look() {
        let text = thrown(&[JACKSON, "com.example.App.main(App.java:5)"]);
        check("", "java -jar a.jar", &text, Some(("src/main/java/com/example/App.java", 5)));
        check("", "java -jar a.jar", &thrown(&[JACKSON]), None);
        let text =
            thrown(&["org.junit.Assert.fail(Assert.java:89)", "com.example.AppTest.sums(AppTest.java:7)"]);
        check("", "mvn -q test", &text, Some(("src/test/java/com/example/AppTest.java", 7)));
    }

    #[test]
    fn a_class_is_in_the_file_that_the_call_names() {
        let app = Some(("src/main/java/com/example/App.java", 5));
        for call in [
            "com.example.App$Inner.run(App.java:5)",
            "com.example.App.lambda$main$0(App.java:5)",
            "com.example.App.<init>(App.java:5)",
            "app//com.example.App.main(App.java:5)",
        ] {
            check("", "./gradlew run", &thrown(&[JACKSON, call]), app);
        }
        let kotlin = thrown(&["web.WebKt.main(Web.kt:3)"]);
        check("", "./gradlew run", &kotlin, Some(("src/main/kotlin/web/Web.kt", 3)));
        // Another package has a file of that name.
        check("", "java -jar a.jar", &thrown(&["org.other.App.main(App.java:5)"]), None);
    }

    #[test]
    fn a_file_is_looked_for_where_the_command_worked() {
        let text = thrown(&[JACKSON, "com.example.Api.main(Api.java:9)"]);
        let api = Some(("api/src/main/java/com/example/Api.java", 9));
        check("", "cd api && java -jar a.jar", &text, api);
        check("", "java -jar api/a.jar", &text, None);
        check("", "make run", &format!("make[1]: Entering directory '/shop/api'\n{text}"), api);
        check("", "make run", &format!("cd api && java -jar a.jar\n{text}"), api);
        check("api", "java -jar a.jar", &text, Some(("src/main/java/com/example/Api.java", 9)));
    }

    #[test]
    fn a_file_that_the_command_names_is_the_one() {
        let text = thrown(&["Tool.main(Tool.java:2)"]);
        check("", "java Tool", &text, Some(("src/Tool.java", 2)));
        check("", "java tools/Tool.java", &text, Some(("tools/Tool.java", 2)));
        check("", "cd tools && java ./Tool.java", &text, Some(("tools/Tool.java", 2)));
        let both = thrown(&["Both.main(Both.java:2)"]);
        check("", "java src/Both.java", &both, Some(("src/Both.java", 2)));
        // Here, or there?
        check("", "java Both", &both, None);
    }

    #[test]
    fn calls_that_a_cause_leaves_out_are_those_of_what_it_caused() {
        let outer =
            thrown(&[JACKSON, "com.example.App.load(App.java:18)", "com.example.App.main(App.java:32)"]);
        let cause = format!("Caused by: java.io.IOException: inner\n\tat {JACKSON}\n");
        let load = Some(("src/main/java/com/example/App.java", 18));
        check("", "java -jar a.jar", &format!("{outer}{cause}\t... 2 more\n"), load);
        let main = Some(("src/main/java/com/example/App.java", 32));
        check("", "java -jar a.jar", &format!("{outer}{cause}\t... 1 more\n"), main);
        check("", "java -jar a.jar", &format!("{outer}{cause}"), None);
    }

    #[test]
    fn a_deep_stack_costs_no_more_than_some_looks() {
        let deep: Vec<String> = (0..20_000).map(|at| format!("lib.A{at}.f(A{at}.java:1)")).collect();
        let mut deep: Vec<&str> = deep.iter().map(String::as_str).collect();
        deep.push("com.example.App.main(App.java:5)");
        check("", "java -jar a.jar", &thrown(&deep), None);
        let again: Vec<&str> =
            [JACKSON; 500].into_iter().chain(["com.example.App.main(App.java:5)"]).collect();
        check("", "java -jar a.jar", &thrown(&again), Some(("src/main/java/com/example/App.java", 5)));
    }

    /// A panic in a test, of a toolchain that is somewhere.
    fn panic(goroot: &str, own: &[&str]) -> String {
        let own: String = own.iter().map(|place| format!("example.com/shop.f()\n\t{place}\n")).collect();
        format!(
            "--- FAIL: TestPut (0.00s)\npanic: no luck [recovered]\n\tpanic: no luck\n\ngoroutine 6 [running]:\ntesting.tRunner.func1.2({{0x1, 0x2}})\n\t{goroot}/src/testing/testing.go:1396 +0x24e\npanic({{0x1, 0x2}})\n\t{goroot}/src/runtime/panic.go:884 +0x212\n{own}testing.tRunner(0xc, 0x5)\n\t{goroot}/src/testing/testing.go:1446 +0x10b\ncreated by testing.(*T).Run\n\t{goroot}/src/testing/testing.go:1493 +0x35f\nFAIL\texample.com/shop\t0.006s\nFAIL\n"
        )
    }

    #[test]
    fn a_panic_is_where_the_project_was_wherever_the_toolchain_is() {
        let own = ["/shop/store/store.go:11", "/shop/store/store_test.go:7 +0x2e"];
        for goroot in [
            "/usr/local/go",
            "/usr/lib/go-1.19",
            "/opt/hostedtoolcache/go/1.22.1/x64",
            "/home/dev/sdk/go1.21.0",
            "/shop/.tools/go",
        ] {
            check("", "go test ./...", &panic(goroot, &own), Some(("store/store.go", 11)));
            check("", "go test ./...", &panic(goroot, &[]), None);
        }
    }

    #[test]
    fn a_panic_of_a_library_is_where_the_project_called_it() {
        for library in [
            "/home/dev/go/pkg/mod/github.com/a/b@v1.2.3/b.go:5",
            "/shop/.cache/mod/github.com/a/b@v1.2.3/b.go:5",
            "/shop/vendor/github.com/a/b/b.go:5",
            "github.com/a/b@v1.2.3/b.go:5",
        ] {
            let text = panic("/usr/lib/go-1.19", &[library, "/shop/internal/store/store.go:11"]);
            check("", "go test ./...", &text, Some(("internal/store/store.go", 11)));
            check("", "go test ./...", &panic("/usr/lib/go-1.19", &[library]), None);
        }
    }

    #[test]
    fn a_panic_in_the_checkout_of_the_run_is_told_by_its_whole_path() {
        let text = panic("/usr/lib/go-1.19", &["/shop/store/store.go:11", "/shop/api/api_test.go:7"]);
        check("api", "go test ./...", &text, Some(("/shop/store/store.go", 11)));
        check("store", "go test ./...", &text, Some(("store.go", 11)));
        check("api", "go test ./...", &panic("/usr/lib/go-1.19", &["/other/a.go:1"]), None);
    }

    #[test]
    fn what_is_told_after_a_panic_is_no_call_that_led_to_it() {
        let text = panic("/usr/lib/go-1.19", &[]);
        check("", "go test ./...", &format!("{text}\t/shop/other/other.go:3 +0x2e\n"), None);
        // A test that hangs is in another goroutine than what ended it.
        let hung = "panic: test timed out after 1s\n\ngoroutine 17 [running]:\ntesting.(*M).startAlarm.func1()\n\t/usr/lib/go-1.19/src/testing/testing.go:2036 +0x8e\n\ngoroutine 6 [sleep]:\ntime.Sleep(0x1)\n\t/usr/lib/go-1.19/src/runtime/time.go:195 +0x135\nexample.com/shop.TestA(0x0?)\n\t/shop/a_test.go:9 +0x1d\nFAIL\texample.com/shop\t1.004s\n";
        check("", "go test ./...", hung, Some(("a_test.go", 9)));
    }
}
