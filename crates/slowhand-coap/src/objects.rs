//! Protected objects, as OSCAR has them (Vucinic et al., "OSCAR: Object security architecture for the Internet of Things", Ad Hoc
//! Networks 32, 2015), in the format of today: COSE (RFC 9052, RFC 9053).
//!
//! A *producer* signs a value and encrypts it once. The object can be kept by any proxy, which can neither read nor change it. A
//! *consumer* needs two things to open it: the *access secret*, from which the key of each object follows, and the producer's public key.
//! An authorization server gives both to those who may read, over DTLS ([`Grant`]).
//!
//! | what | is | follows |
//! | --- | --- | --- |
//! | an object | COSE_Encrypt0 with AES-CCM-16-64-128; inside it COSE_Sign1 with ES256 | RFC 9052 sections 4.2, 5.2 |
//! | its headers | the identifier of the access secret (`kid`), the number of the object (Partial IV) | RFC 9052 section 3.1 |
//! | its key | HKDF with SHA-256 of the access secret; its context has the producer and the number | RFC 9053 sections 5.1, 5.2 |
//! | what is signed beside the value | the number, the identifier of the access secret, the name of the resource | RFC 9052 section 4.4 |
//! | what a consumer gets | a COSE_KeySet: the access secret and the public key | RFC 9052 section 7 |
//!
//! OSCAR too derives a key for each message from the access secret, with a number that CoAP's header carries. Here the object has that
//! number itself, so that a proxy may serve it under any header. The key is used once, so the nonce is the number alone. The number is
//! signed: who knows the access secret could give an old value a new number otherwise. The identifier of the secret says which one
//! counts after the authorization server has changed it. It is signed too, so a value of an old secret does not pass as one of the new.
//! Both structures are untagged: CoAP's Content-Format 16 says what they are.
//!
//! One thing is a convention of ours. The key is derived as direct+HKDF-SHA-256 does (RFC 9053 section 6.1.2), but that is an algorithm of
//! recipients, and COSE_Encrypt0 has none (RFC 9052 section 5.2): its `kid` names the access secret, not the key itself.
//!
//! # A producer that starts again
//! A key and a nonce must not be used twice. A producer that has lost its memory either gets a new access secret, or begins with the
//! number that it has stored ([`Producer::next_number`]).
//!
//! ```
//! use slowhand_coap::objects::{AccessSecret, Consumer, Error, Grant, Producer, public_key};
//! use slowhand_coap::oscore::RustCrypto;
//!
//! let private = [7; 32];
//! let secret = AccessSecret { id: vec![1], value: [9; 16] };
//! let mut producer = Producer::new(b"node 3", &private, secret.clone(), 0);
//! let object = producer.protect("t", b"21.5", &mut RustCrypto)?;
//!
//! let grant = Grant { secret, signer: Some(public_key(&private)?) };
//! let mut consumer = Consumer::new(b"node 3", Grant::read(&grant.write())?)?;
//! assert_eq!(consumer.open("t", &object, &mut RustCrypto)?, b"21.5");
//! assert_eq!(consumer.open("u", &object, &mut RustCrypto), Err(Error::Signature), "it is of another resource");
//! # Ok::<(), Error>(())
//! ```

mod cose;
pub mod crypto;

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::oscore::crypto::{KEY, TAG};
use cose::{Cose, Number};

pub use cose::{Grant, public_key};
pub use crypto::{Crypto, PublicKey, SIGNATURE};

/// The number of COSE_Encrypt0 in CoAP's Content-Format (RFC 9052, section 11.3.2).
pub const CONTENT_FORMAT: u32 = 16;

/// Octets that an object of a value with less than 24 octets has beside the value, if the identifier of its secret has one octet and
/// its number is below 256: 12 of COSE_Encrypt0 and 2 of the head of its ciphertext, 73 of COSE_Sign1, 8 of the tag. [`length`] has the
/// octets of all others.
pub const OVERHEAD: usize = 12 + 2 + 73 + 8;

/// The most octets of a value: what is encrypted has 65,535 at most, because its length is counted in two octets (RFC 9053 section 4.2),
/// and the rest of COSE_Sign1 takes 75.
pub const MAX_VALUE: usize = 65_535 - 75;

/// The octets of an object of a value with so many. Its identifier of the access secret has `id` octets, 23 at most, and its number
/// `number`, 1 to 8.
pub const fn length(value: usize, id: usize, number: usize) -> usize {
    let signed = 1 + 4 + 1 + string(value) + string(SIGNATURE);
    1 + 4 + 1 + 1 + string(id) + 1 + string(number) + string(signed + TAG)
}

/// The octets of a string in CBOR (RFC 8949, section 3).
const fn string(octets: usize) -> usize {
    octets
        + match octets {
            0..24 => 1,
            24..0x100 => 2,
            0x100..0x1_0000 => 3,
            _ => 5,
        }
}

