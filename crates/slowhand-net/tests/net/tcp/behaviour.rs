//! One behaviour a test, in virtual time. The path takes 50 ms each way unless said otherwise.

use slowhand_net::clock::{Duration, Instant};
use slowhand_net::transport::tcp::{
    CongestionControl, Connection, ConnectionError, DelayedAck, Ecn, EcnMark, Endpoint, Flags, KeepAlive, Nagle,
    Options, Recovery, Rto, Segment, SegmentError, State, TcpConfig,
};

use super::harness::{Pair, Path, Sent, Side, endpoint, initial_seq, message};

/// Linux with the basic mechanisms only, so that a test can switch on one more.
fn plain() -> TcpConfig {
    TcpConfig {
        mss: 256,
        timestamps: false,
        sack: false,
        delayed_ack: None,
        congestion: CongestionControl::Reno,
        tail_loss_probe: false,
        early_retransmit: false,
        ..TcpConfig::linux()
    }
}

fn pair(a: &TcpConfig, b: &TcpConfig, path: Path) -> Pair {
    Pair::new(a, b, path, 1)
}

fn data(pair: &Pair, side: Side) -> Vec<Sent> {
    let all = pair.log.iter();
    all.filter(|s| s.side == side && s.len > 0).cloned().collect()
}

fn pure_acks(pair: &Pair, side: Side) -> usize {
    let bare = |s: &&Sent| s.side == side && s.len == 0 && s.flags == Flags::ACK;
    pair.log.iter().filter(bare).count()
}

fn ms(instant: Instant) -> u64 {
    instant.as_micros() / 1_000
}

/// Runs until nothing is due before `until`.
fn run_until(pair: &mut Pair, until: Instant) {
    while pair.next_event().is_some_and(|at| at <= until) {
        pair.step();
        pair.drain();
    }
}

fn established(a: &TcpConfig, b: &TcpConfig, path: Path) -> Pair {
    let mut pair = pair(a, b, path);
    while pair.b.state() != State::Established {
        assert!(pair.step());
    }
    pair.log.clear();
    pair
}

/// 3,000 octets in 12 segments of which two are lost: SYN, SYN-ACK, flight, duplicates and
/// repair take 250 ms with SACK; NewReno needs one more round trip for the second loss.
#[test]
fn two_losses_in_one_window() {
    let path = Path { drop: |side, _, nth| side == Side::A && (nth == 2 || nth == 5), ..Path::default() };
    let sack = TcpConfig { sack: true, ..plain() };
    let mut with_sack = pair(&sack, &sack, path.clone());
    assert_eq!(ms(with_sack.transfer(&message(3_000), b"")), 250);
    let mut new_reno = pair(&plain(), &plain(), path.clone());
    assert_eq!(ms(new_reno.transfer(&message(3_000), b"")), 350);
    let reno = TcpConfig { recovery: Recovery::Reno, ..plain() };
    let mut reno = pair(&reno, &plain(), path);
    assert!(ms(reno.transfer(&message(3_000), b"")) > 500, "Reno has to wait for its timer");
}

/// RFC 6582 section 3.2 worked out by hand, in segments. Ten leave, the second and the eighth are
/// lost. After a round trip: 11 and 12 for the acknowledgement of the first, 13 and 14 by limited
/// transmit, then 2 again; `ssthresh` is half of 13 in flight, and seven duplicates make a window
/// of 13.5. Another round trip: 11 is answered with a new window (its reader has read) and so is
/// no duplicate; the next three let out 15 to 17; the acknowledgement up to 8 takes six off the
/// window and gives one back, 11.5 with 10 in flight: 8 again, and 18.
#[test]
fn a_partial_acknowledgement_deflates_the_window() {
    let path = Path { drop: |side, _, nth| side == Side::A && (nth == 2 || nth == 8), ..Path::default() };
    let mut pair = established(&plain(), &plain(), path);
    pair.a.write(&message(20_000)).unwrap();
    let start = ms(pair.now);
    run_until(&mut pair, Instant::from_micros(500_000));
    let mut rounds = [0; 3];
    for segment in data(&pair, Side::A) {
        if let Some(round) = rounds.get_mut(((ms(segment.at) - start) / 100) as usize) {
            *round += 1;
        }
    }
    assert_eq!(rounds, [10, 5, 5]);
}

