//! Our TCP against the TCP of the kernel that runs the test, in real time, over a path with
//! faults. `tests/net/tcp/golden/live.py` has the kernel's side: a namespace with a TUN device. It
//! and this process pass IPv6 packets to each other over a pair of datagram sockets, so that no
//! unsafe code is needed here.

use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration as WallDuration;

use slowhand_net::clock::{Duration, Instant};
use slowhand_net::transport::tcp::{CongestionControl, Connection, EcnMark, Nagle, State, TcpConfig};

use super::harness::{Side, endpoint, initial_seq, message};

/// 1 MB each way, as the traces' hosts send it.
const COUNT: usize = 1_000_000;

/// With heavy losses most of the time passes while the kernel backs off. Of 85 segments and their repetitions, about 20 are
/// lost.
const COUNT_WITH_HEAVY_LOSSES: usize = 100_000;

/// The variable with the seed of the path's faults. Without it, every run has the same.
const SEED: &str = "SLOWHAND_SEED";

/// The time that one transfer may take, in real time.
const LIMIT: WallDuration = WallDuration::from_secs(110);

const IPV6_HEADER: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Sends,
    Receives,
}

/// In per mille.
#[derive(Clone, Copy, Debug, Default)]
struct Faults {
    loss: u32,
    duplicate: u32,
    reorder: u32,
}

struct Kernel {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
    packets: UnixDatagram,
}

impl Kernel {
    fn start(role: Role, faults: Faults, count: usize) -> Self {
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/net/tcp/golden/live.py");
        let role = if role == Role::Sends { "sends" } else { "receives" };
        let numbers = [count as u32, faults.loss, faults.duplicate, faults.reorder, seed()];
        let mut process = Command::new("python3")
            .arg(script)
            .arg(role)
            .args(numbers.map(|n| n.to_string()))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut kernel = Self { process, output, packets: ours };
        assert_eq!(kernel.line(), "ready\n");
        kernel
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    fn send(&self, segment: &[u8]) {
        let mut packet = vec![0; IPV6_HEADER];
        packet[0] = 0x60;
        packet[4..6].copy_from_slice(&(segment.len() as u16).to_be_bytes());
        packet[6] = 6;
        packet[7] = 64;
        packet[8..24].copy_from_slice(&endpoint(Side::A).address.octets());
        packet[24..40].copy_from_slice(&endpoint(Side::B).address.octets());
        packet.extend_from_slice(segment);
        // The script may have ended. Then nobody needs this packet.
        let _ = self.packets.send(&packet);
    }

    fn receive<'a>(&self, wait: WallDuration, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
        self.packets.set_read_timeout(Some(wait)).unwrap();
        let len = self.packets.recv(buffer).ok()?;
        Some(&buffer[IPV6_HEADER..len])
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // The script ends by itself if the test succeeds. Its namespace ends with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The seed of the path's faults.
fn seed() -> u32 {
    let Some(text) = std::env::var_os(SEED) else { return 1 };
    let number = text.to_str().and_then(|text| text.parse().ok());
    number.unwrap_or_else(|| panic!("{SEED}: found {text:?}, allowed: a whole number from 0 to {}", u32::MAX))
}

/// The first need of this test that this machine does not meet.
fn missing() -> Option<&'static str> {
    if !Path::new("/dev/net/tun").exists() {
        return Some("there is no /dev/net/tun");
    }
    let root = std::fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0);
    if !root {
        return Some("it needs root, to make a network namespace");
    }
    let tools = [("python3", "--version"), ("unshare", "--version"), ("ip", "-V")];
    let runs = |(tool, flag): &(&str, &str)| {
        Command::new(tool).arg(flag).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    (!tools.iter().all(runs)).then_some("python3, unshare (util-linux) or ip (iproute2) is not there")
}

/// One transfer of `count` octets; returns the real time it took.
fn transfer(config: &TcpConfig, role: Role, faults: Faults, count: usize) -> f64 {
    let mut kernel = Kernel::start(role, faults, count);
    let octets = message(count);
    let mut to_send: &[u8] = if role == Role::Receives { &octets } else { &[] };
    let mut got = Vec::new();
    let began = std::time::Instant::now();
    let clock = || Instant::from_micros(began.elapsed().as_micros() as u64);
    let (own, peer) = (endpoint(Side::A), endpoint(Side::B));
    let mut connection = Connection::connect(config, own, peer, initial_seq(Side::A)).unwrap();
    let (mut out, mut packet, mut chunk) = ([0; 2048], [0; 2048], [0; 65_536]);
    let mut complete = None;
    loop {
        let written = connection.write(to_send).unwrap_or(0);
        to_send = &to_send[written..];
        let now = clock();
        connection.handle_timeout(now);
        while let Some(transmit) = connection.poll_transmit(now, &mut out) {
            kernel.send(&out[..transmit.len]);
        }
        let all = match role {
            Role::Receives => to_send.is_empty() && connection.all_acknowledged(),
            Role::Sends => got.len() == count,
        };
        if all && complete.is_none() {
            complete = Some(began.elapsed().as_secs_f64());
            connection.close();
        }
        if matches!(connection.state(), State::TimeWait | State::Closed) {
            kernel.packets.send(&[]).unwrap();
            break;
        }
        assert_eq!(connection.error(), None, "{:?}", connection.statistics());
        assert!(began.elapsed() < LIMIT, "{:?} {:?}", connection.state(), connection.statistics());
        let until = connection.deadline().map_or(20_000, |at| at.since(clock()).as_micros());
        let wait = WallDuration::from_micros(until.clamp(50, 20_000));
        if let Some(segment) = kernel.receive(wait, &mut packet) {
            connection.handle_segment(clock(), peer.address, EcnMark::NotCapable, segment).unwrap();
            let read = connection.read(&mut chunk).unwrap();
            got.extend_from_slice(&chunk[..read]);
        }
    }
    // Our acknowledgement of the last FIN may be lost: answer while the kernel may ask.
    while kernel.process.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < LIMIT, "the script does not end");
        let now = clock();
        connection.handle_timeout(now);
        while let Some(transmit) = connection.poll_transmit(now, &mut out) {
            kernel.send(&out[..transmit.len]);
        }
        if let Some(segment) = kernel.receive(WallDuration::from_millis(20), &mut packet) {
            connection.handle_segment(clock(), peer.address, EcnMark::NotCapable, segment).unwrap();
        }
    }
    let mut result = String::new();
    kernel.output.read_to_string(&mut result).unwrap();
    let received = if role == Role::Receives { count } else { 0 };
    assert_eq!(result.trim(), format!("{{\"received\": {received}, \"intact\": true}}"));
    if role == Role::Sends {
        assert!(got == octets, "content differs");
    }
    complete.unwrap()
}

