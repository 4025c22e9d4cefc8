use super::*;
use crate::link::{Capture, LinkQuality, Links};
use crate::random::Streams;

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);
const FRAME: Duration = Duration::from_micros(1000);

/// A and C hear B, but not each other.
fn hidden_terminals() -> Medium {
    let links = [LinkQuality::symmetric(A, B, 1.0), LinkQuality::symmetric(B, C, 1.0)].concat();
    Medium::new(26, Links::new(3, &links, &Streams::new(1)))
}

fn at(us: u64) -> Instant {
    Instant::from_micros(us)
}

fn end(medium: &mut Medium, frame: OnAir) -> Vec<(NodeId, Outcome)> {
    let mut receptions = Vec::new();
    medium.end(frame, Kind::Data, &mut receptions);
    receptions.into_iter().map(|Reception { node, outcome }| (node, outcome)).collect()
}

#[test]
fn everyone_who_listens_and_hears_the_sender_gets_its_frame() {
    let mut medium = hidden_terminals();
    let frame = medium.begin(at(0), B, FRAME, |_| true);
    assert_eq!(end(&mut medium, frame), [(A, Outcome::Received), (C, Outcome::Received)]);
    let frame = medium.begin(at(2000), B, FRAME, |node| node == C);
    assert_eq!(end(&mut medium, frame), [(C, Outcome::Received)]);
    let frame = medium.begin(at(4000), A, FRAME, |_| true);
    assert_eq!(end(&mut medium, frame), [(B, Outcome::Received)]);
}

#[test]
fn hidden_terminals_collide_in_the_middle() {
    let mut medium = hidden_terminals();
    let first = medium.begin(at(0), A, FRAME, |_| true);
    let second = medium.begin(at(999), C, FRAME, |_| true);
    assert_eq!(end(&mut medium, first), [(B, Outcome::Collided)]);
    assert_eq!(end(&mut medium, second), [], "B was not free to synchronise with the second frame");
}

#[test]
fn frames_that_only_touch_do_not_collide() {
    // In either order of the two events at the instant of 1,000 us.
    for end_first in [true, false] {
        let mut medium = hidden_terminals();
        let first = medium.begin(at(0), A, FRAME, |_| true);
        let ended = end_first.then(|| end(&mut medium, first));
        let second = medium.begin(at(1000), C, FRAME, |_| true);
        let ended = ended.unwrap_or_else(|| end(&mut medium, first));
        assert_eq!(ended, [(B, Outcome::Received)]);
        assert_eq!(medium.receiving_until(at(1000), B), Some(at(2000)));
        assert_eq!(end(&mut medium, second), [(B, Outcome::Received)]);
    }
}

#[test]
fn the_rest_of_a_collision_still_disturbs() {
    let mut medium = hidden_terminals();
    let first = medium.begin(at(0), A, FRAME, |_| false);
    let second = medium.begin(at(900), C, FRAME, |_| false);
    end(&mut medium, first);
    // B switches on in the middle of C's frame, which is enough to spoil what A sends now.
    let third = medium.begin(at(1500), A, FRAME, |_| true);
    end(&mut medium, second);
    assert_eq!(end(&mut medium, third), []);
    let fourth = medium.begin(at(2500), A, FRAME, |_| true);
    assert_eq!(end(&mut medium, fourth), [(B, Outcome::Received)]);
}

#[test]
fn who_sends_or_stops_listening_receives_nothing() {
    let mut medium = hidden_terminals();
    let heard = medium.begin(at(0), A, FRAME, |_| true);
    let sent = medium.begin(at(500), B, FRAME, |_| true);
    assert_eq!(end(&mut medium, heard), [(B, Outcome::Missed)]);
    assert_eq!(end(&mut medium, sent), [(C, Outcome::Received)], "A was sending");
    let heard = medium.begin(at(3000), A, FRAME, |_| true);
    medium.stop_listening(at(3999), B);
    assert_eq!(end(&mut medium, heard), [(B, Outcome::Missed)]);
    let heard = medium.begin(at(5000), A, FRAME, |_| true);
    medium.stop_listening(at(6000), B);
    assert_eq!(end(&mut medium, heard), [(B, Outcome::Received)], "it had the last symbol");
}

#[test]
fn clear_channel_assessment_looks_back_over_8_symbols() {
    let mut medium = hidden_terminals();
    assert!(!medium.busy(at(0), B));
    let frame = medium.begin(at(1000), A, FRAME, |_| false);
    assert!(!medium.busy(at(1000), B), "nothing was audible before this instant");
    assert!(medium.busy(at(1001), B));
    assert!(!medium.busy(at(1001), C), "C is hidden from A");
    assert!(!medium.busy(at(1001), A), "A's own frame is none of another node");
    end(&mut medium, frame);
    assert!(medium.busy(at(2000), B));
    assert!(medium.busy(at(2127), B));
    assert!(!medium.busy(at(2128), B));
    medium.begin(at(2050), C, FRAME, |_| false);
    assert!(medium.busy(at(2050), B), "the frame before is still within the 8 symbols");
}

