//! rustls.
//!
//! The library does no I/O. It takes the time from a [`TimeProvider`] and all its cryptography from a provider. The
//! provider here ([`provider`]) takes randomness from the device, and its operations advance the device's clock. The
//! library does not report when it verifies the peer's Finished, so the handshake is complete at the end of that call.
//!
//! All that a call sends is one write. Without resumption, the server sends no tickets. With resumption, it sends one.
//! This ticket is only the name of a session that the server keeps, because the library encrypts tickets only with its
//! own cryptography.

pub(crate) mod provider;
mod symmetric;

use std::fmt::Display;
use std::io::{self, IoSlice, Read, Write};
use std::net::Ipv6Addr;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption as ClientResumption, Tls12Resumption, verify_server_cert_signed_by_trust_anchor};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivateSec1KeyDer, ServerName, UnixTime};
use rustls::server::{NoServerSessionStorage, ParsedCertificate, ServerSessionMemoryCache, WebPkiClientVerifier};
use rustls::time_provider::TimeProvider;
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, Error, KeyLog, RootCertStore, ServerConfig,
    ServerConnection, SignatureScheme, SupportedProtocolVersion, version,
};

use crate::capabilities::{Capabilities, TlsCapabilities, TlsVersion};
use crate::check::Checked;
use crate::config::{CredentialKind, Negotiated, Protocol, Role, Stack};
use crate::credentials::{self, Chain};
use crate::device;
use crate::library::{Library, Progress, State};
use crate::operation::Curve;
use crate::session::{Failure, FailureKind, Resumable};
use crate::tls::{Auth, Resumption, Suite, Version};

/// What the library supports.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    stack: Stack::RUSTLS,
    is_built: true,
    // The library does not report its version; `build.rs` gets it from cargo.
    version: env!("SLOWHAND_RUSTLS_VERSION"),
    licence: "Apache-2.0 OR ISC OR MIT",
    credentials: &[CredentialKind::Certificate],
    datagrams: None,
    weightless: &[],
    tls: TlsCapabilities {
        suites: provider::SUITES,
        versions: &[
            TlsVersion {
                protocol: Protocol::Tls12,
                curves: &[Curve::Secp256r1],
                fragment_lengths: &[],
                resumptions: &[Resumption::Id],
            },
            TlsVersion {
                protocol: Protocol::Tls13,
                curves: &[Curve::Secp256r1],
                fragment_lengths: &[],
                resumptions: &[Resumption::Ticket],
            },
        ],
        rsa_bits: &[],
        connection_id: None,
        lean: false,
        without_cookie: false,
        cookieless: false,
        identity_with_nul: false,
        longest_psk: 0,
        psk_modes: &[],
        imports_psk: false,
        record_size_limit: false,
    },
    remarks: &["one write per flight"],
};

/// The number of sessions that a server keeps: the first one, and the one that resumes it.
const SESSIONS: usize = 2;

/// One end of a rustls session.
pub(crate) struct Rustls {
    end: End,
    /// The configuration, which keeps the session for resumption.
    resumable: Option<Resumable>,
    protocol: Protocol,
}

enum End {
    /// A client that has not started. It has no connection, because a new connection computes a ClientHello at once.
    Idle(Arc<ClientConfig>),
    Connected(Box<Connection>),
}

impl Rustls {
    /// A session of a checked configuration. It resumes `previous`.
    ///
    /// # Errors
    /// The library's own error if it refuses the configuration.
    pub(crate) fn new(checked: &Checked<'_>, previous: Option<&Resumable>) -> Result<Self, Failure> {
        let (end, resumable) = end(checked, previous).map_err(|error| failure(&error))?;
        let resumable = checked.tls.resumption.map(|_| resumable);
        Ok(Self { end, resumable, protocol: checked.config.protocol() })
    }

