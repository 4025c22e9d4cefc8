//! Octets of messages and records, by hand from `docs/reference/lean-profile.md`.

use lean_dtls::{Instant, Lean, Status};

use super::{IDENTITY, Known, client, established, server, set};
use crate::network::At as _;
use crate::world::{PEER, TestClient, TestServer, from_client, from_server};

const NOW: Instant = Instant::from_millis(0);

/// The datagrams of a handshake without losses.
pub fn handshake(client: &mut TestClient<Known>, server: &mut TestServer<Known>) -> Vec<Vec<u8>> {
    let mut seen = Vec::new();
    client.connect();
    for _ in 0..4 {
        for mut datagram in from_client(client, NOW) {
            seen.push(datagram.clone());
            server.hear(PEER, &mut datagram, |_| {});
        }
        for (_, mut datagram) in from_server(server, NOW) {
            seen.push(datagram.clone());
            client.receive(&mut datagram, |_| {});
        }
    }
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
    seen
}

fn sizes(lean: Lean) -> Vec<usize> {
    handshake(&mut client(1, 256, lean), &mut server(256, lean)).iter().map(Vec::len).collect()
}

/// Record header, message header, version, random number, no session, suites or suite, compression, length of extensions.
const CLIENT_HELLO: usize = 13 + 12 + 2 + 32 + 1 + 1 + 6 + 2 + 2;
const SERVER_HELLO: usize = 13 + 12 + 2 + 32 + 1 + 2 + 1 + 2;
const VERIFY_REQUEST: usize = 13 + 12 + 3 + COOKIE;
const COOKIE: usize = 16;
/// The header of an extension; and the lean profile's with its switches.
const EXTENSION: usize = 4;
const SWITCHES: usize = EXTENSION + 1;
/// A Finished message: header and verify data.
const FINISHED: usize = 12 + VERIFY_DATA;
const VERIFY_DATA: usize = 12;
/// An acknowledgement of one record.
const ACKNOWLEDGEMENT: usize = 3;

#[test]
fn the_datagrams_of_each_set() {
    let hello = CLIENT_HELLO + EXTENSION + SWITCHES;
    let start = [hello, VERIFY_REQUEST, hello + COOKIE];
    // With other switches than OMIT_MESSAGES, all messages are there: ServerHelloDone, ClientKeyExchange, ChangeCipherSpec.
    let (answer, key_exchange) = (SERVER_HELLO + SWITCHES, 13 + 12 + 2 + IDENTITY.len());
    for (lean, rest) in [
        (Lean::SHORT_NONCE, vec![answer + 25, key_exchange + 14 + FINISHED + 21, 14 + FINISHED + 21]),
        (Lean::SHORT_HEADER, vec![answer + 25, key_exchange + 14 + FINISHED + 19, 14 + FINISHED + 19]),
        (Lean::OMIT_MESSAGES.with(Lean::KNOWN_ADDRESS), vec![answer, FINISHED + 29, FINISHED + 29]),
        (Lean::SLIDES.with(Lean::KNOWN_ADDRESS), vec![answer, FINISHED + 21, FINISHED + 21]),
        (Lean::ALL.with(Lean::KNOWN_ADDRESS), vec![answer + VERIFY_DATA + 11, VERIFY_DATA + 11, ACKNOWLEDGEMENT + 11]),
    ] {
        assert_eq!(sizes(lean), [start.to_vec(), rest].concat(), "{lean:?}");
    }
    // The slides' six messages, and what two more switches make of them.
    assert_eq!(sizes(Lean::SLIDES.with(Lean::KNOWN_ADDRESS)), [80, 44, 96, 70, 45, 45]);
    assert_eq!(sizes(Lean::ALL.with(Lean::KNOWN_ADDRESS)), [80, 44, 96, 93, 23, 14]);
    // The identity is in both ClientHellos.
    assert_eq!(sizes(Lean::ALL), [95, 44, 111, 93, 23, 14]);
    // Plain, as it was before: 75 and 91 octets of ClientHello, two extensions of the ServerHello.
    assert_eq!(sizes(Lean::NONE), [75, 44, 91, 74 + 25, 42 + 14 + 53, 14 + 53]);
}

