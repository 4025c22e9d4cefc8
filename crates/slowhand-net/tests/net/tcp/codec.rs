//! The codec against segments that scapy built (`tests/net/tcp/golden/segments.py`).

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use proptest::prelude::*;
use slowhand_net::clock::Instant;
use slowhand_net::transport::tcp::{
    Connection, EcnMark, Flags, Options, SackBlocks, Segment, SegmentError, SeqNumber, SeqRange, TcpConfig, Timestamps,
    checksum_holds,
};
use slowhand_testing::hex;

use super::harness::{Side, endpoint, initial_seq};

const SOURCE: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const DESTINATION: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1);

fn golden() -> BTreeMap<&'static str, Vec<u8>> {
    let lines = include_str!("golden/segments.hex").lines();
    let parse = |line: &'static str| {
        let (name, octets) = line.split_once(' ').unwrap();
        (name, hex::octets(octets))
    };
    lines.map(parse).collect()
}

fn segment(seq: u32, ack: u32, flags: Flags, window: u16, options: Options) -> Segment<'static> {
    Segment {
        source_port: 40_000,
        destination_port: 4_433,
        seq: SeqNumber(seq),
        ack: SeqNumber(ack),
        flags,
        window,
        urgent: 0,
        options,
        payload: &[],
    }
}

fn sack(blocks: &[(u32, u32)]) -> SackBlocks {
    let mut all = SackBlocks::default();
    for &(start, end) in blocks {
        all.push(SeqRange::new(SeqNumber(start), SeqNumber(end)));
    }
    all
}

fn expected() -> Vec<(&'static str, Segment<'static>)> {
    let none = Options::default();
    let mss = |mss| Options { mss: Some(mss), ..none };
    let stamps = |value, echo| Options { timestamps: Some(Timestamps { value, echo }), ..none };
    let with_sack = |blocks: &[(u32, u32)]| Options { sack: sack(blocks), ..none };
    let (syn, ack, ece, cwr) = (Flags::SYN, Flags::ACK, Flags::ECE, Flags::CWR);
    let linux =
        Options { sack_permitted: true, window_scale: Some(7), timestamps: stamps(123_456, 0).timestamps, ..mss(1220) };
    let constrained = Options { sack_permitted: true, ..mss(536) };
    let scaled = Options { window_scale: Some(14), ..mss(336) };
    let three =
        Options { timestamps: stamps(77, 66).timestamps, ..with_sack(&[(900, 1000), (200, 300), (0xffff_ff00, 10)]) };
    let four = with_sack(&[(1, 2), (3, 4), (5, 6), (7, 8)]);
    let data = segment(0x1234_5678, 0x9abc_def0, Flags::PSH | ack, 502, stamps(0xdead_beef, 0x0102_0304));
    let marked = segment(1, 2, ack | cwr, 3, none);
    const PATTERN: [u8; 64] = {
        let mut pattern = [0; 64];
        let mut at = 1;
        while at < 64 {
            pattern[at] = 0xff;
            at += 2;
        }
        pattern
    };
    vec![
        ("syn-linux", segment(1000, 0, syn, 64_800, linux)),
        ("syn-constrained", segment(u32::MAX, 0, syn, 2_144, constrained)),
        ("syn-ecn", segment(7, 0, syn | ece | cwr, 65_535, mss(336))),
        ("syn-ack-ecn", segment(9, 8, syn | ack | ece, 100, scaled)),
        ("data", Segment { payload: b"odd octets: 15!", ..data }),
        ("data-cwr", Segment { payload: &PATTERN, ..marked }),
        ("sack-one", segment(5, 100, ack, 1000, with_sack(&[(200, 300)]))),
        ("sack-three-timestamps", segment(5, 100, ack, 1000, three)),
        ("sack-four", segment(5, 100, ack | ece, 1000, four)),
        ("fin", segment(4000, 5000, Flags::FIN | ack, 0, none)),
        ("reset", segment(4000, 0, Flags::RST, 0, none)),
    ]
}

#[test]
fn reads_and_writes_what_scapy_builds() {
    let golden = golden();
    let expected = expected();
    assert_eq!(golden.len(), expected.len());
    for (name, segment) in expected {
        let bytes = &golden[name];
        assert_eq!(Segment::parse(bytes), Ok(segment), "{name}");
        assert!(checksum_holds(SOURCE, DESTINATION, bytes), "{name}");
        let mut out = [0xaa; 200];
        let len = segment.emit(SOURCE, DESTINATION, &mut out).unwrap();
        assert_eq!(out[..len], bytes[..], "{name}");
    }
}

#[test]
fn a_flipped_bit_breaks_the_checksum() {
    for (name, bytes) in golden() {
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!checksum_holds(SOURCE, DESTINATION, &flipped), "{name}, bit {bit}");
        }
    }
}

