//! Wireshark's tools read our captures.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use slowhand_lab::capture::{CaptureError, CaptureWriter};
use slowhand_net::address::{Eui64, NodeId, internet_address, mesh_address};
use slowhand_net::ip::{Endpoint, UdpDatagram, udp_datagram};
use slowhand_net::lowpan::{Contexts, FRAME_CAPACITY, Fragmenter, Link};
use slowhand_net::radio::{frame, tsch};
use slowhand_sessions::{CredentialKind, Family, Role, SessionConfig, Stack, Status, Suite, Tls, Version, Weightless};
use slowhand_testing::wireshark::{Tshark, run};

/// A key log line in the form of the format's specification, with invented values.
fn key_log() -> String {
    format!("CLIENT_RANDOM {} {}", "5a".repeat(32), "c3".repeat(48))
}

/// A data frame of node 1 for the root, with FCS. A payload that begins with two zero bits does not belong to 6LoWPAN
/// (RFC 4944 section 5.1).
fn data_frame(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut octets = [0; frame::MAX_FRAME];
    let (from, to) = (Eui64::of_node(NodeId(1)), Eui64::of_node(NodeId::ROOT));
    let length = tsch::frame::data(from, to, None).emit(sequence, payload, &mut octets).unwrap();
    let fcs = frame::fcs(&octets[..length]);
    [&octets[..length], &fcs].concat()
}

/// The path of a file of this test run.
fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn tshark_reads_link_type_channel_slot_number_and_time() {
    let path = place("frames.pcapng");
    let mut capture = CaptureWriter::create(&path, None).unwrap();
    capture.secrets([key_log().as_str()]).unwrap();
    capture.frame(2_120, 11, Some(0), &data_frame(1, &[0, 1, 2, 3, 4]), None).unwrap();
    capture.frame(2_120, 20, Some(u64::from(u32::MAX) + 7), &data_frame(2, &[0; 16]), None).unwrap();
    capture.frame(3_600_000_000_001, 26, None, &data_frame(3, &[0; 104]), None).unwrap();
    capture.finish().unwrap();

    let fields = [
        "frame.encap_type",
        "frame.time_epoch",
        "frame.len",
        "wpan-tap.length",
        "wpan-tap.fcs_type",
        "wpan-tap.ch_num",
        "wpan-tap.ch_page",
        "wpan-tap.asn",
        "wpan.seq_no",
        "wpan.src64",
        "wpan.fcs_ok",
    ];
    // Wireshark has its own number for the encapsulation, 206 ("IEEE 802.15.4 Wireless with TAP pseudo-header"). The
    // file has link type 283.
    let rows = Tshark::default().rows_of_file(&path, &fields);
    let source = "02:12:74:00:00:00:00:01";
    assert_eq!(
        rows,
        [
            ["206", "0.002120000", "60", "32", "1", "11", "0", "0", "1", source, "1"],
            ["206", "0.002120000", "71", "32", "1", "20", "0", "4294967302", "2", source, "1"],
            ["206", "3600000.000001000", "147", "20", "1", "26", "0", "", "3", source, "1"],
        ]
    );
    let listed = run("capinfos", &["-E", "-M", "-I", "-o", path.to_str().unwrap()]);
    assert!(listed.contains("(wpan-tap)") || listed.contains("TAP"), "{listed}");
    assert!(listed.contains("Strict time order:   True"), "{listed}");
}

#[test]
fn the_link_type_and_the_secrets_stand_where_the_format_wants_them() {
    let path = place("secrets.pcapng");
    let mut capture = CaptureWriter::create(&path, None).unwrap();
    let second = format!("CLIENT_RANDOM {} {}", "77".repeat(32), "88".repeat(48));
    capture.secrets([key_log().as_str(), second.as_str()]).unwrap();
    capture.frame(1, 11, None, &data_frame(1, &[0]), None).unwrap();
    capture.finish().unwrap();

    // The interface description follows the section header of 28 octets: its link type is in octets 8 and 9.
    let octets = std::fs::read(&path).unwrap();
    assert_eq!(octets[28..32], 1_u32.to_le_bytes());
    assert_eq!(octets[36..38], 283_u16.to_le_bytes());

    let listed = run("capinfos", &[path.to_str().unwrap()]);
    assert!(listed.contains("Number of decryption secrets in file: 1"), "{listed}");
}

/// A handshake in memory between two real libraries. Its datagrams are put into frames.
#[test]
fn tshark_decrypts_a_session_with_the_embedded_secrets() {
    let ecdsa = [Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256];
    decrypts(Stack::MBEDTLS, ecdsa[0], CredentialKind::Certificate);
    decrypts(Stack::MBEDTLS, Suite::TLS_ECJPAKE_WITH_AES_128_CCM_8, CredentialKind::Ecjpake);
    for suite in ecdsa {
        decrypts(Stack::LEAN_DTLS, suite, CredentialKind::Certificate);
        decrypts(Stack::LEAN_DTLS, suite, CredentialKind::RawPublicKey);
    }
}

