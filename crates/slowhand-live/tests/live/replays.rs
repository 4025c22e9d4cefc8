//! Replays: a recording of a live network gives the same world again, to the microsecond and to the octet.

use super::peers::{client, client_that, loopback, octets, server};
use super::{ONE_HOP, scenario, setup, wait_for};
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::Scenario;
use slowhand_live::{Event, Live, Proxy, Recording, ReplayError, Setup, Transport, Ways, replay};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

fn place(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.slowhand"))
}

/// A network that records; what `use_it` does with it; the records of its sessions, and how many frames it had.
fn recorded(name: &str, scenario: &Scenario, setup: Setup, use_it: impl FnOnce(&Live)) -> (Vec<Record>, u64) {
    let live = Live::start(scenario, Setup { record: Some(place(name)), ..setup }).unwrap_or_else(|e| panic!("{e}"));
    use_it(&live);
    live.stop();
    let mut records = Vec::new();
    wait_for(&live, |event| match event {
        Event::Closed { record, secure, .. } => {
            records.extend(secure.then(|| Record::clone(record)));
            None
        }
        Event::Warning { message, .. } => panic!("{message}"),
        Event::Ended { .. } => Some(()),
        _ => None,
    });
    (records, live.finish().unwrap().frames)
}

fn replayed(name: &str, scenario: &Scenario, seed: u64) -> (Vec<Record>, u64) {
    let recording = Recording::read(&place(name)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(recording.header().seed, 1);
    let found = replay(&recording, scenario, seed, None, &Interrupt::default());
    let found = found.unwrap_or_else(|error| panic!("{error}")).unwrap();
    (found.records, found.frames)
}

fn is_the_same(name: &str, scenario: &Scenario, live: (Vec<Record>, u64)) {
    assert!(!live.0.is_empty() && live.1 > 20, "{live:?}");
    let again = Scenario::from_sources(&Recording::read(&place(name)).unwrap().header().sources).unwrap();
    assert_eq!(again.sources(), scenario.sources());
    assert_eq!(replayed(name, &again, 1), live);
}

/// Links lose frames, a link changes and a node is off for a while: all of that comes again at the same times.
#[test]
fn programs_of_dtls_at_both_ends() {
    let text = ONE_HOP.replace("hops = 1 }", "hops = 2 }, link_pdr = 0.8").replace("slotframe = 3", "slotframe = 7");
    let scenario = scenario(&text.replace("client = {", "client = { nodes = [1, 2],"));
    let ways = Ways::Proxies(vec![Proxy { transport: Transport::Udp, listen: loopback(), server: server(&scenario) }]);
    let live = recorded("udp", &scenario, Setup { speed: 5.0, ..setup(ways) }, |live| {
        let address = live.addresses()[0].listen;
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| client(&scenario, address, &octets(200), PATIENCE).unwrap());
            }
            std::thread::sleep(Duration::from_millis(100));
            live.set("network.link_pdr=0.7").unwrap();
            live.switch(1, false).unwrap();
            std::thread::sleep(Duration::from_millis(50));
            live.switch(1, true).unwrap();
        });
    });
    assert!(live.0.iter().any(|record| record.outcome == Outcome::Completed), "{:?}", live.0);
    is_the_same("udp", &scenario, live.clone());
    // Another seed is another network: other frames are lost, and programs repeat what they repeated.
    let (records, frames) = replayed("udp", &scenario, 2);
    assert!(records.len() == live.0.len() && frames != live.1);
}

/// The client is the library of the scenario: its nonces follow from the seed.
#[test]
fn an_emulated_client_of_a_program() {
    let scenario = scenario(ONE_HOP);
    let ways = Ways::Clients { server: server(&scenario) };
    let live = recorded("client", &scenario, setup(ways), |live| {
        wait_for(live, |event| matches!(event, Event::Established { .. }).then_some(()));
    });
    assert_eq!(live.0[0].outcome, Outcome::Completed);
    is_the_same("client", &scenario, live);
}

