//! `[mac] kind = "xmac"`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slowhand_net::clock::Duration;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::radio::xmac::{self, Retry, XmacConfig};

use super::{LinkLayer, LinkSecurity, MacError, Opportunity, PreparedMac, prepared};
use crate::input::{Document, InputError, Integer, PositiveMilliseconds};
use crate::scenario::Profile;
use crate::scenario::keys::table;
use crate::scenario::losses::Remedy;
use crate::scenario::network::Mesh;

table! {
    /// Preamble sampling: a node wakes up once in every check interval. A node that has a frame for it sends strobes until
    /// then.
    pub struct XMac(XmacConfig = XmacConfig::cxmac(Duration::from_millis(125))) {
        /// The time between two wake-ups of a node. Default: 125 (Contiki's channel check rate of 8 a second).
        pub check_interval_ms: PositiveMilliseconds = check_interval,
        /// The version of X-MAC in Contiki. Default: `cxmac`.
        pub model: Generation,
        /// The backoff with which the layer above (csma.c) sends a failed frame again. Default: `exponential` with `cxmac`,
        /// `linear` with `xmac-2010`.
        pub retry: Option<RetryKind>,
        /// True if data frames are acknowledged, and sent again without an acknowledgement. Default: false. If false, no
        /// node notices that a data frame is lost.
        pub data_ack: bool = data_ack,
        /// Link security of all frames, strobes included. Default: none.
        pub security: Option<LinkSecurity>,
        /// The channel. Default: 26 (WiSMote, contiki-conf.h).
        pub channel: Integer<11, 26> { Integer::constant(26) },
        /// The number of frames that a node's queue holds. Default: 8 (WiSMote, contiki-conf.h QUEUEBUF_CONF_NUM).
        pub queue: Integer<1, 65_535> = queue,
        /// The most neighbours for which a node can queue frames at the same time. Default: 2 (Contiki, csma.c
        /// CSMA_MAX_NEIGHBOR_QUEUES).
        pub neighbor_queues: Integer<1, 65_535> = neighbor_queues,
    }
}

/// A version of X-MAC in Contiki.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Generation {
    /// CX-MAC (Contiki 32b5b17f6): wake-ups run on a callback timer, which sending delays.
    #[default]
    Cxmac,
    /// X-MAC before January 2011 (before Contiki 09c223f54): wake-ups run in interrupts.
    #[serde(rename = "xmac-2010")]
    Xmac2010,
}

/// A version of the layer above, Contiki's csma.c.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RetryKind {
    /// The backoff grows exponentially: since 2016 (Contiki 90b886aa7).
    Exponential,
    /// The backoff grows linearly: releases up to 2.7 (2013).
    Linear,
}

impl LinkLayer for XMac {
    fn default_profile(&self) -> Profile {
        Profile::ContikiNg
    }

    /// Checks that the radio is off at all between two checks.
    fn check(&self, _mesh: &Mesh, document: &Document) -> Result<(), InputError> {
        let awake = self.config().awake;
        if self.period() <= awake {
            let allowed = format!("more than {} (how long a node is awake then)", awake.as_micros() as f64 / 1e3);
            return Err(document.blame("mac.check_interval_ms", self.check_interval_ms.get().to_string(), allowed));
        }
        Ok(())
    }

    fn period(&self) -> Duration {
        self.check_interval_ms.duration()
    }

    fn is_acknowledged(&self) -> bool {
        self.data_ack
    }

    fn channels(&self) -> Vec<u8> {
        vec![self.channel.get() as u8]
    }

    fn remedy(&self, reason: DropReason) -> Option<Remedy> {
        match reason {
            DropReason::RetriesExhausted => Some(Remedy::change("mac.retry")),
            DropReason::FrameLost => Some(Remedy::change("mac.data_ack")),
            _ => None,
        }
    }

    fn opportunity(&self, _is_to_sleepy: bool) -> Opportunity {
        let remedy = Some(Remedy::lower("mac.check_interval_ms"));
        Opportunity { kind: "wakeup", words: "sending strobes until the neighbour wakes up", remedy }
    }

    fn describe(&self) -> String {
        format!("X-MAC, a check every {} ms", self.check_interval_ms.get())
    }

    fn prepare(&self, _mesh: &Mesh) -> Result<Box<dyn PreparedMac>, MacError> {
        let (config, channel) = (self.config(), self.channel.get() as u8);
        Ok(prepared(move |mesh, streams| xmac::XMac::new(config.clone(), channel, mesh.links(streams), streams)))
    }
}

impl XMac {
    /// The constants of the link layer.
    fn config(&self) -> XmacConfig {
        let check_interval = self.period();
        let config = match self.model {
            Generation::Cxmac => XmacConfig::cxmac(check_interval),
            Generation::Xmac2010 => XmacConfig::xmac_2010(check_interval),
        };
        let mut config = match self.security_header() {
            Some(security) => config.with_security(security),
            None => config,
        };
        config.retry = match self.retry {
            Some(RetryKind::Exponential) => Retry::EXPONENTIAL,
            Some(RetryKind::Linear) => Retry::LINEAR,
            None => config.retry,
        };
        self.set(&mut config);
        config
    }
}
