//! Messages of the 6top protocol as octets (RFC 8480, section 3.2).
//!
//! ```text
//! | version (4) | type (2) | reserved (2) | code (8) | SFID (8) | SeqNum (8) | other fields ...
//! ```
//! The version is in the low bits of the first octet: in IEEE 802.15.4, the least significant octet and bit come first.

use super::cell::{CellId, CellOptions};

/// The supported version of 6P (RFC 8480, section 3.2.2).
pub const VERSION: u8 = 0;

/// Octets of the common header.
pub const HEADER: usize = 4;

/// A 6P message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The scheduling function of the sender (SFID).
    pub function: u8,
    /// The sequence number of the transaction (SeqNum).
    pub sequence: u8,
    /// The content.
    pub content: Content,
}

/// The content of a message, by its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A request. It opens a transaction.
    Request(Request),
    /// The answer to a request.
    Response(Reply),
    /// The third step, if the responder proposes the cells.
    Confirmation(Reply),
}

/// A response or confirmation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The return code.
    pub code: ReturnCode,
    /// The other fields: a cell list, or the number that COUNT asks for.
    pub body: Vec<u8>,
}

impl Reply {
    /// A reply with a list of cells.
    pub fn with_cells(code: ReturnCode, cells: &[CellId]) -> Self {
        let mut body = Vec::new();
        emit_cells(cells, &mut body);
        Self { code, body }
    }

    /// Its body as a list of cells.
    ///
    /// # Errors
    /// [`Error::CellList`].
    pub fn cells(&self) -> Result<Vec<CellId>, Error> {
        parse_cells(&self.body)
    }

    /// Its body as the number of cells that COUNT asks for.
    ///
    /// # Errors
    /// [`Error::Truncated`].
    pub fn count(&self) -> Result<u16, Error> {
        self.body.first_chunk().map(|octets| u16::from_le_bytes(*octets)).ok_or(Error::Truncated)
    }
}

/// A request (RFC 8480, section 3.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Adds `count` of `cells`. If that list is empty, the responder proposes cells (three steps).
    Add(CellRequest),
    /// Deletes `count` of `cells`. If that list is empty, the responder proposes cells (three steps).
    Delete(CellRequest),
    /// Moves cells to other slots.
    Relocate {
        /// For the scheduling function to interpret.
        metadata: u16,
        /// The cell options of the sender of the request.
        options: CellOptions,
        /// The cells to move.
        cells: Vec<CellId>,
        /// The possible new cells. If that list is empty, the responder proposes cells (three steps).
        candidates: Vec<CellId>,
    },
    /// Asks for the number of cells with these options.
    Count {
        /// For the scheduling function to interpret.
        metadata: u16,
        /// The cell options of the sender of the request.
        options: CellOptions,
    },
    /// Asks for the list of cells with these options.
    List {
        /// For the scheduling function to interpret.
        metadata: u16,
        /// The cell options of the sender of the request.
        options: CellOptions,
        /// The number of cells to skip.
        offset: u16,
        /// The most cells in the response.
        limit: u16,
    },
    /// A message between two scheduling functions.
    Signal {
        /// For the scheduling function to interpret.
        metadata: u16,
        /// For the scheduling function to interpret.
        payload: Vec<u8>,
    },
    /// Deletes all cells between the two nodes, and resets their sequence numbers.
    Clear {
        /// For the scheduling function to interpret.
        metadata: u16,
    },
}

/// The fields of ADD and DELETE requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellRequest {
    /// For the scheduling function to interpret.
    pub metadata: u16,
    /// The cell options of the sender of the request.
    pub options: CellOptions,
    /// The number of cells to add or delete.
    pub count: u8,
    /// The candidates.
    pub cells: Vec<CellId>,
}

