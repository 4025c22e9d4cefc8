use zeroize::Zeroizing;

use super::crypto::{Crypto, NONCE, Protection};
use super::{KEY, Key, Keys};
use crate::oscore::crypto::{DIGEST, TAG};
use crate::oscore::replay::Window;

/// The type of a record with an alert (RFC 5246 section 6.2.1).
pub const ALERT: u8 = 21;
/// The type of a record with application data.
pub const APPLICATION_DATA: u8 = 23;

/// DTLS 1.2 (RFC 6347 section 4.1).
const VERSION: [u8; 2] = [0xfe, 0xfd];
/// Epoch and number of a record: what LESS protects is epoch 1, as after a handshake of DTLS.
const EPOCH: u64 = 1 << 48;
/// Type, version, epoch and number, length (RFC 6347 section 4.1).
const HEADER: usize = 1 + 2 + 8 + 2;
/// The explicit part of a nonce (RFC 6655 section 3).
const EXPLICIT: usize = 8;
/// Octets of an implicit nonce.
const IMPLICIT: usize = NONCE - EXPLICIT;
/// Octets of the key block (RFC 5246 section 6.3): two keys, two implicit nonces.
const KEY_BLOCK: usize = 2 * KEY + 2 * IMPLICIT;

/// The protection of one direction.
struct Direction {
    key: Key,
    implicit: [u8; IMPLICIT],
}

/// The records of one end.
pub struct Records {
    writes: Direction,
    reads: Direction,
    /// The number of the next record.
    next: u64,
    /// The numbers that were there before, with the size that is the default (RFC 6347 section 4.1.2.6).
    seen: Window<64>,
}

impl Records {
    /// Octets that a record has more than its content.
    pub const OVERHEAD: usize = HEADER + EXPLICIT + TAG;

    /// The records of a client or of a server.
    pub fn new(keys: &Keys, is_client: bool, crypto: &mut impl Crypto) -> Self {
        let block = key_block(keys, crypto);
        let part = |from: usize, implicit: usize| {
            let (mut key, mut nonce) = (Key::default(), [0; IMPLICIT]);
            key.copy_from_slice(&block[from..from + KEY]);
            nonce.copy_from_slice(&block[implicit..implicit + IMPLICIT]);
            Direction { key, implicit: nonce }
        };
        let of_client = part(0, 2 * KEY);
        let of_server = part(KEY, 2 * KEY + IMPLICIT);
        let (writes, reads) = if is_client { (of_client, of_server) } else { (of_server, of_client) };
        Self { writes, reads, next: 0, seen: Window::default() }
    }

    /// A datagram with one record of this type. `None` if the content is longer than a record (2^14 octets).
    pub fn seal(&mut self, kind: u8, content: &[u8], crypto: &mut impl Crypto) -> Option<Vec<u8>> {
        let numbers = (EPOCH | self.next).to_be_bytes();
        let length = u16::try_from(content.len()).ok().filter(|length| *length <= 1 << 14)?;
        let mut protected = content.to_vec();
        let (nonce, associated) = (self.writes.nonce(&numbers), associated(kind, &numbers, length));
        let with = Protection { key: &self.writes.key, nonce: &nonce, associated: &associated };
        let tag = crypto.seal(&with, &mut protected).ok()?;
        self.next += 1;
        let fragment = (EXPLICIT + protected.len() + TAG) as u16;
        let header = [&[kind][..], &VERSION, &numbers, &fragment.to_be_bytes()].concat();
        Some([&header[..], &numbers, &protected, &tag].concat())
    }

    /// The types and contents of the records of a datagram that can be verified, and were not there before. All others are dropped in
    /// silence (RFC 6347 section 4.1.2.7).
    pub fn open(&mut self, mut datagram: &[u8], crypto: &mut impl Crypto) -> Vec<(u8, Vec<u8>)> {
        let mut found = Vec::new();
        while let Some((&[kind, major, minor, ref numbers @ .., high, low], rest)) =
            datagram.split_first_chunk::<HEADER>()
        {
            let numbers: &[u8; 8] = numbers;
            let Some((fragment, after)) = rest.split_at_checked(u16::from_be_bytes([high, low]).into()) else { break };
            datagram = after;
            if [major, minor] == VERSION
                && let Some(content) = self.open_record(kind, *numbers, fragment, crypto)
            {
                found.push((kind, content));
            }
        }
        found
    }

    fn open_record(
        &mut self,
        kind: u8,
        numbers: [u8; 8],
        fragment: &[u8],
        crypto: &mut impl Crypto,
    ) -> Option<Vec<u8>> {
        let number = u64::from_be_bytes(numbers).checked_sub(EPOCH).filter(|number| *number < EPOCH)?;
        let (explicit, protected) = fragment.split_first_chunk::<EXPLICIT>()?;
        let (content, tag) = protected.split_last_chunk::<TAG>()?;
        if !self.seen.is_new(number) {
            return None;
        }
        let mut content = content.to_vec();
        let (nonce, associated) = (self.reads.nonce(explicit), associated(kind, &numbers, content.len() as u16));
        let with = Protection { key: &self.reads.key, nonce: &nonce, associated: &associated };
        crypto.open(&with, &mut content, tag).ok()?;
        self.seen.receive(number);
        Some(content)
    }
}

