//! The life of a client, put together from handshakes and requests that were simulated each alone.
//!
//! In each of many worlds the client is idle for some time, and then opens sessions, asks, and closes, with pauses. Of each
//! handshake and message three things are kept: how it ended, how long it took, and what the device used from its beginning
//! to the next one above its idle power in that world. A life is then drawn from these by the seed: the same client, with
//! the same decisions, where each handshake and message is one of them, all equally probable.
//!
//! A session that is resumed is some minutes old in these worlds. Tickets expire: with mbedTLS and rustls a day after the full
//! handshake from which they descend, and then the handshake is a full one again. Only a simulation in full has that.
//!
//! Two things are left out: that handshakes and messages close to each other, or other traffic at certain times, change
//! each other's chances; and a network that is not the same all the time, for which it is refused.

use super::course::{Backend, Course, Handshake};
use super::simulation::Simulated;
use super::{Life, LifeError, Purpose, Purposes, Subject};
use crate::estimate::Estimate;
use crate::interrupt::Interrupt;
use crate::record::Energy;
use crate::requests::{Ask, Keeping, When};
use crate::scenario::Scenario;
use crate::threads;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::random::{Stream, Streams};
use std::ops::RangeInclusive;

/// The time in which the idle power of a world is measured, at least (assumed), and in periods of the link layer.
const IDLE_S: u64 = 600;
const IDLE_PERIODS: u64 = 100;

/// The pause after a message, at least: what it leads to, such as acknowledgements, fast polls, or frames that are sent again,
/// ends in it (assumed). It is as long as reassembly waits at most (RFC 4944 section 5.3), with so many periods of the link
/// layer, and a random part of one.
const PAUSE_S: u64 = 60;
const PAUSE_PERIODS: u64 = 10;

/// Messages of each kind in a world, and sessions that are opened again (assumed).
const MESSAGES: u32 = 8;
const SESSIONS: u32 = 3;

/// The most handshakes and messages that are drawn: a longer life ends there, and [`Life::seconds`] says so. (Assumed: they
/// are drawn in a fraction of a second.)
pub const MOST_DRAWN: u64 = 2_000_000;

/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// The fewest and the most worlds of an estimate: with one there is no interval.
const WORLDS: RangeInclusive<u64> = 2..=10_000;

/// Estimates the life of a client for so many seconds, from so many worlds with consecutive seeds. An interrupt leaves the
/// worlds that are complete; `None` if they are fewer than two.
///
/// # Errors
/// The scenario cannot be run, it says nothing of requests, its network changes at certain times, no client has this node, or
/// a number is out of range.
pub fn estimate(
    scenario: &Scenario,
    client: Option<u16>,
    seconds: f64,
    seed: u64,
    worlds: u64,
    interrupt: &Interrupt,
) -> Result<Option<Life>, LifeError> {
    let mut parts = Parts::new(scenario, client, seconds, seed)?;
    parts.sample(worlds, 1, interrupt)?;
    Ok(parts.life(worlds).map(|(life, _)| life))
}

/// The handshakes and messages of a client, each simulated alone, from which lives are drawn. There may be more and more worlds
/// of them.
pub struct Parts {
    subject: Subject,
    seconds: f64,
    seed: u64,
    worlds: Vec<World>,
}

impl Parts {
    /// No worlds yet. The first has this seed.
    ///
    /// # Errors
    /// The errors of [`estimate`], but for the number of worlds.
    pub fn new(scenario: &Scenario, client: Option<u16>, seconds: f64, seed: u64) -> Result<Self, LifeError> {
        let network = &scenario.network;
        for (key, changes) in [
            ("network.outages", !network.outages.is_empty()),
            ("network.changes", !network.changes.is_empty()),
            ("network.walk", network.walk.is_some()),
            ("network.trace", network.trace.is_some()),
        ] {
            if changes {
                return Err(LifeError::Changes { key });
            }
        }
        Ok(Self { subject: Subject::new(scenario, client, seconds)?, seconds, seed, worlds: Vec::new() })
    }

