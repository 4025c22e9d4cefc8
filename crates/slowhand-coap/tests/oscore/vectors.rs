//! Appendix C.4 to C.8 of RFC 8613, octet by octet. C.1 to C.3, the nonces and the associated data are tested inside the crate.

use coap_lite::Packet;
use slowhand_coap::oscore::{Context, Parameters, RustCrypto};
use slowhand_testing::hex::{octets, text};

use super::{CLIENT, accepted, derived, mirrored};

/// An end whose sequence number is 20.
fn at_20(parameters: &Parameters<'_>) -> Context {
    derived(parameters).after_restart(20, [0; 8])
}

fn packet(hexadecimal: &str) -> Packet {
    Packet::from_bytes(&octets(hexadecimal)).unwrap()
}

const REQUEST: &str = "44015d1f00003974396c6f63616c686f737483747631";
const PROTECTED: &str = "44025d1f00003974396c6f63616c686f7374620914ff612f1092f1776f1c1668b3825e";

#[test]
fn requests_are_those_of_the_standard() {
    for (parameters, unprotected, protected) in [
        // C.4
        (CLIENT, REQUEST, PROTECTED),
        // C.5
        (
            Parameters { master_salt: &[], sender_id: &[0], ..CLIENT },
            "440171c30000b932396c6f63616c686f737483747631",
            "440271c30000b932396c6f63616c686f737463091400ff4ed339a5a379b0b8bc731fffb0",
        ),
        // C.6
        (
            Parameters { id_context: Some(&[0x37, 0xcb, 0xf3, 0x21, 0x00, 0x17, 0xa2, 0xd3]), ..CLIENT },
            "44012f8eef9bbf7a396c6f63616c686f737483747631",
            "44022f8eef9bbf7a396c6f63616c686f73746b19140837cbf3210017a2d3ff72cd7273fd331ac45cffbe55c3",
        ),
    ] {
        let (ours, _) = at_20(&parameters).protect_request(&packet(unprotected), &mut RustCrypto).unwrap();
        assert_eq!(text(&ours.to_bytes().unwrap()), protected);
        let mut server = derived(&mirrored(&parameters));
        let (request, _) = accepted(server.unprotect_request(&packet(protected), &mut RustCrypto).unwrap());
        assert_eq!(text(&request.to_bytes().unwrap()), unprotected);
    }
}

#[test]
fn responses_are_those_of_the_standard() {
    let unprotected = "64455d1f00003974ff48656c6c6f20576f726c6421";
    for (has_partial_iv, protected) in [
        // C.7
        (false, "64445d1f0000397490ffdbaad1e9a7e7b2a813d3c31524378303cdafae119106"),
        // C.8
        (true, "64445d1f00003974920100ff4d4c13669384b67354b2b6175ff4b8658c666a6cf88e"),
    ] {
        let mut server = derived(&mirrored(&CLIENT));
        let (_, mut exchange) = accepted(server.unprotect_request(&packet(PROTECTED), &mut RustCrypto).unwrap());
        if has_partial_iv {
            exchange.use_own_sequence_number();
        }
        let ours = server.protect_response(&packet(unprotected), &mut exchange, &mut RustCrypto).unwrap();
        assert_eq!(text(&ours.to_bytes().unwrap()), protected);

        let mut client = at_20(&CLIENT);
        let (_, mut exchange) = client.protect_request(&packet(REQUEST), &mut RustCrypto).unwrap();
        let response = client.unprotect_response(&packet(protected), &mut exchange, &mut RustCrypto).unwrap();
        assert_eq!(text(&response.to_bytes().unwrap()), unprotected);
    }
}
