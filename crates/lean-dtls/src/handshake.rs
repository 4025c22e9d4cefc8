//! Handshake messages and their fragments (RFC 6347, section 4.2.2).

use crate::codec::Reader;

/// Octets of the header of a message or of a fragment of it.
pub(crate) const HEADER: usize = 12;

/// The kind of a message: its number (RFC 5246, section 7.4; RFC 6347, section 4.3.2; RFC 5077, section 3.3; RFC 9147, section
/// 5.2; RFC 8446, section 4). Any number can arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(pub(crate) u8);

#[allow(non_upper_case_globals)] // they are used like the variants of an enumeration, which would need a table for each direction
#[cfg_attr(not(all(feature = "dtls13", feature = "certificates")), allow(dead_code))]
impl Kind {
    pub(crate) const ClientHello: Self = Self(1);
    pub(crate) const ServerHello: Self = Self(2);
    pub(crate) const HelloVerifyRequest: Self = Self(3);
    pub(crate) const NewSessionTicket: Self = Self(4);
    pub(crate) const EncryptedExtensions: Self = Self(8);
    pub(crate) const RequestConnectionId: Self = Self(9);
    pub(crate) const NewConnectionId: Self = Self(10);
    pub(crate) const Certificate: Self = Self(11);
    pub(crate) const ServerKeyExchange: Self = Self(12);
    pub(crate) const CertificateRequest: Self = Self(13);
    pub(crate) const ServerHelloDone: Self = Self(14);
    pub(crate) const CertificateVerify: Self = Self(15);
    pub(crate) const ClientKeyExchange: Self = Self(16);
    pub(crate) const Finished: Self = Self(20);
    pub(crate) const KeyUpdate: Self = Self(24);
    /// The digest of a ClientHello in the transcript of DTLS 1.3.
    pub(crate) const MessageHash: Self = Self(254);
}

/// The header of a fragment; of a whole message if the fragment is all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// Octets of the whole message.
    pub(crate) length: usize,
    /// `message_seq`.
    pub(crate) sequence: u16,
    /// Where the fragment begins in the message.
    pub(crate) offset: usize,
    /// Octets of the fragment.
    pub(crate) fragment: usize,
}

impl Header {
    /// The header of a message in one piece.
    pub(crate) const fn whole(kind: Kind, sequence: u16, length: usize) -> Self {
        Self { kind, length, sequence, offset: 0, fragment: length }
    }

    pub(crate) const fn is_whole(&self) -> bool {
        self.fragment == self.length
    }

    /// Reads a fragment with its header. `None` if it is not whole, or reaches beyond its message.
    pub(crate) fn read<'a>(reader: &mut Reader<'a>) -> Option<(Self, &'a [u8])> {
        Self::read_of::<usize>(reader)
    }

    /// Reads a message where lengths are of this type: on an AVR they have 16 bits. There is no longer message.
    fn read_of<'a, L: TryFrom<u32> + TryInto<usize>>(reader: &mut Reader<'a>) -> Option<(Self, &'a [u8])> {
        let [kind, l0, l1, l2, s0, s1, o0, o1, o2, f0, f1, f2] = reader.array::<HEADER>()?;
        let [length, offset, fragment] = [[l0, l1, l2], [o0, o1, o2], [f0, f1, f2]].map(size::<L>);
        let (length, offset, fragment) = (length?, offset?, fragment?);
        let octets = reader.take(fragment)?;
        let sequence = u16::from_be_bytes([s0, s1]);
        let is_within = offset.checked_add(fragment).is_some_and(|end| end <= length);
        is_within.then_some((Self { kind: Kind(kind), length, sequence, offset, fragment }, octets))
    }

    pub(crate) fn octets(&self) -> [u8; HEADER] {
        let [s0, s1] = self.sequence.to_be_bytes();
        let ([l0, l1, l2], [o0, o1, o2]) = (three(self.length), three(self.offset));
        let [f0, f1, f2] = three(self.fragment);
        [self.kind.0, l0, l1, l2, s0, s1, o0, o1, o2, f0, f1, f2]
    }
}

/// A ClientHello message that has arrived: its number, and that of its record.
#[derive(Clone, Copy)]
pub(crate) struct Arrived<'a> {
    pub(crate) header: Header,
    pub(crate) body: &'a [u8],
    pub(crate) record: u64,
}

/// A number of 24 bits. `None` if it is beyond the lengths of this type.
fn size<L: TryFrom<u32> + TryInto<usize>>([n0, n1, n2]: [u8; 3]) -> Option<usize> {
    L::try_from(u32::from_be_bytes([0, n0, n1, n2])).ok()?.try_into().ok()
}

/// The lower 24 bits of a number, the most significant octet first.
pub(crate) const fn three(number: usize) -> [u8; 3] {
    let [_, n0, n1, n2] = (number as u32).to_be_bytes();
    [n0, n1, n2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length, offset and octets of a fragment in their 24 bits; and what is read where lengths have 16 bits, and where they have more.
    #[test]
    fn lengths_are_read_without_loss() {
        for (numbers, in_16_bits, in_more) in [
            ([3, 0, 3], true, true),
            ([0xffff, 0xfffc, 3], true, true),
            ([0x01_00_03, 0, 3], false, true),
            ([0x01_00_03, 0x01_00_00, 3], false, true),
            ([3, 0x01_00_00, 3], false, false),
            ([3, 0, 0x01_00_03], false, false),
        ] {
            let [length, offset, fragment] = numbers.map(three);
            let octets = [&[20][..], &length, &[0, 1], &offset, &fragment, &[7, 8, 9]].concat();
            assert_eq!(Header::read_of::<u16>(&mut Reader::new(&octets)).is_some(), in_16_bits, "{numbers:?}");
            let read = Header::read_of::<usize>(&mut Reader::new(&octets));
            assert_eq!(read.is_some(), in_more, "{numbers:?}");
            if let Some((header, content)) = read {
                assert_eq!(([header.length, header.offset, header.fragment], content), (numbers, &[7, 8, 9][..]));
            }
        }
    }
}
