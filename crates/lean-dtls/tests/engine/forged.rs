//! Datagrams in clear of an attacker, who sees the datagrams and sends in the name of either end. They cost a wait, and nothing more.

use lean_dtls::{Client, Config, Instant, RustCrypto, Server, Status, Timeouts};

#[cfg(feature = "dtls13")]
use crate::network::At as _;
use crate::network::ack_in_clear;
use crate::network::{Address, Fate, PEER, Random, fragment, from_client, from_server, in_clear, random, run_with};
use crate::world::{KEYS, Keys};

type TestClient = Client<Keys, RustCrypto<Random>, 512>;
type TestServer = Server<Keys, RustCrypto<Random>, Address, 2, 512>;

const NOW: Instant = Instant::from_millis(0);

/// Message types of RFC 5246, section 7.4.
const SERVER_HELLO: u8 = 2;
const HELLO_VERIFY_REQUEST: u8 = 3;
const ENCRYPTED_EXTENSIONS: u8 = 8;
const CERTIFICATE: u8 = 11;
const SERVER_HELLO_DONE: u8 = 14;
const CLIENT_KEY_EXCHANGE: u8 = 16;
const FINISHED: u8 = 20;

/// Longer than all waits of a handshake in which a datagram is lost and another one forged: the first four are 1, 2, 4 and 8 s. All
/// eight would take 183 s.
const SOME_WAITS_MS: u64 = 16_000;

/// Pairs of configurations: each version, with both at either end.
fn pairs(mtu: u16) -> Vec<(&'static str, Config<Keys>, Config<Keys>)> {
    let timeouts = Timeouts { initial_ms: 1000, ..Timeouts::default() };
    let config = Config::new(KEYS, mtu, timeouts).unwrap();
    #[cfg(feature = "dtls13")]
    {
        use lean_dtls::Versions::{Both, Dtls12, Dtls13};
        let pair = |name, client, server| (name, config.with_versions(client), config.with_versions(server));
        vec![
            pair("1.2", Dtls12, Dtls12),
            pair("1.3", Dtls13, Dtls13),
            pair("both, and 1.2", Both, Dtls12),
            pair("both, and 1.3", Both, Dtls13),
            pair("both", Both, Both),
        ]
    }
    #[cfg(not(feature = "dtls13"))]
    vec![("1.2", config, config)]
}

fn ends(client: Config<Keys>, server: Config<Keys>) -> (TestClient, TestServer) {
    (Client::new(client, RustCrypto::new(random(1))), Server::new(server, RustCrypto::new(random(99))))
}

/// A HelloVerifyRequest with a cookie of 4 octets: 32 octets.
fn verify_request(cookie: u8) -> Vec<u8> {
    fragment(HELLO_VERIFY_REQUEST, 0, 7, 0, &[0xfe, 0xff, 4, cookie, 2, 3, 4])
}

/// A HelloRetryRequest with a cookie of 4 octets, and nothing else (RFC 8446, sections 4.1.3 and 4.2.2).
#[cfg(feature = "dtls13")]
fn retry_request(cookie: u8) -> Vec<u8> {
    let random = lean_dtls::crypto::Hash::digest(&{
        let mut hash = lean_dtls::Crypto::hash(&mut RustCrypto::new(random(1)));
        lean_dtls::crypto::Hash::update(&mut hash, b"HelloRetryRequest");
        hash
    });
    // Suite TLS_AES_128_CCM_8_SHA256; supported_versions with DTLS 1.3; cookie.
    let rest = [0, 0x13, 0x05, 0, 0, 16, 0, 43, 0, 2, 0xfe, 0xfc, 0, 44, 0, 6, 0, 4, cookie, 2, 3, 4];
    let body = [&[0xfe, 0xfd][..], &random, &rest].concat();
    fragment(SERVER_HELLO, 0, body.len() as u32, 0, &body)
}

