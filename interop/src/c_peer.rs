//! The adapter of the C libraries, over the interface of `csrc/peer.h`.
#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::time::Duration;

use slowhand_sessions::{CredentialKind, Failure, FailureKind, Resumable, Resumption, Role};

use crate::credentials;
use crate::end::{Engine, Progress, State};
use crate::setup::Setup;

/// One end of a session inside a C library.
pub(crate) struct CPeer {
    library: &'static interop_library,
    end: NonNull<c_void>,
}

// SAFETY: the library's end points only to what it owns and to static credentials. Calls need `&mut self`, so no two threads use
// the end at the same time.
unsafe impl Send for CPeer {}

/// What an end keeps to resume its session.
struct Kept {
    library: &'static interop_library,
    kept: NonNull<c_void>,
}

// SAFETY: a library only reads what is kept, or guards it by its own locks.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: it is alive, and nothing uses it after this.
        unsafe { (self.library.release)(self.kept.as_ptr()) };
    }
}

/// BoringSSL.
#[cfg(feature = "boringssl")]
pub(crate) fn boringssl() -> &'static interop_library {
    // SAFETY: a constant that C++ defines.
    unsafe { &interop_boringssl }
}

/// GnuTLS.
pub(crate) fn gnutls() -> &'static interop_library {
    // SAFETY: a constant that C defines.
    unsafe { &interop_gnutls }
}

/// wolfSSL.
pub(crate) fn wolfssl() -> &'static interop_library {
    // SAFETY: a constant that C defines.
    unsafe { &interop_wolfssl }
}

impl CPeer {
    /// An end that resumes the session of `previous`.
    ///
    /// # Errors
    /// What the library says if it refuses the options.
    pub(crate) fn new(
        library: &'static interop_library,
        setup: &Setup,
        previous: Option<&Resumable>,
    ) -> Result<Self, String> {
        let mut progress = interop_progress::new();
        let previous = previous.and_then(Resumable::get::<Kept>).map_or(ptr::null_mut(), |kept| kept.kept.as_ptr());
        let options = options(setup, previous);
        // SAFETY: `options` points to static credentials, and to `previous`, which lives as long as the call.
        let end = unsafe { (library.create)(&options, &mut progress) };
        NonNull::new(end).map(|end| Self { library, end }).ok_or_else(|| progress.failure().reason)
    }

    fn call(&mut self, call: impl FnOnce(&interop_library, *mut c_void, *mut interop_progress)) -> Progress {
        let mut progress = interop_progress::new();
        call(self.library, self.end.as_ptr(), &mut progress);
        progress.read()
    }
}

// SAFETY of the calls below: the end lives as long as `self`, and the arguments live as long as the call.
impl Engine for CPeer {
    fn start(&mut self) -> Progress {
        // SAFETY: see above.
        self.call(|library, end, progress| unsafe { (library.start)(end, progress) })
    }

    fn handle_input(&mut self, datagram: &[u8]) -> Progress {
        // SAFETY: see above.
        self.call(|library, end, progress| unsafe {
            (library.input)(end, datagram.as_ptr(), datagram.len(), progress);
        })
    }

    fn handle_timeout(&mut self) -> Progress {
        // SAFETY: see above.
        self.call(|library, end, progress| unsafe { (library.timeout)(end, progress) })
    }

    fn write(&mut self, data: &[u8]) -> Progress {
        // SAFETY: see above.
        self.call(|library, end, progress| unsafe { (library.write)(end, data.as_ptr(), data.len(), progress) })
    }

    fn close(&mut self) -> Progress {
        // SAFETY: see above.
        self.call(|library, end, progress| unsafe { (library.close)(end, progress) })
    }

    fn keep(&mut self) -> Option<Resumable> {
        let library = self.library;
        // SAFETY: see above.
        let kept = unsafe { (library.keep)(self.end.as_ptr()) };
        NonNull::new(kept).map(|kept| Resumable::new(Kept { library, kept }))
    }
}

impl Drop for CPeer {
    fn drop(&mut self) {
        // SAFETY: the end is alive, and nothing uses it after this.
        unsafe { (self.library.destroy)(self.end.as_ptr()) };
    }
}

