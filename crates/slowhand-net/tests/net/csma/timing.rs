//! Exchanges small enough to be worked out by hand, to the microsecond.
//!
//! All figures are derived here from IEEE 802.15.4: a symbol is 16 us, an octet 32 us, synchronisation header and length
//! are 6 octets, a back-off period is 20 symbols (320 us), a clear channel assessment 8 (128 us), a turnaround 12
//! (192 us).

use super::*;
use slowhand_net::observer::{FrameKind, RadioWork};
use slowhand_net::radio::{Indication, Mac, Msdu};

/// 21 octets of header, 60 of payload, 2 of FCS, and 6.
const DATA: u64 = 89 * 32;

/// 21 octets of header, 1 of command, 2 of FCS, and 6.
const REQUEST: u64 = 30 * 32;

/// 5 octets and 6.
const ACK: u64 = 11 * 32;

/// Assessment and turnaround.
const ACCESS: u64 = 128 + 192;

/// The draws of a node from 0..8 (macMinBE 3), `count` of them.
fn backoffs(node: u64, count: usize) -> Vec<u64> {
    let mut stream = Streams::new(SEED).stream("back-off", node);
    (0..count).map(|_| stream.below(8) * 320).collect()
}

fn times(air: &Recorder) -> Vec<(FrameKind, u16, u64)> {
    air.frames.iter().map(|frame| (frame.kind, frame.from.0, frame.at)).collect()
}

#[test]
fn one_frame_between_nodes_that_always_listen() {
    let mut mac = of_tree(CsmaConfig::openthread(), &[None, Some(0)], &[], 1.0);
    let mut air = Recorder::default();
    mac.enqueue(at(1_000), Msdu::new(node(1), node(0), &[0xab; 60], 5)).unwrap();
    mac.enqueue(at(1_000), Msdu::new(node(1), node(0), &[0xab; 60], 6)).unwrap();
    let indications = run(&mut mac, at(100_000), &mut air);

    let [first, second] = backoffs(1, 2)[..] else { unreachable!() };
    let data = 1_000 + first + ACCESS;
    let ack = data + DATA + 192;
    // A longer frame than 18 octets: 40 symbols before the next back-off.
    let next = ack + ACK + 640 + second + ACCESS;
    assert_eq!(
        times(&air),
        [
            (FrameKind::Data, 1, data),
            (FrameKind::Ack, 0, ack),
            (FrameKind::Data, 1, next),
            (FrameKind::Ack, 0, next + DATA + 192)
        ]
    );
    assert!(matches!(indications[0], (time, Indication::Received { datagram: 5, .. }) if time == at(data + DATA)));
    assert!(matches!(indications[1], (time, Indication::Sent { datagram: 5, .. }) if time == at(ack + ACK)));

    let end = at(100_000);
    let (child, root) = (mac.radio_times(node(1), end), mac.radio_times(node(0), end));
    assert_eq!((child.transmit, child.receive, child.sleep), (us(2 * DATA), us(2 * ACK), us(0)));
    assert_eq!((root.transmit, root.receive, root.sleep), (us(2 * ACK), us(2 * DATA), us(0)));
    assert_eq!(root.listen, us(100_000 - 2 * (DATA + ACK)));
}

/// The first poll of a device, and what it draws for its back-off.
fn first_poll(period: u64) -> u64 {
    Streams::new(SEED).stream("poll phase", 1).below(period)
}

