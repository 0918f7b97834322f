//! A terminal inside a recorded one is part of it.

use crate::recording;
use crate::support::env::TestEnv;
use crate::window::Window;

#[test]
fn a_shell_inside_is_no_terminal_of_its_own_and_a_command_says_so() {
    let env = TestEnv::new();
    let program = env!("CARGO_BIN_EXE_delegator");
    let inner = format!(
        "echo id=$DELEGATOR_TERMINAL; {program} terminal </dev/null; echo shell=$?; {program} terminal -- sh -c 'exit 3'; \
         echo command=$?"
    );
    let mut command = env.command(&["terminal", "--", "sh", "-c", &inner]);
    command.env("SHELL", "/bin/false");
    let mut window = Window::with(command, 200, 24);
    window.expect(0);
    let recording = recording::only(&env);
    let id = recording.id();
    let said = format!(
        "id={id}\r\nshell=1\r\ndelegator: already recording as {id}, so this is part of it\r\ncommand=3\r\n"
    );
    assert_eq!(window.text(), said);
}

#[test]
fn a_variable_that_outlived_its_terminal_means_nothing() {
    let env = TestEnv::new();
    Window::open(&env, &["--", "true"]).expect(0);
    let old = recording::only(&env).id().to_owned();
    for left_over in [old.as_str(), "term-000000000000", "nonsense"] {
        let before = recording::all(&env).len();
        let mut command = env.command(&["terminal", "--", "sh", "-c", "echo in $DELEGATOR_TERMINAL"]);
        command.env("DELEGATOR_TERMINAL", left_over);
        let mut window = Window::with(command, 80, 24);
        window.expect(0);
        assert!(
            window.text().starts_with("in term-") && !window.text().contains(left_over),
            "{}",
            window.text()
        );
        assert_eq!(recording::all(&env).len(), before + 1);
    }
}

#[test]
fn the_shell_is_the_persons_own_and_so_is_its_environment() {
    let env = TestEnv::new();
    let shell = env.root().join("bin/shell");
    std::fs::write(&shell, "#!/bin/sh\necho \"mine $MINE, $#\"\n").unwrap();
    std::fs::set_permissions(&shell, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = |shell: &str| {
        let mut command = env.command(&["terminal"]);
        command.env("SHELL", shell).env("MINE", "as it was").env("PS1", "sh> ");
        Window::with(command, 80, 24)
    };
    let mut own = run(shell.to_str().unwrap());
    own.expect(0);
    assert_eq!(own.text(), "mine as it was, 0\r\n");
    // One that cannot be run is no shell.
    for odd in ["/nowhere/shell", "relative", ""] {
        let mut window = run(odd);
        window.await_text("sh> ");
        window.type_in("exit 2\r");
        window.expect(2);
    }
}
