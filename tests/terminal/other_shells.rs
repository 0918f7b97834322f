//! `delegator setup shell` for zsh and fish, as these read it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::recording;
use crate::support::env::{PATIENCE, TestEnv, finish};
use crate::window::Window;

/// What differs from one shell to the other.
struct Shell {
    name: &'static str,
    file: &'static str,
    before: &'static str,
    /// Says `in=` with the terminal it is in, and whether the file was read.
    where_am_i: &'static str,
    nowhere: &'static str,
    /// Says `kind=42` in a login shell and `kind=43` in another.
    is_login: &'static str,
}

const SHELLS: [Shell; 2] = [
    Shell {
        name: "zsh",
        file: "user/.zshrc",
        before: "PS1='prompt> '\nread_by_rc=yes\n# no line feed at the end",
        where_am_i: "echo \"in=${DELEGATOR_TERMINAL:-nothing} $read_by_rc\"",
        nowhere: "in=nothing yes",
        is_login: "[[ -o login ]] && echo kind=$((40+2)) || echo kind=$((40+3))",
    },
    Shell {
        name: "fish",
        file: "config/fish/config.fish",
        before: "function fish_prompt; echo 'prompt> '; end\nset -g fish_greeting\nset -g read_by_rc yes\n# the end",
        where_am_i: "echo \"in=$DELEGATOR_TERMINAL $read_by_rc\"",
        nowhere: "in= yes",
        is_login: "status is-login; and echo kind=(math 40+2); or echo kind=(math 40+3)",
    },
];

impl Shell {
    fn file(&self, env: &TestEnv) -> PathBuf {
        env.root().join(self.file)
    }

    fn command(&self, env: &TestEnv, args: &[&str]) -> Command {
        let path = Path::new("/usr/bin").join(self.name);
        assert!(path.exists(), "this test needs {}: scripts/test installs it", self.name);
        let mut command = Command::new(path);
        env.settle_in(&mut command);
        command.env("TERM", "xterm").args(args);
        command
    }

    fn setup(&self, env: &TestEnv, args: &[&str]) -> Command {
        let mut command = env.command(&[&["setup", "shell", "--shell", self.name], args].concat());
        command.env("PATH", format!("{}:/usr/bin:/bin", env.root().join("bin").display()));
        command
    }

    /// A world in which it is set up, with the program under a name of its own.
    fn set_up(&self) -> TestEnv {
        let env = TestEnv::new();
        let file = self.file(&env);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, self.before).unwrap();
        symlink(env!("CARGO_BIN_EXE_delegator"), env.root().join("bin/delegator")).unwrap();
        // Where it is missing, fish reads every manual page of the machine, in the background.
        fs::create_dir_all(env.root().join("user/.local/share/fish/generated_completions")).unwrap();
        let ran = finish(self.setup(&env, &[]), PATIENCE);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        env
    }

    /// A shell that works, says where it is, and ends with its status.
    #[track_caller]
    fn check(&self, env: &TestEnv, args: &[&str], is_recorded: bool, kind: u32) {
        let before = recording::all(env).len();
        let mut window = Window::with(self.command(env, args), 200, 24);
        window.await_text("prompt> ");
        window.type_in(&format!("{}\r", self.where_am_i));
        window.await_text(if is_recorded { "in=term-" } else { self.nowhere });
        window.type_in(&format!("{}\r", self.is_login));
        window.await_text(&format!("kind={kind}"));
        window.type_in("exit 5\r");
        window.expect(5);
        assert_eq!(recording::all(env).len() - before, usize::from(is_recorded), "{}", self.name);
    }
}

#[test]
fn an_interactive_shell_is_recorded_and_no_other() {
    for shell in SHELLS {
        let env = shell.set_up();
        shell.check(&env, &["-i"], true, 43);
        shell.check(&env, &["-l", "-i"], true, 42);
        // One inside it is part of it.
        let mut window = Window::with(shell.command(&env, &["-i"]), 200, 24);
        window.await_text("prompt> ");
        window.type_in(&format!("{} -i\r", shell.name));
        window.await_times("prompt> ", 2);
        window.type_in(&format!("{}\r", shell.where_am_i));
        window.await_text("in=term-");
        window.type_in("exit 0\r");
        window.await_times("prompt> ", 3);
        window.type_in("exit 0\r");
        window.expect(0);
        assert_eq!(recording::all(&env).len(), 3, "{}", shell.name);
        // A command, a script, a shell without a terminal.
        let ran = finish(shell.command(&env, &["-c", "echo one"]), PATIENCE);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "one\n"), "{ran:?}");
        let script = env.root().join("script");
        fs::write(&script, "echo two\n").unwrap();
        let ran = finish(shell.command(&env, &[script.to_str().unwrap()]), PATIENCE);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "two\n"), "{ran:?}");
        finish(shell.command(&env, &["-i"]), PATIENCE);
        assert_eq!(recording::all(&env).len(), 3, "{}", shell.name);
    }
}

