//! Sends orders to a supervisor during its run: through a socket in the run directory, and through a file if
//! nobody listens on the socket.

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

/// How often to check the file, and the enclosing runs.
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

/// The longest message; a longer datagram would be cut.
const LONGEST: usize = 64 << 10;

/// Sends one message. A supervisor that does not listen reads the file instead.
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

/// A socket's address holds at most 108 bytes and a home's path may be longer, so address it through the
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
    /// The enclosing runs, outermost first. Our run ends with them, also if one was killed and cannot send an
    /// order.
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
            // The directory is private already; this mode matters if it is copied.
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

    /// Why the run must end: an order in the file, or an enclosing run that has ended.
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
