//! Observing resources (RFC 7641): what both ends need beside the messages.
//!
//! A client asks with [`register`], and its [`Endpoint`](crate::endpoint::Endpoint) passes on notifications in their order; over TCP its
//! [`Connection`](crate::stream::Connection) does. A server keeps [`Observers`].

use std::time::Duration;

use crate::message::{self, CoapOption, Packet, Token};

/// The value of Observe that asks for notifications (section 2).
pub const REGISTER: u32 = 0;
/// The value of Observe that ends them (section 2).
pub const DEREGISTER: u32 = 1;
/// The values of Observe in notifications are below it (section 3.4).
const MODULUS: u32 = 1 << 24;
/// A later notification is the newer one, whatever its value is (section 3.4).
const ALWAYS_NEWER_AFTER: Duration = Duration::from_secs(128);

/// Makes a GET, or a FETCH (RFC 8132 section 2.4), ask for notifications.
pub fn register(mut request: Packet) -> Packet {
    message::set_number(&mut request, CoapOption::Observe, REGISTER);
    request
}

/// Makes a GET end notifications. Send it with the token of the request that asked for them (section 3.6).
pub fn deregister(mut request: Packet) -> Packet {
    message::set_number(&mut request, CoapOption::Observe, DEREGISTER);
    request
}

/// Which notification is the newest one (section 3.4).
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    newest: Option<(u32, Duration)>,
}

impl Order {
    /// True if a notification with this value of Observe, which came at `now`, is newer than all before. Then it is the newest one.
    pub fn is_newer(&mut self, now: Duration, value: u32) -> bool {
        let is_newer = self.newest.is_none_or(|(newest, at)| {
            // Section 3.4 with V1 = newest and V2 = value: V1 < V2 and V2 - V1 < 2^23, or V1 > V2 and V1 - V2 > 2^23.
            let ahead = value.wrapping_sub(newest) % MODULUS;
            0 < ahead && ahead < MODULUS / 2 || now > at.saturating_add(ALWAYS_NEWER_AFTER)
        });
        if is_newer {
            self.newest = Some((value, now));
        }
        is_newer
    }
}

/// The record of a server about one peer: the resources that it observes. `R` names a resource.
#[derive(Clone, Debug)]
pub struct Observers<R> {
    observers: Vec<(Token, R)>,
    most: usize,
    value: u32,
}

impl<R: PartialEq> Observers<R> {
    /// No observers yet, and never more than `most`.
    pub const fn new(most: usize) -> Self {
        Self { observers: Vec::new(), most, value: 0 }
    }

    /// Takes note of a GET for a resource. If the response is a success, it begins or ends an observation (section 4.1): make the
    /// response a [`notification`](Self::notification) if this returns true. Further observers than `most` get a response, and
    /// no notifications.
    pub fn handle_request(&mut self, request: &Packet, resource: R) -> bool {
        let token = Token::of(request);
        match message::number(request, CoapOption::Observe) {
            Some(REGISTER) => {
                self.end(token);
                let has_room = self.observers.len() < self.most;
                if has_room {
                    self.observers.push((token, resource));
                }
                has_room
            }
            Some(DEREGISTER) => {
                self.end(token);
                false
            }
            _ => false,
        }
    }

    /// Ends an observation: the peer has rejected a notification or not got it (section 4.5), or the resource is gone.
    pub fn end(&mut self, token: Token) {
        self.observers.retain(|(other, _)| *other != token);
    }

    /// The tokens that observe this resource.
    pub fn of<'a>(&'a self, resource: &'a R) -> impl Iterator<Item = Token> + 'a {
        self.observers.iter().filter(move |(_, other)| other == resource).map(|(token, _)| *token)
    }

    /// Adds the next value of Observe to a response (section 4.4).
    pub fn notification(&mut self, mut response: Packet) -> Packet {
        self.value = (self.value + 1) % MODULUS;
        message::set_number(&mut response, CoapOption::Observe, self.value);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_newer(first: u32, second: u32, later_s: u64) -> bool {
        let mut order = Order::default();
        assert!(order.is_newer(Duration::ZERO, first));
        order.is_newer(Duration::from_secs(later_s), second)
    }

    /// The condition of RFC 7641 section 3.4, at its bounds.
    #[test]
    fn newer_is_what_the_condition_says() {
        let half = 1 << 23;
        for (first, second, later_s, expected) in [
            (9, 16, 1, true),
            (16, 9, 1, false),
            (9, 9, 128, false),
            (9, 9, 129, true),
            (0, half - 1, 1, true),
            (0, half, 1, false),
            (half, 0, 1, false),
            (half + 1, 0, 1, true),
            (MODULUS - 1, 0, 1, true),
            (0, MODULUS - 1, 1, false),
        ] {
            assert_eq!(is_newer(first, second, later_s), expected, "{first} {second} {later_s}");
        }
    }
}
