use super::super::options::Options;
use super::*;
use crate::clock::Duration;

/// The first octet of data: near the wrap, so that each window crosses it.
const START: SeqNumber = SeqNumber(u32::MAX - 1_500);

struct Reader {
    receiver: Receiver,
    timers: Timers,
    statistics: Statistics,
}

impl Reader {
    /// Each segment is acknowledged at once.
    fn new(receive_buffer: u32, mss: u16) -> Self {
        let config = TcpConfig { receive_buffer, mss, delayed_ack: None, ..TcpConfig::linux() };
        let mut receiver = Receiver::new(&config);
        receiver.synchronise(START, true);
        Self { receiver, timers: Timers::default(), statistics: Statistics::default() }
    }

    /// The next octets arrive, and are acknowledged. Returns the window field.
    fn arrive(&mut self, octets: u32) -> u16 {
        let (seq, payload) = (self.receiver.next(), vec![0; octets as usize]);
        let segment = segment_at(seq, &payload, Flags::ACK);
        self.receiver.on_segment(Instant::ZERO, &segment, &mut self.timers, &mut self.statistics);
        assert!(self.receiver.ack_due);
        self.acknowledge()
    }

    fn acknowledge(&mut self) -> u16 {
        let window = self.receiver.announce_window();
        self.receiver.on_ack_sent(&mut self.timers);
        window
    }

    /// The application reads. True if the peer must hear of it.
    fn read(&mut self, octets: usize) -> bool {
        assert_eq!(self.receiver.read(&mut vec![0; octets]), octets);
        self.receiver.ack_due
    }
}

/// A segment at a distance from the next octet.
fn segment<'a>(receiver: &Receiver, distance: i32, payload: &'a [u8], flags: Flags) -> Segment<'a> {
    segment_at(SeqNumber(receiver.next().0.wrapping_add_signed(distance)), payload, flags)
}

fn segment_at(seq: SeqNumber, payload: &[u8], flags: Flags) -> Segment<'_> {
    Segment {
        source_port: 1,
        destination_port: 2,
        seq,
        ack: SeqNumber(0),
        flags,
        window: 0,
        urgent: 0,
        options: Options::default(),
        payload,
    }
}

fn accepts(receiver: &Receiver, distance: i32, len: u32) -> bool {
    receiver.accepts(&segment(receiver, distance, &vec![0; len as usize], Flags::ACK))
}

/// RFC 9293 section 3.10.7.4, table 6. Distances are from the next octet; the window has 2,000 octets.
#[test]
fn a_segment_is_acceptable_if_an_octet_of_it_is_in_the_window() {
    let reader = Reader::new(2_000, 536);
    let rows = [
        // Empty: in the window, and (unlike the table) at its edge.
        (-1, 0, false),
        (0, 0, true),
        (1_999, 0, true),
        (2_000, 0, true),
        (2_001, 0, false),
        (i32::MAX, 0, false),
        (i32::MIN + 1, 0, false),
        // Before, across the first octet, inside, across the last octet, after.
        (-10, 10, false),
        (-10, 11, true),
        (-1, 1, false),
        (0, 1, true),
        (1_999, 1, true),
        (1_999, 500, true),
        (2_000, 1, false),
        (2_000, 500, false),
        (-10, 2_100, true),
        (i32::MAX, 10, false),
        (i32::MIN + 1, 10, false),
    ];
    for (distance, len, acceptable) in rows {
        assert_eq!(accepts(&reader.receiver, distance, len), acceptable, "{len} octets at {distance}");
    }
}

/// A window of zero: an empty segment with exactly the next number is accepted, and nothing else.
#[test]
fn a_closed_window_accepts_the_next_number_alone() {
    let mut reader = Reader::new(2_000, 536);
    assert_eq!(reader.arrive(2_000), 0);
    for (distance, len, acceptable) in
        [(-1, 0, false), (0, 0, true), (1, 0, false), (0, 1, false), (-1, 1, false), (-1, 2, false), (-1, 3, false)]
    {
        assert_eq!(accepts(&reader.receiver, distance, len), acceptable, "{len} octets at {distance}");
    }
}

/// RFC 9293 section 3.8.6.2.2: the right edge stays until it can move by a segment, or by half of the buffer if that is
/// less.
#[test]
fn a_closed_window_opens_by_a_segment_or_half_of_the_buffer() {
    for (buffer, mss, least) in [(4_000, 1_000, 1_000), (1_500, 1_000, 750), (2_000, 1_000, 1_000)] {
        let mut reader = Reader::new(buffer, mss);
        assert_eq!(reader.arrive(buffer), 0);
        assert!(!reader.read(least - 1), "{buffer}");
        assert_eq!(reader.acknowledge(), 0, "{buffer}");
        assert!(reader.read(1), "{buffer}");
        assert_eq!(usize::from(reader.acknowledge()), least);
    }
}

