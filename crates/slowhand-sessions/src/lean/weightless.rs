//! Stand-ins for cryptography: the right sizes, and values that agree and differ where real ones do, but no protection.
//!
//! Two ends that share a key and have seen the same messages agree; two that do not, do not. Everything is made of one
//! function that mixes octets into 64 bits. The fuzz targets use this file too.

use lean_dtls::crypto::{BLOCK, Crypto, DIGEST, Failed, Group, Hash, KEY, MAX_TAG, Protection, SCALAR};

/// Computes nothing that protects. It draws the random numbers that real cryptography draws, from `R`.
pub(super) struct Weightless<R> {
    random: R,
}

impl<R: FnMut(&mut [u8])> Weightless<R> {
    /// With this source of random numbers.
    pub(super) const fn new(random: R) -> Self {
        Self { random }
    }
}

/// Octets mixed into 64 bits. It does not matter into which parts the octets are cut.
#[derive(Clone, Copy)]
pub(super) struct Digest {
    state: u64,
    /// The octets that do not fill a word yet.
    word: u64,
    length: u64,
}

/// 2^64 divided by the golden ratio, as in SplitMix64 (Steele, Lea, Flood 2014): odd, and its bits look random.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Octets of a word.
const WORD: usize = size_of::<u64>();

/// The last step of SplitMix64, with the constants of its authors: each bit of the result depends on all bits of
/// `word`.
const fn scramble(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

impl Digest {
    const fn new() -> Self {
        Self { state: GOLDEN, word: 0, length: 0 }
    }

    /// Both halves of a product: what a changed bit does depends on all that came before, and no other change undoes
    /// it.
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(GOLDEN);
        self.state = (product as u64).rotate_left(29) ^ (product >> 64) as u64;
    }

    fn octet(&mut self, octet: u8) {
        self.word = self.word << 8 | u64::from(octet);
        self.length += 1;
        if self.length.is_multiple_of(WORD as u64) {
            self.mix(self.word);
        }
    }

    fn with(mut self, octets: &[u8]) -> Self {
        self.update(octets);
        self
    }

    /// The first of the words that all octets so far give.
    fn word(mut self) -> u64 {
        self.mix(self.word);
        scramble(self.state ^ self.length)
    }

    /// Fills `output` with words that follow from all octets so far.
    fn fill(self, output: &mut [u8]) {
        let first = self.word();
        for (chunk, number) in output.chunks_mut(WORD).zip(0_u64..) {
            let word = scramble(first.wrapping_add(number.wrapping_mul(GOLDEN)));
            chunk.copy_from_slice(&word.to_be_bytes()[..chunk.len()]);
        }
    }
}

impl Hash for Digest {
    fn update(&mut self, octets: &[u8]) {
        let missing = (WORD - (self.length % WORD as u64) as usize) % WORD;
        let (start, rest) = octets.split_at(missing.min(octets.len()));
        start.iter().for_each(|octet| self.octet(*octet));
        let (words, end) = rest.as_chunks::<WORD>();
        for word in words {
            self.word = u64::from_be_bytes(*word);
            self.mix(self.word);
        }
        self.length += (words.len() * WORD) as u64;
        end.iter().for_each(|octet| self.octet(*octet));
    }

    fn digest(&self) -> [u8; DIGEST] {
        let mut digest = [0; DIGEST];
        self.fill(&mut digest);
        digest
    }
}

/// The digest that hides the content of a record, and from which its tag is made.
fn keyed(with: &Protection<'_>) -> Digest {
    Digest::new().with(with.key).with(with.nonce)
}

/// Hides content, or shows it again.
fn mask(with: &Protection<'_>, content: &mut [u8]) {
    let first = keyed(with).word();
    for (chunk, number) in content.chunks_mut(WORD).zip(1_u64..) {
        let word = scramble(first.wrapping_add(number.wrapping_mul(GOLDEN))).to_be_bytes();
        chunk.iter_mut().zip(word).for_each(|(octet, mask)| *octet ^= mask);
    }
}

fn write_tag(with: &Protection<'_>, content: &[u8], tag: &mut [u8]) {
    keyed(with).with(with.associated).with(content).fill(tag);
}

impl<R: FnMut(&mut [u8])> Crypto for Weightless<R> {
    type Hash = Digest;

    fn hash(&mut self) -> Digest {
        Digest::new()
    }

