//! The nodes of a PAN that contend for one channel, and what a MAC decides for itself.

use super::station::{Station, StationId};
use super::{Form, Trace, TraceIndex, Tree};
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::drop_reason::DropReason;
use crate::link::Links;
use crate::observer::{Observer, RadioTimes, RadioWork};
use crate::queue::EventQueue;
use crate::radio::Sequence;
use crate::radio::medium::{Medium, OnAir, Reception};
use crate::radio::pool::{FramePool, FrameQueue};
use crate::radio::{Indication, NodeQueue};
use std::fmt::Debug;

/// All nodes of one PAN, and what is on the air.
#[derive(Debug)]
pub struct Pan<R: Rules> {
    pub(crate) config: R::Config,
    pub(crate) tree: Tree,
    pub(crate) nodes: Vec<Node<R>>,
    pub(crate) medium: Medium,
    pub(crate) pool: FramePool,
    /// By buffer of the pool.
    pub(crate) destinations: Vec<NodeId>,
    pub(crate) events: EventQueue<Event<R::Event>>,
    /// Events for the layer above: the list of the caller while events are handled, else empty.
    pub(super) indications: Vec<Indication>,
    pub(super) handled: u64,
    pub(crate) trace: Trace,
    /// True while timelines are kept: until an observer says that it does not watch radios.
    pub(super) watched: bool,
    /// The receptions of the frame that ends. Kept between frames to reuse the memory.
    pub(super) receptions: Vec<Reception>,
}

/// The state of one node.
#[derive(Debug)]
pub struct Node<R: Rules> {
    pub queue: NodeQueue,
    /// The stations that send its frames, one for each of its roles.
    pub stations: R::Stations,
    /// Frames that it sends when the channel is clear: to its parent, and to children that do not ask for them.
    pub own: FrameQueue,
    /// Frames that its parent keeps for it.
    pub kept: FrameQueue,
    /// The number of frames in `kept`.
    pub kept_count: usize,
    /// The numbers of its frames to its parent.
    pub up: Sequence,
    /// The numbers of its parent's frames to it.
    pub down: Sequence,
    /// True if it has a frame to acknowledge.
    pub is_acknowledging: bool,
    /// End of the last frame that it sent.
    pub sending_until: Instant,
    pub radio: R::Radio,
    /// The state that only this MAC has.
    pub mac: R::Node,
}

/// An event of a PAN.
#[derive(Clone, Copy, Debug)]
pub enum Event<E> {
    /// A clear channel assessment is over.
    Assessed(StationId),
    /// A data frame or data request begins.
    Send(StationId),
    /// It ends.
    Sent(StationId, OnAir, TraceIndex),
    /// The acknowledgement of the station's frame begins.
    Acknowledge(StationId),
    /// The acknowledgement ends.
    Acknowledged(StationId, OnAir, TraceIndex),
    /// The station has waited too long for an acknowledgement.
    NoAcknowledgement(StationId),
    /// A device has waited too long for the announced frame, if its wait has this number.
    NoData(NodeId, u32),
    /// An event that only this MAC has.
    Mac(E),
}

/// The radio of a node, as the engine tells it of frames.
pub trait FrameRadio: Debug + Send {
    /// A frame of its node begins.
    fn begin_sending(&mut self, _now: Instant) {}

    /// That frame ends, which began at `since`.
    fn end_sending(&mut self, since: Instant, now: Instant);

    /// It has synchronised with a frame.
    fn begin_receiving(&mut self, _now: Instant) {}

    /// That frame ends. `received`: it arrived; `more`: the radio has synchronised with another one.
    fn end_receiving(&mut self, since: Instant, now: Instant, received: bool, more: impl FnOnce() -> bool);

    /// Starts or stops keeping the timeline.
    fn watch(&mut self, watched: bool);
}

