//! Tries a stack on paths that lose datagrams, without a network: what its author wants to know before a scenario names it.
//!
//! A trial is the same in each process, so two processes that differ show a stack that depends on the computer.

use std::cell::Cell;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::building::build;
use crate::c_library;
use crate::config::{CredentialKind, Family, Negotiated, Protocol, Role, SessionConfig, Stack};
use crate::device;
use crate::heap;
use crate::memory::{End, Path, Transcript};
use crate::operation::Weightless;
use crate::session::{Session, Status};
use crate::tls::Tls;

/// The smallest limit of a datagram that is tried, in octets: *assumed*, about three frames of IEEE 802.15.4. A stack that needs more
/// is tried with what it needs.
const SMALL_MTU: u16 = 256;

/// The most datagrams of a handshake each of which is lost once: *assumed*, more than any handshake has.
const MOST_LOST: usize = 200;

/// The most datagrams of one run: *assumed*; two ends that answer each other for ever reach it.
const DATAGRAM_LIMIT: usize = 2_000;

/// The number of times that each handshake is repeated, and then twice as often, to look for memory that is not given back: *assumed*.
const REPETITIONS: usize = 20;

/// The result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// Its stack.
    pub stack: String,
    /// One for each protocol and credential that the stack has.
    pub sessions: Vec<SessionTrial>,
    /// SHA-256 of all that the sessions sent, when, and what they computed.
    pub digest: String,
    /// The number of handshakes that were run, whatever became of them.
    pub handshakes: usize,
    /// The number of times that a session waited for the system, which no session may; 0 where the system does not say.
    pub waits: u64,
    /// The number of threads that the stack has started; 0 where the system does not say.
    pub threads: usize,
}

/// The trial of one protocol with one credential.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionTrial {
    /// The protocol.
    pub protocol: Protocol,
    /// The credential.
    pub credential: CredentialKind,
    /// The datagrams or writes of its handshake without a loss.
    pub datagrams: usize,
    /// Their octets.
    pub octets: usize,
    /// The problems, each in words.
    pub problems: Vec<String>,
    /// Octets of memory that each session keeps when it has ended. `None`: the stack does not say what it allocates, or it is
    /// written in Rust and nobody counts.
    pub leaked: Option<f64>,
}

/// Tries a stack: each protocol and credential without losses and with application data, with each datagram of the handshake lost
/// once, and with small datagrams.
pub fn trial(stack: Stack) -> Trial {
    let (threads, waits) = (system::threads(), system::waits());
    let capabilities = stack.capabilities();
    let pairs = capabilities
        .protocols()
        .flat_map(|protocol| capabilities.credentials.iter().map(move |kind| (protocol, *kind)));
    let mut all = Sha256::new();
    let handshakes = Cell::new(0);
    let sessions: Vec<_> =
        pairs.filter_map(|(protocol, kind)| Trier::new(stack, protocol, kind, &handshakes)?.run(&mut all)).collect();
    let digest = device::hex(&all.finalize());
    let waits = system::waits().saturating_sub(waits);
    let threads = system::threads().saturating_sub(threads);
    Trial { stack: stack.to_string(), sessions, digest, handshakes: handshakes.get(), waits, threads }
}

/// The two ends of one protocol with one credential.
struct Trier<'a> {
    configs: [SessionConfig; 2],
    /// The number of handshakes that were run.
    handshakes: &'a Cell<usize>,
}

impl<'a> Trier<'a> {
    /// `None` if the stack has no suite for this.
    fn new(stack: Stack, protocol: Protocol, kind: CredentialKind, handshakes: &'a Cell<usize>) -> Option<Self> {
        let tls = stack.capabilities().tls;
        let end = |role, seed| {
            let config = SessionConfig::new(role, stack, protocol.family(), kind.into());
            let mut config = SessionConfig { seed: [seed; 32], ..config };
            if let Family::Tls(Tls { version, .. }) = &mut config.family
                && let Some(dtls) = version.dtls_mut()
            {
                dtls.cookie = !tls.cookieless;
                if protocol == Protocol::Dtls13 {
                    dtls.psk_mode = tls.psk_modes.first().copied().unwrap_or(dtls.psk_mode);
                }
            }
            config
        };
        let configs = [end(Role::Client, 1), end(Role::Server, 2)];
        configs.iter().all(|config| config.validate().is_ok()).then_some(Self { configs, handshakes })
    }

