//! Hashing, HMAC and AES-GCM for rustls. They report their operations.

use std::marker::PhantomData;

use aes_gcm::aead::consts::{U12, U16};
use aes_gcm::{AeadCore, AeadInOut, Aes128Gcm, Aes256Gcm, KeyInit, Tag};
use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, KeyBlockShape, MessageDecrypter, MessageEncrypter, Nonce,
    OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload, Tls12AeadAlgorithm, Tls13AeadAlgorithm,
    UnsupportedOperationError, make_tls12_aad, make_tls13_aad,
};
use rustls::crypto::hash::{Context, Hash, HashAlgorithm, Output};
use rustls::crypto::hmac;
use rustls::{ConnectionTrafficSecrets, ContentType, Error, ProtocolVersion};
use sha2::{Digest, Sha256, Sha384};

use crate::device;
use crate::operation::{Aead, AeadMode, Operation, compressions};

/// SHA-256, and HMAC with it.
pub(super) static SHA256: Hashing<Sha256> = Hashing(PhantomData);
/// SHA-384, and HMAC with it.
pub(super) static SHA384: Hashing<Sha384> = Hashing(PhantomData);

/// A hash function of the SHA-2 family.
pub(super) trait Sha2: Digest + Clone + Send + Sync + 'static {
    const ALGORITHM: HashAlgorithm;
    /// Octets of a block (FIPS 180-4 section 1).
    const BLOCK: usize;
    fn compressions(blocks: u32) -> Operation;
}

impl Sha2 for Sha256 {
    const ALGORITHM: HashAlgorithm = HashAlgorithm::SHA256;
    const BLOCK: usize = 64;
    fn compressions(blocks: u32) -> Operation {
        Operation::Sha256 { blocks }
    }
}

impl Sha2 for Sha384 {
    const ALGORITHM: HashAlgorithm = HashAlgorithm::SHA384;
    const BLOCK: usize = 128;
    fn compressions(blocks: u32) -> Operation {
        Operation::Sha512 { blocks }
    }
}

/// A hash computation in progress.
#[derive(Clone)]
struct Running<D> {
    digest: D,
    length: usize,
}

impl<D: Sha2> Running<D> {
    fn new() -> Self {
        Self { digest: D::new(), length: 0 }
    }

    fn absorb(&mut self, data: &[u8]) {
        self.digest.update(data);
        let blocks = (self.length % D::BLOCK + data.len()) / D::BLOCK;
        if blocks > 0 {
            device::perform(D::compressions(blocks as u32));
        }
        self.length += data.len();
    }

    fn end(self) -> Output {
        let last = compressions(self.length, D::BLOCK) - self.length / D::BLOCK;
        device::perform(D::compressions(last as u32));
        Output::new(&self.digest.finalize())
    }
}

impl<D: Sha2> Context for Running<D> {
    fn fork_finish(&self) -> Output {
        self.clone().end()
    }

    fn fork(&self) -> Box<dyn Context> {
        Box::new(self.clone())
    }

    fn finish(self: Box<Self>) -> Output {
        self.end()
    }

    fn update(&mut self, data: &[u8]) {
        self.absorb(data);
    }
}

/// A hash function, and HMAC with it.
pub(super) struct Hashing<D>(PhantomData<fn() -> D>);

impl<D: Sha2> Hash for Hashing<D> {
    fn start(&self) -> Box<dyn Context> {
        Box::new(Running::<D>::new())
    }

    fn hash(&self, data: &[u8]) -> Output {
        let mut running = Running::<D>::new();
        running.absorb(data);
        running.end()
    }

    fn output_len(&self) -> usize {
        <D as Digest>::output_size()
    }

    fn algorithm(&self) -> HashAlgorithm {
        D::ALGORITHM
    }
}

