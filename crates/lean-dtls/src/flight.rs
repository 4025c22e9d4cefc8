//! The messages of a flight: kept until the peer's answer, and cut into datagrams (RFC 6347, section 4.2.3; RFC 9147,
//! section 5.5).

mod sent;

use crate::codec::{Full, Writer};
use crate::config::Packing;
use crate::features::{ACKNOWLEDGEMENTS, DTLS13, Feature, Slot, Switch};
use crate::handshake::{self, Kind};

/// Octets that are kept of a message's header: kind, length, number.
const KEPT: usize = 6;

/// A fragment shorter than this waits for the next datagram, if it is not the end of its message. (Assumed: its headers
/// would be longer than itself.)
const LEAST_FRAGMENT: usize = 16;

/// The most fragments in a record. (Assumed: enough for the short messages of a flight.)
const MOST_FRAGMENTS: usize = if DTLS13 { 4 } else { 1 };

/// The writer of the records of a flight: the record layer of a version, with its keys.
///
/// A flight has two parts, which are encrypted with different keys: what comes before its change, and what follows.
pub(crate) trait Records {
    /// The last record of a datagram can be shorter, because its header leaves out its length.
    const LAST_IS_SHORTER: bool;

    /// A record can carry fragments of several messages.
    const HAS_SEVERAL_MESSAGES: bool;

    /// Octets that a record of a part has beside its content. `is_last`: nothing follows in the datagram.
    fn overhead(&self, part: Part, is_last: bool) -> usize;

    /// The most octets of content that the peer takes in a record of a part.
    fn limit(&self, part: Part) -> usize;

    /// Writes a record with fragments of messages: the header of each, and its octets. Returns its length and its sequence
    /// number.
    ///
    /// # Errors
    /// There is no room for it, no key for it, or no sequence number left.
    fn write(
        &mut self,
        part: Part,
        is_last: bool,
        fragments: &[&[u8]],
        output: &mut [u8],
    ) -> Result<(usize, u64), Full>;

    /// Writes the record that says that the second part follows, if the version has one. Returns its length.
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    fn change(&mut self, output: &mut [u8]) -> Result<usize, Full>;
}

/// A part of a flight: its place among the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    BeforeChange,
    AfterChange,
}

/// A flight. Its messages have `BUFFER` octets at most.
// Small fields come first, as in a connection.
#[cfg_attr(target_arch = "avr", repr(C))]
pub(crate) struct Flight<const BUFFER: usize> {
    length: usize,
    /// Where the second part begins, if there is one.
    change: Option<usize>,
    /// The part that has been sent.
    cursor: Cursor,
    sent: Slot<ACKNOWLEDGEMENTS, sent::Sent>,
    octets: [u8; BUFFER],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cursor {
    /// Where the next message begins.
    message: usize,
    /// The part of its body that has been sent.
    offset: usize,
    /// The change has been sent.
    changed: bool,
}

/// A fragment that can be sent next.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Where its message begins.
    message: usize,
    /// Octets of the message's body.
    length: usize,
    /// Where the fragment begins and ends in the body.
    begin: usize,
    end: usize,
}

impl<const BUFFER: usize> Flight<BUFFER> {
    pub(crate) fn new() -> Self {
        const { assert!(BUFFER <= u16::MAX as usize, "places in the buffer are kept in 16 bits") };
        Self {
            octets: [0; BUFFER],
            length: 0,
            change: None,
            cursor: Cursor { message: 0, offset: 0, changed: false },
            sent: Feature::<ACKNOWLEDGEMENTS>::slot(sent::Sent::new),
        }
    }

    /// Begins a new flight.
    pub(crate) const fn clear(&mut self) {
        (self.length, self.change) = (0, None);
        self.restart();
        if let Some(sent) = self.sent.first_mut() {
            *sent = sent::Sent::new();
        }
    }

    /// Adds a message, and returns its body.
    ///
    /// # Errors
    /// It is too long. The flight is then as before.
    pub(crate) fn push(
        &mut self,
        kind: Kind,
        sequence: u16,
        body: impl FnOnce(&mut Writer<'_>) -> Result<(), Full>,
    ) -> Result<&mut [u8], Full> {
        let mut writer = self.begin(kind, sequence)?;
        body(&mut writer)?;
        let end = writer.len();
        Ok(self.end(end))
    }

    fn begin(&mut self, kind: Kind, sequence: u16) -> Result<Writer<'_>, Full> {
        let mut writer = Writer::new(self.octets.get_mut(self.length..).unwrap_or_default());
        let [s0, s1] = sequence.to_be_bytes();
        writer.put(&[kind.0, 0, 0, 0, s0, s1])?; // `end` writes the length
        Ok(writer)
    }

