//! The sender of CCID 2 (RFC 4341): how many data packets may be on their way.

use super::ack_vector::{Run, State};
use super::seq::SeqNumber;
use crate::clock::{Duration, Instant};
use crate::transport::tcp::{Rto, RttEstimator};
use std::collections::VecDeque;

/// A packet is lost when so many later ones have arrived (RFC 4341 section 5: NUMDUPACK).
const DUPLICATE_ACKS: usize = 3;

/// A data packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    seq: SeqNumber,
    at: Instant,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    InFlight,
    Acknowledged,
    Lost,
}

/// The congestion window of one half-connection, in packets.
#[derive(Debug)]
pub(super) struct Ccid2 {
    window: u32,
    threshold: u32,
    /// The window of a connection that begins, and the largest after an idle time.
    initial_window: u32,
    /// Acknowledged packets that have not changed the window yet.
    credit: u32,
    /// From the oldest packet in flight on.
    sent: VecDeque<Sent>,
    /// The number of them that are in flight.
    pipe: u32,
    /// The last packet that was sent when the window was reduced: what is lost up to it is the same congestion event.
    reduced_at: Option<SeqNumber>,
    rtt: RttEstimator,
    timeout: Option<Instant>,
    last_sent: Option<Instant>,
}

impl Ccid2 {
    pub(super) fn new(initial_window: u32, rto: Rto) -> Self {
        Self {
            window: initial_window,
            threshold: u32::MAX, // RFC 4341 section 5: arbitrarily high
            initial_window,
            credit: 0,
            sent: VecDeque::new(),
            pipe: 0,
            reduced_at: None,
            rtt: RttEstimator::new(rto),
            timeout: None,
            last_sent: None,
        }
    }

    /// The congestion window.
    pub(super) fn window(&self) -> u32 {
        self.window
    }

    /// The number of data packets in flight.
    pub(super) fn in_flight(&self) -> u32 {
        self.pipe
    }

