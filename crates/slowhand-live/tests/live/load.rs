//! Many clients at once, and floods of what means nothing.

use super::peers::{client, client_that, loopback, octets, server};
use super::{scenario, setup, start, stop, wait_for};
use slowhand_lab::record::Outcome;
use slowhand_live::{Event, Proxy, Setup, Transport, Ways};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

fn proxy(server: SocketAddr) -> Ways {
    Ways::Proxies(vec![Proxy { transport: Transport::Udp, listen: loopback(), server }])
}

/// 200 clients of a tree of two levels, each a node. All begin at once, so routers need room for the fragments of many.
#[test]
fn two_hundred_clients_at_once() {
    let text = r#"
        network = { topology = { kind = "tree", depth = 2, fan_out = 15 } }
        mac = { kind = "tsch", slot_ms = 10, slotframe = 97, cells = { shared = 1, up = 1, down = 1 }, queue = 500 }
        lowpan = { reassembly_buffers = 50, border_router_reassembly_buffers = 500 }
        client = { device = "nrf52840", count = 200 }
        session = { stack = "lean-dtls", suite = "TLS_PSK_WITH_AES_128_CCM_8", timeout_s = 20 }
    "#;
    let scenario = scenario(text);
    // The timers of the programs are by the wall clock: 20 s are 2,000 s of the network.
    let live = start(text, Setup { speed: 100.0, ..setup(proxy(server(&scenario))) });
    let address = live.addresses()[0].listen;
    // None closes before all are open: its node would be free for another one.
    let (began, open) = (Instant::now(), AtomicUsize::new(0));
    let wait_for_all = || {
        open.fetch_add(1, Ordering::Relaxed);
        while open.load(Ordering::Relaxed) < 200 && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    std::thread::scope(|scope| {
        let run = || client_that(wait_for_all, &scenario, address, &octets(40), PATIENCE);
        let clients: Vec<_> = (0..200).map(|number| (number, scope.spawn(run))).collect();
        for (number, client) in clients {
            client.join().unwrap().unwrap_or_else(|error| panic!("client {number}: {error}"));
        }
    });
    let (records, report) = stop(live);
    let completed = records.iter().filter(|record| record.outcome == Outcome::Completed).count();
    let nodes: std::collections::BTreeSet<u16> = records.iter().map(|record| record.client).collect();
    assert_eq!((records.len(), completed, nodes.len()), (200, 200, 200), "{report:?}");
    assert_eq!((report.sessions.completed, report.sessions.refused), (200, 0));
}

/// 100,000 datagrams to the address of clients, from 50 ports: empty ones, noise, and those that no packet can carry. The
/// kernel drops what does not fit into the buffer of the socket; so the client's own may be among them.
#[test]
fn a_flood_does_not_hold_up_a_session() {
    let text = &super::ONE_HOP.replace("stack = \"mbedtls\"", "stack = \"lean-dtls\", timeout_s = 1");
    let scenario = scenario(text);
    let live = start(text, setup(proxy(server(&scenario))));
    let address = live.addresses()[0].listen;
    let flooded = AtomicBool::new(false);
    let (took, flood_took) = std::thread::scope(|scope| {
        let session = scope.spawn(|| {
            // The session begins before the flood does, and has data during the whole flood.
            let first = client(&scenario, address, &octets(200), PATIENCE).unwrap();
            while !flooded.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(10));
            }
            let after = client(&scenario, address, &octets(200), PATIENCE).unwrap();
            [first, after]
        });
        wait_for(&live, |event| matches!(event, Event::Opened { .. }).then_some(()));
        let flood_took = flood(address);
        flooded.store(true, Ordering::Relaxed);
        (session.join().unwrap(), flood_took)
    });
    println!("{took:?}, the flood {flood_took:?}");
    let (records, report) = stop(live);
    let completed: Vec<_> = records.iter().filter(|record| record.outcome == Outcome::Completed).collect();
    assert_eq!(completed.len(), 2, "{report:?}");
    assert!(report.sessions.refused > 1_000, "{report:?}");
    // Its datagrams were sent again a few times at most: after 1, 3, 7 and 15 s.
    assert!(took[0] < flood_took + Duration::from_secs(20), "{took:?}, the flood {flood_took:?}");
}

/// Returns how long it took.
fn flood(address: SocketAddr) -> Duration {
    let sockets: Vec<UdpSocket> = (0..50).map(|_| UdpSocket::bind(loopback()).unwrap()).collect();
    let began = Instant::now();
    for number in 0..100_000_usize {
        let length = [0, 1, 13, 200, 1_200, 2_100, 9_000][number % 7];
        let _ = sockets[number % sockets.len()].send_to(&octets(length), address); // a full buffer
    }
    began.elapsed()
}
