//! Who gets a slot, and an answer, without a cookie; and who is found by a connection ID.

use lean_dtls::{Client, Config, Credentials, Instant, Psk, RustCrypto, Server, Status, Timeouts, Versions};

use super::world::{Address, KEYS, PEER, Random, config, from_client, random, run};
use crate::network;
use crate::network::At as _;

const NOW: Instant = Instant::from_millis(0);

/// A server knows all addresses but that of the peer.
#[derive(Clone, Copy)]
struct Known;

impl Credentials for Known {
    fn psk(&self) -> Option<Psk<'_>> {
        KEYS.psk()
    }

    fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
        (identity == KEYS[0].identity).then_some(KEYS[0].key)
    }

    fn is_known(&self, address: &[u8]) -> bool {
        address != PEER
    }
}

type KnownClient = Client<Known, RustCrypto<Random>, 384>;
type KnownServer = Server<Known, RustCrypto<Random>, Address, 2, 384>;

fn known() -> Config<Known> {
    let timeouts = Timeouts { initial_ms: 1000, ..Timeouts::default() };
    Config::new(Known, 256, timeouts).unwrap().with_versions(Versions::Dtls13)
}

fn client(seed: u64, config: Config<Known>) -> KnownClient {
    Client::new(config, RustCrypto::new(random(seed)))
}

fn server(config: Config<Known>) -> KnownServer {
    Server::new(config, RustCrypto::new(random(99)))
}

/// The first ClientHello of a client.
fn hello(seed: u64, config: Config<Known>) -> Vec<u8> {
    let mut client = client(seed, config);
    client.connect();
    from_client(&mut client, NOW).remove(0)
}

/// All that a server sends to an address, until it waits no more.
fn octets_to(server: &mut KnownServer, address: Address) -> usize {
    let (mut now, mut octets) = (NOW, 0);
    loop {
        let sent = network::from_server(server, now);
        octets += sent.iter().filter(|(peer, _)| *peer == address).map(|(_, datagram)| datagram.len()).sum::<usize>();
        let Some(deadline) = server.deadline() else { return octets };
        now = deadline;
        server.handle_timeout(now);
    }
}

/// Until a client at a known address has proved that it is there, the server sends three times its octets at most.
#[test]
fn a_known_address_gets_three_times_its_octets() {
    let mut server = server(known());
    let hello = hello(1, known());
    server.hear([7, 7], &mut hello.clone(), |_| {});
    assert_eq!(server.status_at([7, 7]), Some(Status::Handshaking));
    let octets = octets_to(&mut server, [7, 7]);
    assert!((2 * hello.len()..=3 * hello.len()).contains(&octets), "{octets}");
}

/// A key pair is computed for nobody whose cookie has not returned, and a longer answer sent to nobody.
#[test]
fn key_agreement_needs_a_cookie_even_from_a_known_address() {
    let mut server = server(known().with_psk_agreement());
    server.hear([7, 7], &mut hello(1, known().with_psk_agreement()), |_| {});
    assert_eq!(server.status_at([7, 7]), None);
}

