//! EDHOC over CoAP and combined with a request, without a network between the ends: what is sent, and how errors end a session.

use slowhand_coap::edhoc::crypto::Scalar;
use slowhand_coap::edhoc::{
    ConnectionId, Credential, Error, ErrorMessage, Identity, Initiator, Responder, Transfer, coap, combined,
};
use slowhand_coap::message::{self, CoapOption, MessageClass, Packet, RequestType, ResponseType};
use slowhand_testing::hex::{octets, text};

use super::{
    CRED_I, CRED_R, Client, Flow, SK_I, SK_R, Server, State, X, Y, credential, id, identity, initiator, responder,
    speak, with_key,
};

fn ends(has_message_4: bool) -> Server<impl slowhand_coap::edhoc::Crypto> {
    Server::new(responder(Transfer::Reference), credential(CRED_I), has_message_4, with_key(Y))
}

fn client(flow: Flow) -> (Client<impl slowhand_coap::edhoc::Crypto>, Packet) {
    Client::start(initiator(Transfer::Reference), credential(CRED_R), flow, with_key(X))
}

#[test]
fn a_client_gets_its_answer_in_each_flow() {
    for (flow, has_message_4) in [(Flow::Sequential, false), (Flow::Sequential, true), (Flow::Combined, false)] {
        for (own, peer) in [(Transfer::Reference, Transfer::Reference), (Transfer::Value, Transfer::Value)] {
            let mut server = Server::new(responder(peer), credential(CRED_I), has_message_4, with_key(Y));
            let client = speak(Client::start(initiator(own), credential(CRED_R), flow, with_key(X)), &mut server);
            assert_eq!(client.answer().payload, b"21.5", "{flow:?}, message_4 {has_message_4}");
        }
    }
}

/// By hand, from RFC 9528, appendix A.2.1, and RFC 7252, section 3.1: `bb` and `05` are Uri-Path of 11 and 5 octets, `11` and `c1` are
/// Content-Format.
#[test]
fn packets_are_those_of_the_appendix() {
    let path = "bb 2e77656c6c2d6b6e6f776e 05 6564686f63 11 41";
    let written = |packet: Packet| text(&packet.to_bytes().unwrap());
    let expected = |hexadecimal: String| text(&octets(&hexadecimal));
    assert_eq!(written(coap::first_request(&[3])), expected(format!("40020000 {path} ff f503")));
    assert_eq!(written(coap::later_request(&id("27"), &[0x40])), expected(format!("40020000 {path} ff 2740")));
    assert_eq!(written(coap::later_request(&id("ff"), &[0x40])), expected(format!("40020000 {path} ff 41ff40")));
    assert_eq!(written(coap::response(&[0x40])), "40440000c140ff40");
    assert_eq!(written(coap::response(&[])), "40440000");
    assert_eq!(written(coap::refusal(&Error::UnknownCredential)), "40800000c140ff03f5");
    assert_eq!(written(coap::refusal(&Error::Suite)), "40800000c140ff0202");
    assert_eq!(coap::refusal(&Error::NoKid).header.code, MessageClass::Response(ResponseType::InternalServerError));
    assert_eq!(written(coap::refusal(&Error::ContentFormat(0))), "408f0000");
    assert_eq!(written(coap::refusal(&Error::Peer(ErrorMessage::UnknownCredential))), "40440000");
    let reply = combined::refusal(&Error::UnknownCredential);
    assert_eq!(ErrorMessage::read(&reply.payload), Some(ErrorMessage::Unspecified("Unknown credential".to_owned())));
}

/// RFC 9668, section 3.4.
#[test]
fn the_combined_request_is_that_of_the_standard() {
    let mut protected = message::request(RequestType::Post, "");
    protected.header.message_id = 0x5d1f;
    protected.set_token(octets("00003974"));
    protected.add_option(CoapOption::Oscore, octets("090001"));
    protected.payload = octets("612f1092f1776f1c1668b3825e");
    let message_3 = octets("52d5535f3147e85f1cfacd9e78abf9e0a81bbf");
    let request = combined::request(&message_3, protected.clone());
    let expected = "44025d1f0000397493090001c0ff52d5535f3147e85f1cfacd9e78abf9e0a81bbf612f1092f1776f1c1668b3825e";
    assert_eq!(text(&request.to_bytes().unwrap()), expected);
    let read = combined::read(&request).unwrap().unwrap();
    assert_eq!((read.c_r, read.message_3), (id("01"), &message_3[..]));
    assert_eq!(read.protected.to_bytes().unwrap(), protected.to_bytes().unwrap());
    for alone in [&protected, &read.protected] {
        assert!(combined::read(alone).unwrap().is_none());
    }

    let change = |change: fn(&mut Packet)| {
        let mut request = request.clone();
        change(&mut request);
        combined::read(&request).map(|combined| combined.is_some())
    };
    // If the option has a value, the receiver ignores it (section 3.1).
    let with_value = change(|request| {
        request.clear_option(combined::OPTION.into());
        request.add_option(combined::OPTION.into(), vec![7]);
    });
    assert_eq!(with_value, Ok(true));
    let refused: [fn(&mut Packet); 7] = [
        |request| request.clear_option(CoapOption::Oscore),
        |request| request.add_option(combined::OPTION.into(), Vec::new()),
        |request| request.payload.truncate(19),
        |request| request.payload.truncate(10),
        |request| request.payload.clear(),
        |request| request.payload[0] = 0x72,
        |request| {
            request.clear_option(CoapOption::Oscore);
            request.add_option(CoapOption::Oscore, octets("0900 0102030405060708"));
        },
    ];
    for refused in refused {
        assert_eq!(change(refused), Err(Error::Malformed));
    }
}

