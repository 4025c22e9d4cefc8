//! The knowledge of a receiver about the packets of its peer, which it tells in Ack Vectors (RFC 4340 section 11.4).

use super::seq::SeqNumber;
use std::collections::VecDeque;

/// The most octets of one Ack Vector: the length of an option has 8 bits (section 5.8).
const MAX_VECTOR_LEN: usize = 253;

/// The number of packets that a receiver remembers, at least a Sequence Window (section 7.5.2: 100), so that it knows a duplicate.
/// Assumed; a longer gap forgets all.
const MAX_HISTORY: usize = 256;

/// The number of its own acknowledgements that a receiver remembers, to learn which of them arrived. Assumed.
const MAX_REPORTS: usize = 64;

/// The packets of one octet of an Ack Vector: their number less one has 6 bits (section 11.4).
const MAX_RUN: u64 = 64;

/// The fate of a packet (section 11.4, Table 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It arrived.
    Received,
    /// It arrived, and a router has marked it (ECN).
    Marked,
    /// It has not arrived yet.
    NotReceived,
}

impl State {
    const fn number(self) -> u8 {
        match self {
            Self::Received => 0,
            Self::Marked => 1,
            Self::NotReceived => 3,
        }
    }
}

/// Packets in a row that have the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The greatest number.
    pub newest: SeqNumber,
    /// The number of packets, from the greatest number down; 1 or more.
    pub packets: u64,
    /// Their state.
    pub state: State,
}

/// The runs of an Ack Vector, given as its octets, that begins at a number: from the greatest number down. Runs with the reserved
/// state say nothing (section 11.4).
pub fn runs<'v, V: IntoIterator<Item = &'v u8, IntoIter: Clone>>(
    newest: SeqNumber,
    vector: V,
) -> impl Iterator<Item = Run> + Clone {
    let mut next = newest;
    vector.into_iter().filter_map(move |&octet| {
        let (newest, packets) = (next, u64::from(octet & 0x3f) + 1);
        next = newest - packets;
        let state = match octet >> 6 {
            0 => State::Received,
            1 => State::Marked,
            3 => State::NotReceived,
            _ => return None,
        };
        Some(Run { newest, packets, state })
    })
}

/// The packets that arrived from the peer.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The greatest number that arrived.
    newest: SeqNumber,
    /// The states from that number down.
    states: VecDeque<State>,
    /// The number of them that the next vector is to tell: the peer knows the others.
    untold: usize,
    /// The reports so far: the number of the packet that told it, and the greatest number that it told. The latest is last.
    reports: VecDeque<(SeqNumber, SeqNumber)>,
}

impl History {
    /// A packet arrived. Returns false if it has arrived before, or is too old to know.
    pub(super) fn add(&mut self, seq: SeqNumber, is_marked: bool) -> bool {
        let state = if is_marked { State::Marked } else { State::Received };
        let ahead = if self.states.is_empty() { 1 } else { seq.ahead_of(self.newest) };
        if ahead > 0 {
            if ahead as usize > MAX_HISTORY {
                self.states.clear();
                self.untold = 0;
            } else {
                (1..ahead).for_each(|_| self.states.push_front(State::NotReceived));
                self.untold += ahead as usize - 1;
            }
            self.states.push_front(state);
            self.untold += 1;
            self.newest = seq;
            self.states.truncate(MAX_HISTORY);
            self.untold = self.untold.min(self.states.len());
            return true;
        }
        match self.states.get_mut((-ahead) as usize) {
            Some(known @ State::NotReceived) => {
                *known = state;
                true
            }
            _ => false,
        }
    }

    /// Appends an Ack Vector that begins at the acknowledgement number of the packet that tells it. That number is at least the
    /// greatest that arrived; packets in between were valid and not taken.
    pub(super) fn report(&mut self, by: SeqNumber, ack: SeqNumber, vector: &mut Vec<u8>) {
        let most = vector.len() + MAX_VECTOR_LEN;
        if self.newest != ack {
            self.add(ack, false);
            self.states[0] = State::NotReceived;
        }
        let told = self.untold.max(1).min(self.states.len());
        let mut states = self.states.iter().take(told).copied().peekable();
        while let Some(state) = states.next() {
            let mut run = 1;
            while run < MAX_RUN && states.next_if_eq(&state).is_some() {
                run += 1;
            }
            if vector.len() == most {
                break;
            }
            vector.push(state.number() << 6 | (run - 1) as u8);
        }
        if self.reports.len() == MAX_REPORTS {
            self.reports.pop_front();
        }
        self.reports.push_back((by, self.newest));
    }

