use super::*;
use crate::scenario::{InputError, Scenario};
use slowhand_net::clock::Duration;
use slowhand_net::lowpan::reassembly::{Limits, Timer, WhenFull as Policy};

fn scenario(kind: &str, changes: &[&str]) -> Result<Scenario, InputError> {
    let head = format!("mac.kind = \"{kind}\"\nnetwork.topology = {{ kind = \"line\", hops = 2 }}\n");
    let ends = "client.device = \"wismote\"\nsession.stack = \"tinydtls\"\n";
    (head + ends + &changes.join("\n")).parse()
}

fn with_profile(kind: &str, profile: &str, changes: &[&str]) -> Scenario {
    let own = format!("network.profile = \"{profile}\"");
    scenario(kind, &[&[own.as_str()], changes].concat()).unwrap()
}

fn limits(buffers: usize, memory: Option<usize>, milliseconds: u64, timer: Timer, when_full: Policy) -> Limits {
    Limits { buffers, datagram: 1280, memory, timeout: Duration::from_millis(milliseconds), timer, when_full }
}

fn tsch(scenario: &Scenario) -> [u32; 4] {
    let Mac::Tsch(tsch) = &scenario.mac else { panic!("not TSCH") };
    [tsch.queue.get(), tsch.max_retries.get(), tsch.min_be.get(), tsch.max_be.get()]
}

fn csma(scenario: &Scenario) -> ([u32; 5], bool) {
    let Mac::Csma(csma) = &scenario.mac else { panic!("not CSMA") };
    let backoff = [csma.min_be.get(), csma.max_be.get(), csma.max_csma_backoffs.get()];
    let [min_be, max_be, backoffs] = backoff;
    ([csma.queue.get(), csma.max_retries.get(), min_be, max_be, backoffs], csma.retries_busy_channel)
}

#[test]
fn the_numbers_of_each_profile_reach_the_network() {
    let rfc_tsch = [20, 3, 3, 5];
    let rfc_csma = ([44, 3, 3, 5, 4], false);
    let (first, last) = (Timer::FirstFragment, Timer::EachFragment);
    for (profile, reassembly, of_tsch, of_csma) in [
        (
            "contiki-ng",
            limits(2, Some(1616), 500, Timer::OnDemand, Policy::Refuse),
            [8, 7, 1, 5],
            ([8, 7, 3, 5, 5], true),
        ),
        ("openthread", limits(44, Some(5456), 2_000, last, Policy::Refuse), rfc_tsch, ([44, 15, 3, 5, 4], true)),
        ("riot", limits(4, Some(6144), 3_000, last, Policy::Oldest), rfc_tsch, ([16, 4, 3, 5, 4], false)),
        ("zephyr", limits(1, Some(2048), 5_000, first, Policy::Refuse), rfc_tsch, ([16, 3, 3, 5, 4], false)),
        (
            "openwsn",
            Limits { datagram: 1320, ..limits(4, Some(1600), 60_000, first, Policy::Refuse) },
            [20, 15, 2, 5],
            rfc_csma,
        ),
        ("rfc", limits(2, None, 60_000, first, Policy::Refuse), rfc_tsch, rfc_csma),
    ] {
        for kind in Mac::every().iter().map(Mac::kind) {
            let config = with_profile(kind, profile, &[]).network_config();
            assert_eq!((config.reassembly, config.whole_packets), (reassembly, true), "{profile} with {kind}");
        }
        assert_eq!(tsch(&with_profile("tsch", profile, &[])), of_tsch, "{profile}");
        assert_eq!(csma(&with_profile("csma", profile, &[])), of_csma, "{profile}");
        // The link layer that runs has them too.
        let mac = with_profile("tsch", profile, &[]).mac.link_layer().describe();
        assert!(mac.starts_with("TSCH"));
        crate::plan::Plan::new(&with_profile("csma", profile, &[])).unwrap();
    }
}

