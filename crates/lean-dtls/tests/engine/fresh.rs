//! Attempts of a second attacker: on the path, off it, with a key of their own, or with many addresses.

use lean_dtls::crypto::{Crypto, Failed, Hash, Protection};
use lean_dtls::{
    Admission, Certificate, CertificateError, CertificateType, Client, Config, Credentials, Instant, Lean, Psk, Role,
    RustCrypto, Server, SessionState, Sessions, Status, Suite, Timeouts, Versions, X509,
};

use crate::network::At as _;
use crate::network::{
    Address, PEER, Random, ack_in_clear, fragment, from_client, from_server, in_clear, random, replace,
};
use crate::public_keys::{Any, client_x509, raw, server_x509};
use crate::world::{KEYS, Keys};

type End<K = Keys> = Client<K, RustCrypto<Random>, 1400>;
type Host<K = Keys> = Server<K, RustCrypto<Random>, Address, 2, 1400>;

const NOW: Instant = Instant::from_millis(0);
const ELSEWHERE: Address = [8, 8];

/// Twice all eight waits of a handshake: 1 + 2 + 4 + 8 + 16 + 32 + 2 * 60 s.
const PATIENCE: Instant = Instant::from_millis(2 * 183_000);

fn config<K: Credentials>(credentials: K, versions: Versions) -> Config<K> {
    let timeouts = Timeouts { initial_ms: 1000, ..Timeouts::default() };
    Config::new(credentials, 300, timeouts).unwrap().with_versions(versions)
}

fn psk(versions: Versions) -> Config<Keys> {
    config(KEYS, versions)
}

fn client<K: Credentials>(seed: u64, config: Config<K>) -> End<K> {
    let mut client = Client::new(config, RustCrypto::new(random(seed)));
    client.connect();
    client
}

fn server<K: Credentials>(config: Config<K>) -> Host<K> {
    Server::new(config, RustCrypto::new(random(99)))
}

fn ends(config: Config<Keys>) -> (End, Host) {
    (client(1, config), server(config))
}

/// The client sends what it has. Returns it.
fn send(client: &mut End<impl Credentials>, server: &mut Host<impl Credentials>, at: Address) -> Vec<Vec<u8>> {
    let sent = from_client(client, NOW);
    sent.iter().for_each(|datagram| server.hear(at, &mut datagram.clone(), |_| panic!("delivered")));
    sent
}

fn exchange(client: &mut End<impl Credentials>, server: &mut Host<impl Credentials>, at: Address, times: usize) {
    for _ in 0..times {
        send(client, server, at);
        from_server(server, NOW).iter_mut().for_each(|(_, datagram)| client.receive(datagram, |_| {}));
    }
}

/// Somebody who sees what goes to an address has the cookie for it: a handshake that is begun there, and not finished.
fn half_open(seed: u64, config: Config<Keys>, server: &mut Host, at: Address) {
    let mut attacker = client(seed, config);
    exchange(&mut attacker, server, at, 1);
    send(&mut attacker, server, at);
    from_server(server, NOW);
}

/// True if what the client sends arrives, and what the server answers.
fn works(client: &mut End<impl Credentials>, server: &mut Host<impl Credentials>, at: Address) -> bool {
    let (mut datagram, mut heard) = ([0; 100], Vec::new());
    let Ok(length) = client.send(b"up", &mut datagram) else { return false };
    server.hear(at, &mut datagram[..length], |data| heard.extend_from_slice(data));
    let Ok(length) = server.send_at(at, b"down", &mut datagram) else { return false };
    client.receive(&mut datagram[..length], |data| heard.extend_from_slice(data));
    heard == b"updown"
}

/// From now on nothing is lost. True if the client's handshake, or its session, is good when nothing more happens.
fn recovers(client: &mut End, server: &mut Host) -> bool {
    let mut now = NOW;
    loop {
        for _ in 0..5 {
            from_client(client, now).iter_mut().for_each(|sent| server.hear(PEER, sent, |_| {}));
            from_server(server, now).iter_mut().for_each(|(_, sent)| client.receive(sent, |_| {}));
        }
        let Some(deadline) = client.deadline() else { return works(client, server, PEER) };
        now = server.deadline().map_or(deadline, |other| other.min(deadline));
        client.handle_timeout(now);
        server.handle_timeout(now);
    }
}