impl Direction {
    fn nonce(&self, explicit: &[u8; EXPLICIT]) -> [u8; NONCE] {
        let mut nonce = [0; NONCE];
        nonce[..IMPLICIT].copy_from_slice(&self.implicit);
        nonce[IMPLICIT..].copy_from_slice(explicit);
        nonce
    }
}

/// The data that the tag protects beside the content (RFC 5246 section 6.2.3.3).
fn associated(kind: u8, numbers: &[u8; 8], length: u16) -> [u8; HEADER] {
    let mut associated = [0; HEADER];
    associated[..8].copy_from_slice(numbers);
    associated[8] = kind;
    associated[9..11].copy_from_slice(&VERSION);
    associated[11..].copy_from_slice(&length.to_be_bytes());
    associated
}

/// `PRF(k, "key expansion", nonce_1 | nonce_2)` with P_SHA256 (RFC 5246 sections 5 and 6.3).
fn key_block(keys: &Keys, crypto: &mut impl Crypto) -> Zeroizing<[u8; KEY_BLOCK]> {
    let seed = [&b"key expansion"[..], &keys.of_server, &keys.of_client].concat();
    let mut block = Zeroizing::new([0; KEY_BLOCK]);
    let mut chain = Zeroizing::new(seed.clone());
    for part in block.chunks_mut(DIGEST) {
        *chain = crypto.hmac(&keys.session[..], &chain).to_vec();
        let input = Zeroizing::new([&chain[..], &seed].concat());
        let output = Zeroizing::new(crypto.hmac(&keys.session[..], &input));
        part.copy_from_slice(&output[..part.len()]);
    }
    block
}

#[cfg(test)]
mod tests {
    use super::super::Software;
    use super::*;

    fn keys() -> Keys {
        Keys { session: Key::new([7; KEY]), of_server: [1; KEY], of_client: [2; KEY] }
    }

    fn ends() -> [Records; 2] {
        [true, false].map(|is_client| Records::new(&keys(), is_client, &mut software()))
    }

    fn software() -> Software<fn(&mut [u8])> {
        Software(|output| output.fill(0))
    }

    /// Python: `hmac.new(b"\x07" * 16, a + seed, "sha256")` twice, with `a` from the seed on.
    #[test]
    fn the_key_block_is_that_of_an_independent_computation() {
        let block = key_block(&keys(), &mut software());
        let hex: String = block.iter().map(|octet| format!("{octet:02x}")).collect();
        assert_eq!(hex, KEY_BLOCK_IN_HEX);
    }

    const KEY_BLOCK_IN_HEX: &str = "ef3f6b581c1edbed4087eda561ec070ebb1195987adcd6866e3cc1a03ae61fbf855f815f3b042978";

    #[test]
    fn each_end_reads_the_other_once_and_in_any_order() {
        let [mut client, mut server] = ends();
        let sent: Vec<_> = (0..70).map(|at| client.seal(APPLICATION_DATA, &[at], &mut software()).unwrap()).collect();
        assert!(sent.iter().all(|datagram| datagram.len() == Records::OVERHEAD + 1));
        let mut open = |at: usize| server.open(&sent[at], &mut software());
        assert_eq!(open(3), [(APPLICATION_DATA, vec![3])]);
        assert_eq!(open(3), [], "a copy");
        assert_eq!(open(1), [(APPLICATION_DATA, vec![1])]);
        assert_eq!(open(69), [(APPLICATION_DATA, vec![69])]);
        assert_eq!(open(5), [], "below the window");
        assert_eq!(open(6), [(APPLICATION_DATA, vec![6])]);
        assert_eq!(client.open(&sent[7], &mut software()), [], "its own");
        let both = [&sent[8][..], &sent[9]].concat();
        assert_eq!(server.open(&both, &mut software()).len(), 2);
    }

    #[test]
    fn whatever_changes_in_a_record_it_is_dropped() {
        let [mut client, mut server] = ends();
        let sent = client.seal(ALERT, &[1, 0], &mut software()).unwrap();
        for at in 0..sent.len() {
            let mut changed = sent.clone();
            changed[at] ^= 1;
            assert_eq!(server.open(&changed, &mut software()), [], "octet {at}");
            assert_eq!(server.open(&sent[..at], &mut software()), [], "{at} octets");
        }
        assert_eq!(server.open(&sent, &mut software()), [(ALERT, vec![1, 0])]);
    }
}
