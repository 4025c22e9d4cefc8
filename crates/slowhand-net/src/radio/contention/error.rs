//! Faults of the constants and the tree of a PAN.

use crate::address::NodeId;
use crate::radio::phy::CHANNELS;

/// The reason why a PAN with CSMA/CA cannot be built, as far as all its kinds have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PanError {
    /// A channel outside the 2.4 GHz band.
    #[error("channel {0}: the 2.4 GHz band has channels 11 to 26")]
    Channel(u8),
    /// Invalid back-off exponents.
    #[error(
        "back-off exponents {min} to {max}: the first must not exceed the second, and the second must not exceed 8"
    )]
    BackoffExponents {
        /// macMinBE.
        min: u8,
        /// macMaxBE.
        max: u8,
    },
    /// The number of parents, or of flags, does not fit the number of nodes.
    #[error("{parents} parents for {nodes} nodes: each node needs an entry, None at the root alone")]
    Parents {
        /// Entries given.
        parents: usize,
        /// Nodes of the network.
        nodes: usize,
    },
    /// The parents of this node do not lead to the root.
    #[error("the parents of node {0} do not lead to the root: they must form one tree")]
    NotATree(NodeId),
    /// Parent and child do not hear each other.
    #[error("node {child} and its parent {parent} do not hear each other: a link is needed in each direction")]
    NoLink {
        /// The child.
        child: NodeId,
        /// The parent.
        parent: NodeId,
    },
}

impl PanError {
    /// Checks the constants of CSMA/CA.
    pub(crate) fn check(channel: u8, (min, max): (u8, u8)) -> Result<(), Self> {
        if !CHANNELS.contains(&channel) {
            return Err(Self::Channel(channel));
        }
        if min > max || max > 8 {
            return Err(Self::BackoffExponents { min, max });
        }
        Ok(())
    }
}