/// One forged datagram, and to whom it goes.
fn forgeries() -> Vec<(String, bool, Vec<u8>)> {
    let mut all = Vec::new();
    for kind in [SERVER_HELLO, HELLO_VERIFY_REQUEST, ENCRYPTED_EXTENSIONS, CERTIFICATE, SERVER_HELLO_DONE, FINISHED] {
        for sequence in 0..4 {
            for length in [5, 60, 512, 5000] {
                let name =
                    format!("a piece of message {sequence}, which is a {kind} of {length} octets, to the client");
                all.push((name, false, fragment(kind, sequence, length, 0, &[1, 2, 3])));
            }
        }
    }
    for kind in [1, CERTIFICATE, CLIENT_KEY_EXCHANGE, FINISHED] {
        for sequence in 0..4 {
            for length in [5, 60, 512, 5000] {
                let name =
                    format!("a piece of message {sequence}, which is a {kind} of {length} octets, to the server");
                all.push((name, true, fragment(kind, sequence, length, 0, &[1, 2, 3])));
            }
        }
    }
    // As many messages after the next as there are places.
    for (is_to_server, sequence) in [(false, 1), (false, 2), (true, 2), (true, 3)] {
        for later in sequence..sequence + 5 {
            let name = format!("message {later}, to the server: {is_to_server}");
            all.push((name, is_to_server, fragment(FINISHED, later, 12, 0, &[0; 12])));
        }
    }
    all.push(("a HelloVerifyRequest".into(), false, verify_request(1)));
    for is_to_server in [false, true] {
        all.push((format!("an alert, to the server: {is_to_server}"), is_to_server, in_clear(21, 9, &[2, 40])));
        all.push((format!("data, to the server: {is_to_server}"), is_to_server, in_clear(23, 9, &[2, 40])));
        #[cfg(feature = "dtls13")]
        for records in [&[][..], &[(0, 0)], &[(0, 1)], &[(0, 2)], &[(0, 0), (0, 1), (0, 2), (0, 3)], &[(2, 0)]] {
            let name = format!("an acknowledgement of {records:?}, to the server: {is_to_server}");
            all.push((name, is_to_server, ack_in_clear(records)));
        }
    }
    all
}

/// One forged datagram at any place of a handshake, of which no datagram is lost, or any one: both ends are established.
#[test]
fn a_datagram_that_is_forged_in_clear_ends_no_handshake() {
    for mtu in [400, 64] {
        for (versions, client_config, server_config) in pairs(mtu) {
            let mut forgeries = forgeries();
            // To the others it is a whole ServerHello.
            #[cfg(feature = "dtls13")]
            if versions.ends_with("1.3") || versions == "both" {
                forgeries.push(("a HelloRetryRequest".into(), false, retry_request(1)));
            }
            for (name, is_to_server, forged) in forgeries {
                for place in 0..8 {
                    // In the usual datagrams only: the loss of each with each forgery takes long.
                    let losses = if mtu == 400 { 0..6 } else { 0..1 };
                    for lost in losses {
                        let (mut client, mut server) = ends(client_config, server_config);
                        let fates = (1..6).map(|number| if number == lost { Fate::Drop } else { Fate::Pass });
                        let (trace, _) = run_with(&mut client, &mut server, fates, |arrived, _| {
                            if arrived == place { vec![(is_to_server, forged.clone())] } else { Vec::new() }
                        });
                        let is_up = (client.status(), server.status_at(PEER))
                            == (Status::Established, Some(Status::Established));
                        let last = trace.last().map_or(0, |(at, _, _)| *at);
                        assert!(
                            is_up && last < SOME_WAITS_MS,
                            "{versions}, mtu {mtu}, {name}, before datagram {place}, lost {lost}: {:?} {:?} {last} ms",
                            client.status(),
                            server.status_at(PEER),
                        );
                    }
                }
            }
        }
    }
}

