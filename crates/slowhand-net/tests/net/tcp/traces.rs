//! Our TCP takes the place of one end in a recorded exchange between two Linux kernels. It receives what that end
//! received, at the same times, and has to answer as that end did.
//!
//! The traces are in `tests/net/tcp/golden`, with the script that records them. Compared, segment by
//! segment in order: flags (but PSH), sequence number, acknowledgement, payload length, SACK
//! blocks. Not compared: windows (the kernel tunes its own) and PSH.
//!
//! Time: a segment that answers another leaves within 10 ms of the kernel's. One that a timer
//! sent leaves after the same wait as the kernel's, within 10 ms and an eighth of the wait: that
//! is how late the kernel's timer wheel may be, never early.

use std::collections::BTreeMap;
use std::fmt::Write;

use slowhand_net::clock::Instant;
use slowhand_net::transport::tcp::{
    CongestionControl, Connection, Ecn, EcnMark, Flags, Nagle, Options, SackBlocks, Segment, SeqNumber, SeqRange,
    TcpConfig, Timestamps,
};

use super::harness::{Pair, Path, Side, endpoint, initial_seq, message};

const TOLERANCE_US: u64 = 10_000;

/// One line of a trace, numbers relative to the SYNs.
#[derive(Clone, Debug)]
struct Line {
    sent: u64,
    arrived: Option<u64>,
    side: Side,
    flags: Flags,
    seq: u32,
    ack: u32,
    len: usize,
    window: u16,
    marked: bool,
    options: Options,
}

#[derive(Clone, Debug)]
struct Action {
    at: u64,
    side: Side,
    /// Octets to write, or none: close.
    write: Option<usize>,
}

struct Trace {
    lines: Vec<Line>,
    actions: Vec<Action>,
}

fn side(name: &str) -> Side {
    if name == "a" { Side::A } else { Side::B }
}

fn flags(letters: &str) -> Flags {
    let bit = |letter| match letter {
        'S' => Flags::SYN,
        'F' => Flags::FIN,
        'R' => Flags::RST,
        'P' => Flags::PSH,
        'E' => Flags::ECE,
        'W' => Flags::CWR,
        '.' => Flags::ACK,
        other => panic!("flag {other}"),
    };
    letters.chars().map(bit).fold(Flags::default(), |all, one| all | one)
}

impl Line {
    fn parse(line: &str) -> Self {
        let mut words = line.split_whitespace();
        let mut word = || words.next().unwrap();
        let (sent, arrived, who, letters) = (word(), word(), word(), word());
        let fields: BTreeMap<_, _> = words.map(|field| field.split_once('=').unwrap()).collect();
        let number = |key: &str| fields.get(key).map(|value| value.parse::<u32>().unwrap());
        let pair = |text: &str, between| {
            let (first, second) = text.split_once(between).unwrap();
            (first.parse::<u32>().unwrap(), second.parse::<u32>().unwrap())
        };
        let who = side(who);
        let mut sack = SackBlocks::default();
        for block in fields.get("sack").into_iter().flat_map(|blocks| blocks.split(',')) {
            let (start, end) = pair(block, '-');
            let base = initial_seq(who.other());
            sack.push(SeqRange::new(base + start, base + end));
        }
        Self {
            sent: sent.parse().unwrap(),
            arrived: arrived.parse().ok(),
            side: who,
            flags: flags(letters),
            seq: number("seq").unwrap(),
            ack: number("ack").unwrap(),
            len: number("len").unwrap() as usize,
            window: number("win").unwrap() as u16,
            marked: number("ecn") == Some(3),
            options: Options {
                mss: number("mss").map(|mss| mss as u16),
                window_scale: number("ws").map(|shift| shift as u8),
                sack_permitted: fields.contains_key("sackok"),
                sack,
                timestamps: fields.get("ts").map(|stamps| {
                    let (value, echo) = pair(stamps, '/');
                    Timestamps { value, echo }
                }),
            },
        }
    }

