//! Acknowledgements of records (RFC 9147, section 7).

use super::record::Number;
use crate::codec::Reader;
use crate::time::Instant;

/// The number of records that can wait for an acknowledgement. (Assumed: as many as a flight has in small datagrams. Of more, the
/// earliest are forgotten; the peer sends their content again.)
const RECORDS: usize = 16;

/// Octets of a record's number in an acknowledgement.
pub(crate) const NUMBER: usize = 16;

/// The records of the peer that are to be acknowledged, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgements {
    records: [Number; RECORDS],
    count: usize,
    due: Due,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Never,
    /// The wait begins when the owner says what time it is.
    Soon,
    At(Instant),
    Now,
}

impl Acknowledgements {
    pub(crate) const fn new() -> Self {
        Self { records: [Number { epoch: 0, sequence: 0 }; RECORDS], count: 0, due: Due::Never }
    }

    /// Notes a record of handshake messages that were processed, or are kept.
    pub(crate) fn note(&mut self, record: Number) {
        if self.records[..self.count].contains(&record) {
            return;
        }
        if self.count == RECORDS {
            self.records.rotate_left(1);
            self.count -= 1;
        }
        self.records[self.count] = record;
        self.count += 1;
    }

    /// The peer's next flight begins, or this end's answer acknowledges the peer's.
    pub(crate) const fn clear(&mut self) {
        *self = Self::new();
    }

    /// Asks for an acknowledgement unless the rest of the flight arrives.
    pub(crate) fn ask_soon(&mut self) {
        if self.due == Due::Never {
            self.due = Due::Soon;
        }
    }

    /// Asks for an acknowledgement now, of no record if there is none.
    pub(crate) const fn ask_now(&mut self) {
        self.due = Due::Now;
    }

    pub(crate) const fn deadline(&self) -> Option<Instant> {
        match self.due {
            Due::At(deadline) => Some(deadline),
            Due::Never | Due::Soon | Due::Now => None,
        }
    }

    /// Notes the time: a wait of so many milliseconds begins if it was asked for.
    pub(crate) fn tick(&mut self, now: Instant, wait_ms: u32) {
        match self.due {
            Due::Soon => self.due = Due::At(now.after(wait_ms)),
            Due::At(deadline) if deadline <= now => self.due = Due::Now,
            Due::Never | Due::At(_) | Due::Now => {}
        }
    }

    /// Takes the numbers for an acknowledgement of so many octets, if one is to be sent now: their octets, and how many
    /// these are.
    pub(crate) fn take(&mut self, room: usize) -> Option<([u8; 2 + RECORDS * NUMBER], usize)> {
        if self.due != Due::Now {
            return None;
        }
        let fitting = self.count.min(room.saturating_sub(2) / NUMBER);
        let numbers = &mut self.records[..self.count];
        numbers.sort_unstable();
        let mut octets = [0; 2 + RECORDS * NUMBER];
        let length = fitting * NUMBER;
        octets[..2].copy_from_slice(&(length as u16).to_be_bytes());
        for (place, number) in octets[2..].chunks_exact_mut(NUMBER).zip(&numbers[..fitting]) {
            place[..8].copy_from_slice(&u64::from(number.epoch).to_be_bytes());
            place[8..].copy_from_slice(&number.sequence.to_be_bytes());
        }
        numbers.rotate_left(fitting);
        self.count -= fitting;
        if self.count == 0 || fitting == 0 {
            self.due = Due::Never;
        }
        Some((octets, 2 + length))
    }
}

/// The numbers in an acknowledgement. `None` if it is malformed.
pub(crate) fn read(content: &[u8]) -> Option<impl Iterator<Item = (u64, u64)>> {
    let mut reader = Reader::new(content);
    let numbers = reader.vector(2).filter(|numbers| reader.is_empty() && numbers.len() % NUMBER == 0)?;
    Some(numbers.chunks_exact(NUMBER).map(|number| {
        let half = |octets: &[u8]| octets.iter().fold(0, |number, octet| number << 8 | u64::from(*octet));
        (half(&number[..8]), half(&number[8..]))
    }))
}
