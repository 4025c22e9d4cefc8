//! Cases that cannot be, and why. The tests try it all the same: if a peer begins to support it, they ask for the cell.

use slowhand_interop::Peer;
use slowhand_sessions::{CredentialKind, Protocol, Resumption, Role, Suite};

use crate::case::{Beside, Case, Group};
use crate::matrix::{LESS_SHORT, SHORT};
use crate::run::Fault;

/// Why a peer in this role has no session of this case at all.
pub fn cannot(peer: Peer, role: Role, case: &Case) -> Option<&'static str> {
    let is_13 = case.version == Protocol::Dtls13;
    let is_raw = case.credential == CredentialKind::RawPublicKey;
    let has_certificate = case.credential == CredentialKind::Certificate;
    let is_rfc8442 = matches!(
        case.suite,
        Suite::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256 | Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256
    );
    let has_id = case.beside == Some(Beside::ConnectionId);
    let is_resumed = matches!(case.beside, Some(Beside::Resumption(_)));
    let is_by_ticket = case.beside == Some(Beside::Resumption(Resumption::Ticket));
    let is_imported = case.beside == Some(Beside::ImportedPsk);
    let has_length = case.beside == Some(Beside::MaxFragmentLength);
    let has_limit = case.beside == Some(Beside::RecordSizeLimit);
    let has_heartbeat = case.beside == Some(Beside::Heartbeat);
    let is_x25519 = case.group == Some(Group::X25519);
    Some(match peer {
        Peer::Mbedtls if is_13 => "Mbed TLS has no DTLS 1.3.",
        Peer::Mbedtls if is_rfc8442 => "Mbed TLS has ECDHE_PSK only with CBC and ChaCha20-Poly1305.",
        Peer::Mbedtls if is_raw => "Mbed TLS has no raw public keys.",
        Peer::Mbedtls if is_x25519 => "The laboratory's adapter of Mbed TLS has no X25519.",
        Peer::Mbedtls if is_by_ticket && role == Role::Server && has_certificate => {
            "Mbed TLS puts the client's certificate into a ticket; lean-dtls keeps none of more than 256 octets."
        }
        Peer::Mbedtls if has_limit => "Mbed TLS has record_size_limit only in TLS 1.3.",
        Peer::Mbedtls if has_heartbeat => "Mbed TLS has no heartbeats.",
        Peer::Openssl if has_limit || has_heartbeat => {
            "OpenSSL has no record_size_limit, and no heartbeats since version 1.1.1."
        }
        Peer::Openssl if is_13 => "OpenSSL has no DTLS 1.3 before version 4.1.",
        Peer::Openssl if is_rfc8442 => "OpenSSL has ECDHE_PSK only with CBC and ChaCha20-Poly1305.",
        Peer::Openssl if is_raw => "The laboratory's adapter of OpenSSL has no raw public keys.",
        Peer::Openssl if is_resumed => "The laboratory's adapter of OpenSSL resumes no session.",
        Peer::Openssl if has_id => "OpenSSL has no connection IDs.",
        Peer::Openssl if is_x25519 => "The laboratory's adapter of OpenSSL has no X25519.",
        Peer::Tinydtls if is_resumed => "tinyDTLS resumes no session.",
        Peer::Tinydtls if has_id => "tinyDTLS has no connection IDs.",
        Peer::Tinydtls if has_length || has_limit || has_heartbeat => {
            "tinyDTLS has no max_fragment_length, no record_size_limit and no heartbeats."
        }
        Peer::Tinydtls if !is_tinydtls(case) => {
            "tinyDTLS has DTLS 1.2 with CCM alone: with a pre-shared key, and with ECDHE_ECDSA on P-256 and raw public keys."
        }
        Peer::Dimpl if case.credential == CredentialKind::Psk && is_13 => "dimpl has no pre-shared keys in DTLS 1.3.",
        Peer::Dimpl if has_length || has_limit || has_heartbeat => {
            "dimpl has no max_fragment_length, no record_size_limit and no heartbeats."
        }
        Peer::Dimpl if is_raw => "dimpl has no raw public keys.",
        Peer::Dimpl if has_id => "dimpl has no connection IDs.",
        Peer::Dimpl if is_resumed => "dimpl resumes no session.",
        Peer::Dimpl if case.credential == CredentialKind::Psk && case.suite != Suite::TLS_PSK_WITH_AES_128_CCM_8 => {
            "dimpl has TLS_PSK_WITH_AES_128_CCM_8 only, of the suites with a pre-shared key."
        }
        Peer::Dimpl if is_ccm(case.suite) && case.credential == CredentialKind::Certificate => {
            "dimpl has no CCM with certificates."
        }
        Peer::Gnutls if is_13 => "GnuTLS 3.7 has no DTLS 1.3.",
        Peer::Gnutls if is_rfc8442 => "GnuTLS has ECDHE_PSK only with CBC and ChaCha20-Poly1305.",
        Peer::Gnutls if is_by_ticket && role == Role::Server => {
            "GnuTLS has tickets of 326 octets and more; lean-dtls keeps none of more than 256."
        }
        Peer::Gnutls if has_id => "GnuTLS has no connection IDs.",
        Peer::Wolfssl if has_limit || has_heartbeat => "wolfSSL has no record_size_limit and no heartbeats.",
        Peer::Wolfssl if is_imported => "wolfSSL imports no pre-shared keys.",
        Peer::Wolfssl if case.suite == Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256 => {
            "wolfSSL has ECDHE_PSK with GCM, but not with CCM."
        }
        #[cfg(feature = "boringssl")]
        Peer::Boringssl if has_id => "BoringSSL has no connection IDs.",
        #[cfg(feature = "boringssl")]
        Peer::Boringssl if is_ccm(case.suite) => "BoringSSL has no CCM.",
        #[cfg(feature = "boringssl")]
        Peer::Boringssl if case.credential == CredentialKind::Psk && !is_13 => {
            "BoringSSL has suites of DTLS 1.2 with a pre-shared key only with CBC and ChaCha20-Poly1305."
        }
        #[cfg(feature = "boringssl")]
        Peer::Boringssl if case.credential == CredentialKind::Psk && !is_imported => {
            "BoringSSL imports every pre-shared key of DTLS 1.3 (RFC 9258)."
        }
        #[cfg(feature = "boringssl")]
        Peer::Boringssl if case.credential == CredentialKind::Psk && case.group.is_none() => {
            "BoringSSL uses no pre-shared key of DTLS 1.3 without key agreement."
        }
        _ => return None,
    })
}

