//! The structures of COSE (RFC 9052) that an object consists of, and those of which keys and signatures are computed.

use p256::SecretKey;
use p256::elliptic_curve::sec1::ToSec1Point;
use zeroize::Zeroizing;

use super::crypto::{Crypto, PrivateKey, PublicKey, SIGNATURE};
use super::{AccessSecret, Error};
use crate::cbor::{Cbor, Reader};
use crate::oscore::crypto::{KEY, NONCE, Protection, TAG};
use crate::oscore::option;

/// The protected header {alg: AES-CCM-16-64-128} (RFC 9053, table 5), and its number.
const CCM: &[u8] = &[0xa1, 0x01, 0x0a];
const CCM_NUMBER: usize = 10;
/// The protected header {alg: ES256} (RFC 9053, table 1).
const ES256: &[u8] = &[0xa1, 0x01, 0x26];
/// The protected header {alg: direct+HKDF-SHA-256} (RFC 9053, table 16), and its number.
const HKDF: &[u8] = &[0xa1, 0x01, 0x29];
const HKDF_NUMBER: i64 = -10;

/// Header parameters (RFC 9052, table 3).
const KID: i64 = 4;
const PARTIAL_IV: i64 = 6;

/// Parameters and values of keys (RFC 9052, table 4; RFC 9053, tables 17, 18, 19, 20).
const KTY: i64 = 1;
const KEY_ID: i64 = 2;
const ALG: i64 = 3;
const CRV_OR_K: i64 = -1;
const X: i64 = -2;
const Y: i64 = -3;
const EC2: i64 = 2;
const SYMMETRIC: i64 = 4;
const P256: i64 = 1;

/// The most octets of an identifier: that of this length still has a head of one octet (assumed; RFC 9052 has no bound).
const MAX_ID: usize = 23;

/// More than the octets of a key set with both keys, without the identifier of the secret.
const GRANT: usize = 128;

/// The key of one object. It is wiped when it goes.
pub(super) type ObjectKey = Zeroizing<[u8; KEY]>;

/// The number of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(pub(super) u64);

impl Number {
    /// As a Partial IV: without zeros in front (RFC 9052, section 3.1), but one octet at least.
    pub(super) fn octets(self) -> Vec<u8> {
        option::shortest(&self.0.to_be_bytes())
    }

    /// The number of a Partial IV, in its one form.
    fn read(octets: &[u8]) -> Option<Self> {
        option::read_shortest::<8>(octets).map(Self)
    }

    /// The nonce of an object, whose key is used once: its Context IV is zero (RFC 9052, section 3.1).
    fn nonce(self) -> [u8; NONCE] {
        let mut nonce = [0; NONCE];
        nonce[NONCE - 8..].copy_from_slice(&self.0.to_be_bytes());
        nonce
    }
}

/// The parts of an object beside its protected header.
pub(super) struct Cose<'a> {
    pub(super) number: Number,
    pub(super) id: &'a [u8],
    pub(super) ciphertext: &'a [u8],
}

/// The COSE_KDF_Context of an object's key (RFC 9053, section 5.2): PartyU has the producer and the number of the object.
pub(super) fn context(producer: &[u8], number: Number) -> Vec<u8> {
    let party_u = Cbor::array(3).octets(producer).octets(&number.octets()).null().finish();
    kdf_context(&party_u)
}

fn kdf_context(party_u: &[u8]) -> Vec<u8> {
    let nobody = Cbor::array(3).null().null().null().finish();
    let public = Cbor::array(2).unsigned(8 * KEY).octets(HKDF).finish();
    Cbor::array(4).unsigned(CCM_NUMBER).raw(party_u).raw(&nobody).raw(&public).finish()
}

/// The key of an object: HKDF with SHA-256 of the access secret.
pub(super) fn key(secret: &[u8], salt: &[u8], context: &[u8], crypto: &mut impl Crypto) -> ObjectKey {
    let extracted = crypto.extract(salt, secret);
    let expanded = crypto.expand(&extracted, context);
    let mut key = ObjectKey::default();
    key.copy_from_slice(&expanded[..KEY]);
    key
}

/// The data that are signed beside the value: the number, the identifier of the access secret, and the name of the resource.
pub(super) fn external(number: Number, id: &[u8], resource: &str) -> Vec<u8> {
    Cbor::default().octets(&number.octets()).octets(id).text(resource).finish()
}

