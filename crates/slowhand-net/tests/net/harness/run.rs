//! Run loops: of a link layer, and of a whole network.

use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::datagram::DatagramId;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::ip::Endpoint;
use slowhand_net::network::{Event, Events, Network};
use slowhand_net::observer::Observer;
use slowhand_net::radio::{Indication, Mac};
use std::collections::BTreeMap;

/// Later than anything that happens in these tests.
pub const NEVER: Instant = Instant::from_micros(u64::MAX);

/// Does what is due before `end`. Returns the indications, with the instant of each.
pub fn run_mac(mac: &mut dyn Mac, end: Instant, observer: &mut impl Observer) -> Vec<(Instant, Indication)> {
    let (mut all, mut indications) = (Vec::new(), Vec::new());
    while let Some(now) = mac.deadline().filter(|&now| now < end) {
        mac.handle_deadline(now, &mut indications, observer);
        all.extend(indications.drain(..).map(|indication| (now, indication)));
    }
    all
}

/// The datagrams that arrived at a node, with the microsecond of each.
pub fn received(indications: &[(Instant, Indication)], at: NodeId) -> Vec<(u64, DatagramId)> {
    let received = |(now, indication): &(Instant, Indication)| match indication {
        Indication::Received { node, datagram, .. } if *node == at => Some((now.as_micros(), *datagram)),
        _ => None,
    };
    indications.iter().filter_map(received).collect()
}

/// The address and the port of a host.
pub fn endpoint(host: Host) -> Endpoint {
    Endpoint::new(host.address(), 5684)
}

/// A datagram: when, from whom, to whom, octets.
pub type Send = (Instant, Host, Host, usize);

/// The octets of a datagram.
pub fn payload(datagram: DatagramId, octets: usize) -> Vec<u8> {
    (0..octets).map(|at| (datagram as usize * 31 + at * 7) as u8).collect()
}

/// The fates of the datagrams, by number.
#[derive(Debug, Default, PartialEq)]
pub struct Fates {
    pub delivered: BTreeMap<DatagramId, (Instant, Vec<u8>)>,
    /// Why a datagram was lost: the reason of the first part that was.
    pub lost: BTreeMap<DatagramId, &'static str>,
}

/// A part of a datagram that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    pub datagram: DatagramId,
    /// Where it was lost.
    pub host: Host,
    pub reason: DropReason,
}

/// Sends datagrams, numbered from 0 in their order, and does what is due before `end`. Returns every loss, in the order of
/// time.
pub fn losses(network: &mut Network, sends: &[Send], end: Instant) -> Vec<Loss> {
    let (mut losses, mut events) = (Vec::new(), Events::default());
    let mut note = |events: &mut Events| {
        losses.extend(events.iter().filter_map(|event| match event {
            Event::Lost { datagram, host, reason, .. } => Some(Loss { datagram, host, reason }),
            _ => None,
        }));
        events.clear();
    };
    for (number, &(at, from, to, octets)) in (0..).zip(sends) {
        network.handle_deadline(at, &mut events, &mut ());
        network.send(at, endpoint(from), endpoint(to), &payload(number, octets), number, &mut events).unwrap();
        note(&mut events);
    }
    network.handle_deadline(end, &mut events, &mut ());
    note(&mut events);
    losses
}

/// A moment at which a test may look at the network.
pub enum Moment<'a> {
    /// A datagram is sent now.
    BeforeSend(&'a Send),
    /// Something was done at this instant.
    After(Instant),
}

/// Sends datagrams, numbered from 0 in their order, and does what is due before `end`.
pub fn run(network: &mut Network, sends: &[Send], end: Instant, observer: &mut impl Observer) -> Fates {
    run_watched(network, 0, sends, end, observer, |_, _| {})
}

/// Sends datagrams as [`run`], with numbers from `first` on. `watch` is called at every [`Moment`].
pub fn run_watched(
    network: &mut Network,
    first: DatagramId,
    sends: &[Send],
    end: Instant,
    observer: &mut impl Observer,
    mut watch: impl FnMut(&mut Network, Moment<'_>),
) -> Fates {
    let (mut fates, mut events) = (Fates::default(), Events::default());
    let mut sends = (first..).zip(sends).peekable();
    let mut before = Instant::ZERO;
    loop {
        let send_at = sends.peek().map(|(_, send)| send.0);
        let next = [network.deadline(), send_at].into_iter().flatten().min();
        let Some(now) = next.filter(|&now| now < end) else { return fates };
        assert!(now >= before, "{now} after {before}");
        before = now;
        if send_at == Some(now)
            && let Some((number, send)) = sends.next()
        {
            watch(network, Moment::BeforeSend(send));
            let &(_, from, to, octets) = send;
            network.send(now, endpoint(from), endpoint(to), &payload(number, octets), number, &mut events).unwrap();
        } else {
            network.handle_deadline(now, &mut events, observer);
        }
        for event in events.iter() {
            match event {
                Event::Delivered { datagram, payload, .. } => {
                    let before = fates.delivered.insert(datagram, (now, payload.to_vec()));
                    assert!(before.is_none(), "datagram {datagram} is delivered twice");
                }
                Event::Lost { datagram, reason, .. } => drop(fates.lost.entry(datagram).or_insert(reason.name())),
                _ => {
                    panic!("nobody speaks TCP here, and all have joined: {event:?}")
                }
            }
        }
        events.clear();
        watch(network, Moment::After(now));
    }
}
