//! TLS over the TCP of this computer's kernel, as Claeys et al. 2021 measured it (Tables 2 and 3): the emulated sensor opens a
//! session with a server in a network namespace.

use super::kernel::alone;
use super::server::Server;
use super::{COMPUTER, Handshake, in_parallel, in_time, run_live, run_virtual};
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_live::namespace::Namespace;
use slowhand_live::{Interface, Ways};
use std::net::{Ipv6Addr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// A row of one of the tables.
struct Row {
    name: &'static str,
    mss: u16,
    has_nagle: bool,
    has_proxy: bool,
}

const fn row(name: &'static str, mss: u16, has_nagle: bool, has_proxy: bool) -> Row {
    Row { name, mss, has_nagle, has_proxy }
}

const ROWS: [Row; 6] = [
    row("Table 2, MSS 844, Nagle", 844, true, false),
    row("Table 2, MSS 844", 844, false, false),
    row("Table 2, MSS 336, Nagle", 336, true, false),
    row("Table 2, MSS 336", 336, false, false),
    row("Table 3, MSS 844, Nagle", 844, true, true),
    row("Table 3, MSS 844", 844, false, true),
];

impl Row {
    /// The scenario of the paper: `tls_settings` of `python/slowhand/papers/claeys2021/handshake.py`. Without the proxy, the
    /// first SYN-ACK is dropped, so that the server goes on with a timeout of 3 s (section 5 of the paper; the kernel does as
    /// RFC 6298 section 5.7 has it).
    fn scenario(&self) -> Scenario {
        let nagle = |with| if self.has_nagle { with } else { "off" };
        let overrides: Vec<Override> = [
            "session.protocol=tls1.2".to_owned(),
            format!("transport.client.mss={}", self.mss),
            format!("transport.server.mss={}", self.mss),
            format!("transport.client.nagle={}", nagle("rfc896")),
            format!("transport.server.nagle={}", nagle("minshall")),
            match self.has_proxy {
                true => "gateway.tcp_proxy=true".to_owned(),
                false => "server.internet_dropped=[1]".to_owned(),
            },
        ]
        .iter()
        .map(|text| text.parse().unwrap())
        .collect();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/claeys2021/handshake.toml");
        Scenario::load(&file, &overrides).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A handshake with a server in a namespace of its own.
    fn run_live(&self, seed: u64) -> Handshake {
        let scenario = self.scenario();
        let run = || {
            static NAMESPACES: AtomicU32 = AtomicU32::new(0);
            let name = format!("server{}", NAMESPACES.fetch_add(1, Ordering::Relaxed));
            let namespace = Namespace::open(&name).unwrap();
            // The interface with the server's address is not there yet.
            let any = (Ipv6Addr::UNSPECIFIED, scenario.session.server_port());
            let listener = namespace.run(|| TcpListener::bind(any).unwrap()).unwrap();
            let _server = Server::over_tcp(&scenario, listener, self.has_nagle);
            run_live(&scenario, seed, Ways::Interfaces { device: None, internet: Some(Interface::Namespace(name)) })
        };
        in_time(SLOT_MS, run).0
    }
}

/// The slot of the scenario.
const SLOT_MS: f64 = 20.0;

/// Means over the seeds, side by side, in duration and octets on the air.
fn compare(seeds: u64) {
    let jobs: Vec<_> = ROWS.iter().flat_map(|row| (1..=seeds).map(move |seed| (row, seed))).collect();
    let live = in_parallel(&jobs, 12, |(row, seed)| row.run_live(*seed));
    println!("| row | virtual | live | | virtual | live | |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (row, live) in ROWS.iter().zip(live.chunks(seeds as usize)) {
        let emulated = run_virtual(&row.scenario(), seeds);
        let means = [&emulated[..], live].map(|handshakes| {
            let mean =
                |of: &dyn Fn(&Handshake) -> f64| handshakes.iter().map(of).sum::<f64>() / handshakes.len() as f64;
            [mean(&|handshake| handshake.duration_s), mean(&|handshake| handshake.octets as f64)]
        });
        let ratios = [0, 1].map(|quantity| means[1][quantity] / means[0][quantity]);
        println!(
            "| {} | {:.3} s | {:.3} s | {:+.1} % | {:.0} B | {:.0} B | {:+.1} % |",
            row.name,
            means[0][0],
            means[1][0],
            100.0 * (ratios[0] - 1.0),
            means[0][1],
            means[1][1],
            100.0 * (ratios[1] - 1.0),
        );
        assert!(ratios.iter().all(|ratio| (ratio - 1.0).abs() < 0.15), "{}: {means:?}", row.name);
    }
}

/// `./test --full` takes more seeds.
#[test]
fn the_kernels_tcp_in_every_row() {
    let _computer = COMPUTER.lock();
    if alone("tcp::the_kernels_tcp_in_every_row") {
        compare(if std::env::var_os("SLOWHAND_FULL").is_some() { 20 } else { 2 });
    }
}
