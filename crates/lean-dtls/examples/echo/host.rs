//! The network of a computer with an operating system.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use lean_dtls::Instant as Time;

use crate::echo::Network;

/// A UDP socket of the standard library.
pub struct Host {
    socket: UdpSocket,
    started: Instant,
}

/// The longest wait without a deadline. (Assumed: it ends only to begin again.)
const LONG: Duration = Duration::from_secs(3600);

impl Host {
    /// A socket at this address.
    pub fn new(address: &str) -> std::io::Result<Self> {
        Ok(Self { socket: UdpSocket::bind(address)?, started: Instant::now() })
    }
}

/// An address in octets: the cookie of a server depends on them.
#[derive(Clone, Copy, PartialEq)]
pub struct Address([u8; 18]);

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        let mut octets = [0; 18];
        match address.ip() {
            std::net::IpAddr::V4(ip) => octets[..16].copy_from_slice(&ip.to_ipv6_mapped().octets()),
            std::net::IpAddr::V6(ip) => octets[..16].copy_from_slice(&ip.octets()),
        }
        octets[16..].copy_from_slice(&address.port().to_be_bytes());
        Self(octets)
    }
}

impl From<Address> for SocketAddr {
    fn from(Address(octets): Address) -> Self {
        let ip: [u8; 16] = std::array::from_fn(|place| octets[place]);
        Self::new(std::net::IpAddr::from(ip).to_canonical(), u16::from_be_bytes([octets[16], octets[17]]))
    }
}

impl AsRef<[u8]> for Address {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Network for Host {
    type Address = Address;

    fn now(&self) -> Time {
        Time::from_millis(self.started.elapsed().as_millis() as u64)
    }

    fn random(octets: &mut [u8]) {
        use std::io::Read;
        let source = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(octets));
        source.expect("without random numbers nothing is secret");
    }

    fn send(&mut self, to: Address, datagram: &[u8]) {
        // A datagram that is not sent is a datagram that is lost.
        let _ = self.socket.send_to(datagram, SocketAddr::from(to));
    }

    fn receive(&mut self, deadline: Option<Time>, datagram: &mut [u8]) -> Option<(Address, usize)> {
        let wait = deadline
            .map_or(LONG, |at| Duration::from_millis(at.as_millis().saturating_sub(self.now().as_millis()).max(1)));
        self.socket.set_read_timeout(Some(wait)).expect("the wait is not zero");
        let (length, peer) = self.socket.recv_from(datagram).ok()?;
        Some((peer.into(), length))
    }
}

/// The configuration of both ends: the key that they share.
pub fn config() -> lean_dtls::Config<[lean_dtls::Psk<'static>; 1]> {
    let keys = [lean_dtls::Psk { identity: b"sensor-17", key: b"0123456789abcdef" }];
    let timeouts = lean_dtls::Timeouts { initial_ms: 1000, ..lean_dtls::Timeouts::DEFAULT };
    lean_dtls::Config::new(keys, crate::echo::MTU as u16, timeouts).expect("a key, and room for a record")
}

/// Octets of the buffers of a connection: enough for all that these ends offer.
pub const BUFFER: usize = 512;
