//! OpenSSL.
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

use std::time::Duration;

use crate::c_library::{self, slowhand_library};
use crate::capabilities::{Capabilities, Datagrams, MaximumTimeout, Timer, TlsCapabilities, TlsVersion};
use crate::config::{CredentialKind, Protocol, Stack};
use crate::credentials::RSA_BITS;
use crate::operation::Curve;
use crate::tls::Suite;

unsafe extern "C" {
    static slowhand_openssl: slowhand_library;
}

/// The library's functions.
pub(crate) fn functions() -> &'static slowhand_library {
    // SAFETY: a constant of csrc/openssl/session.c; its layout is checked there and here.
    unsafe { &slowhand_openssl }
}

const CURVES: &[Curve] = &[Curve::Secp192r1, Curve::Secp256r1];
const FRAGMENT_LENGTHS: &[u16] = &[512, 1024, 2048, 4096];

/// What the library can do.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    stack: Stack::Openssl,
    version: || c_library::version(functions()),
    licence: "Apache-2.0",
    credentials: &[CredentialKind::Psk, CredentialKind::Certificate],
    datagrams: Some(Datagrams {
        // `g_probable_mtu` in `d1_lib.c`: 256, less 48 for the headers of IPv6 and UDP.
        minimum_mtu: |_| 208,
        minimum_mtu_reason: "the library believes in no path of less than 256 octets, headers of IPv6 and UDP included",
        fragments: true,
        timer: Timer {
            // `dtls1_start_timer` and `dtls1_double_timeout` in `d1_lib.c`.
            first: Duration::from_secs(1),
            maximum: MaximumTimeout::Chosen(Duration::from_secs(60)),
            // A rest of 15 ms counts as none (`dtls1_get_timeout` in `d1_lib.c`).
            least: Duration::from_millis(16),
            // The callback counts microseconds in 32 bits.
            most: Duration::from_secs(4294),
        },
    }),
    tls: TlsCapabilities {
        // As `openssl ciphers ALL:@SECLEVEL=0` prints them; of TLS 1.3, those behind are switched on by name only.
        suites: &[
            Suite::TLS_AES_256_GCM_SHA384,
            Suite::TLS_AES_128_GCM_SHA256,
            Suite::TLS_AES_128_CCM_SHA256,
            Suite::TLS_AES_128_CCM_8_SHA256,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_256_CCM,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
            Suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
            Suite::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
            Suite::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
            Suite::TLS_PSK_WITH_AES_256_GCM_SHA384,
            Suite::TLS_PSK_WITH_AES_256_CCM_8,
            Suite::TLS_PSK_WITH_AES_256_CCM,
            Suite::TLS_RSA_WITH_AES_128_GCM_SHA256,
            Suite::TLS_PSK_WITH_AES_128_GCM_SHA256,
            Suite::TLS_PSK_WITH_AES_128_CCM_8,
            Suite::TLS_PSK_WITH_AES_128_CCM,
            Suite::TLS_RSA_WITH_AES_128_CBC_SHA256,
            Suite::TLS_RSA_WITH_AES_128_CBC_SHA,
        ],
        versions: &[
            TlsVersion {
                protocol: Protocol::Dtls12,
                curves: CURVES,
                fragment_lengths: FRAGMENT_LENGTHS,
                resumptions: &[],
            },
            TlsVersion {
                protocol: Protocol::Tls12,
                curves: CURVES,
                fragment_lengths: FRAGMENT_LENGTHS,
                resumptions: &[],
            },
            TlsVersion {
                protocol: Protocol::Tls13,
                // TLS 1.3 has no secp192r1 (RFC 8446 section 4.2.7).
                curves: &[Curve::Secp256r1],
                fragment_lengths: FRAGMENT_LENGTHS,
                resumptions: &[],
            },
        ],
        rsa_bits: RSA_BITS,
        connection_id: false,
        without_cookie: true,
    },
    remarks: &["one write per flight"],
};
