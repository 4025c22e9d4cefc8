//! Arriving segments (RFC 9293 section 3.10.7).

use super::super::config::Ecn;
use super::super::error::SegmentError;
use super::super::ranges::SeqRange;
use super::super::segment::{Flags, Segment, checksum_holds};
use super::super::sender::Ack;
use super::*;

/// The shortest time between two challenge ACKs, so that two ends cannot answer each other without
/// end (RFC 5961 section 7 requires a limit; 500 ms is Linux's `tcp_invalid_ratelimit`).
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(500);

/// The longest round trip that counts as a measurement (assumed). A longer one is an error of the peer.
const LONGEST_RTT_MS: u32 = 600_000;

impl Connection {
    /// Handles a segment from `source`, with the ECN field of its IP header.
    ///
    /// # Errors
    /// Why the segment was dropped without effect. The connection goes on.
    pub fn handle_segment(
        &mut self,
        now: Instant,
        source: Ipv6Addr,
        ecn: EcnMark,
        segment: &[u8],
    ) -> Result<(), SegmentError> {
        let parsed = Segment::parse(segment)?;
        let from = Endpoint { address: source, port: parsed.source_port };
        let ours = parsed.destination_port == self.local.port && self.remote.is_none_or(|remote| remote == from);
        if !ours {
            return Err(SegmentError::OtherConnection);
        }
        if !checksum_holds(source, self.local.address, segment) {
            return Err(SegmentError::Checksum);
        }
        self.statistics.segments_received += 1;
        match self.state {
            State::Closed => {}
            State::Listen => self.on_segment_in_listen(from, &parsed),
            State::SynSent => self.on_segment_in_syn_sent(now, &parsed),
            _ => self.on_segment_synchronised(now, ecn, &parsed),
        }
        Ok(())
    }

    fn on_segment_in_listen(&mut self, from: Endpoint, segment: &Segment<'_>) {
        let flags = segment.flags;
        if flags.contains(Flags::RST) || flags.contains(Flags::ACK) || !flags.contains(Flags::SYN) {
            return;
        }
        self.remote = Some(from);
        self.state = State::SynReceived;
        self.handshake.due = true;
        let setup = flags.contains(Flags::ECE | Flags::CWR);
        self.negotiated.ecn = setup && self.config.ecn != Ecn::Off;
        self.negotiate(segment.seq, segment.window, &segment.options);
    }

    fn on_segment_in_syn_sent(&mut self, now: Instant, segment: &Segment<'_>) {
        let flags = segment.flags;
        let has_ack = flags.contains(Flags::ACK);
        if has_ack && segment.ack != self.initial_seq + 1 {
            if !flags.contains(Flags::RST) {
                self.reset = Some((segment.ack, None));
            }
            return;
        }
        if flags.contains(Flags::RST) {
            if has_ack {
                self.fail(ConnectionError::Refused);
            }
            return;
        }
        if !flags.contains(Flags::SYN) {
            return;
        }
        if !has_ack {
            // Both sides opened at once (RFC 9293 section 3.5, figure 7).
            self.negotiate(segment.seq, segment.window, &segment.options);
            self.state = State::SynReceived;
            self.handshake.due = true;
            return;
        }
        let accepted = flags.contains(Flags::ECE) && !flags.contains(Flags::CWR);
        self.negotiated.ecn = accepted && self.config.ecn == Ecn::Request;
        self.negotiate(segment.seq, segment.window, &segment.options);
        self.establish(now, segment);
        self.receiver.ack_due = true;
    }

    /// Opens the connection: the SYN of this side was acknowledged.
    fn establish(&mut self, now: Instant, segment: &Segment<'_>) {
        self.state = State::Established;
        self.handshake.due = false;
        self.timers.stop(Timer::Retransmit);
        self.receiver.shift = self.negotiated.own_shift.unwrap_or(0);
        self.measure_handshake(now, segment);
        if let Some(keep) = self.config.keep_alive {
            self.timers.set(Timer::KeepAlive, now + keep.idle);
        }
        if self.sender.buffer.is_finished() {
            self.state = State::FinWait1;
        }
    }

