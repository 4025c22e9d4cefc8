//! OSCORE: any message at a server and at a client, of somebody without the keys and of somebody with them.
#![no_main]

use coap_lite::{CoapOption, MessageClass, Packet, RequestType};
use libfuzzer_sys::fuzz_target;
use slowhand_coap::oscore::crypto::{Failed, Protection, Secret, TAG};
use slowhand_coap::oscore::{Context, Crypto, Error, Incoming, Parameters};
use slowhand_fuzz::input::Input;

const CLIENT: Parameters<'static> =
    Parameters { master_secret: &[], master_salt: &[], id_context: None, sender_id: &[], recipient_id: &[1] };
const SERVER: Parameters<'static> = Parameters { sender_id: &[1], recipient_id: &[], ..CLIENT };

/// No cryptography: somebody without the keys sends a wrong tag, somebody with them encrypts anything.
struct Open;

/// The tag of somebody with the keys.
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

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let mut client = Context::derive(&CLIENT, &mut Open).unwrap();
    let mut server = Context::derive(&SERVER, &mut Open).unwrap();
    if input.flag() {
        server = server.after_restart(0, *b"restart1");
    }
    let mut get = Packet::new();
    get.header.code = MessageClass::Request(RequestType::Get);
    if input.flag() {
        get.set_observe_value(0);
    }
    let (_, mut exchange) = client.protect_request(&get, &mut Open).unwrap();
    while !input.is_empty() {
        let has_keys = input.flag();
        let (option, length) = (input.string(), usize::from(input.octet()));
        let Ok(mut message) = Packet::from_bytes(input.take(length)) else { continue };
        message.add_option(CoapOption::Oscore, option.to_vec());
        message.payload.extend(if has_keys { RIGHT } else { [1; TAG] });
        match server.unprotect_request(&message, &mut Open) {
            Ok(Incoming::Request(request, mut at_server)) => {
                assert!(has_keys, "somebody without keys was heard");
                assert_eq!(server.unprotect_request(&message, &mut Open).unwrap_err(), Error::Replayed);
                // The accepted octets are a message: it arrives once more as it is.
                let mut again = Context::derive(&SERVER, &mut Open).unwrap();
                match client.protect_request(&request, &mut Open) {
                    Ok((protected, _)) => match again.unprotect_request(&protected, &mut Open).unwrap() {
                        Incoming::Request(same, _) => assert_eq!(same, request),
                        Incoming::Challenge(_) => unreachable!("it has not restarted"),
                    },
                    Err(error) => assert_eq!(error, Error::ProxyUri),
                }
                let mut answer = request;
                answer.header.code = 0x45.into();
                let _ = server.protect_response(&answer, &mut at_server, &mut Open);
            }
            Ok(Incoming::Challenge(_)) => assert!(has_keys, "somebody without keys was answered"),
            Err(error) => drop(error.answer(&message)),
        }
        let response = client.unprotect_response(&message, &mut exchange, &mut Open);
        assert!(has_keys || response.is_err(), "somebody without keys was heard");
    }
});
