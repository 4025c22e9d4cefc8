//! Beacon-enabled IEEE 802.15.4: a cluster tree with staggered superframes, slotted CSMA/CA, indirect transmission.
//!
//! Each coordinator sends a beacon in each interval, and listens until its active period ends. Its children contend for
//! the channel in that period (sections 7.5.1 to 7.5.6 of IEEE 802.15.4-2006; [`config`] has the constants). Then all
//! radios are off. The active periods follow each other down the tree. Clusters that hear each other never overlap, so
//! only the children of one coordinator contend with each other.
//!
//! Superframes without waiting frames need no events: their beacons are accounted when the radio times are read. The
//! observer sees only beacons of superframes in which frames wait, or all with [`BeaconConfig::trace_idle_beacons`]. A
//! frame that is enqueued in the middle of an idle superframe can still be sent in that superframe.
//!
//! Open points of the standard, and simplifications of this model:
//! - A child that loses a beacon sleeps during that superframe. It never loses synchronisation (in the standard: after
//!   aMaxLostBeacons = 4 lost beacons), because all nodes share one clock.
//! - There is no association: the tree is part of the configuration.
//! - The answer to a data request is sent without CSMA/CA on the first back-off boundary after a turnaround, which the
//!   standard allows (7.5.6.3). If it does not fit into the active period, or is lost, the next beacon lists the child
//!   again, and the child asks again.
//! - A retransmission begins with the smallest back-off exponent, as in the standard (7.5.6.4.3) and in TKN15.4 of TinyOS
//!   (`DispatchSlottedCsmaP.nc`): no delay separates children that do not hear each other.
//! - A child first fetches the announced frames, then sends its own.
//! - A CSMA/CA failure ends a frame at once, as in the standard (7.5.1.4). Only a missing acknowledgement leads to a
//!   retransmission.

mod cluster;
pub mod config;
mod contention;
mod frame;
mod node;
mod radio;
mod radio_time;
mod rules;
mod superframe;
mod timeline;
mod tracking;
mod tree;

use super::contention::{Node, Pan, Tree};
use crate::address::NodeId;
use crate::clock::Instant;
use crate::link::Links;
use crate::random::Streams;
pub use config::{BeaconConfig, BeaconConfigError, Downward, Superframe};

/// The destination of a beacon in [`Transmission::to`](crate::observer::Transmission::to): all children of its sender.
/// The beacon counts as received if all of them received it.
pub const EVERY_CHILD: NodeId = NodeId::EVERYONE;

/// Slotted CSMA/CA in superframes.
#[derive(Debug)]
pub struct BeaconRules;

/// All nodes of one beacon-enabled PAN.
pub type Beacon = Pan<BeaconRules>;

impl Beacon {
    /// A PAN of nodes with these links. `parents` gives each node's parent, and `None` for the root, which is the PAN
    /// coordinator.
    ///
    /// # Errors
    /// [`BeaconConfigError`]: constants or orders out of range, parents that are not a tree or not in range, active
    /// periods that do not fit into the beacon interval.
    pub fn new(
        config: BeaconConfig,
        links: Links,
        parents: &[Option<NodeId>],
        streams: &Streams,
    ) -> Result<Self, BeaconConfigError> {
        config.check()?;
        let tree = Tree::new(parents, &links)?;
        let offsets = tree::offsets(&tree, &config, &links)?;
        let channel = config.channel;
        let mut beacon = Self::build(config, channel, tree, links, |node, tree, links, config| {
            Node::of_beacon(node, config, tree, &offsets, links, streams)
        });
        if beacon.config.trace_idle_beacons {
            for node in (0..parents.len() as u16).map(NodeId) {
                if beacon.is_coordinator(node) {
                    beacon.schedule_superframe(Instant::ZERO, node);
                }
            }
        }
        Ok(beacon)
    }

    /// The instant of a coordinator's first beacon. The simulation starts when the root's children switch on for the
    /// root's first beacon. `None` for a node without children.
    pub fn beacon_time(&self, node: NodeId) -> Option<Instant> {
        (node.index() < self.nodes.len() && self.is_coordinator(node)).then(|| self.first_beacon(node))
    }

    fn first_beacon(&self, node: NodeId) -> Instant {
        Instant::ZERO + self.config.guard + self.nodes[node.index()].mac.cluster.offset
    }

    fn is_coordinator(&self, node: NodeId) -> bool {
        !self.tree.children(node).is_empty()
    }
}
