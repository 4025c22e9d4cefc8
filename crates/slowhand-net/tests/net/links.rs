//! Links whose delivery changes with time, against formulas.

use crate::harness::*;
use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::link::{Course, GilbertElliott, Interferer, Kind, LinkQuality, Links, Variation};
use slowhand_net::random::Streams;
use std::ops::Range;
use std::sync::Arc;

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

/// A link that delivers everything, but for what varies.
fn links(variation: Variation, seed: u64) -> Links {
    let streams = Streams::new(seed);
    Links::new(2, &both(0, 1, 1.0), &streams).varying(&Arc::new(variation), &streams)
}

fn delivers(links: &mut Links, time: Range<Instant>) -> bool {
    links.delivers(time, A, B, 26, Kind::Data)
}

/// One frame of 4 ms every 50 ms: true where it arrives.
fn arrivals(links: &mut Links, frames: u64) -> Vec<bool> {
    (0..frames).map(|frame| delivers(links, at(frame * 50_000)..at(frame * 50_000 + 4_000))).collect()
}

fn share(arrivals: &[bool]) -> f64 {
    arrivals.iter().filter(|&&arrives| arrives).count() as f64 / arrivals.len() as f64
}

/// The mean number of frames that are lost in a row.
fn mean_burst(arrivals: &[bool]) -> f64 {
    let bursts: Vec<_> = arrivals.split(|&arrives| arrives).map(<[bool]>::len).filter(|&lost| lost > 0).collect();
    bursts.iter().sum::<usize>() as f64 / bursts.len() as f64
}

/// Mean times of 300 ms and 100 ms: the state is bad in a quarter of the time. If a frame meets the bad state, the next
/// one meets it too with the probability p = b + (1 - b) e^(-T (1/300 + 1/100) / ms), with b = 1/4 and T = 50 ms:
/// e^(-2/3) = 0.5134, p = 0.6351. Bursts of losses are geometric: their mean is 1 / (1 - p) = 2.740 frames.
#[test]
fn the_loss_and_the_bursts_of_gilbert_and_elliott() {
    let states = GilbertElliott { good: us(300_000), bad: us(100_000), good_pdr: 1.0, bad_pdr: 0.0 };
    let arrivals = arrivals(&mut links(Variation { states: Some(states), ..Variation::default() }, 1), 200_000);
    // 200,000 frames with a correlation of 0.5134: the variance of the share is 3/16 / 200,000 * 1.5134 / 0.4866, its
    // standard deviation 0.0017. There are 18,000 bursts with a standard deviation of 2.2: that of the mean is 0.016.
    assert!((share(&arrivals) - 0.75).abs() < 5.0 * 0.0017, "{}", share(&arrivals));
    assert_eq!(states.mean_pdr(), 0.75);
    assert!((mean_burst(&arrivals) - 2.740).abs() < 5.0 * 0.016, "{}", mean_burst(&arrivals));
}

/// Good: 0.9, bad: 0.3, the same time in both: 0.6. The link's own 0.5 is independent of it: 0.3.
#[test]
fn the_causes_of_losses_are_independent() {
    let states = GilbertElliott { good: us(10_000), bad: us(10_000), good_pdr: 0.9, bad_pdr: 0.3 };
    let variation = Arc::new(Variation { states: Some(states), ..Variation::default() });
    let streams = Streams::new(1);
    let mut links = Links::new(2, &both(0, 1, 0.5), &streams).varying(&variation, &streams);
    // The states of frames 50 ms apart have a correlation of e^-10. Five standard deviations of the share are 0.0073.
    let share = share(&arrivals(&mut links, 100_000));
    assert!((share - 0.3).abs() < 0.0073, "{share}");
}

