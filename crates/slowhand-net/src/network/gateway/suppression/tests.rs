//! Scripted conversations with the datagrams of a recorded handshake.

use super::super::dtls::tests::recorded;
use super::*;
use crate::address::{internet_address, mesh_address};
use crate::ip::udp_datagram;
use proptest::prelude::*;

/// Every datagram takes 2 s into the mesh, and 1 s out of it. An answer is due 9 s after the earliest time at which it
/// could arrive.
struct Slow;

impl Path for Slow {
    fn downward(&self, _: NodeId, packets: u64, _: usize) -> Duration {
        Duration::from_secs(2 * packets)
    }

    fn upward(&self, _: NodeId, _: usize) -> Duration {
        Duration::from_secs(1)
    }
}

const DUE: u64 = 2 + 1 + 9;

/// No datagram is released, and none is discarded.
const NOTHING: [Vec<DatagramId>; 2] = [Vec::new(), Vec::new()];

/// Positions in the recorded handshake.
const CLIENT_HELLO: usize = 0;
const VERIFY: usize = 1;
const WITH_COOKIE: usize = 2;
const FLIGHT_4: usize = 3;
const FLIGHT_5: usize = 4;
const FLIGHT_6: usize = 12;

/// The four messages of flight 4, one in each datagram.
const FLIGHT_4_IN_PARTS: [usize; 4] = [6, 8, 10, 11];

struct BorderRouter {
    suppression: Suppression,
    datagrams: Vec<Vec<u8>>,
}

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

impl BorderRouter {
    fn new() -> Self {
        let datagrams = recorded().into_iter().map(|(_, datagram)| datagram).collect();
        Self { suppression: Suppression::new(SuppressionConfig::default()), datagrams }
    }

    /// A border router that has seen the first four flights, one in each second.
    fn in_flight_4() -> Self {
        let mut router = Self::new();
        router.up(0, CLIENT_HELLO);
        assert_eq!(router.down(1, VERIFY, 1), Verdict::Pass);
        router.up(2, WITH_COOKIE);
        assert_eq!(router.down(3, FLIGHT_4, 2), Verdict::Pass);
        router
    }

    fn up(&mut self, seconds: u64, which: usize) {
        let payload = self.datagrams[which].clone();
        self.up_octets(seconds, &payload);
    }

    fn up_octets(&mut self, seconds: u64, payload: &[u8]) {
        let packet = packet(Host::Node(NodeId(1)), Host::Internet, payload);
        self.suppression.handle_upward(at(seconds), &UdpDatagram::parse(&packet).unwrap(), &Slow);
    }

    fn down(&mut self, seconds: u64, which: usize, datagram: DatagramId) -> Verdict {
        let payload = self.datagrams[which].clone();
        self.down_octets(seconds, &payload, datagram)
    }

    fn down_octets(&mut self, seconds: u64, payload: &[u8], datagram: DatagramId) -> Verdict {
        let packet = packet(Host::Internet, Host::Node(NodeId(1)), payload);
        let udp = UdpDatagram::parse(&packet).unwrap();
        self.suppression.handle_downward(at(seconds), &udp, &packet, datagram, &Slow)
    }

    /// The numbers of the released datagrams, and of the discarded ones.
    fn decided(&mut self) -> [Vec<DatagramId>; 2] {
        let mut decided = <[Vec<DatagramId>; 2]>::default();
        while let Some(action) = self.suppression.poll_action() {
            match action {
                Action::Release { datagram, .. } => decided[0].push(datagram),
                Action::Discard { datagram } => decided[1].push(datagram),
            }
        }
        decided
    }
}

fn packet(from: Host, to: Host, payload: &[u8]) -> Vec<u8> {
    let end = |host| match host {
        Host::Internet => Endpoint::new(internet_address(), 4_433),
        Host::Node(node) => Endpoint::new(mesh_address(node), 40_000),
    };
    let mut packet = vec![0; UdpDatagram::HEADERS + payload.len()];
    udp_datagram(end(from), end(to), payload, &mut packet).unwrap();
    packet
}

