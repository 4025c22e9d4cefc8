use super::super::config::CongestionControl;
use super::super::ranges::SeqRange;
use super::*;

const MSS: u32 = 65_535;

/// More than half of the sequence space.
const FAR: u64 = (1 << 31) + (1 << 21);

struct Transfer {
    sender: Sender,
    timers: Timers,
    statistics: Statistics,
    now: Instant,
    sent: u64,
}

impl Transfer {
    fn new() -> Self {
        let config = TcpConfig { mss: MSS as u16, send_buffer: 1 << 20, ..TcpConfig::linux() };
        let mut sender = Sender::new(&config, SeqNumber(1));
        sender.open(MSS, false, 1 << 20, SeqNumber(0));
        Self { sender, timers: Timers::default(), statistics: Statistics::default(), now: Instant::ZERO, sent: 0 }
    }

    /// Sends what the windows allow.
    fn send(&mut self, octets: &[u8]) {
        self.sender.buffer.write(octets);
        while let Some(sent) = self.sender.next(self.now, MSS, &mut self.timers, &mut self.statistics) {
            self.sent += u64::from(sent.len);
        }
    }

    fn acknowledge(&mut self, ack: SeqNumber) {
        self.now += Duration::from_millis(10);
        let ack = Ack {
            seq: SeqNumber(0),
            ack,
            window: 1 << 20,
            sack: SackBlocks::default(),
            occupies_sequence: false,
            reports_duplicate: false,
            timestamp_rtt: None,
            congestion: false,
        };
        self.sender.on_ack(self.now, &ack, &mut self.timers, &mut self.statistics);
    }
}

/// The past that a connection remembers does not count as the future when half of the sequence space has passed.
#[test]
fn two_gigabytes_without_a_loss_leave_the_window_growing_and_fast_retransmit_working() {
    let octets = vec![0; 1 << 20];
    let mut transfer = Transfer::new();
    while transfer.sent < FAR {
        transfer.send(&octets);
        transfer.acknowledge(transfer.sender.next_new());
    }
    // An idle connection begins with the initial window again, 10 segments (RFC 5681 section 4.1).
    transfer.now += Duration::from_secs(600);
    transfer.send(&octets);
    let window = transfer.sender.congestion.window();
    assert_eq!(window, 10 * MSS);
    transfer.acknowledge(transfer.sender.next_new());
    assert!(transfer.sender.congestion.window() > window);

    transfer.send(&octets);
    for _ in 0..DUPLICATES {
        transfer.acknowledge(transfer.sender.una());
    }
    assert_eq!(transfer.statistics.fast_retransmits, 1);
}

/// RFC 5681 section 3.2.
const DUPLICATES: u32 = 3;

/// Octets of a segment in the tests of recovery by SACK.
const SEGMENT: u32 = 1_000;

/// Ten segments of Reno in flight, and nothing else to send. Sequence numbers are counted in segments.
struct Flight {
    sender: Sender,
    timers: Timers,
    statistics: Statistics,
    /// True if the peer's segments have ECN-Echo.
    marked: bool,
    /// True if they report a duplicate.
    reports_duplicate: bool,
    now: Instant,
}

fn plain() -> TcpConfig {
    TcpConfig { early_retransmit: false, tail_loss_probe: false, ..TcpConfig::linux() }
}

fn at(segment: u32) -> SeqNumber {
    SeqNumber(1) + segment * SEGMENT
}

impl Flight {
    fn new(config: TcpConfig) -> Self {
        let config = TcpConfig { mss: SEGMENT as u16, congestion: CongestionControl::Reno, ..config };
        let mut sender = Sender::new(&config, at(0));
        sender.open(SEGMENT, true, 50_000, SeqNumber(0));
        let (timers, statistics) = (Timers::default(), Statistics::default());
        let (marked, reports_duplicate, now) = (false, false, Instant::ZERO);
        let mut flight = Self { sender, timers, statistics, marked, reports_duplicate, now };
        flight.write(10);
        assert_eq!(flight.send().len(), 10);
        flight.now = Instant::from_micros(40_000);
        flight
    }

