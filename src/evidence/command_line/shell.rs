//! Which failures of a shell's commands make the shell itself fail.

use crate::evidence::command_line::{Joined, Step};

/// The options of a shell that decide it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ShellOptions {
    /// A pipe fails if any of its commands fails.
    pipefail: bool,
    /// The shell ends at the first failure.
    errexit: bool,
}

impl ShellOptions {
    /// With the arguments of `set`, or with the options before a shell's script.
    pub(super) fn with(mut self, args: &[String]) -> Self {
        for (at, arg) in args.iter().enumerate() {
            // A long option, such as `--noprofile`, is none of those that `set` knows.
            if !arg.starts_with(['-', '+']) || arg.starts_with("--") {
                continue;
            }
            let is_on = arg.starts_with('-');
            let name = args.get(at + 1).filter(|_| arg.contains('o')).map(String::as_str);
            if arg.contains('e') || name == Some("errexit") {
                self.errexit = is_on;
            }
            if name == Some("pipefail") {
                self.pipefail = is_on;
            }
        }
        self
    }

    /// With those arguments if it is uncertain whether they are executed.
    pub(super) fn perhaps_with(self, args: &[String]) -> Self {
        let then = self.with(args);
        Self { pipefail: self.pipefail && then.pipefail, errexit: self.errexit && then.errexit }
    }

    /// Within brackets. If these are followed by `&&` or `||`, a failure inside ends nothing.
    pub(super) fn in_brackets(self) -> Self {
        Self { errexit: false, ..self }
    }
}

/// What a shell treats as one command: a step, or all steps within brackets or of an inner shell.
#[derive(Debug)]
pub(super) struct ShellCommand {
    /// The index of its first step.
    pub(super) first: usize,
    pub(super) joined: Joined,
    pub(super) background: bool,
    /// In force when it starts.
    pub(super) options: ShellOptions,
}

/// Marks the steps whose failure does not make the shell of these commands fail. `steps` may begin with those
/// of other shells.
pub(super) fn mark_unseen(commands: &[ShellCommand], steps: &mut [Step]) {
    let mut end = steps.len();
    let mut next = None;
    // Of the list (commands joined by `&&`, `||` and `|`) that the command belongs to.
    let (mut is_last, mut in_background) = (true, false);
    // Of what follows the command in that list.
    let (mut before_and, mut before_or) = (false, false);
    // Backwards: it depends on what follows a command.
    for command in commands.iter().rev() {
        match next {
            None | Some(Joined::Next) => {
                is_last = next.is_none();
                in_background = command.background;
                (before_and, before_or) = (false, false);
            }
            Some(Joined::And) => before_and = true,
            Some(Joined::Or) => before_or = true,
            Some(Joined::Pipe) => {}
        }
        // `errexit` disregards all of a list but its last member.
        let ends_shell = is_last || (command.options.errexit && !before_and);
        let is_piped = next == Some(Joined::Pipe) && !command.options.pipefail;
        if !ends_shell || before_or || is_piped || in_background {
            steps[command.first..end].iter_mut().for_each(|step| step.unseen = true);
        }
        (end, next) = (command.first, Some(command.joined));
    }
}