#[test]
fn every_second_segment_is_acknowledged_at_once_and_a_single_one_after_the_timer() {
    let delayed = TcpConfig {
        delayed_ack: Some(DelayedAck { timer: Duration::from_millis(200), every: 2, quick: 0 }),
        ..plain()
    };
    let mut pair = established(&plain(), &delayed, Path::default());
    let start = pair.now;
    pair.a.write(&message(5 * 256)).unwrap();
    run_until(&mut pair, start + Duration::from_secs(5));
    let acks: Vec<_> = pair.log.iter().filter(|s| s.side == Side::B).collect();
    let after: Vec<_> = acks.iter().map(|ack| ms(ack.at) - ms(start)).collect();
    // The flight arrives after 50 ms; the fifth segment waits for the timer.
    assert_eq!(after, [50, 50, 250]);
}

#[test]
fn quick_acks_end_where_we_answer_data_with_data() {
    let linux = TcpConfig::linux();
    let mut pair = established(&linux, &linux, Path::default());
    pair.a.write(b"question").unwrap();
    let start = pair.now;
    run_until(&mut pair, start + Duration::from_millis(120));
    assert_eq!(pure_acks(&pair, Side::B), 1, "the first segment is acknowledged at once");
    pair.b.write(b"answer").unwrap();
    pair.a.write(b"question").unwrap();
    let start = pair.now;
    run_until(&mut pair, start + Duration::from_millis(100));
    pair.b.write(b"answer").unwrap();
    let start = pair.now;
    run_until(&mut pair, start + Duration::from_millis(200));
    assert_eq!(data(&pair, Side::B).len(), 2);
}

#[test]
fn nagle_holds_small_segments_back() {
    // Ten writes of 10 octets, 5 ms apart: within the first round trip.
    let count = |nagle| {
        let config = TcpConfig { nagle, ..plain() };
        let mut pair = established(&config, &plain(), Path::default());
        for i in 1..=10 {
            pair.a.write(&[i; 10]).unwrap();
            let until = pair.now.max(Instant::ZERO) + Duration::from_millis(5);
            pair.flush();
            run_until(&mut pair, until);
            pair.now = until;
        }
        run_until(&mut pair, Instant::from_micros(5_000_000));
        let expected: Vec<u8> = (1..=10).flat_map(|i| [i; 10]).collect();
        assert_eq!(pair.from_a, expected);
        data(&pair, Side::A).iter().map(|s| s.len).collect::<Vec<_>>()
    };
    assert_eq!(count(Nagle::Off), [10; 10]);
    assert_eq!(count(Nagle::Rfc896), [10, 90]);
    assert_eq!(count(Nagle::Minshall), [10, 90]);
    // Where they differ: a full segment and a small one written at once.
    let flight = |nagle| {
        let config = TcpConfig { nagle, ..plain() };
        let mut pair = established(&config, &plain(), Path::default());
        pair.a.write(&message(300)).unwrap();
        pair.flush();
        data(&pair, Side::A).len()
    };
    assert_eq!([flight(Nagle::Rfc896), flight(Nagle::Minshall)], [1, 2]);
}

#[test]
fn a_lost_syn_comes_again_and_leaves_a_timeout_of_three_seconds() {
    let path = Path { drop: |_, segment, _| segment.flags == Flags::SYN, ..Path::default() };
    let times = |linear_timeouts| {
        let mut config = plain();
        config.syn.linear_timeouts = linear_timeouts;
        let mut pair = pair(&config, &plain(), path.clone());
        run_until(&mut pair, Instant::from_micros(500_000_000));
        assert_eq!(pair.a.error(), Some(ConnectionError::TimedOut));
        pair.log.iter().map(|s| ms(s.at) / 1_000).collect::<Vec<_>>()
    };
    assert_eq!(times(0), [0, 1, 3, 7, 15, 31, 63]);
    assert_eq!(times(4), [0, 1, 2, 3, 4, 5, 7]);

    let mut pair = pair(&plain(), &plain(), path);
    run_until(&mut pair, Instant::from_micros(500_000));
    pair.path.drop = |_, _, _| false;
    while pair.a.state() != State::Established {
        assert!(pair.step());
    }
    assert_eq!(pair.a.retransmission_timeout(), Duration::from_secs(3));
}

