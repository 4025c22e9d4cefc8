use super::*;
use std::collections::HashSet;

#[test]
fn no_two_sessions_have_the_same_seed() {
    let streams = [1, 2].map(Streams::new);
    let all = streams.iter().flat_map(|streams| (1..1_000).flat_map(|client| seeds(NodeId(client), streams)));
    assert_eq!(all.collect::<HashSet<_>>().len(), 2 * 999 * 2);
}