/// The rules of a MAC: its decisions, and its actions at each step of an exchange in addition to those that all have.
pub trait Rules: Debug + Sized + Send + 'static {
    /// Its constants.
    type Config: Debug + Send;
    /// The state that each node has in addition.
    type Node: Debug + Send;
    /// The state that each station has in addition.
    type Station: Debug + Send;
    /// The stations of a node, by role.
    type Stations: AsRef<[Station<Self::Station>]> + AsMut<[Station<Self::Station>]> + Debug + Send;
    /// The radio of a node.
    type Radio: FrameRadio;
    /// The events that only it has.
    type Event: Copy + Debug + Send;
    /// Who may hear a frame.
    type Audience: Copy;

    /// The order after a child has acknowledged a kept frame: true if the child goes on before its parent does.
    const CHILD_FIRST: bool;

    /// The form of the frames from one node to another.
    fn form(pan: &Pan<Self>, from: NodeId, to: NodeId) -> Form;

    /// The form of the acknowledgements of these frames.
    fn ack_form(pan: &Pan<Self>, from: NodeId, to: NodeId) -> Form {
        Self::form(pan, from, to)
    }

    /// From the MAC header of a frame that begins at `begin` to the next sample of its sender, for frames that announce it.
    fn phase(_pan: &Pan<Self>, _begin: Instant, _node: NodeId) -> u16 {
        0
    }

    /// True if the frames from a node to this neighbour are kept apart from its others: they wait until the neighbour asks
    /// for them, or for the MAC to choose among the children.
    fn keeps(pan: &Pan<Self>, node: NodeId, next_hop: NodeId) -> bool;

    /// A frame has come into the queue of a node.
    fn enqueued(pan: &mut Pan<Self>, now: Instant, node: NodeId, next_hop: NodeId);

    /// A frame has left the queue of `node`: one that it kept for this child, or one that it sent of itself.
    fn left(pan: &mut Pan<Self>, node: NodeId, child: Option<NodeId>);

    /// An idle station starts its next task, if it has one.
    fn start(pan: &mut Pan<Self>, now: Instant, id: StationId);

    /// Steps 1 and 2 of CSMA/CA, for the first transmission of a frame and for each retransmission.
    fn contend(pan: &mut Pan<Self>, now: Instant, id: StationId);

    /// Steps 3 to 5: an assessment is over.
    fn assessed(pan: &mut Pan<Self>, now: Instant, id: StationId);

    /// True if the station may send its frame now. If not, this has done what follows.
    fn may_send(_pan: &mut Pan<Self>, _now: Instant, _id: StationId) -> bool {
        true
    }

    /// Who may hear a frame that begins now.
    fn audience(pan: &Pan<Self>, now: Instant, id: StationId) -> Self::Audience;

    /// True if a node of the audience listens.
    fn listens(
        config: &Self::Config,
        tree: &Tree,
        nodes: &[Node<Self>],
        node: NodeId,
        now: Instant,
        audience: Self::Audience,
    ) -> bool;

    /// The start of the acknowledgement of a frame that has been received now. `None` if there is no time for it.
    fn ack_begins(pan: &Pan<Self>, now: Instant, id: StationId) -> Option<Instant>;

    /// `to` has received the station's frame, and will acknowledge it.
    fn received(pan: &mut Pan<Self>, now: Instant, id: StationId, to: NodeId);

    /// True if the acknowledgement of a data frame says whether frames wait for its sender, as that of a data request does.
    fn announces_in_data_acks(_config: &Self::Config) -> bool {
        false
    }

    /// True if a frame for a child says whether more of them wait.
    fn announces_more(_config: &Self::Config) -> bool {
        true
    }

    /// The acknowledgement of the station's frame has ended. `received`: the station has received it. Its frame is still in
    /// the queue.
    fn acknowledged(pan: &mut Pan<Self>, now: Instant, id: StationId, received: bool);

    /// A child has fetched a frame. `is_awaited`: it has waited for it, and is idle now; `more`: others wait for it.
    fn fetched(pan: &mut Pan<Self>, now: Instant, child: NodeId, is_awaited: bool, more: bool);

    /// The station's task has succeeded, and its frame has left. `frame_pending`: the acknowledgement has announced a frame.
    fn succeeded(pan: &mut Pan<Self>, now: Instant, id: StationId, frame_pending: bool);

    /// No acknowledgement has come in time. `attempts`: those at this frame so far.
    fn unacknowledged(pan: &mut Pan<Self>, now: Instant, id: StationId, attempts: u8);

    /// A data request is given up.
    fn request_failed(pan: &mut Pan<Self>, now: Instant, node: NodeId, reason: DropReason);

    /// The time until which a child waits for the frame that an acknowledgement has announced.
    fn data_until(pan: &Pan<Self>, now: Instant, id: StationId) -> Instant;

    /// That frame did not come.
    fn no_data(pan: &mut Pan<Self>, now: Instant, node: NodeId);

    /// An event that only this MAC has.
    fn handle(pan: &mut Pan<Self>, now: Instant, event: Self::Event);

    /// See [`Mac::sending_time`](crate::radio::Mac::sending_time).
    fn sending_time(pan: &Pan<Self>, next_hop: NodeId, frames: u64) -> Duration;

    /// See [`Mac::set_joiners`](crate::radio::Mac::set_joiners).
    fn set_joiner(_node: &mut Node<Self>) {}

    /// See [`Mac::switch_radio`](crate::radio::Mac::switch_radio).
    fn switch_radio(_pan: &mut Pan<Self>, _now: Instant, _node: NodeId, _on: bool) -> bool {
        false
    }

    /// See [`Mac::radio_times`](crate::radio::Mac::radio_times).
    fn radio_times(pan: &Pan<Self>, node: NodeId, now: Instant) -> RadioTimes;

    /// See [`Mac::radio_work`](crate::radio::Mac::radio_work).
    fn radio_work(pan: &Pan<Self>, node: NodeId, now: Instant) -> RadioWork;

    /// See [`Mac::regular_frames`](crate::radio::Mac::regular_frames).
    fn regular_frames(_pan: &Pan<Self>, _node: NodeId, _now: Instant) -> u64 {
        0
    }

    /// Shows the observer a node's timeline until `now`.
    fn report_radio(pan: &mut Pan<Self>, now: Instant, node: NodeId, observer: &mut dyn Observer);

    /// See [`Mac::begin_burst`](crate::radio::Mac::begin_burst).
    fn set_burst(_pan: &mut Pan<Self>, _now: Instant, _node: NodeId, _in_burst: bool) {}
}