impl<D: Sha2> hmac::Hmac for Hashing<D> {
    /// RFC 2104 section 2. Each key hashes both pads once.
    fn with_key(&self, key: &[u8]) -> Box<dyn hmac::Key> {
        let hashed;
        let key = if key.len() > D::BLOCK {
            hashed = self.hash(key);
            hashed.as_ref()
        } else {
            key
        };
        let padded = |pad: u8| {
            let mut block = vec![pad; D::BLOCK];
            block.iter_mut().zip(key).for_each(|(octet, key)| *octet ^= key);
            let mut running = Running::<D>::new();
            running.absorb(&block);
            running
        };
        Box::new(HmacKey { inner: padded(0x36), outer: padded(0x5c) })
    }

    fn hash_output_len(&self) -> usize {
        <D as Digest>::output_size()
    }
}

struct HmacKey<D> {
    inner: Running<D>,
    outer: Running<D>,
}

impl<D: Sha2> hmac::Key for HmacKey<D> {
    fn sign_concat(&self, first: &[u8], middle: &[&[u8]], last: &[u8]) -> hmac::Tag {
        let mut inner = self.inner.clone();
        inner.absorb(first);
        middle.iter().for_each(|data| inner.absorb(data));
        inner.absorb(last);
        let mut outer = self.outer.clone();
        outer.absorb(inner.end().as_ref());
        hmac::Tag::new(outer.end().as_ref())
    }

    fn tag_len(&self) -> usize {
        <D as Digest>::output_size()
    }
}

/// AES-GCM with keys of 128 bits.
pub(super) static AES_128_GCM: Gcm<Aes128Gcm> = Gcm(PhantomData);
/// AES-GCM with keys of 256 bits.
pub(super) static AES_256_GCM: Gcm<Aes256Gcm> = Gcm(PhantomData);

pub(super) const TAG: usize = 16;
/// Octets of the nonce that a record of TLS 1.2 carries (RFC 5288 section 3).
const EXPLICIT_NONCE: usize = 8;

/// AES-GCM with one length of key.
pub(super) struct Gcm<K>(PhantomData<fn() -> K>);

/// A key, and the IV from which the nonces follow.
pub(super) struct GcmKey<K> {
    key: K,
    pub(super) iv: Iv,
}

pub(super) trait GcmCipher:
    AeadInOut + AeadCore<NonceSize = U12, TagSize = U16> + KeyInit + Send + Sync + 'static
{
}

impl<K: AeadInOut + AeadCore<NonceSize = U12, TagSize = U16> + KeyInit + Send + Sync + 'static> GcmCipher for K {}

impl<K: GcmCipher> GcmKey<K> {
    pub(super) fn new(key: &AeadKey, iv: Iv) -> Self {
        let key = K::new_from_slice(key.as_ref()).expect("rustls makes keys as long as it was told");
        Self { key, iv }
    }

    pub(super) fn seal(&self, nonce: [u8; 12], additional: &[u8], octets: &mut [u8]) -> Result<Tag<U16>, Error> {
        device::perform(Operation::Seal(Self::work(octets.len(), additional)));
        let sealed = self.key.encrypt_inout_detached(&nonce.into(), additional, octets.into());
        sealed.map_err(|_| Error::EncryptError)
    }

    pub(super) fn open(
        &self,
        nonce: [u8; 12],
        additional: &[u8],
        octets: &mut [u8],
        tag: [u8; TAG],
    ) -> Result<(), Error> {
        device::perform(Operation::Open(Self::work(octets.len(), additional)));
        let opened = self.key.decrypt_inout_detached(&nonce.into(), additional, octets.into(), &tag.into());
        opened.map_err(|_| Error::DecryptError)
    }

    fn work(octets: usize, additional: &[u8]) -> Aead {
        Aead {
            mode: AeadMode::Gcm,
            key_bits: 8 * K::key_size() as u16,
            tag: TAG as u8,
            octets: octets as u32,
            additional: additional.len() as u32,
        }
    }
}

/// Splits the tag from the end of a record: the length of the rest, and the tag.
pub(super) fn split_tag(record: &[u8]) -> Result<(usize, [u8; TAG]), Error> {
    let (octets, tag) = record.split_last_chunk().ok_or(Error::DecryptError)?;
    Ok((octets.len(), *tag))
}

