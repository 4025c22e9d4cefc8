//! TCP options (RFC 9293 section 3.2): MSS, window scale, SACK, timestamps.

use super::error::SegmentError;
use super::ranges::SeqRange;
use super::seq::SeqNumber;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// The largest shift a window scale may have (RFC 7323 section 2.3).
pub const MAX_WINDOW_SCALE: u8 = 14;

/// The SACK blocks that fit the 40 octets of options (RFC 2018 section 3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// The SACK blocks that fit beside the timestamps option (RFC 2018 section 3).
pub const MAX_SACK_BLOCKS_WITH_TIMESTAMPS: usize = 3;

/// The octets of the timestamps option, padded to a multiple of four (RFC 7323 appendix A).
pub const TIMESTAMPS_LEN: u16 = 12;

/// The timestamps option (RFC 7323 section 3). Each value counts ticks of the clock that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the peer's clock value, returned by the sender.
    pub echo: u32,
}

/// Up to four SACK blocks, in the order of the option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [Option<SeqRange>; MAX_SACK_BLOCKS],
}

impl SackBlocks {
    /// Adds a block at the end. Ignores it if there are four blocks already.
    pub fn push(&mut self, block: SeqRange) {
        if let Some(free) = self.blocks.iter_mut().find(|slot| slot.is_none()) {
            *free = Some(block);
        }
    }

    /// The blocks, first to last.
    pub fn iter(&self) -> impl Iterator<Item = SeqRange> + '_ {
        self.blocks.iter().flatten().copied()
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// True if there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The options of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The largest segment that the sender accepts, in octets of payload and options.
    pub mss: Option<u16>,
    /// The shift of the windows that the sender announces (RFC 7323 section 2.2).
    pub window_scale: Option<u8>,
    /// True if the sender supports SACK (RFC 2018 section 2).
    pub sack_permitted: bool,
    /// Selective acknowledgements (RFC 2018 section 3).
    pub sack: SackBlocks,
    /// Timestamps (RFC 7323 section 3.2).
    pub timestamps: Option<Timestamps>,
}

impl Options {
    /// Reads the octets between header and payload. Skips unknown options.
    ///
    /// # Errors
    /// [`SegmentError::Option`] if the length of an option is impossible.
    pub fn parse(mut bytes: &[u8]) -> Result<Self, SegmentError> {
        let mut options = Self::default();
        while let Some((&kind, rest)) = bytes.split_first() {
            match kind {
                END => break,
                NO_OPERATION => bytes = rest,
                _ => {
                    let length = usize::from(*rest.first().ok_or(SegmentError::Option(kind))?);
                    let body = bytes.get(2..length).ok_or(SegmentError::Option(kind))?;
                    options.parse_one(kind, body)?;
                    bytes = &bytes[length..];
                }
            }
        }
        Ok(options)
    }

    fn parse_one(&mut self, kind: u8, body: &[u8]) -> Result<(), SegmentError> {
        match (kind, body) {
            (MSS, &[high, low]) => self.mss = Some(u16::from_be_bytes([high, low])),
            // A shift above 14 counts as 14 (RFC 7323 section 2.3).
            (WINDOW_SCALE, &[shift]) => self.window_scale = Some(shift.min(MAX_WINDOW_SCALE)),
            (SACK_PERMITTED, &[]) => self.sack_permitted = true,
            (TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => {
                self.timestamps = Some(Timestamps {
                    value: u32::from_be_bytes([a, b, c, d]),
                    echo: u32::from_be_bytes([e, f, g, h]),
                });
            }
            (SACK, blocks) if !blocks.is_empty() && blocks.len() % 8 == 0 => {
                for block in blocks.chunks_exact(8) {
                    let edge = |at: usize| {
                        SeqNumber(u32::from_be_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]))
                    };
                    self.sack.push(SeqRange::new(edge(0), edge(4)));
                }
            }
            (MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | SACK, _) => {
                return Err(SegmentError::Option(kind));
            }
            _ => {}
        }
        Ok(())
    }

    /// The octets of the options in a header, a multiple of four.
    pub fn len(&self) -> usize {
        let mut len = 0;
        len += if self.mss.is_some() { 4 } else { 0 };
        len += if self.timestamps.is_some() { 12 } else { 0 };
        len += if self.window_scale.is_some() { 4 } else { 0 };
        let permitted_apart = self.sack_permitted && self.timestamps.is_none();
        len += if permitted_apart { 4 } else { 0 };
        len += match self.sack.len() {
            0 => 0,
            blocks => 4 + 8 * blocks,
        };
        len
    }

    /// True if there is no option.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the options in the order of Linux, with the same padding before each option. So segments
    /// can be compared with those of Linux octet by octet. `out` has the length
    /// [`len`](Self::len).
    pub(super) fn emit(&self, out: &mut [u8]) {
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        if let Some(mss) = self.mss {
            put(&[MSS, 4]);
            put(&mss.to_be_bytes());
        }
        if let Some(stamps) = self.timestamps {
            // SACK-permitted takes the place of the padding.
            put(if self.sack_permitted { &[SACK_PERMITTED, 2] } else { &[NO_OPERATION, NO_OPERATION] });
            put(&[TIMESTAMPS, 10]);
            put(&stamps.value.to_be_bytes());
            put(&stamps.echo.to_be_bytes());
        } else if self.sack_permitted {
            put(&[NO_OPERATION, NO_OPERATION, SACK_PERMITTED, 2]);
        }
        if let Some(shift) = self.window_scale {
            put(&[NO_OPERATION, WINDOW_SCALE, 3, shift]);
        }
        if !self.sack.is_empty() {
            let length = 2 + 8 * self.sack.len() as u8;
            put(&[NO_OPERATION, NO_OPERATION, SACK, length]);
            for block in self.sack.iter() {
                put(&block.start.0.to_be_bytes());
                put(&block.end.0.to_be_bytes());
            }
        }
    }
}
