//! CoJP: any datagram at a join proxy, at a registrar and at a pledge, of somebody with the keys or without them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowhand_coap::cojp::{Address, Configuration, JoinRequest, Key, Pledge, Proxy, Registrar};
use slowhand_coap::oscore::Crypto;
use slowhand_coap::oscore::crypto::{Failed, Protection, Secret, TAG};
use slowhand_fuzz::input::Input;

/// No cryptography: whoever knows the tag has the keys.
struct Open;

const RIGHT: [u8; TAG] = [0; TAG];

impl Crypto for Open {
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

const DEVICE: [u8; 8] = [0x02, 0x12, 0x74, 0, 0, 0, 0, 5];
const FROM: Address = Address { identifier: DEVICE, port: 5683 };

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let mut proxy = Proxy::new([0; 16]);
    let key = Key { id: 1, usage: 0, value: [7; 16], additional: None };
    let mut registrar = Registrar::new(b"\xca\xfe", vec![key]);
    registrar.provision(DEVICE, &[0; 16], &mut Open).unwrap();
    let mut pledge = Pledge::new(&[0; 16], DEVICE, &mut Open).unwrap();
    let mut last = pledge.request(&JoinRequest::of_node(b"\xca\xfe"), 1, true, &mut Open).unwrap();
    while !input.is_empty() {
        // A datagram of the last step with some octets replaced, or any octets.
        let mut datagram = if input.flag() { last.clone() } else { Vec::new() };
        let place = input.octet();
        let at = usize::from(place).min(datagram.len());
        let with = input.string();
        let end = (at + with.len()).min(datagram.len());
        datagram.splice(at..end, with.iter().copied());
        match input.below(4) {
            0 => last = proxy.forward(FROM, &datagram, &mut Open).unwrap_or(last),
            1 => last = registrar.answer(&datagram, &mut Open).unwrap_or(last),
            2 => last = proxy.back(&datagram, &mut Open).map_or(last, |(_, datagram)| datagram),
            _ => _ = pledge.receive(&datagram, &mut Open),
        }
        if let Ok(object) = Configuration::read(with) {
            assert_eq!(Configuration::read(&object.write()), Ok(object));
        }
        if let Ok(object) = JoinRequest::read(with) {
            assert_eq!(JoinRequest::read(&object.write()), Ok(object));
        }
    }
});
