//! Wireshark reads a whole handshake: real octets at every layer, the session decrypted.

use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_lab::{capture_run, wireshark_arguments};
use slowhand_net::address::{NodeId, internet_address, mesh_address};
use slowhand_testing::hex;
use slowhand_testing::wireshark::{self, Tshark};
use slowhand_wire::dtls;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A run of the quick start, one hop, with these changes; its record and its capture.
fn captured(name: &str, changes: &[&str]) -> (Record, PathBuf) {
    captured_of("../../scenarios/quickstart.toml", name, changes)
}

/// A run of another scenario, with these changes; its record and its capture.
fn captured_of(scenario: &str, name: &str, changes: &[&str]) -> (Record, PathBuf) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(scenario);
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    let scenario = Scenario::load(&file, &changes).unwrap_or_else(|error| panic!("{error}"));
    let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcapng"));
    let mut records = capture_run(&scenario, 1, &capture, &Interrupt::default()).unwrap().unwrap();
    assert_eq!(records.len(), 1);
    (records.remove(0), capture)
}

/// One line for each frame that the filter lets through, with these fields between tabs.
fn tshark(capture: &Path, filter: &str, fields: &[&str]) -> Vec<String> {
    let tshark = Tshark::default().decode_as("tcp.port==5684,tls").filter(filter);
    tshark.rows_of_file(capture, fields).iter().map(|row| row.join("	")).collect()
}

/// The messages of a handshake that a capture has, by their types: all, and those that the server or the client receives.
struct Messages {
    all: BTreeSet<u32>,
    received: [BTreeSet<u32>; 2],
}

impl Messages {
    /// Finished (RFC 5246, section 7.4) is decrypted in both directions.
    fn has_both_finished(&self) -> bool {
        self.received.iter().all(|types| types.contains(&20))
    }
}

/// True of every capture of DTLS, however many frames were lost: every message of the handshake is there.
fn check(record: &Record, capture: &Path) {
    let messages = check_frames(record, capture);
    // ClientHello, ServerHello, HelloVerifyRequest, Certificate, ServerKeyExchange, CertificateRequest, ServerHelloDone,
    // CertificateVerify, ClientKeyExchange, Finished (RFC 5246, section 7.4, and RFC 6347, section 4.3.2).
    assert_eq!(messages.all, BTreeSet::from([1, 2, 3, 11, 12, 13, 14, 15, 16, 20]));
    assert!(messages.has_both_finished(), "Finished is decrypted");
}

/// True of the frames of every capture. Returns the messages in it. tshark takes long to start, so it is asked twice only.
fn check_frames(record: &Record, capture: &Path) -> Messages {
    let wrong = "_ws.malformed or wpan.fcs_ok == 0 or udp.checksum.status == 0 or tcp.checksum.status == 0";
    let found = tshark(capture, wrong, &["frame.number"]);
    assert_eq!(found, [""; 0], "nothing is malformed, and every check sequence and checksum is right");

    let rows: Vec<Vec<String>> = tshark(
        capture,
        "frame",
        &[
            "ipv6.src",
            "wpan.frame_type",
            "frame.len",
            "wpan-tap.length",
            "6lowpan.reassembled.length",
            "frame.time_epoch",
            "udp.dstport",
            "tcp.dstport",
            "dtls.handshake.type",
            "tls.handshake.type",
        ],
    )
    .iter()
    .map(|line| line.split('\t').map(str::to_owned).collect())
    .collect();
    let column = |index: usize| rows.iter().map(move |row| row[index].as_str()).filter(|value| !value.is_empty());

    // The prefixes are not on the air. The checksum does not notice if words of a prefix are exchanged.
    let ends = [mesh_address(NodeId(1)), internet_address()].map(|address| address.to_string());
    assert_eq!(BTreeSet::from_iter(column(0)), BTreeSet::from(ends.each_ref().map(String::as_str)));

    // Frames and octets are those of the record: the PSDU is what the capture holds behind the TAP header.
    for (frame_type, frames, bytes) in [(1, record.frames, record.bytes_phy), (2, record.frames_ack, record.bytes_ack)]
    {
        let is_of_type =
            |row: &&Vec<String>| u32::from_str_radix(row[1].trim_start_matches("0x"), 16) == Ok(frame_type);
        let psdu = |row: &Vec<String>| row[2].parse::<u64>().unwrap() - row[3].parse::<u64>().unwrap();
        let lengths: Vec<u64> = rows.iter().filter(is_of_type).map(psdu).collect();
        assert_eq!((lengths.len() as u64, lengths.iter().sum::<u64>()), (frames, bytes));
    }

    assert!(column(4).next().is_some(), "fragments are reassembled");
    assert!(column(5).is_sorted_by_key(|time| time.parse::<f64>().unwrap().to_bits()), "times are monotonic");

    let types = |row: &Vec<String>| -> Vec<u32> {
        let types = row[8..].iter().filter(|value| !value.is_empty()).flat_map(|value| value.split(','));
        types.map(|number| number.parse().unwrap()).collect()
    };
    let to_server = |row: &&Vec<String>| row[6..8].iter().any(|port| port == "5684");
    Messages {
        all: rows.iter().flat_map(types).collect(),
        received: [
            rows.iter().filter(to_server).flat_map(types).collect(),
            rows.iter().filter(|row| !to_server(row)).flat_map(types).collect(),
        ],
    }
}

