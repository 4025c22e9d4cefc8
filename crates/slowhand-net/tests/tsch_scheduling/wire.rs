//! 6P on the air as tshark dissects it.

use super::air::{Air, World, at};
use slowhand_net::address::{Eui64, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::frame::{MAX_FRAME, fcs};
use slowhand_net::radio::sixtop::message::Content;
use slowhand_net::radio::sixtop::{CellId, CellRequest, Message, Reply, Request, ReturnCode};
use slowhand_net::radio::tsch::frame::{sixtop_message, write_sixtop};
use slowhand_net::radio::tsch::schedule::CellOptions;
use slowhand_net::radio::tsch::scheduling::{Msf, SchedulingFunction, Tunnel, msf};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;
use std::io::Write;
use std::process::{Command, Stdio};

/// A pcap file with link type 195: IEEE 802.15.4 with its FCS.
fn pcap(frames: &[(Instant, FrameKind, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65535, 195] {
        file.extend(u32::to_le_bytes(word));
    }
    for (at, _, octets) in frames {
        let (seconds, micros) = (at.as_micros() / 1_000_000, at.as_micros() % 1_000_000);
        let length = octets.len() as u32 + 2;
        for word in [seconds as u32, micros as u32, length, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(octets);
        file.extend(fcs(octets));
    }
    file
}

/// One line a frame, fields separated by tabs.
fn tshark(frames: &[(Instant, FrameKind, Vec<u8>)], fields: &[&str]) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.args(["-r", "-", "-T", "fields"]).args(fields.iter().flat_map(|field| ["-e", field]));
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("tshark is installed (Debian: apt install tshark)");
    let mut input = child.stdin.take().unwrap();
    let file = pcap(frames);
    let writer = std::thread::spawn(move || input.write_all(&file));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn assert_clean(frames: &[(Instant, FrameKind, Vec<u8>)]) {
    let lines = tshark(frames, &["wpan.fcs_ok", "_ws.malformed", "_ws.expert.message", "wpan.frame_type"]);
    assert_eq!(lines.len(), frames.len());
    for (line, (_, kind, octets)) in lines.iter().zip(frames) {
        let kind = if *kind == FrameKind::Ack { "0x0002" } else { "0x0001" };
        let columns: Vec<_> = line.split('\t').collect();
        assert!(matches!(columns[0], "1" | "True"), "{line}: {octets:02x?}");
        assert_eq!(columns[1..], ["", "", kind], "{octets:02x?}");
    }
}

fn slots(cells: &[CellId]) -> String {
    cells.iter().map(|cell| format!("{:#06x}", cell.slot)).collect::<Vec<_>>().join(",")
}

/// What tshark is to say of a message: type, code, SFID, sequence number, metadata, cell options, number of cells, slots.
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

fn assert_dissected(air: &Air) {
    let of_sixtop: Vec<_> = air.frames.iter().filter(|frame| frame.1 == FrameKind::SixTop).cloned().collect();
    assert!(of_sixtop.len() > 10, "there is something to see");
    for (line, (_, _, octets)) in tshark(&of_sixtop, &FIELDS).iter().zip(&of_sixtop) {
        let message = Message::parse(sixtop_message(octets).unwrap()).unwrap();
        assert_eq!(*line, expected(&message));
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
        world.idle(at(60));
        world.network.begin_burst(at(60), NodeId(3));
        world.run(at(600), NodeId(3), Duration::from_millis(500));
        world.network.end_burst(at(600), NodeId(3));
        world.idle(at(1200));
        assert_clean(&world.air.frames);
        assert_dissected(&world.air);
    }
}

fn sixtop_frame(content: Content) -> (Instant, FrameKind, Vec<u8>) {
    let (mut octets, mut message) = ([0; MAX_FRAME], Vec::new());
    Message { function: 0, sequence: 9, content }.emit(&mut message);
    let (from, to) = (Eui64::of_node(NodeId(1)), Eui64::of_node(NodeId::ROOT));
    let length = write_sixtop(&mut octets, 1, from, to, &message).expect("it fits");
    (Instant::ZERO, FrameKind::SixTop, octets[..length].to_vec())
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
        tshark(&frames, &fields),
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
