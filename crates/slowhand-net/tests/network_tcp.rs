//! TCP connections across a TSCH network: the microseconds worked out by hand, and content intact whatever is lost.

use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::{Endpoint, TcpPacket};
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::network::{self, Event, Events, Network};
use slowhand_net::radio::tsch::schedule::{Cell, CellOptions, handle};
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::radio::tsch::{self, Tsch};
use slowhand_net::random::{Probability, Streams};
use slowhand_net::route::Routes;
use slowhand_net::transport::tcp::{Connection, Nagle, SeqNumber, State, TcpConfig};

const CLIENT: NodeId = NodeId(1);

/// A node that connects, one hop from the root, to a server; what each has received, and when it was open.
struct Conversation {
    network: Network,
    ends: [Connection; 2],
    received: [Vec<u8>; 2],
    opened: [Option<Instant>; 2],
    sent: u32,
}

impl Conversation {
    /// Slotframe of 5 slots of 20 ms; the client sends in slots 1 and 3, the root in slot 4.
    fn new(server: Host, fragment_loss: f64, dropped_frames: Vec<u64>) -> Self {
        let links = LinkQuality::symmetric(NodeId::ROOT, CLIENT, 1.0);
        let cell = |slot, options, neighbor| Cell {
            slot,
            channel_offset: 0,
            options,
            neighbor: Some(neighbor),
            handle: handle::NEGOTIATED,
        };
        let (send, listen) = (CellOptions::TRANSMIT, CellOptions::RECEIVE);
        let cells = vec![
            vec![cell(1, listen, CLIENT), cell(3, listen, CLIENT), cell(4, send, CLIENT)],
            vec![cell(1, send, NodeId::ROOT), cell(3, send, NodeId::ROOT), cell(4, listen, NodeId::ROOT)],
        ];
        let streams = Streams::new(1);
        let config = tsch::TschConfig { timing: Timing::SLOT_20_MS, ..tsch::TschConfig::openwsn(5) };
        let mac = Tsch::new(config, Links::new(2, &links, &streams), cells, &streams);
        let routes = Routes::shortest(2, &links).unwrap();
        let config = network::NetworkConfig {
            fragment_loss: Probability::new(fragment_loss),
            dropped_frames,
            ..Default::default()
        };
        let (client, server) =
            (Endpoint::new(Host::Node(CLIENT).address(), 61_617), Endpoint::new(server.address(), 5_684));
        let tcp = TcpConfig { nagle: Nagle::Off, ..TcpConfig::constrained() };
        Self {
            network: Network::new(Box::new(mac), routes, config, &streams),
            ends: [
                Connection::connect(&tcp, client, server, SeqNumber(1_000)).unwrap(),
                Connection::listen(&tcp, server, SeqNumber(u32::MAX - 100)).unwrap(),
            ],
            received: Default::default(),
            opened: [None; 2],
            sent: 0,
        }
    }

    /// Lets each end write what it has, until both have received all of it and know that the peer has; returns when.
    fn exchange(&mut self, contents: [&[u8]; 2]) -> Instant {
        let mut events = Events::default();
        let mut written = [0; 2];
        let mut now = Instant::ZERO;
        loop {
            for end in 0..2 {
                self.serve(now, end, contents[end], &mut written[end], &mut events);
            }
            let received = self.received[0] == contents[1] && self.received[1] == contents[0];
            if received && self.opened.iter().all(Option::is_some) && self.ends.iter().all(Connection::all_acknowledged)
            {
                return now;
            }
            let deadlines = [self.network.deadline(), self.ends[0].deadline(), self.ends[1].deadline()];
            now = deadlines.into_iter().flatten().min().expect("no deadlock");
            assert!(now < Instant::ZERO + Duration::from_secs(3_600), "it goes on");
            if self.network.deadline() == Some(now) {
                self.network.handle_deadline(now, &mut events, &mut ());
            }
            for end in &mut self.ends {
                if end.deadline().is_some_and(|at| at <= now) {
                    end.handle_timeout(now);
                }
            }
            for event in events.iter() {
                let Event::Segment { packet, .. } = event else { continue };
                let end = self.ends.iter_mut().find(|end| end.local().address == packet.destination).unwrap();
                end.handle_segment(now, packet.source, packet.ecn, packet.segment).unwrap();
            }
            events.clear();
        }
    }

