//! Eclipse tinyDTLS behind the [`Session`] trait.
//!
//! The library runs unmodified: its clock and randomness (`dtls_ticks`, `dtls_prng`) are the device's, its
//! timers are the head of its send queue. It has a timer for each *message* and sends each in a
//! datagram of its own. The first timeout is 2,000 ticks of its clock, doubled with each retransmission, and
//! nothing else ticks; so another first timeout is a clock that ticks at another rate, a millisecond for the 2 s
//! that its sources mean. (An alert of its own is kept for as long.) When its last retransmission was in vain it goes
//! quiet without a word; that is reported as [`Failure::TimedOut`].

mod ffi;

use std::ffi::{CStr, c_int};
use std::ptr::{self, NonNull};
use std::sync::{Arc, Once};
use std::time::Duration;

use crate::config::{Auth, Curve, KeyExchange, Protocol, Role, SessionConfig, Suite};
use crate::credentials;
use crate::device::Device;
use crate::operation::{Performed, Processor};
use crate::session::{Failure, Negotiated, Secrets, Session, Status, Transmit};

/// The suites that the library has (`cipher_suite_params` in `dtls.c`).
pub(crate) const SUITES: &[Suite] = &[
    Suite::TLS_PSK_WITH_AES_128_CCM,
    Suite::TLS_PSK_WITH_AES_128_CCM_8,
    Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM,
    Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
];

/// The timer doubles with each of 7 retransmissions (`DTLS_DEFAULT_MAX_RETRANSMIT` in `global.h`).
pub(crate) const LARGEST_TO_FIRST_TIMEOUT: u32 = 1 << 7;

/// The longest datagram of a handshake: with a pre-shared key the second ClientHello (a tag of 16
/// octets does not make it longer), with raw public keys the ServerKeyExchange, whose signature varies.
pub(crate) const fn largest_datagram(key_exchange: KeyExchange) -> u16 {
    match key_exchange {
        KeyExchange::Psk => 93,
        _ => 170,
    }
}

/// The library's version, asked from it.
pub(crate) fn version() -> String {
    // SAFETY: the function returns a constant C string.
    let version = unsafe { CStr::from_ptr(ffi::slowhand_tinydtls_version()) };
    version.to_string_lossy().into_owned()
}

/// One end of a tinyDTLS session.
pub(crate) struct TinydtlsSession {
    device: Box<Device>,
    library: NonNull<ffi::slowhand_tinydtls>,
    suite: Suite,
    is_client: bool,
    status: Status,
    /// The library's session points into it.
    _psk_identity: Box<[u8]>,
}

// SAFETY: the library's session owns all that it points to but static credentials and `_psk_identity`, which
// moves with it; it keeps nothing of the thread that made it, and it is used through `&mut self` (or read
// through `&self`, which the type does not share: it is not `Sync`).
unsafe impl Send for TinydtlsSession {}

impl TinydtlsSession {
    /// A session of a configuration that has been validated.
    ///
    /// # Errors
    /// When the library has no memory.
    pub(crate) fn new(config: &SessionConfig, processor: Arc<dyn Processor>) -> Result<Self, Failure> {
        static INITIALISED: Once = Once::new();
        // SAFETY: no other function of the shim is called before.
        INITIALISED.call_once(|| unsafe { ffi::slowhand_tinydtls_initialise() });

        let mut device = Box::new(Device::new(processor, config.seed));
        let psk_identity: Box<[u8]> = config.psk_identity.as_bytes().into();
        let options = options(config, &psk_identity);
        // SAFETY: `options` points to static credentials and to `psk_identity`, which live as long as the session.
        let library = device.run(|| unsafe { ffi::slowhand_tinydtls_new(&options) });
        let library = NonNull::new(library)
            .ok_or_else(|| Failure::Library { code: -1, text: "no memory for a context".to_owned() })?;
        device.forget_setup();
        Ok(Self {
            device,
            library,
            suite: config.suite,
            is_client: config.role == Role::Client,
            status: Status::Handshaking,
            _psk_identity: psk_identity,
        })
    }