/// The Sig_structure (RFC 9052, section 4.4).
fn to_be_signed(external: &[u8], value: &[u8]) -> Vec<u8> {
    Cbor::array(4).text("Signature1").octets(ES256).octets(external).octets(value).finish()
}

/// The Enc_structure (RFC 9052, section 5.3).
fn associated() -> Vec<u8> {
    Cbor::array(3).text("Encrypt0").octets(CCM).octets(&[]).finish()
}

/// COSE_Sign1 with ES256.
pub(super) fn sign1(
    key: &PrivateKey,
    external: &[u8],
    value: &[u8],
    crypto: &mut impl Crypto,
) -> Result<Vec<u8>, Error> {
    let signature = crypto.sign(key, &to_be_signed(external, value)).map_err(|_| Error::Key)?;
    Ok(Cbor::array(4).octets(ES256).raw(&Cbor::map(0).finish()).octets(value).octets(&signature).finish())
}

/// The value of COSE_Sign1.
pub(super) fn verify1<'a>(
    key: &PublicKey,
    external: &[u8],
    signed: &'a [u8],
    crypto: &mut impl Crypto,
) -> Result<&'a [u8], Error> {
    let mut reader = Reader::strict(signed);
    if reader.array() != Some(4) {
        return Err(Error::Malformed);
    }
    algorithm(&mut reader, ES256)?;
    // Nothing in the unprotected header counts: the consumer knows the producer.
    for _ in 0..reader.map().ok_or(Error::Malformed)? {
        reader.item().and_then(|_| reader.item()).ok_or(Error::Malformed)?;
    }
    let value = reader.octets().ok_or(Error::Malformed)?;
    let signature: &[u8; SIGNATURE] =
        reader.octets().and_then(|octets| octets.try_into().ok()).ok_or(Error::Malformed)?;
    ended(&reader)?;
    crypto.verify(key, &to_be_signed(external, value), signature).map_err(|_| Error::Signature)?;
    Ok(value)
}

/// COSE_Encrypt0 with AES-CCM-16-64-128.
pub(super) fn encrypt0(
    key: &ObjectKey,
    number: Number,
    id: &[u8],
    mut content: Vec<u8>,
    crypto: &mut impl Crypto,
) -> Result<Vec<u8>, Error> {
    if id.len() > MAX_ID {
        return Err(Error::Malformed);
    }
    let with = Protection { key, nonce: &number.nonce(), associated: &associated() };
    let tag = crypto.seal(&with, &mut content).map_err(|_| Error::TooLong)?;
    content.extend_from_slice(&tag);
    let unprotected = Cbor::map(2).integer(KID).octets(id).integer(PARTIAL_IV).octets(&number.octets()).finish();
    Ok(Cbor::array(3).octets(CCM).raw(&unprotected).octets(&content).finish())
}

/// The parts of COSE_Encrypt0.
pub(super) fn read_encrypt0(object: &[u8]) -> Result<Cose<'_>, Error> {
    let mut reader = Reader::strict(object);
    if reader.array() != Some(3) {
        return Err(Error::Malformed);
    }
    algorithm(&mut reader, CCM)?;
    let (mut id, mut number) = (None, None);
    for _ in 0..reader.map().filter(|&pairs| pairs == 2).ok_or(Error::Malformed)? {
        let place = match reader.integer() {
            Some(KID) => &mut id,
            Some(PARTIAL_IV) => &mut number,
            _ => return Err(Error::Malformed),
        };
        *place = reader.octets();
    }
    let ciphertext = reader.octets().ok_or(Error::Malformed)?;
    ended(&reader)?;
    let id = id.filter(|id| id.len() <= MAX_ID).ok_or(Error::Malformed)?;
    Ok(Cose { number: number.and_then(Number::read).ok_or(Error::Malformed)?, id, ciphertext })
}

/// Decrypts, and returns the content.
pub(super) fn decrypt0(
    key: &ObjectKey,
    number: Number,
    ciphertext: &[u8],
    crypto: &mut impl Crypto,
) -> Result<Vec<u8>, Error> {
    let (content, tag) = ciphertext.split_last_chunk::<TAG>().ok_or(Error::Malformed)?;
    let mut content = content.to_vec();
    let with = Protection { key, nonce: &number.nonce(), associated: &associated() };
    crypto.open(&with, &mut content, tag).map_err(|_| Error::Decryption)?;
    Ok(content)
}