impl<K: GcmCipher> Tls13AeadAlgorithm for Gcm<K> {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        Box::new(Tls13(GcmKey::<K>::new(&key, iv)))
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        Box::new(Tls13(GcmKey::<K>::new(&key, iv)))
    }

    fn key_len(&self) -> usize {
        K::key_size()
    }

    fn extract_keys(&self, _: AeadKey, _: Iv) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Err(UnsupportedOperationError)
    }
}

/// Records of TLS 1.3 (RFC 8446 section 5.2).
struct Tls13<K>(GcmKey<K>);

impl<K: GcmCipher> MessageEncrypter for Tls13<K> {
    fn encrypt(&mut self, message: OutboundPlainMessage<'_>, number: u64) -> Result<OutboundOpaqueMessage, Error> {
        let length = self.encrypted_payload_len(message.payload.len());
        let mut payload = PrefixedPayload::with_capacity(length);
        payload.extend_from_chunks(&message.payload);
        payload.extend_from_slice(&[message.typ.into()]);
        let nonce = Nonce::new(&self.0.iv, number).0;
        let tag = self.0.seal(nonce, &make_tls13_aad(length), payload.as_mut())?;
        payload.extend_from_slice(&tag);
        Ok(OutboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, payload))
    }

    fn encrypted_payload_len(&self, length: usize) -> usize {
        length + 1 + TAG
    }
}

impl<K: GcmCipher> MessageDecrypter for Tls13<K> {
    fn decrypt<'a>(
        &mut self,
        mut message: InboundOpaqueMessage<'a>,
        number: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let (length, tag) = split_tag(&message.payload)?;
        let additional = make_tls13_aad(message.payload.len());
        message.payload.truncate(length);
        self.0.open(Nonce::new(&self.0.iv, number).0, &additional, &mut message.payload, tag)?;
        message.into_tls13_unpadded_message()
    }
}

impl<K: GcmCipher> Tls12AeadAlgorithm for Gcm<K> {
    fn encrypter(&self, key: AeadKey, salt: &[u8], explicit: &[u8]) -> Box<dyn MessageEncrypter> {
        Box::new(Tls12(GcmKey::<K>::new(&key, Iv::copy(&[salt, explicit].concat()))))
    }

    fn decrypter(&self, key: AeadKey, salt: &[u8]) -> Box<dyn MessageDecrypter> {
        Box::new(Tls12(GcmKey::<K>::new(&key, Iv::copy(&[salt, &[0; EXPLICIT_NONCE]].concat()))))
    }

    fn key_block_shape(&self) -> KeyBlockShape {
        KeyBlockShape {
            enc_key_len: K::key_size(),
            fixed_iv_len: 12 - EXPLICIT_NONCE,
            explicit_nonce_len: EXPLICIT_NONCE,
        }
    }

    fn extract_keys(
        &self,
        _: AeadKey,
        _: &[u8],
        _: &[u8],
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Err(UnsupportedOperationError)
    }
}

/// Records of TLS 1.2 (RFC 5288). The sender chooses the explicit part of a nonce. Here, as in rustls's own providers,
/// it counts up from a value in the key block.
struct Tls12<K>(GcmKey<K>);

impl<K: GcmCipher> MessageEncrypter for Tls12<K> {
    fn encrypt(&mut self, message: OutboundPlainMessage<'_>, number: u64) -> Result<OutboundOpaqueMessage, Error> {
        let octets = message.payload.len();
        let nonce = Nonce::new(&self.0.iv, number).0;
        let mut payload = PrefixedPayload::with_capacity(self.encrypted_payload_len(octets));
        payload.extend_from_slice(&nonce[12 - EXPLICIT_NONCE..]);
        payload.extend_from_chunks(&message.payload);
        let additional = make_tls12_aad(number, message.typ, message.version, octets);
        let tag = self.0.seal(nonce, &additional, &mut payload.as_mut()[EXPLICIT_NONCE..])?;
        payload.extend_from_slice(&tag);
        Ok(OutboundOpaqueMessage::new(message.typ, message.version, payload))
    }

