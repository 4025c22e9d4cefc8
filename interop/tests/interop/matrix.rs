//! lean-dtls with every peer, in both roles, over a path with faults. The result is also a document.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{fs, thread};

use slowhand_interop::Peer;
use slowhand_sessions::{CredentialKind, Protocol, Resumption, Role, Suite};

use crate::case::{Beside, Case, Group};
use crate::limits::{cannot, does_not_survive, sends_longer};
use crate::report::document;
use crate::run::{Fault, Pair, run, run_without_faults};

/// The size of lean-dtls's datagrams in the runs with short ones: about that of an IEEE 802.15.4 frame.
pub const SHORT: u16 = 128;

/// The size with a peer that takes no ClientHello in fragments: the hello fits into one datagram, a certificate does not.
pub const LESS_SHORT: u16 = 240;

/// A table of the matrix.
pub struct Section {
    pub title: &'static str,
    pub cases: &'static [Case],
}

const fn case(version: Protocol, suite: Suite, credential: CredentialKind, group: Option<Group>) -> Case {
    Case::new(version, suite, credential, group)
}

const SECTIONS: &[Section] = {
    use CredentialKind::{Certificate, Psk, RawPublicKey};
    use Protocol::{Dtls12, Dtls13};
    use Resumption::{Id, Ticket};
    use Suite::*;
    const P256: Option<Group> = Some(Group::P256);
    const X25519: Option<Group> = Some(Group::X25519);
    &[
        Section {
            title: "DTLS 1.2, pre-shared keys",
            cases: &[
                case(Dtls12, TLS_PSK_WITH_AES_128_CCM_8, Psk, None),
                case(Dtls12, TLS_PSK_WITH_AES_128_CCM_8, Psk, None).with(Beside::ConnectionId),
                case(Dtls12, TLS_PSK_WITH_AES_128_CCM_8, Psk, None).with(Beside::Resumption(Id)),
                case(Dtls12, TLS_PSK_WITH_AES_128_CCM_8, Psk, None).with(Beside::Resumption(Ticket)),
                case(Dtls12, TLS_PSK_WITH_AES_128_CCM_8, Psk, None).with(Beside::MaxFragmentLength),
                case(Dtls12, TLS_PSK_WITH_AES_128_CCM_8, Psk, None).with(Beside::RecordSizeLimit),
                case(Dtls12, TLS_PSK_WITH_AES_128_CCM_8, Psk, None).with(Beside::Heartbeat),
                case(Dtls12, TLS_PSK_WITH_AES_128_GCM_SHA256, Psk, None),
                case(Dtls12, TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256, Psk, P256),
                case(Dtls12, TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256, Psk, P256),
                case(Dtls12, TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256, Psk, X25519),
            ],
        },
        Section {
            title: "DTLS 1.2, raw public keys",
            cases: &[
                case(Dtls12, TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, RawPublicKey, P256),
                case(Dtls12, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, RawPublicKey, P256),
                case(Dtls12, TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, RawPublicKey, X25519),
            ],
        },
        Section {
            title: "DTLS 1.2, X.509 certificates",
            cases: &[
                case(Dtls12, TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, Certificate, P256),
                case(Dtls12, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, Certificate, P256),
                case(Dtls12, TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, Certificate, X25519),
                case(Dtls12, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, Certificate, X25519),
                case(Dtls12, TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, Certificate, P256).with(Beside::ConnectionId),
                case(Dtls12, TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, Certificate, P256).with(Beside::Resumption(Id)),
                case(Dtls12, TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, Certificate, P256).with(Beside::Resumption(Ticket)),
            ],
        },
        Section {
            title: "DTLS 1.3, pre-shared keys",
            cases: &[
                case(Dtls13, TLS_AES_128_CCM_8_SHA256, Psk, None),
                case(Dtls13, TLS_AES_128_CCM_8_SHA256, Psk, None).with(Beside::ConnectionId),
                case(Dtls13, TLS_AES_128_CCM_8_SHA256, Psk, P256),
                case(Dtls13, TLS_AES_128_CCM_SHA256, Psk, P256),
                case(Dtls13, TLS_AES_128_GCM_SHA256, Psk, P256),
                case(Dtls13, TLS_AES_128_GCM_SHA256, Psk, X25519),
            ],
        },
        Section {
            title: "DTLS 1.3, imported pre-shared keys (RFC 9258)",
            cases: &[
                case(Dtls13, TLS_AES_128_CCM_8_SHA256, Psk, P256).with(Beside::ImportedPsk),
                case(Dtls13, TLS_AES_128_GCM_SHA256, Psk, None).with(Beside::ImportedPsk),
                case(Dtls13, TLS_AES_128_GCM_SHA256, Psk, P256).with(Beside::ImportedPsk),
                case(Dtls13, TLS_AES_128_GCM_SHA256, Psk, X25519).with(Beside::ImportedPsk),
            ],
        },
        Section {
            title: "DTLS 1.3, raw public keys",
            cases: &[
                case(Dtls13, TLS_AES_128_CCM_8_SHA256, RawPublicKey, P256),
                case(Dtls13, TLS_AES_128_GCM_SHA256, RawPublicKey, P256),
            ],
        },
        Section {
            title: "DTLS 1.3, X.509 certificates",
            cases: &[
                case(Dtls13, TLS_AES_128_CCM_8_SHA256, Certificate, P256),
                case(Dtls13, TLS_AES_128_CCM_8_SHA256, Certificate, P256).with(Beside::ConnectionId),
                case(Dtls13, TLS_AES_128_GCM_SHA256, Certificate, P256),
                case(Dtls13, TLS_AES_128_GCM_SHA256, Certificate, X25519),
            ],
        },
    ]
};

