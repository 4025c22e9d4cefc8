//! A handshake completes whatever the network loses, repeats or reorders, with datagrams of any size.

use lean_dtls::{Admission, Failure, SendError, Status};
use proptest::prelude::*;

use crate::network::At as _;
use crate::world::{Fate, PEER, client, established, run, server};

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![3 => Just(Fate::Pass), 2 => Just(Fate::Drop), 1 => Just(Fate::Twice), 1 => Just(Fate::Late)]
}

/// Fates of the first datagrams in a network. It drops fewer than an end sends before it gives up: 8.
pub fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fates = proptest::collection::vec(fate(), 0..12);
    fates.prop_filter("at most 7 are lost", |fates| fates.iter().filter(|fate| **fate == Fate::Drop).count() < 8)
}

proptest! {
    #[test]
    fn a_handshake_completes_when_the_network_does_no_more_harm(
        fates in fates(),
        mtus in [64_u16..200, 64_u16..200],
        seed in 1_u64..1000,
    ) {
        let (mut client, mut server) = (client(seed, mtus[0]), server(mtus[1], Admission::Refuse));
        run(&mut client, &mut server, fates);
        prop_assert_eq!(client.status(), Status::Established);
        prop_assert_eq!(server.status_at(PEER), Some(Status::Established));
        let (mut datagram, mut received) = ([0; 300], Vec::new());
        let length = client.send(b"22.5 C", &mut datagram).unwrap();
        server.hear(PEER, &mut datagram[..length], |data| received.extend_from_slice(data));
        prop_assert_eq!(received, b"22.5 C");
    }
}

/// By hand: each lost datagram of the loss-free run costs the 1 s of the timer, which both ends have.
#[test]
fn each_lost_flight_costs_one_timeout() {
    for lost in 0..6 {
        let (mut client, mut server) = (client(1, 256), server(256, Admission::Refuse));
        let fates = (0..6).map(|number| if number == lost { Fate::Drop } else { Fate::Pass });
        assert_eq!(run(&mut client, &mut server, fates), 1000, "{lost}");
        assert_eq!(client.status(), Status::Established, "{lost}");
    }
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_sent() {
    let (mut client, mut server) = established();
    // 13 octets of header, 8 of nonce, 8 of tag.
    assert_eq!(client.send(&[0; 100], &mut [0; 128]), Err(SendError::TooLong));
    let mut datagram = [0; 129];
    assert_eq!(client.send(&[0; 100], &mut datagram), Ok(129));
    let mut received = 0;
    server.hear(PEER, &mut datagram, |data| received += data.len());
    assert_eq!(received, 100);
    assert_eq!(server.send_at([9, 9], b"x", &mut [0; 100]), Err(SendError::NotEstablished), "nobody is there");
}

/// A device that has lost its state begins again under the same address: RFC 6347, section 4.2.8.
#[test]
fn a_client_that_begins_again_gets_a_new_connection_after_its_cookie() {
    let (_, mut server) = established();
    let mut again = client(2, 256);
    run(&mut again, &mut server, []);
    assert_eq!((again.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
}

#[test]
fn a_client_gives_up_after_its_last_retransmission() {
    let (mut client, mut server) = (client(1, 256), server(256, Admission::Refuse));
    let at = run(&mut client, &mut server, [Fate::Drop; 100]);
    assert_eq!(client.status(), Status::Failed(Failure::TimedOut(None)));
    // By hand: 1, 2, 4, 8, 16, 32, 60 and 60 s.
    assert_eq!(at, 183_000);
}