    /// Calls `act` with the connection, then writes what the library sends. `act` returns true if the peer has closed
    /// the session.
    fn drive(&mut self, act: impl FnOnce(&mut Connection) -> Result<bool, Error>) -> Progress {
        let End::Connected(connection) = &mut self.end else { return progress(State::Handshaking) };
        let acted = act(connection);
        // Also after an error: the library may send an alert.
        let written = write(connection);
        progress(match (written, acted) {
            (Err(error), _) | (_, Err(error)) => State::Failed(failure(&error)),
            (Ok(()), Ok(true)) => State::ClosedByPeer,
            (Ok(()), Ok(false)) if connection.is_handshaking() => State::Handshaking,
            (Ok(()), Ok(false)) => State::Established,
        })
    }
}

/// The library has no timers.
fn progress(state: State) -> Progress {
    Progress { state, deadline: None }
}

/// Gives all of the input to the library. Returns true if the peer has closed the session.
fn read(connection: &mut Connection, mut input: &[u8]) -> Result<bool, Error> {
    let mut data = [0; 4096];
    let mut is_closed = false;
    while !input.is_empty() && !is_closed {
        connection.read_tls(&mut input).map_err(general)?;
        is_closed = connection.process_new_packets()?.peer_has_closed();
        // Takes all data out, because the library reads no more when its buffer is full.
        while let Ok(length @ 1..) = connection.reader().read(&mut data) {
            device::deliver(&data[..length]);
        }
    }
    Ok(is_closed)
}

/// Writes what the library sends.
fn write(connection: &mut Connection) -> Result<(), Error> {
    while connection.wants_write() {
        connection.write_tls(&mut Socket).map_err(general)?;
    }
    Ok(())
}

/// The destination of the library's writes. Each call is one write to the stream.
struct Socket;

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        device::transmit(bytes);
        Ok(bytes.len())
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.write(&pieces.iter().flat_map(|piece| piece.iter().copied()).collect::<Vec<u8>>())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Library for Rustls {
    fn start(&mut self) -> Progress {
        if let End::Idle(config) = &self.end {
            // The library needs a name, but neither sends it nor checks the certificate for it.
            let name = ServerName::from(Ipv6Addr::LOCALHOST);
            match ClientConnection::new(config.clone(), name) {
                Ok(connection) => self.end = End::Connected(Box::new(connection.into())),
                Err(error) => return progress(State::Failed(failure(&error))),
            }
        }
        self.drive(|_| Ok(false))
    }

    fn handle_input(&mut self, input: &[u8]) -> Progress {
        self.drive(|connection| read(connection, input))
    }

    fn handle_timeout(&mut self) -> Progress {
        self.drive(|_| Ok(false))
    }

    fn write(&mut self, data: &[u8]) -> Progress {
        self.drive(|connection| {
            let mut rest = data;
            // The library's buffer has a limit, so it is written out before more data goes in.
            while !rest.is_empty() {
                let taken = connection.writer().write(rest).map_err(general)?;
                rest = &rest[taken..];
                write(connection)?;
            }
            Ok(false)
        })
    }

    fn max_data(&self) -> Option<usize> {
        None
    }

    fn close(&mut self) -> Progress {
        self.drive(|connection| {
            connection.send_close_notify();
            Ok(false)
        })
    }

    fn negotiated(&self) -> Option<Negotiated> {
        let End::Connected(connection) = &self.end else { return None };
        let suite = connection.negotiated_cipher_suite()?.suite();
        let suite = Suite::from_iana(suite.into())?;
        Some(Negotiated::Tls { protocol: self.protocol, suite, connection_id: None })
    }

    fn resumable(&mut self) -> Option<Resumable> {
        self.resumable.clone()
    }
}

/// The library keeps sessions in its configuration. So a session can resume only with the configuration of the first
/// one.
fn end(checked: &Checked<'_>, previous: Option<&Resumable>) -> Result<(End, Resumable), Error> {
    let provider = Arc::new(provider::provider(checked.suite));
    let versions: &[&SupportedProtocolVersion] = match checked.tls.version {
        Version::Tls13 => &[&version::TLS13],
        _ => &[&version::TLS12],
    };
    Ok(match checked.config.role {
        Role::Client => {
            let config = match previous.and_then(Resumable::get::<Arc<ClientConfig>>) {
                Some(previous) => previous.clone(),
                None => Arc::new(client_config(checked, provider, versions)?),
            };
            (End::Idle(config.clone()), Resumable::new(config))
        }
        Role::Server => {
            let config = match previous.and_then(Resumable::get::<Arc<ServerConfig>>) {
                Some(previous) => previous.clone(),
                None => Arc::new(server_config(checked, provider, versions)?),
            };
            let connection = ServerConnection::new(config.clone())?;
            (End::Connected(Box::new(connection.into())), Resumable::new(config))
        }
    })
}

