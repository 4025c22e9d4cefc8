//! An attacker between two ends that do not share a key. The tests of both versions have this file.

use lean_dtls::{Client, Credentials, Crypto, Instant, Server, Status};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::network::At as _;
use crate::network::{Address, PEER, from_client, from_server};

const NOW: Instant = Instant::from_millis(0);

/// One datagram of the attacker.
#[derive(Clone, Debug)]
pub struct Attack {
    is_to_server: bool,
    /// Which of all datagrams it was.
    seen: usize,
    /// The datagram in its place if there were fewer.
    junk: Vec<u8>,
    /// The octets that are changed in it.
    changes: Vec<(Index, u8)>,
}

/// Random octets, and datagrams of the handshake with octets changed.
pub fn attacks() -> impl Strategy<Value = Vec<Attack>> {
    let changes = proptest::collection::vec((any::<Index>(), any::<u8>()), 0..4);
    let junk = proptest::collection::vec(any::<u8>(), 0..80);
    let attack = (any::<bool>(), 0_usize..40, junk, changes).prop_map(|(is_to_server, seen, junk, changes)| Attack {
        is_to_server,
        seen,
        junk,
        changes,
    });
    proptest::collection::vec(attack, 1..40)
}

/// Sends records of a client to its server: the last first; then all, twice. Each is delivered once, and those 64 and more behind
/// the last are too old (RFC 6347, section 4.1.2.6).
pub fn repeat_records<K, C, const SLOTS: usize, const BUFFER: usize>(
    (mut client, mut server): (Client<K, C, BUFFER>, Server<K, C, Address, SLOTS, BUFFER>),
) where
    K: Credentials,
    C: Crypto,
{
    let mut records = Vec::new();
    for number in 0..70_u8 {
        let mut datagram = [0; 64];
        let length = client.send(&[number], &mut datagram).unwrap();
        records.push(datagram[..length].to_vec());
    }
    let mut received = Vec::new();
    for record in [&records[69..], &records, &records].concat() {
        server.hear(PEER, &mut record.clone(), |data| received.push(data[0]));
    }
    assert_eq!(received, [69].into_iter().chain(6..69).collect::<Vec<_>>());
}

/// Attacks a handshake, at any time: no panic, nothing is established, and nothing delivered.
pub fn attack<K, L, C, D, const SLOTS: usize, const BUFFER: usize>(
    mut client: Client<K, C, BUFFER>,
    mut server: Server<L, D, Address, SLOTS, BUFFER>,
    attacks: Vec<Attack>,
) -> Result<(), TestCaseError>
where
    K: Credentials,
    L: Credentials,
    C: Crypto,
    D: Crypto,
{
    let mut seen = Vec::new();
    client.connect();
    for Attack { is_to_server, seen: chosen, junk, changes } in attacks {
        for mut datagram in from_client(&mut client, NOW) {
            seen.push(datagram.clone());
            server.hear(PEER, &mut datagram, |_| panic!("delivered"));
        }
        for (_, mut datagram) in from_server(&mut server, NOW) {
            seen.push(datagram.clone());
            client.receive(&mut datagram, |_| panic!("delivered"));
        }
        let mut datagram = seen.get(chosen).cloned().unwrap_or(junk);
        for (index, octet) in changes {
            if !datagram.is_empty() {
                let place = index.index(datagram.len());
                datagram[place] = octet;
            }
        }
        match is_to_server {
            true => server.hear(PEER, &mut datagram, |_| panic!("delivered")),
            false => client.receive(&mut datagram, |_| panic!("delivered")),
        }
        prop_assert_ne!(client.status(), Status::Established);
        prop_assert_ne!(server.status_at(PEER), Some(Status::Established));
    }
    Ok(())
}
