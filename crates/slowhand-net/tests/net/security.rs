//! Link security under every link layer: octets, air times and fragments, worked out by hand.

use crate::harness::*;
use slowhand_net::address::{Eui64, Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::drop_reason::DropReason;
use slowhand_net::link::Links;
use slowhand_net::network::{Network, NetworkConfig};
use slowhand_net::observer::{FrameKind, Transmission};
use slowhand_net::radio::beacon::{Beacon, BeaconConfig, Superframe};
use slowhand_net::radio::csma::{Csl, Csma, CsmaConfig, FastPoll, Polling};
use slowhand_net::radio::frame::{FrameView, Key, KeyIdentifier, MAX_FRAME, Security, SecurityLevel, protect};
use slowhand_net::radio::security::OutgoingSecurity;
use slowhand_net::radio::tsch::layout::Layout;
use slowhand_net::radio::tsch::{Tsch, TschConfig};
use slowhand_net::radio::xmac::{XMac, XmacConfig};
use slowhand_net::radio::{Indication, Mac, Msdu};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;

const ROOT: NodeId = NodeId::ROOT;
const LEAF: NodeId = NodeId(1);

/// The lengths of the frames of each kind.
type Lengths = &'static [(FrameKind, &'static [usize])];

/// A link layer for a node and its parent.
type Secured = fn(Option<Security>) -> Box<dyn Mac>;

fn links() -> (Links, Routes, Streams) {
    let (links, streams) = (line(1, 1.0), Streams::new(3));
    (Links::new(2, &links, &streams), Routes::shortest(2, &links).unwrap(), streams)
}

fn tsch_with(config: TschConfig) -> Box<dyn Mac> {
    let (links, routes, streams) = links();
    let cells = Layout { slotframe: 5, shared: 1, up: 1, down: 1, autonomous: false }.cells(&routes).unwrap();
    Box::new(Tsch::new(config, links, cells, &streams))
}

fn tsch(security: Option<Security>) -> Box<dyn Mac> {
    tsch_with(TschConfig { security, ..TschConfig::openwsn(5) })
}

fn tsch_openwsn(security: Option<Security>) -> Box<dyn Mac> {
    tsch_with(TschConfig { security, ack_source_address: true, ..TschConfig::openwsn(5) })
}

fn xmac(security: Option<Security>) -> Box<dyn Mac> {
    let (links, _, streams) = links();
    let config = XmacConfig::cxmac(Duration::from_millis(125)).with_data_ack();
    let config = security.map_or(config.clone(), |security| config.with_security(security));
    let config = XmacConfig { queue: 20, ..config };
    Box::new(XMac::new(config, 26, links, &streams))
}

fn beacon(security: Option<Security>) -> Box<dyn Mac> {
    let (links, routes, streams) = links();
    let config = BeaconConfig { security, queue: 20, ..BeaconConfig::standard(Superframe::of_orders(5, 2).unwrap()) };
    Box::new(Beacon::new(config, links, &routes.parents(), &streams).unwrap())
}

fn csma_of(config: CsmaConfig, sleepy: bool) -> Box<dyn Mac> {
    let (links, routes, streams) = links();
    Box::new(Csma::new(config, links, &routes.parents(), &[false, sleepy], &streams).unwrap())
}

fn csma(security: Option<Security>) -> Box<dyn Mac> {
    csma_of(CsmaConfig { security, ..CsmaConfig::openthread() }, false)
}

fn csma_polling(security: Option<Security>) -> Box<dyn Mac> {
    let polling = Polling { period: Duration::from_millis(500), ..Polling::openthread() };
    csma_of(CsmaConfig { polling, security, ..CsmaConfig::openthread() }, true)
}

fn csma_sampling(security: Option<Security>) -> Box<dyn Mac> {
    let csl = Csl::openthread(3_125);
    let polling = Polling { period: csl.poll_period(), fast: FastPoll::Never, ..Polling::openthread() };
    csma_of(CsmaConfig { csl: Some(csl), polling, security, ..CsmaConfig::openthread() }, true)
}

