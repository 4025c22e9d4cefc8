//! EDHOC: the traces of its standard, what each end accepts, what it costs, what is true under faults, and lakers and aiocoap as
//! peers.

mod costs;
//mod exchanges;
//mod faults;
//mod peer;
//mod properties;
mod vectors;

use slowhand_coap::edhoc::crypto::Scalar;
use slowhand_coap::edhoc::{
    ConnectionId, Credential, Crypto, Error, Established, Identity, Initiator, Responder, Software, Transfer,
};
use slowhand_testing::hex::octets;

/// RFC 9529, section 3.3: the ephemeral keys, the static keys and the credentials.
const X: &str = "368ec1f69aeb659ba37d5a8d45b21bdc0299dceaa8ef235f3ca42ce3530f9525";
const Y: &str = "e2f4126777205e853b437d6eaca1e1f753cdcc3e2c69fa884b0a1a640977e418";
const SK_I: &str = "fb13adeb6518cee5f88417660841142e830a81fe334380a953406a1305e8706b";
const SK_R: &str = "72cc4761dbd4c78f758931aa589d348d1ef874a7e303ede2f140dcf3e6aa4aac";
const CRED_I: &str = "a2027734322d35302d33312d46462d45462d33372d33322d333908a101a5010202412b2001215820ac75e9ece3e50bfc8ed603998895\
    22405c47bf16df96660a41298cb4307f7eb62258206e5de611388a4b8a8211334ac7d37ecb52a387d257e6db3c2a93df21ff3affc8";
const CRED_R: &str = "a2026b6578616d706c652e65647508a101a501020241322001215820bbc34960526ea4d32e940cad2a234148ddc21791a12afbcbac93\
    622046dd44f02258204519e257236b2a0ce2023f0931f1f386ca7afda64fcde0108c224c51eabf6072";

fn id(hexadecimal: &str) -> ConnectionId {
    ConnectionId::new(&octets(hexadecimal)).unwrap()
}

fn credential(hexadecimal: &str) -> Credential {
    Credential::ccs(&octets(hexadecimal)).unwrap()
}

fn identity(credential: Credential, private: &str, transfer: Transfer) -> Identity {
    let mut key = Scalar::default();
    key.copy_from_slice(&octets(private));
    Identity { credential, private: key, transfer }
}

fn initiator(transfer: Transfer) -> Identity {
    identity(credential(CRED_I), SK_I, transfer)
}

fn responder(transfer: Transfer) -> Identity {
    identity(credential(CRED_R), SK_R, transfer)
}

/// Software whose ephemeral private key is this one, each time.
fn with_key(hexadecimal: &str) -> Software<impl FnMut(&mut [u8]) + use<>> {
    let key = octets(hexadecimal);
    Software(move |output: &mut [u8]| output.copy_from_slice(&key))
}

/// The messages of a session, and what both ends have then.
struct Session {
    messages: [Vec<u8>; 4],
    ends: [Established; 2],
}

/// A whole session with the keys of the standard.
fn session(transfer: Transfer, suites: &[u8]) -> Result<Session, Error> {
    let (mut x, mut y) = (with_key(X), with_key(Y));
    session_with(&initiator(transfer), &responder(transfer), suites, &mut x, &mut y)
}

fn session_with(
    own: &Identity,
    peer: &Identity,
    suites: &[u8],
    x: &mut impl Crypto,
    y: &mut impl Crypto,
) -> Result<Session, Error> {
    let (waiting, message_1) = Initiator::start(id("37"), suites, x)?;
    let (answering, message_2) = Responder::start(&message_1, &[id("27")], peer, y)?;
    let known = [credential(CRED_I), peer.credential];
    let (at_initiator, message_3) = waiting.receive(&message_2, own, &known, x).map_err(|failure| failure.error)?;
    let at_responder = answering.receive(&message_3, &[credential(CRED_R), own.credential], y)?;
    let message_4 = at_responder.message_4(y)?;
    at_initiator.verify_message_4(&message_4, x)?;
    Ok(Session { messages: [message_1, message_2, message_3, message_4], ends: [at_initiator, at_responder] })
}