/// It holds for each version.
fn for_each_version(holds: impl Fn(Versions) -> bool) {
    let versions = [Versions::Dtls12, Versions::Dtls13, Versions::Both];
    let fails: Vec<_> = versions.into_iter().filter(|versions| !holds(*versions)).collect();
    assert!(fails.is_empty(), "{fails:?}");
}

/// A HelloVerifyRequest with this number, and a cookie of 4 octets.
fn verify_request(sequence: u16) -> Vec<u8> {
    fragment(3, sequence, 7, 0, &[0xfe, 0xff, 4, 1, 2, 3, 4])
}

/// A HelloRetryRequest with a cookie of 4 octets, and a group if it is not 0 (RFC 8446, sections 4.1.3 and 4.2).
fn retry_request(group: u8) -> Vec<u8> {
    let mut hash = Crypto::hash(&mut RustCrypto::new(random(1)));
    hash.update(b"HelloRetryRequest");
    let key_share: &[u8] = if group > 0 { &[0, 51, 0, 2, 0, group] } else { &[] };
    let extensions = [&[0, 43, 0, 2, 0xfe, 0xfc, 0, 44, 0, 6, 0, 4, 1, 2, 3, 4], key_share].concat();
    let before = [0, 0x13, 0x05, 0, 0, extensions.len() as u8];
    let body = [&[0xfe, 0xfd][..], &hash.digest(), &before, &extensions].concat();
    fragment(2, 0, body.len() as u32, 0, &body)
}

/// HelloVerifyRequests and malformed ServerHellos in turn: the client answers with one flight more at most.
#[test]
fn hellos_forged_in_turn_make_no_flood() {
    for versions in [Versions::Dtls12, Versions::Both] {
        let mut client = client(1, psk(versions));
        let hello: usize = from_client(&mut client, NOW).iter().map(Vec::len).sum();
        let mut more = 0;
        for mut forged in (0..20).flat_map(|number| [verify_request(number), fragment(2, 0, 0, 0, &[])]) {
            client.receive(&mut forged, |_| {});
            more += from_client(&mut client, NOW).iter().map(Vec::len).sum::<usize>();
        }
        assert!(more <= 2 * hello + 48, "{versions:?}: {more} octets, {hello} of a hello");
    }
}

/// 2 octets that look like an encrypted record, again and again, to a client that waits for its ServerHello.
#[test]
fn what_looks_encrypted_makes_no_flood() {
    let (mut client, mut server) = ends(psk(Versions::Dtls13));
    exchange(&mut client, &mut server, PEER, 1);
    let hello: usize = from_client(&mut client, NOW).iter().map(Vec::len).sum();
    let mut more = 0;
    for number in 0..100 {
        client.receive(&mut [0x22, number], |_| {});
        more += from_client(&mut client, NOW).iter().map(Vec::len).sum::<usize>();
    }
    assert!(more <= hello, "{more} octets");
}

/// True if a client that hears nothing but these after each wait gives up.
fn gives_up(versions: Versions, forged: &[Vec<u8>]) -> bool {
    let (mut client, mut now) = (client(1, psk(versions)), NOW);
    while client.status() == Status::Handshaking && now <= PATIENCE {
        from_client(&mut client, now);
        forged.iter().for_each(|forged| client.receive(&mut forged.clone(), |_| {}));
        from_client(&mut client, now);
        now = client.deadline().unwrap_or(Instant::from_millis(u64::MAX));
        client.handle_timeout(now);
    }
    client.status() != Status::Handshaking
}

/// A HelloVerifyRequest or a HelloRetryRequest after each wait.
#[test]
fn a_client_gives_up_whatever_it_is_asked_for() {
    for_each_version(|versions| {
        [verify_request(0), retry_request(0)].iter().all(|one| gives_up(versions, std::slice::from_ref(one)))
    });
}

