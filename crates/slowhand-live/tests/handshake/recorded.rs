//! Recorded handshakes of OpenSSL's own programs.

use slowhand_live::handshake::Watcher;
use slowhand_sessions::Role;
use slowhand_testing::hex;
use slowhand_testing::recordings::{self, Datagram};
use slowhand_wire::{ContentType, dtls};

/// Shows a recording to a watcher; the number of the datagram at which the end is established.
fn established_at(watcher: &mut Watcher, role: Role, datagrams: &[Datagram]) -> Option<usize> {
    datagrams.iter().position(|datagram| {
        match datagram.by_client == (role == Role::Client) {
            true => watcher.sent(&datagram.octets),
            false => watcher.received(&datagram.octets),
        }
        watcher.is_established()
    })
}

/// By hand from the recordings: the last datagram is the server's ChangeCipherSpec and Finished, with which both ends are
/// established.
#[test]
fn dtls_of_openssl() {
    for recording in [recordings::OPENSSL, recordings::OPENSSL_FRAGMENTS] {
        let datagrams = recordings::datagrams(recording);
        let finished = datagrams.iter().position(|datagram| {
            let mut records = dtls::records(&datagram.octets, None).flatten();
            !datagram.by_client
                && records.any(|record| record.content_type == ContentType::Handshake && record.epoch == 1)
        });
        for role in [Role::Client, Role::Server] {
            let mut watcher = Watcher::of_datagrams(role);
            assert_eq!(established_at(&mut watcher, role, &datagrams), finished);
            assert!(finished.is_some() && watcher.is_secure() && watcher.alert().is_none());
        }
    }
}

/// The client's stream, and then the server's: both have all that the handshake has.
#[test]
fn tls_of_openssl_in_pieces_of_any_size() {
    let streams = recordings::datagrams(recordings::OPENSSL_TLS);
    for size in 1..300 {
        let pieces = |stream: &Datagram| -> Vec<Datagram> {
            let of = |octets: &[u8]| Datagram { by_client: stream.by_client, octets: octets.to_vec() };
            stream.octets.chunks(size).map(of).collect()
        };
        let pieces: Vec<Datagram> = streams.iter().flat_map(pieces).collect();
        for role in [Role::Client, Role::Server] {
            let mut watcher = Watcher::of_stream(role);
            assert!(established_at(&mut watcher, role, &pieces).is_some(), "{size}");
        }
    }
}

/// The ServerHello of RFC 8448 section 3, the complete record. A HelloRetryRequest has the same form.
const SERVER_HELLO: &str = "160303005a020000560303a6af06a4121860dc5e6e60249cd34c95930c8ac5cb1434dac155772ed3e2692800130100\
    002e00330024001d0020c9828876112095fe66762bdbf7c672e156d6cc253b833df1dd69b1b04e751f0f002b00020304";

/// By hand from RFC 8446 section 2.1 and appendix D.4: ChangeCipherSpec comes before the second hellos, which are in the
/// clear. In TLS 1.2 a handshake record behind it is a Finished.
#[test]
fn a_hello_retry_request_is_no_finished() {
    let change_cipher_spec = &[20, 3, 3, 0, 1, 1][..];
    let client_hello = &[22, 3, 3, 0, 6, 1, 0, 0, 2, 3, 3][..];
    let server_hello = &hex::octets(SERVER_HELLO)[..];
    // EncryptedExtensions to Finished; a Finished of SHA-256 alone.
    let (servers_flight, finished) =
        ([&[23, 3, 3, 2, 0][..], &[7; 512]].concat(), [&[23, 3, 3, 0, 53][..], &[7; 53]].concat());
    let conversation = [
        (true, [client_hello, change_cipher_spec].concat()),
        (false, [server_hello, change_cipher_spec].concat()),
        (true, client_hello.to_vec()),
        (false, [server_hello, &servers_flight].concat()),
        (true, finished),
    ];
    let datagrams = conversation.map(|(by_client, octets)| Datagram { by_client, octets });
    for role in [Role::Client, Role::Server] {
        assert_eq!(established_at(&mut Watcher::of_stream(role), role, &datagrams), Some(4));
    }
}
