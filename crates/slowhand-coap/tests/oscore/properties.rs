//! Properties of every message.

use coap_lite::{CoapOption, Packet};
use proptest::prelude::*;
use slowhand_coap::oscore::crypto::TAG;
use slowhand_coap::oscore::{Error, Incoming, Parameters, RustCrypto};

use super::{CLIENT, Open, accepted, derived, ends, mirrored, request, response};

fn options() -> impl Strategy<Value = Vec<(u16, Vec<u8>)>> {
    let number = prop_oneof![1_u16..70, Just(252), Just(258), Just(292), any::<u16>()];
    let number =
        number.prop_filter("those that no message may have before it is protected", |it| ![9, 35].contains(it));
    proptest::collection::vec((number, proptest::collection::vec(any::<u8>(), 0..20)), 0..8)
}

/// A message with these codes.
fn message(codes: impl Strategy<Value = u8>) -> impl Strategy<Value = Packet> {
    let payload = proptest::collection::vec(any::<u8>(), 0..60);
    let token = proptest::collection::vec(any::<u8>(), 0..9);
    (codes, any::<u16>(), token, options(), payload).prop_map(|(code, message_id, token, options, payload)| {
        let mut message = Packet::new();
        message.header.code = code.into();
        message.header.message_id = message_id;
        message.set_token(token);
        options.into_iter().for_each(|(number, value)| message.add_option(number.into(), value));
        message.payload = payload;
        message
    })
}

