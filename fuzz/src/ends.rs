//! A client and a server, with whatever they can be configured to do.

use std::sync::OnceLock;

use lean_dtls::crypto::{Aead, Group, MAX_PUBLIC, SCALAR};
use lean_dtls::{
    Admission, Certificate, CertificateError, CertificateType, CertifiedKey, Client, Config, Credentials, Instant,
    Lean, MaxFragmentLength, Psk, Role, SPKI, Server, Status, Suite, Timeouts, Versions, spki,
};

use crate::input::Input;
use crate::provider::{Cheap, Window, public_key};

/// The address of a client.
pub type Address = [u8; 2];

/// The address of the client.
pub const PEER: Address = [0, 1];

/// The address of somebody else.
pub const STRANGER: Address = [6, 6];

/// A client under test.
pub type TestClient = Client<Keys, Cheap, BUFFER>;

/// A server under test, with two slots.
pub type TestServer = Server<Keys, Cheap, Address, 2, BUFFER>;

const BUFFER: usize = 640;

/// The most datagrams that an end may send in answer to one event: its flight in the smallest datagrams, and some more.
const MOST_AT_ONCE: usize = 64;

/// The longest datagram.
pub const LONGEST: usize = 1024;

const KEY: &[u8] = b"0123456789abcdef";
/// A key that the server does not have.
const OTHER_KEY: &[u8] = b"0123456789abcdeF";

/// The private keys of the client, of the server, and one that nobody trusts.
const PRIVATE: [[u8; SCALAR]; 3] = [[1; SCALAR], [2; SCALAR], [3; SCALAR]];

/// The proof of identity of both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Psk,
    PskWithAgreement,
    RawPublicKeys,
}

/// The credentials of an end.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    kind: Kind,
    /// The client is 0, the server 1.
    end: usize,
    /// True if the peer trusts them.
    is_trusted: bool,
    /// True if a server knows the address of its client.
    knows_address: bool,
}

/// The public keys that belong to [`PRIVATE`], as they are sent.
fn public_keys() -> &'static [[u8; SPKI]; 3] {
    static KEYS: OnceLock<[[u8; SPKI]; 3]> = OnceLock::new();
    KEYS.get_or_init(|| PRIVATE.map(|private| spki(&public_key(&private))))
}

impl Keys {
    fn key(&self) -> &'static [u8] {
        if self.is_trusted { KEY } else { OTHER_KEY }
    }

    fn suites(&self) -> &'static [Suite] {
        match self.kind {
            Kind::Psk => &[Suite::TLS_PSK_WITH_AES_128_CCM_8],
            Kind::PskWithAgreement => &[Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256],
            Kind::RawPublicKeys => &[Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8],
        }
    }
}

impl Credentials for Keys {
    fn psk(&self) -> Option<Psk<'_>> {
        (self.kind != Kind::RawPublicKeys).then_some(Psk { identity: b"sensor-17", key: self.key() })
    }

    fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
        self.psk().filter(|psk| psk.identity == identity).map(|psk| psk.key)
    }

    fn find_psk_by_address(&self, address: &[u8]) -> Option<&[u8]> {
        self.psk().filter(|_| self.is_known(address)).map(|psk| psk.key)
    }

    fn is_known(&self, address: &[u8]) -> bool {
        self.knows_address && address == PEER
    }

    fn certificate(&self) -> Option<CertifiedKey<'_>> {
        let own = if self.is_trusted { self.end } else { 2 };
        let certificate = Certificate::RawPublicKey(&public_keys()[own]);
        (self.kind == Kind::RawPublicKeys).then_some(CertifiedKey { certificate, private_key: &PRIVATE[own] })
    }

    fn accepted(&self) -> &[CertificateType] {
        if self.kind == Kind::RawPublicKeys { &[CertificateType::RawPublicKey] } else { &[] }
    }

    fn check_peer(&self, _: Role, certificate: &Certificate<'_>) -> Result<(), CertificateError> {
        let own: [u8; MAX_PUBLIC] = certificate.public_key().ok_or(CertificateError::BadCertificate)?;
        let is_peers = own == public_key(&PRIVATE[1 - self.end]);
        if is_peers { Ok(()) } else { Err(CertificateError::CertificateUnknown) }
    }
}