/// As above, with an alert before it.
#[test]
fn a_client_gives_up_whatever_is_forged_in_clear() {
    let forged = [verify_request(0), retry_request(0)].map(|request| [in_clear(21, 9, &[2, 40]), request]);
    for_each_version(|versions| forged.iter().all(|forged| gives_up(versions, forged)));
}

/// A client with as many repetitions as there can be.
#[test]
fn a_second_verify_request_is_no_overflow() {
    let timeouts = Timeouts { retransmissions: u8::MAX, ..Timeouts::default() };
    let mut client = client(1, Config::new(KEYS, 300, timeouts).unwrap());
    for _ in 0..2 {
        from_client(&mut client, NOW);
        client.receive(&mut verify_request(0), |_| {});
    }
    assert_eq!(client.status(), Status::Handshaking);
}

/// One HelloRetryRequest that asks for another group than that of the client's key: P-256 is 23, X25519 is 29.
#[test]
fn a_forged_request_for_another_group_ends_no_handshake() {
    for group in [23, 29] {
        let (mut client, mut server) = ends(psk(Versions::Dtls13).with_psk_agreement());
        send(&mut client, &mut server, PEER);
        client.receive(&mut retry_request(group), |_| {});
        // It is refused if it asks for the same group.
        assert!(client.status() != Status::Handshaking || recovers(&mut client, &mut server), "{group}");
    }
}

/// One HelloRetryRequest, and an acknowledgement of nothing in each wait.
#[test]
fn a_forged_request_and_acknowledgements_end_no_handshake() {
    let (mut client, mut server) = ends(psk(Versions::Dtls13));
    let mut now = NOW;
    from_client(&mut client, now);
    client.receive(&mut retry_request(0), |_| {});
    while client.status() == Status::Handshaking {
        for _ in 0..3 {
            let mut sent = from_client(&mut client, now);
            client.receive(&mut ack_in_clear(&[]), |_| {});
            sent.extend(from_client(&mut client, now));
            sent.iter_mut().for_each(|sent| server.hear(PEER, sent, |_| {}));
            from_server(&mut server, now).iter_mut().for_each(|(_, sent)| client.receive(sent, |_| {}));
        }
        now = client.deadline().unwrap_or(now);
        client.handle_timeout(now);
    }
    assert_eq!(client.status(), Status::Established);
}

/// Somebody changes a copy of a client's second hello, and is faster than the client.
fn after_a_changed_hello(client_config: Config<Keys>, config: Config<Keys>, change: impl Fn(&mut Vec<u8>)) -> bool {
    let (mut client, mut server) = (client(1, client_config), server(config));
    exchange(&mut client, &mut server, PEER, 1);
    let hello = from_client(&mut client, NOW).remove(0);
    let mut changed = hello.clone();
    change(&mut changed);
    assert_ne!(hello, changed);
    server.hear(PEER, &mut changed, |_| {});
    server.hear(PEER, &mut hello.clone(), |_| {});
    recovers(&mut client, &mut server)
}

/// In 1.3 with a wrong binder, in 1.2 with a malformed extension: the connection ID.
#[test]
fn a_hello_that_is_refused_costs_the_next_one_nothing() {
    let [older, newer] = [Versions::Dtls12, Versions::Dtls13].map(psk);
    assert!(after_a_changed_hello(newer, newer, |hello| *hello.last_mut().unwrap() ^= 1));
    let [own, its] = [0, 4].map(|octets| older.with_connection_id(octets).unwrap());
    assert!(after_a_changed_hello(own, its, |hello| assert!(replace(hello, &[0, 54, 0, 1, 0], &[0, 54, 0, 1, 9]))));
}

#[test]
fn a_hello_with_the_last_record_number_costs_the_next_one_nothing() {
    for_each_version(|versions| after_a_changed_hello(psk(versions), psk(versions), |hello| hello[5..11].fill(0xff)));
}

