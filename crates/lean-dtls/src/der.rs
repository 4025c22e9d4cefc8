//! The little DER that the engine reads and writes itself (X.690): signatures of ECDSA, and where a certificate has its key.

use crate::codec::{Full, Reader, Writer};
use crate::crypto::{SCALAR, SIGNATURE};

const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;
/// The version of a certificate: explicit tag 0 (RFC 5280, section 4.1).
const VERSION: u8 = 0xa0;

/// The octets before the point in the SubjectPublicKeyInfo of a key of P-256 that is not compressed (RFC 5480, section 2):
/// id-ecPublicKey, secp256r1, and a bit string of whole octets.
pub(crate) const SPKI_PREFIX: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// The next value, without its header. `None` if it has another tag, or a length that is not DER.
fn value<'a>(reader: &mut Reader<'a>, tag: u8) -> Option<&'a [u8]> {
    if reader.u8()? != tag {
        return None;
    }
    let length = match reader.u8()? {
        length @ ..=0x7f => usize::from(length),
        0x81 => reader.u8().filter(|length| *length >= 0x80)?.into(),
        0x82 => reader.u16().filter(|length| *length >= 0x100)?.into(),
        _ => return None,
    };
    reader.take(length)
}

/// The SubjectPublicKeyInfo of a certificate (RFC 5280, section 4.1), with its header.
pub(crate) fn subject_public_key_info(certificate: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader::new(certificate);
    let mut body = Reader::new(value(&mut Reader::new(value(&mut reader, SEQUENCE)?), SEQUENCE)?);
    if body.rest().first() == Some(&VERSION) {
        value(&mut body, VERSION)?;
    }
    value(&mut body, INTEGER)?; // the serial number
    for _ in ["signature", "issuer", "validity", "subject"] {
        value(&mut body, SEQUENCE)?;
    }
    let rest = body.rest();
    value(&mut body, SEQUENCE)?;
    reader.is_empty().then(|| &rest[..rest.len() - body.rest().len()])
}

/// Reads a signature of ECDSA on P-256 (RFC 3279, section 2.2.3) strictly: r and s.
pub(crate) fn read_signature(octets: &[u8]) -> Option<[u8; SIGNATURE]> {
    let mut reader = Reader::new(octets);
    let mut numbers = Reader::new(value(&mut reader, SEQUENCE)?);
    let mut signature = [0; SIGNATURE];
    for place in signature.chunks_exact_mut(SCALAR) {
        let number = value(&mut numbers, INTEGER)?;
        // Not negative, and no zero that is not needed (X.690, section 8.3.2).
        let magnitude = match number {
            [0, rest @ ..] if rest.first()? & 0x80 != 0 => rest,
            [1..0x80, ..] => number,
            _ => return None,
        };
        let start = SCALAR.checked_sub(magnitude.len())?;
        place[start..].copy_from_slice(magnitude);
    }
    (reader.is_empty() && numbers.is_empty()).then_some(signature)
}

/// Writes a signature of ECDSA on P-256.
pub(crate) fn write_signature(writer: &mut Writer<'_>, signature: &[u8; SIGNATURE]) -> Result<(), Full> {
    writer.number(SEQUENCE.into(), 1)?;
    // At most 2 * (2 + 33) octets, so all lengths have one octet.
    writer.vector(1, |writer| {
        for number in signature.chunks_exact(SCALAR) {
            let zeros = number.iter().take_while(|octet| **octet == 0).count().min(SCALAR - 1);
            writer.number(INTEGER.into(), 1)?;
            writer.vector(1, |writer| {
                if number[zeros] & 0x80 != 0 {
                    writer.number(0, 1)?;
                }
                writer.put(&number[zeros..])
            })?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// A SEQUENCE of these octets.
    fn sequence(numbers: &[&[u8]]) -> Vec<u8> {
        let mut octets = std::vec![SEQUENCE, numbers.iter().map(|number| number.len() + 2).sum::<usize>() as u8];
        for number in numbers {
            octets.extend([INTEGER, number.len() as u8]);
            octets.extend_from_slice(number);
        }
        octets
    }

    fn written(signature: &[u8; SIGNATURE]) -> Vec<u8> {
        let mut octets = [0; 80];
        let mut writer = Writer::new(&mut octets);
        write_signature(&mut writer, signature).unwrap();
        let length = writer.len();
        octets[..length].to_vec()
    }

    #[test]
    fn a_signature_has_one_encoding() {
        let mut signature = [0; SIGNATURE];
        signature[31] = 0x7f; // r = 127
        signature[32] = 0x80; // s begins with a one
        let s = [&[0, 0x80][..], &[0; 31]].concat();
        let expected = sequence(&[&[0x7f], &s]);
        assert_eq!(written(&signature), expected);
        assert_eq!(read_signature(&expected), Some(signature));
        let long = [&[1][..], &[0; 32]].concat();
        let more = [&expected[..], &[0]].concat();
        let long_length = [&[SEQUENCE, 0x81, expected[1]][..], &expected[2..]].concat();
        for refused in [
            sequence(&[&[0, 0x7f], &s]), // a zero too many
            sequence(&[&[0x80], &s]),    // negative
            sequence(&[&[0], &s]),       // zero
            sequence(&[&[], &s]),        // nothing
            sequence(&[&long, &s]),      // 33 octets
            sequence(&[&[1], &s, &[1]]), // three numbers
            sequence(&[&[1]]),           // one
            more,                        // octets after the end
            long_length,                 // a length in two octets that fits into one
            expected[..expected.len() - 1].to_vec(),
        ] {
            assert_eq!(read_signature(&refused), None, "{refused:02x?}");
        }
    }

    /// X.690, section 10.1: a length has the fewest octets.
    #[test]
    fn a_length_has_the_fewest_octets() {
        for (header, length) in [
            (&[0x7f][..], Some(0x7f)),
            (&[0x81, 0x7f], None),
            (&[0x81, 0x80], Some(0x80)),
            (&[0x81, 0xff], Some(0xff)),
            (&[0x82, 0x00, 0xff], None),
            (&[0x82, 0x01, 0x00], Some(0x100)),
            (&[0x83, 0x01, 0x00, 0x00], None),
            (&[0x80], None),
        ] {
            let octets = [&[SEQUENCE][..], header, &[7; 0x200]].concat();
            assert_eq!(value(&mut Reader::new(&octets), SEQUENCE).map(<[u8]>::len), length, "{header:02x?}");
        }
    }
}
