//! The key log. The library has none, but each of its secrets comes out of HMAC, with a label.

use std::cell::Cell;
use std::ffi::CStr;

use slowhand_stack::host;

thread_local! {
    /// The client's random number of the session that this thread calls.
    static CLIENT_RANDOM: Cell<Option<[u8; 32]>> = const { Cell::new(None) };
}

/// The secrets that a session needs for the key log.
#[derive(Default)]
pub(crate) struct Secrets {
    client_random: Option<[u8; 32]>,
}

/// Until it is dropped, the secrets of this thread are those of one session.
pub(crate) struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        CLIENT_RANDOM.set(None);
    }
}

impl Secrets {
    pub(crate) fn enter(&self) -> Entered {
        CLIENT_RANDOM.set(self.client_random);
        Entered
    }

    /// Finds the client's random number in the first ClientHello: in DTLSPlaintext, the beginning of a handshake message (RFC 6347
    /// section 4).
    pub(crate) fn look_at(&mut self, datagram: &[u8]) {
        const RECORD: usize = 13;
        const VERSION: usize = RECORD + 12;
        let is_hello = datagram.first() == Some(&22) && datagram.get(RECORD) == Some(&1);
        let is_beginning = datagram.get(RECORD + 6..RECORD + 9) == Some(&[0, 0, 0]);
        if self.client_random.is_none() && is_hello && is_beginning {
            self.client_random = datagram.get(VERSION + 2..).and_then(<[u8]>::first_chunk).copied();
        }
    }
}

/// The labels of RFC 8446 section 7.1, and those of the key log.
const LABELS: [(&[u8], &CStr); 5] = [
    (b"c hs traffic", c"CLIENT_HANDSHAKE_TRAFFIC_SECRET"),
    (b"s hs traffic", c"SERVER_HANDSHAKE_TRAFFIC_SECRET"),
    (b"c ap traffic", c"CLIENT_TRAFFIC_SECRET_0"),
    (b"s ap traffic", c"SERVER_TRAFFIC_SECRET_0"),
    (b"exp master", c"EXPORTER_SECRET"),
];

/// Logs what a call of HMAC shows of the secrets.
pub(crate) fn log(key: &[u8], data: &[u8], out: &[u8]) {
    // RFC 5246 section 6.3: the key is the master secret, and the client's random number is the end of the seed.
    if let Some(seed) = data.strip_prefix(b"key expansion")
        && let Some(client_random) = seed.last_chunk()
    {
        host::key_log(c"CLIENT_RANDOM", client_random, key);
    }
    let Some(client_random) = CLIENT_RANDOM.get() else { return };
    // HkdfLabel of RFC 8446 section 7.1, with the prefix of RFC 9147 section 5.9: its length comes after two octets.
    let label = data.get(2).and_then(|length| data.get(3..3 + usize::from(*length)));
    let label = label.and_then(|label| label.strip_prefix(b"dtls13"));
    if let Some((_, name)) = LABELS.iter().find(|(found, _)| label == Some(*found)) {
        host::key_log(name, &client_random, out);
    }
}
