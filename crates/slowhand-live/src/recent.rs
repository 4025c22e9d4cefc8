//! The last frames on the air, for somebody who watches. Nobody watches: none is kept.

use crate::event::SeenFrame;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Duration;
use slowhand_net::datagram::NO_DATAGRAM;
use slowhand_net::observer::{FrameKind, Observer, Transmission};
use slowhand_net::radio::frame::FCS;
use slowhand_net::radio::phy::air_time;
use std::collections::VecDeque;
use std::time::Instant;

/// The most frames that wait for who watches. *Assumed*: a page asks ten times a second.
const MOST: usize = 4_000;

/// Who has not asked for so long watches no more. *Assumed*.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(5);

/// Keeps frames from one question to the next.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// When somebody asked last. `None`: nobody watches.
    asked: Option<Instant>,
    frames: VecDeque<SeenFrame>,
}

impl Recent {
    /// The frames since the last question. The first one of somebody gets none.
    pub(crate) fn take(&mut self) -> Vec<SeenFrame> {
        self.asked = Some(Instant::now());
        // Link layers with contention show a frame when it ends.
        let mut frames: Vec<SeenFrame> = self.frames.drain(..).collect();
        frames.sort_by_key(|frame| frame.at_us);
        frames
    }
}

impl Observer for Recent {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        let Some(asked) = self.asked else { return };
        if self.frames.len() >= MOST {
            if asked.elapsed() >= LONGEST {
                *self = Self::default();
                return;
            }
            self.frames.pop_front();
        }
        let is_for_all = frame.to == NodeId::EVERYONE || frame.kind.is_for_all();
        let length: Duration = air_time(frame.octets.len() + FCS);
        self.frames.push_back(SeenFrame {
            at_us: frame.at.as_micros(),
            length_us: length.as_micros(),
            from: frame.from.0,
            to: (!is_for_all).then_some(frame.to.0),
            name: frame.kind.name(),
            carries: frame.kind == FrameKind::Data && frame.datagram != NO_DATAGRAM,
            lost: !frame.received && !is_for_all && frame.kind.is_for_one(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(recent: &mut Recent, at_us: u64) {
        recent.transmission(&Transmission {
            at: slowhand_net::clock::Instant::from_micros(at_us),
            asn: None,
            channel: 11,
            kind: FrameKind::Data,
            from: NodeId(1),
            to: NodeId(0),
            datagram: NO_DATAGRAM,
            queued_at: slowhand_net::clock::Instant::ZERO,
            attempt: 0,
            received: true,
            octets: &[0; 30],
        });
    }

    #[test]
    fn nothing_is_kept_until_somebody_asks() {
        let mut recent = Recent::default();
        sent(&mut recent, 1);
        assert!(recent.take().is_empty());
        sent(&mut recent, 9);
        sent(&mut recent, 5);
        let times: Vec<u64> = recent.take().iter().map(|frame| frame.at_us).collect();
        assert_eq!(times, [5, 9]);
        assert!(recent.take().is_empty());
    }

    #[test]
    fn who_asks_late_gets_the_last_ones() {
        let mut recent = Recent::default();
        recent.take();
        (0..MOST as u64 + 10).for_each(|at_us| sent(&mut recent, at_us));
        let frames = recent.take();
        assert_eq!((frames.len(), frames[0].at_us), (MOST, 10));
    }

    #[test]
    fn who_does_not_ask_any_more_costs_nothing() {
        let mut recent = Recent::default();
        recent.take();
        recent.asked = Instant::now().checked_sub(LONGEST);
        (0..=MOST as u64).for_each(|at_us| sent(&mut recent, at_us));
        assert_eq!((recent.frames.len(), recent.asked), (0, None));
    }
}
