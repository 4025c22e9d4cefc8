use super::*;
use crate::link::{LinkQuality, Links};
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
