//! `[mac] kind = "csma"`.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use slowhand_net::address::{Addressing, NodeId};
use slowhand_net::clock::Duration;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::radio::PanError;
use slowhand_net::radio::csma::config::{CSL_UNIT, MAX_SHORT_ADDRESSES};
use slowhand_net::radio::csma::{self, CsmaConfig, CsmaConfigError, FastPoll, Polling};
use slowhand_net::random::Streams;

use super::{LinkLayer, LinkSecurity, MacError, Opportunity, PreparedMac, prepared};
use crate::input::{
    Document, Forms, InputError, Integer, Milliseconds, PositiveMilliseconds, PositiveSeconds, inline_schema,
};
use crate::scenario::Profile;
use crate::scenario::keys::table;
use crate::scenario::losses::Remedy;
use crate::scenario::network::Mesh;
use crate::scenario::nodes::{MAX_NODE, node};

table! {
    /// Unslotted CSMA/CA, as Thread and Zigbee use it. Nodes always listen, except sleepy devices, which poll their parents.
    pub struct Csma(CsmaConfig = CsmaConfig::openthread()) {
        /// Which nodes are sleepy devices: `"none"`, `"leaves"` (all nodes without children), or a list of leaves. All other
        /// nodes always listen. Default: `none`.
        pub sleepy: Sleepy,
        /// From one poll of a sleepy device to its next. Default: 236000 (OpenThread: the child timeout of 240 s less four
        /// polls, 1 s apart); with `csl` its timeout less 4000.
        pub poll_period_ms: Option<PositiveMilliseconds> = polling.period,
        /// When a sleepy device polls fast: `data` for some polls after each frame that it has to send, `session` while
        /// the client on it opens a session, `never`. Default: `data` (OpenThread's own clients).
        pub fast_poll: FastPoll = polling.fast,
        /// The poll period while a device polls fast. Default: 188 (OpenThread, kFastPollPeriod).
        pub fast_poll_period_ms: PositiveMilliseconds = polling.fast_period,
        /// The number of fast polls that follow a frame that the device has to send, with `fast_poll = "data"`. Default: 8
        /// (OpenThread, kDefaultFastPolls).
        pub fast_polls: Integer<1, 15> = polling.fast_polls,
        /// The time for which a device listens for a frame that an acknowledgement has announced. Default: 100 (OpenThread,
        /// OPENTHREAD_CONFIG_MAC_DATA_POLL_TIMEOUT).
        pub data_wait_ms: PositiveMilliseconds = polling.data_wait,
        /// Coordinated sampled listening of the sleepy devices. Default: they only poll.
        pub csl: Option<Csl>,
        /// The addresses in frames: `extended` (64 bits), or `short` (16 bits), as nodes have them in Thread. The IPv6
        /// addresses of nodes follow from extended addresses, and header compression leaves them out; with short ones it
        /// carries 8 octets of each. `lowpan.max_frame_payload` must allow the longer payload, 116 octets. Default:
        /// `extended`, as in all other link layers.
        pub addresses: Addressing = addressing,
        /// The minimum backoff exponent (macMinBE). Default: that of `network.profile`; 3 in OpenThread.
        #[schemars(extend("default" = null))]
        pub min_be: Integer<0, 8> = backoff_exponents.0,
        /// The maximum backoff exponent (macMaxBE). Default: that of `network.profile`; 5 in OpenThread.
        #[schemars(extend("default" = null))]
        pub max_be: Integer<0, 8> = backoff_exponents.1,
        /// The number of times that CSMA-CA backs off again because the channel is busy (macMaxCSMABackoffs). Default: that
        /// of `network.profile`; 4 in OpenThread.
        #[schemars(extend("default" = null))]
        pub max_csma_backoffs: Integer<0, 5> = max_csma_backoffs,
        /// The number of times that a frame is sent again (macMaxFrameRetries). Default: that of `network.profile`; 15 in
        /// OpenThread, 3 in the standard.
        #[schemars(extend("default" = null))]
        pub max_retries: Integer<0, 255> = max_retries,
        /// The largest exponent of the random delay before a frame without acknowledgement is sent again: before its n-th
        /// retransmission up to 2^(n - 1) - 1 backoff periods, at most 2^`retry_max_be` - 1. 0: no delay, as in the standard.
        /// Default: that of `network.profile`; 5 in OpenThread.
        #[schemars(extend("default" = null))]
        pub retry_max_be: Integer<0, 8> = retry_max_exponent,
        /// True if a frame for which the channel was always busy is retried too. In the standard it is given up at once.
        /// Default: that of `network.profile`; true in OpenThread.
        #[schemars(extend("default" = null))]
        pub retries_busy_channel: bool = retries_busy_channel,
        /// True if the acknowledgement of a sleepy device's data frame says whether frames wait for it. If false, only that
        /// of a poll does. Default: true (OpenThread).
        pub pending_in_data_acks: bool = pending_in_data_acks,
        /// The number of times that a parent sends a frame to a sleepy device, each time after a poll, until the device
        /// acknowledges it. Default: 4 (OpenThread, OPENTHREAD_CONFIG_MAC_MAX_TX_ATTEMPTS_INDIRECT_POLLS).
        pub indirect_attempts: Integer<1, 255> = indirect_attempts,
        /// The time for which a parent keeps a frame for a sleepy device (macTransactionPersistenceTime). Default: 240
        /// (OpenThread's child timeout; 7.68 in the standard and in Zigbee).
        pub indirect_timeout_s: PositiveSeconds = indirect_timeout,
        /// Link security of data frames, polls and enhanced acknowledgements. Default: none.
        pub security: Option<LinkSecurity>,
        /// The channel. Default: 26 (assumed).
        pub channel: Integer<11, 26> = channel,
        /// The number of frames that a node's queue holds. Default: that of `network.profile`; 44 in OpenThread.
        #[schemars(extend("default" = null))]
        pub queue: Integer<1, 65_535> = queue,
    }
}

