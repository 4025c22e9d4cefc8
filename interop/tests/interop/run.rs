//! One handshake with data in both directions.

use std::time::Duration;

use slowhand_interop::Peer;
use slowhand_sessions::memory::{End, Path, Transcript};
use slowhand_sessions::{HEARTBEAT, Resumable, Role, Session, Status};

use crate::case::{Beside, Case};
use crate::limits::sends_longer;
use crate::wire;

/// The two ends of a session, client first.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub peers: [Peer; 2],
    /// The size of the datagrams of each.
    pub mtus: [Option<u16>; 2],
}

/// A fault of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The datagram with this number is lost.
    Lost(usize),
    /// It arrives twice.
    Twice(usize),
    /// Later ones overtake it.
    Late(usize),
}

impl Fault {
    /// Every fault of one datagram, for so many datagrams.
    pub fn all(datagrams: usize) -> impl Iterator<Item = Self> {
        (0..datagrams).flat_map(|number| [Self::Lost(number), Self::Twice(number), Self::Late(number)])
    }

    /// The path with this fault.
    pub fn path(self) -> Path {
        match self {
            Self::Lost(number) => Path { dropped: vec![number], ..Path::default() },
            Self::Twice(number) => Path { duplicated: vec![number], ..Path::default() },
            Self::Late(number) => Path { held_back: vec![(number, LATE)], ..Path::default() },
        }
    }
}

/// By how much a datagram is late: more than a round trip of 100 ms, so that answers to later datagrams overtake it too.
const LATE: Duration = Duration::from_millis(120);

/// The first timeout of lean-dtls. It is longer than that of its peers, so that both timers are seen to work: if both were to expire
/// at the same time, the one would hide the other.
const LEAN_TIMEOUT: Duration = Duration::from_secs(3);

/// The time from a session to the one that resumes it. *Assumed*: less than the lifetime of a ticket, which is hours.
const BEFORE: Duration = Duration::from_secs(60);

/// A session must be established within this time, even if datagrams are lost. *Assumed*: longer than three retransmissions of a
/// peer whose first timeout is 2 s.
const LIMIT: Duration = Duration::from_secs(20);

/// Runs a session: the handshake over `path`, then data from either end.
///
/// # Errors
/// Why it did not work.
pub fn run(case: &Case, pair: &Pair, path: &Path) -> Result<Transcript, String> {
    let ([mut client, mut server], transcript) = handshake(case, pair, path)?;
    completed(&transcript)?;
    let mut both = |to_server: &[u8], to_client: &[u8]| {
        let at = transcript.at;
        carry(case, &mut *client, &mut *server, at, to_server).map_err(|why| format!("data to the server: {why}"))?;
        carry(case, &mut *server, &mut *client, at, to_client).map_err(|why| format!("data to the client: {why}"))
    };
    both(b"22.5 C", &[7; 60])?;
    if let (Some(most), [None, None]) = (case.record_size(), pair.mtus) {
        let most = usize::from(most);
        both(&vec![7; most], &vec![8; most])?;
        for (role, peer, end) in
            [(Role::Client, pair.peers[0], &mut client), (Role::Server, pair.peers[1], &mut server)]
        {
            match (longer_is_not_sent(&mut **end, transcript.at, most), sends_longer(peer, role, case)) {
                (Ok(()), None) | (Err(_), Some(_)) => {}
                (Err(why), None) => return Err(format!("the {role}: {why}")),
                (Ok(()), Some(why)) => return Err(format!("the {role} keeps to the limit, although: {why}")),
            }
        }
    }
    Ok(transcript)
}

/// The ends of a session, client first.
pub type Ends = [Box<dyn Session>; 2];

/// Runs the handshake alone, to whatever end.
///
/// # Errors
/// An end, or the session that this one resumes, could not be made.
pub fn handshake(case: &Case, pair: &Pair, path: &Path) -> Result<(Ends, Transcript), String> {
    let kept = match case.beside {
        Some(Beside::Resumption(_)) => earlier(case, pair)?,
        _ => [None, None],
    };
    let [mut client, mut server] = build(case, pair, &kept, false)?;
    let path = Path { time_limit: LIMIT, ..path.clone() };
    let transcript = path.run(&mut *client, &mut *server);
    Ok(([client, server], transcript))
}

