//! The adapter of all C libraries, over the interface of `csrc/slowhand/stack.h`.

use std::cell::{Cell, OnceCell};
use std::ffi::{CStr, CString, c_void};
use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use crate::check::Checked;
use crate::config::{Arithmetic, Credential, CredentialKind, Negotiated, Protocol, Role, Stack};
use crate::crash::Running;
use crate::device::{Device, Violation, WORLD_BEGAN};
use crate::interface::*;
use crate::library::{Library, Progress, State};
use crate::session::{Failure, FailureKind, Resumable};
use crate::tls::{Auth, PskMode, Resumption, Suite};
use crate::{credentials, device};

/// SignatureScheme of RFC 8446 section 4.2.3; in version 1.2 the hash and the algorithm of RFC 5246 section 7.4.1.4.1.
const RSA_PKCS1_SHA256: u16 = 0x0401;
/// Likewise. In version 1.2, it does not fix the curve.
const ECDSA_SECP256R1_SHA256: u16 = 0x0403;

/// TLS NamedGroup (RFC 8446 section 4.2.7).
const X25519: u16 = 29;

/// When a timeout is due that is over already: *assumed*, as long as the least timer of the built-in libraries.
const LEAST_TIMEOUT: Duration = Duration::from_millis(1);

/// One end of a session inside a C library.
pub(crate) struct CLibrary {
    stack: Stack,
    functions: &'static slowhand_library,
    session: NonNull<c_void>,
    protocol: Protocol,
    /// Why the session has failed in a call that returns no progress.
    failure: OnceCell<Failure>,
    /// The data that the library's session has pointers to.
    _secret: Secret,
}

/// The secrets of both ends.
#[derive(Default)]
struct Secret {
    /// A pre-shared key, or a password.
    key: Arc<[u8]>,
    /// The identity of a pre-shared key.
    identity: Box<[u8]>,
}

// SAFETY: the library's session points only to what it owns, to static credentials, and into `_secret`, which
// moves with it. It keeps nothing that belongs to one thread (each call leaves OpenSSL's error queue, which does, as it was
// before). Calls need `&mut self`, or `&self` of a type that is not `Sync`, so no two threads use the session at the
// same time.
unsafe impl Send for CLibrary {}

impl CLibrary {
    /// A session that resumes `previous`. The device must be the current one, as for the calls of a [`Library`].
    ///
    /// # Errors
    /// The library's own error if it refuses the configuration, or the error of [`credentials::chain`].
    pub(crate) fn new(
        functions: &'static slowhand_library,
        checked: &Checked<'_>,
        previous: Option<&Resumable>,
    ) -> Result<Self, Failure> {
        let suite_name = CString::new(checked.suite.to_string()).unwrap_or_default();
        let secret = match &checked.config.credential {
            Credential::Psk { identity, key } => Secret { key: Arc::clone(key), identity: identity.as_bytes().into() },
            Credential::Ecjpake { password } => Secret { key: password.as_bytes().into(), ..Secret::default() },
            _ => Secret::default(),
        };
        let options = options(checked, &suite_name, &secret, previous)?;
        let mut progress = slowhand_progress::new();
        let stack = checked.config.stack;
        let running = Running::enter(stack);
        // SAFETY: `options` points to static credentials and into `secret`, which live as long as the session. It
        // also points to `suite_name` and `previous`, which live as long as the call and are not used after it.
        let session = unsafe { (functions.create)(&options, &mut progress) };
        drop(running);
        let Some(session) = NonNull::new(session) else {
            return Err(violation(stack).unwrap_or_else(|| refusal(stack, progress.failure())));
        };
        let made = Self {
            stack,
            functions,
            session,
            protocol: checked.config.protocol(),
            failure: OnceCell::new(),
            _secret: secret,
        };
        violation(stack).map_or(Ok(made), Err)
    }

    /// Asks what needs no device. It has one that nobody sees, in case the library uses it nevertheless.
    fn ask<T>(&self, question: impl FnOnce(*mut c_void) -> T) -> T {
        let _running = Running::enter(self.stack);
        Device::new(None, [0; 32], WORLD_BEGAN, Arithmetic::default()).run(|| {
            let answer = question(self.session.as_ptr());
            self.keep_violation();
            answer
        })
    }

    fn keep_violation(&self) {
        if let Some(failure) = violation(self.stack) {
            let _ = self.failure.set(failure);
        }
    }

    fn call(&mut self, call: impl FnOnce(&slowhand_library, *mut c_void, *mut slowhand_progress)) -> Progress {
        let mut progress = slowhand_progress::new();
        let running = Running::enter(self.stack);
        call(self.functions, self.session.as_ptr(), &mut progress);
        drop(running);
        match violation(self.stack) {
            None => progress.read(),
            Some(failure) => Progress { state: State::Failed(failure), deadline: None },
        }
    }
}

