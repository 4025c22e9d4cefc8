//! The protection of QUIC packets (RFC 9001 section 5) with AES-GCM. It reports its operations; the mask of a header is one block of
//! AES, as that of a record number of DTLS 1.3 is.

use aes_gcm::aes::cipher::{Block, BlockCipherEncrypt};
use aes_gcm::aes::{Aes128, Aes256};
use aes_gcm::{Aes128Gcm, Aes256Gcm, KeyInit};
use rustls::Error;
use rustls::crypto::cipher::{AeadKey, Iv, Nonce};
use rustls::quic::{Algorithm, HeaderProtectionKey, PacketKey, Tag};

use super::symmetric::{Gcm, GcmCipher, GcmKey, TAG, split_tag};
use crate::device;
use crate::operation::{Cbc, Operation};

/// Octets of the sample from which the mask of a header follows: a block of AES (RFC 9001 section 5.4.3).
const SAMPLE: usize = 16;

/// The most packets that one key of AES-GCM may protect, and the most that may fail to open (RFC 9001 section 6.6).
const CONFIDENTIALITY_LIMIT: u64 = 1 << 23;
const INTEGRITY_LIMIT: u64 = 1 << 52;

/// The cipher that hides the headers of packets which this one protects (RFC 9001 section 5.4.1).
pub(super) trait WithHeaders: GcmCipher {
    type Block: BlockCipherEncrypt + KeyInit + Send + Sync + 'static;
}

impl WithHeaders for Aes128Gcm {
    type Block = Aes128;
}

impl WithHeaders for Aes256Gcm {
    type Block = Aes256;
}

impl<K: WithHeaders> Algorithm for Gcm<K> {
    fn packet_key(&self, key: AeadKey, iv: Iv) -> Box<dyn PacketKey> {
        Box::new(Packets(GcmKey::<K>::new(&key, iv)))
    }

    fn header_protection_key(&self, key: AeadKey) -> Box<dyn HeaderProtectionKey> {
        let block = K::Block::new_from_slice(key.as_ref()).expect("rustls makes keys as long as it was told");
        Box::new(Headers { block, key_bits: 8 * K::key_size() as u16 })
    }

    fn aead_key_len(&self) -> usize {
        K::key_size()
    }
}

/// Payloads of packets, with the header as additional data (RFC 9001 section 5.3).
struct Packets<K>(GcmKey<K>);

impl<K: GcmCipher> PacketKey for Packets<K> {
    fn encrypt_in_place(&self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<Tag, Error> {
        let tag = self.0.seal(Nonce::new(&self.0.iv, number).0, header, payload)?;
        Ok(Tag::from(&tag[..]))
    }

    fn decrypt_in_place<'a>(&self, number: u64, header: &[u8], payload: &'a mut [u8]) -> Result<&'a [u8], Error> {
        let (end, tag) = split_tag(payload)?;
        self.0.open(Nonce::new(&self.0.iv, number).0, header, &mut payload[..end], tag)?;
        Ok(&payload[..end])
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        CONFIDENTIALITY_LIMIT
    }

    fn integrity_limit(&self) -> u64 {
        INTEGRITY_LIMIT
    }
}

/// Hides the first octet of a header, and the packet number.
struct Headers<B> {
    block: B,
    key_bits: u16,
}

impl<B: BlockCipherEncrypt> Headers<B> {
    /// RFC 9001 section 5.4.1. The length of the packet number is in the first octet: `first_plain` gives that octet without its
    /// protection from the octet and the mask.
    fn apply(
        &self,
        sample: &[u8],
        first: &mut u8,
        packet_number: &mut [u8],
        first_plain: impl FnOnce(u8, u8) -> u8,
    ) -> Result<(), Error> {
        let mut mask =
            Block::<B>::try_from(sample).map_err(|_| Error::General("a sample of another length".to_owned()))?;
        device::perform(Operation::CbcEncrypt(Cbc { key_bits: self.key_bits, octets: SAMPLE as u32 }));
        self.block.encrypt_block(&mut mask);
        let hidden = if *first & LONG_HEADER == 0 { 0x1f } else { 0x0f };
        let mask_of_first = mask[0] & hidden;
        let length = usize::from(first_plain(*first, mask_of_first) & 0x03) + 1;
        *first ^= mask_of_first;
        packet_number.iter_mut().zip(&mask[1..]).take(length).for_each(|(octet, mask)| *octet ^= mask);
        Ok(())
    }
}