#[test]
fn a_command_in_an_interactive_zsh_is_not_recorded() {
    let [zsh, _] = SHELLS;
    let env = zsh.set_up();
    let mut window = Window::with(zsh.command(&env, &["-ic", zsh.where_am_i]), 200, 24);
    window.expect(0);
    assert!(window.text().contains(zsh.nowhere), "{}", window.text());
    assert_eq!(recording::all(&env).len(), 0);
}

#[test]
fn a_program_that_is_gone_or_broken_locks_nobody_out() {
    for shell in SHELLS {
        let env = shell.set_up();
        let program = env.root().join("bin/delegator");
        fs::remove_file(&program).unwrap();
        shell.check(&env, &["-i"], false, 43);
        symlink("/bin/false", &program).unwrap();
        shell.check(&env, &["-i"], false, 43);
    }
}

#[test]
fn undoing_leaves_the_file_as_it_was() {
    for shell in SHELLS {
        let env = shell.set_up();
        assert!(finish(shell.setup(&env, &[]), PATIENCE).stdout.contains("nothing to do"));
        finish(shell.setup(&env, &["--undo"]), PATIENCE);
        assert_eq!(fs::read_to_string(shell.file(&env)).unwrap(), shell.before);
        shell.check(&env, &["-i"], false, 43);
    }
}

#[test]
fn a_directory_that_is_not_there_is_made_and_goes_again() {
    let env = TestEnv::new();
    let [_, fish] = SHELLS;
    let dir = env.root().join("config/fish");
    assert!(!dir.exists());
    assert_eq!(finish(fish.setup(&env, &["--dry-run"]), PATIENCE).code, Some(0));
    assert!(!dir.exists());
    for others in [false, true] {
        let ran = finish(fish.setup(&env, &[]), PATIENCE);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(fs::read_to_string(fish.file(&env)).unwrap().contains("DELEGATOR_TERMINAL"));
        if others {
            fs::write(dir.join("fish_variables"), "").unwrap();
        }
        assert_eq!(finish(fish.setup(&env, &["--undo"]), PATIENCE).code, Some(0));
        assert!(!fish.file(&env).exists() && dir.exists() == others);
    }
}

#[test]
fn a_link_that_leads_nowhere_is_left_alone_and_no_home_is_made() {
    let env = TestEnv::new();
    let [zsh, _] = SHELLS;
    let file = zsh.file(&env);
    symlink("dotfiles/zshrc", &file).unwrap();
    for args in [&[][..], &["--undo"]] {
        let ran = finish(zsh.setup(&env, args), PATIENCE);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("is a link to `dotfiles/zshrc`, which does not exist"), "{ran:?}");
        assert!(ran.stderr.contains("hint: nothing was changed"), "{ran:?}");
    }
    assert_eq!(fs::read_link(&file).unwrap(), Path::new("dotfiles/zshrc"));
    // One that leads somewhere is written through.
    fs::create_dir(env.root().join("user/dotfiles")).unwrap();
    fs::write(env.root().join("user/dotfiles/zshrc"), "alias x=y\n").unwrap();
    for args in [&[][..], &["--undo"]] {
        assert_eq!(finish(zsh.setup(&env, args), PATIENCE).code, Some(0));
        assert_eq!(fs::read_link(&file).unwrap(), Path::new("dotfiles/zshrc"));
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "alias x=y\n");
    let nowhere = env.root().join("nowhere");
    let mut setup = zsh.setup(&env, &[]);
    setup.env("HOME", &nowhere);
    let ran = finish(setup, PATIENCE);
    assert_eq!((ran.code, nowhere.exists()), (Some(2), false), "{ran:?}");
    let mut status = env.command(&["status"]);
    status.env("HOME", &nowhere).env_remove("DELEGATOR_HOME");
    let ran = finish(status, PATIENCE);
    assert_eq!((ran.code, nowhere.exists()), (Some(6), false), "{ran:?}");
    assert!(ran.stderr.contains("there is no such directory"), "{ran:?}");
}