/// Why there is no session. A stack of the user is named, because its words may say nothing.
fn refusal(stack: Stack, failure: Failure) -> Failure {
    if Stack::BUILT_IN.contains(&stack) {
        return failure;
    }
    let reason = if failure.reason.is_empty() { "it does not say why" } else { &failure.reason };
    Failure { reason: format!("the stack {stack} makes no session: {reason}"), ..failure }
}

/// The failure of what the stack has just done, if that ends its session.
fn violation(stack: Stack) -> Option<Failure> {
    let violation = device::take_violation()?;
    Some(Failure::library(0, words(stack, &violation)))
}

/// The fault of a stack that has done this, in words.
pub(crate) fn words(stack: Stack, violation: &Violation) -> String {
    match violation {
        Violation::Calls(function) => format!(
            "the stack {stack} calls {function}, which depends on the computer: a stack has no clock, randomness, thread or file \
             but what slowhand gives it (slowhand/stack.h)"
        ),
        Violation::Fails(words) => format!("the stack {stack} fails: {words}"),
    }
}

thread_local! {
    static VIOLATION_AT_END: Cell<Option<Failure>> = const { Cell::new(None) };
}

/// The last violation in `destroy` on this thread, after which no session is left to fail; and forgets it.
pub(crate) fn take_violation_at_end() -> Option<Failure> {
    VIOLATION_AT_END.take()
}

// SAFETY of the calls below: the session lives as long as `self`, and the arguments live as long as the call.
impl Library for CLibrary {
    fn start(&mut self) -> Progress {
        // SAFETY: see above.
        self.call(|functions, session, progress| unsafe { (functions.start)(session, progress) })
    }

    fn handle_input(&mut self, input: &[u8]) -> Progress {
        // SAFETY: see above.
        self.call(|functions, session, progress| unsafe {
            (functions.handle_input)(session, input.as_ptr(), input.len(), progress)
        })
    }

    fn handle_timeout(&mut self) -> Progress {
        // SAFETY: see above.
        let mut progress =
            self.call(|functions, session, progress| unsafe { (functions.handle_timeout)(session, progress) });
        // Time must go on, also with a stack that does nothing about its deadline.
        let now = device::clock();
        progress.deadline = progress.deadline.map(|at| if at > now { at } else { now + LEAST_TIMEOUT });
        progress
    }

    fn write(&mut self, data: &[u8]) -> Progress {
        // SAFETY: see above.
        self.call(|functions, session, progress| unsafe {
            (functions.write)(session, data.as_ptr(), data.len(), progress)
        })
    }

    fn max_data(&self) -> Option<usize> {
        // SAFETY: see above.
        let octets = self.ask(|session| unsafe { (self.functions.max_data)(session) });
        (octets != SLOWHAND_NO_DATAGRAMS).then_some(octets)
    }

    fn close(&mut self) -> Progress {
        // SAFETY: see above.
        self.call(|functions, session, progress| unsafe { (functions.close)(session, progress) })
    }

    fn failure(&self) -> Option<&Failure> {
        self.failure.get()
    }

    fn negotiated(&self) -> Option<Negotiated> {
        // SAFETY: see above.
        let (suite, connection_id) =
            self.ask(|session| unsafe { ((self.functions.suite)(session), (self.functions.connection_id)(session)) });
        Some(Negotiated::Tls {
            protocol: self.protocol,
            suite: Suite::from_iana(suite)?,
            connection_id: u8::try_from(connection_id).ok(),
        })
    }

    fn resumable(&mut self) -> Option<Resumable> {
        let _running = Running::enter(self.stack);
        let mut octets = zeroize::Zeroizing::new(Vec::<u8>::new());
        let mut copy = |size| {
            octets.resize(size, 0);
            // SAFETY: see above; the buffer has `size` octets.
            unsafe { (self.functions.resumable)(self.session.as_ptr(), octets.as_mut_ptr(), size) }
        };
        let size = copy(0);
        copy(size);
        self.keep_violation();
        (size > 0).then(|| Resumable::new(octets))
    }
}

impl Drop for CLibrary {
    fn drop(&mut self) {
        let _running = Running::enter(self.stack);
        // SAFETY: the session is alive, and nothing uses it after this.
        unsafe { (self.functions.destroy)(self.session.as_ptr()) };
        if let Some(failure) = violation(self.stack) {
            VIOLATION_AT_END.set(Some(failure));
        }
    }
}

