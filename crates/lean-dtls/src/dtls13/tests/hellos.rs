//! Hellos, which are in clear: anybody can have made them.

use super::*;
use crate::crypto::{Aead, Group};
use crate::dtls13::hello::RETRY;
use crate::dtls13::server::Answered;

const CCM_8: u16 = 0x1305;
const GCM: u16 = 0x1301;
const VERSION: &[u8] = &[0, 43, 0, 2, 0xfe, 0xfc];
const PSK: &[u8] = &[0, 41, 0, 2, 0, 0];
const COOKIE: &[u8] = &[0, 44, 0, 3, 0, 1, 5];
/// key_share of a HelloRetryRequest.
const ASKS_P256: &[u8] = &[0, 51, 0, 2, 0, 23];
const ASKS_X25519: &[u8] = &[0, 51, 0, 2, 0, 29];

/// A ServerHello, or a HelloRetryRequest by its random number.
struct Hello<'a> {
    version: u16,
    random: [u8; 32],
    session: &'a [u8],
    suite: u16,
    compression: u8,
    extensions: &'a [&'a [u8]],
}

const HELLO: Hello<'_> =
    Hello { version: 0xfefd, random: [9; 32], session: &[], suite: CCM_8, compression: 0, extensions: &[VERSION, PSK] };
const ASKING: Hello<'_> = Hello { random: RETRY, extensions: &[VERSION, COOKIE], ..HELLO };

impl Hello<'_> {
    fn datagram(&self, sequence: u16) -> Vec<u8> {
        let extensions = self.extensions.concat();
        let mut body =
            [&self.version.to_be_bytes()[..], &self.random, &[self.session.len() as u8], self.session].concat();
        body.extend(self.suite.to_be_bytes());
        body.push(self.compression);
        body.extend((extensions.len() as u16).to_be_bytes());
        body.extend(extensions);
        in_clear(Kind::ServerHello, sequence, &body)
    }
}

/// A client that also takes AES-GCM.
fn psk_alone() -> Config<[Psk<'static>; 1]> {
    config(KEYS).with_aeads(&[Aead::Ccm8, Aead::Gcm])
}

/// RFC 8446, sections 4.1.3, 4.1.4 and 4.2; RFC 9147, section 5.4.
#[test]
fn each_hello_of_the_server_that_is_illegal_has_its_alert() {
    const ILLEGAL: Option<u8> = Some(47);
    const UNSUPPORTED: Option<u8> = Some(110);
    for (hello, expected) in [
        (HELLO, None),
        (Hello { suite: GCM, ..HELLO }, None),
        (Hello { version: 0x0303, ..HELLO }, ILLEGAL),
        (Hello { session: &[9], ..HELLO }, ILLEGAL),
        (Hello { compression: 1, ..HELLO }, ILLEGAL),
        // TLS_AES_128_CCM_SHA256 was not offered.
        (Hello { suite: 0x1304, ..HELLO }, ILLEGAL),
        (Hello { extensions: &[PSK], ..HELLO }, Some(70)),
        (Hello { extensions: &[VERSION, PSK, &[0x99, 0x99, 0, 0]], ..HELLO }, UNSUPPORTED),
        (Hello { extensions: &[VERSION, PSK, &[0, 54, 0, 1, 0]], ..HELLO }, UNSUPPORTED),
        (Hello { extensions: &[VERSION, PSK, ASKS_P256], ..HELLO }, UNSUPPORTED),
        (Hello { extensions: &[VERSION, PSK, COOKIE], ..HELLO }, UNSUPPORTED),
        (Hello { extensions: &[VERSION, VERSION, PSK], ..HELLO }, Some(70)),
        (Hello { extensions: &[VERSION, &[0, 41, 0, 2, 0, 1]], ..HELLO }, ILLEGAL),
        (Hello { extensions: &[VERSION], ..HELLO }, Some(40)),
        (ASKING, None),
        (Hello { version: 0x0303, ..ASKING }, ILLEGAL),
        (Hello { session: &[9], ..ASKING }, ILLEGAL),
        (Hello { compression: 1, ..ASKING }, ILLEGAL),
        (Hello { suite: 0x1304, ..ASKING }, ILLEGAL),
        // It asks for nothing; for an empty cookie; for a group that was not offered.
        (Hello { extensions: &[VERSION], ..ASKING }, ILLEGAL),
        (Hello { extensions: &[VERSION, &[0, 44, 0, 2, 0, 0]], ..ASKING }, Some(50)),
        (Hello { extensions: &[VERSION, ASKS_P256], ..ASKING }, ILLEGAL),
    ] {
        let (mut client, _) = End::client(psk_alone());
        client.receive(&hello.datagram(0));
        assert_eq!(client.refused(), expected, "{:02x?}", hello.datagram(0));
    }
}

