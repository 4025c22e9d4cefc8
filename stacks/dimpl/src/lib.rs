//! dimpl 0.9.0 as a stack: DTLS 1.2 and 1.3. Its cryptography is its own, in Rust; `provider` counts it, and gives it the device's
//! randomness.
//!
//! Another program of this workspace links it as a crate: `SLOWHAND_STACK` is the constant that slowhand reads.
//!
//! `provider` is the library's provider of cryptography: `symmetric` and `ecdsa` count what the library computes, `exchange` has the
//! device's randomness, `secrets` finds the key log, `certificate` checks the peer's.

mod certificate;
mod ecdsa;
mod exchange;
mod provider;
mod secrets;
mod symmetric;

use std::ffi::CStr;
use std::sync::Arc;
use std::time::Duration;

use dimpl::crypto::{Dtls12CipherSuite, Dtls13CipherSuite, NamedGroup};
use dimpl::{Config, Dtls, Output, PskResolver, SecurityError};
use slowhand_stack::{
    Capabilities, CredentialName, Failure, Options, Progress, Protocol, ProtocolName, Stack, State, Timer, host,
};

use secrets::Secrets;

slowhand_stack::export!(Dimpl);

/// TLS NamedGroups (RFC 8422 section 5.1.1).
const SECP256R1: u16 = 23;
const X25519: u16 = 29;

/// The defaults of `Config::builder`: 1 s, the retransmissions of a flight, and the time for all of a handshake, which is so many times
/// the first timeout.
const FIRST_TIMEOUT: Duration = Duration::from_secs(1);
const RETRIES: u32 = 4;
const HANDSHAKE: u32 = 40;
/// Likewise, in octets.
const MTU: usize = 1150;

/// The least time until the next call, because version 0.9.0 may ask for one at once, for ever: a client of DTLS 1.3 that misses a
/// fragment acknowledges again and again without a delay. *Assumed*: a quarter of the first timeout, which is what the jitter of its timer
/// leaves out.
const LEAST_WAIT: u32 = 4;

/// Octets of the longest record (RFC 5246 section 6.2.1), with what may come before and after it.
const LONGEST: usize = 1 << 15;

/// One end of a session.
struct Dimpl {
    dtls: Dtls,
    is_server: bool,
    /// The suites of DTLS 1.2 and 1.3; 0: this end does not speak the version.
    suites: [u16; 2],
    mtu: usize,
    least_wait: Duration,
    /// The certificate that has signed the peer's.
    trusted: Option<Vec<u8>>,
    secrets: Secrets,
    state: State,
}

struct Key {
    identity: Vec<u8>,
    psk: Vec<u8>,
}

impl PskResolver for Key {
    fn resolve(&self, identity: &[u8]) -> Option<Vec<u8>> {
        (identity == self.identity).then(|| self.psk.clone())
    }
}

impl Dimpl {
    /// Tells the library the time, calls it, and takes all that it has to say.
    fn call(&mut self, call: impl FnOnce(&mut Dtls) -> Result<(), dimpl::Error>) -> Progress {
        if matches!(self.state, State::Failed(_) | State::TimedOut(_) | State::AlertReceived { .. }) {
            return self.state.clone().into();
        }
        let began = self.secrets.enter();
        let result = self.dtls.handle_timeout(host::instant()).and_then(|()| call(&mut self.dtls));
        let deadline = self.collect();
        drop(began);
        if let Err(error) = result {
            self.state = failed(&error);
        }
        let has_ended = !matches!(self.state, State::Handshaking | State::Established);
        let deadline = deadline.filter(|_| !has_ended).map(|at| at.max(host::now() + self.least_wait));
        Progress { state: self.state.clone(), deadline }
    }

    /// Returns when the library wants to be called again.
    fn collect(&mut self) -> Option<Duration> {
        let mut buffer = vec![0; LONGEST];
        loop {
            match self.dtls.poll_output(&mut buffer) {
                Output::Packet(datagram) => {
                    self.secrets.look_at(datagram);
                    host::transmit(datagram);
                }
                Output::ApplicationData(data) => host::deliver(data),
                Output::Connected => {
                    host::verified();
                    self.state = State::Established;
                }
                Output::CloseNotify => self.state = State::ClosedByPeer,
                // It checks no certificate: that is left to its user.
                Output::PeerCert(certificate) => {
                    if let Err(words) = certificate::check(certificate, self.trusted.as_deref(), self.is_server) {
                        self.state = State::Failed(Failure::new(0, words));
                        return None;
                    }
                }
                Output::Timeout(at) => return Some(host::since_beginning(at)),
                Output::BufferTooSmall { needed } => buffer.resize(needed, 0),
                _ => {}
            }
        }
    }

    fn is_13(&self) -> bool {
        self.dtls.protocol_version() == Some(dimpl::ProtocolVersion::DTLS1_3)
    }
}

fn failed(error: &dimpl::Error) -> State {
    match error {
        dimpl::Error::Timeout(_) => State::TimedOut(error.to_string()),
        dimpl::Error::SecurityError(SecurityError::FatalAlert { description }) => {
            State::AlertReceived { description: *description, words: error.to_string() }
        }
        _ => State::Failed(Failure::new(0, error)),
    }
}

fn made<T>(result: Result<T, dimpl::Error>) -> Result<T, Failure> {
    result.map_err(|error| Failure::new(0, error))
}

/// The suites of DTLS 1.2 and 1.3.
fn suites(options: &Options<'_>) -> [u16; 2] {
    let other = options.other_suite.unwrap_or(0);
    if options.version == 0x0303 { [options.suite, other] } else { [other, options.suite] }
}