#[test]
fn octets_of_a_record_beside_its_data() {
    // 13 of header, 8 of nonce, 8 of tag.
    for (lean, expected) in [
        (Lean::NONE, 13 + 8 + 8),
        (Lean::SHORT_NONCE, 13 + 8),
        (Lean::SHORT_HEADER, 3 + 8 + 8),
        (Lean::SHORT_NONCE.with(Lean::SHORT_HEADER), 3 + 8),
    ] {
        let (mut client, mut server) = established(lean);
        let mut datagram = [0; 100];
        assert_eq!(client.send(&[7; 40], &mut datagram), Ok(expected + 40), "{lean:?}");
        assert_eq!(server.send_at(PEER, &[7; 40], &mut datagram), Ok(expected + 40), "{lean:?}");
        assert_eq!(
            (client.max_data(100), server.max_data_at(PEER, 100)),
            (100 - expected, Some(100 - expected)),
            "{lean:?}"
        );
    }
}

/// The extension of the client's last ClientHello and of the ServerHello, octet by octet.
#[test]
fn the_extensions() {
    let seen = handshake(&mut client(1, 256, Lean::ALL), &mut server(256, Lean::SLIDES));
    let offered = [&[0, 0x17, 0, 0, 0xff, 0x4c, 0, 16, 0x5f][..], IDENTITY].concat();
    assert!(seen[2].ends_with(&offered), "{:02x?}", seen[2]);
    // Its only extension.
    assert!(seen[3].ends_with(&[0, 5 + 2 - 2, 0xff, 0x4c, 0, 1, 0x03]), "{:02x?}", seen[3]);
    let by_address = Lean::ALL.with(Lean::KNOWN_ADDRESS);
    let seen = handshake(&mut client(1, 256, by_address), &mut server(256, by_address));
    assert!(seen[2].ends_with(&[0, 0x17, 0, 0, 0xff, 0x4c, 0, 1, 0x7f]), "{:02x?}", seen[2]);
}

/// The short header: content type + 7, and the lower 16 bits of the sequence number. A Finished has number 0.
#[test]
fn the_short_header() {
    let (mut client, mut server) = (client(1, 256, Lean::ALL), server(256, Lean::ALL));
    let seen = handshake(&mut client, &mut server);
    assert_eq!(seen[4][..3], [29, 0, 0]);
    let mut datagram = [0; 64];
    for number in 1..=0x1_0001_u32 {
        let length = client.send(b"x", &mut datagram).unwrap();
        assert_eq!(datagram[..3], [30, (number >> 8) as u8, number as u8]);
        server.hear(PEER, &mut datagram[..length], |_| {});
    }
    client.close();
    assert_eq!(from_client(&mut client, NOW)[0][..3], [28, 0, 2]);
}

/// A whole flight of the lean profile in a frame: with 8 octets of compressed headers, 96 are left.
#[test]
fn every_datagram_of_all_switches_fits_one_frame() {
    assert_eq!([8, 24, 60].map(lean_dtls::frame_mtu), [96, 80, 64]);
    let all = Lean::ALL.with(Lean::KNOWN_ADDRESS);
    assert_eq!(sizes(all).into_iter().max(), Some(96));
}

/// A Finished is there, in a short record, after a ServerHello that was cut: each in a datagram of its own.
#[test]
fn no_datagram_is_longer_than_it_may_be() {
    for mtu in 64..130 {
        for bits in 0..128 {
            let lean = set(bits);
            let seen = handshake(&mut client(1, mtu, lean), &mut server(mtu, lean));
            assert!(seen.iter().all(|datagram| datagram.len() <= mtu.into()), "{mtu} {lean:?}");
        }
    }
}
