//! The transactions between a node and one neighbour (RFC 8480, sections 3.1 and 3.4).
//!
//! Each end keeps the sequence number of its next own transaction, and the number that it expects from the other end.
//! Both ends increment them when a transaction succeeds. If only one end counts it as a success, because the last
//! acknowledgement was lost, the next request reveals the difference.

use super::CellId;
use super::message::{Content, Message, Reply, Request, ReturnCode};

/// The state of 6P between one node and one of its neighbours.
#[derive(Debug, Default)]
pub struct Peer {
    /// The sequence number of the next transaction that this node opens.
    sequence: u8,
    /// The sequence number that the neighbour's next request must have.
    expected: u8,
    opened: Option<Opened>,
    answered: Option<Answered>,
    /// Counts the transactions of both ends, so that a timer recognises its own.
    serial: u32,
}

#[derive(Debug)]
struct Opened {
    serial: u32,
    request: Request,
    /// The cells of the confirmation that is being sent (three steps).
    confirming: Option<Vec<CellId>>,
}

#[derive(Debug)]
struct Answered {
    serial: u32,
    request: Request,
    reply: Reply,
    cells: Vec<CellId>,
}

/// The result of a transaction, agreed by both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// The request.
    pub request: Request,
    /// The agreed cells.
    pub cells: Vec<CellId>,
}

/// A transaction with this neighbour is open already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a 6P transaction with this neighbour is open already")]
pub struct Busy;

/// The state of a transaction after a response, for the node that opened it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The transaction is over: the request and its response.
    Over(Request, Reply),
    /// The neighbour proposes cells for the request, and waits for a [confirmation](Peer::confirm).
    Proposal(Request, Vec<CellId>),
}

impl Peer {
    /// Opens a transaction. Returns the message to send, and the serial for its [timer](Self::expire).
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

    /// True while a transaction that this node opened is open.
    pub fn is_open(&self) -> bool {
        self.opened.is_some()
    }

