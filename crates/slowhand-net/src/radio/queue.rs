//! The queue of a node, as far as all link layers have it: how many frames wait, and what the processor does with them.

use super::frame::FrameView;
use super::pool::QueuedFrame;
use super::{Indication, Payload, Processor};
use crate::address::NodeId;
use crate::clock::Instant;
use crate::datagram::DatagramId;
use crate::drop_reason::DropReason;

/// The number of frames that wait at a node, the room for them, and the processor that handles them. A MAC has one queue for
/// each node, and keeps the frames themselves.
///
/// It is also the only place where the processor learns of frames, so a MAC that reports each of them here takes the time
/// that the configuration says ([`Processor`]): [`enter`](Self::enter) when a frame comes from the layer above,
/// [`leave`](Self::leave) when it has been sent or dropped, and [`receive`](Self::receive) when one arrives. It begins no
/// frame before [`free_at`](Processor::free_at). What else the processor does for frames it only counts:
/// [`handle_own`](Self::handle_own).
#[derive(Clone, Copy, Debug)]
pub struct NodeQueue {
    /// Frames that wait.
    frames: usize,
    /// The frames among them that the layer above has sent.
    data: usize,
    limit: usize,
    peak: usize,
    processor: Processor,
}

impl NodeQueue {
    /// An empty queue with room for `limit` frames.
    pub fn new(limit: usize) -> Self {
        Self { frames: 0, data: 0, limit, peak: 0, processor: Processor::default() }
    }

    /// The number of frames that wait, those of the link layer itself included.
    #[inline]
    pub fn len(&self) -> usize {
        self.frames
    }

    /// True if no frame waits.
    pub fn is_empty(&self) -> bool {
        self.frames == 0
    }

    /// True if no further frame of the layer above has room.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.frames >= self.limit
    }

    /// The most frames of the layer above that can wait.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Gives it room for another number of frames.
    pub fn set_limit(&mut self, frames: usize) {
        self.limit = frames;
    }

    /// The most frames that have waited at one time.
    pub fn peak(&self) -> usize {
        self.peak
    }

    /// The processor of the node, which handles frames.
    #[inline]
    pub fn processor(&self) -> &Processor {
        &self.processor
    }

    /// The processor, to set the time that it takes for a frame. Before the first frame.
    pub fn processor_mut(&mut self) -> &mut Processor {
        &mut self.processor
    }

    /// A frame of the layer above waits from now on. The processor prepares it at once if it is the first.
    #[inline]
    pub fn enter(&mut self, now: Instant) {
        if self.data == 0 {
            self.processor.prepare(now);
        }
        self.data += 1;
        self.enter_own();
    }

    /// A frame of the layer above has been sent or dropped. The processor prepares the next one.
    #[inline]
    pub fn leave(&mut self, now: Instant) {
        self.leave_own();
        self.data -= 1;
        if self.data > 0 {
            self.processor.prepare(now);
        }
    }

    /// A frame of the link layer itself waits from now on. It takes the processor no time.
    #[inline]
    pub fn enter_own(&mut self) {
        self.frames += 1;
        self.peak = self.peak.max(self.frames);
    }

    /// A frame of the link layer itself has been sent or dropped.
    #[inline]
    pub fn leave_own(&mut self) {
        self.frames -= 1;
    }

    /// The processor handles so many frames that take no time of the network, for energy: those of the link layer itself, frames
    /// that are sent again, and acknowledgements where software makes them.
    #[inline]
    pub fn handle_own(&mut self, frames: u64) {
        self.processor.handle_own(frames);
    }

    /// `node`, whose queue this is, has received a frame of `from` for the layer above. Returns what the MAC indicates:
    /// the frame, handled when the processor has had time for it, or its loss if too many wait for that.
    #[inline]
    pub fn receive(
        &mut self,
        now: Instant,
        node: NodeId,
        from: NodeId,
        datagram: DatagramId,
        payload: Payload,
        discard: bool,
    ) -> Indication {
        match self.processor.receive(now, self.limit) {
            Some(handled_at) => Indication::Received { node, from, datagram, payload, discard, handled_at },
            None => Indication::Lost { node, datagram, reason: DropReason::QueueFull },
        }
    }

    /// [`receive`](Self::receive), for the payload of a frame from the queue of `from`. `None` if the frame cannot be read, which does not
    /// happen to frames of a queue.
    #[inline]
    pub(super) fn receive_frame(
        &mut self,
        now: Instant,
        node: NodeId,
        from: NodeId,
        frame: &QueuedFrame,
    ) -> Option<Indication> {
        let payload = Payload::new(FrameView::parse(frame.octets()).ok()?.payload());
        Some(self.receive(now, node, from, frame.datagram, payload, frame.discard))
    }
}
