//! The capture of a live network. It is written on a thread of its own: a FIFO blocks until somebody reads it, and a disk may
//! be slow or full. The network waits for neither.

use crate::setup::LiveError;
use slowhand_lab::LiveCapture;
use slowhand_lab::capture::{CaptureError, create_private};
use slowhand_lab::scenario::Scenario;
use slowhand_net::clock::Instant;
use slowhand_net::observer::Transmission;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as WallInstant};

/// Pieces of the capture that wait to be written. *Assumed*: minutes of traffic, for a FIFO that nobody reads yet.
const MOST_PIECES: usize = 16 * 1024;

/// How long the end of a capture waits for its last pieces. *Assumed*: nobody reads a FIFO any more that takes longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// A capture that is written while the network runs.
pub(crate) struct Capture {
    /// `None` once it has failed.
    frames: Option<LiveCapture<Pieces>>,
    path: PathBuf,
    writer: Option<JoinHandle<io::Result<()>>>,
}

impl Capture {
    /// Starts a capture. A file is created, or emptied; only its owner may read it if it `has_secrets`. A FIFO is opened
    /// when somebody reads it.
    pub(crate) fn start(scenario: &Scenario, path: &Path, has_secrets: bool) -> Result<Self, LiveError> {
        let refused = |error| LiveError::Capture { path: path.to_owned(), error };
        let is_fifo = path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo());
        let create = if has_secrets { create_private } else { |path: &Path| File::create(path) };
        let file = if is_fifo { None } else { Some(create(path).map_err(refused)?) };
        let (sender, receiver) = sync_channel(MOST_PIECES);
        let fifo = path.to_owned();
        let write = move || {
            let file = match file {
                Some(file) => file,
                None => OpenOptions::new().write(true).open(fifo)?,
            };
            write_pieces(file, &receiver)
        };
        let writer = std::thread::Builder::new().name("capture".to_owned()).spawn(write).map_err(refused)?;
        let frames =
            LiveCapture::new(scenario, Pieces { sender, piece: Vec::new() }, path).map_err(|error| match error {
                CaptureError::Write { path, error } => LiveError::Capture { path, error },
                other => LiveError::Capture { path: path.to_owned(), error: io::Error::other(other) },
            })?;
        Ok(Self { frames: Some(frames), path: path.to_owned(), writer: Some(writer) })
    }

    pub(crate) fn transmission(&mut self, frame: &Transmission<'_>) {
        if let Some(frames) = &mut self.frames {
            frames.transmission(frame);
        }
    }

    /// Hands the frames whose turn it is to the writer. Returns a message if the capture has failed: it stops, and all else
    /// goes on.
    pub(crate) fn write_until(&mut self, now: Instant) -> Option<String> {
        let error = self.frames.as_mut()?.write_until(now).err()?;
        Some(self.stop(&error))
    }

    /// Writes the secrets of a session.
    pub(crate) fn secrets(&mut self, lines: &[String]) -> Option<String> {
        if lines.is_empty() {
            return None;
        }
        let error = self.frames.as_mut()?.secrets(lines.iter().map(String::as_str)).err()?;
        Some(self.stop(&error))
    }

    /// Writes all that is left.
    pub(crate) fn finish(mut self) -> Option<String> {
        let error = match self.frames.take()?.finish() {
            Ok(pieces) => {
                drop(pieces);
                self.join().err()
            }
            Err(_) => self.join().err(),
        };
        error.map(|error| self.message(&error))
    }

    fn stop(&mut self, error: &CaptureError) -> String {
        self.frames = None;
        // A writer that has failed says why. One that waits for a reader is left alone: the network does not wait.
        let has_ended = matches!(error, CaptureError::Write { error, .. } if error.kind() == io::ErrorKind::BrokenPipe);
        match if has_ended { self.join() } else { Ok(()) } {
            Err(cause) => self.message(&cause),
            Ok(()) => format!("{error}; the capture ends here, the rest goes on"),
        }
    }

    fn message(&self, error: &io::Error) -> String {
        let remedy = match error.kind() {
            io::ErrorKind::StorageFull => "; make room on the disk",
            io::ErrorKind::BrokenPipe => " (nobody reads it any more)",
            _ => "",
        };
        format!(
            "{}: cannot write the capture: {error}{remedy}; the capture ends here, the rest goes on",
            self.path.display()
        )
    }

    /// Waits for the writer. It is left alone if it waits for somebody else.
    fn join(&mut self) -> io::Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let began = WallInstant::now();
        while !writer.is_finished() && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        if !writer.is_finished() {
            return Ok(());
        }
        writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer panicked")))
    }
}

fn write_pieces(mut file: File, receiver: &Receiver<Vec<u8>>) -> io::Result<()> {
    while let Ok(piece) = receiver.recv() {
        file.write_all(&piece)?;
    }
    Ok(())
}

/// Collects a piece, and hands it to the writer's thread when it is flushed.
struct Pieces {
    sender: SyncSender<Vec<u8>>,
    piece: Vec<u8>,
}

impl Write for Pieces {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        match self.sender.try_send(std::mem::take(&mut self.piece)) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => Err(io::Error::other("nobody has read it for too long")),
            Err(TrySendError::Disconnected(_)) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}
