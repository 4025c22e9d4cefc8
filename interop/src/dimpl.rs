//! dimpl, with its cryptography in Rust.
//!
//! It checks no certificate: that is left to its user. This adapter accepts the one certificate of the peer. The ephemeral keys come
//! from the system's randomness, everything else from the seed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dimpl::crypto::{Dtls12CipherSuite, Dtls13CipherSuite, NamedGroup};
use dimpl::{Config, Dtls, DtlsCertificate, Output, PskResolver};
use slowhand_sessions::{CredentialKind, Failure, FailureKind, Role};

use crate::credentials::{self, PSK, PSK_IDENTITY};
use crate::end::{Engine, Progress, State};
use crate::host;
use crate::setup::{Group, Setup, Suite, Version};

/// The least time until the next call, because version 0.9.0 may ask for one at once, for ever: a client of DTLS 1.3 that misses a
/// fragment acknowledges again and again without a delay. *Assumed*: a quarter of the shortest first timeout.
const LEAST_WAIT: Duration = Duration::from_millis(250);

/// One end of a session of dimpl.
pub(crate) struct Dimpl {
    dtls: Dtls,
    began: Instant,
    /// The only certificate that is accepted.
    peer: &'static [u8],
    is_established: bool,
}

struct Key;

impl PskResolver for Key {
    fn resolve(&self, identity: &[u8]) -> Option<Vec<u8>> {
        (identity == PSK_IDENTITY.as_bytes()).then(|| PSK.to_vec())
    }
}

impl Dimpl {
    /// # Errors
    /// What the library does not have.
    pub(crate) fn new(setup: &Setup) -> Result<Self, String> {
        if setup.connection_id.is_some() {
            return Err("it has no connection IDs".to_owned());
        }
        if setup.resumption.is_some() {
            return Err("it resumes no session".to_owned());
        }
        if setup.max_fragment_length.is_some() || setup.record_size_limit.is_some() || setup.heartbeat {
            return Err("it has no such extension".to_owned());
        }
        // The keys of the certificates must be on one of the groups too (RFC 8422, section 5.1).
        let groups = match setup.group {
            Some(Group::X25519) => &[NamedGroup::X25519, NamedGroup::Secp256r1][..],
            _ => &[NamedGroup::Secp256r1],
        };
        let builder = Config::builder()
            .dangerously_set_rng_seed(setup.seed)
            .use_server_cookie(setup.cookie)
            .flight_start_rto(setup.first_timeout)
            .mtu(setup.mtu.map_or(1150, usize::from)) // its own default
            .kx_groups(groups);
        let certificate = || {
            let own = credentials::of(setup.role);
            DtlsCertificate { certificate: own.certificate.to_vec(), private_key: own.key.to_vec() }
        };
        let has_certificate = setup.credential == CredentialKind::Certificate;
        let began = Instant::now();
        let mut dtls = match (setup.version, setup.suite) {
            (Version::Dtls12, Suite::TLS_PSK_WITH_AES_128_CCM_8) => {
                let builder = match setup.role {
                    Role::Client => builder.with_psk_client(PSK_IDENTITY.into(), Arc::new(Key)),
                    Role::Server => builder.with_psk_server(None, Arc::new(Key)),
                };
                Dtls::new_12_psk(built(builder.build())?, began)
            }
            (Version::Dtls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256) if has_certificate => {
                let suites = [Dtls12CipherSuite::ECDHE_ECDSA_AES128_GCM_SHA256];
                Dtls::new_12(built(builder.dtls12_cipher_suites(&suites).build())?, certificate(), began)
            }
            (Version::Dtls13, Suite::TLS_AES_128_GCM_SHA256) if has_certificate => {
                let suites = [Dtls13CipherSuite::AES_128_GCM_SHA256];
                Dtls::new_13(built(builder.dtls13_cipher_suites(&suites).build())?, certificate(), began)
            }
            _ => return Err(format!("it has no {} with this credential", setup.suite)),
        };
        dtls.set_active(setup.role == Role::Client);
        let peer = credentials::of(credentials::other(setup.role));
        Ok(Self { dtls, began, peer: peer.certificate, is_established: false })
    }

    fn call(&mut self, call: impl FnOnce(&mut Dtls) -> Result<(), dimpl::Error>) -> Progress {
        let now = self.began + host::now();
        let result = self.dtls.handle_timeout(now).and_then(|()| call(&mut self.dtls));
        let output = self.collect();
        match result {
            Ok(()) => output,
            Err(dimpl::Error::Timeout(what)) => failed(FailureKind::TimedOut, format!("timeout: {what}")),
            Err(error) => failed(FailureKind::Library { code: 0 }, error.to_string()),
        }
    }

    /// Takes all that the library has to say, and says how it is.
    fn collect(&mut self) -> Progress {
        // Longer than the longest record (RFC 5246, section 6.2.1).
        let mut buffer = vec![0; 1 << 15];
        let mut has_closed = false;
        let deadline = loop {
            match self.dtls.poll_output(&mut buffer) {
                Output::Packet(datagram) => host::transmit(datagram),
                Output::ApplicationData(data) => host::deliver(data),
                Output::Connected => self.is_established = true,
                Output::CloseNotify => has_closed = true,
                Output::PeerCert(certificate) if certificate != self.peer => {
                    return failed(FailureKind::Library { code: 0 }, "the peer has another certificate");
                }
                Output::Timeout(at) => break at.saturating_duration_since(self.began),
                Output::BufferTooSmall { needed } => buffer.resize(needed, 0),
                _ => {}
            }
        };
        let state = match (has_closed, self.is_established) {
            (true, _) => State::Closed,
            (false, true) => State::Established,
            (false, false) => State::Handshaking,
        };
        Progress { state, deadline: Some(deadline.max(host::now() + LEAST_WAIT)) }
    }
}

fn built(config: Result<Config, dimpl::Error>) -> Result<Arc<Config>, String> {
    config.map(Arc::new).map_err(|error| error.to_string())
}

fn failed(kind: FailureKind, reason: impl Into<String>) -> Progress {
    Progress { state: State::Failed(Failure { kind, reason: reason.into() }), deadline: None }
}

impl Engine for Dimpl {
    fn start(&mut self) -> Progress {
        self.call(|_| Ok(()))
    }

    fn handle_input(&mut self, datagram: &[u8]) -> Progress {
        self.call(|dtls| dtls.handle_packet(datagram))
    }

    fn handle_timeout(&mut self) -> Progress {
        self.call(|_| Ok(()))
    }

    fn write(&mut self, data: &[u8]) -> Progress {
        self.call(|dtls| dtls.send_application_data(data).map(|_| ()))
    }

    fn close(&mut self) -> Progress {
        self.call(Dtls::close)
    }
}
