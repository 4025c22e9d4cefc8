//! DTLS: an emulated client, and a server with a socket.

use super::server::Server;
use super::{COMPUTER, Handshake, in_parallel, in_time, median, run_live, run_virtual};
use slowhand_lab::scenario::Scenario;
use slowhand_live::{Report, Ways};

/// A handshake of about half a second, whose timers do not expire on a computer that is busy.
const SCENARIO: &str = r#"
    network = { topology = { kind = "line", hops = 1 }, link_pdr = 0.9 }
    mac = { kind = "tsch", slot_ms = 10, slotframe = 3, cells = { shared = 1, up = 1, down = 1 } }
    client = { device = "nrf52840" }
    session = { stack = "mbedtls", suite = "TLS_PSK_WITH_AES_128_CCM_8", timeout_s = 9 }
"#;

const SEEDS: u64 = 50;

const AT_ONCE: usize = 25;

/// The slot of the scenario.
const SLOT_MS: f64 = 10.0;

fn live(scenario: &Scenario) -> (Vec<Handshake>, Vec<Report>) {
    let run = |seed| {
        let server = Server::over_udp(scenario);
        run_live(scenario, seed, Ways::Clients { server: server.address })
    };
    let seeds: Vec<u64> = (1..=SEEDS).collect();
    in_parallel(&seeds, AT_ONCE, |seed| in_time(SLOT_MS, || run(*seed))).into_iter().unzip()
}

/// Where the same frames are lost, the octets on the air are the same: the nth frame of a link has the same fate in both.
/// One exception: what the link layer still repeats when the world of virtual time has ended.
#[test]
fn the_handshakes_of_fifty_seeds_agree() {
    let _computer = COMPUTER.lock();
    let scenario: Scenario = SCENARIO.parse().unwrap();
    let virtual_ones = run_virtual(&scenario, SEEDS);
    let (live_ones, reports) = live(&scenario);
    let same = virtual_ones.iter().zip(&live_ones).filter(|(one, other)| one.octets == other.octets).count();
    let median_of = |handshakes: &[Handshake]| median(handshakes.iter().map(|handshake| handshake.duration_s));
    let (expected, found) = (median_of(&virtual_ones), median_of(&live_ones));
    let lateness = median(reports.iter().map(|report| report.lateness_ms.p99));
    println!(
        "median: virtual {expected:.3} s, live {found:.3} s; {same} of {SEEDS} with the same octets on the air; \
         p99 of the lateness {lateness:.2} ms"
    );
    assert!((found / expected - 1.0).abs() < 0.1, "virtual {expected} s, live {found} s");
    assert!(same >= 45, "{same} of {SEEDS}: {virtual_ones:?}, {live_ones:?}");
}

/// Without losses nothing is left to chance.
#[test]
fn without_losses_the_octets_on_the_air_are_the_same() {
    let scenario: Scenario = SCENARIO.replace("link_pdr = 0.9", "link_pdr = 1").parse().unwrap();
    let server = Server::over_udp(&scenario);
    let (live, _) = run_live(&scenario, 1, Ways::Clients { server: server.address });
    assert_eq!(live.octets, run_virtual(&scenario, 1)[0].octets);
}
