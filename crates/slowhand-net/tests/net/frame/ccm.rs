//! CCM* against the examples of the standard (IEEE Std 802.15.4-2006, annex C.2).

use super::*;
use slowhand_net::address::Eui64;
use slowhand_net::radio::frame::{Key, protect};
use slowhand_testing::hex;

/// C0 to CF (C.2.1.1).
const KEY: Key = Key([0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf]);

/// The sender of all examples.
const SENDER: Eui64 = Eui64([0xac, 0xde, 0x48, 0, 0, 0, 0, 1]);

/// The frame in the clear, and as it is on the air.
const EXAMPLES: [(&str, &str); 3] = [
    // C.2.1, a beacon of level 2: the code covers all of it.
    (
        "08d0 84 2143 0100000000 48deac 02 05000000 55cf0000 51525354 0000000000000000",
        "08d0 84 2143 0100000000 48deac 02 05000000 55cf0000 51525354 223bc1ec841ab553",
    ),
    // C.2.2, a data frame of level 4: encrypted, without a code.
    (
        "69dc 84 2143 0200000000 48deac 0100000000 48deac 04 05000000 61626364",
        "69dc 84 2143 0200000000 48deac 0100000000 48deac 04 05000000 d43e022b",
    ),
    // C.2.3, an association request of level 6: the command ID stays in the clear.
    (
        "2bdc 84 2143 0200000000 48deac ffff 0100000000 48deac 06 05000000 01 ce 0000000000000000",
        "2bdc 84 2143 0200000000 48deac ffff 0100000000 48deac 06 05000000 01 d8 4fde529061f9c6f1",
    ),
];

#[test]
fn the_examples_of_the_standard() {
    for (clear, on_air) in EXAMPLES {
        let mut octets = hex::octets(clear);
        protect(&mut octets, &KEY, SENDER, None).unwrap();
        assert_eq!(octets, hex::octets(on_air));
    }
}

#[test]
fn every_part_of_the_nonce_counts() {
    let (clear, on_air) = EXAMPLES[1];
    let other_key = Key([0; 16]);
    let other_sender = Eui64([0xac, 0xde, 0x48, 0, 0, 0, 0, 2]);
    for (key, sender, counter) in [(other_key, SENDER, 5), (KEY, other_sender, 5), (KEY, SENDER, 6)] {
        let mut octets = hex::octets(clear);
        octets[22] = counter;
        protect(&mut octets, &key, sender, None).unwrap();
        assert_ne!(octets[26..], hex::octets(on_air)[26..]);
    }
}

#[test]
fn a_frame_without_security_stays_as_it_is() {
    let clear = hex::octets("61dc 84 2143 0200000000 48deac 0100000000 48deac 61626364");
    let mut octets = clear.clone();
    protect(&mut octets, &KEY, SENDER, None).unwrap();
    assert_eq!(octets, clear);
}

/// A frame whose nonce has the absolute slot number can only be protected in a slot.
#[test]
fn the_slot_must_be_known() {
    let clear = hex::octets("09ec 84 2143 0200000000 48deac 0100000000 48deac 65 61626364 00000000");
    let mut octets = clear.clone();
    assert_eq!(protect(&mut octets, &KEY, SENDER, None), Err(Error::FrameCounter));
    protect(&mut octets, &KEY, SENDER, Some(1)).unwrap();
    let mut later = clear.clone();
    protect(&mut later, &KEY, SENDER, Some(1 << 32 | 1)).unwrap();
    assert_ne!(octets, later);
}

#[test]
fn what_is_no_frame_is_refused() {
    assert_eq!(protect(&mut [], &KEY, SENDER, None), Err(Error::Truncated));
    // A MAC command of version 1 without its command ID.
    let mut octets = hex::octets("2bdc 84 2143 0200000000 48deac ffff 0100000000 48deac 04 05000000");
    assert_eq!(protect(&mut octets, &KEY, SENDER, None), Err(Error::Truncated));
}
