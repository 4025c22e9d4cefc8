//! The life of a device: an estimate agrees with a formula and with a simulation in full.

use crate::{MBEDTLS_PSK, scenario};
use slowhand_lab::battery::Battery;
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::life::{Counts, DAY_S, Life, LifeError, Parts, YEAR_S, estimate, simulate};
use slowhand_lab::plan::Plan;
use std::path::Path;

/// Requests whose times do not keep step with the link layer.
const HOURLY: &[&str] = &["application.pattern=poisson", "application.period_s=3600"];
const MONTH_S: f64 = 30.0 * DAY_S;

const MOTE: &[&str] = &["client.device=openmote-cc2538"];
const SLEEPY: &[&str] = &[
    "client.device=nrf52840",
    "network.topology.hops=2",
    "mac={ kind = \"csma\", sleepy = \"leaves\", poll_period_ms = 30000, max_retries = 1 }",
];
const BEACON: &[&str] = &[
    "client.device=wismote",
    "mac={ kind = \"beacon\", beacon_interval_ms = 15728.64, cap_ms = 30.72 }",
    "session.timeout_s=40",
    "session.max_timeout_s=100",
];

fn estimated(changes: &[&[&str]], seconds: f64) -> Life {
    let life = estimate(&scenario(&changes.concat()), None, seconds, 1, 30, &Interrupt::default());
    life.unwrap_or_else(|error| panic!("{error}")).expect("no interrupt")
}

fn simulated(changes: &[&[&str]], seconds: f64) -> Life {
    let life = simulate(&scenario(&changes.concat()), None, seconds, 1, &Interrupt::default());
    life.unwrap_or_else(|error| panic!("{error}"))
}

/// In one-hop.toml the client listens in one of five slots of 20 ms, for twice the guard time of OpenWSN's long slots.
fn idle_mw() -> f64 {
    const GUARD_MS: f64 = 1.311; // openwsn-fw: TsLongGT, 43 ticks of a clock of 32,768 Hz, 1.311 ms
    let listening = 2.0 * GUARD_MS / 100.0;
    3.0 * (20.0 * listening + 0.0013) // devices/openmote-cc2538.toml: supply_v, radio_listen_ma, cpu_sleep_ma
}

/// The energy that a request takes above that, in millijoules, where nothing is lost and nobody computes. The client sends a data
/// frame and an acknowledgement, and receives one of each. The request has 28 octets more than the response, and nothing else
/// differs. Before each frame on the air are 6 octets, and an octet takes 32 us (IEEE 802.15.4 section 12). The CPU handles each of
/// the four frames: in OpenWSN it writes and reads acknowledgements too.
fn request_mj(octets: f64) -> f64 {
    let [sent, received] = [28.0, -28.0].map(|more| 32e-6 * ((octets + more) / 2.0 + 2.0 * 6.0));
    // It waits for its acknowledgement for the guard time of openwsn-fw, 0.7 ms, and for the response for one guard time, where it
    // would have listened for two.
    let listening = 0.7e-3 - 1.311e-3;
    let handling = 4.0 * 213e-6; // devices/openmote-cc2538.toml: frame_handling_us, cpu_active_ma
    3.0 * (24.0 * sent + 20.0 * (received + listening) + (13.0 - 0.0013) * handling)
}

#[test]
fn a_year_without_losses_agrees_with_a_formula() {
    let changes = [MBEDTLS_PSK, MOTE, &["client.compute_factor=0", "application.pattern=periodic"]].concat();
    let of_period = |seconds: f64| estimated(&[&changes, &[&format!("application.period_s={seconds}")]], YEAR_S);
    for period_s in [3600.0, 2.0] {
        let life = of_period(period_s);
        assert_eq!((life.counts.failed, life.counts.left_out, life.counts.handshakes_full), (0, 0, 1), "{period_s}");
        let octets = life.octets as f64 / life.counts.requests as f64; // those of one handshake are few
        let expected = DAY_S * (idle_mw() + request_mj(octets) / period_s);
        let ratio = life.energy_a_day_mj / expected;
        assert!((ratio - 1.0).abs() < 0.01, "{period_s} s: {} of {expected} mJ", life.energy_a_day_mj);
        let of_one = life.purposes.requests_mj / life.counts.requests as f64;
        assert!((of_one / request_mj(octets) - 1.0).abs() < 0.03, "{of_one} of {} mJ", request_mj(octets));
        let parts = life.purposes;
        let sum = parts.idle_mj + parts.handshakes_mj + parts.requests_mj + parts.keep_alives_mj + parts.closing_mj;
        assert!((sum / life.energy.total_mj() - 1.0).abs() < 1e-9);
    }
    let year = of_period(3600.0);
    assert_eq!((year.seconds, year.counts.requests), (YEAR_S, 8766));
}