#[test]
fn a_lost_fin_comes_again() {
    let path = Path {
        drop: |side, segment, _| side == Side::A && segment.flags.contains(Flags::FIN) && segment.payload.is_empty(),
        ..Path::default()
    };
    let mut pair = established(&plain(), &plain(), path);
    pair.a.close();
    pair.flush();
    pair.path.drop = |_, _, _| false;
    let start = pair.now;
    run_until(&mut pair, start + Duration::from_secs(2));
    assert_eq!((pair.a.state(), pair.b.state()), (State::FinWait2, State::CloseWait));
    let fins: Vec<_> = pair.log.iter().filter(|s| s.flags.contains(Flags::FIN)).collect();
    // RTO = RTT + 200 ms.
    assert_eq!(ms(fins[1].at) - ms(fins[0].at), 300);
    pair.b.close();
    run_until(&mut pair, start + Duration::from_secs(3));
    assert_eq!((pair.a.state(), pair.b.state()), (State::TimeWait, State::Closed));
    let forgotten = start + Duration::from_secs(100);
    run_until(&mut pair, forgotten);
    assert_eq!(pair.a.state(), State::Closed);
    assert_eq!(pair.a.error(), None);
}

#[test]
fn a_closed_window_is_probed_until_it_opens() {
    let small = TcpConfig { receive_buffer: 1_000, window_scale: None, ..plain() };
    let mut pair = established(&plain(), &small, Path::default());
    let octets = message(5_000);
    pair.a.write(&octets).unwrap();
    // Nobody reads for a minute.
    let reading = pair.now + Duration::from_secs(60);
    while pair.next_event().is_some_and(|at| at <= reading) {
        pair.step();
    }
    assert_eq!(pair.b.readable(), 1_000);
    assert!((5..12).contains(&pair.a.statistics().window_probes), "{:?}", pair.a.statistics());
    assert_eq!(pair.a.statistics().retransmissions, 0);
    pair.now = reading;
    pair.drain();
    run_until(&mut pair, reading + Duration::from_secs(60));
    assert_eq!(pair.from_a, octets);
}

#[test]
fn congestion_experienced_is_echoed_until_the_window_was_reduced() {
    let ecn = TcpConfig { ecn: Ecn::Request, ..plain() };
    let path = Path { mark: 1_000, ..Path::default() };
    let mut pair = established(&ecn, &TcpConfig { ecn: Ecn::Accept, ..plain() }, path);
    let before = pair.a.congestion_window();
    pair.a.write(&message(2_560)).unwrap();
    pair.flush();
    assert!(data(&pair, Side::A).iter().all(|s| s.ecn == EcnMark::Capable0));
    pair.path.mark = 0;
    let start = pair.now;
    run_until(&mut pair, start + Duration::from_millis(100));
    assert!(pair.log.iter().filter(|s| s.side == Side::B).all(|s| s.flags.contains(Flags::ECE)));
    assert_eq!(pair.a.congestion_window(), before / 2, "one reduction for one window");
    assert_eq!(pair.a.statistics().congestion_echoes, 1);
    pair.log.clear();
    pair.a.write(&message(256)).unwrap();
    run_until(&mut pair, start + Duration::from_secs(1));
    assert!(pair.log[0].flags.contains(Flags::CWR));
    assert_eq!(pair.log[1].flags, Flags::ACK, "the echo ends");
    assert_eq!(pair.log[1].ecn, EcnMark::NotCapable);
    assert_eq!(pair.a.statistics().retransmissions, 0);
}