listed! {
    /// The return codes (RFC 8480, section 6.2.4).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum ReturnCode {
        /// RC_SUCCESS: the operation succeeded.
        Success = 0,
        /// RC_EOL: success, and the end of the list.
        EndOfList = 1,
        /// RC_ERR: any other error.
        Error = 2,
        /// RC_RESET: critical error, the transaction is reset.
        Reset = 3,
        /// RC_ERR_VERSION: the version is not supported.
        Version = 4,
        /// RC_ERR_SFID: the SFID is not supported.
        Function = 5,
        /// RC_ERR_SEQNUM: the sequence number is wrong. The schedules are inconsistent.
        Sequence = 6,
        /// RC_ERR_CELLLIST: error in the cell list.
        CellList = 7,
        /// RC_ERR_BUSY: the neighbour is busy.
        Busy = 8,
        /// RC_ERR_LOCKED: another transaction has locked the cells.
        Locked = 9,
    }
}

impl ReturnCode {
    /// True if the transaction succeeded. Both ends then increment the sequence number.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Success | Self::EndOfList)
    }
}

/// The reason why octets are not a valid message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The octets end inside a field.
    #[error("the octets end inside a field")]
    Truncated,
    /// A version that is not supported.
    #[error("6P version {0} is not supported, only version {VERSION}")]
    Version(u8),
    /// A reserved type.
    #[error("6P message type {0} is reserved")]
    Type(u8),
    /// An unassigned code.
    #[error("6P code {0} is not assigned")]
    Code(u8),
    /// The length of a list is not a multiple of 4 octets, or the list has fewer cells than the message says.
    #[error("a cell list of {0} octets: not a multiple of 4, or fewer cells than the message says")]
    CellList(usize),
}

mod command {
    pub const ADD: u8 = 1;
    pub const DELETE: u8 = 2;
    pub const RELOCATE: u8 = 3;
    pub const COUNT: u8 = 4;
    pub const LIST: u8 = 5;
    pub const SIGNAL: u8 = 6;
    pub const CLEAR: u8 = 7;
}

impl Message {
    /// Appends the message to `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let (kind, code) = match &self.content {
            Content::Request(request) => (0, request.code()),
            Content::Response(reply) => (1, reply.code as u8),
            Content::Confirmation(reply) => (2, reply.code as u8),
        };
        out.extend([VERSION | kind << 4, code, self.function, self.sequence]);
        match &self.content {
            Content::Request(request) => request.emit(out),
            Content::Response(reply) | Content::Confirmation(reply) => out.extend(&reply.body),
        }
    }

    /// Reads a message that fills `octets`.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn parse(octets: &[u8]) -> Result<Self, Error> {
        let (&[first, code, function, sequence], body) = octets.split_first_chunk().ok_or(Error::Truncated)?;
        if first & 0xf != VERSION {
            return Err(Error::Version(first & 0xf));
        }
        let reply = || {
            let known = ReturnCode::ALL.get(usize::from(code));
            Ok(Reply { code: *known.ok_or(Error::Code(code))?, body: body.to_vec() })
        };
        let content = match first >> 4 & 0b11 {
            0 => Content::Request(Request::parse(code, body)?),
            1 => Content::Response(reply()?),
            2 => Content::Confirmation(reply()?),
            reserved => return Err(Error::Type(reserved)),
        };
        Ok(Self { function, sequence, content })
    }
}

impl Request {
    fn code(&self) -> u8 {
        match self {
            Self::Add(_) => command::ADD,
            Self::Delete(_) => command::DELETE,
            Self::Relocate { .. } => command::RELOCATE,
            Self::Count { .. } => command::COUNT,
            Self::List { .. } => command::LIST,
            Self::Signal { .. } => command::SIGNAL,
            Self::Clear { .. } => command::CLEAR,
        }
    }

    /// The metadata: two octets that only the scheduling function interprets (RFC 8480, section 3.2.2).
    pub fn metadata(&self) -> u16 {
        match self {
            Self::Add(CellRequest { metadata, .. }) | Self::Delete(CellRequest { metadata, .. }) => *metadata,
            Self::Relocate { metadata, .. }
            | Self::Count { metadata, .. }
            | Self::List { metadata, .. }
            | Self::Signal { metadata, .. }
            | Self::Clear { metadata } => *metadata,
        }
    }

