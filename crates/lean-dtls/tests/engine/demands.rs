//! A session is resumed only where its client would be let in: at servers that share a key for tickets and demand different things, and
//! at one that has changed its mind. And who has resumed it has the same name.

use lean_dtls::{Client, Config, Credentials, Instant, Psk, RustCrypto, Server, Session, Status, Timeouts, X509};

use crate::network::{PEER, Random, random};
use crate::public_keys::{Any, CLIENT, ECDSA, OTHER, client_x509, config, public_key, raw, server_x509};
use crate::world::Address;

const BUFFER: usize = 1400;
const NOW: Instant = Instant::from_millis(0);

type TestServer<K> = Server<K, RustCrypto<Random>, Address, 2, BUFFER>;

/// The outcome of a handshake.
struct Outcome {
    is_established: bool,
    is_resumed: bool,
    key: Option<[u8; 65]>,
    identity: Option<Vec<u8>>,
    session: Option<Session>,
}

/// A server with these credentials. All servers have the same key for tickets.
fn server<K: Credentials>(config: Config<K>) -> TestServer<K> {
    let mut server = Server::new(config.with_tickets(), RustCrypto::new(random(9)));
    server.rotate_ticket_key(&[7; 16]);
    server
}

/// A handshake of a client with these credentials, which has a session or none.
fn connect<K: Credentials, L: Credentials>(
    server: &mut TestServer<L>,
    config: Config<K>,
    session: Option<Session>,
) -> Outcome {
    let seed = if session.is_some() { 2 } else { 1 };
    let mut client = Client::<_, _, BUFFER>::new(config.with_tickets(), RustCrypto::new(random(seed)));
    session.into_iter().for_each(|session| client.resume(session));
    client.connect();
    let mut output = [0; 1300];
    for _ in 0..5 {
        while let length @ 1.. = client.poll_transmit(NOW, &mut output) {
            server.receive(PEER, &mut output[..length], |_| {});
        }
        while let Some((_, length)) = server.poll_transmit(NOW, &mut output) {
            client.receive(&mut output[..length], |_| {});
        }
    }
    let association = server.associations().max().unwrap();
    let is_established =
        (client.status(), server.status(association)) == (Status::Established, Some(Status::Established));
    assert_eq!(is_established && client.is_resumed(), is_established && server.is_resumed(association));
    Outcome {
        is_established,
        is_resumed: client.is_resumed(),
        key: server.peer_public_key(association).copied(),
        identity: server.peer_identity(association).map(<[u8]>::to_vec),
        session: client.take_session(),
    }
}

/// The client's first session is with one server, and it then comes with it to the other.
fn from_one_to_the_other(client: Any, one: Any, other: Any) -> Outcome {
    let first = connect(&mut server(config(one, ECDSA)), config(client, ECDSA), None);
    assert!(first.is_established && !first.is_resumed);
    connect(&mut server(config(other, ECDSA)), config(client, ECDSA), Some(first.session.expect("a ticket")))
}

#[test]
fn a_client_without_a_certificate_does_not_get_in_with_a_ticket_where_one_is_demanded() {
    let nobody = X509 { own: None, ..client_x509() };
    let demands_none = Any::X509(X509 { authorities: &[], ..server_x509() });
    let outcome = from_one_to_the_other(Any::X509(nobody), demands_none, Any::X509(server_x509()));
    assert!(!outcome.is_established && outcome.key.is_none());
    let outcome = from_one_to_the_other(Any::X509(nobody), demands_none, demands_none);
    assert!(outcome.is_established && outcome.is_resumed && outcome.key.is_none());
}

#[test]
fn a_certificate_is_good_with_the_same_authorities_and_is_named_again() {
    let trusts_others = Any::X509(X509 { authorities: &[OTHER], ..server_x509() });
    let [client, server] = [client_x509(), server_x509()].map(Any::X509);
    assert!(!from_one_to_the_other(client, server, trusts_others).is_established);
    let outcome = from_one_to_the_other(client, server, server);
    assert!(outcome.is_established && outcome.is_resumed);
    assert_eq!(outcome.key, Some(public_key(CLIENT)));
}

#[test]
fn a_raw_public_key_is_good_as_long_as_it_is_known_and_is_named_again() {
    let (own, peers) = (client_x509(), server_x509());
    let client = Any::Raw(raw(&own, Some(&peers)));
    let knows_it = Any::Raw(raw(&peers, Some(&own)));
    let knows_another = Any::Raw(raw(&peers, Some(&peers)));
    assert!(!from_one_to_the_other(client, knows_it, knows_another).is_established);
    let outcome = from_one_to_the_other(client, knows_it, knows_it);
    assert!(outcome.is_established && outcome.is_resumed);
    assert_eq!(outcome.key, Some(public_key(CLIENT)));
}

const A: Psk<'static> = Psk { identity: b"A", key: b"0123456789abcdef" };
const B: Psk<'static> = Psk { identity: b"B", key: b"fedcba9876543210" };

fn psk(keys: &'static [Psk<'static>]) -> Config<&'static [Psk<'static>]> {
    Config::new(keys, 400, Timeouts::default()).unwrap()
}

#[test]
fn a_pre_shared_key_is_good_as_long_as_it_is_known_and_is_named_again() {
    for (other, is_good) in [(&[A][..], true), (&[B], false), (&[B, A], true)] {
        let first = connect(&mut server(psk(&[A, B])), psk(&[A]), None);
        assert_eq!(first.identity.as_deref(), Some(&b"A"[..]));
        let second = connect(&mut server(psk(other)), psk(&[A]), first.session);
        assert_eq!((second.is_established, second.is_resumed), (is_good, is_good));
        assert_eq!(second.identity.as_deref(), is_good.then_some(&b"A"[..]));
    }
}

/// A client asks for no session in which it was somebody else, or which another server than it now trusts has opened.
#[test]
fn a_client_asks_only_for_a_session_that_its_configuration_allows() {
    let first = connect(&mut server(psk(&[A, B])), psk(&[A]), None);
    let second = connect(&mut server(psk(&[A, B])), psk(&[B]), first.session);
    assert_eq!((second.is_established, second.is_resumed), (true, false));
    assert_eq!(second.identity.as_deref(), Some(&b"B"[..]));
    let (own, peers) = (client_x509(), server_x509());
    let knows_it = Any::Raw(raw(&peers, Some(&own)));
    let first = connect(&mut server(config(knows_it, ECDSA)), config(Any::Raw(raw(&own, Some(&peers))), ECDSA), None);
    assert!(first.is_established);
    let trusts_another = Any::Raw(raw(&own, Some(&own)));
    let second = connect(&mut server(config(knows_it, ECDSA)), config(trusts_another, ECDSA), first.session);
    assert!(!second.is_established);
}

/// An identity that is too long to keep has a connection, but no name, and its session is not resumed.
#[test]
fn an_identity_that_is_too_long_has_no_name_and_no_session() {
    const LONG: Psk<'static> = Psk { identity: &[b'x'; lean_dtls::MAX_IDENTITY + 1], key: b"0123456789abcdef" };
    let first = connect(&mut server(psk(&[LONG])), psk(&[LONG]), None);
    assert!(first.is_established && first.identity.is_none());
    let second = connect(&mut server(psk(&[LONG])), psk(&[LONG]), first.session);
    assert!(second.is_established && !second.is_resumed);
}
