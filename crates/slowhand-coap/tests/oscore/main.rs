//! OSCORE: the vectors of its standard, what each end accepts, what it costs, and aiocoap as a peer.

mod exchanges;
mod overhead;
mod peer;
mod properties;
mod vectors;

use coap_lite::{CoapOption, MessageClass, MessageType, Packet, RequestType, ResponseType};
use slowhand_coap::oscore::crypto::{Failed, Protection, Secret, TAG};
use slowhand_coap::oscore::{Context, Crypto, Incoming, Parameters, RustCrypto, ServerExchange};

/// The secret of appendix C.
const SECRET: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const SALT: [u8; 8] = [0x9e, 0x7c, 0xa9, 0x22, 0x23, 0x78, 0x63, 0x40];

/// The client of appendix C.1.
const CLIENT: Parameters<'static> =
    Parameters { master_secret: &SECRET, master_salt: &SALT, id_context: None, sender_id: &[], recipient_id: &[1] };

/// The context at the other end.
fn mirrored<'a>(of: &Parameters<'a>) -> Parameters<'a> {
    Parameters { sender_id: of.recipient_id, recipient_id: of.sender_id, ..*of }
}

fn derived(parameters: &Parameters<'_>) -> Context {
    Context::derive(parameters, &mut RustCrypto).unwrap()
}

/// A client and a server that have never spoken.
fn ends(client: &Parameters<'_>) -> (Context, Context) {
    (derived(client), derived(&mirrored(client)))
}

fn request(method: RequestType, path: &str) -> Packet {
    let mut request = Packet::new();
    request.header.code = MessageClass::Request(method);
    request.header.message_id = 0x1234;
    request.set_token(vec![0xab, 0xcd]);
    request.add_option(CoapOption::UriPath, path.into());
    request
}

fn response(to: &Packet, code: ResponseType, payload: &[u8]) -> Packet {
    let mut response = Packet::new();
    response.header.code = MessageClass::Response(code);
    response.header.message_id = to.header.message_id;
    response.header.set_type(MessageType::Acknowledgement);
    response.set_token(to.get_token().to_vec());
    response.payload = payload.to_vec();
    response
}

/// The request, if it was one.
#[track_caller]
fn accepted(incoming: Incoming) -> (Packet, ServerExchange) {
    match incoming {
        Incoming::Request(request, exchange) => (request, exchange),
        Incoming::Challenge(_) => panic!("a challenge"),
    }
}

/// No cryptography at all: whoever has the keys may encrypt anything.
struct Open;

impl Crypto for Open {
    fn extract(&mut self, _salt: &[u8], _secret: &[u8]) -> Secret {
        Secret::default()
    }

    fn expand(&mut self, _extracted: &Secret, _info: &[u8]) -> Secret {
        Secret::default()
    }

    fn seal(&mut self, _with: &Protection<'_>, _content: &mut [u8]) -> Result<[u8; TAG], Failed> {
        Ok([0; TAG])
    }

    fn open(&mut self, _with: &Protection<'_>, _content: &mut [u8], _tag: &[u8; TAG]) -> Result<(), Failed> {
        Ok(())
    }
}
