//! The extensions of lean-dtls on the wire, as Wireshark reads them.

use lean_dtls::{Client, Config, Instant, Liveness, MaxFragmentLength, Psk, RustCrypto, Server};
use slowhand_testing::wireshark::{Pcap, Transport, Tshark};

const PEER: [u8; 1] = [1];
const KEYS: [Psk<'static>; 1] = [Psk { identity: b"sensor-17", key: b"0123456789abcdef" }];

fn random(mut seed: u8) -> impl FnMut(&mut [u8]) {
    move |octets| {
        for octet in octets {
            seed = seed.wrapping_mul(5).wrapping_add(17);
            *octet = seed;
        }
    }
}

/// A handshake of these configurations, and a heartbeat of the client. Whose datagram each is, and its octets.
fn conversation(configs: [Config<[Psk<'static>; 1]>; 2]) -> Vec<(bool, Vec<u8>)> {
    let [client, server] = configs;
    let mut client = Client::<_, _, 256>::new(client, RustCrypto::new(random(1)));
    let mut server = Server::<_, _, _, 1, 256>::new(server, RustCrypto::new(random(2)));
    let (now, mut output, mut sent) = (Instant::from_millis(0), [0; 300], Vec::new());
    client.connect();
    for round in 0..6 {
        if round == 4 {
            client.heartbeat().unwrap();
        }
        while let length @ 1.. = client.poll_transmit(now, &mut output) {
            sent.push((true, output[..length].to_vec()));
            server.receive(PEER, &mut output[..length], |_| {});
        }
        while let Some((_, length)) = server.poll_transmit(now, &mut output) {
            sent.push((false, output[..length].to_vec()));
            client.receive(&mut output[..length], |_| {});
        }
    }
    assert!(matches!(client.liveness(), Liveness::Alive { .. }));
    sent
}

fn rows(sent: &[(bool, Vec<u8>)], tshark: Tshark, fields: &[&str]) -> Vec<Vec<String>> {
    let payloads = sent.iter().map(|(by_client, octets)| (*by_client, &octets[..]));
    tshark.decode_as("udp.port==5684,dtls").rows(&Pcap::of_payloads(Transport::Udp, payloads), fields)
}

fn config() -> Config<[Psk<'static>; 1]> {
    Config::new(KEYS, 300, Default::default()).unwrap().with_heartbeats()
}

/// RFC 7627: 23; RFC 6066: 1; RFC 8449: 28; RFC 9146: 54; RFC 6520: 15; RFC 5077: 35; RFC 5746: 65281.
#[test]
fn the_extensions_of_both_hellos() {
    let both = |id| config().with_record_size_limit(200).unwrap().with_connection_id(id).unwrap().with_tickets();
    let sent = conversation([both(2).with_max_fragment_length(MaxFragmentLength::Octets512), both(3)]);
    let fields =
        ["dtls.handshake.extension.type", "dtls.handshake.extension.heartbeat.mode", "dtls.connection_id_length"];
    let rows = rows(&sent, Tshark::default(), &fields);
    assert_eq!(rows[0], ["23,1,28,54,15,35", "1", "2"]);
    assert_eq!(rows[2], rows[0]);
    assert_eq!(rows[3], ["23,65281,28,54,15,35", "1", "3"]);
}

/// The records of epoch 1 have the type tls12_cid, and the ID of their receiver.
#[test]
fn the_records_with_connection_ids() {
    let with = |id| config().with_connection_id(id).unwrap();
    let sent = conversation([with(0), with(3)]);
    let rows = rows(&sent, Tshark::default(), &["dtls.record.content_type", "dtls.record.connection_id"]);
    // The client's Finished, and its request. Wireshark says no content type of a record that hides it.
    let [finished, request, answer] = [sent.len() - 4, sent.len() - 2, sent.len() - 1];
    assert_eq!((sent[request].1[0], rows[request][1].len()), (25, 6), "{rows:?}");
    assert_eq!(rows[finished], ["22,20", rows[request][1].as_str()], "{rows:?}");
    assert_eq!(rows[answer], ["24", ""], "the client's ID is empty: {rows:?}");
}

/// Decrypted with the pre-shared key.
#[test]
fn a_heartbeat_and_its_answer() {
    let sent = conversation([config(), config()]);
    let key: String = KEYS[0].key.iter().map(|octet| format!("{octet:02x}")).collect();
    let fields =
        ["dtls.heartbeat_message.type", "dtls.heartbeat_message.payload_length", "dtls.heartbeat_message.payload"];
    let rows = rows(&sent, Tshark::default().option(&format!("dtls.psk:{key}")), &fields);
    let [.., request, answer] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((request[0].as_str(), request[1].as_str()), ("1", "4"), "{rows:?}");
    assert_eq!((answer[0].as_str(), answer[1].as_str()), ("2", "4"), "{rows:?}");
    assert_eq!(request[2], answer[2]);
}
