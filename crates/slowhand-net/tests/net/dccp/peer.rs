//! A peer that was written from RFC 4340 alone: it shares no code with the connection, not even the codec. It does what the tests
//! tell it, one packet at a time, and remembers what it got.

use std::net::Ipv6Addr;

pub const REQUEST: u8 = 0;
pub const RESPONSE: u8 = 1;
pub const DATA: u8 = 2;
pub const ACK: u8 = 3;
pub const DATA_ACK: u8 = 4;
pub const CLOSE_REQ: u8 = 5;
pub const CLOSE: u8 = 6;
pub const RESET: u8 = 7;
pub const SYNC: u8 = 8;
pub const SYNC_ACK: u8 = 9;

/// A packet as the peer reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    pub kind: u8,
    pub seq: u64,
    pub ack: Option<u64>,
    /// The service code, or the reset code and its data.
    pub word: Option<[u8; 4]>,
    /// Each option: its number and what is in it.
    pub options: Vec<(u8, Vec<u8>)>,
    pub data: Vec<u8>,
}

pub struct Peer {
    pub addresses: [Ipv6Addr; 2],
    pub ports: [u16; 2],
    pub next: u64,
    /// The numbers that have arrived.
    pub arrived: Vec<u64>,
}

impl Peer {
    /// From this end to the other one.
    pub fn new(addresses: [Ipv6Addr; 2], ports: [u16; 2], first: u64) -> Self {
        Self { addresses, ports, next: first, arrived: Vec::new() }
    }

    /// The octets of the next packet. `word` is what stands behind the acknowledgement number (service code, reset code).
    pub fn packet(
        &mut self,
        kind: u8,
        ack: Option<u64>,
        word: Option<[u8; 4]>,
        options: &[u8],
        data: &[u8],
    ) -> Vec<u8> {
        let seq = self.next;
        self.next = (self.next + 1) % (1 << 48);
        self.packet_with(seq, kind, ack, word, options, data)
    }

    /// A packet with a number of the caller's.
    pub fn packet_with(
        &self,
        seq: u64,
        kind: u8,
        ack: Option<u64>,
        word: Option<[u8; 4]>,
        options: &[u8],
        data: &[u8],
    ) -> Vec<u8> {
        let mut octets = Vec::new();
        octets.extend(self.ports[0].to_be_bytes());
        octets.extend(self.ports[1].to_be_bytes());
        octets.extend([0, 0, 0, 0, kind * 2 + 1, 0]);
        octets.extend(&seq.to_be_bytes()[2..]);
        if let Some(ack) = ack {
            octets.extend([0, 0]);
            octets.extend(&ack.to_be_bytes()[2..]);
        }
        octets.extend(word.iter().flatten());
        octets.extend(options);
        while octets.len() % 4 > 0 {
            octets.push(0);
        }
        octets[4] = (octets.len() / 4) as u8;
        octets.extend(data);
        let sum = checksum(self.addresses, &octets);
        octets[6..8].copy_from_slice(&sum.to_be_bytes());
        octets
    }

    /// An Ack Vector of all that has arrived (section 11.4), and the acknowledgement number for it.
    pub fn vector(&self) -> (u64, Vec<u8>) {
        let modulo = 1 << 48;
        let first = self.arrived[0];
        let since: Vec<u64> = self.arrived.iter().map(|seq| (seq + modulo - first) % modulo).collect();
        let last = *since.iter().max().unwrap();
        let cells: Vec<u8> =
            (0..=last).rev().map(|since_first| if since.contains(&since_first) { 0 } else { 3 << 6 }).collect();
        let mut option = vec![38, 2 + cells.len() as u8];
        option.extend(cells); // one packet for each octet: not the shortest form, and allowed
        ((first + last) % modulo, option)
    }

    /// Reads a packet of the other end, and checks all that a receiver must check.
    pub fn read(&mut self, octets: &[u8]) -> Got {
        let [own, other] = self.addresses;
        assert_eq!(checksum([other, own], octets), 0, "the checksum");
        assert_eq!(u16::from_be_bytes([octets[0], octets[1]]), self.ports[1]);
        assert_eq!(u16::from_be_bytes([octets[2], octets[3]]), self.ports[0]);
        assert_eq!(
            (octets[5], octets[8] >> 5, octets[8] & 1, octets[9]),
            (0, 0, 1, 0),
            "CCVal, CsCov, Res, X, Reserved"
        );
        let kind = octets[8] >> 1 & 15;
        let number = |at: usize| octets[at..at + 6].iter().fold(0, |number, &octet| number << 8 | u64::from(octet));
        let mut at = 16;
        let mut ack = None;
        if ![REQUEST, DATA].contains(&kind) {
            assert_eq!(octets[16..18], [0, 0], "reserved");
            ack = Some(number(18));
            at = 24;
        }
        let mut word = None;
        if [REQUEST, RESPONSE, RESET].contains(&kind) {
            word = Some(octets[at..at + 4].try_into().unwrap());
            at += 4;
        }
        let end = usize::from(octets[4]) * 4;
        let mut options = Vec::new();
        while at < end {
            match octets[at] {
                kind @ 0..32 => {
                    if kind > 0 {
                        options.push((kind, Vec::new()));
                    }
                    at += 1;
                }
                kind => {
                    let length = usize::from(octets[at + 1]);
                    options.push((kind, octets[at + 2..at + length].to_vec()));
                    at += length;
                }
            }
        }
        assert_eq!(at, end, "the options end where the data begin");
        let seq = number(10);
        self.arrived.push(seq);
        Got { kind, seq, ack, word, options, data: octets[end..].to_vec() }
    }
}

/// Section 9.1: the sum over the pseudo-header of IPv6 and all octets, as RFC 1071 has it.
fn checksum([source, destination]: [Ipv6Addr; 2], octets: &[u8]) -> u16 {
    let mut all = Vec::new();
    all.extend(source.octets());
    all.extend(destination.octets());
    all.extend((octets.len() as u32).to_be_bytes());
    all.extend([0, 0, 0, 33]);
    all.extend(octets);
    if all.len() % 2 == 1 {
        all.push(0);
    }
    let mut sum = 0u32;
    for pair in all.chunks(2) {
        sum += u32::from(pair[0]) * 256 + u32::from(pair[1]);
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
