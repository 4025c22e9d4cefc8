//! Reading and writing octets in order, the least significant octet of a number first.

use super::error::Error;
use crate::cursor::{self, Format};

pub(super) type Reader<'a> = cursor::Reader<'a, Error>;
pub(super) type Writer<'a> = cursor::Writer<'a, Error>;

impl Format for Error {
    const IS_BIG_ENDIAN: bool = false;
    const TRUNCATED: Self = Self::Truncated;

    fn too_small(length: usize) -> Self {
        Self::BufferTooSmall(length)
    }
}
