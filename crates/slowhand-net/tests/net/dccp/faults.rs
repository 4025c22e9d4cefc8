//! Connections between two ends of ours, over paths with faults.

use super::pair::{DELAY, Fate, Pair};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Ecn;
use slowhand_net::transport::dccp::{Body, ConnectionError, DccpConfig, Options, Packet, SendError, State, runs};
use std::collections::BTreeSet;

/// The types of the packets that were sent, by both ends.
fn types(pair: &Pair) -> Vec<&'static str> {
    pair.log.iter().map(|sent| &Packet::parse(&sent.octets).unwrap().body.name()[5..]).collect()
}

/// Both ends send datagrams, the one in answer to the other as sessions do, and the client closes. What gets lost is sent again
/// after two seconds.
fn conversation(fate: Fate) -> Pair {
    let mut pair = Pair::new(&DccpConfig::default(), fate);
    for turn in 0..3u8 {
        let (from, to) = (usize::from(turn % 2), usize::from((turn + 1) % 2));
        let wanted: BTreeSet<Vec<u8>> = (0..3u8).map(|number| vec![turn, number]).collect();
        for _ in 0..60 {
            let got: BTreeSet<Vec<u8>> = pair.received[to].iter().cloned().collect();
            for missing in wanted.difference(&got) {
                pair.send(from, missing);
            }
            pair.run_for(Duration::from_secs(2));
        }
        let got: BTreeSet<Vec<u8>> = pair.received[to].iter().cloned().collect();
        assert!(wanted.is_subset(&got), "turn {turn}: {got:?}");
    }
    pair.close(0);
    pair.run_for(Duration::from_secs(600));
    pair
}

#[test]
fn a_connection_opens_carries_and_closes() {
    let pair = conversation(Box::new(|_| vec![(DELAY, false)]));
    let expected = [
        ["Request", "Response", "Ack", "DataAck", "DataAck"].as_slice(),
        &["DataAck", "Ack", "Ack"], // the second datagram is acknowledged at once, the third after a delay
    ]
    .concat();
    assert_eq!(types(&pair)[..expected.len()], expected);
    assert_eq!(types(&pair)[types(&pair).len() - 2..], ["Close", "Reset"]);
    assert_eq!(pair.ends.each_ref().map(|end| (end.state(), end.error())), [(State::Closed, None); 2]);
    assert_eq!(pair.received.each_ref().map(Vec::len), [3, 6]);
    let is_capable = |sent: &&super::pair::Sent| sent.ecn == Ecn::Capable0;
    assert_eq!(pair.log.iter().filter(is_capable).count(), pair.log.len() - 2, "all but Request and Response");
}

/// Each packet of the conversation in turn.
#[test]
fn it_survives_the_loss_of_every_packet() {
    let all = conversation(Box::new(|_| vec![(DELAY, false)])).log.len();
    for lost in 0..all {
        let pair = conversation(Box::new(move |number| if number == lost { vec![] } else { vec![(DELAY, false)] }));
        let ended = pair.ends.each_ref().map(|end| (end.state(), end.error()));
        // Without the Reset, the client is told that there is no connection any more.
        assert_eq!(ended, [(State::Closed, None); 2], "without packet {lost}");
        let closes = |sent: &super::pair::Sent| matches!(Packet::parse(&sent.octets).unwrap().body, Body::Close { .. });
        assert!(pair.log.iter().filter(|sent| closes(sent)).count() <= 2, "without packet {lost}");
        let got = pair.received.each_ref().map(|got| got.iter().collect::<BTreeSet<_>>().len());
        assert_eq!(got, [3, 6], "without packet {lost}");
    }
}

#[test]
fn copies_are_delivered_once_and_order_does_not_matter() {
    let twice = conversation(Box::new(|_| vec![(DELAY, false), (DELAY * 3, false)]));
    assert_eq!(twice.received.each_ref().map(Vec::len), [3, 6]);
    assert!(twice.ends.iter().map(|end| end.statistics().duplicates_received).sum::<u64>() >= 9);
    let late = |number: usize| DELAY * [1, 5, 2, 7, 3][number % 5];
    let shuffled = conversation(Box::new(move |number| vec![(late(number), false)]));
    assert_eq!(shuffled.received.each_ref().map(Vec::len), [3, 6]);
    for pair in [twice, shuffled] {
        assert_eq!(pair.ends.each_ref().map(|end| (end.state(), end.error())), [(State::Closed, None); 2]);
    }
}

