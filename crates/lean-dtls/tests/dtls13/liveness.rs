//! A handshake completes whatever the network loses, repeats or reorders, with datagrams of any size.

use lean_dtls::Status;
use proptest::prelude::*;

use crate::world::{Fate, KEYS, PEER, client, config, run, server, to_client, to_server};

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![3 => Just(Fate::Pass), 2 => Just(Fate::Drop), 1 => Just(Fate::Twice), 1 => Just(Fate::Late)]
}

/// What a network does to the first datagrams. It drops fewer than an end sends before it gives up: 8.
fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fates = proptest::collection::vec(fate(), 0..16);
    fates.prop_filter("at most 7 are lost", |fates| fates.iter().filter(|fate| **fate == Fate::Drop).count() < 8)
}

proptest! {
    #[test]
    fn a_handshake_completes_when_the_network_does_no_more_harm(
        fates in fates(),
        mtus in [64_u16..220, 64_u16..220],
        has_cookie in any::<bool>(),
        seed in 1_u64..1000,
    ) {
        let server_config = config(KEYS, mtus[1]);
        let server_config = if has_cookie { server_config } else { server_config.without_cookie() };
        let (mut client, mut server) = (client(seed, config(KEYS, mtus[0])), server(server_config));
        let (trace, _) = run(&mut client, &mut server, fates);
        prop_assert_eq!(client.status(), Status::Established);
        prop_assert_eq!(server.status(PEER), Some(Status::Established));
        prop_assert_eq!((client.deadline(), server.deadline()), (None, None));
        for (_, is_to_server, datagram) in trace {
            prop_assert!(datagram.len() <= usize::from(mtus[usize::from(!is_to_server)]));
        }
        prop_assert_eq!(to_server(&mut client, &mut server, b"22.5 C"), b"22.5 C");
        prop_assert_eq!(to_client(&mut client, &mut server, b""), b"");
    }
}
