//! Non-beacon IEEE 802.15.4, as Thread and Zigbee use it: unslotted CSMA/CA, nodes that always listen, and sleepy
//! devices that poll their parents.
//!
//! A node with a frame backs off for a random time, assesses the channel, and sends if it is clear (section 7.5.1.4 of
//! IEEE 802.15.4-2006; [`config`] has the constants and their sources). Nodes that forward frames always listen. A leaf
//! may be a sleepy device: its radio is off unless it sends. Its parent keeps the frames for it. The device polls its
//! parent with data requests, and the acknowledgement says whether a frame follows (7.5.6.3). A device with
//! coordinated sampled listening (CSL) also listens for a moment in every period, and its parent sends into these
//! samples.
//!
//! Idle time has no events but polls: listening and samples are added up when the radio times are read.
//!
//! Simplifications of this model:
//! - There is no association and no MLE: the tree is part of the configuration, and does not change.
//! - All nodes share one exact clock. CSL receivers listen as long as the tolerances of their clocks ask for. The
//!   simulation starts with parents and CSL receivers that are synchronised.
//! - OpenThread waits 8 ms after a frame that the next node forwards. This model does not.
//! - OpenThread drops the whole message if one of its frames to a sleepy child fails. This MAC drops the frame.
//! - A radio with a frame on the air for another node receives it to its end.

mod access;
pub mod config;
mod indirect;
mod node;
mod polls;
mod radio;
mod rules;

use super::contention::{Event, Mode, Node, Pan, PanError, Radio, Station, Tree};
use crate::address::{Addressing, NodeId};
use crate::clock::{Duration, Instant};
use crate::link::Links;
use crate::random::Streams;
use config::MAX_SHORT_ADDRESSES;
pub use config::{Csl, CsmaConfig, CsmaConfigError, FastPoll, Polling};
use node::{Attempts, CsmaNode, Known};
use polls::Polls;
use radio::{Samples, Sampling};

/// Unslotted CSMA/CA with sleepy devices.
#[derive(Debug)]
pub struct CsmaRules;

/// Events besides exchanges.
#[derive(Clone, Copy, Debug)]
pub enum Timer {
    /// A device polls.
    Poll(NodeId),
    /// A frame has waited too long for this child.
    Expire(NodeId),
    /// A frame may be sent into the next sample of this child.
    Sample(NodeId),
}

/// All nodes of one non-beacon PAN.
pub type Csma = Pan<CsmaRules>;

impl Csma {
    /// A PAN of nodes with these links. `parents` gives each node's parent, and `None` for the root; `sleepy` says which
    /// nodes are sleepy devices.
    ///
    /// # Errors
    /// [`CsmaConfigError`]: constants out of range, parents that are not a tree or not in range, a sleepy node with
    /// children.
    pub fn new(
        config: CsmaConfig,
        links: Links,
        parents: &[Option<NodeId>],
        sleepy: &[bool],
        streams: &Streams,
    ) -> Result<Self, CsmaConfigError> {
        config.check()?;
        let tree = Tree::new(parents, &links)?;
        check_roles(&tree, sleepy)?;
        if config.addressing == Addressing::Short && tree.nodes() > MAX_SHORT_ADDRESSES {
            return Err(CsmaConfigError::ShortAddresses(tree.nodes()));
        }
        let channel = config.channel;
        let mut csma = Self::build(config, channel, tree, links, |node, _, _, config| {
            new_node(node, sleepy[node.index()], config, streams)
        });
        (0..csma.nodes.len()).for_each(|node| csma.arm_polls(NodeId(node as u16)));
        Ok(csma)
    }
}

/// Sleepy nodes are leaves.
fn check_roles(tree: &Tree, sleepy: &[bool]) -> Result<(), CsmaConfigError> {
    if sleepy.len() != tree.nodes() {
        return Err(PanError::Parents { parents: sleepy.len(), nodes: tree.nodes() }.into());
    }
    for node in sleepy.iter().zip(0..).filter(|(sleepy, _)| **sleepy).map(|(_, node)| NodeId(node)) {
        if tree.parent(node).is_none() {
            return Err(CsmaConfigError::SleepyRoot(node));
        }
        if !tree.children(node).is_empty() {
            return Err(CsmaConfigError::SleepyParent(node));
        }
    }
    Ok(())
}

fn new_node(node: NodeId, sleepy: bool, config: &CsmaConfig, streams: &Streams) -> Node<CsmaRules> {
    let number = u64::from(node.0);
    let drawn = |name, below: Duration| {
        Instant::ZERO + Duration::from_micros(streams.stream(name, number).below(below.as_micros()))
    };
    let polls = sleepy.then(|| Polls::new(&config.polling, drawn("poll phase", config.polling.period)));
    let csl = config.csl.as_ref().filter(|_| sleepy).map(|csl| (csl, drawn("sample phase", csl.interval())));
    let known = |(_, sample)| Known { sample, heard: Instant::ZERO, failures: 0, is_scheduled: false };
    let samples = csl.map(|(csl, first)| Samples::new(csl.clone(), first));
    let mode = if sleepy { Mode::Pattern } else { Mode::On };
    let radio = Radio::new(mode, Sampling { samples, is_off: false, assesses_at: None });
    let station = Station::new(streams.stream("back-off", number), Attempts::default());
    Node::new(config.queue, [station], radio, CsmaNode::new(polls, csl.map(known)))
}