    /// Ends a message, which has so many octets with its header.
    fn end(&mut self, octets: usize) -> &mut [u8] {
        let message = self.octets.get_mut(self.length..self.length + octets).unwrap_or_default();
        self.length += octets;
        let Some((header, body)) = message.split_first_chunk_mut::<KEPT>() else { return &mut [] };
        header[1..4].copy_from_slice(&handshake::three(body.len()));
        body
    }

    /// Ends the first part.
    pub(crate) const fn change(&mut self) {
        self.change = Some(self.length);
    }

    /// True if the peer is told, or will be, that what follows is encrypted.
    pub(crate) const fn has_changed(&self) -> bool {
        self.change.is_some()
    }

    /// True if no more of it is to be sent now.
    pub(crate) fn is_sent(&self) -> bool {
        self.piece(self.cursor).is_none()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The kind and the body of its first message.
    pub(crate) fn first(&mut self) -> Option<(Kind, &mut [u8])> {
        let (&mut [kind, l0, l1, l2, ..], rest) = self.octets[..self.length].split_first_chunk_mut::<KEPT>()?;
        let length = u32::from_be_bytes([0, l0, l1, l2]) as usize;
        rest.get_mut(..length).map(|body| (Kind(kind), body))
    }

    /// Nothing of it is sent, unless it is sent again.
    pub(crate) const fn withhold(&mut self) {
        self.cursor = Cursor { message: self.length, offset: 0, changed: true };
    }

    /// Sends all of it again, but for what the peer has acknowledged.
    pub(crate) const fn restart(&mut self) {
        self.cursor = Cursor { message: 0, offset: 0, changed: false };
    }

    /// The peer has the record of a part with this sequence number. Says whether that was not known; `None` if there was no such
    /// record, or if it was sent too long ago.
    pub(crate) fn acknowledge(&mut self, part: Part, sequence: u64) -> Option<bool> {
        let change = self.change.unwrap_or(self.length);
        let (first, last) = match part {
            Part::BeforeChange => (0, change),
            Part::AfterChange => (change, self.length),
        };
        self.sent.first_mut()?.acknowledge(first as u16, last as u16, sequence)
    }

    /// Nothing of it has been acknowledged after all.
    pub(crate) const fn forget_acknowledged(&mut self) {
        if let Some(sent) = self.sent.first_mut() {
            sent.forget_acknowledged();
        }
    }

    /// True if the peer has acknowledged all of it.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.sent.first().is_some_and(|sent| sent.is_acknowledged(self.length as u16))
    }

    /// Writes the next datagram: a record, or as many as it has room for. Returns 0 if there is nothing to send.
    pub(crate) fn write<R: Records>(&mut self, records: &mut R, packing: Packing, output: &mut [u8]) -> usize {
        let mut written = 0;
        while let Some((more, is_last)) = self.write_record(records, &mut output[written..], written == 0) {
            written += more;
            if is_last || packing == Packing::OneRecord {
                break;
            }
        }
        written
    }

    /// Writes the next record, and says whether no other can follow it. `None` if there is none, or no room for it.
    #[inline(never)] // in the loop, the places of all that it needs are computed before the loop
    fn write_record<R: Records>(
        &mut self,
        records: &mut R,
        output: &mut [u8],
        is_first: bool,
    ) -> Option<(usize, bool)> {
        let next = self.piece(self.cursor)?;
        if self.part(next.message) == Part::AfterChange && !self.cursor.changed {
            let written = records.change(output).ok()?;
            self.cursor.changed = true;
            if written > 0 {
                return Some((written, false));
            }
        }
        let (pieces, count, after) = self.fit(self.cursor, records, output.len(), is_first)?;
        let (pieces, part) = (&pieces[..count], self.part(next.message));
        let is_last = R::LAST_IS_SHORTER && {
            let content: usize = pieces.iter().map(|piece| handshake::HEADER + piece.octets()).sum();
            let room = output.len().checked_sub(records.overhead(part, false) + content);
            room.and_then(|room| self.fit(after, records, room, false)).is_none()
        };
        let mut headers = [[0; handshake::HEADER]; MOST_FRAGMENTS];
        for (header, piece) in headers.iter_mut().zip(pieces) {
            header[..KEPT].copy_from_slice(self.octets.get(piece.message..piece.message + KEPT)?);
            header[6..9].copy_from_slice(&handshake::three(piece.begin));
            header[9..].copy_from_slice(&handshake::three(piece.octets()));
        }
        let mut fragments: [&[u8]; 2 * MOST_FRAGMENTS] = [&[]; 2 * MOST_FRAGMENTS];
        for ((place, header), piece) in fragments.chunks_exact_mut(2).zip(&headers).zip(pieces) {
            place[0] = header;
            place[1] = self.octets.get(piece.body() + piece.begin..piece.last())?;
        }
        let (written, sequence) = records.write(part, is_last, &fragments[..2 * count], output).ok()?;
        if let Some(sent) = self.sent.first_mut() {
            sent.note(pieces[0].first() as u16, pieces[count - 1].last() as u16, sequence);
        }
        self.cursor = after;
        Some((written, is_last))
    }

