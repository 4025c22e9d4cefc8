//! A run of programs, from their hosts to the report.

use crate::error::ExecError;
use crate::linux::conductor::Conductor;
use crate::linux::kernel::{Kernel, Namespace, failed};
use crate::linux::names::NameFile;
use crate::linux::notes::Notes;
use crate::linux::spawn::Streams;
use crate::linux::streams::Streams as TcpStreams;
use crate::linux::team::{Team, fault};
use crate::linux::threads::Running;
use crate::linux::tracer::{Program, Tracer};
use crate::linux::world::World;
use crate::report::{Exit, ProgramReport, Report};
use crate::setup::{KEY_LOG, Setup};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::{Scenario, Success};
use slowhand_net::address::Host;
use slowhand_net::random::Streams as RandomStreams;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Keeps OpenSSL from the instructions RDRAND and RDSEED, whose numbers no seed gives (OPENSSL_ia32cap(3)).
const OPENSSL_WITHOUT_RDRAND: (&str, &str) = ("OPENSSL_ia32cap", "~0x4000000000000000:~0x40000");

/// Runs the programs of a setup on the network of a scenario, in the world of a seed. The calling thread must be the only one of
/// its process, and [`prepare`](crate::prepare) must have been called.
///
/// # Errors
/// See [`ExecError`]; then nothing is left behind.
pub fn run(scenario: &Scenario, setup: &Setup, seed: u64) -> Result<Report, ExecError> {
    let plan = Plan::new(scenario)?;
    let home = Namespace::here().map_err(failed("open the network namespace"))?;
    let kernels = kernels(setup)?;
    let mut programs = programs(setup, seed)?;
    let mut world = World::new(scenario, &plan, seed, setup.capture.as_deref(), setup.explain.is_some())?;
    let names = NameFile::new(scenario, &plan).map_err(failed("write the names of the hosts"))?;
    let hosts: Vec<Host> = kernels.iter().map(|kernel| kernel.host).collect();
    let tracer = |(number, kernel): (usize, Kernel)| {
        let streams = TcpStreams::new(scenario, &kernel, number as u64, seed);
        let own = programs.extract_if(.., |program| program.told.host == kernel.host).collect();
        Tracer::new(setup, streams, kernel, own, names.path())
    };
    let tracers = kernels.into_iter().enumerate().map(tracer).collect();
    let (ended, now, mut tracers) = std::thread::scope(|scope| {
        let team = Team::new(scope, tracers, setup.threads).map_err(failed("make a timer"))?;
        let mut conductor = Conductor::new(team, &mut world, setup, hosts);
        let ended = catch_unwind(AssertUnwindSafe(|| conductor.run())).unwrap_or_else(|panic| Err(fault(&*panic)));
        Ok::<_, ExecError>((ended, conductor.now, conductor.end()))
    })?;
    tracers.iter_mut().for_each(Tracer::note_dropped);
    home.enter().map_err(failed("come back from a network namespace"))?;
    let traps = tracers.iter().map(|tracer| tracer.traps).sum();
    let notes = Notes::list(tracers.iter_mut().map(|tracer| std::mem::take(&mut tracer.notes)));
    let mut programs: Vec<Program<'_>> = tracers.into_iter().flat_map(|tracer| tracer.programs).collect();
    programs.sort_by_key(|program| program.place);
    let mut secrets = Vec::new();
    let finished_hosts = world.finished_hosts();
    let report = |program: Program<'_>| {
        let has_finished = finished_hosts.contains(&program.told.host);
        report(program, has_finished, &mut world, &mut secrets)
    };
    let programs: Vec<ProgramReport> = programs.into_iter().map(report).collect();
    let (frames, bytes_phy, refused) = world.counts();
    let finished = world.finish(secrets, scenario, setup.explain); // also a capture of a run that has failed is complete until then
    let ending = ended?;
    let (conversations, explanation, digest) = finished?;
    Ok(Report {
        seed,
        ending,
        virtual_s: now as f64 / 1e9,
        conversations,
        programs,
        frames,
        bytes_phy,
        refused,
        traps,
        notes,
        explanation,
        digest,
    })
}

/// The number of hosts that are made side by side: the kernel lets each of them wait. *Assumed*.
const SIDE_BY_SIDE: usize = 16;

