//! Key agreement with the device's randomness: the library's own draws from the system.

use dimpl::CryptoError;
use dimpl::crypto::{ActiveKeyExchange, Buf, NamedGroup, SupportedKxGroup};
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey};
use slowhand_stack::host;

pub(crate) static SECP256R1: Secp256r1 = Secp256r1;
pub(crate) static X25519: Curve25519 = Curve25519;

/// The first octet of a point that is not compressed (SEC 1, section 2.3.3).
const UNCOMPRESSED: u8 = 4;

/// The coordinates of a point.
pub(crate) fn octets(key: &PublicKey) -> [u8; 64] {
    let encoded = key.to_sec1_point(false);
    std::array::from_fn(|index| encoded.as_bytes()[1 + index])
}

#[derive(Debug)]
pub(crate) struct Secp256r1;

impl SupportedKxGroup for Secp256r1 {
    fn name(&self) -> NamedGroup {
        NamedGroup::Secp256r1
    }

    fn start_exchange(&self, mut public: Buf) -> Result<Box<dyn ActiveKeyExchange>, CryptoError> {
        let secret = ephemeral_key();
        let fast = host::p256_multiply(&secret.to_bytes().into(), None);
        let point = fast.unwrap_or_else(|| octets(&secret.public_key()));
        host::ecdh_generate(crate::SECP256R1);
        public.clear();
        public.push(UNCOMPRESSED);
        public.extend_from_slice(&point);
        Ok(Box::new(OnSecp256r1 { secret, public }))
    }
}

/// A scalar must be less than the order of the group. One of 2^32 draws is not.
fn ephemeral_key() -> SecretKey {
    loop {
        let mut scalar = [0; 32];
        host::random(&mut scalar);
        if let Ok(secret) = SecretKey::from_slice(&scalar) {
            return secret;
        }
    }
}

#[derive(Debug)]
struct OnSecp256r1 {
    secret: SecretKey,
    public: Buf,
}

impl ActiveKeyExchange for OnSecp256r1 {
    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn complete(self: Box<Self>, peer: &[u8], out: &mut Buf) -> Result<(), CryptoError> {
        let invalid = CryptoError::InvalidPublicKey(NamedGroup::Secp256r1);
        let peer = PublicKey::from_sec1_bytes(peer).map_err(|_| invalid)?;
        out.clear();
        match host::p256_multiply(&self.secret.to_bytes().into(), Some(&octets(&peer))) {
            // The shared secret is the first coordinate.
            Some(product) => out.extend_from_slice(&product[..32]),
            None => out.extend_from_slice(self.secret.diffie_hellman(&peer).raw_secret_bytes()),
        }
        host::ecdh_agree(crate::SECP256R1);
        Ok(())
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::Secp256r1
    }
}

/// The table of a device has no time for it.
#[derive(Debug)]
pub(crate) struct Curve25519;

impl SupportedKxGroup for Curve25519 {
    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }

    fn start_exchange(&self, mut public: Buf) -> Result<Box<dyn ActiveKeyExchange>, CryptoError> {
        let mut scalar = [0; 32];
        host::random(&mut scalar);
        let secret = x25519_dalek::StaticSecret::from(scalar);
        host::ecdh_generate(crate::X25519);
        public.clear();
        public.extend_from_slice(x25519_dalek::PublicKey::from(&secret).as_bytes());
        Ok(Box::new(OnCurve25519 { scalar, public }))
    }
}

#[derive(Debug)]
struct OnCurve25519 {
    scalar: [u8; 32],
    public: Buf,
}

impl ActiveKeyExchange for OnCurve25519 {
    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn complete(self: Box<Self>, peer: &[u8], out: &mut Buf) -> Result<(), CryptoError> {
        let invalid = || CryptoError::InvalidPublicKey(NamedGroup::X25519);
        let peer: [u8; 32] = peer.try_into().map_err(|_| invalid())?;
        let secret = x25519_dalek::StaticSecret::from(self.scalar);
        let shared = secret.diffie_hellman(&x25519_dalek::PublicKey::from(peer));
        host::ecdh_agree(crate::X25519);
        // Not zero (RFC 7748 section 6.1).
        if !shared.was_contributory() {
            return Err(invalid());
        }
        out.clear();
        out.extend_from_slice(shared.as_bytes());
        Ok(())
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}
