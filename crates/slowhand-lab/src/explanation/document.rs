//! The explanation of one handshake as a document: what the command line, the page and the report show.

use serde::Serialize;

/// Where the time of one handshake went. Times are in seconds since the world began.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The version of slowhand.
    pub version: &'static str,
    /// The name of the scenario.
    pub scenario: String,
    /// The seed of the world.
    pub seed: u64,
    /// The node of the client.
    pub client: u16,
    /// The number of attempts of the client. The path and the timeline are those of the last attempt; the path begins with the others.
    pub attempts: u64,
    /// The end of the handshake, as in records.
    pub outcome: &'static str,
    /// Why it failed; empty if it did not.
    pub reason: String,
    /// When the client first asked for a session.
    pub start_s: f64,
    /// When the handshake ended.
    pub end_s: f64,
    /// The time between the two, as in the record.
    pub duration_s: f64,
    /// The hosts on the way of its packets.
    pub hosts: Vec<HostEntry>,
    /// Where the time went, in one sentence.
    pub summary: String,
    /// Where the time went, the largest part first. They add up to the duration.
    pub parts: Vec<Part>,
    /// The critical path, from start to end without a gap.
    pub path: Vec<PathEntry>,
    /// The rows of the timeline, from the top.
    pub lanes: Vec<Lane>,
    /// The events, ordered by time, then by lane.
    pub events: Vec<Event>,
}

/// A host of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostEntry {
    /// Its name: `node 1`, or `Internet`.
    pub name: String,
    /// The role of the host in the handshake: client, server, border router, router.
    pub role: &'static str,
    /// Its device.
    pub device: String,
}

/// The kinds of parts, each with the work or the wait that took the time. No other kinds exist.
pub const KINDS: [(&str, &str); 26] = [
    ("again", "the client waits before its next attempt"),
    ("air", "frames and acknowledgements on the air"),
    ("anchor", "the client asks the trust anchor for a key (S3K); waits for timers are parts of their own"),
    ("attempt", "an earlier attempt of the client, which failed"),
    ("beacon", "the wait for an active period between beacons, and contention in it"),
    ("busy", "the server computes for other sessions"),
    ("cells", "the wait for a cell of the schedule (TSCH)"),
    ("channel", "the back-off of CSMA/CA"),
    ("computing", "an end computes"),
    ("dccp", "a timer of DCCP: for a repeated packet, a delayed acknowledgement, or a window that waits"),
    ("gateway", "the border router holds a repeated flight back"),
    ("giving-up", "the wait for a timer that was not due before the handshake was given up"),
    ("hand-over", "the client waits for the session that its delegate opens"),
    ("handling", "processors handle frames"),
    ("internet", "the way between border router and server"),
    ("opening", "the connection of DCCP opens; waits for timers are parts of their own"),
    ("other", "not explained: an error in slowhand, or a link layer of your own"),
    ("outage", "a radio is switched off"),
    ("poll", "a frame waits until a sleepy device polls"),
    ("program", "a program waits for a timer of its own, or computes: nobody knows which"),
    ("queue", "a frame waits behind frames that the handshake does not need"),
    ("recovery", "the timer of fragment recovery"),
    ("retries", "attempts that failed, and the waits before the next ones"),
    ("tcp", "a timer of TCP: for a retransmission or for a delayed acknowledgement"),
    ("timer", "a timer of DTLS, CoAP or QUIC: an end sends again"),
    ("wakeup", "the wait until a neighbour wakes up (X-MAC, CSL)"),
];

/// A part of the time of a handshake.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// The work or the wait that took this time: one of [`KINDS`].
    pub kind: &'static str,
    /// Where.
    pub host: String,
    /// The length, in seconds.
    pub seconds: f64,
    /// The length in microseconds.
    pub microseconds: u64,
    /// The work or the wait in words, with its reason.
    pub text: String,
    /// The remedy that makes it shorter: `raise KEY`, `lower KEY` or `change KEY` of the scenario.
    pub remedy: Option<String>,
    /// The events that are the cause.
    pub causes: Vec<usize>,
    /// When: pairs of begin and end.
    pub spans: Vec<[f64; 2]>,
}

/// A piece of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PathEntry {
    /// Its begin.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// The number of its part.
    pub part: usize,
    /// The event that it waited for.
    pub event: Option<usize>,
}

/// A row of the timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// The host.
    pub host: String,
    /// The layer.
    pub layer: &'static str,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// Its number.
    pub id: usize,
    /// The number of its lane.
    pub lane: usize,
    /// The kind of the event.
    pub kind: &'static str,
    /// Its begin.
    pub from_s: f64,
    /// Its end; the same if it is an instant.
    pub to_s: f64,
    /// A short label.
    pub name: String,
    /// More about it: names and values.
    pub detail: Vec<(&'static str, String)>,
    /// `ok`, `lost`; `needed` or `spurious` if it was sent again.
    pub state: &'static str,
    /// The event that caused it.
    pub cause: Option<usize>,
    /// True if it is on the critical path.
    pub critical: bool,
}