    fn write(&mut self, segments: u32) {
        self.sender.buffer.write(&vec![0; (segments * SEGMENT) as usize]);
    }

    /// Sends what may be sent: the first octet of each segment, and true if it is a retransmission.
    fn send(&mut self) -> Vec<(SeqNumber, bool)> {
        let now = self.now;
        let next = || self.sender.next(now, SEGMENT, &mut self.timers, &mut self.statistics);
        std::iter::from_fn(next).map(|sent| (sent.seq, sent.kind == Kind::Retransmission)).collect()
    }

    /// Acknowledges everything before a segment, and a range after it.
    fn acknowledge(&mut self, ack: u32, arrived: std::ops::Range<u32>) {
        let mut sack = SackBlocks::default();
        if !arrived.is_empty() {
            sack.push(SeqRange::new(at(arrived.start), at(arrived.end)));
        }
        let ack = Ack {
            seq: SeqNumber(0),
            ack: at(ack),
            window: 50_000,
            sack,
            occupies_sequence: false,
            reports_duplicate: self.reports_duplicate,
            timestamp_rtt: None,
            congestion: self.marked,
        };
        self.sender.on_ack(self.now, &ack, &mut self.timers, &mut self.statistics);
    }

    fn window(&self) -> u32 {
        self.sender.congestion.window() / SEGMENT
    }

    /// The first segment is lost; the window becomes five segments.
    fn lose_first(config: TcpConfig) -> Self {
        let mut flight = Self::new(config);
        flight.acknowledge(0, 1..4);
        assert_eq!(flight.send(), [(at(0), true)]);
        assert_eq!(flight.window(), 5);
        flight
    }
}

/// RFC 6675 section 5: after three segments above a hole, threshold and window are half of the flight (step 4.2), the
/// hole is sent whatever the window allows (step 4.3), and then as many segments as the window has room for (step C).
#[test]
fn a_loss_by_sack_halves_the_window_once_for_each_flight() {
    let mut flight = Flight::new(plain());
    flight.write(20);
    // An acknowledgement without news. Two segments above are not a loss.
    flight.acknowledge(0, 0..0);
    flight.acknowledge(0, 1..3);
    assert_eq!((flight.window(), flight.statistics.fast_retransmits), (10, 0));
    // The window of ten segments has room for two more, in place of those that have arrived.
    assert_eq!(flight.send(), [(at(10), false), (at(11), false)]);

    flight.acknowledge(0, 1..4);
    assert_eq!((flight.window(), flight.statistics.fast_retransmits), (6, 1));
    // In the network: 12 without 3 that arrived and 1 lost, and the retransmission: 9 of 6.
    assert_eq!(flight.send(), [(at(0), true)]);
    flight.acknowledge(0, 1..7);
    assert_eq!(flight.send(), []);
    flight.acknowledge(0, 1..8);
    assert_eq!(flight.send(), [(at(12), false)]);

    // Segment 8 of the same flight is lost as well: sent again, but no second reduction.
    flight.acknowledge(8, 9..12);
    let sent = flight.send();
    assert_eq!(sent[0], (at(8), true));
    assert_eq!((flight.window(), flight.statistics.fast_retransmits), (6, 1));
    assert_eq!(flight.statistics.retransmissions, 2);

    // Everything of that flight has arrived: the recovery is over. A loss right behind it is one of a new flight.
    flight.acknowledge(12, 0..0);
    flight.send();
    let in_flight = flight.sender.in_flight() / SEGMENT;
    flight.acknowledge(12, 13..16);
    assert_eq!((flight.window(), flight.statistics.fast_retransmits), (in_flight / 2, 2));
    assert_eq!(flight.send()[0], (at(12), true));
}

/// RFC 6675 section 4, `NextSeg` rule 3, and section 5 step C: the window has room if one segment fits exactly.
#[test]
fn without_new_data_a_hole_is_sent_that_may_be_lost() {
    let mut flight = Flight::lose_first(plain());
    // The retransmission has arrived. 4, 7, 8 and 9 are in the network; 4 may be lost.
    flight.acknowledge(4, 5..7);
    assert_eq!(flight.send(), [(at(4), true)]);
    // With one segment more in the network, the window has no room.
    let mut flight = Flight::lose_first(plain());
    flight.acknowledge(4, 5..6);
    assert_eq!(flight.send(), []);
}

