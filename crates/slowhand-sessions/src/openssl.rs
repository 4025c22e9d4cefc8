//! OpenSSL.
//!
//! The library runs unmodified. Its public callbacks give it I/O (a BIO, one datagram or one write at a time),
//! randomness (a `RAND_METHOD`) and the timeout of the handshake (`DTLS_set_timer_cb`). It has no callback for its
//! clock, so `build.rs` compiles it with other names for `time` and `gettimeofday`.
//!
//! Its behaviour as a DTLS endpoint, which its applications see too: it sends a flight in one datagram the first time
//! and in several datagrams when it retransmits. Its timer expires 15 ms early. The handshake fails after the twelfth
//! retransmission without an answer. Sessions do not share a configuration (`SSL_CTX`).
//!
//! Its configuration follows small devices and the other libraries here: one suite, one group and the signature
//! algorithms for them; security level 0, because other levels refuse tags of 8 octets; no tickets and no session
//! cache. It sends its own certificate and not that of the authority.

use std::time::Duration;

use crate::c_library::{self, slowhand_library};
use crate::capabilities::{Capabilities, Datagrams, MaximumTimeout, Timer, TlsCapabilities, TlsVersion};
use crate::config::{CredentialKind, Protocol, Stack};
use crate::credentials::RSA_BITS;
use crate::tls::{CURVES, FRAGMENT_LENGTHS, Suite, TLS13_CURVES};

#[cfg(not(target_family = "wasm"))]
unsafe extern "C" {
    static slowhand_openssl: slowhand_library;
}

/// The library's functions.
#[cfg(target_family = "wasm")]
pub(crate) fn functions() -> &'static slowhand_library {
    unreachable!("`Capabilities::check` refuses a library that is not in this build")
}

/// The library's functions.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn functions() -> &'static slowhand_library {
    // SAFETY: it is a constant of csrc/openssl/session.c, and the compilers of C and Rust check its layout.
    unsafe { &slowhand_openssl }
}

/// What the library supports.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    stack: Stack::Openssl,
    // The module for web pages would be twice as large.
    is_built: cfg!(not(target_family = "wasm")),
    version: || c_library::version(functions()),
    licence: "Apache-2.0",
    credentials: &[CredentialKind::Psk, CredentialKind::Certificate],
    datagrams: Some(Datagrams {
        // `g_probable_mtu` in `d1_lib.c`: 256, minus 48 for the headers of IPv6 and UDP.
        minimum_mtu: |_| 208,
        minimum_mtu_reason: "the library assumes a path MTU of at least 256 octets, including the headers of IPv6 and UDP",
        fragments: true,
        without_packing: false,
        timer: Timer {
            // `dtls1_start_timer` and `dtls1_double_timeout` in `d1_lib.c`.
            first: Duration::from_secs(1),
            maximum: MaximumTimeout::Chosen(Duration::from_secs(60)),
            // The timer expires 15 ms early (`dtls1_get_timeout` in `d1_lib.c`).
            least: Duration::from_millis(16),
            // The callback counts microseconds in 32 bits.
            most: Duration::from_secs(4294),
            measures: false,
        },
    }),
    weightless: &[],
    tls: TlsCapabilities {
        // As `openssl ciphers ALL:@SECLEVEL=0` prints them. The CCM suites of TLS 1.3 come after the suites that it
        // prints: the library uses them only if an application names them.
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
                curves: TLS13_CURVES,
                fragment_lengths: FRAGMENT_LENGTHS,
                resumptions: &[],
            },
        ],
        rsa_bits: RSA_BITS,
        connection_id: None,
        lean: false,
        without_cookie: true,
        // Its callbacks for pre-shared keys take C strings.
        identity_with_nul: false,
        // `PSK_MAX_PSK_LEN` of `ssl.h`.
        longest_psk: 512,
    },
    remarks: &["one write per flight"],
};
