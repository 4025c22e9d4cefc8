//! Other traffic: flows of datagrams that cross the network beside the sessions.
//!
//! A flow is from one host to one other. Its datagrams are UDP datagrams of a fixed length that mean nothing. They use
//! cells, queues, buffers and energy like all others, and take no computing time.

use slowhand_net::address::Host;
use slowhand_net::clock::Duration;
use slowhand_net::random::Stream;

/// The port of both ends of a flow: that of the discard service, whose datagrams mean nothing (RFC 863).
pub const PORT: u16 = 9;

/// Datagrams from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Who sends.
    pub from: Host,
    /// Who receives.
    pub to: Host,
    /// When it sends.
    pub pattern: Pattern,
    /// The time between two sendings; for [`Pattern::Poisson`] its mean.
    pub interval: Duration,
    /// The number of datagrams that the sender hands to the network at once.
    pub burst: u32,
    /// Octets of UDP payload in each.
    pub octets: usize,
}

/// When a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// After equal times, from a random phase on.
    Periodic,
    /// After times drawn from the exponential distribution.
    Poisson,
}

impl Flow {
    /// The time from the beginning of all traffic until this flow sends for the first time.
    pub(crate) fn first(&self, random: &mut Stream) -> Duration {
        match self.pattern {
            Pattern::Periodic => Duration::from_micros(random.below(self.interval.as_micros())),
            Pattern::Poisson => random.exponential(self.interval),
        }
    }

    /// The time until it sends again.
    pub(crate) fn next(&self, random: &mut Stream) -> Duration {
        match self.pattern {
            Pattern::Periodic => self.interval,
            Pattern::Poisson => random.exponential(self.interval),
        }
    }

    /// The number of datagrams that it sends in this time, about.
    pub(crate) fn datagrams_in(&self, time: Duration) -> u64 {
        (time.as_micros() / self.interval.as_micros() + 1).saturating_mul(self.burst.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowhand_net::address::NodeId;
    use slowhand_net::random::Streams;

    fn flow(pattern: Pattern) -> Flow {
        let interval = Duration::from_millis(100);
        Flow { from: Host::Node(NodeId(1)), to: Host::Internet, pattern, interval, burst: 3, octets: 20 }
    }

    /// The phase is uniform: of 10,000, a quarter is below a quarter of the interval. Five standard deviations are 217.
    #[test]
    fn a_periodic_flow_has_a_random_phase_and_equal_times() {
        let (flow, mut random) = (flow(Pattern::Periodic), Streams::new(1).stream("test", 0));
        let phases: Vec<_> = (0..10_000).map(|_| flow.first(&mut random).as_micros()).collect();
        assert!(phases.iter().all(|&phase| phase < 100_000));
        let early = phases.iter().filter(|&&phase| phase < 25_000).count();
        assert!(early.abs_diff(2_500) < 217, "{early}");
        assert!((0..10).all(|_| flow.next(&mut random) == flow.interval));
    }

    /// Of 10,000 exponential times, the mean has a standard deviation of a hundredth of it.
    #[test]
    fn a_poisson_flow_has_the_interval_as_the_mean_of_its_times() {
        let (flow, mut random) = (flow(Pattern::Poisson), Streams::new(1).stream("test", 0));
        let sum: u64 = (0..10_000).map(|_| flow.next(&mut random).as_micros()).sum();
        assert!((sum / 10_000).abs_diff(100_000) < 5_000, "{sum}");
    }

    #[test]
    fn the_datagrams_of_a_time_are_those_of_its_bursts() {
        assert_eq!(flow(Pattern::Periodic).datagrams_in(Duration::from_secs(1)), 33);
    }
}
