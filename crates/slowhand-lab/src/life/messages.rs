//! The applications of a client that asks and of a server that answers, above their sessions.
//!
//! Where the protocol is CoAP, its messages carry what is asked: they have the number, and are sent again. Elsewhere the data
//! are messages of CoAP's size, and this is done here.

use crate::application::{Action, Application};
use crate::requests::{Ask, MAX_RETRANSMIT, Sizes};
use slowhand_net::clock::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The messages between a client and its owner.
#[derive(Clone, Default)]
pub(super) struct Mailbox(Arc<Mutex<Shared>>);

#[derive(Default)]
struct Shared {
    actions: VecDeque<Action>,
    /// The message that waits for its answer.
    open: Option<Open>,
    /// When the answer of the last message arrived, or when it was given up.
    ended: Option<(Instant, bool)>,
    is_established: bool,
    has_closed: bool,
}

/// The layer below an application.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Below {
    /// Datagrams, each with a message.
    Datagrams,
    /// A stream, in which messages follow each other.
    Stream,
    /// CoAP, which delivers each message whole and once.
    Coap,
}

/// A message that waits for its answer.
struct Open {
    /// `None` where CoAP finds what is answered.
    number: Option<u16>,
    octets: Vec<u8>,
    /// The octets of the answer.
    answer: usize,
    /// When something is done about it, and how long that wait is. `None`: what is below says when there will be no answer.
    due: Option<(Instant, Duration)>,
    /// The number of times that it may be sent again.
    left: u32,
}

impl Mailbox {
    /// A message to send at the next opportunity. Without an answer after `timeout` it is sent again, as RFC 7252 section 4.2
    /// has it; over a stream it is given up. Without a `timeout` it waits until the session fails.
    pub(super) fn ask(
        &self,
        now: Instant,
        ask: Ask,
        number: u16,
        sizes: Sizes,
        timeout: Option<Duration>,
        below: Below,
    ) {
        let [length, answer] = ask.lengths(sizes);
        let number = Some(number).filter(|_| below != Below::Coap);
        let octets = message(ask, number, length);
        let mut shared = self.lock();
        shared.ended = None;
        shared.actions.push_back(Action::Write(octets.clone()));
        let left = if below == Below::Datagrams { MAX_RETRANSMIT } else { 0 };
        let due = timeout.map(|timeout| (now + timeout, timeout));
        shared.open = Some(Open { number, octets, answer, due, left });
    }

    /// The session is to be closed.
    pub(super) fn close(&self) {
        let mut shared = self.lock();
        shared.open = None;
        shared.actions.push_back(Action::Close);
    }

    /// When the last message was answered (true) or given up (false). `None`: it waits.
    pub(super) fn ended(&self) -> Option<(Instant, bool)> {
        self.lock().ended
    }

    /// True if the client's end has verified its peer.
    pub(super) fn is_established(&self) -> bool {
        self.lock().is_established
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message: what it is and its number, where CoAP has its header (RFC 7252 section 3).
fn message(ask: Ask, number: Option<u16>, length: usize) -> Vec<u8> {
    let mut octets = vec![0; length];
    octets[0] = ask.code();
    if let Some(number) = number {
        octets[2..4].copy_from_slice(&number.to_be_bytes());
    }
    octets
}

/// Cuts what arrives into messages: over datagrams each is one, in a stream they follow each other.
struct Incoming {
    below: Below,
    octets: Vec<u8>,
}

impl Incoming {
    const fn new(below: Below) -> Self {
        Self { below, octets: Vec::new() }
    }

    /// The messages that are complete with this data. `length` says how many octets the message has that begins here.
    fn take(&mut self, data: &[u8], length: impl Fn(&[u8]) -> usize, mut receive: impl FnMut(&[u8])) {
        if self.below != Below::Stream {
            return receive(data);
        }
        self.octets.extend_from_slice(data);
        while let Some(message) = Some(length(&self.octets)).filter(|&length| length > 0 && self.octets.len() >= length)
        {
            receive(&self.octets[..message]);
            self.octets.drain(..message);
        }
    }
}

fn number_in(message: &[u8]) -> Option<u16> {
    Some(u16::from_be_bytes(message.get(2..4)?.try_into().ok()?))
}

/// The client: it sends what its owner asks for, and again if no answer comes.
pub(super) struct Asking {
    mailbox: Mailbox,
    incoming: Incoming,
}

impl Asking {
    pub(super) const fn new(mailbox: Mailbox, below: Below) -> Self {
        Self { mailbox, incoming: Incoming::new(below) }
    }
}

impl Application for Asking {
    fn handle_established(&mut self, _now: Instant) {
        self.mailbox.lock().is_established = true;
    }

    fn handle_data(&mut self, now: Instant, data: &[u8]) {
        let mut shared = self.mailbox.lock();
        let Shared { open, ended, .. } = &mut *shared;
        let expected = open.as_ref().map_or(0, |open| open.answer);
        self.incoming.take(
            data,
            |_| expected,
            |answer| {
                let has_number = |number: u16| number_in(answer) == Some(number);
                let is_ours = |open: &mut Open| open.number.is_none_or(has_number) && answer.len() == open.answer;
                if open.take_if(is_ours).is_some() {
                    *ended = Some((now, true));
                }
            },
        );
    }

    fn handle_timeout(&mut self, now: Instant) {
        let mut shared = self.mailbox.lock();
        let Shared { actions, open, ended, .. } = &mut *shared;
        let Some(waiting) = open else { return };
        let Some((_, timeout)) = waiting.due.filter(|&(due, _)| due <= now) else { return };
        if waiting.left == 0 {
            *ended = Some((now, false));
            *open = None;
            return;
        }
        waiting.left -= 1;
        waiting.due = Some((now + timeout * 2, timeout * 2));
        actions.push_back(Action::Write(waiting.octets.clone()));
    }

    fn deadline(&self) -> Option<Instant> {
        self.mailbox.lock().open.as_ref().and_then(|open| open.due).map(|(due, _)| due)
    }

    fn poll_action(&mut self) -> Option<Action> {
        let mut shared = self.mailbox.lock();
        let action = shared.actions.pop_front();
        shared.has_closed |= action == Some(Action::Close);
        action
    }

    fn is_finished(&self) -> bool {
        self.mailbox.lock().has_closed
    }
}

/// The server: it answers each message at once, also one that it has answered before.
pub(super) struct Answering {
    sizes: Sizes,
    incoming: Incoming,
    answers: VecDeque<Action>,
}

impl Answering {
    pub(super) const fn new(sizes: Sizes, below: Below) -> Self {
        Self { sizes, incoming: Incoming::new(below), answers: VecDeque::new() }
    }
}

impl Application for Answering {
    fn handle_data(&mut self, _now: Instant, data: &[u8]) {
        let Self { sizes, incoming, answers } = self;
        let length = |octets: &[u8]| octets.first().map_or(0, |&code| Ask::of_code(code).lengths(*sizes)[0]);
        let has_number = incoming.below != Below::Coap;
        incoming.take(data, length, |request| {
            let number = number_in(request).filter(|_| has_number);
            if let Some(&code) = request.first().filter(|_| number.is_some() == has_number) {
                let ask = Ask::of_code(code);
                answers.push_back(Action::Write(message(ask, number, ask.lengths(*sizes)[1])));
            }
        });
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.answers.pop_front()
    }

    fn is_finished(&self) -> bool {
        true
    }
}