/// The speed at which a program reads changes the window of the emulated TCP, and so its segments.
#[test]
fn programs_of_tcp_one_of_which_reads_late() {
    let text = ONE_HOP.replace("session = {", "session = { protocol = \"tls1.2\",");
    let scenario = scenario(&text);
    let listener = TcpListener::bind(loopback()).unwrap();
    let ways = Ways::Proxies(vec![Proxy {
        transport: Transport::Tcp,
        listen: loopback(),
        server: listener.local_addr().unwrap(),
    }]);
    let live = Live::start(&scenario, Setup { record: Some(place("tcp")), speed: 100.0, ..setup(ways) }).unwrap();
    let (sent, mut received) = (octets(300_000), Vec::new());
    std::thread::scope(|scope| {
        let address = live.addresses()[0].listen;
        let whole = &sent;
        scope.spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(whole).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            stream.read_to_end(&mut Vec::new()).unwrap();
        });
        let (mut stream, _) = listener.accept().unwrap();
        std::thread::sleep(Duration::from_secs(2));
        stream.read_to_end(&mut received).unwrap();
    });
    assert!(received == sent);
    live.stop();
    wait_for(&live, |event| matches!(event, Event::Ended { .. }).then_some(()));
    let frames = live.finish().unwrap().frames;
    // They speak no TLS, so there is no record.
    assert_eq!(replayed("tcp", &scenario, 1), (Vec::new(), frames));
}

#[test]
fn what_is_no_recording_says_why() {
    let path = place("wrong");
    let scenario = scenario(ONE_HOP);
    let ways = Ways::Proxies(vec![Proxy { transport: Transport::Udp, listen: loopback(), server: server(&scenario) }]);
    recorded("good", &scenario, Setup { speed: 5.0, ..setup(ways) }, |live| {
        client(&scenario, live.addresses()[0].listen, b"data", PATIENCE).unwrap();
    });
    let good = std::fs::read_to_string(place("good")).unwrap();
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Recording::read(&path)
    };
    let lines: Vec<&str> = good.lines().collect();
    // A network that was killed: what it wrote last may be cut off.
    let cut = &good[..good.len() * 2 / 3];
    let found = read(cut).unwrap_or_else(|error| panic!("{error}"));
    assert!(!found.is_complete() && read(&good).unwrap().is_complete());
    assert!(replay(&found, &scenario, 1, None, &Interrupt::default()).unwrap().is_some());
    let other = lines[0].replace("\"recording\":1", "\"recording\":2");
    for (text, said) in [
        ("", ":1: found nothing, allowed: "),
        ("{}\n", ":1: found missing field"),
        (&*format!("{other}\n"), ":1: found a recording of the form 2, allowed: "),
        (&*format!("{}\n[1,{{\"jump\":1}}]\n", lines[0]), ":2: found unknown variant `jump`"),
        (&*format!("{}\n[2,\"run\"]\n[1,\"run\"]\n", lines[0]), ":3: found the time 1 us behind 2 us"),
        (&*format!("{}\n[315360000000001,\"run\"]\n", lines[0]), ":2: found a time of more than ten years"),
        (&*format!("{}\n[1,{{\"packet\":\"0g\"}}]\n", lines[0]), ":2: found no hexadecimal digits"),
        (&*format!("{}\n[1,{{\"packet\":\"+f\"}}]\n", lines[0]), ":2: found no hexadecimal digits"),
        (&*format!("{}\n[1,{{\"packet\":\"\u{e9}\"}}]\n", lines[0]), ":2: found no hexadecimal digits"),
        (&*format!("{}\n{1}\n{1}\n", lines[0], lines[1]), ":3: found session 1 again"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}, not {said}");
    }
    let error = Recording::read(&place("none")).unwrap_err();
    assert!(matches!(error, ReplayError::Read { .. }));
    // Some inputs cannot come into every scenario.
    for (line, said) in [
        (lines[1].replace("\"node\":1", "\"node\":9"), "found a session of node 9, allowed: nodes 1 to 1"),
        ("[1,{\"switch\":[9,true]}]".to_owned(), "at 0.000001 s: node 9: found no such node"),
        ("[1,{\"set\":\"session.mtu=9\"}]".to_owned(), "cannot change while the network runs"),
    ] {
        let recording = read(&format!("{}\n{line}\n", lines[0])).unwrap();
        let error = replay(&recording, &scenario, 1, None, &Interrupt::default()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}, not {said}");
    }
    // Input that belongs to no session, or is no packet, changes nothing.
    let strange = "[1,{\"wake\":[7,\"client\"]}]\n[1,{\"put\":[7,\"server\",\"00\"]}]\n[1,{\"packet\":\"00\"}]\n[2,{\"close\":7}]";
    let recording = read(&format!("{}\n{strange}\n", lines[0])).unwrap();
    assert_eq!(replay(&recording, &scenario, 1, None, &Interrupt::default()).unwrap(), Some(Default::default()));
}

