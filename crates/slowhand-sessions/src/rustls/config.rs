//! The configurations of rustls for both ends, for a stream and for QUIC.

use std::fmt::Display;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption as ClientResumption, Tls12Resumption, verify_server_cert_signed_by_trust_anchor};
use rustls::compress::{CertCompressor, CertDecompressor, ZLIB_COMPRESSOR, ZLIB_DECOMPRESSOR};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivateSec1KeyDer, ServerName, UnixTime};
use rustls::server::{NoServerSessionStorage, ParsedCertificate, ServerSessionMemoryCache, WebPkiClientVerifier};
use rustls::time_provider::TimeProvider;
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, KeyLog, RootCertStore, ServerConfig, SignatureScheme,
    SupportedProtocolVersion, version,
};

use super::provider;
use crate::check::Checked;
use crate::credentials::{self, Chain};
use crate::device;
use crate::session::{Failure, FailureKind, Resumable};
use crate::tls::{Auth, CertificateCompression, Version};

/// The number of sessions that a server keeps: the first one, and the one that resumes it.
const SESSIONS: usize = 2;

/// The configuration of a client. The library keeps sessions in it: so a session can resume only with the configuration of the
/// first one.
pub(super) fn client(checked: &Checked<'_>, previous: Option<&Resumable>) -> Result<Arc<ClientConfig>, Error> {
    match previous.and_then(Resumable::get::<Arc<ClientConfig>>) {
        Some(previous) => Ok(previous.clone()),
        None => client_config(checked).map(Arc::new),
    }
}

/// The configuration of a server.
pub(super) fn server(checked: &Checked<'_>, previous: Option<&Resumable>) -> Result<Arc<ServerConfig>, Error> {
    match previous.and_then(Resumable::get::<Arc<ServerConfig>>) {
        Some(previous) => Ok(previous.clone()),
        None => server_config(checked).map(Arc::new),
    }
}

/// The provider of a session, and its version of TLS: that of QUIC is 1.3 (RFC 9001 section 4.2).
fn parts(checked: &Checked<'_>) -> (Arc<CryptoProvider>, [&'static SupportedProtocolVersion; 1]) {
    let version = match checked.tls.version {
        Version::Tls13 | Version::Quic => &version::TLS13,
        _ => &version::TLS12,
    };
    (Arc::new(provider::provider(checked.suite)), [version])
}

/// The protocol that both ends of QUIC say that they speak above it, as RFC 9001 section 8.1 demands; over a stream they say
/// nothing. The name is *assumed*: data of slowhand's applications have none of their own.
fn alpn(checked: &Checked<'_>) -> Vec<Vec<u8>> {
    match checked.tls.version {
        Version::Quic => vec![b"slowhand".to_vec()],
        _ => Vec::new(),
    }
}

/// The compressors of certificates (RFC 8879), and the decompressors: the library by itself would offer all that it is compiled with.
/// Its cache of what it has compressed belongs to one configuration, so it joins no two sessions but the one that resumes
/// the other.
fn compression(checked: &Checked<'_>) -> (Vec<&'static dyn CertCompressor>, Vec<&'static dyn CertDecompressor>) {
    match checked.tls.certificate_compression {
        None => (Vec::new(), Vec::new()),
        Some(CertificateCompression::Zlib) => (vec![ZLIB_COMPRESSOR], vec![ZLIB_DECOMPRESSOR]),
    }
}

fn client_config(checked: &Checked<'_>) -> Result<ClientConfig, Error> {
    let (provider, versions) = parts(checked);
    let chain = chain(checked)?;
    let builder = ClientConfig::builder_with_details(provider.clone(), Arc::new(Calendar))
        .with_protocol_versions(&versions)?
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
    config.alpn_protocols = alpn(checked);
    (config.cert_compressors, config.cert_decompressors) = compression(checked);
    config.resumption = match checked.tls.resumption {
        None => ClientResumption::disabled(),
        // In TLS 1.2, only the session ID: this server gives no tickets there.
        Some(_) => ClientResumption::in_memory_sessions(1).tls12_resumption(Tls12Resumption::SessionIdOnly),
    };
    config.key_log = Arc::new(DeviceKeyLog);
    Ok(config)
}

fn server_config(checked: &Checked<'_>) -> Result<ServerConfig, Error> {
    let (provider, versions) = parts(checked);
    let chain = chain(checked)?;
    let builder =
        ServerConfig::builder_with_details(provider.clone(), Arc::new(Calendar)).with_protocol_versions(&versions)?;
    let builder = match checked.tls.auth {
        Auth::Mutual => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(authority(&chain)?, provider).build().map_err(general)?,
        ),
        Auth::Server => builder.with_no_client_auth(),
    };
    let (certificate, key) = own(&chain);
    let mut config = builder.with_single_cert(certificate, key)?;
    config.alpn_protocols = alpn(checked);
    (config.cert_compressors, config.cert_decompressors) = compression(checked);
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

pub(super) fn general(error: impl Display) -> Error {
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

/// The failure of a session.
pub(super) fn failure(error: &Error) -> Failure {
    let kind = match error {
        Error::AlertReceived(description) => FailureKind::AlertReceived { description: (*description).into() },
        _ => FailureKind::Library { code: 0 },
    };
    Failure { kind, reason: error.to_string() }
}
