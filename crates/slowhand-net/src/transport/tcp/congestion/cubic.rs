//! CUBIC (RFC 9438). It uses integers, so that every machine computes the same window.

use crate::clock::{Duration, Instant};

use super::{Acked, Algorithm};

/// The multiplicative decrease, beta_cubic = 0.7 (RFC 9438 section 4.6), in tenths.
const BETA: u64 = 7;

/// 0.4 segments per second cubed, C (RFC 9438 section 5.1), in tenths.
const C: u64 = 4;

/// The window as a cubic function of the time since the last decrease.
#[derive(Debug)]
pub(super) struct Cubic {
    mss: u32,
    /// The fraction of an octet by which the window will grow next, times the window.
    credit: u64,
    /// The window before the last decrease, W_max.
    max: u32,
    epoch: Option<Epoch>,
}

/// A period of congestion avoidance (RFC 9438 section 4.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Instant,
    /// The time until the window reaches its origin again, K, in milliseconds.
    k_ms: u64,
    /// The window at the plateau of the cubic function.
    origin: u32,
    /// W_est, the window that Reno would have.
    reno: u64,
    reno_credit: u64,
    /// cwnd_prior, the window before the last decrease.
    prior: u32,
}

impl Cubic {
    /// The state of a new connection.
    pub(super) fn new(mss: u32) -> Self {
        Self { mss, credit: 0, max: 0, epoch: None }
    }

    fn begin_epoch(&self, now: Instant, window: u32) -> Epoch {
        let mss = u64::from(self.mss);
        let missing = u64::from(self.max.saturating_sub(window));
        // K = cbrt((W_max - cwnd) / C), windows in segments (RFC 9438 equation 2). The factor 10^9
        // converts cubic seconds to cubic milliseconds.
        let k_ms = cube_root(u128::from(missing) * 10 * 1_000_000_000 / u128::from(mss * C));
        let origin = self.max.max(window);
        Epoch { began: now, k_ms, origin, reno: window.into(), reno_credit: 0, prior: self.max }
    }

    /// W_cubic(t) (RFC 9438 equation 1).
    fn cubic_window(&self, epoch: &Epoch, since_began: Duration) -> u64 {
        let t = since_began.as_micros() / 1_000;
        let distance = u128::from(t.abs_diff(epoch.k_ms));
        let cubed = distance.saturating_pow(3);
        let change = cubed.saturating_mul(u128::from(C * u64::from(self.mss))) / (10 * 1_000_000_000);
        let change = u64::try_from(change).unwrap_or(u64::MAX);
        if t < epoch.k_ms {
            u64::from(epoch.origin).saturating_sub(change)
        } else {
            u64::from(epoch.origin).saturating_add(change)
        }
    }
}

impl Epoch {
    /// W_est grows by alpha segments for each window of data (RFC 9438 equation 4). alpha = 3 (1 - beta)
    /// / (1 + beta) = 9/17 up to the window before the decrease, and 1 from there on.
    fn follow_reno(&mut self, acked: u64, window: u64, mss: u64) {
        let (over, under) = if self.reno < u64::from(self.prior) { (3 * (10 - BETA), 10 + BETA) } else { (1, 1) };
        self.reno_credit += acked * mss * over;
        let cost = window * under;
        self.reno += self.reno_credit / cost;
        self.reno_credit %= cost;
    }
}

impl Algorithm for Cubic {
    fn grow(&mut self, octets: u32, acked: Acked) -> u32 {
        let window = u64::from(octets);
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(acked.now, octets));
        epoch.follow_reno(acked.octets.into(), window, self.mss.into());
        self.epoch = Some(epoch);
        let elapsed = acked.now.since(epoch.began);
        if self.cubic_window(&epoch, elapsed) < epoch.reno {
            // Reno-friendly (RFC 9438 section 4.3).
            return u32::try_from(epoch.reno).unwrap_or(u32::MAX).max(octets);
        }
        // Concave and convex region (RFC 9438 sections 4.4 and 4.5): the window grows towards the
        // target, the value one round trip later, by (target - cwnd) / cwnd for each octet.
        let target = self.cubic_window(&epoch, elapsed + acked.smoothed_rtt.unwrap_or(Duration::ZERO));
        let target = target.clamp(window, window * 3 / 2);
        self.credit += (target - window) * u64::from(acked.octets);
        let gained = self.credit / window;
        self.credit %= window;
        octets.saturating_add(gained as u32)
    }

    /// Stores the window as the new maximum. If it had not reached the last maximum, stores less, to
    /// leave bandwidth to other connections (fast convergence, RFC 9438 section 4.7). Returns
    /// the octets in flight times beta (section 4.6).
    fn reduce(&mut self, window: u32, in_flight: u32) -> u32 {
        self.max = if window < self.max { (u64::from(window) * (10 + BETA) / 20) as u32 } else { window };
        self.epoch = None;
        self.credit = 0;
        (u64::from(in_flight) * BETA / 10) as u32
    }

    fn restart(&mut self) {
        self.epoch = None;
    }
}

