//! What OpenSSL has sent to itself; `golden/record.py` and `golden/record_stream.py` recorded it.

/// Every message in one piece; one datagram of the client is lost, and both ends send a flight again.
pub const OPENSSL: &str = include_str!("../golden/openssl.txt");

/// The same with a small MTU: the server cuts its repeated flight otherwise.
pub const OPENSSL_FRAGMENTS: &str = include_str!("../golden/openssl-fragments.txt");

/// TLS 1.2: the whole stream of each end, in the place of datagrams.
pub const OPENSSL_TLS: &str = include_str!("../golden/openssl-tls.txt");

/// A datagram as it was recorded.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// True if the client sent it.
    pub by_client: bool,
    /// The payload of UDP.
    pub octets: Vec<u8>,
}

/// The datagrams of a recording: lines with `up`, `up-dropped` or `down`, and the octets in hexadecimal.
pub fn datagrams(recording: &str) -> Vec<Datagram> {
    let lines = recording.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (way, hex) = line.split_once(' ').unwrap();
            let octet = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            Datagram { by_client: way != "down", octets: (0..hex.len()).step_by(2).map(octet).collect() }
        })
        .collect()
}
