//! Objects and key sets: any octets at a consumer, of somebody with the keys or without them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowhand_coap::objects::crypto::PrivateKey;
use slowhand_coap::objects::{AccessSecret, Consumer, Crypto, Grant, Producer, PublicKey, SIGNATURE};
use slowhand_coap::oscore;
use slowhand_coap::oscore::crypto::{Failed, Protection, Secret, TAG};
use slowhand_fuzz::input::Input;

/// No cryptography: whoever knows the tag and the signature has the keys.
struct Open;

impl oscore::Crypto for Open {
    fn extract(&mut self, _salt: &[u8], _secret: &[u8]) -> Secret {
        Secret::default()
    }

    fn expand(&mut self, _extracted: &Secret, _info: &[u8]) -> Secret {
        Secret::default()
    }

    fn seal(&mut self, _with: &Protection<'_>, _content: &mut [u8]) -> Result<[u8; TAG], Failed> {
        Ok([0; TAG])
    }

    fn open(&mut self, _with: &Protection<'_>, _content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed> {
        if *tag == [0; TAG] { Ok(()) } else { Err(Failed) }
    }
}

impl Crypto for Open {
    fn sign(&mut self, _key: &PrivateKey, _message: &[u8]) -> Result<[u8; SIGNATURE], Failed> {
        Ok([0; SIGNATURE])
    }

    fn verify(&mut self, _key: &PublicKey, _message: &[u8], signature: &[u8; SIGNATURE]) -> Result<(), Failed> {
        if *signature == [0; SIGNATURE] { Ok(()) } else { Err(Failed) }
    }
}

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let secret = AccessSecret { id: vec![1], value: [7; 16] };
    let mut producer = Producer::new(b"p", &[1; 32], secret.clone(), 0);
    let grant = Grant { secret, signer: Some([0; 64]) };
    let mut consumer = Consumer::new(b"p", grant.clone()).unwrap();
    while !input.is_empty() {
        // An object with some octets replaced, or any octets.
        let value = input.string();
        let mut object = if input.flag() { producer.protect("t", value, &mut Open).unwrap() } else { Vec::new() };
        let is_whole = input.flag() && !object.is_empty();
        if is_whole {
            // Without cryptography a changed number may have counted as the newest before: a new consumer has opened nothing.
            let mut consumer = Consumer::new(b"p", grant.clone()).unwrap();
            assert_eq!(consumer.open("t", &object, &mut Open).as_deref(), Ok(value));
            continue;
        }
        let at = usize::from(input.octet()).min(object.len());
        let with = input.string();
        let end = (at + with.len()).min(object.len());
        object.splice(at..end, with.iter().copied());
        let _ = consumer.open("t", &object, &mut Open);
        if let Ok(grant) = Grant::read(with) {
            assert_eq!(*grant.write(), with);
        }
    }
});
