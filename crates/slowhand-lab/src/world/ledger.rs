//! The account of every datagram: its conversation and phase, its frames on the air, and if it arrived.

use super::payload::Payload;
use super::retransmission::{self, Reader, Records, Repetition, Retransmissions};
use super::segments::{self, Span};
use super::traffic::Traffic;
use crate::ids::{ConversationId, EndId, Table};
use crate::record::{Costs, Holders, Loss, Phase};
use slowhand_net::address::Host;
use slowhand_net::datagram::{DatagramId, is_of_router};
use slowhand_net::drop_reason::DropReason;
use slowhand_net::transport::tcp::Segment;
use slowhand_sessions::Role;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// The numbers of packets that are of no conversation, such as those between two kernels. The datagrams of conversations
/// have those below.
const OF_NONE: Range<DatagramId> = 1 << 29..1 << 30;

/// All datagrams of a world, numbered in the order in which they were sent.
#[derive(Debug)]
pub(super) struct Ledger {
    datagrams: VecDeque<Datagram>,
    /// The number of the first of them.
    first: DatagramId,
    /// The datagrams before it that are left.
    earlier: BTreeMap<DatagramId, Datagram>,
    /// The datagram before which all may be pruned the next time.
    prunable: DatagramId,
    /// The datagrams that the border router sent itself. It numbers them.
    of_gateway: BTreeMap<DatagramId, Datagram>,
    /// The readers of the datagrams of each end.
    readers: Table<EndId, Reader>,
    /// The numbers of the datagrams that each end sent in handshakes.
    of_end: Table<EndId, Vec<DatagramId>>,
    /// The numbers of the segments that the border router sent in the name of each end.
    in_name_of: Table<EndId, Vec<DatagramId>>,
    /// By conversation and phase.
    costs: Table<ConversationId, [Costs; Phase::ALL.len()]>,
    on_their_way: usize,
    /// The number of datagrams on their way, by conversation.
    on_their_way_of: Table<ConversationId, usize>,
    /// The number of datagrams of the later phases on their way, by conversation.
    data_on_their_way: Table<ConversationId, usize>,
    /// The packets of no conversation, or of one that is forgotten, that are on their way.
    of_none: BTreeSet<DatagramId>,
    /// The number of packets of no conversation that were sent.
    sent_by_none: u32,
    /// The fate of the datagrams, those of conversations that are forgotten too.
    pub(super) counts: DatagramCounts,
    /// The datagrams of flows beside the conversations.
    pub(super) traffic: Traffic,
    /// Conversations whose last such datagram has arrived or was lost. [`Ledger::pop_settled`] takes them out.
    settled: Vec<ConversationId>,
}

/// The fate of datagrams so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatagramCounts {
    /// The number sent.
    pub sent: u64,
    /// The number that arrived.
    pub arrived: u64,
    /// The number lost, by reason. One of no conversation, or of one that is forgotten, stays here if it arrives later.
    pub lost: BTreeMap<DropReason, u64>,
}

impl DatagramCounts {
    /// One more that has this fate.
    fn count(&mut self, fate: Fate) {
        match fate {
            Fate::OnItsWay => self.sent += 1,
            Fate::Arrived => self.arrived += 1,
            Fate::Lost { reason, .. } => *self.lost.entry(reason).or_default() += 1,
        }
    }
}

#[derive(Debug)]
struct Datagram {
    /// `None` if it counts for none any more.
    conversation: Option<ConversationId>,
    /// The phase of the conversation in which it was sent.
    phase: Phase,
    fate: Fate,
    content: Content,
}

/// The content of a datagram, by which it is recognised when it is sent again.
#[derive(Debug)]
enum Content {
    /// Records of DTLS.
    Records(Records),
    /// A segment of TCP.
    Segment(Span),
    /// A packet of DCCP with which its sender opens the connection: a client's Request, or a server's Response.
    Opening,
}

impl Datagram {
    fn has_arrived(&self) -> bool {
        self.fate == Fate::Arrived
    }

