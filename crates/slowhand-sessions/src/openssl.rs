//! OpenSSL behind the [`Session`] trait.
//!
//! The library runs unmodified through its public callbacks: its I/O is a BIO of ours, a datagram or a write at a time,
//! its randomness a `RAND_METHOD` that asks the device, the length of its handshake timer a `DTLS_set_timer_cb`. It
//! has no callback for its clock, so `build.rs` compiles it with `time` and `gettimeofday` named otherwise.
//!
//! Its behaviour as a DTLS endpoint, as its applications meet it: a flight goes out in one datagram the first time and in
//! several when it is sent again; the timer counts as expired from 15 ms before its end; after the twelfth
//! retransmission in vain the handshake has failed. Each session has a configuration (`SSL_CTX`) of its own.
//!
//! Chosen for it, as small devices have it or as the other libraries here do: one suite, one group, the signature
//! algorithms that go with them, and security level 0, without which it refuses tags of 8 octets; no tickets and no
//! session cache; of the chain only the own certificate is sent.

mod ffi;

use std::ffi::{CStr, CString, c_ulong};
use std::ptr::{self, NonNull};
use std::sync::{Arc, Once};
use std::time::Duration;

use crate::config::{Auth, KeyExchange, Protocol, Role, SessionConfig, Suite};
use crate::credentials;
use crate::device::Device;
use crate::operation::{Performed, Processor};
use crate::session::{Failure, Negotiated, Secrets, Session, Status, Transmit};

/// The smallest datagram that the library can be limited to: a path of 256 octets (`g_probable_mtu` in `d1_lib.c`)
/// less 48 for the headers of IPv6 and UDP.
pub(crate) const MINIMUM_MTU: u16 = 208;

/// The largest datagram it puts together: its buffer for a flight (`DEFAULT_BUFFER_SIZE` in `bf_buff.c`).
const LARGEST_DATAGRAM: u16 = 4096;

/// The first and the largest value of its timer that it can be told. Below: a rest of 15 ms counts as none
/// (`dtls1_get_timeout` in `d1_lib.c`). Above: its callback counts microseconds in 32 bits.
pub(crate) const TIMEOUT_BOUNDS: (Duration, Duration) = (Duration::from_millis(16), Duration::from_secs(4294));

/// The library's version, asked from it.
pub(crate) fn version() -> String {
    // SAFETY: the function returns a constant C string.
    let version = unsafe { CStr::from_ptr(ffi::slowhand_openssl_version()) };
    version.to_string_lossy().into_owned()
}

/// One end of an OpenSSL session.
pub(crate) struct OpensslSession {
    device: Box<Device>,
    library: NonNull<ffi::slowhand_openssl>,
    protocol: Protocol,
    is_client: bool,
    status: Status,
    /// The library's session points into it.
    _psk_identity: Box<[u8]>,
}

// SAFETY: the library's session owns all that it points to but static credentials and `_psk_identity`, which moves with
// it; the library keeps nothing of a session in the thread that made it (its queue of errors is emptied before each
// call), and the session is used through `&mut self` (or read through `&self`, which the type does not share: it is not
// `Sync`).
unsafe impl Send for OpensslSession {}

impl OpensslSession {
    /// A session of a configuration that has been validated.
    ///
    /// # Errors
    /// The library's own error when it refuses the configuration nonetheless, or what [`credentials::chain`] finds.
    pub(crate) fn new(config: &SessionConfig, processor: Arc<dyn Processor>) -> Result<Self, Failure> {
        static INITIALISED: Once = Once::new();
        // SAFETY: no other function of the shim is called before.
        INITIALISED.call_once(|| unsafe { ffi::slowhand_openssl_initialise() });

        let mut device = Box::new(Device::new(processor, config.seed));
        let psk_identity: Box<[u8]> = config.psk_identity.as_bytes().into();
        let suite = CString::new(config.suite.to_string()).expect("the name of a suite is letters");
        let options = options(config, &suite, &psk_identity)?;
        let mut error = 0;
        // SAFETY: `options` points to static credentials and to `psk_identity`, which live as long as the session, and
        // to `suite`, which lives as long as the call.
        let library = device.run(|| unsafe { ffi::slowhand_openssl_new(&options, &mut error) });
        let library = NonNull::new(library).ok_or_else(|| library_failure(error))?;
        device.forget_setup();
        Ok(Self {
            device,
            library,
            protocol: config.protocol,
            is_client: config.role == Role::Client,
            status: Status::Handshaking,
            _psk_identity: psk_identity,
        })
    }

