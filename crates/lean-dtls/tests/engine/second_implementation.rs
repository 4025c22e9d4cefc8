//! A second implementation of the lean profile, in Python, from `docs/reference/lean-profile.md` alone: it completes handshakes with the
//! engine for every set of switches that it offers and that the engine takes.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use crate::network::At as _;
use lean_dtls::{Config, Credentials, Instant, Lean, Psk, RustCrypto, Server, Status, Timeouts};

type Random = Box<dyn FnMut(&mut [u8])>;
type Engine = Server<Known, RustCrypto<Random>, [u8; 1], 1, 192>;

const PEER: [u8; 1] = [1];
const NOW: Instant = Instant::from_millis(0);

/// A server that knows its client by its address too, and asks it for a cookie or not.
#[derive(Clone, Copy)]
struct Known {
    is_known: bool,
}

impl Credentials for Known {
    fn psk(&self) -> Option<Psk<'_>> {
        Some(Psk { identity: b"client-identity", key: b"0123456789abcdef" })
    }

    fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
        (identity == b"client-identity").then_some(b"0123456789abcdef")
    }

    fn find_psk_by_address(&self, address: &[u8]) -> Option<&[u8]> {
        (address == PEER).then_some(b"0123456789abcdef")
    }

    fn is_known(&self, _address: &[u8]) -> bool {
        self.is_known
    }
}

const SWITCHES: [Lean; 7] = [
    Lean::OMIT_MESSAGES,
    Lean::SHORT_NONCE,
    Lean::SERVER_FINISHED_FIRST,
    Lean::SHORT_HEADER,
    Lean::ACKNOWLEDGE,
    Lean::KNOWN_ADDRESS,
    Lean::SHORT_FINISHED,
];

/// The octet of a set on the wire is made of these bits.
fn set(octet: u8) -> Lean {
    let chosen = SWITCHES.into_iter().enumerate().filter(|(bit, _)| octet >> bit & 1 == 1);
    chosen.fold(Lean::NONE, |set, (_, switch)| set.with(switch))
}

/// The process, and the lines that go to it and come from it.
struct Peer {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn read(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the second implementation has ended");
            match line.trim() {
                "" => return lines,
                text => lines.push(text.to_owned()),
            }
        }
    }

    /// Serves one handshake and what follows. Returns the octet of the switches that the other end has found agreed.
    fn serve(&mut self, engine: &mut Engine, offered: u8, seed: u64) -> u8 {
        writeln!(self.input, "case {offered} {seed}").unwrap();
        loop {
            let lines = self.read();
            if let Some(result) = lines.iter().find(|line| line.starts_with("ok") || line.starts_with("failed")) {
                let agreed = result.strip_prefix("ok ").unwrap_or_else(|| panic!("{offered:#x}: {result}"));
                return agreed.parse().unwrap();
            }
            for line in lines {
                let octet = |place: usize| u8::from_str_radix(&line[place..place + 2], 16).unwrap();
                let mut datagram: Vec<u8> = (0..line.len()).step_by(2).map(octet).collect();
                let mut received = None;
                engine.receive(PEER, &mut datagram, |data| received = Some(data.to_vec()));
                let mut output = [0; 300];
                if let Some(data) = received {
                    let length = engine.send_at(PEER, &data, &mut output).unwrap();
                    self.write(&output[..length]);
                }
                while let Some((_, length)) = engine.poll_transmit(NOW, &mut output) {
                    self.write(&output[..length]);
                }
            }
            writeln!(self.input).unwrap();
        }
    }

    fn write(&mut self, datagram: &[u8]) {
        let octets: String = datagram.iter().map(|octet| format!("{octet:02x}")).collect();
        writeln!(self.input, "{octets}").unwrap();
    }
}

#[test]
fn a_client_written_from_the_document_speaks_with_the_engine() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/second_implementation/client.py");
    let mut python =
        Command::new("python3").args(["-B", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(python.stdout.take().unwrap());
    let mut peer = Peer { input: python.stdin.take().unwrap(), output };
    let mut agreed = std::collections::BTreeSet::new();
    for offered in 0..128_u8 {
        for (number, taken) in (0..).zip([127, 0, 0b000_1011, 0b101_0101]) {
            for is_known in [false, true] {
                let mut state = u64::from(offered) << 8 | number << 1 | u64::from(is_known) | 1 << 40;
                let random: Random = Box::new(move |octets: &mut [u8]| {
                    for octet in octets {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        *octet = (state >> 56) as u8;
                    }
                });
                let config = Config::new(Known { is_known }, 256, Timeouts::default()).unwrap().with_lean(set(taken));
                let mut engine: Engine = Server::new(config, RustCrypto::new(random));
                agreed.insert(peer.serve(&mut engine, offered, number));
                assert_eq!(engine.status_at(PEER), Some(Status::Closed), "{offered:#x} {taken:#x} {is_known}");
            }
        }
    }
    // By hand: of 128 sets, SERVER_FINISHED_FIRST and KNOWN_ADDRESS need OMIT_MESSAGES: 64 with it and 16 without.
    assert_eq!(agreed.len(), 80);
    drop(peer);
    assert!(python.wait().unwrap().success());
}
