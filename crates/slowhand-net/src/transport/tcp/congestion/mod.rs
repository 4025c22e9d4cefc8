//! Congestion control: how much may be in flight.

mod cubic;
mod reno;

use std::fmt::Debug;

use crate::clock::{Duration, Instant};

use super::config::{CongestionControl, TcpConfig};

pub use cubic::Cubic;
pub use reno::Reno;

/// New data was acknowledged while the window was in use.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// When.
    pub now: Instant,
    /// Octets.
    pub octets: u32,
    /// The smoothed round-trip time, once there is one.
    pub smoothed_rtt: Option<Duration>,
}

/// An algorithm that moves the congestion window. All sizes are in octets.
pub trait Controller: Debug + Send {
    /// The congestion window.
    fn window(&self) -> u32;

    /// Below it, the window opens by slow start.
    fn slow_start_threshold(&self) -> u32;

    /// New data was acknowledged outside of fast recovery.
    fn on_acked(&mut self, acked: Acked);

    /// A loss was found, or ECN reported congestion, for the first time in this window of
    /// data; `in_flight` octets were outstanding.
    fn on_congestion(&mut self, now: Instant, in_flight: u32);

    /// The retransmission timer ran out; `first` for this data.
    fn on_timeout(&mut self, now: Instant, in_flight: u32, first: bool);

    /// Nothing was sent for longer than the retransmission timeout (RFC 5681 section 4.1).
    fn on_idle(&mut self, initial_window: u32);
}

/// What every algorithm starts from.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The sender's maximum segment size.
    pub mss: u32,
    /// The initial window.
    pub window: u32,
    /// Whether there is slow start.
    pub slow_start: bool,
    /// How many segments one acknowledgment opens the window by at most, in slow start.
    pub slow_start_limit: u32,
}

impl Start {
    /// The window that slow start makes of `window`.
    fn slow_start(&self, window: u32, acked: u32) -> u32 {
        window.saturating_add(acked.min(self.mss.saturating_mul(self.slow_start_limit)))
    }

    /// The threshold of a new connection: none, or, without slow start, one already passed.
    fn threshold(&self) -> u32 {
        if self.slow_start { u32::MAX } else { self.window }
    }

    /// The threshold after a timeout; without slow start the window is already past it.
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
