//! The throughput of a node two hops away from the border router, over lossy links, under TSCH and under X-MAC.
//!
//! ```text
//! $ cargo run -p slowhand-net --example throughput
//! link layer  link PDR  datagrams  delivered  octets/s  frames/datagram  radio on
//! TSCH             1.0        390      99.7%     194.5             16.0     3.71%
//! X-MAC            1.0        514      99.8%     256.5             43.2    11.99%
//! TSCH             0.9        321      99.7%     160.0             18.6     3.72%
//! X-MAC            0.9        403      99.8%     201.0             78.4    16.79%
//! TSCH             0.7        199      99.5%      99.0             27.5     3.72%
//! X-MAC            0.7        189      98.9%      93.5            227.1    21.06%
//! ```
//!
//! The node sends datagrams of 300 octets for ten minutes, the next one as soon as the one before has arrived or is lost.
//! Both link layers acknowledge data frames and repeat those that are lost. TSCH has one dedicated cell in each direction
//! of each link every 220 ms. Under X-MAC, a node wakes up eight times a second: that is faster here, until links lose
//! much. The price of X-MAC is strobes: more frames, and a radio that is on for longer (the last column is the radio of
//! the sender).

use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Endpoint;
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::network::{Event, Events, Network, NetworkConfig};
use slowhand_net::observer::{Observer, Transmission};
use slowhand_net::radio::Mac;
use slowhand_net::radio::tsch::layout::Layout;
use slowhand_net::radio::tsch::{Tsch, TschConfig};
use slowhand_net::radio::xmac::{XMac, XmacConfig};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;
use std::error::Error;

const HOPS: u16 = 2;
const NODES: usize = 3;
const PAYLOAD: usize = 300;
const TIME: Duration = Duration::from_secs(600);

/// The results of a run.
#[derive(Default)]
struct Results {
    sent: u32,
    delivered: u32,
    /// Frames of all kinds on the air.
    frames: u64,
}

impl Observer for Results {
    fn transmission(&mut self, _: &Transmission<'_>) {
        self.frames += 1;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("link layer  link PDR  datagrams  delivered  octets/s  frames/datagram  radio on");
    for pdr in [1.0, 0.9, 0.7] {
        for link_layer in ["TSCH", "X-MAC"] {
            let mut network = line(link_layer, pdr)?;
            let results = saturate(&mut network)?;
            let radio = network.mac().radio_times(NodeId(HOPS), Instant::ZERO + TIME);
            println!(
                "{link_layer:10}  {pdr:8.1}  {:9}  {:8.1}%  {:8.1}  {:15.1}  {:7.2}%",
                results.sent,
                100.0 * f64::from(results.delivered) / f64::from(results.sent),
                f64::from(results.delivered) * PAYLOAD as f64 / TIME.as_secs_f64(),
                results.frames as f64 / f64::from(results.sent),
                100.0 - 100.0 * radio.sleep.as_secs_f64() / TIME.as_secs_f64(),
            );
        }
    }
    Ok(())
}

/// Sends datagrams from the last node to the border router, one after the other.
fn saturate(network: &mut Network) -> Result<Results, Box<dyn Error>> {
    let endpoint = |node| Endpoint::new(Host::Node(node).address(), 5683);
    let (source, destination) = (endpoint(NodeId(HOPS)), endpoint(NodeId::ROOT));
    let (mut results, mut events) = (Results::default(), Events::default());
    let (mut now, end) = (Instant::ZERO, Instant::ZERO + TIME);
    let mut is_on_its_way = false;
    while now < end {
        if !is_on_its_way {
            network.send(now, source, destination, &[0x55; PAYLOAD], results.sent, &mut events)?;
            results.sent += 1;
            is_on_its_way = true;
        }
        let Some(next) = network.deadline() else { break };
        now = next;
        network.handle_deadline(now, &mut events, &mut results);
        for event in events.iter() {
            match event {
                Event::Delivered { datagram, .. } => {
                    results.delivered += 1;
                    is_on_its_way &= datagram + 1 != results.sent;
                }
                Event::Lost { datagram, .. } => is_on_its_way &= datagram + 1 != results.sent,
                _ => {}
            }
        }
        events.clear();
    }
    Ok(results)
}

/// A line of three nodes under a link layer.
fn line(link_layer: &str, pdr: f64) -> Result<Network, Box<dyn Error>> {
    let qualities: Vec<_> =
        (0..HOPS).flat_map(|node| LinkQuality::symmetric(NodeId(node), NodeId(node + 1), pdr)).collect();
    let streams = Streams::new(1);
    let links = Links::new(NODES, &qualities, &streams);
    let routes = Routes::shortest(NODES, &qualities)?;
    let mac: Box<dyn Mac> = match link_layer {
        "TSCH" => {
            let layout = Layout { slotframe: 11, shared: 1, up: 1, down: 1, autonomous: false };
            Box::new(Tsch::new(TschConfig::openwsn(layout.slotframe), links, layout.cells(&routes)?, &streams))
        }
        _ => Box::new(XMac::new(XmacConfig::cxmac(Duration::from_millis(125)).with_data_ack(), 26, links, &streams)),
    };
    Ok(Network::new(mac, routes, NetworkConfig::default(), &streams))
}
