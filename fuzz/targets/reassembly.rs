//! Messages from fragments, against a model that keeps every fragment.
#![no_main]

use lean_dtls::fuzzing::{Fragment, Reassembly};
use libfuzzer_sys::fuzz_target;
use slowhand_fuzz::input::Input;

/// Small, so that messages are often too long for it.
const BUFFER: usize = 48;

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let acknowledges = input.flag();
    let mut reassembly = Reassembly::<BUFFER>::default();
    let mut arrived: Vec<Fragment<'_>> = Vec::new();
    let mut next = 0;
    while !input.is_empty() {
        let (sequence, kind) = (next + input.octet() as u16 % 5, input.octet() % 2);
        let length = input.below(BUFFER + 8);
        let offset = input.below(length + 1);
        let size = input.below(length - offset + 1);
        let octets = input.take(size);
        let fragment = Fragment { kind, sequence, length, offset, octets };
        let was_whole = reassembly.whole(sequence).map(|(kind, octets)| (kind, octets.to_vec()));
        arrived.push(fragment);
        let is_kept = match acknowledges {
            true => reassembly.keep(next, &fragment),
            false => {
                reassembly.insert(next, &fragment);
                false
            }
        };
        check(&reassembly, next, &arrived);
        let now_whole = reassembly.whole(sequence);
        // A whole message stays as long, and of the same kind, unless this fragment contradicts it. What is acknowledged is there.
        if let (Some((kind, before)), Some((now, octets))) = (was_whole, now_whole) {
            let is_contradicted = !acknowledges && (now, octets.len()) == (fragment.kind, fragment.length);
            assert!((kind, before.len()) == (now, octets.len()) || is_contradicted);
        }
        if is_kept && fragment.octets.len() == length {
            assert!(now_whole.is_some(), "it was acknowledged: {fragment:?}");
        }
        // The message whose turn it is always finds a place.
        let is_first = !arrived.iter().rev().skip(1).any(|other| other.sequence == sequence);
        if sequence == next && is_first && fragment.octets.len() == length && length <= BUFFER && !acknowledges {
            assert!(now_whole.is_some(), "{fragment:?}");
        }
        while reassembly.whole(next).is_some() && input.flag() {
            reassembly.remove(next);
            assert!(reassembly.whole(next).is_none());
            next += 1;
        }
    }
});

/// Every octet of a whole message has arrived, at its place in a message of that kind and length.
fn check(reassembly: &Reassembly<BUFFER>, next: u16, arrived: &[Fragment<'_>]) {
    for sequence in next..next + 5 {
        let Some((kind, octets)) = reassembly.whole(sequence) else { continue };
        let of_message = |fragment: &&Fragment<'_>| {
            (fragment.sequence, fragment.kind, fragment.length) == (sequence, kind, octets.len())
        };
        for (place, octet) in octets.iter().enumerate() {
            let has_it = |fragment: Fragment<'_>| {
                place.checked_sub(fragment.offset).and_then(|at| fragment.octets.get(at)) == Some(octet)
            };
            assert!(arrived.iter().filter(of_message).any(|fragment| has_it(*fragment)), "{sequence}: octet {place}");
        }
    }
}
