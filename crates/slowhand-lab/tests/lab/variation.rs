//! Handshakes over links that change with time.

use crate::{MBEDTLS_PSK, plan, scenario};
use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Scenario, Sources};

fn run(changes: &[&str], seed: u64) -> Record {
    plan(changes).run(seed, &mut ()).remove(0)
}

/// The scenario with this trace beside it.
fn traced(trace: &str, keys: &str) -> Result<Scenario, String> {
    let mut sources: Sources = scenario(&[]).sources().clone();
    sources.files.insert("trace.csv".to_owned(), trace.to_owned());
    sources.overrides.push(format!("network.trace={{ file = \"trace.csv\"{keys} }}"));
    Scenario::from_sources(&sources).map_err(|error| error.to_string())
}

fn duration(scenario: &Scenario) -> f64 {
    Plan::new(scenario).unwrap().run(1, &mut ()).remove(0).duration_s.unwrap()
}

/// Nothing arrives at the root until 5 s. The client sends its ClientHello at 0, 2 and 6 s, as tinyDTLS does.
#[test]
fn a_trace_takes_the_place_of_the_fixed_ratio() {
    let trace = "time_s,from,to,channel,pdr\n0,1,0,,0\n5,1,0,,1\n0,7,9,,0\n";
    let usual = run(&[], 1).duration_s.unwrap();
    let late = duration(&traced(trace, "").unwrap());
    assert!((late - usual - 6.0).abs() < 0.1, "{late}, usually {usual}");
    // From 4 s of the trace on, nothing arrives for 1 s.
    let later = duration(&traced(trace, ", start_s = 4").unwrap());
    assert!((later - usual - 2.0).abs() < 0.1, "{later}, usually {usual}");
    // It is over when the world begins.
    assert_eq!(duration(&traced(trace, ", start_s = 5").unwrap()), usual);
    // A trace of 7 s, of which the last two are good: from 6 s on, one good second, then five bad ones.
    assert_eq!(duration(&traced(trace, ", start_s = 6").unwrap()), usual);
    let repeated = duration(&traced(trace, ", start_s = 7, repeat_s = 7").unwrap());
    assert!((repeated - late).abs() < 1e-9, "7 s into the trace it begins again");
    // Each seed begins somewhere else.
    let random = Plan::new(&traced(trace, ", repeat_s = 7, random_start = true").unwrap()).unwrap();
    let records: Vec<Record> = (1..=40).flat_map(|seed| random.run(seed, &mut ())).collect();
    let at_once = records.iter().filter(|record| record.duration_s == Some(usual)).count();
    assert!((1..40).contains(&at_once), "{at_once} of 40 begin in the two good seconds");
}

/// The texts that a scenario is made from have the trace.
#[test]
fn a_trace_is_one_of_the_sources() {
    let trace = "time_s,from,to,channel,pdr\n0,1,0,11,0.5\n";
    let traced = traced(trace, "").unwrap();
    assert_eq!(traced.sources().files["trace.csv"], trace);
    let again = Scenario::from_sources(traced.sources()).unwrap();
    assert_eq!(duration(&again), duration(&traced));
}

#[test]
fn a_wrong_trace_is_told_what_is_wrong() {
    let header = "time_s,from,to,channel,pdr\n";
    let place = "--set network.trace: network.trace";
    for (trace, keys, message) in [
        ("0,1,0,,2", "", "trace.csv:2: pdr: found 2, allowed: a probability from 0 to 1".to_owned()),
        (
            "0,5,6,,1",
            "",
            format!(
                "{place}.file: found \"trace.csv\", which has no line about a link of the topology, allowed: a trace of links of this network"
            ),
        ),
        (
            "9,1,0,,1",
            ", repeat_s = 8",
            format!("{place}.repeat_s: found 8, allowed: at least 9, the time of the last line"),
        ),
        (
            "9,1,0,,1",
            ", random_start = true",
            format!(
                "{place}.random_start: found true, allowed: false without network.trace.repeat_s, the length of the trace"
            ),
        ),
    ] {
        assert_eq!(traced(&format!("{header}{trace}"), keys).unwrap_err(), message);
    }
}

/// The client's radio is off from 0.05 s on. tinyDTLS sends its ClientHello again 2 s later, and at 6 s.
#[test]
fn a_client_whose_radio_is_off_begins_later() {
    let outage = "network.outages=[{ node = 1, from_s = 0.015, until_s = 4 }]";
    let (usual, late) = (run(&[], 1), run(&[outage], 1));
    assert_eq!(late.outcome, Outcome::Completed);
    // Datagrams that wait in the queue go out when the radio is on: two ClientHellos.
    let added = late.duration_s.unwrap() - usual.duration_s.unwrap();
    assert!((3.9..4.2).contains(&added), "{added}");
    assert!(late.datagrams > usual.datagrams);
}

/// Nothing ever leaves the client. Each ClientHello but the first is sent again because none has arrived.
#[test]
fn what_waits_for_a_radio_that_is_off_is_neither_lost_nor_spurious() {
    let record = run(&["network.outages=[{ node = 1, from_s = 0.015, until_s = 1000 }]"], 1);
    assert_eq!((record.outcome, record.frames), (Outcome::GaveUp, 0));
    assert!(record.datagrams > 1, "{record:?}");
    assert_eq!((record.datagrams_waiting, record.datagrams_lost), (record.datagrams, 0));
    assert_eq!((record.retransmissions_needed, record.retransmissions_spurious), (record.datagrams - 1, 0));
    // The radio is on again in time.
    let late = run(&["network.outages=[{ node = 1, from_s = 0.015, until_s = 4 }]"], 1);
    assert_eq!((late.datagrams_waiting, late.retransmissions_needed), (0, 0));
    assert!(late.retransmissions_spurious > 0);
}

#[test]
fn a_node_that_moves_out_of_range_and_back() {
    let changes =
        "network.changes=[{ at_s = 0.1, from = 0, to = 1, pdr = 0 }, { at_s = 7, from = 1, to = 0, pdr = 1 }]";
    let late = run(&[changes], 1).duration_s.unwrap();
    assert!((7.0..20.0).contains(&late), "{late}");
}

/// Wi-Fi channel 6 covers 16 to 19. On other channels nothing changes.
#[test]
fn wifi_disturbs_the_channels_that_it_covers() {
    let wifi = "network.wifi=[{ channel = 6, duty = 0.6, burst_ms = 5 }]";
    let frames = |hopping: &str, wifi: &[&str]| -> u64 {
        let hopping = format!("mac.hopping_sequence={hopping}");
        let plan = plan(&[MBEDTLS_PSK, wifi, &[&hopping]].concat());
        (1..=20).map(|seed| plan.run(seed, &mut ())[0].frames).sum()
    };
    assert_eq!(frames("[15, 20]", &[wifi]), frames("[15, 20]", &[]));
    let [clear, covered] = [frames("[17]", &[]), frames("[17]", &[wifi])];
    assert!(covered > 2 * clear, "{covered} frames, and {clear} without Wi-Fi");
    let hopping = frames("[15, 17]", &[wifi]);
    assert!(clear < hopping && hopping < covered, "every other frame is on a free channel: {hopping}");
}

#[test]
fn fades_cost_frames() {
    let fades = "network.gilbert_elliott={ good_ms = 300, bad_ms = 300 }";
    let of = |changes: &[&str]| (1..=20).map(|seed| run(changes, seed).frames).sum::<u64>();
    assert!(of(&[fades]) > of(&[]) * 3 / 2);
}
