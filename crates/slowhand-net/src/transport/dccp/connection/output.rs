//! Packets to the peer.

use super::{Connection, Control, State, Transmit};
use crate::clock::Instant;
use crate::ip::Ecn as EcnMark;
use crate::transport::dccp::options::{number, push_with};
use crate::transport::dccp::packet::{Body, Packet};
use crate::transport::dccp::seq::SeqNumber;

impl<D: AsRef<[u8]>> Connection<D> {
    /// Writes the next packet to send into `out`, which has room for [`max_packet_len`](Self::max_packet_len) octets; `None` if
    /// there is none now.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit<D>> {
        if let Some(control) = self.control.pop_front() {
            return self.send_control(now, control, out);
        }
        if self.may_send_data() {
            let datagram = self.queue.pop_front()?;
            return self.send_data(now, datagram, out);
        }
        if self.is_finishing && self.queue.is_empty() && self.state != State::Respond {
            self.is_finishing = false;
            let (state, control) = match self.is_server {
                true => (State::CloseReq, Control::CloseReq),
                false => (State::Closing, Control::Close),
            };
            self.repeat_from(now, state, self.close_interval());
            return self.send_control(now, control, out);
        }
        if self.has_news && self.ack_timer.is_some_and(|due| due <= now) {
            return self.send_control(now, Control::Ack, out);
        }
        None
    }

    fn may_send_data(&self) -> bool {
        matches!(self.state, State::PartOpen | State::Open) && !self.queue.is_empty() && self.congestion.may_send()
    }

    /// A packet of data. It acknowledges too if there is anything new to say; in PARTOPEN it must (section 8.1.5).
    fn send_data(&mut self, now: Instant, datagram: D, out: &mut [u8]) -> Option<Transmit<D>> {
        let acknowledges = self.has_news
            || self.state == State::PartOpen
            || self.features.has_to_confirm()
            || self.has_to_acknowledge_acks();
        self.data_since_ack = self.data_since_ack.saturating_add(1);
        let body = if acknowledges { Body::DataAck { ack: self.peer_newest } } else { Body::Data };
        self.congestion.sent(now, self.next_seq);
        let sent = self.send_packet(now, body, datagram.as_ref(), out)?;
        Some(Transmit { len: sent, body, ecn: self.ecn(body), datagram: Some(datagram) })
    }

    /// Once for each window of data, the peer must learn that its acknowledgements arrive (RFC 4341 section 6.2): what they tell
    /// need not be told again (RFC 4340 section 11.4.2). Where the peer sends data, this end acknowledges those anyway.
    fn has_to_acknowledge_acks(&self) -> bool {
        self.has_pure_ack && self.data_since_ack >= self.congestion.window()
    }

    fn send_control(&mut self, now: Instant, control: Control, out: &mut [u8]) -> Option<Transmit<D>> {
        let ack = self.peer_newest;
        let service_code = self.config.service_code;
        let body = match control {
            Control::Request => {
                self.requests += 1;
                self.request_sent = Some(now);
                if self.repeat.is_none() {
                    self.repeat_from(now, State::Request, self.config.initial_rto);
                }
                Body::Request { service_code }
            }
            Control::Response => Body::Response { ack, service_code },
            Control::Ack => Body::Ack { ack },
            Control::CloseReq => Body::CloseReq { ack },
            Control::Close => Body::Close { ack },
            Control::Answer(body) => body,
            Control::Stray(seq, body) => {
                let len = self.write(seq, body, &[], &[], out)?;
                return Some(Transmit { len, body, ecn: EcnMark::NotCapable, datagram: None });
            }
        };
        let len = self.send_packet(now, body, &[], out)?;
        Some(Transmit { len, body, ecn: self.ecn(body), datagram: None })
    }

    /// Writes a packet with the next number, and with its options.
    fn send_packet(&mut self, now: Instant, body: Body, payload: &[u8], out: &mut [u8]) -> Option<usize> {
        let (seq, mut options) = (self.next_seq, std::mem::take(&mut self.options));
        options.clear();
        if !matches!(body, Body::Data | Body::Reset { .. }) {
            self.features.write(&mut options);
        }
        if matches!(body, Body::Ack { .. } | Body::DataAck { .. }) {
            if self.features.own.sends_ack_vector {
                push_with(&mut options, number::ACK_VECTOR_0, |data| self.history.report(seq, self.peer_newest, data));
            }
            (self.has_news, self.unacknowledged, self.ack_timer) = (false, 0, None);
            (self.has_pure_ack, self.data_since_ack) = (false, 0);
        }
        self.next_seq = seq + 1;
        if let Some(repeat) = self.repeat.as_mut().filter(|_| self.state == State::PartOpen) {
            repeat.due = now + repeat.interval; // set by every packet in PARTOPEN (section 8.1.5)
        }
        let len = self.write(seq, body, &options, payload, out);
        self.options = options;
        len
    }

    fn write(&self, seq: SeqNumber, body: Body, options: &[u8], payload: &[u8], out: &mut [u8]) -> Option<usize> {
        let remote = self.remote?;
        let (source_port, destination_port) = (self.local.port, remote.port);
        let packet = Packet { source_port, destination_port, seq, body, options, payload };
        let written = packet.emit(self.local.address, remote.address, out);
        debug_assert!(written.is_ok(), "a buffer of max_packet_len octets: {written:?}");
        written.ok()
    }

    /// The ECN field of a packet. Packets that open a connection are not capable, as a SYN of TCP is not (RFC 3168 section
    /// 6.1.1): only then both ends know of each other's ECN Incapable.
    fn ecn(&self, body: Body) -> EcnMark {
        let opens = matches!(body, Body::Request { .. } | Body::Response { .. });
        if opens || self.features.peer.is_ecn_incapable { EcnMark::NotCapable } else { EcnMark::Capable0 }
    }
}
