//! A scenario is made again from the texts that it was made from.

use slowhand_lab::plan::Plan;
use slowhand_lab::record::columns;
use slowhand_lab::scenario::{Override, Scenario, Sources};
use std::fs;
use std::path::{Path, PathBuf};

/// A scenario with a device file of its own in another folder, in an empty directory.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("devices")).unwrap();
    let scenario = fs::read_to_string("../../scenarios/quickstart.toml").unwrap();
    fs::write(folder.join("mine.toml"), scenario.replace("\"openmote-cc2538\"", "\"devices/slow.toml\"")).unwrap();
    let device = fs::read_to_string("../../devices/openmote-cc2538.toml").unwrap();
    fs::write(folder.join("devices/slow.toml"), device.replace("value = 251.3", "value = 1251.3")).unwrap();
    folder
}

fn records(scenario: &Scenario) -> String {
    let plan = Plan::new(scenario).unwrap();
    let records: Vec<_> = (1..=3).flat_map(|seed| plan.run(seed, &mut ())).collect();
    format!("{:?}", columns(&records))
}

#[test]
fn a_scenario_moves_with_its_sources_alone() {
    let folder = folder("sources");
    let overrides: Vec<Override> = ["network.link_pdr = 0.8", "session.auth=server", "session.timeout_s=2"]
        .map(|text| text.parse().unwrap())
        .into();
    let scenario = Scenario::load(&folder.join("mine.toml"), &overrides).unwrap();
    let expected = records(&scenario);
    let plain = Scenario::load(Path::new("../../scenarios/quickstart.toml"), &overrides).unwrap();
    assert_ne!(expected, records(&plain), "the device file changes something");

    let json = serde_json::to_string(scenario.sources()).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let sources: Sources = serde_json::from_str(&json).unwrap();
    assert_eq!(sources.files.keys().collect::<Vec<_>>(), ["devices/slow.toml", "mine.toml"]);
    assert_eq!(sources.overrides, ["network.link_pdr=0.8", "session.auth=server", "session.timeout_s=2"]);
    let again = Scenario::from_sources(&sources).unwrap();
    assert_eq!(again.name, "mine");
    assert_eq!(records(&again), expected);
    assert_eq!(again.sources(), &sources);
}

#[test]
fn a_scenario_that_is_a_text_has_sources_too() {
    let scenario: Scenario = fs::read_to_string("../../scenarios/quickstart.toml").unwrap().parse().unwrap();
    let again = Scenario::from_sources(scenario.sources()).unwrap();
    assert_eq!(records(&again), records(&scenario));
}

#[test]
fn messages_name_the_file_and_the_line_also_where_there_is_no_file() {
    let folder = folder("wrong-sources");
    let sources = Scenario::load(&folder.join("mine.toml"), &[]).unwrap().sources().clone();
    let told = |change: &dyn Fn(&mut Sources)| {
        let mut sources = sources.clone();
        change(&mut sources);
        Scenario::from_sources(&sources).unwrap_err().to_string()
    };
    let change = |sources: &mut Sources, file: &str, from: &str, to: &str| {
        let text = sources.files.get_mut(file).unwrap();
        *text = text.replace(from, to);
    };
    let wrong = told(&|sources| change(sources, "devices/slow.toml", "value = 3.0", "value = -3.0"));
    assert!(wrong.starts_with("devices/slow.toml:9: supply_v.value: found -3.0, "), "{wrong}");
    let wrong = told(&|sources| change(sources, "mine.toml", "[network]", "[network]\nlink_pdr = 2"));
    assert!(wrong.starts_with("mine.toml:") && wrong.contains("found"), "{wrong}");
    let wrong = told(&|sources| sources.overrides.push("mac.slotframe=0".into()));
    assert!(wrong.starts_with("--set mac.slotframe: found 0, "), "{wrong}");
    let wrong = told(&|sources| drop(sources.files.remove("devices/slow.toml")));
    assert!(
        wrong.contains("client.device: found \"devices/slow.toml\" (there is no file devices/slow.toml)"),
        "{wrong}"
    );
    let wrong = told(&|sources| drop(sources.files.remove("mine.toml")));
    assert_eq!(wrong, "mine.toml: found no text with this name, allowed: a TOML file that can be read");
}
