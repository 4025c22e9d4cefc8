//! One end of DTLS.

use slowhand_sessions::Role;
use slowhand_wire::dtls13::{self, APPLICATION_EPOCH, HANDSHAKE_EPOCH};
use slowhand_wire::{ContentType, MessageType, WireError, dtls};

use super::{Both, Seen, Way};

#[derive(Debug)]
pub(super) struct Datagrams {
    role: Role,
    gone: Both<Direction>,
}

/// The messages that have gone in one direction.
#[derive(Debug, Default)]
struct Direction {
    change_cipher_spec: bool,
    /// Of DTLS 1.2.
    finished: bool,
    /// A record of epoch 2 of DTLS 1.3 that is not an acknowledgement.
    flight: bool,
    /// Records of any kind.
    records: usize,
}

impl Datagrams {
    pub(super) fn new(role: Role) -> Self {
        Self { role, gone: Both::default() }
    }

    pub(super) fn observe(&mut self, way: Way, datagram: &[u8], seen: &mut Seen) {
        let mut records = dtls13::records(datagram, None);
        while let Some(record) = records.next() {
            self.gone.of(way).records += 1;
            match record {
                Ok(dtls13::Record::Long(record)) => self.long(way, &record, seen),
                Ok(dtls13::Record::Unified(record)) => {
                    self.unified(way, record.epoch_bits, Some(record.fragment.len()), seen);
                }
                Err(WireError::ConnectionIdLengthUnknown) => {
                    // Its kind is known, the end of the record is not.
                    match records.rest().first().and_then(|&first| dtls13::epoch_bits(first)) {
                        Some(epoch_bits) => self.unified(way, epoch_bits, None, seen),
                        None => self.finished(way, seen),
                    }
                }
                Err(_) => {}
            }
        }
    }

    /// A record of DTLS 1.2, or of epoch 0.
    fn long(&mut self, way: Way, record: &dtls::Record<'_>, seen: &mut Seen) {
        match (record.content_type, record.is_protected()) {
            (ContentType::Handshake, false) => {
                let mut messages = record.fragments().flatten();
                seen.is_secure |= way.is_of_client(self.role)
                    && messages.any(|fragment| fragment.message_type == MessageType::ClientHello);
            }
            _ if !seen.is_secure => {}
            (ContentType::Handshake, true) => self.finished(way, seen),
            (ContentType::ChangeCipherSpec, _) => {
                self.gone.of(way).change_cipher_spec = true;
                self.conclude(seen);
            }
            (ContentType::ApplicationData, true) => {
                seen.is_established |= way == Way::Sent && self.gone.received.finished
            }
            (ContentType::Alert, false) => {
                if let Ok(content) = record.fragment.try_into() {
                    seen.alert(way, content);
                }
            }
            (ContentType::Alert, true) => seen.protected_alert(),
            _ => {}
        }
    }

    /// The end that sends the second Finished has verified the first one.
    fn finished(&mut self, way: Way, seen: &mut Seen) {
        let is_second = way == Way::Sent && self.gone.received.finished && !self.gone.sent.finished;
        self.gone.of(way).finished = true;
        seen.is_established |= seen.is_secure && is_second;
        self.conclude(seen);
    }

    /// The end that gets the second one needs the ChangeCipherSpec too. Both may come in any order.
    fn conclude(&self, seen: &mut Seen) {
        let is_complete = self.gone.received.change_cipher_spec || !self.gone.sent.change_cipher_spec;
        seen.is_established |= seen.is_secure && self.gone.sent.finished && self.gone.received.finished && is_complete;
    }

    /// A protected record of DTLS 1.3, and octets of its content if they are known.
    fn unified(&mut self, way: Way, epoch_bits: u16, length: Option<usize>, seen: &mut Seen) {
        if !seen.is_secure {
            return;
        }
        let acknowledged = if way == Way::Sent { &self.gone.received } else { &self.gone.sent }.records;
        let may_acknowledge = length.is_some_and(|length| may_acknowledge(length, acknowledged));
        self.gone.of(way).flight |= epoch_bits == HANDSHAKE_EPOCH && !may_acknowledge;
        seen.is_established |= match (self.role, way, epoch_bits) {
            (Role::Client, Way::Sent, HANDSHAKE_EPOCH) => self.gone.sent.flight,
            (Role::Client, Way::Sent, APPLICATION_EPOCH) => true,
            (Role::Server, Way::Sent, APPLICATION_EPOCH) => self.gone.received.flight && !length.is_some_and(may_alert),
            (Role::Server, Way::Received, APPLICATION_EPOCH) => self.gone.received.flight,
            _ => false,
        };
    }
}

/// True if a record whose content has this length may be an alert without padding: 2 octets, the type, and a tag of 8 or 16
/// octets. To [`may_acknowledge`] it looks like an ACK that lists nothing.
fn may_alert(length: usize) -> bool {
    [2 + 1 + 8, 2 + 1 + 16].contains(&length)
}

/// True if a record whose content has this length may be an ACK without padding: the length of the list, 16 octets for each
/// record in it, the type of the content (RFC 9147 section 7), and a tag of 8 or 16 octets. It lists no more records than have come.
fn may_acknowledge(length: usize, records: usize) -> bool {
    [8, 16].iter().any(|tag| {
        let list = length.checked_sub(2 + 1 + tag);
        list.is_some_and(|list| list % 16 == 0 && list <= 16 * records)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8446 section 4: a header of 4 octets, a hash of 32 or 48, the type, a tag of 8 or 16.
    #[test]
    fn no_finished_has_the_length_of_an_acknowledgement() {
        for finished in
            [4 + 32 + 1 + 8, 4 + 32 + 1 + 16, 4 + 48 + 1 + 16, 12 + 32 + 1 + 8, 12 + 32 + 1 + 16, 12 + 48 + 1 + 16]
        {
            assert!(!may_acknowledge(finished, 16), "{finished}");
        }
        assert!([2 + 16 + 1 + 8, 2 + 2 * 16 + 1 + 16, 2 + 1 + 8].into_iter().all(|length| may_acknowledge(length, 2)));
    }

    /// A record with Certificate and Finished had 251 octets of content and tag, as an ACK of 15 records; two had come.
    #[test]
    fn no_acknowledgement_lists_records_that_have_not_come() {
        assert!(may_acknowledge(2 + 15 * 16 + 1 + 8, 15) && !may_acknowledge(2 + 15 * 16 + 1 + 8, 14));
    }
}
