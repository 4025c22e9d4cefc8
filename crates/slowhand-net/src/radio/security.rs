//! Link security on the side of the sender (IEEE Std 802.15.4-2020, 9.2.2).
//!
//! The MACs write frames with their security headers and with room for the message integrity code, so that each frame has
//! its length on the air. Frame counter and code are zero, and the payload is in the clear: nothing in the simulation
//! depends on these octets. Whoever looks at them, such as a capture, has each frame protected here.

use super::frame::{Error, FrameView, Key, MAX_FRAME, Security, protect};
use crate::address::{Eui64, NodeId};
use crate::observer::{FrameKind, Transmission};
use std::collections::HashMap;

/// The frame counters of all nodes, and their key.
#[derive(Clone, Debug)]
pub struct OutgoingSecurity {
    key: Key,
    /// The next frame counter of each node.
    counters: HashMap<NodeId, u32>,
    /// The last frame of a kind from one node to another, before its protection.
    last: HashMap<(NodeId, NodeId, FrameKind), Last>,
}

#[derive(Clone, Debug)]
struct Last {
    octets: Vec<u8>,
    counter: u32,
}

impl OutgoingSecurity {
    /// Nodes that have sent no frame yet, and share this key.
    pub fn new(key: Key) -> Self {
        Self { key, counters: HashMap::new(), last: HashMap::new() }
    }

    /// Writes a frame as it is on the air into `out`, without its FCS, and returns its length.
    ///
    /// A node counts its frames from 0. A retransmission has the counter of the frame that it repeats
    /// (`SubMac::ProcessTransmitSecurity` of OpenThread; the packet buffer of Contiki), unless another field has changed,
    /// such as the time of the next sample: no nonce may protect two texts. No acknowledgement is a retransmission.
    ///
    /// # Errors
    /// See [`protect`].
    pub fn protect(&mut self, frame: &Transmission<'_>, out: &mut [u8; MAX_FRAME]) -> Result<usize, Error> {
        let length = frame.octets.len();
        let octets = out.get_mut(..length).ok_or(Error::BufferTooSmall(MAX_FRAME))?;
        octets.copy_from_slice(frame.octets);
        let header = FrameView::parse(octets)?.header();
        let Some(security) = header.security else { return Ok(length) };
        if security.frame_counter.is_some() {
            let position = header.length() - security.length() + Security::FRAME_COUNTER;
            let counter = self.counter(frame).to_le_bytes();
            octets[position..position + counter.len()].copy_from_slice(&counter);
        }
        protect(octets, &self.key, Eui64::of_node(frame.from), frame.asn)?;
        Ok(length)
    }

    fn counter(&mut self, frame: &Transmission<'_>) -> u32 {
        let key = (frame.from, frame.to, frame.kind);
        let last = self.last.entry(key).or_insert(Last { octets: Vec::new(), counter: 0 });
        let is_answer = matches!(frame.kind, FrameKind::Ack | FrameKind::StrobeAck);
        if is_answer || last.octets != frame.octets {
            let next = self.counters.entry(frame.from).or_insert(0);
            last.octets = frame.octets.to_vec();
            last.counter = *next;
            *next = next.wrapping_add(1);
        }
        last.counter
    }
}
