//! The result: when a node was through each phase, and what that took.

use slowhand_net::clock::Duration;

use crate::record::Value::{F64, OptF64, OptText, U64};
use crate::record::row;

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

row! {
    /// The joining of one node.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct JoinRecord = "How one node joined the network." {
        /// The seed of the world.
        pub seed: u64 => (U64(|r| r.seed)),
        /// The node.
        pub node: u16 => (U64(|r| r.node.into())),
        /// Its hops to the root, by the parents that nodes have chosen. Null without a parent.
        pub hops: Option<u16> => (OptF64(|r| r.hops.map(f64::from))),
        /// Its join proxy, after its last scan.
        pub proxy: Option<u16> => (OptF64(|r| r.proxy.map(f64::from))),
        /// Its parent.
        pub parent: Option<u16> => (OptF64(|r| r.parent.map(f64::from))),
        /// When it was switched on. All other times count from then.
        pub start: Duration => (start_s: F64(|r| r.start.as_secs_f64())),
        /// From then until it was through each phase for the last time, by [`Phase`]. `None`: it was not.
        pub phases: [Option<Duration>; Phase::ALL.len()] => {
            /// It has heard beacons and has chosen its join proxy.
            synchronised_s: OptF64(|r| r.seconds_at(Phase::Synchronised)),
            /// It has the keys: the Join Response has come.
            joined_s: OptF64(|r| r.seconds_at(Phase::Joined)),
            /// It has heard a DIO and has a parent.
            parent_s: OptF64(|r| r.seconds_at(Phase::Parent)),
            /// It has negotiated a cell to its parent. Null with a static schedule.
            cell_s: OptF64(|r| r.seconds_at(Phase::Cell)),
            /// Its first datagram has arrived at the root.
            packet_s: OptF64(|r| r.seconds_at(Phase::Packet)),
            /// The first phase that it did not get through; null if it is through all.
            missing: OptText(|r| r.missing().map(|phase| phase.name().to_owned())),
        },
        /// The number of its scans: more than one if no response came.
        pub scans: u64 => (U64(|r| r.scans)),
        /// The Join Requests that it has sent.
        pub requests: u64 => (U64(|r| r.requests)),
        /// Frames of its Join Requests and Responses over all hops, repeated ones included, without acknowledgements.
        pub join_frames: u64 => (U64(|r| r.join_frames)),
        /// Of these, frames that were sent before.
        pub join_repeated_frames: u64 => (U64(|r| r.join_repeated_frames)),
        /// The octets of these frames, from the MAC header to the check sequence.
        pub join_octets: u64 => (U64(|r| r.join_octets)),
        /// The frames with 6P messages that it has sent, repeated ones included.
        pub sixtop_frames: u64 => (U64(|r| r.sixtop_frames)),
        /// The datagrams that it sent to the root until one arrived.
        pub packets: u64 => (U64(|r| r.packets)),
        /// The energy it has used from the start of the world until it was synchronised for the first time.
        pub scan_mj: Option<f64> => (OptF64(|r| r.scan_mj)),
        /// The energy it has used from the start of the world until its datagram had arrived, or to the world's end.
        pub energy_mj: f64 => (F64(|r| r.energy_mj)),
    }
}

impl JoinRecord {
    /// When it was through a phase, from the moment when it was switched on.
    pub fn at(&self, phase: Phase) -> Option<Duration> {
        self.phases[phase as usize]
    }

    fn seconds_at(&self, phase: Phase) -> Option<f64> {
        self.at(phase).map(Duration::as_secs_f64)
    }

    /// The first phase that it did not get through. `None` if its datagram has arrived.
    pub fn missing(&self) -> Option<Phase> {
        let first = || Phase::ALL.into_iter().find(|&phase| phase != Phase::Cell && self.at(phase).is_none());
        if self.at(Phase::Packet).is_some() { None } else { first() }
    }
}
