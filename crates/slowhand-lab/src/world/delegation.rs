//! Sessions that a delegate opens in the name of a client (`gateway.delegation`).
//!
//! Then each attempt of a client has three conversations: it asks its delegate, which opens a session with the server, and hands
//! it over; the client resumes it with the server. What the first two took counts for the handshake.
//!
//! It is assumed that the delegate forgets what it has handed over, and sends no alert to the server: that would end the session
//! for the client too.

use super::conversation::Attempt;
use super::part::Part;
use super::{Cause, Event, Opening, World, to_std};
use crate::application::{Applications, OpenAndStop};
use crate::ids::{ConversationId, EndId};
use crate::plan::Ends;
use crate::record::{Failure, Outcome};
use slowhand_coap::hand_over::Answer;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_net::random::Streams;
use slowhand_sessions::{Resumable, Role};

impl<'a> World<'a> {
    /// Adds the first conversation of an attempt.
    pub(super) fn open_attempt(
        &mut self,
        client: NodeId,
        nonces: &Streams,
        streams: &Streams,
        applications: &'a Applications<'a>,
    ) -> ConversationId {
        match self.plan.hand_over(client, nonces) {
            Some(ends) => self.open_help(client, ends, Part::HandOver { delegated: None }),
            None => self.open(Opening {
                client,
                endpoints: self.plan.endpoints(client),
                sessions: self.plan.sessions(client, nonces),
                applications: Role::BOTH.map(|role| applications(client, role)),
                initial: self.plan.initial_sequence_numbers(client, streams),
            }),
        }
    }

    /// Adds a conversation that has no application.
    fn open_help(&mut self, client: NodeId, Ends { endpoints, sessions }: Ends, part: Part) -> ConversationId {
        let applications = [Box::new(OpenAndStop) as _, Box::new(OpenAndStop) as _];
        self.open_part(Opening { client, endpoints, sessions, applications, initial: [0; 2] }, part)
    }

    /// The delegate has verified a request: it opens the session.
    pub(super) fn open_delegated(&mut self, at: Instant, hand_over: ConversationId) {
        let client = self.conversations[hand_over].client;
        let nonces = self.nonces_of(hand_over);
        let Some(ends) = self.plan.delegated(client, &nonces, at) else { return };
        let delegated = self.open_help(client, ends, Part::Delegated { hand_over });
        self.conversations[hand_over].part = Part::HandOver { delegated: Some(delegated) };
        let cause = Cause::Ready { by: self.step_number() };
        self.events.push(at, Event::Start { conversation: delegated, cause });
    }

    /// A conversation of an attempt is established: the next one begins.
    pub(super) fn go_on(&mut self, now: Instant, conversation: ConversationId) {
        match self.conversations[conversation].part {
            Part::Whole | Part::Resumed { .. } | Part::HandOver { delegated: None } => {}
            Part::Delegated { hand_over } => {
                let kept = self.ends[EndId::of(conversation, Role::Client)].session.resumable();
                self.answer(now, hand_over, kept.as_ref());
            }
            Part::HandOver { delegated: Some(delegated) } => self.resume_session(now, conversation, delegated),
        }
    }

    /// A conversation of an attempt has ended before it was established: those that wait for it, or that it waits for, end too.
    pub(super) fn give_up_help(&mut self, now: Instant, conversation: ConversationId) {
        match self.conversations[conversation].part {
            Part::Delegated { hand_over } => self.answer(now, hand_over, None),
            Part::HandOver { delegated: Some(delegated) } => self.end(now, delegated, Outcome::GaveUp, None),
            Part::Resumed { hand_over } => self.end(now, hand_over, Outcome::Completed, None),
            Part::Whole | Part::HandOver { delegated: None } => {}
        }
    }

    /// The delegate answers: with the session, or that there is none.
    fn answer(&mut self, now: Instant, hand_over: ConversationId, session: Option<&Resumable>) {
        if self.conversations[hand_over].is_over() {
            return;
        }
        let answer = session.and_then(Resumable::octets).map_or(Answer::Refused, Answer::Session);
        let end = EndId::of(hand_over, Role::Server);
        self.begin_step(now, end, Cause::Ready { by: self.step_number() });
        if let Err(error) = self.ends[end].session.write(to_std(now), &answer.encode()) {
            let failure = Failure { end: end.role(), reason: error.to_string() };
            self.events.push(now, Event::Failed { conversation: hand_over, outcome: Outcome::Error, failure });
        }
        self.after_call(now, end);
    }

    /// The client has the session, and resumes it with the server.
    fn resume_session(&mut self, now: Instant, hand_over: ConversationId, delegated: ConversationId) {
        let Some(applications) = self.applications else { return };
        let client = self.conversations[hand_over].client;
        let ends = [EndId::of(hand_over, Role::Client), EndId::of(delegated, Role::Server)];
        let kept = ends.map(|end| self.ends[end].session.resumable());
        let Ends { endpoints, sessions } = self.plan.resuming(client, &self.nonces_of(hand_over), now, &kept);
        let applications = Role::BOTH.map(|role| applications(client, role));
        let opening = Opening { client, endpoints, sessions, applications, initial: [0; 2] };
        let resumed = self.open_part(opening, Part::Resumed { hand_over });
        let Attempt { number, .. } = self.conversations[hand_over].attempt;
        let (computed, tpm) = self.computed_until(hand_over);
        self.conversations[resumed].attempt = Attempt { number, earlier: Some(hand_over), later: None, computed, tpm };
        self.conversations[hand_over].attempt.later = Some(resumed);
        self.start(now, resumed, Cause::Start);
    }

    /// The ends of a conversation whose devices count as those of client and server. A delegate is neither: while a client asks it,
    /// the server is that of the session which the delegate opens, if it has begun.
    pub(super) fn counted_ends(&self, conversation: ConversationId) -> [Option<EndId>; 2] {
        let [client, server] = conversation.ends();
        let server = match self.conversations[conversation].part {
            Part::HandOver { delegated } => delegated.map(|delegated| EndId::of(delegated, Role::Server)),
            _ => Some(server),
        };
        [Some(client), server]
    }

    /// True if the delegate knows that its answer has arrived, and nothing is on its way.
    pub(super) fn is_handed_over(&self, hand_over: ConversationId) -> bool {
        let waits = |end: EndId| self.ends[end].session.deadline().is_some() || self.has_work(end);
        self.ledger.on_their_way_of(hand_over) == 0 && !hand_over.ends().into_iter().any(waits)
    }

    /// When an attempt began: a handshake may take `session.give_up_s` from then.
    pub(super) fn attempt_began(&self, now: Instant, conversation: ConversationId) -> Instant {
        let hand_over = match self.conversations[conversation].part {
            Part::Delegated { hand_over } | Part::Resumed { hand_over } => hand_over,
            Part::Whole | Part::HandOver { .. } => return now,
        };
        self.conversations[hand_over].handshake_began().unwrap_or(now)
    }
}
