//! The hand-over of a session from a delegate to a constrained device, as a session of its own: the messages of
//! [`slowhand_coap::hand_over`] over OSCORE.
//!
//! The device's end is established when it has what it needs to resume the session ([`Session::resumable`]). The delegate's end
//! is established when it has the request; then its owner opens the session, and writes the answer.

use std::net::Ipv6Addr;
use std::sync::Arc;
use std::time::Duration;

use slowhand_coap::hand_over::{Answer, Request};
use zeroize::Zeroizing;

use crate::building::{BuildError, build};
use crate::config::{Role, SessionConfig};
use crate::operation::{Performed, Processor};
use crate::session::{Failure, Received, Resumable, Session, Status, Transmit, WriteError};

/// One end of a hand-over.
struct HandOver {
    /// It carries the messages.
    session: Box<dyn Session>,
    role: Role,
    /// The request of the device, and the only one that its delegate opens for it.
    request: Request,
    status: Status,
    handed: Option<Resumable>,
}

/// Builds both ends of a hand-over, the device's first, whose messages have these configurations. The device asks for a session
/// with the server at this address and port. What the delegate writes is an [`Answer`] in octets.
///
/// # Errors
/// The errors of [`build`].
pub fn build_hand_over(
    configs: [&SessionConfig; 2],
    (address, port): (Ipv6Addr, u16),
    processors: [Arc<dyn Processor>; 2],
) -> Result<[Box<dyn Session>; 2], BuildError> {
    let [of_device, of_delegate] = processors;
    let end = |config: &SessionConfig, processor| -> Result<Box<dyn Session>, BuildError> {
        let (session, role) = (build(config, processor)?, config.role);
        let request = Request { address, port };
        Ok(Box::new(HandOver { session, role, request, status: Status::Handshaking, handed: None }))
    };
    Ok([end(configs[0], of_device)?, end(configs[1], of_delegate)?])
}

impl HandOver {
    /// Reads what has arrived.
    fn read(&mut self) {
        while let Some(Received { at, bytes }) = self.session.poll_received() {
            let octets = Zeroizing::new(bytes.to_vec());
            match self.role {
                Role::Client => self.take_answer(at, &octets),
                Role::Server => self.take_request(at, &octets),
            }
        }
        if let (Status::Failed(failure), None) = (self.session.status(), &self.handed) {
            self.status = Status::Failed(failure);
        }
    }

    fn take_answer(&mut self, at: Duration, octets: &[u8]) {
        self.status = match Answer::decode(octets) {
            Ok(Answer::Session(session)) => {
                self.handed = Some(Resumable::new(Zeroizing::new(session.to_vec())));
                Status::Established { at }
            }
            Ok(Answer::Refused) => Status::Failed(Failure::library(0, "the delegate has opened no session")),
            Err(error) => Status::Failed(Failure::library(0, format!("the delegate's answer: {error}"))),
        };
    }

    fn take_request(&mut self, at: Duration, octets: &[u8]) {
        if Request::decode(octets) == Ok(self.request) {
            self.status = Status::Established { at };
        } else {
            self.write_or_fail(at, &Answer::Refused.encode());
        }
    }

    fn write_or_fail(&mut self, now: Duration, data: &[u8]) {
        if let Err(error) = self.session.write(now, data) {
            self.status = Status::Failed(Failure::library(0, error.to_string()));
        }
    }
}

impl Session for HandOver {
    fn start(&mut self, now: Duration) {
        if self.role == Role::Client {
            self.session.start(now);
            self.write_or_fail(now, &self.request.encode());
        }
    }

    fn handle_input(&mut self, now: Duration, input: &[u8]) {
        self.session.handle_input(now, input);
        self.read();
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.session.handle_timeout(now);
        self.read();
    }

    fn write(&mut self, now: Duration, data: &[u8]) -> Result<(), WriteError> {
        self.session.write(now, data)
    }

    fn close(&mut self, _: Duration) {}

    fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        self.session.poll_transmit()
    }

    /// There is nothing for the owner but what is in [`resumable`](Self::resumable).
    fn poll_received(&mut self) -> Option<Received<'_>> {
        None
    }

    fn deadline(&self) -> Option<Duration> {
        self.session.deadline()
    }

    fn busy_until(&self) -> Duration {
        self.session.busy_until()
    }

    fn status(&self) -> Status {
        self.status.clone()
    }

    fn drain_operations(&mut self, receive: &mut dyn FnMut(Performed)) {
        self.session.drain_operations(receive);
    }

    fn key_log(&self) -> Vec<String> {
        self.session.key_log()
    }

    fn resumable(&mut self) -> Option<Resumable> {
        self.handed.clone()
    }
}