#[test]
fn a_link_that_delivers_nothing_interferes() {
    let links = [LinkQuality::symmetric(A, B, 1.0), LinkQuality::symmetric(B, C, 0.0)].concat();
    let mut medium = Medium::new(26, Links::new(3, &links, &Streams::new(1)));
    let frame = medium.begin(at(0), C, FRAME, |_| true);
    assert_eq!(end(&mut medium, frame), [(B, Outcome::Lost)]);
    let frame = medium.begin(at(2000), A, FRAME, |_| true);
    medium.begin(at(2100), C, FRAME, |_| true);
    assert_eq!(end(&mut medium, frame), [(B, Outcome::Collided)]);
}

#[test]
fn ending_a_frame_twice_changes_nothing() {
    let mut medium = hidden_terminals();
    let frame = medium.begin(at(0), A, FRAME, |_| true);
    assert_eq!(end(&mut medium, frame).len(), 1);
    assert_eq!(end(&mut medium, frame), []);
    let (one, other) = (medium.begin(at(2000), A, FRAME, |_| true), medium.begin(at(2000), C, FRAME, |_| true));
    assert_ne!(one, other);
}

/// B hears A, C and D, which do not hear each other, with these powers. 3 dB more than the others are enough.
fn with_powers(powers: [f64; 3]) -> Medium {
    let senders = [A, C, NodeId(3)];
    let links: Vec<LinkQuality> =
        senders.into_iter().flat_map(|sender| LinkQuality::symmetric(sender, B, 1.0)).collect();
    let powers_db = senders.into_iter().map(|sender| (sender, B)).zip(powers).collect();
    let capture = Capture { threshold_db: 3.0, spread_db: 0.0, powers_db };
    let streams = Streams::new(1);
    Medium::new(26, Links::new(4, &links, &streams).capturing(&capture, &streams))
}

/// The outcomes at B of frames that begin at these times.
fn outcomes(powers: [f64; 3], begins: &[(NodeId, u64)]) -> Vec<Vec<(NodeId, Outcome)>> {
    let mut medium = with_powers(powers);
    let frames: Vec<OnAir> =
        begins.iter().map(|&(sender, begin)| medium.begin(at(begin), sender, FRAME, |_| true)).collect();
    frames.into_iter().map(|frame| end(&mut medium, frame)).collect()
}

#[test]
fn a_frame_survives_weaker_ones() {
    let received = vec![(B, Outcome::Received)];
    let collided = vec![(B, Outcome::Collided)];
    // 3 dB are enough, 2.9 dB are not.
    assert_eq!(outcomes([3.0, 0.0, 0.0], &[(A, 0), (C, 500)]), [received.clone(), vec![]]);
    assert_eq!(outcomes([2.9, 0.0, 0.0], &[(A, 0), (C, 500)]), [collided.clone(), vec![]]);
    // Two others are 3 dB together.
    let d = NodeId(3);
    assert_eq!(outcomes([5.9, 0.0, 0.0], &[(A, 0), (C, 500), (d, 600)]), [collided.clone(), vec![], vec![]]);
    assert_eq!(outcomes([6.1, 0.0, 0.0], &[(A, 0), (C, 500), (d, 600)]), [received.clone(), vec![], vec![]]);
    // One after the other they are not.
    let mut medium = with_powers([5.9, 0.0, 0.0]);
    let frame = medium.begin(at(0), A, FRAME, |_| true);
    for (sender, begin) in [(C, 300), (d, 500)] {
        let short = medium.begin(at(begin), sender, Duration::from_micros(200), |_| true);
        assert_eq!(end(&mut medium, short), []);
    }
    assert_eq!(end(&mut medium, frame), received);
}

/// The radio leaves a frame for a stronger one in the first 160 us. After that both are lost.
#[test]
fn a_stronger_frame_must_come_early() {
    let [received, collided] = [Outcome::Received, Outcome::Collided].map(|outcome| vec![(B, outcome)]);
    assert_eq!(outcomes([0.0, 9.0, 0.0], &[(A, 0), (C, 159)]), [collided.clone(), received]);
    assert_eq!(outcomes([0.0, 9.0, 0.0], &[(A, 0), (C, 160)]), [collided, vec![]]);
}

#[test]
fn the_order_at_one_instant_does_not_matter() {
    let d = NodeId(3);
    for order in [[A, C, d], [A, d, C], [C, A, d], [C, d, A], [d, A, C], [d, C, A]] {
        let begins = order.map(|sender| (sender, 0));
        for (powers, survivor) in [([0.0, 1.0, 6.7], Some(d)), ([0.0, 1.0, 6.4], None), ([9.0, 1.0, 1.0], Some(A))] {
            let all = outcomes(powers, &begins);
            let received: Vec<NodeId> = order
                .into_iter()
                .zip(&all)
                .filter(|(_, seen)| seen.contains(&(B, Outcome::Received)))
                .map(|(sender, _)| sender)
                .collect();
            assert_eq!(received, Vec::from_iter(survivor), "{order:?} {powers:?}");
        }
    }
}
