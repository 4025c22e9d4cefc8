//! Joining a 6TiSCH network: what a pledge, its join proxy and the registrar say to each other, and what each refuses.

mod peer;
mod properties;

use slowhand_coap::cojp::{Address, Error, JoinRequest, Key, Pledge, Proxy, Registrar};
use slowhand_coap::oscore::{self, RustCrypto};

const SECRET: [u8; 16] =
    [0xde, 0xad, 0xbe, 0xef, 0xca, 0xfe, 0xde, 0xad, 0xbe, 0xef, 0xca, 0xfe, 0xde, 0xad, 0xbe, 0xef];
const DEVICE: [u8; 8] = [0x02, 0x12, 0x74, 0, 0, 0, 0, 5];
const NETWORK: [u8; 2] = [0xca, 0xfe];
const FROM: Address = Address { identifier: [0x00, 0x12, 0x74, 0, 0, 0, 0, 5], port: 5683 };

fn key() -> Key {
    Key { id: 1, usage: 0, value: [0xe6; 16], additional: None }
}

fn registrar() -> Registrar {
    let mut registrar = Registrar::new(&NETWORK, vec![key()]);
    registrar.provision(DEVICE, &SECRET, &mut RustCrypto).unwrap();
    registrar
}

fn pledge() -> Pledge {
    Pledge::new(&SECRET, DEVICE, &mut RustCrypto).unwrap()
}

fn request_of(pledge: &mut Pledge, is_confirmable: bool) -> Vec<u8> {
    pledge.request(&JoinRequest::of_node(&NETWORK), 0x1234, is_confirmable, &mut RustCrypto).unwrap()
}

/// By hand. Request: header 4, Uri-Host 1 + 11, OSCORE 1 + 1 + 11, Proxy-Scheme 2 + 4, marker 1, code 1, Uri-Path 2, marker 1,
/// object 5, tag 8 = 52: the length of the OSCORE option is below 13, so one octet says it. Response: header 4, OSCORE 1, marker 1,
/// code 1, marker 1, object 26, tag 8 = 42. The proxy drops Proxy-Scheme, and adds 1 octet of length and a token of
/// 4 + 8 + 2 + 2 + 1 + 8 = 25.
#[test]
fn lengths_are_those_worked_out_by_hand() {
    let (mut pledge, mut proxy, mut registrar) = (pledge(), Proxy::new([9; 16]), registrar());
    let request = request_of(&mut pledge, true);
    assert_eq!(request.len(), 52);
    let forwarded = proxy.forward(FROM, &request, &mut RustCrypto).unwrap();
    assert_eq!(forwarded.len(), 52 - 6 + 26);
    assert_eq!(forwarded[..2], [0b0101_1101, 2], "version 1, not confirmable, 13 says that an octet follows; POST");
    assert_eq!(forwarded[4], 25 - 13);
    let response = registrar.answer(&forwarded, &mut RustCrypto).unwrap();
    assert_eq!(response.len(), 42 + 26);
    let (to, response) = proxy.back(&response, &mut RustCrypto).unwrap();
    assert_eq!((to, response.len()), (FROM, 42));
    assert_eq!(response[..4], [0b0110_0000, 0x44, 0x12, 0x34], "it acknowledges the pledge's message ID; 2.04");
    let configuration = pledge.receive(&response, &mut RustCrypto).unwrap();
    assert_eq!(configuration.keys, [key()]);
    assert_eq!(pledge.receive(&response, &mut RustCrypto), Err(Error::Unexpected));
}

/// A repeated message gets the same answer, through a proxy that has forgotten everything but its key.
#[test]
fn a_repeated_request_is_answered_again() {
    let (mut pledge, mut proxy, mut registrar) = (pledge(), Proxy::new([9; 16]), registrar());
    let request = request_of(&mut pledge, true);
    for _ in 0..2 {
        let forwarded = proxy.forward(FROM, &request, &mut RustCrypto).unwrap();
        let _lost = registrar.answer(&forwarded, &mut RustCrypto).unwrap();
    }
    let forwarded = proxy.forward(FROM, &request, &mut RustCrypto).unwrap();
    let response = registrar.answer(&forwarded, &mut RustCrypto).unwrap();
    let (_, response) = proxy.back(&response, &mut RustCrypto).unwrap();
    assert!(pledge.receive(&response, &mut RustCrypto).is_ok());
}

/// Two requests that are not confirmable are two requests: the answer to the first one comes too late.
#[test]
fn only_the_last_request_is_answered() {
    let (mut pledge, mut proxy, mut registrar) = (pledge(), Proxy::new([9; 16]), registrar());
    let mut answers = Vec::new();
    for _ in 0..2 {
        let forwarded = proxy.forward(FROM, &request_of(&mut pledge, false), &mut RustCrypto).unwrap();
        let response = registrar.answer(&forwarded, &mut RustCrypto).unwrap();
        answers.push(proxy.back(&response, &mut RustCrypto).unwrap().1);
    }
    let late = pledge.receive(&answers[0], &mut RustCrypto);
    assert_eq!(late, Err(Error::Oscore(oscore::Error::Decryption)));
    assert!(pledge.receive(&answers[1], &mut RustCrypto).is_ok());
}

#[test]
fn strangers_are_refused() {
    let (mut proxy, mut registrar) = (Proxy::new([9; 16]), registrar());
    let mut through = |pledge: &mut Pledge, network: &[u8]| {
        let request = pledge.request(&JoinRequest::of_node(network), 1, true, &mut RustCrypto).unwrap();
        let forwarded = proxy.forward(FROM, &request, &mut RustCrypto).unwrap();
        registrar.answer(&forwarded, &mut RustCrypto)
    };
    let unknown = &mut Pledge::new(&SECRET, [7; 8], &mut RustCrypto).unwrap();
    assert_eq!(through(unknown, &NETWORK), Err(Error::UnknownDevice));
    let without_secret = &mut Pledge::new(&[0; 16], DEVICE, &mut RustCrypto).unwrap();
    assert_eq!(through(without_secret, &NETWORK), Err(Error::Oscore(oscore::Error::Decryption)));
    assert_eq!(through(&mut pledge(), &[0xca, 0xff]), Err(Error::Purpose), "another network");
    assert!(through(&mut pledge(), &NETWORK).is_err(), "the context of the first request was used");
}

#[test]
fn a_proxy_passes_on_only_what_is_for_it() {
    let mut proxy = Proxy::new([9; 16]);
    let get = [0x40, 1, 0, 1];
    assert_eq!(proxy.forward(FROM, &get, &mut RustCrypto), Err(Error::Purpose), "no Proxy-Scheme");
    let forwarded = proxy.forward(FROM, &request_of(&mut pledge(), true), &mut RustCrypto).unwrap();
    let response = registrar().answer(&forwarded, &mut RustCrypto).unwrap();
    for place in 5..5 + 25 {
        let mut changed = response.clone();
        changed[place] ^= 1;
        assert_eq!(proxy.back(&changed, &mut RustCrypto), Err(Error::Token), "octet {place}");
    }
    assert_eq!(Proxy::new([8; 16]).back(&response, &mut RustCrypto), Err(Error::Token), "that of another proxy");
}
