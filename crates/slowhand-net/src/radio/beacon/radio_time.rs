//! How long each radio is in each state.
//!
//! A coordinator is on during its own active periods; its children are on for each of its beacons and, if they
//! listen when idle, from then to the end of the active period. That much follows from the time alone. What frames
//! add to it is accounted when they end.

use super::Beacon;
use super::config::{Config, Superframe};
use super::frame::beacon_octets;
use super::timeline::Timeline;
use super::tracking::Tracking;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::observer::{RadioState, RadioTimes};
use crate::radio::phy::air_time;

/// How long a beacon is on the air that lists no address.
pub const IDLE_BEACON: Duration = air_time(beacon_octets(0));

/// What a node's radio does beyond the regular.
#[derive(Clone, Debug, Default)]
pub struct Radio {
    pub transmit: Duration,
    pub receive: Duration,
    /// On for traffic when it would otherwise be off, in spells that have ended.
    pub awake: Duration,
    /// The beginning of such a spell.
    pub awake_since: Option<Instant>,
    /// The end of the frame it has sent last.
    pub sending_until: Instant,
    /// Whether it has a frame to acknowledge.
    pub acknowledging: bool,
    /// How long before its parent's beacon it switches on.
    pub guard: Duration,
    /// Kept only while an observer watches radios.
    pub timeline: Timeline,
}

impl Radio {
    /// A frame that it has sent, or the rest of one, ends now.
    pub fn sent(&mut self, now: Instant, air: Duration, watched: bool) {
        self.transmit += air;
        if watched {
            self.timeline.frame(RadioState::Transmit, now - air, now);
        }
    }

    /// A frame that it has received, or the rest of one, ends now.
    pub fn received(&mut self, now: Instant, air: Duration, watched: bool) {
        self.receive += air;
        if watched {
            self.timeline.frame(RadioState::Receive, now - air, now);
        }
    }
}

impl Beacon {
    /// The node switches off, unless it is to be on when idle or something is under way.
    pub(super) fn rest(&mut self, now: Instant, node: NodeId) {
        let sleeper = &mut self.nodes[node.index()];
        if sleeper.device.phase.is_under_way() || sleeper.radio.acknowledging {
            return;
        }
        if let Some(since) = sleeper.radio.awake_since.take() {
            sleeper.radio.awake += now.since(since);
            if self.watched {
                sleeper.radio.timeline.spell(since, now);
            }
            self.medium.stop_listening(now, node);
        }
    }

    /// How long the node's radio has been in each state.
    pub(super) fn times(&self, node: NodeId, now: Instant) -> RadioTimes {
        let radio = &self.nodes[node.index()].radio;
        let (mut transmit, mut receive) = (radio.transmit, radio.receive);
        let mut awake = radio.awake + radio.awake_since.map_or(Duration::ZERO, |since| now.since(since));
        if self.is_coordinator(node) {
            let Superframe { interval, cap } = self.config.superframe;
            transmit += windows(now, self.first_beacon(node), IDLE_BEACON, interval);
            awake += windows(now, self.first_beacon(node), cap, interval);
        }
        if let Some(parent) = self.tree.parent(node) {
            let tracking = &self.nodes[node.index()].tracking;
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
}

/// How long a child is on for its parent's beacons and because it listens when idle, and how long of that it receives
/// beacons. One that is lost keeps its receiver on for as long as a beacon that lists nobody.
fn beacons(
    config: &Config,
    tracking: &Tracking,
    guard: Duration,
    first: Instant,
    now: Instant,
) -> (Duration, Duration) {
    let Superframe { interval, cap } = config.superframe;
    let mut on = windows(now, first - guard, guard + IDLE_BEACON, interval);
    if now < first {
        return (on, Duration::ZERO);
    }
    let number = now.since(first).as_micros() / interval.as_micros();
    let into = now.since(first + interval * number);
    let complete = tracking.received_before(number);
    let received_now = tracking.receives(number);
    let of_this = |span: Duration| if received_now { into.min(span) } else { Duration::ZERO };
    if config.rx_on_when_idle {
        on += (cap - IDLE_BEACON) * complete + of_this(cap).saturating_sub(IDLE_BEACON);
    }
    (on, IDLE_BEACON * complete + of_this(IDLE_BEACON))
}

/// How much of the time before `now` lies in windows of this length that begin at `first` and then once an interval.
fn windows(now: Instant, first: Instant, length: Duration, interval: Duration) -> Duration {
    if now < first {
        return Duration::ZERO;
    }
    let elapsed = now.since(first);
    length * (elapsed.as_micros() / interval.as_micros()) + (elapsed % interval).min(length)
}