#[test]
fn ecn_is_used_only_where_both_want_it() {
    let capable = |a, b| {
        let (a, b) = (TcpConfig { ecn: a, ..plain() }, TcpConfig { ecn: b, ..plain() });
        let mut pair = established(&a, &b, Path::default());
        pair.a.write(b"?").unwrap();
        pair.flush();
        data(&pair, Side::A)[0].ecn == EcnMark::Capable0
    };
    assert!(capable(Ecn::Request, Ecn::Accept) && capable(Ecn::Request, Ecn::Request));
    assert!(!capable(Ecn::Request, Ecn::Off) && !capable(Ecn::Accept, Ecn::Request));
}

#[test]
fn one_segment_mode_has_one_segment_outstanding() {
    let single = TcpConfig { single_segment: true, ..plain() };
    let mut pair = established(&single, &plain(), Path::default());
    pair.a.write(&message(1_280)).unwrap();
    let start = pair.now;
    run_until(&mut pair, start + Duration::from_secs(5));
    let times: Vec<_> = data(&pair, Side::A).iter().map(|s| ms(s.at) - ms(start)).collect();
    assert_eq!(times, [0, 100, 200, 300, 400]);
}

#[test]
fn the_initial_window_is_what_was_configured() {
    for segments in 1..=10 {
        let config = TcpConfig { initial_window: segments, ..plain() };
        let mut pair = established(&config, &plain(), Path::default());
        pair.a.write(&message(10_000)).unwrap();
        pair.flush();
        assert_eq!(data(&pair, Side::A).len(), usize::from(segments));
    }
}

/// Segments in each round trip without loss: doubled by slow start, one more without it.
#[test]
fn slow_start_doubles_and_its_absence_adds_one() {
    let rounds = |slow_start| {
        let config = TcpConfig { slow_start, initial_window: 2, ..plain() };
        let mut pair = established(&config, &plain(), Path::default());
        pair.a.write(&message(10_000)).unwrap();
        let start = ms(pair.now);
        run_until(&mut pair, Instant::from_micros(1_000_000));
        let mut rounds = [0; 4];
        for segment in data(&pair, Side::A) {
            if let Some(round) = rounds.get_mut(((ms(segment.at) - start) / 100) as usize) {
                *round += 1;
            }
        }
        rounds
    };
    assert_eq!(rounds(true), [2, 4, 8, 16]);
    assert_eq!(rounds(false), [2, 3, 4, 5]);
}

#[test]
fn a_tail_loss_probe_repairs_the_tail_before_the_timer() {
    let last_of_four = |config: &TcpConfig| {
        let path = Path { drop: |side, _, nth| side == Side::A && nth == 4, ..Path::default() };
        let mut pair = established(config, config, path);
        pair.a.write(&message(4 * 256)).unwrap();
        let start = pair.now;
        run_until(&mut pair, start + Duration::from_secs(5));
        assert_eq!(pair.from_a.len(), 1_024);
        (ms(data(&pair, Side::A)[4].at) - ms(start), *pair.a.statistics())
    };
    let sack = TcpConfig { sack: true, ..plain() };
    let (at, statistics) = last_of_four(&sack);
    assert_eq!((at, statistics.timeouts), (400, 1));
    let probing = TcpConfig { tail_loss_probe: true, ..sack };
    // Two round trips (and 200 ms for a delayed acknowledgement, one segment being in flight
    // when the others were acknowledged), unless the timer would be earlier.
    let (at, statistics) = last_of_four(&probing);
    assert_eq!((at, statistics.timeouts, statistics.tail_loss_probes), (400, 0, 1));
}

#[test]
fn early_retransmit_needs_one_duplicate_where_no_more_can_come() {
    let second_of_three = |early_retransmit| {
        let config = TcpConfig { sack: true, early_retransmit, ..plain() };
        let path = Path { drop: |side, _, nth| side == Side::A && nth == 2, ..Path::default() };
        let mut pair = established(&config, &config, path);
        pair.a.write(&message(3 * 256)).unwrap();
        let start = pair.now;
        run_until(&mut pair, start + Duration::from_secs(5));
        assert_eq!(pair.from_a.len(), 768);
        ms(data(&pair, Side::A)[3].at) - ms(start)
    };
    assert_eq!(second_of_three(true), 125, "a round trip and a quarter");
    assert_eq!(second_of_three(false), 400);
}

