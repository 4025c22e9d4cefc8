//! Frames as a pcapng file for Wireshark.
//!
//! One packet for each 802.15.4 frame, with the link type IEEE 802.15.4 TAP (283): before the frame stand
//! its channel and the absolute slot number. A decryption secrets block in front of the packets carries
//! the keys of the sessions, so that what is encrypted is shown in the clear. Such blocks have no type for the
//! keys of IEEE 802.15.4 (draft-ietf-opsawg-pcapng has TLS, SSH, WireGuard, OPC UA, ESP, and Zigbee's network and
//! application layers), so the comment of the file says them.
//!
//! Sources: the pcapng format (draft-ietf-opsawg-pcapng) and the IEEE 802.15.4 TAP link type
//! (Exegin Technologies, "IEEE 802.15.4 TAP Link Type Specification").

use std::borrow::Cow;
use std::fs::File;
#[cfg(unix)]
use std::fs::{OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
#[cfg(unix)]
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::blocks::unknown::UnknownBlock;
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness, PcapError};

/// The block type of decryption secrets.
const DECRYPTION_SECRETS: u32 = 0x0000_000a;

/// The secrets type of an NSS key log (`SSLKEYLOGFILE`).
const TLS_KEY_LOG: u32 = 0x544c_534b;

/// Types of the fields (type, length, value) in front of a frame.
mod tap {
    pub(super) const FCS_TYPE: u16 = 0;
    pub(super) const CHANNEL_ASSIGNMENT: u16 = 3;
    pub(super) const ABSOLUTE_SLOT_NUMBER: u16 = 7;

    /// The value of `FCS_TYPE` for a frame that ends in a 16-bit check sequence.
    pub(super) const FCS_16_BIT: u8 = 1;
    /// The channel page of the 2.4 GHz band with O-QPSK.
    pub(super) const PAGE: u8 = 0;
}

/// Writes frames to a pcapng file.
pub struct CaptureWriter<W: Write> {
    writer: PcapNgWriter<W>,
    path: PathBuf,
    /// The time of the last frame, in microseconds; `None` before the first.
    last: Option<u64>,
    packet: Vec<u8>,
}

/// A capture that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be created or written to.
    #[error("{}: cannot write the capture: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A frame came with an earlier time than the one before.
    #[error(
        "{}: a frame of {time_us} us behind one of {last_us} us: hand over frames in the order of their times",
        path.display()
    )]
    OutOfOrder {
        /// The file.
        path: PathBuf,
        /// The time of the frame.
        time_us: u64,
        /// The time of the one before.
        last_us: u64,
    },
    /// Secrets decrypt only the frames that follow them.
    #[error("{}: secrets behind the first frame: write the secrets first", path.display())]
    LateSecrets {
        /// The file.
        path: PathBuf,
    },
}

impl CaptureWriter<BufWriter<File>> {
    /// Creates the file, or empties it; only its owner may read it ([`create_private`]). Its comment is what a reader has to
    /// know of it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(path: &Path, comment: Option<&str>) -> Result<Self, CaptureError> {
        let file = create_private(path).map_err(|error| CaptureError::Write { path: path.to_owned(), error })?;
        Self::new(BufWriter::new(file), path, comment)
    }
}

/// Creates a file for secrets, or empties it: mode 0600, which a file that is there gets too.
///
/// # Errors
/// What the system says.
#[cfg(unix)]
pub fn create_private(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
        let _ = file.set_permissions(Permissions::from_mode(0o600)); // a file of another user stays as it is
    }
    Ok(file)
}

/// The same for a page, which has no files: the system refuses.
///
/// # Errors
/// What the system says.
#[cfg(not(unix))]
pub fn create_private(path: &Path) -> io::Result<File> {
    File::create(path)
}

