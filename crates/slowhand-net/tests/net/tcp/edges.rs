//! Segments at the edges of sequence space, in every state of a connection. Numbers, windows, flags and options are
//! whatever a peer or an attacker can send: before and after each limit, half of the space away, and any other number.
//!
//! The value of each octet follows from its sequence number. So the test sees when the connection delivers an octet twice,
//! out of order, or one that never arrived.

use allocation_counter::measure;
use proptest::prelude::*;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::transport::tcp::{
    CongestionControl, Connection, Ecn, EcnMark, Flags, KeepAlive, MAX_SACK_BLOCKS, Nagle, Options, Recovery,
    SackBlocks, Segment, SeqNumber, SeqRange, State, TcpConfig, Timestamps,
};

use super::harness::{Side, endpoint, initial_seq};

/// Half of the sequence space: two numbers at this distance have no order (RFC 1982 section 3.2).
const HALF: u32 = 1 << 31;

/// The most octets that a connection may keep besides its two buffers (assumed): its ranges out of order, and congestion
/// control.
const STATE: u64 = 64 * 1024;

/// A number that means something to the connection, on either side.
#[derive(Clone, Copy, Debug)]
enum Anchor {
    /// The next octet that the connection expects.
    Expected,
    /// The right edge of the window that it has announced.
    WindowEnd,
    /// The peer's initial sequence number.
    Initial,
    /// Any other.
    At(u32),
}

/// A sequence number, as a distance from an anchor.
type Edge = (Anchor, u32);

/// An acknowledgement number: a distance from the first unacknowledged octet, or (if true) from the next new octet.
type Acknowledged = (bool, u32);

/// A segment of the peer.
#[derive(Clone, Debug)]
struct Arrival {
    seq: Edge,
    ack: Acknowledged,
    flags: u8,
    window: u16,
    payload: usize,
    sack: Vec<(u32, u32)>,
    stamps: Option<(u32, u32)>,
    mss: Option<u16>,
    shift: Option<u8>,
    sack_permitted: bool,
    ecn: u8,
}

#[derive(Clone, Debug)]
enum Step {
    Arrives(Arrival),
    /// The peer sends the next octets, and acknowledges everything.
    Continues(usize),
    Write(usize),
    Read(usize),
    Close,
    Abort,
    /// The next deadline comes.
    Deadline,
    Wait(u64),
}

/// One end of a connection, and what the other end knows.
struct Machine {
    connection: Connection,
    now: Instant,
    /// The peer's initial sequence number.
    peer_initial: SeqNumber,
    /// The next sequence number that the connection expects, and its window, by its last segment.
    expected: SeqNumber,
    window: u32,
    /// The first octet that was not delivered to the application yet.
    undelivered: Option<SeqNumber>,
    /// The segments that the peer has sent.
    arrived: Vec<(SeqNumber, u32)>,
    /// The octets that the application has written.
    written: u32,
    closed: bool,
    /// The octets that the peer has acknowledged, and those that were sent, with SYN and FIN.
    acknowledged: u32,
    sent: u32,
    /// The octets of memory that the connection has taken.
    memory: i64,
    limit: u64,
}

fn octet(seq: SeqNumber) -> u8 {
    (seq.0.wrapping_mul(2_654_435_761) >> 24) as u8
}

fn offset(seq: SeqNumber, start: SeqNumber) -> u32 {
    seq.0.wrapping_sub(start.0)
}

impl Machine {
    fn new(config: &TcpConfig, peer_initial: u32, listens: bool) -> Self {
        let mut connection = None;
        let taken = measure(|| {
            connection = Some(if listens {
                Connection::listen(config, endpoint(Side::B), initial_seq(Side::B)).unwrap()
            } else {
                Connection::connect(config, endpoint(Side::B), endpoint(Side::A), initial_seq(Side::B)).unwrap()
            });
        });
        let mut machine = Self {
            connection: connection.unwrap(),
            now: Instant::from_micros(5_000_000),
            peer_initial: SeqNumber(peer_initial),
            expected: SeqNumber(peer_initial) + 1,
            window: 0,
            undelivered: None,
            arrived: Vec::new(),
            written: 0,
            closed: false,
            acknowledged: 0,
            sent: 0,
            memory: taken.bytes_current,
            limit: u64::from(config.send_buffer) + u64::from(config.receive_buffer) + STATE,
        };
        machine.settle();
        machine
    }

