//! 6P transactions between the nodes: what happens when a message arrives, and when it is lost.

use super::{Control, Outcome, Plane, SchedulingFunction, Transaction};
use crate::address::NodeId;
use crate::clock::Instant;
use crate::radio::sixtop::CellId;
use crate::radio::sixtop::message::{CellRequest, Content, Error, Message, Reply, Request, ReturnCode};
use crate::radio::sixtop::transaction::{Agreement, Progress};
use crate::radio::tsch::frame::sixtop_message;
use crate::radio::tsch::schedule::{Cell, CellOptions, handle};
use crate::radio::tsch::state::{MessageAttempt, TschState};

/// The most cells that a responder proposes in three steps. Assumed: the number that fits into a frame.
const PROPOSED: usize = 20;

type Function<'a> = &'a mut dyn SchedulingFunction;

impl Control {
    /// An attempt at a frame with a 6P message is over.
    pub(in crate::radio::tsch) fn finish_message(
        &mut self,
        now: Instant,
        state: &mut TschState,
        attempt: &MessageAttempt,
    ) {
        let MessageAttempt { from, to, ref frame, arrived, acknowledged, given_up } = *attempt;
        self.act(now, state, |function, plane| {
            let message = Message::parse(sixtop_message(frame).unwrap_or_default());
            if arrived {
                plane.handle_message(function, to, from, &message);
            }
            match message {
                Ok(message) if acknowledged => plane.handle_delivered(function, from, to, &message),
                Ok(message) if given_up => plane.handle_lost(function, from, to, &message),
                _ => {}
            }
        });
    }

    /// The timeout of a transaction.
    pub(in crate::radio::tsch) fn expire(
        &mut self,
        now: Instant,
        state: &mut TschState,
        node: NodeId,
        position: usize,
        serial: u32,
    ) {
        self.act(now, state, |function, plane| {
            let peer = plane.state.nodes[node.index()].neighbors[position].id;
            if let Some(request) = plane.peers[node.index()][position].expire(serial) {
                function.handle_outcome(Transaction { node, peer, request: &request }, Outcome::Failed, plane);
            }
        });
    }
}

