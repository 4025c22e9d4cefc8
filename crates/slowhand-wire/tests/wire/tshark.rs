//! Wireshark's dissectors read the same octets, and see the same in them.

use slowhand_testing::recordings::{self, Datagram};
use slowhand_testing::wireshark::{Pcap, Transport, Tshark};
use slowhand_wire::{ContentType, dtls, tls};

const FIELDS_OF_DTLS: [&str; 9] = [
    "dtls.record.content_type",
    "dtls.record.epoch",
    "dtls.record.sequence_number",
    "dtls.record.length",
    "dtls.handshake.type",
    "dtls.handshake.length",
    "dtls.handshake.message_seq",
    "dtls.handshake.fragment_offset",
    "dtls.handshake.fragment_length",
];

const FIELDS_OF_TLS: [&str; 4] =
    ["tls.record.content_type", "tls.record.length", "tls.handshake.type", "tls.handshake.length"];

/// The view of tshark of these payloads: a line for each, with the values of the fields between tabs.
fn tshark(transport: Transport, rule: &str, payloads: &[Datagram], fields: &[&str]) -> Vec<String> {
    let payloads = payloads.iter().map(|payload| (payload.by_client, &payload.octets[..]));
    let rows = Tshark::default().decode_as(rule).rows(&Pcap::of_payloads(transport, payloads), fields);
    rows.iter().map(|row| row.join("	")).collect()
}

/// The numbers as tshark writes them.
fn list<T: ToString>(numbers: impl Iterator<Item = T>) -> String {
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

/// The view of this crate of a datagram, as tshark writes it.
fn line(datagram: &Datagram) -> String {
    let records: Vec<_> = dtls::records(&datagram.octets, Some(0)).map(Result::unwrap).collect();
    let fragments: Vec<_> = records.iter().flat_map(|record| record.fragments()).map(Result::unwrap).collect();
    [
        list(records.iter().map(|record| u8::from(record.content_type))),
        list(records.iter().map(|record| record.epoch)),
        list(records.iter().map(|record| record.sequence_number)),
        list(records.iter().map(|record| record.fragment.len())),
        list(fragments.iter().map(|fragment| u8::from(fragment.message_type))),
        list(fragments.iter().map(|fragment| fragment.length)),
        list(fragments.iter().map(|fragment| fragment.message_seq)),
        list(fragments.iter().map(|fragment| fragment.fragment_offset)),
        list(fragments.iter().map(|fragment| fragment.body.len())),
    ]
    .join("\t")
}

#[test]
fn tshark_sees_the_same_records_and_fragments() {
    for (name, recording) in [("openssl", recordings::OPENSSL), ("openssl-fragments", recordings::OPENSSL_FRAGMENTS)] {
        let datagrams = recordings::datagrams(recording);
        let expected = tshark(Transport::Udp, "udp.port==5684,dtls", &datagrams, &FIELDS_OF_DTLS);
        let seen: Vec<String> = datagrams.iter().map(line).collect();
        assert_eq!(seen, expected, "{name}");
    }
}

/// The line of a stream of TLS 1.2. What follows ChangeCipherSpec is encrypted.
fn line_of_stream(stream: &Datagram) -> String {
    let records: Vec<_> = tls::records(&stream.octets).map(Result::unwrap).collect();
    let in_the_clear = records.iter().take_while(|record| record.content_type != ContentType::ChangeCipherSpec);
    let messages: Vec<_> = in_the_clear.flat_map(|record| tls::messages(record.fragment)).map(Result::unwrap).collect();
    [
        list(records.iter().map(|record| u8::from(record.content_type))),
        list(records.iter().map(|record| record.fragment.len())),
        list(messages.iter().map(|message| u8::from(message.message_type))),
        list(messages.iter().map(|message| message.body.len())),
    ]
    .join("\t")
}

#[test]
fn tshark_sees_the_same_records_and_messages_of_tls() {
    let streams = recordings::datagrams(recordings::OPENSSL_TLS);
    for stream in streams {
        let expected = tshark(Transport::Tcp, "tcp.port==5684,tls", std::slice::from_ref(&stream), &FIELDS_OF_TLS);
        assert_eq!([line_of_stream(&stream)], expected[..], "by the client: {}", stream.by_client);
    }
}
