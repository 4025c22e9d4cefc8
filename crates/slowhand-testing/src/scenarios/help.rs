//! DTLS with help: what carries it, compresses it, computes or validates in the place of an end, and what comes in its place.

use super::RandomScenario;
use crate::random::Random;

/// The share of scenarios with help, in percent.
const SHARE: u64 = 55;

/// The most keys that give way to a help.
const MOST_GIVING_WAY: usize = 12;

/// Keys with their values.
type Settings = &'static [(&'static str, &'static str)];

/// Each help, with what it cannot be without.
const HELPS: &[(u64, Settings)] = &[
    (7, &[("session.carrier", "\"coap\"")]),
    (7, &[("session.carrier", "\"coap\""), ("session.coap.block_bytes", "64")]),
    (5, &[("session.carrier", "\"dccp\"")]),
    (4, &[("session.carrier", "\"dccp\""), ("transport.dccp.initial_window", "1"), ("transport.dccp.send_queue", "1")]),
    (4, &[("session.carrier", "\"dccp\""), ("transport.dccp.ack_ratio", "1"), ("transport.dccp.initial_rto_s", "0.3")]),
    (4, &[("session.carrier", "\"dccp\""), ("transport.dccp.initial_rto_s", "9")]),
    (12, &[("session.trust_anchor", "true"), ("session.credential", "\"psk\""), ("session.auth", "\"psk\"")]),
    (12, &[("session.protocol", "\"less\""), ("session.credential", "\"psk\""), ("session.auth", "\"psk\"")]),
    (12, &[("session.protocol", "\"quic\""), ("session.stack", "\"rustls\"")]),
    (
        10,
        &[
            ("session.protocol", "\"coap+dtls1.2\""),
            ("session.stack", "\"lean-dtls\""),
            ("session.false_start", "true"),
            ("application.requests", "1"),
        ],
    ),
    (10, &[("session.backoff", "\"cocoa\""), ("session.stack", "\"lean-dtls\"")]),
    (
        6,
        &[
            ("gateway.delegation", "\"border-router\""),
            ("session.resumption", "\"id\""),
            ("session.protocol", "\"dtls1.2\""),
            ("session.stack", "\"lean-dtls\""),
            ("session.credential", "\"certificate\""),
        ],
    ),
    (
        6,
        &[
            ("gateway.delegation", "\"internet\""),
            ("session.resumption", "\"ticket\""),
            ("session.protocol", "\"dtls1.2\""),
            ("session.stack", "\"mbedtls\""),
            ("session.credential", "\"certificate\""),
        ],
    ),
    (
        6,
        &[
            ("gateway.pre_validation", "true"),
            ("session.protocol", "\"dtls1.2\""),
            ("session.stack", "\"lean-dtls\""),
            ("session.credential", "\"certificate\""),
        ],
    ),
    (
        6,
        &[
            ("gateway.pre_validation", "true"),
            ("session.protocol", "\"dtls1.2\""),
            ("session.stack", "\"mbedtls\""),
            ("session.credential", "\"certificate\""),
        ],
    ),
    (5, &[("lowpan.payload_compression", "\"ghc\"")]),
    (3, &[("lowpan.payload_compression", "\"ghc\""), ("lowpan.capabilities", "\"exchanged\"")]),
    (8, &[("lowpan.payload_compression", "\"lithe\"")]),
];

/// The helps, as a key and its value.
pub const HELP: [(&str, &str); 12] = [
    ("session.carrier", "\"coap\""),
    ("session.carrier", "\"dccp\""),
    ("session.trust_anchor", "true"),
    ("session.protocol", "\"less\""),
    ("session.protocol", "\"quic\""),
    ("session.false_start", "true"),
    ("session.backoff", "\"cocoa\""),
    ("gateway.delegation", "\"border-router\""),
    ("gateway.delegation", "\"internet\""),
    ("gateway.pre_validation", "true"),
    ("lowpan.payload_compression", "\"ghc\""),
    ("lowpan.payload_compression", "\"lithe\""),
];

impl RandomScenario {
    /// The scenario of a seed, with help in a share of all cases. `refused` says which key the laboratory blames for refusing a
    /// scenario: keys that do not go with a help give way to it, and a help that does not go with others is left out.
    pub fn with_help(seed: u64, mut refused: impl FnMut(&Self) -> Option<String>) -> Self {
        let mut scenario = Self::new(seed);
        // Other numbers than those of the scenario.
        let mut random = Random::new(!seed);
        if !random.percent(SHARE) || refused(&scenario).is_some() {
            return scenario;
        }
        for _ in 0..random.in_range(1..4) {
            let settings = random.weighted(HELPS);
            scenario = scenario.helped(settings, &mut refused).unwrap_or(scenario);
        }
        scenario
    }

    fn helped(&self, settings: Settings, refused: &mut impl FnMut(&Self) -> Option<String>) -> Option<Self> {
        let mut helped = self.clone();
        helped.keys.retain(|(name, _)| settings.iter().all(|(own, _)| own != name));
        helped.keys.extend(settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        for _ in 0..MOST_GIVING_WAY {
            let Some(blamed) = refused(&helped) else { return Some(helped) };
            // The key, or the one that has it inside.
            let is_blamed =
                |name: &str| blamed.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
            let before = helped.keys.len();
            helped.keys.retain(|(name, _)| !is_blamed(name) || settings.iter().any(|(own, _)| own == name));
            if helped.keys.len() == before {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_blamed_gives_way_and_a_help_that_is_blamed_is_left_out() {
        let scenario = RandomScenario::new(7);
        let mut asked = 0;
        let mut blame_once = |_: &RandomScenario| {
            asked += 1;
            (asked == 1).then(|| "session.stack".to_owned())
        };
        let helped = scenario.helped(&[("session.backoff", "\"cocoa\"")], &mut blame_once).unwrap();
        assert_eq!((helped.value("session.stack"), helped.value("session.backoff")), (None, Some("\"cocoa\"")));
        assert_eq!(helped.keys.len(), scenario.keys.len(), "one key for another");
        let blame_it = |_: &RandomScenario| Some("session.backoff".to_owned());
        assert_eq!(scenario.helped(&[("session.backoff", "\"cocoa\"")], &mut { blame_it }), None);
    }

    #[test]
    fn a_scenario_has_each_help_if_nothing_is_refused() {
        let scenarios: Vec<_> = (0..400).map(|seed| RandomScenario::with_help(seed, |_| None)).collect();
        for (key, value) in HELP {
            assert!(scenarios.iter().any(|scenario| scenario.value(key) == Some(value)), "{key} = {value}");
        }
        for (_, settings) in HELPS {
            assert!(settings.iter().any(|setting| HELP.contains(setting)), "{settings:?}");
        }
        assert!(scenarios.iter().zip(0..).any(|(scenario, seed)| *scenario == RandomScenario::new(seed)));
    }
}
