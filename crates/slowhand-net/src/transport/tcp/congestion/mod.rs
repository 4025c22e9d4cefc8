//! Congestion control: how many octets may be in flight.

mod cubic;
mod reno;

use std::fmt::Debug;

use crate::clock::{Duration, Instant};

use super::config::{CongestionControl, TcpConfig};

pub use cubic::Cubic;
pub use reno::Reno;

/// An acknowledgement of new data, at a time when the congestion window limited the sender.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// The time.
    pub now: Instant,
    /// The number of octets that it acknowledges.
    pub octets: u32,
    /// The smoothed round-trip time; `None` before the first measurement.
    pub smoothed_rtt: Option<Duration>,
}

/// A congestion control algorithm. All sizes are in octets.
pub trait Controller: Debug + Send {
    /// The congestion window.
    fn window(&self) -> u32;

    /// The slow start threshold. Below it, the window grows by slow start.
    fn slow_start_threshold(&self) -> u32;

    /// Handles an acknowledgement of new data outside of fast recovery.
    fn on_acked(&mut self, acked: Acked);

    /// Handles the first loss, or the first ECN report of congestion, in a window of data. `in_flight`
    /// octets were in flight.
    fn on_congestion(&mut self, now: Instant, in_flight: u32);

    /// Handles an expiry of the retransmission timer. `first` is true if it is the first one for this data.
    fn on_timeout(&mut self, now: Instant, in_flight: u32, first: bool);

    /// Handles an idle period: nothing was sent for longer than the retransmission timeout (RFC 5681 section 4.1).
    fn on_idle(&mut self, initial_window: u32);
}

/// The initial values of every algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The sender's maximum segment size.
    pub mss: u32,
    /// The initial window.
    pub window: u32,
    /// True if slow start is used.
    pub slow_start: bool,
    /// The largest increase of the window by one acknowledgement in slow start, in segments.
    pub slow_start_limit: u32,
}

impl Start {
    /// The window after an acknowledgement in slow start.
    fn slow_start(&self, window: u32, acked: u32) -> u32 {
        window.saturating_add(acked.min(self.mss.saturating_mul(self.slow_start_limit)))
    }

    /// The threshold of a new connection: infinite. Without slow start: the window, so that slow start never begins.
    fn threshold(&self) -> u32 {
        if self.slow_start { u32::MAX } else { self.window }
    }

    /// The threshold after a timeout. Without slow start: one segment, so that slow start never begins.
    fn threshold_after_timeout(&self, threshold: u32) -> u32 {
        if self.slow_start { threshold } else { self.mss }
    }
}

/// The algorithm that `config` names, for a connection whose segments carry `mss` octets.
pub fn controller(config: &TcpConfig, mss: u32) -> Box<dyn Controller> {
    let start = Start {
        mss,
        window: mss * u32::from(config.initial_window),
        slow_start: config.slow_start,
        slow_start_limit: config.slow_start_limit.into(),
    };
    match config.congestion {
        CongestionControl::Reno => Box::new(Reno::new(start)),
        CongestionControl::Cubic => Box::new(Cubic::new(start)),
    }
}
