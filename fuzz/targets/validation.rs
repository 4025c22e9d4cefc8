//! A border router that validates certificates: whatever a server sends, in whatever fragments, no bad chain is complete in the mesh.
//!
//! A chain is good if its first certificate begins with an octet of 1.
#![no_main]

use std::collections::BTreeMap;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use slowhand_fuzz::input::Input;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::ip::{Endpoint, UdpDatagram, udp_datagram};
use slowhand_net::network::gateway::validation::{Judge, Validation, certificates, chain};

#[derive(Debug)]
struct First;

fn is_good(chain: &[&[u8]]) -> bool {
    chain.first().is_some_and(|own| own.first() == Some(&1))
}

impl Judge for First {
    fn is_good(&self, _: Instant, chain: &[&[u8]]) -> bool {
        is_good(chain)
    }
}

const HELLO: &[u8] = &[22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 13, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 7];

fn packet(from: Host, to: Host, payload: &[u8]) -> Vec<u8> {
    let mut octets = vec![0; UdpDatagram::HEADERS + payload.len()];
    let [from, to] = [from, to].map(|host| Endpoint::new(host.address(), 5684));
    udp_datagram(from, to, payload, &mut octets).expect("room for the datagram");
    octets
}

/// A record with a part of a Certificate message.
fn record(input: &mut Input<'_>) -> Vec<u8> {
    let (sequence, length, offset) = (input.octet() & 1, input.octet() & 31, input.octet() & 31);
    let body = input.string();
    let (body, length) = (&body[..body.len().min(31)], length);
    let fragment = [&[11, 0, 0, length, 0, sequence, 0, 0, offset, 0, 0, body.len() as u8][..], body].concat();
    [&[22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, fragment.len() as u8][..], &fragment].concat()
}

fuzz_target!(|octets: &[u8]| {
    certificates(octets).for_each(drop);
    chain(octets);
    let mut input = Input::new(octets);
    let mut validation = Validation::new(Arc::new(First));
    let (node, server) = (Host::Node(NodeId(1)), Host::Internet);
    let hello = packet(node, server, HELLO);
    validation.handle_upward(Instant::ZERO, &UdpDatagram::parse(&hello).expect("a datagram"));
    // What the node may have of each message: by number and length, the octet of each place.
    let mut seen = BTreeMap::<(u16, u32), BTreeMap<u32, u8>>::new();
    while !input.is_empty() {
        let payload = match input.below(4) {
            0 => input.string().to_vec(),
            1 => [record(&mut input), record(&mut input)].concat(),
            _ => record(&mut input),
        };
        let datagram = packet(server, node, &payload);
        if !validation.admits(Instant::ZERO, &UdpDatagram::parse(&datagram).expect("a datagram")) {
            continue;
        }
        for fragment in certificates(&payload).flatten() {
            let message = seen.entry((fragment.message_seq, fragment.length)).or_default();
            for (place, octet) in (fragment.fragment_offset..).zip(fragment.body) {
                assert_eq!(message.insert(place, *octet).unwrap_or(*octet), *octet, "a node that sees two chains");
            }
            if message.len() == fragment.length as usize {
                let octets: Vec<u8> = message.values().copied().collect();
                assert!(chain(&octets).is_some_and(|chain| is_good(&chain)), "a bad chain is in the mesh");
            }
        }
    }
});