/// Linux's rule for the moment of an update: at most half of the buffer is announced, and twice as much could be.
#[test]
fn an_open_window_is_announced_again_when_it_has_doubled() {
    // Of a buffer of 4,000, what is announced still, what the application reads, and if an update follows.
    let rows = [
        (500, 999, false),
        (500, 1_000, true),
        (1_000, 999, false),
        (1_000, 1_000, true),
        (1_500, 1_499, false),
        (1_500, 1_500, true),
        (2_000, 1_999, false),
        (2_000, 2_000, true),
        (2_001, 1_999, false),
        (3_000, 1_000, false),
    ];
    for (announced, read, update) in rows {
        let mut reader = Reader::new(4_000, 1_000);
        assert_eq!(u32::from(reader.arrive(4_000 - announced)), announced);
        assert_eq!(reader.read(read), update, "{read} octets read with a window of {announced}");
        let edge = if read >= 1_000 { announced + read as u32 } else { announced };
        assert_eq!(u32::from(reader.acknowledge()), edge, "{read} octets read with a window of {announced}");
    }
}

/// RFC 7323 section 2.3: the field is the window, shifted right; without a shift it ends at 65,535.
#[test]
fn the_window_field_is_scaled() {
    for (shift, field, window) in [(0, 65_535, 65_535), (1, 50_000, 100_000), (7, 781, 99_968), (14, 6, 98_304)] {
        let mut reader = Reader::new(100_000, 1_000);
        reader.receiver.shift = shift;
        assert_eq!(reader.acknowledge(), field);
        assert_eq!(reader.receiver.window(), window);
    }
}

/// RFC 2883 section 4: the first SACK block reports the octets that arrived again. An old FIN, and what lies after the
/// window, are no such octets. Each is acknowledged (RFC 9293 section 3.10.7.4, first check).
#[test]
fn octets_that_arrived_before_are_reported_as_duplicates() {
    let fin = Flags::ACK | Flags::FIN;
    // The window is closed. Distance from the next octet, octets, flags, the block as distances.
    let rows = [
        (-100, 100, Flags::ACK, Some((-100, 0))),
        (-100, 60, Flags::ACK, Some((-100, -40))),
        (-50, 80, Flags::ACK, Some((-50, 0))),
        (-1, 1, fin, Some((-1, 0))),
        (-1, 0, fin, None),
        (0, 10, Flags::ACK, None),
        (500, 10, Flags::ACK, None),
        (500, 0, fin, None),
    ];
    for (distance, octets, flags, block) in rows {
        let mut reader = Reader::new(2_000, 536);
        assert_eq!(reader.arrive(2_000), 0);
        let (payload, next) = (vec![0; octets], reader.receiver.next());
        let segment = segment(&reader.receiver, distance, &payload, flags);
        reader.receiver.on_old_segment(&segment, &mut reader.statistics);
        assert!(reader.receiver.ack_due);
        let at = |distance| SeqNumber(next.0.wrapping_add_signed(distance));
        let expected: Vec<_> = block.map(|(start, end)| SeqRange::new(at(start), at(end))).into_iter().collect();
        assert_eq!(
            reader.receiver.sack_blocks(3).iter().collect::<Vec<_>>(),
            expected,
            "{octets} octets at {distance}"
        );
        assert_eq!(reader.statistics.duplicates_received, expected.len() as u64);
    }
}

/// Duplicates are reported also of segments in the window, of which a part is new, and of octets after a gap.
#[test]
fn duplicates_in_acceptable_segments_are_reported() {
    let mut reader = Reader::new(2_000, 536);
    reader.arrive(100);
    let next = reader.receiver.next();
    let rows = [
        (next + 200, 100, None, 0),
        (next + 200, 100, Some((next + 200, next + 300)), 1),
        (next - 50, 100, Some((next - 50, next)), 2),
        (next + 50, 100, None, 2),
    ];
    for (seq, octets, duplicate, count) in rows {
        let Reader { receiver, timers, statistics } = &mut reader;
        receiver.on_segment(Instant::ZERO, &segment_at(seq, &vec![0; octets], Flags::ACK), timers, statistics);
        let first = receiver.sack_blocks(3).iter().next();
        let reported = duplicate.map(|(start, end)| SeqRange::new(start, end));
        // Without a duplicate, the first block is that of the segment that arrived last after a gap.
        assert_eq!(first, reported.or(Some(SeqRange::new(next + 200, next + 300))));
        assert_eq!(statistics.duplicates_received, count);
        reader.acknowledge();
    }
    assert_eq!(reader.receiver.next(), next + 150);
}

