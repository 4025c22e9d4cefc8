//! The parts of an explanation add up, and name what was planted.

use super::*;
use slowhand_net::clock::Duration;
use std::path::Path;

fn scenario(name: &str, overrides: &[&str]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(format!("{name}.toml"));
    let overrides: Vec<_> = overrides.iter().map(|text| text.parse().unwrap()).collect();
    Scenario::load(&path, &overrides).unwrap()
}

/// Each example that runs fast, and what makes it small.
const EXAMPLES: [(&str, &[&str]); 14] = [
    ("quickstart", &[]),
    ("quickstart", &["session.protocol=tls1.2"]),
    ("lossy-line", &[]),
    ("psk-tinydtls", &[]),
    ("beacon", &[]),
    ("xmac", &[]),
    ("csma", &[]),
    ("thread", &[]),
    ("gateway", &[]),
    ("gateway", &["gateway.suppress_spurious_flights=true"]),
    ("rpl", &[]),
    ("minimal", &[]),
    ("interference", &[]),
    ("busy", &[]),
];

#[test]
fn parts_add_up_to_the_duration_of_the_same_record() {
    for (name, overrides) in EXAMPLES {
        let scenario = scenario(name, overrides);
        let plan = Plan::new(&scenario).unwrap();
        for seed in 1..=20 {
            let told = Told::of_world(&plan, seed, &Interrupt::default()).unwrap();
            assert_eq!(told.records, plan.run(seed, &mut ()), "{name} {overrides:?}, seed {seed}");
            let explanation = told.explain(&scenario, &plan, 0);
            let what = || format!("{name} {overrides:?}, seed {seed}: {:#?}", explanation.parts);
            let Span { start, end } = told.trace.spans[0];
            let sum: u64 = explanation.parts.iter().map(|part| part.microseconds).sum();
            assert_eq!(Duration::from_micros(sum), end.since(start), "{}", what());
            if let Some(duration_s) = told.records[0].duration_s {
                assert_eq!(duration_s.to_bits(), explanation.duration_s.to_bits(), "{}", what());
            }
            let mut at = explanation.start_s;
            for piece in &explanation.path {
                assert!(piece.from_s == at && piece.to_s > at, "{}", what());
                at = piece.to_s;
            }
            assert_eq!(at, explanation.end_s, "{}", what());
            assert!(explanation.parts.iter().all(|part| part.kind != "other"), "{}", what());
        }
    }
}