#[test]
fn each_direction_has_a_state_of_its_own() {
    let states = GilbertElliott { good: us(200_000), bad: us(200_000), good_pdr: 1.0, bad_pdr: 0.0 };
    let mut links = links(Variation { states: Some(states), ..Variation::default() }, 1);
    let both: Vec<_> = (0..10_000)
        .map(|frame| at(frame * 1_000_000)..at(frame * 1_000_000 + 1))
        .map(|time| [(A, B), (B, A)].map(|(from, to)| links.delivers(time.clone(), from, to, 26, Kind::Data)))
        .collect();
    // Half of the time they differ. Five standard deviations of a binomial(10,000, 1/2) are 250.
    let differ = both.iter().filter(|[one, other]| one != other).count();
    assert!(differ.abs_diff(5_000) < 250, "{differ}");
}

/// Wi-Fi channel 6 has its centre at 2437 MHz. Less than 11 MHz away are 2430, 2435, 2440 and 2445 MHz: 16 to 19.
#[test]
fn wifi_covers_four_channels() {
    assert_eq!([1, 6, 11].map(Interferer::covered), [11..15, 16..20, 21..25]);
    for wifi in 1..=13 {
        let near = |channel: &u8| (2_407 + 5 * i32::from(wifi)).abs_diff(2_405 + 5 * (i32::from(*channel) - 11)) < 11;
        let channels: Vec<u8> = (11..=30).filter(near).collect();
        assert_eq!(channels, Interferer::covered(wifi).collect::<Vec<_>>(), "{wifi}");
    }
}

/// Busy for 2 ms and idle for 8 ms on average. A frame of 4 ms meets no burst if Wi-Fi is idle at its first symbol, in 0.8
/// of the cases, and stays so for 4 ms: e^(-4/8). With a loss of 3/4 of the others, 1 - 3/4 (1 - 0.8 * 0.6065) = 0.6139
/// arrive.
#[test]
fn a_frame_that_meets_a_burst_of_wifi_may_be_lost() {
    let wifi = |channel, nodes| Interferer { channel, busy: us(2_000), idle: us(8_000), loss: 0.75, nodes };
    let of = |interferer| {
        let mut links = links(Variation { interferers: vec![interferer], ..Variation::default() }, 1);
        share(&arrivals(&mut links, 100_000))
    };
    // Channel 26 is covered by Wi-Fi channel 13. Five standard deviations of the share are 0.0077.
    assert!((of(wifi(13, None)) - 0.6139).abs() < 0.0077);
    assert!((of(wifi(13, Some(vec![B]))) - 0.6139).abs() < 0.0077);
    assert_eq!((of(wifi(12, None)), of(wifi(13, Some(vec![A])))), (1.0, 1.0), "another channel, another receiver");
}

#[test]
fn the_course_of_a_channel_comes_before_that_of_the_link() {
    let course = |pdr| Course::new(vec![(Instant::ZERO, 1.0), (at(1_000_000), pdr)], None);
    let courses = [((A, B, None), course(0.0)), ((A, B, Some(26)), course(0.5))].into();
    let mut links = links(Variation { courses, ..Variation::default() }, 1);
    let mut share = |from, to, channel, second: u64| {
        let time = |n| at(second * 1_000_000 + n)..at(second * 1_000_000 + n + 1);
        (0..1_000).filter(|&n| links.delivers(time(n), from, to, channel, Kind::Data)).count()
    };
    assert_eq!((share(A, B, 26, 0), share(A, B, 11, 0)), (1_000, 1_000));
    assert_eq!((share(A, B, 11, 1), share(B, A, 11, 1)), (0, 1_000), "one direction");
    assert!(share(A, B, 26, 1).abs_diff(500) < 79); // five standard deviations
}

/// Ten seconds of which one is good, from the seed's own time on: a tenth of the worlds begins in it.
#[test]
fn worlds_begin_at_random_times_of_a_course() {
    let course = Course::new(vec![(Instant::ZERO, 1.0), (at(1_000_000), 0.0)], Some(Duration::from_secs(10)));
    let variation = Variation { courses: [((A, B, None), course)].into(), random_start: true, ..Variation::default() };
    let begins_well = |seed| delivers(&mut links(variation.clone(), seed), Instant::ZERO..at(1));
    let good = (0..1_000).filter(|&seed| begins_well(seed)).count();
    assert!(good.abs_diff(100) < 47, "{good}"); // five standard deviations
}

