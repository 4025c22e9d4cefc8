//! Other traffic in a world: it sends the datagrams of the flows, and keeps their account.

use super::World;
use crate::estimate::percentile;
use crate::ids::{FlowId, Id};
use crate::record::Traffic as Report;
use crate::traffic::{Flow, PORT};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::{DatagramId, ROUTER_DATAGRAMS};
use slowhand_net::drop_reason::DropReason;
use slowhand_net::ip::Endpoint;
use slowhand_net::random::Streams;
use std::collections::VecDeque;
use std::ops::Range;

/// The numbers of the datagrams of flows. The datagrams of sessions have those below.
const NUMBERS: Range<DatagramId> = 1 << 30..ROUTER_DATAGRAMS;

/// The most octets in a datagram of a flow.
const MAX_OCTETS: usize = 1232;

/// The datagrams of all flows of a world, in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    datagrams: VecDeque<Datagram>,
    /// The number sent before the first of them.
    forgotten: u32,
    on_their_way: usize,
}

#[derive(Clone, Copy, Debug)]
struct Datagram {
    sent: Instant,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    OnItsWay,
    /// It arrived after this time.
    Arrived(Duration),
    Lost(DropReason),
}

impl Traffic {
    /// True if a datagram is one of a flow.
    pub(super) fn has(id: DatagramId) -> bool {
        NUMBERS.contains(&id)
    }

    /// A datagram is sent; returns its number. `None` if all numbers are taken.
    pub(super) fn sent(&mut self, now: Instant) -> Option<DatagramId> {
        let before = self.forgotten as usize + self.datagrams.len();
        let id = NUMBERS.start + DatagramId::try_from(before).ok().filter(|&n| n < NUMBERS.len() as u32)?;
        self.datagrams.push_back(Datagram { sent: now, fate: Fate::OnItsWay });
        self.on_their_way += 1;
        Some(id)
    }

    /// A datagram arrived.
    pub(super) fn arrived(&mut self, id: DatagramId, now: Instant) {
        let Some(datagram) = self.datagram(id) else { return };
        let took = now.since(datagram.sent);
        // If only acknowledgements were lost, a frame arrives that its sender has given up.
        if !matches!(datagram.fate, Fate::Arrived(_)) {
            self.settle(id, Fate::Arrived(took));
        }
    }

    /// A part of a datagram was lost. Without effect if the datagram has arrived.
    pub(super) fn lost(&mut self, id: DatagramId, reason: DropReason) {
        if self.datagram(id).is_some_and(|datagram| datagram.fate == Fate::OnItsWay) {
            self.settle(id, Fate::Lost(reason));
        }
    }

    /// Why a datagram was lost, of which a part was lost and which has not arrived.
    pub(super) fn why_lost(&self, id: DatagramId) -> Option<DropReason> {
        match self.datagram(id)?.fate {
            Fate::Lost(reason) => Some(reason),
            Fate::OnItsWay | Fate::Arrived(_) => None,
        }
    }

    fn settle(&mut self, id: DatagramId, fate: Fate) {
        let place = self.place(id);
        if let Some(datagram) = self.datagrams.get_mut(place)
            && std::mem::replace(&mut datagram.fate, fate) == Fate::OnItsWay
        {
            self.on_their_way -= 1;
        }
    }

    fn datagram(&self, id: DatagramId) -> Option<Datagram> {
        self.datagrams.get(self.place(id)).copied()
    }

    fn place(&self, id: DatagramId) -> usize {
        (id - NUMBERS.start).wrapping_sub(self.forgotten) as usize
    }

    /// Forgets the datagrams that were sent before a time, up to the first that is on its way.
    pub(super) fn forget_before(&mut self, time: Instant) {
        let is_forgotten = |datagram: &Datagram| datagram.sent < time && datagram.fate != Fate::OnItsWay;
        while self.datagrams.front().is_some_and(is_forgotten) {
            self.datagrams.pop_front();
            self.forgotten += 1;
        }
    }

    /// True if any datagram is on its way.
    pub(super) fn any_on_its_way(&self) -> bool {
        self.on_their_way > 0
    }