    /// The peer has received these packets of this side: what they told it need not be told again (section 11.4.2).
    pub(super) fn reported(&mut self, run: Run) {
        let oldest = run.newest - (run.packets - 1);
        let arrived = |&(by, _): &(SeqNumber, SeqNumber)| by.is_within(oldest, run.newest);
        let Some(last) = self.reports.iter().rposition(arrived) else { return };
        let (_, told) = self.reports[last];
        self.reports.drain(..=last);
        self.untold = self.untold.min(self.newest.ahead_of(told).max(0) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seq(number: u64) -> SeqNumber {
        SeqNumber::new(number)
    }

    fn vector(history: &mut History, by: u64) -> Vec<u8> {
        let mut vector = Vec::new();
        let newest = history.newest;
        history.report(seq(by), newest, &mut vector);
        vector
    }

    fn run(newest: u64, packets: u64, state: State) -> Run {
        Run { newest: seq(newest), packets, state }
    }

    #[test]
    fn states_become_runs() {
        let mut history = History::default();
        for (number, is_marked) in [(10, false), (11, false), (12, true), (15, false), (16, false)] {
            assert!(history.add(seq(number), is_marked));
        }
        assert!(!history.add(seq(11), false), "a duplicate");
        assert!(!history.add(seq(9), false), "before the first one that is known");
        let octets = vector(&mut history, 1);
        assert_eq!(octets, [0x01, 0xc1, 0x40, 0x01]);
        let expected = [
            run(16, 2, State::Received),
            run(14, 2, State::NotReceived),
            run(12, 1, State::Marked),
            run(11, 2, State::Received),
        ];
        assert_eq!(runs(seq(16), &octets).collect::<Vec<_>>(), expected);
        assert!(history.add(seq(13), false), "it was only late");
        assert_eq!(vector(&mut history, 2), [0x01, 0xc0, 0x00, 0x40, 0x01]);
    }

    #[test]
    fn a_vector_is_read_from_the_greatest_number_down() {
        let octets = [0x00, 0xc0, 0x02, 0xc0, 0x00];
        let read: Vec<_> = runs(seq(56), &octets).map(|run| (run.newest.get(), run.packets, run.state)).collect();
        let (yes, no) = (State::Received, State::NotReceived);
        assert_eq!(read, [(56, 1, yes), (55, 1, no), (54, 3, yes), (51, 1, no), (50, 1, yes)]);
        assert_eq!(runs(seq(0), &[0x80, 0x00]).next(), Some(run((1 << 48) - 1, 1, yes)), "a reserved state is skipped");
    }

    #[test]
    fn what_the_peer_knows_is_not_told_again() {
        let mut history = History::default();
        (1..=5).for_each(|number| assert!(history.add(seq(number), false)));
        assert_eq!(vector(&mut history, 100), [0x04]);
        assert!(history.add(seq(6), false));
        assert_eq!(vector(&mut history, 101), [0x05]);
        history.reported(run(100, 1, State::Received));
        assert_eq!(vector(&mut history, 102), [0x00]);
        assert!(history.add(seq(8), false));
        assert_eq!(vector(&mut history, 103), [0x00, 0xc0, 0x00]);
        history.reported(run(102, 2, State::Received));
        assert_eq!(vector(&mut history, 104), [0x00, 0xc0]);
        history.reported(run(104, 1, State::Received));
        assert_eq!(vector(&mut history, 105), [0x00], "at least the newest");
        assert!(!history.add(seq(2), false), "a duplicate is known all the same");
    }

    #[test]
    fn a_vector_begins_at_the_acknowledgement_number() {
        let mut history = History::default();
        assert!(history.add(seq(1), false));
        let mut octets = Vec::new();
        history.report(seq(7), seq(3), &mut octets);
        assert_eq!(octets, [0xc1, 0x00]);
        assert!(history.add(seq(3), false), "it may still come");
    }

    #[test]
    fn a_long_history_is_cut() {
        let mut history = History::default();
        for number in 0..1_000u64 {
            assert!(history.add(seq(2 * number), number % 2 == 0));
        }
        assert!(vector(&mut history, 1).len() <= MAX_VECTOR_LEN);
        assert_eq!(history.states.len(), MAX_HISTORY);
        assert!(history.add(seq(1 << 40), false), "a long gap forgets all");
        assert_eq!(vector(&mut history, 2), [0x00]);
        (3..200).for_each(|by| drop(vector(&mut history, by)));
        assert_eq!(history.reports.len(), MAX_REPORTS);
    }

    #[test]
    fn a_long_run_takes_more_octets() {
        let mut history = History::default();
        (0..130).for_each(|number| assert!(history.add(seq(number), false)));
        assert_eq!(vector(&mut history, 1), [0x3f, 0x3f, 0x01]);
    }
}
