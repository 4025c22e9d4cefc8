//! Octets of any kind: nothing panics, and what is not (D)TLS is never called secure.

use proptest::prelude::*;
use slowhand_live::handshake::Watcher;
use slowhand_sessions::Role;
use slowhand_testing::recordings;

const ROLES: [Role; 2] = [Role::Client, Role::Server];

/// The requests and answers of CoAP (RFC 7252 section 3), MQTT (section 3.1) and HTTP.
#[test]
fn other_protocols_are_not_secure() {
    let coap: &[u8] = &[0x44, 1, 0x12, 0x34, 1, 2, 3, 4, 0xb4, b't', b'e', b's', b't'];
    let mqtt: &[u8] = &[0x10, 12, 0, 4, b'M', b'Q', b'T', b'T', 4, 2, 0, 60, 0, 0];
    let http: &[u8] = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n";
    for role in ROLES {
        for mut watcher in [Watcher::of_datagrams(role), Watcher::of_stream(role)] {
            for _ in 0..4 {
                for octets in [coap, mqtt, http, &[]] {
                    watcher.sent(octets);
                    watcher.received(octets);
                }
            }
            assert!(!watcher.is_secure() && !watcher.is_established() && !watcher.is_closed());
        }
    }
}

/// The server's hello cannot take more memory than a record has, and a record that never ends takes none.
#[test]
fn memory_is_bounded() {
    let streams = recordings::datagrams(recordings::OPENSSL_TLS);
    let mut watcher = Watcher::of_stream(Role::Client);
    watcher.sent(&streams.iter().find(|stream| stream.by_client).unwrap().octets);
    // A ServerHello of 2^24 - 1 octets, in records of 2^14.
    let record = [&[22, 3, 3, 0x40, 0][..], &[2, 0xff, 0xff, 0xff], &[0; (1 << 14) - 4]].concat();
    let counted = allocation_counter::measure(|| (0..1000).for_each(|_| watcher.received(&record)));
    assert!(counted.bytes_max < 1 << 17, "{counted:?}");
    assert!(watcher.is_secure() && !watcher.is_established());
}

/// A minute for what takes milliseconds, or hours if the time grew with the square.
#[test]
fn time_grows_with_the_octets_only() {
    let streams = recordings::datagrams(recordings::OPENSSL_TLS);
    let hello = &streams.iter().find(|stream| stream.by_client).unwrap().octets;
    let began = std::time::Instant::now();
    let mut watcher = Watcher::of_stream(Role::Client);
    watcher.sent(hello);
    // HelloRequests of 4 octets, in the longest records that a header can announce, octet by octet and at once.
    let record = [&[22, 3, 3, 0xff, 0xfc][..], &[0; 0xfffc]].concat();
    for _ in 0..100 {
        watcher.received(&record);
    }
    record.iter().for_each(|octet| watcher.received(&[*octet]));
    let mut watcher = Watcher::of_datagrams(Role::Client);
    // Records without content, as many as there is room for.
    let datagram = [22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0].repeat(5000);
    (0..1000).for_each(|_| watcher.received(&datagram));
    assert!(began.elapsed() < std::time::Duration::from_secs(60), "{:?}", began.elapsed());
}

/// A datagram or a piece of a stream, and its direction.
fn any_pieces() -> impl Strategy<Value = Vec<(bool, Vec<u8>)>> {
    let begin = prop_oneof![
        Just(vec![]),
        (20..27_u8).prop_map(|kind| vec![kind, 0xfe, 0xfd, 0]),
        (20..27_u8).prop_map(|kind| vec![kind, 3, 3, 0]),
        (28..64_u8).prop_map(|first| vec![first]),
    ];
    let piece = (begin, prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(begin, rest)| [begin, rest].concat());
    prop::collection::vec((any::<bool>(), piece), 0..30)
}

proptest! {
    #[test]
    fn octets_of_any_kind(pieces in any_pieces(), after_hello: bool) {
        for role in ROLES {
            for (mut watcher, recording) in [
                (Watcher::of_datagrams(role), recordings::OPENSSL),
                (Watcher::of_stream(role), recordings::OPENSSL_TLS),
            ] {
                let hello = &recordings::datagrams(recording)[0];
                if after_hello && hello.by_client {
                    match role {
                        Role::Client => watcher.sent(&hello.octets),
                        Role::Server => watcher.received(&hello.octets),
                    }
                }
                for (is_sent, octets) in &pieces {
                    match is_sent {
                        true => watcher.sent(octets),
                        false => watcher.received(octets),
                    }
                    prop_assert!(watcher.is_secure() || !watcher.is_established());
                    prop_assert!(watcher.is_established() || !watcher.is_closed());
                }
            }
        }
    }

    /// A handshake with damaged octets: no panic, and without any damage the same end.
    #[test]
    fn damaged_handshakes(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        for recording in [recordings::OPENSSL, recordings::OPENSSL_TLS] {
            let mut datagrams = recordings::datagrams(recording);
            for (which, at, octet) in &damage {
                let which = which.index(datagrams.len());
                let at = at.index(datagrams[which].octets.len());
                datagrams[which].octets[at] = *octet;
            }
            let is_stream = recording == recordings::OPENSSL_TLS;
            let mut watcher = if is_stream { Watcher::of_stream(Role::Client) } else { Watcher::of_datagrams(Role::Client) };
            for datagram in &datagrams {
                match datagram.by_client {
                    true => watcher.sent(&datagram.octets),
                    false => watcher.received(&datagram.octets),
                }
            }
            prop_assert!(watcher.is_established() || !damage.is_empty());
        }
    }
}
