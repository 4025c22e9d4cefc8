//! Wireshark's dissectors read the same octets, and see the same in them.

use crate::golden::{self, Datagram};
use slowhand_wire::{ContentType, dtls, tls};
use std::fmt::Write as _;
use std::process::Command;

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

/// What tshark sees in these payloads of UDP or TCP between the port of a client and 5684: a line for each, with the values
/// of the fields between tabs.
fn tshark<'a>(
    name: &str,
    transport: [&str; 2],
    payloads: impl Iterator<Item = (bool, &'a [u8])>,
    fields: &[&str],
) -> Vec<String> {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (text, capture) = (directory.join(format!("{name}.txt")), directory.join(format!("{name}.pcap")));
    let mut dump = String::new();
    for (by_client, octets) in payloads {
        write!(dump, "{}\n000000", if by_client { "O" } else { "I" }).unwrap();
        octets.iter().for_each(|octet| write!(dump, " {octet:02x}").unwrap());
        dump.push('\n');
    }
    std::fs::write(&text, dump).unwrap();
    let [option, decode] = transport;
    let mut text2pcap = Command::new("text2pcap");
    text2pcap.args(["-q", "-D", "-F", "pcap", option, "5684,40000"]).args([&text, &capture]);
    run(&mut text2pcap);
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&capture).args(["-d", decode, "-T", "fields"]);
    fields.iter().for_each(|field| {
        tshark.args(["-e", field]);
    });
    run(&mut tshark).lines().map(str::to_owned).collect()
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; ./test installs it"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The numbers as tshark writes them.
fn list<T: ToString>(numbers: impl Iterator<Item = T>) -> String {
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

/// What this crate sees in a datagram, as tshark writes it.
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
    for (name, recording) in [("openssl", golden::OPENSSL), ("openssl-fragments", golden::OPENSSL_FRAGMENTS)] {
        let datagrams = golden::datagrams(recording);
        let payloads = datagrams.iter().map(|datagram| (datagram.by_client, &datagram.octets[..]));
        let expected = tshark(name, ["-u", "udp.port==5684,dtls"], payloads, &FIELDS_OF_DTLS);
        let seen: Vec<String> = datagrams.iter().map(line).collect();
        assert_eq!(seen, expected, "{name}");
    }
}

/// The same of a stream of TLS 1.2. What follows ChangeCipherSpec is encrypted.
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
    let streams = golden::datagrams(golden::OPENSSL_TLS);
    for (name, stream) in [("tls-client", &streams[0]), ("tls-server", &streams[1])] {
        let payload = std::iter::once((stream.by_client, &stream.octets[..]));
        let expected = tshark(name, ["-T", "tcp.port==5684,tls"], payload, &FIELDS_OF_TLS);
        assert_eq!([line_of_stream(stream)], expected[..], "{name}");
    }
}