/// The tables, without those of a version that lean-dtls does not have.
pub fn sections() -> Vec<&'static Section> {
    let is_there = |section: &&Section| {
        let config = section.cases[0].config(Role::Client, None);
        Peer::LeanDtls.build(config, Duration::ZERO, None).is_ok()
    };
    SECTIONS.iter().filter(is_there).collect()
}

/// A cell of the matrix.
pub enum Cell {
    /// It works. Where it does not survive a fault, why.
    Yes(Vec<&'static str>),
    /// It cannot be.
    No(&'static str),
    /// It is not as this test expects.
    Wrong(Vec<String>),
}

/// Fills a cell. `role` is that of the peer.
fn cell(peer: Peer, role: Role, case: &Case) -> Cell {
    let pair = |mtu| match role {
        Role::Client => Pair { peers: [peer, Peer::LeanDtls], mtus: [None, mtu] },
        Role::Server => Pair { peers: [Peer::LeanDtls, peer], mtus: [mtu, None] },
    };
    match (run_without_faults(case, &pair(None)), cannot(peer, role, case)) {
        (Err(_), Some(why)) => return Cell::No(why),
        (Err(error), None) => return Cell::Wrong(vec![error]),
        (Ok(_), Some(why)) => return Cell::Wrong(vec![format!("it works, although: {why}")]),
        (Ok(_), None) => {}
    }
    let (mut reasons, mut wrong) = (Vec::from_iter(sends_longer(peer, role, case)), Vec::new());
    let takes_fragments = does_not_survive(peer, role, case, Some(SHORT), None).is_none();
    let less_short = (!takes_fragments).then_some(LESS_SHORT);
    for mtu in [None, Some(SHORT)].into_iter().chain(less_short.map(Some)) {
        let pair = pair(mtu);
        let mut check = |fault: Option<Fault>| {
            let path = fault.map(Fault::path).unwrap_or_default();
            let result = run(case, &pair, &path);
            match (&result, does_not_survive(peer, role, case, mtu, fault)) {
                (Err(_), Some(why)) if !reasons.contains(&why) => reasons.push(why),
                (Ok(_), None) | (Err(_), Some(_)) => {}
                (Ok(_), Some(why)) => wrong.push(format!("MTU {mtu:?}, {fault:?}: it works, although: {why}")),
                (Err(error), None) => wrong.push(format!("MTU {mtu:?}, {fault:?}: {error}")),
            }
            result.map_or(0, |transcript| transcript.datagrams.len())
        };
        let datagrams = check(None);
        Fault::all(datagrams).for_each(|fault| {
            check(Some(fault));
        });
    }
    if wrong.is_empty() { Cell::Yes(reasons) } else { Cell::Wrong(wrong) }
}

/// A row: a peer in a role.
pub type Row = (Peer, Role);

/// All cells, by the numbers of their section, row and case.
pub type Cells = BTreeMap<(usize, usize, usize), Cell>;

/// All rows of each table.
pub fn rows() -> Vec<Row> {
    Peer::OTHERS.iter().flat_map(|peer| [(*peer, Role::Client), (*peer, Role::Server)]).collect()
}

/// Fills all cells, on as many threads as there are cores.
fn cells() -> Cells {
    let (rows, sections) = (rows(), sections());
    let tasks: Vec<_> = sections
        .iter()
        .enumerate()
        .flat_map(|(section, Section { cases, .. })| (0..cases.len()).map(move |case| (section, case)))
        .flat_map(|(section, case)| (0..rows.len()).map(move |row| (section, row, case)))
        .collect();
    let (next, filled) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (section, row, case) = *task;
                    let (peer, role) = rows[row];
                    let cell = cell(peer, role, &sections[section].cases[case]);
                    filled.lock().unwrap().insert(*task, cell);
                }
            });
        }
    });
    filled.into_inner().unwrap()
}
#[test]
fn every_cell_is_as_the_matrix_has_it() {
    let cells = cells();
    let mut wrong = String::new();
    for ((section, row, case), cell) in &cells {
        let (peer, role) = rows()[*row];
        if let Cell::Wrong(what) = cell {
            let _ = writeln!(wrong, "{peer} {role}, {}:\n  {}", sections()[*section].cases[*case], what.join("\n  "));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");

    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/interop.md");
    let written = fs::read_to_string(&path).unwrap_or_default();
    let document = document(&cells, &written);
    println!("{document}");
    if document != written {
        fs::write(&path, &document).unwrap();
        panic!(
            "docs/reference/interop.md was not what this test prints. It is now: look at the change, run docs/interop.py, and run \
             the test again."
        );
    }
}

/// The longest flight of DTLS 1.2 has five messages. wolfSSL sends each in a datagram of its own, and sends them again after 2 s.
#[test]
fn a_message_that_others_overtake_costs_lean_dtls_no_timeout() {
    let case = &SECTIONS[1].cases[0];
    let pair = Pair { peers: [Peer::LeanDtls, Peer::Wolfssl], mtus: [None, None] };
    for number in 3..8 {
        let transcript = run(case, &pair, &Fault::Late(number).path()).unwrap();
        assert!(transcript.at < Duration::from_secs(1), "{number}: {:?}", transcript.at);
    }
}
