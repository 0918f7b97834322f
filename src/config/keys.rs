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
        meaning: "keys of the agent's own configuration that a task may set; those that start programs never",
    },
    Key {
        name: "env_allow",
        default: "[]",
        meaning: "names of further variables that a task may hand to its agent",
    },
    Key {
        name: "roots",
        default: "[]",
        meaning: "further directories below which a client may have an agent write, beside its own project",
    },
    Key {
        name: "command_over_mcp",
        default: "false",
        meaning: "whether clients may run shell commands; only in a sandbox that was tried, without network",
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
    Key {
        name: "tools",
        default: "\"default\"",
        meaning: "tools that `serve` lists: default, or all, which adds the primitives; DELEGATOR_TOOLS and --tools go before",
    },
    Key { name: "allow_internal_tools", default: "false", meaning: "the same as tools = \"all\"" },
    Key {
        name: "http_origins",
        default: "[]",
        meaning: "browser origins that may use `serve --http`, such as \"http://localhost:6274\"",
    },
    Key {
        name: "http_allow_remote",
        default: "false",
        meaning: "whether `serve --http` may listen where other machines can reach it",
    },
    Key { name: "retention_days", default: "30", meaning: "days that a finished run is kept" },
    Key {
        name: "retention_bytes",
        default: "5368709120",
        meaning: "bytes that all finished runs may take; those with unread results go last",
    },
    Key {
        name: "output_retention_hours",
        default: "24",
        meaning: "hours that captures and recorded terminals are kept after they were last written",
    },
    Key {
        name: "compress_large",
        default: "true",
        meaning: "whether captures and closed terminals above 1 MiB are compressed (gzip)",
    },
    Key {
        name: "inline_threshold_chars",
        default: "5000",
        meaning: "characters of one text in a reply; a longer one is kept as a file and cut",
    },
    Key { name: "inline_threshold_lines", default: "100", meaning: "the same in lines" },
    Key { name: "text_list_items", default: "5", meaning: "entries of a list in readable text" },
    Key { name: "text_line_chars", default: "200", meaning: "characters of a line in readable text" },
];
