//! Joiners: each datagram goes over a link without a key, and in messages of CoAP between joiner router and border agent.

use super::*;
use slowhand_net::address::{Addressing, Eui64, Host, NodeId, locator_address};
use slowhand_net::drop_reason::DropReason;
use slowhand_net::ip::Endpoint;
use slowhand_net::link::Links;
use slowhand_net::network::joiner_router::relay::{Direction, Relay};
use slowhand_net::network::joiner_router::{JOINER_PORT, JoiningConfig, MANAGEMENT_PORT};
use slowhand_net::network::{Event, Events, MeshUnderConfig, Network, NetworkConfig};
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::csma::{Csma, CsmaConfig};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;
use slowhand_testing::hex;
use slowhand_testing::wireshark::Tshark;

const COMMISSIONER_PORT: u16 = 49_191;

/// A line whose last node joins, with 16-bit addresses. The commissioner is at this host.
fn joining(hops: u16, at: Host, addressing: Addressing) -> (Network, Endpoint) {
    joining_over(hops, at, addressing, None)
}

fn joining_over(
    hops: u16,
    at: Host,
    addressing: Addressing,
    mesh_under: Option<MeshUnderConfig>,
) -> (Network, Endpoint) {
    let (links, streams) = (line(hops, 1.0), Streams::new(1));
    let nodes = usize::from(hops) + 1;
    let routes = Routes::shortest(nodes, &links).unwrap();
    let config = CsmaConfig { addressing, ..CsmaConfig::openthread() };
    let links = Links::new(nodes, &links, &streams);
    let mac = Csma::new(config, links, &routes.parents(), &vec![false; nodes], &streams).unwrap();
    let commissioner = Endpoint::new(at.address(), COMMISSIONER_PORT);
    let joining = Some(JoiningConfig { joiners: vec![NodeId(hops)], commissioner });
    let config = NetworkConfig { joining, mesh_under, frame_capacity: 116, ..NetworkConfig::default() };
    (Network::new(Box::new(mac), routes, config, &streams), commissioner)
}

/// A datagram each way, the second after the first has arrived. Returns the data frames, and when the datagrams arrived.
fn exchange(network: &mut Network, joiner: NodeId, commissioner: Endpoint, octets: usize) -> (Vec<Frame>, Vec<u64>) {
    let client = Endpoint::new(Host::Node(joiner).address(), JOINER_PORT);
    let (mut air, mut events, mut arrivals) = (Recorder::default(), Events::default(), Vec::new());
    for (number, (from, to)) in [(client, commissioner), (commissioner, client)].into_iter().enumerate() {
        let now = arrivals.last().map_or(at(0), |&us| at(us));
        network.send(now, from, to, &payload(number as u32, octets), number as u32, &mut events).unwrap();
        for _ in 0..10_000 {
            if !events.is_empty() {
                break;
            }
            let now = network.deadline().expect("the datagram is on its way");
            network.handle_deadline(now, &mut events, &mut air);
        }
        let Some(Event::Delivered { at, datagram, source, destination, payload: got, .. }) = events.iter().next()
        else {
            panic!("{:?}", events.iter().next());
        };
        assert_eq!((datagram, source, destination), (number as u32, from, to), "each end sees the other");
        assert_eq!(got, payload(number as u32, octets));
        arrivals.push(at.as_micros());
        events.clear();
    }
    air.frames.retain(|frame| frame.kind == FrameKind::Data);
    (air.frames, arrivals)
}

#[test]
fn both_ends_see_each_other_wherever_the_commissioner_is() {
    for (at, hops, frames) in [
        // The commissioner beside the border router: the messages travel as far as the root.
        (Host::Internet, 1, 2),
        (Host::Internet, 2, 4),
        (Host::Internet, 4, 8),
        (Host::Node(NodeId::ROOT), 3, 6),
        // The border agent is the joiner router itself: no message is sent.
        (Host::Node(NodeId(2)), 3, 2),
        (Host::Node(NodeId(1)), 3, 4),
    ] {
        for addressing in [Addressing::Short, Addressing::Extended] {
            let (mut network, commissioner) = joining(hops, at, addressing);
            assert_eq!(exchange(&mut network, NodeId(hops), commissioner, 20).0.len(), frames, "{at:?} {hops}");
        }
    }
}