#[test]
fn a_ratio_that_is_set_replaces_all_others() {
    let courses = [((A, B, None), Course::new(vec![(Instant::ZERO, 0.0)], None))].into();
    let mut links = links(Variation { courses, ..Variation::default() }, 1);
    let now = Instant::ZERO..at(1);
    assert!(!delivers(&mut links, now.clone()));
    links.set_delivery(A, B, 1.0);
    assert!(delivers(&mut links, now.clone()));
    links.set_delivery(A, B, 0.0);
    assert!(!delivers(&mut links, now.clone()) && links.delivers(now, B, A, 26, Kind::Ack));
}

/// Acknowledgements and single channels have ratios of their own, and each can be set.
#[test]
fn all_that_a_link_is_can_be_set() {
    let mut links = links(Variation::default(), 1);
    links.set_quality(&LinkQuality { from: A, to: B, data: 0.0, ack: 1.0, channels: vec![(15, 1.0)] });
    let mut arrives = |from, to, channel, kind| links.delivers(at(0)..at(1), from, to, channel, kind);
    assert!(!arrives(A, B, 26, Kind::Data) && arrives(A, B, 26, Kind::Ack) && arrives(A, B, 15, Kind::Data));
    assert!(arrives(B, A, 26, Kind::Data), "the other direction");
    // There is no such link, and nothing happens.
    links.set_quality(&LinkQuality { from: A, to: NodeId(2), data: 1.0, ack: 1.0, channels: Vec::new() });
    links.set_course(A, NodeId(2), Course::new(vec![(Instant::ZERO, 1.0)], None));
    assert!(!links.hears(A, NodeId(2)));
}

/// The states of Gilbert and Elliott stay: of the good half of the time, a course lets nothing arrive from 500 s on.
#[test]
fn a_course_that_is_set_counts_from_its_instants() {
    let states = GilbertElliott { good: us(300_000), bad: us(300_000), good_pdr: 1.0, bad_pdr: 0.0 };
    for states in [None, Some(states)] {
        let mut links = links(Variation { states, ..Variation::default() }, 1);
        links.set_delivery(A, B, 0.0);
        assert_eq!(share(&arrivals(&mut links, 100)), 0.0);
        links.set_course(A, B, Course::new(vec![(Instant::ZERO, 1.0), (at(500_000_000), 0.0)], None));
        let arrivals = arrivals(&mut links, 20_000);
        assert_eq!(share(&arrivals[10_000..]), 0.0);
        let share = share(&arrivals[..10_000]);
        // 500 s: a state of 300 ms on average, 1,667 of them; the standard deviation of the share is 0.017.
        assert!((share - if states.is_some() { 0.5 } else { 1.0 }).abs() < 5.0 * 0.017, "{share}");
        assert!(delivers(&mut links, at(0)..at(1)) || states.is_some());
        links.set_delivery(A, B, 0.0);
        assert!(!delivers(&mut links, at(499_000_000)..at(499_000_001)), "its ratio takes the place of the course");
    }
}

/// Variation has streams of its own: the draws of the link itself are the same with it.
#[test]
fn the_losses_of_a_link_stay_the_same_beside_what_varies() {
    let streams = Streams::new(1);
    let fixed = || Links::new(2, &both(0, 1, 0.7), &streams);
    let nothing = GilbertElliott { good: us(1_000), bad: us(1_000), good_pdr: 1.0, bad_pdr: 1.0 };
    let variation = Arc::new(Variation { states: Some(nothing), ..Variation::default() });
    assert_eq!(arrivals(&mut fixed(), 1_000), arrivals(&mut fixed().varying(&variation, &streams), 1_000));
}
