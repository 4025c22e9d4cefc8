//! Packets of the peer: the steps of RFC 4340 section 8.5.

use super::{Connection, ConnectionError, Control, State, TWO_MSL};
use crate::clock::{Duration, Instant};
use crate::ip::{Ecn as EcnMark, Endpoint};
use crate::transport::dccp::ack_vector::{Run, State as PacketState, runs};
use crate::transport::dccp::feature::OptionsError;
use crate::transport::dccp::options::{Options, number};
use crate::transport::dccp::packet::{Body, Packet, PacketError, ResetCode, checksum_holds};
use crate::transport::dccp::seq::SeqNumber;
use std::net::Ipv6Addr;

/// The least time between two Syncs for invalid packets: at most eight in a second (section 7.5.4).
const SYNC_INTERVAL: Duration = Duration::from_millis(125);

/// The first timer in PARTOPEN (section 8.1.5).
const PART_OPEN_INTERVAL: Duration = Duration::from_millis(200);

/// The longest delay of an acknowledgement (section 11.3: 0.2 s, as TCP has it).
const ACK_DELAY: Duration = Duration::from_millis(200);

impl<D: AsRef<[u8]>> Connection<D> {
    /// Handles a packet that arrived from `source`. Returns the datagram in it, if it is new.
    ///
    /// # Errors
    /// The packet is damaged, or is none of DCCP: it is ignored.
    pub fn handle_packet<'p>(
        &mut self,
        now: Instant,
        source: Ipv6Addr,
        ecn: EcnMark,
        octets: &'p [u8],
    ) -> Result<Option<&'p [u8]>, PacketError> {
        if !checksum_holds(source, self.local.address, octets) {
            return Err(PacketError::Checksum);
        }
        let packet = Packet::parse(octets)?;
        let peer = Endpoint::new(source, packet.source_port);
        let is_of_another = self.state != State::Listen && self.remote.is_some_and(|remote| remote != peer);
        if packet.destination_port != self.local.port || is_of_another {
            return Ok(None);
        }
        match self.state {
            State::Closed | State::TimeWait => {
                self.stray(&packet, ResetCode::NO_CONNECTION);
                Ok(None)
            }
            State::Listen => {
                self.accept(now, peer, &packet);
                Ok(None)
            }
            _ => Ok(self.receive(now, &packet, ecn == EcnMark::CongestionExperienced)),
        }
    }

    /// A packet for which there is no connection (step 2), or of a type that cannot be (step 4).
    fn stray(&mut self, packet: &Packet<'_>, code: ResetCode) {
        if self.remote.is_some()
            && let Some(Packet { seq, body, .. }) = packet.reset_reply(code)
        {
            self.push(Control::Stray(seq, body));
        }
    }

    /// The first packet for a server (step 3).
    fn accept(&mut self, now: Instant, peer: Endpoint, packet: &Packet<'_>) {
        self.remote = Some(peer);
        let Body::Request { service_code } = packet.body else {
            return self.stray(packet, ResetCode::NO_CONNECTION);
        };
        self.begin_at(packet.seq);
        if service_code != self.config.service_code {
            return self.reset(packet.seq, ResetCode::BAD_SERVICE_CODE, [0; 3]);
        }
        if let Err(error) = self.read_options(packet) {
            return self.reset_for(packet.seq, error);
        }
        self.history.add(packet.seq, false);
        // Section 8.1.3: a server that hears nothing more gives up after twice 2 MSL.
        self.repeat_from(now, State::Respond, TWO_MSL * 2);
        self.push(Control::Response);
    }

    /// The peer's first number (ISR).
    fn begin_at(&mut self, seq: SeqNumber) {
        (self.peer_initial, self.peer_newest) = (seq, seq);
    }

    /// The steps from 4 on, for a packet of this connection. Returns its datagram.
    fn receive<'p>(&mut self, now: Instant, packet: &Packet<'p>, is_marked: bool) -> Option<&'p [u8]> {
        if self.state == State::Request && !self.is_answered(packet) {
            return None;
        }
        if !self.is_valid(now, packet) {
            return None;
        }
        if self.is_unexpected(packet) {
            self.sync(now, packet.seq);
            return None;
        }
        if let Body::Reset { code, .. } = packet.body {
            self.handle_reset(now, code);
            return None;
        }
        let is_new = self.history.add(packet.seq, is_marked);
        // Options that change something come in the order in which they were sent (section 6.6.4).
        if !matches!(packet.body, Body::Data)
            && packet.seq == self.peer_newest
            && let Err(error) = self.read_options(packet)
        {
            self.reset_for(packet.seq, error);
            return None;
        }
        self.take_acknowledgements(now, packet);
        self.progress(now, packet);
        if !packet.body.carries_data() || !self.has_connection() {
            return None;
        }
        if !is_new {
            self.statistics.duplicates_received += 1;
            return None;
        }
        self.has_news = true;
        self.unacknowledged = self.unacknowledged.saturating_add(1);
        if self.unacknowledged < self.features.peer.ack_ratio {
            self.ack_timer.get_or_insert(now + ACK_DELAY);
        } else {
            self.ack_timer = Some(now);
        }
        Some(packet.payload)
    }

    /// A client waits for the answer to its Request (step 4).
    fn is_answered(&mut self, packet: &Packet<'_>) -> bool {
        let is_answer = matches!(packet.body, Body::Response { .. } | Body::Reset { .. });
        if !is_answer || !self.acknowledges_sent(packet.body, self.initial_seq) {
            self.stray(packet, ResetCode::PACKET_ERROR);
            return false;
        }
        self.begin_at(packet.seq);
        true
    }

    /// True if a packet acknowledges one that this side has sent, from `first` on; or nothing.
    fn acknowledges_sent(&self, body: Body, first: SeqNumber) -> bool {
        body.ack().is_none_or(|ack| ack.is_within(first, self.next_seq - 1))
    }

    /// The numbers of a packet (steps 5 and 6). It notes those of a valid one.
    fn is_valid(&mut self, now: Instant, packet: &Packet<'_>) -> bool {
        let window = self.features.peer.sequence_window;
        let at_least = |number: SeqNumber, first: SeqNumber| if number.ahead_of(first) < 0 { first } else { number };
        let lowest = at_least(self.peer_newest + 1 - window / 4, self.peer_initial);
        let highest = self.peer_newest + (window * 3).div_ceil(4);
        let lowest_ack = at_least(self.next_seq - self.features.own.sequence_window, self.initial_seq);
        let is_sync = matches!(packet.body, Body::Sync { .. } | Body::SyncAck { .. });
        if is_sync {
            // A Sync may come from far ahead: it brings both ends together again.
            let is_valid = self.acknowledges_sent(packet.body, lowest_ack) && packet.seq.ahead_of(lowest) >= 0;
            if is_valid {
                self.peer_newest = self.peer_newest.latest(packet.seq);
                // The number of a Sync is that of a packet which may be invalid; a SyncAck acknowledges the Sync (step 6).
                if let Body::SyncAck { ack } = packet.body {
                    self.newest_ack = self.newest_ack.latest(ack);
                }
            }
            return is_valid;
        }
        let ends = matches!(packet.body, Body::CloseReq { .. } | Body::Close { .. } | Body::Reset { .. });
        let (lowest, lowest_ack) = match self.state {
            // The Response or Reset that has just begun the numbers.
            State::Request => (packet.seq, self.initial_seq),
            _ if ends => (self.peer_newest + 1, at_least(self.newest_ack, lowest_ack)),
            _ => (lowest, lowest_ack),
        };
        if packet.seq.is_within(lowest, highest) && self.acknowledges_sent(packet.body, lowest_ack) {
            self.peer_newest = self.peer_newest.latest(packet.seq);
            if let Some(ack) = packet.body.ack() {
                self.newest_ack = self.newest_ack.latest(ack);
            }
            return true;
        }
        let is_reset = matches!(packet.body, Body::Reset { .. });
        self.sync(now, if is_reset { self.peer_newest } else { packet.seq });
        false
    }

    /// Asks the peer if its numbers are right.
    fn sync(&mut self, now: Instant, ack: SeqNumber) {
        if self.last_sync.is_none_or(|last| now.since(last) >= SYNC_INTERVAL) {
            self.last_sync = Some(now);
            self.push(Control::Answer(Body::Sync { ack }));
        }
    }

    /// A type that cannot be in this state (step 7).
    fn is_unexpected(&self, packet: &Packet<'_>) -> bool {
        let is_late = || self.state >= State::Open && packet.seq.ahead_of(self.opened_by) >= 0;
        match packet.body {
            Body::CloseReq { .. } => self.is_server,
            Body::Response { .. } => self.is_server || is_late(),
            Body::Request { .. } => !self.is_server || is_late(),
            Body::Data => self.state == State::Respond,
            _ => false,
        }
    }

    /// The peer has reset the connection (step 9).
    fn handle_reset(&mut self, now: Instant, code: ResetCode) {
        // The peer's Reset was lost, and the repeated packet has met no connection any more: that is in order too.
        let is_end = matches!(code, ResetCode::CLOSED | ResetCode::NO_CONNECTION);
        let is_in_order = is_end && matches!(self.state, State::Closing | State::CloseReq);
        if !is_in_order {
            self.error.get_or_insert(ConnectionError::Reset(code));
        }
        self.wait(now);
    }

    /// Feature negotiation, and what must be understood (step 8).
    fn read_options(&mut self, packet: &Packet<'_>) -> Result<(), OptionsError> {
        let mut options = Options::new(packet.options);
        for option in options.by_ref() {
            let is_known = matches!(option.kind, number::ACK_VECTOR_0 | number::ACK_VECTOR_1);
            if !self.features.read(option)? && option.is_mandatory && !is_known {
                let data = |at: usize| option.data.get(at).copied().unwrap_or(0);
                return Err(OptionsError::Mandatory([option.kind, data(0), data(1)]));
            }
        }
        match options.is_mandatory_misplaced() {
            true => Err(OptionsError::Wrong([number::MANDATORY, 0, 0])),
            false => Ok(()),
        }
    }

    fn reset_for(&mut self, seq: SeqNumber, error: OptionsError) {
        match error {
            OptionsError::Wrong(data) => self.reset(seq, ResetCode::OPTION_ERROR, data),
            OptionsError::Mandatory(data) => self.reset(seq, ResetCode::MANDATORY_ERROR, data),
        }
    }

    /// Takes the acknowledgements that a packet carries. The acknowledgement number of a Sync is no acknowledgement
    /// (section 7.5.4).
    fn take_acknowledgements(&mut self, now: Instant, packet: &Packet<'_>) {
        let (Body::Ack { ack } | Body::DataAck { ack }) = packet.body else { return };
        let vectors = Options::new(packet.options)
            .filter(|option| matches!(option.kind, number::ACK_VECTOR_0 | number::ACK_VECTOR_1));
        let has_none = vectors.clone().next().is_none();
        let alone = has_none.then_some(Run { newest: ack, packets: 1, state: PacketState::Received });
        // A vector that is too long for one option goes on in the next one.
        let told = alone.into_iter().chain(runs(ack, vectors.flat_map(|vector| vector.data)));
        for run in told.clone().filter(|run| run.state != PacketState::NotReceived) {
            self.history.reported(run);
        }
        let events = self.congestion.acknowledged(now, self.features.own.ack_ratio, told);
        self.statistics.congestion_events += u64::from(events);
        self.has_pure_ack |= matches!(packet.body, Body::Ack { .. });
    }

    /// The state changes (steps 10 to 15).
    fn progress(&mut self, now: Instant, packet: &Packet<'_>) {
        if self.state == State::Request {
            if let Some(sent) = self.request_sent.filter(|_| self.requests == 1) {
                self.congestion.measured(now.since(sent));
            }
            self.repeat_from(now, State::PartOpen, PART_OPEN_INTERVAL);
        }
        match (self.state, packet.body) {
            (State::Respond, Body::Request { .. }) => self.push(Control::Response),
            (State::Respond, _) => self.open(packet.seq),
            (State::PartOpen, Body::Response { .. }) => self.push(Control::Ack),
            (State::PartOpen, Body::Sync { .. }) => {}
            (State::PartOpen, _) => self.open(packet.seq),
            _ => {}
        }
        match packet.body {
            Body::CloseReq { .. } if self.state < State::CloseReq => {
                self.repeat_from(now, State::Closing, self.close_interval());
                self.drop_queue();
                self.push(Control::Close);
            }
            Body::Close { .. } => {
                self.push(Control::Answer(Body::Reset { ack: packet.seq, code: ResetCode::CLOSED, data: [0; 3] }));
                self.end(None);
            }
            Body::Sync { .. } => self.push(Control::Answer(Body::SyncAck { ack: packet.seq })),
            _ => {}
        }
        // A Confirm must not wait for data.
        if self.features.has_to_confirm() && self.has_connection() && packet.body.ack().is_some() {
            self.has_news = true;
            self.ack_timer = Some(now);
        }
    }

    fn open(&mut self, by: SeqNumber) {
        self.state = State::Open;
        self.opened_by = by;
        self.repeat = None;
    }
}
