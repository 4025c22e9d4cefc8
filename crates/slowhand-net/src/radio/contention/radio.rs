//! The account of one radio: how long it was in each state, and its timeline for an observer that watches radios.
//!
//! All link layers with CSMA/CA or preamble sampling account here for what a radio does: [`Account::add`] is the only
//! place at which its times grow. [`Radio`] is a radio that reports each change of its state when it happens.

use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::observer::{Observer, RadioState, RadioTimes, RadioWork};
use crate::radio::meter::{Listening, Meter, Span};

/// The times of a radio, and its timeline.
#[derive(Debug)]
pub struct Account {
    /// The time in each state but sleep.
    times: RadioTimes,
    /// The spans that no observer has seen. Kept only while an observer watches radios.
    timeline: Option<Vec<Span>>,
}

impl Default for Account {
    fn default() -> Self {
        Self { times: RadioTimes::default(), timeline: Some(Vec::new()) }
    }
}

impl Account {
    /// The radio was in a state.
    pub fn add(&mut self, state: RadioState, from: Instant, to: Instant) {
        *self.times.of_mut(state) += to.since(from);
        if let Some(timeline) = &mut self.timeline {
            show(timeline, state, from, to);
        }
    }

    /// The radio listened in these spans, and was off between them. `sum` is their sum.
    fn add_listening(&mut self, sum: Duration, spans: impl Iterator<Item = (Instant, Instant)>) {
        self.times.listen += sum;
        if let Some(timeline) = &mut self.timeline {
            spans.for_each(|(from, to)| show(timeline, RadioState::Listen, from, to));
        }
    }

    /// The time in each state but sleep so far.
    pub fn times(&self) -> RadioTimes {
        self.times
    }

    /// Starts or stops keeping the timeline.
    pub fn watch(&mut self, watched: bool) {
        if self.timeline.is_some() != watched {
            self.timeline = watched.then(Vec::new);
        }
    }

    /// Takes all spans that no observer has seen, in the order in which they were added.
    pub fn drain(&mut self) -> impl Iterator<Item = Span> + '_ {
        self.timeline.iter_mut().flat_map(|timeline| timeline.drain(..))
    }
}

/// Adds a span to a timeline. Extends the last span if the state is the same.
fn show(timeline: &mut Vec<Span>, state: RadioState, from: Instant, to: Instant) {
    match timeline.last_mut() {
        _ if from >= to => {}
        Some(last) if last.state == state && last.to == from => last.to = to,
        _ => timeline.push(Span { state, from, to }),
    }
}

/// When a radio listens by itself, without an event: the samples of the channel of a node that sleeps.
pub trait Pattern {
    /// Start and end of each span between two instants in which it listens.
    fn spans(&self, from: Instant, to: Instant) -> impl Iterator<Item = (Instant, Instant)>;

    /// These spans, summed up.
    fn listening(&self, from: Instant, to: Instant) -> Listening {
        self.spans(from, to).fold(Listening::default(), |sum, (from, to)| sum.then(Listening::once(from, to)))
    }
}

/// The state of a radio that neither sends nor receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It listens.
    On,
    /// It is off.
    Off,
    /// It follows its pattern.
    Pattern,
}

/// A radio that adds up its times when its state changes.
#[derive(Debug)]
pub struct Radio<P> {
    mode: Mode,
    is_sending: bool,
    /// True if it has synchronised with a frame.
    is_receiving: bool,
    /// True if its oscillator runs while it neither sends nor listens.
    is_ready: bool,
    meter: Meter,
    /// Call [`settle`](Self::settle) before you change it.
    pub pattern: P,
    account: Account,
    /// The account is complete until this instant.
    settled: Instant,
}