    /// The segment on the wire, its payload the test pattern.
    fn segment<'a>(&self, payload: &'a [u8]) -> Segment<'a> {
        let acks = self.flags.contains(Flags::ACK);
        let ack = initial_seq(self.side.other()) + self.ack;
        Segment {
            source_port: endpoint(self.side).port,
            destination_port: endpoint(self.side.other()).port,
            seq: initial_seq(self.side) + self.seq,
            ack: if acks { ack } else { SeqNumber(0) },
            flags: self.flags,
            window: self.window,
            urgent: 0,
            options: self.options,
            payload,
        }
    }

    fn describe(&self) -> String {
        let mut text = format!(
            "{:>8} us {:?} {} seq={} ack={} len={}",
            self.sent, self.side, self.flags, self.seq, self.ack, self.len
        );
        for block in self.options.sack.iter() {
            let base = initial_seq(self.side.other());
            let (start, end) = (block.start.since(base), block.end.since(base));
            write!(text, " {start}-{end}").unwrap();
        }
        text
    }

    /// True if the two differ at most in time, window and PSH.
    fn matches(&self, other: &Self) -> bool {
        let but_push = |flags: Flags| Flags(flags.0 & !Flags::PSH.0);
        but_push(self.flags) == but_push(other.flags)
            && (self.seq, self.ack, self.len) == (other.seq, other.ack, other.len)
            && self.options.sack == other.options.sack
            && self.options.timestamps.is_some() == other.options.timestamps.is_some()
    }
}

impl Trace {
    fn parse(text: &str) -> Self {
        let (mut lines, mut actions) = (Vec::new(), Vec::new());
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some(action) = line.strip_prefix("@ ") else {
                lines.push(Line::parse(line));
                continue;
            };
            let words: Vec<_> = action.split_whitespace().collect();
            actions.push(Action {
                at: words[0].parse().unwrap(),
                side: side(words[1]),
                write: words.get(3).map(|count| count.parse().unwrap()),
            });
        }
        Self { lines, actions }
    }

    /// The segments that our connection sends in the place of `own`.
    fn replay(&self, own: Side, config: &TcpConfig) -> Vec<Line> {
        let mut connection = match own {
            Side::A => Connection::connect(config, endpoint(own), endpoint(Side::B), initial_seq(own)),
            Side::B => Connection::listen(config, endpoint(own), initial_seq(own)),
        }
        .unwrap();
        let pattern = message(100_000);
        let mut written = 0;
        let mut sent = Vec::new();
        let mut arrivals: Vec<_> = self.lines.iter().filter(|l| l.side != own && l.arrived.is_some()).collect();
        arrivals.sort_by_key(|line| line.arrived);
        let mut arrivals = arrivals.into_iter().peekable();
        let mut actions = self.actions.iter().filter(|action| action.side == own).peekable();
        let end = self.lines.iter().map(|line| line.sent).max().unwrap() + 100_000;
        collect(&mut connection, own, Instant::ZERO, &mut sent);
        loop {
            let times = [
                arrivals.peek().and_then(|line| line.arrived),
                actions.peek().map(|action| action.at),
                connection.deadline().map(|at| at.as_micros()),
            ];
            let Some(next) = times.into_iter().flatten().min().filter(|next| *next <= end) else {
                break;
            };
            let now = Instant::from_micros(next);
            if times[0] == Some(next) {
                let line = arrivals.next().unwrap();
                let start = (line.seq as usize).saturating_sub(1);
                let segment = line.segment(&pattern[start..start + line.len]);
                let (source, destination) = (endpoint(own.other()).address, endpoint(own).address);
                let mut bytes = [0; 2048];
                let len = segment.emit(source, destination, &mut bytes).unwrap();
                let mark = if line.marked { EcnMark::CongestionExperienced } else { EcnMark::Capable0 };
                connection.handle_segment(now, source, mark, &bytes[..len]).unwrap();
            } else if times[1] == Some(next) {
                match actions.next().unwrap().write {
                    Some(count) => {
                        let octets = &pattern[written..written + count];
                        assert_eq!(connection.write(octets), Ok(count), "the buffer is too small");
                        written += count;
                    }
                    None => connection.close(),
                }
            } else {
                connection.handle_timeout(now);
            }
            collect(&mut connection, own, now, &mut sent);
            connection.read(&mut [0; 65_536]).unwrap();
            collect(&mut connection, own, now, &mut sent);
        }
        sent
    }

    /// Compares the first `count` segments of `own` with ours.
    fn compare(&self, name: &str, own: Side, config: &TcpConfig, count: usize) {
        let theirs: Vec<_> = self.lines.iter().filter(|line| line.side == own).collect();
        let ours = self.replay(own, config);
        assert!(count <= theirs.len(), "{name}: only {} segments of {own:?}", theirs.len());
        let mut report = format!("{name}, in the place of {own:?}: kernel | ours\n");
        let mut same = true;
        for i in 0..count {
            let Some(our) = ours.get(i) else {
                writeln!(report, "! {} | nothing", theirs[i].describe()).unwrap();
                same = false;
                continue;
            };
            let wait = |lines: &dyn Fn(usize) -> u64| lines(i) - lines(i.max(1) - 1);
            let kernel_wait = wait(&|i| theirs[i].sent);
            let our_wait = wait(&|i| ours[i].sent);
            let answers = our.sent.abs_diff(theirs[i].sent) <= TOLERANCE_US;
            let waits = our_wait <= kernel_wait + TOLERANCE_US && kernel_wait <= our_wait + our_wait / 8 + TOLERANCE_US;
            let equal = our.matches(theirs[i]) && (answers || waits);
            let mark = if equal { ' ' } else { '!' };
            writeln!(report, "{mark} {} | {}", theirs[i].describe(), our.describe()).unwrap();
            same &= equal;
        }
        if theirs.len() == count {
            for extra in &ours[count.min(ours.len())..] {
                writeln!(report, "! nothing | {}", extra.describe()).unwrap();
                same = false;
            }
        }
        assert!(same, "{report}");
    }

    fn count(&self, side: Side) -> usize {
        self.lines.iter().filter(|line| line.side == side).count()
    }
}