    fn records(&self) -> Option<(&Records, bool)> {
        match &self.content {
            Content::Records(records) => Some((records, self.has_arrived())),
            Content::Segment(_) | Content::Opening => None,
        }
    }

    fn span(&self) -> Option<(Span, bool)> {
        match self.content {
            Content::Segment(span) => Some((span, self.has_arrived())),
            Content::Records(_) | Content::Opening => None,
        }
    }

    fn opening(&self) -> Option<bool> {
        matches!(self.content, Content::Opening).then(|| self.has_arrived())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    OnItsWay,
    Arrived,
    Lost { reason: DropReason, host: Host, holders: Holders },
}

impl Ledger {
    /// The account of a world without conversations.
    pub(super) fn new() -> Self {
        Self {
            datagrams: VecDeque::new(),
            first: 0,
            earlier: BTreeMap::new(),
            prunable: 0,
            of_gateway: BTreeMap::new(),
            readers: Table::default(),
            of_end: Table::default(),
            in_name_of: Table::default(),
            costs: Table::default(),
            on_their_way: 0,
            on_their_way_of: Table::default(),
            data_on_their_way: Table::default(),
            of_none: BTreeSet::new(),
            sent_by_none: 0,
            counts: DatagramCounts::default(),
            traffic: Traffic::default(),
            settled: Vec::new(),
        }
    }

    /// Opens the account of a conversation whose datagrams this reads: the next one, or one that is forgotten.
    pub(super) fn open(&mut self, conversation: ConversationId, reader: Reader) {
        self.costs.put(conversation, Default::default());
        self.on_their_way_of.put(conversation, 0);
        self.data_on_their_way.put(conversation, 0);
        for end in conversation.ends() {
            self.readers.put(end, reader);
            self.of_end.put(end, Vec::new());
            self.in_name_of.put(end, Vec::new());
        }
    }

    /// Closes the account of a conversation. Its datagrams that are on their way belong to none from now on.
    pub(super) fn forget(&mut self, conversation: ConversationId) {
        for end in conversation.ends() {
            self.of_end[end].clear();
            self.in_name_of[end].clear();
        }
        let is_own = |datagram: &Datagram| datagram.conversation == Some(conversation);
        let is_left = |datagram: &Datagram| is_own(datagram) && datagram.fate == Fate::OnItsWay;
        let others = self.earlier.iter().chain(&self.of_gateway).filter(|(_, datagram)| is_left(datagram));
        self.of_none.extend(others.map(|(id, _)| *id));
        for (id, datagram) in (self.first..).zip(&mut self.datagrams) {
            if is_left(datagram) {
                self.of_none.insert(id);
            }
            if is_own(datagram) {
                datagram.conversation = None;
            }
        }
        self.earlier.retain(|_, datagram| !is_own(datagram));
        self.of_gateway.retain(|_, datagram| !is_own(datagram));
        while self.datagrams.front().is_some_and(|datagram| datagram.conversation.is_none()) {
            self.datagrams.pop_front();
            self.first += 1;
        }
        self.on_their_way -= std::mem::take(&mut self.on_their_way_of[conversation]);
        self.data_on_their_way[conversation] = 0;
        self.settled.retain(|&settled| settled != conversation);
        self.costs[conversation] = Default::default();
    }

    /// Forgets what no report asks for any more: datagrams that were sent before the last call, belong to no handshake, and
    /// have arrived or were lost.
    pub(super) fn prune(&mut self) {
        let is_wanted = |datagram: &Datagram| {
            datagram.conversation.is_some() && (datagram.phase == Phase::Handshake || datagram.fate == Fate::OnItsWay)
        };
        self.earlier.retain(|_, datagram| is_wanted(datagram));
        self.of_gateway.retain(|_, datagram| is_wanted(datagram));
        while self.first < self.prunable {
            let Some(datagram) = self.datagrams.pop_front() else { break };
            if is_wanted(&datagram) {
                self.earlier.insert(self.first, datagram);
            }
            self.first += 1;
        }
        self.prunable = self.first + self.datagrams.len() as DatagramId;
    }

