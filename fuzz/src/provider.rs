//! Cryptography that costs little, and whose keys can be seen: the peer of an attacked end may be the attacker.

use std::cell::Cell;
use std::rc::Rc;

use lean_dtls::crypto::{
    Aead, BLOCK, Crypto, DIGEST, Failed, Group, Hash, KEY, MAX_PUBLIC, NONCE, Protection, SCALAR, SIGNATURE,
};

use crate::weightless::{Digest, Weightless};

/// A source of octets that look random: xorshift64*.
type Random = Box<dyn FnMut(&mut [u8])>;

/// With what an end has last encrypted.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The algorithm.
    pub aead: Aead,
    /// The key.
    pub key: [u8; KEY],
    /// The nonce.
    pub nonce: [u8; NONCE],
    /// The header that DTLS 1.3 has beside that.
    pub unified: Option<Unified>,
}

/// A unified header, and how its sequence number is hidden (RFC 9147, section 4).
#[derive(Clone, Copy, Debug)]
pub struct Unified {
    /// The header with its sequence number in clear. The rest is 0.
    pub header: [u8; UNIFIED],
    /// Octets of the header.
    pub length: usize,
    /// The key that hides sequence numbers.
    pub hiding: [u8; KEY],
}

/// Octets of the longest unified header: with a connection ID of 8 octets, two of a sequence number, and a length.
const UNIFIED: usize = 1 + 8 + 2 + 2;

/// An octet that an end changes before it encrypts.
#[derive(Clone, Copy, Debug)]
pub struct Slip {
    /// The number of records that it encrypts before.
    pub after: usize,
    /// Where the octet is.
    pub place: usize,
    /// The change in it.
    pub mask: u8,
}

/// The knowledge and the acts of somebody with an end's keys.
#[derive(Default)]
struct Keyhole {
    seen: Cell<Option<Seen>>,
    slip: Cell<Option<Slip>>,
}

/// A view into the cryptography of an end.
#[derive(Clone, Default)]
pub struct Window(Rc<Keyhole>);

impl Window {
    /// With what the end has last encrypted, if it has.
    pub fn last(&self) -> Option<Seen> {
        self.0.seen.get()
    }

    /// Makes the end send something else than it means.
    pub fn let_slip(&self, slip: Slip) {
        self.0.slip.set(Some(slip));
    }

    /// Notes a record, and changes it if its turn has come.
    fn note(&self, with: &Protection<'_>, content: &mut [u8]) {
        let mut unified = None;
        // Only a unified header begins with these three bits: what is protected in DTLS 1.2 begins with an epoch.
        if with.associated.first().is_some_and(|first| first >> 5 == 1) && with.associated.len() <= UNIFIED {
            let (mut header, length) = ([0; UNIFIED], with.associated.len());
            header[..length].copy_from_slice(with.associated);
            unified = Some(Unified { header, length, hiding: [0; KEY] });
        }
        self.0.seen.set(Some(Seen { aead: with.aead, key: *with.key, nonce: *with.nonce, unified }));
        let Some(mut slip) = self.0.slip.take() else { return };
        match slip.after.checked_sub(1) {
            Some(after) => {
                slip.after = after;
                self.0.slip.set(Some(slip));
            }
            None => {
                let place = slip.place % content.len().max(1);
                content.iter_mut().skip(place).take(1).for_each(|octet| *octet ^= slip.mask);
            }
        }
    }
}

/// Cheap cryptography with all algorithms.
pub struct Cheap {
    weightless: Weightless<Random>,
    window: Window,
    /// A record was encrypted, and its sequence number was not.
    is_hiding: bool,
}

/// A hash under way.
#[derive(Clone)]
pub struct CheapHash(Digest);

impl Cheap {
    /// Cryptography with random numbers that follow from `seed`, and the window into it.
    pub fn new(seed: u64) -> (Self, Window) {
        let window = Window::default();
        (Self { weightless: Weightless::new(random(seed)), window: window.clone(), is_hiding: false }, window)
    }
}

fn random(seed: u64) -> Random {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    Box::new(move |octets: &mut [u8]| {
        for chunk in octets.chunks_mut(8) {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            chunk.copy_from_slice(&state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_be_bytes()[..chunk.len()]);
        }
    })
}

