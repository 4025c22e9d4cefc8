//! EDHOC: any message at an initiator and at a responder, of somebody without the keys and of somebody with them.
#![no_main]

use coap_lite::{CoapOption, Packet};
use libfuzzer_sys::fuzz_target;
use slowhand_coap::edhoc::crypto::{ELEMENT, KeyPair, Scalar};
use slowhand_coap::edhoc::{
    ConnectionId, Credential, Crypto, ErrorMessage, Identity, Initiator, Responder, Transfer, coap, combined,
};
use slowhand_coap::oscore;
use slowhand_coap::oscore::crypto::{DIGEST, Failed, Protection, Secret, TAG};
use slowhand_fuzz::input::Input;

/// No cryptography: somebody without the keys sends a wrong tag, somebody with them encrypts anything, with a MAC of zeros.
struct Open;

/// The tag of somebody with the keys.
const RIGHT: [u8; TAG] = [0; TAG];

impl oscore::Crypto for Open {
    fn extract(&mut self, _salt: &[u8], _secret: &[u8]) -> Secret {
        Secret::default()
    }

    fn expand(&mut self, _extracted: &Secret, _info: &[u8]) -> Secret {
        Secret::default()
    }

    fn seal(&mut self, _with: &Protection<'_>, _content: &mut [u8]) -> Result<[u8; TAG], Failed> {
        Ok(RIGHT)
    }

    fn open(&mut self, _with: &Protection<'_>, _content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed> {
        if *tag == RIGHT { Ok(()) } else { Err(Failed) }
    }
}

impl Crypto for Open {
    fn generate(&mut self) -> KeyPair {
        KeyPair { private: Scalar::default(), public: [1; ELEMENT] }
    }

    fn agree(&mut self, _private: &Scalar, public: &[u8; ELEMENT]) -> Result<Scalar, Failed> {
        if public[0] == 0xff { Err(Failed) } else { Ok(Scalar::default()) }
    }

    fn hash(&mut self, _message: &[u8]) -> [u8; DIGEST] {
        [0; DIGEST]
    }

    fn expand_to(&mut self, _extracted: &Secret, _info: &[u8], _output: &mut [u8]) {}
}

/// A CCS with this `kid`.
fn credential(kid: u8) -> Credential {
    let head = [0xa1, 8, 0xa1, 1, 0xa4, 1, 2, 2, 0x41, kid, 0x20, 1, 0x21, 0x58, 32];
    Credential::ccs(&[&head[..], &[kid; ELEMENT]].concat()).unwrap()
}

fn identity(kid: u8, is_by_value: bool) -> Identity {
    let transfer = if is_by_value { Transfer::Value } else { Transfer::Reference };
    Identity { credential: credential(kid), private: Scalar::default(), transfer }
}

/// A string of CBOR.
fn string(parts: &[&[u8]]) -> Vec<u8> {
    let octets = parts.concat();
    let length = octets.len() as u8;
    let head = if octets.len() < 24 { vec![0x40 | length] } else { vec![0x58, length] };
    [head, octets].concat()
}

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let id = |octet| ConnectionId::new(&[octet]).unwrap();
    let known = [credential(1), credential(2)];
    while !input.is_empty() {
        let (has_keys, is_by_value, is_raw) = (input.flag(), input.flag(), input.flag());
        let tag = if has_keys { RIGHT } else { [1; TAG] };
        let (initiator, message_1) = Initiator::start(id(1), &[2], &mut Open).unwrap();
        let responder = identity(2, is_by_value);
        let (answering, message_2) = Responder::start(&message_1, &[id(2)], &responder, &mut Open).unwrap();
        let choice = input.below(4);
        let content = input.string();
        match choice {
            0 => {
                let at_responder = Responder::start(content, &[id(1), id(2)], &responder, &mut Open);
                if let Err(error) = at_responder {
                    drop(coap::refusal(&error));
                }
            }
            1 => {
                let message = if is_raw { content.to_vec() } else { string(&[&[7; ELEMENT], content]) };
                match initiator.receive(&message, &identity(1, is_by_value), &known, &mut Open) {
                    Ok((established, message_3)) => {
                        // The session that one end accepts, the other one gets.
                        assert!(established.oscore(&mut Open).is_ok() && message_3.len() <= 192);
                    }
                    Err(failure) => drop(failure.error.message()),
                }
            }
            2 => {
                let message = if is_raw { content.to_vec() } else { string(&[content, &tag]) };
                match answering.receive(&message, &known, &mut Open) {
                    Ok(established) => {
                        assert!(has_keys || is_raw, "somebody without keys was heard");
                        assert_eq!(established.message_4(&mut Open).unwrap().len(), 9);
                    }
                    Err(error) => drop(combined::refusal(&error)),
                }
                let (established, _) =
                    initiator.receive(&message_2, &identity(1, is_by_value), &known, &mut Open).unwrap();
                let verified = established.verify_message_4(&message, &mut Open);
                assert!(has_keys || is_raw || verified.is_err(), "somebody without keys was heard");
            }
            _ => {
                if let Some(message) = ErrorMessage::read(content) {
                    assert_eq!(ErrorMessage::read(&message.write()), Some(message));
                }
                drop(Credential::ccs(content));
                let Ok(mut packet) = Packet::from_bytes(content) else { continue };
                let _ = (coap::read_request(&packet), coap::read_response(&packet));
                if is_raw {
                    packet.add_option(combined::OPTION.into(), Vec::new());
                    packet.add_option(CoapOption::Oscore, input.string().to_vec());
                }
                if let Ok(Some(read)) = combined::read(&packet) {
                    let again = combined::request(read.message_3, read.protected);
                    assert_eq!(again.payload, packet.payload);
                }
            }
        }
    }
});
