//! Properties of all octets: no end panics, and nobody without the keys is heard.

use proptest::prelude::*;
use slowhand_coap::edhoc::crypto::{ELEMENT, KeyPair, Scalar};
use slowhand_coap::edhoc::{Credential, Crypto, ErrorMessage, Initiator, Responder, Transfer, coap, combined};
use slowhand_coap::message::Packet;
use slowhand_coap::oscore::crypto::{DIGEST, Failed, Protection, Secret, TAG};
use slowhand_coap::oscore::{self, Parameters};
use slowhand_testing::hex::octets as of;

use super::{CRED_I, CRED_R, credential, id, initiator, responder};

/// No cryptography at all: whoever sends a message chooses all that is encrypted in it.
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

    fn open(&mut self, _with: &Protection<'_>, _content: &mut [u8], _tag: &[u8; TAG]) -> Result<(), Failed> {
        Ok(())
    }
}

impl Crypto for Open {
    fn generate(&mut self) -> KeyPair {
        KeyPair { private: Scalar::default(), public: [1; ELEMENT] }
    }

    fn agree(&mut self, _private: &Scalar, _public: &[u8; ELEMENT]) -> Result<Scalar, Failed> {
        Ok(Scalar::default())
    }

    fn hash(&mut self, _message: &[u8]) -> [u8; DIGEST] {
        [0; DIGEST]
    }

    fn expand_to(&mut self, _extracted: &Secret, _info: &[u8], _output: &mut [u8]) {}
}

fn octets(range: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), range)
}

/// Octets that are often items of CBOR.
fn items() -> impl Strategy<Value = Vec<u8>> {
    let item = prop_oneof![
        any::<u8>().prop_map(|octet| vec![octet]),
        (0_u8..8, any::<u8>()).prop_map(|(major, number)| vec![major << 5 | 24, number]),
        octets(0..24).prop_map(|octets| [&[0x40 | octets.len() as u8][..], &octets].concat()),
        octets(24..230).prop_map(|octets| [&[0x58, octets.len() as u8][..], &octets].concat()),
        octets(8..9).prop_map(|octets| [&[0x48][..], &octets].concat()),
        Just(of("5820 ac75e9ece3e50bfc8ed60399889522405c47bf16df96660a41298cb4307f7eb6")),
        Just([of("a10e"), of(CRED_R)].concat()),
        Just(of("2b")),
        Just(of("32")),
    ];
    proptest::collection::vec(item, 0..6).prop_map(|items| items.concat())
}