/// tshark decrypts OSCORE with the arguments that we print, and sees EDHOC's messages where its standard has them.
#[test]
fn tshark_reads_messages_of_coap() {
    let read = |protocol: &str, filter, fields: &[&str]| {
        let changes = [format!("session.protocol={protocol}"), "network.link_pdr=1.0".to_owned()];
        let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
        let scenario = Scenario::load(Path::new("../../scenarios/edhoc.toml"), &changes).unwrap();
        let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{protocol}.pcapng"));
        let records = capture_run(&scenario, 1, &capture, &Interrupt::default()).unwrap().unwrap();
        assert_eq!(records[0].data.as_ref().unwrap().outcome, Outcome::Completed);
        let tshark = Tshark::of(wireshark_arguments(&scenario)).option("udp.check_checksum:TRUE");
        let rows = tshark.filter(filter).rows_of_file(&capture, fields);
        assert!(rows.iter().all(|row| row[0] == "1"), "{protocol}: a checksum is wrong");
        let mut seen: Vec<String> = rows.iter().map(|row| row[1..].join(" ")).collect();
        seen.dedup(); // each frame crosses two hops
        seen
    };
    // POST with its path, and 2.04 (RFC 7252 section 12.1); 40 octets with and without payload are 29 and 31 of it.
    let fields = ["udp.checksum.status", "oscore.code", "oscore.opt.uri_path", "oscore.payload_length"];
    assert_eq!(read("oscore", "oscore", &fields), ["2 d 29", "68  31"]);
    // message_1 behind `true`, message_2, message_3 behind C_R, nothing; then the protected messages.
    let fields = ["udp.checksum.status", "coap.code", "coap.opt.uri_path", "coap.payload_length"];
    let path = ".well-known,edhoc";
    assert_eq!(
        read("edhoc", "coap && !oscore", &fields),
        [format!("2 {path} 38"), "68  45".to_owned(), format!("2 {path} 20"), "68  ".to_owned()]
    );
}

/// The arguments that `slowhand run --pcap` prints are enough: addresses, checksums and messages are shown as they are. Each
/// prefix is needed.
#[test]
fn the_arguments_that_we_print_show_a_capture_as_it_is() {
    let ports = ["session.server_port=7777", "network.link_pdr=1.0"];
    for (name, change, protocol) in
        [("udp", "session.protocol=dtls1.2", "dtls"), ("tcp", "session.protocol=tls1.2", "tls")]
    {
        let changes: Vec<Override> = [change].iter().chain(&ports).map(|text| text.parse().unwrap()).collect();
        let scenario = Scenario::load(Path::new("../../scenarios/quickstart.toml"), &changes).unwrap();
        let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("arguments-{name}.pcapng"));
        let records = capture_run(&scenario, 1, &capture, &Interrupt::default()).unwrap().unwrap();
        assert_eq!(records[0].outcome, Outcome::Completed);
        let arguments = wireshark_arguments(&scenario);
        assert_eq!(
            arguments.iter().filter(|argument| argument.starts_with("6lowpan.context")).count(),
            2,
            "{arguments:?}"
        );
        let is_right = |arguments: &[String]| {
            let (handshakes, sum) = (format!("{protocol}.handshake.type"), format!("{name}.checksum.status"));
            let check = format!("{name}.check_checksum:TRUE");
            let tshark = Tshark::of(arguments.to_vec()).option(&check).filter("ipv6.plen");
            let rows = tshark.rows_of_file(&capture, &["ipv6.src", &sum, &handshakes]);
            let ends = BTreeSet::from([mesh_address(NodeId(1)), internet_address()].map(|address| address.to_string()));
            rows.iter().map(|row| row[0].clone()).collect::<BTreeSet<_>>() == ends
                && rows.iter().all(|row| row[1] == "1")
                && rows.iter().any(|row| row[2].split(',').any(|number| number == "20"))
        };
        assert!(is_right(&arguments), "{arguments:?}");
        for context in 0..2 {
            let fewer = [&arguments[..2 * context], &arguments[2 * context + 2..]].concat();
            assert!(!is_right(&fewer), "context {context} is not needed");
        }
    }
}