#[test]
fn a_repeat_is_held_and_discarded_when_the_client_answers() {
    let mut router = BorderRouter::in_flight_4();
    assert_eq!(router.down(4, FLIGHT_4, 3), Verdict::Hold, "the first copy is on its way");
    assert_eq!(router.down(6, FLIGHT_4, 4), Verdict::Hold, "it has arrived; the client computes");
    assert_eq!(router.decided(), [vec![], vec![4]], "one copy is enough");
    router.up(8, FLIGHT_5);
    assert_eq!(router.decided(), [vec![], vec![3]]);
    assert_eq!(router.down(9, FLIGHT_6, 5), Verdict::Pass);
    assert_eq!((router.suppression.deadline(), router.decided()), (None, NOTHING));
}

#[test]
fn only_one_of_two_copies_of_a_flight_is_released() {
    // The server puts the messages into other datagrams when it repeats a flight again. After the release of the first
    // copy, these parts repeat that copy, and the answer to it discards them.
    let mut router = BorderRouter::in_flight_4();
    assert_eq!(router.down(4, FLIGHT_4, 3), Verdict::Hold);
    for (number, part) in (4..).zip(FLIGHT_4_IN_PARTS) {
        assert_eq!(router.down(6, part, number), Verdict::Hold);
    }
    router.suppression.handle_timeout(at(3 + DUE), &Slow);
    assert_eq!(router.decided(), [vec![3], vec![]]);
    assert_eq!(router.suppression.deadline(), Some(at(3 + 2 * DUE)));
    router.up(3 + DUE + 5, FLIGHT_5);
    assert_eq!(router.decided(), [vec![], vec![4, 5, 6, 7]]);
}

#[test]
fn a_repeat_of_what_was_lost_goes_on_when_the_answer_is_overdue() {
    let mut router = BorderRouter::in_flight_4();
    assert_eq!(router.down(4, FLIGHT_4, 3), Verdict::Hold);
    assert_eq!(router.suppression.deadline(), Some(at(3 + DUE)));
    router.suppression.handle_timeout(at(3 + DUE - 1), &Slow);
    assert_eq!(router.decided(), NOTHING);
    router.suppression.handle_timeout(at(3 + DUE), &Slow);
    let Some(Action::Release { datagram: 3, packet: released }) = router.suppression.poll_action() else { panic!() };
    assert_eq!(released, packet(Host::Internet, Host::Node(NodeId(1)), &router.datagrams[FLIGHT_4]));
    // A released datagram counts as a first copy again.
    assert_eq!(router.down(16, FLIGHT_4, 4), Verdict::Hold);
    assert_eq!(router.suppression.deadline(), Some(at(3 + 2 * DUE)));
    // A copy that comes even later is not held.
    router.suppression.handle_timeout(at(3 + 2 * DUE), &Slow);
    assert_eq!(router.down(3 + 3 * DUE, FLIGHT_4, 5), Verdict::Pass);
}

#[test]
fn a_client_that_repeats_its_flight_has_not_got_the_answer() {
    let mut router = BorderRouter::in_flight_4();
    assert_eq!(router.down(4, FLIGHT_4, 3), Verdict::Hold);
    router.up(5, WITH_COOKIE);
    assert_eq!(router.decided(), NOTHING, "it left the client at 4 s, the flight arrived at 5 s");
    router.up(6, WITH_COOKIE);
    assert_eq!(router.decided(), [vec![3], vec![]]);
    assert_eq!(router.down(7, FLIGHT_4, 4), Verdict::Hold, "the server repeats once more: its copy is on its way");

    let mut router = BorderRouter::in_flight_4();
    router.up(6, WITH_COOKIE);
    assert_eq!(router.down(7, FLIGHT_4, 3), Verdict::Pass, "the client is known to miss it");
    assert_eq!(router.down(8, FLIGHT_4, 4), Verdict::Hold);
}

