//! The three kinds of work that a supervisor drives.

use crate::agents::{self, Adapter, Agent, HostedAgent};
use crate::execution::control::Listener;
use crate::host::Env;
use crate::model::{Fault, Request, RunResult};
use crate::runs::{RunDir, StartRecord};

pub(crate) enum Work {
    /// A process of ours. If its supervisor dies, the run is lost.
    Child(&'static dyn Agent),
    /// A job of a service, polled. A new supervisor reattaches to it.
    Hosted(&'static dyn HostedAgent),
    /// Tasks of our own. A new supervisor reattaches to them.
    Coordinator(Coordinate),
}

/// Coordinates the jobs of a run. A use case of a higher layer, because it submits and waits.
/// An error means that it could not begin.
pub(crate) type Coordinate =
    fn(&Env, &RunDir, &Request, &StartRecord, &mut Listener) -> Result<RunResult, Fault>;

impl Work {
    pub(crate) fn of(request: &Request, coordinate: Coordinate) -> Self {
        match agents::adapter(request.agent) {
            Adapter::Child(agent) => Work::Child(agent),
            Adapter::Hosted(agent) => Work::Hosted(agent),
            Adapter::Coordinator => Work::Coordinator(coordinate),
        }
    }
}