#[test]
fn without_loss() {
    let (record, capture) = captured("lossless", &["network.link_pdr=1.0", "session.timeout_s=10"]);
    assert_eq!((record.outcome, record.datagrams), (Outcome::Completed, 6));
    check(&record, &capture);
}

/// With RSA there is no ServerKeyExchange. A resumed session has only the two Hellos and Finished (RFC 5246, sections
/// 7.4.3 and 7.3).
#[test]
fn by_rsa_and_resumed() {
    let rsa = ["session.suite=TLS_RSA_WITH_AES_128_CBC_SHA", "session.mtu=512"];
    for (name, changes, messages) in [
        ("rsa", &rsa[..], &[1, 2, 3, 11, 13, 14, 15, 16, 20][..]),
        ("id", &["session.resumption=id"], &[1, 2, 3, 20]),
        ("ticket", &["session.resumption=ticket"], &[1, 2, 3, 20]),
    ] {
        let changes = [&["network.link_pdr=1.0", "session.timeout_s=10"], changes].concat();
        let (record, capture) = captured(name, &changes);
        assert_eq!(record.outcome, Outcome::Completed);
        let seen = check_frames(&record, &capture);
        assert_eq!(seen.all, BTreeSet::from_iter(messages.iter().copied()), "{name}");
        assert!(seen.has_both_finished(), "{name}");
    }
}

#[test]
fn with_losses_on_the_link_and_above_it() {
    for seed_change in ["session.timeout_s=3", "session.timeout_s=4", "session.timeout_s=5"] {
        let changes = ["network.link_pdr=0.95", "lowpan.fragment_loss=0.05", seed_change];
        let (record, capture) = captured("lossy", &changes);
        assert_eq!(record.outcome, Outcome::Completed);
        assert!(record.datagrams_lost > 0 && record.frames > record.frames_ack, "something was lost: {record:?}");
        check(&record, &capture);
    }
}

/// A data frame that its destination received is acknowledged at once, in the same slot, with the same number.
#[test]
fn comments_name_the_frames_that_were_not_received() {
    let (record, capture) = captured("comments-link", &["network.link_pdr=0.8"]);
    let frames = tshark(&capture, "wpan", &["wpan.frame_type", "wpan.seq_no", "frame.comment"]);
    let fields = |line: &String| -> Vec<String> { line.split('\t').map(str::to_owned).collect() };
    let frames: Vec<Vec<String>> = frames.iter().map(fields).collect();
    let mut lost = 0;
    for (frame, next) in frames.iter().zip(frames.iter().skip(1).map(Some).chain([None])) {
        let is_acknowledged = next.is_some_and(|next| next[0] == "0x0002" && next[1] == frame[1]);
        let is_lost = frame[0] == "0x0001" && !is_acknowledged;
        let says_so = frame[2].contains("not received: lost on the link to node ");
        if frame[0] == "0x0001" {
            assert_eq!(says_so, is_lost, "{frame:?}, {next:?}");
            lost += usize::from(is_lost);
        }
    }
    assert!(lost > 5 && record.outcome == Outcome::Completed);
}

#[test]
fn comments_say_what_was_dropped_and_what_was_sent_needlessly() {
    // Frame 8 is the third fragment of the server's flight.
    let quiet = ["network.link_pdr=1.0", "session.timeout_s=20"];
    let (record, capture) = captured("comments-drop", &[&quiet[..], &["lowpan.dropped_frames=[8]"]].concat());
    let comments =
        |capture: &Path| tshark(capture, "frame.comment", &["wpan.dst64", "6lowpan.frag.offset", "frame.comment"]);
    let dropped: Vec<String> = comments(&capture).into_iter().filter(|line| line.contains("dropped")).collect();
    let [line] = &dropped[..] else { panic!("{dropped:?}") };
    let [to, offset, comment] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
    assert_eq!(to, "02:12:74:00:00:00:00:01");
    assert!(offset.parse::<u32>().unwrap() > 100, "neither its first fragment nor its second");
    assert_eq!(comment, "ServerHello to ServerHelloDone was dropped at node 1 (the scenario asks for it)");
    let needed = comments(&capture).iter().filter(|line| line.ends_with("is sent again: needed")).count();
    assert!(needed > 0 && record.retransmissions_needed > 0);

    // The server's flight again, because the client computes for longer than the server's timer.
    let (record, capture) =
        captured("comments-again", &["network.link_pdr=1.0", "session.timeout_s=20", "session.server_timeout_s=1"]);
    let spurious = comments(&capture).iter().filter(|line| line.contains("is sent again: spurious")).count();
    assert!(spurious > 0 && record.retransmissions_spurious > 0 && record.retransmissions_needed == 0);
    let (_, capture) = captured("comments-none", &quiet);
    assert_eq!(comments(&capture), [""; 0]);
}

