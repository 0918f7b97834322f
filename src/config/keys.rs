//! All configuration keys with defaults and descriptions, as printed by `delegator doctor
//! --config`.

#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// As written in the file; empty if there is none.
    pub(crate) default: &'static str,
    pub(crate) meaning: &'static str,
}

pub(crate) const KEYS: &[Key] = &[
    Key { name: "default_agent", default: "\"codex\"", meaning: "default agent" },
    Key { name: "default_sandbox", default: "\"read-only\"", meaning: "default sandbox" },
    Key {
        name: "max_sandbox",
        default: "\"workspace-write\"",
        meaning: "least restrictive sandbox that a task may request: read-only, workspace-write or danger-full-access",
    },
    Key { name: "allow_network", default: "false", meaning: "allow tasks to request network access" },
    Key {
        name: "config_override_keys",
        default: "[\"model_reasoning_effort\", \"model_verbosity\"]",
        meaning: "configuration keys of the agent that a task may override; keys that start programs are never allowed",
    },
    Key {
        name: "env_allow",
        default: "[]",
        meaning: "names of additional environment variables that a task may pass to its agent",
    },
    Key {
        name: "roots",
        default: "[]",
        meaning: "additional directories in which clients may let an agent write, besides their own project",
    },
    Key {
        name: "command_over_mcp",
        default: "false",
        meaning: "allow clients to run shell commands, in a tested sandbox without network only",
    },
    Key {
        name: "max_depth",
        default: "1",
        meaning: "how deep tasks may be nested; 1 means that agents cannot start tasks",
    },
    Key {
        name: "max_concurrent",
        default: "4",
        meaning: "maximum number of concurrent tasks on this machine, over all processes",
    },
    Key {
        name: "max_cloud",
        default: "16",
        meaning: "maximum number of tasks in Codex Cloud that are followed at the same time",
    },
    Key {
        name: "max_cost_usd",
        default: "0",
        meaning: "cost in US dollars that a request to the tool `codex` may name without being asked to confirm it; nothing measures the cost yet",
    },
    Key {
        name: "idle_timeout_s",
        default: "900",
        meaning: "default idle limit: stop a run after this many seconds without output; not for `command`",
    },
    Key {
        name: "hard_timeout_s",
        default: "7200",
        meaning: "default hard limit: stop a run after this many seconds",
    },
    Key {
        name: "command_timeout_s",
        default: "3600",
        meaning: "time limit in seconds for a single command of an agent",
    },
    Key {
        name: "max_stream_bytes",
        default: "268435456",
        meaning: "bytes kept of each output stream; the middle of a longer one is left out",
    },
    Key {
        name: "kill_level",
        default: "",
        meaning: "how to find and end processes: cgroup, subreaper or marker; unset uses the best available",
    },
    Key { name: "codex_path", default: "", meaning: "path of the Codex program; unset searches PATH" },
    Key {
        name: "worktree_setup",
        default: "",
        meaning: "shell command that prepares a new worktree before its agent starts, such as `npm ci`; unset runs nothing",
    },
    Key {
        name: "worktree_setup_timeout_s",
        default: "600",
        meaning: "time limit in seconds for `worktree_setup`",
    },
    Key {
        name: "tools",
        default: "\"default\"",
        meaning: "tools that `serve` lists: default, all to include the primitives, or codex, the one tool for plain words; DELEGATOR_TOOLS and --tools take precedence",
    },
    Key { name: "allow_internal_tools", default: "false", meaning: "same as tools = \"all\"" },
    Key {
        name: "http_origins",
        default: "[]",
        meaning: "browser origins that may use `serve --http`, such as \"http://localhost:6274\"",
    },
    Key {
        name: "http_allow_remote",
        default: "false",
        meaning: "allow `serve --http` to listen on addresses that other machines can reach",
    },
    Key { name: "retention_days", default: "30", meaning: "days to keep finished runs" },
    Key {
        name: "retention_bytes",
        default: "5368709120",
        meaning: "maximum total bytes of finished runs; results that an MCP client has not read are kept beyond it",
    },
    Key {
        name: "output_retention_hours",
        default: "24",
        meaning: "hours to keep captures and recorded terminals after the last write",
    },
    Key {
        name: "compress_large",
        default: "true",
        meaning: "compress captures and closed terminals above 1 MiB (gzip)",
    },
    Key {
        name: "inline_threshold_chars",
        default: "5000",
        meaning: "maximum characters of one text in a reply; a longer text is shortened and stored as a file",
    },
    Key { name: "inline_threshold_lines", default: "100", meaning: "maximum lines of one text in a reply" },
    Key { name: "text_list_items", default: "5", meaning: "maximum list entries in readable text" },
    Key { name: "text_line_chars", default: "200", meaning: "maximum characters per line in readable text" },
    Key {
        name: "autopilot.model_low",
        default: "",
        meaning: "model of autopilot jobs with thinking level low; CODEX_AUTOPILOT_MODEL_LOW takes precedence; unset leaves it to the agent",
    },
    Key {
        name: "autopilot.model_medium",
        default: "",
        meaning: "model of autopilot jobs with thinking level medium; CODEX_AUTOPILOT_MODEL_MEDIUM takes precedence; unset leaves it to the agent",
    },
    Key {
        name: "autopilot.model_high",
        default: "",
        meaning: "model of autopilot jobs with thinking level high; CODEX_AUTOPILOT_MODEL_HIGH takes precedence; unset leaves it to the agent",
    },
    Key {
        name: "autopilot.reasoning_effort_low",
        default: "\"low\"",
        meaning: "reasoning effort of autopilot jobs with thinking level low; CODEX_AUTOPILOT_REASONING_EFFORT_LOW takes precedence",
    },
    Key {
        name: "autopilot.reasoning_effort_medium",
        default: "\"medium\"",
        meaning: "reasoning effort of autopilot jobs with thinking level medium; CODEX_AUTOPILOT_REASONING_EFFORT_MEDIUM takes precedence",
    },
    Key {
        name: "autopilot.reasoning_effort_high",
        default: "\"high\"",
        meaning: "reasoning effort of autopilot jobs with thinking level high; CODEX_AUTOPILOT_REASONING_EFFORT_HIGH takes precedence",
    },
];
