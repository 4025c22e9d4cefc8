//! Everything that the explanation of a conversation is made from.

use super::air::Air;
use super::context::Context;
use super::losses::Loss;
use crate::ids::{ConversationId, EndId};
use crate::scenario::{Remedy, Session};
use crate::world::trace::{Cause, Sender, Sent, Trace};
use slowhand_coap::message::is_coap;
use slowhand_net::clock::Instant;
use slowhand_net::datagram::DatagramId;
use slowhand_sessions::{Carrier, Role};
use std::collections::BTreeMap;

/// A world that has run, and one conversation in it. From this `events` makes the timeline, and `parts` the words for the pieces of the
/// path.
pub(super) struct Sources<'a> {
    pub(super) trace: &'a Trace,
    pub(super) air: &'a Air,
    pub(super) context: &'a Context<'a>,
    pub(super) conversation: ConversationId,
    pub(super) losses: &'a BTreeMap<DatagramId, Loss>,
    /// The content of each datagram.
    pub(super) names: &'a BTreeMap<DatagramId, String>,
    /// The content of each write to a stream, by its number.
    pub(super) written: &'a BTreeMap<usize, String>,
    /// The step before DTLS, and its end; `None` if there is none, or if DTLS never began.
    pub(super) before: Option<(Before, Instant)>,
    /// True if the conversation has failed because CoAP has sent a message as often as it may.
    pub(super) is_given_up_by_coap: bool,
}

/// The step of a handshake before DTLS begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// The client asks the trust anchor for a key.
    Anchor,
    /// The connection of DCCP opens.
    Opening,
}

impl Before {
    /// The step before DTLS in a conversation, and its end.
    pub(super) fn of(trace: &Trace, session: &Session, conversation: ConversationId) -> Option<(Self, Instant)> {
        let before = match session.carrier {
            _ if session.trust_anchor => Self::Anchor,
            Carrier::Dccp => Self::Opening,
            _ => return None,
        };
        let is_dtls = |sent: &Sent| sent.control.is_none() && !is_coap(&sent.payload.octets);
        let (_, first) = trace.sent_by(EndId::of(conversation, Role::Client)).find(|(_, sent)| is_dtls(sent))?;
        let Sender::End(step) = first.by else { return None };
        let step = &trace.steps[step as usize];
        match step.cause {
            Cause::Ready { by } => Some((before, trace.steps[by as usize].at)),
            _ => Some((before, step.at)),
        }
    }

    /// The kind and the words of a part, and what makes it shorter.
    pub(super) fn words(self) -> (&'static str, &'static str, Option<Remedy>) {
        match self {
            Self::Anchor => ("anchor", "the client asks the trust anchor for a key", None),
            Self::Opening => ("opening", "the connection of DCCP opens", Some(Remedy::change("session.carrier"))),
        }
    }
}
