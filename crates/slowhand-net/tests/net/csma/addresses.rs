//! 16-bit addresses, in frames and in header compression.

use super::*;
use slowhand_net::address::Host;
use slowhand_net::network::{Network, NetworkConfig};
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::Mac;
use slowhand_net::route::Routes;
use slowhand_testing::wireshark::Tshark;

fn short() -> CsmaConfig {
    CsmaConfig { addressing: Addressing::Short, ..CsmaConfig::openthread() }
}

/// 127 octets of PSDU, less 9 of header (control 2, sequence number 1, PAN ID 2, two addresses of 2) and 2 of FCS.
#[test]
fn a_frame_with_short_addresses_has_room_for_more() {
    let mac = of_tree(short(), &[None, Some(0)], &[], 1.0);
    assert_eq!(mac.payload_capacity(node(1), node(0)), 116);
    let csl = of_tree(CsmaConfig { addressing: Addressing::Short, ..sampling_every(625) }, &[None, Some(0)], &[1], 1.0);
    assert_eq!(csl.payload_capacity(node(1), node(0)), 108);
    assert_eq!(csl.payload_capacity(node(0), node(1)), 116);
}

/// A datagram over one hop. Both IPv6 addresses follow from extended addresses, and the compressed header leaves them
/// out. From short ones follows another interface identifier (0000:00ff:fe00:XXXX), so that the header carries the 8 octets
/// of each node's own.
#[test]
fn header_compression_carries_the_identifiers_of_nodes() {
    let length = |addressing| {
        let mac = of_tree(CsmaConfig { addressing, ..CsmaConfig::openthread() }, &[None, Some(0)], &[], 1.0);
        let config = NetworkConfig { frame_capacity: 116, ..NetworkConfig::default() };
        let routes = Routes::shortest(2, &line(1, 1.0)).unwrap();
        let mut network = Network::new(Box::new(mac), routes, config, &Streams::new(SEED));
        let sends = [
            (at(0), Host::Node(node(1)), Host::Node(node(0)), 40),
            (at(500_000), Host::Node(node(0)), Host::Node(node(1)), 300),
        ];
        let mut air = Recorder::default();
        let fates = crate::harness::run(&mut network, &sends, seconds(2), &mut air);
        assert_eq!(fates.delivered.len(), 2, "{fates:?}");
        // Wireshark finds the same addresses.
        let rows = Tshark::default().rows(&capture(&air.frames), &["ipv6.src", "ipv6.dst", "_ws.expert"]);
        let [one, zero] = [1, 0].map(|id| Host::Node(node(id)).address().to_string());
        assert_eq!(rows[0], [one, zero, String::new()]);
        air.of(FrameKind::Data)[0].octets.len()
    };
    let (extended, short) = (length(Addressing::Extended), length(Addressing::Short));
    // 12 octets less of MAC header, 16 more of IPv6 addresses.
    assert_eq!(short, extended - 12 + 16);
}

#[test]
fn more_nodes_than_short_addresses_are_refused() {
    let parents: Vec<_> = std::iter::once(None).chain(std::iter::repeat_n(Some(0), 0xfffe)).collect();
    let links = tree(&parents, 1.0);
    let refused = of_links(short(), &parents, &[], &links).err();
    assert_eq!(refused, Some(CsmaConfigError::ShortAddresses(0xffff)));
    assert!(of_links(CsmaConfig::openthread(), &parents, &[], &links).is_ok());
}
