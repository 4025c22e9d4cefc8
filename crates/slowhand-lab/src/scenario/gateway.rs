//! `[gateway]`: what the border router does beyond forwarding.

use schemars::JsonSchema;
use serde::Deserialize;
use slowhand_net::network::gateway::{GatewayConfig, suppression};
use slowhand_net::transport::{pep, tcp};

use crate::input::{Integer, PositiveSeconds};

/// What the border router does beyond forwarding, for sessions between the mesh and the Internet.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gateway {
    /// True if it splits each TCP connection in two: it acknowledges to either end at once, in the name of the other, and
    /// repeats what the mesh loses by a timer that follows from the schedule (RFC 3135; Claeys et al., Sensors 2021,
    /// section 5). Without effect on DTLS. Default: false.
    pub tcp_proxy: bool,
    /// The segments that the proxy sends into the mesh before the first acknowledgment. Default: 2. Of the 844 octets of
    /// Claeys et al. 2021, table 2, they are ten fragments each and fill the 20 frames that OpenWSN queues; of 1,220 octets
    /// they are 28 frames.
    pub tcp_initial_window: Integer<1, 10>,
    /// True if it holds back a DTLS 1.2 flight that the Internet side sends again while the first copy or the answer to it
    /// is on its way. Without effect on TLS. Default: false.
    pub suppress_spurious_flights: bool,
    /// For how long such a flight is held back, at most, after the time that the schedule gives to it and to an answer:
    /// how long the device may compute. Default: 9 (the timeout that RFC 7925 section 11 recommends where devices compute
    /// slowly).
    pub answer_time_s: PositiveSeconds,
}

impl Default for Gateway {
    fn default() -> Self {
        let (forwarding, proxy) = (GatewayConfig::default(), pep::ProxyConfig::default());
        Self {
            tcp_proxy: forwarding.tcp_proxy.is_some(),
            tcp_initial_window: Integer::constant(proxy.mesh.initial_window.into()),
            suppress_spurious_flights: forwarding.suppression.is_some(),
            answer_time_s: PositiveSeconds::of(suppression::SuppressionConfig::default().answer_time),
        }
    }
}

impl Gateway {
    /// The configuration of the border router.
    pub fn config(&self) -> GatewayConfig {
        let proxy = || {
            let config = pep::ProxyConfig::default();
            pep::ProxyConfig {
                mesh: tcp::TcpConfig { initial_window: self.tcp_initial_window.get() as u8, ..config.mesh },
                ..config
            }
        };
        let suppression = || suppression::SuppressionConfig { answer_time: self.answer_time_s.duration() };
        GatewayConfig {
            tcp_proxy: self.tcp_proxy.then(proxy),
            suppression: self.suppress_spurious_flights.then(suppression),
        }
    }
}
