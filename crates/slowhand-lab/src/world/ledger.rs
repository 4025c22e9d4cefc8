//! The account of every datagram: its conversation and phase, its frames on the air, and if it arrived.

use super::retransmission::{self, Reader, Records, Repetition, Retransmissions};
use super::segments::{self, Span};
use super::traffic::Traffic;
use crate::record::{Costs, Loss, Phase};
use slowhand_net::address::Host;
use slowhand_net::datagram::{DatagramId, is_of_router};
use slowhand_net::drop_reason::DropReason;
use slowhand_net::transport::tcp::Segment;
use std::collections::BTreeMap;

/// All datagrams of a world, numbered in the order in which they were sent.
#[derive(Debug)]
pub(super) struct Ledger {
    datagrams: Vec<Datagram>,
    /// What the border router sent itself. It numbers these datagrams.
    of_gateway: BTreeMap<DatagramId, Datagram>,
    /// What reads the datagrams, by end.
    readers: Vec<Reader>,
    /// The numbers of the datagrams that were sent, by end: the client's end of conversation n is 2n, the
    /// server's 2n + 1.
    of_end: Vec<Vec<DatagramId>>,
    /// The numbers of the segments that the border router sent in the name of an end, by end.
    in_name_of: Vec<Vec<DatagramId>>,
    /// By conversation and phase.
    costs: Vec<[Costs; Phase::ALL.len()]>,
    on_their_way: usize,
    /// How many datagrams of the later phases are on their way, by conversation.
    data_on_their_way: Vec<usize>,
    /// The datagrams of flows beside the conversations.
    pub(super) traffic: Traffic,
    /// Conversations whose last such datagram has arrived or was lost. [`Ledger::pop_settled`] takes them out.
    settled: Vec<usize>,
}

#[derive(Debug)]
struct Datagram {
    conversation: usize,
    /// The phase of the conversation in which it was sent.
    phase: Phase,
    fate: Fate,
    content: Content,
}

/// What a datagram carries, so that it can be recognised when it is sent again.
#[derive(Debug)]
enum Content {
    /// Records of DTLS.
    Records(Records),
    /// A segment of TCP.
    Segment(Span),
}

impl Datagram {
    fn has_arrived(&self) -> bool {
        self.fate == Fate::Arrived
    }

    fn records(&self) -> Option<(&Records, bool)> {
        match &self.content {
            Content::Records(records) => Some((records, self.has_arrived())),
            Content::Segment(_) => None,
        }
    }