/// With a frame counter, the default key source and key index 1.
fn counted(level: SecurityLevel) -> Security {
    Security { level, frame_counter: Some(0), asn_in_nonce: false, key: KeyIdentifier::Index(1) }
}

/// With the slot number in the nonce and no counter, the rest as [`counted`].
fn in_slots(level: SecurityLevel) -> Security {
    Security { frame_counter: None, asn_in_nonce: true, ..counted(level) }
}

/// Sends a frame from the leaf, and a second later one to it. Returns what was on the air.
fn exchange(mut mac: Box<dyn Mac>, payload: &[u8]) -> Recorder {
    let mut air = Recorder::default();
    mac.enqueue(Instant::ZERO, Msdu::new(LEAF, ROOT, payload, 0)).unwrap();
    let mut indications = run_mac(&mut *mac, seconds(1), &mut air);
    mac.enqueue(seconds(1), Msdu::new(ROOT, LEAF, payload, 1)).unwrap();
    indications.extend(run_mac(&mut *mac, seconds(120), &mut air));
    let arrived = |indication: &Indication| match indication {
        Indication::Received { payload, .. } => Some(payload.to_vec()),
        _ => None,
    };
    let arrived: Vec<_> = indications.iter().filter_map(|(_, indication)| arrived(indication)).collect();
    assert_eq!(arrived, [payload, payload], "payloads arrive in the clear");
    air
}

/// A frame has 125 octets without its FCS. Under all link layers here a data frame has a header of 21: control 2, sequence
/// number 1, PAN ID 2, two addresses of 8. That leaves 104. The security header has 1 octet for its control field, 4 for the
/// counter, and 0, 1, 5 or 9 for the key identifier of modes 0 to 3: 5, 6, 10 or 14 octets; 4 less with the slot number in
/// the nonce. The code has 4, 8 or 16 octets. The frames of a CSL receiver have 8 octets of information elements.
#[test]
fn what_is_left_for_the_payload() {
    use SecurityLevel::{Enc, EncMic32, EncMic64, EncMic128, Mic32, Mic64, Mic128};
    let keys = [
        KeyIdentifier::Implicit,
        KeyIdentifier::Index(1),
        KeyIdentifier::Source4 { source: [0; 4], index: 1 },
        KeyIdentifier::Source8 { source: [0; 8], index: 1 },
    ];
    for (levels, with_counter, with_slot) in [
        (&[Enc][..], [99, 98, 94, 90], [103, 102, 98, 94]),
        (&[Mic32, EncMic32], [95, 94, 90, 86], [99, 98, 94, 90]),
        (&[Mic64, EncMic64], [91, 90, 86, 82], [95, 94, 90, 86]),
        (&[Mic128, EncMic128], [83, 82, 78, 74], [87, 86, 82, 78]),
    ] {
        for &level in levels {
            for (mode, &key) in keys.iter().enumerate() {
                let counted = Security { key, ..counted(level) };
                for link_layer in [tsch, tsch_openwsn, xmac, beacon, csma, csma_polling] {
                    check_capacity(link_layer, counted, with_counter[mode]);
                }
                check_capacity(csma_sampling, counted, with_counter[mode] - 8);
                check_capacity(tsch, Security { key, ..in_slots(level) }, with_slot[mode]);
            }
        }
    }
}

fn check_capacity(link_layer: Secured, security: Security, capacity: usize) {
    let mut mac = link_layer(Some(security));
    assert_eq!(mac.payload_capacity(LEAF, ROOT), capacity, "{security:?}");
    let payload = [0x3f; MAX_FRAME];
    let refused = mac.enqueue(Instant::ZERO, Msdu::new(LEAF, ROOT, &payload[..=capacity], 0));
    assert_eq!(refused, Err(DropReason::Malformed), "{security:?}");
    assert_eq!(mac.enqueue(Instant::ZERO, Msdu::new(LEAF, ROOT, &payload[..capacity], 0)), Ok(()));
    // The least of all, 66, has room for a fragment: 6 octets of header (RFC 8931), the longest compressed header, 8 of
    // data.
    assert!(capacity >= 6 + slowhand_net::lowpan::MAX_PLAIN + 8);
}

