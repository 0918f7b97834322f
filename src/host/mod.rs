//! The operating system: the only modules that touch the clock, randomness, the environment,
//! processes, locks and file notifications.

pub(crate) mod blocking_io;
pub(crate) mod clock;
pub(crate) mod close_in_child;
pub(crate) mod disk;
pub(crate) mod empty_dir_cleanup;
pub(crate) mod env;
pub(crate) mod files;
pub(crate) mod http_token;
pub(crate) mod ids;
pub(crate) mod line_index;
pub(crate) mod listen;
pub(crate) mod lock;
pub(crate) mod multi_file_reader;
pub(crate) mod open_beneath;
pub(crate) mod opened_dirs;
pub(crate) mod paths;
pub(crate) mod processes;
pub(crate) mod pty;
pub(crate) mod rlimits;
pub(crate) mod run_bounded;
pub(crate) mod sandbox_lockdown;
pub(crate) mod signal;
pub(crate) mod signal_pipe;
pub(crate) mod spawn;
pub(crate) mod spawn_agent;
#[cfg(target_os = "linux")]
mod spawn_detached;
pub(crate) mod terminal;
pub(crate) mod trim_memory;
pub(crate) mod watch;

pub(crate) use close_in_child::close_files_in_a_child;
pub(crate) use empty_dir_cleanup::EmptyDirCleanup;
pub(crate) use env::Env;
pub(crate) use files::Durability;
pub(crate) use http_token::{Token, TokenError};
pub(crate) use ids::NoRandomness;
pub(crate) use line_index::{Checkpoint, LineIndex, LineIndexWriter};
pub(crate) use listen::{ListenError, Reachability, reach};
pub(crate) use lock::Lock;
pub(crate) use multi_file_reader::{FilePart, MultiFileReader, fill};
pub(crate) use open_beneath::BeneathError;
pub(crate) use opened_dirs::{Links, OpenDirError, OpenedDirs};
pub(crate) use paths::{Home, HomeError, git_root};
pub(crate) use processes::{Descendants, Process};
pub(crate) use pty::{InputMode, Pty};
pub(crate) use run_bounded::{BoundedRun, BoundedRunError, OnSilence, SilentProgram};
pub(crate) use signal_pipe::{Ignored, SignalPipe};
pub(crate) use spawn::{AskError, Attachment, Reaped};
pub(crate) use spawn_agent::{AgentLaunch, StartedAgent};
pub(crate) use terminal::{RawMode, Size};
pub(crate) use watch::{Watch, Woken};
