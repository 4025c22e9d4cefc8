//! Repetitions after a loss: with acknowledgements only what is missing.

use lean_dtls::{Instant, Lean, Status};

use super::Known;
use super::{client, established, server, set};
use crate::network::At as _;
use crate::world::{PEER, TestClient, TestServer, from_client, from_server};

const ALL: Lean = Lean::ALL.with(Lean::KNOWN_ADDRESS);

/// Runs a handshake, in datagrams of at most 80 octets, without the datagram of this number. Returns who has sent how many
/// octets: positive from the client.
fn sizes_without(lean: Lean, lost: usize) -> Vec<i32> {
    let (mut client, mut server) = (client(1, 80, lean), server(80, lean));
    let mut now = Instant::from_millis(0);
    let mut sizes = Vec::new();
    client.connect();
    loop {
        let before = sizes.len();
        for mut datagram in from_client(&mut client, now) {
            sizes.push(datagram.len() as i32);
            if sizes.len() != lost + 1 {
                server.hear(PEER, &mut datagram, |_| {});
            }
        }
        for (_, mut datagram) in from_server(&mut server, now) {
            sizes.push(-(datagram.len() as i32));
            if sizes.len() != lost + 1 {
                client.receive(&mut datagram, |_| {});
            }
        }
        if sizes.len() > before {
            continue;
        }
        let Some(deadline) = [client.deadline(), server.deadline()].into_iter().flatten().min() else { break };
        now = deadline;
        client.handle_timeout(now);
        server.handle_timeout(now);
    }
    assert_eq!(
        (client.status(), server.status_at(PEER)),
        (Status::Established, Some(Status::Established)),
        "{sizes:?}"
    );
    assert!(now.as_millis() <= 1000, "one timeout: {}", now.as_millis());
    sizes
}

#[test]
fn only_what_is_missing_is_sent_again() {
    // By hand. ClientHello 80, with its cookie 71 octets in a first datagram of 80 and the rest in another of 41; ServerHello
    // 70 in a datagram of its own, Finished 23; the client's Finished 23; the acknowledgement 14.
    let whole = [80, -44, 80, 41, -70, -23, 23, -14];
    assert_eq!(sizes_without(ALL, 99), whole);
    // The server's Finished is lost: the client's timer sends an acknowledgement of the ServerHello instead of its hello.
    assert_eq!(sizes_without(ALL, 5), [80, -44, 80, 41, -70, -23, 14, -23, 23, -14]);
    // Its ServerHello is lost, and the Finished cannot be read without it: the hello again, and all of the answer.
    assert_eq!(sizes_without(ALL, 4), [80, -44, 80, 41, -70, -23, 80, 41, -70, -23, 23, -14]);
    // The client's Finished, or the acknowledgement of it.
    assert_eq!(sizes_without(ALL, 6), [80, -44, 80, 41, -70, -23, 23, 23, -14]);
    assert_eq!(sizes_without(ALL, 7), [80, -44, 80, 41, -70, -23, 23, -14, 23, -14]);
    // Without acknowledgements the server's timer repeats its flight, as well as the client's.
    let without = sizes_without(ALL.without(Lean::ACKNOWLEDGE), 5);
    assert!(without.len() > 9 && without[..6] == whole[..6], "{without:?}");
}

#[test]
fn each_lost_datagram_costs_one_timeout_with_every_set() {
    for bits in 0..128 {
        for lost in 0..9 {
            sizes_without(set(bits), lost);
        }
    }
}

/// Anybody can write an acknowledgement in clear. It says nothing; an encrypted one of another peer is not this peer's.
#[test]
fn a_forged_acknowledgement_changes_nothing() {
    let names = [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 0], [1, 0, 1]].concat();
    let clear = |epoch: u8| [&[26, 0xfe, 0xfd, 0, epoch, 0, 0, 0, 0, 0, 9, 0, names.len() as u8][..], &names].concat();
    let short = [&[31, 0, 9][..], &names, &[0; 8]].concat();
    let (mut client, mut server) = (client(1, 80, ALL), server(80, ALL));
    let mut now = Instant::from_millis(0);
    client.connect();
    for _ in 0..2 {
        for mut datagram in from_client(&mut client, now) {
            server.hear(PEER, &mut datagram, |_| {});
        }
        for (_, mut datagram) in from_server(&mut server, now) {
            client.receive(&mut datagram, |_| {});
        }
    }
    // The client's Finished is lost, and somebody says that it has arrived.
    assert_eq!(from_client(&mut client, now).len(), 1);
    for forged in [clear(0), clear(1), short.clone()] {
        client.receive(&mut forged.clone(), |_| {});
        server.hear(PEER, &mut forged.clone(), |_| {});
    }
    now = client.deadline().unwrap();
    client.handle_timeout(now);
    assert_eq!(from_client(&mut client, now)[0][..1], [29], "the Finished again");
}

/// A client that has data of the server does not wait for an acknowledgement.
#[test]
fn data_say_that_the_finished_has_arrived_too() {
    let (mut client, mut server) = established(ALL);
    assert_eq!((client.deadline(), server.deadline()), (None, None));
    let (mut client2, mut server2): (TestClient<Known>, TestServer<Known>) =
        established(ALL.without(Lean::ACKNOWLEDGE));
    assert_eq!((client2.deadline(), server2.deadline()), (None, None));
    for (client, server) in [(&mut client, &mut server), (&mut client2, &mut server2)] {
        let mut datagram = [0; 64];
        let length = server.send_at(PEER, b"x", &mut datagram).unwrap();
        client.receive(&mut datagram[..length], |_| {});
        assert_eq!(client.deadline(), None);
    }
}

/// A server that never acknowledges is not there any more.
#[test]
fn a_client_whose_finished_is_never_acknowledged_gives_up() {
    let (mut client, mut server) = (client(1, 256, ALL), server(256, ALL));
    let mut now = Instant::from_millis(0);
    client.connect();
    for _ in 0..2 {
        for mut datagram in from_client(&mut client, now) {
            server.hear(PEER, &mut datagram, |_| {});
        }
        for (_, mut datagram) in from_server(&mut server, now) {
            client.receive(&mut datagram, |_| {});
        }
    }
    let mut count = from_client(&mut client, now).len();
    while let Some(deadline) = client.deadline() {
        now = deadline;
        client.handle_timeout(now);
        count += from_client(&mut client, now).len();
    }
    assert_eq!((count, client.status()), (8, Status::Failed(lean_dtls::Failure::TimedOut(None))));
}
