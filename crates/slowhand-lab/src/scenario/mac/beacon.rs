//! `[mac] kind = "beacon"`.

use slowhand_net::clock::Duration;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::radio::PanError;
use slowhand_net::radio::beacon::{self, BeaconConfig, BeaconConfigError, Downward, Superframe};
use slowhand_net::random::Streams;

use super::{LinkLayer, LinkSecurity, MacError, Opportunity, PreparedMac, prepared};
use crate::input::{Document, InputError, Integer, PositiveMilliseconds};
use crate::scenario::Profile;
use crate::scenario::keys::table;
use crate::scenario::losses::Remedy;
use crate::scenario::network::Mesh;

table! {
    /// Beacon-enabled IEEE 802.15.4: each coordinator opens a contention access period with a beacon, and its children
    /// contend in it for the channel.
    pub struct Beacon(BeaconConfig = BeaconConfig::standard(Superframe::of_orders(5, 2).expect("orders that the standard allows"))) {
        /// The time from one beacon of a coordinator to its next. The standard allows 15.36 ms times 2^BO, BO from 0 to 14;
        /// other lengths work too. Default: 491.52 (BO 5, assumed).
        pub beacon_interval_ms: PositiveMilliseconds = superframe.interval,
        /// The time from the first symbol of the beacon to the end of the contention access period. The standard allows
        /// 15.36 ms times 2^SO. Default: 61.44 (SO 2, assumed).
        pub cap_ms: PositiveMilliseconds = superframe.cap,
        /// The way of frames from a coordinator to its children. Default: `indirect`, as in the standard.
        pub downward: Downward = downward,
        /// True if a child listens throughout the active period of its parent (macRxOnWhenIdle). Default: false.
        pub rx_on_when_idle: bool = rx_on_when_idle,
        /// True if a station may send a frame in the active period that runs when the frame is queued. If false, it waits
        /// for the next one. Default: true.
        pub late_frames: bool = late_frames,
        /// The minimum backoff exponent (macMinBE). Default: 3 (IEEE 802.15.4-2006, table 86).
        pub min_be: Integer<0, 8> = backoff_exponents.0,
        /// The maximum backoff exponent (macMaxBE). Default: 5 (same table).
        pub max_be: Integer<0, 8> = backoff_exponents.1,
        /// The number of times that CSMA-CA backs off again because the channel is busy, before the frame is dropped
        /// (macMaxCSMABackoffs). Default: 4 (same table).
        pub max_csma_backoffs: Integer<0, 5> = max_csma_backoffs,
        /// The number of times that a frame is sent again when no acknowledgement comes (macMaxFrameRetries). Default: 3
        /// (same table).
        pub max_retries: Integer<0, 7> = max_retries,
        /// For how many beacon intervals a coordinator keeps a frame that its child does not request
        /// (macTransactionPersistenceTime). Default: 500 (same table).
        pub transaction_persistence: Integer<1, 65_535> = transaction_persistence,
        /// Link security of beacons, data frames and data requests. Default: none.
        pub security: Option<LinkSecurity>,
        /// The channel. Default: 26 (assumed).
        pub channel: Integer<11, 26> = channel,
        /// The number of frames that a node's queue holds. Default: 8 (assumed).
        pub queue: Integer<1, 65_535> = queue,
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

    fn channels(&self) -> Vec<u8> {
        vec![self.channel.get() as u8]
    }

    fn switches_radios(&self) -> bool {
        false
    }

    fn remedy(&self, reason: DropReason) -> Option<Remedy> {
        match reason {
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
        // That was a network of the same tree and constants. The seed changes nothing in that.
        Ok(prepared(move |mesh, streams| build(config.clone(), mesh, streams).expect("a checked cluster tree")))
    }
}

fn build(config: BeaconConfig, mesh: &Mesh, streams: &Streams) -> Result<beacon::Beacon, BeaconConfigError> {
    beacon::Beacon::new(config, mesh.links(streams), &mesh.routes().parents(), streams)
}

impl Beacon {
    /// The constants of the link layer.
    fn config(&self) -> BeaconConfig {
        let superframe = Superframe { interval: self.period(), cap: self.cap_ms.duration() };
        let mut config = BeaconConfig { security: self.security_header(), ..BeaconConfig::standard(superframe) };
        self.set(&mut config);
        config
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
        assert_eq!((config.transaction_persistence, config.downward), (9, Downward::Direct));
        assert!(config.rx_on_when_idle && !config.late_frames);
    }
}