/// Coordinated sampled listening (CSL, IEEE 802.15.4-2015), as Thread has it from version 1.2 on.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Csl {
    /// From one sample of the channel to the next: a multiple of 0.16 (10 symbols), from 10 to 10485.6.
    pub period_ms: PositiveMilliseconds,
    /// A parent that has not heard its child for this time keeps frames until the child polls. Default: 100 (OpenThread,
    /// OPENTHREAD_CONFIG_CSL_TIMEOUT).
    #[serde(default = "timeout")]
    pub timeout_s: PositiveSeconds,
    /// The tolerance of each node's clock in millionths. The device listens longer by the drift since parent and device
    /// have last exchanged a frame. Default: 20 (several ports of OpenThread, otPlatRadioGetCslAccuracy).
    #[serde(default = "accuracy")]
    pub accuracy_ppm: Integer<0, 255>,
    /// The accuracy with which each node knows when a frame begins. Default: 0.2 (several ports of OpenThread,
    /// otPlatRadioGetCslUncertainty: 20 units of 10 us).
    #[serde(default = "uncertainty")]
    pub uncertainty_ms: Milliseconds,
    /// The time for which a sample lasts after the time at which the header of a frame is expected. Default: 5.504
    /// (OpenThread, OPENTHREAD_CONFIG_MIN_RECEIVE_ON_AFTER: the longest frame and acknowledgement).
    #[serde(default = "receive_after")]
    pub receive_after_ms: Milliseconds,
}

/// Which nodes are sleepy devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sleepy {
    /// None.
    #[default]
    None,
    /// All nodes without children.
    Leaves,
    /// These.
    Nodes(Vec<NodeId>),
}

/// The defaults of CSL. They do not depend on the period.
const CSL: csma::Csl = csma::Csl::openthread(0);

fn timeout() -> PositiveSeconds {
    PositiveSeconds::of(CSL.timeout)
}

fn accuracy() -> Integer<0, 255> {
    Integer::constant(CSL.accuracy_ppm / 2)
}

fn uncertainty() -> Milliseconds {
    Milliseconds::of(CSL.uncertainty / 2)
}

fn receive_after() -> Milliseconds {
    Milliseconds::of(CSL.receive_after)
}