    fn encrypted_payload_len(&self, length: usize) -> usize {
        EXPLICIT_NONCE + length + TAG
    }
}

impl<K: GcmCipher> MessageDecrypter for Tls12<K> {
    fn decrypt<'a>(
        &mut self,
        mut message: InboundOpaqueMessage<'a>,
        number: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let (end, tag) = split_tag(&message.payload)?;
        let octets = end.checked_sub(EXPLICIT_NONCE).ok_or(Error::DecryptError)?;
        let mut nonce = [0; 12];
        nonce[..4].copy_from_slice(&self.0.iv.as_ref()[..4]);
        nonce[4..].copy_from_slice(&message.payload[..EXPLICIT_NONCE]);
        let additional = make_tls12_aad(number, message.typ, message.version, octets);
        self.0.open(nonce, &additional, &mut message.payload[EXPLICIT_NONCE..end], tag)?;
        Ok(message.into_plain_message_range(EXPLICIT_NONCE..end))
    }
}

#[cfg(test)]
mod tests {
    use rustls::crypto::hmac::Hmac;

    use super::*;
    use crate::config::Arithmetic;
    use crate::device::{Device, WORLD_BEGAN};

    /// The result of a computation, and its number of compressions.
    fn compressions<T>(compute: impl FnOnce() -> T) -> (T, u32) {
        let mut device = Device::new(None, [0; 32], WORLD_BEGAN, Arithmetic::default());
        let result = device.run(compute);
        let mut compressions = 0;
        device.drain_operations(&mut |performed| match performed.operation {
            Operation::Sha256 { blocks } | Operation::Sha512 { blocks } => compressions += blocks,
            other => panic!("{other:?}"),
        });
        (result, compressions)
    }

    /// The tag in hexadecimal, and the number of compressions.
    fn tag(hmac: &dyn Hmac, key: &[u8], data: &[u8]) -> (String, u32) {
        let (tag, compressions) = compressions(|| hmac.with_key(key).sign(&[data]));
        (tag.as_ref().iter().map(|octet| format!("{octet:02x}")).collect(), compressions)
    }

    /// A message is padded by one octet at least and by its length, of an eighth of a block, to whole blocks (FIPS
    /// 180-4 section 5.1).
    #[test]
    fn a_hash_takes_a_compression_for_each_block() {
        for length in 0_usize..600 {
            for (hash, block) in [(&SHA256 as &dyn Hash, 64), (&SHA384, 128)] {
                let blocks = (length + 1 + block / 8).div_ceil(block) as u32;
                let whole = compressions(|| hash.hash(&vec![7; length]));
                assert_eq!(whole.1, blocks, "{length} octets in blocks of {block}");
                // In pieces of 50 octets and a rest.
                let pieces = compressions(|| {
                    let mut context = hash.start();
                    vec![7; length].chunks(50).for_each(|piece| context.update(piece));
                    context.finish()
                });
                assert_eq!((pieces.0.as_ref(), pieces.1), (whole.0.as_ref(), blocks), "{length} octets in pieces");
            }
        }
    }

    /// RFC 4231 sections 4.3 and 4.7. Each of the two hashes needs two compressions: the pad and the rest. A key of 131
    /// octets needs three more.
    #[test]
    fn hmac_vectors() {
        let (key, data) = (b"Jefe", b"what do ya want for nothing?");
        assert_eq!(
            tag(&SHA256, key, data),
            ("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843".to_owned(), 4)
        );
        assert_eq!(
            tag(&SHA384, key, data),
            (
                "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e\
                 8e2240ca5e69e2c78b3239ecfab21649"
                    .to_owned(),
                4
            )
        );
        let data = b"Test Using Larger Than Block-Size Key - Hash Key First";
        assert_eq!(
            tag(&SHA256, &[0xaa; 131], data),
            ("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54".to_owned(), 4 + 3)
        );
    }
}
