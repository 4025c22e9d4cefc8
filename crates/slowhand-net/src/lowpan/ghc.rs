//! Generic Header Compression (RFC 7400): a payload as a series of instructions, each of which appends octets.
//!
//! ```text
//! 0kkkkkkk  k octets follow, which are appended (k < 96)
//! 1000nnnn  n + 2 zeros
//! 10010000  the end; only behind extension headers
//! 101nssss  for the next backreference: 8 n octets more, and 8 s farther back
//! 11nnnkkk  backreference: copies n + 2 octets that begin n + 2 + k octets before the end
//! ```
//!
//! Backreferences reach into a dictionary too, which stands before the payload: the addresses of the packet, then
//! [16 octets](STATIC) for DTLS.
//!
//! The RFC leaves the choice of instructions to the sender. Here it is the shortest series that is made of matches no farther
//! back than `MAX_DISTANCE`, no longer than `MAX_MATCH`, and among the nearest `MAX_CANDIDATES`.

use std::cell::RefCell;
use std::net::Ipv6Addr;

use super::Error;
use super::fragment::{Amount, MAX_DATAGRAM, UNIT};

/// The static dictionary (RFC 7400 section 2, figure 1): type and version of records of DTLS 1.2, then epoch 1 and a sequence
/// number, as in the explicit nonce of a record.
pub const STATIC: [u8; 16] = [0x16, 0xfe, 0xfd, 0x17, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0];

/// The octets of the dictionary: two addresses and the static part.
const DICTIONARY: usize = 16 + 16 + STATIC.len();

/// The most octets of one literal instruction: k is less than 96.
const MAX_LITERAL: u8 = 95;

/// The most zeros of one instruction.
const MAX_ZEROS: usize = 15 + 2;

const ZEROS: u8 = 0b1000_0000;
const STOP: u8 = 0b1001_0000;
const EXTENDED: u8 = 0b1010_0000;
const BACKREFERENCE: u8 = 0b1100_0000;

/// The distance that the sender looks back. A match farther away needs more than four octets of [`EXTENDED`], and saves little.
const MAX_DISTANCE: usize = 512;

/// The longest match that the sender uses. A longer one becomes two.
const MAX_MATCH: usize = 33;

/// The most earlier places with the same two octets at which the sender looks, the nearest first. It bounds the time for
/// payloads such as zeros, which match everywhere.
const MAX_CANDIDATES: usize = 32;

/// The result of [`compress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The octets of the payload that the instructions give.
    pub consumed: usize,
    /// The octets of the instructions.
    pub written: usize,
}

/// Writes `payload`, or its first units of eight octets, as instructions into `out`, of which all may be used. The packet has
/// these addresses.
///
/// None if the instructions are not shorter than the octets, or do not carry more units than would fit into a first fragment as they
/// are; and if the payload is longer than any datagram of 6LoWPAN.
pub fn compress(
    source: Ipv6Addr,
    destination: Ipv6Addr,
    payload: &[u8],
    amount: Amount,
    out: &mut [u8],
) -> Option<Encoded> {
    if payload.len() > MAX_DATAGRAM {
        return None;
    }
    PARSE.with_borrow_mut(|parse| {
        parse.begin(source, destination, payload);
        parse.run(out.len());
        let cost = |end: usize| usize::from(parse.steps[end].cost);
        let all = payload.len();
        let consumed = match amount {
            _ if cost(all) < all && cost(all) <= out.len() => all,
            Amount::Frame { reserved } if all > out.len() => {
                let room = out.len().saturating_sub(reserved);
                let mut ends = (0..=all / UNIT * UNIT).rev().step_by(UNIT);
                ends.find(|&end| cost(end) <= room).filter(|&end| end > room / UNIT * UNIT)?
            }
            Amount::Frame { .. } | Amount::Whole => return None,
        };
        let written = cost(consumed);
        parse.emit(consumed, &mut out[..written]);
        Some(Encoded { consumed, written })
    })
}

thread_local! {
    /// The memory for the search. To clear all of it for every packet at every hop would take longer than to search.
    static PARSE: RefCell<Box<Parse>> = RefCell::new(Box::new(Parse::EMPTY));
}

