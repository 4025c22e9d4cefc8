//! The radio times of a sleepy device, and how long a frame for it takes, against formulas that are worked out here.

use super::*;
use slowhand_net::link::{Capture, Interferer, Variation};
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::{Indication, Mac, Msdu};
use std::sync::Arc;

/// A poll: assessment 128 us, turnaround 192 us, 30 octets, turnaround 192 us, acknowledgement of 11 octets. A back-off
/// from 0..8 periods of 320 us comes before, in which the radio is off.
const REQUEST: u64 = 30 * 32;
const ACK: u64 = 11 * 32;
const POLL_LISTENS: u64 = 128 + 192 + 192;
const ACCESS: u64 = 320;
const BACKOFF: u64 = 7 * 320 / 2;

/// 21 octets of header, 60 of payload, 2 of FCS, and 6.
const DATA: u64 = 89 * 32;

fn assert_near(measured: f64, expected: f64, what: &str) {
    assert!((measured / expected - 1.0).abs() < 0.02, "{what}: {measured} measured, {expected} expected");
}

/// The mean time from enqueueing to reception of frames for node 1. Each comes alone, and at another place of the period.
fn mean_latency(mac: &mut Csma, period: u64) -> f64 {
    let count = 500;
    let mut sum = 0;
    for number in 0..count {
        let begin = (10 + number * 10) * period + number * period / count;
        run(mac, at(begin - 1), &mut Recorder::default());
        mac.enqueue(at(begin), Msdu::new(node(0), node(1), &[0xab; 60], number as u32)).unwrap();
        let indications = run(mac, at(begin + 5 * period), &mut Recorder::default());
        let arrived = received(&indications, node(1));
        assert_eq!(arrived.len(), 1);
        sum += arrived[0].0 - begin;
    }
    sum as f64 / count as f64
}

#[test]
fn the_radio_times_of_a_polling_device_follow_its_period() {
    for period in [100_000, 1_000_000, 10_000_000] {
        let mut mac = of_tree(polling_every(us(period)), &[None, Some(0)], &[1], 1.0);
        let polls = 1_000;
        let end = at(polls * period);
        run(&mut mac, end, &mut Recorder::default());
        let times = mac.radio_times(node(1), end);
        let expected = [REQUEST, ACK, POLL_LISTENS].map(|each| (each * polls) as f64);
        for (measured, expected) in [times.transmit, times.receive, times.listen].into_iter().zip(expected) {
            assert_near(measured.as_micros() as f64, expected, "radio time");
        }
        let work = mac.radio_work(node(1), end);
        assert!(work.starts.abs_diff(polls) <= 1 && work.ramps.abs_diff(polls) <= 1, "{work:?}");
        assert!((work.ready.as_micros() as f64 / (polls * BACKOFF) as f64 - 1.0).abs() < 0.08, "{work:?}");
        assert!((0..2).all(|id| mac.queue(node(id)).processor().frames().all.abs_diff(polls) <= 1));
        // 6 events: the timer, the assessment, beginning and end of two frames.
        assert!(mac.events_handled() <= 6 * (polls + 1), "{} events for {polls} polls", mac.events_handled());
    }
}

/// A frame is in time for a poll if it comes before the poll's acknowledgement begins. So it waits for half a period on
/// average; then come the acknowledgement, and the parent's own back-off.
#[test]
fn the_latency_of_frames_for_a_polling_device_follows_its_period() {
    for period in [100_000, 1_000_000, 10_000_000] {
        let mut mac = of_tree(polling_every(us(period)), &[None, Some(0)], &[1], 1.0);
        let exchange = ACK + BACKOFF + ACCESS + DATA;
        let expected = (period / 2 + exchange) as f64;
        assert_near(mean_latency(&mut mac, period), expected, "latency");
    }
}

/// Each sample begins 192 us (the preamble) before its time, and ends 5,504 us after. The uncertainty of both ends, 400
/// us, and the drift of 40 ppm since the last poll make both sides longer. Polls are 96 s apart, so that the mean drift is
/// 40 ppm of 48 s: 1,920 us.
#[test]
fn the_radio_times_of_a_csl_receiver_follow_its_period() {
    for units in [625, 3_125] {
        let (period, polls) = (u64::from(units) * 160, 20);
        let mut mac = of_tree(sampling_every(units), &[None, Some(0)], &[1], 1.0);
        let end = at(polls * 96_000_000);
        run(&mut mac, end, &mut Recorder::default());
        let times = mac.radio_times(node(1), end);
        let samples = polls * 96_000_000 / period;
        // The poll is 8 octets longer, and its acknowledgement has 10 more: PAN ID and address.
        let expected = [
            (REQUEST + 8 * 32) * polls,
            (ACK + 10 * 32) * polls,
            samples * (2 * (400 + 1_920) + 192 + 5_504) + polls * POLL_LISTENS,
        ];
        // A poll may come during a sample.
        let work = mac.radio_work(node(1), end);
        assert!(work.ramps >= samples && work.ramps <= samples + 2 * polls, "{work:?} in {samples} samples");
        for (measured, expected) in [times.transmit, times.receive, times.listen].into_iter().zip(expected) {
            assert_near(measured.as_micros() as f64, expected as f64, "radio time");
        }
        // Samples are no events.
        assert!(mac.events_handled() <= 6 * (polls + 1), "{} events for {polls} polls", mac.events_handled());
    }
}

