//! Limits of the length of records: max_fragment_length (RFC 6066, section 4) and record_size_limit (RFC 8449).

use lean_dtls::{Client, Config, ConfigError, Failure, MaxFragmentLength, Psk, RustCrypto, SendError, Server, Status};

use crate::network::At as _;
use crate::world::{KEYS, Keys, PEER, TestClient, TestServer, config, pair, random, replace, run, run_through};

/// Alerts of RFC 5246, section 7.2, and RFC 8446, section 6.
const ILLEGAL_PARAMETER: u8 = 47;
const UNSUPPORTED_EXTENSION: u8 = 110;

fn fragment(config: Config<Keys>) -> Config<Keys> {
    config.with_max_fragment_length(MaxFragmentLength::Octets512)
}

fn record_size(octets: u16) -> impl Fn(Config<Keys>) -> Config<Keys> {
    move |config| config.with_record_size_limit(octets).unwrap()
}

/// The most that each end may send, client first.
fn limits(client: &TestClient, server: &TestServer) -> [usize; 2] {
    [client.max_data(20_000), server.max_data_at(PEER, 20_000).unwrap()]
}

#[test]
fn each_end_keeps_to_what_was_agreed() {
    const NONE: usize = 1 << 14;
    let cases: [(&str, (TestClient, TestServer), [usize; 2]); 7] = [
        ("a length", pair(fragment, fragment), [512, 512]),
        (
            "a length that the client chose",
            pair(fragment, |config| config.with_max_fragment_length(MaxFragmentLength::Octets4096)),
            [512, 512],
        ),
        ("a server that does not know it", pair(fragment, |config| config), [NONE, NONE]),
        ("a client that does not ask", pair(|config| config, fragment), [NONE, NONE]),
        ("a size in each direction", pair(record_size(64), record_size(100)), [100, 64]),
        ("a size, and a server that does not know it", pair(record_size(64), |config| config), [NONE, NONE]),
        // RFC 8449, section 5: the size counts if a server has both.
        (
            "both",
            pair(|config| fragment(record_size(64)(config)), |config| fragment(record_size(100)(config))),
            [100, 64],
        ),
    ];
    for (name, (mut client, mut server), expected) in cases {
        run(&mut client, &mut server, []);
        assert_eq!(
            (client.status(), server.status_at(PEER)),
            (Status::Established, Some(Status::Established)),
            "{name}"
        );
        assert_eq!(limits(&client, &server), expected, "{name}");
    }
}

#[test]
fn what_is_longer_than_the_peer_takes_is_not_sent() {
    let (mut client, mut server) = pair(record_size(64), record_size(100));
    run(&mut client, &mut server, []);
    let mut datagram = [0; 200];
    assert_eq!(client.send(&[0; 101], &mut datagram), Err(SendError::TooLong));
    assert_eq!(client.send(&[0; 100], &mut datagram), Ok(100 + 29));
    assert_eq!(server.send_at(PEER, &[0; 65], &mut datagram), Err(SendError::TooLong));
    assert_eq!(server.send_at(PEER, &[0; 64], &mut datagram), Ok(64 + 29));
}

/// The extensions as RFC 6066 (1: one octet, 1 is 2^9) and RFC 8449 (28: two octets) have them.
#[test]
fn the_octets_of_the_extensions() {
    let (mut client, mut server) = pair(|config| fragment(record_size(300)(config)), fragment);
    let sent = run_through(&mut client, &mut server, |_, _| {});
    let has = |datagram: &[u8], octets: &[u8]| datagram.windows(octets.len()).any(|window| window == octets);
    assert!(has(&sent[0], &[0, 1, 0, 1, 1]) && has(&sent[0], &[0, 28, 0, 2, 1, 44]), "{:?}", sent[0]);
    assert!(has(&sent[3], &[0, 1, 0, 1, 1]) && !has(&sent[3], &[0, 28, 0, 2]), "{:?}", sent[3]);
}