/// The hosts of all programs, each once. Their namespaces are made by threads that have ended afterwards.
fn kernels(setup: &Setup) -> Result<Vec<Kernel>, ExecError> {
    let mut hosts: Vec<Host> = Vec::new();
    for program in &setup.programs {
        if !hosts.contains(&program.host) {
            hosts.push(program.host);
        }
    }
    let ready = |host: &Host| {
        let mut kernel = Kernel::new(*host)?;
        kernel.wait_until_ready()?;
        Ok(kernel)
    };
    let parts = hosts.chunks(hosts.len().div_ceil(SIDE_BY_SIDE).max(1));
    let made: Result<Vec<Vec<Kernel>>, ExecError> = std::thread::scope(|scope| {
        let threads: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(ready).collect::<Result<Vec<_>, ExecError>>()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    Ok(made?.into_iter().flatten().collect())
}

fn programs(setup: &Setup, seed: u64) -> Result<Vec<Program<'_>>, ExecError> {
    let streams = RandomStreams::new(seed);
    let of = |place: usize| {
        let told = &setup.programs[place];
        let refused = |error: io::Error| match error.raw_os_error() {
            Some(libc::EMFILE) => ExecError::Requirement(format!(
                "there are too many programs, {}: this user may not open as many files; see ulimit -n",
                setup.programs.len()
            )),
            _ => failed("make the streams of a program")(error),
        };
        let mut input = told.input.clone();
        input.sort_by_key(|(at, _)| *at);
        input.reverse();
        Ok(Program {
            place,
            told,
            streams: Streams::new().map_err(refused)?,
            input,
            random: Xoshiro256PlusPlus::from_seed(streams.derive("program", place as u64)),
            running: Running::default(),
            environment: environment(&told.environment),
        })
    };
    (0..setup.programs.len()).map(of).collect()
}

/// That of this process, what makes libraries reproducible, where they write the secrets of sessions; and what is told, which
/// replaces all of these.
fn environment(told: &BTreeMap<String, String>) -> Vec<(OsString, OsString)> {
    let own = [OPENSSL_WITHOUT_RDRAND, ("SSLKEYLOGFILE", KEY_LOG)].map(|(key, value)| (key.into(), value.into()));
    let told = told.iter().map(|(key, value)| (key.into(), value.into()));
    let mut environment: Vec<(OsString, OsString)> = Vec::new();
    for (name, value) in std::env::vars_os().chain(own).chain(told) {
        environment.retain(|(other, _)| *other != name);
        environment.push((name, value));
    }
    environment
}

/// The report of a program. `has_finished`: a handshake is complete at its host.
fn report(
    mut program: Program<'_>,
    has_finished: bool,
    world: &mut World<'_>,
    secrets: &mut Vec<String>,
) -> ProgramReport {
    let [stdout, stderr, keys] = program.streams.output();
    secrets.extend(String::from_utf8_lossy(&keys).lines().filter(|line| is_secret(line)).map(str::to_owned));
    let running = program.running;
    world.note_output(&stdout);
    world.note_output(&stderr);
    world.note_output(format!("{:?}", running.ended).as_bytes());
    let exit = running.ended.map(|(_, exit)| exit);
    let is_done = |success: &Success| {
        success.exit.is_none_or(|code| exit == Some(Exit::Code(code.get() as i32)))
            && success.output.as_ref().is_none_or(|text| has(&stdout, text) || has(&stderr, text))
            && success.finished.is_none_or(|wanted| wanted == has_finished)
    };
    ProgramReport {
        name: program.told.name.clone(),
        started_s: running.started.map(|at| at as f64 / 1e9),
        ended_s: running.ended.map(|(at, _)| at as f64 / 1e9),
        exit,
        stdout: shown(&stdout),
        stderr: shown(&stderr),
        success: program.told.success.as_ref().map(is_done),
    }
}

/// True if a text is in an output.
fn has(output: &[u8], text: &str) -> bool {
    output.windows(text.len()).any(|part| part == text.as_bytes())
}

/// The most octets of an output that are kept. *Assumed*: more than anyone reads.
const MOST_OUTPUT: usize = 1 << 20;

/// An output as text: of a long one the beginning and the end.
fn shown(octets: &[u8]) -> String {
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    let Some(left_out) = octets.len().checked_sub(MOST_OUTPUT).filter(|left_out| *left_out > 0) else {
        return text(octets);
    };
    let (begin, end) = (&octets[..MOST_OUTPUT / 2], &octets[octets.len() - MOST_OUTPUT / 2..]);
    format!("{}\n[slowhand: {left_out} octets are left out here]\n{}", text(begin), text(end))
}

/// True for a line of a key log (NSS format): a label, and two numbers of hexadecimal digits.
fn is_secret(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|digit| digit.is_ascii_hexdigit());
    matches!(*words, [label, random, secret] if !label.starts_with('#') && is_number(random) && is_number(secret))
}

#[cfg(test)]
mod tests {
    use super::{MOST_OUTPUT, is_secret, shown};

    #[test]
    fn of_a_long_output_both_ends_are_kept() {
        let octets = [b"begin".to_vec(), vec![b'x'; MOST_OUTPUT], b"the end".to_vec()].concat();
        let text = shown(&octets);
        assert!(text.starts_with("begin") && text.ends_with("the end") && text.contains("12 octets are left out"));
        assert_eq!(shown(&octets[..MOST_OUTPUT]).len(), MOST_OUTPUT);
    }

    #[test]
    fn a_key_log_has_secrets_and_comments() {
        assert!(is_secret("CLIENT_RANDOM 0a1b 2C3d"));
        assert!(!is_secret("# SSL/TLS secrets log") && !is_secret("CLIENT_RANDOM 0a1b") && !is_secret("X 0g 11"));
    }
}