fn is_ccm(suite: Suite) -> bool {
    matches!(
        suite,
        Suite::TLS_PSK_WITH_AES_128_CCM_8
            | Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256
            | Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8
            | Suite::TLS_AES_128_CCM_8_SHA256
            | Suite::TLS_AES_128_CCM_SHA256
    )
}

fn is_tinydtls(case: &Case) -> bool {
    let suite = match case.credential {
        CredentialKind::RawPublicKey => Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
        _ => Suite::TLS_PSK_WITH_AES_128_CCM_8,
    };
    case.suite == suite && case.group != Some(Group::X25519) && case.beside.is_none()
}

/// Why a peer in this role sends longer records than the ends have agreed on, if it is given longer data.
pub fn sends_longer(peer: Peer, role: Role, case: &Case) -> Option<&'static str> {
    let has_length = case.beside == Some(Beside::MaxFragmentLength);
    Some(match peer {
        Peer::Gnutls if has_length && role == Role::Server => {
            "A server of GnuTLS that is given more data sends a record that is longer than its client has asked for."
        }
        _ => return None,
    })
}

/// Why a session with a peer in this role does not survive a fault, with this size of the datagrams of lean-dtls.
pub fn does_not_survive(
    peer: Peer,
    role: Role,
    case: &Case,
    mtu: Option<u16>,
    fault: Option<Fault>,
) -> Option<&'static str> {
    let has_certificates = case.credential != CredentialKind::Psk;
    let is_server_12 = role == Role::Server && case.version == Protocol::Dtls12;
    // With the cookies of 32 octets of these servers, a ClientHello for certificates or with a session ID has more than 128 octets,
    // and one with a ticket more than LESS_SHORT.
    let longest = match case.beside {
        Some(Beside::Resumption(Resumption::Ticket)) => LESS_SHORT,
        Some(Beside::Resumption(Resumption::Id)) => 128,
        _ if has_certificates => 128,
        _ => 0,
    };
    let has_long_hello = mtu.is_some_and(|mtu| mtu <= longest);
    Some(match peer {
        Peer::Mbedtls if is_server_12 && has_long_hello => "Mbed TLS takes no ClientHello in fragments.",
        Peer::Wolfssl if role == Role::Server && case.version == Protocol::Dtls13 && mtu == Some(SHORT) => {
            "wolfSSL takes no first ClientHello of DTLS 1.3 in fragments."
        }
        Peer::Wolfssl if is_server_12 && has_long_hello => "wolfSSL takes no ClientHello of DTLS 1.2 in fragments.",
        Peer::Tinydtls if role == Role::Client && has_certificates && mtu == Some(SHORT) => {
            "tinyDTLS takes no fragments."
        }
        Peer::Tinydtls if role == Role::Server && is_end_of_tinydtls(has_certificates, mtu, fault?) => {
            "tinyDTLS begins anew when a ClientHello comes again, and never sends its last flight again."
        }
        _ => return None,
    })
}

/// The second ClientHello (2) comes twice, or the Finished of tinyDTLS is lost, which is the last datagram.
fn is_end_of_tinydtls(has_certificates: bool, mtu: Option<u16>, fault: Fault) -> bool {
    let finished = match (has_certificates, mtu) {
        (false, _) => 7,
        (true, None) => 10,
        (true, Some(_)) => 13,
    };
    fault == Fault::Twice(2) || fault == Fault::Lost(finished)
}