    fn run(&self, all: &mut Sha256) -> Option<SessionTrial> {
        let config = &self.configs[0];
        let (protocol, credential) = (config.protocol(), config.credential.kind());
        let mut problems = Vec::new();
        c_library::take_violation_at_end();
        let path = Path { datagram_limit: DATAGRAM_LIMIT, ..Path::default() };
        let plain = self.handshake(&self.configs, &path, all, "without losses", &mut problems);
        let plain = plain.unwrap_or_default();
        let is_whole = problems.is_empty();
        if is_whole {
            self.data(&path, all, &mut problems);
        }
        if is_whole && !protocol.is_stream() {
            for lost in 0..plain.len().min(MOST_LOST) {
                let path = Path { dropped: vec![lost], ..path.clone() };
                self.handshake(&self.configs, &path, all, &format!("datagram {} lost", lost + 1), &mut problems);
            }
            self.small(&path, all, &mut problems);
        }
        let leaked = is_whole.then(|| self.leaked(&path)).flatten();
        if let Some(failure) = c_library::take_violation_at_end() {
            problems.push(format!("when a session is destroyed: {failure}"));
        }
        Some(SessionTrial {
            protocol,
            credential,
            datagrams: plain.len(),
            octets: plain.iter().sum(),
            problems,
            leaked,
        })
    }

    fn pair(&self, configs: &[SessionConfig; 2]) -> Result<[Box<dyn Session>; 2], String> {
        self.handshakes.update(|count| count + 1);
        let build = |config| build(config, Arc::new(Weightless)).map_err(|error| error.to_string());
        Ok([build(&configs[0])?, build(&configs[1])?])
    }

    /// Runs a handshake. Returns the sizes of its datagrams.
    fn handshake(
        &self,
        configs: &[SessionConfig; 2],
        path: &Path,
        all: &mut Sha256,
        what: &str,
        problems: &mut Vec<String>,
    ) -> Option<Vec<usize>> {
        let [mut client, mut server] = match self.pair(configs) {
            Ok(pair) => pair,
            Err(error) => {
                problems.push(format!("{what}: {error}"));
                return None;
            }
        };
        let transcript = path.run(&mut *client, &mut *server);
        add(all, &transcript, [&mut *client, &mut *server]);
        if transcript.end != End::Completed {
            problems.push(format!("{what}: {}", outcome(&transcript)));
        }
        Some(transcript.sizes())
    }

    /// After a handshake, a message in each direction.
    fn data(&self, path: &Path, all: &mut Sha256, problems: &mut Vec<String>) {
        let Ok([mut client, mut server]) = self.pair(&self.configs) else { return };
        let now = path.run_until_quiet(&mut *client, &mut *server).at;
        for name in ["client", "server"] {
            let data = format!("data of the {name}");
            if let Err(error) = client.write(now, data.as_bytes()) {
                problems.push(format!("application {data}: {error}"));
            }
            while let Some(transmit) = client.poll_transmit() {
                all.update(transmit.bytes);
                server.handle_input(now, transmit.bytes);
            }
            let received = server.poll_received().map(|received| received.bytes.to_vec());
            if received.as_deref() != Some(data.as_bytes()) {
                problems.push(format!("application {data}: they did not arrive as they were sent"));
            }
            // Then the other direction.
            mem::swap(&mut client, &mut server);
        }
        for ((name, end), config) in [("client", client), ("server", server)].iter_mut().zip(&self.configs) {
            let said = end.negotiated();
            let _ = end.resumable();
            let problem = if let Status::Failed(failure) = end.status() {
                Some(format!("fails: {failure}"))
            } else {
                differs(config, said)
            };
            problems.extend(problem.map(|problem| format!("what it says of its session: the {name} {problem}")));
        }
    }

