//! The link layer learns when a handshake begins and when it is over.

use crate::{MBEDTLS_PSK, plan};
use slowhand_lab::application::{Application, OpenAndStop};
use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::observer::{FrameKind, Observer, Transmission};
use slowhand_sessions::Role;

const START: Instant = Instant::from_micros(100_000_000);

/// Keeps its session open for a while, and says nothing.
#[derive(Default)]
struct Silent {
    until: Option<Instant>,
    is_over: bool,
}

impl Application for Silent {
    fn handle_established(&mut self, now: Instant) {
        self.until = Some(now + Duration::from_secs(20));
    }

    fn handle_timeout(&mut self, _now: Instant) {
        (self.until, self.is_over) = (None, true);
    }

    fn deadline(&self) -> Option<Instant> {
        self.until
    }

    fn is_finished(&self) -> bool {
        self.is_over
    }
}

/// When messages of 6P are sent.
#[derive(Default)]
struct Negotiations(Vec<Instant>);

impl Observer for Negotiations {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        if frame.kind == FrameKind::SixTop {
            self.0.push(frame.at);
        }
    }
}

/// The number of messages of 6P in the two seconds after a handshake began, and in the ten seconds after its end.
fn negotiations(scheduling: &str) -> [usize; 2] {
    let mac = format!("mac={{ kind = \"tsch\", slotframe = 101, scheduling = \"{scheduling}\" }}");
    let plan = plan(&[MBEDTLS_PSK, &[&mac, "client.start_s=100", "session.timeout_s=20"]].concat());
    let applications = |_: NodeId, role: Role| -> Box<dyn Application> {
        match role {
            Role::Client => Box::new(Silent::default()),
            Role::Server => Box::new(OpenAndStop),
        }
    };
    let mut seen = Negotiations::default();
    let conversations = plan.run_applications(1, &applications, &mut seen);
    let handshake = conversations[0].handshake.duration_s.expect("a handshake");
    let established = START + Duration::from_micros((handshake * 1e6).round() as u64);
    let between = |from: Instant, span| seen.0.iter().filter(|&&at| from <= at && at < from + span).count();
    [between(START, Duration::from_secs(2)), between(established, Duration::from_secs(10))]
}

#[test]
fn a_tunnel_is_there_for_the_time_of_a_handshake() {
    let [begin, end] = negotiations("tunnel");
    let [quiet, still_quiet] = negotiations("msf");
    assert!(begin > quiet, "cells are added: {begin} messages, {quiet} without a tunnel");
    assert!(end > still_quiet, "they are removed: {end} messages, {still_quiet} without a tunnel");
}
