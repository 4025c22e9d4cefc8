//! Superframes: their start, their beacons, and the reaction of the children.

use super::cluster::Active;
use super::config::{Downward, interframe_space};
use super::frame::{MAX_PENDING_ADDRESSES, beacon_octets, write_beacon};
use super::rules::Timer;
use super::{Beacon, EVERY_CHILD};
use crate::address::{Eui64, NodeId};
use crate::clock::{Duration, Instant};
use crate::observer::{FrameKind, RadioState, Transmission};
use crate::radio::contention::{Event, Node, Phase, Role, StationId, Task};
use crate::radio::frame::MAX_FRAME;
use crate::radio::phy::air_time;

impl Beacon {
    /// The last superframe of a coordinator that has begun.
    pub(super) fn superframe(&self, now: Instant, coordinator: NodeId) -> Option<Active> {
        let first = self.first_beacon(coordinator);
        if now < first {
            return None;
        }
        let number = now.since(first).as_micros() / self.config.superframe.interval.as_micros();
        let begin = first + self.config.superframe.interval * number;
        Some(Active { number, begin, end: begin + self.config.superframe.cap })
    }

    /// The start of contention in a superframe: after the beacon and its interframe space.
    pub(super) fn contention_begin(&self, coordinator: NodeId, active: &Active) -> Instant {
        let cluster = &self.nodes[coordinator.index()].mac.cluster;
        let listed = if cluster.beacon == Some(active.number) { cluster.listed_count } else { 0 };
        let psdu = beacon_octets(listed, self.config.security);
        active.begin + air_time(psdu) + interframe_space(psdu)
    }

    /// True if a station can contend now. It cannot while the beacon is on the air. After the beacon,
    /// [`open_contention`](Self::open_contention) starts the stations.
    pub(super) fn may_contend(&self, now: Instant, station: StationId) -> bool {
        let coordinator = self.cluster_of(station);
        let cluster = &self.nodes[coordinator.index()].mac.cluster;
        let Some(active) = self.superframe(now, coordinator).filter(|active| now < active.end) else { return false };
        let beacon_ahead = cluster.scheduled == Some(active.number);
        let beacon_on_air = cluster.beacon == Some(active.number) && cluster.open != Some(active.number);
        let takes_part = match station.role {
            Role::Device => self.nodes[station.node.index()].mac.tracking.receives(active.number),
            Role::Coordinator => self.config.downward == Downward::Direct,
        };
        takes_part && !beacon_ahead && !beacon_on_air
    }

    /// Makes sure that the event queue has the coordinator's next superframe.
    pub(super) fn schedule_superframe(&mut self, now: Instant, coordinator: NodeId) {
        if self.nodes[coordinator.index()].mac.cluster.scheduled.is_some() {
            return;
        }
        let number = self.superframe(now, coordinator).map_or(0, |active| active.number + 1);
        let begin = self.first_beacon(coordinator) + self.config.superframe.interval * number;
        self.node(coordinator).mac.cluster.scheduled = Some(number);
        self.events.push(begin, Event::Mac(Timer::Beacon(coordinator)));
    }

    /// Sends the beacon, if frames wait in the cluster or the observer wants to see all beacons.
    pub(super) fn begin_superframe(&mut self, now: Instant, coordinator: NodeId) {
        let Some(number) = self.node(coordinator).mac.cluster.scheduled.take() else { return };
        self.expire(now, coordinator);
        if self.is_quiet(coordinator) && !self.config.trace_idle_beacons {
            return;
        }
        self.list_pending(now, coordinator);
        let security = self.config.security;
        let cluster = &mut self.node(coordinator).mac.cluster;
        cluster.beacon = Some(number);
        let over = now + air_time(beacon_octets(cluster.listed_count, security));
        self.show_beacon(now, coordinator, number);
        self.listen_longer(now, coordinator, number);
        self.events.push(over, Event::Mac(Timer::Contention(coordinator)));
        self.schedule_superframe(now, coordinator);
    }

    /// The beacon is over. The children that received it know whether frames wait for them, and contend.
    pub(super) fn open_contention(&mut self, now: Instant, coordinator: NodeId) {
        let cluster = &mut self.node(coordinator).mac.cluster;
        cluster.open = cluster.beacon;
        let Some(number) = cluster.beacon else { return };
        let listed = cluster.listed_count;
        let beacon = air_time(beacon_octets(listed, self.config.security));
        let longer = beacon.saturating_sub(self.config.idle_beacon());
        self.node(coordinator).radio.account.add(RadioState::Transmit, now - longer, now);
        for position in 0..self.tree.children(coordinator).len() {
            let child = self.tree.children(coordinator)[position];
            let received = self.track_beacon(now, child, number, longer);
            let listed = self.nodes[coordinator.index()].mac.cluster.listed().contains(&child);
            self.node(child).mac.to_fetch = received && listed;
            if received {
                self.resume_superframe(now, StationId::device(child));
            }
        }
        if self.config.downward == Downward::Direct {
            self.resume_superframe(now, StationId::coordinator(coordinator));
        }
    }