    /// Measures the first round trip (RFC 6298 sections 3 and 5.7).
    fn measure_handshake(&mut self, now: Instant, segment: &Segment<'_>) {
        let rtt = match self.handshake.first_sent {
            _ if !self.config.syn.measured => None,
            Some(sent) if self.handshake.retransmitted == 0 => Some(now.since(sent)),
            _ => self.timestamp_rtt(now, segment),
        };
        if let Some(rtt) = rtt {
            self.sender.rtt.sample(rtt);
        } else if self.handshake.retransmitted > 0 {
            self.sender.rtt.opened_after_syn_loss();
        }
        if self.handshake.retransmitted > 1 {
            self.sender.start_with_one_segment();
        }
    }

    /// The round trip by the returned timestamp (RFC 7323 section 4.1).
    fn timestamp_rtt(&self, now: Instant, segment: &Segment<'_>) -> Option<Duration> {
        let stamps = segment.options.timestamps.filter(|_| self.negotiated.timestamps)?;
        let ticks = Self::clock_ticks(now).wrapping_sub(stamps.echo);
        (ticks <= LONGEST_RTT_MS).then(|| Duration::from_millis(u64::from(ticks)))
    }

    fn on_segment_synchronised(&mut self, now: Instant, ecn: EcnMark, segment: &Segment<'_>) {
        if self.is_too_old(segment) || !self.receiver.accepts(segment) {
            return self.on_unacceptable(now, segment);
        }
        if segment.flags.contains(Flags::RST) {
            return self.on_reset(now, segment);
        }
        if segment.flags.contains(Flags::SYN) {
            return self.challenge(now);
        }
        if !segment.flags.contains(Flags::ACK) {
            return;
        }
        if self.state == State::SynReceived {
            if segment.ack != self.initial_seq + 1 {
                self.reset = Some((segment.ack, None));
                return;
            }
            self.establish(now, segment);
        }
        self.remember_peer_clock(segment);
        if !segment.ack.at_or_before(self.sender.next_new()) {
            // It acknowledges data that was never sent (RFC 9293 section 3.10.7.4, fifth check).
            return self.challenge(now);
        }
        self.on_alive(now);
        self.on_ack(now, segment);
        if self.negotiated.ecn {
            let reduced = segment.flags.contains(Flags::CWR);
            let marked = ecn == EcnMark::CongestionExperienced && !segment.payload.is_empty();
            self.receiver.on_ecn(reduced, marked);
        }
        self.receiver.on_segment(now, segment, &mut self.timers, &mut self.statistics);
        self.advance_state(now);
    }

    /// Protection against wrapped sequence numbers (RFC 7323 section 5.3).
    fn is_too_old(&self, segment: &Segment<'_>) -> bool {
        let stamps = segment.options.timestamps.filter(|_| self.negotiated.timestamps);
        let older = |value: u32| SeqNumber(value).before(SeqNumber(self.peer_clock));
        stamps.is_some_and(|s| older(s.value)) && !segment.flags.contains(Flags::RST)
    }

    /// Stores the timestamp of the segment to acknowledge (RFC 7323 section 4.3).
    fn remember_peer_clock(&mut self, segment: &Segment<'_>) {
        let stamps = segment.options.timestamps.filter(|_| self.negotiated.timestamps);
        if let Some(stamps) = stamps
            && segment.seq.at_or_before(self.receiver.acknowledged)
        {
            self.peer_clock = stamps.value;
        }
    }

