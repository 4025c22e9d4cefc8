//! Commands from other processes: a Unix socket, and one JSON object a line each way.
//!
//! `{"set": "network.link_pdr=0.7"}`, `{"node": 1, "on": false}`, `{"capture": "/path/of/a/fifo"}`, `{"status": true}` and
//! `{"frames": true}`. The answer is `{"ok": true}`, `{"error": "..."}`, a snapshot, or a snapshot with the frames since the last
//! time that somebody asked for them.

use crate::setup::LiveError;
use mio::net::{UnixListener, UnixStream};
use mio::{Interest, Registry, Token};
use rustix::fs::{Mode, fchmod};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest line. *Assumed*: a command is much shorter.
const LONGEST: usize = 64 * 1024;

/// The most octets that wait for somebody who does not read them. *Assumed*: some snapshots of large networks.
const MOST_UNSENT: usize = 16 * 1024 * 1024;

/// The most commands that are done at once; further ones are refused. *Assumed*.
const MOST_REQUESTS: usize = 16;

/// The most connections at a time. *Assumed*. The next one takes the place of the one that has been silent the longest.
const MOST_CONNECTIONS: usize = 32;

/// The longest time that a connection may be there without a command. *Assumed*: who has one sends it at once.
pub(crate) const LONGEST_SILENCE: Duration = Duration::from_secs(60);

/// Connections that the system keeps until they are accepted. *Assumed*: more than the network has room for.
const BACKLOG: i32 = 128;

/// A command.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Request {
    Set { set: String },
    Switch { node: u16, on: bool },
    Capture { capture: PathBuf },
    Status { status: bool },
    Frames { frames: bool },
}

/// The socket, and who is connected.
pub(crate) struct Control {
    listener: UnixListener,
    path: PathBuf,
    /// The device and the number of its file.
    file: (u64, u64),
    first_token: usize,
    connections: BTreeMap<usize, Connection>,
}

struct Connection {
    stream: UnixStream,
    /// When it had its last command, or was made.
    spoke: Instant,
    received: Vec<u8>,
    unsent: Vec<u8>,
    is_at_end: bool,
}

impl Control {
    /// Makes the socket. Connections have tokens from `first_token` on.
    pub(crate) fn open(path: &Path, registry: &Registry, token: Token, first_token: usize) -> Result<Self, LiveError> {
        let refused = |error| LiveError::Control { path: path.to_owned(), error };
        let listener = bound(path).map_err(refused)?;
        let file = identity(path).map_err(refused)?;
        // From here on the file is removed if something fails.
        let mut control = Self { listener, path: path.to_owned(), file, first_token, connections: BTreeMap::new() };
        registry.register(&mut control.listener, token, Interest::READABLE).map_err(refused)?;
        Ok(control)
    }

    /// The number of tokens that connections may have.
    pub(crate) const TOKENS: usize = MOST_CONNECTIONS;

    /// Takes new connections. Those that are left have their turn when it is called again.
    pub(crate) fn accept(&mut self, registry: &Registry) {
        for _ in 0..MOST_CONNECTIONS {
            let Ok((mut stream, _)) = self.listener.accept() else { return };
            let token = self.place();
            if registry.register(&mut stream, Token(token), Interest::READABLE | Interest::WRITABLE).is_ok() {
                let connection = Connection {
                    stream,
                    spoke: Instant::now(),
                    received: Vec::new(),
                    unsent: Vec::new(),
                    is_at_end: false,
                };
                self.connections.insert(token, connection);
            }
        }
    }

    /// The token for a new connection. If none is free, that of the connection that has been silent the longest, which is
    /// closed: who opens connections and sends nothing keeps nobody else out.
    fn place(&mut self) -> usize {
        let mut tokens = self.first_token..self.first_token + MOST_CONNECTIONS;
        if let Some(free) = tokens.find(|token| !self.connections.contains_key(token)) {
            return free;
        }
        let silent = self.connections.iter().min_by_key(|(_, connection)| connection.spoke).map(|(&token, _)| token);
        let token = silent.unwrap_or(self.first_token);
        self.connections.remove(&token);
        token
    }

    /// Closes the connections that have had no command for so long.
    pub(crate) fn close_silent(&mut self, longest: Duration) {
        self.connections.retain(|_, connection| connection.spoke.elapsed() <= longest);
    }

    /// Reads the commands of a connection.
    pub(crate) fn requests(&mut self, Token(token): Token) -> Vec<Result<Request, String>> {
        let Some(connection) = self.connections.get_mut(&token) else { return Vec::new() };
        if !connection.read() {
            self.connections.remove(&token);
            return Vec::new();
        }
        let mut requests = Vec::new();
        while let Some(end) = connection.received.iter().position(|&octet| octet == b'\n') {
            let line: Vec<u8> = connection.received.drain(..=end).collect();
            connection.spoke = Instant::now();
            if requests.len() >= MOST_REQUESTS {
                requests.push(Err(format!("found more than {MOST_REQUESTS} commands at once: wait for the answers")));
                continue;
            }
            let request = serde_json::from_slice(&line);
            requests.push(request.map_err(|_| {
                concat!(
                    r#"found no command, allowed: {"set": "KEY=VALUE"}, {"node": N, "on": true|false}, "#,
                    r#"{"capture": "FIFO"}, {"status": true}, {"frames": true}"#
                )
                .to_owned()
            }));
        }
        requests
    }

    /// Sends an answer, and what is left of earlier ones. Closes a connection that is done.
    pub(crate) fn answer(&mut self, Token(token): Token, line: Option<String>) {
        let Some(connection) = self.connections.get_mut(&token) else { return };
        if let Some(line) = line {
            connection.unsent.extend_from_slice(line.as_bytes());
            connection.unsent.push(b'\n');
        }
        let reads_nothing = connection.unsent.len() > MOST_UNSENT;
        if reads_nothing || !connection.write() || (connection.is_at_end && connection.unsent.is_empty()) {
            self.connections.remove(&token);
        }
    }
}

/// A socket at this path that only its user reaches, from the moment that it is there: its file gets the mode of the
/// socket (Linux, `unix_bind_bsd` in `net/unix/af_unix.c`).
fn bound(path: &Path) -> io::Result<UnixListener> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    listen(&socket, BACKLOG)?;
    Ok(UnixListener::from_std(socket.into()))
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::symlink_metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
}

impl Drop for Control {
    fn drop(&mut self) {
        // Somebody may have removed it, and another network may have made its own there.
        if identity(&self.path).is_ok_and(|file| file == self.file) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Connection {
    /// Reads what is there. False if the connection is of no use.
    fn read(&mut self) -> bool {
        let mut octets = [0; 4096];
        loop {
            match self.stream.read(&mut octets) {
                Ok(0) => {
                    self.is_at_end = true;
                    if !self.received.is_empty() {
                        self.received.push(b'\n'); // the last line may have no end
                    }
                    return true;
                }
                Ok(length) => {
                    self.received.extend_from_slice(&octets[..length]);
                    if self.received.len() > LONGEST {
                        return false;
                    }
                }
                Err(error) => return continues(&error),
            }
        }
    }

    fn write(&mut self) -> bool {
        while !self.unsent.is_empty() {
            match self.stream.write(&self.unsent) {
                Ok(length) => drop(self.unsent.drain(..length)),
                Err(error) => return continues(&error),
            }
        }
        true
    }
}

fn continues(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests;
