//! RFC 9529, chapter 3 (method 3, suite 2, CCS by `kid`), and section 4 (what is to be refused).

use slowhand_coap::edhoc::{Crypto, Error, ErrorMessage, Initiator, Responder, Transfer};
use slowhand_coap::oscore::crypto::Secret;
use slowhand_testing::hex::{octets, text};

use super::{X, Y, credential, id, initiator, responder, session, with_key};

#[test]
fn messages_and_keys_are_those_of_the_standard() {
    let session = session(Transfer::Reference, &[6, 2]).unwrap();
    assert_eq!(
        session.messages.map(|message| text(&message)),
        [
            "0382060258208af6f430ebe18d34184017a9a11bf511c8dff8f834730b96c1b7c8dbca2fc3b637",
            "582b419701d7f00a26c2dc587a36dd752549f33763c893422c8ea0f955a13a4ff5d59862a1eef9e0e7e1886fcd",
            "52e562097bc417dd5919485ac7891ffd90a9fc",
            "4828c966b7ca304f83",
        ]
    );
    let mut crypto = with_key(X);
    for end in &session.ends {
        let (mut secret, mut salt) = ([0; 16], [0; 8]);
        end.export(0, &[], &mut secret, &mut crypto).unwrap();
        end.export(1, &[], &mut salt, &mut crypto).unwrap();
        assert_eq!(text(&secret), "f9868f6a3aca78a05d1485b35030b162");
        assert_eq!(text(&salt), "ada24c7dbfc85eeb");
    }
    let [at_initiator, at_responder] = &session.ends;
    assert_eq!((at_initiator.peer_id(), at_initiator.own_id()), (&id("27"), &id("37")));
    assert_eq!((at_responder.peer_id(), at_responder.own_id()), (&id("37"), &id("27")));
    assert_eq!((*at_initiator.peer(), *at_responder.peer()), (credential(super::CRED_R), credential(super::CRED_I)));
    assert_eq!((at_initiator.peer().kid(), at_responder.peer().kid()), (Some(&[0x32][..]), Some(&[0x2b][..])));
}

/// Section 3.1 and 3.2: the initiator prefers suite 6, which the responder does not have.
#[test]
fn the_first_message_of_the_standard_is_answered_with_the_right_suites() {
    let first = "0306 5820 741a13d7ba048fbb615e94386aa3b61bea5b3d8f65f32620b749bee8d278efa9 0e";
    let error = refused(first);
    let message = error.message().unwrap();
    assert_eq!((&error, text(&message.write())), (&Error::Suite, "0202".to_owned()));
    let (waiting, _) = Initiator::start(id("0e"), &[2], &mut with_key(X)).unwrap();
    let own = initiator(Transfer::Reference);
    let failure = waiting.receive(&octets("0202"), &own, &[], &mut with_key(X)).unwrap_err();
    assert_eq!((failure.error, failure.c_r), (Error::Peer(ErrorMessage::WrongSuite(vec![2])), None));
}

#[track_caller]
fn refused(message_1: &str) -> Error {
    let own = responder(Transfer::Reference);
    Responder::start(&octets(message_1), &[id("27")], &own, &mut with_key(Y)).expect_err("it is invalid")
}

#[test]
fn invalid_messages_of_the_standard_are_refused() {
    let key = "5820 741a13d7ba048fbb615e94386aa3b61bea5b3d8f65f32620b749bee8d278efa9";
    for (message_1, expected) in [
        (format!("84 03 02 {key} 0e"), Error::Malformed),
        (format!("03 02 {key} 41 0e"), Error::Malformed),
        (format!("03 81 02 {key} 0e"), Error::Malformed),
        ("03 02 7820 20616972207370656564206F66206120756E6C6164656E207377616C6C6F77200e".to_owned(), Error::Malformed),
        (format!("03 82 02 1818 {key} 0e"), Error::Suite),
        ("03 02 5820 ffffffff00000001000000000000000000000000ffffffffffffffffffffffff 0e".to_owned(), Error::Key),
        ("03 02 5820 a04e73601df544a70ba7ea1e57030f7d4b4eb7f673924e58d54ca77a5e7d4d4a 0e".to_owned(), Error::Key),
        ("03 00 5820 edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f 0e".to_owned(), Error::Suite),
        ("03 02 581f d9697725d23a688b12d1c7e0108a08c9f71a85a09c20814976ab21122248fc 0e".to_owned(), Error::Malformed),
        (format!("190003 02 {key} 0e"), Error::Malformed),
        (format!("03 9f0602ff {key} 0e"), Error::Malformed),
    ] {
        assert_eq!(refused(&message_1), expected, "{message_1}");
    }
    let (waiting, _) = Initiator::start(id("37"), &[2], &mut with_key(X)).unwrap();
    let two = "5820 419701d7f00a26c2dc587a36dd752549f33763c893422c8ea0f955a13a4ff5d5 4B 9862a11de42a95d785386a";
    let failure = waiting.receive(&octets(two), &initiator(Transfer::Reference), &[], &mut with_key(X)).unwrap_err();
    assert_eq!(failure.error, Error::Malformed);
}

