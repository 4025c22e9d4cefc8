//! The OSCORE option: the headers of the COSE object in as few octets as possible (section 6.1).

use coap_lite::{CoapOption, Packet};

use super::Error;

/// The flag bits (section 6.1).
const PARTIAL_IV: u8 = 0b0000_0111;
const KID: u8 = 0b0000_1000;
const KID_CONTEXT: u8 = 0b0001_0000;

/// Octets of the longest Partial IV (section 6.1).
const MAX_PARTIAL_IV: usize = 5;

/// A sequence number of its sender, below 2^40 (section 7.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialIv(u64);

impl PartialIv {
    /// `None` from 2^40 on.
    pub const fn new(sequence: u64) -> Option<Self> {
        if sequence >> (8 * MAX_PARTIAL_IV) == 0 { Some(Self(sequence)) } else { None }
    }

    /// The sequence number.
    pub const fn sequence(self) -> u64 {
        self.0
    }

    /// All five octets, as the nonce has them (section 5.2).
    pub(super) fn padded(self) -> [u8; MAX_PARTIAL_IV] {
        let [_, _, _, octets @ ..] = self.0.to_be_bytes();
        octets
    }

    /// As few octets as it takes, at least one, as messages have them (section 5).
    pub(super) fn octets(self) -> Vec<u8> {
        shortest(&self.padded())
    }

    /// Of the octets of a message. `None` if they are too many, or more than it takes.
    fn read(octets: &[u8]) -> Option<Self> {
        read_shortest::<MAX_PARTIAL_IV>(octets).map(Self)
    }
}

/// A number without zeros in front, but one octet at least.
pub(crate) fn shortest(octets: &[u8]) -> Vec<u8> {
    let zeros = octets.iter().take_while(|octet| **octet == 0).count();
    octets[zeros.min(octets.len() - 1)..].to_vec()
}

/// Reads a number of at most `MOST` octets. `None` if there are more, or none, or a zero in front of others.
pub(crate) fn read_shortest<const MOST: usize>(octets: &[u8]) -> Option<u64> {
    let is_shortest = octets.len() == 1 || octets.first().is_some_and(|octet| *octet != 0);
    let number = octets.iter().fold(0, |number, octet| number << 8 | u64::from(*octet));
    (octets.len() <= MOST && is_shortest).then_some(number)
}

/// The value of the option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// The sequence number of the sender. Requests have it.
    pub partial_iv: Option<PartialIv>,
    /// The ID Context of the sender.
    pub kid_context: Option<Vec<u8>>,
    /// The Sender ID of the sender. Requests have it.
    pub kid: Option<Vec<u8>>,
}

impl Value {
    /// The value of a message's option. `None` if the message is not protected.
    ///
    /// # Errors
    /// [`Error::Malformed`] if there are several such options, or octets that section 6.1 does not allow.
    pub fn of(message: &Packet) -> Result<Option<Self>, Error> {
        let mut values = message.get_option(CoapOption::Oscore).into_iter().flatten();
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => Self::read(value).map(Some).ok_or(Error::Malformed),
            (Some(_), Some(_)) => Err(Error::Malformed),
        }
    }

    /// The octets of the option. A `kid_context` has at most 255 octets.
    pub(super) fn write(&self) -> Vec<u8> {
        let partial_iv = self.partial_iv.map(PartialIv::octets).unwrap_or_default();
        let mut flags = partial_iv.len() as u8;
        let mut rest = partial_iv;
        if let Some(context) = &self.kid_context {
            flags |= KID_CONTEXT;
            rest.push(context.len() as u8);
            rest.extend_from_slice(context);
        }
        if let Some(kid) = &self.kid {
            flags |= KID;
            rest.extend_from_slice(kid);
        }
        // Without a flag the value is empty (section 2).
        if flags == 0 { rest } else { [&[flags], &rest[..]].concat() }
    }

    /// Reads the octets of the option. `None` if they are not as [`write`](Self::write) has them.
    fn read(octets: &[u8]) -> Option<Self> {
        let Some((flags, rest)) = octets.split_first() else { return Some(Self::default()) };
        if *flags == 0 || flags & !(PARTIAL_IV | KID | KID_CONTEXT) != 0 {
            return None;
        }
        let (partial_iv, mut rest) = rest.split_at_checked((flags & PARTIAL_IV).into())?;
        let mut value = Self::default();
        if !partial_iv.is_empty() {
            value.partial_iv = Some(PartialIv::read(partial_iv)?);
        }
        if flags & KID_CONTEXT != 0 {
            let (length, after) = rest.split_first()?;
            let (context, after) = after.split_at_checked((*length).into())?;
            value.kid_context = Some(context.to_vec());
            rest = after;
        }
        if flags & KID != 0 {
            value.kid = Some(rest.to_vec());
        } else if !rest.is_empty() {
            return None;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slowhand_testing::hex::octets;

    use super::*;

    fn value(partial_iv: Option<u64>, kid_context: Option<&str>, kid: Option<&str>) -> Value {
        let partial_iv = partial_iv.map(|sequence| PartialIv::new(sequence).unwrap());
        Value { partial_iv, kid_context: kid_context.map(octets), kid: kid.map(octets) }
    }

    /// The examples of section 6.3, and the values of appendix C.
    #[test]
    fn values_are_those_of_the_standard() {
        for (value, expected) in [
            (value(Some(5), None, Some("25")), "09 05 25"),
            (value(Some(0), None, Some("")), "09 00"),
            (value(Some(5), Some("44616c656b"), Some("")), "19 05 05 44616c656b"),
            (value(None, None, None), ""),
            (value(Some(7), None, None), "01 07"),
            (value(Some(20), Some("37cbf3210017a2d3"), Some("")), "19 14 08 37cbf3210017a2d3"),
            (value(Some((1 << 40) - 1), None, None), "05 ffffffffff"),
        ] {
            assert_eq!(value.write(), octets(expected), "{value:?}");
            assert_eq!(Value::read(&octets(expected)), Some(value));
        }
    }

    #[test]
    fn what_the_standard_does_not_allow_is_refused() {
        for (refused, why) in [
            ("00", "no flags, but an octet"),
            ("21 05", "a reserved flag"),
            ("8905", "a reserved flag"),
            ("0e 010203040506", "a Partial IV of six octets"),
            ("02 0005", "a Partial IV with a zero before it"),
            ("09", "no Partial IV"),
            ("02 05", "half a Partial IV"),
            ("10", "no length of the kid context"),
            ("18 02 05", "half a kid context"),
            ("01 05 25", "a kid without its flag"),
        ] {
            assert_eq!(Value::read(&octets(refused)), None, "{why}");
        }
        let mut twice = Packet::new();
        twice.add_option(CoapOption::Oscore, octets("0905"));
        twice.add_option(CoapOption::Oscore, octets("0905"));
        assert_eq!(Value::of(&twice), Err(Error::Malformed));
        assert_eq!(Value::of(&Packet::new()), Ok(None));
        assert_eq!(PartialIv::new(1 << 40), None);
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_as_it_was(octets in proptest::collection::vec(any::<u8>(), 0..20), flags in 0_u8..32) {
            for octets in [octets.clone(), [&[flags], &octets[..]].concat()] {
                if let Some(value) = Value::read(&octets) {
                    prop_assert_eq!(value.write(), octets);
                }
            }
        }
    }
}
