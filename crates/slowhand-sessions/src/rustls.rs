//! rustls behind the [`Session`] trait.
//!
//! The library is written for this: it does no I/O, takes the time from a [`TimeProvider`] and all its
//! cryptography from a provider. Ours ([`provider`]) runs on the device: what is random comes from the device, and
//! what is computed moves its clock. The library cannot say when within a call it has verified the peer's Finished;
//! the handshake counts as complete when the call is.
//!
//! It writes whatever a call has made at once. Without resumption the server sends no tickets; with it, one, which is but
//! the name of a session that the server keeps: the library has the other kind for its own cryptography only.

mod provider;
mod symmetric;

use std::fmt::Display;
use std::io::{self, IoSlice, Write};
use std::net::Ipv6Addr;
use std::sync::Arc;
use std::time::Duration;

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

use crate::config::{Auth, Protocol, Role, SessionConfig, Suite};
use crate::credentials::{self, Chain};
use crate::device::{self, Device};
use crate::operation::{Performed, Processor};
use crate::resumption::Resumable;
use crate::session::{Failure, Negotiated, Secrets, Session, Status, Transmit};

pub(crate) use provider::SUITES;

/// The library's version; `build.rs` asks cargo, because the library does not tell.
pub(crate) const VERSION: &str = env!("SLOWHAND_RUSTLS_VERSION");

/// Sessions that a server keeps: the first, and the one that resumes it.
const SESSIONS: usize = 2;

/// One end of a rustls session.
pub(crate) struct RustlsSession {
    device: Box<Device>,
    end: End,
    /// With which the session may be resumed later.
    resumable: Option<Resumable>,
    protocol: Protocol,
    status: Status,
}

enum End {
    /// A client that has not begun: the library computes a ClientHello as soon as there is a connection.
    Idle(Arc<ClientConfig>),
    Connected(Box<Connection>),
}

impl RustlsSession {
    /// A session of a configuration that has been validated, to resume what `previous` says.
    ///
    /// # Errors
    /// The library's own error when it refuses the configuration nonetheless.
    pub(crate) fn new(
        config: &SessionConfig,
        processor: Arc<dyn Processor>,
        previous: Option<&Resumable>,
    ) -> Result<Self, Failure> {
        let mut device = Box::new(Device::new(processor, config.seed));
        let (end, resumable) = device.run(|| end(config, previous)).map_err(|error| failure(&error))?;
        device.forget_setup();
        let resumable = config.resumption.map(|_| resumable);
        Ok(Self { device, end, resumable, protocol: config.protocol, status: Status::Handshaking })
    }

    fn drive(&mut self, now: Duration, input: &[u8]) {
        let End::Connected(connection) = &mut self.end else { return };
        if matches!(self.status, Status::Failed(_)) {
            return;
        }
        self.device.wake(now);
        let result = self.device.run(|| {
            let result = read(connection, input);
            // After an error as well: there may be an alert.
            write(connection).and(result)
        });
        match result {
            Err(error) => self.status = Status::Failed(failure(&error)),
            Ok(()) if self.status == Status::Handshaking && !connection.is_handshaking() => {
                self.status = Status::Established { at: self.device.clock() };
            }
            Ok(()) => {}
        }
    }
}

/// Lets the library read and process all of the input.
fn read(connection: &mut Connection, mut input: &[u8]) -> Result<(), Error> {
    while !input.is_empty() {
        connection.read_tls(&mut input).map_err(general)?;
        connection.process_new_packets()?;
        // Application data is nobody's here; what waits to be read would stop the library from reading on.
        let _ = io::copy(&mut connection.reader(), &mut io::sink());
    }
    Ok(())
}

/// Takes out what the library has to send.
fn write(connection: &mut Connection) -> Result<(), Error> {
    while connection.wants_write() {
        connection.write_tls(&mut Socket).map_err(general)?;
    }
    Ok(())
}

/// What the library writes to: one call is one write.
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

impl Session for RustlsSession {
    fn start(&mut self, now: Duration) {
        let End::Idle(config) = &self.end else { return };
        // The name is neither sent nor looked for in the certificate.
        let name = ServerName::from(Ipv6Addr::LOCALHOST);
        self.device.wake(now);
        match self.device.run(|| ClientConnection::new(config.clone(), name)) {
            Ok(connection) => {
                self.end = End::Connected(Box::new(connection.into()));
                self.drive(now, &[]);
            }
            Err(error) => self.status = Status::Failed(failure(&error)),
        }
    }

