//! The capabilities of a stack, as its author writes them.

use std::ffi::CStr;
use std::time::Duration;

use crate::interface::{
    SLOWHAND_CERTIFICATE, SLOWHAND_DTLS12, SLOWHAND_DTLS13, SLOWHAND_ECJPAKE, SLOWHAND_PSK, SLOWHAND_PSK_DHE_KE,
    SLOWHAND_PSK_KE, SLOWHAND_RAW_PUBLIC_KEY, SLOWHAND_TLS12, SLOWHAND_TLS13,
};
use crate::options::Resumption;

/// The capabilities of a stack. slowhand refuses scenarios that ask for more, and names the key of the scenario.
#[derive(Clone, Copy, Debug)]
pub struct Capabilities {
    /// An SPDX expression.
    pub licence: &'static CStr,
    /// Oldest first; at least one.
    pub protocols: &'static [Protocol],
    /// The ways in which an end can prove its identity, the default first; and the smallest `mtu` of a session with that, in
    /// octets, which has no effect without DTLS.
    pub credentials: &'static [(CredentialName, u16)],
    /// IANA numbers, in the library's order of preference.
    pub suites: &'static [u16],
    /// Lengths of RSA keys.
    pub rsa_bits: &'static [u16],
    /// Why a smaller `mtu` is not possible.
    pub minimum_mtu_reason: Option<&'static CStr>,
    /// It cuts handshake messages to fit into smaller datagrams.
    pub fragments: bool,
    /// A server of DTLS can omit the cookie exchange.
    pub without_cookie: bool,
    /// It has no cookie exchange: a server omits it always.
    pub cookieless: bool,
    /// The identity of a pre-shared key may have the octet 0.
    pub identity_with_nul: bool,
    /// Octets of the longest connection ID. `None`: it has none.
    pub connection_id: Option<u8>,
    /// Octets of the longest pre-shared key. 0: it has none.
    pub longest_psk: usize,
    /// The uses of a pre-shared key in 1.3. Empty: it has none there.
    pub psk_modes: &'static [PskMode],
    /// It imports each pre-shared key of 1.3 (RFC 9258), without a context.
    pub imports_psk: bool,
    /// It can tell the peer how long records may be (RFC 8449).
    pub record_size_limit: bool,
    /// A client can leave the verification of chains out.
    pub takes_any_chain: bool,
    /// A server of DTLS 1.2 takes data as a sign that its last flight has arrived, and cannot send it again then.
    pub forgets_flight_on_data: bool,
    /// The retransmission timer of DTLS.
    pub timer: Timer,
    /// Other behaviour that a user has to know.
    pub remark: Option<&'static CStr>,
}

impl Capabilities {
    /// A stack that can do nothing yet.
    pub const fn new(licence: &'static CStr, timer: Timer) -> Self {
        Self {
            licence,
            protocols: &[],
            credentials: &[],
            suites: &[],
            rsa_bits: &[],
            minimum_mtu_reason: None,
            fragments: false,
            without_cookie: false,
            cookieless: false,
            identity_with_nul: false,
            connection_id: None,
            longest_psk: 0,
            psk_modes: &[],
            imports_psk: false,
            record_size_limit: false,
            takes_any_chain: false,
            forgets_flight_on_data: false,
            timer,
            remark: None,
        }
    }
}

/// The capabilities of a stack in one version of DTLS or TLS.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Which one.
    pub name: ProtocolName,
    /// The ways in which sessions of it resume.
    pub resumptions: &'static [Resumption],
    /// TLS NamedGroups for key exchange and ECDSA.
    pub curves: &'static [u16],
    /// The maximum fragment lengths that it can negotiate, in octets.
    pub fragment_lengths: &'static [u16],
}

impl Protocol {
    /// A version without any of these.
    pub const fn new(name: ProtocolName) -> Self {
        Self { name, resumptions: &[], curves: &[], fragment_lengths: &[] }
    }
}

/// A version of DTLS or TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // their names say it
pub enum ProtocolName {
    Dtls12 = SLOWHAND_DTLS12 as isize,
    Dtls13 = SLOWHAND_DTLS13 as isize,
    Tls12 = SLOWHAND_TLS12 as isize,
    Tls13 = SLOWHAND_TLS13 as isize,
}

/// The way in which an end can prove its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialName {
    /// A pre-shared key.
    Psk = SLOWHAND_PSK as isize,
    /// A password (EC-JPAKE).
    Ecjpake = SLOWHAND_ECJPAKE as isize,
    /// A raw public key (RFC 7250).
    RawPublicKey = SLOWHAND_RAW_PUBLIC_KEY as isize,
    /// An X.509 certificate.
    Certificate = SLOWHAND_CERTIFICATE as isize,
}

/// The use of a pre-shared key in version 1.3 (RFC 8446 section 4.2.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PskMode {
    /// Alone.
    PskKe = SLOWHAND_PSK_KE as isize,
    /// With key agreement.
    PskDheKe = SLOWHAND_PSK_DHE_KE as isize,
}

/// The retransmission timer of DTLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// The default of the first timeout.
    pub first: Duration,
    /// The limit up to which it doubles.
    pub maximum: Maximum,
    /// The least that a scenario may choose for either.
    pub least: Duration,
    /// The most.
    pub most: Duration,
}

/// The limit up to which a timer doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maximum {
    /// Up to this default, and a scenario may choose otherwise.
    Chosen(Duration),
    /// Up to so many times the first timeout, and a scenario cannot choose otherwise.
    TimesFirst(u32),
}

impl Timer {
    /// A timer that doubles up to so many times the first timeout. A scenario may choose the first timeout from a millisecond to ten
    /// minutes.
    pub const fn doubling(first: Duration, times: u32) -> Self {
        let (least, most) = (Duration::from_millis(1), Duration::from_secs(600));
        Self { first, maximum: Maximum::TimesFirst(times), least, most }
    }
}
