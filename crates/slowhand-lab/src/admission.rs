//! The treatment of one more client by a server with few session slots: the policies, and the slots of the servers of a world.

use crate::ids::ConversationId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slowhand_net::address::Host;
use slowhand_net::clock::{Duration, Instant};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The server's treatment of a request when all slots are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// It refuses.
    #[default]
    Refuse,
    /// It closes the session that was used longest ago.
    EvictLeastRecentlyUsed,
    /// It closes the session that was admitted first.
    EvictOldest,
    /// It closes the session that has been idle longest, counting as idle only sessions that are established and
    /// have not been used for `idle_after`; where none is, it refuses.
    EvictIdleLongest,
}

impl Policy {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("refuse", Self::Refuse),
        ("evict-least-recently-used", Self::EvictLeastRecentlyUsed),
        ("evict-oldest", Self::EvictOldest),
        ("evict-idle-longest", Self::EvictIdleLongest),
    ];

    /// The policy of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|&(_, policy)| policy)
    }

    /// Which of the sessions that have a slot ends for another. `None`: the request is refused.
    pub(crate) fn victim<K, T: PartialOrd>(self, sessions: impl Iterator<Item = (K, Use<T>)>) -> Option<K> {
        let rank = |session: Use<T>| match self {
            Self::Refuse => None,
            Self::EvictOldest => Some(session.admitted),
            Self::EvictLeastRecentlyUsed => Some(session.last_used),
            Self::EvictIdleLongest => session.is_idle.then_some(session.last_used),
        };
        let candidates = sessions.filter_map(|(name, session)| Some((name, rank(session)?)));
        candidates.min_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal)).map(|(name, _)| name)
    }
}

/// The use of a session that has a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use<T> {
    pub(crate) admitted: T,
    pub(crate) last_used: T,
    /// True if it is established, and has not been used for some time.
    pub(crate) is_idle: bool,
}

/// The number of sessions that each server holds, and their time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotRules {
    /// Session slots of a server.
    pub slots: usize,
    /// The treatment of a client when all of them are taken.
    pub policy: Policy,
    /// The time for which a session keeps its slot after its handshake, if neither end closes it. `None`: for ever.
    pub session: Option<Duration>,
    /// The time for which a half-open session keeps its slot for certain.
    pub half_open: Duration,
    /// The time after its last use from which a session counts as idle.
    pub idle_after: Duration,
}

/// The session slots of the servers of a world.
#[derive(Debug)]
pub(crate) struct Slots {
    rules: SlotRules,
    /// The sessions that hold a slot of each server, by their conversations.
    held: BTreeMap<Host, BTreeMap<ConversationId, Held>>,
}

/// A slot that is taken.
#[derive(Debug)]
struct Held {
    admitted: Instant,
    /// When a datagram of its client arrived last.
    last_used: Instant,
    /// When its handshake was complete.
    established: Option<Instant>,
    /// True if the conversation is over. The server may not know.
    is_over: bool,
}

/// The answer to a client that asks for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It has one.
    Admitted,
    /// It has that of another session, which ends.
    AdmittedFor(ConversationId),
    /// It is ignored.
    Refused,
}

impl Slots {
    pub(crate) fn new(rules: SlotRules) -> Self {
        Self { rules, held: BTreeMap::new() }
    }

    /// Session slots of a server.
    pub(crate) fn count(&self) -> usize {
        self.rules.slots
    }

    /// A datagram of a client has arrived. Returns whether its session has a slot.
    pub(crate) fn note_use(&mut self, now: Instant, server: Host, session: ConversationId) -> bool {
        self.held(server, session).map(|held| held.last_used = now).is_some()
    }

    /// A client without a slot asks for one.
    pub(crate) fn ask(&mut self, now: Instant, server: Host, session: ConversationId) -> Answer {
        let rules = self.rules;
        let held = self.held.entry(server).or_default();
        held.retain(|_, held| !held.has_ended(now, &rules));
        let mut answer = Answer::Admitted;
        if held.len() >= rules.slots {
            let half_open = held.iter().filter(|(_, held)| held.is_stale(now, &rules));
            let stale = half_open.min_by_key(|(_, held)| held.admitted).map(|(&name, _)| name);
            let used = || held.iter().map(|(&name, held)| (name, held.usage(now, &rules)));
            let Some(victim) = stale.or_else(|| rules.policy.victim(used())) else { return Answer::Refused };
            held.remove(&victim);
            answer = Answer::AdmittedFor(victim);
        }
        held.insert(session, Held { admitted: now, last_used: now, established: None, is_over: false });
        answer
    }

    /// The handshake of a session is complete.
    pub(crate) fn establish(&mut self, now: Instant, server: Host, session: ConversationId) {
        if let Some(held) = self.held(server, session) {
            held.established = Some(now);
        }
    }

    /// The conversation of a session is over, and nobody has told the server.
    pub(crate) fn leave(&mut self, server: Host, session: ConversationId) {
        if let Some(held) = self.held(server, session) {
            held.is_over = true;
        }
    }

    /// The server knows that a session has ended, or begins it anew.
    pub(crate) fn free(&mut self, server: Host, session: ConversationId) {
        if let Some(held) = self.held.get_mut(&server) {
            held.remove(&session);
        }
    }

