//! The nonce and the associated data of the COSE object (sections 5.2 and 5.4).

use super::crypto::{ALGORITHM, NONCE};
use super::option::PartialIv;
use crate::cbor::Cbor;

/// The version of OSCORE (section 5.4).
const VERSION: usize = 1;

/// The values that bind a response to its request (section 7.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binding {
    /// The Sender ID of the client.
    pub(super) kid: Vec<u8>,
    /// The sequence number of the request.
    pub(super) partial_iv: PartialIv,
}

/// The nonce of the message with this sequence number of the end with this Sender ID (section 5.2). The ID has at most 7 octets.
pub(super) fn nonce(common_iv: &[u8; NONCE], id: &[u8], partial_iv: PartialIv) -> [u8; NONCE] {
    let mut nonce = *common_iv;
    nonce[0] ^= id.len() as u8;
    let place = nonce[1..].iter_mut().rev();
    let padded = partial_iv.padded();
    place.zip(padded.iter().rev().chain(id.iter().rev())).for_each(|(place, octet)| *place ^= octet);
    nonce
}

/// The Enc_structure (section 5.4; RFC 9052, section 5.3). No options are of Class I.
pub(super) fn associated(request: &Binding) -> Vec<u8> {
    let algorithms = Cbor::array(1).unsigned(ALGORITHM.into()).finish();
    let external = Cbor::array(5)
        .unsigned(VERSION)
        .raw(&algorithms)
        .octets(&request.kid)
        .octets(&request.partial_iv.octets())
        .octets(&[])
        .finish();
    Cbor::array(3).text("Encrypt0").octets(&[]).octets(&external).finish()
}

#[cfg(test)]
mod tests {
    use slowhand_testing::hex::octets;

    use super::*;

    fn associated_of(kid: &str, sequence: u64) -> Vec<u8> {
        associated(&Binding { kid: octets(kid), partial_iv: PartialIv::new(sequence).unwrap() })
    }

    /// The example of section 5.4, and appendices C.4 to C.6.
    #[test]
    fn associated_data_are_those_of_the_standard() {
        assert_eq!(associated_of("00", 0x25), octets("8368456e63727970743040498501810a4100412540"));
        assert_eq!(associated_of("", 20), octets("8368456e63727970743040488501810a40411440"));
        assert_eq!(associated_of("00", 20), octets("8368456e63727970743040498501810a4100411440"));
    }

    /// Appendices C.1 to C.3 with sequence number 0, C.4 to C.6 with 20; and by hand, the longest of everything.
    #[test]
    fn nonces_are_those_of_the_standard() {
        for (common_iv, id, sequence, expected) in [
            ("4622d4dd6d944168eefb54987c", "", 0, "4622d4dd6d944168eefb54987c"),
            ("4622d4dd6d944168eefb54987c", "01", 0, "4722d4dd6d944169eefb54987c"),
            ("be35ae297d2dace910c52e99f9", "00", 0, "bf35ae297d2dace910c52e99f9"),
            ("be35ae297d2dace910c52e99f9", "01", 0, "bf35ae297d2dace810c52e99f9"),
            ("2ca58fb85ff1b81c0b7181b85e", "", 0, "2ca58fb85ff1b81c0b7181b85e"),
            ("2ca58fb85ff1b81c0b7181b85e", "01", 0, "2da58fb85ff1b81d0b7181b85e"),
            ("4622d4dd6d944168eefb54987c", "", 20, "4622d4dd6d944168eefb549868"),
            ("be35ae297d2dace910c52e99f9", "00", 20, "bf35ae297d2dace910c52e99ed"),
            ("2ca58fb85ff1b81c0b7181b85e", "", 20, "2ca58fb85ff1b81c0b7181b84a"),
            ("00000000000000000000000000", "11121314151617", 0x01_0203_0405, "07111213141516170102030405"),
        ] {
            let common_iv: [u8; NONCE] = octets(common_iv).try_into().unwrap();
            assert_eq!(nonce(&common_iv, &octets(id), PartialIv::new(sequence).unwrap())[..], octets(expected));
        }
    }
}
