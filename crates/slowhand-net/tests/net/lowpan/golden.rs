//! 6LoWPAN against frame payloads that scapy built (`golden/make.py`).

use slowhand_net::address::{Eui64, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::ip::{UdpDatagram, udp_datagram};
use slowhand_net::lowpan::fragment::Amount;
use slowhand_net::lowpan::reassembly::{Limits, Outcome};
use slowhand_net::lowpan::{
    Contexts, Fragmenter, Link, MAX_COMPRESSED, MAX_DECOMPRESSED, Reassembler, compress, decompress, ghc,
};
use slowhand_testing::hex;

const HEADERS: &str = include_str!("golden/headers.hex");
const UNDERSTOOD: &str = include_str!("golden/understood.hex");
const FRAGMENTS: &str = include_str!("golden/fragments.hex");
const GHC: &str = include_str!("golden/ghc.hex");

const LINK: Link = Link { source: Eui64::of_node(NodeId(1)), destination: Eui64::of_node(NodeId::ROOT) };

#[test]
fn headers_compress_to_the_golden_octets() {
    for case in cases(HEADERS, 39) {
        let mut out = [0; MAX_COMPRESSED];
        let packet = case.octets("packet");
        let done = compress(&packet, LINK, &contexts(), &mut out).unwrap();
        let ours = [&out[..done.written], &packet[done.consumed..]].concat();
        assert_eq!(hex::text(&ours), case.text("compressed"), "{}", case.text("name"));
    }
}

/// The RFC leaves the choice of instructions to the sender: ours are never longer than those of its examples.
#[test]
fn payloads_are_those_of_the_examples_of_ghc() {
    for case in cases(GHC, 10) {
        let name = case.text("name");
        let [source, destination] = ["source", "destination"].map(|key| case.text(key).parse().unwrap());
        let (payload, compressed) = (case.octets("payload"), case.octets("compressed"));
        let mut back = [0; 128];
        let length = ghc::decompress(source, destination, &compressed, &mut back).unwrap();
        assert_eq!(hex::text(&back[..length]), case.text("payload"), "{name}");

        let mut ours = [0; 128];
        let done = ghc::compress(source, destination, &payload, Amount::Whole, &mut ours).unwrap();
        assert_eq!(done.consumed, payload.len(), "{name}");
        assert!(done.written <= compressed.len(), "{name}: {} octets", done.written);
        let length = ghc::decompress(source, destination, &ours[..done.written], &mut back).unwrap();
        assert_eq!(hex::text(&back[..length]), case.text("payload"), "{name}");
    }
}

#[test]
fn golden_octets_decompress_to_the_packet() {
    for case in cases(HEADERS, 39).into_iter().chain(cases(UNDERSTOOD, 5)) {
        let mut reassembler = reassembler();
        let payload = case.octets("compressed");
        let outcome = reassembler.handle_fragment(Instant::ZERO, LINK, &payload, 0);
        let Outcome::Complete { packet, .. } = outcome else {
            panic!("{}: {outcome:?}", case.text("name"));
        };
        assert_eq!(hex::text(packet), case.text("packet"), "{}", case.text("name"));
    }
}

#[test]
fn datagrams_are_written_as_the_golden_packets_are() {
    let mut datagrams = 0;
    for case in cases(HEADERS, 39) {
        let golden = case.octets("packet");
        let Ok(parsed) = UdpDatagram::parse(&golden) else {
            assert!(matches!(case.text("name"), "TCP" | "ICMPv6"), "{}", case.text("name"));
            continue;
        };
        if parsed.ip.traffic_class != 0 || parsed.ip.flow_label != 0 || parsed.ip.hop_limit != 64 {
            continue;
        }
        let mut ours = vec![0; golden.len()];
        let length = udp_datagram(parsed.source, parsed.destination, parsed.payload, &mut ours).unwrap();
        assert_eq!(hex::text(&ours[..length]), case.text("packet"), "{}", case.text("name"));
        datagrams += 1;
    }
    assert!(datagrams >= 25, "only {datagrams}");
}

#[test]
fn cut_headers_are_errors() {
    for case in cases(HEADERS, 39) {
        let payload = case.octets("compressed");
        let mut out = [0; MAX_DECOMPRESSED];
        let whole = decompress(&payload, LINK, &contexts(), None, &mut out).unwrap();
        for length in 0..whole.consumed {
            let cut = decompress(&payload[..length], LINK, &contexts(), None, &mut out);
            assert!(cut.is_err(), "{} cut to {length}", case.text("name"));
        }
        let short = decompress(&payload, LINK, &contexts(), None, &mut out[..whole.written - 1]);
        assert!(short.is_err(), "{} into too small a buffer", case.text("name"));
    }
}

#[test]
fn packets_fragment_into_the_golden_frames() {
    for case in cases(FRAGMENTS, 6) {
        let packet = case.octets("packet");
        let capacity = case.number("capacity");
        let tag = case.number("tag") as u16;
        let mut fragmenter = Fragmenter::new(&packet, LINK, &contexts(), tag, capacity).unwrap();
        let promised = fragmenter.frames();
        let mut frame = vec![0; capacity];
        let mut frames = Vec::new();
        while let Some(length) = fragmenter.next_frame(&packet, &mut frame).unwrap() {
            frames.push(hex::text(&frame[..length]));
        }
        assert_eq!(frames, case.texts("frame"), "{}", case.text("name"));
        assert_eq!(promised, frames.len(), "{}", case.text("name"));
    }
}

#[test]
fn golden_frames_reassemble_into_the_packet() {
    for case in cases(FRAGMENTS, 6) {
        let mut reassembler = reassembler();
        let mut whole = None;
        for frame in case.texts("frame") {
            assert!(whole.is_none(), "{} is whole before its last frame", case.text("name"));
            let outcome = reassembler.handle_fragment(Instant::ZERO, LINK, &hex::octets(&frame), 0);
            match outcome {
                Outcome::Complete { packet, .. } => whole = Some(hex::text(packet)),
                Outcome::Incomplete => {}
                Outcome::Discarded(reason) => panic!("{}: {reason}", case.text("name")),
            }
        }
        assert_eq!(whole.as_deref(), Some(case.text("packet")), "{}", case.text("name"));
    }
}

/// The contexts that `make.py` names.
fn contexts() -> Contexts {
    let mut contexts = Contexts::mesh();
    contexts.set(2, "2001:db8:2::99".parse().unwrap(), 128).unwrap();
    contexts.set(3, "2001:db8:3::ff:fe12:0".parse().unwrap(), 112).unwrap();
    contexts.set(15, "2001:db8:f::".parse().unwrap(), 48).unwrap();
    contexts
}

fn reassembler() -> Reassembler {
    Reassembler::new(Limits { datagram: 2047, ..Limits::default() }, contexts())
}

/// A block of `key value` lines.
struct Case(Vec<(String, String)>);

impl Case {
    fn texts(&self, key: &str) -> Vec<String> {
        self.0.iter().filter(|(name, _)| name == key).map(|(_, value)| value.clone()).collect()
    }

    fn text(&self, key: &str) -> &str {
        &self.0.iter().find(|(name, _)| name == key).unwrap_or_else(|| panic!("no {key}")).1
    }

    fn number(&self, key: &str) -> usize {
        self.text(key).parse().unwrap()
    }

    fn octets(&self, key: &str) -> Vec<u8> {
        hex::octets(self.text(key))
    }
}

fn cases(file: &str, at_least: usize) -> Vec<Case> {
    let is_block = |block: &&str| block.starts_with("name ");
    let pair = |line: &str| line.split_once(' ').map(|(key, value)| (key.into(), value.into())).unwrap();
    let cases: Vec<_> =
        file.split("\n\n").filter(is_block).map(|block| Case(block.lines().map(pair).collect())).collect();
    assert!(cases.len() >= at_least, "only {} cases", cases.len());
    cases
}