/// 30 octets each way over two hops, without FCS.
///
/// The joiner's link: 21 octets of MAC header with 64-bit addresses, from which both link-local addresses follow. So IPHC
/// has 2 octets. UDP has its ports in full: 7. Between routers: 9 octets of MAC header with 16-bit addresses, from which
/// both locators follow: 2 of IPHC. UDP compresses both ports 61631 (0xf0bf) to one octet: 4. The message has 34 octets
/// beside the datagram.
#[test]
fn frames_have_the_octets_that_the_standards_say() {
    let (mut network, commissioner) = joining(2, Host::Internet, Addressing::Short);
    let lengths: Vec<_> =
        exchange(&mut network, NodeId(2), commissioner, 30).0.iter().map(|frame| frame.octets.len()).collect();
    let (joiner, routers) = (21 + 2 + 7 + 30, 9 + 2 + 4 + 34 + 30);
    assert_eq!(lengths, [joiner, routers, routers, joiner]);
}

/// tshark reads the links, the request of CoAP and its path. It leaves the TLVs to us: ports 18, identifier 19, locator 20, and
/// the datagram in one of type 17 with a length of two octets (`openthread/dataset.h`).
#[test]
fn tshark_reads_the_messages() {
    let (mut network, commissioner) = joining(2, Host::Internet, Addressing::Short);
    let frames = exchange(&mut network, NodeId(2), commissioner, 30).0;
    let fields = [
        "_ws.expert",
        "wpan.src64",
        "wpan.src16",
        "ipv6.src",
        "ipv6.dst",
        "udp.srcport",
        "udp.dstport",
        "udp.checksum.status",
        "coap.type",
        "coap.code",
        "coap.opt.uri_path_recon",
        "data.data",
    ];
    let rows = Tshark::default().decode_as("udp.port==61631,coap").rows(&capture(&frames), &fields);
    let rows: Vec<_> = rows.iter().map(|row| row.join(" ")).collect();
    let data = [0, 1].map(|number| hex::text(&payload(number, 30)));
    let tlvs = "120203e8130800127400000000021402000111ff001e";
    let [joiner, router] = [2, 1].map(|id| format!("02:12:74:00:00:00:00:0{id}  fe80::12:7400:0:{id}"));
    let locators = ["0x0001 2001:db8::ff:fe00:1 2001:db8::ff:fe00:0", "0x0000 2001:db8::ff:fe00:0 2001:db8::ff:fe00:1"];
    assert_eq!(
        rows,
        [
            format!(" {joiner} fe80::12:7400:0:1 1000 1000 1    {}", data[0]),
            format!("  {} 61631 61631 1 1 2 /c/rx {tlvs}{}", locators[0], data[0]),
            format!("  {} 61631 61631 1 1 2 /c/tx {tlvs}{}", locators[1], data[1]),
            format!(" {router} fe80::12:7400:0:2 1000 1000 1    {}", data[1]),
        ]
    );
}

/// Three hops with mesh headers: only the messages between routers that are no neighbours have one, of 6 octets. The hop limit
/// of the message stays 64, and no node between puts it together.
#[test]
fn messages_travel_with_mesh_headers() {
    let mesh_under = Some(MeshUnderConfig::default());
    let (mut network, commissioner) = joining_over(3, Host::Internet, Addressing::Short, mesh_under);
    let frames = exchange(&mut network, NodeId(3), commissioner, 30).0;
    let lengths: Vec<_> = frames.iter().map(|frame| frame.octets.len()).collect();
    let (joiner, routers) = (21 + 2 + 7 + 30, 9 + 6 + 2 + 4 + 34 + 30);
    assert_eq!(lengths, [joiner, routers, routers, routers, routers, joiner]);
    assert_eq!(frames[1].octets[9..15], [0xbf, 19, 0, 2, 0, 0]);
}