    fn drive(&mut self, now: Duration, call: impl FnOnce(*mut ffi::slowhand_tinydtls) -> c_int) {
        if matches!(self.status, Status::Failed(_)) {
            return;
        }
        self.device.wake(now);
        let library = self.library.as_ptr();
        let outcome = self.device.run(|| call(library));
        self.status = match outcome {
            ffi::HANDSHAKING => Status::Handshaking,
            ffi::CONNECTED => Status::Established { at: self.device.verified_at().unwrap_or(self.device.clock()) },
            ffi::TIMED_OUT => Status::Failed(Failure::TimedOut),
            outcome => Status::Failed(self.failure(outcome)),
        };
    }

    fn failure(&self, outcome: c_int) -> Failure {
        // SAFETY: `library` is alive as long as `self`.
        let code = unsafe { ffi::slowhand_tinydtls_error(self.library.as_ptr()) };
        if outcome == ffi::ALERT_RECEIVED {
            // An alert's description is one octet (RFC 5246 section 7.2).
            return Failure::AlertReceived { description: code as u8 };
        }
        // The library's errors are alerts that it sends: -(level * 256 + description), alert.h.
        let text = format!("sent alert, description {}", code.unsigned_abs() % 256);
        Failure::Library { code, text }
    }
}

impl Session for TinydtlsSession {
    fn start(&mut self, now: Duration) {
        if self.is_client {
            // SAFETY: the session is alive as long as `self`.
            self.drive(now, |library| unsafe { ffi::slowhand_tinydtls_connect(library) });
        }
    }

    fn handle_input(&mut self, now: Duration, input: &[u8]) {
        // SAFETY: the session is alive as long as `self`, and the input as long as the call.
        self.drive(now, |library| unsafe { ffi::slowhand_tinydtls_receive(library, input.as_ptr(), input.len()) });
    }

    fn handle_timeout(&mut self, now: Duration) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            // SAFETY: the session is alive as long as `self`.
            self.drive(now, |library| unsafe { ffi::slowhand_tinydtls_expire(library) });
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
        match unsafe { ffi::slowhand_tinydtls_deadline_ns(self.library.as_ptr()) } {
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
            ffi::slowhand_tinydtls_secrets(
                self.library.as_ptr(),
                &mut secrets.client_random,
                &mut secrets.master_secret,
            )
        };
        (exist == 1).then_some(secrets)
    }

    /// The library agrees on nothing but a suite of the list that its configuration names.
    fn negotiated(&self) -> Option<Negotiated> {
        matches!(self.status, Status::Established { .. }).then_some(Negotiated {
            protocol: Protocol::Dtls12,
            suite: self.suite,
            connection_id: None,
        })
    }
}

impl Drop for TinydtlsSession {
    fn drop(&mut self) {
        let library = self.library.as_ptr();
        // SAFETY: it is alive, and nobody uses it after this.
        self.device.run(|| unsafe { ffi::slowhand_tinydtls_free(library) });
    }
}

fn options(config: &SessionConfig, psk_identity: &[u8]) -> ffi::slowhand_tinydtls_options {
    let mut options = ffi::slowhand_tinydtls_options {
        is_server: (config.role == Role::Server).into(),
        suite: config.suite.iana(),
        // Validated to fit.
        first_timeout_ns: config.timeouts().0.as_nanos() as u64,
        psk: ptr::null(),
        psk_identity: ptr::null(),
        psk_len: 0,
        psk_identity_len: 0,
        private_key: ptr::null(),
        public_x: ptr::null(),
        public_y: ptr::null(),
        peer_x: ptr::null(),
        peer_y: ptr::null(),
    };
    if config.suite.key_exchange() == KeyExchange::Psk {
        options.psk = credentials::PSK.as_ptr();
        options.psk_len = credentials::PSK.len();
        options.psk_identity = psk_identity.as_ptr();
        options.psk_identity_len = psk_identity.len();
        return options;
    }
    let (own, peer) = match config.role {
        Role::Client => (Role::Client, Role::Server),
        Role::Server => (Role::Server, Role::Client),
    };
    if config.role == Role::Server || config.auth == Auth::Mutual {
        let key = credentials::end(Curve::Secp256r1, own).raw();
        options.private_key = key.private.as_ptr();
        options.public_x = key.public_x.as_ptr();
        options.public_y = key.public_y.as_ptr();
    }
    if config.role == Role::Client || config.auth == Auth::Mutual {
        let key = credentials::end(Curve::Secp256r1, peer).raw();
        options.peer_x = key.public_x.as_ptr();
        options.peer_y = key.public_y.as_ptr();
    }
    options
}