/// `NextSeg` rule 4: the end of the flight, once for each recovery.
#[test]
fn without_a_hole_the_end_of_the_flight_is_sent_once() {
    for (rescue_retransmission, expected) in [(true, vec![(at(9), true)]), (false, vec![])] {
        let mut flight = Flight::lose_first(TcpConfig { rescue_retransmission, ..plain() });
        flight.acknowledge(5, 0..0);
        assert_eq!(flight.send(), [], "five segments are in the network");
        flight.acknowledge(6, 0..0);
        assert_eq!(flight.send(), expected);
        flight.acknowledge(8, 0..0);
        assert_eq!(flight.send(), []);
    }
}

/// RFC 3168 section 6.1.2: one reaction for each window of data. The peer repeats ECN-Echo until it sees CWR, also in
/// segments that acknowledge nothing new.
#[test]
fn ecn_echo_halves_the_window_once_for_each_flight() {
    let mut flight = Flight::new(plain());
    flight.marked = true;
    flight.acknowledge(2, 0..0);
    assert_eq!((flight.window(), flight.statistics.congestion_echoes), (5, 1));
    assert!(flight.sender.take_reduced_window());
    for ack in [2, 3, 9, 10, 10, 10] {
        flight.acknowledge(ack, 0..0);
        assert_eq!((flight.window(), flight.statistics.congestion_echoes), (5, 1), "{ack}");
    }
    assert!(!flight.sender.take_reduced_window(), "nothing to tell the peer");
    // The next flight: five segments.
    flight.write(5);
    assert_eq!(flight.send().len(), 5);
    flight.acknowledge(12, 0..0);
    assert_eq!((flight.window(), flight.statistics.congestion_echoes), (2, 2));
}

/// RFC 5827 section 3.1 with SACK: with three segments in flight and nothing to send, two of them that have arrived
/// after a hole make a loss, a quarter of a round trip of 40 ms after the first news of the hole.
#[test]
fn early_retransmit_waits_from_the_first_news_of_a_hole() {
    let due = |flight: &Flight| flight.timers.get(Timer::EarlyRetransmit).map(|at| at.as_micros());
    let with = |in_flight: u32| {
        let mut flight = Flight::new(TcpConfig { early_retransmit: true, ..plain() });
        flight.acknowledge(10 - in_flight, 0..0);
        assert_eq!(due(&flight), None, "no hole");
        flight.now = Instant::from_micros(50_000);
        flight
    };
    let mut flight = with(3);
    flight.acknowledge(7, 8..9);
    assert_eq!(due(&flight), Some(60_000));
    flight.now = Instant::from_micros(55_000);
    flight.acknowledge(7, 8..10);
    assert_eq!((due(&flight), flight.send(), flight.statistics.fast_retransmits), (Some(60_000), vec![], 0));
    flight.now = Instant::from_micros(60_000);
    flight.sender.on_early_retransmit_timer(&mut flight.statistics);
    assert_eq!((flight.send(), flight.statistics.fast_retransmits), (vec![(at(7), true)], 1));

    // The segment was only late.
    let mut flight = with(3);
    flight.acknowledge(7, 8..9);
    flight.acknowledge(9, 0..0);
    assert_eq!(due(&flight), None);
    // With four segments in flight, three duplicates can come.
    let mut flight = with(4);
    flight.acknowledge(6, 7..9);
    assert_eq!(due(&flight), None);
    // With new data, further segments can be sent instead.
    let mut flight = with(3);
    flight.write(10);
    flight.acknowledge(7, 8..9);
    assert_eq!(due(&flight), None);
}

