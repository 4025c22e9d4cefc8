//! The handshake of LESS, message by message.

use slowhand_coap::less::{APPLICATION_DATA, Client, Error, KEY, Keys, Message, Next, Records, Server, Software, read};
use slowhand_coap::message::{self, MessageClass, Packet, ResponseType};

const PSK: [u8; KEY] = *b"slowhand-testkey";

/// Octets that count.
fn software(mut next: u8) -> Software<impl FnMut(&mut [u8])> {
    Software(move |output: &mut [u8]| {
        for octet in output {
            *octet = next;
            next = next.wrapping_add(1);
        }
    })
}

fn code(packet: &Packet) -> MessageClass {
    packet.header.code
}

fn requested(next: Result<Next, Error>) -> Packet {
    match next {
        Ok(Next::Request(request)) => request,
        Ok(Next::Established(_)) => panic!("it is established too early"),
        Err(error) => panic!("{error}"),
    }
}

/// Both ends, and what they have said.
fn handshake(of_server: [u8; KEY]) -> (Result<Next, Error>, Option<Keys>, [Packet; 4]) {
    let (mut crypto, mut server) = (software(0), Server::new(of_server, b"node"));
    let (mut client, first) = Client::start(PSK, b"node");
    let (challenge, keys) = server.receive(&first, &mut crypto);
    assert!(keys.is_none());
    let second = requested(client.receive(&challenge, &mut crypto));
    let (proof, keys) = server.receive(&second, &mut crypto);
    let next = client.receive(&proof, &mut crypto);
    (next, keys, [first, challenge, second, proof])
}

#[test]
fn two_exchanges_open_a_session() {
    let (next, keys, said) = handshake(PSK);
    let Ok(Next::Established(of_client)) = next else { panic!("it is not established") };
    assert_eq!(said.each_ref().map(|packet| packet.payload.len()), [4, 32, 32, 16]);
    assert_eq!(
        [&said[1], &said[3]].map(code),
        [ResponseType::Created, ResponseType::Changed].map(MessageClass::Response)
    );
    let mut crypto = software(0);
    let mut client = Records::new(&of_client, true, &mut crypto);
    let mut server = Records::new(&keys.unwrap(), false, &mut crypto);
    let record = client.seal(APPLICATION_DATA, b"22.5 C", &mut crypto).unwrap();
    assert_eq!(server.open(&record, &mut crypto), [(APPLICATION_DATA, b"22.5 C".to_vec())]);
}

#[test]
fn another_key_opens_none() {
    let (next, keys, said) = handshake(*b"another key.....");
    assert!(matches!(next, Err(Error::Refused(0x81))), "4.01");
    assert!(keys.is_none());
    assert_eq!(code(&said[3]), MessageClass::Response(ResponseType::Unauthorized));
}

#[test]
fn a_server_without_the_key_is_found_out() {
    let mut crypto = software(0);
    let (mut client, _) = Client::start(PSK, b"node");
    let challenge = message::response(ResponseType::Created, [3; 32]);
    requested(client.receive(&challenge, &mut crypto));
    let proof = message::response(ResponseType::Changed, [4; 16]);
    assert!(matches!(client.receive(&proof, &mut crypto), Err(Error::Key)));
    assert!(matches!(client.receive(&proof, &mut crypto), Err(Error::Order)));
}

/// Whoever knows the identity, but not the key, asks again and guesses while the client computes: the client opens its session all the
/// same, and once.
#[test]
fn who_has_no_key_does_not_keep_the_client_out() {
    let mut crypto = software(0);
    let mut server = Server::new(PSK, b"node");
    let (mut client, first) = Client::start(PSK, b"node");
    let (challenge, _) = server.receive(&first, &mut crypto);
    let (again, _) = server.receive(&Client::start(PSK, b"node").1, &mut crypto);
    assert_eq!((code(&again), &again.payload), (code(&challenge), &challenge.payload));
    let second = requested(client.receive(&challenge, &mut crypto));
    let mut guessed = second.clone();
    guessed.payload[0] ^= 1;
    let unauthorized = MessageClass::Response(ResponseType::Unauthorized);
    let (_, unknown) = Client::start(PSK, b"nobody");
    for request in [&guessed, &unknown] {
        let (answer, keys) = server.receive(request, &mut crypto);
        assert_eq!((code(&answer), keys.is_some()), (unauthorized, false));
    }
    let (proof, keys) = server.receive(&second, &mut crypto);
    assert!(keys.is_some() && matches!(client.receive(&proof, &mut crypto), Ok(Next::Established(_))));
    for request in [&first, &second] {
        let (answer, keys) = server.receive(request, &mut crypto);
        assert_eq!((code(&answer), keys.is_some()), (unauthorized, false));
    }
}

#[test]
fn what_is_no_message_is_refused() {
    let (_, _, [first, _, second, _]) = handshake(PSK);
    assert_eq!(read(&first), Ok(Message::Initiation(b"node")));
    assert!(matches!(read(&second), Ok(Message::Response(_))));
    for length in [0, 31, 33, 48] {
        let mut request = second.clone();
        request.payload = vec![1; length];
        assert_eq!(read(&request), Err(Error::Format), "{length} octets");
    }
    let mut elsewhere = message::request(message::RequestType::Post, "d");
    elsewhere.payload = b"node".to_vec();
    assert_eq!(read(&elsewhere), Err(Error::Format));
}
