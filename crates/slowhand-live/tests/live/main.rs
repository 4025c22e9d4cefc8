//! A live network and what is at its ends: sockets of this process, and emulated sessions.

mod changes;
mod emulated;
mod faults;
mod load;
mod peers;
mod proxies;
mod replays;

use slowhand_lab::record::Record;
use slowhand_lab::scenario::Scenario;
use slowhand_live::{Event, Live, Report, Setup, Ways};
use std::time::{Duration, Instant};

/// A short slotframe of 6TiSCH over one hop, with a PSK.
const ONE_HOP: &str = r#"
    network = { topology = { kind = "line", hops = 1 } }
    mac = { kind = "tsch", slot_ms = 10, slotframe = 3, cells = { shared = 1, up = 1, down = 1 } }
    client = { device = "nrf52840" }
    session = { stack = "mbedtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
"#;

fn scenario(text: &str) -> Scenario {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn setup(ways: Ways) -> Setup {
    Setup { seed: 1, speed: 1.0, ways, capture: None, record: None, control: None, duration: None, handshakes: None }
}

fn start(text: &str, setup: Setup) -> Live {
    Live::start(&scenario(text), setup).unwrap_or_else(|error| panic!("{error}"))
}

/// Waits for an event, and returns what `choose` makes of it.
fn wait_for<T>(live: &Live, mut choose: impl FnMut(&Event) -> Option<T>) -> T {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        let Some(event) = live.next_event(Duration::from_millis(100)) else { continue };
        if let Some(chosen) = choose(&event) {
            return chosen;
        }
    }
    panic!("no such event within a minute");
}

/// Stops a network: the records of its conversations, and its report.
fn stop(live: Live) -> (Vec<Record>, Report) {
    live.stop();
    let records = records(&live);
    (records, live.finish().unwrap())
}

/// The records until the network ends.
fn records(live: &Live) -> Vec<Record> {
    let mut records = Vec::new();
    wait_for(live, |event| match event {
        Event::Closed { record, .. } => {
            records.push((**record).clone());
            None
        }
        Event::Ended { .. } => Some(()),
        _ => None,
    });
    records
}
