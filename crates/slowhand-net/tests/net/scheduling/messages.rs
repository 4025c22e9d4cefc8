//! 6P on the air as tshark dissects it.

use super::*;
use slowhand_net::address::{Eui64, NodeId};
use slowhand_net::clock::Duration;
use slowhand_net::datagram::NO_DATAGRAM;
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::frame::MAX_FRAME;
use slowhand_net::radio::sixtop::message::Content;
use slowhand_net::radio::sixtop::{CellId, CellRequest, Message, Reply, Request, ReturnCode};
use slowhand_net::radio::tsch::frame::{sixtop_message, write_sixtop};
use slowhand_net::radio::tsch::schedule::CellOptions;
use slowhand_net::radio::tsch::scheduling::{Msf, SchedulingFunction, Tunnel, msf};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;
use slowhand_testing::wireshark::Tshark;

fn assert_clean(frames: &[Frame]) {
    let rows = Tshark::default()
        .rows(&capture(frames), &["wpan.fcs_ok", "_ws.malformed", "_ws.expert.message", "wpan.frame_type"]);
    assert_eq!(rows.len(), frames.len());
    for (row, frame) in rows.iter().zip(frames) {
        let kind = if frame.kind == FrameKind::Ack { "0x0002" } else { "0x0001" };
        assert!(matches!(&*row[0], "1" | "True"), "{row:?}: {frame:02x?}");
        assert_eq!(row[1..], ["", "", kind], "{frame:02x?}");
    }
}

fn slots(cells: &[CellId]) -> String {
    cells.iter().map(|cell| format!("{:#06x}", cell.slot)).collect::<Vec<_>>().join(",")
}

/// The output of tshark that a message must give: type, code, SFID, sequence number, metadata, cell options, number of cells, slots.
fn expected(message: &Message) -> String {
    let options = |options: CellOptions| {
        u8::from(options.transmit) | u8::from(options.receive) << 1 | u8::from(options.shared) << 2
    };
    let with_cells = |code: u8, request: &CellRequest| {
        let CellRequest { metadata, options: asked, count, cells } = request;
        (0, code, format!("{metadata:#06x}\t{:#04x}\t{count}\t{}", options(*asked), slots(cells)))
    };
    let (kind, code, rest) = match &message.content {
        Content::Request(Request::Add(request)) => with_cells(1, request),
        Content::Request(Request::Delete(request)) => with_cells(2, request),
        Content::Request(Request::Clear { metadata }) => (0, 7, format!("{metadata:#06x}\t\t\t")),
        Content::Response(reply) => (1, reply.code as u8, format!("\t\t\t{}", slots(&reply.cells().unwrap()))),
        Content::Confirmation(reply) => (2, reply.code as u8, format!("\t\t\t{}", slots(&reply.cells().unwrap()))),
        other => panic!("nobody sends {other:?}"),
    };
    format!("{kind:#04x}\t{code:#04x}\t{:#04x}\t{}\t{rest}", message.function, message.sequence)
}

const FIELDS: [&str; 8] = [
    "wpan.6top_type",
    "wpan.6top_code",
    "wpan.6top_sfid",
    "wpan.6top_seqnum",
    "wpan.6top_metadata",
    "wpan.6top_cell_options",
    "wpan.6top_num_cells",
    "wpan.6top_cell_slot_offset",
];

fn assert_dissected(air: &Recorder) {
    let of_sixtop = air.of(FrameKind::SixTop);
    assert!(of_sixtop.len() > 10, "there is something to see");
    let rows = Tshark::default().rows(&capture(of_sixtop.iter().copied()), &FIELDS);
    for (row, frame) in rows.iter().zip(&of_sixtop) {
        let message = Message::parse(sixtop_message(&frame.octets).unwrap()).unwrap();
        assert_eq!(row.join("\t"), expected(&message));
    }
}

fn tunnel(three_steps: bool) -> impl FnOnce(&Routes, &Streams) -> Box<dyn SchedulingFunction> {
    move |routes, streams| {
        let config = msf::MsfConfig { three_steps, ..msf::MsfConfig::default() };
        Box::new(Tunnel::new(4, routes, Box::new(Msf::new(config, routes, streams))))
    }
}

#[test]
fn a_whole_world_is_dissected() {
    for three_steps in [false, true] {
        let mut world = World::line(3, 0.8, tunnel(three_steps));
        world.idle(seconds(60));
        world.network.begin_burst(seconds(60), NodeId(3));
        world.run(seconds(600), NodeId(3), Duration::from_millis(500));
        world.network.end_burst(seconds(600), NodeId(3));
        world.idle(seconds(1200));
        assert_clean(&world.air.frames);
        assert_dissected(&world.air);
    }
}

fn sixtop_frame(content: Content) -> Frame {
    let (mut octets, mut message) = ([0; MAX_FRAME], Vec::new());
    Message { function: 0, sequence: 9, content }.emit(&mut message);
    let (from, to) = (NodeId(1), NodeId::ROOT);
    let length =
        write_sixtop(&mut octets, 1, Eui64::of_node(from), Eui64::of_node(to), None, &message).expect("it fits");
    Frame {
        at: 0,
        asn: None,
        channel: 11,
        kind: FrameKind::SixTop,
        from,
        to,
        datagram: NO_DATAGRAM,
        attempt: 0,
        received: true,
        octets: octets[..length].to_vec(),
    }
}

#[test]
fn the_requests_that_worlds_seldom_need() {
    let cell = |slot, channel_offset| CellId { slot, channel_offset };
    let options = CellOptions::RECEIVE;
    let relocate = Request::Relocate {
        metadata: 1,
        options,
        cells: vec![cell(3, 4)],
        candidates: vec![cell(5, 6), cell(300, 15)],
    };
    let count = Request::Count { metadata: 2, options };
    let list = Request::List { metadata: 3, options, offset: 258, limit: 20 };
    let signal = Request::Signal { metadata: 4, payload: vec![1, 2, 3] };
    let frames: Vec<_> = [relocate, count, list, signal, Request::Clear { metadata: 5 }]
        .into_iter()
        .map(|request| sixtop_frame(Content::Request(request)))
        .chain([sixtop_frame(Content::Response(Reply { code: ReturnCode::Locked, body: Vec::new() }))])
        .collect();
    assert_clean(&frames);
    let fields = [
        "wpan.6top_code",
        "wpan.6top_metadata",
        "wpan.6top_cell_options",
        "wpan.6top_num_cells",
        "wpan.6top_cell_slot_offset",
        "wpan.6top_channel_offset",
        "wpan.6top_offset",
        "wpan.6top_max_num_cells",
        "wpan.6top_payload",
    ];
    assert_eq!(
        Tshark::default().rows(&capture(&frames), &fields).iter().map(|row| row.join("\t")).collect::<Vec<_>>(),
        [
            "0x03\t0x0001\t0x02\t1\t0x0003,0x0005,0x012c\t0x0004,0x0006,0x000f\t\t\t",
            "0x04\t0x0002\t0x02\t\t\t\t\t\t",
            "0x05\t0x0003\t0x02\t\t\t\t258\t20\t",
            "0x06\t0x0004\t\t\t\t\t\t\t010203",
            "0x07\t0x0005\t\t\t\t\t\t\t",
            "0x09\t\t\t\t\t\t\t\t",
        ]
    );
}
