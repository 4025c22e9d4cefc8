//! The DCCP connection below a session, and the datagrams that wait in it.

use super::payload::Payload;
use crate::record::Phase;
use slowhand_net::clock::Instant;
use slowhand_net::ip::Endpoint;
use slowhand_net::transport::dccp::{Connection, DccpConfig, SeqNumber};

/// The connection of an end.
pub(super) struct Dccp {
    pub(super) connection: Connection<Datagram>,
    /// When the timeout that is in the queue is due.
    pub(super) timer: Option<Instant>,
    /// True if the session knows that the connection is open.
    is_open: bool,
    /// True if the conversation knows that the connection has failed.
    pub(super) has_failed: bool,
    /// True if the session has closed: the connection closes behind the last datagram.
    pub(super) is_finishing: bool,
}

/// A datagram that a session sends, and the phase to which it belongs.
#[derive(Debug)]
pub(super) struct Datagram {
    pub(super) phase: Phase,
    pub(super) payload: Payload,
}

impl AsRef<[u8]> for Datagram {
    fn as_ref(&self) -> &[u8] {
        &self.payload.octets
    }
}

impl Dccp {
    /// The end `local` of a connection: the client's if `peer` is given, else the server's.
    pub(super) fn new(config: &DccpConfig, local: Endpoint, peer: Option<Endpoint>, initial: u32) -> Self {
        let initial = SeqNumber::new(initial.into());
        let connection = match peer {
            Some(peer) => Connection::connect(config, local, peer, initial),
            None => Connection::listen(config, local, initial),
        };
        Self {
            // The scenario has been checked.
            connection: connection.expect("a checked configuration of DCCP"),
            timer: None,
            is_open: false,
            has_failed: false,
            is_finishing: false,
        }
    }

    /// True if nothing waits to be sent, and the connection does not close at this moment.
    pub(super) fn is_idle(&self) -> bool {
        self.connection.is_idle() && !self.is_finishing
    }

    pub(super) fn has_failed(&self) -> bool {
        self.connection.error().is_some()
    }

    /// True once: when the connection is open and the session does not know it yet.
    pub(super) fn becomes_open(&mut self) -> bool {
        let is_new = self.connection.is_open() && !self.is_open;
        self.is_open |= is_new;
        is_new
    }
}
