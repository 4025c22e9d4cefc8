//! Eclipse tinyDTLS.
//!
//! The library runs unmodified. Its clock and randomness (`dtls_ticks`, `dtls_prng`) are the device's. It sends each
//! handshake *message* in a datagram of its own, with a timer of its own; the head of its send queue has the next
//! deadline.
//!
//! The first timeout is always 2,000 ticks of its clock and doubles with each retransmission. With the default of 2 s,
//! a tick is one millisecond. Another first timeout changes the length of a tick. This affects only one other thing:
//! how long the library keeps an alert that it has sent. After its last retransmission, the library does nothing more
//! and reports nothing. The adapter reports this as [`FailureKind::TimedOut`](crate::FailureKind::TimedOut).
//!
//! Its buffer for a record has 1,400 octets (`DTLS_MAX_BUF` in `global.h`). Header, nonce and tag take 37 octets of it.
//! So application data has at most 1,363 octets.

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
    // SAFETY: it is a constant of csrc/tinydtls/session.c, and the compilers of C and Rust check its layout.
    unsafe { &slowhand_tinydtls }
}

/// What the library supports.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    stack: Stack::Tinydtls,
    is_built: true,
    version: || c_library::version(functions()),
    licence: "EPL-1.0 OR BSD-3-Clause",
    credentials: &[CredentialKind::Psk, CredentialKind::RawPublicKey],
    datagrams: Some(Datagrams {
        // The longest datagram of a handshake. With a pre-shared key it is the second ClientHello (also with tags of 16
        // octets). With raw public keys it is the ServerKeyExchange, whose signature varies in length.
        minimum_mtu: |credential| match credential {
            CredentialKind::Psk => 93,
            _ => 170,
        },
        minimum_mtu_reason: "the library neither sends nor accepts fragments of a handshake message",
        fragments: false,
        without_packing: false,
        timer: Timer {
            // 2 s, doubled with each of at most 7 retransmissions (`dtls_send_multi` and `dtls_retransmit` in `dtls.c`,
            // `DTLS_DEFAULT_MAX_RETRANSMIT` in `global.h`).
            first: Duration::from_secs(2),
            maximum: MaximumTimeout::TimesFirst(1 << 7),
            // Whole milliseconds in 32 bits, as with mbedTLS.
            least: Duration::from_millis(1),
            most: Duration::from_secs(u32::MAX as u64 / 1000),
            measures: false,
        },
    }),
    weightless: &[],
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
        connection_id: None,
        lean: false,
        without_cookie: false,
        identity_with_nul: true,
        // `DTLS_PSK_MAX_KEY_LEN` of `crypto.h`.
        longest_psk: 16,
    },
    remarks: &["one datagram and one timer per message"],
};