/// The configuration of both ends, and the source of their random numbers.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The seed of both ends' random numbers.
    pub seed: u64,
    /// True if the server trusts the client.
    pub is_trusted: bool,
    kind: Kind,
    mtu: u16,
    knows_address: bool,
    admission: Admission,
    /// If the ends may speak DTLS 1.3.
    dtls13: Option<Dtls13>,
    /// The client's and the server's.
    ends: [Extensions; 2],
}

#[derive(Clone, Copy, Debug)]
struct Dtls13 {
    /// The client's and the server's.
    versions: [Versions; 2],
    aeads: [&'static [Aead]; 2],
    groups: [&'static [Group]; 2],
}

#[derive(Clone, Copy, Debug)]
struct Extensions {
    lean: Lean,
    max_fragment_length: Option<MaxFragmentLength>,
    record_size_limit: Option<u16>,
    connection_id: Option<u8>,
    has_heartbeat: bool,
}

impl Setup {
    /// Plain DTLS in datagrams of any size, or both ends with whatever they have.
    pub fn new(input: &mut Input<'_>, seed: u64) -> Self {
        let flags = input.octet();
        let mtu = if flags & 1 == 0 { 256 } else { 64 + u16::from(input.octet()) };
        let admission = if flags & 2 == 0 { Admission::Refuse } else { Admission::EvictOldest };
        let none = Extensions {
            lean: Lean::NONE,
            max_fragment_length: None,
            record_size_limit: None,
            connection_id: None,
            has_heartbeat: false,
        };
        let ends = if flags & 4 == 0 { [none; 2] } else { [Extensions::new(input), Extensions::new(input)] };
        let kind = match flags >> 4 & 3 {
            2 => Kind::PskWithAgreement,
            3 => Kind::RawPublicKeys,
            _ => Kind::Psk,
        };
        let dtls13 = (flags & 0x40 != 0).then(|| Dtls13::new(input));
        Self { seed, is_trusted: true, kind, mtu, knows_address: flags & 8 != 0, admission, dtls13, ends }
    }

    /// A client that has not started.
    pub fn client(&self) -> (TestClient, Window) {
        let (crypto, window) = Cheap::new(self.seed);
        (Client::new(self.config(0), crypto), window)
    }

    /// A server without connections.
    pub fn server(&self) -> (TestServer, Window) {
        let (crypto, window) = Cheap::new(!self.seed);
        (Server::new(self.config(1).with_admission(self.admission), crypto), window)
    }

    /// True if the server finds its connections by connection IDs.
    pub fn has_connection_id(&self) -> bool {
        self.ends[1].connection_id.is_some_and(|length| length > 0)
    }

    /// True if the ends may speak DTLS 1.3.
    pub const fn is_dtls13(&self) -> bool {
        self.dtls13.is_some()
    }

    /// True if a client can be established before the server has checked who it is (RFC 8446, section 4.4.2).
    pub fn client_is_checked_last(&self) -> bool {
        self.is_dtls13() && self.kind == Kind::RawPublicKeys
    }

    fn config(&self, end: usize) -> Config<Keys> {
        let is_trusted = end == 1 || self.is_trusted;
        let keys = Keys { kind: self.kind, end, is_trusted, knows_address: self.knows_address };
        let timeouts = Timeouts { initial_ms: 1000, ..Timeouts::default() };
        let extensions = &self.ends[end];
        let suites = keys.suites();
        let mut config = Config::new(keys, self.mtu, timeouts)
            .expect("a valid configuration")
            .with_lean(extensions.lean)
            .with_suites(suites);
        if extensions.has_heartbeat {
            config = config.with_heartbeats();
        }
        if let Some(length) = extensions.max_fragment_length {
            config = config.with_max_fragment_length(length);
        }
        if let Some(limit) = extensions.record_size_limit {
            config = config.with_record_size_limit(limit).expect("a valid limit");
        }
        if let Some(length) = extensions.connection_id {
            config = config.with_connection_id(length).expect("a valid length");
        }
        if let Some(Dtls13 { versions, aeads, groups }) = self.dtls13 {
            config = config.with_versions(versions[end]).with_aeads(aeads[end]).with_groups(groups[end]);
            if self.kind == Kind::PskWithAgreement {
                config = config.with_psk_agreement();
            }
        }
        config
    }
}

impl Dtls13 {
    fn new(input: &mut Input<'_>) -> Self {
        const ALL: &[Aead] = &[Aead::Ccm8, Aead::Ccm, Aead::Gcm];
        const AEADS: [&[Aead]; 4] = [&[Aead::Ccm8], &[Aead::Ccm], &[Aead::Gcm], ALL];
        let flags = input.octet();
        let chosen = AEADS[usize::from(flags & 3)];
        // A client's first share is of P-256: the server may ask for the other one.
        let groups = if flags & 8 == 0 { Group::ALL } else { &[Group::X25519] };
        let version = |is_alone| if is_alone { Versions::Dtls13 } else { Versions::Both };
        let versions = match flags >> 4 & 7 {
            6 => [Versions::Both, Versions::Dtls12],
            7 => [Versions::Dtls12, Versions::Both],
            alone => [version(alone & 1 == 0), version(alone & 2 == 0)],
        };
        Self { versions, aeads: [if flags & 4 == 0 { chosen } else { ALL }, chosen], groups: [Group::ALL, groups] }
    }
}

impl Extensions {
    fn new(input: &mut Input<'_>) -> Self {
        let flags = input.octet();
        let switches = [
            Lean::OMIT_MESSAGES,
            Lean::SHORT_NONCE,
            Lean::SERVER_FINISHED_FIRST,
            Lean::SHORT_HEADER,
            Lean::ACKNOWLEDGE,
            Lean::KNOWN_ADDRESS,
            Lean::SHORT_FINISHED,
        ];
        let chosen = input.octet();
        let chosen_heartbeat = chosen & 0x80 != 0;
        let chosen = switches.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1);
        Self {
            lean: chosen.fold(Lean::NONE, |lean, (_, switch)| lean.with(*switch)),
            max_fragment_length: (flags & 1 != 0).then(|| MaxFragmentLength::ALL[usize::from(flags >> 6)]),
            record_size_limit: (flags & 2 != 0).then(|| 64 + u16::from(input.octet())),
            connection_id: (flags & 4 != 0).then(|| flags >> 3 & 7),
            has_heartbeat: chosen_heartbeat,
        }
    }
}

/// All that the client sends now.
pub fn from_client(client: &mut TestClient, now: Instant) -> Vec<Vec<u8>> {
    let mut output = [0; LONGEST];
    let mut sent = Vec::new();
    while let length @ 1.. = client.poll_transmit(now, &mut output) {
        sent.push(output[..length].to_vec());
        assert!(sent.len() < MOST_AT_ONCE, "the client does not stop");
    }
    sent
}

/// All that the server sends now.
pub fn from_server(server: &mut TestServer, now: Instant) -> Vec<(Address, Vec<u8>)> {
    let mut output = [0; LONGEST];
    let mut sent = Vec::new();
    while let Some((peer, length)) = server.poll_transmit(now, &mut output) {
        sent.push((peer, output[..length].to_vec()));
        assert!(sent.len() < MOST_AT_ONCE, "the server does not stop");
    }
    sent
}

/// Carries what both ends send to the other one, so many times.
pub fn exchange(client: &mut TestClient, server: &mut TestServer, now: Instant, times: usize) {
    for _ in 0..times {
        for mut datagram in from_client(client, now) {
            server.receive(PEER, &mut datagram, |_| {});
        }
        for (_, mut datagram) in from_server(server, now) {
            client.receive(&mut datagram, |_| {});
        }
    }
}

/// True if both have verified each other.
pub fn are_established(client: &TestClient, server: &TestServer) -> bool {
    (client.status(), status_at(server, PEER)) == (Status::Established, Some(Status::Established))
}

/// The status of the connection with the client at an address.
pub fn status_at(server: &TestServer, peer: Address) -> Option<Status> {
    server.status(server.association_at(peer)?)
}