    /// The number of datagrams of a conversation on their way.
    pub(super) fn on_their_way_of(&self, conversation: ConversationId) -> usize {
        self.on_their_way_of[conversation]
    }

    /// An end sends a UDP datagram; returns its number.
    pub(super) fn sent(&mut self, end: EndId, phase: Phase, datagram: &Payload) -> DatagramId {
        let records = self.readers[end].read(datagram, phase);
        self.add(end, phase, datagram.octets.len(), Content::Records(records))
    }

    /// An end sends a packet of DCCP with which it opens the connection; returns its number.
    pub(super) fn sent_opening(&mut self, end: EndId, phase: Phase) -> DatagramId {
        self.add(end, phase, 0, Content::Opening)
    }

    /// A packet of no conversation is sent; returns its number.
    pub(super) fn sent_by_none(&mut self) -> DatagramId {
        let id = OF_NONE.start + self.sent_by_none % OF_NONE.len() as DatagramId;
        self.sent_by_none = self.sent_by_none.wrapping_add(1);
        self.of_none.insert(id);
        self.counts.count(Fate::OnItsWay);
        id
    }

    /// An end sends a TCP segment; returns its number.
    pub(super) fn sent_segment(&mut self, end: EndId, phase: Phase, segment: &[u8]) -> DatagramId {
        let (span, payload) =
            Segment::parse(segment).map_or((Span::default(), 0), |segment| (Span::of(&segment), segment.payload.len()));
        self.add(end, phase, payload, Content::Segment(span))
    }

    /// The border router sends a TCP segment in the name of an end. The number is the border router's.
    pub(super) fn originated(&mut self, id: DatagramId, end: EndId, phase: Phase, segment: &[u8]) {
        let span = Segment::parse(segment).map_or_else(|_| Span::default(), |segment| Span::of(&segment));
        let sent = Datagram {
            conversation: Some(end.conversation()),
            phase,
            fate: Fate::OnItsWay,
            content: Content::Segment(span),
        };
        self.of_gateway.insert(id, sent);
        self.depart(end.conversation(), phase);
        if phase == Phase::Handshake {
            self.in_name_of[end].push(id);
        }
    }

    fn add(&mut self, end: EndId, phase: Phase, payload: usize, content: Content) -> DatagramId {
        let conversation = end.conversation();
        let costs = &mut self.costs[conversation][phase as usize];
        costs.datagrams += 1;
        costs.bytes_payload += payload as u64;
        let id = self.first + self.datagrams.len() as DatagramId;
        self.datagrams.push_back(Datagram { conversation: Some(conversation), phase, fate: Fate::OnItsWay, content });
        self.depart(conversation, phase);
        if phase == Phase::Handshake {
            self.of_end[end].push(id);
        }
        id
    }

    /// A datagram arrived.
    pub(super) fn arrived(&mut self, id: DatagramId) {
        self.settle(id, Fate::Arrived);
    }

    /// A part of a datagram was lost at this host, where it found these buffers full. Without effect if the datagram has
    /// arrived.
    pub(super) fn lost(&mut self, id: DatagramId, reason: DropReason, host: Host, holders: Holders) {
        if Traffic::has(id) {
            return self.traffic.lost(id, reason);
        }
        let is_on_its_way = self.datagram(id).is_some_and(|datagram| datagram.fate == Fate::OnItsWay);
        if is_on_its_way || self.of_none.contains(&id) {
            self.settle(id, Fate::Lost { reason, host, holders });
        }
    }

    /// Counts these datagrams, which hold buffers that are full.
    pub(super) fn holders(&self, datagrams: &[DatagramId]) -> Holders {
        Holders::of(datagrams, |holder| self.why_lost(holder))
    }