/// Four datagrams at once, the others when those are acknowledged; and no more than the queue holds.
#[test]
fn the_window_and_the_queue_hold_back() {
    let mut pair = Pair::lossless(&DccpConfig::default());
    pair.run_for(Duration::from_secs(1));
    let taken = (0..12u8).filter(|&number| pair.send(0, &[number])).count();
    assert_eq!(taken, 4 + 5);
    assert_eq!(pair.ends[0].statistics().datagrams_dropped, 3);
    assert_eq!((pair.ends[0].window(), pair.ends[0].waiting()), ((4, 4), 5));
    pair.run_for(DELAY * 2);
    assert_eq!(pair.ends[0].waiting(), 0, "four acknowledged, the window has grown to six");
    pair.run_for(Duration::from_secs(1));
    assert_eq!(pair.received[1].len(), 9);
    assert_eq!(pair.ends[0].smoothed_rtt().map(|rtt| rtt >= DELAY * 2), Some(true));
}

/// Data that waits when the connection ends comes back, and so does data that is sent then.
#[test]
fn what_was_not_sent_comes_back() {
    let config = DccpConfig { initial_window: 1, ..DccpConfig::default() };
    let mut pair = Pair::lossless(&config);
    pair.run_for(Duration::from_secs(1));
    (0..3u8).for_each(|number| assert!(pair.send(0, &[number])));
    pair.close(1);
    pair.run_for(DELAY);
    let client = &mut pair.ends[0];
    assert_eq!(client.state(), State::Closing);
    assert_eq!(std::iter::from_fn(|| client.poll_dropped()).collect::<Vec<_>>(), [[1], [2]]);
    assert_eq!(client.send(vec![9]), Err(SendError::Closed(vec![9])));
    pair.run_for(Duration::from_secs(1));
    assert_eq!(pair.received[1], [[0]]);
    assert_eq!(pair.ends.each_ref().map(|end| end.error()), [None; 2]);

    let mut silent = Pair::new(&config, Box::new(|_| vec![]));
    assert!(silent.send(0, b"hello"));
    silent.run_for(Duration::from_secs(600));
    assert_eq!(silent.ends[0].poll_dropped().as_deref(), Some(&b"hello"[..]));
}

/// RFC 4341 section 6.2. The server sends no data: without these its vectors would tell all packets since the first.
#[test]
fn acknowledgements_are_acknowledged_once_in_a_window() {
    let mut pair = Pair::lossless(&DccpConfig::default());
    pair.run_for(Duration::from_secs(1));
    let before = pair.log.len();
    for number in 0..200u8 {
        assert!(pair.send(0, &[number]));
        pair.run_for(DELAY);
    }
    let data = types(&pair)[before..].iter().filter(|name| **name == "Data").count();
    let with_ack = types(&pair)[before..].iter().filter(|name| **name == "DataAck").count();
    assert_eq!((data + with_ack, pair.received[1].len()), (200, 200));
    assert!((2..50).contains(&with_ack), "{with_ack} of 200, in windows of 4 and more");
    let last = pair.log.iter().rev().find(|sent| sent.end == 1).unwrap();
    let told: u64 = {
        let packet = Packet::parse(&last.octets).unwrap();
        let vector = Options::new(packet.options).next().unwrap();
        runs(packet.body.ack().unwrap(), vector.data).map(|run| run.packets).sum()
    };
    assert!(told < 150, "{told} packets in a vector");
}