/// Sections 4.1.6, 4.1.7 and 4.2.5, and others by hand: whoever sends message_2 chooses its plaintext. The keystream follows from the
/// PRK_2e and the TH_2 of section 3.4.
#[test]
fn invalid_plaintexts_are_refused() {
    let prk_2e = octets("5aa0d69f3e3d1e0c479f0b8a486690c9802630c3466b1dc92371c982563170b5");
    let prk_2e = Secret::new(prk_2e.try_into().unwrap());
    let th_2 = octets("356efd53771425e008f3fe3a86c83ff4c6b16e57028ff39d5236c182b202084b");
    let g_y = octets("419701d7f00a26c2dc587a36dd752549f33763c893422c8ea0f955a13a4ff5d5");
    let mac = "0943305c899f5c54";
    for (plaintext, expected, c_r) in [
        // The MAC has four octets.
        ("27 32 44 fa5efa2e".to_owned(), Error::Malformed, None),
        // `kid` is a string of one octet that is to be a number; is in a map; has an array; is of a type that nobody knows.
        (format!("27 4132 48 {mac}"), Error::Malformed, Some("27")),
        (format!("27 a104423210 48 {mac}"), Error::Malformed, Some("27")),
        (format!("27 98ff 48 {mac}"), Error::Malformed, None),
        (format!("27 a1 1822 82 2e 4100 48 {mac}"), Error::Malformed, Some("27")),
        // C_R is a string that is to be a number; is too long; is C_I; is a text.
        (format!("4127 32 48 {mac}"), Error::Malformed, None),
        (format!("480102030405060708 32 48 {mac}"), Error::TooLong, None),
        (format!("57{} 32 48 {mac}", "00".repeat(23)), Error::TooLong, None),
        (format!("37 32 48 {mac}"), Error::SameIds, Some("37")),
        (format!("6127 32 48 {mac}"), Error::Malformed, None),
        // Behind the MAC: padding, which changes the MAC; what is critical; what is no label.
        (format!("27 32 48 {mac} 00 41e9"), Error::Authentication, Some("27")),
        (format!("27 32 48 {mac} 00 41e9 01 21"), Error::CriticalEad(2), None),
        (format!("27 32 48 {mac} 41e9"), Error::Malformed, None),
        (format!("27 32 48 {mac} 00 58a0 {}", "00".repeat(110)), Error::Malformed, None),
        (format!("27 32 48 {mac} 00 5878 {}", "00".repeat(120)), Error::TooLong, Some("27")),
        // The right one with another bit in the MAC, and another `kid`.
        ("27 32 48 0943305c899f5c55".to_owned(), Error::Authentication, Some("27")),
        (format!("27 33 48 {mac}"), Error::UnknownCredential, Some("27")),
        (String::new(), Error::Malformed, None),
    ] {
        let mut octets_2 = octets(&plaintext);
        let length = octets_2.len() as u8;
        let written = if length < 24 { vec![length] } else { vec![0x18, length] };
        let mut keystream = vec![0; octets_2.len()];
        with_key(X).expand_to(&prk_2e, &[&[0, 0x58, 32], &th_2[..], &written].concat(), &mut keystream);
        octets_2.iter_mut().zip(keystream).for_each(|(octet, key)| *octet ^= key);
        let message_2 = [&[0x58, 32 + length], &g_y[..], &octets_2].concat();
        let (waiting, _) = Initiator::start(id("37"), &[6, 2], &mut with_key(X)).unwrap();
        let known = [credential(super::CRED_R)];
        let failure =
            waiting.receive(&message_2, &initiator(Transfer::Reference), &known, &mut with_key(X)).unwrap_err();
        assert_eq!((failure.error, failure.c_r), (expected, c_r.map(id)), "{plaintext}");
    }
}