    /// The node of the client.
    pub fn client(&self) -> u16 {
        self.subject.client.0
    }

    /// Simulates worlds until there are so many, on so many threads. The result does not depend on them. An interrupt leaves the
    /// worlds that are complete, up to the first that is not.
    ///
    /// # Errors
    /// The number of worlds is out of range.
    pub fn sample(&mut self, worlds: u64, threads: usize, interrupt: &Interrupt) -> Result<(), LifeError> {
        if !WORLDS.contains(&worlds) {
            return Err(LifeError::Worlds(worlds));
        }
        let (subject, seed) = (&self.subject, self.seed);
        let sampled = |number| World::sample(subject, seed.wrapping_add(number), interrupt);
        let found = threads::each(self.worlds.len() as u64..worlds, threads, sampled);
        for (number, world) in found {
            if number != self.worlds.len() as u64 {
                break;
            }
            self.worlds.push(world);
        }
        Ok(())
    }

    /// The life that is drawn from so many worlds, or from those that are there. Beside it is the energy a day by each world, in
    /// millijoules: its mean is that of the life, and what differs from world to world gives the interval. `None` if there are fewer
    /// than two worlds.
    pub fn life(&self, worlds: u64) -> Option<(Life, Vec<f64>)> {
        let worlds = usize::try_from(worlds).unwrap_or(usize::MAX).min(self.worlds.len());
        let (sampled, subject) = (&self.worlds[..worlds], &self.subject);
        if worlds < 2 {
            return None;
        }
        let streams = Streams::new(self.seed);
        let mut drawn = Drawn::new(sampled, &streams, self.seconds);
        let mut course = Course::new(subject.habits(), &streams, subject.client.0.into());
        course.run(&mut drawn, Instant::ZERO);
        let seconds = drawn.now.as_secs_f64();
        let (energy, purposes, of_worlds) = drawn.account();
        let a_day = Estimate::of(&of_worlds).unwrap_or(Estimate::exact(0.0));
        let one = a_day.half.hypot(NORMAL * drawn.variance().sqrt() * super::DAY_S / seconds);
        let within = |half: f64| Some([(a_day.mean - half).max(0.0), a_day.mean + half]);
        let life = Life {
            seconds,
            worlds: sampled.len() as u64,
            energy,
            purposes,
            octets: drawn.octets,
            counts: course.counts,
            latency_s: course.latencies.metric(),
            energy_a_day_ci95: within(a_day.half),
            energy_a_day_one95: within(one),
            ..Life::nothing(subject, self.seed)
        };
        Some((life.complete(), of_worlds))
    }
}

/// The kind of a handshake or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Full,
    Resumed,
    /// A message that follows a handshake at once: it meets other cells or polls than a later one, and is drawn with it.
    First,
    Message,
    KeepAlive,
    Close,
}

impl Kind {
    const COUNT: usize = 6;

    fn of(handshake: Handshake) -> Self {
        match handshake {
            Handshake::Full => Self::Full,
            Handshake::Resumed => Self::Resumed,
        }
    }

    fn purpose(number: usize) -> Purpose {
        match number {
            0 | 1 => Purpose::Handshakes,
            2 | 3 => Purpose::Requests,
            4 => Purpose::KeepAlives,
            _ => Purpose::Closing,
        }
    }
}

/// A handshake or a message.
#[derive(Clone, Copy, Debug)]
struct Sample {
    kind: Kind,
    is_ok: bool,
    took: Duration,
    /// Above the idle power, until the next one begins.
    energy: Energy,
    octets: u64,
}

/// The measurements in a world.
struct World {
    /// In a second.
    idle: Energy,
    samples: Vec<Sample>,
}