fn collect(connection: &mut Connection, own: Side, now: Instant, sent: &mut Vec<Line>) {
    let mut out = [0; 2048];
    while let Some(transmit) = connection.poll_transmit(now, &mut out) {
        let segment = Segment::parse(&out[..transmit.len]).unwrap();
        let acks = segment.flags.contains(Flags::ACK);
        let ack = segment.ack.0.wrapping_sub(initial_seq(own.other()).0);
        sent.push(Line {
            sent: now.as_micros(),
            arrived: None,
            side: own,
            flags: segment.flags,
            seq: segment.seq.0.wrapping_sub(initial_seq(own).0),
            ack: if acks { ack } else { 0 },
            len: segment.payload.len(),
            window: segment.window,
            marked: false,
            options: segment.options,
        });
    }
}

/// As `BARE` of the recording script.
fn bare() -> TcpConfig {
    TcpConfig {
        mss: 256,
        timestamps: false,
        sack: false,
        congestion: CongestionControl::Reno,
        tail_loss_probe: false,
        early_retransmit: false,
        ..TcpConfig::linux()
    }
}

macro_rules! trace {
    ($name:literal) => {
        Trace::parse(include_str!(concat!("golden/", $name, ".trace")))
    };
}

/// Both ends, all segments.
fn both_ends(name: &str, trace: &Trace, config: &TcpConfig) {
    for own in [Side::A, Side::B] {
        trace.compare(name, own, config, trace.count(own));
    }
}

#[test]
fn default() {
    let trace = trace!("default");
    let config = TcpConfig::linux();
    trace.compare("default", Side::A, &config, trace.count(Side::A));
    // SYN-ACK and 16 quick acknowledgements. The rest depends on when the reader was scheduled: the kernel delayed an
    // acknowledgement until the window had opened again.
    trace.compare("default", Side::B, &config, 17);
}

#[test]
fn two_losses_with_sack() {
    let config = TcpConfig { sack: true, ..bare() };
    both_ends("two-losses-sack", &trace!("two-losses-sack"), &config);
}

#[test]
fn two_losses_with_new_reno() {
    both_ends("two-losses-new-reno", &trace!("two-losses-new-reno"), &bare());
}

/// The kernel paces its recovery by proportional rate reduction (RFC 6937), which lets one or two
/// new segments out earlier than RFC 6675 and RFC 6582 do: the sender is compared up to there,
/// retransmission included, and has to have sent the same octets in the end. The receiver is
/// compared up to the last acknowledgement, which in the kernel waited for its reader to run.
fn up_to_rate_reduction(name: &str, trace: &Trace, config: &TcpConfig, count: usize) {
    trace.compare(name, Side::A, config, count);
    trace.compare(name, Side::B, config, trace.count(Side::B) - 1);
    let octets = |lines: &mut dyn Iterator<Item = &Line>| {
        let mut sent: Vec<_> = lines.map(|line| (line.seq, line.len)).filter(|(_, len)| *len > 0).collect();
        sent.sort_unstable();
        sent
    };
    let ours = trace.replay(Side::A, config);
    let mut theirs = trace.lines.iter().filter(|line| line.side == Side::A);
    assert_eq!(octets(&mut ours.iter()), octets(&mut theirs), "{name}");
}