/// With key agreement on P-256 preferred, and X25519.
#[cfg(feature = "x25519")]
#[test]
fn each_hello_with_a_wrong_group_is_refused() {
    let agreement = || config(KEYS).with_psk_agreement().with_groups(&[Group::P256]);
    let point = |first: u8, octets: u8| {
        let share = [&[0, 51, 0, octets + 4, 0, 23, 0, octets][..], &std::vec![first; octets.into()]].concat();
        [VERSION, PSK, &share].concat()
    };
    for (hello, expected) in [
        // A group that it did not offer, and the one whose share it has sent.
        (Hello { extensions: &[VERSION, ASKS_X25519], ..ASKING }, Some(47)),
        (Hello { extensions: &[VERSION, ASKS_P256], ..ASKING }, Some(47)),
        // No share; a share in another group; no point of the group; a point that is too short.
        (Hello { extensions: &[VERSION, PSK], ..HELLO }, Some(109)),
        (Hello { extensions: &[VERSION, PSK, &[0, 51, 0, 5, 0, 29, 0, 1, 9]], ..HELLO }, Some(109)),
        (Hello { extensions: &[&point(4, 65)], ..HELLO }, Some(47)),
        (Hello { extensions: &[&point(4, 64)], ..HELLO }, Some(47)),
    ] {
        let (mut client, _) = End::client(agreement());
        client.receive(&hello.datagram(0));
        assert_eq!(client.refused(), expected, "{:02x?}", hello.datagram(0));
    }
}

/// RFC 8446, section 4.1.4: what a HelloRetryRequest has chosen, the ServerHello keeps to, and there is no second one.
#[test]
fn a_server_keeps_to_its_hello_retry_request() {
    for (second, expected) in [(HELLO, None), (Hello { suite: GCM, ..HELLO }, Some(47)), (ASKING, Some(10))] {
        let (mut client, _) = End::client(psk_alone());
        client.receive(&ASKING.datagram(0));
        client.receive(&second.datagram(1));
        assert_eq!(client.refused(), expected);
    }
}

/// The first octets of a ClientHello of DTLS 1.3 have one value each (RFC 9147, section 5.3), pre_shared_key is the last extension
/// (RFC 8446, section 4.2.11), and no extension is there twice.
#[test]
fn a_malformed_client_hello_is_none() {
    let (_, hello) = End::client(config(KEYS));
    let body = arrived(&hello).body.to_vec();
    assert!(ClientHello::read(&body).is_some());
    // Version, random number, session, cookie, a suite: the compression method is octet 41, the extensions begin at 44 with
    // supported_versions.
    let changed = |place: usize, value: u8| {
        let mut changed = body.clone();
        changed[place] = value;
        changed
    };
    assert_eq!(body[40..44], [1, 0, 0, body.len() as u8 - 44]);
    assert_eq!(body[44..51], [0, 43, 0, 3, 2, 0xfe, 0xfc]);
    assert_eq!(body[57..59], [0, 41]);
    for (what, malformed) in [
        ("version", changed(1, 0xfc)),
        ("compression", changed(41, 1)),
        ("versions", changed(50, 0xfb)),
        // psk_key_exchange_modes (45) becomes a second supported_versions, or follows pre_shared_key.
        ("twice", changed(52, 43)),
        ("order", {
            let mut swapped = body[..51].to_vec();
            swapped.extend_from_slice(&body[57..]);
            swapped.extend_from_slice(&body[51..57]);
            swapped
        }),
        ("octets after the binders", {
            let mut longer = body.clone();
            longer.push(0);
            longer[43] += 1;
            longer[60] += 1;
            longer
        }),
        ("session", {
            let mut longer = body.clone();
            longer[34] = 33;
            longer.splice(35..35, [9; 33]);
            longer
        }),
    ] {
        assert!(ClientHello::read(&malformed).is_none(), "{what}");
    }
}

