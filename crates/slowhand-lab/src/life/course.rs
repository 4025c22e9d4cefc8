//! The course of a client over a long time: when it asks, when it opens and closes sessions, and when it tries again.
//!
//! It is the same for a simulated world and for an estimate: what happens is behind [`Backend`].

use super::{Counts, Latencies};
use crate::requests::{Ask, Keeping, Requests, When};
use crate::retry::RetryPolicy;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::random::{Stream, Streams};

/// Does what a client wants, and lets time pass. Each function returns `None` if the time is over.
pub(super) trait Backend {
    /// The present time.
    fn now(&self) -> Instant;

    /// Nothing is asked for until this time.
    fn wait_until(&mut self, at: Instant) -> Option<()>;

    /// A handshake; false if it failed.
    fn open(&mut self, handshake: Handshake) -> Option<bool>;

    /// A message and its answer; false if none came.
    fn ask(&mut self, ask: Ask) -> Option<bool>;

    /// Closes the session.
    fn close(&mut self) -> Option<()>;

    /// Both ends forget the session.
    fn abandon(&mut self);
}

/// The kind of handshake that opens a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handshake {
    Full,
    Resumed,
}

/// The habits of a client with its sessions.
#[derive(Clone, Copy)]
pub(super) struct Habits {
    pub(super) requests: Requests,
    pub(super) retry: Option<RetryPolicy>,
    /// True if a later session resumes an earlier one.
    pub(super) resumes: bool,
    /// True if the server knows the session when the NAT has forgotten it.
    pub(super) outlives_address: bool,
    /// False if a session is there without a handshake.
    pub(super) has_handshake: bool,
}

/// The course of a client's life.
pub(super) struct Course {
    habits: Habits,
    /// When the session was opened, if there is one.
    opened: Option<Instant>,
    last_datagram: Instant,
    has_had_session: bool,
    /// When requests are due, and how long the client waits before it tries again.
    arrivals: Stream,
    waits: Stream,
    pub(super) counts: Counts,
    pub(super) latencies: Latencies,
}

/// No time is later.
const NEVER: Instant = Instant::from_micros(u64::MAX);

impl Course {
    pub(super) fn new(habits: Habits, streams: &Streams, client: u64) -> Self {
        Self {
            habits,
            opened: None,
            last_datagram: Instant::ZERO,
            has_had_session: false,
            arrivals: streams.stream("request", client),
            waits: streams.stream("retry", client),
            counts: Counts::default(),
            latencies: Latencies::default(),
        }
    }

    /// Lets the client live from its start until the time is over.
    pub(super) fn run(&mut self, backend: &mut impl Backend, start: Instant) {
        let _the_time_is_over = self.go_on(backend, start);
    }

    fn go_on(&mut self, backend: &mut impl Backend, start: Instant) -> Option<()> {
        let mut due = self.first_due(start);
        loop {
            while let Some(at) = self.keep_alive_at().filter(|&at| at < due) {
                backend.wait_until(at.max(backend.now()))?;
                self.keep_alive(backend)?;
            }
            backend.wait_until(due.max(backend.now()))?;
            self.request(backend, due)?;
            due = self.next_due(due, backend.now());
        }
    }

    fn first_due(&mut self, start: Instant) -> Instant {
        match self.habits.requests.when {
            When::Periodic(period) => start + Duration::from_micros(self.arrivals.below(period.as_micros())),
            When::Poisson(mean) => start + self.arrivals.exponential(mean),
            When::Once { .. } => start,
        }
    }

    /// When the next request is due that is not due already: those are left out.
    fn next_due(&mut self, due: Instant, now: Instant) -> Instant {
        match self.habits.requests.when {
            When::Periodic(period) => {
                let period = period.as_micros().max(1);
                let left_out = (now.since(due).as_micros().saturating_sub(1)) / period;
                self.counts.left_out += left_out;
                due + Duration::from_micros((left_out + 1).saturating_mul(period))
            }
            When::Poisson(mean) => {
                let next = due + self.arrivals.exponential(mean);
                if next >= now {
                    return next;
                }
                // The process has no memory. How many are left out is the expected number.
                let time = now.since(next).as_micros();
                self.counts.left_out += 1 + time / mean.as_micros().max(1);
                now + self.arrivals.exponential(mean)
            }
            When::Once { .. } => NEVER,
        }
    }

    fn keep_alive_at(&self) -> Option<Instant> {
        Some(self.last_datagram + self.habits.requests.keep_alive.filter(|_| self.opened.is_some())?)
    }

    fn keep_alive(&mut self, backend: &mut impl Backend) -> Option<()> {
        let is_answered = backend.ask(Ask::KeepAlive)?;
        self.counts.keep_alives += 1;
        self.last_datagram = backend.now();
        if !is_answered {
            self.counts.keep_alives_failed += 1;
            self.forget(backend);
        }
        Some(())
    }

    fn request(&mut self, backend: &mut impl Backend, due: Instant) -> Option<()> {
        self.leave_old(backend)?;
        if self.opened.is_none() && !self.open(backend)? {
            self.counts.requests += 1;
            self.counts.failed += 1;
            return Some(());
        }
        let mut is_answered = true;
        for piece in 0..self.habits.requests.pieces() {
            is_answered = backend.ask(self.habits.requests.ask(piece))?;
            self.last_datagram = backend.now();
            if !is_answered {
                break;
            }
        }
        self.counts.requests += 1;
        match is_answered {
            true => self.latencies.add(backend.now().since(due).as_secs_f64()),
            false => self.counts.failed += 1,
        }
        match (is_answered, self.habits.requests.session) {
            (false, _) => self.forget(backend),
            (true, Keeping::Kept) => {}
            (true, Keeping::Resumed | Keeping::Anew) => self.close(backend)?,
        }
        Some(())
    }

    /// Leaves a session that is too old, or that the NAT has forgotten.
    fn leave_old(&mut self, backend: &mut impl Backend) -> Option<()> {
        let Some(opened) = self.opened else { return Some(()) };
        let now = backend.now();
        let Requests { idle_timeout, rekey_after, .. } = self.habits.requests;
        let is_forgotten = idle_timeout.is_some_and(|idle| now.since(self.last_datagram) >= idle);
        if is_forgotten && !self.habits.outlives_address {
            self.forget(backend);
        } else if rekey_after.is_some_and(|age| now.since(opened) >= age) {
            self.close(backend)?;
        }
        Some(())
    }

    /// Opens a session, however often that takes; false if the client gives up.
    fn open(&mut self, backend: &mut impl Backend) -> Option<bool> {
        let handshake = match self.has_had_session && self.habits.resumes {
            true => Handshake::Resumed,
            false => Handshake::Full,
        };
        for failed in 1.. {
            let is_open = backend.open(handshake)?;
            match handshake {
                _ if !self.habits.has_handshake => {}
                Handshake::Full => self.counts.handshakes_full += 1,
                Handshake::Resumed => self.counts.handshakes_resumed += 1,
            }
            self.last_datagram = backend.now();
            if is_open {
                self.opened = Some(backend.now());
                self.has_had_session = true;
                return Some(true);
            }
            self.counts.handshakes_failed += 1;
            backend.abandon();
            let wait = self.habits.retry.and_then(|retry| retry.wait(failed, &mut self.waits));
            let Some(wait) = wait else { break };
            backend.wait_until(backend.now() + wait)?;
        }
        Some(false)
    }

    fn close(&mut self, backend: &mut impl Backend) -> Option<()> {
        self.opened = None;
        backend.close()
    }

    fn forget(&mut self, backend: &mut impl Backend) {
        self.opened = None;
        backend.abandon();
    }
}
