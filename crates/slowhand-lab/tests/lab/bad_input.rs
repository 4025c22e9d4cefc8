//! Wrong input, and the message for it.
//!
//! The first line of a file of the corpus is its message, without the file's name: line, key, what was found, what is
//! allowed. If it ends in `...`, it is the beginning of the message.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use slowhand_lab::device::Device;
use slowhand_lab::scenario::{Auth, Override, Scenario};

/// The files of a corpus; tests run in the directory of the crate.
fn corpus(directory: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|ext| ext == "toml")).collect();
    files.sort();
    files
}

/// Reads every file and compares its message with its first line.
fn check<T, E: Display>(directory: &str, least: usize, load: impl Fn(&Path) -> Result<T, E>) {
    let files = corpus(directory);
    assert!(files.len() >= least, "{} files in {directory}", files.len());
    let mut wrong = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let first = text.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap();
        let expected = format!("{}:{first}", file.display());
        let message = load(file).err().map_or("no error".to_owned(), |error| error.to_string());
        let agrees = match expected.strip_suffix("...") {
            Some(beginning) => message.starts_with(beginning),
            None => message == expected,
        };
        if !agrees || message.contains('\n') {
            wrong.push(format!("expected {expected}\n   found {message}\n"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}

#[test]
fn every_wrong_scenario_is_told_what_is_wrong() {
    check("tests/bad", 130, |file| Scenario::load(file, &[]));
}

#[test]
fn every_wrong_device_is_told_what_is_wrong() {
    check("tests/bad_device", 20, |file| Device::load(&file.to_string_lossy(), Path::new("")));
}

#[test]
fn a_wrong_device_blames_its_own_file() {
    let device = "client.device=../bad_device/no-source.toml".parse().unwrap();
    let error = Scenario::load(&scenario("quickstart"), &[device]).unwrap_err().to_string();
    assert!(error.contains("client.device"), "there is no such file from scenarios/ on: {error}");
    let device = "client.device=../crates/slowhand-lab/tests/bad_device/no-source.toml".parse().unwrap();
    let error = Scenario::load(&scenario("quickstart"), &[device]).unwrap_err().to_string();
    assert!(error.contains("no-source.toml:3: supply_v: found { value = 2.8 }, allowed: "), "{error}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Scenario::load(Path::new("tests/bad/there-is-none.toml"), &[]).unwrap_err().to_string();
    assert!(error.starts_with("tests/bad/there-is-none.toml: found "), "{error}");
    assert!(error.ends_with("allowed: a TOML file that can be read"), "{error}");
}

/// It has no end.
#[test]
fn a_file_that_is_too_long_is_not_read_to_its_end() {
    let error = Scenario::load(Path::new("/dev/zero"), &[]).unwrap_err().to_string();
    assert_eq!(error, "/dev/zero: found a longer file, allowed: a TOML file of 64 MiB at most");
}

#[test]
fn overrides_are_blamed_by_their_own_name() {
    for (text, message) in [
        ("network.link_pdr=1.5", "--set network.link_pdr: found 1.5, allowed: a probability from 0 to 1"),
        (
            "network.topology={ kind = \"line\", hops = -1 }",
            "--set network.topology: network.topology.hops: found -1, allowed: a whole number from 1 to 65534",
        ),
        (
            "network.link_prd=0.9",
            "--set network.link_prd: found an unknown key (did you mean \"link_pdr\"?), allowed: topology, link_pdr, \
             ack_pdr, channel_pdr",
        ),
        ("mac.kind=aloha", "--set mac.kind: found \"aloha\", allowed: one of \"tsch\", \"xmac\", \"beacon\", \"csma\""),
        ("session.max_fragment_length=1000", "--set session.max_fragment_length: found 1000, allowed: 512, 1024"),
        (
            "session.suite.tag=8",
            "--set session.suite.tag: found \"TLS_ECDHE_ECDSA_WITH_AES_128_CCM\" before .tag, which has no keys",
        ),
        ("network.link_pdr", "--set network.link_pdr: found no value, allowed: key=value"),
        ("network..link_pdr=1", "--set network..link_pdr: found network..link_pdr=1, allowed: a dotted path"),
        ("=1", "--set : found =1, allowed: a dotted path"),
        ("network.link_pdr=.9", "--set network.link_pdr: found .9, allowed: 0.9, in the syntax of TOML"),
        ("network.link_pdr=+1.", "--set network.link_pdr: found +1., allowed: 1.0, in the syntax of TOML"),
        (
            "mac.slotframe=007",
            "--set mac.slotframe: found 007, allowed: 7, or the text \"007\" in quotes, in the syntax of TOML",
        ),
        ("mac.kind=\"\u{1b}[31m\"", "--set mac.kind: found `\"\\u{1b}[31m\"`, allowed: a TOML value"),
        ("mac.kind='\u{202e}'", "--set mac.kind: found '\\u{202e}', allowed: one of \"tsch\""),
        ("mac.\u{1b}=1", "--set mac.\\u{1b}: found mac.\\u{1b}=1, allowed: a dotted path"),
        ("mac.slotfram=", "--set mac.slotfram: found no value, and no such key to remove, allowed: key=value, or"),
        ("mac.slotframe=[1", "--set mac.slotframe: found `[1`, allowed: a TOML value"),
    ] {
        let error = match text.parse::<Override>() {
            Ok(change) => Scenario::load(&scenario("quickstart"), &[change]).unwrap_err(),
            Err(error) => error,
        };
        assert!(error.to_string().starts_with(message), "{error}\nnot {message}");
    }
}

/// An entry of a list has one path: its number, without a sign or zeros before it. It cannot be removed.
#[test]
fn an_entry_of_a_list_is_named_by_its_number() {
    let set = |text: &str| Scenario::load(&scenario("programs"), &[text.parse().unwrap()]);
    set("programs.1.start_s=2").unwrap();
    set("programs.1.success=").unwrap();
    let none = "where the list has 2 entries, counted from 0";
    let not_there = "found no value, and no such key to remove";
    for (change, said) in [
        ("programs.01.start_s=2", none),
        ("programs.+1.start_s=2", none),
        ("programs.2.start_s=2", none),
        ("programs.1=", "found no value, and an entry of a list cannot be removed"),
        ("programs.2=", not_there),
        ("programs.01=", not_there),
        ("programs.+1.success=", not_there),
    ] {
        let error = set(change).unwrap_err().to_string();
        assert!(error.contains(said), "{error}\nnot {said}");
    }
}

/// Each type of number names the bound that refused.
#[test]
fn the_bound_that_refused_is_the_bound_that_is_named() {
    let (milliseconds, seconds) = ("milliseconds, from 0.001 to 1000000", "seconds, above 0, at most 1000000");
    for (key, allowed) in [
        ("mac.slot_ms", milliseconds),
        ("session.timeout_s", seconds),
        ("client.start_s", "seconds, from 0 to 1000000"),
        ("server.internet_delay_ms", "milliseconds, from 0 to 1000000"),
        ("network.link_pdr", "a probability from 0 to 1"),
        ("client.compute_factor", "a number from 0 to 1000000"),
        ("mac.slotframe", "a whole number from 1 to 65535"),
        ("session.mtu", "a whole number from 1 to 1999"),
        ("lowpan.dropped_frames", "a whole number from 1 to 4294967295"),
        ("server.at", "\"internet\", \"root\", \"leaves\" or the number of a node, 0 to 65534"),
    ] {
        let is_real = !allowed.contains("whole") && key != "server.at";
        let wrong: &[&str] = match is_real {
            true => &["1e308", "1e999", "-1e999", "nan", "-0.1", "9223372036854775807", "99999999999999999999"],
            false => &["9223372036854775807", "99999999999999999999", "-1", "4294967296", "65535000000"],
        };
        for value in wrong {
            let written = if key.ends_with("frames") { format!("[{value}]") } else { (*value).to_owned() };
            let change = format!("{key}={written}").parse().unwrap();
            let error = Scenario::load(&scenario("quickstart"), &[change]).unwrap_err().to_string();
            assert!(error.ends_with(&format!("found {value}, allowed: {allowed}")), "{error}");
        }
    }
}

/// The suite of the scenario is not one of DTLS 1.3. A key of link security may have digits only.
#[test]
fn an_override_removes_a_key_or_has_a_long_word() {
    let load = |changes: &[&str]| {
        let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
        assert_eq!(changes[0].to_string(), changes[0].to_string().parse::<Override>().unwrap().to_string());
        Scenario::load(&scenario("quickstart"), &changes).map_err(|error| error.to_string())
    };
    let lean = ["session.protocol=dtls1.3", "session.stack=lean-dtls", "session.max_fragment_length="];
    assert!(load(&lean).unwrap_err().contains("session.suite: found"));
    let removed = load(&[&lean[..], &["session.suite="]].concat()).unwrap();
    assert_eq!(removed.session.suite, None);
    assert_eq!(Scenario::from_sources(removed.sources()).unwrap().session.suite, None);
    let key = "mac.security={ level = \"mic-32\" }";
    for digits in ["12345678901234567890123456789012", "0001020304050607080910111213141e"] {
        let secured = load(&[key, &format!("mac.security.key={digits}")]).unwrap();
        assert_eq!(secured.mac.security().unwrap().key.to_string(), digits);
    }
}

#[test]
fn another_type_is_told_in_the_words_of_toml() {
    for (change, message) in [
        ("session.cookie=1", "found 1, allowed: true or false"),
        ("client.nodes=1", "found 1, allowed: an array"),
        ("network.channel_pdr=[1]", "found [1], allowed: a table"),
        ("client.device=1", "found 1, allowed: a string"),
        ("session.auth=1", "found 1, allowed: one of \"psk\", \"server\", \"mutual\""),
        ("mac.kind=1", "found 1, allowed: one of \"tsch\", \"xmac\", \"beacon\", \"csma\""),
        ("session=1", "found 1, allowed: a table with the keys stack, "),
    ] {
        let error = Scenario::load(&scenario("quickstart"), &[change.parse().unwrap()]).unwrap_err().to_string();
        let (key, _) = change.split_once('=').unwrap();
        assert!(error.starts_with(&format!("--set {key}: {message}")), "{error}\nnot {message}");
    }
}

#[test]
fn what_is_long_or_deep_is_refused_in_few_words() {
    let deep = |open: &str, close: &str| format!("mac.kind={}{}", open.repeat(100_000), close.repeat(100_000));
    for (text, beginning) in [
        (format!("a{}=1", ".a".repeat(200_000)), "--set a.a.a"),
        (deep("[", "]"), "--set mac.kind: found `[[["),
        (deep("{a=", "}"), "--set mac.kind: found `{a={a="),
        (format!("mac.kind={}", "x".repeat(100_000)), "--set mac.kind: found \"xxx"),
        (format!("mac.{}=1", "x".repeat(100_000)), "--set mac.xxx"),
        (format!("client.device={}", "x".repeat(100_000)), "--set client.device: found \"xxx"),
    ] {
        let error = match text.parse::<Override>() {
            Ok(change) => Scenario::load(&scenario("quickstart"), &[change]).unwrap_err(),
            Err(error) => error,
        }
        .to_string();
        assert!(error.starts_with(beginning) && error.chars().count() < 700, "{error}");
    }
    for text in [
        format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("a = {}1{}", "{a=".repeat(100_000), "}".repeat(100_000)),
        format!("[a{}]\nb = 1", ".a".repeat(200_000)),
        format!("a{} = 1", ".a".repeat(200_000)),
        format!("mac = \"{}\"", "\\u001b".repeat(100_000)),
    ] {
        let error = text.parse::<Scenario>().unwrap_err().to_string();
        assert!(error.starts_with("scenario.toml:") && error.chars().count() < 700, "{error}");
    }
}

#[test]
fn what_overrides_replace() {
    let changes = [
        "network.link_pdr=0.5",
        "session.auth=server",
        "session.server_timeout_s = 9",
        "client.nodes=[1]",
        "network.topology.hops=2",
        "mac.slotframe=101",
        "lowpan={ reassembly_buffers = 7 }",
    ];
    let changes: Vec<Override> = changes.iter().map(|text| text.parse().unwrap()).collect();
    let scenario = Scenario::load(&scenario("quickstart"), &changes).unwrap();
    assert_eq!(scenario.network.link_pdr.get(), 0.5);
    assert_eq!(scenario.session.server_timeout_s.unwrap().get(), 9.0);
    assert_eq!(scenario.session.auth(), Auth::Server);
    assert_eq!(scenario.network.topology.node_count(), 3);
    assert_eq!(scenario.lowpan.reassembly_buffers.get(), 7);
    assert_eq!(scenario.name, "quickstart");
}

#[test]
fn a_scenario_beyond_the_limit_of_memory_runs_if_it_is_asked_for() {
    let load = |limit: &str| {
        let large = [
            "network.topology={ kind = \"star\", leaves = 20000 }",
            "mac={ kind = \"xmac\" }",
            "session.client_port=1",
        ];
        let changes: Vec<Override> = [&large[..], &[&format!("limits.memory_mb={limit}")]]
            .concat()
            .iter()
            .map(|change| change.parse().unwrap())
            .collect();
        Scenario::load(&scenario("quickstart"), &changes)
    };
    assert_eq!(load("3161").unwrap().memory().div_ceil(1_000_000), 3_161);
    let error = load("3160").unwrap_err().to_string();
    assert!(error.starts_with("--set limits.memory_mb: found 3160, where a world of 20001 nodes"), "{error}");
}

/// The path of a scenario that comes with the laboratory.
fn scenario(name: &str) -> PathBuf {
    Path::new("../../scenarios").join(name).with_extension("toml")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_is_too_strange(text in any::<String>()) {
        let _ = text.parse::<Scenario>();
        let _ = text.parse::<Override>();
    }

    /// Pieces of TOML in any order get further into the parser than arbitrary text.
    #[test]
    fn no_toml_is_too_strange(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let _ = pieces.concat().parse::<Scenario>();
    }

    #[test]
    fn a_scenario_with_a_slip_is_read_or_refused_with_its_line(
        name in prop::sample::select(&["quickstart", "psk-tinydtls", "lossy-line"][..]),
        at in any::<prop::sample::Index>(),
        cut in 0_usize..12,
        piece in prop::sample::select(PIECES),
    ) {
        let text = fs::read_to_string(scenario(name)).unwrap();
        let characters: Vec<char> = text.chars().collect();
        let at = at.index(characters.len());
        let end = (at + cut).min(characters.len());
        let slipped: String =
            characters[..at].iter().copied().chain(piece.chars()).chain(characters[end..].iter().copied()).collect();
        if let Err(error) = slipped.parse::<Scenario>() {
            let message = error.to_string();
            prop_assert!(message.starts_with("scenario.toml:"), "{message}");
            prop_assert!(message.contains("found ") && message.contains("allowed: "), "{message}");
            prop_assert!(!message.contains('\n'), "{message}");
        }
    }
}

const PIECES: &[&str] = &[
    "[network]\n",
    "[mac]\n",
    "[session]\n",
    "[[client]]\n",
    "[client]\n",
    "topology = ",
    "link_pdr = ",
    "kind = ",
    "hops = ",
    "schedule = ",
    "suite = ",
    "{ ",
    " }",
    "[",
    "]",
    "\n",
    ", ",
    ".",
    "=",
    "\"",
    "'''",
    "1",
    "-1",
    "0.5",
    "1e999",
    "nan",
    "-inf",
    "0x7fffffffffffffff",
    "99999999999999999999",
    "true",
    "2026-11-21",
    "\"line\"",
    "\"tsch\"",
    "\"star\"",
    "leaves = 3",
    "depth = 9, fan_out = 9",
    "\\u0000",
    "\u{feff}",
    "\u{202e}",
    "ß",
    "#",
    "65535",
    "0",
];