impl Plane<'_> {
    /// A message from `from` arrives at `node`.
    fn handle_message(&mut self, function: Function<'_>, node: NodeId, from: NodeId, message: &Result<Message, Error>) {
        let Ok(Message { function: id, sequence, content }) = message else {
            return; // cannot happen: all nodes of the simulation send valid messages of version 0
        };
        match content {
            Content::Request(request) => self.handle_request(function, node, from, *id, *sequence, request),
            Content::Response(reply) => self.handle_response(function, node, from, *sequence, reply),
            Content::Confirmation(reply) => {
                let agreement = self.peer(node, from).and_then(|peer| peer.handle_confirmation(*sequence, reply));
                self.conclude_answered(function, node, from, agreement);
            }
        }
    }

    fn handle_request(
        &mut self,
        function: Function<'_>,
        node: NodeId,
        from: NodeId,
        id: u8,
        sequence: u8,
        request: &Request,
    ) {
        let own = self.function;
        let inferred = self.peer(node, from).and_then(|peer| peer.infer_delivery(sequence));
        self.conclude_answered(function, node, from, inferred);
        let Some(peer) = self.peer(node, from) else { return };
        let admitted = if id == own { peer.admit(sequence, request) } else { Err(ReturnCode::Function) };
        if let Err(code) = admitted {
            let content = Content::Response(Reply { code, body: Vec::new() });
            // If this fails, the timeout at the other end ends the transaction.
            let _ = self.send(node, from, &Message { function: own, sequence, content });
            return;
        }
        let (reply, cells) = self.grant(function, node, from, request);
        let awaits_confirmation = request.takes_three_steps() && reply.code == ReturnCode::Success;
        let Some(peer) = self.peer(node, from) else { return };
        let (response, serial) = peer.answer(own, request.clone(), reply, cells);
        if self.send(node, from, &response).is_err() {
            if let Some(peer) = self.peer(node, from) {
                peer.withdraw();
            }
        } else if let Some(position) = self.position(node, from).filter(|_| awaits_confirmation) {
            self.set_timeout(node, position, serial);
        }
    }

    fn handle_response(&mut self, function: Function<'_>, node: NodeId, from: NodeId, sequence: u8, reply: &Reply) {
        let own = self.function;
        match self.peer(node, from).and_then(|peer| peer.handle_response(sequence, reply.clone())) {
            None => {} // the transaction is over already
            Some(Progress::Over(request, reply)) if reply.code.is_success() => {
                let cells = match request {
                    Request::Count { .. } | Request::Signal { .. } | Request::Clear { .. } => Vec::new(),
                    _ => reply.cells().unwrap_or_default(),
                };
                self.conclude_opened(function, node, from, Agreement { request, cells });
            }
            Some(Progress::Over(request, reply)) => {
                let transaction = Transaction { node, peer: from, request: &request };
                function.handle_outcome(transaction, Outcome::Refused(reply.code), self);
            }
            Some(Progress::Proposal(request, proposed)) => {
                let cells = self.choose(node, from, &request, proposed);
                let Some(confirmation) = self.peer(node, from).and_then(|peer| peer.confirm(own, cells)) else {
                    return;
                };
                if self.send(node, from, &confirmation).is_err() {
                    self.fail(function, node, from, sequence);
                }
            }
        }
    }

    /// A message of `node` was acknowledged.
    fn handle_delivered(&mut self, function: Function<'_>, node: NodeId, to: NodeId, message: &Message) {
        let sequence = message.sequence;
        match message.content {
            Content::Request(_) => {}
            Content::Response(_) => {
                let agreement = self.peer(node, to).and_then(|peer| peer.response_delivered(sequence));
                self.conclude_answered(function, node, to, agreement);
            }
            Content::Confirmation(_) => {
                if let Some(agreement) = self.peer(node, to).and_then(|peer| peer.confirmation_delivered(sequence)) {
                    self.conclude_opened(function, node, to, agreement);
                }
            }
        }
    }

    /// `node` gave up a message.
    fn handle_lost(&mut self, function: Function<'_>, node: NodeId, to: NodeId, message: &Message) {
        match message.content {
            Content::Request(_) | Content::Confirmation(_) => self.fail(function, node, to, message.sequence),
            Content::Response(_) => {
                let agreement = self.peer(node, to).and_then(|peer| peer.response_lost(message.sequence));
                self.conclude_answered(function, node, to, agreement);
            }
        }
    }

    fn fail(&mut self, function: Function<'_>, node: NodeId, to: NodeId, sequence: u8) {
        if let Some(request) = self.peer(node, to).and_then(|peer| peer.abandon(sequence)) {
            function.handle_outcome(Transaction { node, peer: to, request: &request }, Outcome::Failed, self);
        }
    }

    /// The end of a transaction at the node that opened it.
    fn conclude_opened(&mut self, function: Function<'_>, node: NodeId, peer: NodeId, agreement: Agreement) {
        self.apply(function, node, peer, &agreement, |options| options);
        let transaction = Transaction { node, peer, request: &agreement.request };
        function.handle_outcome(transaction, Outcome::Agreed(&agreement.cells), self);
    }

    /// The end of a transaction at the node that answered it.
    fn conclude_answered(&mut self, function: Function<'_>, node: NodeId, peer: NodeId, agreement: Option<Agreement>) {
        let Some(agreement) = agreement else { return };
        self.apply(function, node, peer, &agreement, CellOptions::of_other_end);
        let transaction = Transaction { node, peer, request: &agreement.request };
        function.handle_agreement(transaction, &agreement.cells, self);
    }

    /// Changes a node's schedule as agreed. `options` converts the cell options of the request into those of this node.
    fn apply(
        &mut self,
        function: Function<'_>,
        node: NodeId,
        peer: NodeId,
        agreement: &Agreement,
        options: impl Fn(CellOptions) -> CellOptions,
    ) {
        let handle = function.slotframe_of(agreement.request.metadata());
        let cells = &agreement.cells;
        let add = |asked: CellOptions| {
            let options = options(asked);
            cells.iter().map(move |cell| Cell {
                slot: cell.slot,
                channel_offset: cell.channel_offset as u8,
                options,
                neighbor: Some(peer),
                handle,
            })
        };
        let agreed = |cell: &Cell| cell.neighbor == Some(peer) && cell.handle >= handle::NEGOTIATED;
        self.state.change_schedule(self.now, node, peer, |schedule| match &agreement.request {
            Request::Add(CellRequest { options, .. }) => add(*options).for_each(|cell| schedule.add(cell)),
            Request::Delete(_) => schedule.remove(|cell| agreed(cell) && cells.contains(&cell.id())),
            Request::Relocate { options, cells: given_up, .. } => {
                // The responder may have found fewer places than cells. The first cells of the list move.
                let moved = &given_up[..cells.len().min(given_up.len())];
                schedule.remove(|cell| agreed(cell) && moved.contains(&cell.id()));
                add(*options).for_each(|cell| schedule.add(cell));
            }
            Request::Clear { .. } => schedule.remove(agreed),
            Request::Count { .. } | Request::List { .. } | Request::Signal { .. } => {}
        });
        if let (Request::Clear { .. }, Some(peer)) = (&agreement.request, self.peer(node, peer)) {
            peer.restart();
        }
    }

    /// The answer to a request of `from`, and the cells that it grants.
    fn grant(&mut self, function: Function<'_>, node: NodeId, from: NodeId, request: &Request) -> (Reply, Vec<CellId>) {
        let refuse = |code| (Reply { code, body: Vec::new() }, Vec::new());
        let grant = |cells: Vec<CellId>| (Reply::with_cells(ReturnCode::Success, &cells), cells);
        match request {
            Request::Add(CellRequest { count, cells, .. }) if cells.is_empty() => grant(self.propose(node)),
            Request::Add(CellRequest { count, cells, .. }) => match self.pick(node, cells, usize::from(*count)) {
                picked if picked.is_empty() && self.only_locked(node, cells) => refuse(ReturnCode::Locked),
                picked => grant(picked),
            },
            Request::Delete(CellRequest { options, count, cells, .. }) => {
                let existing = self.existing(node, from, *options);
                if !cells.iter().all(|cell| existing.contains(cell)) {
                    return refuse(ReturnCode::CellList);
                }
                let among = if cells.is_empty() { &existing } else { cells };
                grant(among.iter().copied().take(usize::from(*count)).collect())
            }
            Request::Relocate { options, cells, candidates, .. } => {
                let existing = self.existing(node, from, *options);
                match cells.iter().all(|cell| existing.contains(cell)) {
                    false => refuse(ReturnCode::CellList),
                    true if candidates.is_empty() => grant(self.propose(node)),
                    true => grant(self.pick(node, candidates, cells.len())),
                }
            }
            Request::Count { options, .. } => {
                let count = self.existing(node, from, *options).len() as u16;
                (Reply { code: ReturnCode::Success, body: count.to_le_bytes().to_vec() }, Vec::new())
            }
            Request::List { options, offset, limit, .. } => {
                let existing = self.existing(node, from, *options);
                let listed: Vec<CellId> =
                    existing.iter().copied().skip(usize::from(*offset)).take(usize::from(*limit)).collect();
                let is_end = usize::from(*offset) + listed.len() >= existing.len();
                let code = if is_end { ReturnCode::EndOfList } else { ReturnCode::Success };
                (Reply::with_cells(code, &listed), Vec::new())
            }
            Request::Signal { metadata, payload } => refuse(function.handle_signal(node, from, *metadata, payload)),
            Request::Clear { .. } => grant(Vec::new()),
        }
    }

    /// The cells of a proposal that the node confirms.
    fn choose(&self, node: NodeId, peer: NodeId, request: &Request, proposed: Vec<CellId>) -> Vec<CellId> {
        match request {
            Request::Delete(CellRequest { options, count, .. }) => {
                let existing = self.existing(node, peer, options.of_other_end());
                let known = proposed.into_iter().filter(|cell| existing.contains(cell));
                known.take(usize::from(*count)).collect()
            }
            Request::Relocate { cells, .. } => self.pick(node, &proposed, cells.len()),
            Request::Add(CellRequest { count, .. }) => self.pick(node, &proposed, usize::from(*count)),
            _ => Vec::new(),
        }
    }

    /// The first `count` cells of a list whose slots are free, at most one in each slot.
    fn pick(&self, node: NodeId, cells: &[CellId], count: usize) -> Vec<CellId> {
        let mut picked: Vec<CellId> = Vec::new();
        for cell in cells {
            let is_new = picked.iter().all(|other| other.slot != cell.slot);
            if picked.len() < count && is_new && self.is_free(node, cell.slot) {
                picked.push(*cell);
            }
        }
        picked
    }

    fn only_locked(&self, node: NodeId, cells: &[CellId]) -> bool {
        cells.iter().any(|cell| self.schedule(node).is_free(cell.slot) && (1..self.slotframe()).contains(&cell.slot))
    }

    /// The cells to propose to a neighbour, spread evenly over the free slots.
    fn propose(&self, node: NodeId) -> Vec<CellId> {
        let free: Vec<u16> = (1..self.slotframe()).filter(|&slot| self.is_free(node, slot)).collect();
        let offered = free.len().min(PROPOSED);
        let slot = |number| free[number * free.len() / offered];
        (0..offered).map(|number| CellId { slot: slot(number), channel_offset: node.0 % 16 }).collect()
    }

    /// The negotiated cells in which the neighbour has `options`, sorted by slot.
    fn existing(&self, node: NodeId, neighbor: NodeId, options: CellOptions) -> Vec<CellId> {
        let mut cells: Vec<CellId> =
            self.schedule(node).agreed(neighbor, options.of_other_end()).map(Cell::id).collect();
        cells.sort();
        cells
    }
}
