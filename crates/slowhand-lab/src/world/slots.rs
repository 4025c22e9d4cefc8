//! Servers that hold few sessions: who gets a slot, in front of the sessions.
//!
//! The session of a server for a client is there from the beginning, but nothing reaches it as long as it has no slot, and it
//! sends nothing. Two things are assumed:
//!
//! - A half-open session that lost its slot goes on where it was if its client gets a slot again: to the ClientHello it answers
//!   the same flight as a new session would.
//! - An alert arrives: where an end has failed, or has closed the session, the server frees the slot at once.

use super::World;
use crate::admission::{Answer, Slots};
use crate::ids::{ConversationId, EndId};
use crate::record::{Failure, Outcome};
use slowhand_net::address::Host;
use slowhand_net::clock::Instant;
use slowhand_net::transport::tcp::{Flags, Segment};
use slowhand_sessions::{Protocol, Role};
use slowhand_wire::quic::{self, PacketType};
use slowhand_wire::{MessageType, dtls};

/// The fate of a client that has no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shut {
    /// It asked for one in vain.
    Out,
    /// Its session had one, which another session has now.
    Down,
}

/// The messages of a client without a slot.
pub(crate) enum Sent {
    /// That for which the server keeps no state, such as a ClientHello without a cookie.
    Stateless,
    /// That which asks for a slot.
    Request,
    /// That of a session that the server does not know.
    Other,
}

impl World<'_> {
    /// A datagram or segment is about to reach an end: true if its session takes it. At a server with few slots it needs one.
    pub(super) fn admits(&mut self, now: Instant, end: EndId, octets: &[u8]) -> bool {
        let (conversation, server) = (end.conversation(), self.ends[end].host);
        let Some(slots) = self.slots.as_mut().filter(|_| end.role() == Role::Server) else { return true };
        if slots.note_use(now, server, conversation) {
            return true;
        }
        let sent = match self.ends[end].stream {
            Some(_) => of_stream(octets),
            None if self.plan.protocol() == Protocol::Quic => of_packets(octets),
            None => of_datagrams(octets, self.plan.has_cookie),
        };
        match sent {
            Sent::Stateless => true,
            Sent::Request if !self.conversations[conversation].is_over() => {
                self.ask_for_slot(now, server, conversation)
            }
            Sent::Request | Sent::Other => false,
        }
    }

    fn ask_for_slot(&mut self, now: Instant, server: Host, conversation: ConversationId) -> bool {
        let Some(slots) = &mut self.slots else { return true };
        // A client that begins anew replaces what it had begun (see `attempts`).
        if let Some(earlier) = self.conversations[conversation].attempt.earlier {
            slots.free(server, earlier);
        }
        let answer = slots.ask(now, server, conversation);
        self.conversations[conversation].shut = match answer {
            Answer::Refused => self.conversations[conversation].shut.or(Some(Shut::Out)),
            Answer::Admitted | Answer::AdmittedFor(_) => None,
        };
        if let Answer::AdmittedFor(other) = answer {
            self.evict(now, other);
        }
        answer != Answer::Refused
    }

    /// The server ends a session without a word. The client of a half-open one goes on until it gives up.
    fn evict(&mut self, now: Instant, conversation: ConversationId) {
        let evicted = &mut self.conversations[conversation];
        if evicted.is_established() {
            self.end_evicted(now, conversation, self.shut_down());
        } else if !evicted.is_over() {
            evicted.shut = Some(Shut::Down);
        }
    }

    fn shut_down(&self) -> Failure {
        Failure { end: Role::Server, reason: "its session slot was given to another client".to_owned() }
    }

    /// True if a session of a server has lost its slot: it does nothing.
    pub(super) fn is_shut_down(&self, end: EndId) -> bool {
        end.role() == Role::Server && self.conversations[end.conversation()].shut == Some(Shut::Down)
    }

    /// The end of a conversation whose client had no slot, if that is why it took too long.
    pub(super) fn blame_slots(&self, conversation: ConversationId, outcome: Outcome) -> Option<(Outcome, Failure)> {
        let shut =
            self.conversations[conversation].shut.filter(|_| matches!(outcome, Outcome::GaveUp | Outcome::TimedOut))?;
        let count = self.slots.as_ref().map_or(0, Slots::count);
        Some(match shut {
            Shut::Out => {
                let slots = if count == 1 {
                    "the session slot is".to_owned()
                } else {
                    format!("all {count} session slots are")
                };
                (Outcome::Refused, Failure { end: Role::Server, reason: format!("{slots} taken") })
            }
            Shut::Down => (Outcome::Evicted, self.shut_down()),
        })
    }

    /// A conversation is over. Its session keeps the slot until the server knows, or its time is over.
    pub(super) fn leave_slot(&mut self, conversation: ConversationId, outcome: Outcome) {
        let server = self.ends[EndId::of(conversation, Role::Server)].host;
        let is_closing = self.conversations[conversation].is_closing();
        let Some(slots) = &mut self.slots else { return };
        match outcome {
            Outcome::Alert | Outcome::Error | Outcome::Reset => slots.free(server, conversation),
            Outcome::Completed if is_closing => slots.free(server, conversation),
            _ => slots.leave(server, conversation),
        }
    }
}

/// The request in a segment of TCP: a SYN asks for a connection.
fn of_stream(segment: &[u8]) -> Sent {
    match Segment::parse(segment) {
        Ok(segment) if segment.flags.contains(Flags::SYN) => Sent::Request,
        _ => Sent::Other,
    }
}

/// The request in a datagram of QUIC: an Initial asks for a connection.
fn of_packets(datagram: &[u8]) -> Sent {
    match quic::packets(datagram).next() {
        Some(Ok(PacketType::Initial)) => Sent::Request,
        _ => Sent::Other,
    }
}

/// The request in a datagram of DTLS. The ClientHello that brings a cookie is the client's second message, or a later one (RFC 6347
/// section 4.2.2, RFC 9147 section 5.1).
pub(crate) fn of_datagrams(datagram: &[u8], has_cookie: bool) -> Sent {
    let fragments = dtls::records(datagram, None).map_while(Result::ok).flat_map(|record| record.fragments());
    let mut hellos = fragments.flatten().filter(|fragment| fragment.message_type == MessageType::ClientHello);
    match hellos.next() {
        Some(hello) if hello.message_seq == 0 && has_cookie => Sent::Stateless,
        Some(_) => Sent::Request,
        None => Sent::Other,
    }
}
