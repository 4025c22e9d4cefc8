//! Clients whose handshake failed, and which try again.
//!
//! Each attempt is a conversation of its own, with new sessions and new applications, between the same two endpoints. From
//! the instant at which it begins, what arrives at these endpoints belongs to it, also what an earlier attempt sent. Two
//! things are assumed:
//!
//! - Both ends forget an attempt when it has failed: a server sends nothing more for a handshake whose client has given up.
//! - A server that gets a ClientHello from the endpoint of a session that is half open begins a new handshake, and
//!   discards the old one. RFC 6347 section 4.2.8 asks for that once the client has proved that it is reachable; here it is
//!   so without a cookie too. Over TCP a new connection has a new initial sequence number, and the state of the old one is
//!   gone at both ends.

use super::conversation::Attempt;
use super::part::Part;
use super::silent::Silent;
use super::{Cause, Event, World};
use crate::application::OpenAndStop;
use crate::ids::{ConversationId, EndId};
use crate::retry::RetryPolicy;
use crate::world::end::Work;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_net::random::Streams;
use slowhand_sessions::Role;
use std::time::Duration;

/// The policy by which the clients of a world try again.
pub(super) struct Retries {
    policy: RetryPolicy,
    /// The random numbers of the world.
    streams: Streams,
}

impl Retries {
    pub(super) fn new(policy: RetryPolicy, streams: Streams) -> Self {
        Self { policy, streams }
    }
}

impl World<'_> {
    /// The handshake of a conversation has failed. Its client may try again.
    pub(super) fn retry_later(&mut self, now: Instant, conversation: ConversationId) {
        let Some(retries) = &self.retries else { return };
        if self.conversations[conversation].part.is_delegated() {
            return; // its client tries again, not the delegate
        }
        let (client, failed) =
            (self.conversations[conversation].client, self.conversations[conversation].attempt.number);
        let mut random = retries.streams.stream("retry", number_of(client, failed));
        if let Some(wait) = retries.policy.wait(failed, &mut random) {
            // The client is not done: the world goes on.
            self.open += 1;
            self.events.push(now + wait, Event::Retry { conversation });
        }
    }

    /// The client of a conversation that has failed tries again.
    pub(super) fn retry(&mut self, now: Instant, earlier: ConversationId) {
        let (Some(retries), Some(applications)) = (&self.retries, self.applications) else { return };
        let computer = &self.computers[self.ends[EndId::of(earlier, Role::Client)].computer];
        if computer.busy_until > now {
            let until = computer.busy_until;
            return self.events.push(until, Event::Retry { conversation: earlier });
        }
        let client = self.conversations[earlier].client;
        let number = self.conversations[earlier].attempt.number + 1;
        let streams = streams_of(retries.streams, client, number);
        let nonces = streams_of(self.plan.nonces(self.seed), client, number);
        self.retire(earlier);
        let (computed, tpm) = self.computed_until(earlier);
        self.open -= 1;
        let later = self.open_attempt(client, &nonces, &streams, applications);
        self.conversations[later].attempt = Attempt { number, earlier: Some(earlier), later: None, computed, tpm };
        self.conversations[earlier].attempt.later = Some(later);
        self.start(now, later, Cause::Start);
    }

    /// The random numbers of the sessions of an attempt.
    pub(super) fn nonces_of(&self, conversation: ConversationId) -> Streams {
        let super::Conversation { client, attempt, .. } = self.conversations[conversation];
        streams_of(self.plan.nonces(self.seed), client, attempt.number)
    }

    /// The sessions of an attempt that failed are needed no more.
    fn retire(&mut self, conversation: ConversationId) {
        for end in conversation.ends() {
            let end = &mut self.ends[end];
            let session = std::mem::replace(&mut end.session, Box::new(Silent::unfinished()));
            self.key_log.extend(session.key_log());
            (end.stream, end.dccp) = (None, None);
            end.application = Box::new(OpenAndStop);
        }
        for computer in self.computers.iter_mut() {
            computer.retain_work(|work: &Work| work.end().conversation() != conversation);
        }
    }

    /// The time that client and server have computed for a conversation and for the attempts before it, and the part of it in their TPMs.
    pub(super) fn computed_until(&self, conversation: ConversationId) -> ([Duration; 2], [Duration; 2]) {
        let Attempt { mut computed, mut tpm, .. } = self.conversations[conversation].attempt;
        for (end, role) in self.counted_ends(conversation).into_iter().zip(Role::BOTH) {
            if let Some(end) = end.map(|end| &self.ends[end]) {
                computed[role] += end.computed;
                tpm[role] += end.tpm;
            }
        }
        (computed, tpm)
    }

    /// The conversations of a client up to this one, the first attempt first. The one that a delegate opened follows that in which it
    /// was asked for.
    pub(super) fn attempts(&self, conversation: ConversationId) -> Vec<ConversationId> {
        let earlier = |&number: &ConversationId| self.conversations[number].attempt.earlier;
        let with_delegated = |number: ConversationId| match self.conversations[number].part {
            Part::HandOver { delegated: Some(delegated) } => vec![delegated, number],
            _ => vec![number],
        };
        let mut attempts: Vec<ConversationId> =
            std::iter::successors(Some(conversation), earlier).flat_map(with_delegated).collect();
        attempts.reverse();
        attempts
    }

    /// The last attempt of each client, in the order of their first ones.
    pub(super) fn last_attempts(&self) -> Vec<ConversationId> {
        let firsts = self.conversations.ids().filter(|&number| {
            let conversation = &self.conversations[number];
            // Conversations that a delegate opens are a part of another.
            conversation.attempt.earlier.is_none() && !conversation.part.is_delegated()
        });
        let later = |&number: &ConversationId| self.conversations[number].attempt.later;
        firsts.filter_map(|first| std::iter::successors(Some(first), later).last()).collect()
    }
}

/// The random numbers of an attempt: those of the first one are the world's own.
fn streams_of(streams: Streams, client: NodeId, attempt: u32) -> Streams {
    if attempt == 1 { streams } else { streams.substreams("later attempt", number_of(client, attempt)) }
}

/// The number of an attempt of a client, among those of all clients.
fn number_of(client: NodeId, attempt: u32) -> u64 {
    u64::from(client.0) << 32 | u64::from(attempt)
}
