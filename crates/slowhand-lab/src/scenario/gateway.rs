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
    /// True if the border router is a TCP proxy (RFC 3135; Claeys et al., Sensors 2021, section 5). It acknowledges
    /// each segment at once, in the name of the other end. It sends lost segments into the mesh again, after a timeout
    /// that follows from the schedule. No effect on DTLS. Default: false.
    pub tcp_proxy: bool,
    /// The proxy's initial congestion window towards the mesh, in segments. Default: 2. Two segments of 844 octets
    /// (Claeys et al. 2021, table 2) are 20 frames, which is the queue of OpenWSN. Two segments of 1,220 octets are 28
    /// frames.
    pub tcp_initial_window: Integer<1, 10>,
    /// True if the border router holds back a DTLS 1.2 flight that the Internet side sends again, while the first copy
    /// or its answer is still in the mesh. No effect on TLS. Default: false.
    pub suppress_spurious_flights: bool,
    /// The time that the device may take to compute its answer. The border router holds back a flight for at most this
    /// time plus the time in which the schedule carries the flight and its answer. Default: 9 (the timeout that
    /// RFC 7925 section 11 recommends for slow devices).
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
