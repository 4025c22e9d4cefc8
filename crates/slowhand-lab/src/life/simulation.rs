//! The life of a client in a world, event by event.

use super::course::{Backend, Course, Habits, Handshake};
use super::messages::{Answering, Asking, Below, Mailbox};
use super::{Life, LifeError, Purpose, Purposes, Subject};
use crate::ids::{ConversationId, EndId};
use crate::interrupt::Interrupt;
use crate::record::{Energy, Phase};
use crate::requests::{ACK_RANDOM_FACTOR, ACK_TIMEOUT, Ask, MAX_TRANSMIT_WAIT, Sizes};
use crate::scenario::Scenario;
use crate::world::conversation::GivesUp;
use crate::world::live::Outside;
use crate::world::{AFTERMATH, Opening, World};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::random::{Stream, Streams};
use slowhand_sessions::{Resumable, Role};

/// The number of events of the world before it forgets what nobody asks for (assumed).
const EVENTS_KEPT: u32 = 10_000;

/// Simulates the life of a client for so many seconds after its start, event by event. An interrupt ends it: then
/// [`Life::seconds`] is less than what was asked for.
///
/// # Errors
/// The scenario cannot be run, it says nothing of requests, no client has this node, or the time is out of range.
pub fn simulate(
    scenario: &Scenario,
    client: Option<u16>,
    seconds: f64,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Life, LifeError> {
    let subject = Subject::new(scenario, client, seconds)?;
    let mut world = Simulated::new(&subject, seed, interrupt);
    let start = subject.start(seed);
    if world.wait_until(start).is_none() {
        return Ok(Life::nothing(&subject, seed));
    }
    world.horizon = start + Duration::from_secs_f64(seconds);
    world.begin();
    let mut course = Course::new(subject.habits(), &Streams::new(seed), subject.client.0.into());
    course.run(&mut world, start);
    let (energy, purposes, time) = world.account();
    let life = Life {
        seconds: time.as_secs_f64(),
        energy,
        purposes,
        octets: world.octets(),
        counts: course.counts,
        latency_s: course.latencies.metric(),
        ..Life::nothing(&subject, seed)
    };
    Ok(life.complete())
}

/// A client in its world.
pub(super) struct Simulated<'a> {
    subject: &'a Subject,
    world: World<'a>,
    seed: u64,
    streams: Streams,
    pub(super) now: Instant,
    pub(super) horizon: Instant,
    interrupt: &'a Interrupt,
    /// The session, and how its client is asked for something.
    session: Option<(ConversationId, Mailbox)>,
    /// The state that the ends have kept of the last session that was established, to resume it.
    kept: [Option<Resumable>; 2],
    /// The number of sessions opened.
    opened: u64,
    /// The number of the last message.
    number: u16,
    timeouts: Stream,
    /// The octets on the air of sessions that are gone.
    octets: u64,
    begin: (Instant, Energy),
    /// By purpose: what was used, and in what time.
    spent: [(Energy, Duration); Purpose::COUNT],
}

impl<'a> Simulated<'a> {
    pub(super) fn new(subject: &'a Subject, seed: u64, interrupt: &'a Interrupt) -> Self {
        let streams = Streams::new(seed);
        Self {
            subject,
            world: World::live(&subject.plan, seed, Outside::new(false, false)),
            seed,
            streams,
            now: Instant::ZERO,
            horizon: Instant::from_micros(u64::MAX),
            interrupt,
            session: None,
            kept: [None, None],
            opened: 0,
            number: 0,
            timeouts: streams.stream("response timeout", subject.client.0.into()),
            octets: 0,
            begin: Default::default(),
            spent: Default::default(),
        }
    }

    /// Begins the account: energy used from now on counts.
    fn begin(&mut self) {
        self.begin = (self.now, self.energy());
    }

    /// The energy that the client's device has used so far.
    pub(super) fn energy(&self) -> Energy {
        self.world.energy_so_far(self.subject.client, self.now)
    }

    /// The octets of the frames on the air that served its sessions so far.
    pub(super) fn octets(&self) -> u64 {
        self.octets + self.session.as_ref().map_or(0, |(number, _)| self.world.octets_of(*number))
    }