impl LinkLayer for Csma {
    fn default_profile(&self) -> Profile {
        Profile::OpenThread
    }

    /// Checks that sleepy devices are leaves, and that the keys go together.
    fn check(&self, mesh: &Mesh, document: &Document) -> Result<(), InputError> {
        self.check_sleepy(mesh, document)?;
        let config = self.config();
        let Err(error) = build(config.clone(), self, mesh, &Streams::new(0)) else { return Ok(()) };
        let milliseconds = |time: Duration| (time.as_micros() as f64 / 1e3).to_string();
        let poll_period = milliseconds(config.polling.period);
        let (key, found, allowed) = match error {
            CsmaConfigError::Pan(PanError::BackoffExponents { min, max }) => {
                ("mac.min_be", min.to_string(), format!("at most mac.max_be, {max}"))
            }
            CsmaConfigError::ShortAddresses(nodes) => (
                "mac.addresses",
                format!("\"short\" for {nodes} nodes"),
                format!("\"short\" for at most {MAX_SHORT_ADDRESSES} nodes"),
            ),
            CsmaConfigError::FastPolls { fast, .. } => (
                "mac.fast_poll_period_ms",
                milliseconds(fast),
                format!("at most mac.poll_period_ms, {poll_period}; or mac.fast_poll = \"never\""),
            ),
            CsmaConfigError::PollPeriod(_) => ("mac.poll_period_ms", poll_period, "at least 10".to_owned()),
            CsmaConfigError::CslPeriod(period) => {
                ("mac.csl.period_ms", milliseconds(period), "from 10 to 10485.6".to_owned())
            }
            CsmaConfigError::CslTimeout { timeout, .. } => {
                let least = config.polling.period.as_secs_f64();
                let allowed = format!("at least mac.poll_period_ms, {least} s: polls keep a child synchronised");
                ("mac.csl.timeout_s", timeout.as_secs_f64().to_string(), allowed)
            }
            CsmaConfigError::CslUncertainty(both) => {
                let allowed = "at least 0.08: frames carry the time of the next sample in units of 0.16 ms";
                ("mac.csl.uncertainty_ms", milliseconds(both / 2), allowed.to_owned())
            }
            other => ("mac", "a network that cannot be".to_owned(), other.to_string()),
        };
        Err(document.blame(key, found, allowed))
    }

    /// The time after which a frame for a sleepy device can be sent; if no node sleeps, that of an exchange of a frame.
    fn period(&self) -> Duration {
        let config = self.config();
        let Polling { period, fast_period, fast, .. } = config.polling;
        match (&self.sleepy, &self.csl) {
            (Sleepy::None, _) => config.longest_exchange(),
            (_, Some(csl)) => csl.period_ms.duration(),
            _ if fast == FastPoll::Never => period,
            _ => fast_period,
        }
    }

    fn addressing(&self) -> Addressing {
        self.addresses
    }

    fn channels(&self) -> Vec<u8> {
        vec![self.channel.get() as u8]
    }

    fn carries_joiners(&self) -> bool {
        true
    }

    fn sleepy(&self, mesh: &Mesh) -> Vec<NodeId> {
        let nodes = self.sleepy_nodes(mesh).into_iter().zip(0..);
        nodes.filter(|(sleepy, _)| *sleepy).map(|(_, node)| NodeId(node)).collect()
    }

    fn remedy(&self, reason: DropReason) -> Option<Remedy> {
        match reason {
            DropReason::RetriesExhausted => Some(Remedy::raise("mac.max_retries")),
            DropReason::ChannelAccessFailure => Some(Remedy::raise("mac.max_csma_backoffs")),
            DropReason::TransactionExpired => Some(Remedy::raise("mac.indirect_timeout_s")),
            _ => None,
        }
    }

    fn opportunity(&self, is_to_sleepy: bool) -> Opportunity {
        match (is_to_sleepy, &self.csl) {
            (false, _) => {
                Opportunity { kind: "channel", words: "backing off until the channel is clear", remedy: None }
            }
            (true, None) => {
                let remedy = Some(Remedy::lower("mac.poll_period_ms"));
                Opportunity { kind: "poll", words: "waiting until the sleepy device polls", remedy }
            }
            (true, Some(_)) => {
                let remedy = Some(Remedy::lower("mac.csl.period_ms"));
                Opportunity { kind: "wakeup", words: "waiting for a sample of the sleepy device", remedy }
            }
        }
    }

