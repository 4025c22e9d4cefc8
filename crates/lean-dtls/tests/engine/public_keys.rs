//! Key agreement, raw public keys and certificates: they complete under faults, and nothing forged is accepted.

use lean_dtls::crypto::{Crypto, Group, Hash};
use lean_dtls::{
    Certificate, CertificateError, CertificateType, CertifiedKey, Client, Config, Credentials, EcdsaP256Sha256,
    Failure, Instant, Psk, RawPublicKey, Role, RustCrypto, Server, Status, Suite, Timeouts, X509, spki,
};

use crate::network::At as _;
use crate::world::{Address, KEYS, PEER, Random, random};

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../credentials/", $name))
    };
}

const AUTHORITY: &[u8] = file!("authority.der");
pub const OTHER: &[u8] = file!("other.der");
const SERVER: &[&[u8]] = &[file!("server.der"), file!("issuer.der")];
pub const CLIENT: &[&[u8]] = &[file!("client.der"), file!("issuer.der")];

pub const ECDSA: &[Suite] = &[Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8];
pub const ECDHE_PSK: &[Suite] = &[Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256];

/// Alerts of RFC 5246, section 7.2.
const HANDSHAKE_FAILURE: u8 = 40;
const BAD_CERTIFICATE: u8 = 42;
const UNSUPPORTED_CERTIFICATE: u8 = 43;
const CERTIFICATE_UNKNOWN: u8 = 46;
const ILLEGAL_PARAMETER: u8 = 47;
const UNKNOWN_CA: u8 = 48;
const DECODE_ERROR: u8 = 50;
const DECRYPT_ERROR: u8 = 51;

/// Message types of RFC 5246, section 7.4.
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const CERTIFICATE: u8 = 11;
const SERVER_KEY_EXCHANGE: u8 = 12;
const CERTIFICATE_REQUEST: u8 = 13;
const CERTIFICATE_VERIFY: u8 = 15;
const CLIENT_KEY_EXCHANGE: u8 = 16;

/// Credentials of any kind.
#[derive(Clone, Copy)]
pub enum Any {
    Psk,
    Raw(RawPublicKey<'static>),
    X509(X509<'static>),
}

macro_rules! delegate {
    ($self:ident . $call:ident ( $($argument:expr),* )) => {
        match $self {
            Any::Psk => KEYS_FOR_EVER.$call($($argument),*),
            Any::Raw(inner) => inner.$call($($argument),*),
            Any::X509(inner) => inner.$call($($argument),*),
        }
    };
}

static KEYS_FOR_EVER: [Psk<'static>; 1] = KEYS;

impl Credentials for Any {
    fn psk(&self) -> Option<Psk<'_>> {
        delegate!(self.psk())
    }

    fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
        delegate!(self.find_psk(identity))
    }

    fn certificate(&self) -> Option<CertifiedKey<'_>> {
        delegate!(self.certificate())
    }

    fn accepted(&self) -> &[CertificateType] {
        delegate!(self.accepted())
    }

    fn check_peer(&self, peer: Role, certificate: &Certificate<'_>) -> Result<(), CertificateError> {
        delegate!(self.check_peer(peer, certificate))
    }

    #[cfg(feature = "resumption")]
    fn session_context(&self, add: &mut dyn FnMut(&[u8])) {
        delegate!(self.session_context(add));
    }
}

fn certified(chain: &'static [&'static [u8]], private_key: &'static [u8; 32]) -> Option<CertifiedKey<'static>> {
    Some(CertifiedKey { certificate: Certificate::X509(chain), private_key })
}

/// An end that trusts the authority, with this certificate.
fn trusting(own: Option<CertifiedKey<'static>>) -> X509<'static> {
    X509 {
        own,
        authorities: &[AUTHORITY],
        server_name: Some("sensors.example"),
        unix_time: || 1_893_456_000, // 2030-01-01
        algorithms: EcdsaP256Sha256::ONLY,
    }
}

pub fn server_x509() -> X509<'static> {
    trusting(certified(SERVER, file!("server.key")))
}

pub fn client_x509() -> X509<'static> {
    trusting(certified(CLIENT, file!("client.key")))
}

/// The public key in a certificate.
pub fn public_key(chain: &[&[u8]]) -> [u8; 65] {
    Certificate::X509(chain).public_key().unwrap()
}

