//! Sessions that are resumed by their ID or by a ticket (RFC 5246, section 7.3; RFC 5077), and those that must not be.

use lean_dtls::{Client, Config, Failure, Instant, RustCrypto, Server, Session, SessionCache, Sessions, Status};

use crate::network::At as _;
use crate::world::{KEYS, Keys, PEER, Random, config, random, replace};

type Crypto = RustCrypto<Random>;
type TestClient = Client<Keys, Crypto, 256>;
type TestServer<S> = Server<Keys, Crypto, [u8; 2], 2, 256, S>;

/// Alerts of RFC 5246, section 7.2.
const HANDSHAKE_FAILURE: u8 = 40;
const ILLEGAL_PARAMETER: u8 = 47;
const DECRYPT_ERROR: u8 = 51;

fn client(seed: u64, session: Option<Session>, change: impl FnOnce(Config<Keys>) -> Config<Keys>) -> TestClient {
    let mut client = Client::new(change(config(KEYS, 300)), RustCrypto::new(random(seed)));
    session.into_iter().for_each(|session| client.resume(session));
    client
}

fn caching() -> TestServer<SessionCache<2>> {
    Server::with_sessions(config(KEYS, 300), RustCrypto::new(random(99)), SessionCache::new())
}

fn sealing(seed: u64, key: &[u8; 16]) -> TestServer<()> {
    let mut server = Server::new(config(KEYS, 300).with_tickets(), RustCrypto::new(random(seed)));
    server.rotate_ticket_key(key);
    server
}

/// Runs a handshake from `start` milliseconds on, in which somebody on the path changes or drops datagrams: `fate` gets the
/// number of each and whether it goes to the server, and says whether it arrives. Returns their lengths.
fn run_from<S: Sessions>(
    start: u64,
    client: &mut TestClient,
    server: &mut TestServer<S>,
    mut fate: impl FnMut(usize, bool, &mut Vec<u8>) -> bool,
) -> Vec<usize> {
    let mut now = Instant::from_millis(start);
    let (mut output, mut lengths) = ([0; 300], Vec::new());
    client.connect();
    loop {
        let before = lengths.len();
        while let length @ 1.. = client.poll_transmit(now, &mut output) {
            let mut datagram = output[..length].to_vec();
            lengths.push(length);
            if fate(lengths.len() - 1, true, &mut datagram) {
                server.hear(PEER, &mut datagram, |_| {});
            }
        }
        while let Some((_, length)) = server.poll_transmit(now, &mut output) {
            let mut datagram = output[..length].to_vec();
            lengths.push(length);
            if fate(lengths.len() - 1, false, &mut datagram) {
                client.receive(&mut datagram, |_| {});
            }
        }
        if lengths.len() == before {
            let Some(deadline) = [client.deadline(), server.deadline()].into_iter().flatten().min() else {
                return lengths;
            };
            now = deadline;
            client.handle_timeout(now);
            server.handle_timeout(now);
        }
    }
}

fn run<S: Sessions>(client: &mut TestClient, server: &mut TestServer<S>) -> Vec<usize> {
    run_from(0, client, server, |_, _, _| true)
}

/// The session of a full handshake.
fn first<S: Sessions>(server: &mut TestServer<S>, change: impl FnOnce(Config<Keys>) -> Config<Keys>) -> Session {
    first_of(1, server, change)
}

/// As above, with the client's randomness.
fn first_of<S: Sessions>(
    seed: u64,
    server: &mut TestServer<S>,
    change: impl FnOnce(Config<Keys>) -> Config<Keys>,
) -> Session {
    let mut client = client(seed, None, change);
    assert!(client.take_session().is_none(), "not yet");
    run(&mut client, server);
    assert_eq!((client.status(), client.is_resumed(), server.is_resumed_at(PEER)), (Status::Established, false, false));
    client.take_session().expect("the server gave one")
}

