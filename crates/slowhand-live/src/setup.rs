//! The setup of a live network, and the reasons for which it does not start.

use crate::tun::{Interface, InterfaceError};
use slowhand_lab::input::Place;
use slowhand_lab::plan::PlanError;
use slowhand_lab::scenario::Delegate;
use slowhand_sessions::Role;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The setup of a live network, beside its scenario.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The seed of the world.
    pub seed: u64,
    /// The seconds of the network that pass in one of the wall clock.
    pub speed: f64,
    /// Who is at the ends.
    pub ways: Ways,
    /// The file, or the FIFO, that gets the frames as pcapng.
    pub capture: Option<PathBuf>,
    /// The file that gets what comes into the network, so that [`replay`](crate::replay()) does the same again.
    pub record: Option<PathBuf>,
    /// The socket for commands.
    pub control: Option<PathBuf>,
    /// The network ends after this time of the wall clock.
    pub duration: Option<Duration>,
    /// The network ends when so many handshakes are complete.
    pub handshakes: Option<u64>,
}

/// Who is at the ends of the sessions.
#[derive(Clone, Debug)]
pub enum Ways {
    /// The libraries of the scenario at both ends.
    Emulated,
    /// Programs at both ends: each client is a node, and all that it sends crosses the network.
    Proxies(Vec<Proxy>),
    /// The emulated clients open sessions with this program.
    Clients {
        /// Its address.
        server: SocketAddr,
    },
    /// Programs open sessions with the emulated server. It answers data with the same data.
    Server {
        /// The address where programs find it.
        listen: SocketAddr,
    },
    /// The kernel's IPv6 at one side or at both. Where there is no interface, the library of the scenario is.
    Interfaces {
        /// The interface of all nodes.
        device: Option<Interface>,
        /// The interface of the hosts on the Internet.
        internet: Option<Interface>,
    },
}

impl Ways {
    /// The ends of the sessions that are programs, or behind an interface. The network has the secrets of the others.
    pub(crate) fn programs(&self) -> Vec<Role> {
        let (client, server) = match self {
            Self::Emulated => (false, false),
            Self::Clients { .. } => (false, true),
            Self::Server { .. } => (true, false),
            Self::Proxies(_) => (true, true),
            Self::Interfaces { device, internet } => (device.is_some(), internet.is_some()),
        };
        let ends = [(Role::Client, client), (Role::Server, server)];
        ends.into_iter().filter_map(|(role, is_program)| is_program.then_some(role)).collect()
    }
}

/// An address where programs find a program behind the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// The transport of both programs.
    pub transport: Transport,
    /// The address where clients find it.
    pub listen: SocketAddr,
    /// The address of the program.
    pub server: SocketAddr,
}

/// A transport protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Datagrams.
    Udp,
    /// Streams.
    Tcp,
}

impl Transport {
    /// The name in messages and events.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        }
    }
}

