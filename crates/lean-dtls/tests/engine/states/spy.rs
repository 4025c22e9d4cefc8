//! Cryptography that lets a test see the keys: what a peer can send, the test can send.

use std::cell::RefCell;
use std::rc::Rc;

use lean_dtls::RustCrypto;
use lean_dtls::crypto::{
    Aead, BLOCK, Crypto, DIGEST, Failed, Group, KEY, MAX_PUBLIC, NONCE, Protection, SCALAR, SIGNATURE,
};

use super::known;
use crate::world::{Random, random};

/// A record that an end has encrypted.
#[derive(Clone)]
pub struct Seen {
    pub aead: Aead,
    pub key: [u8; KEY],
    pub nonce: [u8; NONCE],
    /// The content before encryption.
    pub content: Vec<u8>,
    /// The data that its tag protects beside that: in DTLS 1.3 its header, before the sequence number is hidden.
    pub associated: Vec<u8>,
    /// The key that hides its sequence number, in DTLS 1.3.
    pub hiding: Option<[u8; KEY]>,
}

/// All that an end has encrypted.
pub type Window = Rc<RefCell<Vec<Seen>>>;

pub struct Spy {
    crypto: RustCrypto<Random>,
    window: Window,
    /// A record was encrypted, and its sequence number was not.
    is_hiding: bool,
}

impl Spy {
    pub fn new(seed: u64) -> (Self, Window) {
        let window = Window::default();
        (Self { crypto: RustCrypto::new(random(seed)), window: window.clone(), is_hiding: false }, window)
    }
}

impl Crypto for Spy {
    type Hash = <RustCrypto<Random> as Crypto>::Hash;

    fn hash(&mut self) -> Self::Hash {
        self.crypto.hash()
    }

    fn hmac(&mut self, key: &[u8], parts: &[&[u8]]) -> [u8; DIGEST] {
        self.crypto.hmac(key, parts)
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &mut [u8]) -> Result<(), Failed> {
        let seen = Seen {
            aead: with.aead,
            key: *with.key,
            nonce: *with.nonce,
            content: content.to_vec(),
            associated: with.associated.to_vec(),
            hiding: None,
        };
        self.window.borrow_mut().push(seen);
        self.is_hiding = true;
        self.crypto.seal(with, content, tag)
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8]) -> Result<(), Failed> {
        self.crypto.open(with, content, tag)
    }

    fn random(&mut self, octets: &mut [u8]) {
        self.crypto.random(octets);
    }

    fn encrypt_block(&mut self, key: &[u8; KEY], block: &mut [u8; BLOCK]) -> Result<(), Failed> {
        // The first one after a record is its sequence number's.
        if std::mem::take(&mut self.is_hiding) {
            self.window.borrow_mut().last_mut().unwrap().hiding = Some(*key);
        }
        self.crypto.encrypt_block(key, block)
    }

    fn generate(&mut self, group: Group, public: &mut [u8]) -> Result<[u8; SCALAR], Failed> {
        // The engine's own function, with the random numbers that it would have drawn.
        let mut private = [0; SCALAR];
        self.crypto.random(&mut private);
        let known = known::result("generate", &[&group.number().to_be_bytes(), &private], || {
            let mut crypto = RustCrypto::new(|octets: &mut [u8]| octets.copy_from_slice(&private));
            let mut public = vec![0; group.public()];
            crypto.generate(group, &mut public).map(|_| public)
        });
        known.map(|known| public.copy_from_slice(&known)).map(|()| private)
    }

    fn agree(&mut self, group: Group, private: &[u8; SCALAR], public: &[u8]) -> Result<[u8; SCALAR], Failed> {
        let compute = || self.crypto.agree(group, private, public).map(Vec::from);
        let known = known::result("agree", &[&group.number().to_be_bytes(), private, public], compute);
        known.map(|secret| secret.try_into().expect("as it was computed"))
    }

    fn sign(&mut self, private: &[u8; SCALAR], digest: &[u8; DIGEST]) -> Result<[u8; SIGNATURE], Failed> {
        let compute = || self.crypto.sign(private, digest).map(Vec::from);
        let known = known::result("sign", &[private, digest], compute);
        known.map(|signature| signature.try_into().expect("as it was computed"))
    }

    fn verify(
        &mut self,
        public: &[u8; MAX_PUBLIC],
        digest: &[u8; DIGEST],
        signature: &[u8; SIGNATURE],
    ) -> Result<(), Failed> {
        let compute = || self.crypto.verify(public, digest, signature).map(|()| Vec::new());
        known::result("verify", &[public, digest, signature], compute).map(drop)
    }
}
