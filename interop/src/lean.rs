//! lean-dtls itself.

use std::slice;
use std::time::Duration;

use lean_dtls::crypto::Group;
use lean_dtls::{
    Certificate, CertificateError, CertificateType, CertifiedKey, Client, Config, ConfigError, Credentials,
    EcdsaP256Sha256, HeartbeatError, ImportedPsk, Instant, Liveness, MaxFragmentLength, Psk, RawPublicKey, RustCrypto,
    SendError, Server, Session, SessionCache, SessionState, Sessions, Timeouts, Versions, X509, crypto::Aead,
};
use slowhand_sessions::{CredentialKind, Failure, FailureKind, Resumable, Resumption, Role};

use crate::credentials::{self, PSK, PSK_IDENTITY};
use crate::end::{Engine, Progress, State};
use crate::host;
use crate::setup::{self, HEARTBEAT, Setup, Suite, Version};

/// Octets of each of the two buffers for flights: enough for a flight with a certificate.
const BUFFER: usize = 2048;

/// The longest datagram if no limit is set: it fits into the buffers of every peer.
const MTU: u16 = 1200;

/// The server has one peer. Its cookie needs an address.
const PEER: [u8; 1] = [0];

type Crypto = RustCrypto<fn(&mut [u8])>;

/// One end of a session of lean-dtls.
pub(crate) struct LeanDtls {
    end: End,
    resumption: Option<Resumption>,
    has_heartbeats: bool,
    /// A heartbeat of this end is not answered yet.
    is_asking: bool,
    datagram: Vec<u8>,
}

enum End {
    Client(Box<Client<Keys, Crypto, BUFFER>>),
    Server(Box<Server<Keys, Crypto, [u8; 1], 1, BUFFER, Cache>>),
}

/// The sessions that a server keeps, if it is to resume them by their IDs.
struct Cache(Option<SessionCache<1>>);

impl Sessions for Cache {
    fn keeps(&self) -> bool {
        self.0.is_some()
    }

    fn keep(&mut self, session: SessionState) {
        if let Some(cache) = &mut self.0 {
            cache.keep(session);
        }
    }

    fn find(&self, id: &[u8]) -> Option<&SessionState> {
        self.0.as_ref()?.find(id)
    }

    fn forget(&mut self, id: &[u8]) {
        if let Some(cache) = &mut self.0 {
            cache.forget(id);
        }
    }
}

/// The key of the tickets of all servers.
const TICKET_KEY: [u8; 16] = *b"interop-ticket-k";