#[test]
fn marks_and_losses_make_the_window_smaller() {
    let mut pair = Pair::lossless(&DccpConfig::default());
    pair.run_for(Duration::from_secs(1));
    let first = pair.log.len(); // the number of the first packet of data

    let marked = move |number| vec![(DELAY, number == first)];
    let mut pair = Pair::new(&DccpConfig::default(), Box::new(marked));
    pair.run_for(Duration::from_secs(1));
    (0..4u8).for_each(|number| assert!(pair.send(0, &[number])));
    pair.run_for(Duration::from_secs(1));
    assert_eq!(pair.received[1].len(), 4, "a marked packet has arrived");
    let client = &pair.ends[0];
    assert_eq!((client.statistics().congestion_events, client.statistics().timeouts), (1, 0));
    assert!(client.window().0 < 4, "{:?}", client.window());

    let lost = move |number| if (first..first + 4).contains(&number) { vec![] } else { vec![(DELAY, false)] };
    let mut pair = Pair::new(&DccpConfig::default(), Box::new(lost));
    pair.run_for(Duration::from_secs(1));
    (0..5u8).for_each(|number| assert!(pair.send(0, &[number])));
    pair.run_for(Duration::from_secs(10));
    assert_eq!(pair.received[1].len(), 1, "what is lost is not repeated");
    assert_eq!(pair.ends[0].statistics().timeouts, 1, "the fifth was let out by the timer");
}

#[test]
fn an_ack_ratio_of_one_has_no_delays() {
    let config = DccpConfig { ack_ratio: 1, ..DccpConfig::default() };
    let mut pair = Pair::lossless(&config);
    pair.run_for(Duration::from_secs(1));
    let before = pair.log.len();
    assert!(pair.send(0, b"one"));
    pair.run_for(DELAY * 2);
    assert_eq!(types(&pair)[before..], ["DataAck", "Ack"]);
    assert_eq!(pair.log.last().unwrap().at, pair.now - DELAY);
}

#[test]
fn the_server_asks_the_client_to_close() {
    let mut pair = Pair::lossless(&DccpConfig::default());
    pair.send(0, b"hello");
    pair.run_for(Duration::from_secs(1));
    pair.send(1, b"the last one");
    pair.close(1);
    pair.run_for(Duration::from_secs(5));
    assert_eq!(pair.received[0], [b"the last one"]);
    assert_eq!(types(&pair)[types(&pair).len() - 3..], ["CloseReq", "Close", "Reset"]);
    assert_eq!(pair.ends.each_ref().map(|end| end.state()), [State::TimeWait, State::Closed]);
    assert_eq!(pair.ends.each_ref().map(|end| end.error()), [None; 2]);
}

/// A round trip of no time: the Close is lost, and what is repeated waits all the same.
#[test]
fn a_path_that_takes_no_time_does_not_repeat_without_end() {
    let fate = |number| if number > 4 { vec![] } else { vec![(Duration::ZERO, false)] };
    let mut pair = Pair::new(&DccpConfig::default(), Box::new(fate));
    assert!(pair.send(0, b"hello"));
    pair.run_for(Duration::from_secs(5));
    pair.close(0);
    pair.run_for(Duration::from_secs(600));
    assert_eq!(pair.ends[0].state(), State::Closed);
    assert!(pair.log.len() < 60, "{} packets", pair.log.len());
}

#[test]
fn an_end_that_hears_nothing_gives_up() {
    let mut pair = Pair::new(&DccpConfig::default(), Box::new(|_| vec![]));
    pair.run_for(Duration::from_secs(600));
    assert_eq!((pair.ends[0].state(), pair.ends[0].error()), (State::Closed, Some(ConnectionError::TimedOut)));
    let times: Vec<u64> = pair.log.iter().map(|sent| sent.at.since(Instant::ZERO).as_micros() / 1_000_000).collect();
    assert_eq!(times, [0, 1, 3, 7, 15, 31, 63, 127], "doubled up to 64 s");

    // The server's Response is never answered, and the client never learns that it was heard.
    let mut pair =
        Pair::new(&DccpConfig::default(), Box::new(|number| if number < 2 { vec![(DELAY, false)] } else { vec![] }));
    pair.run_for(Duration::from_secs(1_500));
    assert_eq!(pair.ends.each_ref().map(|end| end.error()), [Some(ConnectionError::TimedOut); 2]);
}