/// The answer of a server without a slot for the client.
fn answer(config: &Config<impl Credentials>, hello: &[u8]) -> Result<(), Option<Answered>> {
    let arrived = arrived(hello);
    let hello = ClientHello::read(arrived.body).unwrap();
    server::admit(&mut crypto(false), config, SENDER, &arrived, &hello).map(|_| ())
}

/// A server with nothing in common has no slot for the client.
#[test]
fn each_client_without_anything_in_common_has_its_alert() {
    let other = [Psk { identity: b"sensor-18", key: b"0123456789abcdef" }];
    let agreement = || config(KEYS).with_psk_agreement();
    for (own, peers, expected) in [
        (config(KEYS), config(KEYS), None),
        (agreement(), config(KEYS), None),
        (config(KEYS).with_aeads(&[Aead::Gcm]), config(KEYS), Some(40)),
        (config(other), config(KEYS), Some(115)),
        // psk_ke, where the server wants key agreement.
        (config(KEYS), agreement(), Some(115)),
        (agreement().with_groups(&[Group::X25519]), agreement().with_groups(&[Group::P256]), Some(40)),
    ] {
        let (_, hello) = End::client(own);
        let alert = match answer(&peers, &hello) {
            Ok(()) => None,
            Err(reply) => reply.map(|(octets, length)| octets[length - 1]),
        };
        assert_eq!(alert, expected);
    }
}

/// A ClientHello with another extension before those that it has.
fn with_extension(hello: &[u8], extension: &[u8]) -> Vec<u8> {
    let mut body = arrived(hello).body.to_vec();
    body.splice(44..44, extension.iter().copied());
    let length = u16::from_be_bytes([body[42], body[43]]) + extension.len() as u16;
    body[42..44].copy_from_slice(&length.to_be_bytes());
    in_clear(Kind::ClientHello, 0, &body)
}

#[test]
fn cookies_that_are_not_the_servers_have_their_alert() {
    let (_, hello) = End::client(config(KEYS));
    for (extension, expected) in [
        (&[0, 44, 0, 2, 0, 1][..], 50),
        (&[0, 44, 0, 1, 0], 50),
        (COOKIE, 47),
        (&[&[0, 44, 0, 43, 0, 41][..], &[5; 41]].concat(), 47),
    ] {
        let (octets, length) = answer(&config(KEYS), &with_extension(&hello, extension)).unwrap_err().unwrap();
        assert_eq!(octets[length - 2..length], [2, expected], "{extension:?}");
    }
    // A cookie of DTLS 1.2.
    let mut body = arrived(&hello).body.to_vec();
    body.splice(35..36, [1, 5]);
    let (octets, length) = answer(&config(KEYS), &in_clear(Kind::ClientHello, 0, &body)).unwrap_err().unwrap();
    assert_eq!(octets[length - 2..length], [2, 47]);
}

/// A client whose cookie has returned sends the share that it was asked for, and no other.
#[cfg(feature = "x25519")]
#[test]
fn a_client_without_the_share_that_was_asked_for_is_refused() {
    let own = || config(KEYS).with_psk_agreement();
    let peers = config(KEYS).with_psk_agreement().with_groups(&[Group::X25519]);
    let (_, hello) = End::client(own());
    let (octets, length) = answer(&peers, &hello).unwrap_err().unwrap();
    // HelloRetryRequest: the cookie is its last extension.
    let cookie = &octets[length - 47..length];
    assert_eq!(cookie[..6], [0, 44, 0, 43, 0, 41]);
    let (octets, length) = answer(&peers, &with_extension(&hello, cookie)).unwrap_err().unwrap();
    assert_eq!(octets[length - 2..length], [2, 47]);
}
