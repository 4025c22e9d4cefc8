//! lean-dtls, the engine of this project.
//!
//! Its cryptography is [`lean_dtls::RustCrypto`], whose operations advance the device's clock. Its time is the device's
//! calendar in whole milliseconds. It does nothing after its last retransmission but to say so.

mod credentials;
mod crypto;
mod weightless;

use std::time::Duration;

use lean_dtls::crypto::{Aead, Group, KEY};
use lean_dtls::{
    Client, Config, ConfigError, HeartbeatError, Instant, Liveness, MaxFragmentLength, OVERHEAD, Packing, SendError,
    Server, Session, SessionState, Sessions, Timeouts, Versions,
};
use zeroize::Zeroizing;

use crate::capabilities::{Capabilities, Datagrams, MaximumTimeout, Timer, TlsCapabilities, TlsVersion};
use crate::check::Checked;
use crate::config::{CredentialKind, Growth, Negotiated, Protocol, Role, Stack};
use crate::device;
use crate::library::{Library, Progress, State};
use crate::operation::Curve;
use crate::session::{Failure, FailureKind, Resumable};
use crate::tls::{FRAGMENT_LENGTHS, HEARTBEAT, PskMode, Resumption, Suite, Tls};
use credentials::Credentials;
use crypto::Counting;

/// The capabilities of the library.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    stack: Stack::LEAN_DTLS,
    is_built: true,
    version: lean_dtls::VERSION,
    licence: "MIT OR Apache-2.0",
    credentials: &[CredentialKind::Psk, CredentialKind::Certificate, CredentialKind::RawPublicKey],
    datagrams: Some(Datagrams {
        minimum_mtu: &[
            (CredentialKind::Psk, lean_dtls::MIN_MTU),
            (CredentialKind::Certificate, lean_dtls::MIN_MTU),
            (CredentialKind::RawPublicKey, lean_dtls::MIN_MTU),
        ],
        minimum_mtu_reason: "the library's own limit",
        fragments: true,
        without_packing: true,
        timer: Timer {
            first: Duration::from_millis(Timeouts::DEFAULT.initial_ms as u64),
            maximum: MaximumTimeout::Chosen(Duration::from_millis(Timeouts::DEFAULT.maximum_ms as u64)),
            // Whole milliseconds in 32 bits.
            least: Duration::from_millis(1),
            most: Duration::from_millis(u32::MAX as u64),
            measures: true,
            backs_off: true,
        },
    }),
    // The length of a signature of ECDSA in DER depends on its value, which only the arithmetic can give.
    weightless: &[CredentialKind::Psk],
    tls: TlsCapabilities {
        // `Suite::DEFAULT` of the library, then the others of its `Suite::ALL`.
        suites: &[
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
            Suite::TLS_PSK_WITH_AES_128_CCM_8,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
            Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256,
            Suite::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256,
            Suite::TLS_PSK_WITH_AES_128_GCM_SHA256,
            Suite::TLS_AES_128_CCM_8_SHA256,
            Suite::TLS_AES_128_CCM_SHA256,
            Suite::TLS_AES_128_GCM_SHA256,
        ],
        versions: &[
            TlsVersion {
                protocol: Protocol::Dtls12,
                curves: &[Curve::Secp256r1],
                fragment_lengths: FRAGMENT_LENGTHS,
                resumptions: &[Resumption::Id, Resumption::Ticket],
                certificate_compressions: &[],
            },
            TlsVersion {
                protocol: Protocol::Dtls13,
                curves: &[Curve::Secp256r1],
                fragment_lengths: &[],
                resumptions: &[],
                certificate_compressions: &[],
            },
        ],
        rsa_bits: &[],
        connection_id: Some(lean_dtls::MAX_CONNECTION_ID as u8),
        lean: true,
        without_cookie: true,
        needs_cookie_for_public_keys: true,
        cookieless: false,
        identity_with_nul: true,
        longest_psk: lean_dtls::MAX_PSK,
        psk_modes: &[PskMode::PskKe, PskMode::PskDheKe],
        imports_psk: false,
        record_size_limit: true,
        takes_any_chain: true,
        false_start: true,
        forgets_flight_on_data: false,
    },
    remarks: &["ignores alerts in clear"],
};

/// Octets of each of an end's two buffers for flights: enough for the longest identity that a configuration can have,
/// and for a ClientHello with a cookie and a ticket of another library (mbedTLS: 147 octets).
pub(crate) const PSK_BUFFER: usize = 384;

/// The buffer of an end with raw public keys, or with certificates of at most [`SHORT_CERTIFICATE`] octets: enough for one, also in a
/// ticket of another library, and for the other messages of its flight.
pub(crate) const CERTIFICATE_BUFFER: usize = SHORT_CERTIFICATE as usize + 736;

