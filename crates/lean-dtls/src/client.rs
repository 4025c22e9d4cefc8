//! The client.

use crate::config::Config;
use crate::connection::Connection;
use crate::credentials::Credentials;
use crate::crypto::Crypto;
use crate::session::Kept;
use crate::status::{SendError, Status};
use crate::time::Instant;

/// A DTLS client with one connection.
///
/// `BUFFER` octets hold a flight that is sent, and as many one that arrives: 192 are enough for identities of up to
/// 32 octets.
///
/// With a pre-shared key it takes 0.9 kB of RAM and up to 2.4 kB of stack on a Cortex-M3 (`docs/footprint.md`). See [How
/// large are the buffers?](crate::decisions#how-large-are-the-buffers)
pub struct Client<K, C: Crypto, const BUFFER: usize> {
    config: Config<K>,
    crypto: C,
    connection: Connection<C, BUFFER>,
    has_started: bool,
    kept: Kept,
}

impl<K: Credentials, C: Crypto, const BUFFER: usize> Client<K, C, BUFFER> {
    /// A client that has not started.
    pub fn new(config: Config<K>, mut crypto: C) -> Self {
        let connection = Connection::of_client(&mut crypto, &config);
        Self { config, crypto, connection, has_started: false, kept: Kept::default() }
    }

    /// Begins the handshake. Does nothing if it has begun.
    pub fn connect(&mut self) {
        if self.has_started {
            return;
        }
        self.has_started = true;
        self.connection.start(&mut self.crypto, &self.config, &mut self.kept);
    }

    /// Processes a datagram of the server, which is decrypted in place. `deliver` gets the application data in it.
    pub fn receive(&mut self, datagram: &mut [u8], mut deliver: impl FnMut(&[u8])) {
        if !self.has_started {
            return;
        }
        let (config, kept) = (&self.config, &mut self.kept);
        self.connection.receive_from_server(&mut self.crypto, config, kept, datagram, &mut deliver);
    }

    /// Writes the next datagram for the server into `output`, and returns its length. Call it after each other call, until
    /// it returns 0: there is no more to send. The wait for an answer begins with the last datagram of a flight.
    pub fn poll_transmit(&mut self, now: Instant, output: &mut [u8]) -> usize {
        let room = output.len().min(self.config.mtu.into());
        self.connection.poll_transmit(&mut self.crypto, now, self.config.packing, &mut output[..room])
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn deadline(&self) -> Option<Instant> {
        self.connection.deadline()
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.connection.handle_timeout(now);
    }

    /// True if [`send`](Self::send) takes data: the connection is established, or [`Config::with_false_start`] lets it do so
    /// before, and all that [`poll_transmit`](Self::poll_transmit) has is sent.
    #[cfg(feature = "false-start")]
    pub fn may_send(&self) -> bool {
        self.connection.may_send()
    }

    /// Encrypts application data into `output`, and returns the length of the datagram.
    ///
    /// # Errors
    /// The connection is not established, or the data do not fit into `output`.
    pub fn send(&mut self, data: &[u8], output: &mut [u8]) -> Result<usize, SendError> {
        self.connection.send(&mut self.crypto, data, output)
    }

    /// The most octets of application data that [`send`](Self::send) puts into a datagram of `room` octets.
    pub fn max_data(&self, room: usize) -> usize {
        self.connection.max_data(room)
    }

    /// Octets of the connection IDs in the encrypted records that this end receives and sends. `None` if both ends have agreed
    /// on none.
    #[cfg(feature = "connection-id")]
    pub fn connection_ids(&self) -> Option<[usize; 2]> {
        self.connection.connection_ids()
    }

    /// The version that the server has chosen. [`Versions::Both`](crate::Versions::Both) until it has.
    #[cfg(feature = "dtls13")]
    pub const fn versions(&self) -> crate::Versions {
        if self.has_started { self.connection.versions() } else { self.config.options.dtls13.versions }
    }

    /// Changes the keys of both ends (RFC 9147, section 8). Each end does this by itself before a key has encrypted too much,
    /// or has seen too many forgeries. Does nothing in DTLS 1.2, or before the connection is established.
    ///
    /// There is seldom a reason to call it: a device that was open to others for a while is one.
    #[cfg(feature = "dtls13")]
    pub fn update_keys(&mut self) {
        self.connection.update_keys();
    }

    /// Asks the server whether it is there (RFC 6520). [`poll_transmit`](Self::poll_transmit) then has the request, and
    /// [`liveness`](Self::liveness) the answer.
    ///
    /// # Errors
    /// See [`HeartbeatError`](crate::HeartbeatError).
    #[cfg(feature = "heartbeat")]
    pub fn heartbeat(&mut self) -> Result<(), crate::HeartbeatError> {
        self.connection.start_heartbeat(&mut self.crypto)
    }

    /// The knowledge about the server since the last heartbeat.
    #[cfg(feature = "heartbeat")]
    pub fn liveness(&self) -> crate::Liveness {
        self.connection.liveness()
    }

    /// Asks for a session of an earlier client with the same server, instead of a new one. Call it before
    /// [`connect`](Self::connect). If the server does not have the session any more, the handshake is a full one.
    #[cfg(feature = "resumption")]
    pub fn resume(&mut self, session: crate::Session) {
        if !self.has_started {
            self.kept = Some(session);
        }
    }

    /// Takes out the session, which a later client may resume. `None` before the handshake is complete, if the server gave
    /// neither a name nor a ticket, and after a failure (RFC 5246, section 7.2.2).
    #[cfg(feature = "resumption")]
    pub fn take_session(&mut self) -> Option<crate::Session> {
        match self.connection.status() {
            Status::Established | Status::Closing | Status::Closed => self.kept.take(),
            Status::Handshaking | Status::Failed(_) => None,
        }
    }

    /// True if the handshake resumes a session.
    #[cfg(feature = "resumption")]
    pub fn is_resumed(&self) -> bool {
        self.connection.is_resumed()
    }

    /// Closes an established connection. [`poll_transmit`](Self::poll_transmit) then has the alert for the server.
    ///
    /// Worth its 31 octets: the server's slot is free at once, and the server knows that no data are missing. Without
    /// it, both ends find out by a timeout, if at all.
    pub fn close(&mut self) {
        self.connection.close();
    }

    /// The state of the connection.
    pub const fn status(&self) -> Status {
        self.connection.status()
    }
}
