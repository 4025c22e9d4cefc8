//! Requests and responses above a session, one after the other: what a run sends if the scenario has
//! `application.requests`.

use crate::application::{Action, Application};
use slowhand_net::clock::Instant;
use slowhand_sessions::Role;

/// How many requests there are, and their sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The requests of each client. Each waits for the response to the one before.
    pub requests: u32,
    /// Octets of data in a request, above the messages of CoAP if the protocol has them.
    pub request: usize,
    /// The same in a response.
    pub response: usize,
}

/// What data consist of. Their octets do not matter.
const FILL: u8 = 0x2a;

impl Exchange {
    /// The application of an end.
    pub fn application(self, role: Role) -> Box<dyn Application> {
        let (wants, says) = match role {
            Role::Client => (self.response, self.request),
            Role::Server => (self.request, self.response),
        };
        Box::new(End { role, wants, says, left: self.requests, received: 0, writes: 0 })
    }
}

struct End {
    role: Role,
    /// Octets that the peer sends each time. Over TLS they may come in parts.
    wants: usize,
    /// Octets that this end sends each time.
    says: usize,
    /// How many exchanges are not over at this end.
    left: u32,
    received: usize,
    /// How often this end is to write.
    writes: u32,
}

impl Application for End {
    fn handle_established(&mut self, _: Instant) {
        if self.role == Role::Client && self.left > 0 {
            self.writes = 1;
        }
    }

    fn handle_data(&mut self, _: Instant, data: &[u8]) {
        self.received += data.len();
        while self.received >= self.wants && self.left > 0 {
            self.received -= self.wants;
            self.left -= 1;
            // A server answers; a client asks again.
            self.writes += u32::from(self.role == Role::Server || self.left > 0);
        }
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.writes = self.writes.checked_sub(1)?;
        Some(Action::Write(vec![FILL; self.says]))
    }

    fn is_finished(&self) -> bool {
        self.left == 0 && self.writes == 0
    }
}