/// A string of CBOR around these octets.
fn string(octets: &[u8]) -> Vec<u8> {
    match octets.len() {
        length @ 0..24 => [&[0x40 | length as u8], octets].concat(),
        length => [&[0x58, length as u8], octets].concat(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn messages_of_any_octets_do_no_harm(
        head in prop_oneof![Just(vec![]), Just(of("0302")), Just(of("0382 0602")), Just(of("0398")), Just(of("0302 5820"))],
        items in items(),
        raw in octets(0..250),
    ) {
        for octets in [[&head[..], &items].concat(), [&head[..], &raw].concat()] {
            let by_value = responder(Transfer::Value);
            for own in [&responder(Transfer::Reference), &by_value] {
                if let Ok((waiting, message_2)) = Responder::start(&octets, &[id("27"), id("28")], own, &mut Open) {
                    prop_assert!(message_2.len() <= 192);
                    let _ = waiting.receive(&octets, &[credential(CRED_I)], &mut Open);
                }
            }
            let _ = Credential::ccs(&octets);
            if let Some(message) = ErrorMessage::read(&octets) {
                prop_assert_eq!(ErrorMessage::read(&message.write()), Some(message));
            }
        }
    }

    /// Whoever sends message_2 or 3 chooses its plaintext.
    #[test]
    fn plaintexts_of_any_octets_do_no_harm(
        head in prop_oneof![Just(vec![]), Just(of("27")), Just(of("27 32 48 0000000000000000")), Just(of("2b 48 0000000000000000"))],
        items in items(),
        raw in octets(0..160),
        is_by_value: bool,
    ) {
        let transfer = if is_by_value { Transfer::Value } else { Transfer::Reference };
        for plaintext in [[&head[..], &items].concat(), [&head[..], &raw].concat()] {
            let known = [credential(CRED_I), credential(CRED_R)];
            let (waiting, message_1) = Initiator::start(id("37"), &[2], &mut Open).unwrap();
            let message_2 = string(&[&[7; ELEMENT], &plaintext[..plaintext.len().min(220)]].concat());
            if let Ok((established, _)) = waiting.receive(&message_2, &initiator(transfer), &known, &mut Open) {
                let _ = established.verify_message_4(&string(&[&plaintext[..plaintext.len().min(180)], &[0; TAG]].concat()), &mut Open);
            }
            let (waiting, _) = Responder::start(&message_1, &[id("27")], &responder(transfer), &mut Open).unwrap();
            let message_3 = string(&[&plaintext[..plaintext.len().min(220)], &[0; TAG]].concat());
            let _ = waiting.receive(&message_3, &known, &mut Open);
        }
    }

    #[test]
    fn packets_of_any_octets_do_no_harm(header in octets(4..5), rest in octets(0..60), payload in items(), kid in octets(0..10)) {
        let Ok(mut packet) = Packet::from_bytes(&[&header[..], &rest].concat()) else { return Ok(()) };
        for _ in 0..2 {
            let _ = (coap::read_request(&packet), coap::read_response(&packet), combined::read(&packet));
            packet.payload.clone_from(&payload);
            packet.add_option(9.into(), [&[9, 0], &kid[..]].concat());
            packet.add_option(combined::OPTION.into(), Vec::new());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// With other keys each time, and another bit of another message changed: an end notices, or both have the same keys.
    #[test]
    fn a_changed_bit_is_noticed(seed: u64, number in 0_usize..4, place in any::<prop::sample::Index>(), bit in 0_u32..8) {
        let mut state = seed;
        // SplitMix64 (Steele, Lea, Flood 2014), with the constants of its authors.
        let mut crypto = slowhand_coap::edhoc::Software(|output: &mut [u8]| for octet in output {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            *octet = ((mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 56) as u8;
        });
        let change = |at: usize, message: &mut Vec<u8>| {
            if at == number {
                let place = place.index(message.len());
                message[place] ^= 1_u8 << bit;
            }
        };
        let known = [credential(CRED_I), credential(CRED_R)];
        let (waiting, mut message_1) = Initiator::start(id("37"), &[6, 2], &mut crypto).unwrap();
        change(0, &mut message_1);
        let started = Responder::start(&message_1, &[id("27"), id("28")], &responder(Transfer::Reference), &mut crypto);
        let Ok((answering, mut message_2)) = started else { return Ok(()) };
        change(1, &mut message_2);
        let received = waiting.receive(&message_2, &initiator(Transfer::Value), &known, &mut crypto);
        let Ok((at_initiator, mut message_3)) = received else { return Ok(()) };
        change(2, &mut message_3);
        let Ok(at_responder) = answering.receive(&message_3, &known, &mut crypto) else { return Ok(()) };
        let mut message_4 = at_responder.message_4(&mut crypto).unwrap();
        change(3, &mut message_4);
        prop_assert_eq!(number, 3, "a change of a message before is noticed before");
        prop_assert!(at_initiator.verify_message_4(&message_4, &mut crypto).is_err());
        let mut client = at_initiator.oscore(&mut crypto).unwrap();
        let mut server = at_responder.oscore(&mut crypto).unwrap();
        let get = slowhand_coap::message::request(slowhand_coap::message::RequestType::Get, "a");
        let (protected, _) = client.protect_request(&get, &mut crypto).unwrap();
        prop_assert!(server.unprotect_request(&protected, &mut crypto).is_ok());
        let other = Parameters { master_secret: &[], master_salt: &[], id_context: None, sender_id: &[0x37], recipient_id: &[0x27] };
        let mut other = oscore::Context::derive(&other, &mut crypto).unwrap();
        prop_assert!(other.unprotect_request(&protected, &mut crypto).is_err());
    }
}
