//! Mbed TLS behind the [`Session`] trait.
//!
//! The library runs unmodified through its public callbacks: its I/O is one datagram or one write at a time, its
//! timers (`mbedtls_ssl_set_timer_cb`) and its calendar run on the device's clock, its randomness is the
//! device's. Each session has a configuration of its own: to set one up costs microseconds, and the
//! library writes into what sessions would share (keys cache precomputed points).

pub(crate) mod certificate;
mod ffi;

use std::ptr::{self, NonNull};
use std::sync::{Arc, Once};
use std::time::Duration;

use crate::config::{Auth, KeyExchange, Protocol, Resumption, Role, SessionConfig, Suite};
use crate::credentials;
use crate::device::Device;
use crate::operation::{Performed, Processor};
use crate::resumption::Resumable;
use crate::session::{Failure, Negotiated, Secrets, Session, Status, Transmit};

/// The smallest datagram limit with which every handshake here completes: the longest ClientHello
/// (ECDHE-ECDSA, cookie, maximum fragment length, a connection ID of 32 octets) has to fit, since the
/// library refuses a fragmented one.
pub(crate) const MINIMUM_MTU: u16 = 192;

/// SignatureScheme of RFC 8446 section 4.2.3; in version 1.2 the hash and the algorithm of RFC 5246 section 7.4.1.4.1.
const RSA_PKCS1_SHA256: u16 = 0x0401;
/// As before; in version 1.2 on any curve.
const ECDSA_SECP256R1_SHA256: u16 = 0x0403;

/// The library's version, asked from it.
pub(crate) fn version() -> String {
    // SAFETY: a function without arguments that returns a constant.
    let number = unsafe { ffi::slowhand_mbedtls_version() };
    let [major, minor, patch, _] = number.to_be_bytes();
    format!("{major}.{minor}.{patch}")
}

fn initialise() {
    static INITIALISED: Once = Once::new();
    // SAFETY: no other function of the shim is called before.
    INITIALISED.call_once(|| unsafe { ffi::slowhand_mbedtls_initialise() });
}

/// One end of an mbedTLS session.
pub(crate) struct MbedtlsSession {
    device: Box<Device>,
    library: NonNull<ffi::slowhand_mbedtls>,
    protocol: Protocol,
    is_client: bool,
    status: Status,
}

// SAFETY: the library's session owns all that it points to, it keeps nothing of the thread that made it,
// and it is used through `&mut self` (or read through `&self`, which the type does not share: it is
// not `Sync`).
unsafe impl Send for MbedtlsSession {}

impl MbedtlsSession {
    /// A session of a configuration that has been validated, to resume what `previous` says.
    ///
    /// # Errors
    /// The library's own error when it refuses the configuration nonetheless.
    pub(crate) fn new(
        config: &SessionConfig,
        processor: Arc<dyn Processor>,
        previous: Option<&[u8]>,
    ) -> Result<Self, Failure> {
        initialise();
        let mut device = Box::new(Device::new(processor, config.seed));
        let mut options = options(config)?;
        if let Some(previous) = previous {
            options.previous = previous.as_ptr();
            options.previous_len = previous.len();
        }
        let mut error = 0;
        // SAFETY: `options` points to static credentials, to `config` and to `previous`, which outlive the call; the library
        // copies what it keeps.
        let library = device.run(|| unsafe { ffi::slowhand_mbedtls_new(&options, &mut error) });
        let library = NonNull::new(library).ok_or_else(|| library_failure(error))?;
        device.forget_setup();
        let is_client = config.role == Role::Client;
        Ok(Self { device, library, protocol: config.protocol, is_client, status: Status::Handshaking })
    }

    fn drive(&mut self, now: Duration, input: &[u8]) {
        if matches!(self.status, Status::Failed(_)) {
            return;
        }
        self.device.wake(now);
        let library = self.library.as_ptr();
        // SAFETY: `library` is alive as long as `self`, and the input as long as the call.
        let outcome = self.device.run(|| unsafe { ffi::slowhand_mbedtls_drive(library, input.as_ptr(), input.len()) });
        self.status = match outcome {
            0 => Status::Handshaking,
            1 => Status::Established { at: self.device.verified_at().unwrap_or(self.device.clock()) },
            error => Status::Failed(self.failure(error)),
        };
    }

    fn failure(&self, error: i32) -> Failure {
        match error {
            ffi::MBEDTLS_ERR_SSL_TIMEOUT => Failure::TimedOut,
            ffi::MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE => Failure::AlertReceived {
                // SAFETY: `library` is alive as long as `self`.
                description: unsafe { ffi::slowhand_mbedtls_received_alert(self.library.as_ptr()) },
            },
            error => library_failure(error),
        }
    }
}

impl Session for MbedtlsSession {
    fn start(&mut self, now: Duration) {
        if self.is_client {
            self.drive(now, &[]);
        }
    }

    fn handle_input(&mut self, now: Duration, input: &[u8]) {
        if !input.is_empty() {
            self.drive(now, input);
        }
    }