/// Frames with a code of 4 octets and key index 1, with 50 octets of payload, FCS not counted: 10 octets more than without
/// security with a frame counter (header 6, code 4), 6 more with the slot number in the nonce (header 2).
#[test]
fn the_length_of_every_frame() {
    use FrameKind::{Ack, Beacon, Data, DataRequest, Strobe, StrobeAck};
    let (counted, in_slots) = (counted(SecurityLevel::EncMic32), in_slots(SecurityLevel::EncMic32));
    let rows: [(Secured, Security, Lengths); 9] = [
        // 21 of header and the payload. Acknowledgement: control 2, number 1, PAN ID 2, address 8, time correction 4 are 17.
        (tsch, in_slots, &[(Data, &[21 + 2 + 50 + 4]), (Ack, &[17 + 2 + 4])]),
        (tsch, counted, &[(Data, &[21 + 6 + 50 + 4]), (Ack, &[17 + 6 + 4])]),
        // An acknowledgement with the address of its sender: 25, or 27 with the FCS.
        (tsch_openwsn, in_slots, &[(Data, &[21 + 2 + 50 + 4]), (Ack, &[25 + 2 + 4])]),
        // Strobes and their answers are data frames with 2 octets. The acknowledgement has 13 without information elements.
        (
            xmac,
            counted,
            &[(Data, &[21 + 10 + 50]), (Strobe, &[21 + 10 + 2]), (StrobeAck, &[21 + 10 + 2]), (Ack, &[13 + 10])],
        ),
        // Immediate acknowledgements have 3 octets and no security. A beacon: control 2, number 1, PAN ID 2, address 8,
        // superframe 2, slots 1, pending addresses 1, and 8 for the pending address of the leaf.
        (
            beacon,
            counted,
            &[(Data, &[21 + 10 + 50]), (DataRequest, &[21 + 10 + 1]), (Beacon, &[17 + 10, 17 + 10 + 8]), (Ack, &[3])],
        ),
        (csma, counted, &[(Data, &[21 + 10 + 50]), (Ack, &[3])]),
        (csma_polling, counted, &[(Data, &[21 + 10 + 50]), (DataRequest, &[21 + 10 + 1]), (Ack, &[3])]),
        // The receiver's frames have 8 octets of information elements, its acknowledgements 6. Those of its parent have none.
        (
            csma_sampling,
            counted,
            &[
                (Data, &[21 + 10 + 50, 21 + 10 + 8 + 50]),
                (DataRequest, &[21 + 10 + 8 + 1]),
                (Ack, &[13 + 10, 13 + 10 + 6]),
            ],
        ),
        // Mode 3 and the longest code: 14 and 16.
        (
            csma,
            Security {
                level: SecurityLevel::Mic128,
                key: KeyIdentifier::Source8 { source: [0; 8], index: 1 },
                ..counted
            },
            &[(Data, &[21 + 30 + 50]), (Ack, &[3])],
        ),
    ];
    for (link_layer, security, expected) in rows {
        let air = exchange(link_layer(Some(security)), &[0x3f; 50]);
        for frame in &air.frames {
            let (_, lengths) = expected.iter().find(|(kind, _)| *kind == frame.kind).unwrap();
            assert!(lengths.contains(&frame.octets.len()), "{frame:?}");
            let header = FrameView::parse(&frame.octets).unwrap().header();
            let is_immediate = frame.octets.len() == 3;
            assert_eq!(header.security, Some(security).filter(|_| !is_immediate), "{frame:?}");
        }
        for (kind, lengths) in expected {
            // A beacon without pending address is there only while a frame of the leaf waits.
            let seen: Vec<_> = air.of(*kind).iter().map(|frame| frame.octets.len()).collect();
            assert!(lengths.iter().all(|length| seen.contains(length)), "{kind:?}: {seen:?}");
        }
    }
}

