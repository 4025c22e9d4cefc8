//! The transactions between a node and one neighbour (RFC 8480, sections 3.1 and 3.4).
//!
//! Each end keeps a sequence number for the transactions it opens and the one it expects next from the other. Both
//! go on when a transaction succeeds; where one end believes that and the other does not (a last acknowledgement was
//! lost), the next request shows it.

use super::CellId;
use super::message::{Content, Message, Reply, Request, ReturnCode};

/// The state of 6P between one node and one of its neighbours.
#[derive(Debug, Default)]
pub struct Peer {
    /// The number of the transaction that this node opens next.
    sequence: u8,
    /// The number that the neighbour's next request has to carry.
    expected: u8,
    opened: Option<Opened>,
    answered: Option<Answered>,
    /// Counts both, so that a timer knows whether its transaction is still there.
    serial: u32,
}

#[derive(Debug)]
struct Opened {
    serial: u32,
    request: Request,
    /// The cells of the confirmation that is on its way (three steps).
    confirming: Option<Vec<CellId>>,
}

#[derive(Debug)]
struct Answered {
    serial: u32,
    request: Request,
    reply: Reply,
    cells: Vec<CellId>,
    /// The response has arrived; the confirmation is awaited.
    delivered: bool,
}

/// What both ends have agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// The request.
    pub request: Request,
    /// The cells chosen.
    pub cells: Vec<CellId>,
}

/// A transaction with this neighbour is open already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a 6P transaction with this neighbour is open already")]
pub struct Busy;

/// What a response means to who asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is over: this became of the request.
    Over(Request, Reply),
    /// The neighbour proposes cells for the request; it awaits a [confirmation](Peer::confirm).
    Proposal(Request, Vec<CellId>),
}

impl Peer {
    /// Opens a transaction: what to send, and the serial for its [timer](Self::expire).
    ///
    /// # Errors
    /// [`Busy`].
    pub fn open(&mut self, function: u8, request: Request) -> Result<(Message, u32), Busy> {
        if self.opened.is_some() {
            return Err(Busy);
        }
        if matches!(request, Request::Clear { .. }) {
            self.sequence = 0;
        }
        let serial = self.next_serial();
        let content = Content::Request(request.clone());
        self.opened = Some(Opened { serial, request, confirming: None });
        Ok((Message { function, sequence: self.sequence, content }, serial))
    }

    /// Whether a transaction that this node opened is not over yet.
    pub fn is_open(&self) -> bool {
        self.opened.is_some()
    }