/// A live network that does not start, or that ended by an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The scenario cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A live network has one server.
    #[error("server.at: found \"leaves\", allowed: the place of one server, in a live network")]
    Servers,
    /// In a live network every client opens its own session.
    #[error(
        "gateway.delegation: found {}, allowed: no gateway.delegation in a live network, where each client opens \
         its own session", .0.name()
    )]
    Delegation(Delegate),
    /// A key of the scenario has a value that is not possible where programs are at the ends of the sessions.
    #[error("{key}: found {found}, allowed: {allowed} where programs are at the ends of the sessions")]
    Programs {
        /// The key, with its section.
        key: &'static str,
        /// The value that was found.
        found: String,
        /// The values that are allowed, in words.
        allowed: &'static str,
    },
    /// The speed is too small, too large, or no number.
    #[error("found {0}, allowed: from {LEAST_SPEED} to {MOST_SPEED}")]
    Speed(f64),
    /// A proxy needs the transport protocol of the scenario.
    #[error(
        "found a proxy for {found}, allowed: {allowed}, because session.protocol of the scenario runs over {allowed}; \
         choose another one, as with --set session.protocol={example}"
    )]
    Transport {
        /// The protocol of the proxy.
        found: &'static str,
        /// That of the scenario.
        allowed: &'static str,
        /// A protocol over the one that was found.
        example: &'static str,
    },
    /// Too many proxies.
    #[error("found {0} proxies, allowed: at most {MOST_PROXIES}")]
    Proxies(usize),
    /// The address cannot be listened on.
    #[error("{address}: cannot listen on this address: {error}{}", hint(error, address.port()))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The socket for commands cannot be made.
    #[error("{}: cannot make the socket for commands: {error}; name another path", Place::File(path.clone()))]
    Control {
        /// Its path.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The capture cannot be written.
    #[error("{}: cannot write the capture: {error}", Place::File(path.clone()))]
    Capture {
        /// Its path.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The recording cannot be written.
    #[error("{}: cannot write the recording: {error}", Place::File(path.clone()))]
    Recording {
        /// Its path.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// An interface cannot be used.
    #[error(transparent)]
    Interface(#[from] InterfaceError),
    /// The system refuses something else.
    #[error("the live network cannot start: {0}")]
    System(#[from] std::io::Error),
    /// A defect: the network panicked.
    #[error("the live network panicked: {0}. This is a defect of slowhand")]
    Panicked(String),
}

impl LiveError {
    /// The argument that is not allowed, by its name in Python, if it is one; the error says what was found and what is allowed.
    #[must_use]
    pub fn argument(&self) -> Option<&'static str> {
        match self {
            Self::Speed(_) => Some("speed"),
            Self::Transport { found, .. } => Some(found),
            Self::Proxies(_) => Some("udp"),
            _ => None,
        }
    }
}

/// The meaning of an error of an address, where the system's words do not say it.
fn hint(error: &std::io::Error, port: u16) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied if port < PRIVILEGED_PORTS => {
            "; ports below 1024 are for root: take one from 1024 on, or let all users have them with \
             `sudo sysctl net.ipv4.ip_unprivileged_port_start=0`"
        }
        std::io::ErrorKind::AddrInUse => "; another program has this port: end it, or take another one, or port 0",
        _ => "",
    }
}

/// Below it, ports are for root (Linux, ip(7): `ip_unprivileged_port_start`).
const PRIVILEGED_PORTS: u16 = 1024;

/// The least speed. *Assumed*: a slot of 10 ms takes ten seconds.
pub const LEAST_SPEED: f64 = 0.001;

/// The greatest speed. *Assumed*: more than a processor can follow.
pub const MOST_SPEED: f64 = 1e6;

/// The most proxies. *Assumed*: more than anyone needs; each has a port of the emulated server.
pub const MOST_PROXIES: usize = 100;

impl Setup {
    pub(crate) fn check(&self) -> Result<(), LiveError> {
        if !(LEAST_SPEED..=MOST_SPEED).contains(&self.speed) {
            return Err(LiveError::Speed(self.speed));
        }
        match &self.ways {
            Ways::Proxies(proxies) if proxies.len() > MOST_PROXIES => Err(LiveError::Proxies(proxies.len())),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LiveError;
    use std::io::ErrorKind;

    #[test]
    fn who_may_not_have_a_port_is_told_how() {
        let message = |port: u16, kind: ErrorKind| {
            LiveError::Listen { address: ([127, 0, 0, 1], port).into(), error: kind.into() }.to_string()
        };
        let said = "; ports below 1024 are for root: take one from 1024 on, or let all users have them with `sudo sysctl \
                    net.ipv4.ip_unprivileged_port_start=0`";
        assert!(message(1023, ErrorKind::PermissionDenied).ends_with(said));
        assert!(!message(1024, ErrorKind::PermissionDenied).contains("root"), "the cause is another");
        assert!(message(80, ErrorKind::AddrInUse).contains("another program has this port"));
    }
}
