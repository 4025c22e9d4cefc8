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
use slowhand_net::network::gateway::validation::{Judge, Validation, chain};

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

/// A record that a node may skip: of another type or epoch.
fn other(input: &mut Input<'_>) -> Vec<u8> {
    let (kind, epoch) = (20 + input.octet() % 8, input.octet() & 1);
    let body = input.string();
    let body = &body[..body.len().min(31)];
    [&[kind, 0xfe, 0xfd, 0, epoch, 0, 0, 0, 0, 0, 0, 0, body.len() as u8][..], body].concat()
}

/// A fragment of a Certificate message.
struct Part<'a> {
    message_seq: u16,
    length: u32,
    offset: u32,
    body: &'a [u8],
}

/// The parts that a node reads whose connection ID has so many octets: it skips each record by its length, whatever its type and epoch, and
/// takes the Certificate messages in those of epoch 0.
fn parts(mut datagram: &[u8], id_length: usize) -> Vec<Part<'_>> {
    let number = |octets: &[u8]| octets.iter().fold(0, |number, octet| number << 8 | u32::from(*octet));
    let mut parts = Vec::new();
    while let Some((header, rest)) = datagram.split_at_checked(11) {
        let Some((_, rest)) = rest.split_at_checked(if header[0] == 25 { id_length } else { 0 }) else { break };
        let Some((length, rest)) = rest.split_at_checked(2) else { break };
        let Some((mut record, rest)) = rest.split_at_checked(number(length) as usize) else { break };
        datagram = rest;
        if !matches!(header, [22, 0xfe, 0xfd | 0xff, 0, 0, ..]) {
            continue;
        }
        while let Some((header, rest)) = record.split_at_checked(12) {
            let Some((body, rest)) = rest.split_at_checked(number(&header[9..]) as usize) else { break };
            record = rest;
            let (length, offset) = (number(&header[1..4]), number(&header[6..9]));
            if header[0] == 11 && offset + body.len() as u32 <= length {
                parts.push(Part { message_seq: number(&header[4..6]) as u16, length, offset, body });
            }
        }
    }
    parts
}

/// The longest connection ID of the nodes, in octets.
const LONGEST_ID: usize = 2;

fuzz_target!(|octets: &[u8]| {
    chain(octets);
    let mut input = Input::new(octets);
    let mut validation = Validation::new(Arc::new(First));
    let (node, server) = (Host::Node(NodeId(1)), Host::Internet);
    let hello = packet(node, server, HELLO);
    validation.handle_upward(Instant::ZERO, &UdpDatagram::parse(&hello).expect("a datagram"));
    // The octets that nodes may have of each message: by number and length, the octet of each place.
    let mut seen = [const { BTreeMap::<(u16, u32), BTreeMap<u32, u8>>::new() }; LONGEST_ID + 1];
    while !input.is_empty() {
        let payload = match input.below(5) {
            0 => input.string().to_vec(),
            1 => [record(&mut input), record(&mut input)].concat(),
            2 => [other(&mut input), record(&mut input)].concat(),
            _ => record(&mut input),
        };
        let datagram = packet(server, node, &payload);
        if !validation.admits(Instant::ZERO, &UdpDatagram::parse(&datagram).expect("a datagram")) {
            continue;
        }
        for (id_length, seen) in seen.iter_mut().enumerate() {
            for part in parts(&payload, id_length) {
                let message = seen.entry((part.message_seq, part.length)).or_default();
                for (place, octet) in (part.offset..).zip(part.body) {
                    assert_eq!(message.insert(place, *octet).unwrap_or(*octet), *octet, "a node that sees two chains");
                }
                if message.len() == part.length as usize {
                    let octets: Vec<u8> = message.values().copied().collect();
                    assert!(chain(&octets).is_some_and(|chain| is_good(&chain)), "a bad chain is in the mesh");
                }
            }
        }
    }
});
