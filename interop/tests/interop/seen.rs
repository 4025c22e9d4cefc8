//! The view of a live network on a program: when its end is established, against what the library says.

use std::time::Duration;

use slowhand_interop::Peer;
use slowhand_live::handshake::Watcher;
use slowhand_sessions::memory::{Direction, End, Path, Transcript};
use slowhand_sessions::{Protocol, Role, Status};

use crate::case::{Beside, Case};
use crate::limits::cannot;
use crate::matrix::{rows, sections};
use crate::run::{Fault, Pair, handshake};

/// When an end is seen to be established.
fn seen(role: Role, transcript: &Transcript, path: &Path) -> Option<Duration> {
    let mut watcher = Watcher::of_datagrams(role);
    let mut events: Vec<_> = transcript
        .datagrams
        .iter()
        .filter_map(|datagram| {
            let is_sent = (datagram.direction == Direction::ToServer) == (role == Role::Client);
            let delay = if is_sent { Duration::ZERO } else { path.delay };
            (is_sent || !datagram.dropped).then_some((datagram.at + delay, is_sent, &datagram.bytes))
        })
        .filter(|(at, ..)| *at <= transcript.at)
        .collect();
    events.sort_by_key(|(at, is_sent, _)| (*at, *is_sent)); // an answer follows what it answers
    events.into_iter().find_map(|(at, is_sent, octets)| {
        if is_sent {
            watcher.sent(octets)
        } else {
            watcher.received(octets)
        }
        watcher.is_established().then_some(at)
    })
}

fn told(status: &Status) -> Option<Duration> {
    if let Status::Established { at } = status { Some(*at) } else { None }
}

/// Why the two may differ at an end.
fn may_differ(case: &Case, pair: &Pair, role: Role, has_loss: bool) -> Option<&'static str> {
    let peer = pair.peers[role as usize];
    match (case.version, peer) {
        (Protocol::Dtls12, Peer::LeanDtls) if has_loss => {
            Some("it needs no ChangeCipherSpec, which the watcher waits for")
        }
        (Protocol::Dtls13, Peer::Wolfssl) if role == Role::Client => {
            Some("it says so when its own Finished is acknowledged")
        }
        (Protocol::Dtls13, _) if role == Role::Client && has_loss && case.beside == Some(Beside::ConnectionId) => {
            Some("its acknowledgements look like its flight")
        }
        _ => None,
    }
}

/// The ends at which both differ, in words; and how many had a reason for that.
fn differences(case: &Case, pair: &Pair, fault: Option<Fault>) -> (Vec<String>, usize) {
    let path = fault.map(Fault::path).unwrap_or_default();
    let Ok((_, transcript)) = handshake(case, pair, &path) else { return (Vec::new(), 0) };
    if transcript.end != End::Completed {
        return (Vec::new(), 0);
    }
    let (mut wrong, mut explained) = (Vec::new(), 0);
    for (role, status) in [(Role::Client, &transcript.client), (Role::Server, &transcript.server)] {
        let (seen, told) = (seen(role, &transcript, &path), told(status));
        if seen == told {
            continue;
        }
        match may_differ(case, pair, role, fault.is_some()) {
            Some(_) => explained += 1,
            None => wrong.push(format!(
                "{case}, {} to {}, {fault:?}: the {role}: seen {seen:?}, told {told:?}",
                pair.peers[0], pair.peers[1]
            )),
        }
    }
    (wrong, explained)
}

/// With the loss of each datagram in turn.
#[test]
fn every_library_is_seen_to_be_established_when_it_says_so() {
    let (mut wrong, mut explained) = (Vec::new(), 0);
    for (case, (peer, role)) in sections()
        .iter()
        .flat_map(|section| section.cases)
        .flat_map(|case| rows().into_iter().map(move |row| (case, row)))
    {
        if cannot(peer, role, case).is_some() {
            continue;
        }
        let peers = match role {
            Role::Client => [peer, Peer::LeanDtls],
            Role::Server => [Peer::LeanDtls, peer],
        };
        let pair = Pair { peers, mtus: [None, None] };
        for fault in std::iter::once(None).chain((0..DATAGRAMS).map(|number| Some(Fault::Lost(number)))) {
            let (differences, with_reason) = differences(case, &pair, fault);
            wrong.extend(differences);
            explained += with_reason;
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    println!("{explained} differ for a reason that is known");
}

/// More than a handshake has without losses.
const DATAGRAMS: usize = 12;