/// The largest integer whose cube is at most `n`.
fn cube_root(n: u128) -> u64 {
    let (mut low, mut high) = (0u64, 1 << 42);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if u128::from(middle).pow(3) <= n {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    /// CUBIC after a loss at this window, and the window after it.
    fn after_loss_at(window: u32) -> (Cubic, u32) {
        let mut cubic = Cubic::new(MSS);
        let window = cubic.reduce(window, window);
        (cubic, window)
    }

    #[test]
    fn cube_roots_are_exact() {
        for root in [0u64, 1, 2, 9, 1000, 4_217_163] {
            let cube = u128::from(root).pow(3);
            assert_eq!(cube_root(cube), root);
            assert_eq!(cube_root(cube + 1), if cube == 0 { 1 } else { root });
        }
    }

    /// W_max = 1000 segments: K = cbrt(1000 * 0.3 / 0.4) = 9.0856 s (RFC 9438 equation 2).
    #[test]
    fn is_back_at_the_maximum_after_k() {
        let (cubic, window) = after_loss_at(1000 * MSS);
        assert_eq!(window, 700 * MSS);
        let epoch = cubic.begin_epoch(Instant::ZERO, window);
        assert_eq!(epoch.k_ms, 9085);
        // W(t) = 0.4 (t - K)^3 + 1000, computed by hand, within a segment.
        for (seconds, segments) in [(0, 700), (5, 973), (9, 1000), (13, 1024), (20, 1520)] {
            let window = cubic.cubic_window(&epoch, Duration::from_secs(seconds));
            assert!(window.abs_diff(segments * 1000) < 1000, "{window} after {seconds} s");
        }
    }

    /// RFC 9438 section 4.7: a loss at 70 segments, below the last maximum of 100, leaves a maximum of 70 * 1.7 /
    /// 2 = 59.5. From 49 segments, K = cbrt(10.5 / 0.4) = 2.972 s; without fast convergence it would be 3.744 s.
    #[test]
    fn a_loss_below_the_last_maximum_leaves_room_for_others() {
        let (mut cubic, window) = after_loss_at(100 * MSS);
        assert_eq!((cubic.max, window), (100 * MSS, 70 * MSS));
        cubic.grow(window, Acked { now: Instant::ZERO, octets: MSS, smoothed_rtt: None });
        assert!(cubic.epoch.is_some());
        let window = cubic.reduce(window, window);
        assert!(cubic.epoch.is_none(), "a decrease begins a new epoch");
        assert_eq!((cubic.max, window, cubic.credit), (59_500, 49 * MSS, 0));
        assert_eq!(cubic.begin_epoch(Instant::ZERO, window).k_ms, 2_971);
        // At the last maximum the whole window counts.
        cubic.reduce(59_500, 59_500);
        assert_eq!(cubic.max, 59_500);
    }

    /// On a short path CUBIC is as fast as Reno: about 9/17 of a segment a window at first.
    #[test]
    fn is_reno_friendly_on_short_paths() {
        let (mut cubic, mut window) = after_loss_at(20 * MSS);
        assert_eq!(window, 14 * MSS);
        let mut now = Instant::ZERO;
        for _ in 0..17 {
            now += Duration::from_millis(10);
            for _ in 0..window / MSS {
                window = cubic.grow(window, Acked { now, octets: MSS, smoothed_rtt: Some(Duration::from_millis(10)) });
            }
        }
        // Six segments at 9/17 a window take 11.3 windows, the other 5.7 windows give one each;
        // the cubic alone gains 0.03 in 170 ms.
        assert!((24 * MSS..27 * MSS).contains(&window), "{window}");
    }
}