/// A month event by event lies where the estimate says that one device does. The time between requests is the same in both.
#[test]
fn a_month_in_full_agrees_with_the_estimate() {
    let lossy: &[&str] = &["network.link_pdr=0.6", "mac.max_retries=1", "session.timeout_s=1"];
    let cases: [(&str, &[&[&str]]); 19] = [
        ("tsch", &[MOTE]),
        ("tsch, losses", &[MOTE, lossy]),
        ("tsch, resumed", &[MOTE, &["session.resumption=id", "application.session=resumed"]]),
        (
            "tsch, anew, losses",
            &[MOTE, lossy, &["application.session=anew", "application.retry={ kind = \"exponential\" }"]],
        ),
        ("tsch, a NAT", &[MOTE, &["application.idle_timeout_s=300"]]),
        ("tsch, keep-alives", &[MOTE, &["application.idle_timeout_s=300", "application.keep_alive_s=290"]]),
        ("tsch, rekeying", &[MOTE, &["application.rekey_after_s=40000", "session.resumption=id"]]),
        ("tls", &[MOTE, &["session.protocol=tls1.2"]]),
        ("csma", &[SLEEPY]),
        ("csma, losses", &[SLEEPY, &["network.link_pdr=0.7"]]),
        ("beacon", &[BEACON]),
        ("beacon, losses", &[BEACON, &["network.link_pdr=0.85"]]),
        ("coap", &[MOTE, lossy, &["session.protocol=coap"]]),
        ("oscore", &[MOTE, lossy, &["session.protocol=oscore", "application.idle_timeout_s=300"]]),
        ("edhoc", &[MOTE, lossy, &["session.protocol=edhoc", "application.session=anew"]]),
        (
            "edhoc, combined",
            &[
                SLEEPY,
                &["session.protocol=edhoc", "application.rekey_after_s=40000"],
                &["session.edhoc.combined=true", "application.requests=1"],
            ],
        ),
        ("coap, dtls", &[MOTE, lossy, &["session.protocol=coap+dtls1.2", "application.idle_timeout_s=300"]]),
        ("coap, tcp", &[MOTE, &["session.protocol=coap+tcp", "application.session=anew"]]),
        ("coap, tls", &[MOTE, &["session.protocol=coap+tls1.2"]]),
    ];
    for (name, case) in cases {
        let changes = [&[MBEDTLS_PSK, HOURLY], case].concat();
        let (estimated, simulated) = (estimated(&changes, MONTH_S), simulated(&changes, MONTH_S));
        assert_eq!(simulated.seconds, MONTH_S, "{name}");
        let [low, high] = estimated.energy_a_day_one95.unwrap();
        let found = simulated.energy_a_day_mj;
        assert!((low..=high).contains(&found), "{name}: {found} mJ a day, and {low} to {high} estimated");
        let [low, high] = estimated.energy_a_day_ci95.unwrap();
        assert!(low < estimated.energy_a_day_mj && estimated.energy_a_day_mj < high, "{name}");
        let ratio = estimated.octets_a_day / simulated.octets_a_day;
        assert!((ratio - 1.0).abs() < 0.2, "{name}: octets {ratio}");
    }
}

/// A month of requests has the octets on the air of so many requests of runs (`application.requests`), and no handshake.
#[test]
fn requests_of_coap_are_those_of_a_run() {
    for protocol in ["coap", "oscore"] {
        let protocol = format!("session.protocol={protocol}");
        let life = estimated(&[MBEDTLS_PSK, MOTE, HOURLY, &[&protocol]], MONTH_S);
        let run = Plan::new(&scenario(&[MBEDTLS_PSK, MOTE, &[&protocol, "application.requests=1"]].concat())).unwrap();
        let costs = run.run(1, &mut ()).remove(0).data.unwrap().costs;
        let of_request = costs.bytes_phy + costs.bytes_ack;
        let Counts { requests, handshakes_full, handshakes_failed, failed, .. } = life.counts;
        assert_eq!((handshakes_full, handshakes_failed, failed), (0, 0, 0), "{protocol}");
        assert_eq!(life.octets, requests * of_request, "{protocol}");
        assert_eq!(life.purposes.handshakes_mj, 0.0, "{protocol}");
    }
}

