//! Nobody on the path can make two ends that speak DTLS 1.3 speak DTLS 1.2.

use lean_dtls::{Failure, Instant, Status, Versions};

use super::world::{KEYS, PEER, TestClient, TestServer, client, config, from_client, from_server, replace, server};
use crate::network::At as _;

const NOW: Instant = Instant::from_millis(0);

/// supported_versions (43) with both versions.
const SUPPORTED_VERSIONS: [u8; 9] = [0, 43, 0, 5, 4, 0xfe, 0xfc, 0xfe, 0xfd];

/// The end of the random number of a server that has chosen DTLS 1.2, and of one that has chosen an earlier version.
const DOWNGRADE: [&[u8]; 2] = [b"DOWNGRD\x01", b"DOWNGRD\x00"];

/// The client has refused the server with illegal_parameter (RFC 8446, section 6).
const REFUSED: Status = Status::Failed(Failure::AlertSent(47));

fn ends() -> (TestClient, TestServer) {
    let both = || config(KEYS, 512).with_versions(Versions::Both);
    let (mut client, server) = (client(1, both()), server(both()));
    client.connect();
    (client, server)
}

/// Runs the handshake through somebody who changes each datagram. True: it goes to the server.
fn run_through(client: &mut TestClient, server: &mut TestServer, mut change: impl FnMut(bool, &mut Vec<u8>)) {
    for _ in 0..5 {
        for mut datagram in from_client(client, NOW) {
            change(true, &mut datagram);
            server.hear(PEER, &mut datagram, |_| panic!("delivered"));
        }
        for mut datagram in from_server(server, NOW) {
            change(false, &mut datagram);
            client.receive(&mut datagram, |_| panic!("delivered"));
        }
    }
}

/// Makes supported_versions an extension that nobody knows.
fn strip(datagram: &mut [u8]) {
    let mut other = SUPPORTED_VERSIONS;
    other[0] = 0x99;
    replace(datagram, &SUPPORTED_VERSIONS, &other);
}

/// A HelloVerifyRequest with a cookie of 4 octets.
fn verify_request() -> Vec<u8> {
    let body = [0xfe, 0xff, 4, 1, 2, 3, 4];
    let record = [22, 0xfe, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12 + 7];
    [&record[..], &[3, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 7], &body].concat()
}

#[test]
fn a_client_sees_that_its_offer_of_dtls13_was_taken_out() {
    let (mut client, mut server) = ends();
    run_through(&mut client, &mut server, |is_to_server, datagram| {
        if is_to_server {
            strip(datagram)
        }
    });
    assert_eq!(client.status(), REFUSED);
    assert_eq!(server.versions_at(PEER), Some(Versions::Dtls12));
}

/// RFC 8446, section 4.1.3, has a second value, of servers that choose a version before DTLS 1.2. No server would choose DTLS 1.2
/// with it.
#[test]
fn so_it_does_if_the_server_names_an_even_earlier_version() {
    let (mut client, mut server) = ends();
    run_through(&mut client, &mut server, |is_to_server, datagram| match is_to_server {
        true => strip(datagram),
        false => _ = replace(datagram, DOWNGRADE[0], DOWNGRADE[1]),
    });
    assert_eq!(client.status(), REFUSED);
}

/// If the server's sign is taken out too, both ends have other transcripts, and so other keys (RFC 7627).
#[test]
fn if_the_sign_is_taken_out_too_the_keys_differ() {
    let (mut client, mut server) = ends();
    let mut is_replaced = false;
    run_through(&mut client, &mut server, |is_to_server, datagram| match is_to_server {
        true => strip(datagram),
        false => is_replaced |= replace(datagram, DOWNGRADE[0], b"12345678"),
    });
    assert!(is_replaced);
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Handshaking, Some(Status::Handshaking)));
}

/// Somebody answers in the name of the server, as if it spoke DTLS 1.2 only. The server speaks DTLS 1.3, in which there is no such
/// cookie (RFC 9147, section 5.3).
#[test]
fn a_forged_hello_verify_request_opens_nothing() {
    let (mut client, mut server) = ends();
    from_client(&mut client, NOW);
    client.receive(&mut verify_request(), |_| {});
    let mut with_cookie = from_client(&mut client, NOW).remove(0);
    assert_eq!(with_cookie[60..65], [4, 1, 2, 3, 4]);
    server.hear(PEER, &mut with_cookie, |_| {});
    assert_eq!(server.status_at(PEER), None);
    assert!(from_server(&mut server, NOW)[0].ends_with(&[2, 47]));
    // Who then takes out the offer of DTLS 1.3, and brings the server's cookie, is found too.
    let (mut client, mut server) = ends();
    from_client(&mut client, NOW);
    client.receive(&mut verify_request_of(&mut server), |_| {});
    run_through(&mut client, &mut server, |is_to_server, datagram| {
        if is_to_server {
            strip(datagram)
        }
    });
    assert_eq!(client.status(), REFUSED);
}

