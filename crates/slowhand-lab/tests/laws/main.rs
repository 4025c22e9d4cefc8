//! Laws that hold in every world, tried on random scenarios: sums, repetitions and losses, explanations, acknowledgements,
//! and the same bits whoever computes them.
//!
//! A scenario that breaks a law is made smaller, key by key, and written to a file that `slowhand run` takes.

mod account;
mod captures;
mod repetitions;
mod same_bits;
mod world;

use slowhand_lab::input::Blame;
use slowhand_sessions::Protocol;
use slowhand_testing::scenarios::{HELP, RandomScenario, TRACE, TRACE_FILE};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use world::{Valid, World, random};

type Law = (&'static str, fn(&World<'_>) -> Result<(), String>);

const LAWS: [Law; 16] = [
    ("numbers are finite and not negative", account::numbers),
    ("outcomes agree with the other columns", account::outcomes),
    ("a server has no more sessions than slots", account::slots),
    ("who looks changes nothing", account::looking),
    ("energy is the sum of its parts", account::energy),
    ("losses by reason add up", account::losses),
    ("datagrams are delivered, lost or on their way", account::datagrams),
    ("frames of the records are those on the air", account::frames),
    ("acknowledgements answer received frames", account::acknowledgements),
    ("peaks are above all levels", account::buffers),
    ("parts of an explanation add up", account::parts),
    ("milestones are in order", account::milestones),
    ("causes come before what they cause", account::causes),
    ("what was lost was sent again", repetitions::losses_are_repaired),
    ("what was needed had been lost", repetitions::what_is_needed_was_lost),
    ("repetitions have reasons", repetitions::repetitions_have_reasons),
];

/// The laws that cannot be told of one world.
const SAME_BITS: &str = "threads and order give the same bits";
const NO_PANIC: &str = "nothing panics";

/// True if tests have their long sizes.
pub(crate) fn is_full() -> bool {
    std::env::var_os("SLOWHAND_FULL").is_some()
}

/// A law that does not hold.
struct Broken {
    law: &'static str,
    why: String,
}

/// The verdict on a scenario.
enum Verdict {
    Refused(Blame),
    Tried { protocol: Protocol, completed: u64, lost: u64, repeated: u64, broken: Vec<Broken> },
}

fn judge(read: Result<Valid, Blame>) -> Verdict {
    let valid = match read {
        Ok(valid) => valid,
        Err(why) => return Verdict::Refused(why),
    };
    let protocol = valid.scenario.session.protocol;
    JUDGES.set(true);
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let world = World::new(&valid, 1);
        let breaks = |(law, holds): &Law| Some(Broken { law, why: holds(&world).err()? });
        let mut broken: Vec<Broken> = LAWS.iter().filter_map(breaks).collect();
        let same = same_bits::threads_and_order(&valid, &world.records);
        broken.extend(same.err().map(|why| Broken { law: SAME_BITS, why }));
        let explained = world.explained();
        Verdict::Tried {
            protocol,
            completed: u64::from(explained.duration_s.is_some()),
            lost: u64::from(explained.datagrams_lost > 0),
            repeated: u64::from(explained.retransmissions_needed + explained.retransmissions_spurious > 0),
            broken,
        }
    }));
    JUDGES.set(false);
    judged.unwrap_or_else(|_| {
        let broken = vec![Broken { law: NO_PANIC, why: PANIC.take().unwrap_or_default() }];
        Verdict::Tried { protocol, completed: 0, lost: 0, repeated: 0, broken }
    })
}

thread_local! {
    /// The message of the last panic of this thread, while it judges.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
    static JUDGES: Cell<bool> = const { Cell::new(false) };
}

/// A panic while a scenario is judged is kept, not printed.
fn keep_panics() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| match JUDGES.get() {
        true => PANIC.set(Some(panic.to_string())),
        false => others(panic),
    }));
}

/// The findings in all scenarios.
#[derive(Default)]
struct Found {
    refused: BTreeMap<String, u64>,
    /// By protocol: scenarios, completed ones, those with a loss, those with a repetition.
    protocols: BTreeMap<String, [u64; 4]>,
    /// By help: how many scenarios have it.
    helps: BTreeMap<(&'static str, &'static str), u64>,
    /// By law: how many scenarios break it, the first of them, and why.
    broken: BTreeMap<&'static str, (u64, u64, String)>,
}