    fn span(&self) -> Option<(Span, bool)> {
        match self.content {
            Content::Segment(span) => Some((span, self.has_arrived())),
            Content::Records(_) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    OnItsWay,
    Arrived,
    Lost { reason: DropReason, host: Host },
}

impl Ledger {
    /// An empty account of so many conversations, whose connection IDs are this long.
    pub(super) fn new(conversations: usize, connection_id: u8) -> Self {
        Self {
            datagrams: Vec::new(),
            of_gateway: BTreeMap::new(),
            readers: vec![Reader::new(connection_id); 2 * conversations],
            of_end: vec![Vec::new(); 2 * conversations],
            in_name_of: vec![Vec::new(); 2 * conversations],
            costs: vec![Default::default(); conversations],
            on_their_way: 0,
            data_on_their_way: vec![0; conversations],
            traffic: Traffic::default(),
            settled: Vec::new(),
        }
    }

    /// An end sends a UDP datagram; returns its number.
    pub(super) fn sent(&mut self, end: usize, phase: Phase, datagram: &[u8]) -> DatagramId {
        let records = self.readers[end].read(datagram);
        self.add(end, phase, datagram.len(), Content::Records(records))
    }

    /// An end sends a TCP segment; returns its number.
    pub(super) fn sent_segment(&mut self, end: usize, phase: Phase, segment: &[u8]) -> DatagramId {
        let (span, payload) =
            Segment::parse(segment).map_or((Span::default(), 0), |segment| (Span::of(&segment), segment.payload.len()));
        self.add(end, phase, payload, Content::Segment(span))
    }

    /// The border router sends a TCP segment in the name of an end. The number is the border router's.
    pub(super) fn originated(&mut self, id: DatagramId, end: usize, phase: Phase, segment: &[u8]) {
        let span = Segment::parse(segment).map_or_else(|_| Span::default(), |segment| Span::of(&segment));
        let sent = Datagram { conversation: end / 2, phase, fate: Fate::OnItsWay, content: Content::Segment(span) };
        self.of_gateway.insert(id, sent);
        self.depart(end / 2, phase);
        self.in_name_of[end].push(id);
    }

    fn add(&mut self, end: usize, phase: Phase, payload: usize, content: Content) -> DatagramId {
        let conversation = end / 2;
        let costs = &mut self.costs[conversation][phase as usize];
        costs.datagrams += 1;
        costs.bytes_payload += payload as u64;
        self.datagrams.push(Datagram { conversation, phase, fate: Fate::OnItsWay, content });
        self.depart(conversation, phase);
        let id = (self.datagrams.len() - 1) as DatagramId;
        self.of_end[end].push(id);
        id
    }

    /// A datagram arrived.
    pub(super) fn arrived(&mut self, id: DatagramId) {
        self.settle(id, Fate::Arrived);
    }

    /// A part of a datagram was lost at this host. Without effect if the datagram has arrived.
    pub(super) fn lost(&mut self, id: DatagramId, reason: DropReason, host: Host) {
        if Traffic::has(id) {
            return self.traffic.lost(id, reason);
        }
        if self.datagram(id).is_some_and(|datagram| datagram.fate == Fate::OnItsWay) {
            self.settle(id, Fate::Lost { reason, host });
        }
    }

    fn settle(&mut self, id: DatagramId, fate: Fate) {
        let datagram = match is_of_router(id) {
            true => self.of_gateway.get_mut(&id),
            false => self.datagrams.get_mut(id as usize),
        };
        let Some(datagram) = datagram else { return };
        if std::mem::replace(&mut datagram.fate, fate) == Fate::OnItsWay {
            self.on_their_way -= 1;
            if datagram.phase != Phase::Handshake {
                let left = &mut self.data_on_their_way[datagram.conversation];
                *left -= 1;
                if *left == 0 {
                    self.settled.push(datagram.conversation);
                }
            }
        }
    }

    fn depart(&mut self, conversation: usize, phase: Phase) {
        self.on_their_way += 1;
        self.data_on_their_way[conversation] += usize::from(phase != Phase::Handshake);
    }

    fn datagram(&self, id: DatagramId) -> Option<&Datagram> {
        match is_of_router(id) {
            true => self.of_gateway.get(&id),
            false => self.datagrams.get(id as usize),
        }
    }

    /// A data frame carried a part of a datagram.
    pub(super) fn carried(&mut self, id: DatagramId, octets: u64) {
        if let Some(costs) = self.costs_of(id) {
            costs.frames += 1;
            costs.bytes_phy += octets;
        }
    }

    /// A frame that carried a part of a datagram was acknowledged.
    pub(super) fn acknowledged(&mut self, id: DatagramId, octets: u64) {
        if let Some(costs) = self.costs_of(id) {
            costs.frames_ack += 1;
            costs.bytes_ack += octets;
        }
    }

    /// A frame of the MAC's own, such as a strobe, served a datagram.
    pub(super) fn controlled(&mut self, id: DatagramId, octets: u64) {
        if let Some(costs) = self.costs_of(id) {
            costs.frames_control += 1;
            costs.bytes_control += octets;
        }
    }

    /// Frames that carry no datagram of a conversation have a number that no datagram has.
    fn costs_of(&mut self, id: DatagramId) -> Option<&mut Costs> {
        let Datagram { conversation, phase, .. } = *self.datagram(id)?;
        Some(&mut self.costs[conversation][phase as usize])
    }

    /// True if any datagram is on its way.
    pub(super) fn any_on_its_way(&self) -> bool {
        self.on_their_way > 0 || self.traffic.any_on_its_way()
    }

    /// True if a datagram of a later phase than the handshake is on its way.
    pub(super) fn has_data_on_its_way(&self, conversation: usize) -> bool {
        self.data_on_their_way[conversation] > 0
    }

    /// A conversation whose last datagram of the later phases has arrived or was lost.
    pub(super) fn pop_settled(&mut self) -> Option<usize> {
        self.settled.pop()
    }

    /// What a phase of a conversation has cost.
    pub(super) fn costs(&self, conversation: usize, phase: Phase) -> Costs {
        self.costs[conversation][phase as usize]
    }

    /// How many datagrams of a handshake were lost, by the first reason and its place. Those that the border router
    /// held back are included.
    pub(super) fn losses(&self, conversation: usize) -> Vec<Loss> {
        let mut losses = BTreeMap::new();
        for datagram in self.of_handshake(conversation) {
            if let Fate::Lost { reason, host } = datagram.fate {
                *losses.entry((reason, host)).or_default() += 1;
            }
        }
        losses.into_iter().map(|((reason, host), count)| Loss { reason, host, count }).collect()
    }

    /// How many datagrams of a handshake have neither arrived nor been lost.
    pub(super) fn waiting(&self, conversation: usize) -> u64 {
        self.of_handshake(conversation).filter(|datagram| datagram.fate == Fate::OnItsWay).count() as u64
    }

    /// The retransmissions of a handshake at the end of the world, by the client and by the server. What has not arrived by
    /// then does not arrive. Datagrams that the border router held back do not count. What its proxy repeated counts for
    /// the end in whose name it was sent.
    pub(super) fn retransmissions(&self, conversation: usize) -> [Retransmissions; 2] {
        [2 * conversation, 2 * conversation + 1]
            .map(|end| self.repetitions(end).map(|(_, repetition)| repetition).collect())
    }

    /// The datagrams of a handshake that were sent again: true for each that was needed, false for a spurious one.
    pub(super) fn repeated(&self, conversation: usize) -> Vec<(DatagramId, bool)> {
        let ends = [2 * conversation, 2 * conversation + 1].into_iter();
        let repetitions = ends.flat_map(|end| self.repetitions(end).collect::<Vec<_>>());
        repetitions.map(|(datagram, repetition)| (datagram, repetition == Repetition::Needed)).collect()
    }

    /// The datagrams that an end sent again, or the border router in its name.
    fn repetitions(&self, end: usize) -> impl Iterator<Item = (DatagramId, Repetition)> {
        let (sent, in_name_of) = (self.counted(&self.of_end[end]), self.counted(&self.in_name_of[end]));
        let with_records = sent.clone().filter_map(|(id, datagram)| Some((id, datagram.records()?)));
        let with_spans = |datagram: (DatagramId, &Datagram)| Some((datagram.0, datagram.1.span()?));
        let found = retransmission::classify(with_records)
            .chain(segments::classify(sent.filter_map(with_spans)))
            .chain(segments::classify(in_name_of.filter_map(with_spans)));
        found.filter_map(|(id, repetition)| Some((id, repetition?)))
    }

    /// Those of these datagrams that count for a handshake.
    fn counted<'a>(&'a self, ids: &'a [DatagramId]) -> impl Iterator<Item = (DatagramId, &'a Datagram)> + Clone {
        ids.iter().filter_map(|&id| Some((id, self.datagram(id)?))).filter(|(_, datagram)| {
            let is_held_back = matches!(datagram.fate, Fate::Lost { reason: DropReason::Suppressed, .. });
            datagram.phase == Phase::Handshake && !is_held_back
        })
    }

    /// What both ends of a conversation sent in its handshake, and the border router in their names.
    fn of_handshake(&self, conversation: usize) -> impl Iterator<Item = &Datagram> {
        let ends = [2 * conversation, 2 * conversation + 1].into_iter();
        let sent = ends.flat_map(|end| self.sent_by(end).chain(self.sent_in_name_of(end)));
        sent.filter(|datagram| datagram.phase == Phase::Handshake)
    }

    /// What an end sent, in order.
    fn sent_by(&self, end: usize) -> impl Iterator<Item = &Datagram> {
        self.of_end[end].iter().filter_map(|&id| self.datagram(id))
    }

    /// What the border router sent in the name of an end, in order.
    fn sent_in_name_of(&self, end: usize) -> impl Iterator<Item = &Datagram> {
        self.in_name_of[end].iter().filter_map(|&id| self.datagram(id))
    }
}

#[cfg(test)]
mod tests;
