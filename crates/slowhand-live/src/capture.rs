//! The captures of a live network: that of its start, and those that somebody asks for meanwhile.

use crate::pieces::{Pieces, Writer};
use crate::setup::LiveError;
use slowhand_lab::LiveCapture;
use slowhand_lab::capture::{CaptureError, create_private};
use slowhand_lab::scenario::Scenario;
use slowhand_net::clock::Instant;
use slowhand_net::observer::{Observer, Transmission};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The most captures that are asked for at a time. *Assumed*: one for each Wireshark.
const MOST_ASKED: usize = 8;

/// All captures of a network.
pub(crate) struct Captures {
    first: Option<Capture>,
    asked: Vec<Capture>,
}

/// Why a capture has ended.
pub(crate) struct Ended {
    pub(crate) message: String,
    /// True if it was that of the start.
    pub(crate) is_first: bool,
}

impl Captures {
    pub(crate) fn new(first: Option<Capture>) -> Self {
        Self { first, asked: Vec::new() }
    }

    /// Starts one more capture, into a FIFO, which has the secrets of the sessions that there are.
    pub(crate) fn ask(&mut self, scenario: &Scenario, path: &Path, secrets: &[String]) -> Result<(), String> {
        if !path.is_absolute() || !path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo()) {
            return Err("capture: found no FIFO, allowed: the absolute path of one".to_owned());
        }
        if self.asked.len() >= MOST_ASKED {
            return Err(format!("capture: found {MOST_ASKED} already, allowed: no more at a time"));
        }
        let mut capture = Capture::start(scenario, path, true).map_err(|error| error.to_string())?;
        match capture.secrets(secrets) {
            Some(message) => Err(message),
            None => {
                self.asked.push(capture);
                Ok(())
            }
        }
    }

    pub(crate) fn transmission(&mut self, frame: &Transmission<'_>) {
        self.first.iter_mut().chain(&mut self.asked).for_each(|capture| capture.transmission(frame));
    }

    /// Does something with each capture. Those that fail at it end.
    pub(crate) fn each(&mut self, mut work: impl FnMut(&mut Capture) -> Option<String>) -> Vec<Ended> {
        let mut ended = Vec::new();
        let mut goes_on = |capture: &mut Capture, is_first| match work(capture) {
            Some(message) => {
                ended.push(Ended { message, is_first });
                false
            }
            None => true,
        };
        self.first.take_if(|capture| !goes_on(capture, true));
        self.asked.retain_mut(|capture| goes_on(capture, false));
        ended
    }

    /// Writes all that is left. The captures wait together for those who read them.
    pub(crate) fn finish(&mut self) -> Vec<Ended> {
        self.each(|capture| {
            capture.close();
            None
        });
        let began = std::time::Instant::now();
        self.each(|capture| capture.writer.finish_since(began))
    }
}

/// A capture that is written while the network runs.
pub(crate) struct Capture {
    /// `None` once it has failed.
    frames: Option<LiveCapture<Pieces>>,
    writer: Writer,
}

impl Capture {
    /// Starts a capture. A file is created, or emptied; only its owner may read it if it `has_secrets`. A FIFO is opened when
    /// somebody reads it.
    pub(crate) fn start(scenario: &Scenario, path: &Path, has_secrets: bool) -> Result<Self, LiveError> {
        let refused = |error| LiveError::Capture { path: path.to_owned(), error };
        let is_fifo = path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo());
        let create = if has_secrets { create_private } else { |path: &Path| File::create(path) };
        let file = if is_fifo { None } else { Some(create(path).map_err(refused)?) };
        let fifo = path.to_owned();
        let open = move || file.map_or_else(|| OpenOptions::new().write(true).open(fifo), Ok);
        let (writer, pieces) = Writer::start("capture", path, open).map_err(refused)?;
        let frames = LiveCapture::new(scenario, pieces, path).map_err(|error| refused(of_system(error)))?;
        Ok(Self { frames: Some(frames), writer })
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
        Some(self.stop(error))
    }

    /// Writes the secrets of a session.
    pub(crate) fn secrets(&mut self, lines: &[String]) -> Option<String> {
        if lines.is_empty() {
            return None;
        }
        let error = self.frames.as_mut()?.secrets(lines.iter().map(String::as_str)).err()?;
        Some(self.stop(error))
    }

    /// Hands over all that is left.
    fn close(&mut self) {
        if let Some(frames) = self.frames.take() {
            drop(frames.finish()); // the writer says what failed
        }
    }

    fn stop(&mut self, error: CaptureError) -> String {
        self.frames = None;
        self.writer.ended(of_system(error))
    }
}

fn of_system(error: CaptureError) -> io::Error {
    match error {
        CaptureError::Write { error, .. } => error,
        other => io::Error::other(other),
    }
}
