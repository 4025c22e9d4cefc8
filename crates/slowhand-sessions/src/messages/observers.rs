//! The record of a server about who observes (RFC 7641), and its notifications to them.

use std::collections::BTreeMap;
use std::time::Duration;

use slowhand_coap::message::{self, CoapOption, MessageClass, Packet, RequestType, ResponseType, Token};
use slowhand_coap::observe;
use slowhand_coap::oscore::ServerExchange;

use super::link::Asker;
use crate::coap::Delivery;

/// The most octets of the option Observe (RFC 7641 section 2).
pub(super) const OBSERVE: usize = 1 + 3;

/// The number of observations that a server keeps. *Assumed*: a client has one, and after a restart the server still has the one before.
const MOST: usize = 4;

/// An observer gets at least one confirmable notification in this time (RFC 7641 section 4.5).
const CONFIRMABLE_WITHIN: Duration = Duration::from_secs(24 * 60 * 60);

/// The requests that observe the resource of a session.
pub(super) struct Observers {
    delivery: Delivery,
    registered: observe::Observers<()>,
    kept: BTreeMap<Token, Observer>,
}

/// A request that observes.
pub(super) struct Observer {
    pub(super) from: Asker,
    /// The exchange that protects the notifications, if they are protected.
    pub(super) exchange: Option<ServerExchange>,
    /// When the peer was last known to observe: when it asked, or what was sent then was confirmable.
    confirmed: Duration,
}

impl Observers {
    pub(super) const fn new(delivery: Delivery) -> Self {
        Self { delivery, registered: observe::Observers::new(MOST), kept: BTreeMap::new() }
    }

    /// Takes note of a request that is answered. True if it observes from now on: [`keep`](Self::keep) what it needs.
    pub(super) fn handle_request(&mut self, request: &Packet) -> bool {
        let observes = is_safe(request) && self.registered.handle_request(request, ());
        self.kept.retain(|token, _| self.registered.of(&()).any(|other| other == *token));
        observes
    }

    pub(super) fn keep(&mut self, now: Duration, token: Token, from: Asker, exchange: Option<ServerExchange>) {
        self.kept.insert(token, Observer { from, exchange, confirmed: now });
    }

    /// Ends an observation. True if there was one.
    pub(super) fn end(&mut self, token: Token) -> bool {
        self.registered.end(token);
        self.kept.remove(&token).is_some()
    }

    /// Makes a response a notification. Over a stream the option is empty (RFC 8323 section 7.1).
    pub(super) fn notification(&mut self, response: Packet, is_stream: bool) -> Packet {
        let mut notification = self.registered.notification(response);
        if is_stream {
            message::set_number(&mut notification, CoapOption::Observe, 0);
        }
        notification
    }

    /// Who is told of a state at this time, and how.
    pub(super) fn told(&mut self, now: Duration) -> impl Iterator<Item = (&mut Observer, Delivery)> {
        let delivery = self.delivery;
        self.kept.values_mut().map(move |observer| {
            let is_due = now.saturating_sub(observer.confirmed) >= CONFIRMABLE_WITHIN;
            let delivery = if is_due { Delivery::Confirmable } else { delivery };
            if delivery == Delivery::Confirmable {
                observer.confirmed = now;
            }
            (observer, delivery)
        })
    }
}

/// True if the request only reads: with GET or FETCH, which may observe (RFC 7641 section 2, RFC 8132 section 2.4).
fn is_safe(request: &Packet) -> bool {
    matches!(request.header.code, MessageClass::Request(RequestType::Get | RequestType::Fetch))
}

/// The code of a response that says success (RFC 7252 section 5.8, RFC 8132 section 2.3).
pub(super) fn success(request: &Packet) -> ResponseType {
    if is_safe(request) { ResponseType::Content } else { ResponseType::Changed }
}
