//! The carrier of the messages of an end: the message layer of datagrams (RFC 7252), or that of a stream (RFC 8323).

use std::time::Duration;

use slowhand_coap::endpoint::{self, Delivery, Endpoint, SendError};
use slowhand_coap::message::{Packet, Token};
use slowhand_coap::stream::{self, Connection};

use super::in_words;
use crate::coap::Coap;
use crate::session::{Failure, FailureKind};

/// One end of a path of messages.
pub(super) enum Link {
    Datagrams {
        endpoint: Box<Endpoint>,
        /// The most octets of a message.
        most: usize,
    },
    Stream(Connection),
}

/// A request of the peer that waits for its response.
pub(super) enum Asker {
    Datagrams(endpoint::Incoming),
    Stream(stream::Incoming),
}

/// An event of the link.
pub(super) enum Event {
    Request(Asker, Packet),
    Response(Token, Packet),
    /// A response to a request that observes. More may follow.
    Notification(Token, Packet),
    /// The peer has not got a response or a notification to the request with this token, or has rejected it.
    Undelivered {
        token: Token,
        is_rejected: bool,
        failure: Option<Failure>,
    },
    /// A request of this end, or something else if it has no token, has failed. It may be none of the session.
    Failed {
        token: Option<Token>,
        failure: Option<Failure>,
    },
    /// The peer wants nothing more.
    Released,
}

impl Link {
    /// An end that has not sent anything. `mtu`: the most octets of a message over datagrams; `random` gives numbers that are uniform over all
    /// values.
    pub(super) fn new(
        coap: &Coap,
        mtu: Option<u16>,
        critical_options: Vec<u16>,
        random: impl FnMut() -> u64 + Send + 'static,
    ) -> Self {
        if coap.is_stream() {
            return Self::Stream(Connection::new(stream::Config::default(), random));
        }
        let default = endpoint::Config::default();
        let most = mtu.map_or(default.max_message, usize::from);
        let config = endpoint::Config {
            transmission: coap.transmission,
            algorithm: coap.congestion.into(),
            max_message: most,
            critical_options,
            ..default
        };
        Self::Datagrams { endpoint: Box::new(Endpoint::new(config, random)), most }
    }

    /// The path is there: this end may send.
    pub(super) fn open(&mut self) {
        if let Self::Stream(connection) = self {
            connection.open();
        }
    }

    /// True if this end may send.
    pub(super) const fn is_open(&self) -> bool {
        match self {
            Self::Datagrams { .. } => true,
            Self::Stream(connection) => connection.is_open(),
        }
    }

    pub(super) const fn is_stream(&self) -> bool {
        matches!(self, Self::Stream(_))
    }

    /// The most octets of a message.
    pub(super) const fn max_message(&self) -> usize {
        match self {
            Self::Datagrams { most, .. } => *most,
            Self::Stream(connection) => connection.peer_takes(),
        }
    }

    pub(super) fn request(&mut self, now: Duration, request: Packet) -> Result<Token, String> {
        match self {
            Self::Datagrams { endpoint, .. } => endpoint.request(now, request, Delivery::Confirmable).map_err(in_words),
            Self::Stream(connection) => connection.request(request).map_err(in_words),
        }
    }

    pub(super) fn respond(&mut self, now: Duration, to: &Asker, response: Packet) -> Result<(), String> {
        match (self, to) {
            (Self::Datagrams { endpoint, .. }, Asker::Datagrams(from)) => {
                match endpoint.respond(now, *from, response) {
                    // The request is so old that nobody waits for its response.
                    Err(SendError::NoSuchRequest) => Ok(()),
                    sent => sent.map_err(in_words),
                }
            }
            (Self::Stream(connection), Asker::Stream(from)) => connection.respond(from, response).map_err(in_words),
            // A request comes from the link that answers it.
            _ => Ok(()),
        }
    }

    /// Sends a further answer to a request that observes.
    pub(super) fn notify(
        &mut self,
        now: Duration,
        to: &Asker,
        state: Packet,
        delivery: Delivery,
    ) -> Result<(), String> {
        match (self, to) {
            (Self::Datagrams { endpoint, .. }, Asker::Datagrams(from)) => {
                endpoint.notify(now, from.token(), state, delivery).map_err(in_words)
            }
            (link, to) => link.respond(now, to, state),
        }
    }

    /// Tells the peer that this end wants nothing more. Over datagrams there is no such message.
    pub(super) fn release(&mut self) {
        if let Self::Stream(connection) = self {
            connection.release();
        }
    }

    pub(super) fn handle_input(&mut self, now: Duration, octets: &[u8]) {
        match self {
            Self::Datagrams { endpoint, .. } => endpoint.handle_input(now, octets),
            Self::Stream(connection) => connection.handle_input(octets),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Duration) {
        if let Self::Datagrams { endpoint, .. } = self {
            endpoint.handle_timeout(now);
        }
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        match self {
            Self::Datagrams { endpoint, .. } => endpoint.deadline(),
            Self::Stream(_) => None,
        }
    }

    /// The next message for the peer.
    pub(super) fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Datagrams { endpoint, .. } => endpoint.poll_transmit(),
            Self::Stream(connection) => connection.poll_transmit(),
        }
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        match self {
            Self::Datagrams { endpoint, .. } => Some(match endpoint.poll_event()? {
                endpoint::Event::Request { from, packet } => Event::Request(Asker::Datagrams(from), packet),
                endpoint::Event::Response { token, packet } => Event::Response(token, packet),
                endpoint::Event::Failed { token, failure } => {
                    Event::Failed { token: Some(token), failure: of_datagrams(failure) }
                }
                endpoint::Event::Undelivered { token, failure } => Event::Undelivered {
                    token,
                    is_rejected: failure == endpoint::Failure::Reset,
                    failure: of_datagrams(failure),
                },
                endpoint::Event::Notification { token, packet } => Event::Notification(token, packet),
            }),
            Self::Stream(connection) => loop {
                return Some(match connection.poll_event()? {
                    stream::Event::Request { from, packet } => Event::Request(Asker::Stream(from), packet),
                    stream::Event::Response { token, packet } => Event::Response(token, packet),
                    stream::Event::Notification { token, packet } => Event::Notification(token, packet),
                    stream::Event::Failed { token, failure } => {
                        Event::Failed { token: Some(token), failure: Some(Failure::library(0, in_words(failure))) }
                    }
                    stream::Event::Ended(failure) => {
                        Event::Failed { token: None, failure: Some(Failure::library(0, in_words(failure))) }
                    }
                    stream::Event::Released => Event::Released,
                    // This end asks for none.
                    stream::Event::Pong => continue,
                });
            },
        }
    }
}

/// `None` if the session goes on.
fn of_datagrams(failure: endpoint::Failure) -> Option<Failure> {
    let kind = match failure {
        // The user of the peer may have nothing to say to what it was sent.
        endpoint::Failure::NoResponse => return None,
        endpoint::Failure::TimedOut => FailureKind::TimedOut,
        _ => FailureKind::Library { code: 0 },
    };
    Some(Failure { kind, reason: failure.to_string() })
}
