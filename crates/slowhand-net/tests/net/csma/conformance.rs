//! The rules of the standard and of OpenThread, one by one.

use super::*;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::PanError;
use slowhand_net::radio::{Indication, Mac, Msdu};

/// The frames that were given up, with the microsecond, the datagram and the reason.
fn dropped(indications: &[(Instant, Indication)]) -> Vec<(u64, u32, DropReason)> {
    let dropped = |(now, indication): &(Instant, Indication)| match indication {
        Indication::Dropped { datagram, reason, .. } => Some((now.as_micros(), *datagram, *reason)),
        _ => None,
    };
    indications.iter().filter_map(dropped).collect()
}

/// Links without loss, except that no data frame of one node reaches the other.
fn deaf(from: u16, to: u16) -> Vec<LinkQuality> {
    vec![LinkQuality { data: 0.0, ..link(from, to, 1.0) }, link(to, from, 1.0)]
}

fn pair(config: CsmaConfig, sleepy: bool, links: &[LinkQuality]) -> Csma {
    let sleepy: &[u16] = if sleepy { &[1] } else { &[] };
    of_links(config, &[None, Some(0)], sleepy, links).unwrap()
}

/// Node 1 sends the longest frame from 320 us on, for 4,256 us; its acknowledgement lasts from 4,768 to 5,120 us. Without
/// back-off, the assessments of node 2 follow each other every 128 us. None lies in the gap of 192 us before the
/// acknowledgement.
#[test]
fn a_busy_channel_ends_a_frame_or_delays_it() {
    let no_backoff = CsmaConfig { backoff_exponents: (0, 0), max_csma_backoffs: 0, ..CsmaConfig::openthread() };
    for (retries_busy_channel, max_retries, assessments) in [(false, 15, 1), (true, 3, 4), (true, 60, 33)] {
        let config = CsmaConfig { retries_busy_channel, max_retries, ..no_backoff.clone() };
        let mut mac = of_links(config, &[None, Some(0), Some(0)], &[], &clique(3)).unwrap();
        mac.enqueue(at(0), Msdu::new(node(1), node(0), &[0; 104], 1)).unwrap();
        let mut air = Recorder::default();
        run(&mut mac, at(999), &mut air);
        mac.enqueue(at(1_060), Msdu::new(node(2), node(0), &[0; 104], 2)).unwrap();
        let indications = run(&mut mac, at(100_000), &mut air);
        let end = 1_060 + assessments * 128;
        if assessments < 33 {
            assert_eq!(dropped(&indications), [(end, 2, DropReason::ChannelAccessFailure)]);
        } else {
            // The first assessment that begins after the acknowledgement.
            assert_eq!(air.begins(FrameKind::Data, node(2)), [end + 192]);
            assert_eq!(dropped(&indications), []);
        }
    }
}

/// The gap before an acknowledgement, 192 us, is longer than an assessment, 128 us: an assessment in it finds the channel
/// clear, and the frame meets the acknowledgement. In beacon mode two assessments prevent that.
#[test]
fn an_assessment_fits_into_the_gap_before_an_acknowledgement() {
    let config = CsmaConfig { backoff_exponents: (0, 0), ..CsmaConfig::openthread() };
    let mut mac = of_links(config, &[None, Some(0), Some(0)], &[], &clique(3)).unwrap();
    mac.enqueue(at(0), Msdu::new(node(1), node(0), &[0; 104], 1)).unwrap();
    let mut air = Recorder::default();
    run(&mut mac, at(4_599), &mut air);
    mac.enqueue(at(4_600), Msdu::new(node(2), node(0), &[0; 104], 2)).unwrap();
    run(&mut mac, at(8_000), &mut air);
    assert_eq!(air.begins(FrameKind::Ack, node(0)), [4_768]);
    assert!(air.begins(FrameKind::Data, node(2)).is_empty()); // not over yet
    run(&mut mac, at(10_000), &mut air);
    assert_eq!(air.begins(FrameKind::Data, node(2))[0], 4_600 + 320);
    // Node 1 heard only the acknowledgement, until the other frame began.
    let seen: Vec<_> = air.frames.iter().map(|frame| frame.received).collect();
    assert_eq!(seen[..3], [true, false, false]);
}

