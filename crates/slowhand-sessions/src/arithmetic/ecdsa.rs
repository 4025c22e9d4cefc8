//! Key agreement and signatures on secp256r1, for the libraries in Rust: as the crate `p256` has them, with the fast
//! arithmetic where it is there.

use p256::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use p256::ecdsa::{Error, Signature, SigningKey, VerifyingKey};
use p256::elliptic_curve::PrimeField;
use p256::elliptic_curve::ops::Reduce;
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{FieldBytes, PublicKey, Scalar, SecretKey};

use super::{Memo, NUMBER, Number, POINT, Point};
use crate::config::Arithmetic;
use crate::device;
use zeroize::Zeroizing;

/// The signatures with the nonce of RFC 6979, by private key and hash: r, then s.
static MADE: Memo<[u8; POINT]> = Memo::new();

/// Draws a private key. A scalar must be less than the order of the group: one of 2^32 draws is not.
pub(crate) fn draw() -> SecretKey {
    loop {
        let scalar = Zeroizing::new(device::random::<NUMBER>());
        if let Ok(secret) = SecretKey::from_slice(&scalar[..]) {
            return secret;
        }
    }
}

/// The public point of a private key.
pub(crate) fn public(secret: &SecretKey) -> Point {
    let fast = super::multiply(&secret.to_bytes().into(), None);
    fast.unwrap_or_else(|| octets(&secret.public_key()))
}

/// The shared secret: the first coordinate of the product.
pub(crate) fn agree(secret: &SecretKey, peer: &PublicKey) -> Number {
    match super::multiply(&secret.to_bytes().into(), Some(&octets(peer))) {
        Some(product) => std::array::from_fn(|index| product[index]),
        None => (*secret.diffie_hellman(peer).raw_secret_bytes()).into(),
    }
}

/// A signature of a hash, with the nonce of RFC 6979.
///
/// # Errors
/// That of the crate.
pub(crate) fn sign(key: &SigningKey, hash: &[u8]) -> Result<Signature, Error> {
    let compute = || PrehashSigner::<Signature>::sign_prehash(key, hash);
    if device::arithmetic() != Arithmetic::Memo {
        return compute();
    }
    let operands = [&key.to_bytes()[..], hash].concat();
    if let Some(made) = MADE.get(&operands) {
        return Signature::from_slice(&made);
    }
    let signature = compute()?;
    MADE.insert(&operands, signature.to_bytes().into());
    super::signed(&octets(&key.verifying_key().into()), hash, signature.to_der().as_bytes());
    Ok(signature)
}

/// Verifies the signature of a hash, which is not shorter than a number.
///
/// # Errors
/// It is not valid.
pub(crate) fn verify(key: &VerifyingKey, hash: &[u8], signature: &Signature) -> Result<(), Error> {
    let point = octets(&key.into());
    let der = signature.to_der();
    if super::is_signed(&point, hash, der.as_bytes()) {
        return Ok(());
    }
    match is_valid(&point, hash, signature) {
        Some(true) => {}
        Some(false) => return Err(Error::new()),
        None => key.verify_prehash(hash, signature)?,
    }
    super::signed(&point, hash, der.as_bytes());
    Ok(())
}

/// The signature of a hash with this nonce: section 4.1.3 of SEC 1. `None` if the library has to compute it.
pub(crate) fn sign_with(private: &Number, nonce: &Number, hash: &Number) -> Option<[u8; POINT]> {
    let scalar = |number: &Number| Option::<Scalar>::from(Scalar::from_repr((*number).into()));
    let product = super::multiply(nonce, None)?;
    let x: Number = product[..NUMBER].try_into().ok()?;
    let r = <Scalar as Reduce<FieldBytes>>::reduce(&x.into());
    let hashed = <Scalar as Reduce<FieldBytes>>::reduce(&(*hash).into());
    let s = scalar(&super::invert(nonce)?)? * (hashed + r * scalar(private)?);
    let signature = Signature::from_scalars(r.to_repr(), s.to_repr()).ok()?;
    if device::arithmetic() == Arithmetic::Memo {
        super::signed(&super::multiply(private, None)?, hash, signature.to_der().as_bytes());
    }
    Some(signature.to_bytes().into())
}

/// True if a signature, r and then s, is valid. If not, the library has to verify it.
pub(crate) fn is_valid_octets(point: &Point, hash: &Number, signature: &[u8; POINT]) -> bool {
    let Ok(signature) = Signature::from_slice(signature) else { return false };
    let der = signature.to_der();
    if super::is_signed(point, hash, der.as_bytes()) {
        return true;
    }
    let is_valid = is_valid(point, hash, &signature) == Some(true);
    if is_valid {
        super::signed(point, hash, der.as_bytes());
    }
    is_valid
}

/// Section 4.1.4 of SEC 1. `None` if the crate has to compute.
fn is_valid(point: &Point, hash: &[u8], signature: &Signature) -> Option<bool> {
    let (r, s) = signature.split_scalars();
    let inverse = super::invert(&s.to_repr().into())?;
    let inverse = Option::<Scalar>::from(Scalar::from_repr(inverse.into()))?;
    let hashed: Number = hash.get(..NUMBER)?.try_into().ok()?;
    let hashed = <Scalar as Reduce<FieldBytes>>::reduce(&hashed.into());
    let [of_generator, of_point] = [hashed * inverse, *r * inverse].map(|scalar| scalar.to_repr().into());
    let sum = super::multiply_add(&of_generator, &of_point, point)?;
    let x: Number = sum[..NUMBER].try_into().ok()?;
    Some(<Scalar as Reduce<FieldBytes>>::reduce(&x.into()) == *r)
}

fn octets(key: &PublicKey) -> Point {
    let encoded = key.to_sec1_point(false);
    // The first octet says that the point is not compressed.
    std::array::from_fn(|index| encoded.as_bytes()[1 + index])
}