/// Encrypts a record as an end with this key does. Returns the tag.
pub fn seal(seen: &Seen, associated: &[u8], content: &mut [u8]) -> Vec<u8> {
    let mut tag = vec![0; seen.aead.tag()];
    let with = Protection { aead: seen.aead, key: &seen.key, nonce: &seen.nonce, associated };
    // It cannot fail.
    let _ = Weightless::new(|_: &mut [u8]| {}).seal(&with, content, &mut tag);
    tag
}

/// Hides the octets of a sequence number, or shows them again (RFC 9147, section 4.2.3).
pub fn hide(hiding: &[u8; KEY], sequence: &mut [u8], encrypted: &[u8]) {
    let mut mask = [0; BLOCK];
    mask.iter_mut().zip(encrypted).for_each(|(mask, octet)| *mask = *octet);
    // It cannot fail.
    let _ = Weightless::new(|_: &mut [u8]| {}).encrypt_block(hiding, &mut mask);
    sequence.iter_mut().zip(mask).for_each(|(octet, mask)| *octet ^= mask);
}

impl Hash for CheapHash {
    fn update(&mut self, octets: &[u8]) {
        self.0.update(octets);
    }

    fn digest(&self) -> [u8; DIGEST] {
        self.0.digest()
    }
}

impl Crypto for Cheap {
    type Hash = CheapHash;

    fn hash(&mut self) -> CheapHash {
        CheapHash(self.weightless.hash())
    }

    fn hmac(&mut self, key: &[u8], parts: &[&[u8]]) -> [u8; DIGEST] {
        self.weightless.hmac(key, parts)
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &mut [u8]) -> Result<(), Failed> {
        self.window.note(with, content);
        self.is_hiding = true;
        self.weightless.seal(with, content, tag)
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8]) -> Result<(), Failed> {
        self.weightless.open(with, content, tag)
    }

    fn random(&mut self, octets: &mut [u8]) {
        self.weightless.random(octets);
    }

    fn encrypt_block(&mut self, key: &[u8; KEY], block: &mut [u8; BLOCK]) -> Result<(), Failed> {
        // The first one after a record is its sequence number's.
        if std::mem::take(&mut self.is_hiding)
            && let Some(mut seen) = self.window.last()
            && let Some(unified) = &mut seen.unified
        {
            unified.hiding = *key;
            self.window.0.seen.set(Some(seen));
        }
        self.weightless.encrypt_block(key, block)
    }

    fn generate(&mut self, group: Group, public: &mut [u8]) -> Result<[u8; SCALAR], Failed> {
        self.weightless.generate(group, public)
    }

    fn agree(&mut self, group: Group, private: &[u8; SCALAR], public: &[u8]) -> Result<[u8; SCALAR], Failed> {
        self.weightless.agree(group, private, public)
    }

    fn sign(&mut self, private: &[u8; SCALAR], digest: &[u8; DIGEST]) -> Result<[u8; SIGNATURE], Failed> {
        Ok(self.signature(&public_key(private), digest))
    }

    fn verify(
        &mut self,
        public: &[u8; MAX_PUBLIC],
        digest: &[u8; DIGEST],
        signature: &[u8; SIGNATURE],
    ) -> Result<(), Failed> {
        if self.signature(public, digest) == *signature { Ok(()) } else { Err(Failed) }
    }
}

impl Cheap {
    /// Not zero, as r and s are not.
    fn signature(&mut self, public: &[u8; MAX_PUBLIC], digest: &[u8; DIGEST]) -> [u8; SIGNATURE] {
        let mut signature = [0; SIGNATURE];
        for (half, number) in signature.chunks_exact_mut(DIGEST).zip(1_u8..) {
            half.copy_from_slice(&self.weightless.hmac(public, &[digest, &[number]]));
            half[DIGEST - 1] |= 1;
        }
        signature
    }
}

/// The public key of a private key.
pub fn public_key(private: &[u8; SCALAR]) -> [u8; MAX_PUBLIC] {
    let mut public = [0; MAX_PUBLIC];
    // A source that gives the private key.
    let mut weightless = Weightless::new(|octets: &mut [u8]| octets.copy_from_slice(private));
    let _ = weightless.generate(Group::P256, &mut public);
    public
}
