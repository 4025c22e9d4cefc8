//! From the premaster secret to the keys of records and the verify data (RFC 5246, RFC 4279, RFC 7627).

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::credentials::MAX_PSK;
use crate::crypto::{Crypto, DIGEST, KEY, SCALAR};
use crate::session::Master;

/// Octets of the verify data in a Finished message (RFC 5246, section 7.4.9).
pub(crate) const VERIFY_DATA: usize = 12;

/// Octets of the part of the nonce that both ends derive (RFC 6655, section 3).
pub(crate) const SALT: usize = 4;

/// The keys of one direction.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Keys {
    pub(crate) key: [u8; KEY],
    pub(crate) salt: [u8; SALT],
}

/// The premaster secret.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Premaster {
    octets: [u8; 2 * (2 + MAX_PSK)],
    length: usize,
}

impl Premaster {
    /// From a pre-shared key (RFC 4279, section 2): as many zeros as the key has octets and then the key, each with its length.
    pub(crate) fn from_psk(psk: &[u8]) -> Self {
        Self::with_room(psk.len(), psk)
    }

    /// A key after so many zeros, each with its length. A key beyond [`MAX_PSK`] is cut; configurations refuse it.
    fn with_room(room: usize, psk: &[u8]) -> Self {
        let (room, length) = (room.min(MAX_PSK), psk.len().min(MAX_PSK));
        let mut octets = [0; 2 * (2 + MAX_PSK)];
        octets[1] = room as u8;
        let rest = &mut octets[2 + room..][..2 + length];
        rest[1] = length as u8;
        rest[2..].copy_from_slice(&psk[..length]);
        Self { octets, length: 2 + room + 2 + length }
    }

    /// From a secret of key agreement and then a pre-shared key (RFC 5489, section 2), each with its length.
    pub(crate) fn from_parts(secret: &[u8; SCALAR], psk: &[u8]) -> Self {
        let mut premaster = Self::with_room(secret.len(), psk);
        premaster.octets[2..][..SCALAR].copy_from_slice(secret);
        premaster
    }

    /// The secret of key agreement alone (RFC 8422, section 5.10).
    pub(crate) fn from_agreement(secret: &[u8; SCALAR]) -> Self {
        let mut octets = [0; 2 * (2 + MAX_PSK)];
        octets[..SCALAR].copy_from_slice(secret);
        Self { octets, length: SCALAR }
    }
}

