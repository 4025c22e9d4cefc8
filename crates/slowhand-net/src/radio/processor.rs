//! The processor of a node, as far as frames keep it busy.

use crate::clock::{Duration, Instant};
use crate::observer::HandledFrames;

/// A processor that handles one frame after the other, each in the same time.
///
/// It handles each frame of the layer above that the node receives or sends. A received frame reaches the layer above
/// when it has been handled. The radio has room for one frame to send: the processor prepares the first frame of a queue
/// at once, and each of the others when the one before has left. While the processor is busy, the node begins no frame
/// of its own. Frames of the link layer itself, frames that are sent again, and acknowledgements that software makes, as under
/// TSCH, take no time of the network. They are counted, for energy. Other acknowledgements are the radio's work.
///
/// Both directions take time: OpenWSN measured 2,420 us on a TelosB to prepare a data frame, and 477 us to prepare for
/// one (`PORT_maxTxDataPrepare` and `PORT_maxRxDataPrepare` of `bsp/boards/telosb/board_info.h`). That they take the
/// same time is a simplification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Processor {
    /// The time for a frame.
    handling: Duration,
    /// When it has handled all frames that it has.
    free_at: Instant,
    /// The time for all frames so far.
    sum: Duration,
    frames: HandledFrames,
}

impl Processor {
    /// Sets the time for a frame. Before the first frame. By default it is zero.
    pub fn set_handling(&mut self, handling: Duration) {
        self.handling = handling;
    }

    /// When it has handled all frames that it has.
    pub fn free_at(&self) -> Instant {
        self.free_at
    }

    /// The time that frames have kept it busy until `now`.
    pub fn busy(&self, now: Instant) -> Duration {
        self.sum.saturating_sub(self.free_at.since(now))
    }

    /// The frames that it has handled, or begun to.
    pub fn frames(&self) -> HandledFrames {
        self.frames
    }

    /// It begins to prepare a frame to send.
    pub(super) fn prepare(&mut self, now: Instant) {
        if self.handling == Duration::ZERO {
            self.handle_own(1);
        } else {
            self.handle(now);
        }
    }

    /// It handles so many frames that take no time of the network.
    pub(super) fn handle_own(&mut self, frames: u64) {
        self.frames.all += frames;
        self.frames.untimed += frames;
    }

    /// The radio has received a frame. Returns when it has been handled. `None` if `limit` frames wait to be handled: as
    /// many as the queue of the node holds, since received frames and frames to send share one queue in OpenWSN.
    pub(super) fn receive(&mut self, now: Instant, limit: usize) -> Option<Instant> {
        if self.handling == Duration::ZERO {
            self.handle_own(1);
            return Some(now);
        }
        (self.free_at.since(now) <= self.handling * limit as u64).then(|| self.handle(now))
    }

    fn handle(&mut self, now: Instant) -> Instant {
        self.free_at = self.free_at.max(now) + self.handling;
        self.sum += self.handling;
        self.frames.all += 1;
        self.free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_micros(us)
    }

    fn processor(handling: u64) -> Processor {
        Processor { handling: Duration::from_micros(handling), ..Processor::default() }
    }

    #[test]
    fn it_handles_one_frame_after_the_other() {
        let mut processor = processor(100);
        assert_eq!(processor.receive(at(10), 8), Some(at(110)));
        processor.prepare(at(50));
        assert_eq!(processor.free_at(), at(210));
        assert_eq!(processor.busy(at(60)), Duration::from_micros(50));
        assert_eq!(processor.receive(at(300), 8), Some(at(400)));
        // 10 to 210, and 300 to 350.
        assert_eq!(processor.busy(at(350)), Duration::from_micros(250));
        assert_eq!(processor.busy(at(1_000)), Duration::from_micros(300));
    }

    #[test]
    fn it_refuses_what_its_queue_does_not_hold() {
        let mut processor = processor(100);
        let received: Vec<_> = (0..4).map(|_| processor.receive(at(0), 2)).collect();
        assert_eq!(received, [Some(at(100)), Some(at(200)), Some(at(300)), None]);
        assert_eq!(processor.receive(at(100), 2), Some(at(400)));
    }

    #[test]
    fn without_a_time_it_is_never_busy() {
        let mut processor = processor(0);
        assert_eq!(processor.receive(at(10), 0), Some(at(10)));
        processor.prepare(at(20));
        assert_eq!((processor.free_at(), processor.busy(at(30))), (Instant::ZERO, Duration::ZERO));
    }

    #[test]
    fn it_counts_its_frames() {
        for (handling, untimed) in [(0, 4), (100, 2)] {
            let mut processor = processor(handling);
            processor.prepare(at(0));
            processor.receive(at(0), 8);
            processor.handle_own(2);
            assert_eq!(processor.frames(), HandledFrames { all: 4, untimed });
            assert_eq!(processor.busy(at(1_000)), Duration::from_micros(2 * handling));
        }
        // A frame that its queue does not hold is not handled.
        let mut busy = processor(100);
        (0..4).for_each(|_| _ = busy.receive(at(0), 2));
        assert_eq!(busy.frames().all, 3);
    }
}
