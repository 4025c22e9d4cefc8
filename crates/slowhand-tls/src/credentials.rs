//! The keys and certificates that sessions authenticate with. They are public: for tests and
//! measurements, never for a real device. `credentials/README.md` says how they were made.

use crate::config::{Curve, Role};

/// The pre-shared key: 16 octets, as long as the key of AES-128 (assumed).
pub const PSK: [u8; 16] = *b"slowhand-testkey";

/// The identity that goes with [`PSK`] unless another is chosen: 15 octets, the identity that the example
/// programs of mbedTLS and tinyDTLS use.
pub const PSK_IDENTITY: &str = "Client_identity";

/// What an end authenticates itself with.
pub(crate) struct End {
    /// An X.509 certificate, DER.
    pub(crate) certificate: &'static [u8],
    /// Its private key: ECPrivateKey of RFC 5915, DER.
    pub(crate) key: &'static [u8],
}

/// A key pair of secp256r1 without any encoding.
pub(crate) struct RawKey {
    pub(crate) private: &'static [u8],
    pub(crate) public_x: &'static [u8],
    pub(crate) public_y: &'static [u8],
}

impl End {
    /// The key pair in the file. Only for a key of secp256r1.
    ///
    /// All of its fields have a fixed length (RFC 5915 section 3): the private key follows 7 octets, the
    /// uncompressed point is the last 64 octets.
    pub(crate) fn raw(&self) -> RawKey {
        assert_eq!(self.key.len(), 121, "an ECPrivateKey of secp256r1 with its public key has 121 octets");
        RawKey { private: &self.key[7..39], public_x: &self.key[57..89], public_y: &self.key[89..121] }
    }
}

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../credentials/", $name))
    };
}

/// The certificate of the authority that issued both ends' certificates.
pub(crate) fn authority(curve: Curve) -> &'static [u8] {
    match curve {
        Curve::Secp192r1 => file!("secp192r1-authority.der"),
        Curve::Secp256r1 => file!("secp256r1-authority.der"),
    }
}

/// The certificate and key of one end.
pub(crate) fn end(curve: Curve, role: Role) -> End {
    let (certificate, key): (&[u8], &[u8]) = match (curve, role) {
        (Curve::Secp192r1, Role::Client) => (file!("secp192r1-client.der"), file!("secp192r1-client-key.der")),
        (Curve::Secp192r1, Role::Server) => (file!("secp192r1-server.der"), file!("secp192r1-server-key.der")),
        (Curve::Secp256r1, Role::Client) => (file!("secp256r1-client.der"), file!("secp256r1-client-key.der")),
        (Curve::Secp256r1, Role::Server) => (file!("secp256r1-server.der"), file!("secp256r1-server-key.der")),
    };
    End { certificate, key }
}
