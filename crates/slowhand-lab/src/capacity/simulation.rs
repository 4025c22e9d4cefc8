//! Simulates a server with few session slots.

use crate::admission::{Policy, Use};
use crate::interrupt::Interrupt;
use crate::summary::Metric;
use serde::Serialize;
use slowhand_net::random::{Stream, Streams};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The simulated clients and server. All times are in units of the mean session, 1/mu.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulation {
    /// Session slots of the server.
    pub slots: u32,
    /// Clients.
    pub clients: u32,
    /// Rate at which a client without a session asks for one, times the mean session.
    pub rho: f64,
    /// The treatment of a request when all slots are taken. A client whose request is refused, or whose session is closed
    /// for another, goes without one as long as after a session that ran to its end (assumed).
    pub policy: Policy,
    /// The time that the handshake takes. A half-open session holds a slot and is not yet in use.
    pub handshake: f64,
    /// The number of uses of an established session, per mean session (a Poisson process).
    pub uses: f64,
    /// The time after its last use from which a session counts as idle.
    pub idle_after: f64,
    /// Requests in each of the independent replications.
    pub requests: u64,
    /// Independent replications, from which the confidence intervals come.
    pub replications: u64,
    /// The seed.
    pub seed: u64,
}

impl Default for Simulation {
    /// Twenty replications of 20,000 requests; ten uses a session, idle after a tenth of it (assumed).
    fn default() -> Self {
        Self {
            slots: 3,
            clients: 5,
            rho: 0.5,
            policy: Policy::Refuse,
            handshake: 0.0,
            uses: 10.0,
            idle_after: 0.1,
            requests: 20_000,
            replications: 20,
            seed: 1,
        }
    }
}

/// The results of the simulation. Each is a mean over the replications with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Simulated {
    /// The share of time in which all slots were taken.
    pub time_congestion: Metric,
    /// The share of requests that were refused.
    pub call_congestion: Metric,
    /// The share of admitted sessions that were closed for another.
    pub evicted: Metric,
    /// The share of the time in which clients wanted a session that they had an established one.
    pub served: Metric,
    /// Handshakes for each session that ran to its end: what the policy costs the network.
    pub handshakes_per_session: Metric,
    /// Slots taken, on average over time.
    pub occupied: Metric,
    /// Of these, slots that a half-open session holds.
    pub half_open: Metric,
}

impl Simulation {
    /// Runs all replications.
    pub fn run(&self) -> Simulated {
        // No one else has this interrupt, so no one sets it.
        self.run_until(&Interrupt::default()).expect("no interrupt")
    }

    /// Runs all replications, unless it is interrupted first: then there is no result.
    pub fn run_until(&self, interrupt: &Interrupt) -> Option<Simulated> {
        let streams = Streams::new(self.seed);
        let replication = |number| Server::new(self, streams.stream("capacity", number)).run(interrupt);
        let results: Vec<Replication> = (0..self.replications.max(1)).map(replication).collect::<Option<_>>()?;
        let metric = |value: fn(&Replication) -> f64| {
            // There is at least one replication.
            Metric::of(results.iter().map(value).collect()).expect("at least one value")
        };
        Some(Simulated {
            time_congestion: metric(|r| r.time_congestion),
            call_congestion: metric(|r| r.call_congestion),
            evicted: metric(|r| r.evicted),
            served: metric(|r| r.served),
            handshakes_per_session: metric(|r| r.handshakes_per_session),
            occupied: metric(|r| r.occupied),
            half_open: metric(|r| r.half_open),
        })
    }
}

struct Replication {
    time_congestion: f64,
    call_congestion: f64,
    evicted: f64,
    served: f64,
    handshakes_per_session: f64,
    occupied: f64,
    half_open: f64,
}

struct Server<'a> {
    simulation: &'a Simulation,
    random: Stream,
    now: f64,
    agenda: BinaryHeap<Reverse<Due>>,
    sessions: Vec<SlotUse>,
    admitted: u64,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    requests: u64,
    refused: u64,
    admitted: u64,
    evicted: u64,
    completed: u64,
    elapsed: f64,
    full: f64,
    /// The time that sessions held slots, added up over the slots.
    occupied: f64,
    half_open: f64,
    served: f64,
    wanted: f64,
}

/// A taken slot.
struct SlotUse {
    client: u32,
    /// Distinguishes this session from others of the same client.
    number: u64,
    admitted: f64,
    established: f64,
    last_used: f64,
    wanted: f64,
}