#[test]
fn sack() {
    let config = TcpConfig { sack: true, ..bare() };
    up_to_rate_reduction("sack", &trace!("sack"), &config, 21);
}

#[test]
fn new_reno() {
    up_to_rate_reduction("new-reno", &trace!("new-reno"), &bare(), 21);
}

#[test]
fn nagle() {
    both_ends("nagle", &trace!("nagle"), &bare());
}

#[test]
fn no_nagle() {
    let config = TcpConfig { nagle: Nagle::Off, ..bare() };
    both_ends("no-nagle", &trace!("no-nagle"), &config);
}

#[test]
fn delayed_ack() {
    both_ends("delayed-ack", &trace!("delayed-ack"), &bare());
}

#[test]
fn lost_syn() {
    both_ends("lost-syn", &trace!("lost-syn"), &bare());
}

/// The SYN-ACK is lost. In the kernel the client's SYN came again just before the server's timer. Our timer is exact
/// and sends one SYN-ACK more, so the server is compared from there on. Data that is lost then waits for three seconds
/// (RFC 6298 section 5.7).
#[test]
fn lost_syn_ack() {
    let trace = trace!("lost-syn-ack");
    trace.compare("lost-syn-ack", Side::A, &bare(), trace.count(Side::A));
    let waits = |lines: &[Line]| {
        let data: Vec<_> = lines.iter().filter(|l| l.side == Side::B && l.len > 0).collect();
        assert_eq!(data.len(), 2);
        data[1].sent - data[0].sent
    };
    assert_eq!(waits(&trace.replay(Side::B, &bare())), 3_000_000);
    assert!((3_000_000..3_375_000).contains(&waits(&trace.lines)));
}

#[test]
fn lost_fin() {
    both_ends("lost-fin", &trace!("lost-fin"), &bare());
}

#[test]
fn timeouts() {
    let trace = trace!("timeouts");
    // The last flight goes out in one segment less: ours puts the FIN with the data, the kernel
    // repeats the segments as they were.
    trace.compare("timeouts", Side::A, &bare(), 12);
    trace.compare("timeouts", Side::B, &bare(), trace.count(Side::B));
}

#[test]
fn ecn() {
    let config = TcpConfig { ecn: Ecn::Request, ..bare() };
    up_to_rate_reduction("ecn", &trace!("ecn"), &config, 18);
}

#[test]
fn tail_loss() {
    let config = TcpConfig { sack: true, tail_loss_probe: true, early_retransmit: true, ..bare() };
    both_ends("tail-loss", &trace!("tail-loss"), &config);
}

#[test]
fn small_flight() {
    let config = TcpConfig { sack: true, tail_loss_probe: true, early_retransmit: true, ..bare() };
    both_ends("small-flight", &trace!("small-flight"), &config);
}

/// From the SYN to the last octet, two segments of twelve lost: ours on an ideal path of the same
/// delay within 10 % of the kernel as recorded.
#[test]
fn two_losses_take_as_long_as_in_the_kernel() {
    let kernel = |trace: &Trace| {
        let data = trace.lines.iter().filter(|line| line.len > 0);
        data.filter_map(|line| line.arrived).max().unwrap()
    };
    let ours = |config: &TcpConfig| {
        let path = Path { drop: |side, _, nth| side == Side::A && (nth == 2 || nth == 5), ..Path::default() };
        Pair::new(config, config, path, 1).transfer(&message(3_000), b"").as_micros()
    };
    let with_sack = TcpConfig { sack: true, ..bare() };
    for (name, trace, config) in
        [("SACK", trace!("two-losses-sack"), with_sack), ("NewReno", trace!("two-losses-new-reno"), bare())]
    {
        let (kernel, ours) = (kernel(&trace), ours(&config));
        println!("{name}: kernel {kernel} us, ours {ours} us");
        assert!(kernel.abs_diff(ours) * 10 <= kernel, "{name}: kernel {kernel} us, ours {ours} us");
    }
}

/// A stalled path. The timer expires although nothing is lost. There is no new data that could show this, so the whole
/// flight is sent again. The receiver reports the duplicates.
#[test]
fn spurious_timeout() {
    let config = TcpConfig { sack: true, ..bare() };
    both_ends("spurious-timeout", &trace!("spurious-timeout"), &config);
}