/// Forged hellos in the name of known peers keep no slot from a client whose cookie has returned.
#[test]
fn a_slot_of_an_unverified_peer_is_free_for_a_verified_one() {
    let mut server = server(known());
    for number in 1..=4 {
        server.hear([7, number], &mut hello(number.into(), known()), |_| {});
    }
    // Two slots are taken; the others were asked for cookies.
    assert_eq!((1..=4).filter(|number| server.status_at([7, *number]).is_some()).count(), 2);
    network::from_server(&mut server, NOW);
    let mut honest = client(50, known());
    run(&mut honest, &mut server, []);
    assert_eq!((honest.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
}

/// The device at a known address has lost its state. Its connection stays until it has proved with a cookie that it is there.
#[test]
fn a_known_peer_that_begins_again_is_asked_for_a_cookie() {
    for has_cookie in [true, false] {
        let address = [7, 7];
        let config = if has_cookie { known() } else { known().without_cookie() };
        let mut server = server(config);
        let mut open = |seed, rounds| {
            let mut client = client(seed, known());
            client.connect();
            for _ in 0..rounds {
                from_client(&mut client, NOW).iter_mut().for_each(|sent| server.hear(address, sent, |_| {}));
                let sent = network::from_server(&mut server, NOW);
                sent.into_iter().for_each(|(_, mut datagram)| client.receive(&mut datagram, |_| {}));
            }
            (client, server.status_at(address))
        };
        let (mut first, status) = open(1, 2);
        assert_eq!((first.status(), status), (Status::Established, Some(Status::Established)));
        // The cookie costs one more round trip.
        assert_eq!(open(2, 1).1, Some(Status::Established));
        let (second, status) = open(3, 3);
        assert_eq!((second.status(), status), (Status::Established, Some(Status::Established)), "{has_cookie}");
        let mut datagram = [0; 64];
        let length = first.send(b"old", &mut datagram).unwrap();
        server.hear(address, &mut datagram[..length], |_| panic!("delivered"));
    }
}

/// A connection ID says whose record it is, from whatever address it comes.
#[test]
fn a_client_with_another_address_is_found_by_its_connection_id() {
    let config = config(KEYS, 256).with_connection_id(2).unwrap();
    let mut client = super::world::client(1, config);
    let mut server = super::world::server(config);
    run(&mut client, &mut server, []);
    let (mut datagram, mut received) = ([0; 64], Vec::new());
    let length = client.send(b"22.5 C", &mut datagram).unwrap();
    server.hear([7, 7], &mut datagram[..length], |data| received.extend_from_slice(data));
    assert_eq!(received, b"22.5 C");
    assert_eq!(server.status_at([7, 7]), None, "the answers still go to the old address");
}

/// RFC 9147, section 9: the address is that of the latest record of all epochs. Somebody holds back a record of the handshake, or one
/// with the key before an update, and sends it later from elsewhere.
#[test]
fn a_withheld_record_of_an_earlier_epoch_changes_no_address() {
    let config = config(KEYS, 256).with_connection_id(2).unwrap().with_followed_addresses();
    let mut client = super::world::client(1, config);
    let mut server = super::world::server(config);
    let exchange = |client: &mut super::world::TestClient, server: &mut super::world::TestServer| {
        from_client(client, NOW).iter_mut().for_each(|sent| server.hear(PEER, sent, |_| {}));
        network::from_server(server, NOW).iter_mut().for_each(|(_, sent)| client.receive(sent, |_| {}));
    };
    client.connect();
    exchange(&mut client, &mut server);
    exchange(&mut client, &mut server);
    // The client's Finished, and again: the second one is held back.
    from_client(&mut client, NOW).iter_mut().for_each(|sent| server.hear(PEER, sent, |_| {}));
    client.handle_timeout(client.deadline().unwrap());
    let mut withheld = from_client(&mut client, NOW);
    network::from_server(&mut server, NOW).iter_mut().for_each(|(_, sent)| client.receive(sent, |_| {}));
    let mut datagram = [0; 64];
    for is_updated in [false, true] {
        if is_updated {
            client.update_keys();
            let mut update = from_client(&mut client, NOW);
            // Until the server has acknowledged its KeyUpdate, the client uses the key before.
            let length = client.send(b"2", &mut datagram).unwrap();
            withheld.push(datagram[..length].to_vec());
            update.iter_mut().for_each(|sent| server.hear(PEER, sent, |_| {}));
            (0..3).for_each(|_| exchange(&mut client, &mut server));
        }
        let length = client.send(b"1", &mut datagram).unwrap();
        server.hear(PEER, &mut datagram[..length], |data| assert_eq!(data, b"1"));
        assert_eq!(withheld.len(), 1);
        server.hear([7, 7], &mut withheld.remove(0), |_| {});
        assert_eq!(
            (server.status_at(PEER), server.status_at([7, 7])),
            (Some(Status::Established), None),
            "{is_updated}"
        );
    }
    let length = client.send(b"4", &mut datagram).unwrap();
    server.hear([7, 7], &mut datagram[..length], |_| {});
    assert_eq!(server.status_at([7, 7]), Some(Status::Established), "the latest");
}
