//! The keys and certificates that sessions authenticate with. They are public: for tests and
//! measurements, never for a real device. `credentials/README.md` says how they were made.

mod issued;

use crate::config::{Curve, Role, SessionConfig};
use crate::session::Failure;

pub(crate) use issued::{IMPOSSIBLE_LENGTH, lengths};

/// The pre-shared key: 16 octets, as long as the key of AES-128 (assumed).
pub const PSK: [u8; 16] = *b"slowhand-testkey";

/// The identity that goes with [`PSK`] unless another is chosen: 15 octets, the identity that the example
/// programs of mbedTLS and tinyDTLS use.
pub const PSK_IDENTITY: &str = "Client_identity";

/// The lengths in bits of the RSA keys there are.
pub(crate) const RSA_BITS: &[u16] = &[1024, 2048, 3072];

/// What an end authenticates itself with.
pub(crate) struct End {
    /// An X.509 certificate, DER.
    pub(crate) certificate: &'static [u8],
    /// Its private key: ECPrivateKey of RFC 5915 or RSAPrivateKey of RFC 8017, DER.
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
    ($name:expr) => {
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

/// What two ends authenticate each other with.
pub(crate) struct Chain {
    /// The certificate of the authority that both trust.
    pub(crate) authority: &'static [u8],
    /// This end's own.
    pub(crate) own: End,
}

/// The certificates of a configuration that has been validated and whose suite has some.
///
/// # Errors
/// The library's own when it cannot issue one of the length chosen.
pub(crate) fn chain(config: &SessionConfig) -> Result<Chain, Failure> {
    config.certificate_length.map_or_else(|| Ok(in_file(config)), |length| issued::chain(config, length))
}

/// The certificates as the files have them.
fn in_file(config: &SessionConfig) -> Chain {
    if config.suite.key_exchange().has_rsa() {
        return rsa(config.rsa_bits, config.role);
    }
    Chain { authority: authority(config.curve), own: end(config.curve, config.role) }
}

fn rsa(bits: u16, role: Role) -> Chain {
    macro_rules! chain {
        ($length:literal) => {{
            let (certificate, key): (&[u8], &[u8]) = match role {
                Role::Client => (file!(concat!($length, "-client.der")), file!(concat!($length, "-client-key.der"))),
                Role::Server => (file!(concat!($length, "-server.der")), file!(concat!($length, "-server-key.der"))),
            };
            Chain { authority: file!(concat!($length, "-authority.der")), own: End { certificate, key } }
        }};
    }
    match bits {
        1024 => chain!("rsa1024"),
        3072 => chain!("rsa3072"),
        _ => chain!("rsa2048"),
    }
}