    /// True if no frame waits in a cluster, and no child still wants to fetch a frame that is gone.
    fn is_quiet(&self, coordinator: NodeId) -> bool {
        let child_is_quiet = |child: &NodeId| {
            let child = &self.nodes[child.index()];
            child.stations[0].phase == Phase::Idle && !child.mac.to_fetch
        };
        self.nodes[coordinator.index()].mac.cluster.waiting == 0
            && self.tree.children(coordinator).iter().all(child_is_quiet)
    }

    /// Drops the frames that have waited for a child longer than macTransactionPersistenceTime.
    fn expire(&mut self, now: Instant, coordinator: NodeId) {
        if self.config.downward != Downward::Indirect {
            return;
        }
        let persistence = self.config.superframe.interval * u64::from(self.config.transaction_persistence);
        for position in 0..self.tree.children(coordinator).len() {
            let child = self.tree.children(coordinator)[position];
            self.drop_expired(now, child, persistence);
        }
    }

    /// Chooses the children that the beacon lists: those whose frames have waited longest (7.5.5: first come, first
    /// served).
    fn list_pending(&mut self, now: Instant, coordinator: NodeId) {
        let mut listed = [NodeId::ROOT; MAX_PENDING_ADDRESSES];
        let mut ages = [u64::MAX; MAX_PENDING_ADDRESSES];
        let mut count = 0;
        let indirect = self.config.downward == Downward::Indirect;
        for &child in self.tree.children(coordinator).iter().filter(|_| indirect) {
            let waiting = self.nodes[child.index()].kept.head();
            let Some(frame) = waiting.filter(|&frame| self.pool.get(frame).queued_at < now) else { continue };
            let age = self.pool.get(frame).age;
            let position = ages[..count].partition_point(|&earlier| earlier < age);
            if position < MAX_PENDING_ADDRESSES {
                count = (count + 1).min(MAX_PENDING_ADDRESSES);
                ages[position..count].rotate_right(1);
                listed[position..count].rotate_right(1);
                (ages[position], listed[position]) = (age, child);
            }
        }
        let cluster = &mut self.node(coordinator).mac.cluster;
        (cluster.listed, cluster.listed_count) = (listed, count);
    }

    fn show_beacon(&mut self, now: Instant, coordinator: NodeId, number: u64) {
        let pan_coordinator = self.tree.parent(coordinator).is_none();
        let cluster = &self.nodes[coordinator.index()].mac.cluster;
        let listed = cluster.listed.map(Eui64::of_node);
        let listed = &listed[..cluster.listed_count];
        let from = Eui64::of_node(coordinator);
        let mut octets = [0; MAX_FRAME];
        let orders = self.config.superframe.orders();
        let length =
            write_beacon(&mut octets, number as u8, from, orders, pan_coordinator, listed, self.config.security);
        let children = self.tree.children(coordinator);
        let received = children.iter().all(|child| self.nodes[child.index()].mac.tracking.receives(number));
        let beacon = Transmission::new(now, self.config.channel, FrameKind::Beacon, coordinator, EVERY_CHILD);
        let shown = self.trace.begin(beacon, octets, length);
        self.trace.end(shown, received);
    }

    /// Children that receive a beacon with addresses stay on until its end.
    fn listen_longer(&mut self, now: Instant, coordinator: NodeId, number: u64) {
        if self.config.rx_on_when_idle || self.nodes[coordinator.index()].mac.cluster.listed_count == 0 {
            return;
        }
        let beacon = self.config.idle_beacon();
        for &child in self.tree.children(coordinator) {
            let Node { mac, radio, .. } = &mut self.nodes[child.index()];
            if mac.tracking.receives(number) {
                radio.wake(now + beacon, true);
            }
        }
    }

    /// Accounts for the end of a beacon at a child. The beacon is `longer` than one without addresses. Returns true if
    /// the child received it.
    fn track_beacon(&mut self, now: Instant, child: NodeId, number: u64, longer: Duration) -> bool {
        let Node { mac, radio, .. } = self.node(child);
        mac.tracking.count(number);
        let received = mac.tracking.receives(number);
        if received {
            radio.account.add(RadioState::Receive, now - longer, now);
        }
        received
    }

    /// The station continues its deferred task, or starts a new one.
    fn resume_superframe(&mut self, now: Instant, id: StationId) {
        let forgotten = self.station(id).task == Task::Request && !self.nodes[id.node.index()].mac.to_fetch;
        let station = self.station_mut(id);
        if station.phase == Phase::Deferred && !forgotten {
            station.phase = Phase::Contending;
            self.wake(now, id);
            self.back_off(now, id);
        } else if matches!(station.phase, Phase::Deferred | Phase::Idle) {
            self.finish(now, id);
        }
    }
}
