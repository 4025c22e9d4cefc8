//! Connection IDs (RFC 9146): whose record it is, and where its sender is now.

use lean_dtls::{Config, ConfigError, Instant, MAX_CONNECTION_ID, Status};

use crate::network::At as _;
use crate::world::{
    Address, KEYS, Keys, PEER, TestClient, TestServer, config, from_client, from_server, pair, replace, run,
    run_through,
};

const NOW: Instant = Instant::from_millis(0);
const ELSEWHERE: Address = [8, 8];

fn length(octets: u8) -> impl Fn(Config<Keys>) -> Config<Keys> {
    move |config| config.with_connection_id(octets).unwrap()
}

/// A client and a server with a connection. The server's connection IDs have this length, and it follows its clients.
fn connected(client: u8, server: u8) -> (TestClient, TestServer) {
    let (mut client, mut server) = pair(length(client), |config| length(server)(config).with_followed_addresses());
    run(&mut client, &mut server, []);
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
    (client, server)
}

fn record(client: &mut TestClient, data: &[u8]) -> Vec<u8> {
    let mut datagram = [0; 100];
    let length = client.send(data, &mut datagram).unwrap();
    datagram[..length].to_vec()
}

fn received(server: &mut TestServer, from: Address, datagram: &[u8]) -> Vec<u8> {
    let mut received = Vec::new();
    server.hear(from, &mut datagram.to_vec(), |data| received.extend_from_slice(data));
    received
}

#[test]
fn every_length_at_either_end_carries_data() {
    for client_length in [0, 1, 8] {
        for server_length in [0, 3, 8] {
            let (mut client, mut server) = connected(client_length, server_length);
            let lengths = [client_length.into(), server_length.into()];
            assert_eq!(client.connection_ids(), Some(lengths));
            assert_eq!(server.connection_ids_at(PEER), Some([lengths[1], lengths[0]]));
            let datagram = record(&mut client, b"22.5 C");
            // RFC 9146, section 4: the ID, and the encrypted content type; nothing if the ID is empty.
            let more = |length: u8| if length == 0 { 0 } else { usize::from(length) + 1 };
            assert_eq!(datagram.len(), 6 + 29 + more(server_length));
            assert_eq!(datagram[0], if server_length == 0 { 23 } else { 25 });
            assert_eq!(received(&mut server, PEER, &datagram), b"22.5 C");
            let mut answer = [0; 100];
            let octets = server.send_at(PEER, b"ok", &mut answer).unwrap();
            assert_eq!(octets, 2 + 29 + more(client_length));
            let mut heard = Vec::new();
            client.receive(&mut answer[..octets], |data| heard.extend_from_slice(data));
            assert_eq!(heard, b"ok");
        }
    }
}

#[test]
fn who_does_not_ask_gets_none() {
    for (mut client, mut server) in [pair(length(4), |config| config), pair(|config| config, length(4))] {
        run(&mut client, &mut server, []);
        assert_eq!((client.status(), client.connection_ids()), (Status::Established, None));
        assert_eq!(record(&mut client, b"x")[0], 23);
    }
}

#[test]
fn a_client_at_another_address_is_found_by_its_id_and_followed() {
    let (mut client, mut server) = connected(0, 4);
    let datagram = record(&mut client, b"moved");
    assert_eq!(received(&mut server, ELSEWHERE, &datagram), b"moved");
    assert_eq!((server.status_at(PEER), server.status_at(ELSEWHERE)), (None, Some(Status::Established)));
    let mut answer = [0; 100];
    let octets = server.send_at(ELSEWHERE, b"ok", &mut answer).unwrap();
    client.receive(&mut answer[..octets], |data| assert_eq!(data, b"ok"));
}

