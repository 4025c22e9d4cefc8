//! The peers speak with each other: so their ends are right, before lean-dtls is one of the two.

use slowhand_interop::Peer;
use slowhand_sessions::memory::Path;
use slowhand_sessions::{CredentialKind, Protocol, Resumption, Suite};

use crate::case::{Beside, Case, Group};
use crate::run::{Pair, run, run_without_faults};

const PSK: CredentialKind = CredentialKind::Psk;
const RAW: CredentialKind = CredentialKind::RawPublicKey;
const X509: CredentialKind = CredentialKind::Certificate;
const P256: Option<Group> = Some(Group::P256);
const X25519: Option<Group> = Some(Group::X25519);

const fn dtls12(suite: Suite, credential: CredentialKind, group: Option<Group>) -> Case {
    Case::new(Protocol::Dtls12, suite, credential, group)
}

const fn dtls13(suite: Suite, credential: CredentialKind, group: Option<Group>) -> Case {
    Case::new(Protocol::Dtls13, suite, credential, group)
}

/// The cases of dimpl.
const DIMPL: &[Case] = &[
    dtls12(Suite::TLS_PSK_WITH_AES_128_CCM_8, PSK, None),
    dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, X509, P256),
    dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, X509, X25519),
    dtls13(Suite::TLS_AES_128_GCM_SHA256, X509, P256),
    dtls13(Suite::TLS_AES_128_GCM_SHA256, X509, X25519),
];

/// The cases of GnuTLS.
const GNUTLS: &[Case] = &[
    dtls12(Suite::TLS_PSK_WITH_AES_128_CCM_8, PSK, None),
    dtls12(Suite::TLS_PSK_WITH_AES_128_CCM_8, PSK, None).with(Beside::Resumption(Resumption::Id)),
    dtls12(Suite::TLS_PSK_WITH_AES_128_CCM_8, PSK, None).with(Beside::Resumption(Resumption::Ticket)),
    dtls12(Suite::TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256, PSK, X25519),
    dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, RAW, P256),
    dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, X509, P256),
    dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, X509, P256),
    dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, X509, X25519),
];

/// The cases of Mbed TLS and wolfSSL.
const MBEDTLS: &[Case] = &[
    dtls12(Suite::TLS_PSK_WITH_AES_128_CCM_8, PSK, None),
    dtls12(Suite::TLS_PSK_WITH_AES_128_CCM_8, PSK, None).with(Beside::ConnectionId),
    dtls12(Suite::TLS_PSK_WITH_AES_128_CCM_8, PSK, None).with(Beside::Resumption(Resumption::Id)),
    dtls12(Suite::TLS_PSK_WITH_AES_128_CCM_8, PSK, None).with(Beside::Resumption(Resumption::Ticket)),
    dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, X509, P256),
    dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, X509, P256),
];

/// The cases of wolfSSL.
const WOLFSSL: &[Case] = &[
    dtls12(Suite::TLS_PSK_WITH_AES_128_CCM_8, PSK, None),
    dtls12(Suite::TLS_PSK_WITH_AES_128_CCM_8, PSK, None).with(Beside::ConnectionId),
    dtls12(Suite::TLS_PSK_WITH_AES_128_CCM_8, PSK, None).with(Beside::Resumption(Resumption::Id)),
    dtls12(Suite::TLS_PSK_WITH_AES_128_CCM_8, PSK, None).with(Beside::Resumption(Resumption::Ticket)),
    dtls12(Suite::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256, PSK, P256),
    dtls12(Suite::TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256, PSK, X25519),
    dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, RAW, P256),
    dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, X509, P256),
    dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, X509, P256),
    dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, X509, X25519),
    dtls13(Suite::TLS_AES_128_CCM_8_SHA256, PSK, None),
    dtls13(Suite::TLS_AES_128_CCM_8_SHA256, PSK, None).with(Beside::ConnectionId),
    dtls13(Suite::TLS_AES_128_CCM_SHA256, PSK, P256),
    dtls13(Suite::TLS_AES_128_GCM_SHA256, PSK, X25519),
    dtls13(Suite::TLS_AES_128_CCM_8_SHA256, RAW, P256),
    dtls13(Suite::TLS_AES_128_CCM_8_SHA256, X509, P256),
    dtls13(Suite::TLS_AES_128_GCM_SHA256, X509, X25519),
    dtls13(Suite::TLS_AES_128_CCM_8_SHA256, X509, P256).with(Beside::Resumption(Resumption::Ticket)),
];