impl<W: Write> CaptureWriter<W> {
    /// Starts a capture in `writer`, which errors will call `path`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(writer: W, path: &Path, comment: Option<&str>) -> Result<Self, CaptureError> {
        let section = SectionHeaderBlock {
            // The machine's own order of octets would make the same capture differ between machines.
            endianness: Endianness::Little,
            options: comment.map(|text| SectionHeaderOption::Comment(text.to_owned().into())).into_iter().collect(),
            ..SectionHeaderBlock::default()
        };
        let writer = PcapNgWriter::with_section_header(writer, section).map_err(|error| failed(path, error))?;
        let mut capture = Self { writer, path: path.to_owned(), last: None, packet: Vec::new() };
        let nanoseconds = InterfaceDescriptionOption::IfTsResol(9);
        let name = InterfaceDescriptionOption::IfName(Cow::Borrowed("mesh"));
        capture.block(InterfaceDescriptionBlock {
            linktype: DataLink::IEEE802_15_4_TAP,
            snaplen: 0,
            options: vec![name, nanoseconds],
        })?;
        Ok(capture)
    }

    /// Writes the secrets of sessions: lines as of an NSS key log (`CLIENT_RANDOM <hex> <hex>`).
    ///
    /// # Errors
    /// A frame has been written already, or the file cannot be.
    pub fn secrets<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) -> Result<(), CaptureError> {
        if self.last.is_some() {
            return Err(CaptureError::LateSecrets { path: self.path.clone() });
        }
        self.add_secrets(lines)
    }

    /// Writes secrets behind frames, in a capture that is read while it is written. They decrypt what follows. A reader that
    /// reads twice, as Wireshark with its window, decrypts everything.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_secrets<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) -> Result<(), CaptureError> {
        let log: String = lines.into_iter().flat_map(|line| [line, "\n"]).collect();
        // Four gigabytes of key log would be 24 million sessions.
        let length = log.len() as u32;
        let value = [&TLS_KEY_LOG.to_le_bytes(), &length.to_le_bytes(), log.as_bytes()].concat();
        self.block(UnknownBlock { type_: DECRYPTION_SECRETS, length: 0, value: Cow::Owned(value) })
    }

    /// Writes a frame: when its first symbol was sent (microseconds since the world began), the channel
    /// (11 to 26), the slot where there are slots, its octets with the check sequence, and a comment.
    ///
    /// # Errors
    /// An earlier frame has a later time, or the file cannot be written.
    pub fn frame(
        &mut self,
        time_us: u64,
        channel: u8,
        asn: Option<u64>,
        psdu: &[u8],
        comment: Option<&str>,
    ) -> Result<(), CaptureError> {
        if let Some(last_us) = self.last.filter(|&last| last > time_us) {
            return Err(CaptureError::OutOfOrder { path: self.path.clone(), time_us, last_us });
        }
        self.last = Some(time_us);
        let mut packet = std::mem::take(&mut self.packet);
        write_tap_header(&mut packet, channel, asn);
        packet.extend_from_slice(psdu);
        let written = self.block(EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_micros(time_us),
            original_len: packet.len() as u32,
            data: Cow::Borrowed(&packet),
            options: comment.map(|text| EnhancedPacketOption::Comment(Cow::Borrowed(text))).into_iter().collect(),
        });
        self.packet = packet;
        written
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> Result<(), CaptureError> {
        self.writer.get_mut().flush().map_err(|error| CaptureError::Write { path: self.path.clone(), error })
    }

    /// Ends the capture: what is buffered is written out.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<W, CaptureError> {
        let mut writer = self.writer.into_inner();
        match writer.flush() {
            Ok(()) => Ok(writer),
            Err(error) => Err(CaptureError::Write { path: self.path, error }),
        }
    }

    fn block<'a>(&mut self, block: impl PcapNgBlock<'a>) -> Result<(), CaptureError> {
        let written = self.writer.write_block(&block.into_block());
        written.map(|_| ()).map_err(|error| failed(&self.path, error))
    }
}

/// What stands before the frame: version 0, the length of it all, then the fields.
fn write_tap_header(packet: &mut Vec<u8>, channel: u8, asn: Option<u64>) {
    packet.clear();
    packet.extend_from_slice(&[0; 4]);
    write_field(packet, tap::FCS_TYPE, &[tap::FCS_16_BIT]);
    write_field(packet, tap::CHANNEL_ASSIGNMENT, &[channel, 0, tap::PAGE]);
    if let Some(asn) = asn {
        write_field(packet, tap::ABSOLUTE_SLOT_NUMBER, &asn.to_le_bytes());
    }
    let length = packet.len() as u16;
    packet[2..4].copy_from_slice(&length.to_le_bytes());
}

/// A field: type, length, value, filled up to a multiple of four octets.
fn write_field(packet: &mut Vec<u8>, kind: u16, value: &[u8]) {
    packet.extend_from_slice(&kind.to_le_bytes());
    packet.extend_from_slice(&(value.len() as u16).to_le_bytes());
    packet.extend_from_slice(value);
    packet.resize(packet.len().next_multiple_of(4), 0);
}

fn failed(path: &Path, error: PcapError) -> CaptureError {
    let error = match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    };
    CaptureError::Write { path: path.to_owned(), error }
}
