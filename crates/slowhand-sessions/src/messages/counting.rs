//! The cryptography of OSCORE, EDHOC and objects, which advances the device's clock.

use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::{PublicKey, SecretKey};
use slowhand_coap::edhoc::crypto::{ELEMENT, KeyPair, Scalar};
use slowhand_coap::edhoc::{self, Software};
use slowhand_coap::less;
use slowhand_coap::objects::crypto::{PrivateKey, point};
use slowhand_coap::objects::{self, SIGNATURE};
use slowhand_coap::oscore::RustCrypto;
use slowhand_coap::oscore::crypto::{Crypto, DIGEST, Failed, KEY, Protection, Secret, TAG};

use crate::arithmetic::ecdsa;
use crate::device;
use crate::operation::{Aead, AeadMode, Cbc, Curve, Operation, compressions, hmac};

/// Octets of a block of SHA-256 (FIPS 180-4 section 1).
const BLOCK: usize = 64;

/// Computes as [`RustCrypto`], and reports its operations to the device.
pub(crate) struct Counting;

fn ccm_8(content: &[u8], additional: &[u8]) -> Aead {
    let (octets, additional) = (content.len() as u32, additional.len() as u32);
    Aead { mode: AeadMode::Ccm, key_bits: 128, tag: TAG as u8, octets, additional }
}

impl Crypto for Counting {
    fn extract(&mut self, salt: &[u8], secret: &[u8]) -> Secret {
        device::perform(hmac(salt.len(), secret.len()));
        RustCrypto.extract(salt, secret)
    }

    fn expand(&mut self, extracted: &Secret, info: &[u8]) -> Secret {
        // The octet that counts blocks of output (RFC 5869 section 2.3).
        device::perform(hmac(DIGEST, info.len() + 1));
        RustCrypto.expand(extracted, info)
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8]) -> Result<[u8; TAG], Failed> {
        device::perform(Operation::Seal(ccm_8(content, with.associated)));
        RustCrypto.seal(with, content)
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed> {
        device::perform(Operation::Open(ccm_8(content, with.associated)));
        RustCrypto.open(with, content, tag)
    }
}

impl edhoc::Crypto for Counting {
    fn generate(&mut self) -> KeyPair {
        device::perform(Operation::EcdhKeyGeneration(Curve::Secp256r1));
        let key = ecdsa::draw();
        let mut public = [0; ELEMENT];
        public.copy_from_slice(&ecdsa::public(&key)[..ELEMENT]);
        KeyPair { private: Scalar::new(key.to_bytes().into()), public }
    }

    fn agree(&mut self, private: &Scalar, public: &[u8; ELEMENT]) -> Result<Scalar, Failed> {
        device::perform(Operation::EcdhSharedSecret(Curve::Secp256r1));
        let private = SecretKey::from_slice(&private[..]).map_err(|_| Failed)?;
        // Either y coordinate does: the x coordinate of the product is the same (RFC 9528 appendix B).
        let mut compressed = [COMPRESSED_EVEN; 1 + ELEMENT];
        compressed[1..].copy_from_slice(public);
        let peer = PublicKey::from_sec1_bytes(&compressed).map_err(|_| Failed)?;
        Ok(Scalar::new(ecdsa::agree(&private, &peer)))
    }

    fn hash(&mut self, message: &[u8]) -> [u8; DIGEST] {
        device::perform(Operation::Sha256 { blocks: compressions(message.len(), BLOCK) as u32 });
        software().hash(message)
    }

    fn expand_to(&mut self, extracted: &Secret, info: &[u8], output: &mut [u8]) {
        for block in 0..output.len().div_ceil(DIGEST) {
            // From the second one on with the block before (RFC 5869 section 2.3).
            let before = if block > 0 { DIGEST } else { 0 };
            device::perform(hmac(DIGEST, before + info.len() + 1));
        }
        software().expand_to(extracted, info, output);
    }
}

impl less::Crypto for Counting {
    fn fill_random(&mut self, output: &mut [u8]) {
        device::fill_random(output);
    }

    fn encrypt(&mut self, key: &[u8; KEY], blocks: &mut [[u8; KEY]]) {
        device::perform(Operation::CbcEncrypt(cbc(blocks)));
        less_software().encrypt(key, blocks);
    }

    fn decrypt(&mut self, key: &[u8; KEY], blocks: &mut [[u8; KEY]]) {
        device::perform(Operation::CbcDecrypt(cbc(blocks)));
        less_software().decrypt(key, blocks);
    }

    fn hmac(&mut self, key: &[u8], message: &[u8]) -> [u8; DIGEST] {
        *self.extract(key, message)
    }

    fn seal(&mut self, with: &less::Protection<'_>, content: &mut [u8]) -> Result<[u8; TAG], Failed> {
        device::perform(Operation::Seal(ccm_8(content, with.associated)));
        less_software().seal(with, content)
    }

    fn open(&mut self, with: &less::Protection<'_>, content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed> {
        device::perform(Operation::Open(ccm_8(content, with.associated)));
        less_software().open(with, content, tag)
    }
}

fn cbc(blocks: &[[u8; KEY]]) -> Cbc {
    Cbc { key_bits: 128, octets: (blocks.len() * KEY) as u32 }
}

fn less_software() -> less::Software<fn(&mut [u8])> {
    less::Software(device::fill_random)
}

impl objects::Crypto for Counting {
    fn sign(&mut self, key: &PrivateKey, message: &[u8]) -> Result<[u8; SIGNATURE], Failed> {
        let key = SigningKey::from_slice(key.octets()).map_err(|_| Failed)?;
        let hash = edhoc::Crypto::hash(self, message);
        device::perform(Operation::EcdsaSign(Curve::Secp256r1));
        ecdsa::sign(&key, &hash).map(|signature| signature.to_bytes().into()).map_err(|_| Failed)
    }

    fn verify(&mut self, key: &objects::PublicKey, message: &[u8], signature: &[u8; SIGNATURE]) -> Result<(), Failed> {
        let key = VerifyingKey::from_sec1_bytes(&point(key)).map_err(|_| Failed)?;
        let signature = Signature::from_slice(signature).map_err(|_| Failed)?;
        let hash = edhoc::Crypto::hash(self, message);
        device::perform(Operation::EcdsaVerify(Curve::Secp256r1));
        ecdsa::verify(&key, &hash, &signature).map_err(|_| Failed)
    }
}

/// The first octet of a point without its y coordinate, which is even (SEC 1 section 2.3.3).
const COMPRESSED_EVEN: u8 = 2;

fn software() -> Software<fn(&mut [u8])> {
    Software(device::fill_random)
}