/// A frame for a sleepy device is sent once for each of four polls. The acknowledgements announce it, and it does not
/// come: the device waits 100 ms, and polls again at once.
#[test]
fn a_frame_is_sent_for_four_polls_at_most() {
    let mut mac = pair(polling_every(us(60_000_000)), true, &deaf(0, 1));
    // Frames and acknowledgements of the root have ratios of their own: the polls are acknowledged.
    mac.enqueue(at(0), Msdu::new(node(0), node(1), &[0; 60], 1)).unwrap();
    mac.enqueue(at(0), Msdu::new(node(0), node(1), &[0; 60], 2)).unwrap();
    let mut air = Recorder::default();
    let indications = run(&mut mac, at(239_000_000), &mut air);
    let ends: Vec<_> = dropped(&indications).into_iter().map(|(_, datagram, reason)| (datagram, reason)).collect();
    assert_eq!(ends, [(1, DropReason::RetriesExhausted), (2, DropReason::RetriesExhausted)]);
    let data = air.begins(FrameKind::Data, node(0));
    assert_eq!(data.len(), 8);
    let polls = air.begins(FrameKind::DataRequest, node(1));
    // Five polls in a row without a frame; then the next regular poll; after the eighth nothing waits.
    assert!(polls[..5].windows(2).all(|pair| (100_000..110_000).contains(&(pair[1] - pair[0]))), "{polls:?}");
    assert!(polls[5] - polls[4] > 59_000_000, "{polls:?}");
}

#[test]
fn a_frame_that_is_not_fetched_expires() {
    let config = CsmaConfig { indirect_timeout: us(7_680_000), ..polling_every(us(60_000_000)) };
    let mut mac = pair(config, true, &deaf(1, 0));
    mac.enqueue(at(1_000), Msdu::new(node(0), node(1), &[0; 60], 1)).unwrap();
    run(&mut mac, at(2_000), &mut Recorder::default());
    mac.enqueue(at(3_000), Msdu::new(node(0), node(1), &[0; 60], 2)).unwrap();
    let indications = run(&mut mac, at(100_000_000), &mut Recorder::default());
    let reason = DropReason::TransactionExpired;
    assert_eq!(dropped(&indications), [(7_681_000, 1, reason), (7_683_000, 2, reason)]);
    assert_eq!(mac.queue(node(0)).len(), 0);
}

/// The acknowledgement of a device's own data frame says that a frame waits for it. It polls at once.
#[test]
fn the_acknowledgement_of_data_tells_of_waiting_frames() {
    for pending_in_data_acks in [true, false] {
        let config = CsmaConfig { pending_in_data_acks, ..polling_every(us(60_000_000)) };
        let mut mac = pair(config, true, &line(1, 1.0));
        mac.enqueue(at(0), Msdu::new(node(0), node(1), &[0; 60], 1)).unwrap();
        mac.enqueue(at(0), Msdu::new(node(0), node(1), &[0; 60], 2)).unwrap();
        mac.enqueue(at(0), Msdu::new(node(1), node(0), &[0; 60], 3)).unwrap();
        let mut air = Recorder::default();
        let indications = run(&mut mac, at(1_000_000), &mut air);
        let fetched: Vec<_> = received(&indications, node(1)).into_iter().map(|(_, datagram)| datagram).collect();
        assert_eq!(fetched, if pending_in_data_acks { vec![1, 2] } else { vec![] });
        assert_eq!(air.of(FrameKind::DataRequest).len(), fetched.len());
    }
}

/// After four frames in a row without acknowledgement the parent waits for a poll, which synchronises both again.
#[test]
fn a_parent_gives_up_samples_that_are_not_answered() {
    let mut mac = pair(sampling_every(3_125), true, &deaf(0, 1));
    let poll = Streams::new(SEED).stream("poll phase", 1).below(96_000_000);
    mac.enqueue(at(0), Msdu::new(node(0), node(1), &[0; 60], 1)).unwrap();
    let mut air = Recorder::default();
    run(&mut mac, at(poll - 1), &mut air);
    let data = air.begins(FrameKind::Data, node(0));
    assert_eq!(data.len(), 4);
    assert!(data.windows(2).all(|pair| pair[1] - pair[0] == 500_000), "{data:?}");
    // The poll has announced the frame; then come further samples.
    run(&mut mac, at(poll + 3_000_000), &mut air);
    assert!(air.begins(FrameKind::Data, node(0)).len() > 6);
}

/// A parent that has not heard its child for 100 s no longer trusts what it knows of the samples.
#[test]
fn a_parent_that_hears_nothing_does_not_send_into_samples() {
    for (enqueued, sent) in [(99_000_000, true), (100_000_000, false)] {
        let mut mac = pair(sampling_every(3_125), true, &deaf(1, 0));
        let mut air = Recorder::default();
        run(&mut mac, at(enqueued), &mut air);
        mac.enqueue(at(enqueued), Msdu::new(node(0), node(1), &[0; 60], 1)).unwrap();
        let indications = run(&mut mac, at(enqueued + 900_000), &mut air);
        assert_eq!(!received(&indications, node(1)).is_empty(), sent);
    }
}

