//! A file that is written on a thread of its own: a FIFO blocks until somebody reads it, and a disk may be slow or full. The
//! network waits for neither.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Pieces that wait to be written. *Assumed*: minutes of traffic, for a FIFO that nobody reads yet.
const MOST_PIECES: usize = 16 * 1024;

/// How long the end of a file waits for its last pieces. *Assumed*: nobody reads a FIFO any more that takes longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The thread that writes a file.
pub(crate) struct Writer {
    /// What the file is, in messages.
    what: &'static str,
    path: PathBuf,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// Collects a piece, and hands it to the writer's thread when it is flushed.
pub(crate) struct Pieces {
    sender: SyncSender<Vec<u8>>,
    piece: Vec<u8>,
}

impl Writer {
    /// Starts the thread, which opens the file.
    pub(crate) fn start(
        what: &'static str,
        path: &Path,
        open: impl FnOnce() -> io::Result<File> + Send + 'static,
    ) -> io::Result<(Self, Pieces)> {
        let (sender, receiver) = sync_channel(MOST_PIECES);
        let write = move || write_pieces(open()?, &receiver);
        let thread = std::thread::Builder::new().name(what.to_owned()).spawn(write)?;
        Ok((Self { what, path: path.to_owned(), thread: Some(thread) }, Pieces { sender, piece: Vec::new() }))
    }

    /// The file has ended by an error: a message.
    pub(crate) fn ended(&mut self, error: io::Error) -> String {
        // A thread that has failed says why. One that waits for a reader is left alone: the network does not wait.
        let cause = if error.kind() == io::ErrorKind::BrokenPipe { self.join().err() } else { None };
        self.message(&cause.unwrap_or(error))
    }

    /// Waits until all is written, but not for somebody else. The pieces have been dropped. Returns a message if that failed.
    pub(crate) fn finish(&mut self) -> Option<String> {
        self.join().err().map(|error| self.message(&error))
    }

    fn message(&self, error: &io::Error) -> String {
        let remedy = match error.kind() {
            io::ErrorKind::StorageFull => "; make room on the disk",
            io::ErrorKind::BrokenPipe => " (nobody reads it any more)",
            _ => "",
        };
        let (path, what) = (self.path.display(), self.what);
        format!("{path}: cannot write the {what}: {error}{remedy}; the {what} ends here, the rest goes on")
    }

    fn join(&mut self) -> io::Result<()> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        let began = Instant::now();
        while !thread.is_finished() && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        if !thread.is_finished() {
            return Ok(());
        }
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the writer panicked")))
    }
}

fn write_pieces(mut file: File, receiver: &Receiver<Vec<u8>>) -> io::Result<()> {
    while let Ok(piece) = receiver.recv() {
        file.write_all(&piece)?;
    }
    Ok(())
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