    /// The fragments of the next record if it has room, how many these are, and where the flight goes on after them. They
    /// follow each other without a gap.
    fn fit<R: Records>(
        &self,
        at: Cursor,
        records: &R,
        room: usize,
        is_first: bool,
    ) -> Option<([Piece; MOST_FRAGMENTS], usize, Cursor)> {
        let part = self.part(self.piece(at)?.message);
        let mut room = room.checked_sub(records.overhead(part, true))?.min(records.limit(part));
        let (piece, mut after) = self.fit_fragment(at, room, is_first)?;
        let (mut pieces, mut count) = ([piece; MOST_FRAGMENTS], 1);
        while R::HAS_SEVERAL_MESSAGES && count < MOST_FRAGMENTS {
            let before = pieces[count - 1];
            room -= handshake::HEADER + before.octets();
            match self.fit_fragment(after, room, false) {
                Some((piece, next)) if piece.first() == before.last() && self.part(piece.message) == part => {
                    (pieces[count], after) = (piece, next);
                    count += 1;
                }
                _ => break,
            }
        }
        Some((pieces, count, after))
    }

    /// The next fragment if it has room, cut if it is the first in its datagram or long enough; and where the flight goes on
    /// after it.
    fn fit_fragment(&self, at: Cursor, room: usize, is_first: bool) -> Option<(Piece, Cursor)> {
        let mut piece = self.piece(at)?;
        let room = room.checked_sub(handshake::HEADER)?;
        let rest = piece.octets();
        if room < rest && (room == 0 || room < LEAST_FRAGMENT && !is_first) {
            return None;
        }
        piece.end = piece.begin + rest.min(room);
        let after = match piece.end == piece.length {
            true => Cursor { message: piece.message + KEPT + piece.length, offset: 0, ..at },
            false => Cursor { message: piece.message, offset: piece.end, ..at },
        };
        Some((piece, after))
    }

    /// The first fragment from a place onwards that the peer does not have.
    fn piece(&self, at: Cursor) -> Option<Piece> {
        let Cursor { mut message, mut offset, .. } = at;
        loop {
            let octets = self.octets.get(message..self.length).filter(|rest| rest.len() >= KEPT)?;
            let [_, l0, l1, l2, ..] = *octets.first_chunk::<KEPT>()?;
            let length = u32::from_be_bytes([0, l0, l1, l2]) as usize;
            let whole = Piece { message, length, begin: offset, end: length };
            match self.missing(&whole) {
                Some(piece) => return Some(piece),
                None => (message, offset) = (message + KEPT + length, 0),
            }
        }
    }

    /// The first part of a fragment that the peer does not have.
    fn missing(&self, piece: &Piece) -> Option<Piece> {
        let Some(sent) = self.sent.first() else {
            return (piece.begin == 0 || piece.begin < piece.end).then_some(*piece);
        };
        let (begin, end) = sent.gap(piece.first() as u16, piece.last() as u16)?;
        let place = |octet: u16| usize::from(octet).saturating_sub(piece.body());
        Some(Piece { begin: place(begin), end: place(end), ..*piece })
    }

    fn part(&self, message: usize) -> Part {
        if self.change.is_some_and(|change| message >= change) { Part::AfterChange } else { Part::BeforeChange }
    }
}

impl Piece {
    const fn octets(&self) -> usize {
        self.end - self.begin
    }

    /// Where the body of its message begins among the flight's octets.
    const fn body(&self) -> usize {
        self.message + KEPT
    }

    /// Where it begins among the flight's octets. The header of the message belongs to its first fragment.
    const fn first(&self) -> usize {
        if self.begin == 0 { self.message } else { self.body() + self.begin }
    }

    /// Where it ends among the flight's octets.
    const fn last(&self) -> usize {
        self.body() + self.end
    }
}

#[cfg(all(test, feature = "acknowledgements", feature = "rustcrypto"))]
mod tests {
    use std::collections::BTreeSet;
    use std::{vec, vec::Vec};

    use proptest::prelude::*;

    use super::*;
    use crate::codec::Reader;
    use crate::crypto::RustCrypto;
    use crate::dtls12::record::{HEADER, Outbound, Records};

