//! Errors of the readers.

/// Why octets are not well formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The octets end within a header, or within the content that a header announces.
    #[error("truncated: {needed} octets needed, {found} left")]
    Truncated {
        /// Octets that the header, or the content, needs.
        needed: usize,
        /// Octets that are left.
        found: usize,
    },
    /// The fragment extends beyond the end of its message (RFC 6347 section 4.2.2).
    #[error("the fragment ({length} octets at offset {offset}) extends beyond its message ({message} octets)")]
    FragmentOutside {
        /// fragment_offset.
        offset: u32,
        /// fragment_length.
        length: u32,
        /// The length of the message.
        message: u32,
    },
    /// The version is not one of DTLS 1.0 or DTLS 1.2 (RFC 6347 section 4.1).
    #[error("not a DTLS record: version {version:02x?}")]
    NotDtls {
        /// The two octets of the version.
        version: [u8; 2],
    },
    /// The version is not one of TLS (RFC 5246 section 6.2.1).
    #[error("not a TLS record: version {version:02x?}")]
    NotTls {
        /// The two octets of the version.
        version: [u8; 2],
    },
    /// It is no packet of QUIC version 1 (RFC 9000 section 17).
    #[error("not a packet of QUIC version 1: it begins with {first:#04x}")]
    NotQuic {
        /// Its first octet.
        first: u8,
    },
    /// The record has a connection ID, and the caller did not give its length (RFC 9146 section 4).
    #[error("the length of the record's connection ID is not known")]
    ConnectionIdLengthUnknown,
}