struct Due {
    at: f64,
    client: u32,
    what: What,
}

#[derive(Clone, Copy, PartialEq)]
enum What {
    Request,
    Use { session: u64 },
    End { session: u64 },
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.total_cmp(&other.at).then(self.client.cmp(&other.client))
    }
}

impl<'a> Server<'a> {
    fn new(simulation: &'a Simulation, random: Stream) -> Self {
        let mut server = Self {
            simulation,
            random,
            now: 0.0,
            agenda: BinaryHeap::new(),
            sessions: Vec::new(),
            admitted: 0,
            counts: Counts::default(),
        };
        (0..simulation.clients).for_each(|client| server.think(client));
        server
    }

    /// The first tenth of the requests brings the server into its steady state and is not counted.
    fn run(mut self, interrupt: &Interrupt) -> Option<Replication> {
        let warm_up = self.simulation.requests / 10;
        let mut warm = false;
        while let Some(Reverse(due)) = self.agenda.pop() {
            if interrupt.is_set() {
                return None;
            }
            self.pass_time(due.at);
            match due.what {
                What::Request => self.request(due.client),
                What::Use { session } => self.use_session(session),
                What::End { session } => self.end_session(session),
            }
            if !warm && self.counts.requests >= warm_up {
                warm = true;
                self.counts = Counts::default();
            } else if warm && self.counts.requests >= self.simulation.requests {
                break;
            }
        }
        Some(self.counts.result())
    }

    fn pass_time(&mut self, to: f64) {
        let passed = to - self.now;
        self.counts.elapsed += passed;
        self.counts.occupied += passed * self.sessions.len() as f64;
        if self.sessions.len() as u32 == self.simulation.slots {
            self.counts.full += passed;
        }
        self.now = to;
    }

    fn request(&mut self, client: u32) {
        self.counts.requests += 1;
        let wanted = self.exponential(1.0);
        if self.sessions.len() as u32 == self.simulation.slots && !self.evict() {
            self.counts.refused += 1;
            self.counts.wanted += wanted;
            return self.think(client);
        }
        let number = self.admitted;
        self.admitted += 1;
        self.counts.admitted += 1;
        let established = self.now + self.simulation.handshake;
        let (admitted, last_used) = (self.now, established);
        self.sessions.push(SlotUse { client, number, admitted, established, last_used, wanted });
        self.at(established + wanted, client, What::End { session: number });
        self.schedule_use(established, client, number);
    }

    /// Frees a slot if the policy allows.
    fn evict(&mut self) -> bool {
        let Simulation { policy, idle_after, .. } = *self.simulation;
        let now = self.now;
        let usage = |session: &SlotUse| Use {
            admitted: session.admitted,
            last_used: session.last_used,
            is_idle: session.established <= now && now - session.last_used >= idle_after,
        };
        let victim = policy.victim(self.sessions.iter().map(usage).enumerate());
        let Some(position) = victim else { return false };
        self.counts.evicted += 1;
        self.free(position);
        true
    }

    /// Ends the session in this position; its client goes without one for a while.
    fn free(&mut self, position: usize) {
        let session = self.sessions.swap_remove(position);
        self.counts.wanted += session.wanted;
        self.counts.served += (self.now - session.established).clamp(0.0, session.wanted);
        self.counts.half_open += (self.now - session.admitted).min(self.simulation.handshake);
        self.think(session.client);
    }

    fn use_session(&mut self, number: u64) {
        let now = self.now;
        if let Some(session) = self.sessions.iter_mut().find(|session| session.number == number) {
            session.last_used = now;
            let client = session.client;
            self.schedule_use(now, client, number);
        }
    }

    fn end_session(&mut self, number: u64) {
        if let Some(position) = self.sessions.iter().position(|session| session.number == number) {
            self.counts.completed += 1;
            self.free(position);
        }
    }

    /// The client has no session; it asks for one after a while.
    fn think(&mut self, client: u32) {
        let pause = self.exponential(1.0 / self.simulation.rho);
        self.at(self.now + pause, client, What::Request);
    }

    fn schedule_use(&mut self, from: f64, client: u32, session: u64) {
        let needs_uses = matches!(self.simulation.policy, Policy::EvictLeastRecentlyUsed | Policy::EvictIdleLongest);
        if needs_uses && self.simulation.uses > 0.0 {
            let pause = self.exponential(1.0 / self.simulation.uses);
            self.at(from + pause, client, What::Use { session });
        }
    }

