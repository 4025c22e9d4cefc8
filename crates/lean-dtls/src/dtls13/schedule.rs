//! The key schedule (RFC 8446, section 7; RFC 9147, section 5.9), with SHA-256.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::crypto::{Crypto, DIGEST, Hash, KEY, NONCE};

/// The prefix of each label (RFC 9147, section 5.9).
const PREFIX: &[u8] = b"dtls13";

/// A secret of the schedule.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Secret([u8; DIGEST]);

/// The keys of the records that an end sends in an epoch (RFC 8446, section 7.3; RFC 9147, section 4.2.3).
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Keys {
    pub(crate) key: [u8; KEY],
    pub(crate) iv: [u8; NONCE],
    /// Hides sequence numbers.
    pub(crate) sequence: [u8; KEY],
}

/// Where a pre-shared key comes from: its binder says so (RFC 8446, section 7.1; RFC 9258, section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    External,
    Imported,
}

impl Secret {
    /// HKDF-Extract (RFC 5869, section 2.2).
    fn extract<C: Crypto>(crypto: &mut C, salt: &[u8], input: &[u8]) -> Self {
        Self(crypto.hmac(salt, &[input]))
    }

    /// The early secret, from a pre-shared key. Without one, the key is zeros.
    pub(crate) fn early<C: Crypto>(crypto: &mut C, psk: Option<&[u8]>) -> Self {
        Self::extract(crypto, &[], psk.unwrap_or(&[0; DIGEST]))
    }

    /// The early secret, from a pre-shared key that is imported, and the digest of its ImportedIdentity (RFC 9258, section 5.1).
    pub(crate) fn early_imported<C: Crypto>(crypto: &mut C, external: &[u8], identity: &[u8; DIGEST]) -> Self {
        let imported = Self::extract(crypto, &[], external).derive(crypto, b"derived psk", identity);
        Self::early(crypto, Some(&imported.0))
    }

    /// The secret of the next stage, from what the ends have agreed on: the handshake secret, then the master secret.
    pub(crate) fn next_stage<C: Crypto>(&self, crypto: &mut C, agreed: Option<&[u8; DIGEST]>) -> Self {
        let nothing = crypto.hash().digest();
        let derived = self.derive(crypto, b"derived", &nothing);
        Self::extract(crypto, &derived.0, agreed.unwrap_or(&[0; DIGEST]))
    }

    /// Derive-Secret, from the digest of the handshake so far.
    pub(crate) fn derive<C: Crypto>(&self, crypto: &mut C, label: &[u8], handshake: &[u8; DIGEST]) -> Self {
        Self(self.expand(crypto, label, handshake))
    }

    /// The binder of a pre-shared key, from its early secret and the digest of the ClientHello up to the binders.
    pub(crate) fn binder<C: Crypto>(&self, crypto: &mut C, origin: Origin, hello: &[u8; DIGEST]) -> [u8; DIGEST] {
        let label: &[u8] = match origin {
            Origin::External => b"ext binder",
            Origin::Imported => b"imp binder",
        };
        let nothing = crypto.hash().digest();
        self.derive(crypto, label, &nothing).verify_data(crypto, hello)
    }

    /// The verify data of a Finished message, from the traffic secret of its sender (RFC 8446, section 4.4.4).
    pub(crate) fn verify_data<C: Crypto>(&self, crypto: &mut C, handshake: &[u8; DIGEST]) -> [u8; DIGEST] {
        let mut key: [u8; DIGEST] = self.expand(crypto, b"finished", &[]);
        let verify_data = crypto.hmac(&key, &[handshake]);
        key.zeroize();
        verify_data
    }

    /// The keys of an epoch, from its traffic secret.
    pub(crate) fn keys<C: Crypto>(&self, crypto: &mut C) -> Keys {
        Keys {
            key: self.expand(crypto, b"key", &[]),
            iv: self.expand(crypto, b"iv", &[]),
            sequence: self.expand(crypto, b"sn", &[]),
        }
    }

    /// The traffic secret of the next epoch (RFC 8446, section 7.2).
    pub(crate) fn update<C: Crypto>(&mut self, crypto: &mut C) {
        self.0 = self.expand(crypto, b"traffic upd", &[]);
    }

    /// The secret, for a key log.
    pub(crate) const fn octets(&self) -> &[u8; DIGEST] {
        &self.0
    }

    fn expand<C: Crypto, const N: usize>(&self, crypto: &mut C, label: &[u8], context: &[u8]) -> [u8; N] {
        expand_label(crypto, &self.0, [PREFIX, label], context)
    }
}