#[test]
fn a_segment_that_is_overtaken_gets_a_quarter_of_a_round_trip() {
    let retransmissions = |late_ms| {
        let config = TcpConfig { sack: true, early_retransmit: true, nagle: Nagle::Off, ..plain() };
        let path = Path { reorder_delay: Duration::from_millis(late_ms), ..Path::default() };
        let mut pair = established(&config, &config, path);
        for (write, late) in [(1, 0), (2, 1_000), (3, 0)] {
            pair.path.reorder = late;
            pair.a.write(&[write; 256]).unwrap();
            pair.flush();
        }
        pair.path.reorder = 0;
        run_until(&mut pair, Instant::from_micros(5_000_000));
        assert_eq!(pair.from_a.len(), 768);
        pair.a.statistics().retransmissions
    };
    assert_eq!([retransmissions(20), retransmissions(30)], [0, 1]);
}

#[test]
fn a_silent_peer_is_given_up() {
    let mut config = TcpConfig { retries: 3, ..plain() };
    let mut pair = established(&config, &plain(), Path::default());
    pair.path.drop = |_, _, _| true;
    pair.a.write(b"anybody?").unwrap();
    run_until(&mut pair, Instant::from_micros(600_000_000));
    assert_eq!(pair.a.error(), Some(ConnectionError::TimedOut));
    assert_eq!(data(&pair, Side::A).len(), 4);
    assert_eq!(pair.a.write(b"x"), Err(ConnectionError::TimedOut));

    config.keep_alive = Some(KeepAlive { idle: Duration::from_secs(60), interval: Duration::from_secs(10), probes: 3 });
    let mut pair = established(&config, &plain(), Path::default());
    run_until(&mut pair, Instant::from_micros(150_000_000));
    assert_eq!(pair.a.state(), State::Established, "a live peer answers");
    pair.path.drop = |_, _, _| true;
    run_until(&mut pair, Instant::from_micros(300_000_000));
    assert_eq!(pair.a.error(), Some(ConnectionError::TimedOut));
}

#[test]
fn a_reset_ends_the_connection_only_at_the_exact_number() {
    let mut pair = established(&plain(), &plain(), Path::default());
    let reset = |seq| {
        let segment = Segment {
            source_port: endpoint(Side::A).port,
            destination_port: endpoint(Side::B).port,
            seq,
            ack: initial_seq(Side::B) + 1,
            flags: Flags::RST | Flags::ACK,
            window: 0,
            urgent: 0,
            options: Default::default(),
            payload: &[],
        };
        let (a, b) = (endpoint(Side::A).address, endpoint(Side::B).address);
        let mut out = [0; 100];
        let len = segment.emit(a, b, &mut out).unwrap();
        out[..len].to_vec()
    };
    let source = endpoint(Side::A).address;
    let now = pair.now;
    let give = |pair: &mut Pair, seq| {
        let bytes = reset(seq);
        pair.b.handle_segment(now, source, EcnMark::NotCapable, &bytes).unwrap();
    };
    give(&mut pair, initial_seq(Side::A) + 100);
    assert_eq!(pair.b.state(), State::Established);
    pair.flush();
    assert_eq!(pure_acks(&pair, Side::B), 1, "a challenge");
    give(&mut pair, initial_seq(Side::A) + 1);
    assert_eq!(pair.b.error(), Some(ConnectionError::Reset));
    assert_eq!(pair.b.read(&mut [0; 8]), Err(ConnectionError::Reset));
}

#[test]
fn a_closed_port_refuses() {
    let [a, b] = [endpoint(Side::A), endpoint(Side::B)];
    let mut connection = Connection::connect(&plain(), a, b, initial_seq(Side::A)).unwrap();
    let mut out = [0; 2048];
    let syn = connection.poll_transmit(Instant::ZERO, &mut out).unwrap();
    let reply = Segment::parse(&out[..syn.len]).unwrap().reset_reply().unwrap();
    assert_eq!((reply.ack, reply.flags), (initial_seq(Side::A) + 1, Flags::RST | Flags::ACK));
    assert_eq!(reply.reset_reply(), None);
    let mut bytes = [0; 20];
    reply.emit(b.address, a.address, &mut bytes).unwrap();
    connection.handle_segment(Instant::ZERO, b.address, EcnMark::NotCapable, &bytes).unwrap();
    assert_eq!(connection.error(), Some(ConnectionError::Refused));
}

