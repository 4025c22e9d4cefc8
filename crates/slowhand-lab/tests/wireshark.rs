//! A whole handshake as Wireshark sees it: real octets at every layer, the session decrypted.

use slowhand_lab::capture_run;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A run of the quick start, one hop, with these changes; its record and its capture.
fn captured(name: &str, changes: &[&str]) -> (Record, PathBuf) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/quickstart.toml");
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    let scenario = Scenario::load(&file, &changes).unwrap_or_else(|error| panic!("{error}"));
    let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcapng"));
    let mut records = capture_run(&scenario, 1, &capture).unwrap();
    assert_eq!(records.len(), 1);
    (records.remove(0), capture)
}

/// One line for each frame that the filter lets through, with these fields between tabs.
fn tshark(capture: &Path, filter: &str, fields: &[&str]) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(capture).args(["-Y", filter, "-T", "fields"]);
    // The prefixes of the two header compression contexts are not on the air.
    command.args(["-o", "6lowpan.context0:2001:db8::/64", "-o", "6lowpan.context1:2001:db8:0:1::/64"]);
    fields.iter().for_each(|field| {
        command.args(["-e", field]);
    });
    let output = command.output().unwrap_or_else(|error| panic!("tshark: {error}; ./test installs it"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// What holds of every capture, however much was lost.
fn check(record: &Record, capture: &Path) {
    assert_eq!(tshark(capture, "_ws.malformed", &["frame.number"]), [""; 0], "nothing is malformed");
    assert_eq!(tshark(capture, "wpan.fcs_ok == 0", &["frame.number"]), [""; 0], "every check sequence is right");
    assert_eq!(tshark(capture, "udp.checksum.status == 0", &["frame.number"]), [""; 0], "every UDP checksum is right");

    // Frames and octets are those of the record: the PSDU is what the capture holds behind the TAP header.
    for (frame_type, frames, bytes) in
        [("0x1", record.frames, record.bytes_phy), ("0x2", record.frames_ack, record.bytes_ack)]
    {
        let lengths = tshark(capture, &format!("wpan.frame_type == {frame_type}"), &["frame.len", "wpan-tap.length"]);
        assert_eq!(lengths.len() as u64, frames);
        let psdu = |line: &String| {
            let (whole, tap) = line.split_once('\t').unwrap();
            whole.parse::<u64>().unwrap() - tap.parse::<u64>().unwrap()
        };
        assert_eq!(lengths.iter().map(psdu).sum::<u64>(), bytes);
    }

    // Fragments come together again and every message of the handshake is there, Finished decrypted in both directions.
    assert!(!tshark(capture, "6lowpan.reassembled.length", &["frame.number"]).is_empty());
    let types: BTreeSet<u32> = tshark(capture, "dtls.handshake.type", &["dtls.handshake.type"])
        .iter()
        .flat_map(|line| line.split(',').map(|number| number.parse().unwrap()).collect::<Vec<_>>())
        .collect();
    // ClientHello, ServerHello, HelloVerifyRequest, Certificate, ServerKeyExchange, CertificateRequest, ServerHelloDone,
    // CertificateVerify, ClientKeyExchange, Finished (RFC 5246, section 7.4, and RFC 6347, section 4.3.2).
    assert_eq!(types, BTreeSet::from([1, 2, 3, 11, 12, 13, 14, 15, 16, 20]));
    for direction in ["udp.dstport == 5684", "udp.srcport == 5684"] {
        let finished = tshark(capture, &format!("dtls.handshake.type == 20 and {direction}"), &["frame.number"]);
        assert!(!finished.is_empty(), "{direction}: Finished is decrypted");
    }

    let times = tshark(capture, "frame", &["frame.time_epoch"]);
    assert!(times.is_sorted_by_key(|time| time.parse::<f64>().unwrap().to_bits()), "times are monotonic");
}

#[test]
fn without_loss() {
    let (record, capture) = captured("lossless", &["network.link_pdr=1.0", "session.timeout_s=10"]);
    assert_eq!((record.outcome, record.datagrams), (Outcome::Completed, 6));
    check(&record, &capture);
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