    /// The energy used since the beginning, by purpose too, and in what time.
    fn account(&self) -> (Energy, Purposes, Duration) {
        let (energy, time) = (self.energy() - self.begin.1, self.now.since(self.begin.0));
        let busy = self
            .spent
            .iter()
            .fold((0.0, 0.0), |(mj, seconds), (energy, time)| (mj + energy.total_mj(), seconds + time.as_secs_f64()));
        let idle_s = time.as_secs_f64() - busy.1;
        let idle_mw = if idle_s > 0.0 { (energy.total_mj() - busy.0) / idle_s } else { 0.0 };
        let above = self.spent.map(|(energy, time)| energy.total_mj() - idle_mw * time.as_secs_f64());
        (energy, Purposes::new(energy.total_mj(), above), time)
    }

    /// Runs the world until something is true, at this time at the latest. `None` if the time is over.
    fn run_until(&mut self, latest: Instant, is_done: impl Fn(&Self) -> bool) -> Option<()> {
        let mut events = 0;
        while !is_done(self) {
            let next = self.world.next_at().filter(|&at| at <= latest);
            let at = next.unwrap_or(latest);
            if at > self.horizon || self.interrupt.is_set() {
                if !self.interrupt.is_set() {
                    self.world.run_until(self.horizon, &mut ());
                    self.now = self.horizon;
                }
                return None;
            }
            self.world.run_until(at, &mut ());
            self.now = at;
            if next.is_none() {
                break;
            }
            events += 1;
            if events % EVENTS_KEPT == 0 {
                self.world.prune_all(self.now);
            }
        }
        Some(())
    }

    /// Does something for a purpose, and counts what that takes.
    fn spend<T>(&mut self, purpose: Purpose, work: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (from, before) = (self.now, self.energy());
        let done = work(self);
        let (energy, time) = &mut self.spent[purpose as usize];
        *energy = *energy + (self.world.energy_so_far(self.subject.client, self.now) - before);
        *time += self.now.since(from);
        self.world.prune_all(self.now);
        done
    }

    fn sizes(&self) -> Sizes {
        self.subject.habits().requests.sizes
    }

    /// True if the session is no more.
    pub(super) fn is_over(&self) -> bool {
        self.session.as_ref().is_none_or(|(number, _)| self.world.conversation_state(*number).is_over)
    }

    fn is_established(&self) -> bool {
        let phase = |number: ConversationId| self.world.conversation_state(number).phase;
        self.session.as_ref().is_some_and(|(number, _)| phase(*number) != Phase::Handshake)
    }

    /// True if the client may ask. Its handshake may end with its first request (RFC 9668).
    fn is_open(&self) -> bool {
        let is_open = |mailbox: &Mailbox| self.subject.plan.is_combined() && mailbox.is_established();
        self.is_established() || self.session.as_ref().is_some_and(|(_, mailbox)| is_open(mailbox))
    }

    fn below(&self) -> Below {
        let plan = &self.subject.plan;
        match plan.transport(Role::Client) {
            _ if plan.protocol().is_coap() => Below::Coap,
            Some(_) => Below::Stream,
            None => Below::Datagrams,
        }
    }

    fn ended(&self) -> Option<(Instant, bool)> {
        self.session.as_ref().and_then(|(_, mailbox)| mailbox.ended())
    }

    /// A conversation with new sessions, in which nothing has happened yet.
    fn opening(&mut self, handshake: Handshake) -> (Opening, Mailbox) {
        let Subject { plan, client, .. } = self.subject;
        // The first session of a client has the random numbers that it has in a run.
        let again = |streams: &Streams| streams.substreams("later session", self.opened);
        let [nonces, streams] = match self.opened {
            0 => [plan.nonces(self.seed), self.streams],
            _ => [again(&plan.nonces(self.seed)), again(&self.streams)],
        };
        let sessions = match handshake {
            Handshake::Full => plan.later_sessions(*client, &nonces, self.now, &[None, None]),
            Handshake::Resumed => plan.later_sessions(*client, &nonces, self.now, &self.kept),
        };
        let (mailbox, below) = (Mailbox::default(), self.below());
        let opening = Opening {
            client: *client,
            endpoints: plan.endpoints(*client),
            sessions,
            applications: [
                Box::new(Asking::new(mailbox.clone(), below)),
                Box::new(Answering::new(self.sizes(), below)),
            ],
            initial: plan.initial_sequence_numbers(*client, &streams),
        };
        self.opened += 1;
        (opening, mailbox)
    }

