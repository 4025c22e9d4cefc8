//! Runs the world of a plan and a seed.

use super::{Finished, World};
use crate::plan::{MacPlan, Plan};
use crate::record::Record;
use slowhand_net::network::Network;
use slowhand_net::radio::beacon::Beacon;
use slowhand_net::radio::tsch::Tsch;
use slowhand_net::radio::xmac::XMac;
use slowhand_net::radio::{Mac, Observer};
use slowhand_net::random::Streams;

impl Plan {
    /// Runs the world of a seed; every frame on the air passes before `observer`.
    pub fn run(&self, seed: u64, observer: &mut dyn Observer) -> Vec<Record> {
        self.run_with_key_log(seed, observer).0
    }

    /// Runs the world of a seed, and returns the lines of the key log (`SSLKEYLOGFILE`) of its sessions too.
    pub fn run_with_key_log(&self, seed: u64, observer: &mut dyn Observer) -> (Vec<Record>, Vec<String>) {
        let Finished { records, key_log, .. } = self.run_world(seed, observer);
        (records, key_log)
    }

    /// Runs the world of a seed, and returns all that is to be told of it.
    pub(crate) fn run_world(&self, seed: u64, observer: &mut dyn Observer) -> Finished {
        let streams = Streams::new(seed);
        let links = self.links(&streams);
        let mac: Box<dyn Mac> = match self.mac() {
            MacPlan::Tsch { config, cells, scenario } => {
                let (config, cells) = (config.clone(), cells.clone());
                Box::new(match scenario.function(self.routes(), &streams) {
                    Some(function) => Tsch::with_function(config, links, cells, function, &streams),
                    None => Tsch::new(config, links, cells, &streams),
                })
            }
            MacPlan::XMac { config, channel } => Box::new(XMac::new(config.clone(), *channel, links, &streams)),
            MacPlan::Beacon { config, parents } => {
                // `new` has built a PAN of the same tree and constants; another seed changes nothing in that.
                Box::new(Beacon::new(config.clone(), links, parents, &streams).expect("a checked cluster tree"))
            }
        };
        let network = Network::new(mac, self.routes().clone(), self.network().clone(), &streams);
        World::new(self, seed, network).run(observer)
    }
}