    /// The cells that may become part of the schedule when the open transactions end.
    pub fn locked(&self) -> impl Iterator<Item = CellId> + '_ {
        let opened = self.opened.iter().flat_map(|opened| opened.request.candidates());
        let answered = self
            .answered
            .iter()
            .filter(|answered| !answered.request.candidates().is_empty() || answered.request.takes_three_steps());
        opened.chain(answered.flat_map(|answered| &answered.cells)).copied()
    }

    /// What became of the request that this node opened. None where the response belongs to no transaction of now.
    pub fn handle_response(&mut self, sequence: u8, reply: Reply) -> Option<Progress> {
        if sequence != self.sequence || self.opened.as_ref()?.confirming.is_some() {
            return None;
        }
        let opened = self.opened.as_ref()?;
        if opened.request.takes_three_steps() && reply.code == ReturnCode::Success {
            // A list that is none is as good as an empty one: nothing in it can be confirmed.
            return Some(Progress::Proposal(opened.request.clone(), reply.cells().unwrap_or_default()));
        }
        let opened = self.opened.take()?;
        if reply.code.is_success() {
            self.sequence = after(self.sequence);
        }
        Some(Progress::Over(opened.request, reply))
    }

    /// Confirms a proposal, or a part of it: what to send.
    pub fn confirm(&mut self, function: u8, cells: Vec<CellId>) -> Option<Message> {
        let opened = self.opened.as_mut()?;
        let reply = Reply::with_cells(ReturnCode::Success, &cells);
        opened.confirming = Some(cells);
        Some(Message { function, sequence: self.sequence, content: Content::Confirmation(reply) })
    }

    /// The confirmation with this number has arrived: the transaction is over.
    pub fn confirmation_delivered(&mut self, sequence: u8) -> Option<Agreement> {
        let is_own = sequence == self.sequence;
        let opened = self.opened.take_if(|opened| is_own && opened.confirming.is_some())?;
        self.sequence = after(self.sequence);
        Some(Agreement { request: opened.request, cells: opened.confirming? })
    }

    /// The request, or the confirmation, with this number did not get through: the transaction is over.
    pub fn abandon(&mut self, sequence: u8) -> Option<Request> {
        let is_own = sequence == self.sequence;
        self.opened.take_if(|_| is_own).map(|opened| opened.request)
    }

    /// What the neighbour's next request proves: where it carries the number after that of the last response, of
    /// which no acknowledgement has come yet, that response has arrived.
    pub fn infer_delivery(&mut self, sequence: u8) -> Option<Agreement> {
        (sequence == after(self.expected)).then(|| self.response_delivered(self.expected))?
    }

    /// A request of the neighbour: whether it can be answered on its merits.
    ///
    /// # Errors
    /// The code of the response to send instead.
    pub fn admit(&mut self, sequence: u8, request: &Request) -> Result<(), ReturnCode> {
        if self.answered.take().is_some() {
            // It has given up the last one (RFC 8480, section 3.4.3).
            return Err(ReturnCode::Reset);
        }
        if matches!(request, Request::Clear { .. }) {
            self.expected = sequence;
        }
        if sequence == self.expected { Ok(()) } else { Err(ReturnCode::Sequence) }
    }

    /// Answers an admitted request: what to send, and the serial for the [timer](Self::expire) of three steps.
    pub fn answer(&mut self, function: u8, request: Request, reply: Reply, cells: Vec<CellId>) -> (Message, u32) {
        let serial = self.next_serial();
        let content = Content::Response(reply.clone());
        self.answered = Some(Answered { serial, request, reply, cells, delivered: false });
        (Message { function, sequence: self.expected, content }, serial)
    }

    /// The response with this number has arrived: what is now agreed, unless a confirmation is to follow.
    pub fn response_delivered(&mut self, sequence: u8) -> Option<Agreement> {
        let is_current = sequence == self.expected;
        let answered = self.answered.as_mut().filter(|_| is_current)?;
        if answered.request.takes_three_steps() && answered.reply.code == ReturnCode::Success {
            answered.delivered = true;
            return None;
        }
        let answered = self.answered.take()?;
        if !answered.reply.code.is_success() {
            return None;
        }
        self.expected = after(self.expected);
        Some(Agreement { request: answered.request, cells: answered.cells })
    }

    /// The response with this number was never acknowledged: the transaction never was. But one that takes cells away
    /// counts: the neighbour has most likely got it, and listens no longer where the acknowledgement was to be asked
    /// for. (RFC 8480 leaves that case open. Where the guess is wrong, the next sequence number shows it.)
    pub fn response_lost(&mut self, sequence: u8) -> Option<Agreement> {
        let takes_away = |request: &Request| matches!(request, Request::Delete(_) | Request::Clear { .. });
        if sequence == self.expected && self.answered.as_ref().is_some_and(|answered| takes_away(&answered.request)) {
            return self.response_delivered(sequence);
        }
        self.answered.take_if(|_| sequence == self.expected);
        None
    }

    /// The response could not even be queued: the transaction never was.
    pub fn withdraw(&mut self) {
        self.answered = None;
    }

    /// The third step: what is now agreed.
    pub fn handle_confirmation(&mut self, sequence: u8, reply: &Reply) -> Option<Agreement> {
        // It may overtake the news that the response has arrived.
        let three_steps = |answered: &mut Answered| answered.request.takes_three_steps();
        let answered = self.answered.take_if(three_steps).filter(|_| sequence == self.expected)?;
        if !reply.code.is_success() {
            return None;
        }
        let confirmed = reply.cells().unwrap_or_default();
        self.expected = after(self.expected);
        let cells = answered.cells.into_iter().filter(|cell| confirmed.contains(cell)).collect();
        Some(Agreement { request: answered.request, cells })
    }

    /// The time of a transaction is over; the request, where it was this node's.
    pub fn expire(&mut self, serial: u32) -> Option<Request> {
        self.answered.take_if(|answered| answered.serial == serial);
        self.opened.take_if(|opened| opened.serial == serial).map(|opened| opened.request)
    }

    /// Forgets the sequence numbers, after CLEAR (RFC 8480, section 3.3.7).
    pub fn restart(&mut self) {
        (self.sequence, self.expected) = (0, 0);
    }

    fn next_serial(&mut self) -> u32 {
        self.serial = self.serial.wrapping_add(1);
        self.serial
    }
}

/// The next sequence number: after 255 comes 1, since 0 says that everything begins anew (RFC 8480, section 3.4.6).
const fn after(sequence: u8) -> u8 {
    match sequence {
        u8::MAX => 1,
        sequence => sequence + 1,
    }
}

#[cfg(test)]
mod tests;
