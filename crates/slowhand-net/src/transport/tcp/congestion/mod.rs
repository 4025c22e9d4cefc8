//! Congestion control: how many octets may be in flight.

mod cubic;
mod reno;

use std::fmt::Debug;

use crate::clock::{Duration, Instant};

use super::config::{CongestionControl, TcpConfig};
use cubic::Cubic;
use reno::Reno;

/// An acknowledgement of new data, at a time when the congestion window limited the sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    pub(super) now: Instant,
    /// The number of octets that it acknowledges.
    pub(super) octets: u32,
    /// The smoothed round-trip time; `None` before the first measurement.
    pub(super) smoothed_rtt: Option<Duration>,
}

/// The differences between the algorithms. All sizes are in octets.
trait Algorithm: Debug + Send {
    /// The window after an acknowledgement of new data, outside of slow start and of fast recovery.
    fn grow(&mut self, window: u32, acked: Acked) -> u32;

    /// Notes a loss with this window. Returns the share of the octets in flight that may be in flight from now on.
    fn reduce(&mut self, window: u32, in_flight: u32) -> u32;

    /// Notes that the window gets another value: after a timeout or an idle period.
    fn restart(&mut self) {}
}

/// The congestion window of a connection. All sizes are in octets.
#[derive(Debug)]
pub(super) struct Congestion {
    /// The sender's maximum segment size.
    mss: u32,
    window: u32,
    /// The slow start threshold. Below it, the window grows by slow start.
    threshold: u32,
    slow_start: bool,
    /// The largest increase of the window by one acknowledgement in slow start.
    slow_start_limit: u32,
    algorithm: Box<dyn Algorithm>,
}

impl Congestion {
    /// The window of a new connection whose segments carry `mss` octets.
    pub(super) fn new(config: &TcpConfig, mss: u32) -> Self {
        let window = mss * u32::from(config.initial_window);
        Self {
            mss,
            window,
            // Infinite. Without slow start: the window, so that slow start never begins.
            threshold: if config.slow_start { u32::MAX } else { window },
            slow_start: config.slow_start,
            slow_start_limit: mss.saturating_mul(config.slow_start_limit.into()),
            algorithm: match config.congestion {
                CongestionControl::Reno => Box::new(Reno::new(mss)),
                CongestionControl::Cubic => Box::new(Cubic::new(mss)),
            },
        }
    }

    /// The congestion window.
    pub(super) fn window(&self) -> u32 {
        self.window
    }

    pub(super) fn is_in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// Handles an acknowledgement of new data outside of fast recovery.
    pub(super) fn on_acked(&mut self, acked: Acked) {
        self.window = if self.is_in_slow_start() {
            self.window.saturating_add(acked.octets.min(self.slow_start_limit))
        } else {
            self.algorithm.grow(self.window, acked)
        };
    }

    /// Handles the first loss, or the first ECN report of congestion, in a window of data. `in_flight`
    /// octets were in flight.
    pub(super) fn on_congestion(&mut self, in_flight: u32) {
        self.threshold = self.reduced(in_flight);
        self.window = self.threshold;
    }

    /// Handles an expiry of the retransmission timer. `first` is true if it is the first one for this data.
    pub(super) fn on_timeout(&mut self, in_flight: u32, first: bool) {
        if first {
            let reduced = self.reduced(in_flight);
            // Without slow start: one segment, so that slow start never begins.
            self.threshold = if self.slow_start { reduced } else { self.mss };
        }
        self.window = self.mss;
        self.algorithm.restart();
    }

    /// Handles an idle period: nothing was sent for longer than the retransmission timeout (RFC 5681 section 4.1).
    pub(super) fn on_idle(&mut self, initial_window: u32) {
        self.window = self.window.min(initial_window);
        self.algorithm.restart();
    }

    /// The window after a loss: at least two segments (RFC 5681 equation 4, RFC 9438 section 4.6).
    fn reduced(&mut self, in_flight: u32) -> u32 {
        self.algorithm.reduce(self.window, in_flight).max(2 * self.mss)
    }
}
