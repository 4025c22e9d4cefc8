//! The border router between a mesh under TSCH and a host on the Internet.

mod proxy;
mod suppression;

use crate::harness::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Duration;
use slowhand_net::lowpan::reassembly::Limits;
use slowhand_net::network::gateway::GatewayConfig;
use slowhand_net::network::internet::InternetConfig;
use slowhand_net::network::{LossSpread, Network, NetworkConfig};
use slowhand_net::random::Probability;
use slowhand_net::transport::pep;
use slowhand_net::transport::tcp::TcpConfig;

/// A network: a line of nodes under TSCH, and its border router.
#[derive(Clone)]
struct Setting {
    seed: u64,
    hops: u16,
    slotframe: u16,
    fragment_loss: f64,
    dropped_frames: Vec<u64>,
    loss_spread: LossSpread,
    internet: InternetConfig,
    gateway: GatewayConfig,
}

impl Setting {
    /// One hop, a slotframe of 5 slots of 20 ms, nothing lost, 50 ms to the Internet host, and a border router that only
    /// forwards.
    fn plain() -> Self {
        Self {
            seed: 1,
            hops: 1,
            slotframe: 5,
            fragment_loss: 0.0,
            dropped_frames: Vec::new(),
            loss_spread: LossSpread::default(),
            internet: InternetConfig { delay: Duration::from_millis(50), ..Default::default() },
            gateway: GatewayConfig::default(),
        }
    }

    /// The default setup with a TCP proxy.
    fn proxied() -> Self {
        let gateway = GatewayConfig { tcp_proxy: Some(pep::ProxyConfig::default()), ..Default::default() };
        Self { gateway, ..Self::plain() }
    }

    /// The node at the end of the line.
    fn node(&self) -> Host {
        Host::Node(NodeId(self.hops))
    }

    /// Between nodes n - 1 and n, slot 2n - 1 leads up and slot 2n down.
    fn network(&self) -> Network {
        let nodes = self.hops + 1;
        let mut cells = vec![Vec::new(); nodes.into()];
        for n in 1..nodes {
            cells[usize::from(n) - 1].extend([cell(2 * n - 1, LISTEN, n), cell(2 * n, SEND, n)]);
            cells[usize::from(n)].extend([cell(2 * n - 1, SEND, n - 1), cell(2 * n, LISTEN, n - 1)]);
        }
        let config = NetworkConfig {
            fragment_loss: Probability::new(self.fragment_loss),
            dropped_frames: self.dropped_frames.clone(),
            loss_spread: self.loss_spread,
            internet: self.internet.clone(),
            gateway: self.gateway.clone(),
            // More than the default of two: a repeated flight meets a full queue here, not a full reassembly.
            reassembly: Limits { buffers: 4, ..Limits::default() },
            ..Default::default()
        };
        network_of_cells(self.slotframe, &line(self.hops, 1.0), cells, config, self.seed)
    }

    /// `opener` connects to the other host: the node at the end of the line, or the host on the Internet.
    fn conversation(&self, opener: Host, config: [&TcpConfig; 2], content: [&[u8]; 2]) -> Conversation {
        let hosts = match opener {
            Host::Internet => [Host::Internet, self.node()],
            Host::Node(_) => [self.node(), Host::Internet],
        };
        Conversation::new(self.network(), hosts, config, content)
    }
}

/// From the start of a slot of 20 ms to the end of the exchange of a frame that carries a TCP segment of these octets in
/// one piece: 5,215 us to the first symbol, 6 octets of synchronisation and a PSDU of 21 + 3 + `segment` + 2 at 32 us
/// each, 5,521 us to the acknowledgement, 25 octets of that. The 3 octets: IPHC 2 (both addresses follow from the
/// contexts and the link), next header 1, inline. Those of an Internet host do not follow from the link: context octet 1
/// and 64 bits of its address.
const fn exchange(segment: u64) -> Duration {
    Duration::from_micros(5_215 + (6 + 21 + 3 + 1 + 8 + segment + 2) * 32 + 5_521 + (6 + 19) * 32)
}