#[test]
fn a_repeat_packed_otherwise_is_a_repeat() {
    let mut router = BorderRouter::in_flight_4();
    for (number, part) in (3..).zip(FLIGHT_4_IN_PARTS) {
        assert_eq!(router.down(4, part, number), Verdict::Hold);
    }
    router.up(6, WITH_COOKIE);
    assert_eq!(router.decided(), [vec![3, 4, 5, 6], vec![]], "in order");
    for (number, part) in (7..).zip(FLIGHT_4_IN_PARTS) {
        assert_eq!(router.down(7, part, number), Verdict::Hold);
    }
    router.up(9, FLIGHT_5);
    assert_eq!(router.decided(), [vec![], vec![7, 8, 9, 10]]);
}

#[test]
fn all_parts_of_an_overdue_flight_go_on() {
    let mut router = BorderRouter::in_flight_4();
    for (number, part) in (3..).zip(FLIGHT_4_IN_PARTS) {
        assert_eq!(router.down(3 + DUE, part, number), Verdict::Pass);
    }
}

#[test]
fn what_the_border_router_lost_itself_goes_on_at_once() {
    let mut router = BorderRouter::in_flight_4();
    router.suppression.handle_loss(at(4), 2, &Slow);
    assert_eq!(router.down(4, FLIGHT_4, 3), Verdict::Pass);
    assert_eq!(router.down(5, FLIGHT_4, 4), Verdict::Hold);
    router.suppression.handle_loss(at(5), 3, &Slow);
    assert_eq!(router.decided(), [vec![4], vec![]]);
}

/// Fragments that are sent again take their time. Nothing of that time is the client's.
#[test]
fn a_copy_waits_as_long_as_recovery_is_under_way() {
    let mut router = BorderRouter::in_flight_4();
    router.suppression.handle_recovery(at(3), 2);
    assert_eq!(router.down(4, FLIGHT_4, 3), Verdict::Hold);
    assert_eq!(router.suppression.deadline(), None);
    // The client repeats its flight: it waits, and that says nothing new.
    router.up(10, WITH_COOKIE);
    assert_eq!(router.decided(), NOTHING);
    // The client has it 37 s later. It may compute for 9 s, and its answer takes 1 s.
    router.suppression.handle_arrival(at(40), 2, &Slow);
    assert_eq!(router.suppression.deadline(), Some(at(40 + 9 + 1)));
    router.up(45, WITH_COOKIE);
    assert_eq!(router.decided(), NOTHING, "it is known that the flight has arrived");
    router.suppression.handle_timeout(at(50), &Slow);
    assert_eq!(router.decided(), [vec![3], vec![]], "the answer is overdue");
}

#[test]
fn what_recovery_gives_up_goes_on_at_once() {
    let mut router = BorderRouter::in_flight_4();
    router.suppression.handle_recovery(at(3), 2);
    assert_eq!(router.down(4, FLIGHT_4, 3), Verdict::Hold);
    router.suppression.handle_loss(at(20), 2, &Slow);
    assert_eq!(router.decided(), [vec![3], vec![]]);
    // The copy is recovered too.
    router.suppression.handle_recovery(at(20), 3);
    assert_eq!(router.down(21, FLIGHT_4, 4), Verdict::Hold);
    router.suppression.handle_arrival(at(22), 3, &Slow);
    router.up(23, FLIGHT_5);
    assert_eq!(router.decided(), [vec![], vec![4]]);
}

/// A flight in several datagrams, of which one fits into a frame: nobody acknowledges that one to the border router. A
/// copy of it waits while the others are on their way, and then for the answer.
#[test]
fn a_copy_waits_for_the_rest_of_its_flight() {
    let mut router = BorderRouter::new();
    router.up(0, CLIENT_HELLO);
    router.down(1, VERIFY, 1);
    router.up(2, WITH_COOKIE);
    let [hello, certificate, exchange, done] = FLIGHT_4_IN_PARTS;
    for (which, datagram) in [(hello, 2), (certificate, 3), (exchange, 4), (done, 5)] {
        assert_eq!(router.down(3, which, datagram), Verdict::Pass);
    }
    router.suppression.handle_recovery(at(3), 3);
    assert_eq!(router.down(4, done, 6), Verdict::Hold);
    assert_eq!(router.suppression.deadline(), None);
    router.suppression.handle_loss(at(30), 3, &Slow);
    assert_eq!(router.decided(), NOTHING, "a copy of another datagram");
    // Its answer is overdue by now. It goes on at once, not in the past.
    assert_eq!(router.suppression.deadline(), Some(at(30)));
    router.suppression.handle_timeout(at(30), &Slow);
    assert_eq!(router.decided(), [vec![6], vec![]]);
}

