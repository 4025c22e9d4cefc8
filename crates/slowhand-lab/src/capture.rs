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

use std::fs::File;
#[cfg(unix)]
use std::fs::{OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
#[cfg(unix)]
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::input::Place;
use crate::pcapng::Blocks;

/// The link type IEEE 802.15.4 TAP (tcpdump.org/linktypes.html).
const IEEE802_15_4_TAP: u16 = 283;

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
    blocks: Blocks<W>,
    path: PathBuf,
    /// The time of the last frame, in microseconds; `None` before the first.
    last: Option<u64>,
    packet: Vec<u8>,
}

/// A capture that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be created or written to.
    #[error("{}: cannot write the capture: {error}", Place::File(path.clone()))]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
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
/// The error of the system.
#[cfg(unix)]
pub fn create_private(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
        let _ = file.set_permissions(Permissions::from_mode(0o600)); // a file of another user stays as it is
    }
    Ok(file)
}

/// Fails on a page, which has no files: the system refuses.
///
/// # Errors
/// The error of the system.
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
        let failed = |error| CaptureError::Write { path: path.to_owned(), error };
        let mut blocks = Blocks::begin(writer, comment).map_err(failed)?;
        blocks.interface(IEEE802_15_4_TAP, "mesh").map_err(failed)?;
        Ok(Self { blocks, path: path.to_owned(), last: None, packet: Vec::new() })
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
        let written = self.blocks.secrets(TLS_KEY_LOG, log.as_bytes());
        self.written(written)
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
        write_tap_header(&mut self.packet, channel, asn);
        self.packet.extend_from_slice(psdu);
        let written = self.blocks.packet(time_us.saturating_mul(1_000), &self.packet, comment);
        self.written(written)
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> Result<(), CaptureError> {
        let written = self.blocks.writer.flush();
        self.written(written)
    }

    /// Ends the capture: what is buffered is written out.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<W, CaptureError> {
        let Self { blocks: Blocks { mut writer, .. }, path, .. } = self;
        match writer.flush() {
            Ok(()) => Ok(writer),
            Err(error) => Err(CaptureError::Write { path, error }),
        }
    }

    fn written(&self, written: io::Result<()>) -> Result<(), CaptureError> {
        written.map_err(|error| CaptureError::Write { path: self.path.clone(), error })
    }
}

/// Writes the part before the frame: version 0, the length of it all, then the fields.
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