/// The longest certificate that such a buffer holds. Those in the files have at most 500 octets.
pub(crate) const SHORT_CERTIFICATE: u16 = 800;

/// The buffer of an end with longer certificates: enough for the longest that a configuration can have, 8,000 octets.
pub(crate) const LONG_CERTIFICATE_BUFFER: usize = 8_000 + 512;

/// The longest datagram if the configuration sets no limit: a record of 2^14 octets (RFC 5246, section 6.2.1) with its
/// header, nonce and tag.
const MTU: u16 = (1 << 14) + OVERHEAD as u16;

/// The server has one peer here. Its cookie needs an address.
const PEER: [u8; 1] = [0];

/// The session that a server keeps for the next one, if its configuration asks for that by its ID.
struct Cache {
    is_asked_for: bool,
    kept: Option<SessionState>,
}

impl Sessions for Cache {
    fn keeps(&self) -> bool {
        self.is_asked_for
    }

    fn keep(&mut self, session: SessionState) {
        self.kept = Some(session);
    }

    fn find(&self, id: &[u8]) -> Option<&SessionState> {
        self.kept.as_ref().filter(|session| session.id() == id)
    }

    fn forget(&mut self, _: &[u8]) {
        self.kept = None;
    }
}

/// The key of a server's tickets.
#[derive(Clone, Copy)]
struct TicketKey([u8; KEY]);

/// One end of a session of lean-dtls.
pub(crate) struct LeanDtls<const BUFFER: usize> {
    end: End<BUFFER>,
    protocol: Protocol,
    suite: Suite,
    /// The most octets of a datagram.
    mtu: u16,
    /// The place for a datagram that is sent. Application data may make it longer.
    datagram: Vec<u8>,
    resumption: Option<Resumption>,
    heartbeats: Heartbeats,
    /// The state that this end keeps for the next session: once, the client's session has to be taken out of the library.
    resumable: Option<Resumable>,
}

/// The part of this end in heartbeats.
#[derive(Clone, Copy, PartialEq)]
enum Heartbeats {
    Off,
    Idle,
    /// One is not answered yet.
    Asked,
}

enum End<const BUFFER: usize> {
    Client(Box<Client<Credentials, Counting, BUFFER>>),
    Server(Box<Server<Credentials, Counting, [u8; 1], 1, BUFFER, Cache>>),
}

impl<const BUFFER: usize> LeanDtls<BUFFER> {
    /// A session of a checked configuration. It resumes `previous`.
    ///
    /// # Errors
    /// The library's own error if it refuses the configuration.
    pub(crate) fn new(checked: &Checked<'_>, previous: Option<&Resumable>) -> Result<Self, Failure> {
        let milliseconds = |time: Duration| u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
        let timeouts = Timeouts {
            initial_ms: milliseconds(checked.first_timeout),
            maximum_ms: milliseconds(checked.maximum_timeout),
            floor_ms: checked.config.timers.floor.map(milliseconds),
            growth: match checked.config.timers.growth {
                Growth::Double => lean_dtls::Growth::Double,
                Growth::Cocoa => lean_dtls::Growth::Variable,
            },
            ..Timeouts::default()
        };
        let mtu = checked.config.mtu.unwrap_or(MTU);
        // The keys of certificates must be on one of the groups too (RFC 8422, section 5.1).
        let groups: &[Group] =
            if checked.tls.unchecked.x25519 { &[Group::X25519, Group::P256] } else { &[Group::P256] };
        let config = Config::new(Credentials::new(checked)?, mtu, timeouts)
            .and_then(|config| with_extensions(config, checked.tls))
            .map(|config| with_suites(config, checked).with_groups(groups))
            .map_err(|error| Failure::library(0, format!("the configuration is refused: {error:?}")))?
            .with_packing(if checked.config.datagram_packing { Packing::Full } else { Packing::OneRecord });
        let crypto = Counting::new(checked.config.cryptography, checked.config.protocol());
        let resumption = checked.tls.resumption;
        let mut end = match checked.config.role {
            Role::Client => End::Client(Box::new(client(config, crypto, previous))),
            Role::Server => End::Server(Box::new(Server::with_sessions(config, crypto, cache(resumption, previous)))),
        };
        let mut resumable = None;
        if let (End::Server(server), Some(Resumption::Ticket)) = (&mut end, resumption) {
            let kept = previous.and_then(Resumable::get::<TicketKey>).copied();
            let key = kept.unwrap_or_else(|| TicketKey(device::random()));
            server.rotate_ticket_key(&key.0);
            resumable = Some(Resumable::new(key));
        }
        // The longest flight in one datagram has its messages, and less than as much again for the headers of records
        // and messages.
        let datagram = vec![0; (2 * BUFFER).min(mtu.into())];
        Ok(Self {
            end,
            protocol: checked.config.protocol(),
            suite: checked.suite,
            mtu,
            datagram,
            resumption,
            heartbeats: if checked.tls.unchecked.heartbeats { Heartbeats::Idle } else { Heartbeats::Off },
            resumable,
        })
    }

