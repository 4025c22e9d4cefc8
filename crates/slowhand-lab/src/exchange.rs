//! Requests and responses above a session, one after the other, or one request and what is observed: what a run sends if the scenario
//! has `application.requests`.

use crate::application::{Action, Application, open_and_stop};
use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_sessions::Role;

/// The number of requests, and their sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The answers that each client wants: to as many requests, each of which waits for the response to the one before.
    pub requests: u32,
    /// Octets of data in a request, above the messages of CoAP if the protocol has them.
    pub request: usize,
    /// Octets of data in a response.
    pub response: usize,
    /// The client observes: it asks once, and the server sends the later answers by itself, one in each of these times.
    pub period: Option<Duration>,
}

/// The octet of which data consist. Its value does not matter.
const FILL: u8 = 0x2a;

impl Exchange {
    /// The application of an end.
    pub fn application(self, role: Role) -> Box<dyn Application> {
        let (wants, says) = match role {
            Role::Client => (self.response, self.request),
            Role::Server => (self.request, self.response),
        };
        Box::new(End {
            role,
            wants,
            says,
            left: self.requests,
            period: self.period,
            next: None,
            received: 0,
            writes: 0,
        })
    }
}

/// The applications of a run: [`Exchange`] at both ends of every conversation, or [`OpenAndStop`](crate::application::OpenAndStop).
pub(crate) fn of_a_run(exchange: Option<Exchange>) -> impl Fn(NodeId, Role) -> Box<dyn Application> {
    move |client, role| exchange.map_or_else(|| open_and_stop(client, role), |exchange| exchange.application(role))
}

struct End {
    role: Role,
    /// Octets that the peer sends each time. Over TLS they may come in parts.
    wants: usize,
    /// Octets that this end sends each time.
    says: usize,
    /// The number of answers that this end still has to get or to send.
    left: u32,
    /// The time between answers, if the client observes.
    period: Option<Duration>,
    /// When a server sends the next one by itself.
    next: Option<Instant>,
    received: usize,
    /// The number of times that this end is to write.
    writes: u32,
}

impl End {
    /// A server answers at this time, and again one period later if the client observes.
    fn answer(&mut self, at: Instant) {
        self.left -= 1;
        self.writes += 1;
        self.next = self.period.filter(|_| self.left > 0).map(|period| at + period);
    }
}

impl Application for End {
    fn handle_established(&mut self, _: Instant) {
        if self.role == Role::Client && self.left > 0 {
            self.writes = 1;
        }
    }

    fn handle_data(&mut self, now: Instant, data: &[u8]) {
        self.received += data.len();
        while self.received >= self.wants && self.left > 0 {
            self.received -= self.wants;
            match (self.role, self.period) {
                (Role::Server, _) => self.answer(now),
                (Role::Client, None) => {
                    self.left -= 1;
                    // It asks again.
                    self.writes += u32::from(self.left > 0);
                }
                (Role::Client, Some(_)) => self.left -= 1,
            }
        }
    }

    fn handle_timeout(&mut self, _: Instant) {
        if let Some(due) = self.next.take() {
            self.answer(due);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.next
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.writes = self.writes.checked_sub(1)?;
        Some(Action::Write(vec![FILL; self.says]))
    }

    fn is_finished(&self) -> bool {
        self.left == 0 && self.writes == 0
    }
}