/// All faults in turn, the kernel sending and receiving; then other configurations. With heavy losses a tenth of the octets,
/// unless `SLOWHAND_FULL` is set.
#[test]
fn a_megabyte_to_and_from_the_kernel() {
    if let Some(reason) = missing() {
        println!("SKIPPED: TCP against the live kernel did not run: {reason}");
        eprintln!("SKIPPED: TCP against the live kernel did not run: {reason}");
        return;
    }
    println!("{SEED}={}", seed()); // a test that fails shows it
    let mut linux = TcpConfig::linux();
    // Timers that fit a path of 2 ms, as the script sets the kernel's.
    linux.rto.granularity = Duration::from_millis(20);
    linux.rto.min = Duration::from_millis(20);
    linux.rto.max = Duration::from_secs(1);
    linux.rto.after_syn_loss = Duration::from_secs(1);
    linux.retries = 100;
    let loss = |loss| Faults { loss, ..Faults::default() };
    let faults = [
        loss(0),
        loss(10),
        loss(50),
        loss(200),
        Faults { reorder: 50, ..loss(0) },
        Faults { duplicate: 50, ..loss(0) },
    ];
    let run = move |name: &str, config: &TcpConfig, role: Role, faults: Faults| {
        let heavy = faults.loss >= 200 && std::env::var_os("SLOWHAND_FULL").is_none();
        let took = transfer(config, role, faults, if heavy { COUNT_WITH_HEAVY_LOSSES } else { COUNT });
        println!("{name}, the kernel {role:?}, {faults:?}: {took:.3} s");
    };
    let new_reno = TcpConfig { sack: false, timestamps: false, congestion: CongestionControl::Reno, ..linux.clone() };
    let constrained = TcpConfig { rto: linux.rto, nagle: Nagle::Rfc896, ..TcpConfig::constrained() };
    let mut cases: Vec<_> = faults.map(|faults| ("linux", &linux, faults)).into();
    cases.push(("new reno", &new_reno, loss(50)));
    cases.push(("constrained", &constrained, loss(10)));
    // Most of the time is spent waiting for timers, the kernel's above all.
    std::thread::scope(|scope| {
        for (name, config, faults) in cases {
            scope.spawn(move || {
                run(name, config, Role::Sends, faults);
                run(name, config, Role::Receives, faults);
            });
        }
    });
}