fn options(setup: &Setup, previous: *mut c_void) -> interop_options {
    let own = credentials::of(setup.role);
    let peer = credentials::of(credentials::other(setup.role));
    interop_options {
        is_server: (setup.role == Role::Server).into(),
        version: setup.version.on_the_wire(),
        suite: setup.suite.iana(),
        other_suite: setup.other_suite.map_or(0, |suite| suite.iana()),
        group: setup.group.map_or(0, |group| group.iana()),
        credential: match setup.credential {
            CredentialKind::RawPublicKey => INTEROP_RAW_PUBLIC_KEY,
            CredentialKind::Certificate => INTEROP_CERTIFICATE,
            _ => INTEROP_PSK,
        },
        is_without_ephemeral: setup.group.is_none().into(),
        has_cookie: setup.cookie.into(),
        resumption: match setup.resumption {
            None => INTEROP_RESUMPTION_NONE,
            Some(Resumption::Id) => INTEROP_RESUMPTION_ID,
            Some(Resumption::Ticket) => INTEROP_RESUMPTION_TICKET,
        },
        connection_id: setup.connection_id.map_or(-1, c_int::from),
        max_fragment_length: setup.max_fragment_length.unwrap_or(0),
        record_size_limit: setup.record_size_limit.unwrap_or(0),
        has_heartbeat: setup.heartbeat.into(),
        mtu: setup.mtu.unwrap_or(0),
        first_timeout_ms: u32::try_from(setup.first_timeout.as_millis()).unwrap_or(u32::MAX),
        psk: credentials::PSK.as_ptr(),
        psk_identity: credentials::PSK_IDENTITY.as_ptr(),
        psk_len: credentials::PSK.len(),
        psk_identity_len: credentials::PSK_IDENTITY.len(),
        authority: credentials::AUTHORITY.as_ptr(),
        certificate: own.certificate.as_ptr(),
        key: own.key.as_ptr(),
        authority_len: credentials::AUTHORITY.len(),
        certificate_len: own.certificate.len(),
        key_len: own.key.len(),
        public_key: own.public_key.as_ptr(),
        peer_public_key: peer.public_key.as_ptr(),
        public_key_len: own.public_key.len(),
        peer_public_key_len: peer.public_key.len(),
        previous,
    }
}

#[repr(C)]
pub(crate) struct interop_options {
    is_server: c_int,
    version: u16,
    suite: u16,
    other_suite: u16,
    group: u16,
    credential: c_int,
    is_without_ephemeral: c_int,
    has_cookie: c_int,
    resumption: c_int,
    connection_id: c_int,
    max_fragment_length: u16,
    record_size_limit: u16,
    has_heartbeat: c_int,
    mtu: u16,
    first_timeout_ms: u32,
    psk: *const u8,
    psk_identity: *const u8,
    psk_len: usize,
    psk_identity_len: usize,
    authority: *const u8,
    certificate: *const u8,
    key: *const u8,
    authority_len: usize,
    certificate_len: usize,
    key_len: usize,
    public_key: *const u8,
    peer_public_key: *const u8,
    public_key_len: usize,
    peer_public_key_len: usize,
    previous: *mut c_void,
}

#[repr(C)]
pub(crate) struct interop_progress {
    state: c_int,
    code: c_int,
    deadline_ms: u64,
    words: [c_char; 200],
}

impl interop_progress {
    const fn new() -> Self {
        Self { state: INTEROP_HANDSHAKING, code: 0, deadline_ms: INTEROP_NO_TIMER, words: [0; 200] }
    }

    fn read(&self) -> Progress {
        let state = match self.state {
            INTEROP_HANDSHAKING => State::Handshaking,
            INTEROP_ESTABLISHED => State::Established,
            INTEROP_CLOSED => State::Closed,
            _ => State::Failed(self.failure()),
        };
        let deadline = (self.deadline_ms != INTEROP_NO_TIMER).then(|| Duration::from_millis(self.deadline_ms));
        Progress { state, deadline }
    }

    fn failure(&self) -> Failure {
        let kind = match self.state {
            INTEROP_TIMED_OUT => FailureKind::TimedOut,
            _ => FailureKind::Library { code: self.code },
        };
        let octets: Vec<u8> = self.words.iter().map(|octet| *octet as u8).take_while(|octet| *octet != 0).collect();
        Failure { kind, reason: String::from_utf8_lossy(&octets).into_owned() }
    }
}

type Call = unsafe extern "C" fn(*mut c_void, *mut interop_progress);
type CallWithOctets = unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut interop_progress);

#[repr(C)]
pub(crate) struct interop_library {
    create: unsafe extern "C" fn(*const interop_options, *mut interop_progress) -> *mut c_void,
    destroy: unsafe extern "C" fn(*mut c_void),
    start: Call,
    input: CallWithOctets,
    timeout: Call,
    write: CallWithOctets,
    close: Call,
    keep: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    release: unsafe extern "C" fn(*mut c_void),
}

unsafe extern "C" {
    #[cfg(feature = "boringssl")]
    static interop_boringssl: interop_library;
    static interop_gnutls: interop_library;
    static interop_wolfssl: interop_library;
}

// The constants of `csrc/peer.h`, and checks of the offsets of all fields.
include!(concat!(env!("OUT_DIR"), "/mirrors/peer.rs"));
