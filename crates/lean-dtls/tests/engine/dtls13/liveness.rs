//! A handshake completes whatever the network loses, repeats or reorders, with datagrams of any size.

use lean_dtls::Status;
use lean_dtls::crypto::{Aead, Group};
use proptest::prelude::*;

use super::world::{Fate, KEYS, PEER, client, config, fates, run, server, to_client, to_server};
use crate::network::At as _;

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
        prop_assert_eq!(server.status_at(PEER), Some(Status::Established));
        prop_assert_eq!((client.deadline(), server.deadline()), (None, None));
        for (_, is_to_server, datagram) in trace {
            prop_assert!(datagram.len() <= usize::from(mtus[usize::from(!is_to_server)]));
        }
        prop_assert_eq!(to_server(&mut client, &mut server, b"22.5 C"), b"22.5 C");
        prop_assert_eq!(to_client(&mut client, &mut server, b""), b"");
    }
}

proptest! {
    /// As above, with key agreement, connection IDs, and a key update at the end.
    #[test]
    fn so_does_one_with_everything(
        fates in fates(),
        mtus in [64_u16..220, 64_u16..220],
        ids in [0_u8..5, 0_u8..5],
        aead in prop_oneof![Just(&[Aead::Ccm8]), Just(&[Aead::Ccm]), Just(&[Aead::Gcm])],
        group in prop_oneof![Just(Group::ALL), Just(&[Group::X25519][..])],
        seed in 1_u64..1000,
    ) {
        let [client_config, server_config] = [0, 1].map(|end| {
            let config = config(KEYS, mtus[end]).with_connection_id(ids[end]).unwrap();
            config.with_aeads(aead).with_psk_agreement()
        });
        // The server may ask for the other group.
        let server_config = server_config.with_groups(group);
        let (mut client, mut server) = (client(seed, client_config), server(server_config));
        let (trace, _) = run(&mut client, &mut server, fates.iter().copied());
        prop_assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
        prop_assert_eq!(client.connection_ids(), Some(ids.map(usize::from)));
        for (_, is_to_server, datagram) in trace {
            prop_assert!(datagram.len() <= usize::from(mtus[usize::from(!is_to_server)]));
        }
        client.update_keys();
        server.update_keys_at(PEER);
        run(&mut client, &mut server, fates);
        prop_assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
        prop_assert_eq!((client.deadline(), server.deadline()), (None, None));
        prop_assert_eq!(to_server(&mut client, &mut server, b"22.5 C"), b"22.5 C");
        prop_assert_eq!(to_client(&mut client, &mut server, &[7; 40]), [7; 40]);
    }
}

/// A lost datagram of the server's flight costs no timeout, but for the last one, which nothing follows: then the client
/// acknowledges what it has after a quarter of its timeout of 1 s. What it has does not come again.
#[test]
fn a_lost_fragment_is_sent_again_without_a_timeout() {
    let ends = || (client(1, config(KEYS, 512)), server(config(KEYS, 64)));
    let (mut client, mut server) = ends();
    let (whole, at) = run(&mut client, &mut server, []);
    assert_eq!(at, 0);
    let sizes: Vec<_> = whole.iter().map(|(_, is_to_server, datagram)| (*is_to_server, datagram.len())).collect();
    // ClientHello, HelloRetryRequest in three fragments, ClientHello; ServerHello in two, the second with EncryptedExtensions,
    // and Finished; Finished, acknowledgement.
    assert_eq!(
        sizes.iter().map(|(is_to_server, _)| *is_to_server).collect::<Vec<_>>(),
        [true, false, false, false, true, false, false, false, true, false]
    );
    for (lost, expected) in [(5, 0), (6, 0), (7, 250)] {
        let (mut client, mut server) = ends();
        let fates = (0..whole.len()).map(|number| if number == lost { Fate::Drop } else { Fate::Pass });
        let (trace, at) = run(&mut client, &mut server, fates);
        assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
        assert_eq!(at, expected, "{lost}");
        let again: usize = trace[8..].iter().filter(|sent| !sent.1).map(|sent| sent.2.len()).sum();
        let acknowledgement = sizes[9].1;
        match lost {
            7 => assert!(again <= sizes[7].1 + acknowledgement + 2, "{again}"),
            _ => assert!(again <= sizes[5..8].iter().map(|(_, size)| size).sum::<usize>() + acknowledgement, "{again}"),
        }
    }
}
