//! The program above a secure session, which uses it, at the client's or the server's end.
//!
//! An application does no I/O itself. The world calls it when its session is established or closed, when data arrived
//! and when its timer is due. Then the world asks it for [`Action`]s until there are none. It never sees a datagram, a
//! record or a radio.

use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_sessions::Role;

/// One end of a conversation, above the session. An application may learn several things at the same instant. The order
/// is `handle_established`, `handle_data`, `handle_closed`, and then [`poll_action`](Self::poll_action). So
/// `handle_established` is called even if the peer has closed the session before; what the application then writes has
/// no effect.
pub trait Application: Send {
    /// This end has verified the peer's Finished: from now on data can be written. The other end may still wait for it.
    fn handle_established(&mut self, _now: Instant) {}

    /// Data arrived. Over DTLS it is what the peer wrote in one call. Over TLS it is a part of the stream, of any
    /// length.
    fn handle_data(&mut self, _now: Instant, _data: &[u8]) {}

    /// The peer has closed the session: it sends no more data, and this end cannot write. Not called at the end that
    /// closes.
    fn handle_closed(&mut self, _now: Instant) {}

    /// The timer is due.
    fn handle_timeout(&mut self, _now: Instant) {}

    /// When [`handle_timeout`](Self::handle_timeout) is called next; `None`: no timer runs. The timer starts when the
    /// session is established. It waits while the device computes. `handle_timeout` has to clear it or set it to a
    /// later time. A time that is not later than the present is taken as one microsecond from now.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// The next action of the application; `None`: it waits.
    fn poll_action(&mut self) -> Option<Action> {
        None
    }

    /// True if this end needs nothing more. The conversation is over when both ends are finished, and what they sent
    /// has arrived or was lost.
    fn is_finished(&self) -> bool;
}

/// An action of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Writes data to the session: a record, and over DTLS a datagram. Without effect once the session is closed.
    Write(Vec<u8>),
    /// Closes the session: a close_notify alert is sent (RFC 5246 section 7.2.1). The TCP connection below a session of
    /// TLS stays open: no FIN is sent. A DCCP connection below a session of DTLS closes.
    Close,
}

/// Opens the session and stops: nothing is written and nothing is closed. It measures the handshake alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenAndStop;

impl Application for OpenAndStop {
    fn is_finished(&self) -> bool {
        true
    }
}

/// Makes the application of each end: of the client with this node, or of the server for it.
pub type Applications<'a> = dyn Fn(NodeId, Role) -> Box<dyn Application> + 'a;

/// [`OpenAndStop`] at both ends of every conversation.
pub fn open_and_stop(_client: NodeId, _role: Role) -> Box<dyn Application> {
    Box::new(OpenAndStop)
}