fn octets(range: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), range)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_protected_is_unprotected_to_the_same(
        asked in message(1_u8..0x20),
        answers in proptest::collection::vec(message(prop_oneof![0x40_u8..0x60, 0x80_u8..0xc0]), 1..4),
        (secret, salt) in (octets(0..40), octets(0..40)),
        (sender_id, recipient_id) in (octets(0..8), octets(0..8)),
        id_context in proptest::option::of(octets(0..20)),
        sequence_number in 0_u64..1 << 40,
    ) {
        prop_assume!(sender_id != recipient_id);
        let parameters = Parameters {
            master_secret: &secret,
            master_salt: &salt,
            id_context: id_context.as_deref(),
            sender_id: &sender_id,
            recipient_id: &recipient_id,
        };
        let mut client = derived(&parameters).after_restart(sequence_number, [0; 8]);
        let mut server = derived(&mirrored(&parameters));
        let (protected, mut exchange) = client.protect_request(&asked, &mut RustCrypto).unwrap();
        // As it is on the wire.
        let protected = Packet::from_bytes(&protected.to_bytes().unwrap()).unwrap();
        let (received, mut at_server) = accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
        prop_assert_eq!(&received, &asked);
        for answer in answers {
            let protected = server.protect_response(&answer, &mut at_server, &mut RustCrypto).unwrap();
            let protected = Packet::from_bytes(&protected.to_bytes().unwrap()).unwrap();
            let received = client.unprotect_response(&protected, &mut exchange, &mut RustCrypto);
            if exchange.is_finished() && received.is_ok() {
                prop_assert_eq!(received.unwrap(), answer);
                break;
            }
            // Of a notification, the number is that of OSCORE. Who has not asked for one refuses it.
            prop_assert!(answer.get_first_option(CoapOption::Observe).is_some());
            match received {
                Ok(mut received) => {
                    let mut answer = answer;
                    answer.clear_option(CoapOption::Observe);
                    received.clear_option(CoapOption::Observe);
                    prop_assert_eq!(received, answer);
                }
                Err(error) => prop_assert_eq!(error, Error::Notification),
            }
        }
    }

    #[test]
    fn a_changed_bit_is_refused_or_changes_nothing_that_is_protected(place in any::<prop::sample::Index>(), bit in 0_u32..8) {
        let (mut client, mut server) = ends(&CLIENT);
        let asked = request(coap_lite::RequestType::Put, "a");
        let (protected, mut exchange) = client.protect_request(&asked, &mut RustCrypto).unwrap();
        let change = |message: &Packet| {
            let mut octets = message.to_bytes().unwrap();
            let place = place.index(octets.len());
            octets[place] ^= 1_u8 << bit;
            Packet::from_bytes(&octets)
        };
        if let Ok(changed) = change(&protected)
            && let Ok(incoming) = server.unprotect_request(&changed, &mut RustCrypto)
        {
            // Only the header and the token are not protected (figure 6).
            let (received, _) = accepted(incoming);
            prop_assert_eq!(changed.payload, protected.payload.clone());
            prop_assert_eq!(received.header.code, asked.header.code);
            prop_assert!(received.options().eq(asked.options()) && received.payload == asked.payload);
        }
        let mut server = derived(&mirrored(&CLIENT));
        let (received, mut at_server) = accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
        let answer = response(&received, coap_lite::ResponseType::Changed, b"done");
        let protected = server.protect_response(&answer, &mut at_server, &mut RustCrypto).unwrap();
        if let Ok(changed) = change(&protected)
            && let Ok(received) = client.unprotect_response(&changed, &mut exchange, &mut RustCrypto)
        {
            prop_assert_eq!(changed.payload, protected.payload);
            prop_assert_eq!(received.header.code, answer.header.code);
            prop_assert!(received.options().eq(answer.options()) && received.payload == answer.payload);
        }
    }

    /// Against a server that remembers every number: requests in any order, some of them twice.
    #[test]
    fn a_request_is_accepted_once_and_not_if_it_is_older_than_the_window(
        order in proptest::collection::vec(0_usize..80, 1..120)
    ) {
        let (mut client, mut server) = ends(&CLIENT);
        let asked = request(coap_lite::RequestType::Put, "a");
        let requests: Vec<Packet> =
            (0..80).map(|_| client.protect_request(&asked, &mut RustCrypto).unwrap().0).collect();
        let mut seen = std::collections::BTreeSet::new();
        for number in order {
            let is_new = !seen.contains(&number) && seen.last().is_none_or(|last| number + 32 > *last);
            match server.unprotect_request(&requests[number], &mut RustCrypto) {
                Ok(_) => prop_assert!(is_new && seen.insert(number)),
                Err(error) => prop_assert!(!is_new && error == Error::Replayed),
            }
        }
    }

    /// An accepted plaintext is a message, which can be protected and verified again.
    #[test]
    fn an_arbitrary_plaintext_does_no_harm(plaintext in octets(0..40), is_code in any::<bool>(), tag: [u8; TAG]) {
        // One half begins as a GET does, with an Uri-Path.
        let plaintext = if is_code { [&[1, 0xb1, 7][..], &plaintext].concat() } else { plaintext };
        let (mut client, mut server) = ends(&CLIENT);
        let (mut protected, mut exchange) =
            client.protect_request(&request(coap_lite::RequestType::Get, "a"), &mut Open).unwrap();
        protected.payload = [&plaintext[..], &tag].concat();
        match server.unprotect_request(&protected, &mut Open) {
            Ok(incoming) => {
                let (received, _) = accepted(incoming);
                prop_assert_eq!(u8::from(received.header.code), plaintext[0]);
                let again = client.protect_request(&received, &mut Open);
                // An Inner Proxy-Uri is accepted, and a client does not send one.
                prop_assume!(again.as_ref().err() != Some(&Error::ProxyUri));
                let (again, _) = accepted(server.unprotect_request(&again.unwrap().0, &mut Open).unwrap());
                prop_assert_eq!(again, received);
            }
            Err(error) => prop_assert_eq!(error, Error::Plaintext),
        }
        let mut answer = response(&protected, coap_lite::ResponseType::Changed, b"");
        answer.add_option(CoapOption::Oscore, Vec::new());
        answer.payload = protected.payload;
        let result = client.unprotect_response(&answer, &mut exchange, &mut Open);
        let is_response = plaintext.first().is_some_and(|code| matches!(code >> 5, 2 | 4 | 5));
        prop_assert!(is_response || result == Err(Error::Plaintext));
    }

    #[test]
    fn arbitrary_octets_do_no_harm(header in octets(4..4 + 1), rest in octets(0..80), option in octets(0..12)) {
        let (mut client, mut server) = ends(&CLIENT);
        let mut restarted = derived(&mirrored(&CLIENT)).after_restart(1 << 41, [1; 8]);
        let (_, mut exchange) =
            client.protect_request(&request(coap_lite::RequestType::Get, "a"), &mut RustCrypto).unwrap();
        let Ok(mut message) = Packet::from_bytes(&[&header[..], &rest].concat()) else { return Ok(()) };
        for _ in 0..2 {
            for end in [&mut server, &mut restarted] {
                let error = end.unprotect_request(&message, &mut RustCrypto).map(|_: Incoming| ()).unwrap_err();
                let _ = error.answer(&message);
            }
            prop_assert!(client.unprotect_response(&message, &mut exchange, &mut RustCrypto).is_err());
            let _ = client.protect_request(&message, &mut RustCrypto);
            message.add_option(CoapOption::Oscore, option.clone());
            message.payload.clone_from(&rest);
        }
    }
}