/// RFC 8985 section 7.2: two round trips of 40 ms after the last segment, or after the last acknowledgement of something
/// new. With one segment in flight, the peer may delay its acknowledgement by 200 ms; but the retransmission timer,
/// 240 ms, is not passed over.
#[test]
fn a_tail_loss_probe_is_due_two_round_trips_after_the_last_news() {
    let mut flight = Flight::new(TcpConfig { tail_loss_probe: true, ..plain() });
    // Without a round-trip time, one second; that is also the first timeout.
    let due = |flight: &Flight| flight.timers.get(Timer::TailLossProbe).map(|at| at.as_micros());
    assert_eq!(due(&flight), Some(1_000_000));
    let rows = [
        (40_000, 2, 0..0, 120_000),
        (50_000, 2, 0..0, 120_000),
        (60_000, 2, 3..4, 140_000),
        (65_000, 2, 3..4, 140_000),
        (70_000, 9, 0..0, 310_000),
    ];
    for (now, ack, arrived, expected) in rows {
        flight.now = Instant::from_micros(now);
        flight.acknowledge(ack, arrived);
        assert_eq!(due(&flight), Some(expected), "at {now} us");
    }
    flight.acknowledge(10, 0..0);
    assert_eq!(due(&flight), None, "nothing is in flight");
}

/// RFC 8985 section 7.4: the last segment was sent again as a probe. If one acknowledgement comes of the two copies,
/// the probe has repaired a loss, and the window is reduced. If two come, or a report of a duplicate, nothing was lost.
#[test]
fn a_probe_that_repaired_a_loss_reduces_the_window() {
    let probed = || {
        let mut flight = Flight::new(TcpConfig { tail_loss_probe: true, ..plain() });
        flight.sender.on_probe_timer(flight.now, &mut flight.timers);
        assert_eq!(flight.send(), [(at(9), true)]);
        assert_eq!(flight.statistics.tail_loss_probes, 1);
        flight
    };
    let go_on = |mut flight: Flight| {
        flight.write(4);
        assert_eq!(flight.send().len(), 4);
        flight.acknowledge(14, 0..0);
        (flight.window(), flight.statistics.losses_repaired_by_probe)
    };
    // Slow start: the window of ten becomes twenty. Four segments in flight do not fill it, so it stays.
    let mut one = probed();
    one.acknowledge(10, 0..0);
    assert_eq!(one.window(), 20);
    // Half of the four segments in flight.
    assert_eq!(go_on(one), (2, 1));

    let mut two = probed();
    two.acknowledge(10, 0..0);
    two.acknowledge(10, 0..0);
    assert_eq!(go_on(two), (20, 0));

    let mut reported = probed();
    reported.reports_duplicate = true;
    reported.acknowledge(10, 0..0);
    reported.reports_duplicate = false;
    assert_eq!(go_on(reported), (20, 0));
}

/// RFC 7661 sections 4.3 and 4.4: a window that does not limit the sender does not grow. In slow start it limits if half of it
/// is in use, and later, if there is no room for one more segment.
#[test]
fn a_window_grows_only_if_it_is_used() {
    // Sends so many segments, and gets all of them acknowledged, several times. Returns the window.
    let rounds = |flight: &mut Flight, segments: u32, times: u32| {
        for _ in 0..times {
            let all = flight.sender.next_new().since(at(0)) / SEGMENT + segments;
            flight.write(segments);
            assert_eq!(flight.send().len(), segments as usize);
            flight.acknowledge(all, 0..0);
        }
        flight.window()
    };
    let mut flight = Flight::new(plain());
    flight.acknowledge(10, 0..0);
    assert_eq!(flight.window(), 20, "slow start");
    assert_eq!(rounds(&mut flight, 9, 5), 20);
    assert_eq!(rounds(&mut flight, 10, 1), 30);

    // After a loss, window and threshold are five segments: a segment more for each five that are acknowledged.
    let mut flight = Flight::lose_first(plain());
    flight.acknowledge(10, 0..0);
    assert_eq!(flight.window(), 5);
    assert_eq!(rounds(&mut flight, 3, 10), 5);
    assert_eq!(rounds(&mut flight, 4, 1), 5);
    assert_eq!(rounds(&mut flight, 4, 1), 6);
}
