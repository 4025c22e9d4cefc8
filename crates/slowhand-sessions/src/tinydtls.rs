//! Eclipse tinyDTLS.
//!
//! The library runs unmodified: its clock and randomness (`dtls_ticks`, `dtls_prng`) are the device's, its
//! timers are the head of its send queue. It has a timer for each *message* and sends each in a
//! datagram of its own. The first timeout is 2,000 ticks of its clock, doubled with each retransmission, and
//! nothing else ticks; so another first timeout is a clock that ticks at another rate, a millisecond for the 2 s
//! that its sources mean. (An alert of its own is kept for as long.) When its last retransmission was in vain it goes
//! quiet without a word; that is reported as [`Failure::TimedOut`](crate::Failure::TimedOut).
//!
//! Its buffer for a record has 1,400 octets (`DTLS_MAX_BUF` in `global.h`), 37 of them for header, nonce and tag: the
//! rest is the most application data that it sends at once.

use std::time::Duration;

use crate::c_library::{self, slowhand_library};
use crate::capabilities::{Capabilities, Datagrams, MaximumTimeout, Timer, TlsCapabilities, TlsVersion};
use crate::config::{CredentialKind, Protocol, Stack};
use crate::operation::Curve;
use crate::tls::Suite;

unsafe extern "C" {
    static slowhand_tinydtls: slowhand_library;
}

/// The library's functions.
pub(crate) fn functions() -> &'static slowhand_library {
    // SAFETY: a constant of csrc/tinydtls/session.c; its layout is checked there and here.
    unsafe { &slowhand_tinydtls }
}

/// What the library can do.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    stack: Stack::Tinydtls,
    version: || c_library::version(functions()),
    licence: "EPL-1.0 OR BSD-3-Clause",
    credentials: &[CredentialKind::Psk, CredentialKind::RawPublicKey],
    datagrams: Some(Datagrams {
        // The longest datagram of a handshake: with a pre-shared key the second ClientHello (a tag of 16 octets does not
        // make it longer), with raw public keys the ServerKeyExchange, whose signature varies.
        minimum_mtu: |credential| match credential {
            CredentialKind::Psk => 93,
            _ => 170,
        },
        minimum_mtu_reason: "the library neither sends nor accepts fragments of a handshake message",
        fragments: false,
        timer: Timer {
            // 2 s, doubled with each of at most 7 retransmissions (`dtls_send_multi` and `dtls_retransmit` in `dtls.c`,
            // `DTLS_DEFAULT_MAX_RETRANSMIT` in `global.h`).
            first: Duration::from_secs(2),
            maximum: MaximumTimeout::TimesFirst(1 << 7),
            // Whole milliseconds in 32 bits: a range that all libraries have.
            least: Duration::from_millis(1),
            most: Duration::from_secs(u32::MAX as u64 / 1000),
        },
    }),
    tls: TlsCapabilities {
        // `cipher_suite_params` in `dtls.c`.
        suites: &[
            Suite::TLS_PSK_WITH_AES_128_CCM_8,
            Suite::TLS_PSK_WITH_AES_128_CCM,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM,
        ],
        versions: &[TlsVersion {
            protocol: Protocol::Dtls12,
            curves: &[Curve::Secp256r1],
            fragment_lengths: &[],
            resumptions: &[],
        }],
        rsa_bits: &[],
        connection_id: false,
        without_cookie: false,
    },
    remarks: &["one datagram and one timer per message"],
};