/// The bit of the first octet that long headers have (RFC 9000 section 17.2).
const LONG_HEADER: u8 = 0x80;

impl<B: BlockCipherEncrypt + Send + Sync> HeaderProtectionKey for Headers<B> {
    fn encrypt_in_place(&self, sample: &[u8], first: &mut u8, packet_number: &mut [u8]) -> Result<(), Error> {
        self.apply(sample, first, packet_number, |first, _| first)
    }

    fn decrypt_in_place(&self, sample: &[u8], first: &mut u8, packet_number: &mut [u8]) -> Result<(), Error> {
        self.apply(sample, first, packet_number, |first, mask| first ^ mask)
    }

    fn sample_len(&self) -> usize {
        SAMPLE
    }
}

#[cfg(test)]
mod tests {
    use rustls::Side;
    use rustls::quic::{Keys, Version};

    use super::super::provider::initial_suite;
    use super::*;
    use crate::config::Arithmetic;
    use crate::device::{Device, WORLD_BEGAN};

    /// The connection ID of all examples in RFC 9001 appendix A.
    const CONNECTION_ID: [u8; 8] = [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08];

    fn keys(side: Side) -> Keys {
        initial_suite().keys(&CONNECTION_ID, side, Version::V1)
    }

    fn on_a_device<T>(act: impl FnOnce() -> T) -> T {
        Device::new(None, [0; 32], WORLD_BEGAN, Arithmetic::default()).run(act)
    }

    fn octets(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    /// RFC 9001 appendix A.2: the sample of the client's Initial, its header before and after.
    #[test]
    fn the_header_of_the_client_in_appendix_a() {
        let mut header = octets("c300000001088394c8f03e5157080000449e00000002");
        let sample = octets("d1b1c98dd7689fb8ec11d242b123dc9b");
        on_a_device(|| {
            let keys = keys(Side::Client);
            let (first, rest) = header.split_first_mut().unwrap();
            keys.local.header.encrypt_in_place(&sample, first, &mut rest[17..]).unwrap();
            assert_eq!(header, octets("c000000001088394c8f03e5157080000449e7b9aec34"));
            let (first, rest) = header.split_first_mut().unwrap();
            keys.local.header.decrypt_in_place(&sample, first, &mut rest[17..]).unwrap();
            assert_eq!(header, octets("c300000001088394c8f03e5157080000449e00000002"));
            let refused = keys.local.header.encrypt_in_place(&sample[1..], &mut header[0], &mut []);
            assert!(refused.is_err());
        });
    }

    /// RFC 9001 appendix A.3: the server's Initial, opened by the client. Its payload begins with an ACK of packet 0.
    #[test]
    fn the_packet_of_the_server_in_appendix_a() {
        let mut packet = octets(
            "cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780bb38cc5a99f5e\
             de4cf73c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84022f8ef4cdd93795d77d\
             06edbb7aaf2f58891850abbdca3d20398c276456cbc42158407dd074ee",
        );
        on_a_device(|| {
            let keys = keys(Side::Client);
            // First octet, version, two lengths, connection ID, length of the token, length.
            let number = 1 + 4 + 2 + 8 + 1 + 2;
            let (before, sample) = packet.split_at_mut(number + 4);
            let (first, rest) = before.split_first_mut().unwrap();
            keys.remote.header.decrypt_in_place(&sample[..SAMPLE], first, &mut rest[number - 1..]).unwrap();
            assert_eq!(packet[0], 0xc1);
            let (header, payload) = packet.split_at_mut(number + 2);
            let opened = keys.remote.packet.decrypt_in_place(1, header, payload).unwrap();
            assert_eq!(opened[..6], [0x02, 0, 0, 0, 0, 0x06]);
            payload[0] ^= 1;
            assert!(keys.remote.packet.decrypt_in_place(1, header, payload).is_err());
        });
    }
}
