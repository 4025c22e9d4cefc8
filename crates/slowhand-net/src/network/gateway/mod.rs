//! Tasks of a border router beyond forwarding: a TCP proxy, the suppression of spurious DTLS retransmissions, and the
//! validation of certificates.
//!
//! All use only what a real border router knows: the packets that cross it, the frames in its own queue, the schedule
//! and the routes. In 6TiSCH the root knows schedule and routes, or learns them from reports of the nodes.

pub mod dtls;
pub mod suppression;
pub mod validation;

use crate::clock::Instant;
use crate::random::Streams;
use crate::transport::pep::{self, Proxy};
use std::sync::Arc;
use suppression::Suppression;
use validation::{Judge, Validation};

/// The tasks of the border router beyond forwarding; by default, none.
#[derive(Clone, Debug, Default)]
pub struct GatewayConfig {
    /// Splits each TCP connection across the border router in two.
    pub tcp_proxy: Option<pep::ProxyConfig>,
    /// Holds back repeated DTLS flights while the first copy is on its way.
    pub suppression: Option<suppression::SuppressionConfig>,
    /// Who judges the certificates of servers on the Internet. Those that are not good do not enter the mesh.
    pub judge: Option<Arc<dyn Judge>>,
}

/// The state of a border router that does more than forwarding.
#[derive(Debug)]
pub(super) struct Gateway {
    pub(super) proxy: Option<Proxy>,
    pub(super) suppression: Option<Suppression>,
    pub(super) validation: Option<Validation>,
    /// The packet that the proxy writes; kept for its memory.
    pub(super) packet: Vec<u8>,
}

impl Gateway {
    /// None if the border router only forwards.
    pub(super) fn new(config: &GatewayConfig, streams: &Streams) -> Option<Box<Self>> {
        if config.tcp_proxy.is_none() && config.suppression.is_none() && config.judge.is_none() {
            return None;
        }
        let proxy = |config: &pep::ProxyConfig| Proxy::new(config.clone(), streams.stream("tcp proxy", 0));
        Some(Box::new(Self {
            proxy: config.tcp_proxy.as_ref().map(proxy),
            suppression: config.suppression.map(Suppression::new),
            validation: config.judge.clone().map(Validation::new),
            packet: Vec::new(),
        }))
    }

    /// The time at which the proxy or the suppression has something to do.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let proxy = self.proxy.as_ref().and_then(Proxy::deadline);
        let suppression = self.suppression.as_ref().and_then(Suppression::deadline);
        [proxy, suppression].into_iter().flatten().min()
    }
}