/// A recording from somebody else may say anything.
#[test]
fn a_recording_that_was_changed_is_an_error_or_another_network_and_never_panics() {
    let scenario = scenario(ONE_HOP);
    let ways = Ways::Proxies(vec![Proxy { transport: Transport::Udp, listen: loopback(), server: server(&scenario) }]);
    recorded("changed", &scenario, Setup { speed: 5.0, ..setup(ways) }, |live| {
        client(&scenario, live.addresses()[0].listen, b"data", PATIENCE).unwrap();
    });
    let text = std::fs::read_to_string(place("changed")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let words = [
        "client", "server", "program", "stops", "closes", "echoes", "outside", "wake", "finish", "abort", "complete",
        "close",
    ];
    let mut random = slowhand_net::random::Streams::new(9).stream("changes", 0);
    let (mut replays, mut refused) = (0, 0);
    for _ in 0..300 {
        let mut changed: Vec<String> = lines.iter().map(ToString::to_string).collect();
        for _ in 0..=random.below(4) {
            // The first line is the header.
            let [at, other] = [(); 2].map(|()| 1 + random.below(changed.len() as u64 - 1) as usize);
            match random.below(5) {
                0 => drop(changed.remove(at)),
                1 => changed.swap(at, other),
                2 => {
                    let from = words[random.below(words.len() as u64) as usize];
                    changed[at] = changed[at].replace(from, words[random.below(words.len() as u64) as usize]);
                }
                _ => {
                    let digits: Vec<usize> =
                        changed[at].match_indices(|c: char| c.is_ascii_digit()).map(|(i, _)| i).collect();
                    if !digits.is_empty() {
                        let place = digits[random.below(digits.len() as u64) as usize];
                        changed[at].replace_range(place..=place, &random.below(10).to_string());
                    }
                }
            }
        }
        // In the order of time, so that most of it is a recording.
        let time = |line: &String| line.trim_start_matches('[').split(',').next().and_then(|at| at.parse::<u64>().ok());
        changed[1..].sort_by_key(time);
        std::fs::write(place("changed-again"), changed.join("\n") + "\n").unwrap();
        let Ok(recording) = Recording::read(&place("changed-again")) else {
            refused += 1;
            continue;
        };
        if replay(&recording, &scenario, 1, None, &Interrupt::default()).is_ok() {
            replays += 1;
        }
    }
    assert!(replays > 50 && refused > 10, "{replays} replays, {refused} were refused");
}

/// A reader that reads once, such as tshark, decrypts only what follows the secrets: they come when the handshake is complete,
/// in the capture of the network and in that of its replay.
#[test]
fn secrets_stand_before_what_they_decrypt() {
    let scenario = scenario(ONE_HOP);
    let captures = ["secrets-live", "secrets-again"].map(|name| place(name).with_extension("pcapng"));
    let [of_network, of_replay] = &captures;
    let ways = Ways::Server { listen: loopback() };
    let with_capture = Setup { capture: Some(of_network.clone()), ..setup(ways) };
    recorded("secrets", &scenario, with_capture, |live| {
        // So long that all frames have been written before the session is closed.
        let waits = || std::thread::sleep(Duration::from_millis(500));
        client_that(waits, &scenario, live.addresses()[0].listen, &octets(200), PATIENCE).unwrap();
    });
    let recording = Recording::read(&place("secrets")).unwrap();
    replay(&recording, &scenario, 1, Some(of_replay), &Interrupt::default()).unwrap().unwrap();
    for capture in &captures {
        let kinds = block_kinds(&std::fs::read(capture).unwrap());
        let secrets: Vec<usize> = (0..kinds.len()).filter(|&at| kinds[at] == SECRETS).collect();
        let frames = kinds[secrets[0]..].iter().filter(|&&kind| kind == FRAME).count();
        // 200 octets there and back again are three fragments and three acknowledgements each way.
        assert!(secrets.len() == 1 && frames >= 12, "{}: {frames} frames behind {secrets:?}", capture.display());
    }
}

/// pcapng, sections 4.3 and 4.7: the types of blocks with frames and with secrets.
const FRAME: u32 = 6;
const SECRETS: u32 = 10;

/// The types of the blocks of a pcapng file, each of which has its type and its length in front.
fn block_kinds(mut octets: &[u8]) -> Vec<u32> {
    let word = |octets: &[u8], at: usize| u32::from_le_bytes(octets[at..at + 4].try_into().unwrap());
    let mut kinds = Vec::new();
    while !octets.is_empty() {
        kinds.push(word(octets, 0));
        octets = &octets[word(octets, 4) as usize..];
    }
    kinds
}