#[test]
fn a_server_that_was_not_told_to_follow_keeps_the_address() {
    let (mut client, mut server) = pair(length(0), length(4));
    run(&mut client, &mut server, []);
    let datagram = record(&mut client, b"moved");
    assert_eq!(received(&mut server, ELSEWHERE, &datagram), b"moved");
    assert_eq!((server.status_at(PEER), server.status_at(ELSEWHERE)), (Some(Status::Established), None));
}

/// Somebody on the path: with an altered record, with one that the server has, and with one that a later one has overtaken.
#[test]
fn only_a_record_that_is_the_clients_and_the_latest_changes_the_address() {
    let (mut client, mut server) = connected(0, 4);
    let [first, second, third] = [b"1", b"2", b"3"].map(|data| record(&mut client, data));
    let mut forged = second.clone();
    *forged.last_mut().unwrap() ^= 1;
    assert_eq!(received(&mut server, ELSEWHERE, &forged), b"", "forged");
    assert_eq!(received(&mut server, PEER, &second), b"2");
    assert_eq!(received(&mut server, ELSEWHERE, &second), b"", "a second time");
    assert_eq!(received(&mut server, ELSEWHERE, &first), b"1", "late, and the client's");
    assert_eq!((server.status_at(PEER), server.status_at(ELSEWHERE)), (Some(Status::Established), None));
    assert_eq!(received(&mut server, ELSEWHERE, &third), b"3");
    assert_eq!(server.status_at(ELSEWHERE), Some(Status::Established));
}

/// A client's record that comes from the address of another client does not take it away.
#[test]
fn the_address_of_another_client_is_not_taken() {
    let (mut client, mut server) = connected(0, 4);
    let mut other = crate::world::client(7, 256);
    other.connect();
    for _ in 0..4 {
        for mut datagram in from_client(&mut other, NOW) {
            server.hear(ELSEWHERE, &mut datagram, |_| {});
        }
        for (_, mut datagram) in from_server(&mut server, NOW) {
            other.receive(&mut datagram, |_| {});
        }
    }
    assert_eq!(other.status(), Status::Established);
    let datagram = record(&mut client, b"x");
    assert_eq!(received(&mut server, ELSEWHERE, &datagram), b"x");
    assert_eq!(server.status_at(PEER), Some(Status::Established));
    assert_eq!(received(&mut server, ELSEWHERE, &record(&mut other, b"y")), b"y");
}

#[test]
fn a_record_with_an_unknown_id_is_nobodys() {
    let (mut client, mut server) = connected(0, 4);
    let mut datagram = record(&mut client, b"x");
    datagram[11] ^= 1;
    assert_eq!(received(&mut server, PEER, &datagram), b"");
}

/// Somebody on the path takes the offer out of the client's hellos: the ends then have other keys (RFC 7627).
#[test]
fn a_stripped_extension_opens_no_connection() {
    let (mut client, mut server) = pair(length(0), length(4));
    run_through(&mut client, &mut server, |to_server, datagram| {
        if to_server {
            // Extension 54 becomes 0x9936, which nobody knows.
            replace(datagram, &[0, 54, 0, 1, 0], &[0x99, 54, 0, 1, 0]);
        }
    });
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Handshaking, Some(Status::Handshaking)));
}

/// RFC 9146, section 3: extension 54, a vector with its length in one octet.
#[test]
fn the_octets_of_the_extension() {
    let (mut client, mut server) = pair(length(0), length(2));
    let sent = run_through(&mut client, &mut server, |_, _| {});
    let has = |datagram: &[u8], octets: &[u8]| datagram.windows(octets.len()).any(|window| window == octets);
    assert!(has(&sent[0], &[0, 54, 0, 1, 0]), "{:?}", sent[0]);
    assert!(has(&sent[3], &[0, 54, 0, 3, 2]), "{:?}", sent[3]);
}

#[test]
fn an_id_that_is_too_long_is_no_configuration() {
    let octets = MAX_CONNECTION_ID as u8 + 1;
    assert_eq!(config(KEYS, 256).with_connection_id(octets).err(), Some(ConfigError::ConnectionId));
}