impl<R: Rules> Pan<R> {
    /// A silent PAN. `node` makes each node.
    pub(crate) fn build(
        config: R::Config,
        channel: u8,
        tree: Tree,
        links: Links,
        mut node: impl FnMut(NodeId, &Tree, &Links, &R::Config) -> Node<R>,
    ) -> Self {
        let nodes = (0..tree.nodes() as u16).map(|index| node(NodeId(index), &tree, &links, &config)).collect();
        Self {
            medium: Medium::new(channel, links),
            config,
            tree,
            nodes,
            pool: FramePool::default(),
            destinations: Vec::new(),
            events: EventQueue::default(),
            indications: Vec::new(),
            handled: 0,
            trace: Trace::default(),
            watched: true,
            receptions: Vec::new(),
        }
    }

    /// The number of handled events: the work of the simulation. It does not grow with idle time.
    pub fn events_handled(&self) -> u64 {
        self.handled
    }

    pub(crate) fn station(&self, id: StationId) -> &Station<R::Station> {
        &self.nodes[id.node.index()].stations.as_ref()[id.role as usize]
    }

    pub(crate) fn station_mut(&mut self, id: StationId) -> &mut Station<R::Station> {
        &mut self.nodes[id.node.index()].stations.as_mut()[id.role as usize]
    }

    pub(crate) fn node(&mut self, node: NodeId) -> &mut Node<R> {
        &mut self.nodes[node.index()]
    }

    /// The parent of a node. The root is its own.
    pub(crate) fn parent(&self, node: NodeId) -> NodeId {
        self.tree.parent(node).unwrap_or(node)
    }
}

impl<R: Rules> Node<R> {
    /// A node with nothing to send.
    pub fn new(limit: usize, stations: R::Stations, radio: R::Radio, mac: R::Node) -> Self {
        Self {
            queue: NodeQueue::new(limit),
            stations,
            own: FrameQueue::default(),
            kept: FrameQueue::default(),
            kept_count: 0,
            up: Sequence::default(),
            down: Sequence::default(),
            is_acknowledging: false,
            sending_until: Instant::ZERO,
            radio,
            mac,
        }
    }
}
