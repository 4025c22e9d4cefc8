//! The TCP connection below a session, and the octets that wait between the two.

use crate::scenario::TcpEndpoint;
use slowhand_net::clock::Instant;
use slowhand_net::ip::Endpoint;
use slowhand_net::transport::tcp::{Connection, SeqNumber, State};
use std::collections::VecDeque;

/// The connection of an end.
pub(super) struct Stream {
    pub(super) connection: Connection,
    /// True if segments and timers wait while the device computes.
    pub(super) waits_while_computing: bool,
    /// The octets that the session wrote and for which the connection has no room.
    unwritten: VecDeque<u8>,
    /// When the timeout that is in the queue is due.
    pub(super) timer: Option<Instant>,
    /// True if the session knows that the connection is open.
    is_open: bool,
    /// True if the conversation knows that the connection has failed.
    pub(super) has_failed: bool,
    /// True if the session is to read as soon as its computer is free.
    pub(super) is_read_waiting: bool,
    /// True if the connection is closed on this side as soon as it has all that was written.
    is_finishing: bool,
}

impl Stream {
    /// The end `local` of a connection: the client's if `peer` is given, else the server's.
    pub(super) fn new(transport: &TcpEndpoint, local: Endpoint, peer: Option<Endpoint>, initial: u32) -> Self {
        let (config, initial) = (&transport.tcp, SeqNumber(initial));
        let connection = match peer {
            Some(peer) => Connection::connect(config, local, peer, initial),
            None => Connection::listen(config, local, initial),
        };
        Self {
            // `Plan::new` has checked it.
            connection: connection.expect("a checked configuration of TCP"),
            waits_while_computing: transport.waits_while_computing,
            unwritten: VecDeque::new(),
            timer: None,
            is_open: false,
            has_failed: false,
            is_read_waiting: false,
            is_finishing: false,
        }
    }

    /// Takes octets from the session, and gives the connection what it has room for.
    pub(super) fn write(&mut self, octets: &[u8]) {
        self.unwritten.extend(octets);
        self.fill();
    }

    /// Gives the connection what it has room for.
    pub(super) fn fill(&mut self) {
        while !self.unwritten.is_empty() && self.connection.writable() > 0 {
            let (first, _) = self.unwritten.as_slices();
            match self.connection.write(first) {
                Ok(written) => drop(self.unwritten.drain(..written)),
                Err(_) => self.unwritten.clear(), // the connection has failed, and `transmit` says so
            }
        }
        if self.is_finishing && self.unwritten.is_empty() {
            self.connection.close();
        }
    }

    /// Closes this side of the connection behind all that was written.
    pub(super) fn finish(&mut self) {
        self.is_finishing = true;
        self.fill();
    }

    /// True if the connection is open, and this side of it is not closed.
    pub(super) fn takes_data(&self) -> bool {
        matches!(self.connection.state(), State::Established | State::CloseWait) && !self.is_finishing
    }

    /// The number of octets that wait for room in the connection.
    pub(super) fn backlog(&self) -> usize {
        self.unwritten.len()
    }

    /// True if all that the session wrote was acknowledged.
    pub(super) fn is_idle(&self) -> bool {
        self.unwritten.is_empty() && self.connection.all_acknowledged()
    }

    /// True once: when the connection is open and the session does not know it yet.
    pub(super) fn becomes_open(&mut self) -> bool {
        let is_new = self.is_newly_open();
        self.is_open |= is_new;
        is_new
    }

    fn is_newly_open(&self) -> bool {
        self.connection.state() == State::Established && !self.is_open
    }

    /// True if the session has something to do.
    pub(super) fn is_ready(&self) -> bool {
        self.is_newly_open() || self.connection.readable() > 0
    }
}

#[cfg(test)]
mod tests;