/// An end with the key of its certificate, that trusts the key of another.
pub fn raw(own: &X509<'static>, trusted: Option<&X509<'static>>) -> RawPublicKey<'static> {
    let key = |end: &X509<'static>| end.own.unwrap().certificate.public_key().unwrap();
    let spki = Box::leak(Box::new(spki(&key(own))));
    let trusted: Vec<_> = trusted.iter().map(|end| key(end)).collect();
    RawPublicKey { own: Some((spki, own.own.unwrap().private_key)), trusted: trusted.leak() }
}

pub fn config(credentials: Any, suites: &'static [Suite]) -> Config<Any> {
    let timeouts = Timeouts { initial_ms: 1000, ..Timeouts::default() };
    Config::new(credentials, 1200, timeouts).unwrap().with_suites(suites)
}

struct Pair<const BUFFER: usize = 1400> {
    client: Client<Any, RustCrypto<Random>, BUFFER>,
    server: Server<Any, RustCrypto<Random>, Address, 1, BUFFER>,
}

impl Pair {
    fn new(client: Any, server: Any, suites: &'static [Suite]) -> Self {
        Self::of(config(client, suites), config(server, suites), 1)
    }

    fn mutual() -> Self {
        Self::new(Any::X509(client_x509()), Any::X509(server_x509()), ECDSA)
    }
}

impl<const BUFFER: usize> Pair<BUFFER> {
    fn of(client: Config<Any>, server: Config<Any>, seed: u64) -> Self {
        let client = Client::new(client, RustCrypto::new(random(seed)));
        Self { client, server: Server::new(server, RustCrypto::new(random(seed + 98))) }
    }

    /// Runs the handshake through somebody on the path, who gets the number of each datagram and passes it on as zero or
    /// more. Returns what both ends have become.
    fn run(&mut self, mut path: impl FnMut(usize, Vec<u8>) -> Vec<Vec<u8>>) -> [Status; 2] {
        let (mut now, mut numbers) = (Instant::from_millis(0), 0..);
        let mut output = [0; 1300];
        self.client.connect();
        loop {
            let mut flying = Vec::new();
            while let length @ 1.. = self.client.poll_transmit(now, &mut output) {
                flying.push((true, path(numbers.next().unwrap(), output[..length].to_vec())));
            }
            while let Some((_, length)) = self.server.poll_transmit(now, &mut output) {
                flying.push((false, path(numbers.next().unwrap(), output[..length].to_vec())));
            }
            if flying.is_empty() {
                let Some(deadline) = [self.client.deadline(), self.server.deadline()].into_iter().flatten().min()
                else {
                    return [self.client.status(), self.server.status_at(PEER).unwrap_or(Status::Handshaking)];
                };
                now = deadline;
                self.client.handle_timeout(now);
                self.server.handle_timeout(now);
            }
            for (is_to_server, datagrams) in flying {
                for mut datagram in datagrams {
                    match is_to_server {
                        true => self.server.hear(PEER, &mut datagram, |_| {}),
                        false => self.client.receive(&mut datagram, |_| {}),
                    }
                }
            }
        }
    }

    /// Runs the handshake through somebody who changes the messages of this type. Returns what both ends have become.
    fn run_with(&mut self, kind: u8, mut change: impl FnMut(&mut Vec<u8>)) -> [Status; 2] {
        let mut found = false;
        let status = self.run(|_, datagram| {
            let changed = rewritten(&datagram, |of, body| {
                if of == kind {
                    found = true;
                    change(body);
                }
            });
            vec![changed]
        });
        assert!(found, "there is no message {kind}");
        status
    }
}

const BOTH_ESTABLISHED: [Status; 2] = [Status::Established; 2];

fn refused(alert: u8) -> Status {
    Status::Failed(Failure::AlertSent(alert))
}

/// A datagram in which `change` has changed the bodies of the messages in clear. All are whole.
fn rewritten(datagram: &[u8], mut change: impl FnMut(u8, &mut Vec<u8>)) -> Vec<u8> {
    let (mut rest, mut output) = (datagram, Vec::new());
    while !rest.is_empty() {
        let (record, more) = rest.split_at(13 + usize::from(u16::from_be_bytes([rest[11], rest[12]])));
        rest = more;
        // Handshake is 22; the epoch is in octets 3 and 4.
        if record[0] != 22 || record[4] != 0 {
            output.extend_from_slice(record);
            continue;
        }
        let (header, message) = record.split_at(13);
        let mut body = message[12..].to_vec();
        assert_eq!(message[1..4], message[9..12], "a fragment");
        change(message[0], &mut body);
        let length = &(body.len() as u32).to_be_bytes()[1..];
        let message = [&message[..1], length, &message[4..6], &[0, 0, 0], length, &body].concat();
        output.extend([&header[..11], &(message.len() as u16).to_be_bytes(), &message].concat());
    }
    output
}