/// The server's cookie for the client of this test, whose offer of DTLS 1.3 somebody takes out.
fn verify_request_of(server: &mut TestServer) -> Vec<u8> {
    let (mut same, _) = ends();
    let mut hello = from_client(&mut same, NOW).remove(0);
    strip(&mut hello);
    server.hear(PEER, &mut hello, |_| {});
    from_server(server, NOW).remove(0)
}

/// Whoever has sent a HelloVerifyRequest cannot speak DTLS 1.3: the two cannot be mixed.
#[test]
fn after_a_hello_verify_request_there_is_no_dtls13() {
    let (mut client, mut server) = ends();
    let mut hello = from_client(&mut client, NOW).remove(0);
    server.hear(PEER, &mut hello, |_| {});
    let mut retry = from_server(&mut server, NOW).remove(0);
    client.receive(&mut verify_request(), |_| {});
    from_client(&mut client, NOW);
    retry[13 + 5] = 1; // the next message
    client.receive(&mut retry, |_| {});
    assert_eq!(client.status(), REFUSED);
}

/// In DTLS 1.3 a HelloVerifyRequest is not believed (RFC 9147, section 5.1): not before the server's first message, and not after
/// it.
#[test]
fn a_client_of_dtls13_does_not_answer_a_hello_verify_request() {
    let versions = [Versions::Dtls13, Versions::Both];
    for (versions, has_retry) in versions.into_iter().flat_map(|versions| [(versions, false), (versions, true)]) {
        if (versions, has_retry) == (Versions::Both, false) {
            continue; // it does
        }
        let both = || config(KEYS, 512).with_versions(Versions::Both);
        let (mut client, mut server) = (client(1, both().with_versions(versions)), server(both()));
        client.connect();
        let mut hello = from_client(&mut client, NOW).remove(0);
        if has_retry {
            server.hear(PEER, &mut hello, |_| {});
            client.receive(&mut from_server(&mut server, NOW).remove(0), |_| {});
            from_client(&mut client, NOW);
        }
        let mut request = verify_request();
        request[13 + 5] = has_retry.into();
        client.receive(&mut request, |_| {});
        assert!(from_client(&mut client, NOW).is_empty());
        super::world::run(&mut client, &mut server, []);
        // The first timeout: what was sent above is lost.
        assert_eq!(
            (client.status(), client.versions()),
            (Status::Established, Versions::Dtls13),
            "{versions:?} {has_retry}"
        );
    }
}

/// The cookies of both versions have one key. Somebody who chooses a ClientHello of DTLS 1.2 so that its cookie is made of what that
/// of DTLS 1.3 would be made of does not get one.
#[test]
fn a_cookie_of_one_version_is_none_of_the_other() {
    let (mut client, mut server) = ends();
    let hello = from_client(&mut client, NOW).remove(0);
    // Version, random number, session of 22 octets, no cookie, two suites, no compression: 65 octets without the cookie's length,
    // as many as random number, group and digest.
    let random: [u8; 32] = core::array::from_fn(|place| if place == 30 { 0 } else { 7 });
    let before = [&[0xfe, 0xfd][..], &random, &[22], &[9; 22]].concat();
    let after = [0, 4, 0xc0, 0xa8, 0, 0xff, 1, 0];
    let body = [&before[..], &[0], &after].concat();
    let length = body.len() as u8;
    let header = [1, 0, 0, length, 0, 0, 0, 0, 0, 0, 0, length];
    let record = [22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12 + length];
    server.hear(PEER, &mut [&record[..], &header, &body].concat(), |_| {});
    let answer = from_server(&mut server, NOW).remove(0);
    assert_eq!((answer[13], answer.len()), (3, 13 + 12 + 3 + 16), "a HelloVerifyRequest");
    let mac = &answer[28..36];

    // The hello of DTLS 1.3 with this random number, and these 41 octets as the cookie.
    let made_of = [&before[..], &after].concat();
    assert_eq!(made_of.len(), 32 + 1 + 32);
    let mut forged = hello;
    forged[27..59].copy_from_slice(&made_of[..32]);
    let place = forged.windows(9).position(|octets| octets == SUPPORTED_VERSIONS).unwrap();
    let cookie = [&[0, 44, 0, 43, 0, 41][..], &made_of[32..], mac].concat();
    forged.splice(place..place, cookie.iter().copied());
    let added = cookie.len() as u16;
    // The lengths of record, message, fragment and extensions.
    for at in [11, 15, 23, extensions_at(&forged)] {
        let longer = u16::from_be_bytes([forged[at], forged[at + 1]]) + added;
        forged[at..at + 2].copy_from_slice(&longer.to_be_bytes());
    }
    server.hear(PEER, &mut forged, |_| {});
    assert_eq!(server.status_at(PEER), None);
    assert!(from_server(&mut server, NOW)[0].ends_with(&[2, 47]));
}

/// Where the length of the extensions is in a ClientHello without session and cookie.
fn extensions_at(hello: &[u8]) -> usize {
    let suites = u16::from_be_bytes([hello[61], hello[62]]);
    63 + usize::from(suites) + 2
}