impl Stack for Dimpl {
    const CAPABILITIES: Capabilities = Capabilities {
        protocols: &[
            Protocol { curves: &[SECP256R1], ..Protocol::new(ProtocolName::Dtls12) },
            Protocol { curves: &[SECP256R1], ..Protocol::new(ProtocolName::Dtls13) },
        ],
        credentials: &[(CredentialName::Psk, 64), (CredentialName::Certificate, 160)],
        // In the order of its own providers.
        suites: &[0x1301, 0x1302, 0xC02B, 0xC02C, 0xC0A8],
        // With smaller ones a mutual handshake with the certificates here fails, or version 0.9.0 panics (DTLS 1.3 with 100 to 128).
        minimum_mtu_reason: Some(c"a flight has at most ten datagrams"),
        fragments: true,
        without_cookie: true,
        identity_with_nul: true,
        longest_psk: 64,
        remark: Some(
            c"pre-shared keys in DTLS 1.2 only; the timer has a jitter of 25 %; more than ten datagrams in a flight fail",
        ),
        ..Capabilities::new(c"MIT OR Apache-2.0", Timer::doubling(FIRST_TIMEOUT, 1 << RETRIES))
    };
    const VERSION: &'static CStr = c"0.9.0";

    /// The library pairs an `Instant` with the calendar once in each process: here, where the clock shows 0. It does so for the random
    /// number of a client, which begins with the time.
    fn load() {
        host::with_std_clock(|| {
            let config = Config::builder()
                .with_crypto_provider(provider::provider())
                .with_psk_client(Vec::new(), Arc::new(Key { identity: Vec::new(), psk: vec![0] }));
            if let Ok(config) = config.build() {
                let mut dtls = Dtls::new_12_psk(Arc::new(config), host::instant());
                dtls.set_active(true);
                let _ = dtls.handle_timeout(host::instant());
            }
        });
    }

    fn create(options: &Options<'_>) -> Result<Self, Failure> {
        let suites = suites(options);
        let mut seed = [0; 8];
        host::random(&mut seed);
        // The keys of certificates must be on one of the groups too (RFC 8422 section 5.1).
        let groups = match options.group {
            Some(X25519) => &[NamedGroup::X25519, NamedGroup::Secp256r1][..],
            _ => &[NamedGroup::Secp256r1],
        };
        let suites12 = if suites[0] == 0 { vec![] } else { vec![Dtls12CipherSuite::from_u16(suites[0])] };
        let suites13 = if suites[1] == 0 { vec![] } else { vec![Dtls13CipherSuite::from_u16(suites[1])] };
        let mtu = options.mtu.map_or(MTU, usize::from);
        let mut builder = Config::builder()
            .with_crypto_provider(provider::provider())
            .dangerously_set_rng_seed(u64::from_le_bytes(seed))
            .require_client_certificate(options.request_client_certificate)
            .use_server_cookie(options.cookie)
            .flight_start_rto(options.first_timeout)
            .flight_retries(RETRIES as usize)
            .handshake_timeout(options.first_timeout * HANDSHAKE)
            .mtu(mtu)
            .kx_groups(groups)
            .dtls12_cipher_suites(&suites12)
            .dtls13_cipher_suites(&suites13);
        if let Some((psk, identity)) = options.psk {
            let key = Arc::new(Key { identity: identity.to_vec(), psk: psk.to_vec() });
            builder = match options.is_server {
                true => builder.with_psk_server(None, key),
                false => builder.with_psk_client(identity.to_vec(), key),
            };
        }
        let config = Arc::new(made(builder.build())?);
        let now = host::instant();
        let mut dtls = if options.psk.is_some() {
            Dtls::new_12_psk(config, now)
        } else {
            let certificate = certificate::own(options);
            match suites {
                [_, 0] => Dtls::new_12(config, certificate, now),
                [0, _] => Dtls::new_13(config, certificate, now),
                _ => Dtls::new_auto(config, certificate, now),
            }
        };
        dtls.set_active(!options.is_server);
        Ok(Self {
            dtls,
            is_server: options.is_server,
            suites,
            mtu,
            least_wait: options.first_timeout / LEAST_WAIT,
            trusted: options.trusted.map(<[u8]>::to_vec),
            secrets: Secrets::default(),
            state: State::Handshaking,
        })
    }

    fn start(&mut self) -> Progress {
        self.call(|_| Ok(()))
    }

    fn handle_input(&mut self, input: &[u8]) -> Progress {
        self.secrets.look_at(input);
        self.call(|dtls| dtls.handle_packet(input))
    }

    fn handle_timeout(&mut self) -> Progress {
        self.call(|_| Ok(()))
    }

    fn write(&mut self, data: &[u8]) -> Progress {
        self.call(|dtls| dtls.send_application_data(data).map(drop))
    }

    fn close(&mut self) -> Progress {
        self.call(Dtls::close)
    }

    fn max_data(&self) -> Option<usize> {
        // The header, the nonce and the tag (RFC 6347 section 4.1, RFC 5288, RFC 6655); in 1.3 the header with a sequence number of 16
        // bits and a length, the type and the tag (RFC 9147 section 4).
        let around = match self.suite() {
            0xC0A8 => 13 + 8 + 8,
            _ if self.is_13() => 5 + 1 + 16,
            _ => 13 + 8 + 16,
        };
        Some(self.mtu.saturating_sub(around))
    }

    fn suite(&self) -> u16 {
        self.suites[usize::from(self.is_13())]
    }
}