/// RFC 9146: after the ChangeCipherSpec the Finished has a connection ID, of a length that only the ends know.
#[test]
fn a_flight_with_connection_ids_is_known_again() {
    let mut router = BorderRouter::in_flight_4();
    let with_id = |flight: &[u8], number: u8| {
        let place = flight.len() - 13 - 40; // its Finished
        let mut datagram = flight[..place].to_vec();
        datagram.extend([25, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, number, 7, 7, 7, 0, 41]);
        datagram.extend([number; 41]);
        datagram
    };
    let [answer, last] = [FLIGHT_5, FLIGHT_6].map(|flight| router.datagrams[flight].clone());
    assert_eq!(router.down(4, FLIGHT_4, 3), Verdict::Hold);
    router.up_octets(5, &with_id(&answer, 0));
    assert_eq!(router.decided(), [vec![], vec![3]], "the client has answered");
    assert_eq!(router.down_octets(6, &with_id(&last, 0), 4), Verdict::Pass);
    assert_eq!(router.down_octets(7, &with_id(&last, 1), 5), Verdict::Hold, "the same, in other records");
    // Alone, such a record may be data.
    let data = [25, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 9, 7, 7, 7, 0, 1, 1];
    assert_eq!(router.down_octets(8, &data, 6), Verdict::Pass);
    assert_eq!(router.down_octets(8, &data, 7), Verdict::Pass);
}

#[test]
fn a_copy_of_an_answered_flight_waits_for_the_next_flight() {
    // A part of flight 5, or the acknowledgement of it, did not reach the other end: both ends repeat.
    let answered = || {
        let mut router = BorderRouter::in_flight_4();
        router.up(6, FLIGHT_5);
        assert_eq!(router.down(7, FLIGHT_4, 3), Verdict::Hold);
        router
    };
    let mut router = answered();
    router.up(8, FLIGHT_5);
    assert_eq!(router.decided(), [vec![], vec![3]], "the client repeats what the server misses");
    let mut router = answered();
    assert_eq!(router.down(8, FLIGHT_6, 4), Verdict::Pass);
    assert_eq!(router.decided(), [vec![], vec![3]], "the server has got it");
    // A client repeats the last flight only if the server repeats its own flight: so the copy must pass.
    let mut router = answered();
    router.suppression.handle_timeout(at(7 + DUE - 1), &Slow);
    assert_eq!(router.decided(), NOTHING, "the time counts from the copy, not from the first one");
    router.suppression.handle_timeout(at(7 + DUE), &Slow);
    assert_eq!(router.decided(), [vec![3], vec![]]);
}

#[test]
fn another_handshake_begins_with_another_client_hello() {
    let mut router = BorderRouter::in_flight_4();
    assert_eq!(router.down(4, FLIGHT_4, 3), Verdict::Hold);
    let mut hello = router.datagrams[CLIENT_HELLO].clone();
    hello[40] ^= 1; // in the random
    router.up_octets(5, &hello);
    assert_eq!(router.decided(), [vec![], vec![3]]);
    assert_eq!(router.down(6, VERIFY, 4), Verdict::Pass);
    assert_eq!(router.down(7, VERIFY, 5), Verdict::Hold);
}

