//! Validation of servers' certificates at the border router (Hummen et al. 2013, "Towards viable certificate-based authentication
//! for the Internet of Things", pre-validation).
//!
//! The border router reads the Certificate message of each handshake of DTLS 1.2 that a node opens with a server on the Internet. It
//! forwards the last missing octets of that message only if the chain is good. So a node takes every chain that reaches it through its border
//! router, and need not verify the signatures of certificates.
//!
//! A node must not see another chain than its border router. So until the chain is found good, the border router discards every
//! datagram to the node that it cannot read to its last octet, fragments of a second Certificate message, and fragments that say
//! something else than earlier ones of the same message.

use super::dtls;
use crate::clock::{Duration, Instant};
use crate::ip::{Endpoint, UdpDatagram};
use slowhand_wire::dtls::{Fragment, records};
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
    octets: Vec<Option<u8>>,
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
            self.handshakes.insert(key, Handshake { hello, message: None, is_good: None, last: now });
        }
        if let Some(handshake) = self.handshakes.get_mut(&key) {
            handshake.last = now;
        }
    }

    /// A datagram is about to enter the mesh: true if it may.
    pub fn admits(&mut self, now: Instant, udp: &UdpDatagram<'_>) -> bool {
        match self.handshakes.get_mut(&(udp.source, udp.destination)) {
            Some(handshake) => handshake.take(now, udp.payload, &*self.judge),
            // Nobody waits for a certificate. Everything else is none of a handshake that a node has opened.
            None => !certificates(udp.payload).any(|fragment| fragment.is_ok()),
        }
    }
}

impl Handshake {
    /// True if a datagram of the server may enter the mesh.
    fn take(&mut self, now: Instant, datagram: &[u8], judge: &dyn Judge) -> bool {
        self.last = now;
        certificates(datagram).all(|fragment| match fragment {
            Ok(fragment) => self.take_fragment(now, &fragment, judge),
            // What cannot be read is harmless once the node has a good chain: it takes no other.
            Err(Unreadable) => self.is_good == Some(true),
        })
    }

    fn take_fragment(&mut self, now: Instant, fragment: &Fragment<'_>, judge: &dyn Judge) -> bool {
        if fragment.length > LONGEST {
            return false;
        }
        let message = self.message.get_or_insert_with(|| Message::new(fragment));
        if !message.add(fragment) {
            return false;
        }
        if message.missing == 0 && self.is_good.is_none() {
            let octets: Vec<u8> = message.octets.iter().map_while(|octet| *octet).collect();
            self.is_good = Some(chain(&octets).is_some_and(|chain| judge.is_good(now, &chain)));
        }
        self.is_good != Some(false)
    }
}

impl Message {
    fn new(first: &Fragment<'_>) -> Self {
        let length = first.length as usize;
        Self { message_seq: first.message_seq, octets: vec![None; length], missing: length }
    }

    /// Adds a fragment. False if it is of another message, or contradicts what has arrived before.
    fn add(&mut self, fragment: &Fragment<'_>) -> bool {
        let is_of_it = fragment.message_seq == self.message_seq && fragment.length as usize == self.octets.len();
        let start = fragment.fragment_offset as usize;
        let Some(place) = self.octets.get_mut(start..start + fragment.body.len()).filter(|_| is_of_it) else {
            return false;
        };
        let agrees = |(known, octet): (&Option<u8>, &u8)| known.is_none_or(|known| known == *octet);
        if !place.iter().zip(fragment.body).all(agrees) {
            return false;
        }
        for (known, octet) in place.iter_mut().zip(fragment.body) {
            self.missing -= usize::from(known.replace(*octet).is_none());
        }
        true
    }
}

/// A part of a datagram that is no record in clear, or no fragment of a handshake message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// The fragments of Certificate messages in a datagram, and at most one error, after which nothing is read.
pub fn certificates(datagram: &[u8]) -> impl Iterator<Item = Result<Fragment<'_>, Unreadable>> {
    let mut has_failed = false;
    let fragments = records(datagram, None).flat_map(|record| {
        let readable = record.ok().filter(|record| !record.is_protected()).filter(|record| {
            matches!(record.content_type, ContentType::Handshake | ContentType::ChangeCipherSpec | ContentType::Alert)
        });
        let fragments = readable.iter().flat_map(|record| record.fragments().collect::<Vec<_>>());
        let fragments = fragments.map(|fragment| fragment.map_err(|_| Unreadable)).collect::<Vec<_>>();
        fragments.into_iter().chain(readable.is_none().then_some(Err(Unreadable)))
    });
    let until_error = fragments.take_while(move |fragment| !std::mem::replace(&mut has_failed, fragment.is_err()));
    until_error.filter(|fragment| fragment.is_err() || fragment.is_ok_and(|fragment| is_certificate(&fragment)))
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