fn with_tickets(config: Config<Keys>) -> Config<Keys> {
    config.with_tickets()
}

fn plain(config: Config<Keys>) -> Config<Keys> {
    config
}

/// The status of the association that was opened last.
fn latest<S: Sessions>(server: &TestServer<S>) -> Option<Status> {
    server.status(server.associations().max()?)
}

/// Both are established, and what one sends the other reads. Returns whether the session was resumed.
fn works<S: Sessions>(client: &mut TestClient, server: &mut TestServer<S>) -> bool {
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
    let (mut datagram, mut heard) = ([0; 100], Vec::new());
    let length = client.send(b"up", &mut datagram).unwrap();
    server.hear(PEER, &mut datagram[..length], |data| heard.extend_from_slice(data));
    let length = server.send_at(PEER, b"down", &mut datagram).unwrap();
    client.receive(&mut datagram[..length], |data| heard.extend_from_slice(data));
    assert_eq!(heard, b"updown");
    assert_eq!(client.is_resumed(), server.is_resumed_at(PEER));
    client.is_resumed()
}

#[test]
fn a_session_is_resumed_by_its_id() {
    let mut server = caching();
    let mut session = first(&mut server, plain);
    assert!(session.ticket().is_empty());
    for seed in 2..4 {
        let mut again = client(seed, Some(session), plain);
        // By hand: a ClientHello of 75 octets and 32 of ID; HelloVerifyRequest; 16 of cookie; ServerHello of 74 and 32 of ID with
        // ChangeCipherSpec 14 and Finished 53; the last two from the client.
        assert_eq!(run(&mut again, &mut server), [107, 44, 123, 106 + 14 + 53, 14 + 53]);
        assert!(works(&mut again, &mut server));
        session = again.take_session().expect("it can be resumed again");
    }
}

#[test]
fn a_session_is_resumed_by_its_ticket_on_any_server_with_the_key() {
    let session = first(&mut sealing(5, &[7; 16]), with_tickets);
    assert_eq!((session.ticket().len(), session.lifetime_s()), (4 + 12 + 59 + 10 + 8, 86_400));
    let mut again = client(2, Some(session), with_tickets);
    let mut other = sealing(6, &[7; 16]);
    let lengths = run(&mut again, &mut other);
    assert!(works(&mut again, &mut other));
    // The hellos have 8 octets of ID, and the ticket with 4 of its extension. In the ticket, 10 say who the client is.
    assert_eq!(lengths, [75 + 8 + 97, 44, 91 + 8 + 97, 82 + 14 + 53, 14 + 53]);
    assert!(again.take_session().is_some());
}

#[test]
fn a_resumption_survives_the_loss_of_any_datagram() {
    for lost in 0..5 {
        let mut server = caching();
        let session = first(&mut server, plain);
        let mut again = client(2, Some(session), plain);
        run_from(0, &mut again, &mut server, |number, _, _| number != lost);
        assert!(works(&mut again, &mut server), "{lost}");
    }
}

#[test]
fn the_full_handshake_with_a_ticket_survives_the_loss_of_any_datagram() {
    for lost in 0..6 {
        let mut server = sealing(5, &[7; 16]);
        let mut client = client(1, None, with_tickets);
        run_from(0, &mut client, &mut server, |number, _, _| number != lost);
        assert!(!works(&mut client, &mut server), "{lost}");
        assert!(!client.take_session().unwrap().ticket().is_empty(), "{lost}");
    }
}