    fn hmac(&mut self, key: &[u8], parts: &[&[u8]]) -> [u8; DIGEST] {
        let keyed = Digest::new().with(key);
        parts.iter().fold(keyed, |digest, part| digest.with(part)).digest()
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &mut [u8]) -> Result<(), Failed> {
        write_tag(with, content, tag);
        mask(with, content);
        Ok(())
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8]) -> Result<(), Failed> {
        mask(with, content);
        let mut expected = [0; MAX_TAG];
        let expected = expected.get_mut(..tag.len()).ok_or(Failed)?;
        write_tag(with, content, expected);
        if expected == tag { Ok(()) } else { Err(Failed) }
    }

    fn random(&mut self, octets: &mut [u8]) {
        (self.random)(octets);
    }

    fn encrypt_block(&mut self, key: &[u8; KEY], block: &mut [u8; BLOCK]) -> Result<(), Failed> {
        Digest::new().with(key).with(block).fill(block);
        Ok(())
    }

    fn generate(&mut self, group: Group, public: &mut [u8]) -> Result<[u8; SCALAR], Failed> {
        let mut private = [0; SCALAR];
        self.random(&mut private);
        let public = public.get_mut(..group.public()).ok_or(Failed)?;
        public.fill(0);
        public[0] = UNCOMPRESSED;
        *public.last_chunk_mut().ok_or(Failed)? = point(&private);
        Ok(private)
    }

    /// The shared secret: it is made from both public keys, so both ends get the same.
    fn agree(&mut self, group: Group, private: &[u8; SCALAR], public: &[u8]) -> Result<[u8; SCALAR], Failed> {
        let is_point = public.len() == group.public() && (group != Group::P256 || public[0] == UNCOMPRESSED);
        let peer: &[u8; SCALAR] = public.last_chunk().filter(|_| is_point).ok_or(Failed)?;
        let mut secret = point(private);
        secret.iter_mut().zip(peer).for_each(|(own, peer)| *own ^= peer);
        Ok(secret)
    }
}

/// The first octet of a point of P-256 that is not compressed (RFC 8422, section 5.4.1).
const UNCOMPRESSED: u8 = 4;

/// The stand-in for a coordinate of the public key.
fn point(private: &[u8; SCALAR]) -> [u8; SCALAR] {
    Digest::new().with(private).digest()
}

#[cfg(test)]
mod tests {
    use lean_dtls::crypto::Aead;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_digest_depends_on_every_octet_and_not_on_how_they_are_cut(
            octets in proptest::collection::vec(any::<u8>(), 1..100),
            cut in any::<proptest::sample::Index>(),
            change in 1_u8..,
        ) {
            let whole = Digest::new().with(&octets);
            let (start, end) = octets.split_at(cut.index(octets.len()));
            prop_assert_eq!(Digest::new().with(start).with(end).digest(), whole.digest());
            let mut changed = octets.clone();
            changed[start.len()] ^= change;
            prop_assert_ne!(Digest::new().with(&changed).digest(), whole.digest());
            prop_assert_ne!(Digest::new().with(&octets).with(&[0]).digest(), whole.digest());
        }

        #[test]
        fn two_ends_agree_on_a_secret(seeds in [any::<u8>(), any::<u8>()], is_x25519 in any::<bool>()) {
            let group = if is_x25519 { Group::X25519 } else { Group::P256 };
            let mut weightless = seeds.map(|seed| Weightless::new(move |octets: &mut [u8]| octets.fill(seed)));
            let mut public = [[0; 65]; 2];
            let private = [0, 1].map(|end| weightless[end].generate(group, &mut public[end]).unwrap());
            let public = public.each_ref().map(|public| &public[..group.public()]);
            let secret = weightless[0].agree(group, &private[0], public[1]);
            prop_assert_eq!(secret, weightless[1].agree(group, &private[1], public[0]));
            prop_assert_eq!(weightless[0].agree(group, &private[0], &public[1][1..]), Err(Failed));
        }

        #[test]
        fn a_record_opens_as_it_was_and_not_after_a_change(
            content in proptest::collection::vec(any::<u8>(), 1..60),
            place in any::<proptest::sample::Index>(),
        ) {
            let (key, nonce) = ([1; 16], [2; 12]);
            let mut weightless = Weightless::new(|_: &mut [u8]| {});
            let with = |associated| Protection { aead: Aead::Ccm8, key: &key, nonce: &nonce, associated };
            let (mut sealed, mut tag) = (content.clone(), [0; 8]);
            weightless.seal(&with(b"header"), &mut sealed, &mut tag).unwrap();
            prop_assert_ne!(&sealed, &content);
            for (associated, is_changed, opens) in [(&b"header"[..], false, true), (b"Header", false, false), (b"header", true, false)] {
                let mut opened = sealed.clone();
                opened[place.index(content.len())] ^= u8::from(is_changed);
                prop_assert_eq!(weightless.open(&with(associated), &mut opened, &tag).is_ok(), opens);
                prop_assert_eq!(opened == content, !is_changed);
            }
        }
    }
}