fn client_config(
    checked: &Checked<'_>,
    provider: Arc<CryptoProvider>,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<ClientConfig, Error> {
    let chain = chain(checked)?;
    let builder = ClientConfig::builder_with_details(provider.clone(), Arc::new(Calendar))
        .with_protocol_versions(versions)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(KnownAuthority { authority: authority(&chain)?, provider }));
    let mut config = match checked.tls.auth {
        Auth::Mutual => {
            let (certificate, key) = own(&chain);
            builder.with_client_auth_cert(certificate, key)?
        }
        Auth::Server => builder.with_no_client_auth(),
    };
    config.enable_sni = false;
    config.resumption = match checked.tls.resumption {
        None => ClientResumption::disabled(),
        // In TLS 1.2, only the session ID: this server gives no tickets there.
        Some(_) => ClientResumption::in_memory_sessions(1).tls12_resumption(Tls12Resumption::SessionIdOnly),
    };
    config.key_log = Arc::new(DeviceKeyLog);
    Ok(config)
}

fn server_config(
    checked: &Checked<'_>,
    provider: Arc<CryptoProvider>,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<ServerConfig, Error> {
    let chain = chain(checked)?;
    let builder =
        ServerConfig::builder_with_details(provider.clone(), Arc::new(Calendar)).with_protocol_versions(versions)?;
    let builder = match checked.tls.auth {
        Auth::Mutual => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(authority(&chain)?, provider).build().map_err(general)?,
        ),
        Auth::Server => builder.with_no_client_auth(),
    };
    let (certificate, key) = own(&chain);
    let mut config = builder.with_single_cert(certificate, key)?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    if checked.tls.resumption.is_some() {
        config.session_storage = ServerSessionMemoryCache::new(SESSIONS);
        config.send_tls13_tickets = 1;
    }
    config.key_log = Arc::new(DeviceKeyLog);
    Ok(config)
}

fn chain(checked: &Checked<'_>) -> Result<Chain, Error> {
    let (key, length) = checked.certificate().ok_or_else(|| general("the session has no certificates"))?;
    credentials::chain(key, checked.config.role, length).map_err(general)
}

fn general(error: impl Display) -> Error {
    Error::General(error.to_string())
}

fn authority(chain: &Chain) -> Result<Arc<RootCertStore>, Error> {
    let mut store = RootCertStore::empty();
    store.add(CertificateDer::from(chain.authority))?;
    Ok(Arc::new(store))
}

fn own(chain: &Chain) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    (vec![CertificateDer::from(chain.own.certificate)], PrivateSec1KeyDer::from(chain.own.key).into())
}

/// The calendar time of the device.
#[derive(Debug)]
struct Calendar;

impl TimeProvider for Calendar {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(device::unix_time()))
    }
}

#[derive(Debug)]
struct DeviceKeyLog;

impl KeyLog for DeviceKeyLog {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        device::log_key(label, client_random, secret);
    }
}

/// Accepts a server if the authority has issued its certificate. The server has no name to check.
#[derive(Debug)]
struct KnownAuthority {
    authority: Arc<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for KnownAuthority {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let algorithms = self.provider.signature_verification_algorithms.all;
        let certificate = ParsedCertificate::try_from(end_entity)?;
        verify_server_cert_signed_by_trust_anchor(&certificate, &self.authority, intermediates, now, algorithms)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn failure(error: &Error) -> Failure {
    let kind = match error {
        Error::AlertReceived(description) => FailureKind::AlertReceived { description: (*description).into() },
        _ => FailureKind::Library { code: 0 },
    };
    Failure { kind, reason: error.to_string() }
}