#[test]
fn a_key_replaces_its_number_and_no_other() {
    let others = |key: &str| {
        let list = Profile::Riot.list();
        let all = list.lowpan.into_iter().chain(list.csma.unwrap());
        all.filter(|number| number.key != key).map(|number| (number.key, number.value)).collect::<Vec<_>>()
    };
    let of = |scenario: &Scenario, key: &str| -> Value {
        let (lowpan, Mac::Csma(csma)) = (&scenario.lowpan, &scenario.mac) else { panic!("not CSMA") };
        match key {
            "lowpan.reassembly_timeout_s" => json!(lowpan.reassembly_timeout_s),
            "lowpan.reassembly_timer" => json!(lowpan.reassembly_timer),
            "lowpan.reassembly_buffers" => json!(lowpan.reassembly_buffers),
            "lowpan.reassembly_buffer_octets" => json!(lowpan.reassembly_buffer_octets),
            "lowpan.reassembly_octets" => json!(lowpan.reassembly_octets),
            "lowpan.reassembly_when_full" => json!(lowpan.reassembly_when_full),
            "lowpan.whole_datagrams" => json!(lowpan.whole_datagrams),
            "mac.queue" => json!(csma.queue),
            "mac.max_retries" => json!(csma.max_retries),
            "mac.retry_max_be" => json!(csma.retry_max_be),
            "mac.retries_busy_channel" => json!(csma.retries_busy_channel),
            "mac.min_be" => json!(csma.min_be),
            "mac.max_be" => json!(csma.max_be),
            "mac.max_csma_backoffs" => json!(csma.max_csma_backoffs),
            other => panic!("{other} is not tested"),
        }
    };
    for (key, value) in [
        ("lowpan.reassembly_timeout_s", json!(7.5)),
        ("lowpan.reassembly_timer", json!("on-demand")),
        ("lowpan.reassembly_buffer_octets", json!(1500)),
        ("lowpan.reassembly_octets", json!(3000)),
        ("lowpan.reassembly_when_full", json!("refuse")),
        ("lowpan.whole_datagrams", json!(false)),
        ("mac.queue", json!(9)),
        ("mac.max_retries", json!(2)),
        ("mac.retries_busy_channel", json!(true)),
        ("mac.min_be", json!(1)),
        ("mac.max_be", json!(7)),
        ("mac.max_csma_backoffs", json!(1)),
    ] {
        let scenario = with_profile("csma", "riot", &[&format!("{key} = {value}")]);
        assert_eq!(of(&scenario, key), value);
        for (other, expected) in others(key) {
            assert_eq!(of(&scenario, other), expected, "{other}, where {key} was given");
        }
    }
    // The memory belongs to the number of buffers.
    let scenario = with_profile("csma", "riot", &["lowpan.reassembly_buffers = 9"]);
    assert_eq!((scenario.lowpan.reassembly_buffers.get(), scenario.lowpan.reassembly_octets), (9, None));
    let own = ["lowpan.reassembly_buffers = 9", "lowpan.reassembly_octets = 800"];
    assert_eq!(with_profile("csma", "riot", &own).lowpan.reassembly_octets, Integer::new(800));
}

#[test]
fn the_default_profile_is_that_of_the_link_layer() {
    for mac in &Mac::every() {
        let (kind, profile) = (mac.kind(), mac.link_layer().default_profile());
        let (left_out, named) = (scenario(kind, &[]).unwrap(), json!(profile));
        let named = with_profile(kind, named.as_str().unwrap(), &[]);
        assert_eq!(format!("{:?}", left_out.lowpan), format!("{:?}", named.lowpan), "{kind}");
        assert_eq!(format!("{:?}", left_out.mac), format!("{:?}", named.mac), "{kind}");
        assert!(profile.list().default_of.contains(&kind));
        // The configurations of the network have the same numbers.
        assert_eq!(format!("{:?}", left_out.mac), format!("{mac:?}"), "{kind}");
    }
    let error = scenario("tsch", &["network.profile = \"thread\""]).unwrap_err();
    assert_eq!(error.key, "network.profile");
}

#[test]
fn recovery_has_the_timers_of_the_standards() {
    let scenario = with_profile("tsch", "riot", &["lowpan.reassembly = \"recovery\""]);
    assert_eq!(scenario.network_config().reassembly, Limits::default());
}

/// Each number says where it was read, or that and why it is assumed.
#[test]
fn every_number_has_a_source() {
    for profile in Profile::ALL {
        let ProfileNumbers { version, lowpan, tsch, csma, .. } = profile.list();
        assert!(!version.is_empty());
        for number in lowpan.into_iter().chain(tsch.into_iter().flatten()).chain(csma.into_iter().flatten()) {
            let source = number.source;
            let is_file = [".c", ".h", ".cpp", ".hpp", "Kconfig"].iter().any(|ending| source.contains(ending));
            let is_standard = source.contains("RFC ") || source.contains("IEEE 802.15.4");
            let is_said = is_file || is_standard || source.starts_with("assumed: ");
            assert!(is_said, "{profile:?}, {}: {source}", number.key);
        }
    }
}
