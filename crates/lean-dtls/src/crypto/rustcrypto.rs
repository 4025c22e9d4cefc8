//! The cryptography in software, by the RustCrypto crates.

use aes::cipher::inout::InOut;
use aes::cipher::{
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, Key, KeySizeUser,
    ParBlocksSizeUser,
};
use aes::{Aes128Enc, Block};
use ccm::aead::{AeadCore, AeadInOut, KeyInit};
use ccm::consts::{U1, U8, U12, U16};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use super::{Aead, Crypto, DIGEST, Failed, Hash, Protection};

type Ccm8 = ccm::Ccm<Aes128, U8, U12>;

/// [`Crypto`] in software. `R` fills its argument with random numbers that nobody can predict.
#[derive(Clone, Debug)]
pub struct RustCrypto<R> {
    random: R,
}

impl<R: FnMut(&mut [u8])> RustCrypto<R> {
    /// Software with this source of random numbers.
    pub const fn new(random: R) -> Self {
        Self { random }
    }
}

impl<R: FnMut(&mut [u8])> Crypto for RustCrypto<R> {
    type Hash = Sha256;

    fn hash(&mut self) -> Sha256 {
        Sha256::new()
    }

    fn hmac(&mut self, key: &[u8], parts: &[&[u8]]) -> [u8; DIGEST] {
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&block(key).into());
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().into()
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &mut [u8]) -> Result<(), Failed> {
        match with.aead {
            Aead::Ccm8 => seal::<Ccm8>(with, content, tag),
            Aead::Ccm | Aead::Gcm => Err(Failed),
        }
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8]) -> Result<(), Failed> {
        match with.aead {
            Aead::Ccm8 => open::<Ccm8>(with, content, tag),
            Aead::Ccm | Aead::Gcm => Err(Failed),
        }
    }

    fn random(&mut self, octets: &mut [u8]) {
        (self.random)(octets);
    }
}

fn seal<A>(with: &Protection<'_>, content: &mut [u8], tag: &mut [u8]) -> Result<(), Failed>
where
    A: AeadInOut + KeyInit + KeySizeUser<KeySize = U16> + AeadCore<NonceSize = U12>,
{
    let sealed = A::new(with.key.into()).encrypt_inout_detached(with.nonce.into(), with.associated, content.into());
    tag.copy_from_slice(&sealed.map_err(|_| Failed)?);
    Ok(())
}

fn open<A>(with: &Protection<'_>, content: &mut [u8], tag: &[u8]) -> Result<(), Failed>
where
    A: AeadInOut + KeyInit + KeySizeUser<KeySize = U16> + AeadCore<NonceSize = U12>,
{
    let tag = tag.try_into().map_err(|_| Failed)?;
    let cipher = A::new(with.key.into());
    cipher.decrypt_inout_detached(with.nonce.into(), with.associated, content.into(), tag).map_err(|_| Failed)
}

/// AES-128, one block after the other. In software, the crate `aes` computes four blocks at once where a mode asks for it: on
/// a 32-bit processor this is larger by 5,000 octets, needs four times the stack, and is slower for short records.
struct Aes128(Aes128Enc);

impl KeySizeUser for Aes128 {
    type KeySize = U16;
}

impl KeyInit for Aes128 {
    fn new(key: &Key<Self>) -> Self {
        Self(Aes128Enc::new(key))
    }
}

impl BlockSizeUser for Aes128 {
    type BlockSize = U16;
}

impl ParBlocksSizeUser for Aes128 {
    type ParBlocksSize = U1;
}

impl BlockCipherEncrypt for Aes128 {
    fn encrypt_with_backend(&self, mode: impl BlockCipherEncClosure<BlockSize = U16>) {
        mode.call(self);
    }
}

impl BlockCipherEncBackend for Aes128 {
    #[inline(never)] // otherwise each user of a mode has its own AES
    fn encrypt_block(&self, block: InOut<'_, '_, Block>) {
        self.0.encrypt_block_inout(block);
    }
}

/// A key of HMAC as long as a block of SHA-256 (RFC 2104, section 2).
fn block(key: &[u8]) -> [u8; 64] {
    let mut block = [0; 64];
    match block.get_mut(..key.len()) {
        Some(start) => start.copy_from_slice(key),
        None => block[..DIGEST].copy_from_slice(&<Sha256 as Digest>::digest(key)),
    }
    block
}

impl Hash for Sha256 {
    fn update(&mut self, octets: &[u8]) {
        Digest::update(self, octets);
    }

    fn digest(&self) -> [u8; DIGEST] {
        self.clone().finalize().into()
    }
}