#[test]
fn whatever_is_no_handshake_passes() {
    let mut router = BorderRouter::in_flight_4();
    let application_data = [&[23, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 9, 0, 4][..], b"1234"].concat();
    for payload in [&application_data[..], b"coap", b""] {
        assert_eq!(router.down_octets(4, payload, 3), Verdict::Pass);
        assert_eq!(router.down_octets(5, payload, 4), Verdict::Pass);
    }
}

#[test]
fn application_data_shows_that_the_handshake_is_over() {
    let mut router = BorderRouter::in_flight_4();
    router.up(6, FLIGHT_5);
    router.down(7, FLIGHT_6, 3);
    assert_eq!(router.down(8, FLIGHT_6, 4), Verdict::Hold);
    router.up_octets(9, &[&[23, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 9, 0, 4][..], b"1234"].concat());
    assert_eq!(router.decided(), [vec![], vec![4]]);
}

#[test]
fn conversations_do_not_concern_each_other() {
    let mut router = BorderRouter::in_flight_4();
    let other = packet(Host::Internet, Host::Node(NodeId(2)), &router.datagrams[FLIGHT_4].clone());
    let udp = UdpDatagram::parse(&other).unwrap();
    assert_eq!(router.suppression.handle_downward(at(4), &udp, &other, 3, &Slow), Verdict::Pass);
}

/// A second for each octet, into the mesh and out of it.
struct ByLength;

impl Path for ByLength {
    fn downward(&self, node: NodeId, packets: u64, octets: usize) -> Duration {
        assert_eq!(node, NodeId(1));
        Duration::from_secs(packets * octets as u64)
    }

    fn upward(&self, node: NodeId, octets: usize) -> Duration {
        assert_eq!(node, NodeId(1));
        Duration::from_secs(octets as u64)
    }
}

/// An octet of a Certificate, in the clear: RFC 6347 sections 4.1 and 4.2.2. The message has 1,000 octets.
fn octet_of_message(offset: u16) -> Vec<u8> {
    let [high, low] = offset.to_be_bytes();
    let record = [22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, low, 0, 13];
    [&record[..], &[11, 0, 3, 232, 0, 1, 0, high, low, 0, 0, 1, 0xab]].concat()
}

#[test]
fn the_answer_is_as_long_as_the_flight() {
    let mut suppression = Suppression::new(SuppressionConfig { answer_time: Duration::from_secs(5) });
    let mut down = |seconds, offset, datagram| {
        let packet = packet(Host::Internet, Host::Node(NodeId(1)), &octet_of_message(offset));
        assert_eq!(packet.len(), 74, "headers of IPv6 and UDP: 48; record 13, message 12, and an octet");
        let udp = UdpDatagram::parse(&packet).unwrap();
        let verdict = suppression.handle_downward(at(seconds), &udp, &packet, datagram, &ByLength);
        (verdict, suppression.deadline())
    };
    // The first datagram arrives after 74 s. An answer as long as the flight is due 5 s and as many seconds as the
    // flight has octets later: at 74 + 5 + 74, and with the second datagram, at 10 + 74 + 5 + 148.
    assert_eq!(down(0, 0, 1), (Verdict::Pass, None));
    assert_eq!(down(10, 1, 2), (Verdict::Pass, None));
    assert_eq!(down(11, 0, 3), (Verdict::Hold, Some(at(237))));
    // One that repeats the first datagram after its answer was due is held as well: the flight is not over.
    assert_eq!(down(236, 1, 4), (Verdict::Hold, Some(at(237))));
    assert_eq!(down(237, 2, 5), (Verdict::Pass, Some(at(237))), "new");
}

#[test]
fn a_copy_that_comes_when_the_answer_is_due_passes() {
    for (seconds, verdict) in [(3 + DUE - 1, Verdict::Hold), (3 + DUE, Verdict::Pass)] {
        assert_eq!(BorderRouter::in_flight_4().down(seconds, FLIGHT_4, 3), verdict, "{seconds} s");
    }
}

