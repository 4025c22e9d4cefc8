//! The client.

use crate::config::{Config, Keys, is_key};
use crate::connection::{Connection, Expects, Failure, SendError, Status, alert};
use crate::crypto::Crypto;
use crate::handshake::Kind;
use crate::hello::{self, ClientHello, ServerHello};
use crate::time::Instant;

/// A DTLS client with one connection.
///
/// `BUFFER` octets hold a flight that is sent, and as many one that arrives: 192 are enough for identities of up to
/// 32 octets.
pub struct Client<K, C: Crypto, const BUFFER: usize> {
    config: Config<K>,
    crypto: C,
    connection: Connection<C, BUFFER>,
    has_started: bool,
}

impl<K: Keys, C: Crypto, const BUFFER: usize> Client<K, C, BUFFER> {
    /// A client that has not started.
    pub fn new(config: Config<K>, mut crypto: C) -> Self {
        let connection = Connection::new(&mut crypto, true, config.timeouts);
        Self { config, crypto, connection, has_started: false }
    }

    /// Begins the handshake. Does nothing if it has begun.
    pub fn connect(&mut self) {
        if self.has_started {
            return;
        }
        self.has_started = true;
        let mut random = [0; 32];
        self.crypto.random(&mut random);
        self.connection.randoms[0] = random;
        let sent = self.connection.sender.send(Kind::ClientHello, |writer| ClientHello::write(writer, &random, &[]));
        match sent {
            Ok(()) => self.connection.wait(None),
            Err(_) => self.connection.end(Status::Failed(Failure::BufferTooSmall)),
        }
    }

    /// Processes a datagram of the server, which is decrypted in place. `deliver` gets the application data in it.
    pub fn receive(&mut self, datagram: &mut [u8], mut deliver: impl FnMut(&[u8])) {
        if !self.has_started {
            return;
        }
        let keys = &self.config.keys;
        self.connection.receive(&mut self.crypto, datagram, &mut deliver, &mut |connection, crypto| {
            handle(connection, crypto, keys)
        });
    }

    /// Writes the next datagram for the server into `output`, and returns its length. Call it after each other call, until
    /// it returns 0: there is no more to send. The wait for an answer begins with the last datagram of a flight.
    pub fn poll_transmit(&mut self, now: Instant, output: &mut [u8]) -> usize {
        let room = output.len().min(self.config.mtu.into());
        self.connection.poll_transmit(&mut self.crypto, now, &mut output[..room])
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub const fn deadline(&self) -> Option<Instant> {
        self.connection.deadline()
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.connection.handle_timeout(now);
    }

    /// Encrypts application data into `output`, and returns the length of the datagram.
    ///
    /// # Errors
    /// The connection is not established, or the data do not fit into `output`.
    pub fn send(&mut self, data: &[u8], output: &mut [u8]) -> Result<usize, SendError> {
        self.connection.send(&mut self.crypto, data, output)
    }

    /// Closes an established connection. [`poll_transmit`](Self::poll_transmit) then has the alert for the server.
    pub fn close(&mut self) {
        self.connection.close();
    }

    /// The state of the connection.
    pub const fn status(&self) -> Status {
        self.connection.status
    }
}

/// Handles the message whose turn it is. Returns false if it was not used.
fn handle<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    keys: &impl Keys,
) -> bool {
    let Connection { sender, incoming, .. } = connection;
    let Some((header, body)) = incoming.whole(connection.next) else { return false };
    match (connection.expects, header.kind) {
        // A second one: the server does not know its cookie any more, or the first was not the server's.
        (Expects::Hello | Expects::ServerHello, Kind::HelloVerifyRequest) => {
            let Some(cookie) = hello::read_cookie(body) else { return false };
            if connection.expects == Expects::ServerHello && sender.flight.holds(cookie) {
                return false;
            }
            let random = &connection.randoms[0];
            sender.transcript = crypto.hash();
            sender.flight.clear();
            sender.next = 1;
            let sent = sender.send(Kind::ClientHello, |writer| ClientHello::write(writer, random, cookie));
            if sent.is_err() {
                connection.end(Status::Failed(Failure::BufferTooSmall));
                return false;
            }
            connection.expects = Expects::ServerHello;
            // A HelloVerifyRequest that comes again says nothing: its server keeps no state.
            connection.wait(None);
        }
        (Expects::Hello | Expects::ServerHello, Kind::ServerHello) => {
            let Some(hello) = ServerHello::read(body) else { return false };
            if !hello.is_acceptable {
                connection.refuse(alert::HANDSHAKE_FAILURE);
                return false;
            }
            sender.note(&header, body);
            connection.randoms[1] = hello.random;
            connection.extended_master_secret = hello.extended_master_secret;
            connection.expects = Expects::ServerHelloDone;
        }
        // The hint does not matter: there is one identity (RFC 4279, section 5.2).
        (Expects::ServerHelloDone, Kind::ServerKeyExchange) => sender.note(&header, body),
        (Expects::ServerHelloDone, Kind::ServerHelloDone) if body.is_empty() => {
            sender.note(&header, body);
            sender.flight.clear();
            if let Err(failure) = key_exchange(connection, crypto, keys) {
                connection.end(Status::Failed(failure));
                return false;
            }
            let answered = header.sequence;
            connection.expect_finished();
            connection.wait(Some(answered));
        }
        _ => return false,
    }
    true
}

/// The flight with ClientKeyExchange, ChangeCipherSpec and Finished.
fn key_exchange<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    keys: &impl Keys,
) -> Result<(), Failure> {
    let psk = keys.own().filter(|psk| is_key(psk.key)).ok_or(Failure::NoKey)?;
    connection
        .sender
        .send(Kind::ClientKeyExchange, |writer| writer.vector(2, |writer| writer.put(psk.identity)))
        .map_err(|_| Failure::BufferTooSmall)?;
    connection.derive(crypto, psk.key);
    connection.finish(crypto).map_err(|_| Failure::BufferTooSmall)
}