fn decrypts(stack: Stack, suite: Suite, credential: CredentialKind) {
    let end = |role| {
        let family = Family::Tls(Tls { suite: Some(suite), ..Tls::new(Version::DTLS12) });
        let config = SessionConfig::new(role, stack, family, credential.into());
        let config = SessionConfig { seed: [role as u8 + 1; 32], ..config };
        slowhand_sessions::build(&config, Arc::new(Weightless)).unwrap()
    };
    let (mut client, mut server) = (end(Role::Client), end(Role::Server));
    let mut datagrams: Vec<(Role, Vec<u8>)> = Vec::new();
    client.start(Duration::ZERO);
    loop {
        let before = datagrams.len();
        while let Some(datagram) = client.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
            server.handle_input(Duration::ZERO, &datagram);
            datagrams.push((Role::Client, datagram));
        }
        while let Some(datagram) = server.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
            client.handle_input(Duration::ZERO, &datagram);
            datagrams.push((Role::Server, datagram));
        }
        if datagrams.len() == before {
            break;
        }
    }
    assert!(matches!(client.status(), Status::Established { .. }), "{:?}", client.status());

    let path = place(&format!("handshake-{stack}-{suite}-{credential}.pcapng"));
    let mut capture = CaptureWriter::create(&path, None).unwrap();
    capture.secrets(client.key_log().iter().map(String::as_str)).unwrap();
    for (number, (sender, datagram)) in datagrams.iter().enumerate() {
        for frame in frames(number as u8, *sender, datagram) {
            capture.frame(number as u64 * 1_000, 11, Some(number as u64), &frame, None).unwrap();
        }
    }
    capture.finish().unwrap();

    let tshark = Tshark::default().decode_as("udp.port==5684,dtls");
    let rows = tshark.rows_of_file(&path, &["dtls.handshake.type", "_ws.malformed", "wpan.fcs_ok"]);
    // The last handshake message of both is Finished (20), which is encrypted.
    let finished = rows.iter().filter(|row| row[0].split(',').any(|number| number == "20")).count();
    assert_eq!(finished, 2, "{stack} {suite} {credential}: {rows:?}");
    assert!(rows.iter().all(|row| row[1..] == ["", "1"]), "{stack} {suite} {credential}: {rows:?}");
}

/// The frames of a datagram between node 1 and the Internet.
fn frames(sequence: u8, sender: Role, datagram: &[u8]) -> Vec<Vec<u8>> {
    let mut ends = [Endpoint::new(mesh_address(NodeId(1)), 61_617), Endpoint::new(internet_address(), 5_684)];
    let mut link = [Eui64::of_node(NodeId(1)), Eui64::of_node(NodeId::ROOT)];
    if sender == Role::Server {
        ends.reverse();
        link.reverse();
    }
    let mut packet = vec![0; UdpDatagram::HEADERS + datagram.len()];
    udp_datagram(ends[0], ends[1], datagram, &mut packet).unwrap();
    let [source, destination] = link;
    let hop = Link { source, destination };
    let tag = u16::from(sequence);
    let mut fragmenter = Fragmenter::new(&packet, hop, &Contexts::mesh(), tag, FRAME_CAPACITY).unwrap();
    let mut payload = [0; FRAME_CAPACITY];
    let mut frames = Vec::new();
    while let Some(length) = fragmenter.next_frame(&packet, &mut payload).unwrap() {
        let mut octets = [0; frame::MAX_FRAME];
        let length =
            tsch::frame::data(source, destination, None).emit(sequence, &payload[..length], &mut octets).unwrap();
        frames.push([&octets[..length], &frame::fcs(&octets[..length])].concat());
    }
    frames
}

#[test]
fn times_never_run_backwards() {
    let mut capture = CaptureWriter::new(Vec::new(), Path::new("a.pcapng"), None).unwrap();
    capture.frame(20, 11, None, &data_frame(1, &[0]), None).unwrap();
    let error = capture.frame(19, 11, None, &data_frame(2, &[0]), None).unwrap_err();
    assert!(matches!(error, CaptureError::OutOfOrder { time_us: 19, last_us: 20, .. }));
    assert!(error.to_string().starts_with("a.pcapng: a frame of 19 us behind one of 20 us"), "{error}");
    assert!(matches!(capture.secrets([""]), Err(CaptureError::LateSecrets { .. })));
}

#[test]
fn a_path_that_cannot_be_written_is_told_at_once() {
    let path = place("no-such-directory/x.pcapng");
    let error = CaptureWriter::create(&path, None).err().unwrap().to_string();
    assert!(error.starts_with(&format!("{}: cannot write the capture: ", path.display())), "{error}");
}

#[test]
fn a_full_disk_is_told_with_the_path() {
    let capture = CaptureWriter::create(Path::new("/dev/full"), None);
    let error = capture.and_then(CaptureWriter::finish).err().unwrap().to_string();
    assert!(error.starts_with("/dev/full: cannot write the capture: "), "{error}");
}
