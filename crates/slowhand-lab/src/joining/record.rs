//! The result: when a node was through each phase, and what that took.

use slowhand_net::clock::Duration;

use crate::record::{Column, Field, Table, row_schema};

/// The phases of a node that joins, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It has heard beacons, has chosen its join proxy, and knows the time of the network.
    Synchronised,
    /// It has the keys: the Join Response has come.
    Joined,
    /// It has heard a DIO and has a parent.
    Parent,
    /// It has negotiated a cell to its parent. Without a scheduling function there is none to negotiate.
    Cell,
    /// Its first datagram has arrived at the root.
    Packet,
}

impl Phase {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Synchronised, Self::Joined, Self::Parent, Self::Cell, Self::Packet];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Synchronised => "synchronised",
            Self::Joined => "joined",
            Self::Parent => "parent",
            Self::Cell => "cell",
            Self::Packet => "packet",
        }
    }
}

/// The joining of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinRecord {
    /// The seed of the world.
    pub seed: u64,
    /// The node.
    pub node: u16,
    /// Its hops to the root, by the parents that nodes have chosen. `None` without a parent.
    pub hops: Option<u16>,
    /// The join proxy of its last scan.
    pub proxy: Option<u16>,
    /// Its parent.
    pub parent: Option<u16>,
    /// From the start of the world until it was switched on.
    pub start: Duration,
    /// From then until it was through each phase for the last time, by [`Phase`]. `None`: it was not.
    pub phases: [Option<Duration>; Phase::ALL.len()],
    /// The number of its scans.
    pub scans: u64,
    /// The Join Requests that it has sent.
    pub requests: u64,
    /// The frames of its Join Requests and Responses on the air, over all hops, repeated ones included, without acknowledgements.
    pub join_frames: u64,
    /// Of these, frames that were sent before.
    pub join_repeated_frames: u64,
    /// The octets of these frames, from the MAC header to the check sequence.
    pub join_octets: u64,
    /// The 6P messages that it has sent, repeated ones included.
    pub sixtop_frames: u64,
    /// Its first datagrams that were sent until one arrived.
    pub packets: u64,
    /// The energy that it has used from the start of the world until it was synchronised for the first time.
    pub scan_mj: Option<f64>,
    /// The energy that it has used until its first datagram was at the root, or to the end of the world.
    pub energy_mj: f64,
}

impl JoinRecord {
    /// When it was through a phase, from the moment when it was switched on.
    pub fn at(&self, phase: Phase) -> Option<Duration> {
        self.phases[phase as usize]
    }

    /// The first phase that it did not get through. `None` if its datagram has arrived.
    pub fn missing(&self) -> Option<Phase> {
        let first = || Phase::ALL.into_iter().find(|&phase| phase != Phase::Cell && self.at(phase).is_none());
        if self.at(Phase::Packet).is_some() { None } else { first() }
    }
}

type Values = fn(&[JoinRecord]) -> Column;

/// Each column: its name, its meaning, its values.
const COLUMNS: [(&str, &str, Values); 21] = [
    ("seed", "The seed of the world.", |r| Column::U64(r.iter().map(|r| r.seed).collect())),
    ("node", "The node.", |r| Column::U64(r.iter().map(|r| r.node.into()).collect())),
    ("hops", "Its hops to the root, by the parents that nodes have chosen.", |r| numbers(r, |r| r.hops.map(f64::from))),
    ("proxy", "Its join proxy, after its last scan.", |r| numbers(r, |r| r.proxy.map(f64::from))),
    ("parent", "Its parent.", |r| numbers(r, |r| r.parent.map(f64::from))),
    ("start_s", "When it was switched on. All other times count from then.", |r| {
        Column::F64(r.iter().map(|r| r.start.as_secs_f64()).collect())
    }),
    ("synchronised_s", "It has heard beacons and has chosen its join proxy.", |r| times(r, Phase::Synchronised)),
    ("joined_s", "It has the keys: the Join Response has come.", |r| times(r, Phase::Joined)),
    ("parent_s", "It has heard a DIO and has a parent.", |r| times(r, Phase::Parent)),
    ("cell_s", "It has negotiated a cell to its parent. Null with a static schedule.", |r| times(r, Phase::Cell)),
    ("packet_s", "Its first datagram has arrived at the root.", |r| times(r, Phase::Packet)),
    ("missing", "The first phase that it did not get through; null if it is through all.", |r| {
        Column::OptText(r.iter().map(|r| r.missing().map(|phase| phase.name().to_owned())).collect())
    }),
    ("scans", "How often it has scanned: more than once if no response came.", |r| counts(r, |r| r.scans)),
    ("requests", "The Join Requests that it has sent.", |r| counts(r, |r| r.requests)),
    ("join_frames", "Frames of its Join Requests and Responses over all hops, without acknowledgements.", |r| {
        counts(r, |r| r.join_frames)
    }),
    ("join_repeated_frames", "Of these, frames that were sent before.", |r| counts(r, |r| r.join_repeated_frames)),
    ("join_octets", "The octets of these frames, from the MAC header to the check sequence.", |r| {
        counts(r, |r| r.join_octets)
    }),
    ("sixtop_frames", "The frames with 6P messages that it has sent.", |r| counts(r, |r| r.sixtop_frames)),
    ("packets", "The datagrams that it sent to the root until one arrived.", |r| counts(r, |r| r.packets)),
    ("scan_mj", "The energy it has used until it was synchronised for the first time.", |r| numbers(r, |r| r.scan_mj)),
    ("energy_mj", "The energy it has used until its datagram had arrived, or to the end of the world.", |r| {
        Column::F64(r.iter().map(|r| r.energy_mj).collect())
    }),
];

/// The records as a table.
pub fn columns(records: &[JoinRecord]) -> Table {
    COLUMNS.iter().map(|&(name, about, values)| (Field { name, about }, values(records))).collect()
}

/// The JSON Schema of a row.
pub fn schema() -> serde_json::Value {
    row_schema("How one node joined the network.", &columns(&[]))
}

fn counts(records: &[JoinRecord], of: fn(&JoinRecord) -> u64) -> Column {
    Column::U64(records.iter().map(of).collect())
}

fn numbers(records: &[JoinRecord], of: fn(&JoinRecord) -> Option<f64>) -> Column {
    Column::OptF64(records.iter().map(of).collect())
}

fn times(records: &[JoinRecord], phase: Phase) -> Column {
    Column::OptF64(records.iter().map(|record| record.at(phase).map(Duration::as_secs_f64)).collect())
}