    /// The handshake with small datagrams.
    fn small(&self, path: &Path, all: &mut Sha256, problems: &mut Vec<String>) {
        let stack = self.configs[0].stack;
        let kind = self.configs[0].credential.kind();
        let datagrams = stack.capabilities().datagrams;
        let least = datagrams.and_then(|datagrams| datagrams.minimum_mtu.iter().find(|(of, _)| *of == kind).copied());
        let mtu = least.map_or(0, |(_, least)| least).max(SMALL_MTU);
        let configs = self.configs.each_ref().map(|config| SessionConfig { mtu: Some(mtu), ..config.clone() });
        let what = format!("datagrams of at most {mtu} octets");
        let sizes = self.handshake(&configs, path, all, &what, problems).unwrap_or_default();
        if let Some(longest) = sizes.iter().max().filter(|size| **size > mtu.into()) {
            problems.push(format!("{what}: one has {longest}"));
        }
    }

    /// Octets that each session keeps: what is left of many sessions, without what is left of fewer. A library may keep a block
    /// of its last session.
    fn leaked(&self, path: &Path) -> Option<f64> {
        let run = |count| {
            for _ in 0..count {
                let [mut client, mut server] = self.pair(&self.configs).ok()?;
                path.run(&mut *client, &mut *server);
            }
            Some(())
        };
        run(REPETITIONS)?;
        let (_, most, few) = heap::counted_and_left(|| run(REPETITIONS));
        let (_, _, many) = heap::counted_and_left(|| run(2 * REPETITIONS));
        let sum = |ends: [usize; 2]| ends.iter().sum::<usize>();
        let kept = sum(many).saturating_sub(sum(few)) as f64 / REPETITIONS as f64;
        (sum(most) > 0).then_some(kept)
    }
}

/// The difference between what an end says of its session and what it was asked for.
fn differs(config: &SessionConfig, said: Option<Negotiated>) -> Option<String> {
    let asked = config.stack.capabilities().check(config).ok()?.suite;
    match said {
        Some(Negotiated::Tls { suite, connection_id: None, .. }) if suite == asked => None,
        Some(Negotiated::Tls { suite, connection_id: None, .. }) => Some(format!("has {suite}, and not {asked}")),
        Some(Negotiated::Tls { connection_id: Some(octets), .. }) => {
            Some(format!("has a connection ID of {octets} octets, which nobody asked for"))
        }
        None => Some(format!("has a suite that slowhand does not know, and not {asked}")),
    }
}

/// Adds what a run shows of its two ends.
fn add(all: &mut Sha256, transcript: &Transcript, ends: [&mut dyn Session; 2]) {
    all.update(format!("{transcript:?}"));
    for end in ends {
        end.drain_operations(&mut |performed| all.update(format!("{performed:?}")));
        all.update(end.key_log().join("\n"));
    }
}

fn outcome(transcript: &Transcript) -> String {
    let failures =
        [("client", &transcript.client), ("server", &transcript.server)].into_iter().filter_map(|(end, status)| {
            if let Status::Failed(failure) = status { Some(format!("the {end} fails: {failure}")) } else { None }
        });
    let failures: Vec<_> = failures.collect();
    match transcript.end {
        _ if !failures.is_empty() => failures.join("; "),
        End::Stalled => "both ends wait for each other, and no timer runs".to_owned(),
        End::TimeLimitReached => format!("it has not ended after {} s", Duration::from_secs(3600).as_secs()),
        End::DatagramLimitReached => format!("the two ends have sent more than {DATAGRAM_LIMIT} datagrams"),
        _ => "it does not complete".to_owned(),
    }
}

/// The system's figures about this process and this thread.
#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::mem::MaybeUninit;

    pub(super) fn threads() -> usize {
        fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
    }

    /// The number of times that this thread gave up the processor by itself, but not for a page from the disk (getrusage(2)).
    pub(super) fn waits() -> u64 {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the call writes the structure, which is valid as zeros too.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            usage.assume_init()
        };
        (usage.ru_nvcsw as u64).saturating_sub(usage.ru_majflt as u64)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn threads() -> usize {
        0
    }

    pub(super) fn waits() -> u64 {
        0
    }
}