/// A proxy that knows its path sets the timer's limits while the connection lives.
#[test]
fn the_timer_can_be_given_other_limits() {
    let mut pair = established(&plain(), &plain(), Path::default());
    let rto = Rto { min: Duration::from_secs(4), ..plain().rto };
    pair.a.set_rto(rto).unwrap();
    assert!(pair.a.set_rto(Rto { min: Duration::ZERO, ..rto }).is_err());
    pair.a.write(b"?").unwrap();
    run_until(&mut pair, Instant::from_micros(1_000_000));
    assert_eq!(pair.a.retransmission_timeout(), Duration::from_secs(4));
}

/// `SO_KEEPALIVE` and `TCP_NODELAY` of a program that sets them when its connection is open.
#[test]
fn keep_alive_and_nagle_can_be_changed_later() {
    let config = TcpConfig { nagle: Nagle::Rfc896, ..plain() };
    let mut pair = established(&config, &plain(), Path::default());
    let keep = KeepAlive { idle: Duration::from_secs(15), interval: Duration::from_secs(15), probes: 9 };
    let now = Instant::from_micros(2_000_000);
    run_until(&mut pair, now);
    pair.a.set_keep_alive(now, Some(keep)).unwrap();
    assert_eq!(pair.a.deadline(), Some(now + keep.idle));
    assert!(pair.a.set_keep_alive(now, Some(KeepAlive { idle: Duration::ZERO, ..keep })).is_err());
    let sent = pair.a.statistics().segments_sent;
    run_until(&mut pair, now + Duration::from_secs(16));
    assert_eq!(pair.a.statistics().segments_sent, sent + 1, "a probe");
    pair.a.set_keep_alive(now, None).unwrap();
    assert_eq!(pair.a.deadline(), None);
    let segments_of_two_writes = |pair: &mut Pair| {
        let mut out = [0; 2048];
        let mut count = 0;
        for _ in 0..2 {
            pair.a.write(b"small").unwrap();
            count += usize::from(pair.a.poll_transmit(now, &mut out).is_some());
        }
        count
    };
    assert_eq!(segments_of_two_writes(&mut pair), 1, "the second one waits for an acknowledgement");
    pair.a.set_nagle(Nagle::Off);
    assert_eq!(segments_of_two_writes(&mut pair), 2);
}

#[test]
fn abort_resets_the_peer() {
    let mut pair = established(&plain(), &plain(), Path::default());
    pair.a.abort();
    run_until(&mut pair, Instant::from_micros(1_000_000));
    assert_eq!(pair.a.error(), Some(ConnectionError::Aborted));
    assert_eq!(pair.b.error(), Some(ConnectionError::Reset));
    assert_eq!((pair.a.deadline(), pair.b.deadline()), (None, None));
}

#[test]
fn both_sides_may_open_at_once() {
    let mut pair = pair(&plain(), &plain(), Path::default());
    let [a, b] = [endpoint(Side::A), endpoint(Side::B)];
    pair.b = Connection::connect(&plain(), b, a, initial_seq(Side::B)).unwrap();
    run_until(&mut pair, Instant::from_micros(900_000));
    assert_eq!((pair.a.state(), pair.b.state()), (State::Established, State::Established));
    pair.transfer(&message(3_000), &message(2_000));
}