/// A frame waits for half a period on average, and for 2,192 us more that its parent needs before a sample. It begins 192
/// us before the time of the sample.
#[test]
fn the_latency_of_frames_for_a_csl_receiver_follows_its_period() {
    for units in [625, 3_125] {
        let period = u64::from(units) * 160;
        let mut mac = of_tree(sampling_every(units), &[None, Some(0)], &[1], 1.0);
        assert_near(mean_latency(&mut mac, period), (period / 2 + 2_192 - 192 + DATA) as f64, "latency");
    }
}

/// The bound on the sending time holds for every frame.
#[test]
fn a_frame_takes_no_longer_than_is_promised() {
    let cases =
        [(CsmaConfig::openthread(), vec![]), (polling_every(us(500_000)), vec![1]), (sampling_every(625), vec![1])];
    for (config, sleepy) in cases {
        let mut mac = of_tree(config, &[None, Some(0)], &sleepy, 1.0);
        for number in 0..200u32 {
            let begin = at(u64::from(number) * 5_000_000 + u64::from(number) * 7_919);
            run(&mut mac, begin, &mut Recorder::default());
            let frames = number % 5 + 1;
            (0..frames).for_each(|frame| mac.enqueue(begin, Msdu::new(node(0), node(1), &[0; 104], frame)).unwrap());
            let indications = run(&mut mac, begin + us(4_000_000), &mut Recorder::default());
            let sent = indications.iter().rfind(|(_, indication)| matches!(indication, Indication::Sent { .. }));
            let taken = sent.unwrap().0.since(begin);
            assert!(taken <= mac.sending_time(node(0), node(1), frames.into()), "{frames} frames take {taken}");
        }
    }
}

/// Wi-Fi sends for 2 ms and pauses for 8 ms on average. A channel assessment of 128 us finds the channel clear if Wi-Fi pauses
/// at its beginning, 0.8, and goes on to pause, e^-(128/8000): 0.7873. The assessments are 50 ms apart: the states have a
/// correlation of e^-31. Without back-off, the frame begins 192 us after the first assessment, or later. 20,000 frames: the
/// standard deviation is 0.0029.
#[test]
fn wifi_makes_the_channel_busy() {
    let wifi = Interferer { channel: 6, busy: us(2_000), idle: us(8_000), loss: 0.0, nodes: None };
    let variation = Arc::new(Variation { interferers: vec![wifi], ..Variation::default() });
    let streams = Streams::new(SEED);
    let links = Links::new(2, &tree(&[None, Some(0)], 1.0), &streams).varying(&variation, &streams);
    let config =
        CsmaConfig { channel: 16, backoff_exponents: (0, 0), max_csma_backoffs: 255, ..CsmaConfig::openthread() };
    let mut mac = Csma::new(config, links, &[None, Some(node(0))], &[false; 2], &streams).unwrap();
    let mut air = Recorder::default();
    let frames = 20_000;
    for frame in 1..=frames {
        let now = at(frame * 50_000);
        run(&mut mac, now, &mut air);
        mac.enqueue(now, Msdu::new(node(1), node(0), &[0; 60], 0)).unwrap();
    }
    run(&mut mac, at((frames + 1) * 50_000), &mut air);
    let begins = air.begins(FrameKind::Data, node(1));
    assert_eq!(begins.len() as u64, frames, "Wi-Fi loses no frame here");
    let at_once = begins.iter().filter(|&&begin| begin % 50_000 == 128 + 192).count() as f64 / frames as f64;
    assert!((at_once - 0.7873).abs() < 5.0 * 0.0029, "{at_once}");
}

/// Two children that do not hear each other send to the root at once, one attempt each. Their frames of 13 periods overlap
/// whatever they draw below 8. The powers differ by a normal number with a standard deviation of 4 * 2^0.5 dB, and a mean
/// of `ahead`. The first frame arrives if it is stronger by 3 dB. The second does so only if both begin at the same instant: one
/// time in eight. P(x): the probability that a standard normal number is above x. 4,000 networks: five standard deviations
/// are at most 0.04.
#[test]
fn one_of_two_hidden_senders_survives_as_often_as_their_powers_say() {
    // ahead, P((3 - ahead) / 5.657), P((3 + ahead) / 5.657)
    for (ahead, stronger, weaker) in [(0.0, 0.297_9, 0.297_9), (6.0, 0.702_1, 0.055_8)] {
        let parents = [None, Some(0), Some(0)];
        let config = CsmaConfig { max_retries: 0, ..CsmaConfig::openthread() };
        let powers_db = [((node(1), node(0)), ahead)].into();
        let capture = Capture { threshold_db: 3.0, spread_db: 4.0, powers_db };
        let networks = 4_000;
        let mut arrived = [0; 3];
        for seed in 0..networks {
            let streams = Streams::new(seed);
            let links = Links::new(3, &tree(&parents, 1.0), &streams).capturing(&capture, &streams);
            let parents = parents.map(|parent| parent.map(NodeId));
            let mut mac = Csma::new(config.clone(), links, &parents, &[false; 3], &streams).unwrap();
            for child in [1, 2] {
                mac.enqueue(at(0), Msdu::new(node(child), node(0), &[0; 98], child.into())).unwrap();
            }
            for (_, child) in received(&run(&mut mac, at(50_000), &mut Recorder::default()), node(0)) {
                arrived[child as usize] += 1;
            }
        }
        // A child is the first with 28 of 64 pairs of numbers, and both begin together with 8.
        for (child, above) in [(1, stronger), (2, weaker)] {
            let (share, expected) = (f64::from(arrived[child]) / networks as f64, above * 36.0 / 64.0);
            assert!((share - expected).abs() < 0.04, "child {child}, {ahead} dB: {share}, {expected} expected");
        }
    }
}
