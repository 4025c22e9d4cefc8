//! The time that each radio is in each state.
//!
//! A coordinator is on during its own active periods. Its children are on for each of its beacons and, if they listen
//! when idle, until the end of the active period. This part follows from the time alone. Frames add to it when they
//! end.

use super::Beacon;
use super::config::{BeaconConfig, Superframe};
use super::tracking::Tracking;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::observer::{RadioState, RadioTimes, RadioWork};
use crate::radio::contention::Phase;

impl Beacon {
    /// Switches the node's radio off, unless it listens when idle or an exchange is in progress.
    pub(super) fn rest(&mut self, now: Instant, node: NodeId) {
        let sleeper = self.node(node);
        let is_in_progress = !matches!(sleeper.stations[0].phase, Phase::Idle | Phase::Deferred);
        if is_in_progress || sleeper.is_acknowledging {
            return;
        }
        if let Some(since) = sleeper.radio.awake_since.take() {
            sleeper.radio.account.add(RadioState::Listen, since, now);
            sleeper.radio.rested_at = now;
            self.medium.stop_listening(now, node);
        }
    }

    /// The time that the node's radio has been in each state.
    pub(super) fn times(&self, node: NodeId, now: Instant) -> RadioTimes {
        let radio = &self.nodes[node.index()].radio;
        let RadioTimes { mut transmit, mut receive, listen, .. } = radio.account.times();
        let mut awake = listen + radio.awake_since.map_or(Duration::ZERO, |since| now.since(since));
        if self.is_coordinator(node) {
            let Superframe { interval, cap } = self.config.superframe;
            transmit += windows(now, self.first_beacon(node), self.config.idle_beacon(), interval);
            awake += windows(now, self.first_beacon(node), cap, interval);
        }
        if let Some(parent) = self.tree.parent(node) {
            let tracking = &self.nodes[node.index()].mac.tracking;
            let (on, received) = beacons(&self.config, tracking, radio.guard, self.first_beacon(parent), now);
            awake += on;
            receive += received;
        }
        let elapsed = now.since(Instant::ZERO);
        RadioTimes {
            transmit,
            receive,
            listen: awake.saturating_sub(transmit + receive),
            sleep: elapsed.saturating_sub(awake),
        }
    }

    /// The number of starts of the node's radio: for each of its active periods, each beacon of its parent, and for traffic. It is on
    /// while it contends, so it is never just ready. Two of them that touch count as two.
    pub(super) fn work(&self, node: NodeId, now: Instant) -> RadioWork {
        let radio = &self.nodes[node.index()].radio;
        let interval = self.config.superframe.interval;
        let mut starts = radio.awoken(now);
        if self.is_coordinator(node) {
            starts += begun(now, self.first_beacon(node), interval);
        }
        if let Some(parent) = self.tree.parent(node) {
            starts += begun(now, self.first_beacon(parent) - radio.guard, interval);
        }
        RadioWork { starts, ramps: starts, ..RadioWork::default() }
    }

    /// The beacons that the node has sent, or begun to, and those that it has received.
    pub(super) fn beacons_handled(&self, node: NodeId, now: Instant) -> u64 {
        let interval = self.config.superframe.interval;
        let sent = if self.is_coordinator(node) { begun(now, self.first_beacon(node), interval) } else { 0 };
        let received = self.tree.parent(node).map_or(0, |parent| {
            let over = begun(now, self.first_beacon(parent) + self.config.idle_beacon(), interval);
            self.nodes[node.index()].mac.tracking.received_before(over)
        });
        sent + received
    }
}

/// The number of moments before `now`, of which the first is `first` and one follows in each interval.
fn begun(now: Instant, first: Instant, interval: Duration) -> u64 {
    now.since(first).as_micros().div_ceil(interval.as_micros())
}

/// The time that a child is on for its parent's beacons and for listening when idle, and the time that it receives beacons. A
/// lost beacon keeps the receiver on as long as a beacon that lists no address.
fn beacons(
    config: &BeaconConfig,
    tracking: &Tracking,
    guard: Duration,
    first: Instant,
    now: Instant,
) -> (Duration, Duration) {
    let Superframe { interval, cap } = config.superframe;
    let beacon = config.idle_beacon();
    let mut on = windows(now, first - guard, guard + beacon, interval);
    if now < first {
        return (on, Duration::ZERO);
    }
    let number = now.since(first).as_micros() / interval.as_micros();
    let into = now.since(first + interval * number);
    let complete = tracking.received_before(number);
    let received_now = tracking.receives(number);
    let of_this = |span: Duration| if received_now { into.min(span) } else { Duration::ZERO };
    if config.rx_on_when_idle {
        on += (cap - beacon) * complete + of_this(cap).saturating_sub(beacon);
    }
    (on, beacon * complete + of_this(beacon))
}

/// The time before `now` in windows of this length. The first window begins at `first`, and there is one per interval.
fn windows(now: Instant, first: Instant, length: Duration, interval: Duration) -> Duration {
    if now < first {
        return Duration::ZERO;
    }
    let elapsed = now.since(first);
    length * (elapsed.as_micros() / interval.as_micros()) + (elapsed % interval).min(length)
}