    fn describe(&self) -> String {
        let listens = "CSMA/CA".to_owned();
        match (&self.sleepy, &self.csl) {
            (Sleepy::None, _) => listens + ", all nodes listen",
            (_, Some(csl)) => format!("{listens}, sleepy devices with samples every {} ms", csl.period_ms.get()),
            _ => {
                format!(
                    "{listens}, sleepy devices with polls every {} ms",
                    self.config().polling.period.as_micros() as f64 / 1e3
                )
            }
        }
    }

    fn prepare(&self, mesh: &Mesh) -> Result<Box<dyn PreparedMac>, MacError> {
        let (config, keys) = (self.config(), self.clone());
        build(config.clone(), self, mesh, &Streams::new(0)).map_err(|error| MacError::new("mac", error))?;
        // That was a network of the same tree and constants. The seed changes nothing in that.
        Ok(prepared(move |mesh, streams| build(config.clone(), &keys, mesh, streams).expect("a checked network")))
    }
}

fn build(config: CsmaConfig, keys: &Csma, mesh: &Mesh, streams: &Streams) -> Result<csma::Csma, CsmaConfigError> {
    csma::Csma::new(config, mesh.links(streams), &mesh.routes().parents(), &keys.sleepy_nodes(mesh), streams)
}

impl Csma {
    /// The constants of the link layer.
    fn config(&self) -> CsmaConfig {
        let mut config = CsmaConfig {
            csl: self.csl.as_ref().map(Csl::config),
            security: self.security_header(),
            ..CsmaConfig::openthread()
        };
        if let Some(csl) = &config.csl {
            config.polling.period = csl.poll_period();
        }
        self.set(&mut config);
        config
    }

    /// By node.
    fn sleepy_nodes(&self, mesh: &Mesh) -> Vec<bool> {
        let mut sleepy = vec![self.sleepy == Sleepy::Leaves; mesh.nodes()];
        sleepy[NodeId::ROOT.index()] = false;
        mesh.routes().parents().into_iter().flatten().for_each(|parent| sleepy[parent.index()] = false);
        if let Sleepy::Nodes(nodes) = &self.sleepy {
            nodes.iter().for_each(|node| sleepy[node.index()] = true);
        }
        sleepy
    }

    fn check_sleepy(&self, mesh: &Mesh, document: &Document) -> Result<(), InputError> {
        let refuse = |key, found: String, allowed: &str| Err(document.blame(key, found, allowed));
        if let Sleepy::Nodes(nodes) = &self.sleepy {
            if let Some(node) = nodes.iter().find(|node| node.index() >= mesh.nodes()) {
                let last = mesh.nodes() - 1;
                return refuse("mac.sleepy", format!("node {node}"), &format!("nodes of the network, 1 to {last}"));
            }
            let has_children = mesh.routes().parents().into_iter().flatten().find(|parent| nodes.contains(parent));
            if let Some(parent) = has_children {
                let allowed = "nodes without children: a node that forwards frames must always listen";
                return refuse("mac.sleepy", format!("node {parent}, which has children"), allowed);
            }
        }
        if self.sleepy == Sleepy::None {
            let allowed = "this key only with sleepy devices (mac.sleepy)";
            if let Some(period) = self.poll_period_ms {
                return refuse("mac.poll_period_ms", period.get().to_string(), allowed);
            }
            if let Some(csl) = &self.csl {
                return refuse("mac.csl.period_ms", csl.period_ms.get().to_string(), allowed);
            }
        }
        match &self.csl {
            Some(csl) if csl.units().is_none() => {
                refuse("mac.csl.period_ms", csl.period_ms.get().to_string(), "a multiple of 0.16 from 10 to 10485.6")
            }
            _ => Ok(()),
        }
    }
}

