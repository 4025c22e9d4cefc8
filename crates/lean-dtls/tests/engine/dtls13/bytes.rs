//! Octets of handshakes, counted by hand.

use super::world::{KEYS, Trace, client, config, run, server};

fn sizes(trace: &Trace) -> Vec<usize> {
    trace.iter().map(|(_, _, datagram)| datagram.len()).collect()
}

// A record in clear has 13 octets of header; an encrypted one has 2 (without its length), the type of its content and a tag
// of 8. A message has a header of 12.
const IN_CLEAR: usize = 13;
const ENCRYPTED: usize = 2 + 1 + 8;
const MESSAGE: usize = 12;

// Version, random number, session, cookie, 1 suite, compression, length of extensions; supported_versions,
// psk_key_exchange_modes, and pre_shared_key with an identity of 9 octets and a binder.
const CLIENT_HELLO: usize = 2 + 32 + 1 + 1 + 4 + 2 + 2 + 7 + 6 + (4 + (2 + 2 + 9 + 4) + (2 + 1 + 32));
// Version, random number, session, suite, compression, length of extensions; supported_versions, pre_shared_key.
const SERVER_HELLO: usize = 2 + 32 + 1 + 2 + 1 + 2 + 6 + 6;
const FINISHED: usize = 32;
// A length and the number of one record.
const ACK: usize = 2 + 16;
// The group, a digest, and 8 octets of a MAC.
const COOKIE: usize = 1 + 32 + 8;

/// ServerHello, then EncryptedExtensions (two octets of length) and Finished in one record.
const SERVER_FLIGHT: usize = IN_CLEAR + MESSAGE + SERVER_HELLO + ENCRYPTED + MESSAGE + 2 + MESSAGE + FINISHED;

#[test]
fn a_handshake_without_a_cookie() {
    let server_config = config(KEYS, 256).without_cookie();
    let (trace, at) = run(&mut client(1, config(KEYS, 256)), &mut server(server_config), []);
    let expected = [IN_CLEAR + MESSAGE + CLIENT_HELLO, SERVER_FLIGHT, ENCRYPTED + MESSAGE + FINISHED, ENCRYPTED + ACK];
    assert_eq!((sizes(&trace), at), (expected.to_vec(), 0));
    assert_eq!(expected, [138, 146, 55, 29]);
    assert_eq!(expected.iter().sum::<usize>(), 368);
}

#[test]
fn a_handshake_with_a_cookie() {
    let (trace, at) = run(&mut client(1, config(KEYS, 256)), &mut server(config(KEYS, 256)), []);
    let expected = [
        IN_CLEAR + MESSAGE + CLIENT_HELLO,
        // As a ServerHello, with a cookie in place of the key.
        IN_CLEAR + MESSAGE + SERVER_HELLO - 6 + 4 + 2 + COOKIE,
        IN_CLEAR + MESSAGE + CLIENT_HELLO + 4 + 2 + COOKIE,
        SERVER_FLIGHT,
        ENCRYPTED + MESSAGE + FINISHED,
        ENCRYPTED + ACK,
    ];
    assert_eq!((sizes(&trace), at), (expected.to_vec(), 0));
    assert_eq!(expected, [138, 118, 185, 146, 55, 29]);
    assert_eq!(expected.iter().sum::<usize>(), 671);
}

/// Only the last record of a datagram leaves out its length (RFC 9147, section 4.1), in datagrams of every size.
#[test]
fn the_last_record_of_a_datagram_has_no_length() {
    const UNIFIED: u8 = 0b0010_0000;
    const HAS_LENGTH: u8 = 0b0000_0100;
    for mtu in 64..=200 {
        let (trace, _) = run(&mut client(1, config(KEYS, 256)), &mut server(config(KEYS, mtu)), []);
        for (_, _, datagram) in trace.iter().filter(|(_, is_to_server, _)| !is_to_server) {
            let mut rest = &datagram[..];
            while let Some(first) = rest.first() {
                let (header, has_length) = match first & 0b1110_0000 == UNIFIED {
                    // First octet, one of the sequence number, length.
                    true => (4, first & HAS_LENGTH != 0),
                    false => (IN_CLEAR, true),
                };
                if !has_length {
                    break;
                }
                let length = usize::from(u16::from_be_bytes([rest[header - 2], rest[header - 1]]));
                rest = &rest[header + length..];
                assert!(header == IN_CLEAR || !rest.is_empty(), "{mtu}: 2 octets too many");
            }
        }
    }
}

/// No record in clear has the number of another one: neither those of a HelloRetryRequest in fragments nor the ServerHello.
#[test]
fn each_record_in_clear_has_its_own_number() {
    for mtu in 64..=200 {
        let (trace, _) = run(&mut client(1, config(KEYS, 256)), &mut server(config(KEYS, mtu)), []);
        let sent = trace.iter().filter(|(_, is_to_server, datagram)| !is_to_server && datagram[0] == 22);
        let numbers: Vec<_> = sent.map(|(_, _, datagram)| datagram[3..11].to_vec()).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next), "{mtu}: {numbers:?}");
    }
}