/// An octet takes 32 us.
#[test]
fn the_time_of_every_frame() {
    let security = counted(SecurityLevel::EncMic32);
    let arrives = |security| {
        let mut mac = csma(security);
        mac.enqueue(Instant::ZERO, Msdu::new(LEAF, ROOT, &[0x3f; 50], 0)).unwrap();
        received(&run_mac(&mut *mac, seconds(1), &mut ()), ROOT)[0].0
    };
    assert_eq!(arrives(Some(security)) - arrives(None), 10 * 32);

    // A frame of the leaf, and its acknowledgement.
    let transmit = |link_layer: Secured, security| {
        let mut mac = link_layer(security);
        mac.enqueue(Instant::ZERO, Msdu::new(LEAF, ROOT, &[0x3f; 50], 0)).unwrap();
        run_mac(&mut *mac, seconds(1), &mut ());
        [LEAF, ROOT].map(|node| mac.radio_times(node, seconds(1)).transmit.as_micros())
    };
    let octets = |psdu: u64| (6 + psdu) * 32;
    assert_eq!(transmit(tsch, None), [octets(73), octets(19)]);
    assert_eq!(transmit(tsch, Some(in_slots(SecurityLevel::EncMic32))), [octets(73 + 6), octets(19 + 6)]);
    assert_eq!(transmit(tsch_openwsn, None), [octets(73), octets(27)]);
    assert_eq!(transmit(tsch_openwsn, Some(in_slots(SecurityLevel::EncMic32))), [octets(73 + 6), octets(27 + 6)]);

    // The root sends a beacon at 0.32 ms and each 491.52 ms: three of 19 octets in a second, if nobody sends.
    let beacons = |security| beacon(security).radio_times(ROOT, seconds(1)).transmit.as_micros();
    assert_eq!((beacons(None), beacons(Some(security))), (3 * octets(19), 3 * octets(19 + 10)));

    // macAckWaitDuration: 32 symbols of 16 us, and the acknowledgement of 15 octets, or of 25.
    let wait = |config: XmacConfig| config.data_ack_wait.as_micros();
    let config = XmacConfig::cxmac(Duration::from_millis(125));
    assert_eq!(wait(config.clone()), 32 * 16 + octets(15));
    assert_eq!(wait(config.with_security(security)), 32 * 16 + octets(25));
}

/// 700 octets of UDP from the leaf. Its compressed headers have 9 octets: 2 of IPHC with both addresses left out, 7 of UDP
/// (1, two ports, checksum); they stand for 48. The first fragment has 4 octets more, and all fragments but the last end at
/// a multiple of 8, so it has the largest multiple of 8 up to (capacity - 13) octets of data. A later one has 5 octets of
/// header and the largest multiple of 8 up to (capacity - 5); the last need not end at a multiple.
#[test]
fn a_datagram_takes_more_frames() {
    let (mic, enc) = (SecurityLevel::EncMic128, SecurityLevel::EncMic32);
    for (link_layer, security, capacity, frames) in [
        // 88 + 6 * 96 + 36; 80 + 7 * 88 + 4; 64 + 8 * 72 + 60.
        (csma as Secured, None, 104, 8),
        (csma, Some(counted(enc)), 94, 9),
        (csma, Some(counted(mic)), 82, 10),
        (xmac, Some(counted(enc)), 94, 9),
        (xmac, Some(counted(mic)), 82, 10),
        (beacon, Some(counted(enc)), 94, 9),
        (beacon, Some(counted(mic)), 82, 10),
        // 80 + 6 * 88 + 92, where 93 is the most; 72 + 7 * 80 + 68.
        (tsch, None, 104, 8),
        (tsch, Some(in_slots(enc)), 98, 8),
        (tsch, Some(in_slots(mic)), 86, 9),
        // 80 + 7 * 88 + 4; 72 + 7 * 80 + 68; 56 + 9 * 64 + 68, where 69 is the most.
        (csma_sampling, None, 96, 9),
        (csma_sampling, Some(counted(enc)), 86, 9),
        (csma_sampling, Some(counted(mic)), 74, 11),
    ] {
        let (_, routes, streams) = links();
        let config = NetworkConfig { frame_capacity: MAX_FRAME, ..NetworkConfig::default() };
        let mut network = Network::new(link_layer(security), routes, config, &streams);
        let mut air = Recorder::default();
        let send = (Instant::ZERO, Host::Node(LEAF), Host::Node(ROOT), 700);
        assert!(run(&mut network, &[send], seconds(60), &mut air).delivered.contains_key(&0));
        let data = air.of(FrameKind::Data);
        assert_eq!(data.len(), frames, "{security:?}");
        let octets: usize = data.iter().map(|frame| frame.octets.len()).sum();
        assert_eq!(octets, 700 + 9 + 4 + 5 * (frames - 1) + (MAX_FRAME - capacity) * frames, "{security:?}");
    }
}