    fn handle_input(&mut self, now: Duration, input: &[u8]) {
        self.drive(now, input);
    }

    fn handle_timeout(&mut self, _now: Duration) {}

    fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        self.device.poll_transmit()
    }

    fn deadline(&self) -> Option<Duration> {
        None
    }

    fn busy_until(&self) -> Duration {
        self.device.clock()
    }

    fn status(&self) -> Status {
        self.status.clone()
    }

    fn drain_operations(&mut self, receive: &mut dyn FnMut(Performed)) {
        self.device.drain_operations(receive);
    }

    fn secrets(&self) -> Option<Secrets> {
        self.device.secrets().cloned()
    }

    fn key_log(&self) -> Vec<String> {
        self.device.key_log().to_vec()
    }

    fn resumable(&mut self) -> Option<Resumable> {
        self.resumable.clone()
    }

    fn negotiated(&self) -> Option<Negotiated> {
        if !matches!(self.status, Status::Established { .. }) {
            return None;
        }
        let End::Connected(connection) = &self.end else { return None };
        let suite = connection.negotiated_cipher_suite()?.suite();
        let suite = Suite::from_iana(suite.into())?;
        Some(Negotiated { protocol: self.protocol, suite, connection_id: None })
    }
}

/// The library keeps sessions in its configuration, and resumes one only with the configuration that it began with.
fn end(config: &SessionConfig, previous: Option<&Resumable>) -> Result<(End, Resumable), Error> {
    let provider = Arc::new(provider::provider(config.suite));
    let versions: &[&SupportedProtocolVersion] = match config.protocol {
        Protocol::Tls13 => &[&version::TLS13],
        _ => &[&version::TLS12],
    };
    Ok(match config.role {
        Role::Client => {
            let config = match previous.and_then(Resumable::as_rustls_client) {
                Some(previous) => previous.clone(),
                None => Arc::new(client_config(config, provider, versions)?),
            };
            (End::Idle(config.clone()), Resumable::rustls_client(config))
        }
        Role::Server => {
            let config = match previous.and_then(Resumable::as_rustls_server) {
                Some(previous) => previous.clone(),
                None => Arc::new(server_config(config, provider, versions)?),
            };
            let connection = ServerConnection::new(config.clone())?;
            (End::Connected(Box::new(connection.into())), Resumable::rustls_server(config))
        }
    })
}

fn client_config(
    session: &SessionConfig,
    provider: Arc<CryptoProvider>,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<ClientConfig, Error> {
    let chain = credentials::chain(session).map_err(general)?;
    let builder = ClientConfig::builder_with_details(provider.clone(), Arc::new(Calendar))
        .with_protocol_versions(versions)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(KnownAuthority { authority: authority(&chain)?, provider }));
    let mut config = match session.auth {
        Auth::Mutual => {
            let (certificate, key) = own(&chain);
            builder.with_client_auth_cert(certificate, key)?
        }
        Auth::Server => builder.with_no_client_auth(),
    };
    config.enable_sni = false;
    config.resumption = match session.resumption {
        None => ClientResumption::disabled(),
        // In TLS 1.2 a client that offers tickets as well gets none.
        Some(_) => ClientResumption::in_memory_sessions(1).tls12_resumption(Tls12Resumption::SessionIdOnly),
    };
    config.key_log = Arc::new(DeviceKeyLog);
    Ok(config)
}

fn server_config(
    session: &SessionConfig,
    provider: Arc<CryptoProvider>,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<ServerConfig, Error> {
    let chain = credentials::chain(session).map_err(general)?;
    let builder =
        ServerConfig::builder_with_details(provider.clone(), Arc::new(Calendar)).with_protocol_versions(versions)?;
    let builder = match session.auth {
        Auth::Mutual => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(authority(&chain)?, provider).build().map_err(general)?,
        ),
        Auth::Server => builder.with_no_client_auth(),
    };
    let (certificate, key) = own(&chain);
    let mut config = builder.with_single_cert(certificate, key)?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    if session.resumption.is_some() {
        config.session_storage = ServerSessionMemoryCache::new(SESSIONS);
        config.send_tls13_tickets = 1;
    }
    config.key_log = Arc::new(DeviceKeyLog);
    Ok(config)
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

/// The device's clock as a calendar.
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

/// Accepts a server whose certificate the authority has issued. A device knows its server by that, not by a name.
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
    match error {
        Error::AlertReceived(description) => Failure::AlertReceived { description: (*description).into() },
        error => Failure::Library { code: 0, text: error.to_string() },
    }
}
