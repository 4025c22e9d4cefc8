use super::*;
use crate::fixtures::{record, scenario};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

const CONFIG: RunConfig = RunConfig { first_seed: 1, count: 20, threads: 3, keeps_records: true };

fn seeds(records: &[Record]) -> Vec<u64> {
    records.iter().map(|record| record.seed).collect()
}

#[test]
fn records_are_in_the_order_of_seeds_whatever_world_is_done_first() {
    let record = record();
    let slow_first = move |seed: u64, _: &Interrupt| {
        std::thread::sleep(Duration::from_millis(if seed % 5 == 1 { 30 } else { 1 }));
        Some(vec![Record { seed, duration_s: Some(seed as f64), ..record.clone() }])
    };
    let runner = Runner::start_worlds(&scenario(), CONFIG, slow_first).unwrap();
    let finished = runner.finish();
    assert_eq!(seeds(&finished.records), (1..=20).collect::<Vec<_>>());
    assert_eq!(finished.summary, crate::summary::summarise(&scenario(), &finished.records));
    assert_eq!(runner.wait(Duration::ZERO), Progress { done: 20, total: 20, finished: true });
}

#[test]
fn a_run_without_records_has_the_same_summary() {
    let with = Runner::start(&scenario(), CONFIG).unwrap();
    let without = Runner::start(&scenario(), RunConfig { keeps_records: false, threads: 1, ..CONFIG }).unwrap();
    assert_eq!(with.finish().summary, without.finish().summary);
    assert_eq!((with.finish().records.len(), without.finish().records.len()), (20, 0));
    // The results can be asked for again.
    assert_eq!(with.finish().records.len(), 20);
}

#[test]
fn few_records_wait_for_a_slow_world() {
    const EACH: usize = 1_000;
    let (record, begun) = (record(), Arc::new(AtomicU64::new(0)));
    let (proceed, slow) = mpsc::channel::<()>();
    let slow = Mutex::new(slow);
    let counted = Arc::clone(&begun);
    let run = move |seed: u64, _: &Interrupt| {
        counted.fetch_add(1, Ordering::Relaxed);
        if seed == 1 {
            slow.lock().unwrap().recv().unwrap();
        }
        Some(vec![Record { seed, ..record.clone() }; EACH])
    };
    let runner = Runner::start_worlds(&scenario(), RunConfig { count: 100, ..CONFIG }, run).unwrap();
    // The first world waits; the others stop when 10,000 records wait for it.
    let least = (MOST_WAITING / EACH + 1) as u64;
    while begun.load(Ordering::Relaxed) < least {
        runner.wait(Duration::from_millis(1));
    }
    runner.wait(Duration::from_millis(50));
    let most = (MOST_WAITING / EACH + CONFIG.threads) as u64;
    assert!((least..=most).contains(&begun.load(Ordering::Relaxed)), "{begun:?} worlds have begun");
    proceed.send(()).unwrap();
    assert_eq!(runner.finish().summary.completed, 100 * EACH as u64);
}

/// Worlds without records: all but the first panic at once, and the first panics as well while the others wait for it.
#[test]
fn few_worlds_wait_for_a_slow_world_and_go_on_if_it_panics() {
    let begun = Arc::new(AtomicU64::new(0));
    let (proceed, slow) = mpsc::channel::<()>();
    let slow = Mutex::new(slow);
    let counted = Arc::clone(&begun);
    let run = move |seed: u64, _: &Interrupt| {
        counted.fetch_add(1, Ordering::Relaxed);
        if seed == 1 {
            slow.lock().unwrap().recv().unwrap();
        }
        std::panic::resume_unwind(Box::new("bad")) // a panic that prints nothing
    };
    let count = 3 * MOST_WAITING as u64;
    let runner = Runner::start_worlds(&scenario(), RunConfig { count, ..CONFIG }, run).unwrap();
    while begun.load(Ordering::Relaxed) <= MOST_WAITING as u64 {
        runner.wait(Duration::from_millis(1));
    }
    runner.wait(Duration::from_millis(50));
    assert!(begun.load(Ordering::Relaxed) <= (MOST_WAITING + CONFIG.threads) as u64, "{begun:?} worlds have begun");
    proceed.send(()).unwrap();
    let finished = runner.finish();
    assert_eq!((finished.panicked_count, finished.panicked.len()), (count, MOST_PANICS));
    // The first ones, whatever thread was first.
    assert_eq!(
        finished.panicked.iter().map(|panicked| panicked.seed).collect::<Vec<_>>(),
        (1..=100).collect::<Vec<_>>()
    );
}

