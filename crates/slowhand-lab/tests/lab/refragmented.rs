//! Flights that a library fragments in another way when it repeats them.

use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use std::path::Path;

/// A run of the quick start with datagrams of up to 1,200 octets. From the second repetition on mbedTLS limits them to
/// 508. There is no cookie: it expires after 60 s, and then the client has to send a further ClientHello.
fn run(seed: u64, changes: &[&str]) -> Record {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/quickstart.toml");
    let changes: Vec<Override> =
        ["session.mtu=1200", "session.cookie=false"].iter().chain(changes).map(|key| key.parse().unwrap()).collect();
    let scenario = Scenario::load(&file, &changes).unwrap_or_else(|error| panic!("{error}"));
    Plan::new(&scenario).unwrap().run(seed, &mut ()).remove(0)
}

/// The datagrams that carried something for the first time, calculated from the record.
fn first_copies(record: &Record) -> u64 {
    record.datagrams - record.retransmissions_needed - record.retransmissions_spurious
}

/// The datagrams of a handshake without losses, with long datagrams and with short ones.
fn sent_once(mtu: &str) -> u64 {
    let record = run(1, &["session.timeout_s=60", mtu]);
    assert_eq!(record.outcome, Outcome::Completed);
    assert_eq!((record.retransmissions_needed, record.retransmissions_spurious), (0, 0));
    record.datagrams
}

#[test]
fn every_datagram_after_the_first_copy_is_accounted() {
    let (long, short) = (sent_once("session.mtu=1200"), sent_once("session.mtu=508"));
    assert!(long < short, "{long} and {short}");
    let records = (1..=60).map(|seed| run(seed, &["lowpan.fragment_loss=0.08"]));
    let completed: Vec<Record> = records.filter(|record| record.outcome == Outcome::Completed).collect();
    let repeated_twice = completed.iter().filter(|record| record.datagrams > 3 * long).count();
    assert!(completed.len() > 40 && repeated_twice > 8, "{repeated_twice} of {}", completed.len());
    for record in &completed {
        // An end that has repeated a flight twice also limits the datagrams of its next flight, so that there are more
        // of them.
        let first = first_copies(record);
        assert!((long..=short).contains(&first), "seed {}: {first} first copies: {record:?}", record.seed);
    }
}
