//! `[mac] kind = "beacon"`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slowhand_net::clock::Duration;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::radio::Mac;
use slowhand_net::radio::PanError;
use slowhand_net::radio::beacon::{self, BeaconConfig, BeaconConfigError, Superframe};
use slowhand_net::random::Streams;

use super::{LinkLayer, LinkSecurity, MacError, Opportunity, PreparedMac};
use crate::input::{Document, InputError, Integer, PositiveMilliseconds};
use crate::scenario::Profile;
use crate::scenario::losses::Remedy;
use crate::scenario::network::Mesh;

/// Beacon-enabled IEEE 802.15.4: each coordinator opens a contention access period with a beacon, and its children
/// contend in it for the channel.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Beacon {
    /// The time from one beacon of a coordinator to its next. The standard allows 15.36 ms times 2^BO, BO from 0 to 14;
    /// other lengths work too. Default: 491.52 (BO 5, assumed).
    pub beacon_interval_ms: PositiveMilliseconds,
    /// The time from the first symbol of the beacon to the end of the contention access period. The standard allows
    /// 15.36 ms times 2^SO. Default: 61.44 (SO 2, assumed).
    pub cap_ms: PositiveMilliseconds,
    /// How frames go from a coordinator to its children. Default: `indirect`, as in the standard.
    pub downward: Downward,
    /// True if a child listens throughout the active period of its parent (macRxOnWhenIdle). Default: false.
    pub rx_on_when_idle: bool,
    /// True if a station may send a frame in the active period that runs when the frame is queued. If false, it waits
    /// for the next one. Default: true.
    pub late_frames: bool,
    /// The minimum backoff exponent (macMinBE). Default: 3 (IEEE 802.15.4-2006, table 86).
    pub min_be: Integer<0, 8>,
    /// The maximum backoff exponent (macMaxBE). Default: 5 (same table).
    pub max_be: Integer<0, 8>,
    /// How often CSMA-CA backs off again because the channel is busy, before the frame is dropped (macMaxCSMABackoffs).
    /// Default: 4 (same table).
    pub max_csma_backoffs: Integer<0, 5>,
    /// How often a frame is sent again when no acknowledgement comes (macMaxFrameRetries). Default: 3 (same table).
    pub max_retries: Integer<0, 7>,
    /// For how many beacon intervals a coordinator keeps a frame that its child does not request
    /// (macTransactionPersistenceTime). Default: 500 (same table).
    pub transaction_persistence: Integer<1, 65_535>,
    /// Link security of beacons, data frames and data requests. Default: none.
    pub security: Option<LinkSecurity>,
    /// The channel. Default: 26 (assumed).
    pub channel: Integer<11, 26>,
    /// How many frames a node's queue holds. Default: 8 (assumed).
    pub queue: Integer<1, 65_535>,
}

/// How frames go from a coordinator to its children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Downward {
    /// The beacon lists the children for which frames wait, and the child requests its frame (IEEE 802.15.4-2006,
    /// 7.5.6.3).
    #[default]
    Indirect,
    /// The coordinator contends for the channel like its children. They must listen (`rx_on_when_idle`). Not in the
    /// standard.
    Direct,
}

impl Default for Beacon {
    fn default() -> Self {
        let superframe = Superframe::of_orders(5, 2).expect("orders that the standard allows");
        let standard = BeaconConfig::standard(superframe);
        let (min_be, max_be) = standard.backoff_exponents;
        Self {
            beacon_interval_ms: PositiveMilliseconds::of(superframe.interval),
            cap_ms: PositiveMilliseconds::of(superframe.cap),
            downward: Downward::default(),
            rx_on_when_idle: standard.rx_on_when_idle,
            late_frames: standard.late_frames,
            min_be: Integer::constant(min_be.into()),
            max_be: Integer::constant(max_be.into()),
            max_csma_backoffs: Integer::constant(standard.max_csma_backoffs.into()),
            max_retries: Integer::constant(standard.max_retries.into()),
            transaction_persistence: Integer::constant(standard.transaction_persistence.into()),
            security: None,
            channel: Integer::constant(standard.channel.into()),
            queue: Integer::constant(standard.queue as u32),
        }
    }
}

impl LinkLayer for Beacon {
    fn default_profile(&self) -> Profile {
        Profile::Rfc
    }