impl World {
    /// `None` if it is interrupted.
    fn sample(subject: &Subject, seed: u64, interrupt: &Interrupt) -> Option<Self> {
        let mut world = Simulated::new(subject, seed, interrupt);
        let mut random = Streams::new(seed).stream("pause", subject.client.0.into());
        world.wait_until(subject.start(seed))?;
        let period = subject.plan.period.as_micros().max(1);
        let periods = (IDLE_S * 1_000_000).div_ceil(period).max(IDLE_PERIODS);
        let (from, before) = (world.now, world.energy());
        world.wait_until(from + Duration::from_micros(periods * period))?;
        let idle = (world.energy() - before) * (1.0 / world.now.since(from).as_secs_f64());
        // The first handshake meets any phase of the link layer, as the others do.
        world.wait_until(world.now + Duration::from_micros(random.below(period)))?;
        let mut script = Script { world, idle, open: None, samples: Vec::new(), random: &mut random, period };
        script.run(subject)?;
        Some(Self { idle, samples: script.samples })
    }
}

/// The actions of a client in a world that is measured.
struct Script<'a, 'b> {
    world: Simulated<'a>,
    idle: Energy,
    /// The sample that goes on until the next one begins, with the energy and the octets of before, and when it began.
    open: Option<(Sample, Instant)>,
    samples: Vec<Sample>,
    random: &'b mut Stream,
    period: u64,
}

impl Script<'_, '_> {
    /// The first session is opened in full, later ones as the client does it. In a world in which none opens there are no messages.
    fn run(&mut self, subject: &Subject) -> Option<()> {
        let habits = subject.habits();
        let is_kept = habits.requests.session == Keeping::Kept;
        // Pieces follow each other at once.
        let is_once = matches!(habits.requests.when, When::Once { .. });
        for number in 0..=SESSIONS {
            let handshake = if number > 0 && habits.resumes { Handshake::Resumed } else { Handshake::Full };
            if !self.open(handshake)? {
                self.pause()?;
                continue;
            }
            self.ask(Kind::First, habits.requests.ask(0))?;
            let later = if number == 0 && (is_kept || is_once) { MESSAGES } else { 0 };
            for message in 1..=later {
                if !is_once {
                    self.pause()?;
                }
                self.ask(Kind::Message, habits.requests.ask(message))?;
            }
            for _ in 0..habits.requests.keep_alive.map_or(0, |_| later) {
                self.pause()?;
                self.ask(Kind::KeepAlive, Ask::KeepAlive)?;
            }
            if is_kept {
                self.pause()?;
            }
            if is_kept && habits.requests.rekey_after.is_none() {
                self.world.abandon();
                continue;
            }
            self.measure(Kind::Close, |world| world.close().map(|()| true))?;
            // A session that is replaced is closed just before the next one is opened.
            if !is_kept || number == SESSIONS {
                self.pause()?;
            }
        }
        self.finish();
        Some(())
    }

    fn open(&mut self, handshake: Handshake) -> Option<bool> {
        let is_open = self.measure(Kind::of(handshake), |world| world.open(handshake))?;
        if !is_open {
            self.world.abandon();
        }
        Some(is_open)
    }

    /// A session that has come to its end takes no message.
    fn ask(&mut self, kind: Kind, ask: Ask) -> Option<()> {
        if !self.world.is_over() {
            self.measure(kind, |world| world.ask(ask))?;
        }
        Some(())
    }

