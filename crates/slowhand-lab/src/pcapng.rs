//! The blocks of a pcapng file that captures have (draft-ietf-opsawg-pcapng section 4), in little-endian order: the machine's own
//! order would make the same capture differ between machines.

use std::io::{self, Write};

/// Section Header Block (section 4.1).
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
/// Interface Description Block (section 4.2).
const INTERFACE_DESCRIPTION: u32 = 1;
/// Enhanced Packet Block (section 4.3).
const ENHANCED_PACKET: u32 = 6;
/// Decryption Secrets Block (section 4.7).
const DECRYPTION_SECRETS: u32 = 0x0000_000a;

/// By this number a reader learns the order of octets (section 4.1).
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// The section has no length: it ends with the file.
const NO_LENGTH: u64 = u64::MAX;

/// Options of any block (section 3.5), and of an interface (section 4.2).
const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;

/// Writes blocks to a file.
pub(crate) struct Blocks<W> {
    pub(crate) writer: W,
    /// The block that is being written.
    body: Vec<u8>,
}

impl<W: Write> Blocks<W> {
    /// Begins a section with a comment.
    ///
    /// # Errors
    /// The errors of the writer, as in the functions below.
    pub(crate) fn begin(writer: W, comment: Option<&str>) -> io::Result<Self> {
        let mut blocks = Self { writer, body: Vec::new() };
        blocks.put(&BYTE_ORDER_MAGIC.to_le_bytes());
        blocks.put(&1_u16.to_le_bytes()); // version 1.0
        blocks.put(&0_u16.to_le_bytes());
        blocks.put(&NO_LENGTH.to_le_bytes());
        blocks.options(comment.map(|text| (COMMENT, text.as_bytes())).as_slice());
        blocks.write(SECTION_HEADER)?;
        Ok(blocks)
    }

    /// Describes an interface, whose packets have times in nanoseconds and any length.
    pub(crate) fn interface(&mut self, link_type: u16, name: &str) -> io::Result<()> {
        self.put(&link_type.to_le_bytes());
        self.put(&0_u16.to_le_bytes());
        self.put(&0_u32.to_le_bytes());
        self.options(&[(IF_NAME, name.as_bytes()), (IF_TSRESOL, &[9])]);
        self.write(INTERFACE_DESCRIPTION)
    }

    /// Writes secrets of a type.
    pub(crate) fn secrets(&mut self, kind: u32, secrets: &[u8]) -> io::Result<()> {
        self.put(&kind.to_le_bytes());
        self.put(&(secrets.len() as u32).to_le_bytes());
        self.put_padded(secrets);
        self.write(DECRYPTION_SECRETS)
    }

    /// Writes a packet of the first interface.
    pub(crate) fn packet(&mut self, time_ns: u64, packet: &[u8], comment: Option<&str>) -> io::Result<()> {
        let length = (packet.len() as u32).to_le_bytes();
        self.put(&0_u32.to_le_bytes());
        self.put(&((time_ns >> 32) as u32).to_le_bytes());
        self.put(&(time_ns as u32).to_le_bytes());
        self.put(&length);
        self.put(&length);
        self.put_padded(packet);
        self.options(comment.map(|text| (COMMENT, text.as_bytes())).as_slice());
        self.write(ENHANCED_PACKET)
    }

    /// Adds options, and their end if there are any. A value has at most 65,535 octets; the rest is left out.
    fn options(&mut self, options: &[(u16, &[u8])]) {
        for (code, value) in options {
            let value = &value[..value.len().min(u16::MAX.into())];
            self.put(&code.to_le_bytes());
            self.put(&(value.len() as u16).to_le_bytes());
            self.put_padded(value);
        }
        if !options.is_empty() {
            self.put(&END_OF_OPTIONS.to_le_bytes());
            self.put(&0_u16.to_le_bytes());
        }
    }

    fn put(&mut self, octets: &[u8]) {
        self.body.extend_from_slice(octets);
    }

    /// Fills up to a multiple of four octets.
    fn put_padded(&mut self, octets: &[u8]) {
        self.put(octets);
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    /// Writes the block: its type, its length at both ends, and what was put between them.
    fn write(&mut self, kind: u32) -> io::Result<()> {
        let length = (self.body.len() as u32 + 12).to_le_bytes();
        self.writer.write_all(&kind.to_le_bytes())?;
        self.writer.write_all(&length)?;
        self.writer.write_all(&self.body)?;
        self.body.clear();
        self.writer.write_all(&length)
    }
}