    /// When data in flight counts as lost.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.timeout
    }

    pub(super) fn smoothed_rtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    /// A round trip was measured without data.
    pub(super) fn measured(&mut self, round_trip: Duration) {
        self.rtt.sample(round_trip);
    }

    /// True if the window has room for a data packet.
    pub(super) fn may_send(&self) -> bool {
        self.pipe < self.window
    }

    /// A data packet is sent.
    pub(super) fn sent(&mut self, now: Instant, seq: SeqNumber) {
        // RFC 4341 section 5.1, RFC 5681 section 4.1: after an idle time the window is at most the initial one.
        if self.pipe == 0 && self.last_sent.is_some_and(|last| now.since(last) > self.rtt.timeout()) {
            self.window = self.window.min(self.initial_window);
        }
        self.sent.push_back(Sent { seq, at: now, fate: Fate::InFlight });
        self.pipe += 1;
        self.last_sent = Some(now);
        self.timeout.get_or_insert(now + self.rtt.timeout());
    }

    /// Packets arrived at the peer, as the runs of one acknowledgement say; `ack_ratio` is the one in effect. Returns the congestion
    /// events: how often the window was reduced.
    pub(super) fn acknowledged(&mut self, now: Instant, ack_ratio: u16, runs: impl Iterator<Item = Run>) -> u32 {
        let (mut newly, flight) = (0, self.pipe);
        let (mut newest, mut marked): (Option<Sent>, Option<SeqNumber>) = (None, None);
        for run in runs.filter(|run| run.state != State::NotReceived) {
            let oldest = run.newest - (run.packets - 1);
            for sent in self.sent.iter_mut().filter(|sent| sent.seq.is_within(oldest, run.newest)) {
                if sent.fate == Fate::Acknowledged {
                    continue;
                }
                self.pipe -= u32::from(sent.fate == Fate::InFlight);
                sent.fate = Fate::Acknowledged;
                if newest.is_none_or(|newest| sent.seq.ahead_of(newest.seq) > 0) {
                    newest = Some(*sent);
                }
                match run.state {
                    State::Marked => marked = Some(marked.map_or(sent.seq, |other| other.latest(sent.seq))),
                    _ => newly += 1,
                }
            }
        }
        let Some(newest) = newest else { return 0 };
        self.rtt.sample(now.since(newest.at));
        self.grow(newly, ack_ratio.into(), flight);
        let mut events = marked.map_or(0, |seq| u32::from(self.reduce(seq)));
        events += self.find_losses();
        self.timeout = (self.pipe > 0).then(|| now + self.rtt.timeout());
        events
    }

    /// More packets may be on their way (RFC 4341 section 5), if the window limited the sender: so many packets were in `flight` before
    /// this acknowledgement. A window that is not used does not grow (section 5.1). In slow start half of it in use is enough, as in
    /// TCP here (RFC 7661 sections 4.3 and 4.4), because it doubles in each round trip. After that all of it must be in use.
    fn grow(&mut self, acknowledged: u32, ack_ratio: u32, flight: u32) {
        let in_slow_start = self.window < self.threshold;
        let used = if in_slow_start { flight * 2 } else { flight };
        if used < self.window {
            return;
        }
        if in_slow_start {
            // One packet for every two, and at most half of the Ack Ratio for each acknowledgement.
            self.credit += acknowledged.min(ack_ratio);
            self.window += self.credit / 2;
            self.credit %= 2;
        } else {
            self.credit += acknowledged;
            if self.credit >= self.window {
                self.credit -= self.window;
                self.window += 1;
            }
        }
    }

    /// Packets behind which three others arrived are lost. Those at the front that are settled are forgotten.
    fn find_losses(&mut self) -> u32 {
        let mut later = 0;
        let mut lost = None;
        for sent in self.sent.iter_mut().rev() {
            match sent.fate {
                Fate::Acknowledged => later += 1,
                Fate::InFlight if later >= DUPLICATE_ACKS => {
                    sent.fate = Fate::Lost;
                    self.pipe -= 1;
                    lost.get_or_insert(sent.seq);
                }
                Fate::InFlight | Fate::Lost => {}
            }
        }
        while self.sent.front().is_some_and(|sent| sent.fate != Fate::InFlight) {
            self.sent.pop_front();
        }
        lost.map_or(0, |seq| u32::from(self.reduce(seq)))
    }

    /// Halves the window, once for each window of data. Returns false if that was done for this packet already.
    fn reduce(&mut self, seq: SeqNumber) -> bool {
        if self.reduced_at.is_some_and(|last| seq.ahead_of(last) <= 0) {
            return false;
        }
        self.reduced_at = self.sent.back().map(|sent| sent.seq);
        self.window = (self.window / 2).max(1);
        self.threshold = self.window.max(2); // RFC 5681 section 3.1: two packets at least
        self.credit = 0;
        true
    }

    /// The timer is due: all that is in flight is lost, and slow start begins again (RFC 4341 section 5).
    pub(super) fn handle_timeout(&mut self) {
        self.timeout = None;
        self.threshold = (self.window / 2).max(2);
        self.window = 1;
        self.credit = 0;
        self.pipe = 0;
        self.sent.clear();
        self.rtt.back_off();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::dccp::DccpConfig;

    const RTT: Duration = Duration::from_millis(100);

    /// A sender at time 0, and the number of its next packet.
    struct Sender(Ccid2, u64, Instant);

    impl Sender {
        fn new(initial_window: u32) -> Self {
            Self(Ccid2::new(initial_window, DccpConfig::default().rto()), 0, Instant::ZERO)
        }

        /// Sends as many packets as the window lets out.
        fn fill(&mut self) -> u64 {
            let first = self.1;
            while self.0.may_send() {
                self.0.sent(self.2, SeqNumber::new(self.1));
                self.1 += 1;
            }
            self.1 - first
        }

        /// A round trip later, one acknowledgement for each pair of packets, all of one state.
        fn acknowledge(&mut self, numbers: &[u64], state: State) -> u32 {
            self.2 += RTT;
            let run = |&number| Run { newest: SeqNumber::new(number), packets: 1, state };
            numbers.chunks(2).map(|pair| self.0.acknowledged(self.2, 2, pair.iter().map(run))).sum()
        }
    }

    #[test]
    fn slow_start_doubles_for_every_two_of_four_and_stops_at_the_threshold() {
        let mut sender = Sender::new(4);
        assert_eq!(sender.fill(), 4);
        assert_eq!(sender.acknowledge(&[0, 1], State::Received), 0);
        assert_eq!((sender.0.window(), sender.0.in_flight()), (5, 2), "one packet for every two");
        assert_eq!(sender.0.smoothed_rtt(), Some(RTT));
        assert_eq!(sender.fill(), 3); // 4 to 6
        assert_eq!(sender.acknowledge(&[2], State::Received), 0);
        assert_eq!(sender.0.window(), 5, "one packet is half of a credit");
        assert_eq!(sender.acknowledge(&[3, 4, 5, 6], State::Received), 0);
        assert_eq!((sender.0.in_flight(), sender.0.deadline()), (0, None));
    }

    #[test]
    fn three_later_ones_make_a_loss_and_a_window_is_halved_once() {
        let mut sender = Sender::new(6);
        assert_eq!(sender.fill(), 6);
        assert_eq!(sender.acknowledge(&[2, 3], State::Received), 0, "two are not enough");
        assert_eq!(sender.0.window(), 7);
        assert_eq!(sender.acknowledge(&[4], State::Received), 1, "0 and 1 are lost, in one event");
        assert_eq!((sender.0.window(), sender.0.in_flight()), (3, 1));
        sender.fill(); // 6, 7
        assert_eq!(sender.acknowledge(&[5, 6], State::Received), 0);
        assert_eq!(sender.0.window(), 3);
        sender.fill(); // 8, 9
        assert_eq!(sender.acknowledge(&[7], State::Received), 0);
        assert_eq!(sender.0.window(), 4, "a window of packets: one packet more");
    }

    #[test]
    fn a_mark_is_a_congestion_event() {
        let mut sender = Sender::new(4);
        sender.fill();
        assert_eq!(sender.acknowledge(&[0, 1], State::Marked), 1);
        assert_eq!(sender.acknowledge(&[2], State::Marked), 0, "of the same window");
        assert_eq!(sender.0.window(), 2);
        assert_eq!(sender.acknowledge(&[0], State::Received), 0, "a packet counts once");
        sender.fill();
        assert_eq!(sender.acknowledge(&[4], State::Marked), 1);
        assert_eq!(sender.0.window(), 1, "and never less than one packet");
    }

    #[test]
    fn a_timeout_begins_again_with_one_packet() {
        let mut sender = Sender::new(4);
        sender.fill();
        assert_eq!(sender.0.deadline(), Some(Instant::ZERO + Duration::from_secs(1)));
        sender.2 = sender.0.deadline().unwrap();
        sender.0.handle_timeout();
        assert_eq!((sender.0.window(), sender.0.in_flight(), sender.0.deadline()), (1, 0, None));
        assert_eq!(sender.fill(), 1);
        assert_eq!(sender.0.deadline(), Some(sender.2 + Duration::from_secs(2)), "backed off");
        assert_eq!(sender.acknowledge(&[2], State::Received), 0, "what was given up is not waited for");
        assert_eq!(sender.acknowledge(&[4], State::Received), 0);
        assert_eq!(sender.fill(), 1);
        let measured = RTT * 2; // from the packet to the second acknowledgement, a round trip after the first one
        assert_eq!(sender.0.deadline(), Some(sender.2 + measured + measured * 2), "SRTT + 4 RTTVAR");
    }

    /// An application that has little to send: its window would say nothing about the path.
    #[test]
    fn a_window_that_does_not_limit_the_sender_does_not_grow() {
        let mut sender = Sender::new(4);
        for number in 0..20 {
            sender.0.sent(sender.2, SeqNumber::new(number));
            assert_eq!(sender.acknowledge(&[number], State::Received), 0);
        }
        assert_eq!(sender.0.window(), 4, "in slow start");
        sender.1 = 20;
        sender.fill();
        sender.2 = sender.0.deadline().unwrap();
        sender.0.handle_timeout(); // the threshold is 2
        let mut grow = |most: u64| {
            for _ in 0..20 {
                let first = sender.1;
                while sender.0.may_send() && sender.1 - first < most {
                    sender.0.sent(sender.2, SeqNumber::new(sender.1));
                    sender.1 += 1;
                }
                let sent: Vec<u64> = (first..sender.1).collect();
                assert_eq!(sender.acknowledge(&sent, State::Received), 0);
            }
            sender.0.window()
        };
        assert_eq!(grow(2), 3, "behind the threshold: one packet more than it uses");
        assert_eq!(grow(2), 3);
    }

    /// RFC 4341 section 5: half of the Ack Ratio for one acknowledgement, however much that is for.
    #[test]
    fn an_acknowledgement_of_many_packets_opens_the_window_a_little() {
        for (ack_ratio, window) in [(2, 11), (4, 12), (8, 14), (100, 15)] {
            let mut sender = Sender::new(10);
            sender.fill();
            let all = Run { newest: SeqNumber::new(9), packets: 10, state: State::Received };
            assert_eq!(sender.0.acknowledged(sender.2 + RTT, ack_ratio, [all].into_iter()), 0);
            assert_eq!(sender.0.window(), window, "Ack Ratio {ack_ratio}");
        }
    }

    #[test]
    fn an_idle_sender_begins_with_the_initial_window() {
        let mut sender = Sender::new(2);
        for _ in 0..5 {
            let (first, count) = (sender.1, sender.fill());
            sender.acknowledge(&(first..first + count).collect::<Vec<_>>(), State::Received);
        }
        assert!(sender.0.window() > 4, "{}", sender.0.window());
        sender.2 += Duration::from_secs(10);
        assert!(sender.0.may_send());
        sender.0.sent(sender.2, SeqNumber::new(sender.1));
        assert_eq!(sender.0.window(), 2);
    }
}
