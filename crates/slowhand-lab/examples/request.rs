//! A sensor sends a reading to a server over a secure session and closes it. What does each phase cost?
//!
//! `cargo run -p slowhand-lab --example request`
//!
//! ```text
//! phase      duration s  frames      bytes    energy mJ
//! handshake       2.990      20       1979       10.299
//! data            0.436       4        343        1.434
//! closing         0.240       2        151        0.763
//! ```
//!
//! Each datagram takes one frame on each of the two hops: the reading and the answer are four frames, the close_notify is
//! two. The handshake timeout of 9 s (RFC 7925 section 11) is longer than the handshake. With mbedTLS's own 1 s the ends
//! repeat flights, some of them in the data phase.

use slowhand_lab::application::{Action, Application};
use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::Scenario;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_sessions::Role;

/// The client: it sends one reading, waits for the answer, and closes.
#[derive(Default)]
struct Sensor {
    next: Option<Action>,
    answered: bool,
}

impl Application for Sensor {
    fn handle_established(&mut self, _now: Instant) {
        self.next = Some(Action::Write(b"temperature 21.5 C".to_vec()));
    }

    fn handle_data(&mut self, _now: Instant, _data: &[u8]) {
        self.answered = true;
        self.next = Some(Action::Close);
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.next.take()
    }

    fn is_finished(&self) -> bool {
        self.answered && self.next.is_none()
    }
}

/// The server: it answers whatever arrives.
#[derive(Default)]
struct Collector {
    next: Option<Action>,
}

impl Application for Collector {
    fn handle_data(&mut self, _now: Instant, _data: &[u8]) {
        self.next = Some(Action::Write(b"stored".to_vec()));
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.next.take()
    }

    fn is_finished(&self) -> bool {
        self.next.is_none()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scenario: Scenario = r#"
        network = { topology = { kind = "line", hops = 2 } }
        mac = { kind = "tsch", slotframe = 11 }
        client = { device = "openmote-cc2538" }
        session = { stack = "mbedtls", suite = "TLS_PSK_WITH_AES_128_CCM_8", timeout_s = 9 }
    "#
    .parse()?;
    let applications = |_client: NodeId, role: Role| -> Box<dyn Application> {
        match role {
            Role::Client => Box::new(Sensor::default()),
            Role::Server => Box::new(Collector::default()),
        }
    };
    println!("{:<10} {:>10} {:>7} {:>10} {:>12}", "phase", "duration s", "frames", "bytes", "energy mJ");
    for conversation in Plan::new(&scenario)?.run_applications(1, &applications, &mut ()) {
        for phase in conversation.phases {
            println!(
                "{:<10} {:>10.3} {:>7} {:>10} {:>12.3}",
                phase.phase.name(),
                phase.duration_s,
                phase.costs.frames,
                phase.costs.bytes_phy,
                phase.energy_client.total_mj(),
            );
        }
    }
    Ok(())
}
