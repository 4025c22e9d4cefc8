use super::*;
use crate::scenario::{Preset, Tcp};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Duration;

/// The ends of a connection between node 1 and the root.
struct Pair {
    ends: [Stream; 2],
    locals: [Endpoint; 2],
    now: Instant,
}

impl Pair {
    fn new() -> Self {
        let transport = Tcp::default().endpoint(Preset::Constrained);
        let locals = [(NodeId(1), 49_152), (NodeId::ROOT, 4_433)];
        let locals = locals.map(|(node, port)| Endpoint::new(Host::Node(node).address(), port));
        let ends =
            [Stream::new(&transport, locals[0], Some(locals[1]), 1), Stream::new(&transport, locals[1], None, 1_000)];
        Self { ends, locals, now: Instant::ZERO }
    }

    /// A second passes. Then all segments of one end reach the other end.
    fn carry(&mut self, from: usize) {
        self.now += Duration::from_secs(1);
        self.ends[from].connection.handle_timeout(self.now);
        let mut segment = vec![0; 2_000];
        while let Some(transmit) = self.ends[from].connection.poll_transmit(self.now, &mut segment) {
            let (octets, source) = (&segment[..transmit.len], self.locals[from].address);
            let end = &mut self.ends[1 - from];
            end.connection.handle_segment(self.now, source, transmit.ecn, octets).unwrap();
            end.fill();
        }
    }
}

/// The three-way handshake of RFC 9293 section 3.5.
#[test]
fn each_end_learns_once_that_the_connection_is_open() {
    let mut pair = Pair::new();
    for (from, open) in [(0, [false, false]), (1, [true, false]), (0, [false, true])] {
        assert!(!pair.ends[from].is_ready());
        pair.carry(from);
        assert_eq!([0, 1].map(|end| pair.ends[end].is_ready()), open, "a session that does not know it yet has to");
        assert_eq!([0, 1].map(|end| pair.ends[end].becomes_open()), open);
        assert_eq!([0, 1].map(|end| pair.ends[end].becomes_open()), [false, false], "once");
    }
}

#[test]
fn what_a_session_writes_waits_for_room_and_for_its_acknowledgement() {
    let mut pair = Pair::new();
    (0..3).for_each(|segment| pair.carry(segment % 2));
    pair.ends.iter_mut().for_each(|end| assert!(end.becomes_open() && end.is_idle() && !end.is_ready()));
    // More than the send buffer and the receiver's window have room for.
    let octets: Vec<u8> = (0..9_000_u32).map(|number| number as u8).collect();
    pair.ends[0].write(&octets);
    let mut arrived = Vec::new();
    // Each turn takes what one segment or its acknowledgement makes possible.
    for _ in 0..100 {
        pair.carry(0);
        let mut taken = vec![0; pair.ends[1].connection.readable()];
        assert_eq!(pair.ends[1].is_ready(), !taken.is_empty());
        assert_eq!(pair.ends[0].is_idle(), arrived.len() == octets.len());
        assert_eq!(pair.ends[1].connection.read(&mut taken), Ok(taken.len()));
        arrived.extend(taken);
        pair.carry(1);
    }
    assert!(arrived == octets);
}