/// 256 parts are remembered, and 256 copies held. All others pass.
#[test]
fn memory_is_bounded() {
    let mut router = BorderRouter::new();
    let single = octet_of_message;
    for offset in 0..257 {
        assert_eq!(router.down_octets(0, &single(offset), offset.into()), Verdict::Pass);
    }
    for offset in 0..256 {
        let number = 1_000 + u32::from(offset);
        assert_eq!(router.suppression.held(), usize::from(offset));
        // The last one that is remembered, and the first one that is not.
        if offset == 255 {
            assert_eq!(router.down_octets(1, &single(256), number), Verdict::Pass);
        }
        assert_eq!(router.down_octets(1, &single(offset), number), Verdict::Hold, "{offset}");
    }
    // Two octets in a datagram: another copy of known parts, but there is no room for it.
    let pair = [single(0), single(1)].concat();
    assert_eq!(router.down_octets(2, &pair, 2_000), Verdict::Pass);
    assert_eq!(router.suppression.held(), 256);
}

/// After more than 300 s of silence, when another conversation begins; not before, and not while a copy is held.
#[test]
fn a_silent_conversation_is_forgotten() {
    let other = packet(Host::Internet, Host::Node(NodeId(2)), &octet_of_message(0));
    let begin_another = |router: &mut BorderRouter, seconds| {
        let udp = UdpDatagram::parse(&other).unwrap();
        router.suppression.handle_downward(at(seconds), &udp, &other, 9, &Slow);
        router.suppression.conversations.len()
    };
    assert_eq!(begin_another(&mut BorderRouter::in_flight_4(), 303), 2);
    assert_eq!(begin_another(&mut BorderRouter::in_flight_4(), 304), 1);
    let mut router = BorderRouter::in_flight_4();
    assert_eq!(router.down(4, FLIGHT_4, 3), Verdict::Hold);
    assert_eq!(begin_another(&mut router, 400), 2);
}

proptest! {
    /// For any script, every held copy is decided on once, before its deadline.
    #[test]
    fn nothing_is_held_for_ever(script in prop::collection::vec((0..13_usize, 0..4_u64), 0..60)) {
        let directions: Vec<bool> = recorded().iter().map(|(down, _)| *down).collect();
        let mut router = BorderRouter::new();
        let (mut now, mut held, mut decided) = (0, Vec::new(), Vec::new());
        for (number, (which, pause)) in (0..).zip(script) {
            now += pause;
            router.suppression.handle_timeout(at(now), &Slow);
            if !directions[which] {
                router.up(now, which);
            } else if router.down(now, which, number) == Verdict::Hold {
                held.push(number);
            }
            decided.extend(router.decided().concat());
            prop_assert!(router.suppression.deadline().is_none_or(|deadline| at(now) < deadline));
            prop_assert!(router.suppression.deadline().is_none_or(|deadline| deadline <= at(now + DUE)));
        }
        // Only one copy of a flight is released at a time. The others wait for the answer to it.
        while let Some(deadline) = router.suppression.deadline() {
            let before = router.suppression.held();
            router.suppression.handle_timeout(deadline, &Slow);
            prop_assert!(router.suppression.held() < before && deadline <= at(now + DUE));
            now += DUE;
            decided.extend(router.decided().concat());
        }
        decided.sort();
        prop_assert_eq!(held, decided);
        prop_assert_eq!(router.suppression.held(), 0);
    }

    /// If no answer comes from the mesh, at least one copy is released in each span as long as an answer takes, if the
    /// server has repeated the flight in this span.
    #[test]
    fn a_silent_mesh_gets_its_copies(pauses in prop::collection::vec(1..20_u64, 1..20)) {
        let mut router = BorderRouter::in_flight_4();
        let (mut now, mut last) = (3, 3);
        for (number, pause) in (3..).zip(pauses) {
            for _ in 0..pause {
                now += 1;
                router.suppression.handle_timeout(at(now), &Slow);
                if !router.decided()[0].is_empty() {
                    last = now;
                }
            }
            let passed = router.down(now, FLIGHT_4, number) == Verdict::Pass;
            prop_assert_eq!(passed, now >= last + DUE);
            last = if passed { now } else { last };
        }
    }
}