    /// Sends what the library has to send, and says how it is.
    fn progress(&mut self) -> Progress {
        let datagram = &mut self.datagram[..];
        let (status, deadline) = match &mut self.end {
            End::Client(client) => {
                while let length @ 1.. = client.poll_transmit(now(), datagram) {
                    device::transmit(&datagram[..length]);
                }
                (client.status(), client.deadline())
            }
            End::Server(server) => {
                while let Some((_, length)) = server.poll_transmit(now(), datagram) {
                    device::transmit(&datagram[..length]);
                }
                let status = server.association_at(PEER).and_then(|client| server.status(client));
                (status.unwrap_or(lean_dtls::Status::Handshaking), server.deadline())
            }
        };
        let began = device::unix_time() - device::clock();
        let deadline = deadline.map(|at| Duration::from_millis(at.as_millis()).saturating_sub(began));
        Progress { state: state(status), deadline }
    }

    /// Asks the peer for a heartbeat.
    fn ask(&mut self) {
        let asked = match &mut self.end {
            End::Client(client) => client.heartbeat(),
            End::Server(server) => match server.association_at(PEER) {
                Some(client) => server.heartbeat(client),
                None => Err(HeartbeatError::NotEstablished),
            },
        };
        if asked.is_ok() {
            self.heartbeats = Heartbeats::Asked;
        }
    }

    /// True if the last heartbeat was answered.
    fn is_alive(&self) -> bool {
        let liveness = match &self.end {
            End::Client(client) => Some(client.liveness()),
            End::Server(server) => server.association_at(PEER).and_then(|client| server.liveness(client)),
        };
        matches!(liveness, Some(Liveness::Alive { .. }))
    }
}

fn client<const BUFFER: usize>(
    config: Config<Credentials>,
    crypto: Counting,
    previous: Option<&Resumable>,
) -> Client<Credentials, Counting, BUFFER> {
    let mut client = Client::new(config, crypto);
    if let Some(session) = previous.and_then(Resumable::octets).and_then(Session::decode) {
        client.resume(session);
    }
    client
}

/// The session that a client keeps, in octets: another device may resume it.
fn encoded(session: &Session) -> Option<Resumable> {
    let mut octets = Zeroizing::new(vec![0; lean_dtls::MAX_SESSION]);
    let length = session.encode(&mut octets)?;
    octets.truncate(length);
    Some(Resumable::new(octets))
}

fn cache(resumption: Option<Resumption>, previous: Option<&Resumable>) -> Cache {
    let kept = previous.and_then(Resumable::get::<SessionState>).cloned();
    Cache { is_asked_for: resumption == Some(Resumption::Id), kept }
}

/// Returns the configuration with the suite of the session, and with that of the other version if the end speaks both.
fn with_suites(config: Config<Credentials>, checked: &Checked<'_>) -> Config<Credentials> {
    let config = with_suite(config, checked.suite);
    let Some(other) = checked.tls.unchecked.other_suite else { return config };
    let agrees = other.is_tls13() && checked.suite.key_exchange().has_curve();
    let config = if agrees { config.with_psk_agreement() } else { config };
    with_suite(config, other).with_versions(Versions::Both)
}

/// Returns the configuration with the suite of the session alone, and its version.
fn with_suite(config: Config<Credentials>, suite: Suite) -> Config<Credentials> {
    let config13 = config.with_versions(Versions::Dtls13);
    match suite {
        Suite::TLS_AES_128_CCM_8_SHA256 => config13.with_aeads(&[Aead::Ccm8]),
        Suite::TLS_AES_128_CCM_SHA256 => config13.with_aeads(&[Aead::Ccm]),
        Suite::TLS_AES_128_GCM_SHA256 => config13.with_aeads(&[Aead::Gcm]),
        _ => {
            let all = lean_dtls::Suite::ALL;
            let place = all.iter().position(|own| own.iana() == suite.iana());
            config13.with_versions(Versions::Dtls12).with_suites(place.map_or(&[], |place| &all[place..=place]))
        }
    }
}

/// Returns the configuration with the extensions of the session.
fn with_extensions(mut config: Config<Credentials>, tls: &Tls) -> Result<Config<Credentials>, ConfigError> {
    let asked = |length: &MaxFragmentLength| Some(length.octets()) == tls.max_fragment_length;
    if let Some(length) = MaxFragmentLength::ALL.into_iter().find(asked) {
        config = config.with_max_fragment_length(length);
    }
    if let Some(octets) = tls.record_size_limit {
        config = config.with_record_size_limit(octets)?;
    }
    if let Some(dtls) = tls.version.dtls() {
        config = config.with_lean(dtls.lean.switches());
        if dtls.psk_mode == PskMode::PskDheKe {
            config = config.with_psk_agreement();
        }
        if !dtls.cookie {
            config = config.without_cookie();
        }
        if let Some(octets) = dtls.connection_id {
            config = config.with_connection_id(octets)?;
        }
    }
    if tls.resumption == Some(Resumption::Ticket) {
        config = config.with_tickets();
    }
    // Before it lets a client do so, the check has found the suite and all else fit.
    if tls.false_start {
        config = config.with_false_start();
    }
    Ok(if tls.unchecked.heartbeats { config.with_heartbeats() } else { config })
}