/// A ClientHello or ServerHello whose octets somebody has changed: who reads it ends the handshake with this alert.
#[test]
fn values_that_the_standards_forbid_are_refused() {
    type Change = fn(Config<Keys>) -> Config<Keys>;
    let size: Change = |config| config.with_record_size_limit(64).unwrap();
    let both: Change = |config| fragment(config).with_record_size_limit(64).unwrap();
    let length = [0, 1, 0, 1, 1];
    let small = [0, 28, 0, 2, 0, 64];
    for (is_to_server, change, old, new, alert) in [
        (true, fragment as Change, &length[..], &[0, 1, 0, 1, 0][..], ILLEGAL_PARAMETER),
        (true, fragment, &length, &[0, 1, 0, 1, 5], ILLEGAL_PARAMETER),
        (false, fragment, &length, &[0, 1, 0, 1, 2], ILLEGAL_PARAMETER),
        (true, size, &small, &[0, 28, 0, 2, 0, 63], ILLEGAL_PARAMETER),
        (false, size, &small, &[0, 28, 0, 2, 0, 63], ILLEGAL_PARAMETER),
        (false, size, &small, &[0, 28, 0, 2, 0x40, 1], ILLEGAL_PARAMETER),
        // A number that nobody has asked for.
        (false, size, &small, &[0, 54, 0, 2, 0, 64], UNSUPPORTED_EXTENSION),
    ] {
        let (mut client, mut server) = pair(change, change);
        run_through(&mut client, &mut server, |to_server, datagram| {
            if to_server == is_to_server {
                replace(datagram, old, new);
            }
        });
        let status = if is_to_server { server.status_at(PEER).unwrap() } else { client.status() };
        assert_eq!(status, Status::Failed(Failure::AlertSent(alert)), "{is_to_server} {new:?}");
    }
    // Both in one ServerHello (RFC 8449, section 5).
    let (mut client, mut server) = pair(both, both);
    run_through(&mut client, &mut server, |to_server, datagram| {
        let Some(place) = datagram.windows(6).position(|window| window == small).filter(|_| !to_server) else { return };
        datagram.splice(place..place, length);
        // The lengths of the record, of the message and of its fragment; then that of the extensions, before the first one.
        [12, 13 + 3, 13 + 11, place - 10].iter().for_each(|octet| datagram[*octet] += 5);
    });
    assert_eq!(client.status(), Status::Failed(Failure::AlertSent(ILLEGAL_PARAMETER)));
}

#[test]
fn a_record_size_limit_that_the_standard_forbids_is_no_configuration() {
    for octets in [63, (1 << 14) + 1] {
        assert_eq!(config(KEYS, 256).with_record_size_limit(octets).err(), Some(ConfigError::RecordSizeLimit));
    }
}

/// An identity of 600 octets makes a ClientKeyExchange of 602: two fragments, of which each has a header of 12.
#[test]
fn handshake_messages_are_cut_to_the_length() {
    let identity = [b'i'; 600];
    let keys = [Psk { identity: &identity, key: b"0123456789abcdef" }];
    let config =
        Config::new(keys, 1400, Default::default()).unwrap().with_max_fragment_length(MaxFragmentLength::Octets512);
    let mut client = Client::<_, _, 1024>::new(config, RustCrypto::new(random(1)));
    let mut server = Server::<_, _, [u8; 2], 1, 1024>::new(config, RustCrypto::new(random(2)));
    let now = lean_dtls::Instant::from_millis(0);
    let (mut datagram, mut longest) = ([0; 1400], 0);
    client.connect();
    for _ in 0..4 {
        while let length @ 1.. = client.poll_transmit(now, &mut datagram) {
            longest = longest.max(usize::from(u16::from_be_bytes([datagram[11], datagram[12]])));
            server.hear(PEER, &mut datagram[..length], |_| {});
        }
        while let Some((_, length)) = server.poll_transmit(now, &mut datagram) {
            client.receive(&mut datagram[..length], |_| {});
        }
    }
    assert_eq!((client.status(), longest), (Status::Established, 512));
}