    /// Why a datagram was lost, of which a part was lost and which has not arrived.
    fn why_lost(&self, id: DatagramId) -> Option<DropReason> {
        if Traffic::has(id) {
            return self.traffic.why_lost(id);
        }
        match self.datagram(id)?.fate {
            Fate::Lost { reason, .. } => Some(reason),
            Fate::OnItsWay | Fate::Arrived => None,
        }
    }

    fn settle(&mut self, id: DatagramId, fate: Fate) {
        if self.of_none.remove(&id) {
            return self.counts.count(fate);
        }
        let datagram = match is_of_router(id) {
            true => self.of_gateway.get_mut(&id),
            false if id < self.first => self.earlier.get_mut(&id),
            false => self.datagrams.get_mut((id - self.first) as usize),
        };
        let Some(datagram) = datagram else { return };
        let Some(conversation) = datagram.conversation else { return };
        let earlier = std::mem::replace(&mut datagram.fate, fate);
        if let (Fate::Lost { reason, .. }, Fate::Arrived) = (earlier, fate) {
            *self.counts.lost.entry(reason).or_default() -= 1;
            self.counts.count(fate);
        }
        if earlier == Fate::OnItsWay {
            self.counts.count(fate);
            self.on_their_way -= 1;
            self.on_their_way_of[conversation] -= 1;
            if datagram.phase != Phase::Handshake {
                let left = &mut self.data_on_their_way[conversation];
                *left -= 1;
                if *left == 0 {
                    self.settled.push(conversation);
                }
            }
        }
    }

    fn depart(&mut self, conversation: ConversationId, phase: Phase) {
        self.counts.count(Fate::OnItsWay);
        self.on_their_way += 1;
        self.on_their_way_of[conversation] += 1;
        self.data_on_their_way[conversation] += usize::from(phase != Phase::Handshake);
    }

    fn datagram(&self, id: DatagramId) -> Option<&Datagram> {
        let datagram = match is_of_router(id) {
            true => self.of_gateway.get(&id),
            false if id < self.first => self.earlier.get(&id),
            false => self.datagrams.get((id - self.first) as usize),
        };
        datagram.filter(|datagram| datagram.conversation.is_some())
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
        Some(&mut self.costs[conversation?][phase as usize])
    }

    /// The number of datagrams on their way, those of conversations that are forgotten too.
    pub(super) fn waiting_now(&self) -> u64 {
        (self.on_their_way + self.of_none.len()) as u64
    }

    /// True if any datagram is on its way.
    pub(super) fn any_on_its_way(&self) -> bool {
        self.on_their_way > 0 || self.traffic.any_on_its_way()
    }

    /// True if a datagram of a later phase than the handshake is on its way.
    pub(super) fn has_data_on_its_way(&self, conversation: ConversationId) -> bool {
        self.data_on_their_way[conversation] > 0
    }

    /// A conversation whose last datagram of the later phases has arrived or was lost.
    pub(super) fn pop_settled(&mut self) -> Option<ConversationId> {
        self.settled.pop()
    }

    /// The costs of a phase of these conversations.
    pub(super) fn costs(&self, conversations: &[ConversationId], phase: Phase) -> Costs {
        conversations.iter().map(|&conversation| self.costs[conversation][phase as usize]).sum()
    }

    /// The number of datagrams of these handshakes that were lost, by the first reason and its place. Those that the border router
    /// held back are included.
    pub(super) fn losses(&self, conversations: &[ConversationId]) -> Vec<Loss> {
        let mut losses: BTreeMap<_, Loss> = BTreeMap::new();
        for datagram in conversations.iter().flat_map(|&conversation| self.of_handshake(conversation)) {
            if let Fate::Lost { reason, host, holders } = datagram.fate {
                let none = Loss { reason, host, count: 0, holders: Holders::default() };
                let loss = losses.entry((reason, host)).or_insert(none);
                loss.count += 1;
                loss.holders += holders;
            }
        }
        losses.into_values().collect()
    }

