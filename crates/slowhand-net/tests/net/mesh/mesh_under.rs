//! Forwarding below IPv6: frames with mesh headers, in their octets and to the microsecond.

use super::*;
use slowhand_net::address::{Addressing, Host, NodeId};
use slowhand_net::clock::Duration;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::link::Links;
use slowhand_net::network::{MeshUnderConfig, Network, NetworkConfig};
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::csma::{Csma, CsmaConfig, Polling};
use slowhand_net::random::{Probability, Streams};
use slowhand_net::route::Routes;
use slowhand_testing::wireshark::Tshark;
use std::collections::BTreeSet;

/// A line with 16-bit addresses, whose routers forward frames. Its last node is an end device that sleeps, or a router.
fn mesh_under(hops: u16, sleepy: bool, config: NetworkConfig) -> Network {
    let (links, streams) = (line(hops, 1.0), Streams::new(1));
    let nodes = usize::from(hops) + 1;
    let routes = Routes::shortest(nodes, &links).unwrap();
    let polling = Polling { period: Duration::from_millis(200), ..Polling::openthread() };
    let csma = CsmaConfig { addressing: Addressing::Short, polling, ..CsmaConfig::openthread() };
    let end_devices: BTreeSet<_> = Some(NodeId(hops)).filter(|_| sleepy).into_iter().collect();
    let sleepy: Vec<_> = (0..=hops).map(|node| end_devices.contains(&NodeId(node))).collect();
    let links = Links::new(nodes, &links, &streams);
    let mac = Csma::new(csma, links, &routes.parents(), &sleepy, &streams).unwrap();
    let config = NetworkConfig { mesh_under: Some(MeshUnderConfig { end_devices }), frame_capacity: 116, ..config };
    Network::new(Box::new(mac), routes, config, &streams)
}

/// The data frames of one datagram, and when it arrived.
fn heard(network: &mut Network, from: Host, to: Host, octets: usize) -> (Vec<Frame>, u64) {
    let mut air = Recorder::default();
    let fates = run(network, &[(at(0), from, to, octets)], seconds(5), &mut air);
    assert_eq!(fates.delivered[&0].1, payload(0, octets), "{fates:?}");
    air.frames.retain(|frame| frame.kind == FrameKind::Data);
    (air.frames, fates.delivered[&0].0.as_micros())
}

fn lengths(frames: &[Frame]) -> Vec<(u16, usize)> {
    frames.iter().map(|frame| (frame.from.0, frame.octets.len())).collect()
}

const ROOT: Host = Host::Node(NodeId::ROOT);

/// 20 octets over three hops, without FCS: 9 of MAC header, then the mesh header. It has 6 octets while 15 hops or more are
/// left: 19, 18 and 17 here. IPHC 2 and the identifiers 16, because they do not follow from 16-bit addresses; UDP 7.
#[test]
fn a_packet_in_one_frame() {
    let last = Host::Node(NodeId(3));
    let (frames, _) = heard(&mut mesh_under(3, false, NetworkConfig::default()), last, ROOT, 20);
    let octets = 9 + 6 + 2 + 16 + 7 + 20;
    assert_eq!(lengths(&frames), [(3, octets), (2, octets), (1, octets)]);
    let hops: Vec<_> = frames.iter().map(|frame| frame.octets[9..15].to_vec()).collect();
    assert_eq!(hops, [19, 18, 17].map(|hops| vec![0xbf, hops, 0, 3, 0, 0]));
    // A neighbour needs no header.
    let (frames, _) = heard(&mut mesh_under(1, false, NetworkConfig::default()), Host::Node(NodeId(1)), ROOT, 20);
    assert_eq!(lengths(&frames), [(1, octets - 6)]);
}

/// Over six hops the header gets shorter: the fifth node on the way has 14 hops left, which fit into the first octet.
#[test]
fn the_header_gets_shorter() {
    let (frames, _) = heard(&mut mesh_under(6, false, NetworkConfig::default()), Host::Node(NodeId(6)), ROOT, 20);
    let first: Vec<_> = frames.iter().map(|frame| (frame.octets[9], frame.octets.len())).collect();
    assert_eq!(first, [(0xbf, 60), (0xbf, 60), (0xbf, 60), (0xbf, 60), (0xbf, 60), (0xbe, 59)]);
}

/// 200 octets between routers: 116 octets less 6 of mesh header. 4 and 25 of headers and 80 of the datagram, then 5 and 104,
/// then 5 and 16. Node 1 passes each fragment on at once, so the second of node 2 follows before the packet is complete.
#[test]
fn fragments_are_passed_on_one_by_one() {
    let (frames, _) = heard(&mut mesh_under(2, false, NetworkConfig::default()), Host::Node(NodeId(2)), ROOT, 200);
    let octets = [9 + 6 + 4 + 25 + 80, 9 + 6 + 5 + 104, 9 + 6 + 5 + 16];
    let of = |node| frames.iter().filter(|frame| frame.from == NodeId(node)).collect::<Vec<_>>();
    for node in [2, 1] {
        assert_eq!(of(node).iter().map(|frame| frame.octets.len()).collect::<Vec<_>>(), octets, "{node}");
    }
    assert!(of(1)[0].at < of(2)[2].at, "{:?}", lengths(&frames));
}