/// Like [`run`], without faults. The two ends must have agreed on what the case asks for.
pub fn run_without_faults(case: &Case, pair: &Pair) -> Result<Transcript, String> {
    let transcript = run(case, pair, &Path::default())?;
    wire::disagreement(case, &transcript.datagrams).map_or(Ok(transcript), Err)
}

/// Makes both ends, of the earlier session or of the one that resumes it.
///
/// # Errors
/// Why one refuses this.
pub fn build(case: &Case, pair: &Pair, kept: &[Option<Resumable>; 2], is_earlier: bool) -> Result<Ends, String> {
    let end = |role: Role, index: usize| {
        let mut config = case.config(role, pair.mtus[index]);
        let before = if is_earlier { BEFORE } else { Duration::ZERO };
        if is_earlier {
            config.seed[0] += 100;
        }
        let peer = pair.peers[index];
        if peer == Peer::LeanDtls {
            config.timers.first = Some(LEAN_TIMEOUT);
        }
        peer.build(config, before, kept[index].as_ref()).map_err(|why| format!("{peer}: {why}"))
    };
    Ok([end(Role::Client, 0)?, end(Role::Server, 1)?])
}

/// Runs the session that another one resumes. Returns what each end keeps of it.
fn earlier(case: &Case, pair: &Pair) -> Result<[Option<Resumable>; 2], String> {
    let [mut client, mut server] = build(case, pair, &[None, None], true)?;
    let transcript = Path { time_limit: LIMIT, ..Path::default() }.run_until_quiet(&mut *client, &mut *server);
    completed(&transcript).map_err(|why| format!("the earlier session: {why}"))?;
    Ok([client.resumable(), server.resumable()])
}

fn completed(transcript: &Transcript) -> Result<(), String> {
    let Transcript { end, client, server, at, .. } = transcript;
    let words = |status: &Status| match status {
        Status::Failed(failure) => format!("failed ({failure})"),
        Status::Handshaking => "waits".to_owned(),
        Status::Established { .. } => "is ready".to_owned(),
        Status::Closed => "is closed".to_owned(),
    };
    match end {
        End::Completed => Ok(()),
        _ => Err(format!("{end:?} at {at:?}: the client {}, the server {}", words(client), words(server))),
    }
}

/// Data go from one end to the other. With heartbeats, an answer comes back.
fn carry(case: &Case, from: &mut dyn Session, to: &mut dyn Session, at: Duration, data: &[u8]) -> Result<(), String> {
    from.write(at, data).map_err(|error| error.to_string())?;
    deliver(from, to, at);
    match to.poll_received() {
        Some(received) if received.bytes == data => {}
        Some(_) => return Err("other data arrived".to_owned()),
        None => return Err(format!("nothing arrived, {:?}", to.status())),
    }
    if case.beside == Some(Beside::Heartbeat) {
        deliver(to, from, at);
        let answer = from.poll_received().map(|received| received.bytes.to_vec());
        if answer.as_deref() != Some(HEARTBEAT) {
            return Err(format!("the heartbeat was not answered: {answer:?}"));
        }
    }
    Ok(())
}

fn deliver(from: &mut dyn Session, to: &mut dyn Session, at: Duration) {
    while let Some(sent) = from.poll_transmit().map(|sent| sent.bytes.to_vec()) {
        to.handle_input(at, &sent);
    }
}

/// An end that is given more data than a record may have refuses them, or cuts them.
fn longer_is_not_sent(from: &mut dyn Session, at: Duration, most: usize) -> Result<(), String> {
    // Whether it is an error to try is the library's affair.
    let _ = from.write(at, &vec![9; most + 1]);
    while let Some(sent) = from.poll_transmit() {
        let longest = wire::longest_content(sent.bytes);
        if longest > most {
            return Err(format!("it sent a record with {longest} octets"));
        }
    }
    Ok(())
}
