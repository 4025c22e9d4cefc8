//! tshark reads what two of our ends say: every field has to be as intended.

use super::pair::{Pair, endpoint};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::{Ipv6Header, next_header};
use slowhand_net::transport::dccp::{Body, DccpConfig, Options, Packet};
use slowhand_testing::hex;
use slowhand_testing::wireshark::{Pcap, Tshark};

#[test]
fn every_field_is_as_intended() {
    let config = DccpConfig { ack_ratio: 1, ..DccpConfig::default() };
    // One packet is lost, so that a vector has a hole.
    let mut pair = Pair::new(
        &config,
        Box::new(|number| match number {
            6 => vec![],
            _ => vec![(Duration::from_millis(50), false)],
        }),
    );
    pair.run_for(Duration::from_secs(1));
    for number in 0..6u8 {
        pair.send(0, &vec![number; 30 + usize::from(number)]);
        pair.send(1, &[number; 3]);
    }
    pair.run_for(Duration::from_secs(2));
    pair.send(1, b"odd");
    pair.close(1);
    pair.run_for(Duration::from_secs(5));

    let mut capture = Pcap::of_packets();
    for sent in &pair.log {
        let [source, destination] = [endpoint(sent.end).address, endpoint(1 - sent.end).address];
        let header = Ipv6Header {
            traffic_class: sent.ecn as u8,
            flow_label: 0,
            payload_length: sent.octets.len() as u16,
            next_header: next_header::DCCP,
            hop_limit: 64,
            source,
            destination,
        };
        capture.packet(sent.at.since(Instant::ZERO).as_micros(), &[&header.emit()[..], &sent.octets].concat());
    }
    let fields = [
        "dccp.srcport",
        "dccp.dstport",
        "dccp.data_offset",
        "dccp.ccval",
        "dccp.cscov",
        "dccp.checksum.status",
        "dccp.type",
        "dccp.x",
        "dccp.seq_raw",
        "dccp.ack_raw",
        "dccp.service_code",
        "dccp.reset_code",
        "dccp.option_type",
        "dccp.ack_vector.nonce_0",
        "data.data",
        "_ws.expert",
    ];
    let rows = Tshark::default().option("dccp.relative_sequence_numbers:FALSE").rows(&capture, &fields);
    assert_eq!(rows.len(), pair.log.len());
    let mut kinds = std::collections::BTreeSet::new();
    let mut has_hole = false;
    for (row, sent) in rows.iter().zip(&pair.log) {
        let packet = Packet::parse(&sent.octets).unwrap();
        kinds.insert(packet.body.name());
        let [from, to] = [endpoint(sent.end).port, endpoint(1 - sent.end).port];
        let options: Vec<_> = Options::new(packet.options).collect();
        let vectors: Vec<String> =
            options.iter().filter(|option| option.kind == 38).map(|option| hex::text(option.data)).collect();
        has_hole |= options.iter().any(|option| option.kind == 38 && option.data.iter().any(|octet| octet >> 6 == 3));
        let (service, reset) = match packet.body {
            Body::Request { service_code } | Body::Response { service_code, .. } => {
                (service_code.to_string(), String::new())
            }
            Body::Reset { code, .. } => (String::new(), code.0.to_string()),
            _ => Default::default(),
        };
        let expected = [
            from.to_string(),
            to.to_string(),
            sent.octets[4].to_string(),
            "0".into(),
            "0".into(),
            "1".into(), // good
            (sent.octets[8] >> 1).to_string(),
            "1".into(),
            packet.seq.to_string(),
            packet.body.ack().map_or_else(String::new, |ack| ack.to_string()),
            service,
            reset,
            options.iter().map(|option| option.kind.to_string()).collect::<Vec<_>>().join(","),
            vectors.join(","),
            hex::text(packet.payload),
            String::new(),
        ];
        let kinds_only = |row: &[String]| -> Vec<String> {
            // tshark lists each octet of padding as an option.
            let mut row = row.to_vec();
            row[12] = row[12].split(',').filter(|kind| *kind != "0").collect::<Vec<_>>().join(",");
            row
        };
        assert_eq!(kinds_only(row), expected, "{} at {}", packet.body.name(), sent.at);
    }
    assert!(has_hole);
    let expected = ["Ack", "Close", "CloseReq", "Data", "DataAck", "Request", "Reset", "Response"];
    assert!(expected.iter().all(|kind| kinds.contains(&format!("DCCP-{kind}")[..])), "{kinds:?}");
}