    fn held(&mut self, server: Host, session: ConversationId) -> Option<&mut Held> {
        self.held.get_mut(&server)?.get_mut(&session)
    }
}

impl Held {
    /// True if it is established, nobody uses it any more, and its time is over.
    fn has_ended(&self, now: Instant, rules: &SlotRules) -> bool {
        let is_past = |established: Instant| rules.session.is_some_and(|session| now >= established + session);
        self.is_over && self.established.is_some_and(is_past)
    }

    /// True if it is half-open for so long that anybody may have its slot.
    fn is_stale(&self, now: Instant, rules: &SlotRules) -> bool {
        self.established.is_none() && now >= self.admitted + rules.half_open
    }

    fn usage(&self, now: Instant, rules: &SlotRules) -> Use<Instant> {
        let is_idle = self.established.is_some() && now >= self.last_used + rules.idle_after;
        Use { admitted: self.admitted, last_used: self.last_used, is_idle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Id;

    const SERVER: Host = Host::Internet;

    fn id(number: usize) -> ConversationId {
        ConversationId::of_row(number)
    }

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    /// Two slots, ten seconds for a handshake, a hundred for a session, and idle after five.
    fn slots(policy: Policy) -> Slots {
        let [session, half_open, idle_after] = [100, 10, 5].map(Duration::from_secs);
        Slots::new(SlotRules { slots: 2, policy, session: Some(session), half_open, idle_after })
    }

    /// Sessions 1 and 2 are established at 1 s and 2 s. Session 1 is used last, at 3 s.
    fn full(policy: Policy) -> Slots {
        let mut slots = slots(policy);
        for session in [1, 2].map(id) {
            assert_eq!(slots.ask(at(0), SERVER, session), Answer::Admitted);
            slots.establish(at(session.row() as u64), SERVER, session);
            slots.note_use(at(session.row() as u64), SERVER, session);
            slots.leave(SERVER, session);
        }
        assert!(slots.note_use(at(3), SERVER, id(1)));
        slots
    }

    #[test]
    fn the_names_are_those_of_the_files() {
        for (name, policy) in Policy::ALL {
            assert_eq!(serde_json::to_value(policy).unwrap(), name);
            assert_eq!(serde_json::from_value::<Policy>(name.into()).unwrap(), policy);
        }
    }

    #[test]
    fn each_policy_has_its_victim() {
        for (policy, expected) in [
            (Policy::Refuse, Answer::Refused),
            // Both were admitted at once: the first of them.
            (Policy::EvictOldest, Answer::AdmittedFor(id(1))),
            (Policy::EvictLeastRecentlyUsed, Answer::AdmittedFor(id(2))),
            (Policy::EvictIdleLongest, Answer::AdmittedFor(id(2))),
        ] {
            assert_eq!(full(policy).ask(at(8), SERVER, id(3)), expected, "{policy:?}");
        }
        // At 6 s nobody has been idle for five seconds.
        assert_eq!(full(Policy::EvictIdleLongest).ask(at(6), SERVER, id(3)), Answer::Refused);
    }

    #[test]
    fn a_session_leaves_its_slot_when_its_time_is_over_or_the_server_knows() {
        let mut slots = full(Policy::Refuse);
        assert_eq!(slots.ask(at(100), SERVER, id(3)), Answer::Refused);
        assert_eq!(slots.ask(at(101), SERVER, id(3)), Answer::Admitted, "session 1 is established since 1 s");
        slots.free(SERVER, id(3));
        assert!(!slots.note_use(at(101), SERVER, id(3)));
        assert_eq!(slots.ask(at(101), SERVER, id(4)), Answer::Admitted);
        assert_eq!(slots.ask(at(101), SERVER, id(5)), Answer::Refused);
        assert_eq!(
            slots.ask(at(101), Host::Node(slowhand_net::address::NodeId(1)), id(6)),
            Answer::Admitted,
            "another server"
        );
    }

    #[test]
    fn a_session_whose_applications_go_on_keeps_its_slot() {
        let mut slots = slots(Policy::Refuse);
        for session in [1, 2].map(id) {
            slots.ask(at(0), SERVER, session);
            slots.establish(at(1), SERVER, session);
        }
        assert_eq!(slots.ask(at(1_000), SERVER, id(3)), Answer::Refused);
        slots.leave(SERVER, id(2));
        assert_eq!(slots.ask(at(1_000), SERVER, id(3)), Answer::Admitted);
    }

    #[test]
    fn the_oldest_half_open_session_ends_for_another_after_its_time() {
        for (_, policy) in Policy::ALL {
            let mut slots = slots(policy);
            slots.ask(at(0), SERVER, id(1));
            slots.ask(at(1), SERVER, id(2));
            slots.note_use(at(9), SERVER, id(1));
            slots.leave(SERVER, id(2));
            assert_eq!(slots.ask(at(11), SERVER, id(3)), Answer::AdmittedFor(id(1)), "{policy:?}");
            assert_eq!(slots.ask(at(11), SERVER, id(4)), Answer::AdmittedFor(id(2)), "{policy:?}");
        }
        // Before that a half-open session is as good as any.
        let mut slots = slots(Policy::Refuse);
        slots.ask(at(0), SERVER, id(1));
        slots.ask(at(1), SERVER, id(2));
        assert_eq!(slots.ask(at(9), SERVER, id(3)), Answer::Refused);
    }
}
