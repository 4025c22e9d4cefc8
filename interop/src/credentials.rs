//! The keys and certificates of both ends: those of slowhand-sessions.

use slowhand_sessions::Role;

pub(crate) use slowhand_sessions::credentials::{PSK, PSK_IDENTITY};

/// The certificate of the authority that both trust.
pub(crate) const AUTHORITY: &[u8] = file!("authority");

/// The credentials of one end, on secp256r1.
pub(crate) struct Credentials {
    /// X.509, DER.
    pub(crate) certificate: &'static [u8],
    /// ECPrivateKey of RFC 5915, DER.
    pub(crate) key: &'static [u8; KEY],
    /// SubjectPublicKeyInfo, DER: the raw public key (RFC 7250).
    pub(crate) public_key: &'static [u8; BEFORE_POINT.len() + POINT],
}

/// Octets of an ECPrivateKey with its public key. All its fields have a fixed length (RFC 5915, section 3).
const KEY: usize = 121;

/// Where the private key begins in it.
const SCALAR_BEGINS: usize = 7;

impl Credentials {
    /// The private key alone.
    pub(crate) fn private_key(&self) -> &'static [u8; 32] {
        self.key[SCALAR_BEGINS..].first_chunk().expect("a key is longer")
    }

    /// The public key alone: an uncompressed point.
    pub(crate) fn point(&self) -> &'static [u8; POINT] {
        self.public_key.last_chunk().expect("a key is longer")
    }
}

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../../crates/slowhand-sessions/credentials/secp256r1-", $name, ".der"))
    };
}
use file;

/// The credentials of an end.
pub(crate) const fn of(role: Role) -> &'static Credentials {
    match role {
        Role::Client => &CLIENT,
        Role::Server => &SERVER,
    }
}

/// The other end.
pub(crate) const fn other(role: Role) -> Role {
    match role {
        Role::Client => Role::Server,
        Role::Server => Role::Client,
    }
}

static CLIENT: Credentials = Credentials {
    certificate: file!("client"),
    key: file!("client-key"),
    public_key: &public_key(file!("client-key")),
};

static SERVER: Credentials = Credentials {
    certificate: file!("server"),
    key: file!("server-key"),
    public_key: &public_key(file!("server-key")),
};

/// A SubjectPublicKeyInfo before its point: id-ecPublicKey and secp256r1 (RFC 5480, section 2.1.1), then a bit string of an
/// uncompressed point.
const BEFORE_POINT: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// Octets of an uncompressed point of secp256r1.
const POINT: usize = 65;

/// The public key in an ECPrivateKey: its last octets are the point.
const fn public_key(key: &[u8; KEY]) -> [u8; BEFORE_POINT.len() + POINT] {
    let mut encoded = [0; BEFORE_POINT.len() + POINT];
    let mut index = 0;
    while index < encoded.len() {
        encoded[index] = match index.checked_sub(BEFORE_POINT.len()) {
            None => BEFORE_POINT[index],
            Some(place) => key[key.len() - POINT + place],
        };
        index += 1;
    }
    encoded
}