    /// The locked cells: the open transactions may add them to the schedule.
    pub fn locked(&self) -> impl Iterator<Item = CellId> + '_ {
        let opened = self.opened.iter().flat_map(|opened| opened.request.candidates());
        let answered = self
            .answered
            .iter()
            .filter(|answered| !answered.request.candidates().is_empty() || answered.request.takes_three_steps());
        opened.chain(answered.flat_map(|answered| &answered.cells)).copied()
    }

    /// Handles a response. `None` if it does not belong to the open transaction.
    pub fn handle_response(&mut self, sequence: u8, reply: Reply) -> Option<Progress> {
        let opened = self.opened.as_ref().filter(|opened| sequence == self.sequence && opened.confirming.is_none())?;
        if opened.request.takes_three_steps() && reply.code == ReturnCode::Success {
            // An invalid list counts as empty: the node can confirm nothing of it.
            return Some(Progress::Proposal(opened.request.clone(), reply.cells().unwrap_or_default()));
        }
        let opened = self.opened.take()?;
        if reply.code.is_success() {
            self.sequence = after(self.sequence);
        }
        Some(Progress::Over(opened.request, reply))
    }

    /// Confirms these cells of a proposal. Returns the message to send.
    pub fn confirm(&mut self, function: u8, cells: Vec<CellId>) -> Option<Message> {
        let opened = self.opened.as_mut()?;
        let reply = Reply::with_cells(ReturnCode::Success, &cells);
        opened.confirming = Some(cells);
        Some(Message { function, sequence: self.sequence, content: Content::Confirmation(reply) })
    }

    /// The confirmation with this sequence number was acknowledged: the transaction is over.
    pub fn confirmation_delivered(&mut self, sequence: u8) -> Option<Agreement> {
        let is_own = sequence == self.sequence;
        let opened = self.opened.take_if(|opened| is_own && opened.confirming.is_some())?;
        self.sequence = after(self.sequence);
        Some(Agreement { request: opened.request, cells: opened.confirming? })
    }

    /// The request or confirmation with this sequence number was lost: the transaction is over.
    pub fn abandon(&mut self, sequence: u8) -> Option<Request> {
        let is_own = sequence == self.sequence;
        self.opened.take_if(|_| is_own).map(|opened| opened.request)
    }

    /// Infers from the sequence number of the neighbour's next request that the last response has arrived, although its
    /// acknowledgement has not come yet.
    pub fn infer_delivery(&mut self, sequence: u8) -> Option<Agreement> {
        (sequence == after(self.expected)).then(|| self.response_delivered(self.expected))?
    }

    /// Checks whether a request of the neighbour may be processed.
    ///
    /// # Errors
    /// The return code to answer with if not.
    pub fn admit(&mut self, sequence: u8, request: &Request) -> Result<(), ReturnCode> {
        if self.answered.take().is_some() {
            // The neighbour has given up the last transaction (RFC 8480, section 3.4.3).
            return Err(ReturnCode::Reset);
        }
        if matches!(request, Request::Clear { .. }) {
            self.expected = sequence;
        }
        if sequence == self.expected { Ok(()) } else { Err(ReturnCode::Sequence) }
    }

    /// Answers an admitted request. Returns the message to send, and the serial for the [timer](Self::expire) of three
    /// steps.
    pub fn answer(&mut self, function: u8, request: Request, reply: Reply, cells: Vec<CellId>) -> (Message, u32) {
        let serial = self.next_serial();
        let content = Content::Response(reply.clone());
        self.answered = Some(Answered { serial, request, reply, cells });
        (Message { function, sequence: self.expected, content }, serial)
    }

    /// The response with this sequence number was acknowledged. Returns the agreement, unless a confirmation must
    /// follow.
    pub fn response_delivered(&mut self, sequence: u8) -> Option<Agreement> {
        let is_over = |answered: &mut Answered| {
            !answered.request.takes_three_steps() || answered.reply.code != ReturnCode::Success
        };
        let answered = self.answered.take_if(|answered| sequence == self.expected && is_over(answered))?;
        if !answered.reply.code.is_success() {
            return None;
        }
        self.expected = after(self.expected);
        Some(Agreement { request: answered.request, cells: answered.cells })
    }

    /// The response with this sequence number was never acknowledged: the transaction has failed. Exception: DELETE and
    /// CLEAR count as a success. The neighbour has most likely received the response and deleted the cells in which it
    /// would hear the retransmissions. (RFC 8480 does not define this case. If the guess is wrong, the next sequence
    /// number reveals it.)
    pub fn response_lost(&mut self, sequence: u8) -> Option<Agreement> {
        let deletes = |request: &Request| matches!(request, Request::Delete(_) | Request::Clear { .. });
        if sequence == self.expected && self.answered.as_ref().is_some_and(|answered| deletes(&answered.request)) {
            return self.response_delivered(sequence);
        }
        self.answered.take_if(|_| sequence == self.expected);
        None
    }

    /// The response could not be queued: the transaction has failed.
    pub fn withdraw(&mut self) {
        self.answered = None;
    }

    /// Handles a confirmation. Returns the agreement.
    pub fn handle_confirmation(&mut self, sequence: u8, reply: &Reply) -> Option<Agreement> {
        // The confirmation may come before the acknowledgement of the response.
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

    /// The timeout of a transaction. Returns the request if this node opened the transaction.
    pub fn expire(&mut self, serial: u32) -> Option<Request> {
        self.answered.take_if(|answered| answered.serial == serial);
        self.opened.take_if(|opened| opened.serial == serial).map(|opened| opened.request)
    }

    /// Resets the sequence numbers, after CLEAR (RFC 8480, section 3.3.7).
    pub fn restart(&mut self) {
        (self.sequence, self.expected) = (0, 0);
    }

    fn next_serial(&mut self) -> u32 {
        self.serial = self.serial.wrapping_add(1);
        self.serial
    }
}

/// The next sequence number. After 255 comes 1, because 0 means a reset (RFC 8480, section 3.4.6).
const fn after(sequence: u8) -> u8 {
    match sequence {
        u8::MAX => 1,
        sequence => sequence + 1,
    }
}

#[cfg(test)]
mod tests;
