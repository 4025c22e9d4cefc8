//! Messages of the 6top protocol as octets (RFC 8480, section 3.2).
//!
//! ```text
//! | version (4) | type (2) | reserved (2) | code (8) | SFID (8) | SeqNum (8) | other fields ...
//! ```
//! The first octet has the version in its low bits, as everything in IEEE 802.15.4 goes least significant octet and bit
//! first.

use super::cell::{CellId, CellOptions};

/// The version of 6P that is spoken (RFC 8480, section 3.2.2).
pub const VERSION: u8 = 0;

/// Octets of the header that all messages have.
pub const HEADER: usize = 4;

/// A 6P message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The scheduling function that the sender runs (SFID).
    pub function: u8,
    /// The transaction it belongs to (SeqNum).
    pub sequence: u8,
    /// What it says.
    pub content: Content,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// It opens a transaction.
    Request(Request),
    /// The answer to a request.
    Response(Reply),
    /// The third step, where the responder was to propose the cells.
    Confirmation(Reply),
}

/// A response or confirmation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What became of the request.
    pub code: ReturnCode,
    /// What follows: cells, or the number that COUNT asks for.
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
    /// Adds `count` cells out of `cells`; where that list is empty, the responder proposes some (three steps).
    Add(CellRequest),
    /// Deletes `count` cells out of `cells`; where that list is empty, the responder proposes some (three steps).
    Delete(CellRequest),
    /// Moves cells elsewhere.
    Relocate {
        /// For the scheduling function to interpret.
        metadata: u16,
        /// What the sender of the request does in them.
        options: CellOptions,
        /// The cells to give up.
        cells: Vec<CellId>,
        /// Where they may go.
        candidates: Vec<CellId>,
    },
    /// Asks how many cells of this kind there are.
    Count {
        /// For the scheduling function to interpret.
        metadata: u16,
        /// What the sender of the request does in them.
        options: CellOptions,
    },
    /// Asks which cells of this kind there are.
    List {
        /// For the scheduling function to interpret.
        metadata: u16,
        /// What the sender of the request does in them.
        options: CellOptions,
        /// How many to pass over.
        offset: u16,
        /// How many to tell at most.
        limit: u16,
    },
    /// Something between two scheduling functions.
    Signal {
        /// For the scheduling function to interpret.
        metadata: u16,
        /// The same.
        payload: Vec<u8>,
    },
    /// Deletes all cells between the two, and starts their sequence numbers again.
    Clear {
        /// For the scheduling function to interpret.
        metadata: u16,
    },
}

/// What ADD and DELETE ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellRequest {
    /// For the scheduling function to interpret.
    pub metadata: u16,
    /// What the sender of the request does in the cells.
    pub options: CellOptions,
    /// How many.
    pub count: u8,
    /// Out of which.
    pub cells: Vec<CellId>,
}

/// What became of a request (RFC 8480, section 6.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ReturnCode {
    /// Done.
    Success = 0,
    /// The end of the list.
    EndOfList = 1,
    /// An error that has no name.
    Error = 2,
    /// The transaction is reset.
    Reset = 3,
    /// The version is not spoken.
    Version = 4,
    /// The scheduling function is another.
    Function = 5,
    /// The sequence number is another: the schedules do not agree.
    Sequence = 6,
    /// A cell list that makes no sense.
    CellList = 7,
    /// Busy.
    Busy = 8,
    /// Cells are locked by another transaction.
    Locked = 9,
}

impl ReturnCode {
    const ALL: [Self; 10] = [
        Self::Success,
        Self::EndOfList,
        Self::Error,
        Self::Reset,
        Self::Version,
        Self::Function,
        Self::Sequence,
        Self::CellList,
        Self::Busy,
        Self::Locked,
    ];

    /// Whether the transaction counts: both ends go on to the next sequence number.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Success | Self::EndOfList)
    }
}

/// Why octets are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The octets end inside a field.
    #[error("the octets end inside a field")]
    Truncated,
    /// Another version.
    #[error("6P version {0}, only {VERSION} is spoken")]
    Version(u8),
    /// A type that is reserved.
    #[error("6P message type {0} is reserved")]
    Type(u8),
    /// A code that is not assigned.
    #[error("6P code {0} is not assigned")]
    Code(u8),
    /// A list whose length is no multiple of a cell's, or that has fewer cells than it says.
    #[error("a cell list of {0} octets: a cell takes 4, and as many have to be there as are said to be")]
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
    /// As [`Error`] says.
    pub fn parse(octets: &[u8]) -> Result<Self, Error> {
        let (&[first, code, function, sequence], body) = octets.split_first_chunk().ok_or(Error::Truncated)?;
        if first & 0xf != VERSION {
            return Err(Error::Version(first & 0xf));
        }
        let reply = || {
            let code = ReturnCode::ALL.into_iter().find(|known| *known as u8 == code).ok_or(Error::Code(code))?;
            Ok(Reply { code, body: body.to_vec() })
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

    /// The two octets that scheduling functions may use as they like (RFC 8480, section 3.2.2).
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

    /// Whether the responder proposes the cells, so that a confirmation has to follow.
    pub fn takes_three_steps(&self) -> bool {
        match self {
            Self::Add(request) | Self::Delete(request) => request.cells.is_empty(),
            Self::Relocate { candidates, .. } => candidates.is_empty(),
            _ => false,
        }
    }

    /// The cells it names as places that are to be used.
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
