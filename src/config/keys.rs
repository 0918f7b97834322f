//! Every configuration key with its default and its meaning: what
//! `delegator doctor --config` prints.

#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// As it would stand in the file; empty for keys that have none.
    pub(crate) default: &'static str,
    pub(crate) meaning: &'static str,
}

pub(crate) const KEYS: &[Key] = &[
    Key { name: "default_agent", default: "\"codex\"", meaning: "agent of a task that names none" },
    Key { name: "default_sandbox", default: "\"read-only\"", meaning: "sandbox of a task that names none" },
    Key {
        name: "max_sandbox",
        default: "\"workspace-write\"",
        meaning: "most a task may ask for: read-only, workspace-write, danger-full-access",
    },
    Key { name: "allow_network", default: "false", meaning: "whether a task may ask for network access" },
    Key {
        name: "config_override_keys",
        default: "[\"model_reasoning_effort\", \"model_verbosity\"]",
        meaning: "keys of the agent's own configuration that a task may set",
    },
    Key {
        name: "env_allow",
        default: "[]",
        meaning: "names of further variables that a task may hand to its agent",
    },
    Key {
        name: "max_depth",
        default: "1",
        meaning: "how deep tasks may start tasks; 1 means an agent starts none",
    },
    Key { name: "max_concurrent", default: "4", meaning: "how many tasks run at once, over all processes" },
    Key {
        name: "idle_timeout_s",
        default: "900",
        meaning: "seconds without a sign of life that end a run that names no limit; not for `command`",
    },
    Key {
        name: "hard_timeout_s",
        default: "7200",
        meaning: "seconds after which a run is ended that names no limit",
    },
    Key {
        name: "command_timeout_s",
        default: "3600",
        meaning: "seconds that one command of an agent may take",
    },
    Key {
        name: "max_stream_bytes",
        default: "268435456",
        meaning: "bytes kept of each output stream; beyond it the middle is left out",
    },
    Key {
        name: "kill_level",
        default: "",
        meaning: "force how processes are ended: cgroup, subreaper, marker; unset takes the best there is",
    },
    Key { name: "codex_path", default: "", meaning: "the Codex program to use instead of the one on PATH" },
    Key { name: "retention_days", default: "30", meaning: "days that a finished run is kept" },
    Key { name: "retention_bytes", default: "5368709120", meaning: "bytes that all finished runs may take" },
];
