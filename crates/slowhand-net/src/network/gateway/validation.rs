//! Validation of servers' certificates at the border router (Hummen et al. 2013, "Towards viable certificate-based authentication
//! for the Internet of Things", pre-validation).
//!
//! The border router reads the Certificate message of each handshake of DTLS 1.2 that a node opens with a server on the Internet. It
//! forwards the last missing octets of that message only if the chain is good. So a node takes every chain that reaches it through its border
//! router, and need not verify the signatures of certificates.
//!
//! A node must not see another chain than its border router. So until the chain is found good, the border router discards every
//! datagram to the node that it cannot read to its last octet. At any time it discards fragments of a second Certificate message, and
//! fragments that say something else than earlier ones of the same message. It looks for them behind protected records too: a
//! node that cannot use a record reads on behind it.

use super::dtls;
use crate::clock::{Duration, Instant};
use crate::ip::{Endpoint, UdpDatagram};
use slowhand_wire::dtls::{Fragment, RECORD_HEADER, records};
use slowhand_wire::{ContentType, MessageType};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Who judges chains.
pub trait Judge: fmt::Debug + Send + Sync {
    /// True if a chain of X.509 certificates (DER, the server's own first) is good at this time.
    fn is_good(&self, now: Instant, chain: &[&[u8]]) -> bool;
}

/// The longest Certificate message, in octets (assumed: what fits into one record, RFC 5246 section 6.2.1). A longer one is not
/// forwarded.
const LONGEST: u32 = 1 << 14;

/// A handshake that was silent for so long is deleted when another one begins (assumed, as for the suppression of flights).
const FORGOTTEN_AFTER: Duration = Duration::from_secs(300);

/// The most handshakes at the same time (assumed). One more replaces the one that has been silent for longest. Each takes at most
/// 9/8 of [`LONGEST`], so all take less than 5 MB.
const MOST_HANDSHAKES: usize = 256;

/// The handshakes that nodes have opened with servers on the Internet.
#[derive(Debug)]
pub struct Validation {
    judge: Arc<dyn Judge>,
    /// The key is the end on the Internet and the end in the mesh.
    handshakes: BTreeMap<(Endpoint, Endpoint), Handshake>,
}

#[derive(Debug)]
struct Handshake {
    /// The ClientHello that opened it.
    hello: u64,
    /// The Certificate message of the server.
    message: Option<Message>,
    /// Once the message is complete.
    is_good: Option<bool>,
    last: Instant,
}

/// A message of which some octets have arrived.
#[derive(Debug)]
struct Message {
    message_seq: u16,
    length: usize,
    /// Up to the last octet that has arrived; 0 where one is missing.
    octets: Vec<u8>,
    /// The octets that have arrived, one bit each. Empty once all have.
    arrived: Vec<u8>,
    missing: usize,
}

impl Validation {
    /// No handshakes. Each chain will be judged once.
    pub fn new(judge: Arc<dyn Judge>) -> Self {
        Self { judge, handshakes: BTreeMap::new() }
    }

    /// A datagram leaves the mesh: it may open a handshake.
    pub fn handle_upward(&mut self, now: Instant, udp: &UdpDatagram<'_>) {
        let key = (udp.destination, udp.source);
        if let Some(hello) = dtls::first_hello(udp.payload)
            && self.handshakes.get(&key).is_none_or(|handshake| handshake.hello != hello)
        {
            self.handshakes.retain(|_, handshake| now.since(handshake.last) < FORGOTTEN_AFTER);
            if self.handshakes.len() >= MOST_HANDSHAKES && !self.handshakes.contains_key(&key) {
                let oldest = self.handshakes.iter().min_by_key(|(_, handshake)| handshake.last).map(|(&key, _)| key);
                oldest.and_then(|oldest| self.handshakes.remove(&oldest));
            }
            self.handshakes.insert(key, Handshake { hello, message: None, is_good: None, last: now });
        }
        if let Some(handshake) = self.handshakes.get_mut(&key) {
            handshake.last = now;
        }
    }

    /// A datagram is about to enter the mesh: true if it may.
    pub fn admits(&mut self, now: Instant, udp: &UdpDatagram<'_>) -> bool {
        let content = Content::read(udp.payload);
        match self.handshakes.get_mut(&(udp.source, udp.destination)) {
            Some(handshake) => handshake.take(now, &content, &*self.judge),
            // Nobody waits for a certificate. Everything else is none of a handshake that a node has opened.
            None => content.certificates.is_empty() && !content.may_hide_more(),
        }
    }
}

impl Handshake {
    /// True if a datagram of the server may enter the mesh.
    fn take(&mut self, now: Instant, content: &Content<'_>, judge: &dyn Judge) -> bool {
        self.last = now;
        // The node may still lack a part of its good chain, so no other part may be hidden at any time.
        let is_harmless = match self.is_good {
            Some(true) => !content.may_hide_more(),
            _ => content.unread.is_empty() && !content.has_protected,
        };
        is_harmless && content.certificates.iter().all(|fragment| self.take_fragment(now, fragment, judge))
    }