    fn drive(&mut self, now: Duration, input: &[u8]) {
        if matches!(self.status, Status::Failed(_)) {
            return;
        }
        self.device.wake(now);
        let library = self.library.as_ptr();
        // SAFETY: `library` is alive as long as `self`, and the input as long as the call.
        let outcome = self.device.run(|| unsafe { ffi::slowhand_openssl_drive(library, input.as_ptr(), input.len()) });
        self.status = match outcome {
            ffi::HANDSHAKING => Status::Handshaking,
            // SAFETY: as above.
            ffi::FAILED => Status::Failed(failure(unsafe { ffi::slowhand_openssl_error(library) })),
            _complete => Status::Established { at: self.device.verified_at().unwrap_or(self.device.clock()) },
        };
    }
}

impl Session for OpensslSession {
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
        match unsafe { ffi::slowhand_openssl_deadline_ns(self.library.as_ptr()) } {
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
        self.device.secrets().cloned()
    }

    fn key_log(&self) -> Vec<String> {
        self.device.key_log().to_vec()
    }

    fn negotiated(&self) -> Option<Negotiated> {
        if !matches!(self.status, Status::Established { .. }) {
            return None;
        }
        // SAFETY: `library` is alive as long as `self`.
        let suite = unsafe { ffi::slowhand_openssl_suite(self.library.as_ptr()) };
        Some(Negotiated { protocol: self.protocol, suite: Suite::from_iana(suite)?, connection_id: None })
    }
}

impl Drop for OpensslSession {
    fn drop(&mut self) {
        let library = self.library.as_ptr();
        // SAFETY: it is alive, and nobody uses it after this.
        self.device.run(|| unsafe { ffi::slowhand_openssl_free(library) });
    }
}

fn options(
    config: &SessionConfig,
    suite: &CStr,
    psk_identity: &[u8],
) -> Result<ffi::slowhand_openssl_options, Failure> {
    let (first, maximum) = config.timeouts();
    let mut options = ffi::slowhand_openssl_options {
        is_server: (config.role == Role::Server).into(),
        is_stream: config.protocol.is_stream().into(),
        version: config.protocol.tls_version(),
        suite: suite.as_ptr(),
        group: 0,
        signatures: signatures(config.suite).as_ptr(),
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
        mtu: config.mtu.map_or(LARGEST_DATAGRAM, |mtu| mtu.min(LARGEST_DATAGRAM)),
        // RFC 6066 section 4: 1 for 512 octets, one more for each doubling.
        mfl: config.max_fragment_length.map_or(0, |length| (length / 512).ilog2() as u8 + 1),
        // Validated to fit.
        timeout_first_us: first.as_micros() as u32,
        timeout_max_us: maximum.as_micros() as u32,
    };
    match config.suite.key_exchange() {
        KeyExchange::Psk => {
            options.psk = credentials::PSK.as_ptr();
            options.psk_len = credentials::PSK.len();
            options.psk_identity = psk_identity.as_ptr();
            options.psk_identity_len = psk_identity.len();
        }
        key_exchange @ (KeyExchange::EcdheEcdsa | KeyExchange::EcdheRsa | KeyExchange::Rsa) => {
            if key_exchange.has_curve() {
                options.group = config.curve.named_group();
            }
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

/// The signature algorithms that are offered and accepted. In version 1.2, mbedTLS signs with the hash of the suite
/// whatever the list says, so a suite of SHA-384 needs both.
fn signatures(suite: Suite) -> &'static CStr {
    match suite {
        _ if suite.key_exchange().has_rsa() => c"RSA+SHA256",
        Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => c"ECDSA+SHA256:ECDSA+SHA384",
        _ => c"ECDSA+SHA256",
    }
}

fn failure(error: c_ulong) -> Failure {
    // SAFETY: a function of a number.
    match unsafe { ffi::slowhand_openssl_error_reason(error) } {
        ffi::SSL_R_READ_TIMEOUT_EXPIRED => Failure::TimedOut,
        // An alert's description is one octet (RFC 5246 section 7.2).
        reason @ ffi::ALERT_REASONS..=ffi::LAST_ALERT_REASON => {
            Failure::AlertReceived { description: (reason - ffi::ALERT_REASONS) as u8 }
        }
        _ => library_failure(error),
    }
}

fn library_failure(error: c_ulong) -> Failure {
    let mut text = [0u8; 128];
    // SAFETY: the buffer is writable and its size is given; the function ends the text with a zero.
    let code = unsafe {
        ffi::slowhand_openssl_error_text(error, text.as_mut_ptr().cast(), text.len());
        ffi::slowhand_openssl_error_reason(error)
    };
    let end = text.iter().position(|octet| *octet == 0).unwrap_or(text.len());
    Failure::Library { code, text: String::from_utf8_lossy(&text[..end]).into_owned() }
}
