//! X.509 certificates: those of the tests of lean-dtls, in chains of two, which the crate `rustls-webpki` checks.

use lean_dtls::{Certificate, CertifiedKey, EcdsaP256Sha256, X509};

use super::End;

/// Octets of the buffers of a connection: enough for the flight of an end with its chain.
pub const BUFFER: usize = 1280;

/// The credentials of an end.
pub type Keys = X509<'static>;

/// A file of the tests.
macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../../../../crates/lean-dtls/tests/credentials/", $name))
    };
}

pub(super) fn keys(end: End) -> Keys {
    let own = match end {
        End::Client => CertifiedKey {
            certificate: Certificate::X509(&[file!("client.der"), file!("issuer.der")]),
            private_key: file!("client.key"),
        },
        End::Server => CertifiedKey {
            certificate: Certificate::X509(&[file!("server.der"), file!("issuer.der")]),
            private_key: file!("server.key"),
        },
    };
    X509 {
        own: Some(own),
        authorities: &[file!("authority.der")],
        server_name: Some("sensors.example"),
        unix_time: || 1_893_456_000, // 2030-01-01
        algorithms: EcdsaP256Sha256::ONLY,
    }
}