/// The handshake is good, or it has an end.
#[test]
fn a_hello_with_the_last_message_number_is_no_overflow() {
    for_each_version(|versions| {
        after_a_changed_hello(psk(versions), psk(versions), |hello| hello[17..19].fill(0xff));
        true
    });
}

/// A cookie is made when the associations 1 and 2 are at an address. It is not good for number 3. All slots are taken.
#[test]
fn a_cookie_of_two_associations_ends_no_later_one() {
    for_each_version(|versions| {
        let (mut old, mut server) = ends(psk(versions));
        exchange(&mut old, &mut server, PEER, 4);
        half_open(2, psk(versions), &mut server, PEER);
        let mut attacker = client(3, psk(versions));
        exchange(&mut attacker, &mut server, PEER, 1);
        let mut recorded = from_client(&mut attacker, NOW).remove(0);
        let [mut new, mut other] = [4, 5].map(|seed| client(seed, psk(versions)));
        exchange(&mut new, &mut server, PEER, 4);
        exchange(&mut other, &mut server, ELSEWHERE, 4);
        assert!(works(&mut new, &mut server, PEER) && works(&mut other, &mut server, ELSEWHERE));
        server.hear(PEER, &mut recorded, |_| {});
        works(&mut new, &mut server, PEER)
    });
}

/// Somebody without a certificate begins a handshake at the address of a client. The refusal is encrypted.
#[test]
fn a_handshake_that_is_refused_ends_no_session() {
    let mut server = server(config(Any::X509(server_x509()), Versions::Dtls13));
    let mut honest = client(1, config(Any::X509(client_x509()), Versions::Dtls13));
    exchange(&mut honest, &mut server, PEER, 4);
    assert!(works(&mut honest, &mut server, PEER));
    let nobody = Any::X509(X509 { own: None, ..client_x509() });
    exchange(&mut client(2, config(nobody, Versions::Dtls13)), &mut server, PEER, 4);
    assert!(works(&mut honest, &mut server, PEER));
}

/// Somebody without a certificate acknowledges a part of the server's flight in the name of another address.
#[test]
fn a_handshake_moves_to_no_other_address() {
    let nobody = Any::X509(X509 { own: None, ..client_x509() });
    let config = |credentials| config(credentials, Versions::Dtls13).with_connection_id(4).unwrap();
    let mut server = server(config(Any::X509(server_x509())).with_followed_addresses());
    let mut attacker = client(1, config(nobody));
    exchange(&mut attacker, &mut server, PEER, 1);
    send(&mut attacker, &mut server, PEER);
    from_server(&mut server, NOW)[..2].iter_mut().for_each(|(_, sent)| attacker.receive(sent, |_| {}));
    let mut now = attacker.deadline().unwrap();
    attacker.handle_timeout(now);
    let mut spoofed = from_client(&mut attacker, now);
    spoofed.iter_mut().for_each(|sent| server.hear(ELSEWHERE, sent, |_| {}));
    let mut octets = 0;
    loop {
        let sent = from_server(&mut server, now);
        octets += sent.iter().filter(|(to, _)| *to == ELSEWHERE).map(|(_, sent)| sent.len()).sum::<usize>();
        let Some(deadline) = server.deadline() else { break };
        now = deadline;
        server.handle_timeout(now);
    }
    let from: usize = spoofed.iter().map(Vec::len).sum();
    assert!(octets <= 3 * from, "{octets} octets for {from}");
}

/// A client moves to an address where another one was before, whose connection is over.
#[test]
fn a_connection_that_is_over_holds_no_address() {
    for_each_version(|versions| {
        let config = psk(versions).with_connection_id(4).unwrap();
        let mut server = server(config.with_followed_addresses());
        let [mut gone, mut honest] = [1, 2].map(|seed| client(seed, config));
        exchange(&mut gone, &mut server, ELSEWHERE, 4);
        gone.close();
        exchange(&mut gone, &mut server, ELSEWHERE, 1);
        exchange(&mut honest, &mut server, PEER, 4);
        let mut datagram = [0; 100];
        let length = honest.send(b"moved", &mut datagram).unwrap();
        let its = server.receive(ELSEWHERE, &mut datagram[..length], |_| {}).unwrap();
        server.address(its) == Some(ELSEWHERE)
    });
}