#[test]
fn one_frame_for_a_sleepy_device() {
    let mut mac = of_tree(polling_every(us(500_000)), &[None, Some(0)], &[1], 1.0);
    let mut air = Recorder::default();
    mac.enqueue(at(0), Msdu::new(node(0), node(1), &[0xab; 60], 5)).unwrap();
    let poll = first_poll(500_000);
    let end = at(poll + 400_000);
    let indications = run(&mut mac, end, &mut air);

    let request = poll + backoffs(1, 1)[0] + ACCESS;
    let request_ack = request + REQUEST + 192;
    let data = request_ack + ACK + backoffs(0, 1)[0] + ACCESS;
    let data_ack = data + DATA + 192;
    assert_eq!(
        times(&air),
        [
            (FrameKind::DataRequest, 1, request),
            (FrameKind::Ack, 0, request_ack),
            (FrameKind::Data, 0, data),
            (FrameKind::Ack, 1, data_ack)
        ]
    );
    // The acknowledgement of the poll says that a frame follows. The frame says that no other follows it.
    let pending: Vec<_> = air.frames.iter().map(|frame| frame.octets[0] & 0x10 != 0).collect();
    assert_eq!(pending, [false, true, false, false]);
    assert!(matches!(indications[0], (time, Indication::Received { .. }) if time == at(data + DATA)));
    assert!(matches!(indications[1], (time, Indication::Sent { .. }) if time == at(data_ack + ACK)));
    assert_eq!(indications.len(), 2);

    // Off during its back-off, then on from the assessment to the end of its acknowledgement.
    let child = mac.radio_times(node(1), end);
    assert_eq!((child.transmit, child.receive), (us(REQUEST + ACK), us(ACK + DATA)));
    assert_eq!(child.transmit + child.receive + child.listen, us(data_ack + ACK - (request - ACCESS)));
    // It starts before its back-off, is ready during it, and ramps up for the assessment.
    let work = mac.radio_work(node(1), end);
    assert_eq!(work, RadioWork { starts: 1, ramps: 1, ramps_from_ready: 1, ready: us(backoffs(1, 1)[0]) });
    // The parent always listens.
    assert_eq!(mac.radio_work(node(0), end), RadioWork::default());
    // Both handle the request and the frame. Acknowledgements are left to the radio.
    let handled = [0, 1].map(|id| mac.queue(node(id)).processor().frames().all);
    assert_eq!(handled, [2, 2]);
}

#[test]
fn an_idle_device_polls_at_its_period() {
    let mut mac = of_tree(polling_every(us(500_000)), &[None, Some(0)], &[1], 1.0);
    let mut air = Recorder::default();
    let poll = first_poll(500_000);
    run(&mut mac, at(poll + 2_400_000), &mut air);
    let begins = air.begins(FrameKind::DataRequest, node(1));
    let expected: Vec<_> = (0..)
        .zip(backoffs(1, 5))
        .map(|(poll_number, backoff)| poll + poll_number * 500_000 + backoff + ACCESS)
        .collect();
    assert_eq!(begins, expected);
    assert!(air.of(FrameKind::Ack).iter().all(|ack| ack.octets[0] & 0x10 == 0));
}

/// Before the first repetition there is no delay more than the back-off, before the second up to one period, then up to 3, 7,
/// 15, and 31 before all others.
#[test]
fn a_random_delay_before_a_repetition_grows() {
    let config = CsmaConfig { max_retries: 9, ..CsmaConfig::openthread() };
    let mut mac = of_links(config, &[None, Some(0)], &[], &[link(1, 0, 0.0), link(0, 1, 1.0)]).unwrap();
    let mut air = Recorder::default();
    mac.enqueue(at(0), Msdu::new(node(1), node(0), &[0xab; 60], 5)).unwrap();
    run(&mut mac, at(1_000_000), &mut air);
    let mut stream = Streams::new(SEED).stream("back-off", 1);
    let mut begin = stream.below(8) * 320 + ACCESS;
    let mut expected = vec![begin];
    for exponent in [0, 1, 2, 3, 4, 5, 5, 5, 5] {
        let delay = if exponent == 0 { 0 } else { stream.below(1 << exponent) };
        let backoff = stream.below(8);
        begin += DATA + 864 + (delay + backoff) * 320 + ACCESS;
        expected.push(begin);
    }
    assert_eq!(air.begins(FrameKind::Data, node(1)), expected);
}

/// An acknowledgement that does not come is awaited for 54 symbols from the end of the frame. Then a new back-off begins, at
/// once as in the standard.
#[test]
fn a_frame_without_acknowledgement_is_sent_again() {
    let links = [link(1, 0, 1.0), LinkQuality { ack: 0.0, ..link(0, 1, 1.0) }];
    let config = CsmaConfig { max_retries: 2, retry_max_exponent: 0, ..CsmaConfig::openthread() };
    let mut mac = of_links(config, &[None, Some(0)], &[], &links).unwrap();
    let mut air = Recorder::default();
    mac.enqueue(at(0), Msdu::new(node(1), node(0), &[0xab; 60], 5)).unwrap();
    let indications = run(&mut mac, at(100_000), &mut air);
    let mut begin = 0;
    let expected: Vec<_> = backoffs(1, 3)
        .into_iter()
        .map(|backoff| {
            begin += backoff + ACCESS;
            let this = begin;
            begin += DATA + 864;
            this
        })
        .collect();
    assert_eq!(air.begins(FrameKind::Data, node(1)), expected);
    let attempts: Vec<_> = air.of(FrameKind::Data).iter().map(|frame| frame.attempt).collect();
    assert_eq!(attempts, [0, 1, 2]);
    // The root passes the first up, and recognises the others by their number.
    assert_eq!(received(&indications, node(0)), [(expected[0] + DATA, 5)]);
    let dropped = |(time, indication): &(Instant, Indication)| {
        matches!(indication, Indication::Dropped { .. }) && *time == at(begin)
    };
    assert!(indications.last().is_some_and(dropped), "{indications:?}");
}