impl Csl {
    /// The period in units of 10 symbols. `None` if it is no multiple of them, or too long.
    fn units(&self) -> Option<u16> {
        let (period, unit) = (self.period_ms.micros(), CSL_UNIT.as_micros());
        u16::try_from(period / unit).ok().filter(|_| period % unit == 0)
    }

    fn config(&self) -> csma::Csl {
        csma::Csl {
            period: self.units().unwrap_or(u16::MAX),
            timeout: self.timeout_s.duration(),
            // Parent and child have one clock each.
            accuracy_ppm: 2 * self.accuracy_ppm.get(),
            uncertainty: self.uncertainty_ms.duration() * 2,
            receive_after: self.receive_after_ms.duration(),
        }
    }
}

impl<'de> Deserialize<'de> for Sleepy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |nodes: &str| match nodes {
            "none" => Some(Self::None),
            "leaves" => Some(Self::Leaves),
            _ => None,
        };
        let list = |nodes: Vec<Integer<1, MAX_NODE>>| match nodes.as_slice() {
            [] => Some(Self::None),
            nodes => Some(Self::Nodes(nodes.iter().map(|number| node(number.get())).collect())),
        };
        let allowed = format!("\"none\", \"leaves\" or a list of nodes, 1 to {MAX_NODE}");
        Forms { allowed: &allowed, text, number: |_| None, list }.read(deserializer)
    }
}

impl Serialize for Sleepy {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_str("none"),
            Self::Leaves => serializer.serialize_str("leaves"),
            Self::Nodes(nodes) => serializer.collect_seq(nodes.iter().map(|node| node.0)),
        }
    }
}

inline_schema!(Sleepy, { "anyOf": [
    { "enum": ["none", "leaves"] },
    { "type": "array", "items": { "type": "integer", "minimum": 1, "maximum": MAX_NODE } },
] });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_reaches_the_link_layer() {
        let keys = Csma {
            poll_period_ms: Some(PositiveMilliseconds::constant(750.0)),
            fast_poll: FastPoll::Burst,
            fast_poll_period_ms: PositiveMilliseconds::constant(50.0),
            fast_polls: Integer::constant(3),
            data_wait_ms: PositiveMilliseconds::constant(30.0),
            csl: Some(Csl {
                period_ms: PositiveMilliseconds::constant(500.0),
                timeout_s: PositiveSeconds::constant(20.0),
                accuracy_ppm: Integer::constant(30),
                uncertainty_ms: Milliseconds::constant(0.1),
                receive_after_ms: Milliseconds::constant(1.5),
            }),
            addresses: Addressing::Short,
            min_be: Integer::constant(2),
            max_be: Integer::constant(7),
            max_csma_backoffs: Integer::constant(3),
            max_retries: Integer::constant(6),
            retry_max_be: Integer::constant(4),
            retries_busy_channel: false,
            pending_in_data_acks: false,
            indirect_attempts: Integer::constant(2),
            indirect_timeout_s: PositiveSeconds::constant(7.68),
            channel: Integer::constant(15),
            queue: Integer::constant(11),
            ..Csma::default()
        };
        let us = Duration::from_micros;
        let expected = CsmaConfig {
            channel: 15,
            addressing: Addressing::Short,
            backoff_exponents: (2, 7),
            max_csma_backoffs: 3,
            max_retries: 6,
            retry_max_exponent: 4,
            retries_busy_channel: false,
            pending_in_data_acks: false,
            indirect_attempts: 2,
            indirect_timeout: us(7_680_000),
            polling: Polling {
                period: us(750_000),
                fast_period: us(50_000),
                fast: FastPoll::Burst,
                fast_polls: 3,
                data_wait: us(30_000),
            },
            csl: Some(csma::Csl {
                period: 3_125,
                timeout: us(20_000_000),
                accuracy_ppm: 60,
                uncertainty: us(200),
                receive_after: us(1_500),
            }),
            security: None,
            queue: 11,
        };
        assert_eq!(keys.config(), expected);
        assert_eq!(Csma { poll_period_ms: None, ..keys.clone() }.config().polling.period, us(16_000_000));
        assert_eq!(Csma::default().config(), CsmaConfig::openthread());
    }
}
