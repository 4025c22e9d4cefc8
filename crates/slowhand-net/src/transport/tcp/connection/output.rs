//! Outgoing segments.

use super::super::config::Ecn;
use super::super::options::{MAX_SACK_BLOCKS, MAX_SACK_BLOCKS_WITH_TIMESTAMPS, SackBlocks, Timestamps};
use super::super::segment::{Flags, Segment};
use super::super::sender::{Kind, Transmission};
use super::*;

impl Connection {
    /// Writes the next segment to `out`. Call it until it returns `None`. If `out` is smaller than
    /// [`max_segment_len`](Self::max_segment_len), it writes nothing.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        if out.len() < self.max_segment_len() {
            return None;
        }
        let remote = self.remote?;
        let transmit = if let Some(reset) = self.reset.take() {
            self.emit_reset(remote, reset, out)
        } else {
            match self.state {
                State::Closed | State::Listen => None,
                State::SynSent | State::SynReceived => self.emit_syn(now, remote, out),
                _ => self.emit_next(now, remote, out),
            }
        }?;
        self.statistics.segments_sent += 1;
        Some(transmit)
    }

    fn emit_reset(&self, remote: Endpoint, (seq, ack): Reset, out: &mut [u8]) -> Option<Transmit> {
        let flags = Flags::RST.with(Flags::ACK, ack.is_some());
        let segment = self.segment(remote, seq, flags, 0, Options::default());
        let segment = Segment { ack: ack.unwrap_or_default(), ..segment };
        self.emit(&segment, remote, EcnMark::NotCapable, out)
    }

    fn emit_syn(&mut self, now: Instant, remote: Endpoint, out: &mut [u8]) -> Option<Transmit> {
        if !std::mem::take(&mut self.handshake.due) {
            return None;
        }
        let answers = self.state == State::SynReceived;
        let options = self.syn_options(now, answers);
        let again = self.handshake.first_sent.is_some();
        let flags = Flags::SYN.with(Flags::ACK, answers) | self.syn_ecn(answers, again);
        if again {
            self.handshake.retransmitted += 1;
            self.statistics.retransmissions += 1;
        } else {
            self.handshake.first_sent = Some(now);
        }
        if !self.timers.is_set(Timer::Retransmit) {
            self.timers.set(Timer::Retransmit, now + self.syn_timeout());
        }
        let window = self.config.receive_buffer.min(u16::MAX.into()) as u16;
        let mut segment = self.segment(remote, self.initial_seq, flags, window, options);
        if answers {
            self.receiver.on_ack_sent(&mut self.timers);
        } else {
            segment.ack = SeqNumber(0);
        }
        self.emit(&segment, remote, EcnMark::NotCapable, out)
    }

    /// The options of a SYN (all that this side supports), or of a SYN-ACK (those that were agreed on).
    fn syn_options(&self, now: Instant, answers: bool) -> Options {
        let agreed = self.negotiated;
        let timestamps = if answers { agreed.timestamps } else { self.config.timestamps };
        Options {
            mss: Some(self.config.mss),
            window_scale: if answers { agreed.own_shift } else { self.config.window_scale },
            sack_permitted: if answers { agreed.sack } else { self.config.sack },
            timestamps: timestamps.then(|| self.stamps(now)),
            sack: SackBlocks::default(),
        }
    }

    /// The ECN bits of a SYN or SYN-ACK (RFC 3168 section 6.1.1). A repeated SYN has none, because some
    /// hosts drop a SYN with these bits (section 6.1.1.1).
    fn syn_ecn(&self, answers: bool, again: bool) -> Flags {
        let request = !answers && !again && self.config.ecn == Ecn::Request;
        let accept = answers && self.negotiated.ecn;
        Flags::default().with(Flags::ECE, request || accept).with(Flags::CWR, request)
    }

    fn emit_next(&mut self, now: Instant, remote: Endpoint, out: &mut [u8]) -> Option<Transmit> {
        if self.state != State::TimeWait {
            if let Some(transmit) = self.emit_data(now, remote, out) {
                return Some(transmit);
            }
            if std::mem::take(&mut self.keep_alive_due) {
                return self.emit_probe(now, remote, out);
            }
        }
        self.receiver.ack_due.then(|| self.emit_ack(now, remote, out))?
    }

    fn emit_data(&mut self, now: Instant, remote: Endpoint, out: &mut [u8]) -> Option<Transmit> {
        let options = self.options(now);
        // `Sender::mss` does not include the timestamps.
        let stamps = if self.negotiated.timestamps { usize::from(TIMESTAMPS_LEN) } else { 0 };
        let sack = (options.len() - stamps) as u32;
        let room = self.sender.mss.saturating_sub(sack).max(1);
        let sent = self.sender.next(now, room, &mut self.timers, &mut self.statistics)?;
        let new = sent.kind == Kind::New;
        let reduced = new && self.negotiated.ecn && self.sender.take_reduced_window();
        let flags = self.data_flags(&sent).with(Flags::CWR, reduced && sent.len > 0);
        let window = self.receiver.announce_window();
        let segment = self.segment(remote, sent.seq, flags, window, options);
        self.receiver.on_ack_sent(&mut self.timers);
        if new && sent.len > 0 {
            self.receiver.on_data_sent(now);
        }
        let capable = self.negotiated.ecn && new && sent.len > 0;
        let ecn = if capable { EcnMark::Capable0 } else { EcnMark::NotCapable };
        let buffer = &self.sender.buffer;
        let len = segment
            .emit_with(
                self.local.address,
                remote.address,
                sent.len as usize,
                |payload| buffer.read_at(sent.seq, payload),
                out,
            )
            .ok()?;
        Some(Transmit { len, ecn })
    }

    fn data_flags(&self, sent: &Transmission) -> Flags {
        let end = sent.seq + sent.len;
        let push = sent.len > 0 && end == self.sender.buffer.data_end();
        self.ack_flags().with(Flags::PSH, push).with(Flags::FIN, sent.fin)
    }

    fn ack_flags(&self) -> Flags {
        Flags::ACK.with(Flags::ECE, self.receiver.echo_congestion)
    }

    fn emit_ack(&mut self, now: Instant, remote: Endpoint, out: &mut [u8]) -> Option<Transmit> {
        let transmit = self.emit_empty(now, remote, self.sender.next_new(), out);
        self.receiver.on_ack_sent(&mut self.timers);
        transmit
    }

    /// Writes a keep-alive probe: a segment before the window, which a live peer answers (RFC 9293
    /// section 3.8.4).
    fn emit_probe(&mut self, now: Instant, remote: Endpoint, out: &mut [u8]) -> Option<Transmit> {
        self.emit_empty(now, remote, self.sender.una() - 1, out)
    }

    /// Writes a segment without data.
    fn emit_empty(&mut self, now: Instant, remote: Endpoint, seq: SeqNumber, out: &mut [u8]) -> Option<Transmit> {
        let options = self.options(now);
        let window = self.receiver.announce_window();
        let segment = self.segment(remote, seq, self.ack_flags(), window, options);
        self.emit(&segment, remote, EcnMark::NotCapable, out)
    }

    fn options(&self, now: Instant) -> Options {
        let timestamps = self.negotiated.timestamps;
        let limit = if timestamps { MAX_SACK_BLOCKS_WITH_TIMESTAMPS } else { MAX_SACK_BLOCKS };
        Options {
            timestamps: timestamps.then(|| self.stamps(now)),
            sack: self.receiver.sack_blocks(limit),
            ..Options::default()
        }
    }

    fn stamps(&self, now: Instant) -> Timestamps {
        Timestamps { value: Self::clock_ticks(now), echo: self.peer_clock }
    }

    fn segment(
        &self,
        remote: Endpoint,
        seq: SeqNumber,
        flags: Flags,
        window: u16,
        options: Options,
    ) -> Segment<'static> {
        let (source_port, destination_port) = (self.local.port, remote.port);
        let ack = self.receiver.next();
        Segment { source_port, destination_port, seq, ack, flags, window, options, ..Segment::default() }
    }

    fn emit(&self, segment: &Segment<'_>, remote: Endpoint, ecn: EcnMark, out: &mut [u8]) -> Option<Transmit> {
        // It cannot fail: `poll_transmit` has checked the size of the buffer.
        let len = segment.emit(self.local.address, remote.address, out).ok()?;
        Some(Transmit { len, ecn })
    }

    /// The timeout of the latest SYN or SYN-ACK.
    pub(super) fn syn_timeout(&self) -> Duration {
        let linear = match self.state {
            State::SynSent => self.config.syn.linear_timeouts.into(),
            _ => 0,
        };
        let doublings = self.handshake.retransmitted.saturating_sub(linear);
        self.sender.rtt.timeout_of_syn(self.config.syn.timeout, doublings)
    }
}