/// RFC 9293 section 3.8.6.2.2, with Linux's factor of two: a window of 424 is announced again when it is at least 848, and
/// not for less.
#[test]
fn the_reader_announces_a_window_that_has_doubled() {
    let receiver = TcpConfig { receive_buffer: 1_024, window_scale: None, ..plain() };
    let mut pair = established(&plain(), &receiver, Path::default());
    pair.a.write(&message(600)).unwrap();
    let until = pair.now + Duration::from_secs(1);
    while pair.next_event().is_some_and(|at| at <= until) {
        pair.step(); // the reader does not read
    }
    let mut into = [0; 300];
    for (unread, updates) in [(300, 0), (0, 1)] {
        pair.log.clear();
        assert_eq!(pair.b.read(&mut into), Ok(300));
        pair.flush();
        assert_eq!((pair.b.readable(), pure_acks(&pair, Side::B)), (unread, updates));
    }
    // More than half of the buffer is still announced: 724 octets. So no update, although all of it is free again.
    let mut pair = established(&plain(), &receiver, Path::default());
    pair.a.write(&message(300)).unwrap();
    let until = pair.now + Duration::from_secs(1);
    while pair.next_event().is_some_and(|at| at <= until) {
        pair.step();
    }
    pair.log.clear();
    assert_eq!(pair.b.read(&mut into), Ok(300));
    pair.flush();
    assert_eq!(pure_acks(&pair, Side::B), 0);
}

/// Port, address and port of the peer: each of them makes a segment one of another connection (RFC 9293 section 3.4.1).
#[test]
fn a_segment_of_another_connection_has_no_effect() {
    let mut pair = established(&plain(), &plain(), Path::default());
    let (mine, peer) = (endpoint(Side::A), endpoint(Side::B));
    let reset = |from: Endpoint, to: u16| {
        let segment = Segment {
            source_port: from.port,
            destination_port: to,
            seq: initial_seq(Side::B) + 1,
            ack: initial_seq(Side::A) + 1,
            flags: Flags::RST | Flags::ACK,
            window: 0,
            urgent: 0,
            options: Options::default(),
            payload: &[],
        };
        let mut octets = [0; 64];
        let length = segment.emit(from.address, mine.address, &mut octets).unwrap();
        octets[..length].to_vec()
    };
    let other_address = Endpoint { address: "fd00::99".parse().unwrap(), ..peer };
    let other_port = Endpoint { port: peer.port + 1, ..peer };
    for (from, to) in [(other_address, mine.port), (other_port, mine.port), (peer, mine.port + 1)] {
        let octets = reset(from, to);
        let handled = pair.a.handle_segment(pair.now, from.address, EcnMark::NotCapable, &octets);
        assert_eq!(handled, Err(SegmentError::OtherConnection), "from {from:?} to port {to}");
        assert_eq!(pair.a.state(), State::Established);
    }
    let octets = reset(peer, mine.port);
    pair.a.handle_segment(pair.now, peer.address, EcnMark::NotCapable, &octets).unwrap();
    assert_eq!(pair.a.error(), Some(ConnectionError::Reset));
}

#[test]
fn bad_configurations_name_the_field() {
    let refused = |change: fn(&mut TcpConfig)| {
        let mut config = TcpConfig::linux();
        change(&mut config);
        let [a, b] = [endpoint(Side::A), endpoint(Side::B)];
        Connection::connect(&config, a, b, initial_seq(Side::A)).unwrap_err().field
    };
    assert_eq!(refused(|c| c.initial_window = 11), "initial_window");
    assert_eq!(refused(|c| c.mss = 10), "mss");
    assert_eq!(refused(|c| c.send_buffer = 100), "send_buffer");
    assert_eq!(refused(|c| c.window_scale = Some(15)), "window_scale");
    assert_eq!(refused(|c| c.rto.min = Duration::from_secs(500)), "rto.min (us)");
    let days = |days: u64| Duration::from_secs(86_400 * days);
    let keep = |idle, interval| Some(KeepAlive { idle, interval, probes: 1 });
    TcpConfig { keep_alive: keep(days(30), days(30)), ..TcpConfig::linux() }.validate().unwrap();
    for (keep_alive, field) in
        [(keep(days(31), days(30)), "keep_alive.idle (us)"), (keep(days(30), days(31)), "keep_alive.interval (us)")]
    {
        assert_eq!(TcpConfig { keep_alive, ..TcpConfig::linux() }.validate().unwrap_err().field, field);
    }
}
