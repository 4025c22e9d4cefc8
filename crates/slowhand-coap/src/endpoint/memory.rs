use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::Delivery;
use crate::message::Token;

/// The messages of the peer that came lately, to know copies of them (RFC 7252 section 4.5).
pub(super) struct Memory {
    entries: BTreeMap<u16, (Duration, Entry)>,
    /// From the oldest one on.
    order: VecDeque<u16>,
    most: usize,
}

/// A message of the peer.
pub(super) struct Entry {
    pub delivery: Delivery,
    pub token: Token,
    /// A request without a response.
    pub is_open: bool,
    /// The reply to each copy of it.
    pub reply: Option<Vec<u8>>,
}

impl Entry {
    pub(super) const fn waits_for_acknowledgement(&self) -> bool {
        self.is_open && self.reply.is_none() && matches!(self.delivery, Delivery::Confirmable)
    }
}

impl Memory {
    pub(super) const fn new(most: usize) -> Self {
        Self { entries: BTreeMap::new(), order: VecDeque::new(), most }
    }

    /// The message with this ID, if it came so lately that it can have copies.
    pub(super) fn get(&mut self, now: Duration, id: u16) -> Option<&mut Entry> {
        let (expires, entry) = self.entries.get_mut(&id)?;
        (now < *expires).then_some(entry)
    }

    /// The request with this ID and token, if it has no response.
    pub(super) fn open(&mut self, now: Duration, id: u16, token: Token) -> Option<&mut Entry> {
        self.get(now, id).filter(|entry| entry.is_open && entry.token == token)
    }

    /// Remembers a message. Returns the ID of the one that was forgotten for it.
    pub(super) fn insert(&mut self, expires: Duration, id: u16, entry: Entry) -> Option<u16> {
        if self.entries.insert(id, (expires, entry)).is_some() {
            self.order.retain(|old| *old != id);
        }
        self.order.push_back(id);
        if self.entries.len() <= self.most.max(1) {
            return None;
        }
        let forgotten = self.order.pop_front()?;
        self.entries.remove(&forgotten);
        Some(forgotten)
    }
}
