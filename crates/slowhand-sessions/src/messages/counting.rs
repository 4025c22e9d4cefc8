//! The cryptography of OSCORE, which advances the device's clock.

use slowhand_coap::oscore::crypto::{Crypto, DIGEST, Failed, Protection, RustCrypto, Secret, TAG};

use crate::device;
use crate::operation::{Aead, AeadMode, Operation, hmac};

/// Computes as [`RustCrypto`], and reports its operations to the device.
pub(super) struct Counting;

fn aead(with: &Protection<'_>, content: &[u8]) -> Aead {
    let (octets, additional) = (content.len() as u32, with.associated.len() as u32);
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
        device::perform(Operation::Seal(aead(with, content)));
        RustCrypto.seal(with, content)
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed> {
        device::perform(Operation::Open(aead(with, content)));
        RustCrypto.open(with, content, tag)
    }
}