    /// Checks that the cluster tree and its active periods fit into the beacon interval.
    fn check(&self, mesh: &Mesh, document: &Document) -> Result<(), InputError> {
        let Err(error) = build(self.config(), mesh, &Streams::new(0)) else { return Ok(()) };
        let (interval, cap) = (self.beacon_interval_ms.get(), self.cap_ms.get());
        let (key, found, allowed) = match error {
            BeaconConfigError::Pan(PanError::BackoffExponents { min, max }) => {
                ("mac.min_be", min.to_string(), format!("at most mac.max_be, {max}"))
            }
            BeaconConfigError::ActivePeriodTooShort { shortest, .. } => {
                let least = shortest.as_micros() as f64 / 1e3;
                (
                    "mac.cap_ms",
                    cap.to_string(),
                    format!("at least {least}: the longest beacon, frame and acknowledgement"),
                )
            }
            BeaconConfigError::ActivePeriodTooLong { .. } => {
                ("mac.cap_ms", cap.to_string(), format!("at most mac.beacon_interval_ms, {interval}"))
            }
            BeaconConfigError::NobodyListens => {
                let allowed = "\"direct\" with mac.rx_on_when_idle = true, or \"indirect\"".to_owned();
                ("mac.downward", "\"direct\" to children that do not listen".to_owned(), allowed)
            }
            BeaconConfigError::NoRoom { coordinator, room } => {
                let found = format!(
                    "{interval}, in which {room} active periods of {cap} ms fit and coordinator {coordinator} has none"
                );
                let allowed =
                    "an interval with one active period for each coordinator that others hear, or a shorter mac.cap_ms";
                ("mac.beacon_interval_ms", found, allowed.to_owned())
            }
            other => ("mac", "a cluster tree that cannot be".to_owned(), other.to_string()),
        };
        Err(document.blame(key, found, allowed))
    }

    fn period(&self) -> Duration {
        self.beacon_interval_ms.duration()
    }

    fn switches_radios(&self) -> bool {
        false
    }

    fn security(&self) -> Option<&LinkSecurity> {
        self.security.as_ref()
    }

    fn channels(&self) -> Vec<u8> {
        vec![self.channel.get() as u8]
    }

    fn remedy(&self, reason: DropReason) -> Option<Remedy> {
        match reason {
            DropReason::QueueFull => Some(Remedy::raise("mac.queue")),
            DropReason::RetriesExhausted => Some(Remedy::raise("mac.max_retries")),
            DropReason::ChannelAccessFailure => Some(Remedy::raise("mac.max_csma_backoffs")),
            DropReason::TransactionExpired => Some(Remedy::raise("mac.transaction_persistence")),
            _ => None,
        }
    }

    fn opportunity(&self, _is_to_sleepy: bool) -> Opportunity {
        let remedy = Some(Remedy::lower("mac.beacon_interval_ms"));
        Opportunity { kind: "beacon", words: "waiting for the active period, and in its contention", remedy }
    }

    fn describe(&self) -> String {
        format!("beacons every {} ms, active for {} ms", self.beacon_interval_ms.get(), self.cap_ms.get())
    }

    fn prepare(&self, mesh: &Mesh) -> Result<Box<dyn PreparedMac>, MacError> {
        let config = self.config();
        build(config.clone(), mesh, &Streams::new(0)).map_err(|error| MacError::new("mac", error))?;
        Ok(Box::new(Prepared { config }))
    }
}

/// A beacon-enabled network without its randomness.
#[derive(Debug)]
struct Prepared {
    config: BeaconConfig,
}

impl PreparedMac for Prepared {
    fn build(&self, mesh: &Mesh, streams: &Streams) -> Box<dyn Mac> {
        // `prepare` has built a network of the same tree and constants. The seed changes nothing in that.
        Box::new(build(self.config.clone(), mesh, streams).expect("a checked cluster tree"))
    }
}

fn build(config: BeaconConfig, mesh: &Mesh, streams: &Streams) -> Result<beacon::Beacon, BeaconConfigError> {
    beacon::Beacon::new(config, mesh.links(streams), &mesh.routes().parents(), streams)
}

impl Beacon {
    /// The constants of the link layer.
    fn config(&self) -> BeaconConfig {
        let superframe = Superframe { interval: self.period(), cap: self.cap_ms.duration() };
        BeaconConfig {
            channel: self.channel.get() as u8,
            backoff_exponents: (self.min_be.get() as u8, self.max_be.get() as u8),
            max_csma_backoffs: self.max_csma_backoffs.get() as u8,
            max_retries: self.max_retries.get() as u8,
            transaction_persistence: self.transaction_persistence.get() as u16,
            downward: match self.downward {
                Downward::Indirect => beacon::Downward::Indirect,
                Downward::Direct => beacon::Downward::Direct,
            },
            rx_on_when_idle: self.rx_on_when_idle,
            late_frames: self.late_frames,
            security: self.security_header(),
            queue: self.queue.get() as usize,
            ..BeaconConfig::standard(superframe)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_reaches_the_link_layer() {
        let keys = Beacon {
            channel: Integer::constant(15),
            min_be: Integer::constant(2),
            max_be: Integer::constant(7),
            max_csma_backoffs: Integer::constant(3),
            max_retries: Integer::constant(6),
            transaction_persistence: Integer::constant(9),
            downward: Downward::Direct,
            rx_on_when_idle: true,
            late_frames: false,
            queue: Integer::constant(11),
            ..Beacon::default()
        };
        let config = keys.config();
        assert_eq!((config.channel, config.queue), (15, 11));
        assert_eq!((config.backoff_exponents, config.max_csma_backoffs, config.max_retries), ((2, 7), 3, 6));
        assert_eq!((config.transaction_persistence, config.downward), (9, beacon::Downward::Direct));
        assert!(config.rx_on_when_idle && !config.late_frames);
    }
}