#[test]
fn tls_over_tcp_with_and_without_losses() {
    // TLS 1.2 has the messages of DTLS without the cookie. TLS 1.3 (RFC 8446, section 4) also has EncryptedExtensions
    // and, if the server sends one, NewSessionTicket; it has no ServerHelloDone and no key exchange messages.
    let tls12 = BTreeSet::from([1, 2, 11, 12, 13, 14, 15, 16, 20]);
    let tls13 = BTreeSet::from([1, 2, 8, 11, 13, 15, 20]);
    for (protocol, suite, messages) in
        [("tls1.2", "TLS_ECDHE_ECDSA_WITH_AES_128_CCM", tls12), ("tls1.3", "TLS_AES_128_GCM_SHA256", tls13)]
    {
        for (loss, pdr) in [("0.0", "1.0"), ("0.05", "0.95")] {
            let changes = [
                "session.stack=mbedtls".to_owned(),
                "server.at=internet".to_owned(),
                format!("session.protocol={protocol}"),
                format!("session.suite={suite}"),
                format!("lowpan.fragment_loss={loss}"),
                format!("network.link_pdr={pdr}"),
            ];
            let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
            let (record, capture) = captured_of("tests/lab/one-hop.toml", &format!("{protocol}-{loss}"), &changes);
            assert_eq!(record.outcome, Outcome::Completed);
            let seen = check_frames(&record, &capture);
            assert!(seen.all.is_superset(&messages), "{protocol} at {loss}: {:?}", seen.all);
            assert!(seen.has_both_finished(), "{protocol} at {loss}: Finished is decrypted");
            assert_eq!(record.datagrams_lost > 0, loss != "0.0", "{record:?}");
        }
    }
}