/// A body in blocks is many exchanges: it may take longer than one, and is not given up.
#[test]
fn a_body_in_many_blocks_may_take_long() {
    let slow: &[&str] = &[
        "mac={ kind = \"tsch\", slotframe = 401 }",
        "session.protocol=coap",
        "session.coap.block_bytes=16",
        "application.pattern=once",
        "application.bytes=1024",
        "application.piece_bytes=1024",
    ];
    let life = simulated(&[MBEDTLS_PSK, MOTE, slow], DAY_S / 2.0);
    assert_eq!((life.counts.requests, life.counts.failed), (1, 0));
    // EXCHANGE_LIFETIME (RFC 7252 section 4.8.2).
    assert!(life.latency_s.unwrap().min > 247.0);
}

/// Messages that OSCORE protects are bound to no address, so they go on when a NAT has forgotten the client. So does CoAP alone.
#[test]
fn protected_messages_outlive_a_nat() {
    let hourly: &[&str] = &["application.pattern=periodic", "application.period_s=3600"];
    let handshakes = |protocol: &str, more: &[&str]| {
        let protocol = format!("session.protocol={protocol}");
        let nat: &[&str] = &[&protocol, "application.idle_timeout_s=30"];
        let life = simulated(&[MBEDTLS_PSK, MOTE, hourly, nat, more], DAY_S);
        assert_eq!((life.counts.requests, life.counts.failed), (24, 0), "{protocol}");
        life.counts.handshakes_full
    };
    let rekeying = &["application.rekey_after_s=43200"];
    assert_eq!(["coap", "oscore", "edhoc"].map(|protocol| handshakes(protocol, &[])), [0, 0, 1]);
    assert_eq!(["edhoc", "coap+dtls1.2", "coap+tcp"].map(|protocol| handshakes(protocol, rekeying)), [2, 24, 24]);
}

/// A kept session goes on behind a NAT that has forgotten it, if it has a connection ID.
#[test]
fn a_connection_id_saves_the_handshakes() {
    let nat: &[&str] =
        &["session.stack=lean-dtls", "session.suite=TLS_PSK_WITH_AES_128_CCM_8", "application.idle_timeout_s=30"];
    let periodic: &[&str] = &["application.pattern=periodic", "application.period_s=600"];
    let handshakes = |more: &[&str]| {
        let life = simulated(&[MOTE, nat, periodic, more], DAY_S);
        assert_eq!((life.counts.requests, life.counts.failed), (144, 0), "{more:?}");
        (life.counts.handshakes_full, life.counts.handshakes_resumed)
    };
    assert_eq!(handshakes(&[]), (144, 0));
    assert_eq!(handshakes(&["session.resumption=id"]), (1, 143));
    assert_eq!(handshakes(&["session.connection_id=2"]), (1, 0));
    assert_eq!(handshakes(&["application.keep_alive_s=20"]), (1, 0));
    assert_eq!(handshakes(&["session.connection_id=2", "application.rekey_after_s=86400"]), (1, 0));
    assert_eq!(handshakes(&["session.connection_id=2", "application.rekey_after_s=43200"]), (2, 0));
}

/// The second of the client's messages is lost, and its timer is 2 to 3 s (RFC 7252 section 4.8).
#[test]
fn a_request_that_is_lost_is_sent_again() {
    let periodic: &[&str] = &["application.pattern=periodic", "application.period_s=600"];
    let alone = simulated(&[MBEDTLS_PSK, periodic], 1_100.0);
    let record = Plan::new(&scenario(MBEDTLS_PSK)).unwrap().run(1, &mut ()).remove(0);
    let lost = format!("lowpan.dropped_frames=[{}]", record.frames + 1);
    let again = simulated(&[MBEDTLS_PSK, periodic, &[&lost]], 1_100.0);
    assert_eq!((again.counts.requests, again.counts.failed), (alone.counts.requests, 0));
    let [alone, again] = [alone, again].map(|life| life.latency_s.unwrap().max);
    assert!((2.0..3.2).contains(&(again - alone)), "{alone} {again}");
}