    /// The time for which the client waits for an answer before it does something. `None`: CoAP over datagrams sends again itself, and
    /// says when there will be no answer. A body in blocks is many exchanges, so no time is too long for it.
    fn timeout(&mut self) -> Option<Duration> {
        match self.below() {
            _ if self.subject.plan.transport(Role::Client).is_some() => return Some(MAX_TRANSMIT_WAIT),
            Below::Coap => return None,
            Below::Stream | Below::Datagrams => {}
        }
        let spread = (ACK_TIMEOUT.as_micros() as f64 * (ACK_RANDOM_FACTOR - 1.0)).round() as u64;
        Some(ACK_TIMEOUT + Duration::from_micros(self.timeouts.below(spread + 1)))
    }

    fn client_end(&self) -> Option<EndId> {
        self.session.as_ref().map(|&(conversation, _)| EndId::of(conversation, Role::Client))
    }

    fn prompt(&mut self) {
        if let Some(end) = self.client_end() {
            self.world.prompt(self.now, end);
        }
    }
}

/// No time is later.
const LAST: Instant = Instant::from_micros(u64::MAX);

impl Backend for Simulated<'_> {
    fn now(&self) -> Instant {
        self.now
    }

    fn wait_until(&mut self, at: Instant) -> Option<()> {
        self.run_until(at, |life| life.now >= at)
    }

    fn open(&mut self, handshake: Handshake) -> Option<bool> {
        let (opening, mailbox) = self.opening(handshake);
        self.spend(Purpose::Handshakes, |life| {
            let number = life.world.open_at(life.now, opening, GivesUp::InHandshake);
            life.session = Some((number, mailbox));
            life.run_until(LAST, |life| life.is_open() || life.is_over())?;
            Some(life.is_open() && !life.is_over())
        })
    }

    fn ask(&mut self, ask: Ask) -> Option<bool> {
        let purpose = if ask == Ask::KeepAlive { Purpose::KeepAlives } else { Purpose::Requests };
        self.number = self.number.wrapping_add(1);
        let (number, timeout, sizes, below) = (self.number, self.timeout(), self.sizes(), self.below());
        self.spend(purpose, |life| {
            if let Some((_, mailbox)) = &life.session {
                mailbox.ask(life.now, ask, number, sizes, timeout, below);
            }
            life.prompt();
            life.run_until(LAST, |life| life.ended().is_some() || life.is_over())?;
            Some(life.ended().is_some_and(|(_, is_answered)| is_answered))
        })
    }

    fn close(&mut self) -> Option<()> {
        self.spend(Purpose::Closing, |life| {
            if let Some((_, mailbox)) = &life.session {
                mailbox.close();
            }
            life.prompt();
            // A datagram may wait for a radio that is off.
            life.run_until(life.now + AFTERMATH, Self::is_over)
        })?;
        self.abandon();
        Some(())
    }

    fn abandon(&mut self) {
        self.octets = self.octets();
        let is_established = self.is_established();
        if let Some((number, _)) = self.session.take() {
            if is_established {
                self.kept = self.world.resumable(number);
            }
            self.world.forget(number);
        }
    }
}

impl Subject {
    /// When its client starts.
    pub(super) fn start(&self, seed: u64) -> Instant {
        Instant::ZERO + self.plan.start_of(self.client, &Streams::new(seed))
    }

    /// The habits of its client with its sessions.
    pub(super) fn habits(&self) -> Habits {
        let protocol = self.plan.protocol();
        Habits {
            requests: self.requests,
            retry: self.plan.retry,
            resumes: self.plan.resumes(),
            outlives_address: self.plan.connection_id() > 0 || !protocol.is_bound_to_address(),
            has_handshake: protocol.has_handshake(),
        }
    }
}