    /// Calls the connection, and counts the memory that it takes.
    fn call<T>(&mut self, act: impl FnOnce(&mut Connection) -> T) -> T {
        let mut result = None;
        let taken = measure(|| result = Some(act(&mut self.connection)));
        self.memory += taken.bytes_current;
        assert!(self.memory <= self.limit as i64, "{} octets of memory, allowed: {}", self.memory, self.limit);
        result.unwrap()
    }

    fn arrive(&mut self, segment: &Segment<'_>, ecn: EcnMark) {
        let mut octets = [0; 4096];
        let (from, to) = (endpoint(Side::A).address, endpoint(Side::B).address);
        let length = segment.emit(from, to, &mut octets).unwrap();
        self.arrived.push((segment.seq, segment.seq_len()));
        let now = self.now;
        self.call(|connection| connection.handle_segment(now, from, ecn, &octets[..length])).unwrap();
    }

    /// The peer's segment without options.
    fn segment<'a>(&self, seq: SeqNumber, ack: SeqNumber, flags: Flags, payload: &'a [u8]) -> Segment<'a> {
        Segment {
            source_port: endpoint(Side::A).port,
            destination_port: endpoint(Side::B).port,
            seq,
            ack,
            flags,
            window: 8_000,
            urgent: 0,
            options: Options::default(),
            payload,
        }
    }

    fn apply(&mut self, step: &Step) {
        let now = self.now;
        match *step {
            Step::Arrives(ref arrival) => self.edge(arrival),
            Step::Continues(octets) => {
                let payload: Vec<u8> = (0..octets as u32).map(|i| octet(self.expected + i)).collect();
                let segment = self.segment(self.expected, self.next_new(), Flags::ACK, &payload);
                self.arrive(&segment, EcnMark::NotCapable);
                self.acknowledged = self.sent;
            }
            Step::Write(octets) => {
                let message: Vec<u8> = (0..octets as u32).map(|i| octet(self.first() + self.written + i)).collect();
                self.written += self.call(|connection| connection.write(&message)).unwrap_or(0) as u32;
            }
            Step::Read(octets) => self.read(octets),
            Step::Close => {
                self.closed = true;
                self.call(Connection::close);
            }
            Step::Abort => self.call(Connection::abort),
            Step::Deadline => {
                self.now = self.connection.deadline().unwrap_or(now);
                self.on_time();
            }
            Step::Wait(us) => {
                self.now += Duration::from_micros(us);
                self.on_time();
            }
        }
        self.settle();
    }

    /// A segment that need not make sense.
    fn edge(&mut self, arrival: &Arrival) {
        let anchor = match arrival.seq.0 {
            Anchor::Expected => self.expected,
            Anchor::WindowEnd => self.expected + self.window,
            Anchor::Initial => self.peer_initial,
            Anchor::At(number) => SeqNumber(number),
        };
        let seq = anchor + arrival.seq.1;
        let flags = Flags(arrival.flags);
        let first_octet = seq + u32::from(flags.contains(Flags::SYN));
        let payload: Vec<u8> = (0..arrival.payload as u32).map(|i| octet(first_octet + i)).collect();
        let una = initial_seq(Side::B) + self.acknowledged;
        let acknowledged = if arrival.ack.0 { self.next_new() } else { una } + arrival.ack.1;
        let mut sack = SackBlocks::default();
        for &(start, end) in arrival.sack.iter().take(MAX_SACK_BLOCKS - usize::from(arrival.stamps.is_some())) {
            sack.push(SeqRange::new(una + start, una + end));
        }
        // All options of a SYN, or SACK blocks: a header has no room for both.
        let is_syn = flags.contains(Flags::SYN);
        let stamps = arrival.stamps.map(|(value, echo)| Timestamps { value, echo });
        let options = Options {
            mss: arrival.mss.filter(|_| is_syn),
            window_scale: arrival.shift.filter(|_| is_syn),
            sack_permitted: arrival.sack_permitted && is_syn,
            sack: if is_syn { SackBlocks::default() } else { sack },
            timestamps: stamps,
        };
        let segment = self.segment(seq, acknowledged, flags, &payload);
        let segment = Segment { window: arrival.window, options, ..segment };
        self.arrive(&segment, EcnMark::of_traffic_class(arrival.ecn));
        if self.connection.in_flight() == 0 && flags.contains(Flags::ACK) {
            self.acknowledged = self.sent;
        }
    }

    fn read(&mut self, octets: usize) {
        let mut into = vec![0; octets];
        let count = self.call(|connection| connection.read(&mut into)).unwrap_or(0);
        for &found in &into[..count] {
            let seq = self.undelivered.expect("octets before the connection has acknowledged the SYN");
            assert_eq!(found, octet(seq), "octet {seq} was never sent, or it was delivered at a wrong place");
            assert!(self.has_arrived(seq), "octet {seq} was delivered, but never arrived");
            self.undelivered = Some(seq + 1);
        }
    }

    fn has_arrived(&self, seq: SeqNumber) -> bool {
        self.arrived.iter().any(|&(start, length)| offset(seq, start) < length)
    }

    /// The sequence number of the first octet of the application.
    fn first(&self) -> SeqNumber {
        initial_seq(Side::B) + 1
    }

    fn next_new(&self) -> SeqNumber {
        initial_seq(Side::B) + self.sent
    }

    fn on_time(&mut self) {
        let now = self.now;
        self.call(|connection| connection.handle_timeout(now));
    }

    /// Lets the connection send what it can, and do what is due. Checks everything that it does.
    fn settle(&mut self) {
        let mut out = [0; 4096];
        for _ in 0..1_000 {
            let mut segments = 0;
            let now = self.now;
            while let Some(transmit) = self.call(|connection| connection.poll_transmit(now, &mut out)) {
                self.check(&Segment::parse(&out[..transmit.len]).unwrap());
                segments += 1;
                assert!(segments < 10_000, "no end of segments in state {:?}", self.connection.state());
            }
            match self.connection.deadline() {
                Some(deadline) if deadline == now => self.on_time(),
                deadline => return assert!(deadline.is_none_or(|at| at > now), "{deadline:?} lies before {now}"),
            }
        }
        panic!("a timer fires again and again at {}", self.now);
    }

    /// A segment of the connection: its payload is what the application wrote, and it acknowledges what arrived.
    fn check(&mut self, segment: &Segment<'_>) {
        let start = offset(segment.seq, self.first());
        for (index, &found) in segment.payload.iter().enumerate() {
            let at = start.wrapping_add(index as u32);
            assert!(at < self.written, "octet {at} of {} is sent", self.written);
            assert_eq!(found, octet(self.first() + at), "octet {at} has the wrong value");
        }
        let is_reset = segment.flags.contains(Flags::RST);
        assert!(self.closed || !segment.flags.contains(Flags::FIN), "a FIN before the application has closed");
        if !is_reset && segment.seq_len() > 0 {
            self.sent = self.sent.max(offset(segment.seq + segment.seq_len(), initial_seq(Side::B)));
        }
        if !segment.flags.contains(Flags::ACK) {
            return;
        }
        let undelivered = *self.undelivered.get_or_insert(segment.ack);
        let unread = offset(segment.ack, undelivered);
        let finished = u32::from(self.connection.at_end() || unread > self.connection.readable() as u32);
        assert_eq!(unread, self.connection.readable() as u32 + finished, "acknowledges what it does not hold");
        self.expected = segment.ack;
        self.window = u32::from(segment.window);
        for block in segment.options.sack.iter() {
            assert!(self.has_arrived(block.start) && self.has_arrived(block.end - 1), "{block:?} never arrived");
        }
    }

    /// Goes into a state by valid segments.
    fn reach(&mut self, state: State, shift: Option<u8>) {
        let options = Options {
            mss: Some(536),
            window_scale: shift,
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 7, echo: 5_000 }),
            ..Options::default()
        };
        let answers = self.connection.state() == State::SynSent;
        if matches!(state, State::Listen | State::SynSent) {
            return;
        }
        if state == State::SynReceived && answers {
            // Both open at once.
            self.valid(self.peer_initial, Flags::SYN, options);
            return assert_eq!(self.connection.state(), state);
        }
        let flags = Flags::SYN.with(Flags::ACK, answers);
        self.valid(self.peer_initial, flags, options);
        if !answers && state != State::SynReceived {
            self.valid(self.expected, Flags::ACK, Options::default());
        }
        let fin = Flags::FIN | Flags::ACK;
        let before = self.next_new();
        match state {
            State::FinWait1 => self.apply(&Step::Close),
            State::FinWait2 | State::TimeWait => {
                self.apply(&Step::Close);
                self.valid(self.expected, Flags::ACK, Options::default());
                if state == State::TimeWait {
                    self.valid(self.expected, fin, Options::default());
                }
            }
            State::CloseWait => self.valid(self.expected, fin, Options::default()),
            State::LastAck => {
                self.valid(self.expected, fin, Options::default());
                self.apply(&Step::Close);
            }
            State::Closing => {
                self.apply(&Step::Close);
                let segment = self.segment(self.expected, before, fin, &[]);
                self.arrive(&Segment { options: self.stamped(), ..segment }, EcnMark::NotCapable);
                self.settle();
            }
            State::Closed => self.apply(&Step::Abort),
            _ => {}
        }
        assert_eq!(self.connection.state(), state);
    }

    fn stamped(&self) -> Options {
        Options { timestamps: Some(Timestamps { value: 7, echo: 5_000 }), ..Options::default() }
    }

    /// A valid segment, which acknowledges everything.
    fn valid(&mut self, seq: SeqNumber, flags: Flags, options: Options) {
        let options = if options == Options::default() { self.stamped() } else { options };
        let segment = self.segment(seq, self.next_new(), flags, &[]);
        self.arrive(&Segment { options, ..segment }, EcnMark::NotCapable);
        self.acknowledged = self.sent;
        self.settle();
    }
}