/// The application polls fast while its session opens, and only then.
#[test]
fn polls_are_fast_in_a_burst() {
    let polling = Polling { period: us(10_000_000), fast: FastPoll::Burst, ..Polling::openthread() };
    let mut mac = pair(CsmaConfig { polling, ..CsmaConfig::openthread() }, true, &line(1, 1.0));
    let mut air = Recorder::default();
    run(&mut mac, at(19_999_999), &mut air);
    assert_eq!(air.of(FrameKind::DataRequest).len(), 2);
    mac.begin_burst(at(20_000_000), node(1));
    mac.begin_burst(at(20_000_000), node(0)); // nothing happens to a node that always listens
    run(&mut mac, at(21_999_999), &mut air);
    let fast = air.of(FrameKind::DataRequest).len() - 2;
    assert!((10..=11).contains(&fast), "{fast} polls in 2 s");
    mac.end_burst(at(22_000_000), node(1));
    run(&mut mac, at(31_000_000), &mut air);
    assert_eq!(air.of(FrameKind::DataRequest).len() - 2 - fast, 0);
    run(&mut mac, at(32_000_000), &mut air);
    assert_eq!(air.of(FrameKind::DataRequest).len() - 2 - fast, 1);
}

/// After a poll without acknowledgement, four polls are a second apart; then the device waits for its regular poll.
#[test]
fn a_poll_that_fails_is_repeated_each_second() {
    let config = CsmaConfig { max_retries: 0, ..polling_every(us(60_000_000)) };
    let mut mac = pair(config, true, &deaf(1, 0));
    let mut air = Recorder::default();
    run(&mut mac, at(120_000_000), &mut air);
    let polls = air.begins(FrameKind::DataRequest, node(1));
    let second = |pair: &[u64]| (990_000..1_010_000).contains(&(pair[1] - pair[0]));
    assert!(polls[..4].windows(2).all(second), "{polls:?}");
    assert!(polls[4] - polls[3] > 50_000_000, "{polls:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let links = tree(&[None, Some(0), Some(1)], 1.0);
    let of = |config, sleepy: &[u16]| of_links(config, &[None, Some(0), Some(1)], sleepy, &links).err();
    let standard = CsmaConfig::openthread();
    assert_eq!(of(standard.clone(), &[2]), None);
    assert_eq!(of(standard.clone(), &[1]), Some(CsmaConfigError::SleepyParent(node(1))));
    assert_eq!(of(standard.clone(), &[0]), Some(CsmaConfigError::SleepyRoot(node(0))));
    assert_eq!(
        of(CsmaConfig { channel: 27, ..standard.clone() }, &[]),
        Some(CsmaConfigError::Pan(PanError::Channel(27)))
    );
    let backoff_exponents = (4, 3);
    let error = CsmaConfigError::Pan(PanError::BackoffExponents { min: 4, max: 3 });
    assert_eq!(of(CsmaConfig { backoff_exponents, ..standard.clone() }, &[]), Some(error));
    let fast = |period| Polling { period, ..Polling::openthread() };
    let error = CsmaConfigError::FastPolls { fast: us(188_000), period: us(100_000) };
    assert_eq!(of(CsmaConfig { polling: fast(us(100_000)), ..standard.clone() }, &[2]), Some(error));
    assert_eq!(of(polling_every(us(9_999)), &[2]), Some(CsmaConfigError::PollPeriod(us(9_999))));
    let with = |csl| CsmaConfig { csl: Some(csl), ..polling_every(us(96_000_000)) };
    assert_eq!(of(with(Csl::openthread(62)), &[2]), Some(CsmaConfigError::CslPeriod(us(9_920))));
    let error = CsmaConfigError::CslTimeout { timeout: us(95_000_000), poll_period: us(96_000_000) };
    assert_eq!(of(with(Csl { timeout: us(95_000_000), ..Csl::openthread(625) }), &[2]), Some(error));
    let short = Csl { uncertainty: us(159), ..Csl::openthread(625) };
    assert_eq!(of(with(short), &[2]), Some(CsmaConfigError::CslUncertainty(us(159))));
    let parents = |parents: &[Option<u16>], sleepy: &[u16]| of_links(standard.clone(), parents, sleepy, &links).err();
    assert_eq!(
        parents(&[None, Some(0), Some(0)], &[]),
        Some(CsmaConfigError::Pan(PanError::NoLink { child: node(2), parent: node(0) }))
    );
    assert_eq!(
        parents(&[None, None, Some(0)], &[]),
        Some(CsmaConfigError::Pan(PanError::Parents { parents: 1, nodes: 3 }))
    );
    assert_eq!(parents(&[None, Some(2), Some(1)], &[]), Some(CsmaConfigError::Pan(PanError::NotATree(node(1)))));
    assert!(of(standard.clone(), &[2, 1]).unwrap().to_string().starts_with("node 1 is sleepy and has children"));
}