/// The input of the master secret beside the premaster secret.
pub(crate) enum Context<'a> {
    /// The digest of the handshake up to the ClientKeyExchange (RFC 7627, section 4).
    Session(&'a [u8; DIGEST]),
    /// The random numbers of both hellos (RFC 5246, section 8.1).
    Randoms(&'a [[u8; 32]; 2]),
}

impl Master {
    /// The master secret from the premaster secret.
    pub(crate) fn new<C: Crypto>(crypto: &mut C, premaster: &Premaster, context: &Context<'_>) -> Self {
        let mut master = Self([0; 48]);
        let premaster = &premaster.octets[..premaster.length];
        match context {
            Context::Session(digest) => prf(crypto, premaster, b"extended master secret", &[*digest], &mut master.0),
            Context::Randoms([client, server]) => {
                prf(crypto, premaster, b"master secret", &[client, server], &mut master.0);
            }
        }
        master
    }

    /// The keys of the client's and of the server's records (RFC 5246, section 6.3). AEAD suites have no MAC keys.
    pub(crate) fn keys<C: Crypto>(&self, crypto: &mut C, [client, server]: &[[u8; 32]; 2]) -> [Keys; 2] {
        let mut block = [0; 2 * (KEY + SALT)];
        prf(crypto, &self.0, b"key expansion", &[server, client], &mut block);
        let keys = [0, 1].map(|end| {
            let mut keys = Keys { key: [0; KEY], salt: [0; SALT] };
            keys.key.copy_from_slice(&block[end * KEY..][..KEY]);
            keys.salt.copy_from_slice(&block[2 * KEY + end * SALT..][..SALT]);
            keys
        });
        block.zeroize();
        keys
    }

    /// The verify data of an end's Finished message, from the digest of the handshake before it.
    pub(crate) fn verify_data<C: Crypto>(
        &self,
        crypto: &mut C,
        is_client: bool,
        handshake: &[u8; DIGEST],
    ) -> [u8; VERIFY_DATA] {
        let label: &[u8] = if is_client { b"client finished" } else { b"server finished" };
        let mut verify_data = [0; VERIFY_DATA];
        prf(crypto, &self.0, label, &[handshake], &mut verify_data);
        verify_data
    }
}

/// The pseudo-random function: P_SHA256 (RFC 5246, section 5) with the parts of the seed one after the other.
fn prf<C: Crypto>(crypto: &mut C, secret: &[u8], label: &[u8], seed: &[&[u8]], output: &mut [u8]) {
    let (first, second) = (seed.first().copied().unwrap_or(&[]), seed.get(1).copied().unwrap_or(&[]));
    let mut a = crypto.hmac(secret, &[label, first, second]);
    let mut rest = output;
    loop {
        let mut block = crypto.hmac(secret, &[&a, label, first, second]);
        let (chunk, more) = rest.split_at_mut(rest.len().min(DIGEST));
        chunk.copy_from_slice(&block[..chunk.len()]);
        block.zeroize();
        if more.is_empty() {
            break;
        }
        rest = more;
        a = crypto.hmac(secret, &[&a]);
    }
    a.zeroize();
}

#[cfg(all(test, feature = "rustcrypto"))]
mod tests {
    use super::*;
    use crate::crypto::RustCrypto;

    /// RFC 4279, section 2, and RFC 5489, section 2, by hand: the length of each part in two octets.
    #[test]
    fn the_premaster_secret_has_two_parts_with_their_lengths() {
        let premaster = Premaster::from_psk(&[7, 8, 9]);
        assert_eq!(premaster.octets[..premaster.length], [0, 3, 0, 0, 0, 0, 3, 7, 8, 9]);
        let premaster = Premaster::from_parts(&[5; 32], &[7, 8, 9]);
        let expected = [&[0, 32][..], &[5; 32], &[0, 3, 7, 8, 9]].concat();
        assert_eq!(premaster.octets[..premaster.length], expected);
    }

    /// A vector for P_SHA256 that was posted to the TLS working group (mail archive, "Test vectors for TLS 1.2 PRF").
    #[test]
    fn the_pseudo_random_function_gives_the_published_vector() {
        let secret = [0x9b, 0xbe, 0x43, 0x6b, 0xa9, 0x40, 0xf0, 0x17, 0xb1, 0x76, 0x52, 0x84, 0x9a, 0x71, 0xdb, 0x35];
        let seed = [0xa0, 0xba, 0x9f, 0x93, 0x6c, 0xda, 0x31, 0x18, 0x27, 0xa6, 0xf7, 0x96, 0xff, 0xd5, 0x19, 0x8c];
        let expected = [
            0xe3, 0xf2, 0x29, 0xba, 0x72, 0x7b, 0xe1, 0x7b, 0x8d, 0x12, 0x26, 0x20, 0x55, 0x7c, 0xd4, 0x53, 0xc2, 0xaa,
            0xb2, 0x1d, 0x07, 0xc3, 0xd4, 0x95, 0x32, 0x9b, 0x52, 0xd4, 0xe6, 0x1e, 0xdb, 0x5a, 0x6b, 0x30, 0x17, 0x91,
            0xe9, 0x0d, 0x35, 0xc9, 0xc9, 0xa4, 0x6b, 0x4e, 0x14, 0xba, 0xf9, 0xaf, 0x0f, 0xa0, 0x22, 0xf7, 0x07, 0x7d,
            0xef, 0x17, 0xab, 0xfd, 0x37, 0x97, 0xc0, 0x56, 0x4b, 0xab, 0x4f, 0xbc, 0x91, 0x66, 0x6e, 0x9d, 0xef, 0x9b,
            0x97, 0xfc, 0xe3, 0x4f, 0x79, 0x67, 0x89, 0xba, 0xa4, 0x80, 0x82, 0xd1, 0x22, 0xee, 0x42, 0xc5, 0xa7, 0x2e,
            0x5a, 0x51, 0x10, 0xff, 0xf7, 0x01, 0x87, 0x34, 0x7b, 0x66,
        ];
        let mut output = [0; 100];
        prf(&mut RustCrypto::new(|_: &mut [u8]| {}), &secret, b"test label", &[&seed], &mut output);
        assert_eq!(output, expected);
    }
}