    fn at(&mut self, at: f64, client: u32, what: What) {
        self.agenda.push(Reverse(Due { at, client, what }));
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        const STEPS: u64 = 1 << 53;
        let uniform = (self.random.below(STEPS) + 1) as f64 / STEPS as f64; // in (0, 1]
        -mean * uniform.ln()
    }
}

impl Counts {
    fn result(&self) -> Replication {
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        Replication {
            time_congestion: share(self.full, self.elapsed),
            call_congestion: share(self.refused as f64, self.requests as f64),
            evicted: share(self.evicted as f64, self.admitted as f64),
            served: share(self.served, self.wanted),
            handshakes_per_session: share(self.admitted as f64, self.completed as f64),
            occupied: share(self.occupied, self.elapsed),
            half_open: share(self.half_open, self.elapsed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::Engset;

    fn within(metric: Metric, expected: f64) -> bool {
        // Three times the half-width of the 95 % interval: a chance of about 4 in a million to fail rightly.
        (metric.mean - expected).abs() <= 3.0 * (metric.ci95.unwrap()[1] - metric.mean)
    }

    #[test]
    fn an_interrupt_ends_it() {
        let interrupt = Interrupt::default();
        assert_eq!(Simulation::default().run_until(&interrupt), Some(Simulation::default().run()));
        interrupt.set();
        assert_eq!(Simulation::default().run_until(&interrupt), None);
    }

    #[test]
    fn confirms_both_congestions_of_the_formula() {
        for (slots, clients, rho) in [(3, 5, 0.5), (1, 4, 0.2), (5, 20, 0.3)] {
            let engset = Engset { slots, clients, rho };
            let simulated = Simulation { slots, clients, rho, ..Simulation::default() }.run();
            assert!(within(simulated.time_congestion, engset.time_congestion()), "{engset:?} {simulated:?}");
            assert!(within(simulated.call_congestion, engset.call_congestion()), "{engset:?} {simulated:?}");
            assert!(simulated.time_congestion.ci95.unwrap()[1] - simulated.time_congestion.mean < 0.01);
        }
    }

    #[test]
    fn a_half_open_session_holds_a_slot() {
        // Engset's formula depends on the mean holding time only: a handshake of half a session makes it 1.5.
        let simulated = Simulation { handshake: 0.5, ..Simulation::default() }.run();
        let engset = Engset { slots: 3, clients: 5, rho: 0.75 };
        assert!(within(simulated.time_congestion, engset.time_congestion()), "{simulated:?}");
        assert!(within(simulated.call_congestion, engset.call_congestion()), "{simulated:?}");
        // States of 5 clients at 0.75 weigh 1, 3.75, 5.625, 4.21875: 1.8952 slots are taken on average, and a third of
        // each session's time is the handshake's.
        let occupied = (3.75 + 2.0 * 5.625 + 3.0 * 4.21875) / (1.0 + 3.75 + 5.625 + 4.21875);
        assert!(within(simulated.occupied, occupied), "{simulated:?}");
        assert!(within(simulated.half_open, occupied / 3.0), "{simulated:?}");
    }

    #[test]
    fn an_evicted_session_was_half_open_no_longer_than_its_handshake() {
        let simulation = Simulation { policy: Policy::EvictOldest, handshake: 0.5, rho: 5.0, ..Simulation::default() };
        let simulated = simulation.run();
        assert!(simulated.half_open.max < simulated.occupied.min, "{simulated:?}");
        assert!(simulated.served.mean > 0.0 && simulated.served.max < 1.0, "{simulated:?}");
    }

    #[test]
    fn who_evicts_refuses_nobody_and_pays_in_handshakes() {
        let run = |policy| Simulation { policy, ..Simulation::default() }.run();
        let refuse = run(Policy::Refuse);
        assert_eq!((refuse.evicted.max, refuse.handshakes_per_session.mean.round()), (0.0, 1.0));
        for policy in [Policy::EvictOldest, Policy::EvictLeastRecentlyUsed] {
            let evict = run(policy);
            assert_eq!(evict.call_congestion.max, 0.0);
            assert!(evict.evicted.min > 0.0 && evict.handshakes_per_session.mean > 1.05);
        }
        let idle = run(Policy::EvictIdleLongest);
        assert!(idle.call_congestion.mean > 0.0 && idle.call_congestion.mean < refuse.call_congestion.mean);
    }

    #[test]
    fn a_seed_reproduces_the_run() {
        assert_eq!(Simulation::default().run(), Simulation::default().run());
    }
}
