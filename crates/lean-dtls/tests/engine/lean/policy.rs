//! The cookie left out for peers that the server's policy knows, and what an attacker gets from that.

use lean_dtls::{Instant, Lean, RustCrypto, Server, Status};

use super::octets::handshake;
use super::{KNOWN, Known, client, config, sets};
use crate::network::At as _;
use crate::world::{Fate, PEER, TestServer, from_client, from_server, random, run};

const NOW: Instant = Instant::from_millis(0);
const ALL: Lean = Lean::ALL.with(Lean::KNOWN_ADDRESS);

fn server(lean: Lean) -> TestServer<Known> {
    Server::new(config(Known { is_known: true, ..KNOWN }, 256, lean), RustCrypto::new(random(99)))
}

#[test]
fn a_known_peer_needs_no_cookie() {
    for lean in sets() {
        let sizes: Vec<_> = handshake(&mut client(1, 256, lean), &mut server(lean)).iter().map(Vec::len).collect();
        assert_eq!(sizes.len(), 4, "{lean:?} {sizes:?}");
    }
    // The whole handshake: 210 octets of DTLS.
    let sizes: Vec<_> = handshake(&mut client(1, 256, ALL), &mut server(ALL)).iter().map(Vec::len).collect();
    assert_eq!(sizes, [80, 93, 23, 14]);
    // Without acknowledgements, the server's Finished is not the first: its timer may not send as often as it has to.
    let lean = ALL.without(Lean::ACKNOWLEDGE);
    let sizes: Vec<_> = handshake(&mut client(1, 256, lean), &mut server(lean)).iter().map(Vec::len).collect();
    assert_eq!(sizes, [80, 70, 23, 23]);
}

#[test]
fn another_address_needs_a_cookie() {
    let (mut client, mut server) = (client(1, 256, ALL), server(ALL));
    client.connect();
    let mut hello = from_client(&mut client, NOW).remove(0);
    server.hear([9, 9], &mut hello, |_| {});
    let answers = from_server(&mut server, NOW);
    assert_eq!((answers.len(), answers[0].1.len(), server.status_at([9, 9])), (1, 44, None));
}

/// Somebody sends ClientHellos in the name of a known peer. In all the time that the server keeps them, it sends at most three
/// times their octets to that peer.
#[test]
fn nothing_is_amplified_more_than_three_times() {
    for lean in sets() {
        for count in 1..4 {
            let (mut client, mut server) = (client(1, 256, lean), server(lean));
            client.connect();
            let hello = from_client(&mut client, NOW).remove(0);
            let mut sent = 0;
            for _ in 0..count {
                server.hear(PEER, &mut hello.clone(), |_| {});
                sent += from_server(&mut server, NOW).iter().map(|(_, datagram)| datagram.len()).sum::<usize>();
            }
            while let Some(deadline) = server.deadline() {
                server.handle_timeout(deadline);
                sent += from_server(&mut server, deadline).iter().map(|(_, datagram)| datagram.len()).sum::<usize>();
            }
            assert!(sent <= 3 * count * hello.len(), "{lean:?}: {sent} for {count} of {}", hello.len());
            assert!(matches!(server.status_at(PEER), Some(Status::Failed(_))), "{lean:?}: it is not kept for ever");
        }
    }
}

/// The peer has a connection. A ClientHello in its name does not end it, and the peer itself can begin again with a cookie.
#[test]
fn a_forged_hello_does_not_end_a_connection() {
    let (mut honest, mut server) = (client(1, 256, ALL), server(ALL));
    run(&mut honest, &mut server, []);
    let mut again = client(2, 256, ALL);
    again.connect();
    for mut datagram in from_client(&mut again, NOW) {
        server.hear(PEER, &mut datagram, |_| {});
    }
    let (mut datagram, mut received) = ([0; 64], 0);
    let length = honest.send(b"22.5 C", &mut datagram).unwrap();
    server.hear(PEER, &mut datagram[..length], |data| received += data.len());
    assert_eq!(received, 6);
    run(&mut again, &mut server, []);
    assert_eq!((again.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
}

/// Forged hellos in the name of known peers keep no slot from a client whose cookie has returned.
#[test]
fn a_slot_of_an_unverified_peer_is_free_for_a_verified_one() {
    #[derive(Clone, Copy)]
    struct Everybody;
    impl lean_dtls::Credentials for Everybody {
        fn psk(&self) -> Option<lean_dtls::Psk<'_>> {
            KNOWN.psk()
        }
        fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
            (identity == KNOWN.psk.identity).then_some(KNOWN.psk.key)
        }
        fn is_known(&self, address: &[u8]) -> bool {
            address != PEER
        }
    }
    let everybody = lean_dtls::Config::new(Everybody, 256, lean_dtls::Timeouts::default()).unwrap();
    let mut server: TestServer<Everybody> = Server::new(everybody.with_lean(Lean::ALL), RustCrypto::new(random(99)));
    for number in 1..=4 {
        let mut forged = client(number, 256, Lean::ALL);
        forged.connect();
        for mut datagram in from_client(&mut forged, NOW) {
            server.hear([7, number as u8], &mut datagram, |_| {});
        }
    }
    // Two slots are taken; the others were asked for cookies.
    let open = (1..=4).filter(|number| server.status_at([7, *number]).is_some()).count();
    assert_eq!(open, 2);
    from_server(&mut server, NOW);
    let mut honest: crate::world::TestClient<Everybody> =
        lean_dtls::Client::new(everybody.with_lean(Lean::ALL), RustCrypto::new(random(50)));
    run(&mut honest, &mut server, [Fate::Pass]);
    assert_eq!(server.status_at(PEER), Some(Status::Established));
}
