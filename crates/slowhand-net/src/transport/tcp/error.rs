//! What can be wrong with a TCP segment.

/// Why a segment was not understood. Whoever receives one drops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// Fewer octets than a header, or than its data offset says.
    #[error("a TCP segment of {0} octets is shorter than its header")]
    Truncated(usize),
    /// A data offset of less than five 32-bit words.
    #[error("a TCP data offset of {0} words is less than a header (5 words)")]
    DataOffset(u8),
    /// An option whose length does not fit its kind or the header.
    #[error("TCP option {0} has an impossible length")]
    Option(u8),
    /// The checksum over pseudo-header and segment is wrong.
    #[error("the TCP checksum is wrong: drop the segment")]
    Checksum,
    /// The ports or addresses are those of another connection.
    #[error("the segment belongs to another connection: look up its addresses and ports first")]
    OtherConnection,
    /// The buffer to write the segment to is too small.
    #[error("the segment needs {needed} octets, the buffer has {available}")]
    BufferTooSmall {
        /// What the segment takes.
        needed: usize,
        /// What there is.
        available: usize,
    },
}