    fn on_unacceptable(&mut self, now: Instant, segment: &Segment<'_>) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if self.state == State::SynReceived && segment.flags.contains(Flags::SYN) {
            return self.on_syn_again(now, segment);
        }
        if self.state == State::TimeWait && segment.flags.contains(Flags::FIN) {
            self.timers.set(Timer::TimeWait, now + self.config.time_wait);
        }
        if segment.payload.is_empty() && !segment.flags.contains(Flags::FIN) {
            self.challenge(now);
        } else {
            self.receiver.on_old_segment(segment, &mut self.statistics);
        }
    }

    /// Handles a repeated SYN of the peer. Either both sides opened at once, and it acknowledges the SYN
    /// of this side (RFC 9293 section 3.5, figure 7), or the SYN-ACK was lost.
    fn on_syn_again(&mut self, now: Instant, segment: &Segment<'_>) {
        let acknowledged = segment.flags.contains(Flags::ACK);
        if acknowledged && segment.ack == self.initial_seq + 1 {
            self.establish(now, segment);
            self.receiver.ack_due = true;
        } else if !acknowledged {
            self.handshake.due = true;
            self.timers.stop(Timer::Retransmit);
        }
    }

    /// Handles a reset. It is valid only with exactly the next sequence number (RFC 5961 section 3).
    fn on_reset(&mut self, now: Instant, segment: &Segment<'_>) {
        if segment.seq != self.receiver.next() {
            return self.challenge(now);
        }
        match self.state {
            State::TimeWait | State::LastAck | State::Closing => self.enter_closed(),
            _ => self.fail(ConnectionError::Reset),
        }
    }

    fn challenge(&mut self, now: Instant) {
        let recently = |last: Instant| now.since(last) < CHALLENGE_INTERVAL;
        if !self.last_challenge.is_some_and(recently) {
            self.last_challenge = Some(now);
            self.receiver.ack_due = true;
        }
    }

    fn on_alive(&mut self, now: Instant) {
        self.keep_alive_probes = 0;
        if let Some(keep) = self.config.keep_alive
            && self.state != State::TimeWait
        {
            self.timers.set(Timer::KeepAlive, now + keep.idle);
        }
    }

    fn on_ack(&mut self, now: Instant, segment: &Segment<'_>) {
        if segment.ack.before(self.sender.una()) {
            return;
        }
        let ack = Ack {
            seq: segment.seq,
            ack: segment.ack,
            window: u32::from(segment.window) << self.negotiated.peer_shift,
            sack: segment.options.sack,
            occupies_sequence: segment.seq_len() > 0,
            reports_duplicate: reports_duplicate(segment),
            timestamp_rtt: self.timestamp_rtt(now, segment),
            congestion: self.negotiated.ecn && segment.flags.contains(Flags::ECE),
        };
        self.sender.on_ack(now, &ack, &mut self.timers, &mut self.statistics);
    }

    /// Changes the state after an acknowledgement of this side's FIN, or a FIN of the peer.
    fn advance_state(&mut self, now: Instant) {
        let ours_done = self.sender.is_done();
        let peer_done = self.receiver.is_finished();
        match (self.state, ours_done, peer_done) {
            (State::Established, _, true) => self.state = State::CloseWait,
            (State::FinWait1, true, true) | (State::FinWait2, _, true) | (State::Closing, true, _) => {
                self.receiver.ack_due = true;
                self.enter_time_wait(now);
            }
            (State::FinWait1, true, false) => self.state = State::FinWait2,
            (State::FinWait1, false, true) => self.state = State::Closing,
            (State::LastAck, true, _) => self.enter_closed(),
            _ => {}
        }
    }
}

/// True if the first SACK block reports a duplicate: it begins before the acknowledgement number, or
/// lies within the second block (RFC 2883 section 4).
fn reports_duplicate(segment: &Segment<'_>) -> bool {
    let mut blocks = segment.options.sack.iter();
    let within =
        |inner: SeqRange, outer: SeqRange| outer.start.at_or_before(inner.start) && inner.end.at_or_before(outer.end);
    blocks
        .next()
        .is_some_and(|first| first.start.before(segment.ack) || blocks.next().is_some_and(|next| within(first, next)))
}