/// HKDF-Expand-Label (RFC 8446, section 7.1), for at most [`DIGEST`] octets, which one HMAC gives (RFC 5869, section 2.3).
fn expand_label<C: Crypto, const N: usize>(
    crypto: &mut C,
    secret: &[u8],
    [prefix, label]: [&[u8]; 2],
    context: &[u8],
) -> [u8; N] {
    const { assert!(N <= DIGEST) };
    let lengths = [0, N as u8, (prefix.len() + label.len()) as u8];
    let mut block = crypto.hmac(secret, &[&lengths, prefix, label, &[context.len() as u8], context, &[1]]);
    let mut output = [0; N];
    output.copy_from_slice(&block[..N]);
    block.zeroize();
    output
}

#[cfg(all(test, feature = "rustcrypto"))]
mod tests {
    use super::*;
    use crate::crypto::RustCrypto;

    fn crypto() -> RustCrypto<fn(&mut [u8])> {
        RustCrypto::new(|_| {})
    }

    fn hex(octets: &[u8]) -> std::string::String {
        octets.iter().map(|octet| std::format!("{octet:02x}")).collect()
    }

    /// The early secret without a key and what is derived from it: RFC 8448, section 3, with the prefix of TLS 1.3.
    #[test]
    fn the_schedule_of_tls_gives_the_published_vector() {
        let crypto = &mut crypto();
        let early = Secret::early(crypto, None);
        assert_eq!(hex(early.octets()), "33ad0a1c607ec03b09e6cd9893680ce210adf300aa1f2660e1b22e10f170f92a");
        let nothing = crypto.hash().digest();
        let derived: [u8; DIGEST] = expand_label(crypto, early.octets(), [b"tls13 ", b"derived"], &nothing);
        assert_eq!(hex(&derived), "6f2615a108c702c5678f54fc9dbab69716c076189c48250cebeac3576c3611ba");
    }

    /// A whole schedule with the prefix of DTLS 1.3. The expected values are those of Python's `hmac` and `hashlib`, from the
    /// formulas of RFC 8446, section 7.
    #[test]
    fn the_schedule_of_dtls_is_that_of_another_implementation() {
        let crypto = &mut crypto();
        let digest = |octets: &[u8]| {
            let mut hash = self::crypto().hash();
            Hash::update(&mut hash, octets);
            Hash::digest(&hash)
        };
        let (hello, handshake) = (digest(b"hello"), digest(b"handshake"));
        let early = Secret::early(crypto, Some(b"0123456789abcdef"));
        assert_eq!(hex(early.octets()), "b03e02918f3480efc80d834ebca9ba72243f34678b7cc4cd243ade1a070154a4");
        let binder = early.binder(crypto, Origin::External, &hello);
        assert_eq!(hex(&binder), "f067e2d89de44e6144cb523133de950f176b2652ed62e351349ecee5ee6b0a4e");
        let binder = early.binder(crypto, Origin::Imported, &hello);
        assert_eq!(hex(&binder), "8e928595845a74e2984cb0bcc6bf65ef2d34ee8950308d0b5e214acabfc33245");
        let handshake_secret = early.next_stage(crypto, None);
        assert_eq!(hex(handshake_secret.octets()), "e1ab3ad922a2f72da91da3a7a2a58749d3c13e568b8b0a61e8042ee49c95b151");
        let client = handshake_secret.derive(crypto, b"c hs traffic", &hello);
        assert_eq!(hex(client.octets()), "6bbc33efe4ac79cbea3947b006e9972026b3129f3b34f4948ed3e3b7f7493847");
        let verify_data = client.verify_data(crypto, &handshake);
        assert_eq!(hex(&verify_data), "cf8bf652f1215fb513133d30d792aeeebeee3cebc0a8a75c58dff0584198dc82");
        let mut server = handshake_secret.next_stage(crypto, None).derive(crypto, b"s ap traffic", &handshake);
        assert_eq!(hex(server.octets()), "a842d517e8433e6c4d0afa1bbb5e12a3f7f75408aad6b149ca2c85ae11f38675");
        let keys = server.keys(crypto);
        assert_eq!(hex(&keys.key), "3feec753f80d6f43323010934c38c248");
        assert_eq!(hex(&keys.iv), "cef2006958a578594b4bc844");
        assert_eq!(hex(&keys.sequence), "8e5a68c636993ee3051fc698bf736cae");
        server.update(crypto);
        assert_eq!(hex(server.octets()), "7301e81e60161ecb42f73a8a88b0563ff8316c709046047cda35376ee526be05");
    }
}
