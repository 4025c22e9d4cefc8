//! Commands from other processes: a Unix socket, and one JSON object a line each way.
//!
//! `{"set": "network.link_pdr=0.7"}`, `{"node": 1, "on": false}` and `{"status": true}`. The answer is `{"ok": true}`,
//! `{"error": "..."}` or a snapshot.

use crate::setup::LiveError;
use mio::net::{UnixListener, UnixStream};
use mio::{Interest, Registry, Token};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The longest line. *Assumed*: a command is much shorter.
const LONGEST: usize = 64 * 1024;

/// The most octets that wait for somebody who does not read them. *Assumed*: some snapshots of large networks.
const MOST_UNSENT: usize = 16 * 1024 * 1024;

/// The most commands that are done at once; further ones are refused. *Assumed*.
const MOST_REQUESTS: usize = 16;

/// The most connections at a time. *Assumed*.
const MOST_CONNECTIONS: usize = 32;

/// A command.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Request {
    Set { set: String },
    Switch { node: u16, on: bool },
    Status { status: bool },
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
    received: Vec<u8>,
    unsent: Vec<u8>,
    is_at_end: bool,
}

impl Control {
    /// Makes the socket. Connections have tokens from `first_token` on.
    pub(crate) fn open(path: &Path, registry: &Registry, token: Token, first_token: usize) -> Result<Self, LiveError> {
        let refused = |error| LiveError::Control { path: path.to_owned(), error };
        let listener = UnixListener::bind(path).map_err(refused)?;
        let file = identity(path).map_err(refused)?;
        // From here on the file is removed if something fails.
        let mut control = Self { listener, path: path.to_owned(), file, first_token, connections: BTreeMap::new() };
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(refused)?; // only for the user
        registry.register(&mut control.listener, token, Interest::READABLE).map_err(refused)?;
        Ok(control)
    }

    /// The number of tokens that connections may have.
    pub(crate) const TOKENS: usize = MOST_CONNECTIONS;

    /// Takes new connections.
    pub(crate) fn accept(&mut self, registry: &Registry) {
        while let Ok((mut stream, _)) = self.listener.accept() {
            let token = (self.first_token..self.first_token + MOST_CONNECTIONS)
                .find(|token| !self.connections.contains_key(token));
            let Some(token) = token else { continue }; // too many: this one is closed
            if registry.register(&mut stream, Token(token), Interest::READABLE | Interest::WRITABLE).is_ok() {
                let connection = Connection { stream, received: Vec::new(), unsent: Vec::new(), is_at_end: false };
                self.connections.insert(token, connection);
            }
        }
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
            if requests.len() >= MOST_REQUESTS {
                requests.push(Err(format!("found more than {MOST_REQUESTS} commands at once: wait for the answers")));
                continue;
            }
            let request = serde_json::from_slice(&line);
            requests.push(request.map_err(|_| {
                r#"found no command, allowed: {"set": "KEY=VALUE"}, {"node": N, "on": true|false}, {"status": true}"#.to_owned()
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