#[test]
fn what_the_server_does_not_know_is_a_full_handshake() {
    // A name that it does not have (any more): two newer ones took the places.
    let mut server = caching();
    let session = first(&mut server, plain);
    for seed in 11..13 {
        first_of(seed, &mut server, plain);
    }
    let mut again = client(2, Some(session), plain);
    run(&mut again, &mut server);
    assert!(!works(&mut again, &mut server));
    assert!(again.take_session().is_some(), "a new one");

    // A ticket under another key, two rotations later, and on a server without tickets.
    let session = first(&mut sealing(5, &[7; 16]), with_tickets);
    let mut rotated = sealing(6, &[7; 16]);
    rotated.rotate_ticket_key(&[8; 16]);
    rotated.rotate_ticket_key(&[9; 16]);
    for mut server in [sealing(6, &[8; 16]), rotated, Server::new(config(KEYS, 300), RustCrypto::new(random(4)))] {
        let mut again = client(2, Some(session.clone()), with_tickets);
        run(&mut again, &mut server);
        assert!(!works(&mut again, &mut server));
    }
    let mut once = sealing(6, &[7; 16]);
    once.rotate_ticket_key(&[8; 16]);
    let mut again = client(2, Some(session), with_tickets);
    run(&mut again, &mut once);
    assert!(works(&mut again, &mut once), "the key before");
}

/// Somebody on the path changes an octet of the ticket in both hellos: the server makes a full handshake of it, whose
/// transcript differs between the ends, so nothing is established.
#[test]
fn an_altered_ticket_opens_nothing() {
    let mut server = sealing(5, &[7; 16]);
    let session = first(&mut server, with_tickets);
    let ticket = session.ticket().to_vec();
    for place in [0, 4, 20, ticket.len() - 1] {
        let (mut altered, mut again) = (ticket.clone(), client(2, Some(session.clone()), with_tickets));
        altered[place] ^= 1;
        run_from(0, &mut again, &mut server, |_, to_server, datagram| {
            if to_server {
                replace(datagram, &ticket, &altered);
            }
            true
        });
        assert!(!server.is_resumed_at(PEER) && !again.is_resumed(), "{place}");
        assert!(matches!(again.status(), Status::Failed(_)), "{place}");
    }
}

#[test]
fn a_session_is_resumed_as_long_as_the_server_says() {
    for (at, expected) in [(59_999, true), (60_000, false)] {
        let lifetime = |config: Config<Keys>| config.with_session_lifetime(60);
        let mut server: TestServer<SessionCache<2>> =
            Server::with_sessions(lifetime(config(KEYS, 300)), RustCrypto::new(random(9)), SessionCache::new());
        let session = first(&mut server, plain);
        let mut again = client(2, Some(session), plain);
        run_from(at, &mut again, &mut server, |_, _, _| true);
        assert_eq!(works(&mut again, &mut server), expected, "{at}");

        let mut server: TestServer<()> =
            Server::new(lifetime(config(KEYS, 300)).with_tickets(), RustCrypto::new(random(9)));
        let session = first(&mut server, with_tickets);
        assert_eq!(session.lifetime_s(), 60);
        let mut again = client(2, Some(session), with_tickets);
        run_from(at, &mut again, &mut server, |_, _, _| true);
        assert_eq!(works(&mut again, &mut server), expected, "{at}");
    }
}

/// A ticket that is younger than the server's clock is of another life of the server.
#[test]
fn a_ticket_from_the_future_is_not_taken() {
    let mut server = sealing(5, &[7; 16]);
    let mut early = client(1, None, with_tickets);
    run_from(5_000, &mut early, &mut server, |_, _, _| true);
    let session = early.take_session().unwrap();
    let mut rebooted = sealing(6, &[7; 16]);
    let mut again = client(2, Some(session), with_tickets);
    run_from(1_000, &mut again, &mut rebooted, |_, _, _| true);
    assert!(!works(&mut again, &mut rebooted));
}