#[test]
fn impossible_lengths_are_refused() {
    let mut bytes = golden()["syn-linux"].clone();
    assert_eq!(Segment::parse(&bytes[..19]), Err(SegmentError::Truncated(19)));
    assert_eq!(Segment::parse(&bytes[..39]), Err(SegmentError::Truncated(39)));
    bytes[12] = 0x40;
    assert_eq!(Segment::parse(&bytes), Err(SegmentError::DataOffset(4)));
    bytes[12] = 0xa0;
    for length in [0, 1, 3, 5, 200] {
        bytes[21] = length;
        assert_eq!(Segment::parse(&bytes), Err(SegmentError::Option(2)), "MSS of {length}");
    }
    // SACK without a block, and with half of one (RFC 2018 section 3: 8n + 2 octets).
    bytes[20] = 5;
    for length in [2, 6] {
        bytes[21] = length;
        assert_eq!(Segment::parse(&bytes), Err(SegmentError::Option(5)), "SACK of {length}");
    }
}

fn any_options() -> impl Strategy<Value = Options> {
    let syn = (any::<Option<u16>>(), prop::option::of(0..=14u8), any::<bool>());
    let blocks = prop::collection::vec(any::<(u32, u32)>(), 0..=3);
    let stamps = prop::option::of(any::<(u32, u32)>());
    (any::<bool>(), syn, blocks, stamps).prop_map(|(is_syn, syn, blocks, stamps)| {
        let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
        let (mss, window_scale, sack_permitted) = syn;
        if is_syn {
            Options { mss, window_scale, sack_permitted, timestamps, ..Options::default() }
        } else {
            Options { sack: sack(&blocks), timestamps, ..Options::default() }
        }
    })
}

proptest! {
    #[test]
    fn any_octets_parse_or_fail_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let _ = Segment::parse(&bytes);
    }

    #[test]
    fn what_is_written_is_read(
        options in any_options(),
        header: (u32, u32, u8, u16),
        payload in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let (seq, ack, flags, window) = header;
        let written = Segment { payload: &payload, ..segment(seq, ack, Flags(flags), window, options) };
        let mut out = [0; 200];
        let len = written.emit(SOURCE, DESTINATION, &mut out).unwrap();
        prop_assert_eq!(len, written.wire_len());
        prop_assert_eq!(Segment::parse(&out[..len]), Ok(written));
        prop_assert!(checksum_holds(SOURCE, DESTINATION, &out[..len]));
        let needed = len;
        prop_assert_eq!(
            written.emit(SOURCE, DESTINATION, &mut out[..len - 1]),
            Err(SegmentError::BufferTooSmall { needed, available: len - 1 })
        );
    }

    /// Well-formed segments without sense, in any state: no panic, no segment out of bounds, and at most one answer to
    /// each segment besides what the connection itself has to send.
    #[test]
    fn no_sequence_of_segments_makes_a_connection_panic(
        listens: bool,
        linux: bool,
        segments in prop::collection::vec(
            (any_options(), -3000..3000i32, -3000..3000i32, any::<u8>(), any::<u16>(), 0..200usize, 0..2_000_000u64),
            1..60,
        ),
    ) {
        let config = if linux { TcpConfig::linux() } else { TcpConfig::constrained() };
        let (own, peer) = (endpoint(Side::A), endpoint(Side::B));
        let isn = initial_seq(Side::A);
        let mut connection = if listens {
            Connection::listen(&config, own, isn).unwrap()
        } else {
            Connection::connect(&config, own, peer, isn).unwrap()
        };
        let mut now = Instant::ZERO;
        let mut out = [0; 2048];
        let _ = connection.write(&[1; 1500]);
        for (i, (options, seq, ack, flags, window, len, wait)) in segments.into_iter().enumerate() {
            // SYNs early, so that states behind the handshake are reached.
            let flags = match i {
                0 if listens => Flags::SYN,
                0 => Flags::SYN | Flags::ACK,
                1 => Flags::ACK,
                _ => Flags(flags),
            };
            let (seq, ack) = if i < 2 { (i as i32, 1) } else { (seq, ack) };
            let segment = Segment {
                source_port: peer.port,
                destination_port: own.port,
                payload: &[7; 200][..len],
                ..segment(
                    initial_seq(Side::B).0.wrapping_add_signed(seq),
                    isn.0.wrapping_add_signed(ack),
                    flags,
                    window,
                    options,
                )
            };
            let mut bytes = [0; 400];
            let written = segment.emit(peer.address, own.address, &mut bytes).unwrap();
            connection.handle_segment(now, peer.address, EcnMark::CongestionExperienced, &bytes[..written]).unwrap();
            let mut answers = 0;
            while let Some(transmit) = connection.poll_transmit(now, &mut out) {
                prop_assert!(Segment::parse(&out[..transmit.len]).is_ok());
                answers += 1;
                prop_assert!(answers < 100);
            }
            let _ = connection.read(&mut out);
            now = Instant::from_micros(now.as_micros() + wait);
            connection.handle_timeout(now);
            if i == 30 {
                connection.close();
            }
        }
    }
}
