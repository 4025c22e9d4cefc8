//! Imported pre-shared keys (RFC 9258).

use lean_dtls::crypto::{Aead, Group};
use lean_dtls::{
    Client, Config, Credentials, Failure, ImportedPsk, Instant, Psk, RustCrypto, Server, Status, Timeouts, Versions,
};

use super::world::{PEER, Random, random};
use crate::network::At as _;

const IDENTITY: &[u8] = b"sensor-17";
const KEY: &[u8] = b"0123456789abcdef";

/// The key that `KEY` becomes when it is imported with the identity above and no context, from Python's `hmac` and
/// `hashlib`.
const IMPORTED: [u8; 32] = [
    0xa4, 0x17, 0xfa, 0x5f, 0x53, 0x1a, 0x93, 0xe5, 0xea, 0x0b, 0xa7, 0xda, 0x8c, 0x01, 0xaf, 0xc8, 0xb4, 0x73, 0xd9,
    0x96, 0x04, 0xd0, 0xf2, 0x75, 0x73, 0x92, 0xfe, 0x30, 0x14, 0x8e, 0x94, 0xf3,
];

/// The alerts unknown_psk_identity and decrypt_error.
const UNKNOWN: u8 = 115;
const WRONG: u8 = 51;

const fn imported(context: &'static [u8]) -> [ImportedPsk<'static>; 1] {
    [ImportedPsk { identity: IDENTITY, key: KEY, context }]
}

/// An ImportedIdentity by hand: identity and context, each behind its length, protocol, and function.
fn imported_identity(context: &[u8], protocol: u16, function: u16) -> Vec<u8> {
    let vector = |octets: &[u8]| [&(octets.len() as u16).to_be_bytes()[..], octets].concat();
    [vector(IDENTITY), vector(context), protocol.to_be_bytes().to_vec(), function.to_be_bytes().to_vec()].concat()
}

fn config<K: Credentials>(keys: K) -> Config<K> {
    Config::new(keys, 256, Timeouts::default()).unwrap().with_versions(Versions::Dtls13)
}

type Crypto = RustCrypto<Random>;

/// A handshake in which datagram number `lost` is lost. How both ends are then, and how many datagrams there were.
fn handshake<C: Credentials, S: Credentials>(
    client: Config<C>,
    server: Config<S>,
    lost: Option<usize>,
) -> (Status, Option<Status>, usize) {
    let mut client = Client::<C, Crypto, 384>::new(client, RustCrypto::new(random(1)));
    let mut server = Server::<S, Crypto, _, 1, 384>::new(server, RustCrypto::new(random(2)));
    let (mut now, mut output, mut sent) = (Instant::from_millis(0), [0; 256], 0);
    client.connect();
    loop {
        let before = sent;
        while let length @ 1.. = client.poll_transmit(now, &mut output) {
            if lost != Some(sent) {
                server.hear(PEER, &mut output[..length], |_| {});
            }
            sent += 1;
        }
        while let Some((_, length)) = server.poll_transmit(now, &mut output) {
            if lost != Some(sent) {
                client.receive(&mut output[..length], |_| {});
            }
            sent += 1;
        }
        if sent == before {
            let Some(deadline) = [client.deadline(), server.deadline()].into_iter().flatten().min() else {
                return (client.status(), server.status_at(PEER), sent);
            };
            now = deadline;
            client.handle_timeout(now);
            server.handle_timeout(now);
        }
    }
}

const ESTABLISHED: (Status, Option<Status>) = (Status::Established, Some(Status::Established));

#[test]
fn ends_that_import_the_same_key_have_a_connection_whatever_is_lost() {
    for context in [&b""[..], b"sensor-17 to gateway"] {
        let alone = config(imported(context));
        let with_agreement = alone.with_psk_agreement().with_groups(&[Group::P256]).with_aeads(&[Aead::Gcm]);
        for config in [alone, with_agreement] {
            let (client, server, datagrams) = handshake(config, config, None);
            assert_eq!((client, server), ESTABLISHED);
            for lost in 0..datagrams {
                let (client, server, _) = handshake(config, config, Some(lost));
                assert_eq!((client, server), ESTABLISHED, "{lost}");
            }
        }
    }
}

#[test]
fn a_server_finds_each_of_its_keys_by_the_external_identity() {
    let other = ImportedPsk { identity: b"sensor-18", key: b"another key", context: b"other" };
    let known = config([imported(b"")[0], other]);
    for own in [imported(b"")[0], other] {
        let (client, server, _) = handshake(config([own]), known, None);
        assert_eq!((client, server), ESTABLISHED);
    }
    // The key of the one with the identity of the other.
    let (_, server, _) = handshake(config([ImportedPsk { key: KEY, ..other }]), known, None);
    assert_eq!(server, Some(Status::Failed(Failure::AlertSent(WRONG))));
}

/// A server does not know the identity: nothing of the client is kept.
fn is_unknown<C: Credentials, S: Credentials>(client: Config<C>, server: Config<S>) {
    let (client, server, _) = handshake(client, server, None);
    assert_eq!((client, server), (Status::Failed(Failure::TimedOut(Some(UNKNOWN))), None));
}

#[test]
fn a_key_is_imported_by_both_ends_or_by_none() {
    let plain = config([Psk { identity: IDENTITY, key: KEY }]);
    is_unknown(config(imported(b"")), plain);
    is_unknown(plain, config(imported(b"")));
}

#[test]
fn another_context_is_another_key() {
    is_unknown(config(imported(b"sensor-17 to gateway")), config(imported(b"sensor-17 to sensor-18")));
    is_unknown(config(imported(b"")), config(imported(b"gateway")));
}

/// Who sends another ImportedIdentity has a key for it, which is not that of this version and this function.
#[test]
fn a_key_for_another_version_or_function_is_unknown() {
    let right = imported_identity(b"", 0xfefc, 1);
    let others = [
        imported_identity(b"", 0x0304, 1), // TLS 1.3
        imported_identity(b"", 0xfefd, 1), // DTLS 1.2
        imported_identity(b"", 0xfefc, 2), // HKDF_SHA384
        [&right[..], &[0]].concat(),       // an octet too many
        right[..right.len() - 1].to_vec(), // one too few
        [&[0xff], &right[1..]].concat(),   // an identity that is too long
    ];
    for identity in &others {
        is_unknown(config([Psk { identity, key: &IMPORTED }]), config(imported(b"")));
    }
}

/// A plain key can have the name of an imported one, and even its value. The binder tells them apart (RFC 9258, section
/// 5.2).
#[test]
fn a_plain_key_is_not_taken_for_an_imported_one() {
    let identity = imported_identity(b"", 0xfefc, 1);
    let plain = config([Psk { identity: &identity, key: &IMPORTED }]);
    let refused = Some(Status::Failed(Failure::AlertSent(WRONG)));
    assert_eq!(handshake(plain, config(imported(b"")), None).1, refused);
    assert_eq!(handshake(config(imported(b"")), plain, None).1, refused);
}
