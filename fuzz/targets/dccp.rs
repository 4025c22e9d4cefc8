//! Packets of anybody at both ends of a connection of DCCP, between packets that the ends send each other.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowhand_fuzz::input::Input;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::{Ecn, Endpoint, checksum, next_header};
use slowhand_net::transport::dccp::{Connection, DccpConfig, Packet, SeqNumber};
use std::net::Ipv6Addr;

/// The two ends, and what each has sent last.
struct Ends {
    ends: [Connection<Vec<u8>>; 2],
    last: [Vec<u8>; 2],
    now: Instant,
}

fuzz_target!(|octets: &[u8]| {
    if let Ok(packet) = Packet::parse(octets) {
        let mut written = vec![0; packet.wire_len()];
        let [from, to] = [0, 1].map(|end| endpoint(end).address);
        assert_eq!(packet.emit(from, to, &mut written), Ok(written.len()));
        assert_eq!(Packet::parse(&written), Ok(packet), "a packet that is written is the same");
    }
    let mut input = Input::new(octets);
    let config = DccpConfig {
        initial_window: 1 + u32::from(input.octet()) % 4,
        send_queue: 1 + input.below(3),
        ack_ratio: 1 + u16::from(input.flag()),
        ..DccpConfig::default()
    };
    let mut ends = Ends::new(&config);
    while !input.is_empty() {
        let (end, choice) = (usize::from(input.flag()), input.below(8));
        match choice {
            0 => drop(ends.ends[end].send(input.string().to_vec())),
            1 if input.octet() < 8 => ends.ends[end].close(),
            2 => ends.wait(Duration::from_millis(u64::from(input.number()))),
            // The last datagram of an end arrives, with an octet of it changed or as it is.
            3 | 4 => {
                let mut packet = ends.last[1 - end].clone();
                if choice == 4 && !packet.is_empty() {
                    let at = input.below(packet.len());
                    packet[at] = input.octet();
                }
                ends.give(end, packet, input.flag());
            }
            // Octets of anybody.
            _ => ends.give(end, input.string().to_vec(), false),
        }
        ends.transmit();
    }
    // Both ends come to rest, whatever came before.
    ends.ends.iter_mut().for_each(Connection::close);
    ends.transmit();
    for _ in 0..400 {
        let Some(next) = ends.ends.iter().filter_map(Connection::deadline).min() else { return };
        ends.now = ends.now.max(next);
        ends.wait(Duration::ZERO);
        ends.transmit();
    }
    panic!("no rest: {:?}", ends.ends);
});

impl Ends {
    fn new(config: &DccpConfig) -> Self {
        let [client, server] = [0, 1].map(endpoint);
        let initial = SeqNumber::new(u64::MAX - 2); // it wraps soon
        let connect = Connection::connect(config, client, server, initial);
        let listen = Connection::listen(config, server, SeqNumber::new(7));
        let mut ends =
            Self { ends: [connect, listen].map(Result::unwrap), last: Default::default(), now: Instant::ZERO };
        ends.transmit();
        ends
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        for end in &mut self.ends {
            let (_, before) = end.window();
            end.handle_timeout(self.now);
            assert!(end.window().1 <= before, "time puts no packet on its way");
        }
    }

    /// A packet arrives, with the checksum that it needs.
    fn give(&mut self, end: usize, mut packet: Vec<u8>, is_marked: bool) {
        let [from, to] = [endpoint(1 - end).address, endpoint(end).address];
        if packet.len() >= 16 {
            // Ports that are right, and all covered: else little would come further.
            packet[0..2].copy_from_slice(&endpoint(1 - end).port.to_be_bytes());
            packet[2..4].copy_from_slice(&endpoint(end).port.to_be_bytes());
            packet[5] &= 0xf0;
            packet[6..8].fill(0);
            let sum = checksum::transport(from, to, next_header::DCCP, &packet);
            packet[6..8].copy_from_slice(&sum.to_be_bytes());
        }
        let ecn = if is_marked { Ecn::CongestionExperienced } else { Ecn::Capable0 };
        let before = (self.ends[end].state(), self.ends[end].window());
        let got = self.ends[end].handle_packet(self.now, from, ecn, &packet);
        let after = (self.ends[end].state(), self.ends[end].window());
        assert!(got.is_ok() || after == before, "a packet that is refused changes nothing");
        assert!(after.1.1 <= before.1.1, "a packet of the peer puts none on its way: {before:?}, {after:?}");
    }

    fn transmit(&mut self) {
        for end in 0..2 {
            let (mut sent, mut data) = (0, 0);
            let (may_fly, before) = self.ends[end].window();
            let mut out = vec![0; self.ends[end].max_packet_len().max(2_000)];
            while let Some(transmit) = self.ends[end].poll_transmit(self.now, &mut out) {
                self.last[end] = out[..transmit.len].to_vec();
                assert!(Packet::parse(&self.last[end]).is_ok());
                data += u32::from(transmit.datagram.is_some());
                sent += 1;
                assert!(sent < 100, "it does not stop to send");
            }
            while self.ends[end].poll_dropped().is_some() {}
            let (window, in_flight) = self.ends[end].window();
            assert!(window > 0 && in_flight == before + data, "{in_flight} on their way: {before} and {data}");
            assert!(data == 0 || in_flight <= may_fly, "{in_flight} in a window of {may_fly}");
        }
    }
}

fn endpoint(end: usize) -> Endpoint {
    Endpoint::new(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, end as u16 + 1), 40_000 + end as u16)
}