/// RFC 7627, section 5.3: a session with extended master secret is not resumed without it, by neither end. The keys of a
/// resumption do not depend on the hellos, so only these checks stand before the Finished.
#[test]
fn a_resumption_without_extended_master_secret_is_refused() {
    let strip = |datagram: &mut Vec<u8>| replace(datagram, &[0, 0x17, 0, 0], &[0x99, 0x17, 0, 0]);
    let mut server = caching();
    let session = first(&mut server, plain);
    let mut again = client(2, Some(session.clone()), plain);
    run_from(0, &mut again, &mut server, |_, to_server, datagram| {
        if to_server {
            strip(datagram);
        }
        true
    });
    assert_eq!(latest(&server), Some(Status::Failed(Failure::AlertSent(HANDSHAKE_FAILURE))));

    // Out of the ServerHello too. The lengths of record, message, fragment and list are 4 octets less.
    let mut server = caching();
    let session = first(&mut server, plain);
    let mut again = client(2, Some(session), plain);
    run_from(0, &mut again, &mut server, |number, _, datagram| {
        if number == 3 {
            let place = datagram.windows(4).position(|window| window == [0, 0x17, 0, 0]).unwrap();
            datagram.drain(place..place + 4);
            [12, 13 + 3, 13 + 11, place - 1].iter().for_each(|octet| datagram[*octet] -= 4);
        }
        true
    });
    assert_eq!(again.status(), Status::Failed(Failure::AlertSent(HANDSHAKE_FAILURE)));
}

/// Somebody who takes a client's preference of suites away, in both hellos: the keys are the same, the Finished tells.
#[test]
fn an_altered_hello_of_a_resumption_is_found_by_the_finished() {
    let mut server = caching();
    let session = first(&mut server, plain);
    let mut again = client(2, Some(session), plain);
    run_from(0, &mut again, &mut server, |_, to_server, datagram| {
        if to_server {
            // The SCSV of RFC 5746 becomes another number.
            replace(datagram, &[0xc0, 0xa8, 0, 0xff], &[0xc0, 0xa8, 0, 0xfe]);
        }
        true
    });
    assert_eq!(again.status(), Status::Failed(Failure::AlertSent(DECRYPT_ERROR)));
    assert_ne!(latest(&server), Some(Status::Established));
}

/// The suite of a session is that of its resumptions: the server must not say another one (RFC 5246, section 7.4.1.3).
#[test]
#[cfg(feature = "gcm")]
fn a_session_of_another_suite_is_not_resumed() {
    use lean_dtls::Suite::{TLS_PSK_WITH_AES_128_CCM_8 as CCM_8, TLS_PSK_WITH_AES_128_GCM_SHA256 as GCM};
    let both = |config: Config<Keys>| config.with_suites(&[CCM_8, GCM]);
    let gcm = |config: Config<Keys>| config.with_suites(&[GCM]);
    let server = |change: fn(Config<Keys>) -> Config<Keys>, seed| {
        let mut server: TestServer<()> =
            Server::new(change(config(KEYS, 300)).with_tickets(), RustCrypto::new(random(seed)));
        server.rotate_ticket_key(&[7; 16]);
        server
    };
    let session = first(&mut server(both, 5), |config| both(config).with_tickets());
    // A client, and a server, that have only the other one now.
    let mut again = client(2, Some(session.clone()), |config| gcm(config).with_tickets());
    let mut to = server(both, 6);
    run(&mut again, &mut to);
    assert!(!works(&mut again, &mut to));
    let mut again = client(2, Some(session.clone()), |config| both(config).with_tickets());
    let mut to = server(gcm, 6);
    run(&mut again, &mut to);
    assert!(!works(&mut again, &mut to));
    // A server that takes the session, and says the other suite.
    let mut again = client(2, Some(session), |config| both(config).with_tickets());
    run_from(0, &mut again, &mut server(both, 6), |number, _, datagram| {
        if number == 3 {
            replace(datagram, &[0xc0, 0xa8, 0], &[0x00, 0xa8, 0]);
        }
        true
    });
    assert_eq!(again.status(), Status::Failed(Failure::AlertSent(ILLEGAL_PARAMETER)));
}

