//! What can be wrong with octets.

/// The octets do not have the format that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The octets end within a header, or within the content that a header announces.
    #[error("truncated: {needed} octets needed, {found} left")]
    Truncated {
        /// Octets that come next: a header or its content.
        needed: usize,
        /// Octets that are left.
        found: usize,
    },
    /// The fragment goes beyond the end of its message (RFC 6347 section 4.2.2).
    #[error("a fragment of {length} octets at offset {offset} of a message of {message} octets")]
    FragmentOutside {
        /// fragment_offset.
        offset: u32,
        /// fragment_length.
        length: u32,
        /// The length of the message.
        message: u32,
    },
    /// The version is not one of DTLS 1.0 or DTLS 1.2 (RFC 6347 section 4.1).
    #[error("version {version:02x?} is not one of a DTLS record")]
    NotDtls {
        /// The two octets of the version.
        version: [u8; 2],
    },
    /// The version is not one of TLS (RFC 5246 section 6.2.1).
    #[error("version {version:02x?} is not one of a TLS record")]
    NotTls {
        /// The two octets of the version.
        version: [u8; 2],
    },
    /// The record has a connection ID, and the reader was not told how long it is (RFC 9146 section 4).
    #[error("a record with a connection ID of unknown length")]
    ConnectionIdLengthUnknown,
}