    fn measure(&mut self, kind: Kind, work: impl FnOnce(&mut Simulated<'_>) -> Option<bool>) -> Option<bool> {
        self.finish();
        let (from, energy, octets) = (self.world.now, self.world.energy(), self.world.octets());
        let is_ok = work(&mut self.world)?;
        let took = self.world.now.since(from);
        self.open = Some((Sample { kind, is_ok, took, energy, octets }, from));
        Some(is_ok)
    }

    /// The next sample begins.
    fn finish(&mut self) {
        let Some((sample, from)) = self.open.take() else { return };
        let idle = self.idle * self.world.now.since(from).as_secs_f64();
        let energy = self.world.energy() - sample.energy - idle;
        self.samples.push(Sample { energy, octets: self.world.octets() - sample.octets, ..sample });
    }

    fn pause(&mut self) -> Option<()> {
        let pause = PAUSE_S * 1_000_000 + PAUSE_PERIODS * self.period + self.random.below(self.period);
        self.world.wait_until(self.world.now + Duration::from_micros(pause))
    }
}

/// A life that is drawn.
struct Drawn<'a> {
    worlds: &'a [World],
    /// By kind: the world of each sample, and the sample.
    pools: [Vec<(usize, Sample)>; Kind::COUNT],
    /// By kind: the message that followed each handshake.
    firsts: [Vec<Option<Sample>>; Kind::COUNT],
    now: Instant,
    horizon: Instant,
    random: Stream,
    /// The message that followed the handshake that was drawn last, in its world, if nothing has happened since.
    first: Option<(usize, Sample)>,
    is_new: bool,
    count: u64,
    octets: u64,
    energy: [Energy; Kind::COUNT],
    /// By kind and world: how many were drawn, what they used above idle, and how many of them failed.
    drawn: [Vec<(u64, f64, u64)>; Kind::COUNT],
}

impl<'a> Drawn<'a> {
    fn new(worlds: &'a [World], streams: &Streams, seconds: f64) -> Self {
        let mut pools: [Vec<(usize, Sample)>; Kind::COUNT] = Default::default();
        let mut firsts: [Vec<Option<Sample>>; Kind::COUNT] = Default::default();
        for (number, world) in worlds.iter().enumerate() {
            let next = world.samples.iter().skip(1).copied().map(Some).chain([None]);
            for (sample, next) in world.samples.iter().zip(next) {
                pools[sample.kind as usize].push((number, *sample));
                firsts[sample.kind as usize].push(next.filter(|next| next.kind == Kind::First));
            }
        }
        Self {
            worlds,
            pools,
            firsts,
            now: Instant::ZERO,
            horizon: Instant::ZERO + Duration::from_secs_f64(seconds),
            random: streams.stream("life", 0),
            first: None,
            is_new: false,
            count: 0,
            octets: 0,
            energy: Default::default(),
            drawn: [(); Kind::COUNT].map(|()| vec![(0, 0.0, 0); worlds.len()]),
        }
    }

    /// A handshake or a message of this kind happens. One of which no world has any fails at once: no world came so far.
    fn draw(&mut self, kind: Kind) -> Option<bool> {
        if self.count == MOST_DRAWN || self.now >= self.horizon {
            return None;
        }
        self.count += 1;
        let pool = &self.pools[kind as usize];
        let number = self.random.below(pool.len() as u64) as usize;
        let drawn = if kind == Kind::First { self.first.take() } else { pool.get(number).copied() };
        let Some((world, sample)) = drawn else { return Some(false) };
        self.is_new = matches!(kind, Kind::Full | Kind::Resumed);
        self.first = self.firsts[kind as usize].get(number).copied().flatten().map(|first| (world, first));
        self.now = (self.now + sample.took).min(self.horizon);
        self.octets += sample.octets;
        self.energy[kind as usize] = self.energy[kind as usize] + sample.energy;
        let (drawn, mj, failed) = &mut self.drawn[kind as usize][world];
        *drawn += 1;
        *mj += sample.energy.total_mj();
        *failed += u64::from(!sample.is_ok);
        Some(sample.is_ok)
    }