/// Follows the instructions in `code`, of a packet with these addresses. Returns the octets written to `out`.
///
/// # Errors
/// [`Error::Truncated`] if an instruction lacks octets, [`Error::Instruction`] if one is reserved, refers to octets before the
/// dictionary or stands behind the end, and [`Error::BufferTooSmall`].
pub fn decompress(source: Ipv6Addr, destination: Ipv6Addr, code: &[u8], out: &mut [u8]) -> Result<usize, Error> {
    let dictionary = dictionary(source, destination);
    let (room, mut written) = (out.len(), 0);
    let (mut more, mut farther) = (0, 0);
    let mut rest = code;
    while let Some((&instruction, behind)) = rest.split_first() {
        rest = behind;
        let space = |octets: usize| {
            if octets <= room - written { Ok(octets) } else { Err(Error::BufferTooSmall(room)) }
        };
        match instruction {
            0..=MAX_LITERAL => {
                let (literal, behind) = rest.split_at_checked(instruction.into()).ok_or(Error::Truncated)?;
                let octets = space(literal.len())?;
                out[written..][..octets].copy_from_slice(literal);
                rest = behind;
                written += octets;
            }
            ZEROS..STOP => {
                let octets = space(usize::from(instruction & 0b1111) + 2)?;
                out[written..][..octets].fill(0);
                written += octets;
            }
            STOP if rest.is_empty() => {}
            EXTENDED..BACKREFERENCE => {
                more += usize::from(instruction >> 4 & 1) * 8;
                farther += usize::from(instruction & 0b1111) * 8;
            }
            BACKREFERENCE.. => {
                let octets = space(more + usize::from(instruction >> 3 & 0b111) + 2)?;
                let distance = usize::from(instruction & 0b111) + farther + octets;
                let begin = (DICTIONARY + written).checked_sub(distance).ok_or(Error::Instruction(instruction))?;
                for at in begin..begin + octets {
                    out[written] = if at < DICTIONARY { dictionary[at] } else { out[at - DICTIONARY] };
                    written += 1;
                }
                (more, farther) = (0, 0);
            }
            reserved => return Err(Error::Instruction(reserved)),
        }
    }
    Ok(written)
}

fn dictionary(source: Ipv6Addr, destination: Ipv6Addr) -> [u8; DICTIONARY] {
    let mut dictionary = [0; DICTIONARY];
    dictionary[..16].copy_from_slice(&source.octets());
    dictionary[16..32].copy_from_slice(&destination.octets());
    dictionary[32..].copy_from_slice(&STATIC);
    dictionary
}

/// An instruction, with the octets of [`EXTENDED`] before it.
#[derive(Clone, Copy)]
enum Piece {
    Literal,
    Zeros,
    /// A backreference to octets that begin so far before its own.
    Copy {
        distance: u16,
    },
}

/// The best way found so far to a place of the payload.
#[derive(Clone, Copy)]
struct Step {
    /// The octets of the instructions up to here.
    cost: u16,
    /// The last of them, and the octets that it appends.
    piece: Piece,
    length: u16,
    /// The octets if the last instruction is a literal, and how many octets it appends.
    literal_cost: u16,
    literal: u8,
    /// Where the piece ends that begins here.
    next: u16,
}

impl Step {
    /// No way found.
    const FAR: Self =
        Self { cost: u16::MAX, piece: Piece::Literal, length: 0, literal_cost: u16::MAX, literal: 0, next: 0 };
}

/// The search for the shortest series of instructions, from the begin of the payload to its end.
struct Parse {
    /// The dictionary, and the payload behind it.
    text: [u8; DICTIONARY + MAX_DATAGRAM],
    length: usize,
    /// By place in the payload.
    steps: [Step; MAX_DATAGRAM + 1],
    /// The last place of the text with two octets, by their hash, plus one; 0 for none.
    heads: [u16; HEADS],
    /// The place before with the same hash, plus one.
    earlier: [u16; DICTIONARY + MAX_DATAGRAM],
}

const HEADS: usize = 512;

impl Parse {
    const EMPTY: Self = Self {
        text: [0; DICTIONARY + MAX_DATAGRAM],
        length: 0,
        steps: [Step::FAR; MAX_DATAGRAM + 1],
        heads: [0; HEADS],
        earlier: [0; DICTIONARY + MAX_DATAGRAM],
    };

    /// Forgets the last payload. What is behind this one stays, and is not read.
    fn begin(&mut self, source: Ipv6Addr, destination: Ipv6Addr, payload: &[u8]) {
        self.length = DICTIONARY + payload.len();
        self.text[..DICTIONARY].copy_from_slice(&dictionary(source, destination));
        self.text[DICTIONARY..self.length].copy_from_slice(payload);
        self.steps[..=payload.len()].fill(Step::FAR);
        self.steps[0].cost = 0;
        self.heads.fill(0);
        (0..DICTIONARY).for_each(|place| self.remember(place));
    }