fn algorithm(reader: &mut Reader<'_>, protected: &[u8]) -> Result<(), Error> {
    match reader.octets().ok_or(Error::Malformed)? == protected {
        true => Ok(()),
        false => Err(Error::Algorithm),
    }
}

fn ended(reader: &Reader<'_>) -> Result<(), Error> {
    if reader.is_empty() { Ok(()) } else { Err(Error::Malformed) }
}

/// The keys from the authorization server: a COSE_KeySet (RFC 9052, section 7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The access secret.
    pub secret: AccessSecret,
    /// The public key of the producer: for consumers only.
    pub signer: Option<PublicKey>,
}

impl Grant {
    /// The grant as CBOR.
    pub fn write(&self) -> Zeroizing<Vec<u8>> {
        let AccessSecret { id, value } = &self.secret;
        let (set, key) = (Cbor::array(1 + usize::from(self.signer.is_some())), Cbor::map(4).finish());
        // There is room for all of it: a copy that is too short would stay behind with the secret.
        let set = Cbor::with_capacity(GRANT + id.len()).raw(&set.finish()).raw(&key);
        let set = set.integer(KTY).integer(SYMMETRIC).integer(KEY_ID).octets(id);
        let set = set.integer(ALG).integer(HKDF_NUMBER).integer(CRV_OR_K).octets(value);
        let set = match &self.signer {
            None => set,
            Some(signer) => {
                let (x, y) = signer.split_at(32);
                let set = set.raw(&key).integer(KTY).integer(EC2).integer(CRV_OR_K).integer(P256);
                set.integer(X).octets(x).integer(Y).octets(y)
            }
        };
        Zeroizing::new(set.finish())
    }

    /// The grant of CBOR.
    ///
    /// # Errors
    /// It is no set of these keys, or not in the order in which [`write`](Self::write) has them.
    pub fn read(octets: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::strict(octets);
        let keys = reader.array().filter(|keys| (1..=2).contains(keys)).ok_or(Error::Malformed)?;
        let secret = read_symmetric(&mut reader).ok_or(Error::Malformed)?;
        let signer = match keys {
            2 => Some(read_point(&mut reader).ok_or(Error::Malformed)?),
            _ => None,
        };
        ended(&reader)?;
        Ok(Self { secret, signer })
    }
}

/// `None` if the next items are not these numbers.
fn named(reader: &mut Reader<'_>, numbers: &[i64]) -> Option<()> {
    numbers.iter().all(|number| reader.integer() == Some(*number)).then_some(())
}

fn read_symmetric(reader: &mut Reader<'_>) -> Option<AccessSecret> {
    reader.map().filter(|&pairs| pairs == 4)?;
    named(reader, &[KTY, SYMMETRIC, KEY_ID])?;
    let id = reader.octets().filter(|id| id.len() <= MAX_ID)?.to_vec();
    named(reader, &[ALG, HKDF_NUMBER, CRV_OR_K])?;
    Some(AccessSecret { id, value: reader.octets()?.try_into().ok()? })
}

fn read_point(reader: &mut Reader<'_>) -> Option<PublicKey> {
    reader.map().filter(|&pairs| pairs == 4)?;
    named(reader, &[KTY, EC2, CRV_OR_K, P256])?;
    let mut point = [0; 64];
    for (parameter, half) in [X, Y].into_iter().zip(point.as_chunks_mut::<32>().0) {
        named(reader, &[parameter])?;
        *half = reader.octets()?.try_into().ok()?;
    }
    Some(point)
}

/// The public key of a private one.
///
/// # Errors
/// The private key is 0 or not below the order of the curve.
pub fn public_key(private: &[u8; 32]) -> Result<PublicKey, Error> {
    let key = SecretKey::from_slice(private).map_err(|_| Error::Key)?;
    let point = key.public_key().to_sec1_point(false);
    let mut public = [0; 64];
    public.copy_from_slice(&point.as_bytes()[1..]);
    Ok(public)
}

#[cfg(test)]
mod tests;