/// Forged datagrams, each of which an end could answer, 15 of them at once at any place of a handshake: what it then sends more is no
/// more than its longest flight.
#[test]
fn an_end_sends_at_most_one_flight_more_in_a_wait() {
    for (versions, client_config, server_config) in pairs(400) {
        let mut forged: Vec<Vec<Vec<u8>>> = Vec::new();
        for kind in [1, SERVER_HELLO, SERVER_HELLO_DONE, CLIENT_KEY_EXCHANGE, FINISHED] {
            forged.extend((0..5).map(|sequence| vec![fragment(kind, sequence, 0, 0, &[]); 15]));
        }
        forged.push((0..15).map(verify_request).collect());
        #[cfg(feature = "dtls13")]
        {
            forged.push((0..15).map(retry_request).collect());
            for records in [&[][..], &[(0, 0)], &[(0, 1)], &[(0, 2)]] {
                forged.push(vec![ack_in_clear(records); 15]);
            }
        }
        for forged in forged {
            for (place, is_to_server) in (0..8).flat_map(|place| [(place, false), (place, true)]) {
                let (mut client, mut server) = ends(client_config, server_config);
                client.connect();
                let (mut arrived, mut longest) = (0, [0; 2]);
                'handshake: for _ in 0..4 {
                    for is_from_client in [true, false] {
                        let sent = match is_from_client {
                            true => from_client(&mut client, NOW),
                            false => from_server(&mut server, NOW).into_iter().map(|(_, sent)| sent).collect(),
                        };
                        let flight: usize = sent.iter().map(Vec::len).sum();
                        longest[usize::from(is_from_client)] = flight.max(longest[usize::from(is_from_client)]);
                        for mut datagram in sent {
                            if arrived == place {
                                break 'handshake;
                            }
                            arrived += 1;
                            match is_from_client {
                                true => server.hear(PEER, &mut datagram, |_| {}),
                                false => client.receive(&mut datagram, |_| {}),
                            }
                        }
                    }
                }
                let drain = |client: &mut TestClient, server: &mut TestServer| -> usize {
                    let own: usize = from_client(client, NOW).iter().map(Vec::len).sum();
                    own + from_server(server, NOW).iter().map(|(_, sent)| sent.len()).sum::<usize>()
                };
                drain(&mut client, &mut server);
                let mut more = 0;
                for mut datagram in forged.clone() {
                    match is_to_server {
                        true => server.hear(PEER, &mut datagram, |_| {}),
                        false => client.receive(&mut datagram, |_| {}),
                    }
                    more += drain(&mut client, &mut server);
                }
                // A second hello is longer than the first by its cookie: 42 octets in 1.3, with 4 of the extension and 2 of its length.
                let longest = longest[usize::from(!is_to_server)] + 48;
                let first = &forged[0];
                assert!(
                    more <= longest,
                    "{versions}, 15 of {first:?} at {place}: {more} octets, a flight has {longest}"
                );
            }
        }
    }
}

/// Every half-open connection has an end: also that with a client whose record numbers leave none to the server.
#[test]
fn a_hello_with_the_last_record_number_holds_no_slot_for_ever() {
    for (versions, client_config, server_config) in pairs(400) {
        for number in [(1_u64 << 48) - 1, (1 << 48) - 3, 1 << 23, (1 << 23) - 1, (1 << 22) + 1, 1 << 22] {
            let (mut client, mut server) = ends(client_config, server_config);
            client.connect();
            for mut datagram in from_client(&mut client, NOW) {
                server.hear(PEER, &mut datagram, |_| {});
            }
            for (_, mut datagram) in from_server(&mut server, NOW) {
                client.receive(&mut datagram, |_| {});
            }
            for mut datagram in from_client(&mut client, NOW) {
                datagram[5..11].copy_from_slice(&number.to_be_bytes()[2..]);
                server.hear(PEER, &mut datagram, |_| {});
            }
            // It gets no slot. If it got one, that would have an end.
            let mut now = NOW;
            while server.status_at(PEER) == Some(Status::Handshaking) {
                from_server(&mut server, now);
                now = server.deadline().unwrap_or_else(|| panic!("{versions}, {number}: it waits for nothing"));
                server.handle_timeout(now);
            }
            // 1 + 2 + 4 + 8 + 16 + 32 + 2 * 60 s.
            assert!(now <= Instant::from_millis(183_000), "{versions}: {now:?}");
        }
    }
}
