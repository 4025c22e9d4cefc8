//! Changes while the network runs: outages that a test has planned.

use super::{ONE_HOP, setup, start, wait_for};
use slowhand_live::{Event, Live, Setup, Ways};

/// Ten times as fast as real. The client sends again after 9 s, and after 18 s more.
fn network(text: &str) -> Live {
    let text = text.replace("session = {", "session = { timeout_s = 9, max_timeout_s = 60, server_timeout_s = 9,");
    start(&text, Setup { speed: 10.0, ..setup(Ways::Emulated) })
}

fn changed(live: &Live) -> (f64, String) {
    wait_for(live, |event| match event {
        Event::Changed { time_s, change } => Some((*time_s, change.clone())),
        _ => None,
    })
}

fn established(live: &Live) -> f64 {
    wait_for(live, |event| match event {
        Event::Established { time_s, .. } => Some(*time_s),
        _ => None,
    })
}

/// A client begins at 60 s and would take less than a second. It gets through only when the link works again.
fn is_held_up(live: &Live, off: impl Fn(&Live), on: impl Fn(&Live)) -> f64 {
    off(live);
    while live.snapshot().unwrap().time_s < 70.0 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    on(live);
    let (on_again, _) = changed(live);
    let established = established(live);
    assert!(established >= on_again.max(70.0), "{established} before {on_again}");
    established - on_again
}

const LATER: &str = "client = { start_s = 60,";

#[test]
fn a_link_fails_and_works_again() {
    let live = network(&ONE_HOP.replace("client = {", LATER));
    let off = |live: &Live| {
        live.set("network.link_pdr=0").unwrap();
        assert_eq!(changed(live).1, "network.link_pdr=0");
    };
    let after = is_held_up(&live, off, |live| live.set("network.link_pdr=1").unwrap());
    // The client sends again at 69 s, at 87 s, and at 123 s if this computer was busy at 87 s.
    assert!(after < 61.0, "{after}");
}

#[test]
fn a_node_is_switched_off_and_on() {
    let live = network(&ONE_HOP.replace("client = {", LATER));
    let off = |live: &Live| {
        live.switch(1, false).unwrap();
        assert_eq!(changed(live).1, "node 1 off");
        assert!(!live.snapshot().unwrap().nodes[1].on);
    };
    let after = is_held_up(&live, off, |live| live.switch(1, true).unwrap());
    // The datagrams that it has sent wait in its queue.
    assert!(after < 3.0, "{after}");
}

#[test]
fn what_cannot_change_is_refused_in_words() {
    let live = start(&waiting(), setup(Ways::Emulated));
    let refused = live.set("session.stack=openssl").unwrap_err();
    assert!(
        refused.starts_with("--set session.stack: found a key that cannot change while the network runs"),
        "{refused}"
    );
    let refused = live.set("network.link_pdr=often").unwrap_err();
    assert!(refused.starts_with("--set network.link_pdr: found \"often\", allowed: a probability"), "{refused}");
    assert!(live.set("network.link_pdr").unwrap_err().contains("found no value"));
    assert!(live.switch(2, false).unwrap_err().contains("allowed: 0 to 1"));
}

/// A network whose client does not begin while a test runs: with its session, the network would end.
fn waiting() -> String {
    ONE_HOP.replace("client = {", "client = { start_s = 100_000,")
}

/// Changes do not make the network late: each reads the scenario anew.
#[test]
fn many_changes_one_after_the_other() {
    let live = start(&waiting(), setup(Ways::Emulated));
    let began = std::time::Instant::now();
    for number in 0..200 {
        live.set(&format!("network.link_pdr=0.{number}")).unwrap();
    }
    let mean = began.elapsed() / 200;
    println!("a change takes {mean:?}");
    assert!(mean < std::time::Duration::from_millis(200), "{mean:?}"); // half a millisecond on an idle computer
}
