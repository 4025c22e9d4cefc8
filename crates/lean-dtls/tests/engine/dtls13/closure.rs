//! How a connection ends (RFC 8446, section 6.1).

use lean_dtls::{Instant, SendError, Status};

use super::world::{PEER, established, from_client, from_server};
use crate::network::At as _;

const NOW: Instant = Instant::from_millis(5);

/// Both say that they send no more, and nobody answers an answer.
#[test]
fn a_close_is_answered_once() {
    let (mut client, mut server) = established();
    client.close();
    assert_eq!(client.status(), Status::Closing);
    assert_eq!(client.send(b"x", &mut [0; 100]), Err(SendError::NotEstablished));
    let mut sent = from_client(&mut client, NOW);
    assert_eq!(sent.len(), 1);
    server.hear(PEER, &mut sent[0], |_| {});
    assert_eq!(server.status_at(PEER), Some(Status::Closed));
    let mut answers = from_server(&mut server, NOW);
    assert_eq!(answers.len(), 1);
    client.receive(&mut answers[0], |_| {});
    assert_eq!(client.status(), Status::Closed);
    assert!(from_client(&mut client, NOW).is_empty() && from_server(&mut server, NOW).is_empty());
}

/// Both close at the same time: the alerts cross.
#[test]
fn closes_that_cross_need_no_answer() {
    let (mut client, mut server) = established();
    client.close();
    server.close_at(PEER);
    let mut of_client = from_client(&mut client, NOW);
    client.receive(&mut from_server(&mut server, NOW)[0], |_| {});
    server.hear(PEER, &mut of_client[0], |_| {});
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Closed, Some(Status::Closed)));
    assert!(from_client(&mut client, NOW).is_empty() && from_server(&mut server, NOW).is_empty());
}

/// What the server sent before it heard of the close is not cut off. What comes after its own alert is.
#[test]
fn data_on_the_way_are_delivered_until_the_peer_has_closed() {
    let (mut client, mut server) = established();
    let mut late = [[0; 100]; 2];
    let lengths = late.each_mut().map(|output| server.send_at(PEER, b"late", output).unwrap());
    client.close();
    let mut heard = 0;
    client.receive(&mut late[0][..lengths[0]], |data| {
        assert_eq!(data, b"late");
        heard += 1;
    });
    assert_eq!((heard, client.status()), (1, Status::Closing));
    server.hear(PEER, &mut from_client(&mut client, NOW)[0], |_| {});
    client.receive(&mut from_server(&mut server, NOW)[0], |_| {});
    client.receive(&mut late[1][..lengths[1]], |_| panic!("delivered"));
    assert_eq!(client.status(), Status::Closed);
}
