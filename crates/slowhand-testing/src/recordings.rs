//! Handshakes of OpenSSL with itself. `recordings/record.py` and `recordings/record_stream.py` recorded them.

use crate::hex;

/// DTLS 1.2. Every message is in one piece. One datagram of the client is lost, and both ends repeat a flight.
pub const OPENSSL: &str = include_str!("../recordings/openssl.txt");

/// A handshake with a small MTU. The server fragments its repeated flight in another way.
pub const OPENSSL_FRAGMENTS: &str = include_str!("../recordings/openssl-fragments.txt");

/// TLS 1.2. In the place of datagrams, the whole stream of each end.
pub const OPENSSL_TLS: &str = include_str!("../recordings/openssl-tls.txt");

/// A recorded datagram.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// True if the client sent it.
    pub by_client: bool,
    /// The payload of UDP.
    pub octets: Vec<u8>,
}

/// The datagrams of a recording. A line has `up`, `up-dropped` or `down`, and the octets in hexadecimal.
///
/// # Panics
///
/// If a line has another form.
pub fn datagrams(recording: &str) -> Vec<Datagram> {
    let datagram = |line: &str| {
        let (direction, octets) = line.split_once(' ').expect("a direction and octets");
        Datagram { by_client: direction != "down", octets: hex::octets(octets) }
    };
    recording.lines().filter(|line| !line.starts_with('#')).map(datagram).collect()
}
