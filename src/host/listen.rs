//! Listening sockets and who can reach them.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::time::Duration;

/// Who can reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reachability {
    /// Programs on this machine.
    Machine,
    /// Any machine on the network.
    Network,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ListenError {
    #[error("`{0}` can be reached from other machines")]
    TooFar(SocketAddr),
    #[error("failed to listen on `{address}`")]
    Unusable {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
}

/// Listens on `address`, which must not be reachable by more than `most`.
pub(crate) fn listen(address: SocketAddr, most: Reachability) -> Result<TcpListener, ListenError> {
    if reach(address) == Reachability::Network && most == Reachability::Machine {
        return Err(ListenError::TooFar(address));
    }
    let open = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    open().map_err(|source| ListenError::Unusable { address, source })
}

pub(crate) fn reach(address: SocketAddr) -> Reachability {
    if address.ip().to_canonical().is_loopback() { Reachability::Machine } else { Reachability::Network }
}

/// Closes the connection if the other side accepts no data for `silence`.
pub(crate) fn give_up_after(connection: &impl AsFd, silence: Duration) {
    // Elsewhere, a stuck reader only keeps its connection open.
    #[cfg(target_os = "linux")]
    {
        let millis = u32::try_from(silence.as_millis()).unwrap_or(u32::MAX);
        let _ = rustix::net::sockopt::set_tcp_user_timeout(connection, millis);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (connection, silence);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_stay_on_this_machine() {
        let check =
            |address: &str, expected| assert_eq!(reach(address.parse().unwrap()), expected, "{address}");
        check("127.0.0.1:80", Reachability::Machine);
        check("127.9.9.9:80", Reachability::Machine);
        check("[::1]:80", Reachability::Machine);
        check("[::ffff:127.0.0.1]:80", Reachability::Machine);
        check("0.0.0.0:80", Reachability::Network);
        check("[::]:80", Reachability::Network);
        check("192.168.1.7:80", Reachability::Network);
        check("[::ffff:192.168.1.7]:80", Reachability::Network);
    }

    #[test]
    fn nothing_is_bound_that_reaches_too_far() {
        let address = "0.0.0.0:0".parse().unwrap();
        assert!(matches!(listen(address, Reachability::Machine), Err(ListenError::TooFar(_))));
        assert!(listen(address, Reachability::Network).is_ok());
    }
}
