//! Changes of a network that runs.

use proptest::prelude::*;
use proptest::sample::select;
use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::{NetworkChange, Override, Scenario};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Endpoint;
use slowhand_net::link::LinkQuality;
use slowhand_net::network::{Event, Events, Network};
use slowhand_net::observer::{FrameKind, Observer, Transmission};

/// Two nodes around the root. A frame is sent up to four times; datagrams are sent far apart.
const STAR: &str = r#"
    network = { topology = { kind = "star", leaves = 2 }, link_pdr = 0.8 }
    mac = { kind = "csma", max_retries = 3 }
    client = { device = "openmote-cc2538" }
    server = { internet_delay_ms = 10 }
    session = { stack = "tinydtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
"#;

fn star() -> Scenario {
    STAR.parse().unwrap()
}

fn changed(scenario: &Scenario, overrides: &[&str]) -> (Scenario, Vec<NetworkChange>) {
    let overrides: Vec<Override> = overrides.iter().map(|text| text.parse().unwrap()).collect();
    scenario.changed(&overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(scenario: &Scenario, change: &str) -> String {
    scenario.changed(&[change.parse().unwrap()]).unwrap_err().to_string()
}

/// The data frames of nodes 1 and 2: true where they arrive.
#[derive(Default)]
struct Frames([Vec<bool>; 2]);

impl Observer for Frames {
    fn transmission(&mut self, transmission: &Transmission<'_>) {
        if let (FrameKind::Data, Some(of)) =
            (transmission.kind, self.0.get_mut(transmission.from.index().wrapping_sub(1)))
        {
            of.push(transmission.received);
        }
    }
}

/// A network with an account of what it carries.
struct Running {
    network: Network,
    frames: Frames,
    events: Events,
    sent: u32,
}

impl Running {
    fn new(scenario: &Scenario) -> Self {
        let network = Plan::new(scenario).unwrap().network(1);
        Self { network, frames: Frames::default(), events: Events::default(), sent: 0 }
    }

    /// Sends datagrams, one a second. Returns how many arrive, and how long each is on its way.
    fn send(&mut self, from: Host, to: Host, octets: usize, count: u32) -> Vec<Duration> {
        let mut times = Vec::new();
        for _ in 0..count {
            let now = Instant::ZERO + Duration::from_secs(u64::from(self.sent));
            let [source, destination] = [from, to].map(|host| Endpoint::new(host.address(), 5683));
            self.run_until(now, now, &mut times);
            self.network.send(now, source, destination, &vec![7; octets], self.sent, &mut self.events).unwrap();
            self.sent += 1;
            self.run_until(now + Duration::from_millis(999), now, &mut times);
        }
        times
    }

    fn run_until(&mut self, until: Instant, sent: Instant, times: &mut Vec<Duration>) {
        self.network.handle_deadline(until, &mut self.events, &mut self.frames);
        for event in self.events.iter() {
            if let Event::Delivered { at, .. } = event {
                times.push(at.since(sent));
            }
        }
        self.events.clear();
    }

    fn apply(&mut self, changes: &[NetworkChange]) {
        changes.iter().for_each(|change| change.apply(&mut self.network));
    }
}

const ROOT: Host = Host::Node(NodeId::ROOT);

fn node(number: u16) -> Host {
    Host::Node(NodeId(number))
}

/// True if this many of `frames` are as likely as not: five standard deviations of the binomial distribution.
fn is_share(frames: &[bool], share: f64) -> bool {
    let (count, arrived) = (frames.len() as f64, frames.iter().filter(|&&arrives| arrives).count() as f64);
    (arrived - count * share).abs() <= 5.0 * (count * share * (1.0 - share)).sqrt()
}

/// One link changes: from then on it has its new ratio, and the losses of the other one are the same as without.
#[test]
fn a_link_has_its_new_ratio_and_the_others_stay() {
    let scenario = star();
    let run = |change: &[&str]| {
        let mut running = Running::new(&scenario);
        let both = |running: &mut Running, count| {
            for _ in 0..count {
                running.send(node(1), ROOT, 20, 1);
                running.send(node(2), ROOT, 20, 1);
            }
        };
        both(&mut running, 1_000);
        let before = running.frames.0[0].len();
        running.apply(&changed(&scenario, change).1);
        both(&mut running, 1_000);
        let [of_one, of_two] = running.frames.0;
        (of_one[..before].to_vec(), of_one[before..].to_vec(), of_two)
    };
    let unchanged = run(&[]);
    assert!(is_share(&unchanged.0, 0.8) && is_share(&unchanged.1, 0.8) && is_share(&unchanged.2, 0.8));
    let changed = run(&["network.changes=[{ at_s = 0, from = 1, to = 0, pdr = 0.3, reverse_pdr = 0.8 }]"]);
    assert!(is_share(&changed.1, 0.3), "{}", changed.1.len());
    assert!(changed.0 == unchanged.0, "before the change");
    // Node 2 hears the acknowledgements for node 1 too, so it sends a few frames more or less. Each has the same fate.
    assert!(changed.2.len().abs_diff(unchanged.2.len()) < 200);
    assert!(changed.2.iter().zip(&unchanged.2).all(|(with, without)| with == without));
}

#[test]
fn all_links_have_their_new_ratio_and_may_deliver_nothing() {
    let scenario = star();
    let mut running = Running::new(&scenario);
    assert_eq!(running.send(node(1), ROOT, 20, 10).len(), 10);
    let (silent, changes) = changed(&scenario, &["network.link_pdr=0"]);
    running.apply(&changes);
    assert_eq!((running.send(node(1), ROOT, 20, 10).len(), running.send(ROOT, node(2), 20, 10).len()), (0, 0));
    let (again, changes) = changed(&silent, &["network.link_pdr=1", "network.channel_pdr.15=0.5"]);
    running.apply(&changes);
    assert_eq!(running.send(node(1), ROOT, 20, 100).len(), 100);
    let quality =
        |from, to| LinkQuality { from: NodeId(from), to: NodeId(to), data: 1.0, ack: 1.0, channels: vec![(15, 0.5)] };
    let expected = [(0, 1), (1, 0), (0, 2), (2, 0)].map(|(from, to)| NetworkChange::Link(quality(from, to)));
    assert_eq!(changes, expected);
    // Back to the beginning: 0.8 for data and acknowledgements.
    let (_, back) = changed(&again, &["network.link_pdr=0.8", "network.channel_pdr.15="]);
    running.apply(&back);
    let before = running.frames.0[1].len();
    running.send(node(2), ROOT, 20, 1_000);
    assert!(is_share(&running.frames.0[1][before..], 0.8));
}

/// At 1,000 s the ratio becomes 0.25, at 2,000 s it is 1 again: the change lies ahead when it is made.
#[test]
fn a_change_may_lie_ahead() {
    let scenario = star();
    let mut running = Running::new(&scenario);
    let (with, changes) = changed(
        &scenario,
        &[
            "network.changes=[{ at_s = 1000, from = 1, to = 0, pdr = 0.25 }, { at_s = 2000, from = 1, to = 0, pdr = 1 }]",
        ],
    );
    running.apply(&changes);
    let attempts = |running: &mut Running| {
        let before = running.frames.0[0].len();
        running.send(node(1), ROOT, 20, 1_000);
        running.frames.0[0][before..].to_vec()
    };
    assert!(is_share(&attempts(&mut running), 0.8));
    assert!(is_share(&attempts(&mut running), 0.25));
    assert!(attempts(&mut running).iter().all(|&arrives| arrives));
    let (_, changes) = changed(&with, &["network.changes="]);
    running.apply(&changes);
    assert!(is_share(&attempts(&mut running), 0.8));
}

/// A datagram of 20 octets fits one frame, one of 120 takes two.
#[test]
fn injected_losses_are_those_that_were_set() {
    let scenario: Scenario =
        STAR.replace("link_pdr = 0.8 }", "link_pdr = 1 }\n lowpan = { reassembly_timeout_s = 0.5 }").parse().unwrap();
    let mut running = Running::new(&scenario);
    let arrived = |running: &mut Running, octets| running.send(node(1), ROOT, octets, 1_000).len();
    assert_eq!((arrived(&mut running, 20), arrived(&mut running, 120)), (1_000, 1_000));
    let (_, changes) = changed(&scenario, &["lowpan.frame_loss=0.2", "lowpan.fragment_loss=0.1"]);
    running.apply(&changes);
    // 0.8 and (0.8 * 0.9)^2: five standard deviations of the binomial distribution are 63 and 79.
    let (whole, fragmented) = (arrived(&mut running, 20), arrived(&mut running, 120));
    assert!(whole.abs_diff(800) < 63 && fragmented.abs_diff(518) < 79, "{whole}, {fragmented}");
}

#[test]
fn the_internet_has_its_new_delay_and_loss() {
    let scenario = star();
    let mut running = Running::new(&scenario);
    let milliseconds = Duration::from_millis;
    assert_eq!(running.send(Host::Internet, ROOT, 20, 3), [milliseconds(10); 3]);
    let (_, changes) = changed(&scenario, &["server.internet_delay_ms=200", "server.internet_jitter_ms=100"]);
    running.apply(&changes);
    let times = running.send(Host::Internet, ROOT, 20, 1_000);
    assert!(times.len() == 1_000 && times.iter().all(|time| (milliseconds(200)..=milliseconds(300)).contains(time)));
    // The uniform distribution: the mean of 1,000 has a standard deviation of 0.91 ms.
    let mean = times.iter().map(|time| time.as_micros() as f64 / 1e3).sum::<f64>() / 1e3;
    assert!((mean - 250.0).abs() < 5.0 * 0.91, "{mean}");
    let (_, changes) = changed(&scenario, &["server.internet_loss=0.5"]);
    running.apply(&changes);
    let times = running.send(Host::Internet, ROOT, 20, 1_000);
    assert!(times.len().abs_diff(500) < 79 && times.iter().all(|time| *time == milliseconds(10)), "{}", times.len());
}

/// A packet that is on its way arrives when it would have.
#[test]
fn packets_on_their_way_are_not_moved() {
    let scenario = star();
    let mut running = Running::new(&scenario);
    let [source, destination] = [Host::Internet, ROOT].map(|host| Endpoint::new(host.address(), 5683));
    running.network.send(Instant::ZERO, source, destination, b"first", 1, &mut running.events).unwrap();
    running.apply(&changed(&scenario, &["server.internet_delay_ms=500"]).1);
    let mut times = Vec::new();
    running.run_until(Instant::ZERO + Duration::from_secs(1), Instant::ZERO, &mut times);
    assert_eq!(times, [Duration::from_millis(10)]);
}

#[test]
fn a_value_that_is_there_changes_nothing() {
    let (_, changes) = changed(&star(), &["network.link_pdr=0.8", "server.internet_delay_ms=10"]);
    assert_eq!(changes, []);
}

/// A link that has changed follows its course no more, until it gets one again.
#[test]
fn a_course_that_a_change_has_ended_can_begin_again() {
    let course = "network.changes=[{ at_s = 10, from = 1, to = 0, pdr = 0.25 }]";
    let is_course = |change: &NetworkChange| matches!(change, NetworkChange::Course { .. });
    let (with, changes) = changed(&star(), &[course]);
    assert!(changes.iter().any(is_course));
    let (fixed, changes) = changed(&with, &["network.link_pdr=0.7"]);
    assert!(!changes.is_empty() && !changes.iter().any(is_course));
    let (fixed, _) = changed(&fixed, &["lowpan.frame_loss=0.1"]);
    assert!(changed(&fixed, &[course]).1.iter().any(is_course));
    // The course of a trace comes from no change, so it does not begin again.
    let mut sources = star().sources().clone();
    sources.files.insert("trace.csv".to_owned(), "time_s,from,to,channel,pdr\n0,1,0,,0.5\n9,1,0,,1\n".to_owned());
    sources.overrides.push("network.trace={ file = \"trace.csv\" }".to_owned());
    let traced = Scenario::from_sources(&sources).unwrap();
    let (fixed, _) = changed(&traced, &["network.link_pdr=0.7"]);
    let other = course.replace("from = 1", "from = 2");
    let of = |change: &NetworkChange| match change {
        NetworkChange::Course { from, to, .. } => (from.0, to.0),
        _ => panic!("{change:?}"),
    };
    assert_eq!(changed(&fixed, &[&other]).1.iter().map(of).collect::<Vec<_>>(), [(0, 2), (2, 0)]);
    // Without such a change, the course goes on.
    let (with, _) = changed(&with, &["lowpan.frame_loss=0.1"]);
    assert_eq!(changed(&with, &[course]).1, []);
}

/// A script may change a key as often as it likes.
#[test]
fn a_scenario_does_not_grow_with_its_changes() {
    let mut scenario = star();
    for round in 0..100 {
        for change in [&format!("network.link_pdr=0.{round}"), "network.channel_pdr.15=0.5", "network.channel_pdr={}"] {
            scenario = changed(&scenario, &[change]).0;
        }
    }
    let expected = ["network.link_pdr=0.99", "network.channel_pdr={}"];
    assert_eq!(scenario.sources().overrides, expected);
    for _ in 0..100 {
        scenario = changed(&scenario, &["lowpan.frame_loss=0.5"]).0;
        scenario = changed(&scenario, &["lowpan.frame_loss="]).0;
    }
    assert_eq!(scenario.sources().overrides.len(), 4);
}

#[test]
fn other_keys_and_wrong_values_are_refused() {
    let allowed = "allowed: network.link_pdr, network.ack_pdr, network.channel_pdr, network.changes, lowpan.fragment_loss, \
                   lowpan.frame_loss, server.internet_delay_ms, server.internet_jitter_ms, server.internet_loss; other keys \
                   need a new start";
    for key in
        ["session.stack=openssl", "network.topology.leaves=3", "network.link_prd=1", "network.outages=[]", "mac=1"]
    {
        let name = key.split('=').next().unwrap();
        let message = format!("--set {name}: found a key that cannot change while the network runs, {allowed}");
        assert_eq!(refusal(&star(), key), message);
    }
    for (change, message) in [
        ("network.link_pdr=1.5", "--set network.link_pdr: found 1.5, allowed: a probability from 0 to 1"),
        ("lowpan.frame_loss=often", "--set lowpan.frame_loss: found \"often\", allowed: a probability from 0 to 1"),
        (
            "network.changes=[{ at_s = 0, from = 1, to = 2, pdr = 0 }]",
            "--set network.changes: network.changes[0].to: found no link between 1 and 2, allowed: two nodes with a link",
        ),
        ("server.internet_delay_ms=-1", "--set server.internet_delay_ms: found -1, allowed: milliseconds"),
    ] {
        let found = refusal(&star(), change);
        assert!(found.starts_with(message), "{found}");
    }
}

/// Only beacons wake the radios of one link layer.
#[test]
fn nodes_that_can_be_switched() {
    assert_eq!(star().switchable(2), Ok(NodeId(2)));
    assert_eq!(star().switchable(3).unwrap_err().to_string(), "node 3: found no such node, allowed: 0 to 2");
    let layers = [
        ("{ kind = \"tsch\", slotframe = 11 }", true),
        ("{ kind = \"xmac\" }", true),
        ("{ kind = \"csma\" }", true),
        ("{ kind = \"beacon\" }", false),
    ];
    for (mac, can) in layers {
        let scenario: Scenario = STAR.replace("{ kind = \"csma\", max_retries = 3 }", mac).parse().unwrap();
        assert_eq!(scenario.switchable(1).is_ok(), can, "{mac}");
        let mut network = Plan::new(&scenario).unwrap().network(1);
        assert_eq!(network.switch_radio(Instant::ZERO, NodeId(1), false), can, "{mac}");
        if let Err(error) = scenario.switchable(1) {
            let message = "node 1: found mac.kind = \"beacon\", whose radios follow the beacons and cannot be switched, \
                           allowed: another mac.kind; or network.link_pdr=0, so that no frame arrives at any node";
            assert_eq!(error.to_string(), message);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is asked for, in any order: it is refused in one line, or the network goes on with it.
    #[test]
    fn changes_of_any_kind(
        changes in prop::collection::vec((0..ANY_KEY.len(), prop_oneof![select(ANY_VALUE).prop_map(str::to_owned), any::<f64>().prop_map(|number| number.to_string())]), 1..8),
    ) {
        let mut scenario = star();
        let mut running = Running::new(&scenario);
        for (key, value) in changes {
            let Ok(change) = format!("{}={value}", ANY_KEY[key]).parse::<Override>() else { continue };
            match scenario.changed(&[change]) {
                Ok((changed, changes)) => {
                    running.apply(&changes);
                    scenario = changed;
                }
                Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
            }
            running.send(node(1), Host::Internet, 120, 2);
            running.send(Host::Internet, node(2), 20, 2);
        }
    }
}

const ANY_KEY: [&str; 8] = [
    "network.link_pdr",
    "network.ack_pdr",
    "network.channel_pdr",
    "network.channel_pdr.26",
    "network.changes",
    "lowpan.fragment_loss",
    "server.internet_delay_ms",
    "server.internet_jitter_ms",
];

const ANY_VALUE: &[&str] = &[
    "",
    "0",
    "1",
    "0.5",
    "nan",
    "inf",
    "-0.0",
    "{}",
    "{ 26 = 0.5 }",
    "{ 10 = 0.5 }",
    "[]",
    "[{ at_s = 0, from = 1, to = 0, pdr = 0 }]",
    "[{ at_s = 5, from = 1, to = 0, pdr = 0.1 }, { at_s = 2, from = 2, to = 0, pdr = 1, reverse_pdr = 0 }]",
    "[{ at_s = 0, from = 0, to = 0, pdr = 0 }]",
    "[[[",
    "1000000",
    "often",
];
