//! Handshakes one after the other. This test has a process of its own, whose memory and descriptors it counts.

#[path = "live/peers.rs"]
mod peers;

use peers::{client, loopback, octets, server};
use slowhand_lab::scenario::Scenario;
use slowhand_live::{Event, Live, Proxy, Setup, Transport, Ways};
use std::time::Duration;

/// A short slotframe of 6TiSCH over one hop, with a PSK.
const ONE_HOP: &str = r#"
    network = { topology = { kind = "line", hops = 1 } }
    mac = { kind = "tsch", slot_ms = 10, slotframe = 3, cells = { shared = 1, up = 1, down = 1 } }
    client = { device = "nrf52840" }
    session = { stack = "lean-dtls", suite = "TLS_PSK_WITH_AES_128_CCM_8", timeout_s = 9 }
"#;

const PATIENCE: Duration = Duration::from_secs(60);

fn is_full() -> bool {
    std::env::var_os("SLOWHAND_FULL").is_some()
}

/// Sequential handshakes, each from a port of its own: 10,000 with `--full`.
#[test]
fn sequential_handshakes_leave_nothing_behind() {
    let count = if is_full() { 10_000 } else { 300 };
    let scenario: Scenario = ONE_HOP.parse().unwrap();
    let proxy = Proxy { transport: Transport::Udp, listen: loopback(), server: server(&scenario) };
    let setup = Setup {
        seed: 1,
        speed: 200.0,
        ways: Ways::Proxies(vec![proxy]),
        capture: None,
        record: None,
        control: None,
        duration: None,
        handshakes: None,
    };
    let live = Live::start(&scenario, setup).unwrap();
    let address = live.addresses()[0].listen;
    let (mut early, mut closed) = (None, 0);
    for number in 0..count {
        client(&scenario, address, &octets(40), PATIENCE).unwrap_or_else(|error| panic!("handshake {number}: {error}"));
        while let Some(event) = live.next_event(Duration::ZERO) {
            closed += u64::from(matches!(event, Event::Closed { .. }));
        }
        if number == count / 5 {
            early = Some(memory_and_descriptors());
        }
    }
    let ([memory, descriptors], [early_memory, early_descriptors]) = (memory_and_descriptors(), early.unwrap());
    println!("{early_memory} -> {memory} octets, {early_descriptors} -> {descriptors} descriptors, {closed} closed");
    // Not more than those of the few conversations that linger: 8 of a node.
    assert!(descriptors <= early_descriptors + 8, "{early_descriptors} -> {descriptors}");
    // A record has about a thousand octets, a session some thousands: 8,000 of them would be seen.
    assert!(memory <= early_memory + 2_000_000, "{early_memory} -> {memory}");
    live.stop();
    let report = live.finish().unwrap();
    assert_eq!(report.sessions.completed, count, "{report:?}");
}

/// Resident memory in octets (proc_pid_statm(5)), and the number of open descriptors.
fn memory_and_descriptors() -> [u64; 2] {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    [pages * 4096, std::fs::read_dir("/proc/self/fd").unwrap().count() as u64]
}