    /// Finds the best way to every place that `room` octets of instructions can reach.
    fn run(&mut self, room: usize) {
        for at in 0..self.length - DICTIONARY {
            let cost = self.steps[at].cost;
            // The shorter half of an instruction never costs more than one octet more than the whole.
            if usize::from(cost) > room + 1 {
                return;
            }
            self.append_literal(at);
            let place = DICTIONARY + at;
            let zeros = self.text[place..self.length].iter().take(MAX_ZEROS).take_while(|&&octet| octet == 0).count();
            for length in 2..=zeros {
                self.reach(at, length, Piece::Zeros, cost + 1);
            }
            self.copy(at, cost);
            self.remember(place);
        }
    }

    /// A literal instruction that ends with the octet here: the one before grows, or a new one begins.
    fn append_literal(&mut self, at: usize) {
        let Step { cost, literal_cost, literal, .. } = self.steps[at];
        let grown = if literal < MAX_LITERAL { literal_cost.saturating_add(1) } else { u16::MAX };
        let next = &mut self.steps[at + 1];
        (next.literal_cost, next.literal) = if cost + 2 <= grown { (cost + 2, 1) } else { (grown, literal + 1) };
        if next.literal_cost < next.cost {
            (next.cost, next.piece, next.length) = (next.literal_cost, Piece::Literal, next.literal.into());
        }
    }

    /// Backreferences to earlier places with the same octets.
    fn copy(&mut self, at: usize, cost: u16) {
        let place = DICTIONARY + at;
        let Some(hash) = self.hash(place) else { return };
        let mut earlier = self.heads[hash];
        for _ in 0..MAX_CANDIDATES {
            let Some(begin) = usize::from(earlier).checked_sub(1) else { return };
            let distance = place - begin;
            if distance > MAX_DISTANCE {
                return;
            }
            // The octets copied do not overlap those written: k is not negative.
            let most = distance.min(MAX_MATCH).min(self.length - place);
            let pairs = self.text[begin..].iter().zip(&self.text[place..]);
            let length = pairs.take(most).take_while(|(a, b)| a == b).count();
            for length in 2..=length {
                let octets = 1 + extended(length, distance) as u16;
                self.reach(at, length, Piece::Copy { distance: distance as u16 }, cost + octets);
            }
            earlier = self.earlier[begin];
        }
    }

    /// Notes a way that comes to `at` and goes on with a piece of this length.
    fn reach(&mut self, at: usize, length: usize, piece: Piece, cost: u16) {
        let step = &mut self.steps[at + length];
        if cost < step.cost {
            (step.cost, step.piece, step.length) = (cost, piece, length as u16);
        }
    }

    /// Makes the two octets at a place of the text known to later places.
    fn remember(&mut self, place: usize) {
        if let Some(hash) = self.hash(place) {
            self.earlier[place] = std::mem::replace(&mut self.heads[hash], place as u16 + 1);
        }
    }

    fn hash(&self, place: usize) -> Option<usize> {
        let &[a, b] = self.text[place..self.length].first_chunk()?;
        Some((usize::from(a) * 37 + usize::from(b)) % HEADS)
    }

    /// Writes the instructions up to a place, which fill `out`.
    fn emit(&mut self, end: usize, out: &mut [u8]) {
        let mut at = end;
        while at > 0 {
            let begin = at - usize::from(self.steps[at].length);
            self.steps[begin].next = at as u16;
            at = begin;
        }
        let mut written = 0;
        let mut put = |octets: &[u8]| {
            out[written..][..octets.len()].copy_from_slice(octets);
            written += octets.len();
        };
        while at < end {
            let Step { piece, length, .. } = self.steps[usize::from(self.steps[at].next)];
            let length = usize::from(length);
            match piece {
                Piece::Literal => {
                    put(&[length as u8]);
                    put(&self.text[DICTIONARY + at..][..length]);
                }
                Piece::Zeros => put(&[ZEROS | (length - 2) as u8]),
                Piece::Copy { distance } => {
                    let (mut more, mut farther) = (length - 2, usize::from(distance) - length);
                    for _ in 0..extended(length, distance.into()) {
                        let (n, s) = (usize::from(more > 7), (farther / 8).min(15));
                        put(&[EXTENDED | (n << 4 | s) as u8]);
                        (more, farther) = (more - 8 * n, farther - 8 * s);
                    }
                    put(&[BACKREFERENCE | (more << 3 | farther) as u8]);
                }
            }
            at += length;
        }
    }
}

/// The octets of [`EXTENDED`] that a backreference needs.
fn extended(length: usize, distance: usize) -> usize {
    let (more, farther) = ((length - 2) / 8, (distance - length) / 8);
    more.max(farther.div_ceil(15))
}
