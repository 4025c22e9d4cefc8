//! Every set of switches, and every pair of sets, over any network.

use lean_dtls::{Admission, Lean, RustCrypto, Server, Status};
use proptest::prelude::*;

use super::{KNOWN, Known, client, config, established, server, set, sets};
use crate::liveness::fates;
use crate::network::At as _;
use crate::world::{PEER, TestClient, TestServer, random, run};

/// Data reach the other end, both ways.
fn assert_carries(client: &mut TestClient<Known>, server: &mut TestServer<Known>, note: &str) {
    let (mut datagram, mut received) = ([0; 300], Vec::new());
    let length = client.send(b"22.5 C", &mut datagram).unwrap();
    server.hear(PEER, &mut datagram[..length], |data| received.extend_from_slice(data));
    let length = server.send_at(PEER, b"noted", &mut datagram).unwrap();
    client.receive(&mut datagram[..length], |data| received.extend_from_slice(data));
    assert_eq!(received, b"22.5 Cnoted", "{note}");
}

#[test]
fn every_set_completes_with_every_set() {
    for offered in sets() {
        for taken in sets() {
            let (mut client, mut server) = (client(1, 256, offered), server(256, taken));
            assert_eq!(run(&mut client, &mut server, []), 0, "{offered:?} {taken:?}");
            assert_carries(&mut client, &mut server, &format!("{offered:?} {taken:?}"));
        }
    }
}

/// A server that does not know the address, or the identity, waits for a ClientKeyExchange.
#[test]
fn a_server_that_finds_no_key_asks_for_the_identity() {
    let all = Lean::ALL.with(Lean::KNOWN_ADDRESS);
    let stranger = Known { is_by_address: false, ..KNOWN };
    let mut server: TestServer<Known> = Server::new(config(stranger, 256, all), RustCrypto::new(random(99)));
    let mut client = client(1, 256, all);
    assert_eq!(run(&mut client, &mut server, []), 0);
    assert_carries(&mut client, &mut server, "by its identity");
    // 3 of header and 8 of tag: the records are lean nevertheless.
    assert_eq!((client.max_data(100), server.max_data_at(PEER, 100)), (89, Some(89)));
}

#[test]
fn a_peer_without_the_profile_gets_plain_records() {
    for (offered, taken) in [(Lean::ALL, Lean::NONE), (Lean::NONE, Lean::ALL)] {
        let (mut client, mut server) = (client(1, 256, offered), server(256, taken));
        run(&mut client, &mut server, []);
        assert_carries(&mut client, &mut server, "plain");
        assert_eq!((client.max_data(100), server.max_data_at(PEER, 100)), (71, Some(71)));
    }
}

#[test]
fn a_close_is_heard_with_every_set() {
    for lean in sets() {
        let (mut client, mut server) = established(lean);
        client.close();
        let mut datagram = [0; 64];
        let length = client.poll_transmit(lean_dtls::Instant::from_millis(1), &mut datagram);
        server.hear(PEER, &mut datagram[..length], |_| {});
        assert_eq!(server.status_at(PEER), Some(Status::Closed), "{lean:?}");
    }
}

/// 16 bits of a sequence number are enough for as many records as anybody sends.
#[test]
fn short_headers_go_on_beyond_their_sixteen_bits() {
    let (mut client, mut server) = established(Lean::ALL);
    let mut datagram = [0; 64];
    for number in 0..200_000_u32 {
        let length = client.send(&number.to_be_bytes(), &mut datagram).unwrap();
        // Of two hundred records one arrives.
        if number % 200 == 0 {
            let mut received = 0;
            server.hear(PEER, &mut datagram[..length], |data| received += data.len());
            assert_eq!(received, 4, "{number}");
        }
    }
}

proptest! {
    #[test]
    fn a_lean_handshake_completes_when_the_network_does_no_more_harm(
        offered in 0_u8..128,
        taken in prop_oneof![Just(127_u8), 0_u8..128],
        is_known in any::<bool>(),
        fates in fates(),
        mtus in [64_u16..200, 64_u16..200],
        seed in 1_u64..1000,
    ) {
        let mut client = client(seed, mtus[0], set(offered));
        let known = Known { is_known, ..KNOWN };
        let mut server = Server::new(config(known, mtus[1], set(taken)), RustCrypto::new(random(99)));
        run(&mut client, &mut server, fates);
        prop_assert_eq!(client.status(), Status::Established);
        prop_assert_eq!(server.status_at(PEER), Some(Status::Established));
        assert_carries(&mut client, &mut server, "");
    }
}

#[test]
fn slots_are_for_clients_with_every_set() {
    let mut server: TestServer<Known> =
        Server::new(config(KNOWN, 256, Lean::ALL).with_admission(Admission::EvictOldest), RustCrypto::new(random(99)));
    for seed in 1..20 {
        let mut again = client(seed, 256, Lean::ALL);
        run(&mut again, &mut server, []);
        assert_eq!(
            (again.status(), server.status_at(PEER)),
            (Status::Established, Some(Status::Established)),
            "{seed}"
        );
    }
}

/// A short header has no room for a connection ID: with one, records keep the long header, and all else is left out.
#[cfg(feature = "connection-id")]
#[test]
fn connection_ids_and_short_headers_exclude_each_other() {
    for lean in sets() {
        let config = config(KNOWN, 256, lean).with_connection_id(4).unwrap();
        let mut client = TestClient::new(config, RustCrypto::new(random(1)));
        let mut server: TestServer<Known> = Server::new(config, RustCrypto::new(random(99)));
        run(&mut client, &mut server, []);
        assert_carries(&mut client, &mut server, "with connection IDs");
        // 13 of header, 4 of ID, 8 of nonce unless it is left out, 1 of content type, 8 of tag.
        let nonce = if lean.has(Lean::SHORT_NONCE) { 0 } else { 8 };
        assert_eq!(client.max_data(100), 100 - (13 + 4 + nonce + 1 + 8), "{lean:?}");
    }
}

/// The profile is for suites of plain pre-shared keys: with key agreement the handshake is plain, and has its cookie.
#[cfg(feature = "ecdhe")]
#[test]
fn with_key_agreement_nothing_is_left_out() {
    const SUITES: &[lean_dtls::Suite] = &[lean_dtls::Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256];
    let all = Lean::ALL.with(Lean::KNOWN_ADDRESS);
    let config = config(Known { is_known: true, ..KNOWN }, 256, all).with_suites(SUITES);
    let mut client = TestClient::new(config, RustCrypto::new(random(1)));
    let mut server: TestServer<Known> = Server::new(config, RustCrypto::new(random(99)));
    let seen = super::octets::handshake(&mut client, &mut server);
    // HelloVerifyRequest.
    assert_eq!(seen[1][13], 3);
    assert_eq!(client.max_data(100), 100 - 29);
}