/// The parent rounds the phase of the child's frames down to 160 us, so its frame is up to 160 us early.
#[test]
fn a_frame_is_sent_into_the_next_sample() {
    let period = 3_125; // 500 ms
    let mut mac = of_tree(sampling_every(period), &[None, Some(0)], &[1], 1.0);
    let mut air = Recorder::default();
    let sample = Streams::new(SEED).stream("sample phase", 1).below(500_000);
    let poll = first_poll(96_000_000);
    assert!(poll > 10_000_000, "choose another seed");
    // Before the first poll, the parent knows the exact time.
    mac.enqueue(at(5_000_000), Msdu::new(node(0), node(1), &[0xab; 60], 5)).unwrap();
    let next = sample + 500_000 * (5_000_000 + 2_192 - sample).div_ceil(500_000);
    let indications = run(&mut mac, at(6_000_000), &mut air);
    let data = next - 192;
    assert_eq!(times(&air), [(FrameKind::Data, 0, data), (FrameKind::Ack, 1, data + DATA + 192)]);
    assert_eq!(received(&indications, node(1)), [(data + DATA, 5)]);
    // Version 2: an enhanced acknowledgement with PAN ID and address of the parent, and the CSL IE.
    let ack = 2 + 1 + 2 + 8 + 6 + 2;
    assert_eq!(air.frames[1].octets.len(), ack - 2);
    // Its phase is the time from its MAC header to the next sample.
    let header = data + DATA + 192 + 192;
    let phase = (next + 500_000 - header) / 160;
    assert_eq!(air.frames[1].octets[15..19], [phase as u8, (phase >> 8) as u8, period as u8, (period >> 8) as u8]);
    // So the next frame begins where this phase says.
    let after = data + DATA + 192 + (6 + ack as u64) * 32;
    mac.enqueue(at(6_000_000), Msdu::new(node(0), node(1), &[0xab; 60], 6)).unwrap();
    air.frames.clear();
    run(&mut mac, at(7_000_000), &mut air);
    assert!(after < 6_000_000);
    let known = header + phase * 160;
    let expected = known + 500_000 * (6_000_000 + 2_192 - known).div_ceil(500_000) - 192;
    assert_eq!(times(&air)[0], (FrameKind::Data, 0, expected));
    assert!(air.frames[0].received && expected.abs_diff(next - 192 + 1_000_000) < 160);
}

/// Two of OpenThread's rules: after a data frame, eight polls are 188 ms apart; and a frame that says that others
/// follow is answered by a poll at once.
#[test]
fn polls_are_fast_while_an_answer_is_expected() {
    let polling = Polling { period: us(60_000_000), ..Polling::openthread() };
    let mut mac = of_tree(CsmaConfig { polling, ..CsmaConfig::openthread() }, &[None, Some(0)], &[1], 1.0);
    let poll = first_poll(60_000_000);
    assert!((2_000_000..50_000_000).contains(&poll), "choose another seed");
    let mut air = Recorder::default();
    mac.enqueue(at(1_000_000), Msdu::new(node(1), node(0), &[0xab; 60], 5)).unwrap();
    run(&mut mac, at(50_000_000), &mut air);
    let begins = air.begins(FrameKind::DataRequest, node(1));
    let backoffs = backoffs(1, 10);
    // The period of 188 ms counts from the beginning, when nothing was polled: the first is due 10 ms later.
    let expected: Vec<_> =
        (0..8).map(|number| 1_010_000 + number * 188_000 + backoffs[number as usize + 1] + ACCESS).collect();
    assert_eq!(begins, expected);
}