    /// The number of datagrams of these handshakes that have neither arrived nor been lost.
    pub(super) fn waiting(&self, conversations: &[ConversationId]) -> u64 {
        let datagrams = conversations.iter().flat_map(|&conversation| self.of_handshake(conversation));
        datagrams.filter(|datagram| datagram.fate == Fate::OnItsWay).count() as u64
    }

    /// The number of segments that the border router sent in the names of both ends of these handshakes.
    pub(super) fn sent_by_proxy(&self, conversations: &[ConversationId]) -> u64 {
        let ends = conversations.iter().flat_map(|conversation| conversation.ends());
        ends.map(|end| self.in_name_of[end].len() as u64).sum()
    }

    /// The retransmissions of these handshakes at the end of the world, by the client and by the server. What has not arrived by
    /// then does not arrive. Datagrams that the border router held back do not count. What its proxy repeated counts for
    /// the end in whose name it was sent.
    pub(super) fn retransmissions(&self, conversations: &[ConversationId]) -> [Retransmissions; 2] {
        Role::BOTH.map(|role| {
            let ends = conversations.iter().map(|&conversation| EndId::of(conversation, role));
            ends.flat_map(|end| self.repetitions(end).map(|(_, repetition)| repetition)).collect()
        })
    }

    /// The datagrams of a handshake that were sent again: true for each that was needed, false for a spurious one.
    pub(super) fn repeated(&self, conversation: ConversationId) -> Vec<(DatagramId, bool)> {
        let ends = conversation.ends().into_iter();
        let repetitions = ends.flat_map(|end| self.repetitions(end).collect::<Vec<_>>());
        repetitions.map(|(datagram, repetition)| (datagram, repetition == Repetition::Needed)).collect()
    }

    /// The datagrams that an end sent again, or the border router in its name.
    fn repetitions(&self, end: EndId) -> impl Iterator<Item = (DatagramId, Repetition)> {
        let (sent, in_name_of) = (self.counted(&self.of_end[end]), self.counted(&self.in_name_of[end]));
        let with_records = sent.clone().filter_map(|(id, datagram)| Some((id, datagram.records()?)));
        let openings = sent.clone().filter_map(|(id, datagram)| Some((id, datagram.opening()?)));
        let with_spans = |datagram: (DatagramId, &Datagram)| Some((datagram.0, datagram.1.span()?));
        let found = retransmission::classify(with_records)
            .chain(retransmission::classify_openings(openings))
            .chain(segments::classify(sent.filter_map(with_spans)))
            .chain(segments::classify(in_name_of.filter_map(with_spans)));
        found.filter_map(|(id, repetition)| Some((id, repetition?)))
    }

    /// The datagrams of these that count for a handshake.
    fn counted<'a>(&'a self, ids: &'a [DatagramId]) -> impl Iterator<Item = (DatagramId, &'a Datagram)> + Clone {
        ids.iter().filter_map(|&id| Some((id, self.datagram(id)?))).filter(|(_, datagram)| {
            let is_held_back = matches!(datagram.fate, Fate::Lost { reason: DropReason::Suppressed, .. });
            datagram.phase == Phase::Handshake && !is_held_back
        })
    }

    /// The datagrams that both ends of a conversation sent in its handshake, and the border router in their names.
    fn of_handshake(&self, conversation: ConversationId) -> impl Iterator<Item = &Datagram> {
        let ends = conversation.ends().into_iter();
        let sent = ends.flat_map(|end| self.sent_by(end).chain(self.sent_in_name_of(end)));
        sent.filter(|datagram| datagram.phase == Phase::Handshake)
    }

    /// The datagrams that an end sent, in order.
    fn sent_by(&self, end: EndId) -> impl Iterator<Item = &Datagram> {
        self.of_end[end].iter().filter_map(|&id| self.datagram(id))
    }

    /// The datagrams that the border router sent in the name of an end, in order.
    fn sent_in_name_of(&self, end: EndId) -> impl Iterator<Item = &Datagram> {
        self.in_name_of[end].iter().filter_map(|&id| self.datagram(id))
    }
}

#[cfg(test)]
mod tests;