/// The numbers as tshark writes them.
fn list<T: ToString>(numbers: impl Iterator<Item = T>) -> String {
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

/// Our reader of DTLS sees what tshark sees: the records and fragments of every library, and records with a connection
/// ID. It has no keys, so tshark gets none. Nothing is lost or repeated, because tshark stops reading a datagram after
/// a fragment that overlaps others.
#[test]
fn our_reader_sees_the_same_records_and_fragments() {
    const ONE_HOP: &str = "tests/lab/one-hop.toml";
    const QUICKSTART: &str = "../../scenarios/quickstart.toml";
    let lossless = ["network.link_pdr=1.0", "session.timeout_s=20"];
    for (name, scenario, changes, connection_id) in [
        ("read-tinydtls", ONE_HOP, &["session.stack=tinydtls"][..], 0),
        ("read-mbedtls", QUICKSTART, &["session.mtu=512"], 0),
        ("read-openssl", QUICKSTART, &["session.stack=openssl", "session.mtu=300"], 0),
        ("read-connection-id", QUICKSTART, &["session.connection_id=4"], 4),
    ] {
        let (record, capture) = captured_of(scenario, name, &[changes, &lossless].concat());
        assert_eq!((record.outcome, record.retransmissions_needed), (Outcome::Completed, 0), "{name}");
        let fields = [
            "udp.payload",
            "dtls.record.epoch",
            "dtls.record.sequence_number",
            "dtls.record.length",
            "dtls.handshake.type",
            "dtls.handshake.length",
            "dtls.handshake.message_seq",
            "dtls.handshake.fragment_offset",
            "dtls.handshake.fragment_length",
        ];
        let without_keys = capture.with_extension("encrypted.pcapng");
        let [from, to] = [&capture, &without_keys].map(|file| file.to_str().unwrap());
        wireshark::run("editcap", &["--discard-all-secrets", from, to]);
        let lines = tshark(&without_keys, "dtls", &fields);
        assert_eq!(lines.len() as u64, record.datagrams, "{name}");
        for line in lines {
            let (payload, expected) = line.split_once('\t').unwrap();
            let datagram = hex::octets(payload);
            let records: Vec<_> = dtls::records(&datagram, Some(connection_id)).map(Result::unwrap).collect();
            let fragments: Vec<_> = records.iter().flat_map(|record| record.fragments()).map(Result::unwrap).collect();
            let seen = [
                list(records.iter().map(|record| record.epoch)),
                list(records.iter().map(|record| record.sequence_number)),
                list(records.iter().map(|record| record.fragment.len())),
                list(fragments.iter().map(|fragment| u8::from(fragment.message_type))),
                list(fragments.iter().map(|fragment| fragment.length)),
                list(fragments.iter().map(|fragment| fragment.message_seq)),
                list(fragments.iter().map(|fragment| fragment.fragment_offset)),
                list(fragments.iter().map(|fragment| fragment.body.len())),
            ];
            assert_eq!(seen.join("\t"), expected, "{name}: {payload}");
        }
    }
}

/// Wireshark knows the records of DTLS 1.3 from version 4.4 on, and Debian 12 has 4.0. So a second implementation, in Python,
/// decrypts them: it takes the secrets out of the capture, and the datagrams from tshark.
#[test]
fn a_second_implementation_decrypts_a_capture_of_dtls_1_3() {
    let psk = "session.auth=psk";
    // EncryptedExtensions, CertificateRequest, Certificate, CertificateVerify, Finished (RFC 8446, section 4).
    for (suite, changes, of_server, of_client) in [
        ("TLS_AES_128_CCM_8_SHA256", &[psk, "session.mtu=100"][..], &["8", "20"][..], &["20"][..]),
        ("TLS_AES_128_CCM_SHA256", &[psk, "session.connection_id=3"], &["8", "20"], &["20"]),
        ("TLS_AES_128_GCM_SHA256", &["session.mtu=200"], &["8", "13", "11", "15", "20"], &["11", "15", "20"]),
    ] {
        let suite_change = format!("session.suite={suite}");
        let lean = ["session.stack=lean-dtls", "session.protocol=dtls1.3", "server.at=internet", &suite_change];
        let changes = [&lean[..], changes].concat();
        let (record, capture) = captured_of("tests/lab/one-hop.toml", &format!("decrypted-{suite}"), &changes);
        assert_eq!(record.outcome, Outcome::Completed);
        check_frames(&record, &capture);

        let records = decrypted(&capture);
        // The messages of an end, each once, in the order in which they were sent.
        let messages = |sender: &str| {
            let begin = format!("{sender} 2 ");
            let handshake =
                records.iter().filter(|record| record.starts_with(&begin) && record.contains(" handshake "));
            let mut messages: Vec<&str> = handshake.flat_map(|record| record.split(' ').skip(4)).collect();
            messages.dedup();
            messages
        };
        assert_eq!((messages("server"), messages("client")), (of_server.to_vec(), of_client.to_vec()), "{records:?}");
        // The server acknowledges the client's Finished with the keys of the data.
        let last = records.last().unwrap();
        assert!(last.starts_with("server 3 0 ack 0010"), "{records:?}");
    }
}

/// The encrypted records of a capture of DTLS 1.3, as a second implementation decrypts them.
fn decrypted(capture: &Path) -> Vec<String> {
    let datagrams = tshark(capture, "udp", &["udp.dstport", "udp.payload"]);
    let input: String = datagrams
        .iter()
        .map(|line| {
            let (port, payload) = line.split_once('\t').unwrap();
            format!("{} {payload}\n", if port == "5684" { "client" } else { "server" })
        })
        .collect();
    let script = "../lean-dtls/tests/second_implementation/dtls13.py";
    let mut command = Command::new("python3");
    let mut python =
        command.args(["-B", script]).arg(capture).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    python.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{input}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Their payload means nothing, so no dissector may take them for its own: as CoAP they would be malformed.
#[test]
fn the_datagrams_of_other_traffic_are_no_protocol_and_nothing_is_malformed() {
    let flow = "traffic=[{ from = 1, to = \"internet\", interval_ms = 300, octets = 60 }]";
    let (record, capture) = captured("traffic", &[flow]);
    let found =
        tshark(&capture, "_ws.malformed or _ws.expert.severity == error", &["frame.number", "_ws.expert.message"]);
    assert_eq!(found, [""; 0]);
    let protocols = tshark(&capture, "udp.dstport == 9 and udp.srcport == 9", &["frame.protocols", "udp.length"]);
    assert!(record.traffic.sent > 0 && protocols.len() as u64 >= record.traffic.sent);
    for line in &protocols {
        // 8 octets of the header (RFC 768) and 60.
        assert!(line.ends_with("udp:data\t68"), "{line}");
    }
}