    /// Sends what is left of a flight, and returns the sequence number and the fragment of each record.
    fn send(flight: &mut Flight<400>, outbound: &mut Outbound, mtu: usize) -> Vec<(u64, handshake::Header)> {
        let mut crypto = RustCrypto::new(|_: &mut [u8]| {});
        let mut records = Records { crypto: &mut crypto, outbound };
        let (mut sent, mut output) = (Vec::new(), vec![0; mtu]);
        while let length @ 1.. = flight.write(&mut records, Packing::Full, &mut output) {
            let mut rest = Reader::new(&output[..length]);
            while !rest.is_empty() {
                rest.take(HEADER - 10).unwrap();
                let sequence = u64::from_be_bytes(rest.array().unwrap()); // epoch 0
                let mut content = Reader::new(rest.vector(2).unwrap());
                sent.push((sequence, handshake::Header::read(&mut content).unwrap().0));
            }
        }
        sent
    }

    /// The octets of a message that a fragment has; one more stands for its header.
    fn octets(header: &handshake::Header) -> impl Iterator<Item = (u16, usize)> {
        let (sequence, begin) = (header.sequence, header.offset + usize::from(header.offset > 0));
        (begin..=header.offset + header.fragment).map(move |place| (sequence, place))
    }

    /// Records with as many messages as there is room for: how many each has.
    #[cfg(feature = "dtls13")]
    struct Counting(Vec<usize>);

    #[cfg(feature = "dtls13")]
    impl super::Records for Counting {
        const LAST_IS_SHORTER: bool = false;
        const HAS_SEVERAL_MESSAGES: bool = true;

        fn overhead(&self, _: Part, _: bool) -> usize {
            0
        }

        fn limit(&self, _: Part) -> usize {
            usize::MAX
        }

        fn write(&mut self, _: Part, _: bool, fragments: &[&[u8]], output: &mut [u8]) -> Result<(usize, u64), Full> {
            let mut writer = Writer::new(output);
            fragments.iter().try_for_each(|octets| writer.put(octets))?;
            self.0.push(fragments.len() / 2);
            Ok((writer.len(), self.0.len() as u64))
        }

        fn change(&mut self, _: &mut [u8]) -> Result<usize, Full> {
            Ok(0)
        }
    }

    #[cfg(feature = "dtls13")]
    #[test]
    fn short_messages_share_a_record() {
        let mut flight = Flight::<400>::new();
        for sequence in 0..6 {
            flight.push(Kind(99), sequence, |writer| writer.put(&[7; 5])).unwrap();
        }
        let mut records = Counting(Vec::new());
        flight.write(&mut records, Packing::Full, &mut [0; 300]);
        assert_eq!(records.0, [MOST_FRAGMENTS, 6 - MOST_FRAGMENTS]);
    }

    proptest! {
        /// A repetition is exactly what no acknowledged record has carried, until there is nothing left.
        #[test]
        fn only_what_was_not_acknowledged_is_sent_again(
            lengths in proptest::collection::vec(0_usize..90, 1..4),
            mtu in 64_usize..200,
            rounds in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 20), 0..6),
        ) {
            let (mut flight, mut outbound) = (Flight::<400>::new(), Outbound::default());
            for (sequence, length) in (0..).zip(&lengths) {
                flight.push(Kind(99), sequence, |writer| writer.put(&vec![7; *length])).unwrap();
            }
            let mut missing: BTreeSet<_> =
                (0..).zip(&lengths).flat_map(|(sequence, length)| (0..=*length).map(move |at| (sequence, at))).collect();
            for arrives in rounds.into_iter().chain([vec![true; 20]]) {
                let sent = send(&mut flight, &mut outbound, mtu);
                let carried: Vec<_> = sent.iter().flat_map(|(_, header)| octets(header)).collect();
                prop_assert_eq!(carried.iter().copied().collect::<BTreeSet<_>>(), missing.clone());
                prop_assert_eq!(carried.len(), missing.len(), "nothing twice");
                for ((sequence, header), _) in sent.iter().zip(arrives).filter(|(_, arrives)| *arrives) {
                    prop_assert!(flight.acknowledge(Part::BeforeChange, *sequence).is_some());
                    octets(header).for_each(|octet| assert!(missing.remove(&octet)));
                }
                prop_assert!(flight.acknowledge(Part::BeforeChange, 1000).is_none(), "it was never sent");
                prop_assert!(flight.acknowledge(Part::AfterChange, 0).is_none(), "nor in another epoch");
                flight.restart();
            }
            prop_assert!(missing.is_empty() && flight.is_acknowledged() && flight.is_sent());
        }
    }
}
