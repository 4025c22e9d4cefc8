//! The options of a session.

use std::ffi::{CStr, c_int};
use std::slice;
use std::time::Duration;

use crate::interface::{SLOWHAND_RESUMPTION_ID, SLOWHAND_RESUMPTION_TICKET, slowhand_options};

/// The options of a session. slowhand has checked them against the capabilities of the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options<'a> {
    /// This end is the server.
    pub is_server: bool,
    /// TLS over octets, not DTLS over datagrams.
    pub is_stream: bool,
    /// ProtocolVersion as in TLS: 0x0303 is 1.2, 0x0304 is 1.3.
    pub version: u16,
    /// IANA cipher suite.
    pub suite: u16,
    /// A suite of the other version, which this end speaks too.
    pub other_suite: Option<u16>,
    /// TLS NamedGroup of the key agreement, if there is one. In 1.3 with a pre-shared key, none means psk_ke.
    pub group: Option<u16>,
    /// TLS SignatureScheme, if there are signatures.
    pub signature: Option<u16>,
    /// The IANA name of the suite.
    pub suite_name: &'a str,
    /// A server asks for the client's certificate, or for its raw public key.
    pub request_client_certificate: bool,
    /// A pre-shared key, and its identity.
    pub psk: Option<(&'a [u8], &'a [u8])>,
    /// The password of EC-JPAKE.
    pub password: Option<&'a [u8]>,
    /// The certificate that has signed the peer's (DER).
    pub trusted: Option<&'a [u8]>,
    /// This end's own certificate (DER).
    pub certificate: Option<&'a [u8]>,
    /// The private key of that certificate (DER, as in RFC 5915).
    pub key: Option<&'a [u8]>,
    /// A client verifies no chain: its border router does.
    pub takes_any_chain: bool,
    /// Keys without certificates.
    pub raw_keys: RawKeys<'a>,
    /// A server sends a HelloVerifyRequest, or a cookie in its HelloRetryRequest.
    pub cookie: bool,
    /// The most octets of a datagram. `None`: no limit.
    pub mtu: Option<u16>,
    /// The code of a maximum fragment length (RFC 6066 section 4).
    pub max_fragment_length: Option<u8>,
    /// The most octets of content in records to this end (RFC 8449).
    pub record_size_limit: Option<u16>,
    /// Of the retransmission timer, which doubles.
    pub first_timeout: Duration,
    /// Its maximum.
    pub maximum_timeout: Duration,
    /// The way in which the session will be resumed, or resumes another one.
    pub resumption: Resumption,
    /// From [`resumable`](crate::Stack::resumable) of the session that this one resumes.
    pub previous: Option<&'a [u8]>,
    /// The length of this end's connection ID in octets. `None`: not negotiated.
    pub connection_id: Option<u8>,
}

/// Raw public keys on secp256r1 (RFC 7250). Numbers are big-endian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawKeys<'a> {
    /// This end's private key.
    pub private: Option<&'a [u8; 32]>,
    /// This end's public key, x and y.
    pub public: Option<(&'a [u8; 32], &'a [u8; 32])>,
    /// The peer's public key, x and y.
    pub peer: Option<(&'a [u8; 32], &'a [u8; 32])>,
}

/// The way in which a session resumes an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumption {
    /// It does not, and no later one resumes it.
    None,
    /// The server keeps the session (RFC 5246 section 7.4.1.2).
    Id,
    /// The client keeps it (RFC 5077; 1.3: RFC 8446 section 4.6.1).
    Ticket,
}

impl Options<'_> {
    /// # Safety
    /// The pointers are NULL or as the header says, as long as the result lives.
    pub(crate) unsafe fn read(options: &slowhand_options) -> Self {
        let set = |number: u16| (number != 0).then_some(number);
        // SAFETY: the caller's duty, for each pointer.
        unsafe {
            let psk = octets(options.psk, options.psk_len);
            Self {
                is_server: options.is_server != 0,
                is_stream: options.is_stream != 0,
                version: options.version,
                suite: options.suite,
                other_suite: set(options.other_suite),
                group: set(options.group),
                signature: set(options.signature),
                // IANA's names are ASCII.
                suite_name: if options.suite_name.is_null() {
                    ""
                } else {
                    CStr::from_ptr(options.suite_name).to_str().unwrap_or_default()
                },
                request_client_certificate: options.request_client_certificate != 0,
                psk: psk.zip(octets(options.psk_identity, options.psk_identity_len)),
                password: octets(options.password, options.password_len),
                trusted: octets(options.trusted, options.trusted_len),
                certificate: octets(options.certificate, options.certificate_len),
                key: octets(options.key, options.key_len),
                takes_any_chain: options.takes_any_chain != 0,
                raw_keys: RawKeys {
                    private: number(options.private_key),
                    public: number(options.public_x).zip(number(options.public_y)),
                    peer: number(options.peer_x).zip(number(options.peer_y)),
                },
                cookie: options.cookie != 0,
                mtu: set(options.mtu),
                max_fragment_length: (options.max_fragment_length != 0).then_some(options.max_fragment_length),
                record_size_limit: set(options.record_size_limit),
                first_timeout: Duration::from_nanos(options.first_timeout_ns),
                maximum_timeout: Duration::from_nanos(options.maximum_timeout_ns),
                resumption: resumption(options.resumption),
                previous: octets(options.previous, options.previous_len),
                connection_id: u8::try_from(options.connection_id).ok(),
            }
        }
    }
}

fn resumption(number: c_int) -> Resumption {
    match number {
        SLOWHAND_RESUMPTION_ID => Resumption::Id,
        SLOWHAND_RESUMPTION_TICKET => Resumption::Ticket,
        _ => Resumption::None,
    }
}

/// # Safety
/// The pointer is NULL, or to `length` octets, as long as the result lives.
unsafe fn octets<'a>(pointer: *const u8, length: usize) -> Option<&'a [u8]> {
    // SAFETY: the caller's duty.
    (!pointer.is_null()).then(|| unsafe { slice::from_raw_parts(pointer, length) })
}

/// # Safety
/// The pointer is NULL, or to 32 octets, as long as the result lives.
unsafe fn number<'a>(pointer: *const u8) -> Option<&'a [u8; 32]> {
    // SAFETY: the caller's duty. An array of octets has no alignment.
    unsafe { pointer.cast::<[u8; 32]>().as_ref() }
}