/// Why an object or a key was not made or not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is no CBOR, or no COSE structure of this kind.
    #[error("the object or the key set cannot be read (RFC 9052)")]
    Malformed,
    /// It names other algorithms.
    #[error("the object has another algorithm than AES-CCM-16-64-128 and ES256 (RFC 9053)")]
    Algorithm,
    /// It was made with an access secret that this end does not have: ask the authorization server.
    #[error("the object was made with another access secret: ask the authorization server for it")]
    UnknownSecret,
    /// A newer object was opened before.
    #[error("the object is older than one that was opened before")]
    Old,
    /// It is not what an owner of the access secret has made.
    #[error("the object cannot be decrypted")]
    Decryption,
    /// It is not what the producer has signed for this resource.
    #[error("the signature is not that of the producer, for this resource and number")]
    Signature,
    /// The value is too long.
    #[error("the value has too many octets: {MAX_VALUE} at most")]
    TooLong,
    /// The key is none of P-256.
    #[error("the key is none of P-256")]
    Key,
    /// All numbers are used.
    #[error("no number is left: use a new access secret")]
    Exhausted,
}

/// The secret that all that may read share. It is wiped when it goes, and compared in constant time.
#[derive(Clone)]
pub struct AccessSecret {
    /// Its identifier: another one for each secret.
    pub id: Vec<u8>,
    /// The secret.
    pub value: [u8; KEY],
}

impl Drop for AccessSecret {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

impl PartialEq for AccessSecret {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && bool::from(self.value.ct_eq(&other.value))
    }
}

impl Eq for AccessSecret {}

/// Secrets are not printed.
impl std::fmt::Debug for AccessSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AccessSecret").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Who makes objects.
#[derive(Debug)]
pub struct Producer {
    name: Vec<u8>,
    private: crypto::PrivateKey,
    secret: AccessSecret,
    /// The number of the next object.
    next: u64,
}

impl Producer {
    /// A producer. `name`: the same at its consumers. `first`: the number of its first object, 0 if it has made none with this secret;
    /// else the [`next_number`](Self::next_number) that it had.
    pub fn new(name: &[u8], private: &[u8; 32], secret: AccessSecret, first: u64) -> Self {
        Self { name: name.to_vec(), private: crypto::PrivateKey::of(private), secret, next: first }
    }

    /// The number of the next object. Store it before the object is sent, to go on with it after a restart.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// The access secret.
    pub fn secret(&self) -> &AccessSecret {
        &self.secret
    }

    /// The authorization server has changed the access secret. Numbers go on.
    pub fn change(&mut self, secret: AccessSecret) {
        self.secret = secret;
    }

    /// Signs and encrypts a value of a resource: one signature, a key, and one encryption.
    ///
    /// # Errors
    /// The value is too long, the private key is none, or all numbers are used.
    pub fn protect(&mut self, resource: &str, value: &[u8], crypto: &mut impl Crypto) -> Result<Vec<u8>, Error> {
        let number = Number(self.next);
        let next = self.next.checked_add(1).ok_or(Error::Exhausted)?;
        let signed = cose::sign1(&self.private, &cose::external(number, &self.secret.id, resource), value, crypto)?;
        let key = cose::key(&self.secret.value, &[], &cose::context(&self.name, number), crypto);
        let object = cose::encrypt0(&key, number, &self.secret.id, signed, crypto)?;
        self.next = next;
        Ok(object)
    }
}

/// Who opens the objects of one producer.
#[derive(Debug)]
pub struct Consumer {
    producer: Vec<u8>,
    secret: AccessSecret,
    signer: PublicKey,
    /// The number of the newest object.
    newest: u64,
}

impl Consumer {
    /// A consumer that has not opened any object.
    ///
    /// # Errors
    /// The grant has no public key.
    pub fn new(producer: &[u8], grant: Grant) -> Result<Self, Error> {
        let Grant { secret, signer } = grant;
        Ok(Self { producer: producer.to_vec(), secret, signer: signer.ok_or(Error::Key)?, newest: 0 })
    }

    /// The authorization server has changed the access secret.
    pub fn change(&mut self, secret: AccessSecret) {
        self.secret = secret;
    }

    /// The value of an object: a key, one decryption and one verification. The same object may come again, from a cache, but none
    /// that is older.
    ///
    /// # Errors
    /// All but those of [`Producer::protect`]. Nothing changes then.
    pub fn open(&mut self, resource: &str, object: &[u8], crypto: &mut impl Crypto) -> Result<Vec<u8>, Error> {
        let Cose { number, id, ciphertext } = cose::read_encrypt0(object)?;
        if id != self.secret.id {
            return Err(Error::UnknownSecret);
        }
        if number.0 < self.newest {
            return Err(Error::Old);
        }
        let key = cose::key(&self.secret.value, &[], &cose::context(&self.producer, number), crypto);
        let signed = cose::decrypt0(&key, number, ciphertext, crypto)?;
        let value = cose::verify1(&self.signer, &cose::external(number, id, resource), &signed, crypto)?.to_vec();
        self.newest = number.0;
        Ok(value)
    }
}

#[cfg(test)]
mod tests;
