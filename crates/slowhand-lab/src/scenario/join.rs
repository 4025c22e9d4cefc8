//! `[join]`: how the nodes of a TSCH network join it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slowhand_net::clock::Duration;

use crate::input::{Document, Factor, InputError, Integer, PositiveSeconds, Probability, Seconds};

/// The way in which the nodes of a 6TiSCH network join it: `slowhand join` runs this. All other commands begin when the nodes
/// have joined.
///
/// The link layer is that of `[mac]`, which must be TSCH. A node joins with the shared cells, and with autonomous cells if
/// `mac.autonomous` is true. If `mac.scheduling` is not `static`, it then negotiates its first cell by MSF (RFC 9033). The nodes have
/// no clock drift. Where a default is "that of `network.profile`", `slowhand profiles` has the number and its source: `openwsn` has
/// OpenWSN's, each other profile those of the standards.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Join {
    /// All nodes but the root are switched on within this time from the start: each at a random moment, as after a power cut.
    /// Default: 1 (assumed).
    pub start_spread_s: Seconds,
    /// The time for which a pledge listens on a channel before it goes to another one, drawn at random from the hopping
    /// sequence. Default: that of `network.profile`.
    #[schemars(extend("default" = null))]
    pub channel_s: PositiveSeconds,
    /// The probability that a node sends an enhanced beacon in a slotframe. Default: that of `network.profile`.
    #[schemars(extend("default" = null))]
    pub beacon_probability: Probability,
    /// True if a node divides this probability by one more than the neighbours whose beacons it has heard. Default: that of
    /// `network.profile`.
    #[schemars(extend("default" = null))]
    pub beacons_shared: bool,
    /// A pledge that has heard beacons of so many neighbours chooses its join proxy: the one nearest to the root, and of these the
    /// first. Default: that of `network.profile`.
    #[schemars(extend("default" = null))]
    pub beacon_sources: Integer<1, 255>,
    /// The time for which a pledge waits for others after its first beacon, with its radio on, if there are fewer. Default:
    /// that of `network.profile`.
    #[schemars(extend("default" = null))]
    pub beacon_wait_s: Seconds,
    /// A timer of this length at most, drawn at random when a node is switched on, runs again and again: a synchronised pledge
    /// sends its first request when it ends. 0: at once. Default: that of `network.profile`.
    #[schemars(extend("default" = null))]
    pub first_request_s: Seconds,
    /// True if the request is confirmable: then the same message is sent again. If not, each request is another one. Default:
    /// that of `network.profile`.
    #[schemars(extend("default" = null))]
    pub confirmable: bool,
    /// The least time for which a pledge waits for the response before it sends its request again. Default: that of
    /// `network.profile`.
    #[schemars(extend("default" = null))]
    pub timeout_s: PositiveSeconds,
    /// The longest first wait as a multiple of the shortest: each is drawn between both. Less than 1 counts as 1. Default: that of
    /// `network.profile`.
    #[schemars(extend("default" = null))]
    pub timeout_random_factor: Factor,
    /// True if each wait is twice as long as the one before. Default: that of `network.profile`.
    #[schemars(extend("default" = null))]
    pub timeout_doubles: bool,
    /// The number of times that a pledge sends its request again before it scans anew. Default: that of `network.profile`.
    #[schemars(extend("default" = null))]
    pub retries: Integer<0, 65_535>,
    /// The way in which a node that has joined asks for DIOs. Default: that of `network.profile`.
    #[schemars(extend("default" = null))]
    pub dis: Dis,
    /// The time for which a node waits for a DIO before it asks all its neighbours. Default: that of `network.profile`.
    #[schemars(extend("default" = null))]
    pub dis_period_s: PositiveSeconds,
    /// The probability that a node sends a DIO in a slotframe. 0: a Trickle timer (RFC 6206) says when. Default: that of
    /// `network.profile`.
    #[schemars(extend("default" = null))]
    pub dio_probability: Probability,
    /// The smallest interval of the Trickle timer is 2 to the power of this, in milliseconds (DIOIntervalMin). Default: that of
    /// `network.profile`.
    #[schemars(extend("default" = null))]
    pub dio_interval_min: Integer<0, 20>,
    /// The number of times that the interval doubles (DIOIntervalDoublings). Default: that of `network.profile`.
    #[schemars(extend("default" = null))]
    pub dio_doublings: Integer<0, 20>,
    /// A node that has heard this many DIOs in an interval sends none (DIORedundancyConstant). 0: it always sends. Default: that of
    /// `network.profile`.
    #[schemars(extend("default" = null))]
    pub dio_redundancy: Integer<0, 255>,
    /// The probability that a node sends a DAO in a slotframe. 0: after `dao_delay_s`, then every `dao_period_s`. Default: that of
    /// `network.profile`.
    #[schemars(extend("default" = null))]
    pub dao_probability: Probability,
    /// From the first cell, or from the parent without cells, to the first DAO. Beacons and DIOs begin after it. Default: that of
    /// `network.profile`.
    #[schemars(extend("default" = null))]
    pub dao_delay_s: Seconds,
    /// From one DAO to the next. Default: that of `network.profile`.
    #[schemars(extend("default" = null))]
    pub dao_period_s: PositiveSeconds,
    /// The octets of the first datagram that a node sends to the root when it has joined, has a parent and has a cell. Default:
    /// 20 (assumed: a reading).
    pub packet_octets: Integer<0, 1_000>,
    /// The time between two such datagrams until one has arrived. Default: 60 (assumed).
    pub packet_period_s: PositiveSeconds,
    /// The world ends after this time at the latest. Default: 7200 (assumed).
    pub give_up_s: PositiveSeconds,
}

/// The way in which a node that has joined asks for DIOs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dis {
    /// It waits for them.
    None,
    /// By a DIS to all its neighbours, which start their Trickle timers again (the default).
    #[default]
    Multicast,
    /// By a DIS to its join proxy, which answers with a DIO to it alone.
    Unicast,
}

impl Join {
    /// Checks that pledges can hear beacons.
    pub(super) fn check(&self, document: &Document) -> Result<(), InputError> {
        if self.beacon_probability.get() == 0.0 {
            let allowed = "a probability above 0: without beacons nobody joins";
            return Err(document.blame("join.beacon_probability", "0", allowed));
        }
        Ok(())
    }

    /// The wait after the first request, of a random number below 2^32.
    pub(crate) fn first_timeout(&self, random: u64) -> Duration {
        let shortest = self.timeout_s.micros();
        let more = shortest as f64 * (self.timeout_random_factor.get() - 1.0).max(0.0);
        let more = (u128::from(more.min(u64::MAX as f64 / 2.0) as u64) * u128::from(random)) >> 32;
        Duration::from_micros(shortest + more as u64)
    }
}
