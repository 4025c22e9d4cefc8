//! Threads, order and processes give the same bits.

use crate::world::{Valid, random};
use slowhand_lab::record::Record;
use slowhand_lab::runner::{RunConfig, Runner};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::Command;

fn run(valid: &Valid, count: u64, threads: usize) -> Result<Vec<Record>, String> {
    let config = RunConfig { first_seed: 1, count, threads, keeps_records: true };
    let finished = Runner::start(&valid.scenario, config).map_err(|error| error.to_string())?.finish().records.clone();
    Ok(finished)
}

/// Compares the records with one thread, with three, and one by one, the last first. Returns those of seed 1.
pub(crate) fn threads_and_order(valid: &Valid, first: &[Record]) -> Result<(), String> {
    let mut backwards: Vec<Vec<Record>> = [2, 1].iter().map(|seed| valid.plan.run(*seed, &mut ())).collect();
    backwards.reverse();
    let expected = backwards.concat();
    let is_of_first = |record: &&Record| record.seed == 1;
    if !expected.iter().filter(is_of_first).eq(first) {
        return Err("seed 1 behind seed 2 has other records".to_owned());
    }
    for threads in [1, 3] {
        if run(valid, 2, threads)? != expected {
            return Err(format!("{threads} threads give other records"));
        }
    }
    Ok(())
}

/// A digest of the records of a scenario.
fn digest(seed: u64) -> Option<u64> {
    let valid = Valid::new(&random(seed)).ok()?;
    let mut hasher = DefaultHasher::new();
    // The words have every bit of a number.
    format!("{:?}", valid.plan.run(3, &mut ())).hash(&mut hasher);
    Some(hasher.finish())
}

/// Tells a process that it is the other one, and how many scenarios it is asked for.
const OTHER: &str = "SLOWHAND_LAWS_OTHER_PROCESS";

#[test]
fn another_process_gives_the_same_bits() {
    if let Ok(count) = std::env::var(OTHER) {
        (0..count.parse().unwrap()).for_each(|seed| println!("scenario {seed}: {:?}", digest(seed)));
        return;
    }
    let count = if crate::is_full() { 300 } else { 25 };
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["same_bits::another_process_gives_the_same_bits", "--exact", "--nocapture"]);
    let output = command.env(OTHER, count.to_string()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("scenario ")).collect();
    assert_eq!(lines.len(), count, "{text}");
    // Here the last comes first.
    for seed in (0..count as u64).rev() {
        let expected = format!("scenario {seed}: {:?}", digest(seed));
        assert!(lines[seed as usize].ends_with(&expected), "{}, here {expected}", lines[seed as usize]);
    }
}