impl<P: Pattern> Radio<P> {
    /// A radio that neither sends nor receives.
    pub fn new(mode: Mode, pattern: P) -> Self {
        let (account, settled) = (Account::default(), Instant::ZERO);
        let (is_sending, is_receiving, is_ready, meter) = (false, false, false, Meter::default());
        Self { mode, is_sending, is_receiving, is_ready, meter, pattern, account, settled }
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    pub fn is_receiving(&self) -> bool {
        self.is_receiving
    }

    /// It does this from now on when it neither sends nor receives.
    pub fn turn(&mut self, now: Instant, mode: Mode) {
        self.settle(now);
        (self.mode, self.is_ready) = (mode, false);
    }

    /// From now on its oscillator runs while it neither sends nor listens, until it [`turn`](Self::turn)s or this ends.
    pub fn set_ready(&mut self, now: Instant, is_ready: bool) {
        self.settle(now);
        self.is_ready = is_ready;
    }

    /// It begins to send, or has sent its frame. It receives nothing then.
    pub fn set_sending(&mut self, now: Instant, is_sending: bool) {
        self.settle(now);
        self.is_sending = is_sending;
        self.is_receiving &= !is_sending;
    }

    /// It has synchronised with a frame, or receives none.
    pub fn set_receiving(&mut self, now: Instant, is_receiving: bool) {
        self.settle(now);
        self.is_receiving = is_receiving;
    }

    /// Brings the account up to date. Must be called before the state changes.
    #[inline]
    pub fn settle(&mut self, now: Instant) {
        if self.settled != now {
            self.go_on_until(now);
        }
    }

    /// It has been in its state until now.
    fn go_on_until(&mut self, now: Instant) {
        let from = std::mem::replace(&mut self.settled, now);
        match self.state() {
            Some(state) => {
                self.account.add(state, from, now);
                self.meter.on(from, now);
            }
            None if self.mode == Mode::Off && !self.is_ready => {}
            None => {
                let (listened, meter) = self.idle(from, now);
                self.meter = meter;
                let spans = self.pattern.spans(from, now).filter(|_| self.mode == Mode::Pattern);
                self.account.add_listening(listened, spans);
            }
        }
    }

    /// The time that it was in each state until `now`, which must not be before the last change.
    pub fn times(&self, now: Instant) -> RadioTimes {
        let mut times = self.account.times();
        match self.state() {
            Some(state) => *times.of_mut(state) += now.since(self.settled),
            None => times.listen += self.idle(self.settled, now).0,
        }
        let RadioTimes { transmit, receive, listen, .. } = times;
        RadioTimes { sleep: now.since(Instant::ZERO).saturating_sub(transmit + receive + listen), ..times }
    }

    /// The other work that it did until `now`.
    pub fn work(&self, now: Instant) -> RadioWork {
        let mut meter = self.meter;
        match self.state() {
            Some(_) => meter.on(self.settled, now),
            None => meter = self.idle(self.settled, now).1,
        }
        meter.work()
    }

    /// The time that it listens while it neither sends nor receives, and its meter after that.
    fn idle(&self, from: Instant, now: Instant) -> (Duration, Meter) {
        let mut meter = self.meter;
        let listening = match self.mode {
            Mode::Pattern => self.pattern.listening(from, now),
            Mode::On | Mode::Off => Listening::default(),
        };
        if self.is_ready {
            let spans = self.pattern.spans(from, now).filter(|_| self.mode == Mode::Pattern);
            let ready_from = spans.fold(from, |ready_from, (from, to)| {
                meter.ready(ready_from, from);
                meter.on(from, to);
                to.max(ready_from)
            });
            meter.ready(ready_from, now);
        } else {
            meter.on_often(&listening);
        }
        (listening.sum, meter)
    }

    /// The account, to keep its timeline or not.
    pub fn account_mut(&mut self) -> &mut Account {
        &mut self.account
    }

    /// Shows the observer the timeline until `now`.
    pub fn report(&mut self, now: Instant, node: NodeId, observer: &mut dyn Observer) {
        self.settle(now);
        self.account.drain().for_each(|span| observer.radio(&span.of(node)));
    }

    /// Its state. `None` if it is off or follows its pattern.
    fn state(&self) -> Option<RadioState> {
        match self.mode {
            _ if self.is_sending => Some(RadioState::Transmit),
            _ if self.is_receiving => Some(RadioState::Receive),
            Mode::On => Some(RadioState::Listen),
            Mode::Off | Mode::Pattern => None,
        }
    }
}