fn pair(client: Peer, server: Peer) -> Pair {
    Pair { peers: [client, server], mtus: [None, None] }
}

/// Runs the cases, without faults and with each datagram lost in turn.
fn survives_every_loss(client: Peer, server: Peer, cases: &[Case]) {
    let mut wrong = Vec::new();
    for case in cases {
        let pair = pair(client, server);
        let datagrams = match run_without_faults(case, &pair) {
            Ok(transcript) => transcript.datagrams.len(),
            Err(why) => {
                wrong.push(format!("{case}: {why}"));
                continue;
            }
        };
        for lost in 0..datagrams {
            if let Err(why) = run(case, &pair, &Path { dropped: vec![lost], ..Path::default() }) {
                wrong.push(format!("{case}, {lost} lost: {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{client} to {server}\n{}", wrong.join("\n"));
}

#[test]
fn wolfssl_speaks_with_itself_also_when_a_datagram_is_lost() {
    survives_every_loss(Peer::Wolfssl, Peer::Wolfssl, WOLFSSL);
}

#[test]
fn gnutls_speaks_with_itself_also_when_a_datagram_is_lost() {
    survives_every_loss(Peer::Gnutls, Peer::Gnutls, GNUTLS);
}

#[test]
fn gnutls_and_wolfssl() {
    survives_every_loss(Peer::Gnutls, Peer::Wolfssl, GNUTLS);
    survives_every_loss(Peer::Wolfssl, Peer::Gnutls, GNUTLS);
}

#[test]
fn dimpl_and_wolfssl() {
    survives_every_loss(Peer::Dimpl, Peer::Dimpl, DIMPL);
    survives_every_loss(Peer::Dimpl, Peer::Wolfssl, DIMPL);
    survives_every_loss(Peer::Wolfssl, Peer::Dimpl, DIMPL);
}

#[test]
fn wolfssl_and_mbedtls() {
    let mbedtls = Peer::Mbedtls;
    survives_every_loss(mbedtls, Peer::Wolfssl, MBEDTLS);
    survives_every_loss(Peer::Wolfssl, mbedtls, MBEDTLS);
}

#[cfg(feature = "boringssl")]
#[test]
fn boringssl_wolfssl_and_dimpl() {
    const BORINGSSL: &[Case] = &[
        dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, X509, P256),
        dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, X509, X25519),
        dtls13(Suite::TLS_AES_128_GCM_SHA256, X509, P256),
        dtls13(Suite::TLS_AES_128_GCM_SHA256, X509, X25519),
    ];
    const RAW_KEYS: &[Case] = &[
        dtls12(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, RAW, P256),
        dtls13(Suite::TLS_AES_128_GCM_SHA256, RAW, P256),
    ];
    survives_every_loss(Peer::Boringssl, Peer::Dimpl, BORINGSSL);
    survives_every_loss(Peer::Dimpl, Peer::Boringssl, BORINGSSL);
    survives_every_loss(Peer::Boringssl, Peer::Wolfssl, BORINGSSL);
    survives_every_loss(Peer::Wolfssl, Peer::Boringssl, BORINGSSL);
    survives_every_loss(Peer::Boringssl, Peer::Wolfssl, RAW_KEYS);
    survives_every_loss(Peer::Wolfssl, Peer::Boringssl, RAW_KEYS);
}