#[test]
fn a_firmware_image_arrives_piece_by_piece() {
    let once: &[&str] = &["application={ pattern = \"once\", bytes = 10000, piece_bytes = 64 }"];
    let (estimated, simulated) =
        (estimated(&[MBEDTLS_PSK, MOTE, once], DAY_S), simulated(&[MBEDTLS_PSK, MOTE, once], DAY_S));
    for life in [&estimated, &simulated] {
        assert_eq!((life.counts.requests, life.counts.failed), (1, 0));
    }
    let [estimated_s, simulated_s] = [estimated, simulated].map(|life| life.latency_s.unwrap().mean);
    // 157 pieces, each in a period of the schedule or two (0.1 s).
    assert!((15.7..32.0).contains(&simulated_s), "{simulated_s}");
    assert!((estimated_s / simulated_s - 1.0).abs() < 0.1, "{estimated_s} {simulated_s}");
}

/// Every hour the root has no power for ten minutes. The client's requests fail then, and it opens a new session.
#[test]
fn a_power_cut_every_hour_has_a_true_answer() {
    let outages: Vec<String> = (0..24)
        .map(|hour| format!("{{ node = 0, from_s = {}, until_s = {} }}", 3600 * hour + 1800, 3600 * hour + 2400))
        .collect();
    let outages = format!("network.outages=[{}]", outages.join(", "));
    let changes: &[&[&str]] = &[
        MBEDTLS_PSK,
        MOTE,
        &["application.pattern=periodic", "application.period_s=60", "session.give_up_s=30", &outages],
    ];
    let life = simulated(changes, DAY_S);
    let share = life.counts.failed as f64 / (life.counts.requests + life.counts.left_out) as f64;
    // A request that fails takes longer than a minute: 62 to 93 s (RFC 7252 section 4.8.2).
    assert!((0.08..0.18).contains(&share), "{:?}", life.counts);
    assert!(life.counts.handshakes_full >= 24 && life.counts.handshakes_failed > 24, "{:?}", life.counts);
    let refused = estimate(&scenario(&changes.concat()), None, YEAR_S, 1, 30, &Interrupt::default());
    let message = refused.unwrap_err().to_string();
    assert!(message.starts_with("network.outages: found a network that changes"), "{message}");
}

#[test]
fn bad_input_names_the_key() {
    let scenario_with = |changes: &[&str]| scenario(&[MBEDTLS_PSK, changes].concat());
    let asking = scenario_with(&["application.pattern=periodic", "application.period_s=60"]);
    let never = Interrupt::default();
    let nothing = simulate(&scenario_with(&[]), None, DAY_S, 1, &never).unwrap_err();
    assert_eq!(nothing.blame().key, "application.pattern");
    for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e12] {
        assert!(matches!(simulate(&asking, None, seconds, 1, &never), Err(LifeError::Seconds(_))), "{seconds}");
    }
    let client = simulate(&asking, Some(7), DAY_S, 1, &never).unwrap_err();
    assert_eq!(client.to_string(), "client: found 7, allowed: the node of a client, for example 1");
    let worlds = estimate(&asking, None, DAY_S, 1, 1, &never).unwrap_err();
    assert_eq!(worlds.blame().reason, "found 1, allowed: 2 to 10000");
}

/// A client that never gets a session, and one that is always late, come to an end.
#[test]
fn a_life_without_success_ends() {
    let asking: &[&str] = &["application.pattern=periodic", "application.period_s=0.5"];
    let deaf: &[&str] =
        &["network.link_pdr=0.000001", "session.give_up_s=10", "application.retry={ kind = \"fixed\", wait_s = 5 }"];
    for life in [estimated(&[MBEDTLS_PSK, asking, deaf], YEAR_S), simulated(&[MBEDTLS_PSK, asking, deaf], DAY_S)] {
        assert!(life.latency_s.is_none() && life.counts.failed == life.counts.requests, "{:?}", life.counts);
        // Ten attempts of 10 s, and nine waits of 5 s, 20 % shorter or longer.
        let expected = life.seconds / 145.0;
        assert!((life.counts.requests as f64 / expected - 1.0).abs() < 0.05, "{:?} in {}", life.counts, life.seconds);
        assert!(life.counts.left_out > 200 * life.counts.requests, "{:?}", life.counts);
    }
}

