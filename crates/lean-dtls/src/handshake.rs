//! Handshake messages and their fragments (RFC 6347, section 4.2.2).

use crate::codec::{Full, Reader, Writer};

/// Octets of the header of a message or of a fragment of it.
pub(crate) const HEADER: usize = 12;

/// The kinds of messages that this engine knows (RFC 5246, section 7.4; RFC 6347, section 4.3.2; RFC 5077, section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    ClientHello,
    ServerHello,
    HelloVerifyRequest,
    NewSessionTicket,
    Certificate,
    ServerKeyExchange,
    CertificateRequest,
    ServerHelloDone,
    CertificateVerify,
    ClientKeyExchange,
    Finished,
    /// One that this engine has not asked for.
    Other(u8),
}

impl Kind {
    pub(crate) const fn of(number: u8) -> Self {
        match number {
            1 => Self::ClientHello,
            2 => Self::ServerHello,
            3 => Self::HelloVerifyRequest,
            4 => Self::NewSessionTicket,
            11 => Self::Certificate,
            12 => Self::ServerKeyExchange,
            13 => Self::CertificateRequest,
            14 => Self::ServerHelloDone,
            15 => Self::CertificateVerify,
            16 => Self::ClientKeyExchange,
            20 => Self::Finished,
            number => Self::Other(number),
        }
    }

    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::ClientHello => 1,
            Self::ServerHello => 2,
            Self::HelloVerifyRequest => 3,
            Self::NewSessionTicket => 4,
            Self::Certificate => 11,
            Self::ServerKeyExchange => 12,
            Self::CertificateRequest => 13,
            Self::ServerHelloDone => 14,
            Self::CertificateVerify => 15,
            Self::ClientKeyExchange => 16,
            Self::Finished => 20,
            Self::Other(number) => number,
        }
    }
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
        let kind = Kind::of(reader.u8()?);
        let length = reader.number(3)? as usize;
        let sequence = reader.u16()?;
        let (offset, fragment) = (reader.number(3)? as usize, reader.number(3)? as usize);
        let octets = reader.take(fragment)?;
        (offset + fragment <= length).then_some((Self { kind, length, sequence, offset, fragment }, octets))
    }

    pub(crate) fn write(&self, writer: &mut Writer<'_>) -> Result<(), Full> {
        writer.number(self.kind.number().into(), 1)?;
        writer.number(self.length as u32, 3)?;
        writer.number(self.sequence.into(), 2)?;
        writer.number(self.offset as u32, 3)?;
        writer.number(self.fragment as u32, 3)
    }

    pub(crate) fn octets(&self) -> [u8; HEADER] {
        let mut octets = [0; HEADER];
        // Twelve octets are what `write` needs.
        let _ = self.write(&mut Writer::new(&mut octets));
        octets
    }
}
