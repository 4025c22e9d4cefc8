//! The end of a connection (RFC 5246, section 7.2.1).

use lean_dtls::{Client, Failure, Instant, RustCrypto, SendError, Server, Status};

use crate::network::At as _;
use crate::world::{Address, Keys, PEER, Random, client, established, from_client, from_server, run_through, server};

/// Two ends with a connection, of whichever version.
type Pair<const B: usize> = (Client<Keys, RustCrypto<Random>, B>, Server<Keys, RustCrypto<Random>, Address, 2, B>);

const NOW: Instant = Instant::from_millis(5);

#[test]
fn a_close_is_an_alert_that_only_the_peer_can_have_sent() {
    let (mut client, mut server) = established();
    client.close();
    assert_eq!(client.status(), Status::Closing);
    assert_eq!(client.send(b"x", &mut [0; 100]), Err(SendError::NotEstablished));
    let mut sent = from_client(&mut client, NOW);
    assert_eq!(sent.len(), 1);
    let mut forged = sent[0].clone();
    *forged.last_mut().unwrap() ^= 1;
    server.hear(PEER, &mut forged, |_| {});
    assert_eq!(server.status_at(PEER), Some(Status::Established));
    server.hear(PEER, &mut sent[0], |_| {});
    assert_eq!(server.status_at(PEER), Some(Status::Closed));
}

/// Both have the alert in the end, and nobody answers an answer.
fn is_answered_once<const B: usize>((mut client, mut server): Pair<B>) {
    client.close();
    assert_eq!(client.status(), Status::Closing);
    assert_eq!(client.send(b"x", &mut [0; 100]), Err(SendError::NotEstablished));
    let mut sent = from_client(&mut client, NOW);
    assert_eq!(sent.len(), 1);
    server.hear(PEER, &mut sent[0], |_| {});
    assert_eq!(server.status_at(PEER), Some(Status::Closed));
    let mut answers = from_server(&mut server, NOW);
    assert_eq!(answers.len(), 1);
    client.receive(&mut answers[0].1, |_| {});
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Closed, Some(Status::Closed)));
    assert!(from_client(&mut client, NOW).is_empty() && from_server(&mut server, NOW).is_empty());
    client.close();
    assert_eq!((client.status(), from_client(&mut client, NOW)), (Status::Closed, vec![]));
}

/// Both close at the same time: the alerts cross.
fn need_no_answer_if_they_cross<const B: usize>((mut client, mut server): Pair<B>) {
    client.close();
    server.close_at(PEER);
    let mut of_client = from_client(&mut client, NOW);
    client.receive(&mut from_server(&mut server, NOW)[0].1, |_| {});
    server.hear(PEER, &mut of_client[0], |_| {});
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Closed, Some(Status::Closed)));
    assert!(from_client(&mut client, NOW).is_empty() && from_server(&mut server, NOW).is_empty());
}

/// The data that the server sent before it heard of the close are not cut off. Data after its own alert are.
fn let_data_on_the_way_through<const B: usize>((mut client, mut server): Pair<B>) {
    let mut late = [[0; 100]; 2];
    let lengths = late.each_mut().map(|output| server.send_at(PEER, b"late", output).unwrap());
    client.close();
    let mut heard = Vec::new();
    client.receive(&mut late[0][..lengths[0]], |data| heard.push(data.to_vec()));
    assert_eq!((heard, client.status()), (vec![b"late".to_vec()], Status::Closing));
    server.hear(PEER, &mut from_client(&mut client, NOW)[0], |_| {});
    client.receive(&mut from_server(&mut server, NOW)[0].1, |_| {});
    client.receive(&mut late[1][..lengths[1]], |_| panic!("delivered"));
    assert_eq!(client.status(), Status::Closed);
}

#[test]
fn a_close_ends_both_sides_without_loss() {
    is_answered_once(established());
    need_no_answer_if_they_cross(established());
    let_data_on_the_way_through(established());
}

/// DTLS 1.3 closes alike (RFC 8446, section 6.1).
#[test]
#[cfg(feature = "dtls13")]
fn a_close_of_dtls_1_3_ends_both_sides_without_loss() {
    use crate::dtls13::world::established;

    is_answered_once(established());
    need_no_answer_if_they_cross(established());
    let_data_on_the_way_through(established());
}

/// An alert in clear in any state, fatal or a close: anybody can have sent it.
#[test]
fn alerts_in_clear_end_nothing() {
    for description in [0, 40] {
        let alert = [21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, description];
        let (mut connected, mut to) = established();
        connected.receive(&mut alert.clone(), |_| {});
        to.receive(PEER, &mut alert.clone(), |_| {});
        assert_eq!((connected.status(), to.status_at(PEER)), (Status::Established, Some(Status::Established)));
        let (mut client, mut server) = (client(1, 256), server(256, lean_dtls::Admission::Refuse));
        run_through(&mut client, &mut server, |_, datagram| datagram.extend(alert));
        assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
    }
}

#[test]
fn a_client_that_hears_nothing_names_the_alert_it_heard() {
    let mut client = client(1, 256);
    client.connect();
    from_client(&mut client, NOW);
    client.receive(&mut [21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40], |_| {});
    while let Some(deadline) = client.deadline() {
        client.handle_timeout(deadline);
        from_client(&mut client, deadline);
    }
    assert_eq!(client.status(), Status::Failed(Failure::TimedOut(Some(40))));
}