/// RFC 9668, section 3.3.1: each of the steps fails with its answer.
#[test]
fn a_combined_request_that_fails_is_answered_as_its_standard_has_it() {
    let combined = || {
        let (mut client, request) = client(Flow::Combined);
        let mut server = ends(false);
        let request = client.receive(&server.answer(&request)).unwrap();
        (client, server, request)
    };
    let unspecified = |text: &str| Some(ErrorMessage::Unspecified(text.to_owned()));

    // Step 4, and the session is over then.
    let (mut client, mut server, right) = combined();
    let mut wrong = right.clone();
    wrong.payload[5] ^= 1;
    let reply = server.answer(&wrong);
    assert_eq!(reply.header.code, MessageClass::Response(ResponseType::BadRequest));
    assert_eq!(message::number(&reply, CoapOption::ContentFormat), Some(64));
    assert_eq!(ErrorMessage::read(&reply.payload), unspecified("Authentication failed"));
    assert!(server.context.is_none(), "no context follows from a session that has failed");
    assert_eq!(ErrorMessage::read(&server.answer(&right).payload), unspecified("No such session"));
    client.receive(&reply);
    let State::Failed(Error::Peer(told)) = &client.state else { panic!("the client is told") };
    assert_eq!(Some(told.clone()), unspecified("Authentication failed"));

    // Step 8: the answer is that of OSCORE (RFC 8613, section 8.2).
    let (_, mut server, mut wrong) = combined();
    *wrong.payload.last_mut().unwrap() ^= 1;
    let reply = server.answer(&wrong);
    assert_eq!(
        (reply.header.code, &reply.payload[..]),
        (MessageClass::Response(ResponseType::BadRequest), &b"Decryption failed"[..])
    );
    assert!(server.context.is_some());

    // The server uses message_4.
    let (_, mut server, right) = combined();
    server.has_message_4 = true;
    assert_eq!(ErrorMessage::read(&server.answer(&right).payload), unspecified("message_4 is used"));

    // The client is not known: error code 1 here, and 3 if message_3 comes alone.
    let (_, mut server, right) = combined();
    server.known.clear();
    assert_eq!(ErrorMessage::read(&server.answer(&right).payload), unspecified("Unknown credential"));
}

#[test]
fn both_ends_are_told_whose_credential_is_not_known() {
    // The server does not know the client.
    let mut server = ends(true);
    server.known = vec![credential(CRED_R)];
    let client_at = speak(client(Flow::Sequential), &mut server);
    assert!(matches!(client_at.state, State::Failed(Error::Peer(ErrorMessage::UnknownCredential))));

    // The client does not know the server, and says it in a request with C_R.
    let mut server = ends(true);
    let (mut at_client, request) = client(Flow::Sequential);
    at_client.known = vec![credential(CRED_I)];
    let told = at_client.receive(&server.answer(&request)).unwrap();
    assert_eq!(told.payload, octets("27 03f5"));
    let reply = server.answer(&told);
    assert_eq!((reply.header.code, reply.payload.is_empty()), (MessageClass::Response(ResponseType::Changed), true));
    assert!(server.waiting.is_none() && server.context.is_none());
}

/// A credential of somebody else, with the `kid` or all the octets of the right one: the private key is another one.
#[test]
fn an_end_without_the_private_key_is_refused() {
    for transfer in [Transfer::Reference, Transfer::Value] {
        let thief = identity(credential(CRED_R), SK_I, transfer);
        let mut server = Server::new(thief, credential(CRED_I), false, with_key(Y));
        let at_client = speak(client(Flow::Sequential), &mut server);
        assert!(matches!(at_client.state, State::Failed(Error::Authentication)));

        let thief = identity(credential(CRED_I), SK_R, transfer);
        let at_client =
            speak(Client::start(thief, credential(CRED_R), Flow::Sequential, with_key(X)), &mut ends(false));
        let State::Failed(Error::Peer(told)) = at_client.state else { panic!("the server refuses it") };
        assert_eq!(told, ErrorMessage::Unspecified("Authentication failed".to_owned()));
    }
    // A credential with this `kid` and another key.
    let mut other = octets(CRED_R);
    let place = other.windows(2).position(|pair| pair == [0xbb, 0xc3]).unwrap();
    other[place..place + 32]
        .copy_from_slice(&octets("ac75e9ece3e50bfc8ed60399889522405c47bf16df96660a41298cb4307f7eb6"));
    let (mut at_client, request) = client(Flow::Sequential);
    at_client.known = vec![Credential::ccs(&other).unwrap()];
    at_client.receive(&ends(false).answer(&request));
    assert!(matches!(at_client.state, State::Failed(Error::Authentication)));
}