    /// The fate of the datagrams that were sent in a time.
    pub(super) fn report(&self, from: Instant, to: Instant) -> Report {
        let first = self.datagrams.partition_point(|datagram| datagram.sent < from);
        let behind = self.datagrams.partition_point(|datagram| datagram.sent < to);
        let sent = self.datagrams.range(first..behind.max(first));
        let (mut latencies, mut report) = (Vec::new(), Report { sent: sent.len() as u64, ..Report::default() });
        for datagram in sent {
            match datagram.fate {
                Fate::OnItsWay => {}
                Fate::Arrived(took) => latencies.push(took.as_secs_f64()),
                Fate::Lost(reason) => *report.losses.entry(reason).or_default() += 1,
            }
        }
        latencies.sort_by(f64::total_cmp);
        report.delivered = latencies.len() as u64;
        report.latency_mean_s = (!latencies.is_empty()).then(|| latencies.iter().sum::<f64>() / latencies.len() as f64);
        report.latency_p95_s = percentile(&latencies, 0.95);
        report
    }
}

impl World<'_> {
    /// Every flow begins.
    pub(super) fn begin_traffic(&mut self) {
        let streams = Streams::new(self.seed);
        let flows = &self.plan.traffic;
        for flow in flows.ids() {
            let mut random = streams.stream("traffic", flow.row() as u64);
            let first = Instant::ZERO + self.plan.traffic_start + flows[flow].first(&mut random);
            self.traffic.push(random);
            self.events.push(first, super::Event::Traffic { flow });
        }
    }

    /// A flow sends, and plans when it sends again.
    pub(super) fn send_traffic(&mut self, now: Instant, number: FlowId) {
        let flow: Flow = self.plan.traffic[number];
        let [from, to] = [flow.from, flow.to].map(|host| Endpoint::new(host.address(), PORT));
        let payload = [0; MAX_OCTETS];
        let mut events = std::mem::take(&mut self.network_events);
        for _ in 0..flow.burst {
            let Some(id) = self.ledger.traffic.sent(now) else { break };
            if let Err(error) =
                self.network.send(now, from, to, &payload[..flow.octets.min(MAX_OCTETS)], id, &mut events)
            {
                // Each end has an address of the network, and the world runs the network before the flows.
                debug_assert!(false, "{error}");
                self.ledger.traffic.lost(id, DropReason::Malformed);
            }
        }
        self.handle_network_events(now, &mut events);
        self.network_events = events;
        let next = now + flow.next(&mut self.traffic[number]);
        self.events.push(next, super::Event::Traffic { flow: number });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_datagram_is_delivered_lost_or_on_its_way() {
        let mut traffic = Traffic::default();
        let at = Instant::from_micros;
        let ids: Vec<DatagramId> = (0..6).map(|second| traffic.sent(at(second * 1_000_000)).unwrap()).collect();
        assert!(
            ids.iter().all(|&id| Traffic::has(id)) && !Traffic::has(NUMBERS.start - 1) && !Traffic::has(NUMBERS.end)
        );
        traffic.arrived(ids[1], at(1_500_000));
        traffic.arrived(ids[1], at(9_000_000)); // a second copy
        traffic.lost(ids[1], DropReason::QueueFull);
        traffic.lost(ids[2], DropReason::QueueFull);
        traffic.lost(ids[2], DropReason::NoCell); // the first reason counts
        traffic.lost(ids[3], DropReason::RetriesExhausted);
        traffic.arrived(ids[3], at(4_500_000)); // only acknowledgements were lost
        traffic.lost(ids[0], DropReason::NoCell);
        // Datagrams 1 to 4: 0.5 s and 1.5 s, a full queue, one on its way.
        let report = traffic.report(at(1_000_000), at(5_000_000));
        let expected = Report {
            sent: 4,
            delivered: 2,
            losses: [(DropReason::QueueFull, 1)].into(),
            latency_mean_s: Some(1.0),
            latency_p95_s: Some(0.5 + 0.95), // between the two, as estimate::percentile has it
        };
        assert_eq!(report, expected);
        assert_eq!(traffic.report(at(6_000_000), at(5_000_000)), Report::default());
        assert!(traffic.any_on_its_way());
        traffic.arrived(ids[4], at(5_000_000));
        traffic.arrived(ids[5], at(6_000_000));
        assert!(!traffic.any_on_its_way());
    }
}