/// 200 octets each way, with the octets of each frame without FCS.
///
/// The joiner's link has room for 104 octets of 6LoWPAN: 4 and 9 of headers and 88 of the datagram (91 in units of 8), then
/// 5 and 96, then 5 and 16. Between routers there is room for 116: 4 and 6 of headers and 104 of the message of 234
/// octets, then 5 and 104, then 5 and 26.
#[test]
fn the_joiner_router_puts_fragments_together() {
    let (mut network, commissioner) = joining(2, Host::Internet, Addressing::Short);
    let frames = exchange(&mut network, NodeId(2), commissioner, 200).0;
    let lengths: Vec<_> = frames.iter().map(|frame| (frame.from.0, frame.octets.len())).collect();
    let link = |from| [21 + 13 + 88, 21 + 5 + 96, 21 + 5 + 16].map(|octets| (from, octets));
    let routers = |from| [9 + 10 + 104, 9 + 5 + 104, 9 + 5 + 26].map(|octets| (from, octets));
    assert_eq!(lengths, [link(2), routers(1), routers(0), link(1)].concat());
}

/// 30 octets over two hops, to the microsecond. On each hop a back-off, assessment (128 us) and turnaround (192 us), and the
/// frame (6 octets more, 32 us each). The joiner router begins its back-off when the frame has arrived, and backs off again,
/// from a range twice as long, if its assessment falls into its acknowledgement (11 octets after 192 us).
#[test]
fn relaying_takes_no_time_of_its_own() {
    let (mut network, commissioner) = joining(2, Host::Internet, Addressing::Short);
    let (_, arrivals) = exchange(&mut network, NodeId(2), commissioner, 30);
    let mut draws = [1, 2].map(|node| Streams::new(1).stream("back-off", node));
    let frame = |octets: u64| (octets + 2 + 6) * 32;
    let first = draws[1].below(8) * 320 + 128 + 192 + frame(60);
    let mut assessed = draws[0].below(8) * 320 + 128;
    for range in [16, 32, 32] {
        if assessed < 192 + 11 * 32 + 128 {
            assessed += draws[0].below(range) * 320 + 128;
        }
    }
    assert_eq!(arrivals[0], first + assessed + 192 + frame(79));
}

/// A message for a joiner of another router, or of no node, or no message at all, is lost where it is.
#[test]
fn what_leads_nowhere_is_lost() {
    let (mut network, _) = joining(3, Host::Internet, Addressing::Short);
    let mut relay = Relay {
        direction: Direction::ToJoiner,
        message_id: 1,
        token: [0; 2],
        joiner_port: JOINER_PORT,
        joiner_identifier: Eui64::of_node(NodeId(3)).interface_identifier(),
        joiner_router: 1,
        datagram: b"dtls",
    };
    let mut messages = vec![(b"no message".to_vec(), DropReason::Malformed)];
    let mut add = |relay: &Relay<'_>, reason| {
        let mut message = Vec::new();
        relay.emit(&mut message);
        messages.push((message, reason));
    };
    add(&relay, DropReason::NoRoute);
    relay.joiner_identifier = Eui64::of_node(NodeId(999)).interface_identifier();
    add(&relay, DropReason::NoRoute);
    relay.direction = Direction::FromJoiner;
    add(&relay, DropReason::NoRoute);
    for (message, expected) in messages {
        let mut events = Events::default();
        let [from, to] = [2, 1].map(|node| Endpoint::new(locator_address(NodeId(node)), MANAGEMENT_PORT));
        network.send(network.deadline().unwrap_or(at(0)), from, to, &message, 9, &mut events).unwrap();
        while events.is_empty() {
            let now = network.deadline().expect("the message is on its way");
            network.handle_deadline(now, &mut events, &mut ());
        }
        let Some(Event::Lost { host, reason, .. }) = events.iter().next() else { panic!("it was delivered") };
        assert_eq!((host, reason), (Host::Node(NodeId(1)), expected));
    }
}