    /// Reads, writes and transmits at one end.
    fn serve(&mut self, now: Instant, end: usize, content: &[u8], written: &mut usize, events: &mut Events) {
        let connection = &mut self.ends[end];
        if connection.state() == State::Established {
            self.opened[end].get_or_insert(now);
            *written += connection.write(&content[*written..]).unwrap();
        }
        let mut octets = [0; 2_048];
        loop {
            let count = connection.read(&mut octets).unwrap();
            self.received[end].extend_from_slice(&octets[..count]);
            if count == 0 {
                break;
            }
        }
        while let Some(transmit) = connection.poll_transmit(now, &mut octets) {
            let (source, destination) = (connection.local().address, connection.remote().unwrap().address);
            let packet = TcpPacket { source, destination, ecn: transmit.ecn, segment: &octets[..transmit.len] };
            self.network.send_segment(now, packet, self.sent, events).unwrap();
            self.sent += 1;
        }
    }
}

/// From the start of a slot of 20 ms to the end of the exchange of a frame that carries a TCP segment of these octets in
/// one piece: 5,215 us to the first symbol, 6 octets of synchronisation and a PSDU of 21 + 3 + `segment` + 2 at 32 us
/// each, 5,521 us to the acknowledgement, 25 octets of that. The 3 octets: IPHC 2 (both addresses follow from context 0
/// and the link), next header 1, inline (RFC 6282 compresses UDP only).
const fn exchange(segment: u64) -> u64 {
    5_215 + (6 + 21 + 3 + segment + 2) * 32 + 5_521 + (6 + 19) * 32
}

#[test]
fn a_connection_opens_and_carries_an_octet() {
    let mut conversation = Conversation::new(Host::Node(NodeId::ROOT), 0.0, Vec::new());
    let end = conversation.exchange([b"?", b""]);
    // SYN in slot 1 and SYN-ACK in slot 4, with options: MSS 4, SACK permitted 2, padding 2. Then the acknowledgment and
    // the octet, which takes the next cell or rides with it.
    let [client, server] = conversation.opened.map(|at| at.unwrap().as_micros());
    assert_eq!(client, 4 * 20_000 + exchange(28));
    let with_data = 6 * 20_000 + exchange(21);
    assert_eq!(server, with_data, "the acknowledgment of the SYN rides with the octet");
    // The server waits 200 ms for company of its acknowledgment; it is ready in slot 16 and goes in slot 19.
    assert_eq!(end.as_micros(), 19 * 20_000 + exchange(20));
    assert_eq!(conversation.sent, 4);
}

fn contents() -> [Vec<u8>; 2] {
    [(0..3_000_u32).map(|n| (n * 7) as u8).collect(), (0..2_000_u32).map(|n| (n * 13) as u8).collect()]
}

#[test]
fn what_is_longer_than_a_frame_and_crosses_the_border_arrives() {
    let [question, answer] = contents();
    for server in [Host::Node(NodeId::ROOT), Host::Internet] {
        Conversation::new(server, 0.0, Vec::new()).exchange([&question, &answer]);
    }
}

#[test]
fn content_is_intact_whatever_is_lost() {
    let [question, answer] = contents();
    for frame in 1..=60 {
        Conversation::new(Host::Internet, 0.0, vec![frame]).exchange([&question, &answer]);
    }
    Conversation::new(Host::Internet, 0.05, Vec::new()).exchange([&question, &answer]);
}
