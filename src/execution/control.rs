//! Orders to a supervisor while its run goes on: a socket in the run
//! directory, and a file for when nobody listens yet or any more.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::host::clock;
use crate::model::{RunId, StopReason};
use crate::reading::enclosing_runs;
use crate::runs::RunDir;
use crate::supervisor::{Control, ControlOrder};

/// How often the file is looked at, and the runs around ours.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub(crate) enum Message {
    Cancel {
        reason: Option<String>,
    },
    Pump,
    /// Answers the agent's question.
    Answer {
        text: String,
    },
}

/// The longest message; a datagram that is longer would be cut.
const LONGEST: usize = 64 << 10;

/// Sends one message. A supervisor that is not there sees the file instead.
pub(crate) fn send(dir: &RunDir, message: &Message) {
    let _ = deliver(dir, message);
}

/// Sends one message that no file repeats. An error means that nobody received it.
pub(crate) fn deliver(dir: &RunDir, message: &Message) -> std::io::Result<()> {
    let (_open, path) = short_path(dir)?;
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    let bytes = serde_json::to_vec(message)?;
    if bytes.len() > LONGEST {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    socket.send_to(&bytes, path)?;
    Ok(())
}

/// The name of a socket may be 108 bytes long, a home's path longer: go by the
/// directory's descriptor.
fn short_path(dir: &RunDir) -> std::io::Result<(File, PathBuf)> {
    let open = File::open(dir.path())?;
    let path = if cfg!(target_os = "linux") {
        PathBuf::from(format!("/proc/self/fd/{}/ctl.sock", open.as_raw_fd()))
    } else {
        dir.socket()
    };
    Ok((open, path))
}

/// The supervisor's end.
#[derive(Debug)]
pub(crate) struct Listener {
    dir: RunDir,
    /// The runs around this one, outermost first. It ends with them, also with
    /// one that was killed and cannot say so.
    within: Vec<RunId>,
    socket: Option<UnixDatagram>,
    looked: Duration,
    cancelled: bool,
}

impl Listener {
    /// Without a socket, the file still works.
    pub(crate) fn open(dir: &RunDir, within: &[RunId]) -> Self {
        let bound = || -> std::io::Result<UnixDatagram> {
            let (_open, path) = short_path(dir)?;
            let socket = UnixDatagram::bind(path)?;
            // The directory is private already; this is for whoever copies it.
            std::fs::set_permissions(dir.socket(), std::fs::Permissions::from_mode(0o600))?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let _ = std::fs::remove_file(dir.socket());
        Self {
            dir: dir.clone(),
            within: within.to_vec(),
            socket: bound().ok(),
            looked: Duration::ZERO,
            cancelled: false,
        }
    }

    /// Why the run must end, if somebody left word or a run around it is gone.
    fn look(&self) -> Option<StopReason> {
        let around = || {
            enclosing_runs::ended(&self.dir, &self.within).map(|outer| Some(enclosing_runs::reason(outer)))
        };
        let reason = self.dir.read_cancel().or_else(around)?;
        Some(StopReason::Cancelled { reason })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.dir.socket());
    }
}

impl Control for Listener {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.socket.as_ref().map(AsFd::as_fd)
    }

    fn receive(&mut self) -> Option<ControlOrder> {
        let mut buffer = vec![0; LONGEST];
        if let Some(Ok(length)) = self.socket.as_ref().map(|socket| socket.recv(&mut buffer)) {
            return match serde_json::from_slice(&buffer[..length]).ok()? {
                Message::Cancel { reason } => Some(ControlOrder::Stop(StopReason::Cancelled { reason })),
                Message::Pump => Some(ControlOrder::Pump),
                Message::Answer { text } => Some(ControlOrder::Answer(text)),
            };
        }
        let now = clock::monotonic();
        if self.cancelled || now < self.looked + LOOK {
            return None;
        }
        self.looked = now;
        let reason = self.look()?;
        self.cancelled = true;
        Some(ControlOrder::Stop(reason))
    }
}
