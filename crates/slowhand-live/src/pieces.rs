//! A file that is written on a thread of its own: a FIFO blocks until somebody reads it, and a disk may be slow or full. The
//! network waits for neither.

use slowhand_lab::input::Place;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Octets that wait to be written. *Assumed*: half an hour of a channel that is never free (250 kbit/s), for a FIFO that nobody
/// reads yet, and little of the memory of a computer.
const MOST_WAITING: usize = 64 << 20;

/// The time that the end of a file waits for its last pieces. *Assumed*: nobody reads a FIFO any more that takes longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The thread that writes a file.
pub(crate) struct Writer {
    /// The name of the file in messages.
    what: &'static str,
    path: PathBuf,
    thread: Option<JoinHandle<io::Result<()>>>,
    waiting: Arc<AtomicUsize>,
}

/// Collects a piece, and hands it to the writer's thread when it is flushed.
pub(crate) struct Pieces {
    sender: Sender<Vec<u8>>,
    piece: Vec<u8>,
    /// Octets that were handed over and are not written yet.
    waiting: Arc<AtomicUsize>,
}

impl Writer {
    /// Starts the thread, which opens the file.
    pub(crate) fn start(
        what: &'static str,
        path: &Path,
        open: impl FnOnce() -> io::Result<File> + Send + 'static,
    ) -> io::Result<(Self, Pieces)> {
        let (sender, receiver) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&waiting);
        let write = move || write_pieces(open()?, &receiver, &left);
        let thread = std::thread::Builder::new().name(what.to_owned()).spawn(write)?;
        let pieces = Pieces { sender, piece: Vec::new(), waiting: Arc::clone(&waiting) };
        Ok((Self { what, path: path.to_owned(), thread: Some(thread), waiting }, pieces))
    }

    /// The file has ended by an error: a message.
    pub(crate) fn ended(&mut self, error: io::Error) -> String {
        // A thread that has failed says why. One that waits for a reader is left alone: the network does not wait.
        let cause = if error.kind() == io::ErrorKind::BrokenPipe { self.join(Instant::now()).err() } else { None };
        format!("{}; the {} ends here, the rest goes on", self.message(&cause.unwrap_or(error)), self.what)
    }

    /// Waits until all is written, but not long for somebody else. The pieces have been dropped. Returns a message if it is not.
    pub(crate) fn finish(&mut self) -> Option<String> {
        self.finish_since(Instant::now())
    }

    /// Does the work of [`finish`](Self::finish) for one of several files, whose end has begun.
    pub(crate) fn finish_since(&mut self, began: Instant) -> Option<String> {
        self.join(began).err().map(|error| format!("{}; the end of the {} is missing", self.message(&error), self.what))
    }

    fn message(&self, error: &io::Error) -> String {
        let remedy = match error.kind() {
            io::ErrorKind::StorageFull => "; make room on the disk",
            io::ErrorKind::BrokenPipe => " (nobody reads it any more)",
            io::ErrorKind::TimedOut => " (nobody reads it, or the disk is slow)",
            _ => "",
        };
        let (path, what) = (Place::File(self.path.clone()), self.what);
        format!("{path}: cannot write the {what}: {error}{remedy}")
    }

    fn join(&mut self, began: Instant) -> io::Result<()> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        while !thread.is_finished() && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        if !thread.is_finished() {
            let left = self.waiting.load(Ordering::Relaxed);
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("{left} octets still wait after {PATIENCE:?}"),
            ));
        }
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the writer panicked")))
    }
}

fn write_pieces(mut file: File, receiver: &Receiver<Vec<u8>>, waiting: &AtomicUsize) -> io::Result<()> {
    while let Ok(piece) = receiver.recv() {
        file.write_all(&piece)?;
        waiting.fetch_sub(piece.len(), Ordering::Relaxed);
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
        let octets = self.piece.len();
        let waiting = self.waiting.fetch_add(octets, Ordering::Relaxed);
        if waiting > 0 && waiting + octets > MOST_WAITING {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("{waiting} octets wait already")));
        }
        self.sender.send(std::mem::take(&mut self.piece)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer whose file does not open until the end of the test, as a FIFO that nobody reads.
    fn blocked() -> (Writer, Pieces, Sender<()>) {
        let (opens, waits) = channel();
        let open =
            move || waits.recv().map_or_else(|_| Err(io::ErrorKind::NotFound.into()), |()| File::open("/dev/null"));
        let (writer, pieces) = Writer::start("capture", Path::new("air"), open).unwrap();
        (writer, pieces, opens)
    }

    fn hand_over(pieces: &mut Pieces, octets: usize) -> io::Result<()> {
        pieces.write_all(&vec![0; octets])?;
        pieces.flush()
    }

    /// The pieces that wait are bounded by their octets: many small ones may wait, few large ones may not.
    #[test]
    fn what_waits_is_bounded_by_its_octets() {
        let (mut writer, mut pieces, _opens) = blocked();
        for _ in 0..100_000 {
            hand_over(&mut pieces, 100).unwrap();
        }
        let large = 1 << 20;
        let taken = (0..1000).take_while(|_| hand_over(&mut pieces, large).is_ok()).count();
        assert_eq!(taken, (MOST_WAITING - 100_000 * 100) / large);
        let message = writer.ended(hand_over(&mut pieces, large).unwrap_err());
        assert!(message.contains("nobody reads it, or the disk is slow"), "{message}");
        // A piece that is larger than the bound is written, if nothing else waits.
        let (_writer, mut pieces, _opens) = blocked();
        hand_over(&mut pieces, MOST_WAITING + 1).unwrap();
    }

    /// The end does not wait for ever, and says what is missing.
    #[test]
    fn an_end_that_was_not_written_is_said() {
        let (mut writer, mut pieces, _opens) = blocked();
        hand_over(&mut pieces, 100).unwrap();
        drop(pieces);
        let message = writer.finish().expect("nothing was written");
        let expected = "air: cannot write the capture: 100 octets still wait after 2s (nobody reads it, or the disk is slow); \
                        the end of the capture is missing";
        assert_eq!(message, expected);
    }
}