#[test]
fn a_changed_message_4_is_refused() {
    let mut server = ends(true);
    let (mut at_client, request) = client(Flow::Sequential);
    let message_3 = at_client.receive(&server.answer(&request)).unwrap();
    let mut answer = server.answer(&message_3);
    *answer.payload.last_mut().unwrap() ^= 1;
    assert_eq!(at_client.receive(&answer), None);
    assert!(matches!(at_client.state, State::Failed(Error::Decryption)));
}

#[test]
fn the_responder_chooses_another_connection_identifier() {
    let (_, message_1) = Initiator::start(id("27"), &[2], &mut with_key(X)).unwrap();
    let own = responder(Transfer::Reference);
    let start = |choices: &[ConnectionId]| Responder::start(&message_1, choices, &own, &mut with_key(Y));
    assert_eq!(*start(&[id("27"), id("2701")]).unwrap().0.c_r(), id("2701"));
    assert_eq!(start(&[id("27")]).err(), Some(Error::SameIds));
}

#[test]
fn what_an_end_is_told_wrong_is_an_error() {
    for suites in [&[][..], &[6], &[2, 6], &[2, 2], &[24, 2], &[0, 1, 3, 4, 5, 6, 7, 8, 9, 2]] {
        assert_eq!(Initiator::start(id("37"), suites, &mut with_key(X)).err(), Some(Error::Suites(suites.to_vec())));
    }
    // No `cnf`; one octet less, or more; `y` as a flag; a second claim; a key that takes two octets, with which `lakers` panics.
    let without_kid = "a108a101a4 0102 2001 215820 ac75e9ece3e50bfc8ed60399889522405c47bf16df96660a41298cb4307f7eb6";
    let key = &without_kid[11..];
    for wrong in [
        "a1026141".to_owned(),
        CRED_R[..CRED_R.len() - 2].to_owned(),
        format!("{CRED_R}00"),
        format!("a108a101a4 {key} 22f5"),
        format!("a20360 08a101a3 {key}"),
        format!("a108a101a4 3810 00 {key}"),
        format!("a108a101a4 3818 00 {key}"),
        format!("a10258b4{}", "00".repeat(180)),
        String::new(),
    ] {
        assert_eq!(Credential::ccs(&octets(&wrong)), Err(Error::Credential), "{wrong}");
    }
    let (_, message_1) = Initiator::start(id("37"), &[2], &mut with_key(X)).unwrap();
    let start = |own: &Identity| Responder::start(&message_1, &[id("27")], own, &mut with_key(Y)).err();
    let without_kid = credential(&format!("a108a101a3{key}"));
    assert_eq!(without_kid.kid(), None);
    let of = |credential, transfer| Identity { credential, private: Scalar::default(), transfer };
    assert_eq!(start(&of(without_kid, Transfer::Reference)), Some(Error::NoKid));
    assert_eq!(start(&of(without_kid, Transfer::Value)), Some(Error::Key), "0 is no private key");
    // By value, a credential of 108 octets has the context of MAC_2 1 + 2 + 108 + 34 + 108 = 253 octets long; of 110, 257.
    let long = |length: usize| {
        let subject = length - 4 - (key.len() - key.matches(' ').count()) / 2 - 4;
        credential(&format!("a2 02 78{subject:02x} {} 08a101a3 {key}", "61".repeat(subject)))
    };
    let sizes = [108, 110].map(|length| long(length).octets().len());
    assert_eq!(sizes, [108, 110]);
    assert_eq!(start(&of(long(108), Transfer::Value)), Some(Error::Key));
    assert_eq!(start(&of(long(110), Transfer::Value)), Some(Error::TooLong));
}

#[test]
fn an_exporter_has_limits() {
    let session = super::session(Transfer::Reference, &[2]).unwrap();
    let export = |label, context: &[u8], length| {
        let mut both = [vec![0; length], vec![0; length]];
        for (end, output) in session.ends.iter().zip(&mut both) {
            end.export(label, context, output, &mut with_key(X))?;
        }
        assert_eq!(both[0], both[1]);
        Ok(both[0].clone())
    };
    assert_ne!(export(2, &[], 40), export(3, &[], 40));
    assert_ne!(export(2, &[1], 40), export(2, &[2], 40));
    assert!(export(23, &[7; 255], 255).is_ok());
    assert_eq!(export(24, &[], 40), Err(Error::Export));
    assert_eq!(export(2, &[7; 256], 40), Err(Error::Export));
    assert_eq!(export(2, &[], 256), Err(Error::Export));
}