/// A sleepy device behind two routers. Up, its parent puts the packet together: the frame of the device has no mesh header,
/// the packet of the parent has. Down, the border router's frames name the device, whose parent puts the packet together.
#[test]
fn the_parent_puts_together_what_is_for_a_sleepy_device() {
    let device = Host::Node(NodeId(3));
    let (frames, _) = heard(&mut mesh_under(3, true, NetworkConfig::default()), device, ROOT, 20);
    // The hop limit of the parent's packet is no longer 64: 1 octet more.
    let octets = 9 + 2 + 16 + 7 + 20;
    assert_eq!(lengths(&frames), [(3, octets), (2, 6 + octets + 1), (1, 6 + octets + 1)]);
    assert_eq!(frames[1].octets[9..15], [0xbf, 19, 0, 2, 0, 0], "the parent is the originator");
    let (frames, _) = heard(&mut mesh_under(3, true, NetworkConfig::default()), ROOT, device, 20);
    assert_eq!(lengths(&frames), [(0, 6 + octets), (1, 6 + octets), (2, octets + 1)]);
    assert_eq!(frames[0].octets[9..15], [0xbf, 19, 0, 0, 0, 3]);
}

/// Two hops to the microsecond. On each hop a back-off, assessment (128 us) and turnaround (192 us), and the frame (6 octets
/// more, 32 us each). Node 1 begins its back-off when the frame has arrived, and backs off again, from a range twice as
/// long, if its assessment falls into its acknowledgement (11 octets after 192 us).
#[test]
fn passing_a_frame_on_takes_no_time_of_its_own() {
    let (_, arrived) = heard(&mut mesh_under(2, false, NetworkConfig::default()), Host::Node(NodeId(2)), ROOT, 20);
    let mut draws = [1, 2].map(|node| Streams::new(1).stream("back-off", node));
    let frame = (60 + 2 + 6) * 32;
    let mut assessed = draws[0].below(8) * 320 + 128;
    for range in [16, 32, 32] {
        if assessed < 192 + 11 * 32 + 128 {
            assessed += draws[0].below(range) * 320 + 128;
        }
    }
    assert_eq!(arrived, draws[1].below(8) * 320 + 320 + frame + assessed + 192 + frame);
}

/// tshark decodes the mesh header of every fragment, and puts the packet together by its addresses.
#[test]
fn tshark_reads_headers_fragments_and_packets() {
    let (frames, _) = heard(&mut mesh_under(2, false, NetworkConfig::default()), Host::Node(NodeId(2)), ROOT, 200);
    let fields = [
        "_ws.expert",
        "wpan.src16",
        "wpan.dst16",
        "6lowpan.mesh.orig16",
        "6lowpan.mesh.dest16",
        "6lowpan.mesh.hops8",
        "6lowpan.frag.offset",
        "6lowpan.frag.size",
        "ipv6.src",
        "ipv6.dst",
        "udp.checksum.status",
    ];
    for (node, next, hops) in [(2, 1, 19), (1, 0, 18)] {
        let own: Vec<_> = frames.iter().filter(|frame| frame.from == NodeId(node)).cloned().collect();
        let rows = Tshark::default().rows(&capture(&own), &fields);
        let rows: Vec<_> = rows.iter().map(|row| row.join(" ")).collect();
        let begin = format!(" 0x000{node} 0x000{next} 0x0002 0x0000 {hops}");
        let whole = "2001:db8::12:7400:0:2 2001:db8::12:7400:0:0 1";
        let expected = [format!("{begin}  248   "), format!("{begin} 128 248   "), format!("{begin} 232 248 {whole}")];
        assert_eq!(rows, expected);
    }
}

/// A line of 21 hops is one more than 19 nodes may pass on: OpenThread's routers forward a frame whose hops are not yet used
/// up.
#[test]
fn a_frame_that_has_used_up_its_hops_is_lost() {
    for (hops, arrives) in [(20, true), (21, false)] {
        let mut network = mesh_under(hops, false, NetworkConfig::default());
        let sends = [(at(0), Host::Node(NodeId(hops)), ROOT, 20)];
        let lost = losses(&mut network, &sends, seconds(5));
        let expected: Vec<_> = Some(DropReason::HopLimit).filter(|_| !arrives).into_iter().collect();
        assert_eq!(lost.iter().map(|loss| loss.reason).collect::<Vec<_>>(), expected, "{hops}");
    }
}

/// Fragments that the scenario takes are taken behind mesh headers too.
#[test]
fn fragments_with_mesh_headers_are_fragments() {
    let config = NetworkConfig { fragment_loss: Probability::new(1.0), ..NetworkConfig::default() };
    let sends = |octets| [(at(0), Host::Node(NodeId(2)), ROOT, octets)];
    assert!(losses(&mut mesh_under(2, false, config.clone()), &sends(20), seconds(5)).is_empty());
    let lost = losses(&mut mesh_under(2, false, config), &sends(200), seconds(5));
    assert_eq!(lost[0].reason, DropReason::InjectedLoss);
}