    /// True if the responder proposes the cells, so that a confirmation must follow.
    pub fn takes_three_steps(&self) -> bool {
        match self {
            Self::Add(request) | Self::Delete(request) => request.cells.is_empty(),
            Self::Relocate { candidates, .. } => candidates.is_empty(),
            _ => false,
        }
    }

    /// The cells that it names as candidates.
    pub fn candidates(&self) -> &[CellId] {
        match self {
            Self::Add(request) => &request.cells,
            Self::Relocate { candidates, .. } => candidates,
            _ => &[],
        }
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.metadata().to_le_bytes());
        match self {
            Self::Add(request) | Self::Delete(request) => {
                out.extend([emit_options(request.options), request.count]);
                emit_cells(&request.cells, out);
            }
            Self::Relocate { options, cells, candidates, .. } => {
                out.extend([emit_options(*options), cells.len() as u8]);
                emit_cells(cells, out);
                emit_cells(candidates, out);
            }
            Self::Count { options, .. } => out.push(emit_options(*options)),
            Self::List { options, offset, limit, .. } => {
                out.extend([emit_options(*options), 0]);
                out.extend(offset.to_le_bytes());
                out.extend(limit.to_le_bytes());
            }
            Self::Signal { payload, .. } => out.extend(payload),
            Self::Clear { .. } => {}
        }
    }

    fn parse(code: u8, body: &[u8]) -> Result<Self, Error> {
        let (metadata, body) = body.split_first_chunk().ok_or(Error::Truncated)?;
        let metadata = u16::from_le_bytes(*metadata);
        let cell_request = || {
            let (&[options, count], cells) = body.split_first_chunk().ok_or(Error::Truncated)?;
            Ok(CellRequest { metadata, options: parse_options(options), count, cells: parse_cells(cells)? })
        };
        let options = || body.first().map(|&octet| parse_options(octet)).ok_or(Error::Truncated);
        Ok(match code {
            command::ADD => Self::Add(cell_request()?),
            command::DELETE => Self::Delete(cell_request()?),
            command::RELOCATE => {
                let CellRequest { options, count, mut cells, .. } = cell_request()?;
                if cells.len() < usize::from(count) {
                    return Err(Error::CellList(cells.len() * 4));
                }
                let candidates = cells.split_off(usize::from(count));
                Self::Relocate { metadata, options, cells, candidates }
            }
            command::COUNT => Self::Count { metadata, options: options()? },
            command::LIST => {
                let &[_, _, offset_low, offset_high, limit_low, limit_high] =
                    body.first_chunk().ok_or(Error::Truncated)?;
                Self::List {
                    metadata,
                    options: options()?,
                    offset: u16::from_le_bytes([offset_low, offset_high]),
                    limit: u16::from_le_bytes([limit_low, limit_high]),
                }
            }
            command::SIGNAL => Self::Signal { metadata, payload: body.to_vec() },
            command::CLEAR => Self::Clear { metadata },
            unknown => return Err(Error::Code(unknown)),
        })
    }
}

/// The bits of the cell options (RFC 8480, section 6.2.6).
fn emit_options(options: CellOptions) -> u8 {
    u8::from(options.transmit) | u8::from(options.receive) << 1 | u8::from(options.shared) << 2
}

fn parse_options(octet: u8) -> CellOptions {
    CellOptions { transmit: octet & 1 != 0, receive: octet & 2 != 0, shared: octet & 4 != 0 }
}

fn emit_cells(cells: &[CellId], out: &mut Vec<u8>) {
    for cell in cells {
        out.extend(cell.slot.to_le_bytes());
        out.extend(cell.channel_offset.to_le_bytes());
    }
}

fn parse_cells(octets: &[u8]) -> Result<Vec<CellId>, Error> {
    let (cells, rest) = octets.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(Error::CellList(octets.len()));
    }
    let cell = |&[a, b, c, d]: &[u8; 4]| CellId {
        slot: u16::from_le_bytes([a, b]),
        channel_offset: u16::from_le_bytes([c, d]),
    };
    Ok(cells.iter().map(cell).collect())
}

#[cfg(test)]
mod tests;