/// Zero, one, half of the sequence space, and one more and less than each; or any number.
fn distance() -> impl Strategy<Value = u32> {
    let edges = [0, HALF, HALF / 2, 536, 65_535, 1 << 30];
    let near = (prop::sample::select(edges.to_vec()), -2i32..=2).prop_map(|(edge, by)| edge.wrapping_add_signed(by));
    let back = near.clone().prop_map(u32::wrapping_neg);
    prop_oneof![4 => Just(0), 4 => near, 2 => back, 1 => 0u32..2_000, 1 => any::<u32>()]
}

fn arrival() -> impl Strategy<Value = Arrival> {
    let anchor = prop_oneof![
        6 => Just(Anchor::Expected),
        3 => Just(Anchor::WindowEnd),
        1 => Just(Anchor::Initial),
        1 => any::<u32>().prop_map(Anchor::At),
    ];
    let ack = Flags::ACK.0;
    let flags = prop_oneof![
        8 => Just(ack),
        2 => Just(ack | Flags::FIN.0),
        1 => Just(Flags::SYN.0),
        1 => Just(Flags::SYN.0 | ack),
        1 => Just(Flags::RST.0),
        2 => any::<u8>(),
    ];
    let window = prop_oneof![Just(0), Just(1), Just(535), Just(8_000), Just(u16::MAX), any::<u16>()];
    let payload = prop_oneof![Just(0), Just(1), Just(2), Just(536), 0usize..1_400];
    let first = ((anchor, distance()), (any::<bool>(), distance()), flags, window, payload);
    let options = (
        prop::collection::vec((distance(), distance()), 0..4),
        prop::option::of((distance(), distance())),
        prop::option::of(prop_oneof![Just(0), Just(1), Just(536), any::<u16>()]),
        prop::option::of(0u8..=14),
        any::<bool>(),
        0u8..4,
    );
    (first, options).prop_map(
        |((seq, ack, flags, window, payload), (sack, stamps, mss, shift, sack_permitted, ecn))| Arrival {
            seq,
            ack,
            flags,
            window,
            payload,
            sack,
            stamps,
            mss,
            shift,
            sack_permitted,
            ecn,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => arrival().prop_map(Step::Arrives),
        3 => (0usize..600).prop_map(Step::Continues),
        3 => (0usize..3_000).prop_map(Step::Write),
        3 => (0usize..3_000).prop_map(Step::Read),
        1 => Just(Step::Close),
        1 => prop_oneof![9 => Just(Step::Read(1)), 1 => Just(Step::Abort)],
        3 => Just(Step::Deadline),
        1 => prop_oneof![Just(0), Just(1), 0u64..1_000_000, 0u64..100_000_000_000].prop_map(Step::Wait),
    ]
}

/// One of the presets, with what a scenario can change.
fn config() -> impl Strategy<Value = TcpConfig> {
    let choices = (any::<bool>(), any::<[bool; 8]>(), 0usize..3, prop::option::of(0u8..=6), 0usize..4);
    choices.prop_map(|(linux, bits, nagle, window_scale, buffers)| {
        let [timestamps, sack, duplicate_sack, reno, early, rescue, keep_alive, single_segment] = bits;
        let preset = if linux { TcpConfig::linux() } else { TcpConfig::constrained() };
        let (mss, send_buffer, receive_buffer) =
            [(536, 2_144, 2_144), (64, 64, 64), (1_220, 65_536, 3_000), (100, 1_000, 65_536)][buffers];
        let keep = KeepAlive { idle: Duration::from_secs(10), interval: Duration::from_secs(1), probes: 2 };
        TcpConfig {
            mss,
            send_buffer,
            receive_buffer,
            window_scale,
            timestamps,
            sack,
            duplicate_sack,
            nagle: [Nagle::Off, Nagle::Rfc896, Nagle::Minshall][nagle],
            ecn: if linux { Ecn::Request } else { Ecn::Accept },
            congestion: if reno { CongestionControl::Reno } else { CongestionControl::Cubic },
            recovery: if early { Recovery::Reno } else { Recovery::NewReno },
            early_retransmit: early,
            rescue_retransmission: rescue,
            keep_alive: keep_alive.then_some(keep),
            single_segment: single_segment && !linux,
            ..preset
        }
    })
}

const STATES: [State; 11] = [
    State::Closed,
    State::Listen,
    State::SynSent,
    State::SynReceived,
    State::Established,
    State::FinWait1,
    State::FinWait2,
    State::CloseWait,
    State::Closing,
    State::LastAck,
    State::TimeWait,
];

/// A connection in a state, whose peer's first octet has the sequence number `peer_initial` + 1.
fn machine(config: &TcpConfig, state: State, peer_initial: u32, listens: bool, shift: Option<u8>) -> Machine {
    let listens = match state {
        State::Listen => true,
        State::SynSent => false,
        _ => listens,
    };
    let mut machine = Machine::new(config, peer_initial, listens);
    machine.reach(state, shift);
    machine
}

/// One octet, at exactly half of the sequence space from the expected one, lies neither before nor after it (RFC 1982
/// section 3.2). It is not in the window, so it has no effect but an acknowledgement (RFC 9293 section 3.10.7.4).
#[test]
fn a_segment_at_half_of_the_sequence_space_is_not_acceptable() {
    for state in [State::Established, State::FinWait1, State::FinWait2] {
        for (distance, length) in [(HALF, 1), (HALF, 2), (HALF - 1, 1), (HALF - 1, 3), (HALF + 1, 1), (HALF, 0)] {
            let mut machine = machine(&TcpConfig::linux(), state, 1_000, false, Some(7));
            let seq = machine.expected + distance;
            let payload: Vec<u8> = (0..length).map(|i| octet(seq + i)).collect();
            let segment = machine.segment(seq, machine.next_new(), Flags::ACK, &payload);
            machine.arrive(&Segment { options: machine.stamped(), ..segment }, EcnMark::NotCapable);
            let mut out = [0; 2048];
            let transmit = machine.connection.poll_transmit(machine.now, &mut out).expect("an acknowledgement");
            let answer = Segment::parse(&out[..transmit.len]).unwrap();
            assert_eq!((answer.ack, answer.payload.len()), (machine.expected, 0), "{state:?}, {distance}, {length}");
            assert_eq!(machine.connection.readable(), 0);
            machine.settle();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32 * ProptestConfig::default().cases))]

    #[test]
    fn no_segment_breaks_a_connection(
        config in config(),
        state in prop::sample::select(STATES.to_vec()),
        peer_initial in prop_oneof![Just(0), Just(HALF), Just(u32::MAX), Just(u32::MAX - 1_000), any::<u32>()],
        listens in any::<bool>(),
        shift in prop::option::of(0u8..=14),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut machine = machine(&config, state, peer_initial, listens, shift);
        for step in &steps {
            machine.apply(step);
        }
        machine.read(1 << 20);
    }
}