/// RFC 6066, section 4: the length holds for the session and its resumptions.
#[test]
#[cfg(feature = "record-limits")]
fn a_session_with_another_fragment_length_is_not_resumed() {
    use lean_dtls::MaxFragmentLength::{Octets512, Octets1024};
    let long = |config: Config<Keys>| config.with_max_fragment_length(Octets1024);
    let short = |config: Config<Keys>| config.with_max_fragment_length(Octets512);
    let mut server: TestServer<SessionCache<2>> =
        Server::with_sessions(long(config(KEYS, 300)), RustCrypto::new(random(9)), SessionCache::new());
    let session = first(&mut server, short);
    for (seed, change, expected) in [(2, &short as &dyn Fn(_) -> _, true), (3, &long, false), (4, &plain, false)] {
        let mut again = client(seed, Some(session.clone()), change);
        run(&mut again, &mut server);
        assert_eq!(works(&mut again, &mut server), expected);
    }
}

/// A server does nothing for a resumption before the cookie has returned either (RFC 6347, section 4.2.1).
#[test]
fn the_cookie_guards_a_resumption() {
    let mut server = caching();
    let session = first(&mut server, plain);
    let mut output = [0; 300];
    let mut again = client(2, Some(session), plain);
    again.connect();
    let length = again.poll_transmit(Instant::from_millis(0), &mut output);
    server.hear([6, 6], &mut output[..length], |_| {});
    assert_eq!(server.status_at([6, 6]), None);
    let (peer, answer) = server.poll_transmit(Instant::from_millis(0), &mut output).unwrap();
    assert_eq!((peer, output[13]), ([6, 6], 3), "a HelloVerifyRequest");
    assert!(answer < length);
}

/// A client with so little room asks for nothing.
#[test]
fn a_ticket_that_has_no_room_is_left_out() {
    let session = first(&mut sealing(5, &[7; 16]), with_tickets);
    let mut small = Client::<_, _, 128>::new(config(KEYS, 300).with_tickets(), RustCrypto::new(random(3)));
    small.resume(session);
    small.connect();
    let mut server = sealing(6, &[7; 16]);
    let (now, mut output) = (Instant::from_millis(0), [0; 300]);
    for _ in 0..4 {
        while let length @ 1.. = small.poll_transmit(now, &mut output) {
            server.hear(PEER, &mut output[..length], |_| {});
        }
        while let Some((_, length)) = server.poll_transmit(now, &mut output) {
            small.receive(&mut output[..length], |_| {});
        }
    }
    assert_eq!((small.status(), small.is_resumed()), (Status::Established, false));
}

#[test]
fn a_failed_handshake_leaves_no_session() {
    let mut server = caching();
    let session = first(&mut server, plain);
    let mut again = client(2, Some(session), plain);
    run_from(0, &mut again, &mut server, |number, _, _| number < 3);
    assert!(matches!(again.status(), Status::Failed(Failure::TimedOut(_))));
    assert!(again.take_session().is_none());
}

/// A client of the lean profile that asks for a session: what is resumed leaves nothing out.
#[test]
#[cfg(feature = "lean")]
fn a_session_of_the_lean_profile_is_resumed_without_it() {
    use lean_dtls::Lean;
    let lean = |config: Config<Keys>| config.with_lean(Lean::ALL);
    let mut server: TestServer<SessionCache<2>> =
        Server::with_sessions(lean(config(KEYS, 300)), RustCrypto::new(random(9)), SessionCache::new());
    let session = first(&mut server, lean);
    let mut again = client(2, Some(session), lean);
    run(&mut again, &mut server);
    assert!(works(&mut again, &mut server));
    // It has no place for a ticket, so there is none.
    let both = |config: Config<Keys>| config.with_lean(Lean::ALL).with_tickets();
    let mut server: TestServer<()> = Server::new(both(config(KEYS, 300)), RustCrypto::new(random(9)));
    let mut full = client(1, None, both);
    run(&mut full, &mut server);
    assert!(!works(&mut full, &mut server));
    assert!(full.take_session().is_none());
}