/// An insider says to be at the address of another client, before that comes: it gets in.
#[test]
fn an_address_that_an_insider_has_moved_to_is_free_for_its_owner() {
    for_each_version(|versions| {
        let config = psk(versions).with_connection_id(4).unwrap();
        let mut server = server(config.with_followed_addresses());
        let [mut insider, mut honest] = [1, 2].map(|seed| client(seed, config));
        exchange(&mut insider, &mut server, ELSEWHERE, 4);
        let mut datagram = [0; 100];
        let length = insider.send(b"moved", &mut datagram).unwrap();
        let its = server.receive(PEER, &mut datagram[..length], |_| {});
        assert_eq!(its, server.association_at(PEER));
        exchange(&mut honest, &mut server, PEER, 4);
        works(&mut honest, &mut server, PEER) && server.association_at(PEER) != its
    });
}

/// An insider, who sees what goes to the address of another client, has a session there. IDs tell the two apart.
#[test]
fn an_insider_at_its_address_ends_no_session_with_a_connection_id() {
    const NAMES: [Psk<'static>; 2] =
        [Psk { identity: b"A", key: b"0123456789abcdef" }, Psk { identity: b"B", key: b"fedcba9876543210" }];
    for_each_version(|versions| {
        let with = |keys: [Psk<'static>; 2]| config(keys, versions).with_connection_id(4).unwrap();
        let mut server = server(with(NAMES));
        let mut honest = client(1, with(NAMES));
        exchange(&mut honest, &mut server, PEER, 4);
        exchange(&mut client(2, with([NAMES[1], NAMES[0]])), &mut server, PEER, 4);
        let mut datagram = [0; 100];
        let length = honest.send(b"up", &mut datagram).unwrap();
        server.receive(PEER, &mut datagram[..length], |_| {}).is_some()
    });
}

/// Somebody with one address begins one handshake after another: that costs one session, and not all of them.
#[test]
fn one_address_ends_one_session_by_a_policy() {
    for_each_version(|versions| {
        let mut server = server(psk(versions).with_admission(Admission::EvictOldest));
        let mut honest = [1, 2].map(|number| (client(number, psk(versions)), [1, number as u8]));
        honest.iter_mut().for_each(|(client, at)| exchange(client, &mut server, *at, 4));
        (10..40).for_each(|seed| half_open(seed, psk(versions), &mut server, ELSEWHERE));
        honest.iter_mut().filter_map(|(client, at)| works(client, &mut server, *at).then_some(())).count() == 1
    });
}

/// The shortest hello that a server of DTLS 1.3 answers with a HelloRetryRequest: it offers a group, and no key in it.
#[test]
fn a_short_hello_is_answered_with_three_times_its_octets_at_most() {
    // supported_versions, signature_algorithms, supported_groups.
    let extensions = [0, 43, 0, 3, 2, 0xfe, 0xfc, 0, 13, 0, 4, 0, 2, 4, 3, 0, 10, 0, 4, 0, 2, 0, 23];
    let before = [0, 0, 0, 2, 0x13, 0x05, 1, 0, 0, extensions.len() as u8];
    let body = [&[0xfe, 0xfd][..], &[7; 32], &before, &extensions].concat();
    let hello = fragment(1, 0, body.len() as u32, 0, &body);
    for mtu in [64, 300] {
        let config = Config::new(Any::X509(server_x509()), mtu, Timeouts::default()).unwrap();
        let mut server = server(config.with_versions(Versions::Dtls13));
        server.hear(PEER, &mut hello.clone(), |_| {});
        let octets: usize = from_server(&mut server, NOW).iter().map(|(_, sent)| sent.len()).sum();
        assert!((1..=3 * hello.len()).contains(&octets), "{octets} for {}", hello.len());
    }
}

/// Credentials of a client without a certificate, that has the name of another, and trusts all servers.
struct Named;

impl Credentials for Named {
    fn psk(&self) -> Option<Psk<'_>> {
        Some(Psk { key: b"not its key", ..KEYS[0] })
    }

    fn accepted(&self) -> &[CertificateType] {
        &[CertificateType::RawPublicKey]
    }

    fn check_peer(&self, _: Role, _: &Certificate<'_>) -> Result<(), CertificateError> {
        Ok(())
    }
}

/// A client without a certificate offers the lean profile in the name of another, in a suite with certificates.
#[test]
fn the_identity_of_a_lean_offer_names_nobody_with_a_certificate() {
    const SUITES: &[Suite] = &[Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, Suite::TLS_PSK_WITH_AES_128_CCM_8];
    let config = |credentials| config(credentials, Versions::Dtls12).with_suites(SUITES);
    let lean = self::config(Named, Versions::Dtls12).with_suites(SUITES).with_lean(Lean::OMIT_MESSAGES);
    let (mut client, mut server) = (client(1, lean), server(config(Any::Raw(raw(&server_x509(), None)))));
    exchange(&mut client, &mut server, PEER, 4);
    assert!(works(&mut client, &mut server, PEER));
    assert_eq!(server.peer_identity(server.association_at(PEER).unwrap()), None);
}

/// The cryptography of a client whose records with the content 2, 40 are alerts: fatal, handshake_failure.
struct Alerting(RustCrypto<Random>);

impl Crypto for Alerting {
    type Hash = <RustCrypto<Random> as Crypto>::Hash;

    fn hash(&mut self) -> Self::Hash {
        self.0.hash()
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &mut [u8]) -> Result<(), Failed> {
        let mut associated = with.associated.to_vec();
        associated[8] = if content == [2, 40] { 21 } else { associated[8] };
        self.0.seal(&Protection { associated: &associated, ..*with }, content, tag)
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8]) -> Result<(), Failed> {
        self.0.open(with, content, tag)
    }

    fn random(&mut self, octets: &mut [u8]) {
        self.0.random(octets);
    }
}

