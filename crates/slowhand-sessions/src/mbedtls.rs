//! Mbed TLS.
//!
//! The library runs unmodified. Its public callbacks give it the device's I/O (one datagram or one write at a time),
//! timers (`mbedtls_ssl_set_timer_cb`), calendar and randomness. Sessions do not share a configuration, because the
//! library writes into it (keys cache precomputed points). A configuration takes microseconds to set up.

use std::time::Duration;

use crate::c_library::{self, slowhand_library};
use crate::capabilities::{Capabilities, Datagrams, MaximumTimeout, Timer, TlsCapabilities, TlsVersion};
use crate::config::{CredentialKind, Protocol, Stack};
use crate::credentials::RSA_BITS;
use crate::tls::{CURVES, FRAGMENT_LENGTHS, Resumption, Suite, TLS13_CURVES};

unsafe extern "C" {
    static slowhand_mbedtls: slowhand_library;
}

/// The library's functions.
pub(crate) fn functions() -> &'static slowhand_library {
    // SAFETY: it is a constant of csrc/mbedtls/session.c, and the compilers of C and Rust check its layout.
    unsafe { &slowhand_mbedtls }
}

const BOTH_RESUMPTIONS: &[Resumption] = &[Resumption::Id, Resumption::Ticket];

/// What the library supports.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    stack: Stack::Mbedtls,
    is_built: true,
    version: || c_library::version(functions()),
    licence: "Apache-2.0 OR GPL-2.0-or-later",
    credentials: &[CredentialKind::Psk, CredentialKind::Ecjpake, CredentialKind::Certificate],
    datagrams: Some(Datagrams {
        // The longest ClientHello here: ECDHE-ECDSA with a cookie, a maximum fragment length and a connection ID of 32
        // octets. With EC-JPAKE it has two public keys with their proofs.
        minimum_mtu: |credential| match credential {
            CredentialKind::Ecjpake => 520,
            _ => 192,
        },
        minimum_mtu_reason: "the library does not fragment a ClientHello",
        fragments: true,
        without_packing: false,
        timer: Timer {
            // `MBEDTLS_SSL_DTLS_TIMEOUT_DFL_MIN` and `_MAX` of `ssl.h`.
            first: Duration::from_secs(1),
            maximum: MaximumTimeout::Chosen(Duration::from_secs(60)),
            // Whole milliseconds in 32 bits.
            least: Duration::from_millis(1),
            most: Duration::from_secs(u32::MAX as u64 / 1000),
            measures: false,
        },
    }),
    weightless: &[],
    tls: TlsCapabilities {
        // `ciphersuite_preference` of `ssl_ciphersuites.c`.
        suites: &[
            Suite::TLS_AES_256_GCM_SHA384,
            Suite::TLS_AES_128_GCM_SHA256,
            Suite::TLS_AES_128_CCM_SHA256,
            Suite::TLS_AES_128_CCM_8_SHA256,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_256_CCM,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
            Suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
            Suite::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
            Suite::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
            Suite::TLS_RSA_WITH_AES_128_GCM_SHA256,
            Suite::TLS_RSA_WITH_AES_128_CBC_SHA256,
            Suite::TLS_RSA_WITH_AES_128_CBC_SHA,
            Suite::TLS_PSK_WITH_AES_256_GCM_SHA384,
            Suite::TLS_PSK_WITH_AES_256_CCM,
            Suite::TLS_PSK_WITH_AES_256_CCM_8,
            Suite::TLS_PSK_WITH_AES_128_GCM_SHA256,
            Suite::TLS_PSK_WITH_AES_128_CCM,
            Suite::TLS_PSK_WITH_AES_128_CCM_8,
            Suite::TLS_ECJPAKE_WITH_AES_128_CCM_8,
        ],
        versions: &[
            TlsVersion {
                protocol: Protocol::Dtls12,
                curves: CURVES,
                fragment_lengths: FRAGMENT_LENGTHS,
                resumptions: BOTH_RESUMPTIONS,
            },
            TlsVersion {
                protocol: Protocol::Tls12,
                curves: CURVES,
                fragment_lengths: FRAGMENT_LENGTHS,
                resumptions: BOTH_RESUMPTIONS,
            },
            TlsVersion {
                protocol: Protocol::Tls13,
                curves: TLS13_CURVES,
                fragment_lengths: &[],
                resumptions: &[Resumption::Ticket],
            },
        ],
        rsa_bits: RSA_BITS,
        // `MBEDTLS_SSL_CID_IN_LEN_MAX` and `MBEDTLS_SSL_CID_OUT_LEN_MAX` of `mbedtls_config.h`.
        connection_id: Some(32),
        lean: false,
        without_cookie: true,
        identity_with_nul: true,
        // `MBEDTLS_PSK_MAX_LEN` of `ssl.h`.
        longest_psk: 48,
    },
    remarks: &[],
};
