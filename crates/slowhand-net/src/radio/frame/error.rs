//! Errors in reading and writing frames.

/// An invalid frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The octets end inside a field.
    #[error("the frame ends inside a field")]
    Truncated,
    /// The buffer is shorter than the frame.
    #[error("the frame does not fit into a buffer of {0} octets")]
    BufferTooSmall(usize),
    /// A frame type other than beacon, data, acknowledgement and MAC command.
    #[error("frame type {0} is not supported")]
    FrameType(u8),
    /// The reserved frame version.
    #[error("frame version {0} is reserved")]
    Version(u8),
    /// The reserved addressing mode.
    #[error("addressing mode {0} is reserved")]
    AddressingMode(u8),
    /// PAN IDs and PAN ID Compression that the frame version does not allow with these addresses (7.2.2.6).
    #[error("the frame version does not allow these PAN IDs with these addresses")]
    PanIds,
    /// The sequence number is suppressed in a frame of version 0 or 1.
    #[error("only frames of version 2 can suppress the sequence number")]
    SequenceNumber,
    /// Information elements in a frame of version 0 or 1.
    #[error("only frames of version 2 have information elements")]
    InformationElements,
    /// Security in a frame of version 0. Its format is that of 2003, which the standard has withdrawn (9.2.4).
    #[error("a frame of version 0 cannot be secured")]
    LegacySecurity,
    /// The frame counter is suppressed, or the ASN is in the nonce, in a frame of version 1.
    #[error("only frames of version 2 can suppress the frame counter or have the ASN in the nonce")]
    FrameCounter,
    /// The message integrity code is not as long as the security level says.
    #[error("a message integrity code of {found} octets instead of {expected}")]
    MicLength {
        /// The length that the security level asks for.
        expected: usize,
        /// The length that was given.
        found: usize,
    },
    /// A header IE in the list of payload IEs, or the reverse.
    #[error("a header IE among payload IEs, or the reverse")]
    IeType,
    /// An element ID, group ID or sub-ID that does not fit its field, or that only the codec itself may write.
    #[error("IE identifier {0:#x} does not fit its field, or belongs to a termination IE")]
    IeId(u8),
    /// The content of an IE is too long for its length field, or not as long as its identifier says.
    #[error("an IE content of {0} octets")]
    IeLength(usize),
    /// A value that does not fit its field.
    #[error("a value does not fit the field {0}")]
    Range(&'static str),
}