/// The number of sessions that a server was told to forget.
struct Forgotten(usize);

impl Sessions for Forgotten {
    fn keeps(&self) -> bool {
        true
    }

    fn keep(&mut self, _: SessionState) {}

    fn find(&self, _: &[u8]) -> Option<&SessionState> {
        None
    }

    fn forget(&mut self, _: &[u8]) {
        self.0 += 1;
    }
}

/// A client with a ticket chooses the name of its session: that of another's, in clear. It sends a fatal alert.
#[test]
fn a_client_with_a_ticket_ends_no_session_of_another() {
    let (config, crypto) = (psk(Versions::Dtls12).with_tickets(), RustCrypto::new(random(99)));
    let mut server = Server::<_, _, Address, 2, 1400, _>::with_sessions(config, crypto, Forgotten(0));
    let (mut session, mut output) = (None, [0; 600]);
    for seed in 1..=2 {
        let mut client = Client::<_, _, 1400>::new(config, Alerting(RustCrypto::new(random(seed))));
        session.into_iter().for_each(|session| client.resume(session));
        client.connect();
        for _ in 0..4 {
            from_client(&mut client, NOW).iter_mut().for_each(|sent| server.hear(PEER, sent, |_| {}));
            while let Some((_, length)) = server.poll_transmit(NOW, &mut output) {
                client.receive(&mut output[..length], |_| {});
            }
        }
        assert_eq!((client.status(), client.is_resumed()), (Status::Established, seed == 2));
        session = client.take_session();
        let length = client.send(&[2, 40], &mut output).unwrap();
        output[0] = 21;
        server.hear(PEER, &mut output[..if seed == 2 { length } else { 0 }], |_| panic!("delivered"));
    }
    assert!(matches!(server.status_at(PEER), Some(Status::Failed(_))));
    assert_eq!(server.sessions().0, 0);
}