    /// All energy, by purpose too, and that of a day by each world.
    fn account(&self) -> (Energy, Purposes, Vec<f64>) {
        let (seconds, worlds) = (self.now.as_secs_f64(), self.worlds.len() as f64);
        let idle = self.worlds.iter().fold(Energy::default(), |sum, world| sum + world.idle) * (1.0 / worlds);
        let energy = self.energy.iter().fold(idle * seconds, |sum, energy| sum + *energy);
        let mut above = [0.0; Purpose::COUNT];
        for (kind, energy) in self.energy.iter().enumerate() {
            above[Kind::purpose(kind) as usize] += energy.total_mj();
        }
        let purposes = Purposes::new(energy.total_mj(), above);
        let of_world = |world: usize| {
            let idle_mj = (self.worlds[world].idle.total_mj() - idle.total_mj()) * seconds;
            let deviation: f64 = (0..Kind::COUNT).map(|kind| self.deviation(kind, world)).sum();
            (energy.total_mj() + idle_mj + worlds * deviation) * super::DAY_S / seconds
        };
        (energy, purposes, (0..self.worlds.len()).map(of_world).collect())
    }

    /// The amount by which the samples of a world took more, of all of a kind that were drawn, than those of the other
    /// worlds: what they used, and what follows if one fails.
    fn deviation(&self, kind: usize, world: usize) -> f64 {
        let (all, all_mj, _) = self.total(kind);
        if all == 0 {
            return 0.0;
        }
        let (drawn, mj, failed) = self.drawn[kind][world];
        let all_failed = self.total(kind).2;
        let share = drawn as f64 / all as f64;
        (mj - share * all_mj) + (failed as f64 - share * all_failed as f64) * self.consequence(kind)
    }

    /// The variance of the energy of one life, from the chance of its handshakes and messages alone: each is independent of
    /// the others.
    fn variance(&self) -> f64 {
        let of_kind = |kind: usize| {
            let consequence = self.consequence(kind);
            let cost =
                |(_, sample): &(usize, Sample)| sample.energy.total_mj() + if sample.is_ok { 0.0 } else { consequence };
            let costs: Vec<f64> = self.pools[kind].iter().map(cost).collect();
            let mean = costs.iter().sum::<f64>() / costs.len().max(1) as f64;
            let squares: f64 = costs.iter().map(|cost| (cost - mean).powi(2)).sum();
            self.total(kind).0 as f64 * squares / costs.len().saturating_sub(1).max(1) as f64
        };
        (0..Kind::COUNT).map(of_kind).sum()
    }

    /// The energy that the device uses because a handshake or a message of a kind failed: for a handshake another one,
    /// for a message the handshake of the next session.
    fn consequence(&self, kind: usize) -> f64 {
        let mean = |kind: Kind| match self.total(kind as usize) {
            (0, ..) => None,
            (count, mj, _) => Some(mj / count as f64),
        };
        let later = mean(Kind::Resumed).or(mean(Kind::Full)).unwrap_or(0.0);
        if kind == Kind::Full as usize { mean(Kind::Full).unwrap_or(0.0) } else { later }
    }

    fn total(&self, kind: usize) -> (u64, f64, u64) {
        let add = |sum: (u64, f64, u64), of: &(u64, f64, u64)| (sum.0 + of.0, sum.1 + of.1, sum.2 + of.2);
        self.drawn[kind].iter().fold((0, 0.0, 0), add)
    }
}

impl Backend for Drawn<'_> {
    fn now(&self) -> Instant {
        self.now
    }

    fn wait_until(&mut self, at: Instant) -> Option<()> {
        self.now = at.min(self.horizon);
        (at < self.horizon).then_some(())
    }

    fn open(&mut self, handshake: Handshake) -> Option<bool> {
        self.draw(Kind::of(handshake))
    }

    fn ask(&mut self, ask: Ask) -> Option<bool> {
        self.draw(match (ask, self.is_new) {
            (Ask::KeepAlive, _) => Kind::KeepAlive,
            (_, true) => Kind::First,
            (_, false) => Kind::Message,
        })
    }

    fn close(&mut self) -> Option<()> {
        self.draw(Kind::Close).map(|_| ())
    }

    fn abandon(&mut self) {}
}
