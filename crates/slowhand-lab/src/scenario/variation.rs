//! The parts of `[network]` that change with time: delivery ratios, and radios that are off.

use schemars::JsonSchema;
use serde::Deserialize;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::link::Interferer;
use slowhand_net::network;

use super::nodes::{MAX_NODE, node};
use crate::input::{Integer, PositiveMilliseconds, PositiveSeconds, Probability, Seconds};

/// A link that alternates between a good and a bad state (Gilbert and Elliott). Each direction of each link has its own
/// states, and each time in a state is drawn from the exponential distribution.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// The mean time in the good state.
    pub good_ms: PositiveMilliseconds,
    /// The mean time in the bad state.
    pub bad_ms: PositiveMilliseconds,
    /// The share of frames that arrive in the good state, of those that the link's own ratio lets arrive. Default: 1.
    #[serde(default = "certain")]
    pub good_pdr: Probability,
    /// The share of such frames that arrive in the bad state. Default: 0.
    #[serde(default = "never")]
    pub bad_pdr: Probability,
}

/// Delivery ratios that were measured, for example in a testbed. `slowhand links` makes such files of published data sets.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The path of a CSV file, relative to the scenario. Its first line is `time_s,from,to,channel,pdr`. Each further
    /// line is the share of frames (data and acknowledgement) that arrive from one node at another on a channel (11 to
    /// 26; empty: on all channels without a line of their own), from this time until the next line of the same link and
    /// channel. The first such line counts before its time too. Lines about links that the topology does not have are
    /// left out. A link without a line keeps its fixed ratio.
    pub file: String,
    /// The time in the trace at which the network begins. Default: 0.
    pub start_s: Option<Seconds>,
    /// The trace begins again after this time. Default: it does not, and the last ratio of each link lasts.
    pub repeat_s: Option<PositiveSeconds>,
    /// True if each seed begins at a random time of the trace, after `start_s`. It needs `repeat_s`. Default: false.
    #[serde(default)]
    pub random_start: bool,
}

/// A Wi-Fi network nearby. It is busy and idle in turn, each for a time drawn from the exponential distribution. All
/// nodes see the same bursts. A node that assesses the channel while Wi-Fi sends finds it busy.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WiFi {
    /// Its channel. Wi-Fi channel n covers the four channels n + 10 to n + 13 of IEEE 802.15.4: channels 1, 6 and 11
    /// leave only 15, 20, 25 and 26 free.
    pub channel: Integer<1, 13>,
    /// The share of the time in which it sends, above 0 and below 1.
    pub duty: Probability,
    /// The mean time that it sends without a pause.
    pub burst_ms: PositiveMilliseconds,
    /// The probability that a frame is lost if Wi-Fi sends during any part of it. Default: 1.
    #[serde(default = "certain")]
    pub loss: Probability,
    /// The nodes that receive badly while Wi-Fi sends, and find the channel busy. Default: all.
    #[schemars(extend("minItems" = 1))]
    pub nodes: Option<Vec<Integer<0, MAX_NODE>>>,
}

/// A link whose delivery ratio changes at an instant, for example because a node moves. Before the first change it has its
/// fixed ratio. Routes do not change.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When.
    pub at_s: Seconds,
    /// One end of the link.
    pub from: Integer<0, MAX_NODE>,
    /// The other end.
    pub to: Integer<0, MAX_NODE>,
    /// The share of frames (data and acknowledgement) that arrive from then on.
    pub pdr: Probability,
    /// The share in the other direction, `to` to `from`. Default: `pdr`.
    pub reverse_pdr: Option<Probability>,
}

/// A walk of the root past the nodes around it, in the order of their numbers. The link between the root and a node delivers
/// while the node is in reach, with its fixed ratio, and nothing before and after that (assumed: a ratio that rises and falls
/// would be between the two). `client.start_s` counts from the instant at which a session's node comes into reach.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Walk {
    /// The time from one node to the next. Node 1 is in reach when the network begins.
    pub every_s: PositiveSeconds,
    /// The time for which a node is in reach.
    pub reach_s: PositiveSeconds,
}

impl Walk {
    /// When the node with this number comes into reach.
    pub(crate) fn begin_of(self, node: usize) -> Duration {
        Duration::from_micros(self.every_s.duration().as_micros().saturating_mul(node.saturating_sub(1) as u64))
    }
}

/// A time in which the radio of a node is off: it hears nothing and sends nothing. Its frames wait in its queue, and what
/// the node computes goes on.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// The node.
    pub node: Integer<0, MAX_NODE>,
    /// When its radio is switched off.
    pub from_s: Seconds,
    /// When it is switched on again.
    pub until_s: Seconds,
}

pub(super) fn certain() -> Probability {
    Probability::constant(1.0)
}

fn never() -> Probability {
    Probability::constant(0.0)
}

pub(super) fn instant(at: Seconds) -> Instant {
    Instant::ZERO + at.duration()
}

impl Outage {
    /// The outage as the network has it.
    pub(super) fn outage(&self) -> network::Outage {
        network::Outage { node: node(self.node.get()), from: instant(self.from_s), until: instant(self.until_s) }
    }
}

impl WiFi {
    pub(super) fn interferer(&self) -> Interferer {
        let busy = self.burst_ms.duration();
        let idle = busy.as_micros() as f64 * (1.0 - self.duty.get()) / self.duty.get();
        Interferer {
            channel: self.channel.get() as u8,
            busy,
            idle: Duration::from_micros((idle.round() as u64).max(1)),
            loss: self.loss.get(),
            nodes: self.nodes.as_ref().map(|nodes| nodes.iter().map(|number| node(number.get())).collect()),
        }
    }
}
