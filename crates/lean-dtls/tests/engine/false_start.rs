//! Data of a client before the server's Finished (RFC 7918).

use lean_dtls::{Client, Config, Instant, RustCrypto, SendError, Server, Status, Suite};

use crate::network::At as _;
use crate::public_keys::{Any, ECDHE_PSK, ECDSA, OTHER, client_x509, config, raw, server_x509};
use crate::world::{Address, PEER, Random, from_client, random};

const BUFFER: usize = 1400;
const NOW: Instant = Instant::from_millis(0);

type TestClient = Client<Any, RustCrypto<Random>, BUFFER>;
type TestServer = Server<Any, RustCrypto<Random>, Address, 1, BUFFER>;

fn pair(
    credentials: [Any; 2],
    suites: &'static [Suite],
    change: fn(Config<Any>) -> Config<Any>,
) -> (TestClient, TestServer) {
    let [client, server] = credentials.map(|of| change(config(of, suites)));
    (Client::new(client, RustCrypto::new(random(1))), Server::new(server, RustCrypto::new(random(99))))
}

fn x509() -> [Any; 2] {
    [Any::X509(client_x509()), Any::X509(server_x509())]
}

/// The datagrams of the server. Its certificates are longer than the datagrams of other tests.
fn from_server(server: &mut TestServer) -> Vec<Vec<u8>> {
    let mut output = [0; 1300];
    let mut sent = Vec::new();
    while let Some((_, length)) = server.poll_transmit(NOW, &mut output) {
        sent.push(output[..length].to_vec());
    }
    sent
}

fn all_from_client(client: &mut TestClient) -> Vec<Vec<u8>> {
    let mut output = [0; 1300];
    let mut sent = Vec::new();
    while let length @ 1.. = client.poll_transmit(NOW, &mut output) {
        sent.push(output[..length].to_vec());
    }
    sent
}

/// A handshake up to the client's last flight, and this flight.
fn to_the_last_flight(client: &mut TestClient, server: &mut TestServer) -> Vec<Vec<u8>> {
    client.connect();
    // ClientHello, and the same with a cookie.
    for _ in 0..2 {
        for mut datagram in from_client(client, NOW) {
            server.hear(PEER, &mut datagram, |_| {});
        }
        for mut datagram in from_server(server) {
            assert!(!client.may_send());
            client.receive(&mut datagram, |_| {});
        }
    }
    assert!(!client.may_send(), "its Finished is not sent yet");
    assert_eq!(client.send(b"too early", &mut [0; 100]), Err(SendError::NotEstablished));
    all_from_client(client)
}

fn data(client: &mut TestClient) -> Vec<u8> {
    let mut output = [0; 100];
    let length = client.send(b"22.5 C", &mut output).unwrap();
    output[..length].to_vec()
}

fn hear(server: &mut TestServer, datagrams: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut delivered = Vec::new();
    for datagram in datagrams {
        server.hear(PEER, &mut datagram.clone(), |data| delivered.push(data.to_vec()));
    }
    delivered
}

/// The server has the data with the client's Finished: the client is not established, and has not heard of it.
#[test]
fn data_arrive_a_round_trip_earlier() {
    let keys = [client_x509(), server_x509()];
    let raw = [Any::Raw(raw(&keys[0], Some(&keys[1]))), Any::Raw(raw(&keys[1], Some(&keys[0])))];
    for credentials in [x509(), raw] {
        let (mut client, mut server) = pair(credentials, ECDSA, Config::with_false_start);
        let mut flight = to_the_last_flight(&mut client, &mut server);
        assert!(client.may_send());
        flight.push(data(&mut client));
        assert_eq!(client.status(), Status::Handshaking);
        assert_eq!(hear(&mut server, &flight), [b"22.5 C"]);
        for mut datagram in from_server(&mut server) {
            client.receive(&mut datagram, |_| {});
        }
        assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
        assert!(client.may_send());
        let later = data(&mut client);
        assert_eq!(hear(&mut server, &[later]), [b"22.5 C"]);
    }
}

/// A server that knows of it keeps its last flight until another takes its place. One that does not takes data as a sign that the client
/// has it already, and cannot repeat it: the client waits in vain.
#[test]
fn a_last_flight_that_is_lost_is_repeated_by_a_server_that_knows() {
    for (knows, expected) in [(true, Status::Established), (false, Status::Handshaking)] {
        let (mut client, mut server) = pair(x509(), ECDSA, Config::with_false_start);
        if !knows {
            server = pair(x509(), ECDSA, |config| config).1;
        }
        let mut flight = to_the_last_flight(&mut client, &mut server);
        assert!(hear(&mut server, &flight).is_empty());
        assert!(!from_server(&mut server).is_empty(), "it is lost");
        flight = vec![data(&mut client)];
        assert_eq!(hear(&mut server, &flight), [b"22.5 C"]);
        client.handle_timeout(client.deadline().unwrap());
        let again = all_from_client(&mut client);
        assert!(!again.is_empty() && hear(&mut server, &again).is_empty());
        for mut datagram in from_server(&mut server) {
            client.receive(&mut datagram, |_| {});
        }
        assert_eq!((client.status(), server.status_at(PEER)), (expected, Some(Status::Established)), "{knows}");
    }
}

/// The client repeats its flight, and the data are lost: the server had no Finished before them.
#[test]
fn data_before_the_finished_are_lost_and_the_handshake_completes() {
    let (mut client, mut server) = pair(x509(), ECDSA, Config::with_false_start);
    let flight = to_the_last_flight(&mut client, &mut server);
    let early = data(&mut client);
    assert!(hear(&mut server, &[early]).is_empty());
    assert_eq!(server.status_at(PEER), Some(Status::Handshaking));
    assert!(hear(&mut server, &flight).is_empty());
    for mut datagram in from_server(&mut server) {
        client.receive(&mut datagram, |_| {});
    }
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
}

/// Who does not ask for it waits; and so does a client with a pre-shared key (RFC 7918, section 5.3).
#[test]
fn data_wait_otherwise() {
    for (credentials, suites, change) in [
        (x509(), ECDSA, (|config| config) as fn(Config<Any>) -> Config<Any>),
        ([Any::Psk, Any::Psk], ECDHE_PSK, Config::with_false_start),
    ] {
        let (mut client, mut server) = pair(credentials, suites, change);
        to_the_last_flight(&mut client, &mut server);
        assert!(!client.may_send());
        assert_eq!(client.send(b"22.5 C", &mut [0; 100]), Err(SendError::NotEstablished));
    }
}

/// A server that the client does not trust gets nothing.
#[test]
fn a_server_that_is_refused_gets_no_data() {
    let mut stranger = server_x509();
    stranger.authorities = Box::leak(Box::new([OTHER]));
    let mut distrusting = client_x509();
    distrusting.authorities = Box::leak(Box::new([OTHER]));
    let (mut client, mut server) = pair([Any::X509(distrusting), Any::X509(stranger)], ECDSA, Config::with_false_start);
    to_the_last_flight(&mut client, &mut server);
    assert!(matches!(client.status(), Status::Failed(_)));
    assert!(!client.may_send());
}