/// A frame of the leaf as it is on the air, and its counter.
fn protected(outgoing: &mut OutgoingSecurity, from: NodeId, to: NodeId, attempt: u8, octets: &[u8]) -> (Vec<u8>, u32) {
    protected_as(FrameKind::Data, outgoing, from, to, attempt, octets)
}

fn protected_as(
    kind: FrameKind,
    outgoing: &mut OutgoingSecurity,
    from: NodeId,
    to: NodeId,
    attempt: u8,
    octets: &[u8],
) -> (Vec<u8>, u32) {
    let datagram = 0;
    let (at, queued_at, asn, channel, received) = (Instant::ZERO, Instant::ZERO, None, 26, true);
    let frame = Transmission { at, asn, channel, kind, from, to, datagram, queued_at, attempt, received, octets };
    let mut out = [0xee; MAX_FRAME];
    let length = outgoing.protect(&frame, &mut out).unwrap();
    let security = FrameView::parse(&out[..length]).unwrap().header().security.unwrap();
    (out[..length].to_vec(), security.frame_counter.unwrap())
}

/// Each node counts its frames to all nodes. A retransmission is the same frame, unless a field of it has changed.
#[test]
fn frame_counters() {
    let air = exchange(csma(Some(counted(SecurityLevel::EncMic64))), &[0x3f; 20]);
    let clear = air.of(FrameKind::Data)[0].octets.clone();
    let mut other = clear.clone();
    other[2] += 1; // the sequence number
    let mut outgoing = OutgoingSecurity::new(Key([7; 16]));
    let (first, counter) = protected(&mut outgoing, LEAF, ROOT, 0, &clear);
    assert_eq!((counter, first.len()), (0, clear.len()));
    assert_eq!(protected(&mut outgoing, LEAF, ROOT, 1, &clear), (first.clone(), 0));
    assert_eq!(protected(&mut outgoing, LEAF, NodeId(2), 0, &clear).1, 1, "to another node");
    assert_eq!(protected(&mut outgoing, LEAF, ROOT, 2, &clear).1, 0);
    assert_eq!(protected(&mut outgoing, LEAF, ROOT, 3, &other).1, 2, "another frame");
    assert_eq!(protected(&mut outgoing, ROOT, LEAF, 0, &clear).1, 0, "of another node");
    assert_eq!(protected_as(FrameKind::Strobe, &mut outgoing, LEAF, ROOT, 0, &clear).1, 3, "of another kind");
    assert_eq!(protected(&mut outgoing, LEAF, ROOT, 4, &other).1, 2, "a strobe between two attempts");
    let mut acknowledgement = || protected_as(FrameKind::Ack, &mut outgoing, LEAF, ROOT, 0, &clear).1;
    assert_eq!((acknowledgement(), acknowledgement()), (4, 5), "each acknowledgement is a new frame");
    // The result of the codec with the counter in place: the code covers it.
    let mut expected = clear.clone();
    protect(&mut expected, &Key([7; 16]), Eui64::of_node(LEAF), None).unwrap();
    assert_eq!(first, expected);
    assert_eq!(first[..27], clear[..27]);
    assert!(first[27..47].iter().zip(&clear[27..47]).filter(|(on_air, clear)| on_air == clear).count() < 5);
}