/// The device's calendar, as the library counts time: the age of a session reaches back before the world.
fn now() -> Instant {
    Instant::from_millis(u64::try_from(device::unix_time().as_millis()).unwrap_or(u64::MAX))
}

fn state(status: lean_dtls::Status) -> State {
    let (kind, reason) = match status {
        lean_dtls::Status::Handshaking => return State::Handshaking,
        // This end's own close, after which it still receives.
        lean_dtls::Status::Established | lean_dtls::Status::Closing => return State::Established,
        lean_dtls::Status::Closed => return State::ClosedByPeer,
        lean_dtls::Status::Failed(lean_dtls::Failure::TimedOut(heard)) => {
            let heard = heard.map_or(String::new(), |alert| format!("; an alert in clear said {alert}"));
            (FailureKind::TimedOut, format!("no answer to the last retransmission{heard}"))
        }
        lean_dtls::Status::Failed(lean_dtls::Failure::AlertReceived(description)) => {
            (FailureKind::AlertReceived { description }, format!("the peer sent the fatal alert {description}"))
        }
        lean_dtls::Status::Failed(failure) => (FailureKind::Library { code: 0 }, format!("{failure:?}")),
    };
    State::Failed(Failure { kind, reason })
}

impl<const BUFFER: usize> Library for LeanDtls<BUFFER> {
    fn start(&mut self) -> Progress {
        if let End::Client(client) = &mut self.end {
            client.connect();
        }
        self.progress()
    }

    fn handle_input(&mut self, input: &[u8]) -> Progress {
        let mut datagram = input.to_vec();
        match &mut self.end {
            End::Client(client) => client.receive(&mut datagram, device::deliver),
            End::Server(server) => _ = server.receive(PEER, &mut datagram, device::deliver),
        }
        if self.heartbeats == Heartbeats::Asked && self.is_alive() {
            self.heartbeats = Heartbeats::Idle;
            device::deliver(HEARTBEAT);
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
        // The length is checked: see `max_data`.
        self.datagram.resize(self.datagram.len().max(usize::from(self.mtu).min(data.len() + 2 * OVERHEAD)), 0);
        let sent = match &mut self.end {
            End::Client(client) => client.send(data, &mut self.datagram),
            End::Server(server) => match server.association_at(PEER) {
                Some(client) => server.send(client, data, &mut self.datagram),
                None => Err(SendError::NotEstablished),
            },
        };
        if let Ok(length) = sent {
            device::transmit(&self.datagram[..length]);
        }
        if self.heartbeats == Heartbeats::Idle {
            self.ask();
        }
        self.progress()
    }

    fn max_data(&self) -> Option<usize> {
        match &self.end {
            End::Client(client) => Some(client.max_data(self.mtu.into())),
            End::Server(server) => server.max_data(server.association_at(PEER)?, self.mtu.into()),
        }
    }

    fn may_write_early(&self) -> bool {
        matches!(&self.end, End::Client(client) if client.may_send())
    }

    fn close(&mut self) -> Progress {
        match &mut self.end {
            End::Client(client) => client.close(),
            End::Server(server) => server.association_at(PEER).into_iter().for_each(|client| server.close(client)),
        }
        self.progress()
    }

    fn negotiated(&self) -> Option<Negotiated> {
        let ids = match &self.end {
            End::Client(client) => client.connection_ids(),
            End::Server(server) => server.association_at(PEER).and_then(|client| server.connection_ids(client)),
        };
        // The length of the ID in the records that this end sends, which the laboratory counts.
        let connection_id = ids.map(|[_, peers]| peers as u8);
        // This end offers or accepts no other suite.
        Some(Negotiated::Tls { protocol: self.protocol, suite: self.suite, connection_id })
    }

    fn resumable(&mut self) -> Option<Resumable> {
        let resumption = self.resumption?;
        let taken = match (&mut self.end, resumption) {
            (End::Client(client), _) => client.take_session().and_then(|session| encoded(&session)),
            (End::Server(server), Resumption::Id) => server.sessions().kept.clone().map(Resumable::new),
            (End::Server(_), Resumption::Ticket) => None,
        };
        self.resumable = taken.or(self.resumable.take());
        self.resumable.clone()
    }
}