    fn take_fragment(&mut self, now: Instant, fragment: &Fragment<'_>, judge: &dyn Judge) -> bool {
        if fragment.length > LONGEST || self.is_good == Some(false) {
            return false;
        }
        let message = self.message.get_or_insert_with(|| Message::new(fragment));
        if !message.add(fragment) {
            return false;
        }
        if message.missing == 0 && self.is_good.is_none() {
            let is_good = chain(&message.octets).is_some_and(|chain| judge.is_good(now, &chain));
            self.is_good = Some(is_good);
            message.arrived = Vec::new();
            if !is_good {
                message.octets = Vec::new();
            }
        }
        self.is_good != Some(false)
    }
}

impl Message {
    fn new(first: &Fragment<'_>) -> Self {
        let length = first.length as usize;
        let (octets, arrived) = (Vec::new(), Vec::new());
        Self { message_seq: first.message_seq, length, octets, arrived, missing: length }
    }

    /// Adds a fragment. False if it is of another message, or contradicts what has arrived before.
    fn add(&mut self, fragment: &Fragment<'_>) -> bool {
        let is_of_it = fragment.message_seq == self.message_seq && fragment.length as usize == self.length;
        let places = fragment.fragment_offset as usize..fragment.end() as usize;
        let agrees = |(place, octet): (usize, &u8)| self.known(place).is_none_or(|known| known == *octet);
        if !is_of_it || !places.clone().zip(fragment.body).all(agrees) {
            return false;
        }
        if self.octets.len() < places.end {
            self.octets.resize(places.end, 0);
            self.arrived.resize(places.end.div_ceil(8), 0);
        }
        for (place, octet) in places.zip(fragment.body) {
            if self.known(place).is_none() {
                self.octets[place] = *octet;
                self.arrived[place / 8] |= 1 << (place % 8);
                self.missing -= 1;
            }
        }
        true
    }

    /// The octet at a place, if it has arrived.
    fn known(&self, place: usize) -> Option<u8> {
        let has_arrived = || self.arrived.get(place / 8).is_some_and(|octet| octet >> (place % 8) & 1 == 1);
        self.octets.get(place).copied().filter(|_| self.missing == 0 || has_arrived())
    }
}

/// The contents of a datagram, as the border router reads them.
#[derive(Debug)]
struct Content<'a> {
    /// The fragments of Certificate messages in records of epoch 0.
    certificates: Vec<Fragment<'a>>,
    /// True if there are protected records with a length, as every node reads it.
    has_protected: bool,
    /// From the first record whose length is not known, that is not protected but should be, or that has something else than
    /// fragments of messages.
    unread: &'a [u8],
}

impl<'a> Content<'a> {
    fn read(datagram: &'a [u8]) -> Self {
        let mut content = Self { certificates: Vec::new(), has_protected: false, unread: datagram };
        for record in records(datagram, None).map_while(Result::ok) {
            // There are fewer octets if the header of the record is a short one, which not every node knows.
            let Some(behind) = content.unread.get(RECORD_HEADER + record.fragment.len()..) else { break };
            let may_be_clear = matches!(
                record.content_type,
                ContentType::Handshake | ContentType::ChangeCipherSpec | ContentType::Alert
            );
            if record.is_protected() {
                content.has_protected = true;
            } else if may_be_clear && record.fragments().all(|fragment| fragment.is_ok()) {
                content.certificates.extend(record.fragments().flatten().filter(is_certificate));
            } else {
                break;
            }
            content.unread = behind;
        }
        content
    }

    /// True if a record of epoch 0 with handshake messages begins anywhere in what is not read: a node may know where.
    fn may_hide_more(&self) -> bool {
        // Type, version, epoch. Encrypted octets look like this once in 2^32 places.
        self.unread.windows(5).any(|octets| matches!(octets, [22, 0xfe, _, 0, 0]))
    }
}

fn is_certificate(fragment: &Fragment<'_>) -> bool {
    fragment.message_type == MessageType::Certificate
}

/// The certificates in a Certificate message (RFC 5246 section 7.4.2). `None` if it is not valid.
pub fn chain(message: &[u8]) -> Option<Vec<&[u8]>> {
    let mut list = vector(&mut &*message, true)?;
    let mut chain = Vec::new();
    while !list.is_empty() {
        chain.push(vector(&mut list, false)?);
    }
    Some(chain)
}

/// Takes a vector with a length of three octets; with nothing behind it, if it is the last one.
fn vector<'a>(octets: &mut &'a [u8], is_last: bool) -> Option<&'a [u8]> {
    let (&[upper, middle, lower], rest) = octets.split_first_chunk()?;
    let length = u32::from_be_bytes([0, upper, middle, lower]) as usize;
    let (vector, rest) = rest.split_at_checked(length)?;
    *octets = rest;
    (!is_last || rest.is_empty()).then_some(vector)
}

#[cfg(test)]
mod tests;