impl Found {
    fn add(&mut self, seed: u64, random: &RandomScenario, verdict: Verdict) {
        match verdict {
            Verdict::Refused(Blame { key, .. }) => *self.refused.entry(key).or_default() += 1,
            Verdict::Tried { protocol, completed, lost, repeated, broken } => {
                let counts = self.protocols.entry(protocol.to_string()).or_default();
                for (count, more) in counts.iter_mut().zip([1, completed, lost, repeated]) {
                    *count += more;
                }
                for help in HELP.iter().filter(|(key, value)| random.value(key) == Some(value)) {
                    *self.helps.entry(*help).or_default() += 1;
                }
                for Broken { law, why } in broken {
                    println!("scenario {seed}: NOT TRUE: {law}"); // the whole report comes at the end
                    let entry = self.broken.entry(law).or_insert((0, seed, why.clone()));
                    entry.0 += 1;
                    if seed < entry.1 {
                        (entry.1, entry.2) = (seed, why);
                    }
                }
            }
        }
    }
}

/// Tries the scenarios of these seeds, on all processors.
fn try_all(seeds: &[u64]) -> Found {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Found::default()));
    let work = || loop {
        let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
        let random = random(seed);
        let verdict = judge(Valid::new(&random));
        found.lock().unwrap().add(seed, &random, verdict);
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    found.into_inner().unwrap()
}

/// Why a scenario breaks a law, if it does.
fn why(random: &RandomScenario, law: &str) -> Option<String> {
    match judge(Valid::new(random)) {
        Verdict::Refused(_) => None,
        Verdict::Tried { broken, .. } => Some(broken.into_iter().find(|broken| broken.law == law)?.why),
    }
}

/// The words for a law that is broken: the smallest scenario that breaks it, in a file to run.
fn report(law: &str, count: u64, seed: u64, first: &str) -> String {
    let smallest = random(seed).shrunk(|random| why(random, law).is_some());
    let why = why(&smallest, law).unwrap_or_else(|| first.to_owned());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("laws");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{}.toml", law.replace([' ', ','], "-")));
    std::fs::write(&file, smallest.to_string()).unwrap();
    std::fs::write(folder.join(TRACE_FILE), TRACE).unwrap();
    let file = file.display();
    format!(
        "NOT TRUE: {law} ({count} scenarios, the first is {seed}): {why}\n\
         # slowhand run {file} --first-seed 1 --count 1\n{smallest}"
    )
}

/// 300 scenarios, 10,000 with `--full`; or those of the seeds that `SLOWHAND_LAWS` names: `SLOWHAND_LAWS=17,42`.
#[test]
fn the_laws_hold() {
    let count = if is_full() { 10_000 } else { 300 };
    keep_panics();
    let chosen = std::env::var("SLOWHAND_LAWS").ok();
    let seeds: Vec<u64> = match &chosen {
        Some(text) => text.split(',').map(|seed| seed.parse().expect("a seed")).collect(),
        None => (0..count).collect(),
    };
    let found = try_all(&seeds);
    let reports: Vec<String> =
        found.broken.iter().map(|(law, (count, seed, why))| report(law, *count, *seed, why)).collect();

    // The laws say something only if there are handshakes of every kind, with losses and repetitions.
    let sum = |place: usize| found.protocols.values().map(|counts| counts[place]).sum::<u64>();
    let what = || format!("refused: {:?}\nby protocol: {:?}\nhelp: {:?}", found.refused, found.protocols, found.helps);
    println!("{}", what());
    assert!(reports.is_empty(), "{}", reports.join("\n"));
    if chosen.is_some() {
        return;
    }
    assert!(sum(0) * 100 >= count * 85, "too many are refused. {}", what());
    assert!(sum(1) * 100 >= count * 50, "too few complete. {}", what());
    assert!(sum(2) * 100 >= count * 25 && sum(3) * 100 >= count * 25, "too few lose datagrams. {}", what());
    assert_eq!(found.protocols.len(), 7, "{}", what());
    assert_eq!(found.helps.len(), HELP.len(), "{}", what());
    // Nobody can tell the repetitions of QUIC.
    let is_there = |(protocol, counts): (&String, &[u64; 4])| {
        counts[..3].iter().all(|some| *some > 0) && (counts[3] > 0 || protocol == "quic")
    };
    assert!(found.protocols.iter().all(is_there), "{}", what());
}

/// Scenarios that broke a law once. Each file says what was wrong.
#[test]
fn the_laws_hold_where_they_were_broken() {
    keep_panics();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/laws/broken");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let file_name = file.display();
        match judge(Valid::read(std::fs::read_to_string(&file).unwrap())) {
            Verdict::Refused(Blame { key, .. }) => panic!("{file_name}: {key} is refused"),
            Verdict::Tried { broken, .. } => {
                let words: Vec<String> = broken.iter().map(|Broken { law, why }| format!("{law}: {why}")).collect();
                assert!(words.is_empty(), "{file_name}: NOT TRUE: {}", words.join("\n"));
            }
        }
    }
}