#[test]
fn an_interrupt_keeps_what_is_complete() {
    let asking = scenario(&[MBEDTLS_PSK, MOTE, &["application.pattern=periodic", "application.period_s=60"]].concat());
    let interrupt = Interrupt::default();
    let soon = interrupt.clone();
    let stops = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        soon.set();
    });
    let life = simulate(&asking, None, 50.0 * YEAR_S, 1, &interrupt).unwrap();
    stops.join().unwrap();
    assert!(life.seconds > 0.0 && life.seconds < 50.0 * YEAR_S, "{}", life.seconds);
    assert!(life.energy_a_day_mj > 0.0 && life.counts.requests > 10, "{life:?}");
    assert!(estimate(&asking, None, YEAR_S, 1, 30, &interrupt).unwrap().is_none(), "no world is complete");
}

/// More worlds may follow, on any number of threads: the life is that of all of them at once.
#[test]
fn parts_of_a_life_may_come_one_after_the_other() {
    let lossy: &[&str] = &["network.link_pdr=0.6", "mac.max_retries=1", "session.timeout_s=1"];
    let asking = scenario(&[MBEDTLS_PSK, MOTE, HOURLY, lossy].concat());
    let mut parts = Parts::new(&asking, None, MONTH_S, 5).unwrap();
    let never = Interrupt::default();
    assert!(parts.life(9).is_none(), "no worlds yet");
    for (worlds, threads) in [(3, 1), (6, 3), (4, 2)] {
        parts.sample(worlds, threads, &never).unwrap();
    }
    for worlds in [2, 6] {
        let (life, days) = parts.life(worlds).unwrap();
        assert_eq!(Some(&life), estimate(&asking, None, MONTH_S, 5, worlds, &never).unwrap().as_ref());
        let mean = days.iter().sum::<f64>() / worlds as f64;
        assert_eq!(days.len() as u64, worlds);
        assert!((mean / life.energy_a_day_mj - 1.0).abs() < 1e-9, "{mean} mJ of {}", life.energy_a_day_mj);
    }
    assert!(matches!(parts.sample(1, 1, &never), Err(LifeError::Worlds(1))));
}

/// A battery loses what the device draws, and what it loses by itself.
#[test]
fn a_battery_lasts_as_long_as_its_charge() {
    let life = estimated(&[MBEDTLS_PSK, MOTE, HOURLY], YEAR_S);
    for name in Battery::names() {
        let battery = Battery::load(name, Path::new("")).unwrap_or_else(|error| panic!("{error}"));
        let lasts = battery.life(&life).unwrap();
        // Two cells of 1.2 V need a converter to 3 V.
        let volts = if name == "eneloop-pair" { 2.4 } else { 3.0 };
        assert_eq!(lasts.needs_step_up, name == "eneloop-pair");
        let drawn_mah = life.energy_a_day_mj / volts / 3600.0;
        let lost_mah = battery.capacity_mah.value * battery.self_discharge_percent.value / 100.0 / 365.25;
        let days = battery.capacity_mah.value / (drawn_mah + lost_mah);
        assert!((lasts.years * 365.25 / days - 1.0).abs() < 1e-9, "{name}: {lasts:?}");
        let [fewest, most] = lasts.years_ci95.unwrap();
        assert!(fewest < lasts.years && lasts.years < most, "{name}: {lasts:?}");
        assert!((lasts.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{name}: {lasts:?}");
    }
    // 12.6 mAh a day: a coin cell of 225 mAh is empty after 17.8 days.
    let cell = Battery::load("cr2032", Path::new("")).unwrap().life(&life).unwrap();
    assert!((cell.years * 365.25 - 17.8).abs() < 0.1, "{cell:?}");
}

#[test]
fn a_wrong_battery_is_told_what_is_wrong() {
    let unknown = Battery::load("cr2033", Path::new("")).unwrap_err().to_string();
    assert!(unknown.starts_with("battery: found cr2033, allowed: cr2032, "), "{unknown}");
    let text = std::fs::read_to_string("../../batteries/cr2032.toml").unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("batteries");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, from, to, expected) in [
        ("empty", "value = 225", "value = 0", "capacity_mah: found 0, allowed: a number above 0"),
        ("none", "capacity_mah", "# capacity_mah", "capacity_mah: "),
        ("no-source", ", source = \"Wikipedia, CR2032 battery, table of IEC 60086\"", "", "nominal_v: "),
        (
            "cut-off",
            "cut_off_v = { value = 2.0",
            "cut_off_v = { value = 3.0",
            "cut_off_v: found 3, allowed: less than nominal_v (3)",
        ),
    ] {
        let file = format!("{name}.toml");
        std::fs::write(folder.join(&file), text.replacen(from, to, 1)).unwrap();
        let error = Battery::load(&file, &folder).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
}