/// The result points to static credentials and into the arguments, so it lives as long as these.
fn options(
    checked: &Checked<'_>,
    suite_name: &CStr,
    secret: &Secret,
    previous: Option<&Resumable>,
) -> Result<slowhand_options, Failure> {
    let (config, tls) = (checked.config, checked.tls);
    let key_exchange = checked.suite.key_exchange();
    let (cookie, connection_id) = tls.version.dtls().map_or((false, None), |dtls| (dtls.cookie, dtls.connection_id));
    let is_psk_alone = config.protocol() == Protocol::Dtls13
        && config.credential.kind() == CredentialKind::Psk
        && tls.version.dtls().is_some_and(|dtls| dtls.psk_mode == PskMode::PskKe);
    let mut options = slowhand_options {
        is_server: (config.role == Role::Server).into(),
        is_stream: config.protocol().is_stream().into(),
        version: tls.version.number(),
        suite: checked.suite.iana(),
        other_suite: tls.unchecked.other_suite.map_or(0, Suite::iana),
        group: if tls.unchecked.x25519 {
            X25519
        } else if key_exchange.has_curve() && !is_psk_alone {
            tls.curve.named_group()
        } else {
            0
        },
        suite_name: suite_name.as_ptr(),
        request_client_certificate: (tls.auth == Auth::Mutual).into(),
        cookie: cookie.into(),
        mtu: config.mtu.unwrap_or(0),
        // Validated: 512, 1024, 2048 or 4096. RFC 6066 section 4 gives these the codes 1 to 4.
        max_fragment_length: tls.max_fragment_length.map_or(0, |length| (length / 512).ilog2() as u8 + 1),
        record_size_limit: tls.record_size_limit.unwrap_or(0),
        // Validated: they fit into 64 bits.
        first_timeout_ns: checked.first_timeout.as_nanos() as u64,
        maximum_timeout_ns: checked.maximum_timeout.as_nanos() as u64,
        resumption: match tls.resumption {
            None => SLOWHAND_RESUMPTION_NONE,
            Some(Resumption::Id) => SLOWHAND_RESUMPTION_ID,
            Some(Resumption::Ticket) => SLOWHAND_RESUMPTION_TICKET,
        },
        connection_id: connection_id.map_or(-1, i32::from),
        // SAFETY: it has numbers and pointers alone, all of which may be zero: no option is set.
        ..unsafe { mem::zeroed() }
    };
    if let Some(previous) = previous.and_then(Resumable::octets) {
        (options.previous, options.previous_len) = (previous.as_ptr(), previous.len());
    }
    let proves_itself = config.role == Role::Server || tls.auth == Auth::Mutual;
    match &config.credential {
        Credential::Psk { .. } => {
            (options.psk, options.psk_len) = (secret.key.as_ptr(), secret.key.len());
            (options.psk_identity, options.psk_identity_len) = (secret.identity.as_ptr(), secret.identity.len());
        }
        Credential::Ecjpake { .. } => {
            (options.password, options.password_len) = (secret.key.as_ptr(), secret.key.len())
        }
        Credential::RawPublicKey => raw_keys(&mut options, config.role, tls.auth),
        Credential::Certificate { .. } => {
            options.signature = if key_exchange.has_rsa() { RSA_PKCS1_SHA256 } else { ECDSA_SECP256R1_SHA256 };
            let Some((key, length)) = checked.certificate() else { return Ok(options) };
            let chain = credentials::chain(key, config.role, length)?;
            (options.trusted, options.trusted_len) = (chain.authority.as_ptr(), chain.authority.len());
            options.takes_any_chain = (tls.pre_validated && config.role == Role::Client).into();
            if proves_itself {
                let own = chain.own;
                (options.certificate, options.certificate_len) = (own.certificate.as_ptr(), own.certificate.len());
                (options.key, options.key_len) = (own.key.as_ptr(), own.key.len());
            }
        }
    }
    Ok(options)
}

fn raw_keys(options: &mut slowhand_options, role: Role, auth: Auth) {
    if role == Role::Server || auth == Auth::Mutual {
        let key = credentials::raw_key(role);
        options.private_key = key.private.as_ptr();
        (options.public_x, options.public_y) = (key.public_x.as_ptr(), key.public_y.as_ptr());
    }
    if role == Role::Client || auth == Auth::Mutual {
        let key = credentials::raw_key(role.peer());
        (options.peer_x, options.peer_y) = (key.public_x.as_ptr(), key.public_y.as_ptr());
    }
}

impl slowhand_progress {
    const fn new() -> Self {
        Self { state: SLOWHAND_HANDSHAKING, code: 0, deadline_ns: SLOWHAND_NO_TIMER, words: [0; 256] }
    }

    fn read(&self) -> Progress {
        let state = match self.state {
            SLOWHAND_HANDSHAKING => State::Handshaking,
            SLOWHAND_ESTABLISHED => State::Established,
            SLOWHAND_CLOSED_BY_PEER => State::ClosedByPeer,
            _ => State::Failed(self.failure()),
        };
        let deadline = (self.deadline_ns != SLOWHAND_NO_TIMER).then(|| Duration::from_nanos(self.deadline_ns));
        Progress { state, deadline }
    }

    fn failure(&self) -> Failure {
        let kind = match self.state {
            SLOWHAND_TIMED_OUT => FailureKind::TimedOut,
            // The description of an alert is one octet (RFC 5246 section 7.2).
            SLOWHAND_ALERT_RECEIVED => FailureKind::AlertReceived { description: self.code as u8 },
            _ => FailureKind::Library { code: self.code },
        };
        let octets: Vec<u8> = self.words.iter().map(|octet| *octet as u8).take_while(|octet| *octet != 0).collect();
        Failure { kind, reason: String::from_utf8_lossy(&octets).into_owned() }
    }
}