/// The credentials, of one kind.
enum Keys {
    Psk([Psk<'static>; 1]),
    ImportedPsk([ImportedPsk<'static>; 1]),
    RawPublicKey(RawPublicKey<'static>),
    X509(X509<'static>),
}

impl Keys {
    fn new(setup: &Setup) -> Self {
        let (own, peer) = (credentials::of(setup.role), credentials::of(credentials::other(setup.role)));
        match setup.credential {
            CredentialKind::RawPublicKey => Self::RawPublicKey(RawPublicKey {
                own: Some((own.public_key, own.private_key())),
                trusted: slice::from_ref(peer.point()),
            }),
            CredentialKind::Certificate => Self::X509(X509 {
                own: Some(CertifiedKey {
                    certificate: Certificate::X509(slice::from_ref(&own.certificate)),
                    private_key: own.private_key(),
                }),
                authorities: &[credentials::AUTHORITY],
                server_name: None,
                unix_time: host::unix_time,
                algorithms: EcdsaP256Sha256::ONLY,
            }),
            _ if setup.imports_psk => {
                Self::ImportedPsk([ImportedPsk { identity: PSK_IDENTITY.as_bytes(), key: &PSK, context: b"" }])
            }
            _ => Self::Psk([Psk { identity: PSK_IDENTITY.as_bytes(), key: &PSK }]),
        }
    }

    fn inner(&self) -> &dyn Credentials {
        match self {
            Self::Psk(keys) => keys,
            Self::ImportedPsk(keys) => keys,
            Self::RawPublicKey(keys) => keys,
            Self::X509(keys) => keys,
        }
    }
}

impl Credentials for Keys {
    fn psk(&self) -> Option<Psk<'_>> {
        self.inner().psk()
    }

    fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
        self.inner().find_psk(identity)
    }

    fn import_context(&self, identity: &[u8]) -> Option<&[u8]> {
        self.inner().import_context(identity)
    }

    fn certificate(&self) -> Option<CertifiedKey<'_>> {
        self.inner().certificate()
    }

    fn accepted(&self) -> &[CertificateType] {
        self.inner().accepted()
    }

    fn check_peer(&self, peer: lean_dtls::Role, certificate: &Certificate<'_>) -> Result<(), CertificateError> {
        self.inner().check_peer(peer, certificate)
    }

    fn session_context(&self, add: &mut dyn FnMut(&[u8])) {
        self.inner().session_context(add);
    }
}

impl LeanDtls {
    /// # Errors
    /// What the library does not have, or refuses.
    pub(crate) fn new(setup: &Setup, previous: Option<&Resumable>) -> Result<Self, String> {
        if setup.version == Version::Dtls13 && setup.resumption.is_some() {
            return Err("it resumes no session of DTLS 1.3".to_owned());
        }
        let config = config(setup).map_err(|error| format!("the configuration is refused: {error:?}"))?;
        let config = with_suites(config, setup).ok_or_else(|| format!("it has no {}", setup.suite))?;
        let crypto = RustCrypto::new(host::fill_random as fn(&mut [u8]));
        let end = match setup.role {
            Role::Client => End::Client(Box::new(client(config, crypto, previous))),
            Role::Server => End::Server(Box::new(server(config, crypto, setup.resumption, previous))),
        };
        let datagram = vec![0; setup.mtu.unwrap_or(MTU).into()];
        let (resumption, has_heartbeats) = (setup.resumption, setup.heartbeat);
        Ok(Self { end, resumption, has_heartbeats, is_asking: false, datagram })
    }

    /// Sends what the library has to send, and says how it is.
    fn progress(&mut self) -> Progress {
        let (status, deadline) = match &mut self.end {
            End::Client(client) => {
                while let length @ 1.. = client.poll_transmit(now(), &mut self.datagram) {
                    host::transmit(&self.datagram[..length]);
                }
                (client.status(), client.deadline())
            }
            End::Server(server) => {
                while let Some((_, length)) = server.poll_transmit(now(), &mut self.datagram) {
                    host::transmit(&self.datagram[..length]);
                }
                let status = server.association_at(PEER).and_then(|client| server.status(client));
                (status.unwrap_or(lean_dtls::Status::Handshaking), server.deadline())
            }
        };
        Progress {
            state: state(status),
            deadline: deadline.map(|at| host::since_beginning(Duration::from_millis(at.as_millis()))),
        }
    }
}

/// The same with its versions, and the suite of each.
fn with_suites(config: Config<Keys>, setup: &Setup) -> Option<Config<Keys>> {
    let config = with_suite(config, setup, setup.suite)?;
    let Some(other) = setup.other_suite else { return Some(config) };
    Some(with_suite(config, setup, other)?.with_versions(Versions::Both))
}

fn with_suite(config: Config<Keys>, setup: &Setup, suite: Suite) -> Option<Config<Keys>> {
    if let Some(suite) = lean_dtls::Suite::ALL.iter().find(|own| own.iana() == suite.iana()) {
        return Some(config.with_suites(slice::from_ref(suite)));
    }
    let aeads: &[Aead] = match suite {
        Suite::TLS_AES_128_CCM_8_SHA256 => &[Aead::Ccm8],
        Suite::TLS_AES_128_CCM_SHA256 => &[Aead::Ccm],
        Suite::TLS_AES_128_GCM_SHA256 => &[Aead::Gcm],
        _ => return None,
    };
    let config = config.with_versions(Versions::Dtls13).with_aeads(aeads);
    Some(if setup.group.is_some() { config.with_psk_agreement() } else { config })
}

fn client(config: Config<Keys>, crypto: Crypto, previous: Option<&Resumable>) -> Client<Keys, Crypto, BUFFER> {
    let mut client = Client::new(config, crypto);
    if let Some(session) = previous.and_then(Resumable::get::<Session>) {
        client.resume(session.clone());
    }
    client
}

fn server(
    config: Config<Keys>,
    crypto: Crypto,
    resumption: Option<Resumption>,
    previous: Option<&Resumable>,
) -> Server<Keys, Crypto, [u8; 1], 1, BUFFER, Cache> {
    let cache = (resumption == Some(Resumption::Id)).then(|| {
        let kept = previous.and_then(Resumable::get::<SessionCache<1>>);
        kept.cloned().unwrap_or_default()
    });
    let mut server = Server::with_sessions(config, crypto, Cache(cache));
    server.rotate_ticket_key(&TICKET_KEY);
    server
}

fn config(setup: &Setup) -> Result<Config<Keys>, ConfigError> {
    let initial_ms = u32::try_from(setup.first_timeout.as_millis()).unwrap_or(u32::MAX);
    let timeouts = Timeouts { initial_ms, ..Timeouts::default() };
    let mut config = Config::new(Keys::new(setup), setup.mtu.unwrap_or(MTU), timeouts)?;
    if setup.resumption == Some(Resumption::Ticket) {
        config = config.with_tickets();
    }
    // The keys of the certificates must be on one of the groups too (RFC 8422, section 5.1).
    let config = match setup.group {
        None => config,
        Some(setup::Group::P256) => config.with_groups(&[Group::P256]),
        Some(setup::Group::X25519) => config.with_groups(&[Group::X25519, Group::P256]),
    };
    let config = match setup.connection_id {
        None => config,
        Some(octets) => config.with_connection_id(octets)?,
    };
    let is_asked = |length: &MaxFragmentLength| Some(length.octets()) == setup.max_fragment_length;
    let config = match MaxFragmentLength::ALL.into_iter().find(is_asked) {
        None => config,
        Some(length) => config.with_max_fragment_length(length),
    };
    let config = if setup.heartbeat { config.with_heartbeats() } else { config };
    match setup.record_size_limit {
        None => Ok(config),
        Some(octets) => config.with_record_size_limit(octets),
    }
}

fn now() -> Instant {
    Instant::from_millis(host::milliseconds(host::calendar()))
}

fn state(status: lean_dtls::Status) -> State {
    let failed = |kind, reason| State::Failed(Failure { kind, reason });
    match status {
        lean_dtls::Status::Handshaking => State::Handshaking,
        // An end that has closed still gets what the peer sends.
        lean_dtls::Status::Established | lean_dtls::Status::Closing => State::Established,
        lean_dtls::Status::Closed => State::Closed,
        lean_dtls::Status::Failed(failure @ lean_dtls::Failure::TimedOut(_)) => {
            failed(FailureKind::TimedOut, format!("{failure:?}"))
        }
        lean_dtls::Status::Failed(failure) => failed(FailureKind::Library { code: 0 }, format!("{failure:?}")),
    }
}

impl Engine for LeanDtls {
    fn start(&mut self) -> Progress {
        if let End::Client(client) = &mut self.end {
            client.connect();
        }
        self.progress()
    }

    fn handle_input(&mut self, datagram: &[u8]) -> Progress {
        let mut datagram = datagram.to_vec();
        match &mut self.end {
            End::Client(client) => client.receive(&mut datagram, host::deliver),
            End::Server(server) => _ = server.receive(PEER, &mut datagram, host::deliver),
        }
        let liveness = match &self.end {
            End::Client(client) => Some(client.liveness()),
            End::Server(server) => server.association_at(PEER).and_then(|client| server.liveness(client)),
        };
        if self.is_asking && matches!(liveness, Some(Liveness::Alive { .. })) {
            self.is_asking = false;
            host::deliver(HEARTBEAT);
        }
        self.progress()
    }

    fn handle_timeout(&mut self) -> Progress {
        match &mut self.end {
            End::Client(client) => client.handle_timeout(now()),
            End::Server(server) => server.handle_timeout(now()),
        }
        self.progress()
    }

    fn write(&mut self, data: &[u8]) -> Progress {
        let sent = match &mut self.end {
            End::Client(client) => client.send(data, &mut self.datagram),
            End::Server(server) => match server.association_at(PEER) {
                Some(client) => server.send(client, data, &mut self.datagram),
                None => Err(SendError::NotEstablished),
            },
        };
        if let Ok(length) = sent {
            host::transmit(&self.datagram[..length]);
        }
        if self.has_heartbeats {
            let asked = match &mut self.end {
                End::Client(client) => client.heartbeat(),
                End::Server(server) => match server.association_at(PEER) {
                    Some(client) => server.heartbeat(client),
                    None => Err(HeartbeatError::NotEstablished),
                },
            };
            self.is_asking = asked.is_ok();
        }
        self.progress()
    }

    fn keep(&mut self) -> Option<Resumable> {
        match (&mut self.end, self.resumption?) {
            (End::Client(client), _) => client.take_session().map(Resumable::new),
            (End::Server(server), Resumption::Id) => server.sessions().0.clone().map(Resumable::new),
            (End::Server(_), Resumption::Ticket) => None,
        }
    }

    fn close(&mut self) -> Progress {
        match &mut self.end {
            End::Client(client) => client.close(),
            End::Server(server) => server.association_at(PEER).into_iter().for_each(|client| server.close(client)),
        }
        self.progress()
    }
}
