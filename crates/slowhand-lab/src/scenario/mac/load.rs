//! `mac.load`: beacons, DIOs and keep-alives.

use serde::Serialize;
use slowhand_net::address::{Addressing, NodeId};
use slowhand_net::clock::Duration;
use slowhand_net::ip::dio::{DioTimer, Mode, dio};
use slowhand_net::lowpan::{Contexts, Link, compress};
use slowhand_net::radio::frame::MAX_FRAME;
use slowhand_net::radio::tsch;
use slowhand_net::route::Routes;

use crate::input::{Document, InputError, Integer, Seconds};
use crate::scenario::keys::table;

table! {
    /// The frames that keep a 6TiSCH network together, as load on the minimal cell (RFC 8180). The table alone, `mac.load = {}`,
    /// has those of Contiki-NG.
    #[derive(PartialEq, Serialize)]
    pub struct Load {
        /// The longest time from one enhanced beacon of a node to its next, or 0 for no beacons. Each time is drawn from three
        /// quarters of it to all of it (Contiki-NG, tsch.c tsch_send_eb_process). Default: 16 (Contiki-NG, tsch-conf.h
        /// TSCH_EB_PERIOD).
        pub beacon_period_s: Seconds { Seconds::constant(16.0) },
        /// True if nodes send DIOs of RPL, by a Trickle timer (RFC 6206) that begins with the world. Default: true.
        pub dio: bool { true },
        /// The smallest interval of the Trickle timer is 2 to the power of this, in milliseconds (DIOIntervalMin). Default: 12,
        /// 4 s (Contiki-NG, rpl-conf.h RPL_DIO_INTERVAL_MIN; RFC 6550 section 17 has 3, 8 ms).
        pub dio_interval_min: Integer<0, 20> { Integer::constant(12) },
        /// The number of times that the interval doubles (DIOIntervalDoublings). Default: 8 (Contiki-NG,
        /// RPL_DIO_INTERVAL_DOUBLINGS; RFC 6550 has 20).
        pub dio_doublings: Integer<0, 20> { Integer::constant(8) },
        /// A node that has heard this many DIOs in an interval sends none (DIORedundancyConstant). 0: it always sends. Default:
        /// 10 (RFC 6550 section 17).
        pub dio_redundancy: Integer<0, 255> { Integer::constant(10) },
        /// A node that has not heard its parent for this time sends it an empty frame. 0: never. Default: 12 (Contiki-NG,
        /// tsch-conf.h TSCH_KEEPALIVE_TIMEOUT).
        pub keep_alive_s: Seconds { Seconds::constant(12.0) },
    }
}

impl Load {
    /// Checks that the minimal cell is there, and that the frames do not come faster than it.
    pub(super) fn check(&self, shared: u32, slotframe: Duration, document: &Document) -> Result<(), InputError> {
        if shared == 0 {
            let found = "load on a cell that is not there";
            return Err(document.blame("mac.load", found, "this table with mac.cells.shared of at least 1 only"));
        }
        for (key, time) in [("beacon_period_s", self.beacon_period_s), ("keep_alive_s", self.keep_alive_s)] {
            if time.get() > 0.0 && time.duration() < slotframe {
                let allowed = format!("0, or at least the slotframe, {}", slotframe.as_secs_f64());
                return Err(document.blame(&format!("mac.load.{key}"), time.get().to_string(), allowed));
            }
        }
        Ok(())
    }

    /// The load as the link layer has it.
    pub(super) fn config(&self) -> tsch::Load {
        let time = |time: Seconds| Some(time.duration()).filter(|&time| time > Duration::ZERO);
        let dio = tsch::Trickle {
            min: Duration::from_millis(1 << self.dio_interval_min.get()),
            doublings: self.dio_doublings.get() as u8,
            redundancy: self.dio_redundancy.get() as u8,
        };
        tsch::Load {
            beacon_period: time(self.beacon_period_s),
            dio: self.dio.then_some(dio),
            keep_alive: time(self.keep_alive_s),
        }
    }

    /// The numbers that each node needs to know for it.
    pub(super) fn members(&self, routes: &Routes) -> Vec<tsch::Member> {
        let member = |node: NodeId| {
            let hops = routes.depth(node);
            let parent = routes.parent(node).filter(|_| node != NodeId::ROOT);
            tsch::Member { parent, hops: hops.min(255) as u8, dio: self.dio_of(node, hops) }
        };
        (0..routes.nodes()).map(|node| member(NodeId(node as u16))).collect()
    }

    /// The payload of the frame with a node's DIO. It has about 50 octets: no context covers its addresses, and the source
    /// follows from the frame.
    fn dio_of(&self, node: NodeId, hops: u16) -> Vec<u8> {
        let timer = DioTimer {
            interval_min: self.dio_interval_min.get() as u8,
            doublings: self.dio_doublings.get() as u8,
            redundancy: self.dio_redundancy.get() as u8,
        };
        let packet = dio(node, None, hops, Mode::Storing, timer);
        let source = Addressing::Extended.of_node(node);
        let mut headers = [0; MAX_FRAME];
        // The destination is a group: no link-layer address says anything of it.
        let compressed = compress(&packet, Link { source, destination: source }, &Contexts::mesh(), &mut headers);
        let compressed = compressed.expect("a whole packet, and room for its headers");
        [&headers[..compressed.written], &packet[compressed.consumed..]].concat()
    }
}
