//! Live networks against virtual time: the same library over the same scenario, once with a real program as its server and
//! once with the emulated one.

#[allow(dead_code)] // other tests use the rest
#[path = "../kernel/mod.rs"]
mod kernel;
mod server;
mod tcp;
mod udp;

use slowhand_lab::application::{Action, Application, OpenAndStop};
use slowhand_lab::plan::Plan;
use slowhand_lab::record::PhaseReport;
use slowhand_lab::scenario::Scenario;
use slowhand_live::{EndReason, Event, Live, Report, Setup, Ways};
use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_sessions::Role;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The cost of a handshake.
#[derive(Clone, Copy, Debug)]
struct Handshake {
    duration_s: f64,
    /// On the air.
    octets: u64,
}

/// Two tests that need a computer for themselves.
static COMPUTER: Mutex<()> = Mutex::new(());

/// Runs the session of a scenario live, in real time, to its end. The report is that of the handshake.
fn run_live(scenario: &Scenario, seed: u64, ways: Ways) -> (Handshake, Report) {
    let setup =
        Setup { seed, speed: 1.0, ways, capture: None, record: None, control: None, duration: None, handshakes: None };
    let live = Live::start(scenario, setup).unwrap_or_else(|error| panic!("{error}"));
    let (mut handshake, mut report) = (None, None);
    while let Some(event) = live.next_event(Duration::from_secs(100)) {
        match event {
            Event::Established { .. } => report = live.snapshot().map(|snapshot| snapshot.report),
            Event::Closed { record, .. } => {
                let duration_s = record.duration_s.unwrap_or_else(|| panic!("{record:?}"));
                handshake = Some(Handshake { duration_s, octets: record.bytes_phy });
            }
            Event::Warning { message, .. } => panic!("{message}"),
            Event::Ended { reason, .. } => {
                assert_eq!(reason, EndReason::Finished);
                break;
            }
            _ => {}
        }
    }
    let whole = live.finish().unwrap();
    (handshake.expect("a session"), report.unwrap_or(whole))
}

/// The first live handshake on a computer that had time for it: meanwhile the network was never later than a slot of its
/// schedule. What keeps the computer from that comes in bursts.
fn in_time(slot_ms: f64, run: impl Fn() -> (Handshake, Report)) -> (Handshake, Report) {
    const PATIENCE: Duration = Duration::from_secs(120);
    let began = std::time::Instant::now();
    let mut runs = std::iter::from_fn(|| (began.elapsed() < PATIENCE).then(&run));
    runs.find(|(_, report)| report.lateness_ms.max < slot_ms).expect("this computer is too busy")
}

/// Runs handshakes in virtual time, for the seeds from 1 on. The client closes the session here too: what the network still does
/// for the handshake then, such as repeating its last frame, is in both.
fn run_virtual(scenario: &Scenario, seeds: u64) -> Vec<Handshake> {
    let plan = Plan::new(scenario).unwrap();
    let application = |_: NodeId, role: Role| -> Box<dyn Application> {
        match role {
            Role::Client => Box::<OpenAndClose>::default(),
            Role::Server => Box::new(OpenAndStop),
        }
    };
    let run = |seed| plan.run_applications(seed, &application, &mut ()).remove(0).phases.remove(0);
    let handshake = |phase: PhaseReport| Handshake { duration_s: phase.duration_s, octets: phase.costs.bytes_phy };
    (1..=seeds).map(run).map(handshake).collect()
}

/// The client's application.
#[derive(Default)]
struct OpenAndClose {
    close: Option<Action>,
    is_closed: bool,
}

impl Application for OpenAndClose {
    fn handle_established(&mut self, _now: Instant) {
        self.close = Some(Action::Close);
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.is_closed |= self.close.is_some();
        self.close.take()
    }

    fn is_finished(&self) -> bool {
        self.is_closed
    }
}

/// The results of `run` for each job, so many at the same time: a live network sleeps most of the time.
fn in_parallel<J: Sync, T: Send>(jobs: &[J], at_once: usize, run: impl Fn(&J) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        let own = numbers.map_while(|number| Some((number, run(jobs.get(number)?))));
        own.collect::<Vec<_>>()
    };
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}