/// The body of a message of this type, from a handshake of other ends of the same owners.
fn recorded(kind: u8) -> Vec<u8> {
    let mut body = Vec::new();
    let mut pair =
        Pair::<1400>::of(config(Any::X509(client_x509()), ECDSA), config(Any::X509(server_x509()), ECDSA), 7);
    assert_eq!(pair.run_with(kind, |of| body.clone_from(of)), BOTH_ESTABLISHED);
    body
}

#[test]
fn every_kind_of_handshake_completes_with_either_group_whatever_datagram_is_lost_or_comes_twice() {
    let (client, server) = (client_x509(), server_x509());
    let nobody = X509 { authorities: &[], ..server };
    let cases = [
        (Any::X509(client), Any::X509(server), ECDSA),
        (Any::X509(trusting(None)), Any::X509(nobody), ECDSA),
        (Any::Raw(raw(&client, Some(&server))), Any::Raw(raw(&server, Some(&client))), ECDSA),
        (Any::Raw(raw(&client, Some(&server))), Any::Raw(raw(&server, None)), ECDSA),
        (Any::Psk, Any::Psk, ECDHE_PSK),
        (Any::Psk, Any::Psk, &[Suite::TLS_PSK_WITH_AES_128_GCM_SHA256]),
    ];
    for (case, (client, server, suites)) in cases.into_iter().enumerate() {
        for group in Group::ALL.chunks(1) {
            for mtu in [128, 1200] {
                let ends = || {
                    let config = |credentials| {
                        let timeouts = Timeouts { initial_ms: 1000, ..Timeouts::default() };
                        Config::new(credentials, mtu, timeouts).unwrap().with_suites(suites).with_groups(group)
                    };
                    Pair::<1400>::of(config(client), config(server), 1)
                };
                let mut count = 0;
                let status = ends().run(|number, datagram| {
                    count = number + 1;
                    vec![datagram]
                });
                assert_eq!(status, BOTH_ESTABLISHED, "{case} {group:?} {mtu}");
                // With small datagrams, each of the first and last few.
                for number in (0..count).filter(|number| *number < 8 || number + 4 > count) {
                    for copies in [0, 2] {
                        let status = ends().run(|of, datagram| vec![datagram; if of == number { copies } else { 1 }]);
                        assert_eq!(status, BOTH_ESTABLISHED, "{case} {group:?} {mtu} {number} {copies}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_server_knows_the_public_key_of_its_client() {
    let mut pair = Pair::mutual();
    assert_eq!(pair.server.peer_public_key_at(PEER), None);
    assert_eq!(pair.run(|_, datagram| vec![datagram]), BOTH_ESTABLISHED);
    assert_eq!(pair.server.peer_public_key_at(PEER), Some(&public_key(CLIENT)));
}

#[test]
fn a_wrong_signature_is_refused() {
    // The last octet of the signature.
    let flip = |body: &mut Vec<u8>| *body.last_mut().unwrap() ^= 1;
    assert_eq!(Pair::mutual().run_with(SERVER_KEY_EXCHANGE, flip)[0], refused(DECRYPT_ERROR));
    assert_eq!(Pair::mutual().run_with(CERTIFICATE_VERIFY, flip)[1], refused(DECRYPT_ERROR));
    // Another algorithm than was asked for: SHA-1 with ECDSA.
    let sha1 = |body: &mut Vec<u8>| body[0] = 2;
    assert_eq!(Pair::mutual().run_with(CERTIFICATE_VERIFY, sha1)[1], refused(ILLEGAL_PARAMETER));
    let sha1 = |body: &mut Vec<u8>| body[4 + 65] = 2;
    assert_eq!(Pair::mutual().run_with(SERVER_KEY_EXCHANGE, sha1)[0], refused(ILLEGAL_PARAMETER));
    // Another key than the server has signed.
    let key = |body: &mut Vec<u8>| body[4..4 + 65].copy_from_slice(&public_key(CLIENT));
    assert_eq!(Pair::mutual().run_with(SERVER_KEY_EXCHANGE, key)[0], refused(DECRYPT_ERROR));
}

/// Both ends sign the random numbers of both.
#[test]
fn a_signature_from_another_handshake_is_refused() {
    let old = recorded(SERVER_KEY_EXCHANGE);
    assert_eq!(Pair::mutual().run_with(SERVER_KEY_EXCHANGE, |body| body.clone_from(&old))[0], refused(DECRYPT_ERROR));
    let old = recorded(CERTIFICATE_VERIFY);
    assert_eq!(Pair::mutual().run_with(CERTIFICATE_VERIFY, |body| body.clone_from(&old))[1], refused(DECRYPT_ERROR));
}

#[test]
fn the_certificate_of_another_key_is_refused() {
    let (client, server) = (client_x509(), server_x509());
    let thief =
        |own: X509<'static>| trusting(Some(CertifiedKey { private_key: file!("expired.key"), ..own.own.unwrap() }));
    let run = |client, server| Pair::new(client, server, ECDSA).run(|_, datagram| vec![datagram]);
    assert_eq!(run(Any::X509(client), Any::X509(thief(server)))[0], refused(DECRYPT_ERROR));
    assert_eq!(run(Any::X509(thief(client)), Any::X509(server))[1], refused(DECRYPT_ERROR));
    let thief = raw(&thief(server), Some(&client));
    assert_eq!(run(Any::Raw(raw(&client, Some(&server))), Any::Raw(thief))[0], refused(DECRYPT_ERROR));
}

#[test]
fn a_certificate_that_is_not_trusted_is_refused() {
    let (client, server) = (client_x509(), server_x509());
    let run = |client, server| Pair::new(client, server, ECDSA).run(|_, datagram| vec![datagram]);
    let elsewhere = |end: X509<'static>| X509 { authorities: &[OTHER], ..end };
    assert_eq!(run(Any::X509(elsewhere(client)), Any::X509(server))[0], refused(UNKNOWN_CA));
    assert_eq!(run(Any::X509(client), Any::X509(elsewhere(server)))[1], refused(UNKNOWN_CA));
    let other_name = X509 { server_name: Some("actuators.example"), ..client };
    assert_eq!(run(Any::X509(other_name), Any::X509(server))[0], refused(BAD_CERTIFICATE));
    let stranger = raw(&client, Some(&client));
    assert_eq!(run(Any::Raw(stranger), Any::Raw(raw(&server, Some(&client))))[0], refused(CERTIFICATE_UNKNOWN));
    let stranger = raw(&server, Some(&server));
    assert_eq!(run(Any::Raw(raw(&client, Some(&server))), Any::Raw(stranger))[1], refused(CERTIFICATE_UNKNOWN));
}

#[test]
fn a_client_without_a_certificate_is_refused_by_a_server_that_wants_one() {
    let mut pair = Pair::new(Any::X509(trusting(None)), Any::X509(server_x509()), ECDSA);
    assert_eq!(pair.run(|_, datagram| vec![datagram])[1], refused(HANDSHAKE_FAILURE));
    // Somebody takes the request away: the client does not sign, and the server waits for nothing else.
    let mut pair = Pair::mutual();
    let [client, server] = pair.run_with(CERTIFICATE_REQUEST, |body| body[1] = 1);
    assert_ne!(client, Status::Established);
    assert_eq!(server, refused(HANDSHAKE_FAILURE), "rsa_sign, which the client has not");
}

#[test]
fn a_malformed_certificate_or_one_of_another_type_is_refused() {
    let server = |change: fn(&mut Vec<u8>)| Pair::mutual().run_with(CERTIFICATE, change)[0];
    assert_eq!(server(|body| body.truncate(2)), refused(DECODE_ERROR));
    assert_eq!(server(|body| *body = vec![0, 0, 0]), refused(BAD_CERTIFICATE));
    assert_eq!(server(|body| *body = vec![0, 0, 3, 0, 0, 0]), refused(UNSUPPORTED_CERTIFICATE));
    assert_eq!(server(|body| *body = vec![0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), refused(BAD_CERTIFICATE));
    let (client, server) = (client_x509(), server_x509());
    // One end has raw public keys, the other one certificates.
    let status = Pair::new(Any::Raw(raw(&client, Some(&server))), Any::X509(server), ECDSA).run(|_, d| vec![d]);
    assert_eq!(status[1], refused(HANDSHAKE_FAILURE));
    let status = Pair::new(Any::X509(client), Any::Raw(raw(&server, Some(&client))), ECDSA).run(|_, d| vec![d]);
    assert_eq!(status[1], refused(HANDSHAKE_FAILURE));
}

/// Where the public key is in the ServerKeyExchange and ClientKeyExchange of ECDHE_PSK, whose messages nobody signs: after the
/// hint and four octets; after the identity and its length.
const KEYS_OF_PSK: [(u8, usize); 2] = [(SERVER_KEY_EXCHANGE, 2 + 4), (CLIENT_KEY_EXCHANGE, 2 + 9 + 1)];

/// The end that gets a message.
fn receiver(kind: u8) -> usize {
    usize::from(kind == CLIENT_KEY_EXCHANGE)
}

#[test]
fn a_public_key_that_is_no_point_is_refused() {
    let psk = |group| {
        let config = || config(Any::Psk, ECDHE_PSK).with_groups(group);
        Pair::<1400>::of(config(), config(), 1)
    };
    for (kind, place) in KEYS_OF_PSK {
        // Not on the curve; at infinity; compressed; a coordinate beyond the field.
        let changes: [fn(&mut [u8]); 4] =
            [|key| key[64] ^= 1, |key| key.fill(0), |key| key[0] = 2, |key| key[1..33].fill(0xff)];
        for (number, change) in changes.into_iter().enumerate() {
            let status = psk(&[Group::P256]).run_with(kind, |body| change(&mut body[place..place + 65]));
            assert_eq!(status[receiver(kind)], refused(ILLEGAL_PARAMETER), "{kind} {number}");
        }
        // All points of small order give zeros (RFC 7748, section 6.1): 0 and 1 are two of them.
        for first in [0, 1] {
            let status = psk(&[Group::X25519]).run_with(kind, |body| {
                body[place..place + 32].fill(0);
                body[place] = first;
            });
            assert_eq!(status[receiver(kind)], refused(ILLEGAL_PARAMETER), "{kind} {first}");
        }
        // The key, compressed: a form that nobody has offered (RFC 8422, section 5.1.2).
        let status = psk(&[Group::P256]).run_with(kind, |body| {
            body[place] = 2 + (body[place + 64] & 1);
            body.truncate(place + 33);
            body[place - 1] = 33;
        });
        assert_eq!(status[receiver(kind)], refused(ILLEGAL_PARAMETER), "{kind} compressed");
        // A key of another length.
        let status = psk(&[Group::X25519]).run_with(kind, |body| {
            body[place - 1] = 31;
            body.pop();
        });
        assert_eq!(status[receiver(kind)], refused(ILLEGAL_PARAMETER), "{kind}");
    }
}

#[test]
fn what_the_client_has_not_offered_is_refused() {
    let psk = || Pair::new(Any::Psk, Any::Psk, ECDHE_PSK);
    // The suite stands after version, random number and an empty session: TLS_PSK_WITH_AES_128_CCM_8, which needs no key.
    let suite = psk().run_with(SERVER_HELLO, |body| body[35..37].copy_from_slice(&[0xc0, 0xa8]));
    assert_eq!(suite[0], refused(ILLEGAL_PARAMETER));
    // secp384r1.
    assert_eq!(psk().run_with(SERVER_KEY_EXCHANGE, |body| body[4] = 24)[0], refused(ILLEGAL_PARAMETER));
    // A group of its own.
    assert_eq!(psk().run_with(SERVER_KEY_EXCHANGE, |body| body[2] = 1)[0], refused(ILLEGAL_PARAMETER));
    // Octets after the end.
    assert_eq!(psk().run_with(SERVER_KEY_EXCHANGE, |body| body.push(0))[0], refused(DECODE_ERROR));
    assert_eq!(psk().run_with(CLIENT_KEY_EXCHANGE, |body| body.push(0))[1], refused(DECODE_ERROR));
    let only = |group| config(Any::Psk, ECDHE_PSK).with_groups(group);
    let pair = || Pair::<1400>::of(only(&[Group::P256]), only(&[Group::X25519]), 1);
    assert_eq!(pair().run(|_, datagram| vec![datagram])[1], refused(HANDSHAKE_FAILURE));
    // A server that takes a group of its own all the same: somebody tells it that the client has X25519.
    let offer = |body: &mut Vec<u8>| replace(body, &[0, 10, 0, 4, 0, 2, 0, 23], &[0, 10, 0, 4, 0, 2, 0, 29]);
    assert_eq!(pair().run_with(CLIENT_HELLO, offer)[0], refused(ILLEGAL_PARAMETER));
}

/// Replaces octets in a message.
fn replace(body: &mut [u8], old: &[u8], new: &[u8]) {
    let place = body.windows(old.len()).position(|window| window == old).unwrap();
    body[place..place + new.len()].copy_from_slice(new);
}

/// Somebody on the path makes the client's offer smaller, and hides that the client knows the extended master secret, which
/// would give other keys. What is then agreed is the same at both ends, and only the Finished can tell.
#[test]
fn a_smaller_offer_is_found_by_the_finished() {
    const BOTH: &[Suite] = &[Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256, Suite::TLS_PSK_WITH_AES_128_CCM_8];
    // The suite with key agreement becomes one that nobody knows; P-256 becomes a group that nobody knows, so X25519 is left;
    // ec_point_formats becomes an extension that nobody knows.
    let changes: [(&[u8], &[u8]); 3] = [
        (&[0xd0, 3], &[0xd0, 0xff]),
        (&[0, 10, 0, 6, 0, 4, 0, 23], &[0, 10, 0, 6, 0, 4, 9, 9]),
        (&[0, 11, 0, 2, 1, 0], &[9, 11, 0, 2, 1, 0]),
    ];
    for (old, new) in changes {
        let change = |body: &mut Vec<u8>| replace(body, old, new);
        let status = Pair::new(Any::Psk, Any::Psk, BOTH).run_with(CLIENT_HELLO, change);
        assert!(!status.contains(&Status::Established), "{old:?}: other keys");
        let status = Pair::new(Any::Psk, Any::Psk, BOTH).run_with(CLIENT_HELLO, |body| {
            change(body);
            replace(body, &[0, 0x17, 0, 0], &[9, 0x17, 0, 0]);
        });
        assert_eq!(status[1], refused(DECRYPT_ERROR), "{old:?}");
    }
}

/// A client that says nothing of its signatures wants SHA-1 (RFC 5246, section 7.4.1.4.1), which this engine has not.
#[test]
fn a_client_that_cannot_verify_is_refused() {
    let hidden = Pair::mutual().run_with(CLIENT_HELLO, |body| replace(body, &[0, 13, 0, 4], &[9, 13, 0, 4]));
    assert_eq!(hidden[1], refused(HANDSHAKE_FAILURE));
}

#[test]
fn a_flight_that_does_not_fit_is_a_failure_with_a_name() {
    let of = |credentials| config(credentials, ECDSA);
    let (client, server) = (Any::X509(client_x509()), Any::X509(server_x509()));
    let too_small = Status::Failed(Failure::BufferTooSmall);
    let mut pair = Pair::<700>::of(of(client), of(server), 1);
    assert_eq!(pair.run(|_, datagram| vec![datagram])[1], too_small, "its certificates have 808 octets");
    // The server has room for its own certificates, but the client has none for them.
    let mut small = Client::<_, _, 700>::new(of(client), RustCrypto::new(random(1)));
    let mut server = Server::<_, _, Address, 1, 1400>::new(of(server), RustCrypto::new(random(2)));
    let (mut now, mut output) = (Instant::from_millis(0), [0; 1300]);
    small.connect();
    while small.status() == Status::Handshaking {
        while let length @ 1.. = small.poll_transmit(now, &mut output) {
            server.hear(PEER, &mut output[..length], |_| {});
        }
        while let Some((_, length)) = server.poll_transmit(now, &mut output) {
            small.receive(&mut output[..length], |_| {});
        }
        now = small.deadline().unwrap_or(now);
        small.handle_timeout(now);
    }
    assert_eq!(small.status(), too_small);
}

#[test]
fn an_end_without_the_credentials_for_its_suites_does_not_begin() {
    let mut pair = Pair::new(Any::Psk, Any::Psk, ECDSA);
    assert_eq!(pair.run(|_, datagram| vec![datagram])[0], Status::Failed(Failure::NoKey));
}

/// A vector of RFC 6979, appendix A.2.5, for SHA-256 of "sample"; and of RFC 7748, section 5.2.
#[test]
fn signatures_and_x25519_give_the_published_vectors() {
    let hex = |text: &str| -> [u8; 32] {
        std::array::from_fn(|place| u8::from_str_radix(&text[2 * place..2 * place + 2], 16).unwrap())
    };
    let mut crypto = RustCrypto::new(random(1));
    let private = hex("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721");
    let mut hash = crypto.hash();
    hash.update(b"sample");
    let signature = crypto.sign(&private, &hash.digest()).unwrap();
    assert_eq!(signature[..32], hex("efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"));
    assert_eq!(signature[32..], hex("f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"));
    // After one iteration from 9: the same octets are scalar and point.
    let nine = hex("0900000000000000000000000000000000000000000000000000000000000000");
    let secret = crypto.agree(Group::X25519, &nine, &nine).unwrap();
    assert_eq!(secret, hex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"));
}
