//! GHC: any instructions at the decompressor, any payload there and back.
#![no_main]

use std::net::Ipv6Addr;

use libfuzzer_sys::fuzz_target;
use slowhand_fuzz::input::Input;
use slowhand_net::lowpan::fragment::Amount;
use slowhand_net::lowpan::ghc;

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let [source, destination] = [(); 2].map(|()| {
        let mut address = [0; 16];
        let given = input.take(16);
        address[..given.len()].copy_from_slice(given);
        Ipv6Addr::from(address)
    });
    let room = input.below(256);
    let rest = input.take(octets.len());

    let mut out = [0; 2_047];
    let _ = ghc::decompress(source, destination, rest, &mut out[..room]);
    if let Ok(length) = ghc::decompress(source, destination, rest, &mut out) {
        there_and_back(source, destination, &out[..length], room);
    }
    there_and_back(source, destination, rest, room);
});

fn there_and_back(source: Ipv6Addr, destination: Ipv6Addr, payload: &[u8], room: usize) {
    let frame = Amount::Frame { reserved: room / 8 };
    for (amount, room) in [(Amount::Whole, room), (Amount::Whole, payload.len()), (frame, room)] {
        let mut code = [0; 2_047];
        let Some(done) = ghc::compress(source, destination, payload, amount, &mut code[..room]) else { continue };
        match amount {
            Amount::Frame { reserved } if done.consumed < payload.len() => {
                assert!(done.consumed % 8 == 0 && done.consumed > (room - reserved) / 8 * 8);
                assert!(done.written <= room - reserved);
            }
            Amount::Whole | Amount::Frame { .. } => {
                assert!(done.consumed == payload.len() && done.written < payload.len());
            }
        }
        let mut back = [0; 2_047];
        let length = ghc::decompress(source, destination, &code[..done.written], &mut back);
        assert_eq!(length, Ok(done.consumed));
        assert_eq!(back[..done.consumed], payload[..done.consumed]);
    }
}