/// The threads that wait because too much waits for the first world.
#[test]
fn an_interrupt_ends_threads_that_may_not_begin_a_world() {
    let (record, begun) = (record(), Arc::new(AtomicU64::new(0)));
    let counted = Arc::clone(&begun);
    let run = move |seed: u64, interrupt: &Interrupt| {
        counted.fetch_add(1, Ordering::Relaxed);
        while seed == 1 && !interrupt.is_set() {
            std::thread::sleep(Duration::from_millis(1));
        }
        (seed != 1).then(|| vec![Record { seed, ..record.clone() }; MOST_WAITING])
    };
    let runner = Runner::start_worlds(&scenario(), RunConfig { count: 1_000, ..CONFIG }, run).unwrap();
    while runner.wait(Duration::from_millis(1)).done == 0 {}
    runner.cancel();
    assert!(runner.wait(Duration::MAX).finished);
    assert!(begun.load(Ordering::Relaxed) <= CONFIG.threads as u64 + 1, "{begun:?} worlds have begun");
}

#[test]
fn a_world_that_panics_is_named_and_the_others_are_kept() {
    let record = record();
    let run = move |seed: u64, _: &Interrupt| {
        assert!(!seed.is_multiple_of(8), "seed {seed} is bad");
        Some(vec![Record { seed, ..record.clone() }])
    };
    let runner = Runner::start_worlds(&scenario(), CONFIG, run).unwrap();
    let finished = runner.finish();
    assert_eq!(seeds(&finished.records), (1..=20).filter(|seed: &u64| !seed.is_multiple_of(8)).collect::<Vec<_>>());
    let said: Vec<String> = finished.panicked.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["the world of seed 8 panicked: seed 8 is bad", "the world of seed 16 panicked: seed 16 is bad"]);
    assert_eq!(finished.summary.completed, 18);
}

/// The third world lasts until `cancel` has returned.
#[test]
fn cancelling_neither_waits_for_worlds_nor_for_those_who_wait() {
    let record = record();
    let (proceed, returned) = mpsc::channel::<()>();
    let returned = Mutex::new(returned);
    let run = move |seed: u64, interrupt: &Interrupt| {
        if seed == 3 {
            returned.lock().unwrap().recv().unwrap();
            assert!(interrupt.is_set());
            return None;
        }
        Some(vec![Record { seed, ..record.clone() }])
    };
    let runner = Runner::start_worlds(&scenario(), CONFIG, run).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| runner.wait(Duration::MAX));
        while runner.wait(Duration::from_millis(1)).done < 19 {}
        runner.cancel();
        proceed.send(()).unwrap();
        assert_eq!(waiting.join().unwrap(), Progress { done: 19, total: 20, finished: true });
    });
    // Worlds that had to wait for the third are kept.
    assert_eq!(seeds(&runner.finish().records), (1..=20).filter(|&seed| seed != 3).collect::<Vec<_>>());
}

#[test]
fn several_threads_may_ask_for_the_results() {
    let runner = Runner::start(&scenario(), CONFIG).unwrap();
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(|| runner.finish().records.len())).collect();
        assert!(asking.into_iter().all(|thread| thread.join().unwrap() == 20));
    });
}

#[test]
fn a_run_that_is_not_possible_says_why() {
    let said = |config| Runner::start(&scenario(), config).unwrap_err().to_string();
    assert_eq!(said(RunConfig { count: 0, ..CONFIG }), "count: found 0, allowed: 1 or more");
    assert_eq!(said(RunConfig { threads: 0, ..CONFIG }), "threads: found 0, allowed: from 1 to 1024");
    assert_eq!(said(RunConfig { threads: 1025, ..CONFIG }), "threads: found 1025, allowed: from 1 to 1024");
    let last = RunConfig { first_seed: u64::MAX, count: 3, ..CONFIG };
    let expected = "count: found 3, allowed: at most 1, so that the last seed is at most 18446744073709551615";
    assert_eq!(said(last), expected);
    // The last seed there is.
    let runner = Runner::start(&scenario(), RunConfig { first_seed: u64::MAX, count: 1, ..CONFIG }).unwrap();
    assert_eq!(seeds(&runner.finish().records), [u64::MAX]);
}
