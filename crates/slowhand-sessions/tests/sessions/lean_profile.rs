//! The lean profile in sessions: its datagrams, and what others read of them.

use slowhand_sessions::memory::{End, Path};
use slowhand_sessions::{LeanProfile, LeanSwitch, Stack, Suite};
use slowhand_wire::{ContentType, dtls};

use crate::pair::{self, Pair};

fn with(switches: &[LeanSwitch], cookie: bool) -> Pair {
    let mut pair = Pair::new(Stack::LEAN_DTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8);
    let lean: LeanProfile = switches.iter().copied().collect();
    for config in [&mut pair.client, &mut pair.server] {
        let dtls = pair::dtls(config);
        (dtls.lean, dtls.cookie) = (lean, cookie);
    }
    pair
}

/// By hand: `docs/reference/lean-profile.md`, "Octets".
#[test]
fn the_datagrams_of_lean_handshakes() {
    for (switches, cookie, expected) in [
        (&[][..], true, &[75, 44, 91, 99, 109, 67][..]),
        (&[], false, &[75, 99, 109, 67]),
        (&[LeanSwitch::Slides], true, &[80, 44, 96, 70, 45, 45]),
        (&[LeanSwitch::All], true, &[80, 44, 96, 93, 23, 14]),
        (&[LeanSwitch::All], false, &[80, 93, 23, 14]),
        (&[LeanSwitch::OmitMessages], true, &[95, 44, 111, 70, 53, 53]),
    ] {
        let transcript = with(switches, cookie).run(&Path::default());
        assert_eq!(transcript.end, End::Completed, "{switches:?}");
        assert_eq!(transcript.sizes(), expected, "{switches:?}");
    }
}

/// Each record of a whole handshake can be read: what is not known counts as new in the laboratory.
#[test]
fn every_record_has_a_type() {
    let transcript = with(&[LeanSwitch::All], true).run(&Path::default());
    let types: Vec<_> = transcript
        .datagrams
        .iter()
        .flat_map(|sent| dtls::records(&sent.bytes, Some(0)).map(|record| record.unwrap().content_type))
        .collect();
    let mut expected = [ContentType::Handshake; 7];
    expected[6] = ContentType::Ack;
    assert_eq!(types, expected);
}

#[test]
fn every_switch_survives_the_loss_of_any_datagram() {
    for switch in LeanSwitch::EACH.into_iter().chain([LeanSwitch::Slides, LeanSwitch::All]) {
        for cookie in [true, false] {
            let pair = with(&[LeanSwitch::OmitMessages, switch], cookie);
            for lost in 0..pair.run(&Path::default()).datagrams.len() {
                let transcript = pair.run(&Path { dropped: vec![lost], ..Path::default() });
                assert_eq!(transcript.end, End::Completed, "{switch} {cookie} {lost}: {transcript:?}");
            }
        }
    }
}