const DELAY: Duration = Duration::from_millis(40);

/// A receiver that may delay its acknowledgements by 40 ms.
fn delaying(quick: u8) -> Reader {
    let delayed_ack = Some(DelayedAck { quick, ..DelayedAck::new(DELAY) });
    let mut receiver = Receiver::new(&TcpConfig { delayed_ack, mss: 1_000, ..TcpConfig::linux() });
    receiver.synchronise(START, true);
    Reader { receiver, timers: Timers::default(), statistics: Statistics::default() }
}

/// The next octets arrive at a time. Returns true if an acknowledgement is due, and the time of the timer.
fn arrive_at(reader: &mut Reader, us: u64, octets: usize) -> (bool, Option<u64>) {
    let Reader { receiver, timers, statistics } = reader;
    let payload = vec![0; octets];
    let segment = segment_at(receiver.next(), &payload, Flags::ACK);
    receiver.on_segment(Instant::from_micros(us), &segment, timers, statistics);
    (receiver.ack_due, timers.get(Timer::DelayedAck).map(|at| at.as_micros()))
}

/// RFC 9293 section 3.8.6.3 and RFC 5681 section 4.2: at least every second full-sized segment, and the delay counts
/// from the first octet.
#[test]
fn an_acknowledgement_is_delayed_until_the_second_full_segment_or_the_timer() {
    let mut reader = delaying(0);
    assert_eq!(arrive_at(&mut reader, 0, 1_000), (false, Some(40_000)));
    assert!(arrive_at(&mut reader, 10_000, 1_000).0);
    reader.acknowledge();
    assert!(!reader.timers.is_set(Timer::DelayedAck));
    assert_eq!(arrive_at(&mut reader, 50_000, 100), (false, Some(90_000)));
    assert_eq!(arrive_at(&mut reader, 60_000, 100), (false, Some(90_000)));
    reader.receiver.on_delayed_ack_timer();
    assert!(reader.receiver.ack_due);
}

/// Quick acknowledgements are suspended while this side answers data with data before the timer expires.
#[test]
fn an_answer_before_the_timer_ends_quick_acknowledgements() {
    for (answer, quick) in [(39_999, false), (40_000, true), (60_000, true)] {
        let mut reader = delaying(16);
        assert!(arrive_at(&mut reader, 0, 100).0);
        reader.acknowledge();
        reader.receiver.on_data_sent(Instant::from_micros(answer));
        assert_eq!(arrive_at(&mut reader, 70_000, 100).0, quick, "answered after {answer} us");
    }
    // Two of them, then the delay.
    let mut reader = delaying(2);
    for due in [true, true, false] {
        assert_eq!(arrive_at(&mut reader, 0, 100).0, due);
        reader.acknowledge();
    }
}

/// RFC 2883 is an extension of SACK: no report without either.
#[test]
fn duplicates_are_reported_only_where_both_options_are_on() {
    for (duplicate_sack, sack) in [(true, true), (true, false), (false, true), (false, false)] {
        let config = TcpConfig { duplicate_sack, delayed_ack: None, ..TcpConfig::linux() };
        let mut receiver = Receiver::new(&config);
        receiver.synchronise(START, sack);
        let mut reader = Reader { receiver, timers: Timers::default(), statistics: Statistics::default() };
        reader.arrive(100);
        let Reader { receiver, timers, statistics } = &mut reader;
        receiver.on_segment(Instant::ZERO, &segment_at(START, &[0; 100], Flags::ACK), timers, statistics);
        assert_eq!(receiver.sack_blocks(3).iter().count(), usize::from(duplicate_sack && sack));
        assert_eq!(statistics.duplicates_received, 1);
    }
}

/// The FIN has the sequence number after the last octet of its segment, also if it comes before octets that are
/// missing.
#[test]
fn the_end_is_reached_when_everything_before_the_fin_has_arrived() {
    let mut reader = Reader::new(2_000, 536);
    let Reader { receiver, timers, statistics } = &mut reader;
    receiver.on_segment(Instant::ZERO, &segment_at(START + 100, &[0; 50], Flags::FIN), timers, statistics);
    assert_eq!((receiver.is_finished(), receiver.next()), (false, START));
    receiver.on_segment(Instant::ZERO, &segment_at(START, &[0; 100], Flags::ACK), timers, statistics);
    assert_eq!((receiver.is_finished(), receiver.next()), (true, START + 151));
}
