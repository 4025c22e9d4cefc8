//! The errors of TCP segments.

/// Why a segment is not valid, or cannot be written. A receiver drops such a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// The segment is shorter than its header.
    #[error("a TCP segment of {0} octets is shorter than its header")]
    Truncated(usize),
    /// A data offset of less than five 32-bit words.
    #[error("a TCP data offset of {0} words is less than a header (5 words)")]
    DataOffset(u8),
    /// The length of an option does not fit its kind or the header.
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
        /// The octets of the segment.
        needed: usize,
        /// The octets of the buffer.
        available: usize,
    },
}