    fn handle_timeout(&mut self, now: Duration) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            self.drive(now, &[]);
        }
    }

    fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        self.device.poll_transmit()
    }

    fn deadline(&self) -> Option<Duration> {
        if matches!(self.status, Status::Failed(_)) {
            return None;
        }
        // SAFETY: `library` is alive as long as `self`.
        match unsafe { ffi::slowhand_mbedtls_deadline_ns(self.library.as_ptr()) } {
            u64::MAX => None,
            ns => Some(Duration::from_nanos(ns)),
        }
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
        let mut secrets = Secrets { client_random: [0; 32], master_secret: [0; 48] };
        // SAFETY: `library` is alive as long as `self`; the arrays have the sizes that the function writes.
        let exist = unsafe {
            ffi::slowhand_mbedtls_secrets(self.library.as_ptr(), &mut secrets.client_random, &mut secrets.master_secret)
        };
        (exist == 1).then_some(secrets)
    }

    fn key_log(&self) -> Vec<String> {
        let secrets = self.secrets().map(|secrets| secrets.key_log_line());
        secrets.into_iter().chain(self.device.key_log().iter().cloned()).collect()
    }

    fn resumable(&mut self) -> Option<Resumable> {
        let library = self.library.as_ptr();
        let mut octets = Vec::new();
        let mut copy = |size| {
            octets.resize(size, 0);
            // SAFETY: `library` is alive as long as `self`; the buffer has the size that is given.
            self.device.run(|| unsafe { ffi::slowhand_mbedtls_resumable(library, octets.as_mut_ptr(), size) })
        };
        let size = copy(0);
        copy(size);
        (size > 0).then_some(Resumable::mbedtls(octets))
    }

    fn negotiated(&self) -> Option<Negotiated> {
        if !matches!(self.status, Status::Established { .. }) {
            return None;
        }
        // SAFETY: `library` is alive as long as `self`.
        let (suite, cid) = unsafe {
            (ffi::slowhand_mbedtls_suite(self.library.as_ptr()), ffi::slowhand_mbedtls_peer_cid(self.library.as_ptr()))
        };
        Some(Negotiated {
            protocol: self.protocol,
            suite: Suite::from_iana(suite)?,
            connection_id: u8::try_from(cid).ok(),
        })
    }
}

impl Drop for MbedtlsSession {
    fn drop(&mut self) {
        let library = self.library.as_ptr();
        // SAFETY: it is alive, and nobody uses it after this.
        self.device.run(|| unsafe { ffi::slowhand_mbedtls_free(library) });
    }
}

fn options(config: &SessionConfig) -> Result<ffi::slowhand_mbedtls_options, Failure> {
    let (first, maximum) = config.timeouts();
    let mut options = ffi::slowhand_mbedtls_options {
        is_server: (config.role == Role::Server).into(),
        is_stream: config.protocol.is_stream().into(),
        version: config.protocol.tls_version(),
        suite: config.suite.iana(),
        group: 0,
        signature: 0,
        request_client_certificate: (config.auth == Auth::Mutual).into(),
        psk: ptr::null(),
        psk_identity: ptr::null(),
        psk_len: 0,
        psk_identity_len: 0,
        trusted: ptr::null(),
        certificate: ptr::null(),
        key: ptr::null(),
        trusted_len: 0,
        certificate_len: 0,
        key_len: 0,
        cookie: config.cookie.into(),
        mtu: config.mtu.unwrap_or(0),
        mfl: fragment_length_code(config.max_fragment_length),
        // Validated to fit.
        timeout_min_ms: first.as_millis() as u32,
        timeout_max_ms: maximum.as_millis() as u32,
        resumption: match config.resumption {
            None => ffi::SLOWHAND_RESUMPTION_NONE,
            Some(Resumption::Id) => ffi::SLOWHAND_RESUMPTION_ID,
            Some(Resumption::Ticket) => ffi::SLOWHAND_RESUMPTION_TICKET,
        },
        previous: ptr::null(),
        previous_len: 0,
        cid: config.connection_id.map_or(-1, i32::from),
    };
    match config.suite.key_exchange() {
        KeyExchange::Psk => {
            options.psk = credentials::PSK.as_ptr();
            options.psk_len = credentials::PSK.len();
            options.psk_identity = config.psk_identity.as_ptr();
            options.psk_identity_len = config.psk_identity.len();
        }
        key_exchange @ (KeyExchange::EcdheEcdsa | KeyExchange::EcdheRsa | KeyExchange::Rsa) => {
            if key_exchange.has_curve() {
                options.group = config.curve.named_group();
            }
            options.signature = if key_exchange.has_rsa() { RSA_PKCS1_SHA256 } else { ECDSA_SECP256R1_SHA256 };
            let chain = credentials::chain(config)?;
            options.trusted = chain.authority.as_ptr();
            options.trusted_len = chain.authority.len();
            if config.role == Role::Server || config.auth == Auth::Mutual {
                options.certificate = chain.own.certificate.as_ptr();
                options.certificate_len = chain.own.certificate.len();
                options.key = chain.own.key.as_ptr();
                options.key_len = chain.own.key.len();
            }
        }
    }
    Ok(options)
}

/// `MBEDTLS_SSL_MAX_FRAG_LEN_*`: the codes of RFC 6066 section 4, and 0 for none.
fn fragment_length_code(length: Option<u16>) -> u8 {
    match length {
        Some(512) => 1,
        Some(1024) => 2,
        Some(2048) => 3,
        Some(4096) => 4,
        _ => 0,
    }
}

fn library_failure(code: i32) -> Failure {
    let mut text = [0u8; 128];
    // SAFETY: the buffer is writable and its size is given; the function ends the text with a zero.
    unsafe { ffi::slowhand_mbedtls_error_text(code, text.as_mut_ptr().cast(), text.len()) };
    let end = text.iter().position(|octet| *octet == 0).unwrap_or(text.len());
    Failure::Library { code, text: String::from_utf8_lossy(&text[..end]).into_owned() }
}
